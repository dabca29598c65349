"""Replace the histories of a group by their medians and modes, the rows of a table by the means of their class."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers, physical
from noren.data.frames import History, Records, Table
from noren.data.release import Release, Statement
from noren.data.schema import Column, Kind, Scale
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.microaggregation import small_groups, squared_error
from noren.methods.generalize import Generalize
from noren.methods.mondrian import Mondrian
from noren.methods.shared_values import middle_values
from noren.methods.table_parts import Identifiers, Quasi, released, require_enough_rows
from noren.progress import Progress, silent

_TRIES = {"quick": 30, "normal": 300, "thorough": 3_000}
"""How often, for each class, two or three neighbouring classes of a table are put together anew."""
_NAMES = 16
"""The most frequent values of a text column that the search tells apart."""
_OF_TABLES = frozenset({"quasi", "identifiers"})


class Microaggregate(Generalize):
    """Give every customer the same history as at least k - 1 others: the medians and modes of theirs.

    Who shares a history is searched as :class:`~noren.methods.generalize.Generalize` does, and so is which rows become
    one; but a shared row says one exact value for all members, the median of dates, prices and quantities and the most
    frequent item, and groups are chosen for what that costs. For the same groups U, the mean error of a cell, is never
    higher than with intervals and sets: a value drawn from an interval is on average no nearer to the members than
    their median. For k = 2 both cost the same, and the pairs are the optimum, proved.

    **The rows are not true.** A cell says what some member of the group has, which for the others is wrong, and nothing
    marks it; a reader of intervals knows what he does not know, a reader of medians does not. Contests that ask for
    generalisation refuse it. What any program reads that reads the original, it reads.

    Anyone who knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. Values are real ones of somebody in the group. Rows without counterpart are deleted, names
    become pseudonyms, other columns are suppressed; a blank is a value of its own, and is said where that costs least.

    **Tables.** Every row becomes equal to at least k - 1 others in all quasi columns: numbers, days and times become
    the mean of the class, texts the most frequent one; where most of a class have a blank, it says nothing. Classes are
    searched for the smallest sum of squared distances in standard deviations, where two texts that differ, or a blank
    and a value, are one apart. One column of numbers is cut at the optimum, proved.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control", 2002;
    S0 for U; ``docs/theory/microaggregation.md`` for the proofs.

    Examples
    --------
    Two of three bought a lamp, so all did. Of the prices 7, 8 and 9 the median is 8, of three days the middle one.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "eve"], "date": ["2010/12/1", "2010/12/2", "2010/12/4"],
    ...         "item": ["lamp", "rug", "lamp"], "price": [9.0, 7.0, 8.0], "quantity": [1, 1, 1]}
    >>> release = Microaggregate(k=3).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.public.lines(), sep="\\n")
    10,2010/12/2,lamp,8,1
    11,2010/12/2,lamp,8,1
    12,2010/12/2,lamp,8,1
    """

    name = "microaggregate"
    summary = N_(
        "At least k customers share each public history of medians and modes, or k rows their means; not true."
    )
    source = "Domingo-Ferrer and Mateo-Sanz 2002"
    accepts = frozenset({Kind.HISTORY, Kind.TABLE})
    offered_next = 0
    prominence = 0
    good_for = N_("Every cell must be one plain value, with a small mean error.")
    wrong_for = N_("Rows must be true of each customer: a cell is the median or mode of its group.")
    generalises = False
    medians = True
    promise_of_k = N_(
        "each public history is shared by at least k customers; its values are medians and modes of theirs, and "
        "not true of each"
    )
    promise_of_survival = N_(
        "each public history is shared by at least min_class customers, enough to outlive the attackers; its "
        "values are medians and modes of theirs, and not true of each"
    )

    quasi: Quasi = ()
    identifiers: Identifiers = "drop"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data; those of tables only where they are set."""
        return {
            name: value for name, value in super().parameters().items() if name not in _OF_TABLES or self._is_set(name)
        }

    def _is_set(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    def protect(self, original: Records, *, seed: int, progress: Progress = silent) -> Release:
        """Make histories or rows alike; the seed decides the pseudonyms and the way of the search."""
        of_both = {"k", "effort"}
        idle = _OF_TABLES if isinstance(original, History) else type(self).model_fields.keys() - _OF_TABLES - of_both
        unfit = [name for name in sorted(idle) if self._is_set(name)]
        if unfit:
            message = _("{name} does not apply to a {kind}; omit it")
            name = "--" + unfit[0].replace("_", "-")
            raise ParameterError(message.format(name=name, kind=original.schema.kind))
        if isinstance(original, Table):
            return self._protected_table(original, int(self.k or 0), seed, progress)
        return super().protect(original, seed=seed, progress=progress)  # type: ignore[arg-type]

    def _protected_table(self, original: Table, k: int, seed: int, progress: Progress) -> Release:
        of_classes = Mondrian(k=k, quasi=self.quasi, identifiers=self.identifiers)
        columns, _sensitive = of_classes.looked_at(original.schema)
        require_enough_rows(k, len(original))
        progress(0.0, _("preparing rows"))
        values = {column.name: exact_values(original, column) for column in columns}
        each = [_points(values[column.name], column) for column in columns]
        points = np.concatenate([part for part in each if part.shape[1]] or [np.zeros((len(original), 1))], axis=1)
        spread = float(((points - points.mean(axis=0)) ** 2).sum())
        begin = time.monotonic()

        def pace(done: float, error: float) -> float:
            if not isinstance(self.effort, str):
                done = (time.monotonic() - begin) / self.effort
            progress(0.05 + 0.85 * min(done, 1.0), _("searching"), 100 * error / spread)
            return done

        generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, k])))
        tries = _TRIES[self.effort if isinstance(self.effort, str) else "normal"]
        class_of, whole = small_groups(points, k, tries, generator, pace)
        if whole:  # who said enough need not be told more
            progress(0.9, _("generalising rows"))
        cells = {column.name: _released_values(values[column.name], column, class_of) for column in columns}
        notes = {
            "classes": int(class_of.max()) + 1,
            "columns_not_released": of_classes.not_released(original.schema, cells),
            "information_loss": 100 * squared_error(points, class_of) / spread if spread else 0.0,
            "proved_optimal": points.shape[1] == 1,
            "truthful": False,
        }
        notes |= {} if whole else {"stopped": True}
        notes |= {} if isinstance(self.effort, str) else {"by_the_clock": True}
        parameters = {name: getattr(self, name) for name in ("k", "effort", "quasi", "identifiers")}
        promise = N_("each row is alike in all quasi columns to at least k - 1 others; its values are means of theirs")
        statement = Statement(self.name, parameters | {"quasi": list(self.quasi)}, promise, notes=notes)
        nobody = pl.Series(np.zeros(len(original), dtype=np.bool_))
        return released(original, cells, nobody, statement, seed=seed, identifiers=self.identifiers)


