"""The attacks ``jaccard`` and ``s1`` to ``s8`` on a million customers: processor seconds and peak memory.

python benchmarks/bench_candidates.py [--customers 1000000] [--items 2800] [--largest 90000] [--folder F] [--only s1]
python benchmarks/bench_candidates.py --attacks nearest,profile,linkage --customers 10000,100000 [--seeds 5]

Ten rows a customer from the sample generator. For ``jaccard`` a release shows each customer's items, a share of them
replaced by others drawn by popularity; the more is replaced, the lower is the best similarity and the less an exact
filter can leave out. For ``s1`` to ``s8`` it is the rows as they were, in another order, under a new name each month.
Each line is a fresh process that holds both histories; what is compiled is ready before its clock starts. How many
pairs share an item is what a way that counts all of them has to do. With ``--folder`` data and lines are kept, and what
is there is not done again; ``--only`` chooses lines: ``s1``, or items, share and candidates such as ``2800-0.8-1``.

With ``--attacks``: attacks that compare all pairs up to a number of pairs, and likely customers above. All sizes are
attacked by the way of many pairs, so that the exponent is of one way. On shops of a few hundred customers both ways
run, the candidates once as in the package and once with 64 known rows looked at per pseudonym, which cuts there more
than the package does at a hundred thousand customers. All sizes have the same items and dates. One seed is one release;
intervals are Student's, of the paired differences.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from machine import RESULTS, facts, report, run_part, table

ROWS_EACH = 10
BY_ROW = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")


# --- in children: nothing heavy may be imported above --------------------------------------------------------------


def make(folder: str, people: int, items: int) -> dict[str, Any]:
    """Write an original."""
    from noren.data.samples.generator import sample_history

    original = sample_history("pwscup2018", customers=people, rows=ROWS_EACH * people, items=items, seed=1)
    original.frame.write_parquet(Path(folder) / "T.parquet")
    return {}


def replace(folder: str, noise: float) -> dict[str, Any]:
    """Write a release whose items are replaced, and the truth."""
    import numpy as np
    import polars as pl

    where = Path(folder)
    pairs = pl.read_parquet(where / "T.parquet", columns=["customer", "item"]).unique(maintain_order=True)
    draw = np.random.Generator(np.random.PCG64(2))
    stays, added = draw.random(len(pairs)) >= noise, draw.random(len(pairs)) < noise
    others = pairs["item"].gather(draw.integers(0, len(pairs), int(added.sum())))
    mixed = pl.concat([pairs.filter(stays), pairs.filter(added).select("customer").with_columns(others)]).unique()
    customers = pairs["customer"].unique(maintain_order=True)
    truth = pl.DataFrame({"customer": customers, "pseudonym": draw.permutation(len(customers)).astype(str)})
    released = mixed.join(truth, on="customer").select(customer="pseudonym", item="item").sort("customer", "item")
    released.with_columns(
        date=pl.date(2010, 12, 1), price=pl.lit(1.0), quantity=pl.lit(1, dtype=pl.Int64)
    ).write_parquet(where / f"replaced-{noise}.parquet")
    truth.write_parquet(where / f"truth-{noise}.parquet")
    return {}


def rename(folder: str) -> dict[str, Any]:
    """Write a release with the rows as they were, in another order, under a new name each month."""
    import polars as pl

    where = Path(folder)
    rows = pl.read_parquet(where / "T.parquet")
    name = pl.struct("customer", pl.col("date").dt.truncate("1mo")).hash(seed=1).cast(pl.String)
    rows.with_columns(customer=name).sample(fraction=1.0, shuffle=True, seed=1).write_parquet(where / "renamed.parquet")
    return {}


def attack(folder: str, released: str, name: str, candidates: int) -> dict[str, Any]:
    """Run one attack and tell what it took."""
    import numpy as np
    import polars as pl

    from noren.attacks import attacks
    from noren.data.arrays import item_set_arrays
    from noren.data.frames import History
    from noren.data.schema import Schema

    where, schema = Path(folder), Schema.preset("pwscup2018")
    original, public = (
        History(pl.read_parquet(where / file).select(schema.names), schema)
        for file in ("T.parquet", f"{released}.parquet")
    )
    chosen = attacks.create(name, **({"candidates": candidates} if name == "jaccard" else {}))
    few = original.take(pl.Series(range(100)))
    chosen.attack(few, few, seed=0)
    start = time.process_time()
    guess = chosen.attack(original, public, seed=0)
    took: dict[str, Any] = {"processor": time.process_time() - start, "rows": len(original)}
    if name == "jaccard":
        truth = pl.read_parquet(where / f"truth-{released.removeprefix('replaced-')}.parquet")
        first = guess.pairs.unique("pseudonym", keep="first", maintain_order=True)
        took["right"] = len(first.join(truth, on=["pseudonym", "customer"])) / len(truth)
        took["similarity"] = guess.notes["mean_similarity"]
        sides = item_set_arrays(original, public)
        buyers, showers = (np.bincount(side.item, minlength=sides.items) for side in (sides.known, sides.released))
        took["shared"] = int((buyers * showers).sum())
    return took


CHAIN = [{"method": "thin", "share": 0.3}, {"method": "perturb", "days": 3, "price": 0.05, "packs": 1}]
RELEASES: dict[str, tuple[str, dict[str, Any]]] = {
    "generalised": ("generalize-by-count", {"k": 3}),
    "perturbed": ("chain", {"steps": CHAIN}),
    "monthly": ("chain", {"steps": [*CHAIN, {"method": "monthly-pseudonyms"}]}),
    "shuffled": ("pseudonymize", {}),
}
"""Releases by name: thinned and perturbed, under new names each month, or generalised."""
ON = {
    "nearest": ("generalised", "perturbed"), "profile": ("monthly",), "linkage": ("monthly",),
    "ensemble": ("monthly",), "consistency": ("generalised",), "shifted": ("shuffled",), "recoded": ("shuffled",),
    "row-linkage": ("labelled table",),
}  # fmt: skip
ALL_PAIRS = ("consistency", "ensemble", "row-linkage")
"""They have no candidates of this kind, or only those of their members."""
SHORT_LISTS = 64
SHOPS = ("Online Retail", "CDNOW", "Groceries", "generated")


def release(folder: str, name: str) -> dict[str, Any]:
    """Write a release of the original."""
    import polars as pl

    from noren import api
    from noren.data.frames import History
    from noren.data.schema import Schema

    where, (method, parameters) = Path(folder), RELEASES[name]
    original = History(pl.read_parquet(where / "T.parquet"), Schema.preset("pwscup2018"))
    api.protect(original, method, seed=1, audit=False, **parameters).save(where / name)
    return {}


def likely(cells: int, longest: int = 0) -> None:
    """Let attacks compare likely customers above so many pairs, with lists of so many rows."""
    from noren.attacks import nearest, profile, recoded, shifted

    profile._MOST_CELLS = nearest._MOST_PAIRS = recoded.MOST_PAIRS = shifted._MOST_VOTES = cells
    profile._LONGEST = longest or profile._LONGEST


def attack_many(folder: str, released: str, name: str) -> dict[str, Any]:
    """Run one attack on many customers, by the way of many pairs."""
    import polars as pl

    from noren import api
    from noren.data.frames import History
    from noren.data.release import Release
    from noren.data.schema import Schema

    where = Path(folder)
    original = History(pl.read_parquet(where / "T.parquet"), Schema.preset("pwscup2018"))
    made = Release.load(where / released)
    few = original.take(pl.Series(range(100)))
    likely(0)
    api.attack(few, api.protect(few, "pseudonymize", seed=1, audit=False), name, seed=0)
    start = time.process_time()
    guess = api.attack(original, made, name, seed=0)
    took = time.process_time() - start
    return {"processor": took, "rows": len(original), "right": found(guess, made)}


def table_rows(people: int) -> dict[str, Any]:
    """Link the rows of a table of people, with labels for ages and areas and one job in twenty another, to them."""
    import numpy as np
    import polars as pl

    from noren.attacks.row_linkage import RowLinkage
    from noren.data.frames import Table
    from noren.data.schema import Schema

    draw = np.random.Generator(np.random.PCG64(1))
    age, area, job, school = (draw.integers(*ends, people) for ends in ((18, 90), (10_000, 12_000), (0, 60), (0, 16)))
    names = pl.Series(area.astype(str))
    quasi = {"role": "quasi"}
    columns = {"age": quasi | {"type": "integer"}, "area": quasi, "job": quasi, "school": quasi}
    rows = {"age": age, "area": names, "job": job.astype(str), "school": school.astype(str)}
    original = Table.of(rows, Schema.of({"kind": "table", "columns": columns}))
    order = draw.permutation(people)
    decade = pl.Series(age[order] // 10 * 10)
    labels = {
        "age": decade.cast(pl.String) + "-" + (decade + 9).cast(pl.String),
        "area": names.gather(order).str.slice(0, 3) + "**",
        "job": np.where(draw.random(people) < 0.05, draw.integers(0, 60, people), job[order]).astype(str),
        "school": school[order].astype(str),
    }
    public = Table.of(labels, Schema.of({"kind": "table", "columns": dict.fromkeys(columns, quasi)}))
    few = [Table(side.frame.head(100), side.schema) for side in (original, public)]
    chosen = RowLinkage()
    chosen.attack(*few, seed=0)
    start = time.process_time()
    guess = chosen.attack(original, public, seed=0)
    took = time.process_time() - start
    right = (order[guess.pairs["row"].to_numpy() - 1] == guess.pairs["person"].to_numpy() - 1).sum()
    return {"processor": took, "rows": people, "right": float(right) / people}


def found(guess: Any, made: Any) -> float:
    """Return the share of pseudonyms whose customer is named."""
    import polars as pl

    pairs = (
        side.select(pl.col("pseudonym", "customer").cast(pl.String)) for side in (guess.pairs, made.secret.pseudonyms)
    )
    ours, truth = (side.unique() for side in pairs)
    return len(ours.join(truth, on=["pseudonym", "customer"])) / max(len(truth), 1)


def both_ways(shop: str, name: str, released: str, seeds: int) -> dict[str, Any]:
    """Attack releases of a shop among all pairs, among likely customers, and among these with short lists."""
    from bench_analyst import shops

    from noren import api
    from noren.attacks import nearest, profile

    original = shops()[shop]
    method, parameters = RELEASES[released]
    usual, shares = (profile._MOST_CELLS, profile._LONGEST), list[list[float]]()
    assert usual[0] <= nearest._MOST_PAIRS
    for seed in range(1, seeds + 1):
        made = api.protect(original, method, seed=seed, audit=False, **parameters)
        shares.append([])
        for cells, longest in ((10**12, usual[1]), (0, usual[1]), (0, SHORT_LISTS)):
            likely(cells, longest)
            shares[-1].append(found(api.attack(original, made, name, seed=seed), made))
    return {"shares": shares}


# --- in the parent -------------------------------------------------------------------------------------------------


def by_set(folder: str, items: int, noise: float, candidates: int) -> tuple[list[str], float]:
    if not (Path(folder) / f"truth-{noise}.parquet").exists():
        run_part(__file__, "replace", folder, noise)
    done, took = run_part(__file__, "attack", folder, f"replaced-{noise}", "jaccard", candidates)
    line = [
        f"{items:,}", f"{noise:.0%}", str(candidates), f"{took['similarity']:.2f}", f"{took['right']:.1%}",
        f"{took['shared'] / 1e9:,.1f}", f"{took['processor']:,.1f}", f"{done.peak_bytes / 1e9:.2f}",
    ]  # fmt: skip
    return line, done.peak_bytes / 1e9


def by_row(folder: str, name: str) -> tuple[list[str], float]:
    done, took = run_part(__file__, "attack", folder, "renamed", name, 1)
    return [name, f"{took['processor']:.1f}", f"{done.peak_bytes / 1e9:.2f}"], done.peak_bytes / 1e9


def by_size(folder: Path, name: str, released: str, customers: int) -> tuple[list[str], list[float]]:
    """Return a line about an attack on so many customers, with seconds and peak."""
    where = folder / str(customers) / "2800"
    where.mkdir(parents=True, exist_ok=True)
    if name != "row-linkage" and not (where / "T.parquet").exists():
        run_part(__file__, "make", where, customers, 2800)
    if name != "row-linkage" and not (where / released).exists():
        run_part(__file__, "release", where, released)
    rest = ("table", customers) if name == "row-linkage" else ("many", where, released, name)
    done, took = run_part(__file__, *rest)
    peak = done.peak_bytes / 1e9
    line = [name, released, f"{customers:,}", f"{took['processor']:,.0f}", f"{peak:.2f}", f"{took['right']:.1%}"]
    print(*line, flush=True)
    return line, [took["processor"], peak]


def by_shop(name: str, released: str, shop: str, seeds: int) -> list[str]:
    """Return a line about both ways on one shop."""
    from scipy.stats import t as student

    done, took = run_part(__file__, "shop", shop, name, released, seeds)
    shares: list[list[float]] = took["shares"]
    line = [name, released, shop, f"{statistics.mean(share[0] for share in shares):.1%}"]
    for way in (1, 2):
        more = [share[way] - share[0] for share in shares]
        half = student.ppf(0.975, seeds - 1) * statistics.stdev(more) / math.sqrt(seeds)
        line.append(f"{100 * statistics.mean(more):+.2f} ± {100 * half:.2f}")
    print(*line, f"{done.processor_seconds:.0f} s", flush=True)
    return line


MANY = "## Attacks among likely customers"


def many(options: argparse.Namespace, folder: Path) -> None:
    """Measure attacks on many customers and on shops; what is in the folder already is not done again."""
    folder.mkdir(parents=True, exist_ok=True)
    stored, sizes = folder / "many.json", [int(size) for size in options.customers.split(",")]
    done: dict[str, Any] = json.loads(stored.read_text()) if stored.exists() else {}
    works: dict[str, Callable[[], Any]] = {}
    for name, released in [(each, on) for each in options.attacks.split(",") for on in ON[each]]:
        for size in sizes:
            works[f"grown {name} {released} {size}"] = partial(by_size, folder, name, released, size)
        for shop in options.shops if options.seeds > 1 and name not in ALL_PAIRS else []:
            works[f"compared {name} {released} {shop}"] = partial(by_shop, name, released, shop, options.seeds)
    for key, work in works.items():
        done[key] = done.get(key) or work()
        stored.write_text(json.dumps(done))
        write_many(done, options)


def write_many(done: dict[str, Any], options: argparse.Namespace) -> None:
    """Write what is known so far beside the other tables."""
    grown, met = list[list[str]](), list[bool]()
    taken = [value for key, value in done.items() if key.startswith("grown")]
    taken.sort(key=lambda value: (*value[0][:2], len(value[0][2]), value[0][2]))
    for line, (seconds, peak) in taken:
        size = int(line[2].replace(",", ""))
        smaller = [(int(other[2].replace(",", "")), took[0]) for other, took in taken if other[:2] == line[:2]]
        before, spent = max((point for point in smaller if point[0] < size), default=(0, 0.0))
        slope = f"{math.log(seconds / spent) / math.log(size / before):.2f}" if before else "–"
        met += [seconds <= 600 and peak <= 4] if size == 100_000 else []
        grown.append([*line[:3], f"{seconds:,.1f}", *line[4:], slope])
    page = RESULTS / "scale_candidates.md"
    others = page.read_text(encoding="utf-8").split(MANY)[0].rstrip() if page.exists() else ""
    parts = [
        others,
        MANY,
        f"`python benchmarks/bench_candidates.py --attacks {options.attacks} --customers {options.customers}"
        f" --seeds {options.seeds}`."
        f" {ROWS_EACH} rows per customer, one release; the same items and dates at"
        f" all sizes. All sizes by the way of many pairs. *Right* is the share of"
        " pseudonyms whose customer is named. By the lines at 100,000 customers the limits of 600 s and 4 GB are"
        f" {'not measured' if not met else 'met' if all(met) else 'missed'}. Lines that are missing were not run.",
        table(["attack", "release", "customers", "processor, s", "peak, GB", "right", "exponent"], grown),
        f"Both ways on shops, {options.seeds} releases each: the share named among all pairs, and by how many"
        " percentage points more are named among likely customers, with the 95 % interval.",
        table(
            ["attack", "release", "shop", "all pairs", "likely, points", f"{SHORT_LISTS} rows, points"],
            sorted(value for key, value in done.items() if key.startswith("compared")),
        ),
        facts("noren", "numpy", "scipy", "numba", "polars"),
    ]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--customers", default="1000000", help="how many; with --attacks several, by comma")
    parser.add_argument("--attacks", help="attacks by comma that compare all pairs up to a number of pairs")
    parser.add_argument("--seeds", type=int, default=5, help="with --attacks, how many releases of each shop")
    parser.add_argument("--shops", nargs="*", default=SHOPS, help="with --attacks, the shops that both ways run on")
    parser.add_argument("--items", type=int, default=2_800)
    parser.add_argument("--largest", type=int, default=90_000, help="the larger number of items")
    parser.add_argument("--replaced", type=float, nargs="+", default=[0.2, 0.8], help="shares of replaced items")
    parser.add_argument("--candidates", type=int, nargs="+", default=[1], help="how many candidates to list")
    parser.add_argument("--only", nargs="+", help="the lines to do, such as s1 or 2800-0.8-1; all where left out")
    parser.add_argument("--folder", help="where data and lines are kept; what is there is not done again")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes at a time")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, folder, *rest = options.part
        parts = {
            "make": lambda: make(folder, int(rest[0]), int(rest[1])),
            "replace": lambda: replace(folder, float(rest[0])),
            "rename": lambda: rename(folder),
            "attack": lambda: attack(folder, rest[0], rest[1], int(rest[2])),
            "release": lambda: release(folder, rest[0]),
            "many": lambda: attack_many(folder, rest[0], rest[1]),
            "table": lambda: table_rows(int(folder)),
            "shop": lambda: both_ways(folder, rest[0], rest[1], int(rest[2])),
        }
        print(json.dumps(parts[name]()))
        return
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as aside:
        if options.attacks:
            many(options, Path(options.folder or aside))
        else:
            options.customers = int(options.customers)
            measured(options, Path(options.folder or aside) / str(options.customers))


def measured(options: argparse.Namespace, folder: Path) -> None:
    """Do the lines that were chosen and are not in the folder yet."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "lines.json"
    lines: dict[str, tuple[list[str], float]] = json.loads(stored.read_text()) if stored.exists() else {}
    for items in (options.items, options.largest):
        where = folder / str(items)
        works: dict[str, Callable[[], tuple[list[str], float]]] = {
            f"{items}-{noise}-{candidates}": partial(by_set, str(where), items, noise, candidates)
            for noise in options.replaced
            for candidates in options.candidates
        }
        if items == options.items:
            works |= {name: partial(by_row, str(where), name) for name in BY_ROW}
        left = {name: work for name, work in works.items() if name in (options.only or works) and name not in lines}
        if left:
            made(where, options.customers, items)
        with ThreadPoolExecutor(options.jobs) as pool:
            waiting = {pool.submit(work): name for name, work in left.items()}
            for future in as_completed(waiting):
                lines[waiting[future]] = future.result()
                print(*future.result()[0], flush=True)
                stored.write_text(json.dumps(lines))
    write_page(options.customers, options.items, list(lines.values()))


