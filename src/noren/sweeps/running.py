"""Running a sweep: what is not kept yet, on all cores, with somebody who is told how it gets on."""

from __future__ import annotations

from collections.abc import Sequence
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
from noren.progress import Progress, silent
from noren.sweeps.pieces import hold, piece_folder
from noren.sweeps.plan import Asked, data_key, plan
from noren.sweeps.study import PointResult, Source, Study, point_result
from noren.work.piece import Unit
from noren.work.store import PieceStore, not_kept
from noren.work.workers import run_units

_SMALL = 500_000
"""Rows times pieces of work, up to which starting processes takes longer than the work."""


@dataclass(frozen=True)
class Line:
    """How far a point has come: ``done`` of ``pieces``; its result once it has one."""

    label: str
    run: int
    state: Literal["waiting", "running", "done", "refused", "failed"]
    done: int
    pieces: int
    kept: bool = False
    result: PointResult | None = None

    def ended(self, result: PointResult) -> Line:
        """Return the line of a point whose pieces are all done."""
        return replace(self, state=result.state, done=self.pieces, result=result)


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
    """Is told how a sweep gets on, and tells a progress function how much of it is done."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress, self._lines = progress, list[Line]()

    def begin(self, prospect: Prospect) -> None:
        """Take in what is ahead."""
        self._lines = list(prospect.lines)

    def changed(self, at: int, line: Line) -> None:
        """Take in that the point ``at`` got on."""
        self._lines[at] = line
        if self._progress is not silent:
            self._progress(sum(one.done for one in self._lines) / sum(one.pieces for one in self._lines), line.label)


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
        has_folder = "statement" in found or "tried" in found
        return not has_folder or piece_folder(folder, piece.kind, piece.key).is_dir()

    left = not_kept(list(places), store, done, fresh=fresh, whole=whole)
    kept, ahead = len(done), set(left)
    source = Source(original.schema, len(original), people_in(original), original.digest(), file, master)
    lines: list[Line] = []
    at_point: dict[Unit, int] = {}
    for at, point in enumerate(points):
        units = [piece.unit for piece in point.pieces]
        waiting = [unit for unit in units if unit in ahead]
        at_point |= dict.fromkeys(waiting, at)
        line = Line(point.setting.label, point.run, "waiting", len(units) - len(waiting), len(units), kept=not waiting)
        lines.append(line if waiting else line.ended(point_result(point, done, source, asked.rule)))
    if workers is None:
        workers = cores() if len(original) * len(left) > _SMALL else 1
    used = min(workers, max(len(left), 1))
    parts = (places[unit].component for unit in left)
    slow = dict.fromkeys(part.name for part in parts if part.runtime > Runtime.SECONDS)
    watch.begin(Prospect(lines, len(asked.seeds), kept, len(left), used, tuple(slow)))
    for at, line in enumerate(lines):
        if line.result is not None:
            watch.changed(at, line)

    def started(unit: Unit) -> None:
        at = at_point[unit]
        if lines[at].state == "waiting":
            lines[at] = replace(lines[at], state="running")
            watch.changed(at, lines[at])

    for unit in run_units(left, done, store, used, prepared=(hold, (data, original, folder)), started=started):
        at = at_point[unit]
        line = replace(lines[at], done=lines[at].done + 1)
        is_over = line.done == line.pieces
        lines[at] = line.ended(point_result(points[at], done, source, asked.rule)) if is_over else line
        watch.changed(at, lines[at])
    results = [line.result for line in lines if line.result is not None]
    if all(result.refused for result in results):
        first = results[0]
        raise ParameterError(
            _("none of the {count} points could be run; {label}: {reason}").format(
                count=len(results), label=first.label, reason=first.reason()
            )
        )
    return Study(source, asked, results, len(left), kept, folder)
