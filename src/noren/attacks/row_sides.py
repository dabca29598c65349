"""The two sides of a released table, column by column, as codes: what is known of people, and what cells say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers
from noren.data.cells import is_interval, is_set
from noren.data.formats.render import value_text
from noren.data.frames import Table
from noren.data.hierarchies import SAYS_NOTHING, Hierarchy
from noren.data.label_meanings import date_range, number_range, prefix
from noren.data.schema import Column, Scale
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.person_tree import INSIDE, LISTED, NOTHING, Cells, Noise
from noren.retention.perturbation import Perturbation

__all__ = ["RowSides", "noisy_sides", "sides_of_rows"]

_MISS = math.log(1000)
"""What a column that does not fit costs where nobody says how it was changed: as if one cell in a thousand was."""
_FAR = math.log(1000)
"""What it costs beside that to be as far away as can be."""
_HUSH = 1.0
"""What a silent cell costs a person who has a value: one who has none is likelier to have a silent cell."""


@dataclass(frozen=True)
class _Side:
    """One column: the code of each person's value, the cell of each public row, and what the cells say."""

    codes: Whole
    place: Real
    cell: Whole
    kind: Whole
    low: Real
    high: Real
    lists: Sequence[Whole]
    base: Real
    miss: float
    step: float


@dataclass(frozen=True)
class RowSides:
    """All columns that are known.

    Attributes
    ----------
    codes
        ``codes[column, person]``, fewest values first.
    cell_of
        ``cell_of[row, column]``: which of ``cells`` a public row shows.
    noise
        How likely a value is to be shown as a cell.
    told
        Whether the release says how values were changed; else the noise is a guess that serves where nobody fits.
    """

    codes: Whole
    cell_of: Whole
    cells: Cells
    noise: Noise
    told: bool

    @property
    def known(self) -> Whole:
        """The people of whom anything is known."""
        missing = np.isnan(self.noise.place)
        there = np.zeros(self.codes.shape[1], dtype=np.bool_)
        for column, codes in enumerate(self.codes):
            there |= ~missing[self.noise.offset[column] + codes]
        return np.flatnonzero(there)

    @property
    def speaking(self) -> Whole:
        """The public rows that say anything."""
        return np.flatnonzero((self.cells.kind[self.cell_of] != NOTHING).any(axis=1))

    def strict(self) -> Noise:
        """Return the noise of a table none of whose cells says what is not true."""
        nothing = np.zeros_like(self.noise.step)
        return self.noise._replace(miss=np.full_like(self.noise.miss, np.inf), step=nothing)


