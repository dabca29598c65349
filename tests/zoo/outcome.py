"""What came of one step: it worked, it asked, it refused with a remedy; or it was wrong, or it broke."""

from __future__ import annotations

import contextlib
import io
import json
import os
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from noren.cli import run

__all__ = ["CommandResult", "Outcome", "judged", "noren"]

Verdict = Literal["ok", "asked", "refused", "WRONG", "BROKEN", "–"]
SURROUNDINGS = {"NOREN_LANG": "en", "COLUMNS": "200"}


@dataclass(frozen=True)
class Outcome:
    """What came of a step. ``–`` stands for one that an earlier step left nothing for."""

    step: str
    verdict: Verdict
    detail: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether this is a fault of ours."""
        return self.verdict in ("WRONG", "BROKEN")


@dataclass(frozen=True)
class CommandResult:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON: one object and nothing else."""
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The line that says what was wrong; nothing where there is not exactly one."""
        lines = [line for line in self.err.splitlines() if line.startswith("noren: ")]
        return lines[0].removeprefix("noren: ") if len(lines) == 1 and self.err.endswith(lines[0] + "\n") else ""


@contextlib.contextmanager
def _surroundings(names: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def noren(*words: object) -> CommandResult:
    """Run ``noren`` in this process; an error that gets past the command line is reported by its last line."""
    out, err = io.StringIO(), io.StringIO()
    with _surroundings(SURROUNDINGS), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run([str(word) for word in words])
        except Exception:
            traceback.print_exc(limit=-3)
            code = 70
    return CommandResult(code, out.getvalue(), err.getvalue())


def judged(step: str, result: CommandResult) -> Outcome:
    """Return ``ok`` for exit code 0, ``refused`` for 1 or 2 with one line that ends in a remedy, else ``BROKEN``."""
    if result.code == 0:
        return Outcome(step, "ok")
    last = result.err.strip().splitlines()[-1] if result.err.strip() else "no message"
    if result.code not in (1, 2) or "Traceback" in result.err:
        return Outcome(step, "BROKEN", last)
    if not result.sentence:
        return Outcome(step, "BROKEN", f"not one line: {last}")
    if "report the method" in result.sentence:
        # the release was stopped by its own audit: nothing leaked, and nothing a person can do
        return Outcome(step, "BROKEN", result.sentence)
    if ";" not in result.sentence:
        return Outcome(step, "BROKEN", f"no remedy: {result.sentence}")
    return Outcome(step, "refused", result.sentence)
