"""A sweep: many methods and strengths on one's own data, attacked and measured, and which of them to take.

The pieces of work are kept in a cache by what they are (:mod:`noren.sweeps.plan`), so nothing is computed twice
and a sweep that was killed goes on where it was. The answer follows a rule that fits in a sentence
(:mod:`noren.judgement.frontier`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from noren.api import as_records, draw_seed
from noren.attacks import attacks as every_attack
from noren.data.catalog import cache_folder
from noren.data.formats.files import explain_write_errors, writing_file
from noren.data.frames import Records
from noren.data.guessing.people import reject_repeated_people
from noren.data.reading import checked_seed
from noren.data.schema import Schema
from noren.engines.blocks import cores
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.outcome import people_in
from noren.judgement.rule import Rule, get_rule
from noren.measures import measures as every_measure
from noren.progress import Progress, silent
from noren.protocols import Attack, Measure, Method, Runtime
from noren.sweeps.pieces import hold, piece_folder
from noren.sweeps.plan import SweepRequest, chosen_components, data_key, plan, settings_for
from noren.sweeps.study import PointResult, StudyData, SweepStudy, point_result
from noren.work.store import PieceStore, WorkUnit, pending_units
from noren.work.workers import run_units

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SweepStudy", "build_request", "explore", "own_seed", "run", "sweep", "sweep_folder"]

_SMALL = 500_000
"""Rows times pieces of work, up to which starting processes takes longer than the work."""


def explore(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: Schema | str | None = None,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    rule: Rule | str | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> pl.DataFrame:
    """Try methods and strengths on data, attack and measure every release, and say which to take.

    Parameters
    ----------
    original
        A history or table, or a Polars or pandas data frame with the ``schema`` that explains it.
    methods
        Names, ready methods, or ``"all"`` that fit the data.
    attacks, measures
        Names, ready ones, or ``"all"`` that fit the data and need no parameter. Those that place a release on the map
        run in any case.
    seeds
        What the methods start from; each setting runs once with each. One is drawn and kept for these data where left
        out. Keep them secret.
    rule
        What the recipient may be able to do, by which every release is judged: ``public``, ``partner``, ``inside``, a
        tolerance such as ``1/8``, a TOML file or a ready rule; ``partner`` where left out. Another rule computes
        nothing again.
    cache
        Where finished pieces are kept, in a folder ``explore``; the user's cache where left out.
    fresh
        Whether to compute again what is kept.
    workers
        How many processes; where left out as many as there are cores, or one where little is left to do. The results
        are the same.
    **parameters
        Values of the methods' parameters, each a value or several to try: ``k=range(2, 7)``, ``k="2..6"``. A method
        whose strength is not said goes through usual values.

    Returns
    -------
    polars.DataFrame
        One row for each release: ``label``, ``method``, ``parameters`` (JSON), ``k``, ``seed``, ``state`` and why a
        method ``refused``; the ``verdict`` (proved, withstands, broken or untried), its ``reason`` and ``sentence`` and
        the ``rule``; ``use``, ``risk`` and what tells them; the best ``attack``, how many people it ``named`` and how
        many of them ``right``, that ``rate`` with its interval from ``low`` to ``high``; ``on_frontier`` and
        ``recommended``; every measure's value under its name, and what each attack hit as ``<attack>.right``.

    Examples
    --------
    >>> import tempfile
    >>> from noren.api import sample
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     found = explore(history, ["generalize-by-count"], k=range(3, 6), attacks=["jaccard"], measures=["rfm"],
    ...                     seeds=[1], cache=cache, workers=1)
    >>> found.filter("recommended")["label"].to_list()
    ['generalize-by-count, k = 5']
    """
    study = sweep(
        original,
        methods,
        schema=schema,
        attacks=attacks,
        measures=measures,
        seeds=seeds,
        rule=rule,
        cache=cache,
        fresh=fresh,
        workers=workers,
        progress=progress,
        **parameters,
    )
    return study.frame


def build_request(
    original: Records,
    methods: str | Method | Iterable[str | Method] = "all",
    parameters: Mapping[str, Any] | None = None,
    *,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    cache: str | Path | None = None,
    rule: Rule | str | None = None,
) -> tuple[SweepRequest, list[str]]:
    """Return what words and values ask for on these data, and the methods that ``all`` leaves out, with the reason."""
    settings, left_out = settings_for(methods, parameters or {}, original, get_rule(rule))
    if seeds is None:
        seeds = [own_seed(sweep_folder(cache), data_key(original))]
    asked = SweepRequest(
        tuple(settings),
        tuple(chosen_components(every_attack, attacks, original)),
        tuple(chosen_components(every_measure, measures, original)),
        tuple(map(checked_seed, seeds)),
        get_rule(rule),
    )
    return asked, left_out


def sweep(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: Schema | str | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
    **order: Any,
) -> SweepStudy:
    """Run a sweep and return all that came of it; the parameters are those of :func:`explore`."""
    data = as_records(original, schema)
    chosen = {name: order.pop(name) for name in ("attacks", "measures", "seeds", "rule") if name in order}
    asked, _left_out = build_request(data, methods, order, cache=cache, **chosen)
    return run(data, asked, cache=cache, fresh=fresh, workers=workers, watch=SweepProgress(progress))


def own_seed(folder: Path, data: str) -> int:
    """Return the seed of these data: drawn when first asked for and kept, so that a sweep finds its pieces again."""
    path = folder / "seeds" / f"{data}.json"
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, TypeError, KeyError):
        seed = draw_seed()
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps({"seed": seed}) + "\n", encoding="utf-8")
    return seed


# --- running what is not kept yet, on all cores, with somebody who is told how it gets on ----------------------------


@dataclass(frozen=True)
class PointProgress:
    """How far a point has come: ``done`` of ``pieces``; its result once it has one."""

    label: str
    run: int
    state: Literal["waiting", "running", "done", "refused", "failed"]
    done: int
    pieces: int
    kept: bool = False
    result: PointResult | None = None

    def ended(self, result: PointResult) -> PointProgress:
        """Return the line of a point whose pieces are all done."""
        return replace(self, state=result.state, done=self.pieces, result=result)


@dataclass(frozen=True)
class SweepForecast:
    """What is ahead: the points, the pieces that are kept already and those that are not.

    ``slow`` names the components among them that take longer than seconds on tens of thousands of rows.
    """

    lines: Sequence[PointProgress]
    runs: int
    kept: int
    left: int
    workers: int
    slow: Sequence[str] = ()


class SweepProgress:
    """Is told how a sweep gets on, and tells a progress function how much of it is done."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress, self._lines = progress, list[PointProgress]()

    def begin(self, prospect: SweepForecast) -> None:
        """Take in what is ahead."""
        self._lines = list(prospect.lines)

    def changed(self, at: int, line: PointProgress) -> None:
        """Take in that the point ``at`` got on."""
        self._lines[at] = line
        if self._progress is not silent:
            self._progress(sum(one.done for one in self._lines) / sum(one.pieces for one in self._lines), line.label)


