"""All builders of hierarchies by name, the default builder, and class sizes by level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from noren.data.guessing.roles import coordinates
from noren.data.hierarchies.builder import Builder, ColumnValues
from noren.data.hierarchies.codes import POSTCODE, PREFECTURES, Icd, Municipality, PlaceName, Postcode, Prefix, folded
from noren.data.hierarchies.levels import Hierarchy, canonical
from noren.data.hierarchies.names import FromColumn, Groups, KeepOrSuppress, Rare, Similar
from noren.data.hierarchies.numbers import Cuts, Dates, Grid, Hours, Quantiles, Widths, default_widths
from noren.data.schema import Column, Scale, ValueType
from noren.errors import ParameterError, suggestion
from noren.i18n import _

_CODE_LENGTHS: Final = range(2, 13)
_MOST_MASKS: Final = 4
_MOST_EXAMPLES: Final = 12


class Usual(Builder, by="usual"):
    """What values of the type usually get: numbers ranges, days months and years, codes their first characters.

    A latitude and a longitude get cells of a grid.

    Texts that are all post codes with a dash, or all begin with a prefecture, are taken for places of Japan.
    """

    def _build(self, values: ColumnValues) -> Hierarchy:
        return usual_builder(values).build(values)


def usual_builder(values: ColumnValues) -> Builder:
    """Return the builder that values of the type usually get."""
    if values.name in (coordinates(values.records.schema.columns, values.records.frame) or ()):
        return Grid()
    match values.column.type:
        case ValueType.INTEGER | ValueType.DECIMAL:
            return Widths(tuple(default_widths(values.typed, values.column)))
        case ValueType.DATE:
            return Dates.of_text()
        case ValueType.DATETIME:
            return Dates.of_text("day, month, year")
        case ValueType.TIME:
            return Hours()
    texts = values.texts
    if (folded(texts).str.contains(POSTCODE) & texts.str.contains(r"\D")).all():
        return Postcode.of_text()
    if folded(texts).str.contains(f"^(?:{'|'.join(PREFECTURES)})").all():
        return PlaceName.of_text()
    lengths = texts.str.len_chars().unique().to_list()
    are_codes = (texts.str.contains(r"^[\p{L}\p{N}]+$") & texts.str.contains(r"\d")).all()
    if len(lengths) != 1 or lengths[0] not in _CODE_LENGTHS or not are_codes:
        return KeepOrSuppress()
    # of long codes several characters are hidden at a time, for each level multiplies what methods search
    step = math.ceil((lengths[0] - 1) / _MOST_MASKS)
    return Prefix(tuple(range(lengths[0] - step, 0, -step)))


BUILDERS: Final[Mapping[str, type[Builder]]] = {
    builder.by: builder
    for builder in (
        Usual, Widths, Quantiles, Cuts, Grid, Dates, Hours, Prefix, Postcode, Icd, Municipality, PlaceName, Groups,
        Rare, Similar, FromColumn, KeepOrSuppress,
    )
}  # fmt: skip
"""Every builder by its name."""


def builder_of(by: str, text: str = "", other: str = "") -> Builder:
    """Return the builder of a name and its parameters.

    >>> builder_of("widths", "5, 10")
    Widths(parameters=(5.0, 10.0), other='')
    """
    if by not in BUILDERS:
        message = _("there is no {setting} {value!r}{hint}; use one of {names}")
        about = {"setting": "builder", "value": by, "hint": suggestion(by, BUILDERS)}
        raise ParameterError(message.format(**about, names=", ".join(BUILDERS)))
    if other.strip() != other or ";" in other or other == "*":
        raise ParameterError(_("this cannot be the label of other values; use a word such as other"), value=other)
    return BUILDERS[by].of_text(text, other)


def builders_for(column: Column) -> list[type[Builder]]:
    """Return the builders that can group a column's values."""
    return [builder for builder in BUILDERS.values() if column.type in builder.types]


def class_sizes(hierarchy: Hierarchy, counts: pl.DataFrame, column: Column) -> list[dict[str, Any]]:
    """Return for each level how many labels it has, how many rows the rarest one has, and some of them with rows.

    ``counts`` tells how many ``rows`` each text (``0``) has.
    """
    labels = canonical(hierarchy, column).labels
    counted = labels.join(counts, on="0", how="left", maintain_order="left").with_columns(pl.col("rows").fill_null(0))
    levels = []
    for level in range(hierarchy.depth):
        own = counted.group_by(pl.col(str(level)).alias("label"), maintain_order=True).agg(pl.col("rows").sum())
        some = own.filter(pl.col("rows") > 0)
        if column.scale == Scale.NOMINAL:
            some = some.sort("rows", descending=True, maintain_order=True)
        least, examples = int(some["rows"].min() or 0), some.head(_MOST_EXAMPLES)  # type: ignore[arg-type]
        about: dict[str, Any] = {"labels": len(own), "least": least, "examples": [*map(list, examples.iter_rows())]}
        levels.append(about | {"more": len(some) - len(examples)})
    return levels
