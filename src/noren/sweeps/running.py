"""Running a sweep: what is not kept yet, on all cores, with somebody who is told how it gets on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from noren.data.catalog import cache_folder
from noren.data.formats.files import saying_why
from noren.data.frames import Records
from noren.data.guessing.people import stop_at_repeated_people
from noren.descriptions import Runtime
from noren.engines.blocks import cores
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.outcome import people_in
from noren.judgement.rule import Rule
from noren.sweeps.pieces import guess_folder, hold, release_folder
from noren.sweeps.plan import Asked, Point, data_key, plan
from noren.sweeps.study import PointResult, Source, Study, point_result
from noren.work.piece import Unit
from noren.work.store import PieceStore, not_kept
from noren.work.workers import run_units

_SMALL = 500_000
"""Rows times pieces of work, up to which starting processes takes longer than the work."""

State = Literal["waiting", "running", "done", "refused", "failed"]


@dataclass(frozen=True)
class Line:
    """How far a point has come: ``done`` of ``pieces``; its result once it has one."""

    label: str
    run: int
    state: State
    done: int
    pieces: int
    kept: bool = False
    result: PointResult | None = None


@dataclass(frozen=True)
class Prospect:
    """What is ahead: the points, the pieces that are kept already and those that are not.

    ``slow`` names the components among them that take longer than seconds on tens of thousands of rows.
    """

    lines: Sequence[Line]
    runs: int
    kept: int
    left: int
    workers: int
    slow: Sequence[str] = ()


class Watch:
    """Is told how a sweep gets on; this one does nothing."""

    def begin(self, prospect: Prospect) -> None:
        """Hear what is ahead."""

    def changed(self, at: int, line: Line) -> None:
        """Hear that the point ``at`` got on."""


def sweep_folder(cache: str | Path | None = None) -> Path:
    """Return the folder where pieces of sweeps are kept, readable by its owner alone: it holds secret parts."""
    folder = (cache_folder() if cache is None else Path(cache)) / "explore"
    with saying_why(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


def run(
    original: Records,
    asked: Asked,
    *,
    file: Path | None = None,
    master: Path | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    watch: Watch | None = None,
) -> Study:
    """Run what is asked and not kept yet, on all cores, and return the study."""
    stop_at_repeated_people(original)
    watch = watch or Watch()
    folder, data = sweep_folder(cache), data_key(original)
    points = plan(asked, original, data)
    places = {piece.unit: piece for point in points for piece in point.pieces}
    store, done = PieceStore(folder), dict[Unit, Any]()

    def whole(unit: Unit, found: Any) -> bool:
        piece = places[unit]
        if piece.kind == "release":
            return "refused" in found or release_folder(folder, piece.key).is_dir()
        return piece.kind == "score" or "tried" not in found or guess_folder(folder, piece.key).is_dir()

    left = not_kept(list(places), store, done, fresh=fresh, whole=whole)
    kept = len(done)
    source = Source(original.schema, len(original), people_in(original), original.digest(), file, master)
    board = _Board(points, source, asked.rule, set(left), done)
    if workers is None:
        workers = cores() if len(original) * len(left) > _SMALL else 1
    used = min(workers, max(len(left), 1))
    parts = (places[unit].component for unit in left)
    slow = dict.fromkeys(part.name for part in parts if part.runtime > Runtime.SECONDS)
    watch.begin(Prospect(board.lines, len(asked.seeds), kept, len(left), used, tuple(slow)))
    for at, line in enumerate(board.lines):
        if line.state in ("done", "refused", "failed"):
            watch.changed(at, line)

    def started(unit: Unit) -> None:
        for at, line in board.started(unit):
            watch.changed(at, line)

    for unit in run_units(left, done, store, used, prepared=(hold, (data, original, folder)), started=started):
        for at, line in board.ended(unit):
            watch.changed(at, line)
    results = [line.result for line in board.lines if line.result is not None]
    if not any(not result.refused for result in results):
        first = results[0]
        raise ParameterError(
            _("none of the {count} points could be run; {label}: {reason}").format(
                count=len(results), label=first.label, reason=first.reason()
            )
        )
    return Study(source, asked, results, len(left), kept, folder)


class _Board:
    """The lines of all points, kept up to date as pieces are started and done."""

    def __init__(
        self, points: Sequence[Point], source: Source, rule: Rule, left: set[Unit], done: Mapping[Unit, Any]
    ) -> None:
        self._points, self._source, self._rule, self._done = points, source, rule, done
        self._places: dict[Unit, int] = {}
        self.lines: list[Line] = []
        for at, point in enumerate(points):
            ahead = [piece.unit for piece in point.pieces if piece.unit in left]
            self._places |= dict.fromkeys(ahead, at)
            pieces = len(point.pieces)
            line = Line(point.setting.label, point.run, "waiting", pieces - len(ahead), pieces, kept=not ahead)
            self.lines.append(line if ahead else self._finished(at, line))

    def _finished(self, at: int, line: Line) -> Line:
        result = point_result(
            self._points[at], self._done, kind=self._source.kind, people=self._source.people, rule=self._rule
        )
        state: State = "failed" if result.state == "failed" else "refused" if result.refused else "done"
        return replace(line, state=state, done=line.pieces, result=result)

    def started(self, unit: Unit) -> list[tuple[int, Line]]:
        at = self._places[unit]
        if self.lines[at].state != "waiting":
            return []
        self.lines[at] = replace(self.lines[at], state="running")
        return [(at, self.lines[at])]

    def ended(self, unit: Unit) -> list[tuple[int, Line]]:
        at = self._places[unit]
        line = replace(self.lines[at], done=self.lines[at].done + 1)
        self.lines[at] = self._finished(at, line) if line.done == line.pieces else line
        return [(at, self.lines[at])]
