"""Sweeps: many methods and strengths on the same data, attacked and measured, with a recommendation.

Pieces of work are cached by their content (:mod:`noren.sweeps.plan`), so nothing is computed twice and an interrupted
sweep continues where it stopped. The recommendation follows :mod:`noren.judgement.frontier`.
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
from noren.data.frames import Records, reject_missing
from noren.data.guessing.people import reject_repeated_people
from noren.data.reading import SchemaLike, checked_seed
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
from noren.tables import table_of
from noren.tabulations.questions import named_questions
from noren.work.store import PieceStore, WorkUnit, pending_units
from noren.work.workers import run_units

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SweepStudy", "build_request", "explore", "own_seed", "run", "sweep", "sweep_folder"]

_MOST_COLUMNS = 20
_SMALL = 500_000
"""Rows times pieces of work, up to which starting processes takes longer than the work."""


def explore(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: SchemaLike | None = None,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    rule: Rule | str | None = None,
    purpose: str | Iterable[str] = (),
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    columns: str | Sequence[str] = "main",
    progress: Progress = silent,
    **parameters: Any,
) -> pl.DataFrame:
    """Try methods and strengths on data, attack and measure every release, and recommend one.

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
        Seeds of the methods; each setting runs once with each. By default one is drawn and cached for these data. Keep
        them secret.
    rule
        The rule by which every release is judged: ``public``, ``partner`` (default), ``inside``, a tolerance such as
        ``1/8``, a TOML file or a rule object. Another rule recomputes nothing.
    purpose
        Questions that the release is for, such as ``"monthly sales, top items"``: of the settings that meet the rule,
        the one with the most usable answers is recommended, then the one with the smallest errors.
    cache
        Where finished pieces are cached, in a folder ``explore``; by default the user's cache.
    fresh
        Whether to recompute cached pieces.
    workers
        How many processes; by default one per core, or one where little is left to do. The results are the same.
    columns
        The columns to return: ``"main"``, at most 20, with the measures that were named; ``"all"``; or some by name.
    **parameters
        Values of the methods' parameters, each a value or several to try: ``k=range(2, 7)``, ``k="2..6"``. A method
        without a strength takes the usual values.

    Returns
    -------
    polars.DataFrame
        One row for each release. Main columns: ``label``, ``method``, ``k``, ``state`` and why a method ``refused``;
        the ``verdict`` (proved, withstands, broken or untried); ``use`` and ``risk``; the best ``attack``, how many
        people it ``named``, how many of them ``right``, that ``rate``; ``on_frontier`` and ``recommended``;
        ``rows_deleted``. Others: ``parameters`` (JSON), ``run``, ``seed``, ``reason``, ``sentence``, ``rule``,
        ``use_of``, ``risk_of``, ``low``, ``high``, ``rows_added``, every measure's value under its name, and what each
        attack hit as ``<attack>.right``.

    Examples
    --------
    >>> import tempfile
    >>> from noren.api import sample
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     frame = explore(history, ["generalize-by-count"], k=range(3, 6), attacks=["jaccard"], measures=["rfm"],
    ...                     seeds=[1], cache=cache, workers=1)
    >>> frame.filter("recommended")["label"].to_list()
    ['generalize-by-count, k = 5']
    """
    chosen = {"attacks": attacks, "measures": measures, "seeds": seeds, "rule": rule, "purpose": purpose}
    order: dict[str, Any] = chosen | {"cache": cache, "fresh": fresh, "workers": workers, "progress": progress}
    study = sweep(original, methods, schema=schema, **order, **parameters)
    names = [measure.name for measure in study.request.measures] if measures != "all" else []
    if columns == "main":
        columns = [*table_of("noren.sweeps.study")["main"], *names][:_MOST_COLUMNS]
    elif columns == "all":
        columns = study.frame.columns
    reject_missing([columns] if isinstance(columns, str) else columns, study.frame.columns)
    return study.frame.select(columns)


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
    purpose: str | Iterable[str] = (),
) -> tuple[SweepRequest, list[str]]:
    """Return the request for these data, and the methods that ``all`` leaves out, with the reason."""
    asked = named_questions(purpose) if purpose else []
    if lacking := [question.name for question in asked if not question.fits(original.schema)]:
        message = _("these data cannot answer {names}; name other questions")
        raise ParameterError(message.format(names=", ".join(lacking)))
    settings, left_out = settings_for(methods, parameters or {}, original, get_rule(rule))
    if seeds is None:
        seeds = [own_seed(sweep_folder(cache), data_key(original))]
    chosen = chosen_components(every_measure, measures, original)
    if asked and all(measure.name != "analyst" for measure in chosen):
        chosen = [*chosen, every_measure.create("analyst")]
    request = SweepRequest(
        tuple(settings),
        tuple(chosen_components(every_attack, attacks, original)),
        tuple(chosen),
        tuple(map(checked_seed, seeds)),
        get_rule(rule),
        tuple(question.name for question in asked),
    )
    return request, left_out


def sweep(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: SchemaLike | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
    **order: Any,
) -> SweepStudy:
    """Run a sweep and return the study; the parameters are those of :func:`explore`."""
    data = as_records(original, schema)
    chosen = {name: order.pop(name) for name in ("attacks", "measures", "seeds", "rule", "purpose") if name in order}
    request, _left_out = build_request(data, methods, order, cache=cache, **chosen)
    return run(data, request, cache=cache, fresh=fresh, workers=workers, watch=SweepProgress(progress))


def own_seed(folder: Path, data: str) -> int:
    """Return the seed of these data: drawn once and stored, so that a sweep finds its cached pieces."""
    path = folder / "seeds" / f"{data}.json"
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, TypeError, KeyError):
        seed = draw_seed()
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps({"seed": seed}) + "\n", encoding="utf-8")
    return seed


# --- running what is not cached, on all cores, with progress reports --------------------------------------------------


@dataclass(frozen=True)
class PointProgress:
    """The progress of a point: ``done`` of ``pieces``; its result once it has one."""

    label: str
    run: int
    state: Literal["waiting", "running", "done", "refused", "failed"]
    done: int
    pieces: int
    cached: bool = False
    result: PointResult | None = None

    def ended(self, result: PointResult) -> PointProgress:
        """Return the line of a point whose pieces are all done."""
        return replace(self, state=result.state, done=self.pieces, result=result)


@dataclass(frozen=True)
class SweepForecast:
    """What is ahead: the points, the cached pieces and those left to compute.

    ``slow`` names the components among them that take longer than seconds on tens of thousands of rows.
    """

    lines: Sequence[PointProgress]
    runs: int
    cached: int
    left: int
    workers: int
    slow: Sequence[str] = ()


class SweepProgress:
    """Observes a sweep and reports to a progress function how much of it is done."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress, self._lines = progress, list[PointProgress]()

    def begin(self, forecast: SweepForecast) -> None:
        """Receive the forecast."""
        self._lines = list(forecast.lines)

    def changed(self, at: int, line: PointProgress) -> None:
        """Receive the progress of the point ``at``."""
        self._lines[at] = line
        if self._progress is not silent:
            done, pieces = sum(point.done for point in self._lines), sum(point.pieces for point in self._lines)
            self._progress(done / pieces, line.label)


