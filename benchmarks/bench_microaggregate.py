"""Medians and modes beside intervals and sets, at equal k: U with the same groups, with groups of their own, and use.

python benchmarks/bench_microaggregate.py [--data T.csv] [--k 2,3,4,6,10] [--seeds 1,2] [--effort quick] [--draws 10]
python benchmarks/bench_microaggregate.py --tables [--seeds 1,2,3,4,5]   # means in tables beside MDAV

Each k and seed is a process of its own. ``generalize`` is searched once; its groups are then given medians, and
``microaggregate`` searches groups for that cost. What is measured of use is measured for the first seed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from machine import facts, report, run_python, table
from scipy.stats import t

from noren.data.frames import Table
from noren.data.schema import Schema
from noren.kernels.sharing.microaggregation import mdav, squared_error
from noren.methods.microaggregate import Microaggregate

ONE = """
import json, sys, time
from dataclasses import replace
from statistics import fmean as mean
from noren import api
from noren.data.draws import Draws
from noren.data.reading import read
from noren.measures import measures
from noren.methods.generalize import Generalize
from noren.methods.microaggregate import Microaggregate

where, k, seed, effort, draws, wanted = json.loads(sys.argv[1])
original = read(where, "pwscup2018").data
kept = []


class Searched(Generalize):
    def _found(self, *given):
        kept.append(super()._found(*given))
        return kept[-1]


class SameGroups(Microaggregate):
    def _found(self, *given):
        return kept[-1]


said = {}
ways = {"generalize": Searched, "same groups, medians": SameGroups, "microaggregate": Microaggregate}
for name, method in ways.items():
    begin = time.process_time()
    release = method(k=k, effort=effort, lower_bound="exact").protect(original, seed=seed)
    seconds = time.process_time() - begin
    exact = [replace(release, public=one) for one in Draws(original, release.public, seed=1).first(draws)]
    use = {}
    for measure in wanted if method is not SameGroups else ():
        if "draws" in measures[measure].model_fields:
            use[measure] = api.measure(original, release, measure, draws=draws).value
        else:
            use[measure] = mean(api.measure(original, one, measure).value for one in exact)
    notes = release.statement.notes
    said[name] = {
        "U": api.measure(original, release, "cell-error").value,
        "deleted": release.deleted_rows,
        "bound": notes.get("lower_bound"),
        "seconds": seconds,
        "use": use,
    }
