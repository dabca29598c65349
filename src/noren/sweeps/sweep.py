"""A sweep: many methods and strengths on one's own data, attacked and measured, and which of them to take.

The pieces of work are kept in a cache by what they are (:mod:`noren.sweeps.plan`), so nothing is computed twice
and a sweep that was killed goes on where it was. The answer follows a rule that fits in a sentence
(:mod:`noren.judgement.place`).
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
from noren.data.inputs import checked_seed
from noren.data.schema import Schema
from noren.judgement.rule import Rule, rule_named
from noren.measures import measures as every_measure
from noren.progress import Progress, silent
from noren.protocols import Attack, Measure, Method
from noren.sweeps.plan import Asked, chosen_components, data_key, settings_for
from noren.sweeps.running import Watch, run, sweep_folder
from noren.sweeps.study import Study

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Study", "ask", "explore", "own_seed", "sweep"]


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


def ask(
    original: Records,
    methods: str | Method | Iterable[str | Method] = "all",
    parameters: Mapping[str, Any] | None = None,
    *,
    attacks: str | Iterable[str | Attack] = "all",
    measures: str | Iterable[str | Measure] = "all",
    seeds: Iterable[int] | None = None,
    cache: str | Path | None = None,
    rule: Rule | str | None = None,
) -> tuple[Asked, list[str]]:
    """Return what words and values ask for on these data, and the methods that ``all`` leaves out, with the reason."""
    settings, left_out = settings_for(methods, parameters or {}, original, rule_named(rule))
    chosen = (
        tuple(map(checked_seed, seeds)) if seeds is not None else (own_seed(sweep_folder(cache), data_key(original)),)
    )
    asked = Asked(
        tuple(settings),
        tuple(chosen_components(every_attack, attacks, original)),
        tuple(chosen_components(every_measure, measures, original)),
        chosen,
        rule_named(rule),
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
    rule: Rule | str | None = None,
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
        rule=rule,
    )
    return run(data, asked, cache=cache, fresh=fresh, workers=workers, watch=Watch(progress))


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