def _points(values: pl.Series, column: Column) -> Real:
    """Return where the values of a column lie: numbers in standard deviations, each frequent text in its own direction.

    A column of one value has no place. Blanks are one away from where all others lie.
    """
    blank = values.is_null().to_numpy()
    if column.scale == Scale.NOMINAL:
        frequent = values.value_counts(sort=False).sort(["count", values.name], descending=[True, False])[values.name]
        parts = [values.eq_missing(text).to_numpy() for text in frequent.head(_NAMES)]
        return np.stack(parts, axis=1) / math.sqrt(2) if len(frequent) > 1 else np.zeros((len(values), 0))
    x = numbers(values)
    known = x[~blank] / (np.abs(x[~blank]).max(initial=0.0) or 1.0)
    sd = float(known.std()) if len(known) else 0.0
    place = np.zeros((len(x), 2))
    place[~blank, 0] = (known - known.mean()) / sd if sd > 0 else 0.0
    place[blank, 1] = 1.0
    return place[:, place.any(axis=0)]


def _released_values(values: pl.Series, column: Column, class_of: Whole) -> pl.Series:
    """Return what each row says in a column: the mean or the mode of its class, nothing where most have a blank."""
    if column.scale == Scale.NOMINAL:
        return middle_values(values, column, class_of, suppress_cells=False)
    known = ~values.is_null().to_numpy()
    x = physical(values).cast(pl.Float64).to_numpy()
    scale = float(np.abs(x[known]).max(initial=0.0)) or 1.0
    sizes, counts = np.bincount(class_of), np.bincount(class_of, known)
    means = scale * np.bincount(class_of, np.where(known, x, 0.0) / scale) / np.maximum(counts, 1)
    if values.dtype.is_temporal():
        second = 1 if values.dtype == pl.Date else 10**9 if values.dtype == pl.Time else 10**6
        whole = pl.Series(np.rint(means / second).astype(np.int64) * second)
        cells = whole.cast(pl.Int32 if values.dtype == pl.Date else pl.Int64).cast(values.dtype)
    else:  # a millionth of a standard deviation more or less tells nothing
        sd = float((x[known] / scale).std()) * scale if known.any() else 0.0
        cells = pl.Series([round(mean, 6 - math.floor(math.log10(sd))) for mean in means.tolist()] if sd else means)
    shown = pl.select(pl.when(pl.Series(2 * counts >= sizes) & pl.Series(counts > 0)).then(cells)).to_series()
    return shown.gather(class_of).alias(values.name)
