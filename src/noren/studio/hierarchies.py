"""A first hierarchy for every column that could link a person, so that a table can be generalised at once.

Numbers become ranges that double in width, days months and years, codes of one length lose their last characters, and
other names are shown or not. Values come from what the schema declares where it does, so that a hierarchy tells no more
of the data than it must. Files lie in the project's folder ``hierarchies`` in ARX's form, as the methods read them;
``hierarchies.json`` beside it keeps how each was made and what a page shows of it.
"""

from __future__ import annotations

import datetime as dt
import math
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.formats.render import value_text
from noren.data.frames import Table
from noren.data.hierarchies import (
    SAYS_NOTHING,
    Hierarchy,
    date_hierarchy,
    hierarchy_file_name,
    mask_hierarchy,
    read_hierarchy,
    write_hierarchy,
)
from noren.data.schema import Column, Role, Scale, Schema, ValueType
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.studio.folders import read_json, write_json

__all__ = [
    "FACTS",
    "FOLDER",
    "Made",
    "default_hierarchy",
    "default_widths",
    "file_of",
    "forget_hierarchies",
    "hierarchy_facts",
    "keep_hierarchy",
    "levels_of",
    "make_hierarchies",
    "number_hierarchy",
    "stop_at_unlisted",
]

FOLDER, FACTS = "hierarchies", "hierarchies.json"
Made = Literal["default", "widths", "uploaded"]
Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]

MOST_VALUES: Final = 50_000
_LONGEST_GRID: Final = 5_000
_FIRST_RANGES: Final = 16
_MOST_WIDTHS: Final = 6
_CODE_LENGTHS: Final = range(2, 13)
_MOST_MASKS: Final = 4
_SHOWN: Final = 12
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class _Values:
    """The values of a column as a hierarchy lists them: their texts, and how many rows have each."""

    column: Column
    typed: pl.Series
    counts: pl.DataFrame

    @classmethod
    def of(cls, table: Table, column: Column) -> _Values:
        from noren.data.rungs import texts_of  # here: the search's kernels come with it, and histories need none

        counts = texts_of(table, column).drop_nulls().alias("0").value_counts(name="rows")
        return cls(column, table.frame[column.name].drop_nulls().unique().sort(), counts)

    @property
    def texts(self) -> list[str]:
        from noren.data.rungs import MISSING_MARK

        found = set(self.counts["0"]) | set(self.column.domain or ())
        return sorted(found - {MISSING_MARK})  # methods treat it as a missing value unless a hierarchy lists it


# --- the first ones --------------------------------------------------------------------------------------------------


def make_hierarchies(table: Table, project: Path) -> list[str]:
    """Make the hierarchies of a table's quasi columns; return the columns whose own ones do not fit any more.

    What a person uploaded, or widths they chose, stay as long as the column is there and every value is listed.
    """
    before = {about["name"]: about for about in hierarchy_facts(project)}
    folder = project / FOLDER
    folder.mkdir(exist_ok=True, mode=0o700)
    quasi = table.schema.with_role(Role.QUASI)
    facts, lost = [], [name for name, about in before.items() if about["made"] != "default"]
    for column in quasi:
        values = _Values.of(table, column)
        own = _own(before.get(column.name), values, table, folder)
        if own is not None:
            lost.remove(column.name)
        facts.append(_written(own or _by_default(values), values, table.schema, folder))
    for file in folder.iterdir():
        if file.name not in {about["file"] for about in facts}:
            file.unlink()
    if not any(about["file"] for about in facts):
        folder.rmdir()  # methods take an empty folder for a mistake
    write_json(project / FACTS, facts)
    return lost


def forget_hierarchies(project: Path) -> None:
    """Remove the hierarchies of a project whose data have none."""
    shutil.rmtree(project / FOLDER, ignore_errors=True)
    (project / FACTS).unlink(missing_ok=True)