def sides_of_rows(
    original: Table, public: Table, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> RowSides:
    """Return the sides of a table that may be generalised, and perhaps changed in a way that nobody tells."""
    sides = [_side(original, original.schema[name], public.frame[name], hierarchies.get(name)) for name in columns]
    return _laid(sides, len(original), len(public), hush=_HUSH, told=False)


def noisy_sides(original: Table, public: Table, columns: Sequence[str], plan: Perturbation) -> RowSides:
    """Return the sides of a table whose noise is public: a release by retention."""
    own = plan.only([plan.names.index(name) for name in columns])
    sides = []
    shown = own.places(public.frame)
    for at, (attribute, codes) in enumerate(zip(own.attributes, own.codes(original.frame), strict=True)):
        values, of_people = np.unique(codes, return_inverse=True)
        cells, of_rows = np.unique(shown[at], return_inverse=True)
        size, rho, decay = attribute.size, own.rhos[at], own.decay(at)
        base, miss, step = np.zeros(len(values)), 0.0, 0.0
        if attribute.numeric:
            base, step = -np.log(_laplace_weight(values.astype(np.float64), size, decay)), -_log(decay)
        else:
            base += _log(rho + (1 - rho) / size)
            miss = _log(rho + (1 - rho) / size) - _log((1 - rho) / size)
        ends, kinds = cells.astype(np.float64), np.full(len(cells), INSIDE)
        place = values.astype(np.float64)
        sides.append(_Side(of_people, place, of_rows, kinds, ends, ends, [_NONE] * len(cells), base, miss, step))
    return _laid(sides, len(original), len(public), hush=0.0, told=True)


_NONE = np.zeros(0, dtype=np.int64)


def _log(value: float) -> float:
    return math.log(max(value, 1e-300))


def _laplace_weight(at: Real, points: int, decay: float) -> Real:
    """Return Σ decay^|u − v| over the grid, for each v."""
    if decay >= 1:
        return np.full(len(at), float(points))
    left, right = (decay * (1 - decay**many) / (1 - decay) for many in (at, points - 1 - at))
    return np.asarray(left + 1 + right)


def _laid(sides: list[_Side], people: int, rows: int, *, hush: float, told: bool) -> RowSides:
    sides = sorted(sides, key=lambda side: len(side.place))
    codes = np.stack([s.codes for s in sides]) if sides else np.zeros((0, people), dtype=np.int64)
    before = np.cumsum([0, *(len(s.kind) for s in sides)])
    cell_of = np.column_stack([s.cell + before[at] for at, s in enumerate(sides)]) if sides else None
    lists = [one for side in sides for one in side.lists]
    ends = np.cumsum([0, *(len(one) for one in lists)], dtype=np.int64)
    cells = Cells(
        _whole(side.kind for side in sides),
        _real(side.low for side in sides),
        _real(side.high for side in sides),
        ends[:-1],
        ends[1:],
        _whole(lists),
    )
    noise = Noise(
        np.cumsum([0, *(len(side.place) for side in sides)], dtype=np.int64),
        _real(side.place for side in sides),
        _real(side.base for side in sides),
        np.array([side.miss for side in sides]),
        np.array([side.step for side in sides]),
        np.full(len(sides), hush),
    )
    shown = np.zeros((rows, 0), dtype=np.int64) if cell_of is None else np.ascontiguousarray(cell_of, dtype=np.int64)
    return RowSides(codes.astype(np.int64), shown, cells, noise, told)


def _whole(parts: object) -> Whole:
    return np.concatenate([_NONE, *parts]).astype(np.int64)  # type: ignore[misc]


def _real(parts: object) -> Real:
    return np.concatenate([np.zeros(0), *parts])  # type: ignore[misc]


# --- one column ------------------------------------------------------------------------------------------------------


def _side(original: Table, column: Column, cells: pl.Series, hierarchy: Hierarchy | None) -> _Side:
    values = exact_values(original, column)
    if column.scale == Scale.NOMINAL:
        values = values.cast(pl.String)
    ordered = values.unique().sort(nulls_last=True)
    known = ordered.drop_nulls()
    codes = _coded(values, ordered)
    place = np.where(np.arange(len(ordered)) < len(known), np.arange(len(ordered), dtype=np.float64), np.nan)
    different = _different(cells)
    kind, low, high, lists = _meanings(different, known, column, hierarchy)
    step = 0.0 if column.scale == Scale.NOMINAL else _FAR / max(len(known) - 1, 1)
    base = np.zeros(len(ordered))
    return _Side(codes, place, _cell_numbers(cells, different), kind, low, high, lists, base, _MISS, step)


def _coded(values: pl.Series, ordered: pl.Series) -> Whole:
    codes = pl.DataFrame({"value": ordered, "code": pl.int_range(len(ordered), eager=True)})
    both = values.to_frame("value").join(codes, on="value", how="left", maintain_order="left", nulls_equal=True)
    return both["code"].cast(pl.Int64).to_numpy()


def _comparable(cells: pl.Series) -> pl.Series:
    """Return cells in a type that can be grouped; null where they say nothing."""
    if is_set(cells.dtype):
        return cells.cast(pl.List(pl.String)).list.join("\0")
    return cells


def _different(cells: pl.Series) -> pl.Series:
    """Return each different cell once."""
    return cells.gather(
        pl.DataFrame({"cell": _comparable(cells)}).select(pl.col("cell").is_first_distinct().arg_true())["cell"]
    )


def _cell_numbers(cells: pl.Series, different: pl.Series) -> Whole:
    return _coded(_comparable(cells), _comparable(different))


def _meanings(
    cells: pl.Series, known: pl.Series, column: Column, hierarchy: Hierarchy | None
) -> tuple[Whole, Real, Real, list[Whole]]:
    """Return what each different cell says of the known values, which are in order."""
    count = len(cells)
    silent = cells.is_null().to_numpy()
    ordered = column.scale != Scale.NOMINAL
    lists = [_NONE] * count
    if is_interval(cells.dtype) or (ordered and cells.dtype.is_numeric()) or (ordered and cells.dtype.is_temporal()):
        ends = [cells.struct.field(end) for end in ("lo", "hi")] if is_interval(cells.dtype) else [cells, cells]
        low, high = _between(numbers(known), numbers(ends[0]), numbers(ends[1]))
        return np.where(silent, NOTHING, INSIDE), low, high, lists
    nothing = np.zeros(count)
    if is_set(cells.dtype):
        lists = _sets(cells.cast(pl.List(pl.String)), known)
        return np.where(silent, NOTHING, LISTED), nothing, nothing, lists
    texts = known.to_frame("value").select(value_text(pl.col("value"), column))["value"]
    listed = _labels(cells.cast(pl.String), texts, known, column, hierarchy)
    kind = np.array([NOTHING if one is None else LISTED for one in listed], dtype=np.int64)
    return kind, nothing, nothing, [_NONE if one is None else one for one in listed]


def _between(known: Real, low: Real, high: Real) -> tuple[Real, Real]:
    """Return the first and the last code between two ends."""
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    first = np.searchsorted(known, low, side="left")
    last = np.searchsorted(known, high, side="right") - 1
    return first.astype(np.float64), last.astype(np.float64)


def _sets(cells: pl.Series, known: pl.Series) -> list[Whole]:
    codes = pl.DataFrame({"value": known.cast(pl.String), "code": pl.int_range(len(known), eager=True)})
    every = pl.DataFrame({"cell": pl.int_range(len(cells), eager=True), "value": cells})
    members = every.explode("value").join(codes, on="value", how="inner", maintain_order="left")
    begins = np.searchsorted(members["cell"].to_numpy(), np.arange(1, len(cells)))
    return np.split(members["code"].to_numpy(), begins) if len(cells) else []


def _labels(
    cells: pl.Series, texts: pl.Series, known: pl.Series, column: Column, hierarchy: Hierarchy | None
) -> list[Whole | None]:
    """Return the codes that each label stands for; None where nobody can say."""
    code_of = {text: code for code, text in enumerate(texts)}
    tree = {} if hierarchy is None else _by_label(hierarchy, code_of)
    ordered = None if column.scale == Scale.NOMINAL else numbers(known)
    return [_codes_of(label, code_of, tree, ordered, texts, column) for label in cells]


def _codes_of(
    label: str | None,
    code_of: Mapping[str, int],
    tree: Mapping[str, Whole],
    ordered: Real | None,
    texts: pl.Series,
    column: Column,
) -> Whole | None:
    if label is None or label == SAYS_NOTHING:
        return None
    if label in tree:
        return tree[label]
    if label in code_of:
        return np.array([code_of[label]])
    if ordered is not None and column.dtype.is_temporal() and (days := date_range(label)):
        low, high = (numbers(pl.Series([day]))[0] for day in days)
        return np.flatnonzero((ordered >= low) & (ordered < high + 1))
    if ordered is not None and (found := number_range(label)):
        above = ordered > found.low if found.open_low else ordered >= found.low
        below = ordered < found.high if found.open_high else ordered <= found.high
        return np.flatnonzero(above & below)
    if (start := prefix(label)) is not None:
        return np.flatnonzero(texts.str.starts_with(start).to_numpy())
    return None


def _by_label(hierarchy: Hierarchy, code_of: Mapping[str, int]) -> dict[str, Whole]:
    """Return the codes that each label above the values covers."""
    long = hierarchy.labels.rename({"0": "value"}).unpivot(index="value", value_name="label")
    codes = pl.DataFrame(
        {"value": list(code_of), "code": list(code_of.values())}, schema={"value": pl.String, "code": pl.Int64}
    )
    members = long.join(codes, on="value").unique(["label", "code"])
    return {str(label): part["code"].to_numpy() for (label,), part in members.group_by("label")}
