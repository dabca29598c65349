"""Columns that identify the person of a row, and the number of people.

How often values come again, and whether one column's values stand under another's (baskets under customers), is
counted on filled cells: empty ones, nulls and NaN say nothing.

Numbers of customers, members, households, cards, patients and pupils tell whom a row is about. A name is believed where
it says so by itself (``Member_number``, ``client``) and the values can be names of people; ``customer_city`` and
``member_rank`` are about people and name nobody.

Data are about as many people as there are customers of purchases, or rows of a table as long as each row is a person.
Where a table says who its rows are about and somebody stands in several of them, k would count rows: "alike with nine
others" may mean nine rows of the same person. Such a table is not protected before that is mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.formats.parse import holds_plain_values
from noren.data.frames import Records
from noren.data.guessing.column_words import Hint, is_bare, is_bare_id, last_hint, says, spelled
from noren.data.schema import Column, Kind, Role, Schema, ValueType
from noren.errors import SchemaError
from noren.i18n import _

_MOSTLY = 0.9
_LONGEST_ID = 64


@dataclass(frozen=True)
class Repeats:
    """How many cells of a column are filled, and with how many different values.

    >>> Repeats.of(pl.Series(["a", "b", "a", "", None]))
    Repeats(filled=3, distinct=2)
    """

    filled: int
    distinct: int

    @classmethod
    def of(cls, values: pl.Series) -> Repeats:
        """Count the values of a column."""
        known = filled(values)
        return cls(len(known), known.n_unique())

    @property
    def each(self) -> float:
        """Mean number of rows per value."""
        return self.filled / self.distinct if self.distinct else 0.0

    @property
    def repeated(self) -> int:
        """Number of cells that repeat an earlier value."""
        return self.filled - self.distinct


def filled(values: pl.Series) -> pl.Series:
    """Return the values that are not missing or blank."""
    return values.filter(_is_filled(values))


def _is_filled(values: pl.Series) -> pl.Series:
    is_filled = values.is_not_null()
    if values.dtype == pl.String:
        is_filled &= values.str.strip_chars() != ""
    elif values.dtype.is_float():
        is_filled &= values.is_not_nan()
    return is_filled.fill_null(value=False)


def may_name(column: Column) -> bool:
    """Tell whether values can be names of somebody or something: texts or whole numbers, 12345.0 among them."""
    whole = column.type == ValueType.DECIMAL and column.width == 1.0
    return whole or column.type in (ValueType.TEXT, ValueType.INTEGER)


def looks_like_ids(column: Column, values: pl.Series) -> bool:
    """Tell whether values look like numbers of people or things: whole numbers, or short texts with a digit or an @.

    >>> looks_like_ids(Column(name="x"), pl.Series(["A1", "A2"])), looks_like_ids(Column(name="x"), pl.Series(["Nara"]))
    (True, False)
    """
    if not may_name(column) or not holds_plain_values(values):
        return False
    known = filled(values)
    if column.type != ValueType.TEXT or known.dtype.is_numeric():
        return len(known) > 0
    texts = known.cast(pl.String)
    coded = texts.str.contains(r"[0-9@]|^[0-9A-Fa-f]{12,}$") & ~texts.str.contains(r"\s\S+\s")
    coded &= texts.str.len_chars() <= _LONGEST_ID
    return len(coded) > 0 and float(coded.mean()) >= _MOSTLY  # type: ignore[arg-type]


def varies_within(head: pl.DataFrame, person: str, column: str) -> bool:
    """Tell whether some person has more than one value of ``column``."""
    both = _both(head, person, column)
    return both.n_unique() > both[person].n_unique() if len(both) else False


def belongs(head: pl.DataFrame, inner: str, outer: str, *, slack: float = 0.01) -> bool:
    """Tell whether every value of ``inner``, but for a share of ``slack``, goes with one value of ``outer``.

    Baskets do so with customers.

    >>> rows = pl.DataFrame({"basket": [1, 1, 2, 3], "who": ["a", "a", "a", "b"]})
    >>> belongs(rows, "basket", "who"), belongs(rows, "who", "basket")
    (True, False)
    """
    both = _both(head, inner, outer)
    return len(both) > 0 and both.n_unique() <= (1 + slack) * both[inner].n_unique()


def _both(head: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    return head.select(first, second).filter(_is_filled(head[first]) & _is_filled(head[second]))


_FEW = 20
_FLAGS = {"0", "1", "y", "n", "yes", "no", "true", "false", "t", "f", "ja", "nein", "oui", "non", "member", "normal"}
_ENTITIES = (Hint.BUYER, Hint.HOUSEHOLD, Hint.CARD, Hint.CONTACT, Hint.PERSON, Hint.PLACE, Hint.ORDER, Hint.GOODS)
_NOT_A_PERSON = (
    Hint.QUALITY, Hint.ATTRIBUTE, Hint.ADDRESS, Hint.BIRTH, Hint.DATE, Hint.CALENDAR, Hint.KIND_OF_GOODS,
    Hint.DESCRIPTION, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUANTITY, Hint.SENSITIVE,
)  # fmt: skip
Naming = IntEnum("Naming", "BUYER HOUSEHOLD CARD CONTACT BUYERS_NAME PERSON ROLE")
"""How a column name identifies the person of a row, the surest first; by its role a schema says so, and no name."""
_NAMINGS = {hint: Naming[hint.name] for hint in (Hint.BUYER, Hint.HOUSEHOLD, Hint.CARD, Hint.CONTACT, Hint.PERSON)}


@dataclass(frozen=True)
class PeopleColumn:
    """A column that identifies the person of a row: its name, how it does so, and how often its values repeat."""

    name: str
    naming: Naming
    counted: Repeats


def naming_of(column: Column, values: pl.Series) -> Naming | None:
    """Tell how a column names people, by its name and its values; None where it does not.

    >>> naming_of(Column(name="Member_number"), pl.Series(["7", "7"])).name
    'BUYER'
    >>> naming_of(Column(name="customer_city"), pl.Series(["Nara", "Uji"])) is None
    True
    """
    name = column.name
    word = last_hint(name, *_ENTITIES)
    if word not in _NAMINGS or not may_name(column) or not holds_plain_values(values):
        return None
    if says(name, *(other for other in _NOT_A_PERSON if not (word == Hint.CONTACT and other == Hint.ADDRESS))):
        return None
    naming = _NAMINGS[word]
    if says(name, Hint.NAME):
        return Naming.BUYERS_NAME if word == Hint.BUYER else None
    if says(name, Hint.NUMBER):
        return naming
    distinct = Repeats.of(values).distinct
    if is_bare(name, word):
        seen = {str(value).strip().lower() for value in filled(values).unique().to_list()} if distinct <= 2 else set()
        return None if seen and seen <= _FLAGS else naming
    # another word is in the name, which may turn it into anything: the values must look like numbers of people
    return naming if distinct > _FEW and looks_like_ids(column, values) else None


def not_overruled(people: Sequence[PeopleColumn]) -> list[PeopleColumn]:
    """Return the columns that tell how many people there are.

    A household, a card or an account manager stands in several rows of a list of customers: they yield to a number that
    each customer or person has alone, and to a plain id. Two numbers of customers do not yield to each other, for one
    may be the order's.
    """
    unique = [column for column in people if not column.counted.repeated and column.counted.filled]
    own = {Naming.PERSON if is_bare_id(column.name) else column.naming for column in unique}
    weaker = {Naming.HOUSEHOLD, Naming.CARD, Naming.CONTACT, Naming.ROLE}
    if Naming.BUYER in own:
        weaker.add(Naming.PERSON)
    own &= {Naming.BUYER, Naming.PERSON}
    return [column for column in people if column in unique or not (own and column.naming in weaker)]


def people_columns(columns: Sequence[Column], head: pl.DataFrame) -> list[PeopleColumn]:
    """Return the columns that tell by their names whom rows are about, the surest first."""
    namings_of = ((column.name, naming_of(column, head[column.name])) for column in columns)
    named = [PeopleColumn(name, naming, Repeats.of(head[name])) for name, naming in namings_of if naming is not None]
    # a number for each order is called customer too, where another is said to be unique to people
    return sorted(named, key=lambda column: (column.naming, "_unique_" not in spelled(column.name)))


def unnamed_people_columns(columns: Sequence[Column], head: pl.DataFrame) -> list[PeopleColumn]:
    """Return columns whose values behave like numbers of people with several rows, though their names do not say so.

    They look like numbers, are many, come again and are no shop's, no town's and no product's; a column called ``id``
    comes first.
    """
    candidates = []
    for column in columns:
        name, values = column.name, head[column.name]
        if says(name, *_NOT_A_PERSON, Hint.PLACE, Hint.ORDER, Hint.EVENT, Hint.GOODS, Hint.TOTAL, Hint.TIME, Hint.WORK):
            continue
        if not holds_plain_values(values) or not may_name(column):
            continue
        counted = Repeats.of(values)
        bare = is_bare_id(name)
        names_people = says(name, Hint.NAME) and counted.distinct > 1
        length = filled(values).cast(pl.String).str.replace(r"\.0+$", "").str.len_chars().median()
        # longer than counts and codes of a few
        long = isinstance(length, float) and length >= 5
        many = counted.distinct > _FEW or (counted.distinct > 2 and long)
        many = many and counted.each >= 1.5 and looks_like_ids(column, values)
        if counted.repeated > 0 and (bare or names_people or many):
            candidates.append((not bare, -counted.distinct, PeopleColumn(name, Naming.BUYER, counted)))
    return [column for *_order, column in sorted(candidates, key=lambda entry: entry[:2])]


_MOST_SEEN: Final = 20_000_000
"""Values that a stream remembers (160 MB): people with several rows are found long before."""


def reject_repeated_people(data: Records) -> None:
    """Stop where rows of a table are people and some person has several rows."""
    if data.schema.kind == Kind.TABLE:
        named = namings(data.schema, data.frame).items()
        counted = [PeopleColumn(name, how, Repeats.of(data.frame[name])) for name, how in named]
        reject_if_people_repeat(counted, len(data))


def reject_if_people_repeat(named: Sequence[PeopleColumn], rows: int) -> None:
    """Stop where somebody stands in several of the rows of a table, by columns that were counted elsewhere.

    The column that tells the fewest people counts, and rows that do not say whom they are about are one person each.
    """
    telling = max(not_overruled(named), key=lambda column: column.counted.repeated, default=None)
    if telling is None or not telling.counted.repeated:
        return
    people = rows - telling.counted.repeated
    message = _(
        "{column} identifies people, and its {people:,} values occur in {rows:,} rows ({each} each), so k would count"
        ' rows, not people; declare rows as purchases (kind = "history", --rows purchases), or keep one row per person'
    )
    raise SchemaError(message.format(column=telling.name, people=people, rows=rows, each=f"{rows / people:.3g}"))


def namings(schema: Schema, rows: pl.DataFrame) -> dict[str, Naming]:
    """Return the columns that tell whom rows are about, judged by some of the rows, and how they tell.

    What a guess takes as an identifier is not released, and need not number people: cases and tickets repeat.
    """
    by_column: dict[str, Naming] = {}
    for column in schema.columns:
        name = column.name
        if not may_identify(column) or not holds_plain_values(values := rows[name]):
            continue
        naming = naming_of(column, values)
        ids = looks_like_ids(column, values)
        if naming in (Naming.BUYER, Naming.HOUSEHOLD, Naming.CARD, Naming.PERSON):
            numbered = says(name, Hint.NUMBER) or column.role == Role.IDENTIFIER
            if numbered or (ids and filled(values).n_unique() > _FEW):
                by_column[name] = naming
            continue
        # names, telephones and addresses are shared by people who are not the same
        shared = says(name, Hint.NAME, Hint.ADDRESS, Hint.BIRTH, Hint.PLACE, Hint.ATTRIBUTE, Hint.DATE)
        shared |= says(name, Hint.CONTACT) and "mail_" not in spelled(name)
        guessed = schema.guessed and not (is_bare_id(name) or says(name, Hint.CONTACT))
        if column.role == Role.IDENTIFIER and ids and not shared and not guessed:
            by_column[name] = Naming.ROLE
    return by_column


def may_identify(column: Column) -> bool:
    """Tell whether a column could tell who a row is about, before its values are looked at."""
    by_name = says(column.name, Hint.BUYER, Hint.HOUSEHOLD, Hint.CARD, Hint.PERSON)
    return by_name or column.role == Role.IDENTIFIER


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
            if len(before) < _MOST_SEEN:
                hashes = filled(block[name]).cast(pl.String).hash(seed=0).to_numpy()
                self._seen[name] = np.union1d(before, hashes)
                self._filled[name] = self._filled.get(name, 0) + len(hashes)

    def reject_repeated_people(self) -> None:
        """Stop where somebody stood in several rows."""
        counted = [
            PeopleColumn(name, naming, Repeats(self._filled.get(name, 0), len(self._seen.get(name, ()))))
            for name, naming in (self._columns or {}).items()
        ]
        reject_if_people_repeat(counted, self._rows)
