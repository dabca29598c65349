"""What a sweep costs beside the runs it is made of, and what it costs to ask again."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from machine import facts, report, table

KS = "2..5"
SIZE = {"customers": 100, "rows": 4_000, "items": 500, "seed": 7, "schema": "pwscup2018"}


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall seconds, and those of processors, of a piece of work with the processes it starts."""

    def processors() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    wall, before = time.perf_counter(), processors()
    work()
    return time.perf_counter() - wall, processors() - before


def main() -> None:
    from noren.api import sample
    from noren.data.contest_files import write_rows
    from noren.judgement.outcome import run_outcome
    from noren.sweeps.sweep import sweep

    history = sample(**SIZE)
    run_outcome(
        sample(customers=20, rows=200, items=30, seed=1, schema="pwscup2018"), "generalize-by-count", k=2, seed=1
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(history, folder / "T.csv")

        def singles() -> None:
            for k in range(2, 6):
                run_outcome(history, "generalize-by-count", k=k, seed=1)

        def swept(workers: int, cache: str) -> None:
            sweep(history, "generalize-by-count", k=KS, seeds=[1], workers=workers, cache=folder / cache)

        def command() -> None:
            words = f"explore T.csv --schema pwscup2018 --methods generalize-by-count --k {KS} --seeds 1 --out study"
            line = [sys.executable, "-m", "noren", *words.split(), "--cache", "by-command"]
            subprocess.run(line, cwd=folder, check=True, capture_output=True)

        cores = len(os.sched_getaffinity(0))
        timed = [
            ("the four runs, one after the other, nothing kept", spent(singles)),
            ("a sweep over them, one process", spent(lambda: swept(1, "one"))),
            ("the sweep again, all of it kept", spent(lambda: swept(1, "one"))),
            (f"the sweep, {cores} processes", spent(lambda: swept(cores, "all"))),
            ("the command, with its start and its report", spent(command)),
            ("the command again, all of it kept", spent(command)),
        ]
    rows = [[what, f"{wall:.1f}", f"{processor:.1f}"] for what, (wall, processor) in timed]
    single, alone = timed[0][1][1], timed[1][1][1]
    report(
        "explore",
        "Sweeps",
        f"`generalize-by-count` with k = {KS} on {SIZE['rows']:,} made-up rows of {SIZE['customers']} customers, every "
        "attack and every measure that fits. A sweep keeps each release, guess and score as it is done, and runs "
        "survival by the sharp rule in addition.",
        table(["", "seconds", "of processors"], rows),
        f"In processor seconds the sweep takes {alone / single:.2f} times what the runs alone take.",
        facts("numpy", "polars"),
    )


if __name__ == "__main__":
    main()
