"""From the text of released cells to typed ones: ``x``, ``[a;b]``, ``{a;b}`` and ``*``."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from noren.data.cells import set_dtype
from noren.data.formats.parse import CellPlace, parse_text
from noren.data.schema import Column, Role, Scale, Schema
from noren.errors import ValueInCellError
from noren.i18n import _

__all__ = ["parse_cells"]


def parse_cells(values: pl.Series, column: Column, file: str | Path | None = None) -> pl.Series:
    """Type a column of ``x``, ``[a;b]`` or ``{a;b}``, and ``*``; stop at the first cell that is none of them.

    >>> parse_cells(pl.Series("quantity", ["3", "[1;4]", "*"]), Column(name="quantity", role="quantity")).to_list()
    [{'lo': 3, 'hi': 3}, {'lo': 1, 'hi': 4}, None]
    """
    name = column.name
    cell = pl.col(name)
    live = values.set(values == "*", None).to_frame()
    if column.scale == Scale.NOMINAL:
        braced = cell.str.extract(r"^\{(.*)\}$")
        inside = pl.coalesce(braced, cell)
        broken = inside.str.contains(r"[{}]") | (braced.is_null() & cell.str.contains(";", literal=True))
        split = live.select(inside.str.split(";").alias(name))[name]
        bad = (split.list.contains("") | (split.list.n_unique() != split.list.len())).fill_null(value=False)
        bad |= live.select(broken.fill_null(value=False)).to_series()
        _stop_if(
            bad,
            values,
            column,
            file,
            _("a set lists different items, none of them empty"),
            _("write one item like a, a set like {a;b}, or * to delete the cell"),
        )
        domain = split.drop_nulls().explode(empty_as_null=False).unique().sort().to_list()
        return split.cast(set_dtype(domain))
    ends = live.select(
        cell.str.extract(r"^\[([^;]*);[^;]*\]$").fill_null(cell).alias("lo"),
        cell.str.extract(r"^\[[^;]*;([^;]*)\]$").fill_null(cell).alias("hi"),
    )
    typed = {}
    for end in ("lo", "hi"):
        one = Schema(kind="table", columns=(column.model_copy(update={"role": Role.OTHER, "optional": True}),))
        typed[end] = parse_text(ends.select(pl.col(end).fill_null("").alias(name)), one, CellPlace(file))[name]
    _stop_if(
        (typed["lo"].is_null() | typed["hi"].is_null()) & live[name].is_not_null(),
        values,
        column,
        file,
        _("the value is missing"),
        _("write a value, a range like [a;b], or * to delete the cell"),
    )
    _stop_if(
        (typed["lo"] > typed["hi"]).fill_null(value=False),
        values,
        column,
        file,
        _("the range ends before it starts"),
        _("write the smaller end first"),
    )
    both = pl.DataFrame(typed).select(pl.when(pl.col("lo").is_not_null()).then(pl.struct("lo", "hi")).alias(name))
    return both[name]


def _stop_if(bad: pl.Series, values: pl.Series, column: Column, file: str | Path | None, rule: str, cure: str) -> None:
    if bad.any():
        at = int(bad.arg_true()[0])
        raise ValueInCellError(rule, cure, file=file, row=at + 1, column=column.name, value=values[at])
