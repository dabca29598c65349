"""Growth on Spark: processor seconds and bytes shuffled per row, and what follows for 10¹⁰ rows.

    python benchmarks/bench_spark.py                         # 10⁵, 10⁶ and 10⁷ rows on local[2]
    python benchmarks/bench_spark.py 100000 --works count    # other sizes, some of the work
    python benchmarks/bench_spark.py --folder F              # data and figures are kept there, and not made again

Every piece of work runs in a process of its own. Its processor time is that of the driver, of the Java machine and of
all Python workers; what was shuffled is read from Spark's own log of events.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from machine import facts, report, run, table

ENGINE = "local[2]"
CORES = 2
A_CUSTOMER = 60
ITEMS = 2_800
GUESSERS = tuple(f"s{at}" for at in range(1, 9))
WORKS = {
    "count": "protect, `generalize-by-count` k = 3",
    "cell-error": "measure, `cell-error`",
    "retention": "protect, `retention` k = 2",
    "hierarchy": "protect, `hierarchy` k = 5",
    "pseudonymize": "protect, `pseudonymize`",
    "classes": "measure, `classes`",
    "s1-s8": "attack, `s1` to `s8`, names alone changed",
    "reid-rate": "measure, `reid-rate` of `s1` to `s8`",
    "jaccard": "attack, `jaccard`",
    "generalize": "protect, `generalize` k = 3, effort quick",
}
"""What is measured, in an order in which each finds the release and the guesses that it needs."""
OF_PEOPLE = {"hierarchy", "retention"}
GOAL = 10**10
CLUSTERS = (100, 1_000)
"""Cores of the clusters that times are derived for."""
NOT_RUN = "–"
STOPPED = 124
"""What ``timeout`` ends with where it had to stop something."""
MACHINE_CORES, NETWORK = 16, 1.25e9
"""What the derived cluster is made of: machines of so many cores, each with so many bytes a second of network."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What one piece of work took: its own clock, processor seconds, seconds in tasks, bytes written for shuffles."""

    clock: float
    processor: float
    in_tasks: float
    shuffled: int
    spilled: int

    @property
    def busy(self) -> float:
        """The share of the cores' time that was spent in tasks."""
        return self.in_tasks / (CORES * self.clock)


# --- one piece of work, in a process of its own ----------------------------------------------------------------------