def keep_hierarchy(
    table: Table,
    schema: Schema,
    project: Path,
    *,
    given: Hierarchy | None = None,
    widths: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Keep what a person gave for the one column of a table: a hierarchy, widths, or nothing for the first one again.

    Parameters
    ----------
    table
        The column's values, one for each row of the data.
    schema
        All columns of the data.
    """
    column = table.schema.columns[0]
    values = _Values.of(table, column)
    if given is not None:
        making = _Making(given, "uploaded")
    elif widths is not None:
        making = _Making(number_hierarchy(column, values.typed, widths), "widths", widths)
    else:
        making = _by_default(values)
    if making.hierarchy is not None:
        stop_at_unlisted(making.hierarchy, table)
    with _one_at_a_time:
        (project / FOLDER).mkdir(exist_ok=True, mode=0o700)
        about = _written(making, values, schema, project / FOLDER)
        facts = [about if one["name"] == column.name else one for one in hierarchy_facts(project)]
        write_json(project / FACTS, facts)
    return about


def hierarchy_facts(project: Path) -> list[dict[str, Any]]:
    """Return how the hierarchies of a project were made, and their levels."""
    return read_json(project / FACTS) or []


def file_of(column: str, schema: Schema) -> str | None:
    """Return the name of a column's file; none where the column's name is too long for one."""
    return hierarchy_file_name(column, [other for other in schema.names if other != column])


@dataclass(frozen=True)
class _Making:
    """A hierarchy and how it was made; without one, why there is none."""

    hierarchy: Hierarchy | None
    made: Made = "default"
    widths: Sequence[float] | None = None
    reason: str | None = None


def _by_default(values: _Values) -> _Making:
    if max(len(values.counts), len(values.column.domain or ())) > MOST_VALUES:
        return _Making(None, reason="too-many")
    if not values.texts:
        return _Making(None, reason="no-values")
    if values.column.scale == Scale.RATIO:
        widths = default_widths(values.typed, values.column)
        return _Making(number_hierarchy(values.column, values.typed, widths), widths=widths)
    return _Making(default_hierarchy(values.column, values.typed, values.texts))


def _own(about: Mapping[str, Any] | None, values: _Values, table: Table, folder: Path) -> _Making | None:
    """Return the hierarchy that a person gave, where it still fits."""
    if about is None or about["made"] == "default" or not about["file"]:
        return None
    try:
        if about["made"] == "widths":
            if values.column.scale != Scale.RATIO:
                return None
            made = number_hierarchy(values.column, values.typed, about["widths"])
        else:
            made = read_hierarchy(folder / about["file"], values.column.name)
        others = [name for name in table.schema.names if name != values.column.name]
        stop_at_unlisted(made, Table(table.frame, table.schema.without(others)))
    except NorenError:
        return None
    return _Making(made, about["made"], about["widths"])


def _written(making: _Making, values: _Values, schema: Schema, folder: Path) -> dict[str, Any]:
    """Write a column's file and return what a page shows of it."""
    name = file_of(values.column.name, schema)
    reason = making.reason or (None if name else "name-too-long")
    about: dict[str, Any] = {
        "name": values.column.name,
        "made": making.made,
        "widths": None if making.widths is None else list(making.widths),
        "file": None,
        "reason": reason,
        "levels": [],
    }
    if making.hierarchy is None or name is None:
        return about
    write_hierarchy(making.hierarchy, folder / name)
    return about | {"file": name, "levels": levels_of(making.hierarchy, values.counts, values.column)}


def stop_at_unlisted(hierarchy: Hierarchy, table: Table) -> None:
    """Stop at values of a table's one column that its hierarchy does not list, as the methods would."""
    from noren.data.rungs import on_rungs

    name = table.schema.names[0]
    on_rungs(replace(table, frame=table.frame.select(name).unique()), {name: hierarchy}, "category")


def levels_of(hierarchy: Hierarchy, counts: pl.DataFrame, column: Column) -> list[dict[str, Any]]:
    """Return for each level how many labels it has, how many rows the rarest one has, and some of them with rows."""
    labels = hierarchy.labels
    if column.scale == Scale.RATIO:
        # an uploaded file may write 07 or 7.0 for the number 7
        number = labels["0"].cast(column.dtype, strict=False).to_frame("0")
        text = number.select(value_text(pl.col("0"), column))["0"]
        labels = labels.with_columns(text.fill_null(labels["0"]).alias("0"))
    counted = labels.join(counts, on="0", how="left", maintain_order="left").with_columns(pl.col("rows").fill_null(0))
    found = []
    for level in range(hierarchy.depth):
        own = counted.group_by(pl.col(str(level)).alias("label"), maintain_order=True).agg(pl.col("rows").sum())
        some = own.filter(pl.col("rows") > 0)
        if column.scale == Scale.NOMINAL and level == 0:
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


# --- builders --------------------------------------------------------------------------------------------------------


def default_hierarchy(column: Column, typed: pl.Series, texts: Iterable[str]) -> Hierarchy:
    """Return the first hierarchy of days, times and texts.

    >>> city = Column(name="zip", role="quasi")
    >>> default_hierarchy(city, pl.Series([], dtype=pl.String), ["8053", "8037"]).labels.row(1)
    ('8053', '805*', '80**', '8***', '*')
    >>> default_hierarchy(city, pl.Series([], dtype=pl.String), ["Bern", "Genf"]).labels.row(1)
    ('Genf', '*')
    """
    name = column.name
    match column.type:
        case ValueType.DATE:
            return date_hierarchy(name, _days(column, typed))
        case ValueType.DATETIME:
            return _spans(column, typed, ("%Y/%-m/%-d", "%Y-%m", "%Y"))
        case ValueType.TIME:
            return _spans(column, typed, ("%-H:00-%-H:59",))
        case _:
            values = sorted(texts)
            return _masked(name, values) if _are_codes(values) else Hierarchy.of_values(name, values)


def _days(column: Column, typed: pl.Series) -> list[dt.date]:
    low = column.minimum if isinstance(column.minimum, dt.date) else typed.min()
    high = column.maximum if isinstance(column.maximum, dt.date) else typed.max()
    if isinstance(low, dt.date) and isinstance(high, dt.date) and (high - low).days < _LONGEST_GRID:
        return pl.date_range(low, high, eager=True).to_list()
    return typed.to_list()


def _spans(column: Column, typed: pl.Series, patterns: Sequence[str]) -> Hierarchy:
    frame = typed.to_frame("x").select(
        value_text(pl.col("x"), column).alias("0"),
        *(pl.col("x").dt.to_string(pattern).alias(str(i)) for i, pattern in enumerate(patterns, start=1)),
        pl.lit(SAYS_NOTHING).alias(str(len(patterns) + 1)),
    )
    return Hierarchy.of(column.name, frame.rows())


def _are_codes(values: Sequence[str]) -> bool:
    """Tell whether values are codes of one length, of letters and digits: postal codes, codes of the ICD."""
    lengths = {len(value) for value in values}
    return (
        len(lengths) == 1
        and lengths.pop() in _CODE_LENGTHS
        and all(value.isalnum() and any(c.isdigit() for c in value) for value in values)
    )


def _masked(name: str, values: Sequence[str]) -> Hierarchy:
    """Hide the last characters; of long codes several at a time, for each level multiplies what methods search."""
    every = mask_hierarchy(name, values).labels
    masks = every.width - 2
    step = math.ceil(masks / _MOST_MASKS) if masks else 1
    kept = [0, *range(step, every.width - 1, step), every.width - 1]
    return Hierarchy.of(name, every.select(every.columns[i] for i in kept).rows())


def default_widths(typed: pl.Series, column: Column) -> list[float]:
    """Return widths of ranges that double: some sixteen ranges first, then half as many, as long as there are two.

    >>> default_widths(pl.Series([17, 90]), Column(name="age", role="quasi", type="integer"))
    [5, 10, 20, 40]
    """
    steps = _grid_points(column, typed).places
    span = int(steps.max() - steps.min()) if len(steps) else 0
    width = max(2, _round_number(span / _FIRST_RANGES))
    widths: list[float] = []
    while width < max(span, 3) and len(widths) < _MOST_WIDTHS:
        widths.append(_number(width * column.grid))
        width *= 2
    return widths


def _round_number(at_least: float) -> int:
    """Return the first of 1, 2, 5, 10, 20, 50 … that is not smaller."""
    power = int(10 ** max(0, math.floor(math.log10(max(at_least, 1)))))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= at_least)


