"""What the public part says of each column, counted from the public part alone: nothing secret can come in."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from noren.data.cells import is_interval, is_set, kind
from noren.data.frames import Records
from noren.data.schema import Role, ValueType
from noren.judgement.numbers import number, percent
from noren.judgement.page_text import printable
from noren.papers.wording import Wording

__all__ = ["ReleasedColumn", "column_text", "released_columns", "treatment"]

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class ReleasedColumn:
    """What became of one column.

    Attributes
    ----------
    exact, interval, set, suppressed
        How many cells are of each kind.
    width, size
        The median width of its ranges (days, minutes or units) and the median number of values in its sets, of cells
        that are one.
    form
        How cells lie in the file: ``value``, ``range`` or ``set``.
    """

    name: str
    role: Role
    type: ValueType
    form: str
    exact: int
    interval: int
    set: int
    suppressed: int
    width: float | None = None
    size: float | None = None

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.exact + self.interval + self.set + self.suppressed


def released_columns(public: Records) -> tuple[ReleasedColumn, ...]:
    """Return what became of each column of a public part."""
    return tuple(_released(public.frame[c.name], c.role, c.type) for c in public.schema.columns)


def _released(cells: pl.Series, role: Role, type_: ValueType) -> ReleasedColumn:
    counts = dict(kind(cells).cast(pl.String).value_counts().iter_rows())
    form = "range" if is_interval(cells.dtype) else "set" if is_set(cells.dtype) else "value"
    return ReleasedColumn(
        name=cells.name,
        role=role,
        type=type_,
        form=form,
        **{name: int(counts.get(name, 0)) for name in ("exact", "interval", "set", "suppressed")},
        width=_median_width(cells) if form == "range" else None,
        size=_median_size(cells) if form == "set" else None,
    )


def _median_width(cells: pl.Series) -> float | None:
    """Return the median width of true ranges: of days in days, of clock times in minutes."""
    ends = cells.drop_nulls().struct.unnest()
    ends = ends.filter(pl.col("lo") != pl.col("hi"))
    if ends["lo"].dtype == pl.Time:
        ends = ends.select(pl.all().dt.minute().cast(pl.Int64) + 60 * pl.all().dt.hour().cast(pl.Int64))
    widths = ends.select(pl.col("hi") - pl.col("lo")).to_series()
    if isinstance(widths.dtype, pl.Duration):
        widths = widths.dt.total_seconds() / _SECONDS_A_DAY
    found = widths.median()
    return float(found) if isinstance(found, int | float) else None


def _median_size(cells: pl.Series) -> float | None:
    sizes = cells.drop_nulls().list.len()
    found = sizes.filter(sizes != 1).median()
    return float(found) if isinstance(found, int | float) else None


def column_text(name: str) -> str:
    """Return a column's name as a page may show it."""
    return printable(name, 60)


def treatment(column: ReleasedColumn, wording: Wording) -> str:
    """Return in words what the cells of a column say."""
    if column.role == Role.CUSTOMER:
        return wording.word("common.done_pseudonym")
    if not column.cells:
        return wording.word("common.done_nothing")
    said = []
    for name in ("interval", "set", "suppressed", "exact"):
        count = getattr(column, name)
        if count:
            more = {"width": _width(column, wording), "size": number(column.size or 0)}
            said.append(wording.word(f"common.done_{name}", share=percent(count / column.cells), **more))
    return _comma(wording).join(said)


def _width(column: ReleasedColumn, wording: Wording) -> str:
    text = number(column.width or 0)
    if column.type in (ValueType.DATE, ValueType.DATETIME):
        return wording.word("common.days", days=text)
    return wording.word("common.minutes", minutes=text) if column.type == ValueType.TIME else text


def _comma(wording: Wording) -> str:
    return "、" if wording.language == "ja" else "; "
