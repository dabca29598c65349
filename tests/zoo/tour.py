"""The whole tour: bring every file, by every method, through every step, and print what came of it.

The table is printed and written to ``benchmarks/results/zoo.md``; the exit code is 1 where anything was wrong or broke.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.zoo.outcome import Outcome
from tests.zoo.steps import CHEAP, STEPS, Visit
from tests.zoo.zoo import ZOO

__all__ = ["faults", "main", "markdown", "visited"]

WRITTEN = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "zoo.md"
COLUMNS = ("guess", *STEPS, "studio")
ORDER = ("ok", "asked", "refused", "WRONG", "BROKEN")
MethodOutcome = tuple[str, Outcome]
"""The method, and what came of a step with it."""


def visited(name: str, *, every: bool, studio: bool = True) -> list[MethodOutcome]:
    """Bring one animal through every step and return what came of each."""
    animal = next(animal for animal in ZOO if animal.name == name)
    with tempfile.TemporaryDirectory() as folder:
        visit = Visit(animal, Path(folder) / "way")
        outcomes: list[MethodOutcome] = [("", visit.guess())]
        for method in visit.methods() if every else [CHEAP[animal.reading.kind]]:
            outcomes += [(method, outcome) for outcome in visit.way(method)]
        if studio:
            from tests.zoo.window import Window

            window = Window(Path(folder) / "studio")
            outcomes.append(("", window.way(visit, Path(folder) / "carried")))
            window.studio.close()
    return outcomes


def _cell(outcomes: Sequence[MethodOutcome], column: str) -> str:
    """Return what came of a step over all methods: ``ok``, or ``7 ok, 2 refused``."""
    verdicts = [outcome.verdict for _, outcome in outcomes if outcome.step == column and outcome.verdict != "–"]
    counts = [(verdict, verdicts.count(verdict)) for verdict in ORDER if verdict in verdicts]
    if len(verdicts) == 1:
        return verdicts[0]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts) or "–"


def faults(name: str, outcomes: Sequence[MethodOutcome]) -> list[str]:
    """Return a line for each thing that was wrong or broke."""
    return [
        f"{name}, {outcome.step}{f' ({method})' if method else ''}: {outcome.verdict}: {outcome.detail}"
        for method, outcome in outcomes
        if outcome.is_fault
    ]


def markdown(results: dict[str, list[MethodOutcome]]) -> str:
    """Return the table, the counts and the refusals, as a page."""
    lines = ["| file | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(_cell(outcomes, c) for c in COLUMNS)} |" for name, outcomes in results.items()]
    every = [outcome for outcomes in results.values() for _, outcome in outcomes if outcome.verdict != "–"]
    counts = ", ".join(f"{sum(o.verdict == verdict for o in every):,} {verdict}" for verdict in ORDER)
    wrong = [line for name, outcomes in results.items() for line in faults(name, outcomes)]
    refusals = _sentences(results)
    parts = [
        "# Files we try",
        "Made by `make zoo`. A cell counts over all methods that are for such data: `ok`; `asked`, a question that the"
        " file's owner answered; `refused`, one line that ends in what to do. `WRONG` and `BROKEN` are faults.",
        "\n".join(lines),
        f"{len(results)} files, {len(every):,} steps: {counts}.",
    ]
    parts += ["## Faults\n\n" + "\n".join(f"- {line}" for line in wrong)] if wrong else []
    parts += ["## Refusals\n\n" + "\n".join(f"- {line}" for line in refusals)] if refusals else []
    return "\n\n".join(parts) + "\n"


def _sentences(results: dict[str, list[MethodOutcome]]) -> list[str]:
    """Return each message of a refusal once, with its number of files."""
    files: dict[tuple[str, str, str], set[str]] = {}
    for name, outcomes in results.items():
        for method, outcome in outcomes:
            if outcome.verdict == "refused":
                # where the file lay while it was tried says nothing to a reader
                sentence = outcome.detail.split("/file/")[-1]
                files.setdefault((outcome.step, method, sentence), set()).add(name)
    return [
        f"{step}{f' ({method})' if method else ''}, {len(names)} file{'s' * (len(names) > 1)}: {sentence}"
        for (step, method, sentence), names in sorted(files.items())
    ]


def main(words: Sequence[str]) -> int:
    """Try the animals that were named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", help="animals; all where none is named")
    parser.add_argument("--quick", action="store_true", help="one method for each file in place of all")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--list", action="store_true", help="say which animals there are")
    options = parser.parse_args(words)
    known = [animal.name for animal in ZOO]
    if options.list:
        print("\n".join(f"{animal.name}: {animal.story}" for animal in ZOO))
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"there is no animal {unknown[0]}; --list says which there are")
    names = options.names or known
    started, results = time.monotonic(), {}
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        waiting = {name: pool.submit(visited, name, every=not options.quick) for name in names}
        for name, future in waiting.items():
            error = future.exception()
            results[name] = (
                [("", Outcome("guess", "BROKEN", f"{type(error).__name__}: {error}"))] if error else future.result()
            )
            print(f"{name}: " + ", ".join(f"{c} {_cell(results[name], c)}" for c in COLUMNS), file=sys.stderr)
    page = markdown(results)
    print(page, end="")
    print(f"{time.monotonic() - started:,.0f} s", file=sys.stderr)
    if not options.names and not options.quick:
        WRITTEN.write_text(page, encoding="utf-8")
    return int(any(outcome.is_fault for outcomes in results.values() for _, outcome in outcomes))