def sweep_folder(cache: str | Path | None = None) -> Path:
    """Return the cache folder of sweeps; only its owner can read it, since it holds secret parts."""
    folder = (cache_folder() if cache is None else Path(cache)) / "explore"
    with explain_write_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


def run(
    original: Records,
    request: SweepRequest,
    *,
    file: Path | None = None,
    master: Path | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    watch: SweepProgress | None = None,
) -> SweepStudy:
    """Run what is requested and not cached, on all cores, and return the study."""
    reject_repeated_people(original)
    watch = watch or SweepProgress()
    folder, data = sweep_folder(cache), data_key(original)
    points = plan(request, original, data)
    places = {piece.unit: piece for point in points for piece in point.pieces}
    store, done = PieceStore(folder), dict[WorkUnit, Any]()

    def whole(unit: WorkUnit, result: Any) -> bool:
        piece = places[unit]
        has_folder = "statement" in result or "tried" in result
        return not has_folder or piece_folder(folder, piece.kind, piece.key).is_dir()

    left = pending_units(list(places), store, done, fresh=fresh, whole=whole)
    cached, ahead = len(done), set(left)
    source = StudyData(original.schema, len(original), people_in(original), original.digest(), file, master)
    lines: list[PointProgress] = []
    at_point: dict[WorkUnit, int] = {}
    for at, point in enumerate(points):
        units = [piece.unit for piece in point.pieces]
        waiting = [unit for unit in units if unit in ahead]
        at_point |= dict.fromkeys(waiting, at)
        line = PointProgress(
            point.setting.label, point.run, "waiting", len(units) - len(waiting), len(units), cached=not waiting
        )
        lines.append(line if waiting else line.ended(point_result(point, done, source, request.rule)))
    if workers is None:
        workers = cores() if len(original) * len(left) > _SMALL else 1
    used = min(workers, max(len(left), 1))
    parts = (places[unit].component for unit in left)
    slow = dict.fromkeys(part.name for part in parts if part.runtime > Runtime.SECONDS)
    watch.begin(SweepForecast(lines, len(request.seeds), cached, len(left), used, tuple(slow)))
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
        lines[at] = line.ended(point_result(points[at], done, source, request.rule)) if is_over else line
        watch.changed(at, lines[at])
    results = [line.result for line in lines if line.result is not None]
    if all(result.refused for result in results):
        message, first = _("none of the {count} points could be run; {label}: {reason}"), results[0]
        raise ParameterError(message.format(count=len(results), label=first.setting.label, reason=first.reason()))
    return SweepStudy(source, request, results, len(left), cached, folder)
