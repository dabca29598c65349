"""What judging one file of a contest takes: a release and a guess of 89,278 generated rows, and small ones.

python benchmarks/bench_contest_judging.py [--rows 89278] [--customers 1000]

On one thread, as the processes that judge run. *Cold* reads every file anew, *warm* has original and release at hand,
as when many guesses come in against the same targets. Baseline attacks: those of ``pwscup2018``, item-candidates
and nearest, which takes nearly all of it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.update(dict.fromkeys(("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

from machine import facts, in_turns, report, table

from noren import api
from noren.contest.judging import prepared
from noren.contest.judging.checking import check_release
from noren.contest.judging.prepared import make_target, prepare, target_names
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.rulebook import Baseline, preset
from noren.data.contest_files import write_rows
from noren.data.release import submission_of

SALT, LABEL = bytes(32), "cup/final/submission"


def forget() -> None:
    """Empty the caches of files that were read."""
    for cache in (prepared._originals, prepared._releases):
        cache._entries.clear()


def judged(folder: Path, rows: int, customers: int) -> list[list[str]]:
    """Return a table's lines on files of so many rows."""
    whole = preset("pwscup2018")
    bare = whole.model_copy(update={"baseline": Baseline()})
    original, submitted, guess = (folder / name for name in ("T.csv", "A.csv", "guess.csv"))
    history = api.sample(customers=customers, rows=rows, items=2_800, seed=1, schema="pwscup2018")
    write_rows(history, original)
    submitted.write_bytes(submission_of(api.protect(history, "generalize-by-count", k=2, seed=1, audit=False)))
    names = target_names(prepare(bare, original, submitted), SALT, LABEL)["target"]
    everyone = history.customers
    lines = [f"{name},{everyone[place % len(everyone)]}\n" for place, name in enumerate(names)]
    guess.write_text("".join(lines), encoding="utf-8")
    files = original, submitted

    works = {
        "check a release, cold": lambda: (forget(), check_release(bare, *files)),
        "score a release without baseline attacks, cold": lambda: (forget(), score_release(bare, *files)),
        "score a release with baseline attacks, warm": lambda: score_release(whole, *files),
        "make a target, warm": lambda: make_target(bare, *files, SALT, LABEL),
        "score a guess, warm": lambda: score_guess(bare, *files, SALT, LABEL, guess),
    }
    score_release(whole, *files)  # compiled kernels are not what is measured
    times = in_turns(list(works.values()))
    return [
        [f"{name}, {rows:,} rows", f"{1000 * seconds.processor_seconds:,.0f}", f"{1000 * seconds.seconds:,.0f}"]
        for name, seconds in zip(works, times, strict=True)
    ]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=89_278)
    words.add_argument("--customers", type=int, default=1_000)
    options = words.parse_args()
    lines = []
    for rows, customers in ((400, 40), (options.rows, options.customers)):
        with TemporaryDirectory() as folder:
            lines += judged(Path(folder), rows, customers)
    head = ["", "processor milliseconds", "wall milliseconds"]
    report("contest-judging", "Judging one file of a contest", facts("polars", "numba"), table(head, lines))


if __name__ == "__main__":
    main()
