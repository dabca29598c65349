"""What a perturbed table was before: from the public part of a release alone, so it costs no privacy (S4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.frames import Records, Table
from noren.data.perturbation import LARGEST_TABLE, Perturbation, perturbation_of
from noren.data.statement import Statement
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.held_out import held_out_choice
from noren.kernels.reconstruction import (
    expectation_maximisation,
    independent,
    log_linear_path,
    maximum_likelihood,
    pairs,
)
from noren.kernels.retention import Channel, mixed
from noren.kernels.rounding import whole_cells
from noren.progress import Progress, silent

__all__ = ["EPSILON", "MODELS", "Model", "Reconstruction", "estimated", "reconstruct"]

Numbers = NDArray[np.float64]
Model = Literal["none", "em", "independence", "loglinear", "ml", "auto"]
MODELS: tuple[Model, ...] = ("none", "em", "independence", "loglinear", "ml", "auto")
EPSILON = 2e-3
"""Where the paper's iteration stops, as records moved per record; with it the paper's figures come out."""
_LOG_LINEAR_STEPS = 128


@dataclass(frozen=True)
class Reconstruction:
    """An estimate of the table before perturbation.

    Attributes
    ----------
    table
        Records per cell, an axis for each attribute; parts of records too.
    model, made_of
        Which model, and for ``auto`` what its answer is a mean of.
    errors
        The standard error of each cell, and of each attribute's own table by name; empty without a bootstrap.
    """

    perturbation: Perturbation
    table: Numbers
    model: Model
    made_of: dict[str, float] = field(default_factory=dict)
    errors: Numbers | None = None
    own_errors: dict[str, Numbers] = field(default_factory=dict)

    def margin(self, names: Sequence[str]) -> Numbers:
        """Return the table of some attributes, in the order of ``names``."""
        places = [self.perturbation.names.index(name) for name in names]
        left = [a for a in range(self.table.ndim) if a not in places]
        kept: Numbers = self.table.sum(axis=tuple(left))
        order = sorted(places)
        return np.transpose(kept, [order.index(p) for p in places])

    def records(self, seed: int = 0) -> pl.DataFrame:
        """Return whole records: cells rounded so that they add up, in an order that the seed shuffles."""
        counts = whole_cells(self.table)
        cells = np.repeat(np.arange(counts.size), counts.ravel())
        np.random.Generator(np.random.Philox(key=seed)).shuffle(cells)
        return self.perturbation.frame([np.asarray(c) for c in np.unravel_index(cells, self.table.shape)])

    def cells(self) -> pl.DataFrame:
        """Return the cross tabulation as rows: the attributes' values, records, and their standard error if known."""
        grid = np.unravel_index(np.arange(self.table.size), self.table.shape)
        frame = self.perturbation.frame([np.asarray(c) for c in grid])
        frame = frame.with_columns(pl.Series("records", self.table.ravel()))
        return frame if self.errors is None else frame.with_columns(pl.Series("error", self.errors.ravel()))


def reconstruct(
    public: Records,
    statement: Statement,
    model: Model | None = None,
    *,
    attributes: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    epsilon: float = EPSILON,
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Reconstruction:
    """Estimate the table before perturbation.

    Parameters
    ----------
    model
        ``none`` (the perturbed table), ``em`` (the paper), ``independence``, ``loglinear``, ``ml`` (maximum likelihood)
        or ``auto``; left out, the one that the statement names.
    attributes
        Only these attributes, in this order; all of them where left out. A table of all may be too large, its margins
        are not: each is perturbed by its own channel, whatever the others are.
    interactions
        Sets of attributes for ``loglinear``; all pairs where left out.
    epsilon
        Where ``em`` stops.
    bootstrap
        How often to draw data from the estimate, perturb and reconstruct them, for standard errors.
    """
    if not isinstance(public, Table):
        raise ParameterError(_("only tables are reconstructed"), _("name a release of a table"))
    whole = perturbation_of(public, statement)
    unknown = [name for name in attributes if name not in whole.names]
    if unknown:
        raise ParameterError(
            _("the release has no attribute {name!r}").format(name=unknown[0]),
            _("its attributes are {names}").format(names=", ".join(whole.names)),
        )
    told = statement.parameters.get("reconstruct", "auto")
    chosen: Model = model or (told if told in MODELS else "auto")
    made = whole.only([whole.names.index(name) for name in attributes or whole.names])
    if made.cells > LARGEST_TABLE:
        raise ParameterError(
            _("the cross tabulation would have {cells:,} cells").format(cells=made.cells),
            _("name some of the attributes (--attributes), at most {most:,} cells").format(most=LARGEST_TABLE),
        )
    kept = [tuple(made.names.index(name) for name in some) for some in interactions] or pairs(len(made.names))
    y = made.table(made.places(public.frame))

    def estimate(seen: Numbers, draw: int, report: Callable[[float], None]) -> tuple[Numbers, dict[str, float]]:
        generator = np.random.Generator(np.random.Philox(key=[seed, draw]))
        return estimated(seen, made.channels, chosen, generator, interactions=kept, epsilon=epsilon, report=report)

    rounds = bootstrap + 1
    table, made_of = estimate(y, 0, lambda done: progress(done / rounds, _("reconstructing")))
    if not bootstrap:
        return Reconstruction(made, table, chosen, made_of)
    draws = []
    for draw in range(1, rounds):
        generator = np.random.Generator(np.random.Philox(key=[seed, draw + (1 << 32)]))
        again = _seen_again(table, made.channels, generator)
        draws.append(estimate(again, draw, lambda _done: None)[0])
        progress((draw + 1) / rounds, _("drawing again"))
    spread = np.stack(draws)
    own = {
        name: spread.sum(axis=tuple(b + 1 for b in range(table.ndim) if b != a)).std(axis=0)
        for a, name in enumerate(made.names)
    }
    return Reconstruction(made, table, chosen, made_of, spread.std(axis=0), own)


def estimated(
    y: Numbers,
    channels: Sequence[Channel],
    model: Model,
    generator: np.random.Generator,
    *,
    interactions: Sequence[tuple[int, ...]] = (),
    epsilon: float = EPSILON,
    report: Callable[[float], None] = lambda _done: None,
) -> tuple[Numbers, dict[str, float]]:
    """Return a model's estimate of a table; and for ``auto`` what it is a mean of."""
    match model:
        case "none":
            return y, {}
        case "em":
            return expectation_maximisation(y, channels, epsilon)[0], {}
        case "independence":
            return independent(y, channels), {}
        case "ml":
            return maximum_likelihood(y, channels)[0], {}
        case "loglinear":
            start = independent(y, channels)
            kept = list(interactions) or pairs(y.ndim)
            return next(log_linear_path(y, channels, start, [_LOG_LINEAR_STEPS], kept)) if kept else start, {}
        case "auto":
            chosen = held_out_choice(y, channels, generator, report=report)
            return chosen.table, chosen.weights


def _seen_again(table: Numbers, channels: Sequence[Channel], generator: np.random.Generator) -> Numbers:
    """Return a perturbed table that the estimate could have led to."""
    expected: Any = np.maximum(mixed(table / table.sum(), channels), 0.0)
    drawn = generator.multinomial(round(float(table.sum())), (expected / expected.sum()).ravel())
    again: Numbers = drawn.reshape(table.shape).astype(np.float64)
    return again
