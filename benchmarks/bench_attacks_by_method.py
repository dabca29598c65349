"""Every attack on every method: the share of people re-identified, on samples of two public data sets.

python benchmarks/bench_attacks_by_method.py [--seeds 5] [--customers 200] [--people 1000]

Histories: the first customers of PWS Cup 2017 by the digest of their number. Tables: rows of Adult, chosen the same
way. Methods that group people use k = 5, searches their quick effort, everything else its defaults. The attacker knows
the whole original. Each seed makes another release and another run of each attack. A new method or attack appears in
the tables after the next run; one that needs a parameter without a default gets it in ``settings``. The tables are
written into ``docs/attacks-by-method.md`` too.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
from machine import facts, report, table
from scipy.stats import t as student

import noren
from noren.attacks import attacks
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "attacks-by-method.md"
BEGIN, END = "<!-- attacks by method: begin -->", "<!-- attacks by method: end -->"
K = 5
CHAIN = ["thin", "perturb", "monthly-pseudonyms"]
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


def settings(name: str, people: int) -> dict[str, Any]:
    """Return the parameters of a method: k = 5 where it has one, quick searches, defaults elsewhere."""
    fields = methods[name].model_fields
    chosen: dict[str, Any] = {"k": K} if "k" in fields else {}
    if "effort" in fields:
        chosen["effort"] = "quick"
    own = {
        "chain": {"steps": CHAIN},
        "pseudo-records": {"clusters": people // K},
        "hierarchy": {"quasi": QUASI, "hierarchies": str(SHARED / "adult_hierarchies"), "suppression": 0.05},
        "mondrian": {"quasi": QUASI},
        "retention": {"attributes": QUASI},
    }
    return chosen | own.get(name, {})


def drawn(values: pl.Series, number: int) -> list[Any]:
    """Return ``number`` of the values: those of the smallest digests, the same on every machine."""
    return sorted(values.unique().to_list(), key=lambda v: hashlib.sha256(str(v).encode()).hexdigest())[:number]


def purchases(customers: int) -> noren.History:
    """Return the rows of some customers of PWS Cup 2017 in the columns of 2018: without invoice (always 0) and time."""
    rows = noren.read(SHARED / "pwscup2017_T.csv", "pwscup2017").data
    chosen = drawn(rows.frame["customer"].cast(pl.String), customers)
    chosen_rows = rows.frame.filter(pl.col("customer").cast(pl.String).is_in(chosen))
    columns = chosen_rows.select(pl.col("customer").cast(pl.String), "date", "item", "price", "quantity")
    return noren.History.of(columns, noren.Schema.preset("pwscup2018"))


def persons(number: int) -> noren.Table:
    """Return some complete rows of Adult with the seven quasi-identifiers and the salary class."""
    rows = noren.read(SHARED / "adult.data", "adult").data
    complete = rows.frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?")).with_row_index("row")
    chosen_rows = complete.filter(pl.col("row").is_in(drawn(complete["row"], number)))
    wanted = [c for c in rows.schema.columns if c.name in (*QUASI, "salary-class")]
    schema = rows.schema.model_copy(update={"columns": tuple(wanted)})
    return noren.Table.of(chosen_rows.select([c.name for c in wanted]), schema)


def rates(original: Any, kind: str, people: int, seeds: int) -> dict[tuple[str, str], list[float]]:
    """Return the shares of people re-identified by each attack on each method, one for each seed."""
    fitting = {
        side: [name for name in register if register[name].fits(original.schema)]
        for side, register in (("methods", methods), ("attacks", attacks))
    }
    rates_of: dict[tuple[str, str], list[float]] = {}
    for method in fitting["methods"]:
        if kind == "table" and method == "chain":
            continue
        start = time.perf_counter()
        for seed in range(1, seeds + 1):
            release = noren.protect(original, method, seed=seed, **settings(method, people))
            for attack in fitting["attacks"]:
                guess = noren.attack(original, release, attack, seed=1000 + seed)
                rate = noren.measure(original, release, "reid-rate", guesses=[guess]).value
                rates_of.setdefault((attack, method), []).append(rate)
        print(f"{kind}: {method} in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return rates_of


def cell(shares: list[float]) -> str:
    """Return the mean over seeds in per cent, with half the width of Student's 95 % interval about it."""
    mean = statistics.mean(shares)
    half = student.ppf(0.975, len(shares) - 1) * statistics.stdev(shares) / len(shares) ** 0.5
    return f"{mean:.1%} ± {100 * half:.1f}"


def section(title: str, about: str, rates_of: dict[tuple[str, str], list[float]]) -> list[str]:
    """Return one table: a row for each attack, a column for each method."""
    rows = sorted({attack for attack, _method in rates_of})
    columns = sorted({method for _attack, method in rates_of})
    body = [
        [f"[{attack}](attacks/{attack}.md)", *(cell(rates_of[attack, method]) for method in columns)] for attack in rows
    ]
    head = ["attack", *(f"[{method}](methods/{method}.md)" for method in columns)]
    return [f"### {title}", about, table(head, body)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--customers", type=int, default=200)
    parser.add_argument("--people", type=int, default=1000)
    options = parser.parse_args()
    if options.seeds < 2:
        sys.exit("an interval needs at least two seeds")
    if not SHARED.is_dir():
        sys.exit("the published data are not beside this checkout")
    history, people = purchases(options.customers), persons(options.people)
    histories = section(
        "Purchase histories",
        f"{options.customers} customers of PWS Cup 2017, {len(history):,} rows.",
        rates(history, "history", options.customers, options.seeds),
    )
    tables = section(
        "Tables",
        f"{options.people:,} complete rows of Adult with seven quasi-identifiers.",
        rates(people, "table", options.people, options.seeds),
    )
    parts = [*histories, *tables, facts("noren", "polars", "numpy", "numba", "scipy")]
    about = (
        f"Mean share of people re-identified over {options.seeds} seeds, with half of Student's 95 % interval. "
        "The attacker knows the whole original."
    )
    report(
        "attacks-by-method",
        "Attacks by method",
        about,
        *(re.sub(r"\[([a-z0-9-]+)\]\([^)]*\)", r"\1", p) for p in parts),
    )
    before, _begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text("\n\n".join([before + BEGIN, *parts, END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