def number_hierarchy(column: Column, typed: pl.Series, widths: Sequence[float]) -> Hierarchy:
    """Return a hierarchy of numbers by ranges of growing ``widths``, in the column's own unit.

    >>> price = Column(name="price", role="quasi", type="decimal", width=0.5)
    >>> number_hierarchy(price, pl.Series([0.5, 2.0]), [1, 2]).labels.rows()[::3]
    [('0.5', '0-0.5', '0-1.5', '*'), ('2', '2-2.5', '2-3.5', '*')]
    """
    grid = column.grid
    steps = [round(width / grid) for width in widths]
    for finer, coarser, width in zip((1, *steps), steps, widths, strict=False):
        if coarser <= finer or coarser % finer or not math.isclose(coarser * grid, width, rel_tol=1e-9):
            raise ParameterError(
                _("ranges of {coarser} are not made of whole ranges of {finer}").format(
                    coarser=_number(width), finer=_number(finer * grid)
                ),
                _("let each width be a multiple of the one before, such as 5, 10, 20"),
            )
    points = _grid_points(column, typed)
    columns = {"0": _texts(points.numbers, column)}
    for level, width in enumerate(steps, start=1):
        low = points.places // width * width
        # beside the grid a range ends where the next begins
        high = low + width - (1 if points.on_grid else 0)
        ends = [_texts(_times(end, grid), column) for end in (low, high)]
        columns[str(level)] = pl.select(pl.concat_str(*ends, separator="-")).to_series()
    frame = pl.DataFrame(columns).with_columns(pl.lit(SAYS_NOTHING).alias(str(len(steps) + 1)))
    return Hierarchy.of(column.name, frame.rows())