def made(where: Path, people: int, items: int) -> None:
    """Write the original and the renamed release, if they are not there."""
    where.mkdir(exist_ok=True)
    if not (where / "renamed.parquet").exists():
        run_part(__file__, "make", where, people, items)
        run_part(__file__, "rename", where)


def write_page(customers: int, items: int, lines: list[tuple[list[str], float]]) -> None:
    """Write what is known so far."""
    peak, page = max(high for _line, high in lines), RESULTS / "scale_candidates.md"
    beside = page.read_text(encoding="utf-8").partition(MANY) if page.exists() else ("", "", "")
    by_sets, by_rows = (
        [line for line, _high in sorted(lines, key=lambda entry: entry[0]) if (line[0] in BY_ROW) == way]
        for way in (False, True)
    )
    report(
        "scale_candidates",
        f"{customers:,} customers against as many pseudonyms",
        f"`python benchmarks/bench_candidates.py --customers {customers}`. {ROWS_EACH * customers:,} rows of `noren"
        " sample`. Answers are exact. Processor seconds of all cores from two histories in memory to the ranked guess;"
        " peak memory of the process, both histories included. The limit of 4 GB is"
        f" {'met' if peak < 4 else 'missed'}.",
        "## jaccard",
        "Release: each customer's items, a share of them replaced by items drawn by popularity. *Shared* counts the"
        " items shared by all pairs, in billions.",
        table(
            [
                "items",
                "replaced",
                "candidates",
                "mean best similarity",
                "re-identified",
                "shared",
                "processor, s",
                "peak, GB",
            ],
            by_sets,
        ),
        "## s1 to s8",
        f"Release: unchanged rows in another order, one pseudonym per month. {items:,} items.",
        table(["attack", "processor, s", "peak, GB"], by_rows),
        facts("noren", "numpy", "numba", "polars"),
        *filter(None, ["".join(beside[1:]).rstrip()]),
    )


if __name__ == "__main__":
    main()
