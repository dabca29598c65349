"""All builders by name, the one that is taken if nobody chooses, and how large classes become level by level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from noren.data.hierarchies.builder import Builder, ColumnValues, canonical
from noren.data.hierarchies.codes import (
    POSTCODE,
    PREFECTURES,
    Icd,
    Municipality,
    Place,
    Postcode,
    Prefix,
    folded,
)
from noren.data.hierarchies.levels import Hierarchy
from noren.data.hierarchies.names import FromColumn, Groups, Rare, Shown, Similar
from noren.data.hierarchies.numbers import Cuts, Dates, Quantiles, Widths, default_widths
from noren.data.schema import Column, Scale, ValueType
from noren.errors import ParameterError
from noren.i18n import _
from noren.naming import suggestion

_CODE_LENGTHS: Final = range(2, 13)
_MOST_MASKS: Final = 4
_SHOWN: Final = 12


@dataclass(frozen=True)
class Usual(Builder, by="usual"):
    """What values of the type usually get: numbers ranges, days months and years, codes their first characters.

    Texts that are all post codes with a dash, or all begin with a prefecture, are taken for places of Japan.

    >>> from noren.data.hierarchies.builder import values_of
    >>> Usual().build(values_of("zip", ["8053", "8037"])).labels.row(1)
    ('8053', '805*', '80**', '8***', '*')
    >>> Usual().build(values_of("city", ["Bern", "Genf"])).labels.row(1)
    ('Genf', '*')
    """

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        return usual_builder(values).build(values)


def usual_builder(values: ColumnValues) -> Builder:
    """Return the builder that values of the type usually get."""
    match values.column.type:
        case ValueType.INTEGER | ValueType.DECIMAL:
            return Widths(tuple(default_widths(values.typed, values.column)))
        case ValueType.DATE:
            return Dates()
        case ValueType.DATETIME:
            return Dates(("day", "month", "year"))
        case ValueType.TIME:
            return Hours()
    if (folded(values.texts).str.contains(POSTCODE) & values.texts.str.contains(r"\D")).all():
        return Postcode()
    if folded(values.texts).str.contains(f"^(?:{'|'.join(PREFECTURES)})").all():
        return Place()
    lengths = _code_length(values.texts)
    return Prefix(lengths) if lengths else Shown()


@dataclass(frozen=True)
class Hours(Builder, by="hours"):
    """Times of day by the hour: ``8:26`` → ``8:00-8:59``."""

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        return Hierarchy.of_labels(values.name, values.texts, [values.typed.dt.to_string("%-H:00-%-H:59")])


def _code_length(texts: pl.Series) -> tuple[int, ...]:
    """Return how many characters of codes stay, where all values are codes of one length: letters and digits.

    Of long codes several are hidden at a time, for each level multiplies what methods search.
    """
    lengths = texts.str.len_chars().unique()
    if len(lengths) != 1 or lengths[0] not in _CODE_LENGTHS:
        return ()
    if not (texts.str.contains(r"^[\p{L}\p{N}]+$") & texts.str.contains(r"\d")).all():
        return ()
    length = int(lengths[0])
    step = math.ceil((length - 1) / _MOST_MASKS)
    return tuple(range(length - step, 0, -step))


_ALL: Final = (
    Usual, Widths, Quantiles, Cuts, Dates, Hours, Prefix, Postcode, Icd, Municipality, Place, Groups, Rare, Similar,
    FromColumn, Shown,
)  # fmt: skip
BUILDERS: Final[Mapping[str, type[Builder]]] = {one.by: one for one in _ALL}
"""Every builder by its name."""


def builder_of(by: str, text: str = "", other: str = "") -> Builder:
    """Return the builder that somebody asks for in words.

    >>> builder_of("widths", "5, 10")
    Widths(widths=(5.0, 10.0))
    """
    if by not in BUILDERS:
        raise ParameterError(
            _("there is no builder {by!r}{near}").format(by=by, near=suggestion(by, BUILDERS)),
            _("use one of {names}").format(names=", ".join(BUILDERS)),
        )
    if other.strip() != other or ";" in other or other == "*":
        raise ParameterError(_("this cannot be the label of other values"), _("use a word, such as other"), value=other)
    return BUILDERS[by].of_text(text, other)


def builders_for(column: Column) -> list[type[Builder]]:
    """Return the builders that can group a column's values."""
    return [one for one in BUILDERS.values() if column.type in one.types]


def build(builder: Builder, values: ColumnValues) -> Hierarchy:
    """Return the hierarchy of a column; stop where the builder cannot group its values, or there are none."""
    if values.column.type not in builder.types:
        rule = _("{by} is not for values of the type {type}").format(by=builder.by, type=values.column.type)
        if ValueType.INTEGER in builder.types:
            rule = _("ranges are for numbers")
        names = ", ".join(one.by for one in builders_for(values.column))
        raise ParameterError(rule, _("use one of {names}").format(names=names), column=values.name)
    if not len(values.texts):
        raise ParameterError(_("the column holds no values"), _("name another"), column=values.name)
    return builder.build(values)


def class_sizes(hierarchy: Hierarchy, counts: pl.DataFrame, column: Column) -> list[dict[str, Any]]:
    """Return for each level how many labels it has, how many rows the rarest one has, and some of them with rows.

    ``counts`` tells how many ``rows`` each text (``0``) has.
    """
    labels = canonical(hierarchy, column).labels
    counted = labels.join(counts, on="0", how="left", maintain_order="left").with_columns(pl.col("rows").fill_null(0))
    found = []
    for level in range(hierarchy.depth):
        own = counted.group_by(pl.col(str(level)).alias("label"), maintain_order=True).agg(pl.col("rows").sum())
        some = own.filter(pl.col("rows") > 0)
        if column.scale == Scale.NOMINAL:
            some = some.sort("rows", descending=True, maintain_order=True)
        found.append(
            {
                "labels": len(own),
                "least": int(some["rows"].min() or 0),  # type: ignore[arg-type]
                "shown": [[label, rows] for label, rows in some.head(_SHOWN).iter_rows()],
                "more": max(0, len(some) - _SHOWN),
            }
        )
    return found