print("RESULT", json.dumps(said))
"""
FINAL = Path(__file__).parents[2] / "shared/data/pwscup2018_final_T.csv"
USE = ("e1", "e2", "e3", "e4", "e5", "e6", "frequent-itemsets", "rfm", "item-similarity")
WAYS = ("generalize", "same groups, medians", "microaggregate")
Answer = dict[str, dict[str, Any]]


def answer(arguments: Sequence[object]) -> Answer:
    done = run_python(ONE, json.dumps(arguments))
    result_lines = [text for text in done.output.splitlines() if text.startswith("RESULT ")]
    if not done.ok or not result_lines:
        sys.exit(f"{arguments} ended with {done.code}: {done.output.strip()[-800:]}")
    answers: Answer = json.loads(result_lines[0].removeprefix("RESULT "))
    return answers


def over_seeds(values: Sequence[float]) -> str:
    """Return the mean, and the least and the greatest where there are several."""
    mean = f"{statistics.fmean(values):.4f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.4f}–{max(values):.4f})"


def errors(answers_of: dict[int, list[Answer]]) -> str:
    rows = []
    for k, answers in sorted(answers_of.items()):
        for way in WAYS:
            mine = [answer[way] for answer in answers]
            bound = "" if way == "same groups, medians" else f"{max(answer['bound'] for answer in mine):.4f}"
            rows.append(
                [
                    str(k),
                    way,
                    over_seeds([answer["U"] for answer in mine]),
                    bound,
                    f"{statistics.fmean(answer['deleted'] for answer in mine):,.0f}",
                    str(len(mine)),
                    ""
                    if way == "same groups, medians"
                    else f"{statistics.fmean(answer['seconds'] for answer in mine):.0f}",
                ]
            )
    return table(["k", "method", "U", "lower bound", "deleted rows", "seeds", "processor seconds"], rows)


def use(answers_of: dict[int, list[Answer]]) -> str:
    rows = [
        [str(k), way, *(f"{answers[0][way]['use'][name]:.4f}" for name in answers[0][way]["use"])]
        for k, answers in sorted(answers_of.items())
        for way in ("generalize", "microaggregate")
    ]
    return table(["k", "method", *USE], rows)


def tables(seeds: Sequence[int]) -> None:
    """Report the information lost by means in tables, beside MDAV's."""
    lines = []
    for name in ("tarragona", "casc_census"):
        frame = pl.read_csv(FINAL.with_name(f"{name}.csv"))
        kind = {"role": "quasi", "type": "integer"}
        original = Table.of(frame, Schema.of({"kind": "table", "columns": dict.fromkeys(frame.columns, kind)}))
        points = frame.cast(pl.Float64).to_numpy()
        points = (points - points.mean(axis=0)) / points.std(axis=0)
        mdav(points[:20], 3)  # compiled
        for k in (3, 5, 10):
            begin = time.process_time()
            group = mdav(points, k)
            seconds = time.process_time() - begin
            cells = [f"{100 * squared_error(points, group) / points.size:.3f} ({seconds:.2f})"]
            for effort in ("quick", "normal", "thorough"):
                losses, begin = [], time.process_time()
                for seed in seeds:
                    release = Microaggregate(k=k, effort=effort).protect(original, seed=seed)
                    public = release.aligned().frame.cast(pl.Float64).to_numpy()  # what is published, not a note
                    error = (public - frame.cast(pl.Float64).to_numpy()) / frame.cast(pl.Float64).to_numpy().std(axis=0)
                    losses.append(100 * float((error**2).sum()) / points.size)
                each = (time.process_time() - begin) / len(seeds)
                half = t.ppf(0.975, len(seeds) - 1) * statistics.stdev(losses) / len(seeds) ** 0.5
                cells.append(f"{statistics.fmean(losses):.3f} ± {half:.3f} ({each:.2f})")
            lines.append([name, str(k), *cells])
    report(
        "microaggregate_tables",
        "Means in tables: information lost, beside MDAV",
        f"100 · SSE / SST on standardised columns, 13 columns each; the mean of {len(seeds)} seeds and its 95 % "
        "interval, in brackets processor seconds of one run. Lower is better. Computed from the published cells.",
        table(["file", "k", "MDAV", "quick", "normal", "thorough"], lines),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", default=str(FINAL))
    words.add_argument("--k", default="2,3,4,6,10")
    words.add_argument("--seeds", default="1,2")
    words.add_argument("--tables", action="store_true")
    words.add_argument("--effort", default="quick")
    words.add_argument("--draws", type=int, default=10)
    options = words.parse_args()
    answers_of: dict[int, list[Answer]] = {}
    seeds = [int(seed) for seed in options.seeds.split(",")]
    if options.tables:
        tables(seeds if len(seeds) > 2 else range(1, 6))
        return
    for seed in seeds:
        for k in map(int, options.k.split(",")):
            wanted = USE if seed == seeds[0] else ()
            answers_of.setdefault(k, []).append(answer([options.data, k, seed, options.effort, options.draws, wanted]))
            report(  # after every run: the long ones come last
                "microaggregate",
                "Medians and modes beside intervals and sets",
                f"PWS Cup 2018, final data: 1,000 customers, 89,278 rows; effort {options.effort}. U is the mean over "
                "the seeds, the least and the greatest in brackets. *Same groups* are those that `generalize` found, "
                "with medians and modes in its cells; `microaggregate` searches groups for that cost. A lower bound "
                "holds for the method beside it, whatever the groups.",
                errors(answers_of),
                f"What analyses lose, seed {seeds[0]}: the mean over {options.draws} data sets drawn from the release "
                "(S0), so that both are judged on plain rows. Lower is better everywhere.",
                use(answers_of),
                facts("noren", "numpy", "numba", "scipy", "polars"),
            )


if __name__ == "__main__":
    main()
