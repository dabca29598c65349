"""What the columns of a table of people are for: what identifies them, what links, what is sensitive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from noren.data.guessing.column_words import Hint, says
from noren.data.guessing.identifying import Identifying, identifying_columns, looks_like_an_outcome
from noren.data.guessing.questions import Question, role_question
from noren.data.guessing.repeats import Repeats, holds_plain_values
from noren.data.schema import Column, Role, ValueType
from noren.i18n import _

__all__ = ["as_attributes"]

_FEW_VALUES, _FEW_OUTCOMES = 100, 10
_ROLES = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER)


def as_attributes(columns: Sequence[Column], head: pl.DataFrame) -> tuple[list[Column], list[Question]]:
    """Give the columns of a table their roles; also return what of it should be asked.

    What may identify people is taken as an identifier, for that is not released, and asked about where it is not sure.
    """
    found = identifying_columns(columns, head)
    described = [_as_attribute(column, head[column.name], found) for column in columns]
    asked = [one.question(Role.IDENTIFIER, _ROLES) for one in found.values() if not one.sure]
    if not any(column.role == Role.SENSITIVE for column in described):
        words = _("Is {column} sensitive? No column is marked sensitive, so nobody checks what is learnt of a person")
        named = [c.name for c in described if c.role == Role.QUASI and looks_like_an_outcome(c.name)]
        few = [name for name in named if 2 <= Repeats.of(head[name]).distinct <= _FEW_OUTCOMES]
        asked += [role_question(name, words.format(column=name), Role.QUASI, _ROLES) for name in few]
    return described, asked


def _as_attribute(column: Column, values: pl.Series, found: Mapping[str, Identifying]) -> Column:
    if not holds_plain_values(values):
        return column.model_copy(update={"role": Role.OTHER})
    role = Role.SENSITIVE if says(column.name, Hint.SENSITIVE) else Role.QUASI
    update: dict[str, object] = {"role": Role.IDENTIFIER if column.name in found else role}
    if column.type == ValueType.TEXT and values.dtype == pl.String:
        known = values.filter((values != "") & values.is_not_null())
        if len(known) and known.n_unique() <= _FEW_VALUES:
            update["domain"] = tuple(known.unique().sort().to_list())
    return column.model_copy(update=update)