class _Points(NamedTuple):
    """Numbers, their places on the grid, and whether all of them lie on it."""

    places: Whole
    numbers: Whole | Numbers
    on_grid: bool


def _grid_points(column: Column, typed: pl.Series) -> _Points:
    """Return the numbers that a hierarchy lists.

    Where the grid is short every point of it is listed, as far as the schema's bounds go: so the list says little of
    the data.
    """
    grid = column.grid
    own = typed.to_numpy()
    if column.type == ValueType.INTEGER and grid == 1:
        places, on_grid = own.astype(np.int64), True  # a float would not hold 18 digits
    else:
        steps = own / grid
        on_grid = bool((np.abs(steps - np.rint(steps)) < 1e-6 * np.maximum(1.0, np.abs(steps))).all())
        places = (np.rint(steps) if on_grid else np.floor(steps)).astype(np.int64)
    ends = [round(bound / grid) for bound in (column.minimum, column.maximum) if isinstance(bound, float)]
    edges = [*ends, *([int(places.min()), int(places.max())] if len(places) else [])]
    if on_grid and edges and max(edges) - min(edges) < _LONGEST_GRID:
        places = np.arange(min(edges), max(edges) + 1)
        return _Points(places, _times(places, grid), on_grid)
    return _Points(places, own, on_grid)


def _times(places: Whole, grid: float) -> Whole | Numbers:
    return places * int(grid) if grid == int(grid) else np.round(places * grid, 9)


def _texts(numbers: Whole | Numbers, column: Column) -> pl.Series:
    typed = pl.Series("x", numbers).cast(column.dtype, strict=False)
    return typed.to_frame().select(value_text(pl.col("x"), column))["x"]


def _number(value: float) -> float | int:
    rounded = round(value, 9)
    return int(rounded) if rounded == int(rounded) else rounded
