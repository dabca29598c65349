"""Reconstruction of a perturbed table from the public part alone, so it costs no privacy (S4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from noren.data.frames import Records
from noren.data.schema import Kind, Schema
from noren.data.statement import Statement
from noren.engines.accelerated.device import Accelerator, accelerator_for, in_smaller_blocks
from noren.engines.accelerated.tables import ObservedTable, axis_plan, bytes_needed
from noren.engines.choice import chosen_engine
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Place, Real, plain, where_it_is
from noren.kernels.reconstruction.estimates import (
    CellIntervals,
    cell_intervals,
    em_path,
    expectation_maximisation,
    independent,
    margin,
    maximum_likelihood,
    pairs,
    product,
)
from noren.kernels.reconstruction.pairs import FOLDS, TREE, automatic, heaviest_tree, information, margins, tree_table
from noren.kernels.reconstruction.retention import Channel
from noren.progress import Progress, silent
from noren.retention.perturbation import LARGEST_TABLE, Perturbation, perturbation_of
from noren.retention.reconstructed import Model as Model
from noren.retention.reconstructed import ObservedRecords, WholeReconstruction, WideReconstruction
from noren.retention.reconstructed import Reconstruction as Reconstruction
from noren.tables import Texts

say = Texts(__name__)

MODELS: tuple[Model, ...] = ("none", "em", "independence", "loglinear", "ml", "auto")
EPSILON = 2e-3
"""Where the paper's iteration stops, as records moved per record; with it the paper's figures come out."""
LARGEST_AUTO = 1 << 18
"""Cells up to which ``auto`` tries models of the whole table; beyond, it works out pairs and makes a tree of them."""
_LOG_LINEAR_STEPS = 128
_PAYS = 1 << 15
"""Cells from which a graphics processor is quicker than a few cores, the way there included."""


def reconstruct(public: Records, statement: Statement, model: Model | None = None, **how: Any) -> Reconstruction:
    """Estimate the table before perturbation; the parameters are those of :func:`reconstruct_observed`."""
    return reconstruct_observed(
        public.schema, statement, lambda made: ObservedRecords(made.places(public.frame), made.sizes), model, **how
    )


def reconstruct_observed(
    schema: Schema,
    statement: Statement,
    look: Callable[[Perturbation], ObservedRecords],
    model: Model | None = None,
    *,
    attributes: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    epsilon: float = EPSILON,
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Reconstruction:
    """Estimate the table before perturbation, wherever its records lie.

    Parameters
    ----------
    schema, look
        The schema of the public part, and what counts its records of some attributes.
    model
        ``none`` (the perturbed table), ``em`` (the paper), ``independence``, ``loglinear``, ``ml`` (maximum likelihood)
        or ``auto``; left out, the one that the statement names.
    attributes
        Only these attributes, in this order; all of them where left out. Of a table with too many cells, the tables
        of one and of two attributes are estimated (:class:`~noren.retention.reconstructed.WideReconstruction`).
    interactions
        Sets of attributes for ``loglinear``; all pairs where left out.
    epsilon
        Where ``em`` stops.
    bootstrap
        How often to draw perturbed tables anew, for the interval of each cell
        (:mod:`noren.kernels.reconstruction.estimates`).
    """
    if schema.kind != Kind.TABLE:
        raise ParameterError(say("not_a_table"))
    whole = perturbation_of(schema, statement)
    unknown = [name for name in attributes if name not in whole.names]
    if unknown:
        raise ParameterError(say("unknown_attribute", name=unknown[0], names=", ".join(whole.names)))
    if twice := [name for name in attributes if attributes.count(name) > 1]:
        raise ParameterError(say("named_twice", name=twice[0]))
    chosen = stated_model(statement, model)
    made = whole.only([whole.names.index(name) for name in attributes or whole.names])
    if made.cells > LARGEST_TABLE:
        return reconstruct_widely(made, look(made), chosen, bootstrap=bootstrap, seed=seed, progress=progress)
    terms = [tuple(made.names.index(name) for name in some) for some in interactions] or pairs(len(made.names))
    y = look(made).table(range(len(made.names)))

    def worked_out(place: Place) -> WholeReconstruction:  # on arrays that are put where the work is to be done
        share = 1 / 2 if bootstrap else 1.0
        generator = np.random.Generator(np.random.Philox(key=[seed, 0]))
        table, made_of = estimated(
            y,
            made.channels,
            chosen,
            generator,
            interactions=terms,
            epsilon=epsilon,
            report=lambda done: progress(done * share, _("reconstructing")),
            place=place,
        )
        if not bootstrap:
            return WholeReconstruction(made, chosen, table, made_of=made_of)
        draws = np.random.Generator(np.random.Philox(key=[seed, 1 << 32]))
        own = {}
        for a, (name, channel) in enumerate(zip(made.names, made.channels, strict=True)):
            seen, estimated_margin = margin(y, a, y.ndim), margin(table, a, y.ndim)
            own[name] = cell_intervals(seen, [channel], estimated_margin, draws, bootstrap)
        within = cell_intervals(
            y, made.channels, table, draws, bootstrap, lambda done: progress((1 + done) / 2, _("reconstructing")), place
        )
        return WholeReconstruction(made, chosen, table, intervals=within, made_of=made_of, own_intervals=own)

    accelerator = accelerator_for(chosen_engine(), pays=made.cells >= _PAYS)
    if accelerator is None:
        return worked_out(where_it_is)
    # a table is worked on whole: it has room on the device, or one line says that it has not
    return in_smaller_blocks(accelerator, lambda _block: worked_out(accelerator.tensor), 1)


def stated_model(statement: Statement, model: Model | None = None) -> Model:
    """Return the model that was asked for, else the one that a release says.

    >>> stated_model(Statement("retention", {"reconstruct": "em"})), stated_model(Statement("retention"), "ml")
    ('em', 'ml')
    """
    requested = statement.parameters.get("reconstruct", "auto")
    return model or (requested if requested in MODELS else "auto")


def estimated(
    y: Real,
    channels: Sequence[Channel],
    model: Model,
    generator: np.random.Generator,
    *,
    interactions: Sequence[tuple[int, ...]] = (),
    epsilon: float = EPSILON,
    report: Callable[[float], None] = lambda _done: None,
    place: Place = where_it_is,
) -> tuple[Real, dict[str, float]]:
    """Return a model's estimate of a table; and for ``auto`` what it is a mean of.

    ``place`` puts arrays where the work is to be done; the estimate comes back from there.
    """
    placed = [c if isinstance(c, float | int) else place(c) for c in channels]
    match model:
        case "none":
            return y, {}
        case "em":
            return plain(expectation_maximisation(place(y), placed, epsilon)[0]), {}
        case "independence":
            return independent(y, channels), {}
        case "ml":
            return plain(maximum_likelihood(place(y), placed)[0]), {}
        case "loglinear":
            start = independent(y, channels)
            terms = list(interactions) or pairs(y.ndim)
            if not terms:
                return start, {}
            return plain(next(em_path(place(y), placed, place(start), [_LOG_LINEAR_STEPS], terms))), {}
        case "auto":
            if y.size <= LARGEST_AUTO:
                chosen = automatic(y, channels, generator, report, place)
                return chosen.table, chosen.weights
            # the table that a tree of pairs stands for: the models of whole tables take hours from here on
            cells = np.flatnonzero(y)
            dealt = generator.multinomial(np.rint(y.ravel()[cells]).astype(np.int64), np.full(FOLDS, 1 / FOLDS))
            folds = [ObservedRecords(np.unravel_index(cells, y.shape), y.shape, counts) for counts in dealt.T]
            fitted = margins(lambda some: np.stack([fold.table(some) for fold in folds]), channels, y.shape, report)
            table = tree_table(
                [tables[-1] for tables in fitted.own], {pair: fitted.pairs[pair][-1] for pair in fitted.links}
            )
            return table * float(y.sum()), {TREE: 1.0}


# --- Tables with too many cells: their tables of one and of two attributes, and records from a tree -------------------
#
# Nothing here grows with the number of cells of the whole table: each attribute and each pair has its own channel,
# whatever the others are, so their perturbed tables are counted from the records and worked out by themselves.
#
# But for ``ml`` on a graphics processor, which holds the whole table (:mod:`noren.engines.accelerated.tables`): steps
# of expectation-maximisation from the uniform table, until they hardly raise the likelihood; its tables of one and of
# two attributes are given back.


WIDE_MODELS: tuple[Model, ...] = ("none", "independence", "auto")
"""Models that need no table of all attributes."""
_MOST_STEPS, _LOOK = 1_000, 20
_LEAST_GAIN = 0.001
"""Nats that a step must add to the likelihood for another one to be taken."""
_MOST_FIRST = 8_192
"""Values of the axes that are one matrix on the device (:class:`~noren.engines.accelerated.tables.AxisPlan`)."""


def reconstruct_widely(
    made: Perturbation,
    seen: ObservedRecords,
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
    holds_whole = (  # the steps on a device know these channels and so many attributes
        accelerator is not None
        and prod(made.sizes[a] for a in axis_plan(made.sizes).first) <= _MOST_FIRST
        and all(isinstance(channel, float | int) for channel in made.channels)
    )
    if model not in WIDE_MODELS and not holds_whole:
        raise ParameterError(say("too_wide_for_model", model=model, cells=made.cells))
    share = 1 / 2 if bootstrap else 1.0

    def report(done: float) -> None:
        progress(done * share, _("reconstructing"))

    if accelerator is not None:
        estimate = _likeliest(accelerator, made, seen, report)
    else:
        estimate = _estimate(made, seen, model, np.random.Generator(np.random.Philox(key=[seed, 0])), report)
    if not bootstrap:
        return estimate
    generator = np.random.Generator(np.random.Philox(key=[seed, 1 << 32]))
    within: dict[tuple[int, ...], CellIntervals] = {}
    tables = {(a,): own for a, own in enumerate(estimate.own)} | dict(estimate.pairs)
    for at, (some, shares) in enumerate(tables.items(), start=1):
        channels = [made.channels[a] for a in some]
        within[some] = cell_intervals(seen.table(some), channels, shares * estimate.rows, generator, bootstrap)
        progress((1 + at / len(tables)) / 2, _("reconstructing"))
    own = {name: within[a,] for a, name in enumerate(made.names)}
    return replace(estimate, own_intervals=own, pair_intervals={pair: within[pair] for pair in estimate.pairs})


def _estimate(
    made: Perturbation,
    seen: ObservedRecords,
    model: Model,
    generator: np.random.Generator,
    report: Callable[[float], None],
) -> WideReconstruction:
    rows, sizes = seen.rows, made.sizes
    if model == "auto":
        fitted = margins(seen.in_folds(FOLDS, generator), made.channels, sizes, report)
        clear = sorted((-share, pair) for pair, share in fitted.dependence.items() if share >= 0.01)
        made_of = {" × ".join(made.names[a] for a in pair): -share for share, pair in clear}
        own = [tables[-1] for tables in fitted.own]
        pairs = {pair: table[-1] for pair, table in fitted.pairs.items()}
        return WideReconstruction(made, model, rows, own, pairs, fitted.links, made_of=made_of)
    every, people = list(combinations(range(len(sizes)), 2)), max(rows, 1)
    own = [seen.table((a,)) / people for a in range(len(sizes))]
    if model == "none":
        both = {pair: seen.table(pair) / people for pair in every}
        return WideReconstruction(made, model, rows, own, both, [], seen.records())
    own = [independent(shares, [channel]) for shares, channel in zip(own, made.channels, strict=True)]
    apart = {(a, b): product([own[a], own[b]]) for a, b in every}
    return WideReconstruction(made, model, rows, own, apart, [(a, a + 1) for a in range(len(sizes) - 1)])


def _likeliest(
    accelerator: Accelerator, made: Perturbation, records: ObservedRecords, report: Callable[[float], None]
) -> WideReconstruction:
    """Return the tables of one and two attributes of the whole table that makes the records likeliest."""
    needed, free = bytes_needed(made.sizes), accelerator.room()
    if needed > free:
        raise ParameterError(say("no_room", cells=made.cells, needed=needed / 1e9, free=free / 1e9))
    cells, counts = records.cells()
    seen = np.unravel_index(cells, made.sizes)
    table = ObservedTable(accelerator, made.sizes, [float(c) for c in made.channels], seen, counts)
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
