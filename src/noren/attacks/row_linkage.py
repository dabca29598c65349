"""Link rows of a table to people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field, PrivateAttr

from noren.attacks.assignment import uniform
from noren.data.arrays import exact_values, numbers
from noren.data.cells import cell_ends, different, is_interval, is_set
from noren.data.formats.render import value_text
from noren.data.frames import Table
from noren.data.hierarchies import SAYS_NOTHING, Hierarchy, read_hierarchies
from noren.data.hierarchies.levels import date_range, number_range, prefix
from noren.data.schema import Column, Kind, Role, Scale
from noren.data.statement import Statement
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.lattice.keys import distinct
from noren.kernels.linkage.assignment import greedy_pairs
from noren.kernels.linkage.person_tree import (
    INSIDE,
    LISTED,
    NOTHING,
    Cells,
    LikeliestPeople,
    Noise,
    likeliest,
    person_tree,
)
from noren.progress import Progress, part_of, silent
from noren.protocols import Attack, Guess
from noren.retention.perturbation import Perturbation, perturbation_of

_ROUNDS = 4
_MOST_VISITS = 3 * 10**9
_BLOCK = 256


class RowLinkage(Attack):
    """Name the person behind each row of a table, by all known columns.

    The attacker holds the original and knows of everybody the quasi-identifiers and all columns of role other, except
    those that the schema declares unknown (``known = false``); or just the columns named. A public row is given to the
    person it is likeliest to be of. A cell fits a person whose value it says, contains or covers; of a release by
    retention, whose noise is public, each cell is as likely as that noise makes it. Where nobody fits, those are named
    who fit in most columns and are nearest in the others.

    Nobody gets two rows: among people who are equally likely lots are drawn, and anyone who is named for two rows keeps
    the surer one. The score is the chance that the model gives to the name: 1/5 in a class of five. A row that says
    nothing is left out.

    Parameters
    ----------
    hierarchies
        What labels mean: with it ``Undergraduate`` is known to cover ``Bachelors``. Labels such as ``20-29``, ``80**``
        or ``1990-Q2`` speak for themselves; others say nothing without it.

    References
    ----------
    Fellegi and Sunter (1969); Domingo-Ferrer and Torra (2003), Disclosure risk assessment in statistical data
    protection.

    Examples
    --------
    Ann is the only one of 20 to 29 and Bob of 30 to 39; Cem and Dot cannot be told apart.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> people = Table.of({"age": [23, 34, 41, 48]}, schema)
    >>> labels = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    >>> public = Table.of({"age": ["30-39", "40-49", "40-49", "20-29"]}, labels)
    >>> guess = RowLinkage().attack(people, public, seed=1)
    >>> guess.pairs.head(2).rows()
    [(1, 2, 1.0), (4, 1, 1.0)]
    >>> guess.pairs["score"].to_list()
    [1.0, 1.0, 0.5, 0.5]
    """

    name = "row-linkage"
    summary = N_("Links each row of a table to the person it fits best, by all known columns.")
    source = "Fellegi and Sunter 1969"
    accepts = frozenset({Kind.TABLE})

    columns: tuple[str, ...] = Field(
        default=(),
        title=N_(
            "Columns that the attacker knows (default: quasi-identifiers, and other columns not declared unknown)"
        ),
    )
    hierarchies: Path | None = Field(default=None, description=N_("folder of hierarchies, as for the method hierarchy"))

    _noise: Statement | None = PrivateAttr(default=None)

    def with_public_metadata(self, statement: Statement) -> RowLinkage:
        """Return the attack that knows the public noise of a release by retention."""
        if statement.method != "retention":
            return self
        informed = self.model_copy()
        informed._noise = statement
        return informed

    def attack(self, original: Table, public: Table, *, seed: int, progress: Progress = silent) -> Guess:
        """Name a person for each public row that says something; the seed decides between equals."""
        progress(0.0, _("preparing rows"))
        noise = None if self._noise is None else perturbation_of(public.schema, self._noise)
        names = self._known(original, public, noise)
        ladders = {} if self.hierarchies is None else read_hierarchies(self.hierarchies, names)
        sizes = len(original), len(public)
        if noise is None:
            columns = [_side(original, original.schema[name], public.frame[name], ladders.get(name)) for name in names]
            sides = _row_sides(columns, *sizes, hush=_HUSH)
            naming = _Naming(sides, seed)
            # nobody tells how values were changed: first as if no cell said what is not true, then by a guess
            exact = sides.noise._replace(miss=np.full(len(names), np.inf), step=np.zeros(len(names)))
            misfits = naming.name(naming.rows, exact, part_of(progress, 0.1, 0.6))
            naming.name(misfits, sides.noise, part_of(progress, 0.6, 1.0))
        else:
            sides = _row_sides(_noisy_columns(original, public, names, noise), *sizes, hush=0.0)
            naming = _Naming(sides, seed)
            naming.name(naming.rows, sides.noise, part_of(progress, 0.1, 1.0))
        progress(1.0)
        notes: dict[str, Any] = {"columns": names, "silent_rows": len(public) - len(naming.rows)}
        return Guess(self.name, naming.pairs(), notes | {"rows_not_tried": naming.not_tried})

    def _known(self, original: Table, public: Table, noise: Perturbation | None) -> list[str]:
        """Return the columns that are known and released: those named, else all that an attacker is taken to know.

        Where the noise is public, so are all columns that have it: its promise holds whatever is known.
        """
        both = [name for name in public.schema.names if name in original.schema.names]
        for name in self.columns:
            if name not in both:
                message = _("{column} is not a column of both the original and the release; use one of {columns}")
                raise ParameterError(message.format(column=name, columns=", ".join(both) or _("none")))
        if self.columns:
            return list(dict.fromkeys(self.columns))
        if noise is not None:
            return [name for name in noise.names if name in both]
        linking = {column.name for table in (original, public) for column in table.schema.with_role(Role.QUASI)}
        linking |= {column.name for column in original.schema.with_role(Role.OTHER) if column.known}
        return [name for name in both if name in linking]


class _Naming:
    """The rows that say anything, the people who have no part yet, and the names given so far."""

    def __init__(self, sides: RowSides, seed: int) -> None:
        self.sides, self._seed = sides, seed
        self.rows = np.flatnonzero((sides.cells.kind[sides.cell_of] != NOTHING).any(axis=1))
        missing = np.isnan(sides.noise.place)
        known = np.zeros(sides.codes.shape[1], dtype=np.bool_)
        for offset, codes in zip(sides.noise.offset, sides.codes, strict=False):
            known |= ~missing[offset + codes]
        self.people = np.flatnonzero(known)
        self._draw = self._visits = self.not_tried = 0
        self._named: list[tuple[Whole, Whole, Real]] = []

    def _uniform(self, count: int) -> Real:
        self._draw += 1
        return uniform(count, seed=self._seed * 1024 + self._draw)

    def name(self, rows: Whole, noise: Noise, progress: Progress) -> Whole:
        """Name people for rows, round by round; return the rows that fit nobody."""
        misfits, everybody = rows[:0], np.zeros(len(self.sides.cell_of))
        for turn in range(_ROUNDS):
            if not len(rows) or not len(self.people) or not len(self.sides.codes):
                break
            part = part_of(progress, 1 - 0.5**turn, 1 - 0.5 ** (turn + 1))
            order = np.argsort(self._uniform(len(rows)), kind="stable")
            rows, person, best, weight = self._likeliest(rows[order], noise, part)
            fits = np.isfinite(best)
            if turn == 0:
                misfits = rows[~fits]
                everybody[rows] = np.where(fits, best, 0.0) + np.log(np.maximum(weight, 1.0))
            there = person >= 0
            score = np.exp(np.where(fits, best, 0.0) - everybody[rows])
            shape = len(self.sides.cell_of), self.sides.codes.shape[1]
            row, who = greedy_pairs(rows[there], person[there], score[there], shape)
            if not len(row):
                break
            sure = np.zeros(shape[0])
            sure[rows] = score
            self._named.append((row, who, sure[row]))
            self.people = np.setdiff1d(self.people, who, assume_unique=True)
            rows = np.setdiff1d(rows[fits], row, assume_unique=True)
        return misfits

    def _likeliest(self, rows: Whole, noise: Noise, progress: Progress) -> tuple[Whole, Whole, Real, Real]:
        """Return rows in an order of their own, a person for each and how likely the likeliest is and everybody."""
        codes, cells = self.sides.codes, self.sides.cells
        people = self.people[np.argsort(self._uniform(len(self.people)), kind="stable")]
        tree = person_tree(codes[:, people], people)
        cell_codes = self.sides.cell_of[rows]
        which, first = distinct(list(cell_codes.T), [len(cells.kind)] * cell_codes.shape[1])
        order = np.argsort(which, kind="stable")
        counts = np.bincount(which, minlength=len(first))
        tie_breaks = self._uniform(len(first))
        kinds = [slice(at, at + _BLOCK) for at in range(0, len(first), _BLOCK)]

        def work(block: slice) -> LikeliestPeople:
            shows = np.ascontiguousarray(cell_codes[first[block]])
            return likeliest(tree, shows, counts[block], tie_breaks[block], cells, noise)

        blocks: list[LikeliestPeople] = []
        for at, block in enumerate(map_blocks(work, kinds)):
            blocks.append(block)
            self._visits += block.visits
            progress((at + 1) / len(kinds), _("comparing rows"))
            if self._visits > _MOST_VISITS:
                break
        tried = sum(len(block.best) for block in blocks)
        done = int(counts[:tried].sum())
        self.not_tried += len(rows) - done
        of_row = which[order][:done]
        best, weight = (
            np.concatenate([getattr(block, part) for block in blocks])[of_row] for part in ("best", "weight")
        )
        return rows[order][:done], np.concatenate([block.person for block in blocks]), best, weight

    def pairs(self) -> pl.DataFrame:
        """Return the names given, surest first; rows and people are counted from 1."""
        nobody = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        row, person, score = (np.concatenate(parts) for parts in zip(nobody, *self._named, strict=True))
        order = np.lexsort((row, -score.round(12)))
        return pl.DataFrame({"row": row[order] + 1, "person": person[order] + 1, "score": score[order]})


# --- The two sides of a released table, column by column, as codes: what is known of people, and what cells say -------


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
    """All columns that are known."""

    codes: Whole
    """``codes[column, person]``, fewest values first."""
    cell_of: Whole
    """``cell_of[row, column]``: which of ``cells`` a public row shows."""
    cells: Cells
    noise: Noise
    """How likely a value is to be shown as a cell; a guess for where nobody fits, unless the release says it."""


def _noisy_columns(original: Table, public: Table, columns: Sequence[str], plan: Perturbation) -> list[_Side]:
    """Return the columns of a table whose noise is public: a release by retention."""
    own = plan.only([plan.names.index(name) for name in columns])
    sides = []
    released = own.places(public.frame)
    for at, (attribute, codes) in enumerate(zip(own.attributes, own.codes(original.frame), strict=True)):
        values, of_people = np.unique(codes, return_inverse=True)
        cells, of_rows = np.unique(released[at], return_inverse=True)
        size, rho, decay = attribute.size, own.rhos[at], own.decay(at)
        place, base, miss, step = values.astype(np.float64), np.zeros(len(values)), 0.0, 0.0
        if attribute.numeric:
            weight = np.full(len(values), float(size))  # of each value v, Σ decay^|u − v| over the grid
            if decay < 1:
                left, right = (decay * (1 - decay**many) / (1 - decay) for many in (place, size - 1 - place))
                weight = left + 1 + right
            base, step = -np.log(weight), -_log(decay)
        else:
            base += _log(rho + (1 - rho) / size)
            miss = _log(rho + (1 - rho) / size) - _log((1 - rho) / size)
        ends, kinds = cells.astype(np.float64), np.full(len(cells), INSIDE)
        sides.append(_Side(of_people, place, of_rows, kinds, ends, ends, [_NONE] * len(cells), base, miss, step))
    return sides


_NONE = np.zeros(0, dtype=np.int64)


def _log(value: float) -> float:
    return math.log(max(value, 1e-300))


def _row_sides(sides: list[_Side], people: int, rows: int, *, hush: float) -> RowSides:
    sides = sorted(sides, key=lambda side: len(side.place))
    codes = np.stack([s.codes for s in sides]) if sides else np.zeros((0, people), dtype=np.int64)
    before = np.cumsum([0, *(len(s.kind) for s in sides)])
    cell_of = np.column_stack([s.cell + before[at] for at, s in enumerate(sides)]) if sides else None
    lists = [values for side in sides for values in side.lists]
    ends = np.cumsum([0, *(len(values) for values in lists)], dtype=np.int64)
    kind, listed = (np.concatenate([_NONE, *parts]).astype(np.int64) for parts in ([s.kind for s in sides], lists))
    low, high, place, base = (
        np.concatenate([np.zeros(0), *(getattr(side, part) for side in sides)])
        for part in ("low", "high", "place", "base")
    )
    cells = Cells(kind, low, high, ends[:-1], ends[1:], listed)
    noise = Noise(
        np.cumsum([0, *(len(side.place) for side in sides)], dtype=np.int64),
        place,
        base,
        np.array([side.miss for side in sides]),
        np.array([side.step for side in sides]),
        np.full(len(sides), hush),
    )
    released = np.zeros((rows, 0), dtype=np.int64) if cell_of is None else np.ascontiguousarray(cell_of, dtype=np.int64)
    return RowSides(codes.astype(np.int64), released, cells, noise)


# --- one column ------------------------------------------------------------------------------------------------------


def _side(original: Table, column: Column, cells: pl.Series, hierarchy: Hierarchy | None) -> _Side:
    values = exact_values(original, column)
    if column.scale == Scale.NOMINAL:
        values = values.cast(pl.String)
    ordered = values.unique().sort(nulls_last=True)
    known = ordered.drop_nulls()
    places = pl.DataFrame({"value": ordered, "code": pl.int_range(len(ordered), eager=True)})
    codes = values.to_frame("value").join(places, on="value", how="left", maintain_order="left", nulls_equal=True)
    place = np.where(np.arange(len(ordered)) < len(known), np.arange(len(ordered), dtype=np.float64), np.nan)
    first, number = different(cells)
    kind, low, high, lists = _meanings(cells.gather(first), known, column, hierarchy)
    step = 0.0 if column.scale == Scale.NOMINAL else _FAR / max(len(known) - 1, 1)
    base = np.zeros(len(ordered))
    of_person, of_row = (part.cast(pl.Int64).to_numpy() for part in (codes["code"], number))
    return _Side(of_person, place, of_row, kind, low, high, lists, base, _MISS, step)


def _meanings(
    cells: pl.Series, known: pl.Series, column: Column, hierarchy: Hierarchy | None
) -> tuple[Whole, Real, Real, list[Whole]]:
    """Return what each different cell says of the known values, which are in order."""
    count = len(cells)
    silent = cells.is_null().to_numpy()
    ordered = column.scale != Scale.NOMINAL
    lists = [_NONE] * count
    if is_interval(cells.dtype) or (ordered and cells.dtype.is_numeric()) or (ordered and cells.dtype.is_temporal()):
        low, high = (np.nan_to_num(numbers(end)) for end in cell_ends(cells))
        first = np.searchsorted(numbers(known), low, side="left").astype(np.float64)
        last = (np.searchsorted(numbers(known), high, side="right") - 1).astype(np.float64)
        return np.where(silent, NOTHING, INSIDE), first, last, lists
    nothing = np.zeros(count)
    if is_set(cells.dtype):
        codes = pl.DataFrame({"value": known.cast(pl.String), "code": pl.int_range(len(known), eager=True)})
        every = pl.DataFrame({"cell": pl.int_range(count, eager=True), "value": cells.cast(pl.List(pl.String))})
        members = every.explode("value").join(codes, on="value", how="inner", maintain_order="left")
        begins = np.searchsorted(members["cell"].to_numpy(), np.arange(1, count))
        lists = np.split(members["code"].to_numpy(), begins) if count else []
        return np.where(silent, NOTHING, LISTED), nothing, nothing, lists
    texts = known.to_frame("value").select(value_text(pl.col("value"), column))["value"]
    code_of = {text: code for code, text in enumerate(texts)}
    tree = {}  # the codes that each label above the values covers
    if hierarchy is not None:
        long = hierarchy.labels.rename({"0": "value"}).unpivot(index="value", value_name="label")
        pairs = {"value": list(code_of), "code": list(code_of.values())}
        coded = pl.DataFrame(pairs, schema={"value": pl.String, "code": pl.Int64})
        members = long.join(coded, on="value").unique(["label", "code"])
        tree = {str(label): part["code"].to_numpy() for (label,), part in members.group_by("label")}
    values = numbers(known) if ordered else None
    listed = [_codes_of(label, code_of, tree, values, texts, column) for label in cells.cast(pl.String)]
    kind = np.array([NOTHING if codes is None else LISTED for codes in listed], dtype=np.int64)
    return kind, nothing, nothing, [_NONE if codes is None else codes for codes in listed]


def _codes_of(
    label: str | None,
    code_of: Mapping[str, int],
    tree: Mapping[str, Whole],
    ordered: Real | None,
    texts: pl.Series,
    column: Column,
) -> Whole | None:
    """Return the codes that a label stands for; None where nobody can say."""
    if label is None or label == SAYS_NOTHING:
        return None
    if label in tree:
        return tree[label]
    if label in code_of:
        return np.array([code_of[label]])
    if ordered is not None and column.dtype.is_temporal() and (days := date_range(label)):
        low, high = (numbers(pl.Series([day]))[0] for day in days)
        return np.flatnonzero((ordered >= low) & (ordered < high + 1))
    if ordered is not None and (bounds := number_range(label)):
        above = ordered > bounds.low if bounds.open_low else ordered >= bounds.low
        below = ordered < bounds.high if bounds.open_high else ordered <= bounds.high
        return np.flatnonzero(above & below)
    if (start := prefix(label)) is not None:
        return np.flatnonzero(texts.str.starts_with(start).to_numpy())
    return None
