"""Information loss of a released table, by class sizes or by cells."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.cells import different, is_generalised, is_interval, is_set
from noren.data.column_levels import ColumnLevels, column_levels
from noren.data.formats.render import value_text
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, read_hierarchies
from noren.data.hierarchies.levels import MISSING_MARK
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import ParameterError
from noren.i18n import N_
from noren.kernels.arrays import Flags, Real, Whole
from noren.measures.evidence import public_table, reject_another_original
from noren.measures.safety.table_classes import ClassSizes, table_classes
from noren.progress import Progress, silent
from noren.protocols import Evidence, Headline, KeptShare, Measure, Score, UtilityAxis, complement
from noren.tables import Texts

say = Texts(__name__)
_BLOCK_ROWS = 1 << 20
_TABLES = frozenset({Kind.TABLE})


class _ClassSizes(Measure):
    """A measure of class sizes alone."""

    accepts = _TABLES
    goal = "lower"
    needs = frozenset({"original", "public"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {"classes": N_("classes"), "lost_rows": N_("lost rows")}

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the score of a release's classes; rows in none are deleted or say nothing."""
        classes = table_classes(public_table(evidence.release))
        return self.of_sizes(ClassSizes.of(classes.sizes, classes.unlinked_rows), len(evidence.original))

    @staticmethod
    @abstractmethod
    def of_sizes(sizes: ClassSizes, rows: int) -> Score:
        """Return the score of classes of these sizes, of so many rows of the original."""


class Discernibility(_ClassSizes):
    """Add up, over all rows, how many rows each cannot be told from: its class, or the whole table where it is lost.

    References
    ----------
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization.

    Examples
    --------
    Classes of 3 and 2 rows, and one row deleted: 9 + 4 + 6 = 19.

    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    >>> original = Table.of({"age": ["a", "b", "c", "d", "e", "f"]}, schema)
    >>> aligned = Table(pl.DataFrame({"age": ["x", "x", "x", "y", "y", None]}), schema)
    >>> evidence = Evidence(original, Release.of_aligned(original, aligned, Statement("hand")))
    >>> Discernibility().measure(evidence).value, ClassSize().measure(evidence).value
    (19.0, 2.0)
    """

    name = "discernibility"
    summary = N_("Sum over all rows of the number of rows each cannot be distinguished from.")
    source = "Bayardo and Agrawal 2005"
    unit = N_("pairs of rows")

    @staticmethod
    def of_sizes(sizes: ClassSizes, rows: int) -> Score:
        """Return the sum of squared class sizes and, for each row in none, the number of rows."""
        squares = sizes.sizes.astype(np.float64) ** 2
        classes, lost = float((squares * sizes.counts).sum()), float((rows - sizes.rows) * rows)
        return Score(classes + lost, {"classes": classes, "lost_rows": lost})


class ClassSize(_ClassSizes):
    """Tell the mean size of a class, all lost rows together being one class more.

    References
    ----------
    LeFevre et al. (2006), Mondrian multidimensional k-anonymity; as ARX counts it, without dividing by k.
    """

    name = "class-size"
    summary = N_("The mean number of rows in a class; all lost rows count as one class.")
    source = "LeFevre et al. 2006"
    unit = N_("rows")
    headlines = (Headline(N_("mean class size"), summary, of="others", rank=2),)

    @staticmethod
    def of_sizes(sizes: ClassSizes, rows: int) -> Score:
        """Return the rows of the original by the number of classes."""
        lost = rows - sizes.rows
        classes = sizes.classes + (1 if lost > 0 else 0)
        return Score(rows / max(classes, 1), {"classes": float(sizes.classes), "lost_rows": float(lost)})


# --- what cells still say --------------------------------------------------------------------------------------------


class CellPairs(NamedTuple):
    """A column's original values beside its released cells.

    ``deleted`` tells whether the row is; ``counts`` how many rows are so.
    """

    values: pl.Series
    cells: pl.Series
    deleted: Flags
    counts: Whole


class _Covered(NamedTuple):
    """For each pair what its released cell may mean.

    ``share``: of the column's values; ``rows``: original rows with such a value; ``own``: with its own. ``counts``: how
    many rows are so.
    """

    share: Real
    rows: Real
    own: Real
    values: int
    counts: Whole

    @property
    def total(self) -> int:
        return int(self.counts.sum())


