"""A sweep: many methods and strengths on one's own data, attacked and measured, and which of them to take.

The pieces of work are kept in a cache by what they are (:mod:`noren.study.sweep_plan`), so nothing is computed twice
and a sweep that was killed goes on where it was. The answer follows a rule that fits in a sentence
(:mod:`noren.study.recommend`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.api import as_records, draw_seed
from noren.attacks import attacks as every_attack
from noren.data.formats.files import writing_file
from noren.data.frames import Records
from noren.data.given import checked_seed
from noren.data.schema import Schema
from noren.measures import measures as every_measure
from noren.progress import Progress, silent
from noren.protocols import Attack, Measure, Method
from noren.study.sweep_plan import Asked, chosen_components, data_key, settings_for
from noren.study.sweep_run import Line, Prospect, Watch, run, sweep_folder
from noren.study.sweep_study import Study

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Study", "ask", "explore", "sweep"]


def explore(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: Schema | str | None = None,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    attackers: int = 13,
    require: float = 0.9,
    most_risk: float | None = None,
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
    attackers, require, most_risk
        A history withstands if no attack is effective under the sharp test and it outlives ``attackers`` who do the
        best one can with the chance ``require``; a table if its classes keep what is claimed. Neither may have a risk
        above ``most_risk``.
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
        One row for each release: ``label``, ``method``, ``parameters`` (JSON), ``k``, ``seed``, ``state`` and
        ``reason`` where a method refused; ``use``, ``risk`` and what tells them; the ``verdict`` of the attacks under
        both tests, ``survival_sharp``, ``withstands``; ``on_frontier`` and ``recommended``; every measure's value under
        its name, and what each attack hit as ``<attack>.right``.

    Examples
    --------
    >>> import tempfile
    >>> from noren.api import sample
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     found = explore(history, ["generalize-by-count"], k=range(2, 5), attacks=["unique-rows"], measures=["rfm"],
    ...                     seeds=[1], cache=cache, workers=1)
    >>> found.filter("recommended")["label"].to_list()
    ['generalize-by-count, k = 4']
    """
    study = sweep(
        original,
        methods,
        schema=schema,
        attacks=attacks,
        measures=measures,
        seeds=seeds,
        attackers=attackers,
        require=require,
        most_risk=most_risk,
        cache=cache,
        fresh=fresh,
        workers=workers,
        progress=progress,
        **parameters,
    )
    return study.frame


def ask(
    original: Records,
    methods: str | Method | Iterable[str | Method] = "all",
    parameters: Mapping[str, Any] | None = None,
    *,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    cache: str | Path | None = None,
    attackers: int = 13,
    require: float = 0.9,
    most_risk: float | None = None,
) -> tuple[Asked, list[str]]:
    """Return what words and values ask for on these data, and the methods that ``all`` leaves out, with the reason."""
    settings, left_out = settings_for(methods, parameters or {}, original)
    chosen = (
        tuple(map(checked_seed, seeds)) if seeds is not None else (_own_seed(sweep_folder(cache), data_key(original)),)
    )
    asked = Asked(
        tuple(settings),
        tuple(chosen_components(every_attack, attacks, original)),
        tuple(chosen_components(every_measure, measures, original)),
        chosen,
        attackers,
        require,
        most_risk,
    )
    return asked, left_out


def sweep(
    original: Any,
    methods: str | Method | Iterable[str | Method] = "all",
    *,
    schema: Schema | str | None = None,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    attackers: int = 13,
    require: float = 0.9,
    most_risk: float | None = None,
    cache: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Study:
    """Run a sweep and return all that came of it; the parameters are those of :func:`explore`."""
    data = as_records(original, schema)
    asked, _left_out = ask(
        data,
        methods,
        parameters,
        attacks=attacks,
        measures=measures,
        seeds=seeds,
        cache=cache,
        attackers=attackers,
        require=require,
        most_risk=most_risk,
    )
    return run(data, asked, cache=cache, fresh=fresh, workers=workers, watch=_Told(progress))


def _own_seed(folder: Path, data: str) -> int:
    """Return the seed of these data: drawn when first asked for and kept, so that a sweep finds its pieces again."""
    path = folder / "seeds" / f"{data}.json"
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, TypeError, KeyError):
        seed = draw_seed()
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps({"seed": seed}) + "\n", encoding="utf-8")
    return seed


class _Told(Watch):
    """Tells a progress function."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._lines = progress, list[Line]()

    def begin(self, prospect: Prospect) -> None:
        self._lines = list(prospect.lines)

    def changed(self, at: int, line: Line) -> None:
        self._lines[at] = line
        self._progress(sum(one.done for one in self._lines) / sum(one.pieces for one in self._lines), line.label)