def sweep_folder(cache: str | Path | None = None) -> Path:
    """Return the folder where pieces of sweeps are kept, readable by its owner alone: it holds secret parts."""
    folder = (cache_folder() if cache is None else Path(cache)) / "explore"
    with explain_write_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


def run(
    original: Records,
    asked: SweepRequest,
    *,
    file: Path | None = None,
    master: Path | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    watch: SweepProgress | None = None,
) -> SweepStudy:
    """Run what is asked and not kept yet, on all cores, and return the study."""
    reject_repeated_people(original)
    watch = watch or SweepProgress()
    folder, data = sweep_folder(cache), data_key(original)
    points = plan(asked, original, data)
    places = {piece.unit: piece for point in points for piece in point.pieces}
    store, done = PieceStore(folder), dict[WorkUnit, Any]()

    def whole(unit: WorkUnit, found: Any) -> bool:
        piece = places[unit]
        has_folder = "statement" in found or "tried" in found
        return not has_folder or piece_folder(folder, piece.kind, piece.key).is_dir()

    left = pending_units(list(places), store, done, fresh=fresh, whole=whole)
    kept, ahead = len(done), set(left)
    source = StudyData(original.schema, len(original), people_in(original), original.digest(), file, master)
    lines: list[PointProgress] = []
    at_point: dict[WorkUnit, int] = {}
    for at, point in enumerate(points):
        units = [piece.unit for piece in point.pieces]
        waiting = [unit for unit in units if unit in ahead]
        at_point |= dict.fromkeys(waiting, at)
        line = PointProgress(
            point.setting.label, point.run, "waiting", len(units) - len(waiting), len(units), kept=not waiting
        )
        lines.append(line if waiting else line.ended(point_result(point, done, source, asked.rule)))
    if workers is None:
        workers = cores() if len(original) * len(left) > _SMALL else 1
    used = min(workers, max(len(left), 1))
    parts = (places[unit].component for unit in left)
    slow = dict.fromkeys(part.name for part in parts if part.runtime > Runtime.SECONDS)
    watch.begin(SweepForecast(lines, len(asked.seeds), kept, len(left), used, tuple(slow)))
    for at, line in enumerate(lines):
        if line.result is not None:
            watch.changed(at, line)

    def started(unit: WorkUnit) -> None:
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
                count=len(results), label=first.setting.label, reason=first.reason()
            )
        )
    return SweepStudy(source, asked, results, len(left), kept, folder)