def written(folder: Path, rows: int) -> Path:
    """Write a history of so many rows, 60 a customer in the mean, items and customers unevenly often."""
    import numpy as np
    import polars as pl

    whole = folder / f"history-{rows}"
    if (whole / "_SUCCESS").exists():
        return whole
    whole.mkdir(parents=True)
    price = np.round(np.random.default_rng(0).lognormal(1, 1, ITEMS) + 0.01, 2)
    customers = max(rows // A_CUSTOMER, 3)
    for at, first in enumerate(range(0, rows, 1_000_000)):
        count = min(1_000_000, rows - first)
        draw = np.random.default_rng([1, at])
        item = (ITEMS * draw.random(count) ** 2).astype(np.int64)
        frame = pl.DataFrame(
            {
                "customer": (customers * draw.random(count) ** 1.3).astype(np.int64),
                "date": draw.integers(14_944, 15_309, count),
                "item": item,
                "price": price[item],
                "quantity": draw.geometric(0.2, count),
            }
        )
        typed = frame.with_columns(
            pl.format("c{}", "customer").alias("customer"),
            pl.col("date").cast(pl.Int32).cast(pl.Date),
            pl.format("i{}", "item").alias("item"),
        )
        typed.write_parquet(whole / f"part-{at:05d}.parquet")
    (whole / "_SUCCESS").touch()
    return whole


def written_people(folder: Path, rows: int) -> Path:
    """Write a table of so many people, and the hierarchies of its numbers."""
    import polars as pl

    from noren.data.hierarchies import interval_hierarchy, write_hierarchy
    from noren.data.samples.people import sample_people

    whole = folder / f"people-{rows}"
    if (whole / "_SUCCESS").exists():
        return whole
    whole.mkdir(parents=True)
    for at, first in enumerate(range(0, rows, 1_000_000)):
        table = sample_people(min(1_000_000, rows - first), seed=at + 1)
        people = table.frame.with_columns(person=pl.format("{}-{}", pl.lit(at), "person"))  # each is there once
        people.write_parquet(whole / f"part-{at:05d}.parquet")
    (folder / "hierarchies").mkdir(exist_ok=True)
    for column, most in (("age", 120), ("weekly-hours", 170)):
        write_hierarchy(interval_hierarchy(column, range(most), [5, 10, 30]), folder / "hierarchies" / f"{column}.csv")
    (whole / "_SUCCESS").touch()
    return whole


def do(work: str, rows: int, folder: Path) -> None:
    """Do one piece of work and print what it took."""
    from noren.execution.session import session
    from noren.work.run import attack_folder, measure_folder, protect_folder

    original = folder / f"{'people' if work in OF_PEOPLE else 'history'}-{rows}"
    how: dict[str, Any] = {"engine": ENGINE, "schema": "people" if work in OF_PEOPLE else "pwscup2018"}
    own, alike, exact = (folder / f"{name}-{rows}" for name in (work, "count", "pseudonymize"))
    ways: dict[str, dict[str, Any]] = {
        "count": {"method": "generalize-by-count", "k": 3},
        "generalize": {"method": "generalize", "k": 3, "effort": "quick"},
        "pseudonymize": {"method": "pseudonymize"},
        "hierarchy": {"method": "hierarchy", "k": 5, "suppression": 0.05, "hierarchies": folder / "hierarchies"},
        "retention": {"method": "retention", "k": 2, "domains": "data"},
    }
    session(ENGINE)
    start, before = time.perf_counter(), _processor_seconds()
    if work in ways:
        protect_folder(original, out=own, seed=1, audit=False, **ways[work], **how)
    elif work == "s1-s8":
        attack_folder(original, exact, GUESSERS, own, **how)
    elif work == "reid-rate":
        measure_folder(original, exact, work, guesses=folder / f"s1-s8-{rows}", **how)
    elif work == "jaccard":
        attack_folder(original, alike, work, own, **how)
    else:
        measure_folder(original, alike, work, **how)
    spent = {"clock": time.perf_counter() - start, "processor": _processor_seconds() - before}
    print("spent", json.dumps(spent))


def _processor_seconds() -> float:
    """Return the processor time of this process and all that come from it, those that ended included."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended just now
                continue
            parents[int(entry.name)] = int(fields[1])
            spent[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
    return sum(spent[process] for process in _descendants(os.getpid(), parents))


def _descendants(first: int, parents: dict[int, int]) -> Iterator[int]:
    yield first
    for child in [process for process, parent in parents.items() if parent == first]:
        yield from _descendants(child, parents)


# --- all of them -----------------------------------------------------------------------------------------------------


def cost(work: str, rows: int, folder: Path, limit: int) -> Cost | str:
    """Return what one piece of work took, or why there is no answer: it may take ``limit`` seconds of the clock."""
    with tempfile.TemporaryDirectory(dir=folder) as log:
        settings = Path(log) / "conf"
        settings.mkdir()
        events = Path(log) / "events"
        events.mkdir()
        (settings / "spark-defaults.conf").write_text(
            f"spark.eventLog.enabled true\nspark.eventLog.dir {events.as_uri()}\n"
            f"spark.eventLog.rolling.enabled false\nspark.eventLog.compress false\nspark.local.dir {log}\n"
            "spark.driver.memory 3g\nspark.driver.defaultJavaOptions -XX:+UseParallelGC\n"
        )
        me = ("timeout", str(limit), sys.executable, __file__, "--one", work, "--folder", str(folder), str(rows))
        done = run(*me, environment={"SPARK_CONF_DIR": str(settings)})
        line = next((line for line in done.output.splitlines() if line.startswith("spent ")), None)
        if done.code == STOPPED:
            return f"stopped after {limit:,} s of the clock"
        if line is None:
            return (done.output.strip().splitlines() or ["it said nothing"])[-1][:160]
        spent = json.loads(line.removeprefix("spent "))
        in_tasks = shuffled = spilled = 0
        for file in events.iterdir():
            for text in file.open(encoding="utf-8"):
                if '"SparkListenerTaskEnd"' in text:
                    metrics = json.loads(text).get("Task Metrics") or {}
                    in_tasks += metrics.get("Executor Run Time", 0)
                    shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                    spilled += metrics.get("Disk Bytes Spilled", 0)
    return Cost(spent["clock"], spent["processor"], in_tasks / 1000, shuffled, spilled)


def measured(sizes: list[int], works: list[str], folder: Path, limit: int) -> dict[tuple[str, int], Cost | str]:
    """Do pieces of work at all sizes; what the folder says was done is not done again."""
    costs: dict[tuple[str, int], Cost | str] = {(work, rows): NOT_RUN for work in WORKS for rows in sizes}
    for rows in sizes:
        written(folder, rows)
        if OF_PEOPLE & set(works):
            written_people(folder, rows)
        for work in WORKS:
            stored = folder / f"{work}-{rows}.json"
            if work not in works and not stored.exists():
                continue
            if stored.exists():
                known = json.loads(stored.read_text(encoding="utf-8"))
                costs[work, rows] = known if isinstance(known, str) else Cost(**known)
                continue
            result = costs[work, rows] = cost(work, rows, folder, limit)
            stored.write_text(json.dumps(result if isinstance(result, str) else asdict(result)), encoding="utf-8")
            print(work, f"{rows:,}", costs[work, rows], file=sys.stderr, flush=True)
    return costs


def grown(costs: dict[tuple[str, int], Cost | str], sizes: list[int]) -> list[list[str]]:
    """Return each work's cost per row at each size, and how busy the cores were at the largest."""
    lines = []
    for work in WORKS:
        results = [costs[work, rows] for rows in sizes]
        cells = [
            f"{cost.processor / rows * 1e6:,.1f} ({cost.shuffled / rows:,.0f})" if isinstance(cost, Cost) else cost
            for rows, cost in zip(sizes, results, strict=True)
        ]
        busy = [f"{cost.busy:.0%}" for cost in results if isinstance(cost, Cost)]
        lines.append([WORKS[work], *cells, *(busy[-1:] or ["–"])])
    return lines


def derived(costs: dict[tuple[str, int], Cost | str], sizes: list[int]) -> list[list[str]]:
    """Return what 10¹⁰ rows take: processor seconds a row of the last step in size, shuffles over the network."""
    lines = []
    for work in WORKS:
        done = [(rows, result) for rows in sizes if isinstance(result := costs[work, rows], Cost)]
        if len(done) < 2:
            continue
        steps = [(large.processor - small.processor) / (more - less) for (less, small), (more, large) in pairwise(done)]
        more, large = done[-1]
        a_row, before = steps[-1], f"{steps[-2] * 1e6:,.1f}" if len(steps) > 1 else "–"
        shuffled = large.shuffled / more * GOAL
        line = [WORKS[work], f"{more:,}", before, f"{a_row * 1e6:,.1f}", f"{large.busy:.0%}", f"{shuffled / 1e12:,.1f}"]
        for cores in CLUSTERS:
            compute, network = a_row * GOAL / cores / large.busy, shuffled / (NETWORK * cores / MACHINE_CORES)
            line.append(f"{compute / 3600:,.1f} + {network / 3600:,.1f}")
        lines.append(line)
    return lines


PEERS = table(
    ["system", "what is reported", "where"],
    [
        [
            "Core Mondrian",
            "k-anonymity of tables of up to 1,000,000 rows on one machine",
            "Bloomston et al. 2025, “Core Mondrian: Basic Mondrian beyond k-anonymity”",
        ],
        [
            "mosaicrown/mondrian",
            "Mondrian on Spark with 4 to 16 workers, data of a census cut into parts; its page tells no rows a second",
            "github.com/mosaicrown/mondrian",
        ],
        [
            "Splink",
            "links 1,000,000 records on a laptop in about a minute (7,000,000 in about 2: told, source not found)",
            "pypi.org/project/splink",
        ],
        [
            "ARX",
            "holds rows times columns in one array: 2³¹ cells at most; 5,000,000 rows of 800 columns were refused",
            "github.com/arx-deidentifier/arx/issues/243",
        ],
    ],
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, default=[10**5, 10**6, 10**7])
    parser.add_argument("--folder", type=Path, help="where data and releases are kept; by default they are deleted")
    parser.add_argument("--limit", type=int, default=3_600, help="seconds of the clock that one piece of work may take")
    parser.add_argument("--works", nargs="*", choices=WORKS, default=list(WORKS), help="what is measured; all of it")
    parser.add_argument("--one", choices=WORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        do(options.one, options.rows[0], options.folder)
        return
    sizes = sorted(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        costs = measured(sizes, options.works, options.folder or Path(folder), options.limit)
    assumed = (
        "Hours are of computing + of network. Assumptions: cost grows as between the two largest sizes measured (these"
        " plans grow no faster than n log n, but for `classes` and `jaccard`, whose candidates grow with the customers:"
        " theirs are lower bounds); cores are as fast and as busy as here; machines have"
        f" {MACHINE_CORES} cores and {NETWORK * 8 / 1e9:.0f} Gbit/s each; shuffling and computing do not overlap; disks"
        " keep up with the network; shuffles are cut into parts that fit into memory (`spark.sql.shuffle.partitions`)."
        " None of this was run on such a cluster."
    )
    report(
        "scale_spark",
        "Growth on Spark",
        f"Generated histories of {A_CUSTOMER} rows per customer and {ITEMS:,} items, and tables of people, on"
        f" `{ENGINE}`: one JVM of 3 GB with the parallel collector. Processor time per row in µs, of driver, JVM and"
        " workers without Spark's start, and in brackets the bytes shuffled per row; – was not run. *Busy* is the share"
        " of core time spent in tasks, at the largest size; other programs ran beside, and a kept"
        " folder holds figures of several runs. `s1` to `s8` attack `pseudonymize`; `cell-error`, `classes` and"
        " `jaccard` look at `generalize-by-count`.",
        table(["work", *(f"{rows:,} rows" for rows in sizes), "busy"], grown(costs, sizes)),
        f"## {GOAL:,} rows, derived",
        table(
            [
                *("work", "up to rows", "µs per further row, a step before", "µs per further row", "busy"),
                *("TB shuffled", *(f"hours on {cores:,} cores" for cores in CLUSTERS)),
            ],
            derived(costs, sizes),
        ),
        assumed,
        "## What others report",
        PEERS,
        "Other tasks on other machines: beside ours for the order of magnitude alone.",
        facts("noren", "pyspark", "polars", "numpy"),
    )


if __name__ == "__main__":
    main()
