"""What the columns of a table of people are for: what identifies them, what links, what is sensitive."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from noren.data.guessing.column_words import Hint, is_bare_id, says, spelled
from noren.data.guessing.people_columns import Naming, naming_of
from noren.data.guessing.repeats import Repeats, filled, holds_plain_values, looks_like_ids
from noren.data.schema import Column, Role, ValueType
from noren.i18n import _

__all__ = ["as_attributes", "is_free_text"]

_FEW_VALUES = 100
_NEARLY_ALL = 0.9
_LONG_TEXT = 25
_FEWEST_TEXTS = 5
_FEW_CONTACTS = 20
_COUNTED = (Hint.TOTAL, Hint.QUANTITY, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUALITY)
_COMPANY = re.compile(r"_(?:company|firm|firma|societe|entreprise|empresa|azienda)_|会社|企業|法人|公司|회사")


def as_attributes(columns: Sequence[Column], head: pl.DataFrame) -> tuple[list[Column], list[str]]:
    """Give the columns of a table their roles; also return what of it should be said."""
    described, said = [], []
    for column in columns:
        made = _as_attribute(column, head[column.name])
        described.append(made)
        if made.role == Role.IDENTIFIER and is_free_text(column, head[column.name]):
            words = _("{column} holds texts that differ from row to row: taken as an identifier, which is not released")
            said.append(words.format(column=column.name))
    return described, said


def is_free_text(column: Column, values: pl.Series) -> bool:
    """Tell whether nearly every row holds a long text of its own, as remarks and reviews do."""
    if column.type != ValueType.TEXT or values.dtype != pl.String:
        return False
    known = filled(values)
    if len(known) < _FEWEST_TEXTS or known.n_unique() < _NEARLY_ALL * len(known):
        return False
    words = known.str.contains(r"\S\s+\S").mean()
    length = known.str.len_chars().mean()
    return isinstance(words, float) and isinstance(length, float) and words > _NEARLY_ALL and length >= _LONG_TEXT


def _as_attribute(column: Column, values: pl.Series) -> Column:
    if not holds_plain_values(values):
        return column.model_copy(update={"role": Role.OTHER})
    update: dict[str, object] = {"role": _role(column, values)}
    if column.type == ValueType.TEXT and values.dtype == pl.String:
        known = values.filter((values != "") & values.is_not_null())
        if len(known) and known.n_unique() <= _FEW_VALUES:
            update["domain"] = tuple(known.unique().sort().to_list())
    return column.model_copy(update=update)


def _role(column: Column, values: pl.Series) -> Role:
    """Return sensitive by name; identifier by name, or where every value differs; else quasi."""
    name, counted = column.name, Repeats.of(values)
    if says(name, Hint.SENSITIVE):
        return Role.SENSITIVE
    if naming_of(column, values) not in (None, Naming.CONTACT, Naming.BUYERS_NAME):
        return Role.IDENTIFIER
    differ = counted.distinct == counted.filled and 1 < counted.filled > len(values) / 2
    if differ and column.type == ValueType.TEXT and _COMPANY.search(spelled(name)):
        return Role.IDENTIFIER  # a table of companies, not of people who work for some
    if says(name, Hint.BIRTH, Hint.ATTRIBUTE) or (says(name, Hint.PLACE) and not says(name, Hint.ADDRESS, Hint.NAME)):
        return Role.QUASI  # a few rows may have an age or a postcode each
    mostly_own = counted.distinct > counted.filled / 2 and counted.filled > 1
    if says(name, Hint.CONTACT) and looks_like_ids(column, values) and counted.distinct > _FEW_CONTACTS:
        return Role.IDENTIFIER  # families share a telephone, and it still leads to them
    named = says(name, Hint.NAME, Hint.CONTACT, Hint.ADDRESS) or is_bare_id(name) or "_id_" in spelled(name)
    if named and mostly_own:
        return Role.IDENTIFIER
    if column.type == ValueType.INTEGER and says(name, *_COUNTED) and not says(name, Hint.NUMBER):
        return Role.QUASI  # how much or how many names nobody, if only few rows have the same
    if differ and column.type in (ValueType.TEXT, ValueType.INTEGER):
        return Role.IDENTIFIER
    return Role.IDENTIFIER if is_free_text(column, values) else Role.QUASI
