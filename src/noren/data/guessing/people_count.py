"""How many people data are about: customers of purchases, and rows of a table as long as each row is a person.

Where a table says who its rows are about and somebody stands in several of them, k would count rows: "alike with nine
others" may mean nine rows of the same person. Such a table is not protected before that is mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.frames import History, Records
from noren.data.guessing.column_words import Hint, is_bare_id, says, spelled
from noren.data.guessing.people_columns import Naming, PeopleColumn, naming_of, not_overruled
from noren.data.guessing.repeats import Repeats, filled, holds_plain_values, looks_like_ids
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import SchemaError
from noren.i18n import _

__all__ = [
    "People",
    "PeopleSeen",
    "may_identify",
    "namings",
    "people_in",
    "stop_at_repeated_people",
    "stop_if_people_repeat",
]

_FEW: Final = 20
_MOST_SEEN: Final = 20_000_000
"""Values that a stream remembers (160 MB): whoever has several rows is found long before."""


@dataclass(frozen=True)
class People:
    """How many people so many rows are about, and which column tells them apart; none where nothing does."""

    people: int
    rows: int
    column: str | None = None

    @property
    def repeat(self) -> bool:
        """Whether somebody stands in several rows."""
        return self.people < self.rows


def people_in(data: Records) -> People:
    """Count the people that data are about; rows that do not say whom they are about count as one each in a table.

    >>> from noren.data.frames import Table
    >>> columns = {"patient_id": {"role": "identifier"}, "sex": {"role": "quasi"}}
    >>> schema = Schema.of({"kind": "table", "columns": columns})
    >>> people_in(Table.of({"patient_id": ["a", "b", "a"], "sex": ["f", "m", "f"]}, schema))
    People(people=2, rows=3, column='patient_id')
    """
    if isinstance(data, History):
        return People(len(data.customers), len(data), data.schema.role(Role.CUSTOMER).name)
    return _of_table(data.schema, data.frame)


def stop_at_repeated_people(data: Records) -> None:
    """Stop where rows of a table are taken for people, and somebody stands in several of them."""
    if data.schema.kind == Kind.TABLE:
        _stop(people_in(data))


def _stop(found: People) -> None:
    if not found.repeat:
        return
    raise SchemaError(
        _(
            "{column} identifies people, and its {people:,} values stand in {rows:,} rows ({each} each):"
            " k would count rows, not people"
        ).format(column=found.column, people=found.people, rows=found.rows, each=f"{found.rows / found.people:.3g}"),
        _('say that rows are purchases (kind = "history", --rows purchases), or keep one row a person'),
    )


def _of_table(schema: Schema, frame: pl.DataFrame) -> People:
    """Count by the column that names the fewest people."""
    named = namings(schema, frame)
    return _fewest([PeopleColumn(name, how, Repeats.of(frame[name])) for name, how in named.items()], len(frame))


def namings(schema: Schema, rows: pl.DataFrame) -> dict[str, Naming]:
    """Return the columns that tell whom rows are about, judged by some of the rows, and how they tell.

    What a guess takes as an identifier is not released, and need not number people: cases and tickets repeat.
    """
    found = {c.name: _identifying(c, rows[c.name]) for c in schema.columns if may_identify(c)}
    if schema.guessed:
        plain = [name for name in found if is_bare_id(name) or says(name, Hint.CONTACT)]
        found = {name: how for name, how in found.items() if how != Naming.ROLE or name in plain}
    return {name: naming for name, naming in found.items() if naming is not None}


def stop_if_people_repeat(named: Sequence[PeopleColumn], rows: int) -> None:
    """Stop where somebody stands in several of the rows of a table, by columns that were counted elsewhere."""
    _stop(_fewest(named, rows))


def _fewest(named: Sequence[PeopleColumn], rows: int) -> People:
    counted = (People(rows - one.counted.repeated, rows, one.name) for one in not_overruled(named))
    return min(counted, key=lambda found: found.people, default=People(rows, rows))


def may_identify(column: Column) -> bool:
    """Tell whether a column could tell who a row is about, before its values are looked at."""
    by_name = says(column.name, Hint.BUYER, Hint.HOUSEHOLD, Hint.CARD, Hint.PERSON)
    return by_name or column.role == Role.IDENTIFIER


def _identifying(column: Column, values: pl.Series) -> Naming | None:
    """Return how a column identifies people, or nothing where it does not.

    Names, telephones and addresses are shared by people who are not the same.
    """
    if not may_identify(column) or not holds_plain_values(values):
        return None
    naming = naming_of(column, values)
    if naming in (Naming.BUYER, Naming.HOUSEHOLD, Naming.CARD, Naming.PERSON):
        numbered = says(column.name, Hint.NUMBER) or column.role == Role.IDENTIFIER
        ids = looks_like_ids(column, values) and filled(values).n_unique() > _FEW
        return naming if numbered or ids else None
    shared = says(
        column.name,
        Hint.NAME,
        Hint.ADDRESS,
        Hint.BIRTH,
        Hint.PLACE,
        Hint.ATTRIBUTE,
        Hint.DATE,
    )
    shared |= says(column.name, Hint.CONTACT) and "mail_" not in spelled(column.name)
    if column.role != Role.IDENTIFIER or shared:
        return None
    return Naming.ROLE if looks_like_ids(column, values) else None


# --- a file of any size ----------------------------------------------------------------------------------------------


@dataclass
class PeopleSeen:
    """Counts people block by block: of each column that may identify them, which values were seen.

    Values are remembered as 64-bit hashes, up to 20 million of a column; from then on a column is not looked at.
    """

    schema: Schema
    _columns: dict[str, Naming] | None = None
    _seen: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    _filled: dict[str, int] = field(default_factory=dict)
    _rows: int = 0

    @property
    def names(self) -> list[str]:
        """The columns that must be in the blocks."""
        return [column.name for column in self.schema.columns if may_identify(column)]

    def add(self, block: pl.DataFrame) -> None:
        """Look at some more rows."""
        if self._columns is None:
            self._columns = namings(self.schema, block)
        self._rows += len(block)
        for name in self._columns:
            before = self._seen.get(name, np.empty(0, dtype=np.uint64))
            if len(before) >= _MOST_SEEN:
                continue
            hashes = filled(block[name]).cast(pl.String).hash(seed=0).to_numpy()
            self._seen[name] = np.union1d(before, hashes)
            self._filled[name] = self._filled.get(name, 0) + len(hashes)

    def stop_at_repeated_people(self) -> None:
        """Stop where somebody stood in several rows."""
        counted = [
            PeopleColumn(name, naming, Repeats(self._filled.get(name, 0), len(self._seen.get(name, ()))))
            for name, naming in (self._columns or {}).items()
        ]
        stop_if_people_repeat(counted, self._rows)
