"""Reconstruction of tables with too many cells: their tables of one and of two attributes, and records from a tree.

Nothing here grows with the number of cells of the whole table: each attribute and each pair has its own channel,
whatever the others are, so their perturbed tables are counted from the records and worked out by themselves.

But for ``ml`` on a graphics processor, which holds the whole table (:mod:`noren.engines.accelerated.tables`): steps of
expectation-maximisation from the uniform table, until they hardly raise the likelihood; its tables of one and of two
attributes are given back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np

from noren.engines.accelerated.device import Accelerator, accelerator_for
from noren.engines.accelerated.tables import SeenTable, axis_plan, bytes_needed
from noren.engines.choice import chosen_engine
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real
from noren.kernels.reconstruction.estimates import CellIntervals, cell_intervals, independent, product
from noren.kernels.reconstruction.pairs import FOLDS, heaviest_tree, information, margins
from noren.progress import Progress, silent
from noren.retention.perturbation import Perturbation
from noren.retention.reconstructed import Model, SeenRecords, WideReconstruction

WIDE_MODELS: tuple[Model, ...] = ("none", "independence", "auto")
"""Models that need no table of all attributes."""
_MOST_STEPS, _LOOK = 1_000, 20
_LEAST_GAIN = 0.001
"""Nats that a step must add to the likelihood for another one to be taken."""
_MOST_FIRST = 8_192
"""Values of the axes that are one matrix on the device (:class:`~noren.engines.accelerated.tables.AxisPlan`)."""


def reconstruct_widely(
    made: Perturbation,
    seen: SeenRecords,
    model: Model,
    *,
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> WideReconstruction:
    """Estimate the tables of one and of two attributes, from perturbed records.

    ``auto`` works out every pair (see :mod:`noren.kernels.reconstruction.pairs`), ``independence`` no pair, ``none``
    takes the tables as they were released. The other models are of whole tables; a graphics processor may hold one for
    ``ml``, in single precision.
    """
    accelerator = accelerator_for(chosen_engine(), pays=True) if model == "ml" else None
    if model not in WIDE_MODELS and (accelerator is None or not _holds_whole(made)):
        raise ParameterError(
            _("{model} works on a whole table, and this one would have {cells:,} cells").format(
                model=model, cells=made.cells
            ),
            _("use --model auto or independence, or name some of the attributes (--attributes)"),
        )
    share = 1 / 2 if bootstrap else 1.0

    def report(done: float) -> None:
        progress(done * share, _("reconstructing"))

    if accelerator is not None:
        found = _likeliest(accelerator, made, seen, report)
    else:
        found = _estimate(made, seen, model, _generator(seed, 0), report)
    if not bootstrap:
        return found
    generator = _generator(seed, 1 << 32)
    within: dict[tuple[int, ...], CellIntervals] = {}
    tables = {(a,): own for a, own in enumerate(found.own)} | dict(found.pairs)
    for at, (some, shares) in enumerate(tables.items(), start=1):
        channels = [made.channels[a] for a in some]
        within[some] = cell_intervals(seen.table(some), channels, shares * found.rows, generator, bootstrap)
        progress((1 + at / len(tables)) / 2, _("drawing again"))
    own = {name: within[a,] for a, name in enumerate(made.names)}
    return replace(found, own_intervals=own, pair_intervals={pair: within[pair] for pair in found.pairs})


def _generator(seed: int, draw: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, draw]))


def _estimate(
    made: Perturbation,
    seen: SeenRecords,
    model: Model,
    generator: np.random.Generator,
    report: Callable[[float], None],
) -> WideReconstruction:
    rows, sizes = seen.rows, made.sizes
    if model == "auto":
        found = margins(seen.dealt(FOLDS, generator), made.channels, sizes, report)
        clear = sorted((-share, pair) for pair, share in found.dependence.items() if share >= 0.01)
        made_of = {" × ".join(made.names[a] for a in pair): -share for share, pair in clear}
        own, pairs = [one[-1] for one in found.own], {pair: table[-1] for pair, table in found.pairs.items()}
        return WideReconstruction(made, model, rows, own, pairs, found.links, made_of=made_of)

    def shares(*some: int) -> Real:
        return seen.table(some) / max(rows, 1)

    every = list(combinations(range(len(sizes)), 2))
    if model == "none":
        own, as_seen = [shares(a) for a in range(len(sizes))], seen.records()
        return WideReconstruction(made, model, rows, own, {pair: shares(*pair) for pair in every}, [], as_seen)
    own = [independent(shares(a), [channel]) for a, channel in enumerate(made.channels)]
    apart = {(a, b): product([own[a], own[b]]) for a, b in every}
    return WideReconstruction(made, model, rows, own, apart, [(a, a + 1) for a in range(len(sizes) - 1)])


def _holds_whole(made: Perturbation) -> bool:
    """Tell whether the steps on a device know these channels and so many attributes."""
    first = prod(made.sizes[a] for a in axis_plan(made.sizes).first)
    return first <= _MOST_FIRST and all(isinstance(channel, float | int) for channel in made.channels)


def _likeliest(
    accelerator: Accelerator, made: Perturbation, records: SeenRecords, report: Callable[[float], None]
) -> WideReconstruction:
    """Return the tables of one and two attributes of the whole table that makes the records likeliest."""
    needed, free = bytes_needed(made.sizes), accelerator.room()
    if needed > free:
        raise ParameterError(
            _(
                "a table of {cells:,} cells takes {needed:,.1f} GB of a graphics processor, and {free:,.1f} are free"
            ).format(cells=made.cells, needed=needed / 1e9, free=free / 1e9),
            _("use --model auto or independence, or name some of the attributes (--attributes)"),
        )
    cells, counts = records.cells()
    seen = np.unravel_index(cells, made.sizes)
    table = SeenTable(accelerator, made.sizes, [float(c) for c in made.channels], seen, counts)
    score = table.likelihood()
    for step in range(1, _MOST_STEPS + 1):
        table.step()
        if step % _LOOK == 0:
            report(step / _MOST_STEPS)
            before, score = score, table.likelihood()
            if score - before < _LOOK * _LEAST_GAIN:
                break
    rows = records.rows
    own = [table.margin((a,)) / rows for a in range(len(made.sizes))]
    every = list(combinations(range(len(made.sizes)), 2))
    both = {pair: table.margin(pair) / rows for pair in every}
    links = heaviest_tree({pair: information(shares) for pair, shares in both.items()}, len(own))
    return WideReconstruction(made, "ml", rows, own, both, links)
