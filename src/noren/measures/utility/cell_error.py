"""U, the mean error per cell (S0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import exact_values, numbers
from noren.data.categories import as_released
from noren.data.cells import cell_ends, contains, is_set
from noren.data.schema import Column, Scale
from noren.i18n import N_, _
from noren.kernels.judging.cell_error import exact_sum, interval_error, population_sd, set_error
from noren.measures.evidence import original_history, public_history, reject_another_original
from noren.progress import Progress, silent
from noren.protocols import Evidence, Headline, Measure, Score, UtilityAxis, complement


def cell_errors(values: pl.Series, cells: pl.Series, column: Column, sd: float) -> NDArray[np.float64]:
    """Return what each released cell of a column costs, given the original values in the same row order.

    ``sd`` is the standard deviation of the whole original column; names have none.
    """
    if column.scale == Scale.NOMINAL:
        several = is_set(cells.dtype)
        size = cells.list.len().fill_null(0).cast(pl.Float64).to_numpy() if several else np.ones(len(cells))
        fits, missing, hidden = (s.to_numpy() for s in (contains(cells, values), values.is_null(), cells.is_null()))
        return set_error(fits, size, missing=missing, suppressed=hidden)
    lo, hi = (numbers(end) for end in cell_ends(cells))
    return interval_error(numbers(values), lo, hi, width=column.grid, sd=sd)


class CellError(Measure):
    """Tell how far the released cells are from the true ones, on average: S0's U.

    Draw a value from every released cell, uniformly from what it allows, and compare with the true one. A number or a
    date costs the expected distance in (population) standard deviations of its column, an item the chance of drawing a
    wrong one, a suppressed cell 1, a deleted row 1 in each column. The mean over all rows and over date, item, price
    and quantity, as many of them as there are, is U: 0 for an exact copy, 1 for a release with nothing in it, more than
    1 if intervals are wider than they are worth.

    Files that the contest's checker accepts score as its official script says. Elsewhere this measure counts what the
    script leaves out: an exact number that moved costs its distance, a wrong item 1, an interval beside the true value
    its mean distance; in a constant column the right value costs 0 and anything else 1.

    Where a release speaks of categories in place of items, an item cell is priced as S1 prices it: the true value is
    the item's category, so a set of categories that holds it costs 1 - 1/size, and one category that is right costs 0.

    References
    ----------
    S0 §2.4.2; S1's worked example.

    Examples
    --------
    One of four items becomes a set of two: 1/2 of a cell out of 16.

    >>> from noren.data.release import Release, Statement
    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["1", "1", "2", "2"], "date": "2010/12/1", "item": ["a", "b", "c", "d"],
    ...         "price": [1.0, 2.0, 3.0, 4.0], "quantity": 1}
    >>> original = History.of(rows, Schema.preset("pwscup2018"))
    >>> sets = pl.Series("item", [["a"], ["a", "b"], ["c"], ["d"]], dtype=pl.List(pl.Enum(["a", "b", "c", "d"])))
    >>> aligned = History(original.frame.with_columns(sets), original.schema)
    >>> score = CellError().measure(Evidence(original, Release.of_aligned(original, aligned, Statement("hand"))))
    >>> score.value, score.parts["item"]
    (0.03125, 0.125)
    """

    name = "cell-error"
    summary = N_("How far released cells are from the true ones, on average (U of PWS Cup 2018).")
    source = "S0"
    goal = "lower"
    unit = N_("mean error per cell; a suppressed cell counts 1")
    headlines = (
        Headline(
            N_("U, error per cell"),
            N_(
                "The expected error when a value is drawn from each released cell: 0 for an exact copy, 1 for a "
                "release without information."
            ),
            rank=0,
        ),
    )
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {
        "date": N_("Date"),
        "item": N_("Item"),
        "price": N_("Price"),
        "quantity": N_("Quantity"),
    }
    utility_axis = UtilityAxis(
        "1 − U",
        N_("utility kept, 1 − U"),
        share=complement,
        sentence=N_("The error per cell (U) is {lost}"),
        always=True,
        rank=0,
    )
    needs = frozenset({"original", "public", "secret"})

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return U, and its mean over each column as a part named by the column's role."""
        original = original_history(evidence)
        reject_another_original(evidence)
        # public rows that stand for original rows, and which: cheaper than aligning them, which moves cells
        origin, frame = evidence.release.secret.origin, public_history(evidence.release).frame
        if origin.null_count():
            frame, origin = frame.filter(origin.is_not_null()), origin.drop_nulls()
        columns = original.measured()
        original_as_released = as_released(original, evidence.release.statement)
        deleted = np.ones(len(original), dtype=np.bool_)
        deleted[origin.to_numpy()] = False
        totals: dict[str, float] = {}
        for done, column in enumerate(columns):
            progress(done / len(columns), _("comparing rows"))
            values = exact_values(original_as_released, column)
            sd = 0.0 if column.scale == Scale.NOMINAL else population_sd(numbers(values))
            errors = cell_errors(values.gather(origin), frame[column.name], column, sd)
            lost = np.count_nonzero(deleted & values.is_not_null().to_numpy())
            totals[column.role] = exact_sum(np.append(errors, float(lost)))
        return error_of(totals, len(original), int(np.count_nonzero(deleted)))


def error_of(totals: Mapping[str, float], rows: int, deleted: int) -> Score:
    """Return U, given what all cells of each column cost and how many rows were deleted of how many."""
    rows = max(rows, 1)
    parts = {str(role): total / rows for role, total in totals.items()}
    mean = exact_sum(np.array([*totals.values()])) / (rows * len(totals))
    return Score(mean, parts, {"deleted_rows": deleted})
