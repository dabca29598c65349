"""What everybody may have once a contest is over, made once and kept: its results, and its archive.

Both follow from the log, so they are kept under the digest of its head; whoever asks often costs nothing.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Final

from noren.contest.acts import RefusedError
from noren.contest.archive import export
from noren.contest.arena import Arena
from noren.contest.desk import Desk, Role, Who
from noren.contest.results import Results, results_of
from noren.contest.state import Contest
from noren.i18n import _

__all__ = ["Published"]

_KEPT: Final = 8


class Published:
    """The results and archives of one arena."""

    def __init__(self, arena: Arena) -> None:
        self._arena, self._desk = arena, Desk(arena)
        self._results: dict[tuple[str, str], Results] = {}
        self._making, self._writing = threading.Lock(), threading.Lock()

    def contest(self, who: Who, contest: str) -> Contest:
        """Return a contest to whoever may see its results: everybody when they are open, before that the organiser."""
        found = self._desk.contest(who, contest)
        if self._desk.role(who, found) != Role.ORGANISER and not found.has_results(self._arena.now()):
            raise RefusedError(_("the results are not open yet"), _("the schedule tells when they are"), status=403)
        return found

    def results(self, who: Who, contest: str) -> Results:
        """Return the results of a contest."""
        found = self.contest(who, contest)
        key = (found.id, found.digest)
        with self._making:  # one makes them, and the others wait
            made = self._results.get(key)
            if made is None:
                while len(self._results) >= _KEPT:
                    del self._results[next(iter(self._results))]
                made = self._results[key] = results_of(found)
        return made

    def archive(self, who: Who, contest: str) -> Path:
        """Return the open archive of a contest; before the results there is none, for it tells everything."""
        found = self.contest(who, contest)
        folder = self._arena.folder / "archives"
        path = folder / f"{found.id}-{found.digest[:16]}.zip"
        with self._writing:
            if not path.exists():
                folder.mkdir(exist_ok=True, mode=0o700)
                export(self._arena, found.id, path, sealed=False)
                for old in folder.glob(f"{found.id}-{'?' * 16}.zip"):
                    if old != path:
                        with contextlib.suppress(OSError):
                            old.unlink()
        return path
