"""How many people of the population a table was drawn from are unique in what links to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.i18n import _
from noren.inference.identifiers import coded_columns, one_table
from noren.kernels.lattice.keys import distinct
from noren.kernels.population import (
    SMALL_FRACTION,
    ClassCounts,
    class_counts,
    pitman_uniques,
    snb_uniques,
    zayatz_uniques,
)

Estimator = Literal["pitman", "zayatz", "snb"]


@dataclass(frozen=True)
class PopulationRisk:
    """How many people are unique in the population, by each estimator.

    Attributes
    ----------
    rows, classes, alone
        People of the table, different combinations of the columns, and people whose combination no other row has.
    population, fraction
        How many people the population has, and which share of them is in the table.
    estimates
        How many people are unique in the population, by each estimator that came to an end.
    failed
        Why the others did not.
    chosen
        The estimator that the rule of Dankar et al. (2012) trusts here.
    """

    columns: tuple[str, ...]
    rows: int
    classes: int
    alone: int
    population: int
    fraction: float
    estimates: Mapping[str, float]
    failed: Mapping[str, str]
    chosen: Estimator

    @property
    def uniques(self) -> float:
        """How many people are unique in the population, by the chosen estimator."""
        return self.estimates[self.chosen]

    @property
    def share(self) -> float:
        """Which share of people is unique in the population: of all, and of those in the table."""
        return self.uniques / self.population

    def as_dict(self) -> dict[str, Any]:
        """Return what ``noren population --json`` prints."""
        return asdict(self) | {"uniques": self.uniques, "share": self.share}


def population(
    original: Any,
    size: float | None = None,
    *,
    fraction: float | None = None,
    schema: Schema | str | Path | None = None,
    columns: Sequence[str] = (),
) -> PopulationRisk:
    """Estimate how many people are unique in the population that a table is a random sample of.

    Up to a sampling fraction of 10 % the estimator of Pitman is chosen, else the smaller of SNB and Zayatz; where one
    comes to no end Zayatz stands in (Dankar et al. 2012, as ARX has it).

    Parameters
    ----------
    size, fraction
        How many people the population has, or which share of it is in the table: one of both.
    columns
        What is known of people; left out: the quasi-identifiers.

    Examples
    --------
    Everybody of ten is alone, and one in ten was asked: nothing speaks for anybody having a double.

    >>> schema = Schema.of({"kind": "table", "columns": {"zip": {"role": "quasi"}}})
    >>> found = population({"zip": [str(n) for n in range(10)]}, 100, schema=schema)
    >>> found.chosen, found.share, sorted(found.failed)
    ('zayatz', 1.0, ['pitman', 'snb'])
    """
    table = one_table(original, schema)
    names = list(dict.fromkeys(columns)) or [column.name for column in table.schema.with_role(Role.QUASI)]
    if not names:
        raise ParameterError(
            _("no column is quasi"), _('give columns role = "quasi" in the schema, or name them with --columns')
        )
    for name in names:
        _column = table.schema[name]  # stops at a name there is not
    people = _people(len(table), size, fraction)
    codes, sizes = coded_columns(table, names)
    which, _first = distinct(list(codes), sizes)
    classes = class_counts(np.bincount(which))
    found = {
        "pitman": pitman_uniques(classes, people),
        "zayatz": zayatz_uniques(classes, people),
        "snb": snb_uniques(classes, people),
    }
    estimates = {name: value for name, value in found.items() if value is not None}
    fraction = len(table) / people
    chosen: Estimator = "zayatz"  # which never fails
    if fraction <= SMALL_FRACTION:
        chosen = "pitman" if "pitman" in estimates else "zayatz"
    elif estimates.get("snb", math.inf) <= estimates["zayatz"]:
        chosen = "snb"
    return PopulationRisk(
        columns=tuple(names),
        rows=len(table),
        classes=int(classes.classes),
        alone=int(classes.of(1)),
        population=people,
        fraction=fraction,
        estimates=estimates,
        failed={name: _reason(name, classes) for name, value in found.items() if value is None},
        chosen=chosen,
    )


def _people(rows: int, size: float | None, fraction: float | None) -> int:
    if rows == 0:
        raise ParameterError(_("the table has no rows"), _("give a table of people"))
    if (size is None) == (fraction is None):
        raise ParameterError(
            _("the population is not known"), _("give one of both: how many people it has, or the share in the table")
        )
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise ParameterError(
                _("fraction = {fraction:g} is no share of a population").format(fraction=fraction),
                _("use a number above 0 and up to 1, such as 0.01"),
            )
        size = rows / fraction
    if size is None or not math.isfinite(size) or round(size) < rows:
        raise ParameterError(
            _("a population of {size:,.0f} is smaller than the table, which has {rows:,} people").format(
                size=size or 0, rows=rows
            ),
            _("give the number of all people the table was drawn from"),
        )
    return round(size)


def _reason(name: str, classes: ClassCounts) -> str:
    if classes.of(1) == classes.rows:
        return _("everybody is alone in the table, so that nothing tells how large classes are")
    if name == "snb" and not classes.of(2):
        return _("no class has two rows, and it is fitted to the classes of one and of two")
    if name == "snb":
        return _("no distribution of its kind has so many classes of one and of two rows")
    return _("the likelihood has no maximum inside its bounds")