class CellLoss(Measure):
    """What the two measures of cells have in common."""

    accepts = _TABLES
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("share of the original")
    needs = frozenset({"original", "public", "secret"})
    side = "utility"
    of_perturbed = False

    hierarchies: Path | None = Field(default=None, description=N_("folder of hierarchies, as for the method hierarchy"))

    def compared(self, original: Schema, public: Schema) -> tuple[list[str], dict[str, Hierarchy]]:
        """Return the quasi columns that both tables have, and the hierarchies of those that have one."""
        quasi = [c.name for c in public.with_role(Role.QUASI) if c.name in original.names]
        return quasi, {} if self.hierarchies is None else read_hierarchies(self.hierarchies, quasi)

    def of_pairs(self, pairs: Mapping[str, CellPairs], public: Schema, climbed: Mapping[str, ColumnLevels]) -> Score:
        """Return the score of columns that were counted elsewhere; ``climbed`` are those on a hierarchy."""
        covered = {}
        for name, pair in pairs.items():
            if name in climbed and not is_generalised(pair.cells.dtype):
                covered[name] = _by_hierarchy(climbed[name], pair, public[name])
            else:
                covered[name] = _by_values(pair)
        if all(column.values < 2 for column in covered.values()):
            raise ParameterError(say("single_values"))
        return self._score(covered)

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return how much the cells of the quasi columns lose; the parts tell each column's share."""
        reject_another_original(evidence)
        original, public = evidence.original, public_table(evidence.release)
        quasi, known = self.compared(original.schema, public.schema)
        place = evidence.release.row_positions()
        pairs = {name: _pairs(original.frame[name], public.frame[name], place) for name in quasi}
        climbed = {name: on_hierarchy(original.schema, pairs[name], name, its) for name, its in known.items()}
        return self.of_pairs(pairs, public.schema, climbed)

    @abstractmethod
    def _score(self, covered: Mapping[str, _Covered]) -> Score:
        """Put together what the cells of each column lose."""


def _pairs(values: pl.Series, cells: pl.Series, place: pl.Series) -> CellPairs:
    """Count the pairs of a value and its released cell, which stands at ``place``, null where the row is deleted."""
    (firsts, value), (cell_rows, cell) = different(values), different(cells)
    pair = ["value", "cell"]
    counted = [
        pl.DataFrame({"value": value[at : at + _BLOCK_ROWS], "cell": cell.gather(place[at : at + _BLOCK_ROWS])})
        .group_by(pair, maintain_order=True)
        .len("rows")
        for at in range(0, max(len(value), 1), _BLOCK_ROWS)
    ]
    pair_counts = pl.concat(counted).group_by(pair, maintain_order=True).agg(pl.col("rows").sum())
    return CellPairs(
        values.gather(firsts.gather(pair_counts["value"])),
        cells.gather(cell_rows.gather(pair_counts["cell"])),
        pair_counts["cell"].is_null().to_numpy(),
        pair_counts["rows"].cast(pl.Int64).to_numpy(),
    )


def on_hierarchy(original: Schema, pairs: CellPairs, name: str, hierarchy: Hierarchy) -> ColumnLevels:
    """Return a column's values on its hierarchy."""
    schema = original.model_copy(update={"columns": (original[name],), "official": None})
    (levels,) = column_levels(Table(pl.DataFrame(pairs.values), schema), {name: hierarchy}, "category", pairs.counts)
    return levels


class TableLoss(CellLoss):
    """Tell how much less the cells say: of each, which share of the column's values it may mean.

    An exact cell costs nothing, a suppressed one and every cell of a deleted row 1; an empty cell where the original
    was blank costs nothing. Columns are put together by the geometric mean of what is left and lost, as ARX does. With
    the hierarchies that the release was made with the value is the score that the method made small. Sets and
    intervals, which stand on no level of a hierarchy, count by the data's values also then.

    References
    ----------
    Iyengar (2002), Transforming data to satisfy privacy constraints; Prasser et al. (2020), ARX.
    """

    name = "table-loss"
    summary = N_("The share of a column's values that a released cell may stand for; 0 if every cell is exact.")
    source = "Iyengar 2002; ARX"
    headlines = (Headline(N_("loss of detail"), summary, of="others", rank=0),)
    utility_axis = UtilityAxis(
        N_("1 − loss of the table"),
        N_("utility kept, 1 − loss of the table"),
        share=complement,
        sentence=N_("The loss of the table is {lost}"),
        always=True,
        rank=0,
    )

    def _score(self, covered: Mapping[str, _Covered]) -> Score:
        """Return the geometric mean over quasi columns; the parts tell each column's loss."""
        parts = {}
        for name, cells in covered.items():
            rows, least = cells.total, cells.total / max(cells.values, 1)
            parts[name] = (float((cells.share * cells.counts).sum()) - least) / (rows - least) if rows > least else 0.0
        losses = np.array(list(parts.values()))
        value = float(np.prod(1.0 + losses) ** (1.0 / max(len(losses), 1)) - 1.0)
        return Score(value, parts)


