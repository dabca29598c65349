"""The attacks ``jaccard`` and ``s1`` to ``s8`` on a million customers: processor seconds and peak memory.

python benchmarks/bench_candidates.py [--customers 1000000] [--items 2800] [--largest 90000] [--folder F] [--only s1]

Ten rows a customer from the sample generator. For ``jaccard`` a release shows each customer's items, a share of them
replaced by others drawn by popularity; the more is replaced, the lower is the best similarity and the less an exact
filter can leave out. For ``s1`` to ``s8`` it is the rows as they were, in another order, under a new name each month.
Each line is a fresh process that holds both histories; what is compiled is ready before its clock starts. How many
pairs share an item is what a way that counts all of them has to do. With ``--folder`` data and lines are kept, and what
is there is not done again; ``--only`` chooses lines: ``s1``, or items, share and candidates such as ``2800-0.8-1``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from machine import facts, report, run_part, table

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--customers", type=int, default=1_000_000)
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
        }
        print(json.dumps(parts[name]()))
        return
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as aside:
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
    peak = max(high for _line, high in lines)
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
    )


if __name__ == "__main__":
    main()
