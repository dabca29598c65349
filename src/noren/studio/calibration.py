"""How fast this machine is, measured once: small made-up data are protected, attacked and measured as runs do it.

It is done by a process of low priority when a studio first starts on a machine, in the background, and takes a few
seconds of a processor; the first pass compiles and loads what the first run of a person would wait for. What was found
is kept in the studio's folder with the name of the machine and the date. Delete ``machine.json`` to have it measured
again.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from noren.studio.experience import MACHINE_FILE, Timing, keep_timings, processor_share
from noren.studio.folders import Folders, read_json, write_json

__all__ = ["Calibration", "is_measured", "main", "measure"]

_BEGAN = time.perf_counter()
_LOW_PRIORITY: Final = 10
_LONGEST: Final = 300.0
_STEPS: Final = {
    "history": {"method": "generalize-by-count", "parameters": {"k": 3}},
    "table": {"method": "mondrian", "parameters": {"k": 3}},
}
"""A method for either kind of data."""


def is_measured(root: Path) -> bool:
    """Tell whether a studio knows the machine that it runs on."""
    kept = read_json(root / MACHINE_FILE)
    return kept is not None and kept.get("machine") == platform.node()


class Calibration:
    """The measuring of a machine in the background, where a studio does not know it yet."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def start(self) -> None:
        """Begin, aside."""
        if not is_measured(self._root):
            threading.Thread(target=self._measure, name="noren-calibration", daemon=True).start()

    def _measure(self) -> None:
        command = [sys.executable, "-m", "noren.studio.calibration", str(self._root)]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
        if self._closed:
            self.close()
        with suppress(subprocess.TimeoutExpired):  # without it the shipped laws stay
            self._process.wait(_LONGEST)
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Stop; the next start begins again."""
        self._closed = True
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # it takes its files away


def main(root: Path) -> None:
    """Measure this machine and keep what was found in a studio's folder."""
    os.nice(_LOW_PRIORITY)
    about = {"machine": platform.node(), "cores": os.cpu_count(), "measured": time.strftime("%Y-%m-%d", time.gmtime())}
    timings = measure()
    keep_timings(root / MACHINE_FILE, timings, **about)


def measure() -> list[Timing]:
    """Return what the parts of a few small runs take."""
    from noren.studio.work import running  # as a worker loads it

    started = time.process_time()
    timings: list[Timing] = []
    with tempfile.TemporaryDirectory(prefix="noren-") as name:
        for kind, step in _STEPS.items():
            project = _lay(Path(name), kind)
            for seed in (1, 2):  # the first compiles
                clocked = _Silent(processor_share(time.perf_counter() - _BEGAN))
                folder = Path(name) / f"{kind}-{seed}"
                folder.mkdir()
                running.do(project | {"steps": [step], "seed": seed}, folder, clocked)
            timings += [clocked.clock.start_took(started), *clocked.clock.timings]
    return timings


class _Silent:
    """A progress that nobody hears, with a clock."""

    def __init__(self, share: float) -> None:
        from noren.studio.work.clock import RunClock

        self.clock = RunClock(share=share)

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Say nothing."""


def _lay(root: Path, kind: str) -> dict[str, Any]:
    """Make a project of made-up data, and return the order of its runs."""
    from noren.api import sample
    from noren.data.reading import write
    from noren.data.samples.people import sample_people
    from noren.reports.profile import profile

    history = kind == "history"
    records = sample(customers=60, rows=1_200, items=150, seed=1) if history else sample_people(rows=1_000, seed=1)
    project = f"calibrating{kind[0]}"
    folders = Folders(root)
    folders.project(project).mkdir(parents=True)
    write(records, folders.data(project))
    folders.schema(project).write_text(records.schema.to_toml(), encoding="utf-8")
    write_json(folders.profile(project), profile(records))
    return {"kind": "run", "project": project, "root": str(root), "language": "en"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
