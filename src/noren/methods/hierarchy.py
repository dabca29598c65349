"""Generalise whole columns by hierarchies, as little as k allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.column_levels import ColumnLevels, Missing, column_levels, complete_rows, entropy_costs, loss_costs
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, read_hierarchies
from noren.data.hierarchies.builder import ColumnValues
from noren.data.hierarchies.builders import usual_builder
from noren.data.hierarchies.levels import MISSING_MARK, texts_of
from noren.data.release import Release, Statement
from noren.data.schema import Column, Kind, Scale, Schema
from noren.engines.blocks import cores
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Flags, Whole
from noren.kernels.lattice.keys import distinct
from noren.kernels.lattice.scores import CLASS_SIZE, DISCERNIBILITY, GEOMETRIC, SUM, ClassRule
from noren.kernels.lattice.search import Optimum, judged, search, suppressed
from noren.methods.table_parts import (
    SensitiveCodes,
    Suppression,
    TableClassMethod,
    reject_if_too_many_fail,
    released,
    require_enough_rows,
    sensitive_codes,
)
from noren.progress import Progress, silent
from noren.protocols import in_form
from noren.tables import Texts

say = Texts(__name__)

_MOST_NODES, _MOST_AUTOMATIC = 20_000_000, 200_000
_GOALS = {"loss": GEOMETRIC, "discernibility": DISCERNIBILITY, "class-size": CLASS_SIZE, "entropy": SUM}


@dataclass(frozen=True)
class ChosenLevels:
    """The chosen levels of a table's columns, and the rows that are deleted.

    Attributes
    ----------
    columns, best
        The columns on their hierarchies, of complete rows; the best levels.
    there, deleted
        Which rows are complete enough to be looked at, and which are not released.
    without, incomplete
        The columns that have no file; how many rows of the original are not there.
    """

    columns: tuple[ColumnLevels, ...]
    best: Optimum
    there: pl.Series
    deleted: pl.Series
    without: tuple[str, ...]
    incomplete: int

    def cells(self, table: Table) -> dict[str, pl.Series]:
        """Return the cells of the quasi columns: numbered labels, and values as they are on the lowest level."""
        released = {}
        for column, level in zip(self.columns, self.best.levels, strict=True):
            name = column.column.name
            if level:
                cells = column.cells(level)
                if len(cells) < len(table):
                    place = pl.DataFrame({"place": self.there.cum_sum().cast(pl.Int64) - 1, "there": self.there})
                    cells = cells.gather(place.select(pl.when("there").then("place"))["place"])
            else:
                cells = table.frame[name]
                if column.column.scale == Scale.NOMINAL and cells.null_count():  # both empty cells and ? are missing
                    is_present = pl.col(name).cast(pl.String) != MISSING_MARK
                    cells = cells.to_frame().select(pl.when(is_present).then(name).alias(name))[name]
            released[name] = cells
        return released


class HierarchyMethod(TableClassMethod):
    """Make every row identical to at least k - 1 others in all columns that could link it to a person.

    Each quasi column is raised as a whole to one level of its hierarchy; rows that are still alike to too few are
    deleted, up to the share ``suppression``. Of all combinations of levels that keep k within that share it chooses one
    of least loss, and it is the least of all: the search leaves out only what provably cannot be better (see the page
    on the lattice). :class:`~noren.progress.Enough` ends it with the best levels so far.

    With ``l`` or ``t`` the levels are still chosen by k alone, within half of the share, and classes that fail are
    deleted whole: anyone who knows the search would otherwise learn from its choice whose values are alike (see
    :func:`~noren.methods.table_parts.reject_if_too_many_fail`). ``search="arx"`` looks for the levels of least loss
    that keep ℓ and t as well, as ARX does, and the statement says so.

    What it does not promise: a class whose sensitive values are all the same tells them (ask for ``l`` or ``t``), and
    columns called *other* or *sensitive* are released as they are.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release; LeFevre et al. (2005), Incognito;
    Kohlmayer et al. (2012), Flash; Machanavajjhala et al. (2006), ℓ-diversity; Li et al. (2007), t-closeness; Wong et
    al. (2007), Minimality attack in privacy preserving data publishing.

    Examples
    --------
    Four people by age and city. Decades are enough to make pairs of them:

    >>> import tempfile
    >>> from noren.data.hierarchies import interval_hierarchy, write_hierarchy
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"},
    ...                                                  "illness": {"role": "sensitive"}}})
    >>> people = Table.of({"age": [20, 27, 31, 38], "illness": ["flu", "cold", "flu", "flu"]}, schema)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _written = write_hierarchy(interval_hierarchy("age", range(20, 40), [10, 20]), Path(folder) / "age.csv")
    ...     release = HierarchyMethod(k=2, hierarchies=folder).protect(people, seed=1)
    >>> release.public.lines().to_list()
    ['20-29,cold', '20-29,flu', '30-39,flu', '30-39,flu']
    """

    name = "hierarchy"
    summary = N_(
        "Each row is indistinguishable from k - 1 others; whole columns are generalised as little as that allows."
    )
    source = "Samarati 2001; LeFevre et al. 2005; Kohlmayer et al. 2012"
    accepts = frozenset({Kind.TABLE})
    prominence = 1
    good_for = N_("Uses the same categories in all rows: whole columns become coarser together.")
    wrong_for = N_("Many columns with many values: all of them become coarse, and mondrian keeps more utility.")
    only_with_l_or_t = frozenset({"search"})
    best_so_far = N_("best so far (lower is more useful)")

    hierarchies: Path | None = Field(
        default=None,
        description=N_(
            "folder with a hierarchy value;label;…;* per quasi column, in a file COLUMN.csv or …_COLUMN.csv; a column "
            "without one is released unchanged or left out (default: ranges of numbers, months and years of dates, "
            "first characters of codes)"
        ),
        examples=["hierarchies"],
    )
    suppression: Suppression = 0.02
    loss: Literal["loss", "discernibility", "class-size", "entropy"] = Field(
        default="loss",
        title=N_("What to minimise; see the measures table-loss, discernibility, class-size and entropy-loss"),
        json_schema_extra=in_form(
            words={
                "loss": N_("loss of detail"),
                "discernibility": N_("pairs of rows"),
                "class-size": N_("mean class size"),
                "entropy": N_("loss of information"),
            }
        ),
    )
    missing: Missing = Field(
        default="category",
        title=N_("Empty cells"),
        json_schema_extra=in_form(
            words={
                "category": N_("a separate category"),
                "drop": N_("delete the row"),
                "error": N_("stop with an error"),
            }
        ),
    )
    search: Literal["safe", "arx"] = Field(
        default="safe",
        title=N_("How levels are chosen, with l or t"),
        description=N_(
            "with l or t: choose levels by k alone (safe), or also by sensitive values (arx), which loses less but "
            "discloses something about them"
        ),
    )

    def protect(self, original: Table, *, seed: int, progress: Progress = silent) -> Release:
        """Generalise ``original``; the seed decides the pseudonyms alone."""
        quasi, sensitive = self.looked_at(original.schema)
        require_enough_rows(self.k, len(original))
        chosen = self.levelled(original, quasi, sensitive, progress=progress)
        progress = silent if chosen.best.searched < 1 else progress  # who said enough need not be told more
        progress(0.6, _("generalising rows"))
        cells, statement, deleted = chosen.cells(original), self.statement(original.schema, chosen), chosen.deleted
        del chosen  # codes of all rows
        progress(0.7, _("sorting rows"))
        return released(original, cells, deleted, statement, seed=seed, identifiers=self.identifiers)

    def levelled(
        self,
        table: Table,
        quasi: Sequence[Column],
        sensitive: Sequence[Column],
        counts: Whole | None = None,
        *,
        progress: Progress = silent,
    ) -> ChosenLevels:
        """Choose the levels of a table's columns, and the rows that are deleted.

        Parameters
        ----------
        counts
            Where the rows of ``table`` are combinations of values: how many rows of the original each stands for.
        """
        progress(0.0, _("preparing rows"))
        if self.hierarchies is None:
            read = _automatic(table, quasi)
        else:
            read = read_hierarchies(self.hierarchies, [column.name for column in quasi])
        without = tuple(column.name for column in quasi if column.name not in read)
        hierarchies = {
            c.name: read.get(c.name) or Hierarchy.of_values(c.name, texts_of(table, c).drop_nulls().unique().to_list())
            for c in quasi
        }
        nodes = math.prod(hierarchy.depth for hierarchy in hierarchies.values())
        if nodes > _MOST_NODES:
            raise ParameterError(say("too_many_levels", nodes=nodes, most=_MOST_NODES))
        rows = np.ones(len(table), dtype=np.int64) if counts is None else counts
        there = pl.repeat(True, len(table), eager=True, dtype=pl.Boolean)
        if self.missing == "drop":
            there = complete_rows(table, hierarchies)
            require_enough_rows(self.k, int(rows[there.to_numpy()].sum()))
        complete = table if there.all() else table.take(there.arg_true())
        progress(0.1, _("counting combinations"))
        own = rows[there.to_numpy()]
        columns = column_levels(complete, hierarchies, self.missing, own)
        best, lost = self._best(columns, sensitive_codes(table, sensitive), rows, there, progress)
        deleted = np.ones(len(table), dtype=np.bool_)
        deleted[there.arg_true().to_numpy()] = lost
        incomplete = int(rows.sum() - own.sum())
        return ChosenLevels(tuple(columns), best, there, pl.Series(deleted), without, incomplete)

    def statement(self, schema: Schema, chosen: ChosenLevels) -> Statement:
        """Return the statement of a release."""
        best, columns = chosen.best, chosen.columns
        notes = {
            "levels": {column.column.name: level for column, level in zip(columns, best.levels, strict=True)},
            "highest_levels": {column.column.name: column.ladder.levels - 1 for column in columns},
            "score": best.score,
            "classes": best.classes,
            "suppressed_rows": best.suppressed,
            "incomplete_rows": chosen.incomplete,
            "nodes": best.nodes,
            "columns_without_hierarchy": list(chosen.without),
            "columns_not_released": self.not_released(schema, {column.column.name for column in columns}),
        } | ({"stopped": True, "searched": best.searched} if best.searched < 1 else {})
        if self.hierarchies is None:
            notes["automatic_hierarchies"] = True
        if self.search == "arx" and self.looks_at_sensitive:
            notes["chosen_by_sensitive_values"] = True
        return self._stated(notes, self.hierarchies)

    def _best(
        self,
        columns: Sequence[ColumnLevels],
        secrets: SensitiveCodes | None,
        rows: Whole,
        there: pl.Series,
        progress: Progress,
    ) -> tuple[Optimum, Flags]:
        """Return the best node, and which rows it deletes of those that are there."""
        everybody = None if secrets is None else secrets.of_rows
        values = None if everybody is None else everybody[there.to_numpy()]
        shares = None if everybody is None else np.bincount(everybody, rows) / rows.sum()
        ladders, own_rows = [column.ladder for column in columns], rows[there.to_numpy()]
        most = math.floor(self.suppression * int(own_rows.sum()) + 1e-9)
        full = self.rule(most, secrets)
        # What sensitive values are may not decide on the levels. A class of ℓ values has ℓ rows, so that much is known
        # without them; k may delete half of the limit, or little would be left of it for classes that fail ℓ or t.
        safe = self.search == "safe" and values is not None
        rule = ClassRule(max(self.k, self.l or 1), most // 2) if safe else full
        which, combinations, counts, own = _combined(columns, None if safe else values, own_rows)
        costs = {"loss": loss_costs, "entropy": entropy_costs}.get(self.loss)
        cell_costs = None if costs is None else costs(columns)

        def report_progress(share: float, score: float) -> None:
            progress(0.2 + 0.4 * share, _("searching"), score if math.isfinite(score) else None)

        report_progress(0.0, math.inf)
        best = search(
            combinations,
            counts,
            ladders,
            rule,
            _GOALS[self.loss],
            costs=cell_costs,
            sensitive=own,
            everybody=None if safe else shares,
            workers=cores(),
            report=report_progress,
        )
        if best is None:
            raise ParameterError(say("no_levels", share=self.suppression / 2 if safe else self.suppression))
        if not safe:
            return best, suppressed(combinations, counts, ladders, best.levels, rule, own, shares)[which]
        which, combinations, counts, own = _combined(columns, values, own_rows)
        search_result = combinations, counts, ladders, best, full, _GOALS[self.loss]
        best, lost = judged(*search_result, costs=cell_costs, sensitive=own, everybody=shares)
        reject_if_too_many_fail(best.suppressed, int(own_rows.sum()), self.suppression)
        return best, lost[which]


def _automatic(table: Table, quasi: Sequence[Column]) -> dict[str, Hierarchy]:
    """Return the hierarchies that values of the type usually get, as ``noren hierarchy build`` makes them.

    Every second level of the deepest one is left out while there are more combinations than a search does in seconds.
    """
    columns = {column.name: ColumnValues(table, column) for column in quasi}
    made = {name: usual_builder(values).build(values) for name, values in columns.items() if len(values.texts)}
    while math.prod(hierarchy.depth for hierarchy in made.values()) > _MOST_AUTOMATIC:
        deepest = max(made.values(), key=lambda hierarchy: hierarchy.depth)
        if deepest.depth <= 2:
            break
        labels = deepest.labels.get_columns()[1:-1]
        made[deepest.name] = Hierarchy.of_labels(deepest.name, deepest.values, labels[1::2])
    return made


def _combined(
    columns: Sequence[ColumnLevels], values: Whole | None, rows: Whole
) -> tuple[Whole, Whole, Whole, Whole | None]:
    """Return each row's combination of codes and values; of each combination its codes, its rows and its value."""
    codes, sizes = [column.codes for column in columns], [column.ladder.values for column in columns]
    if values is None:
        which, first = distinct(codes, sizes)
    else:
        which, first = distinct([*codes, values], [*sizes, int(values.max()) + 1])
    combinations = np.column_stack([its[first] for its in codes]).astype(np.int64)
    counts = np.bincount(which, rows).astype(np.int64)
    return which, combinations, counts, None if values is None else values[first]