class EntropyLoss(CellLoss):
    """Tell how many of the bits that tell values apart are gone: of each cell log2(f(g) / f(v)), over all of them.

    f(v) is the number of original rows with the cell's value, f(g) of those with any value that the released cell may
    mean; for a suppressed cell and in deleted rows, of all rows.

    References
    ----------
    Gionis and Tassa (2009), k-anonymization with minimal loss of information (non-uniform entropy).
    """

    name = "entropy-loss"
    summary = N_("The share of the information about values, in bits, that released cells no longer hold.")
    source = "Gionis and Tassa 2009"
    headlines = (Headline(N_("loss of information"), summary, of="others", rank=1),)
    keeps = KeptShare(N_("information about values"), rank=2)

    def _score(self, covered: Mapping[str, _Covered]) -> Score:
        """Return bits lost over bits there were, in all quasi columns; the parts tell each column's share."""
        gone = there = 0.0
        parts = {}
        for name, column in covered.items():
            lost = float((np.log2(column.rows / column.own) * column.counts).sum())
            had = float((np.log2(column.total / column.own) * column.counts).sum())
            parts[name] = lost / had if had > 0 else 0.0
            gone, there = gone + lost, there + had
        return Score(gone / there if there > 0 else 0.0, parts)


def _by_hierarchy(levels: ColumnLevels, pair: CellPairs, column: Column) -> _Covered:
    """Find the level that the column was raised to, and what its labels cover."""
    deleted = pair.deleted
    cell_texts = pair.cells.to_frame("x").select(value_text(pl.col("x"), column))["x"]
    is_released = pl.Series(~deleted)
    for level in range(levels.ladder.levels):
        own = levels.cells(level).cast(pl.String)
        # an empty cell is a category of its own below the top, and stays empty where values stay as they are
        same = own.eq_missing(cell_texts) | (cell_texts.is_null() & (own == MISSING_MARK))
        if same.filter(is_released).all():
            codes = levels.ladder.maps()[level][levels.codes]
            share = np.where(deleted, 1.0, levels.leaves[level][codes] / levels.domain)
            rows = np.where(deleted, float(levels.rows), levels.rows_by_code(level)[codes])
            own_rows = levels.rows_by_code(0)[levels.codes].astype(np.float64)
            return _Covered(share, rows, own_rows, levels.domain, pair.counts)
    raise ParameterError(say("no_level"), column=column.name)


def _by_values(pair: CellPairs) -> _Covered:
    """Find what cells cover among the values that occur in the original."""
    values, cells, deleted = pair.values, pair.cells, pair.deleted
    rows_of = pl.DataFrame({"value": values, "own": pair.counts})
    counts = rows_of.group_by("value").agg(pl.col("own").sum())
    both = pl.DataFrame({"value": values, "cell": cells}).with_columns(gone=pl.Series(deleted))
    both = both.join(counts, on="value", how="left", maintain_order="left", nulls_equal=True)
    total, distinct = int(pair.counts.sum()), len(counts)
    if is_interval(cells.dtype):
        known = counts.drop_nulls().sort("value")
        upto = np.concatenate(([0], np.cumsum(known["own"].to_numpy())))
        lo = known["value"].search_sorted(cells.struct.field("lo"), side="left").to_numpy()
        hi = known["value"].search_sorted(cells.struct.field("hi"), side="right").to_numpy()
        covered = pl.DataFrame({"values": hi - lo, "rows": upto[hi] - upto[lo]})
    elif is_set(cells.dtype):
        texts = both.select(pl.int_range(pl.len()).alias("row"), pl.col("cell").cast(pl.List(pl.String)))
        members = texts.explode("cell", empty_as_null=False).join(counts, left_on="cell", right_on="value", how="left")
        per = members.group_by("row").agg(values=pl.len(), rows=pl.col("own").sum())
        covered = texts.select("row").join(per, on="row", how="left", maintain_order="left").select("values", "rows")
    else:
        # a label means the values that were seen under it
        seen = both.filter(~pl.col("gone")).unique(["cell", "value"])
        per = seen.group_by("cell").agg(values=pl.len(), rows=pl.col("own").sum())
        covered = both.join(per, on="cell", how="left", maintain_order="left").select("values", "rows")
    nothing = (cells.is_null() | pl.Series(deleted)).to_numpy()
    share = np.where(nothing, 1.0, covered["values"].cast(pl.Float64).fill_null(distinct).to_numpy() / distinct)
    rows = np.where(nothing, float(total), covered["rows"].cast(pl.Float64).fill_null(total).to_numpy())
    own = both["own"].cast(pl.Float64).to_numpy()
    # a blank is a value of its own, and an empty cell says it: nothing of it is lost
    blank = (cells.is_null() & values.is_null()).to_numpy() & ~deleted
    share, rows = np.where(blank, 1.0 / max(distinct, 1), share), np.where(blank, own, rows)
    return _Covered(share, rows, own, distinct, pair.counts)
