"""Which columns tell whom a row is about: numbers of customers, members, households, cards; of patients and pupils.

A name is believed where it says so by itself (``Member_number``, ``client``) and the values can be names of people;
``customer_city`` and ``member_rank`` are about people and name nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import polars as pl

from noren.data.guessing.column_words import Hint, is_bare, is_bare_id, last_said, says, spelled
from noren.data.guessing.repeats import Repeats, filled, holds_plain_values, looks_like_ids, may_name
from noren.data.schema import Column

__all__ = ["Naming", "PeopleColumn", "naming_of", "not_overruled", "people_columns", "unnamed_people_columns"]

_FEW = 20
_FLAGS = {"0", "1", "y", "n", "yes", "no", "true", "false", "t", "f", "ja", "nein", "oui", "non", "member", "normal"}
_ENTITIES = (
    Hint.BUYER,
    Hint.HOUSEHOLD,
    Hint.CARD,
    Hint.CONTACT,
    Hint.PERSON,
    Hint.PLACE,
    Hint.ORDER,
    Hint.GOODS,
)
_NOT_A_PERSON = (
    Hint.QUALITY, Hint.ATTRIBUTE, Hint.ADDRESS, Hint.BIRTH, Hint.DATE, Hint.CALENDAR, Hint.KIND_OF_GOODS,
    Hint.DESCRIPTION, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUANTITY, Hint.SENSITIVE,
)  # fmt: skip


class Naming(IntEnum):
    """How a name tells whom a row is about, the surest first."""

    BUYER = 1
    HOUSEHOLD = 2
    CARD = 3
    CONTACT = 4
    BUYERS_NAME = 5
    PERSON = 6
    ROLE = 7  # a schema says so, the name does not


_NAMINGS = {
    Hint.BUYER: Naming.BUYER,
    Hint.HOUSEHOLD: Naming.HOUSEHOLD,
    Hint.CARD: Naming.CARD,
    Hint.CONTACT: Naming.CONTACT,
    Hint.PERSON: Naming.PERSON,
}


@dataclass(frozen=True)
class PeopleColumn:
    """A column that tells whom rows are about: its name, how it tells, and how often its values come again."""

    name: str
    naming: Naming
    counted: Repeats

    @property
    def buys(self) -> bool:
        """Whether its name is that of somebody who buys, not of a patient or a pupil."""
        return self.naming != Naming.PERSON


def naming_of(column: Column, values: pl.Series) -> Naming | None:
    """Tell how a column names people, by its name and its values; None where it does not.

    >>> naming_of(Column(name="Member_number"), pl.Series(["7", "7"])).name
    'BUYER'
    >>> naming_of(Column(name="customer_city"), pl.Series(["Nara", "Uji"])) is None
    True
    """
    name = column.name
    word = last_said(name, *_ENTITIES)
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
        return None if distinct <= 2 and _are_flags(values) else naming
    # another word is in the name, which may turn it into anything: the values must look like numbers of people
    return naming if distinct > _FEW and looks_like_ids(column, values) else None


def _are_flags(values: pl.Series) -> bool:
    seen = {str(value).strip().lower() for value in filled(values).unique().to_list()}
    return bool(seen) and seen <= _FLAGS


def _long_ids(values: pl.Series) -> bool:
    """Tell whether values are longer than counts and codes of a few: of five signs or more."""
    length = filled(values).cast(pl.String).str.replace(r"\.0+$", "").str.len_chars().median()
    return isinstance(length, float) and length >= 5


def not_overruled(people: Sequence[PeopleColumn]) -> list[PeopleColumn]:
    """Return the columns that tell how many people there are.

    A household, a card or an account manager stands in several rows of a list of customers: they yield to a number that
    each customer or person has alone, and to a plain id. Two numbers of customers do not yield to each other, for one
    may be the order's.
    """
    alone = [one for one in people if not one.counted.repeated and one.counted.filled]
    own = {Naming.PERSON if is_bare_id(one.name) else one.naming for one in alone}
    weaker = {Naming.HOUSEHOLD, Naming.CARD, Naming.CONTACT, Naming.ROLE}
    if Naming.BUYER in own:
        weaker.add(Naming.PERSON)
    own &= {Naming.BUYER, Naming.PERSON}
    return [one for one in people if one in alone or not (own and one.naming in weaker)]


def people_columns(columns: Sequence[Column], head: pl.DataFrame) -> list[PeopleColumn]:
    """Return the columns that tell by their names whom rows are about, the surest first."""
    named = []
    for column in columns:
        naming = naming_of(column, head[column.name])
        if naming is not None:
            named.append(PeopleColumn(column.name, naming, Repeats.of(head[column.name])))
    # a number for each order is called customer too, where another is said to be unique to people
    return sorted(named, key=lambda one: (one.naming, "_unique_" not in spelled(one.name)))


def unnamed_people_columns(columns: Sequence[Column], head: pl.DataFrame) -> list[PeopleColumn]:
    """Return columns whose values behave like numbers of people with several rows, though their names do not say so.

    They look like numbers, are many, come again and are no shop's, no town's and no product's; a column called ``id``
    comes first.
    """
    found = []
    for column in columns:
        name, values = column.name, head[column.name]
        if says(
            name,
            *_NOT_A_PERSON,
            Hint.PLACE,
            Hint.ORDER,
            Hint.EVENT,
            Hint.GOODS,
            Hint.TOTAL,
            Hint.TIME,
            Hint.WORK,
        ):
            continue
        if not holds_plain_values(values) or not may_name(column):
            continue
        counted = Repeats.of(values)
        bare = is_bare_id(name)
        names_people = says(name, Hint.NAME) and counted.distinct > 1
        many = counted.distinct > _FEW or (counted.distinct > 2 and _long_ids(values))
        many = many and counted.each >= 1.5 and looks_like_ids(column, values)
        if counted.repeated > 0 and (bare or names_people or many):
            found.append((not bare, -counted.distinct, PeopleColumn(name, Naming.BUYER, counted)))
    return [one for *_order, one in sorted(found, key=lambda entry: entry[:2])]
