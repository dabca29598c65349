"""Generalise the rows of a table class by class, each as little as k allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.arrays import exact_values, numbers
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, read_hierarchies
from noren.data.release import Release, Statement
from noren.data.schema import Column, Kind, Scale, Schema
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.lattice.mondrian import classes_by_cuts
from noren.kernels.lattice.search import LevelTable, suppressed
from noren.methods.shared_values import generalised
from noren.methods.table_parts import (
    Suppression,
    TableClassMethod,
    codes_in_order,
    reject_if_too_many_fail,
    released,
    require_enough_rows,
    sensitive_codes,
)
from noren.progress import Progress, silent


@dataclass(frozen=True)
class MondrianClasses:
    """The classes of a table: the quasi cells of each row, and which rows are deleted.

    ``classes`` and ``suppressed`` are how many classes are released, and how many rows of the original are not.
    """

    cells: dict[str, pl.Series]
    deleted: pl.Series
    classes: int
    suppressed: int


class Mondrian(TableClassMethod):
    """Make every row identical to at least k - 1 others in all columns that could link it to a person.

    Rows are cut in two along the column in which they differ most, and the parts again, as long as both parts have k
    rows. Each class then shows the interval of its numbers and days and the set of its texts. Unlike ``hierarchy``,
    which raises whole columns, each class is generalised by itself: far less is lost, and the same value may be shown
    differently in different classes. It is quick and not the best there is, which is NP-hard to find.

    With ``l`` or ``t`` rows are cut only while the sensitive values that they have together are varied enough; how the
    parts divide them is never looked at, as that would tell whose values are alike. Classes that fail are deleted, up
    to the share ``suppression``: see :func:`~noren.methods.table_parts.reject_if_too_many_fail`.

    Texts have no order of their own. They are cut in the order of their hierarchy where there is one, so that its
    groups stay together, else by frequency. A class that lacks a value somewhere shows nothing in that column.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity; Wong, Fu, Wang and Pei (2007),
    Minimality attack in privacy preserving data publishing.

    Examples
    --------
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"},
    ...                                                  "city": {"role": "quasi"}, "illness": {"role": "sensitive"}}})
    >>> people = Table.of({"age": [20, 27, 61, 68], "city": ["Bern", "Bern", "Basel", "Genf"],
    ...                    "illness": ["flu", "cold", "flu", "flu"]}, schema)
    >>> Mondrian(k=2).protect(people, seed=1).public.lines().to_list()
    ['[20;27],Bern,cold', '[20;27],Bern,flu', '[61;68],{Basel;Genf},flu', '[61;68],{Basel;Genf},flu']
    """

    name = "mondrian"
    summary = N_("Each row is indistinguishable from k - 1 others; each class is generalised by itself.")
    source = "LeFevre et al. 2006"
    accepts = frozenset({Kind.TABLE})
    offered_next = 1
    prominence = 2
    good_for = N_("Keeps more utility: each group is generalised only as far as necessary.")
    wrong_for = N_("All rows must use the same categories, such as ages in decades.")
    generalises = True
    only_with_l_or_t = frozenset({"suppression"})

    relaxed: bool = Field(
        default=False, title=N_("Also split rows with equal values: classes are smaller, and their cells may overlap")
    )
    suppression: Suppression = 0.1
    hierarchies: Path | None = Field(default=None, description=N_("folder of hierarchies, as for the method hierarchy"))

    def protect(self, original: Table, *, seed: int, progress: Progress = silent) -> Release:
        """Make the rows of ``original`` alike, class by class; the seed decides the pseudonyms alone."""
        quasi, sensitive = self.looked_at(original.schema)
        require_enough_rows(self.k, len(original))
        parted = self.parted(original, quasi, sensitive, progress=progress)
        statement = self.statement(original.schema, parted)
        progress(0.7, _("sorting rows"))
        return released(original, parted.cells, parted.deleted, statement, seed=seed, identifiers=self.identifiers)

    def parted(
        self,
        table: Table,
        quasi: Sequence[Column],
        sensitive: Sequence[Column],
        counts: Whole | None = None,
        *,
        progress: Progress = silent,
    ) -> MondrianClasses:
        """Cut the rows of a table into classes.

        Parameters
        ----------
        counts
            Where the rows of ``table`` are combinations of values: how many rows of the original each stands for.
        """
        values = sensitive_codes(table, sensitive)
        progress(0.0, _("preparing rows"))
        names = [column.name for column in quasi]
        orders = {} if self.hierarchies is None else read_hierarchies(self.hierarchies, names)
        placed = [_placed(exact_values(table, column), column, orders.get(column.name), counts) for column in quasi]
        progress(0.2, _("searching"))
        rule = self.rule(0, values)
        class_of = classes_by_cuts(
            np.stack([codes for codes, _places in placed]),
            [places for _codes, places in placed],
            rule,
            relaxed=self.relaxed,
            sensitive=None if values is None else values.of_rows,
            counts=counts,
        )
        if class_of is None:
            raise ParameterError(_("even all rows together do not meet l or t; use a smaller l or a larger t"))
        rows = np.ones(len(table), np.int64) if counts is None else counts
        classes, failing = int(class_of.max()) + 1, np.zeros(len(table), dtype=np.bool_)
        if values is not None:
            failing = suppressed(class_of[:, None], rows, [LevelTable(classes, ())], [0], rule, values.of_rows)
            reject_if_too_many_fail(int(rows[failing].sum()), int(rows.sum()), self.suppression)
        progress(0.5, _("generalising rows"))
        cells = {column.name: generalised(exact_values(table, column), column, class_of) for column in quasi}
        left = classes - len(np.unique(class_of[failing]))
        return MondrianClasses(cells, pl.Series(failing), left, int(rows[failing].sum()))

    def statement(self, schema: Schema, parted: MondrianClasses) -> Statement:
        """Return the statement of a release."""
        left = self.not_released(schema, parted.cells.keys())
        deleted = {"suppressed_rows": parted.suppressed} if self.looks_at_sensitive else {}
        return self._stated({"classes": parted.classes, "columns_not_released": left} | deleted, self.hierarchies)


def _placed(
    values: pl.Series, column: Column, hierarchy: Hierarchy | None, rows: Whole | None = None
) -> tuple[Whole, Real]:
    """Return the code of each value in the column's order, missing ones first, and where codes lie from 0 to 1."""
    if column.scale != Scale.NOMINAL:
        ordered = values.unique().sort(nulls_last=False)
        places = numbers(ordered)
        known = places[~np.isnan(places)]
        low, span = (known.min(), max(known.max() - known.min(), 1e-300)) if len(known) else (0.0, 1.0)
        places = np.nan_to_num((places - low) / span)
    else:
        each = pl.DataFrame(
            {"value": values, "count": pl.Series(np.ones(len(values), np.int64) if rows is None else rows)}
        )
        counts = each.group_by("value").agg(pl.col("count").sum())
        by = [pl.col("value").is_null().not_(), -pl.col("count"), pl.col("value")]
        if hierarchy is not None:
            labels = hierarchy.labels.rename({"0": "value"})
            counts = counts.join(labels, on="value", how="left", maintain_order="left")
            by[1:1] = [pl.col(str(level)) for level in reversed(range(1, hierarchy.depth))]
        ordered = counts.sort(by)["value"]
        places = np.arange(len(ordered)) / max(len(ordered) - 1, 1)
    return codes_in_order(values, ordered), places
