"""Roles of columns: invoice, date, item and others in purchases; identifier, quasi and sensitive in tables of people.

Each role of purchases takes the column whose name says it best and whose values can be it. Where names leave a choice,
values decide: of two numbers called *order* the basket is the one whose values belong to one customer each, of two
products the finer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from noren.data.formats.parse import holds_plain_values
from noren.data.guessing import Question, role_question
from noren.data.guessing.column_words import Hint, last_hint, says, spelled
from noren.data.guessing.identifying import identifying_columns, looks_like_an_outcome
from noren.data.guessing.people import Repeats, belongs, filled, may_name, naming_of
from noren.data.schema import Column, Role, Scale, ValueType
from noren.data.value_formats import INTEGER
from noren.i18n import _
from noren.tables import table_of

_SURE_ITEM = 2.0
_MANY_PIECES = 10
_RULES = table_of(__name__)
_DEGREES = {Hint.LATITUDE: 90.0, Hint.LONGITUDE: 180.0}
"""The highest degrees of each."""


def fits(role: Role, column: Column) -> bool:
    """Tell whether a column's values can play ``role``."""
    match role:
        case Role.DATE:
            return column.type in (ValueType.DATE, ValueType.DATETIME)
        case Role.TIME:
            return column.type == ValueType.TIME
        case Role.PRICE:
            return column.scale == Scale.RATIO
        case Role.QUANTITY:
            return column.scale == Scale.RATIO and column.width == 1.0
        case Role.DESCRIPTION:
            return column.type == ValueType.TEXT
        case _:
            return may_name(column)


def coordinates(columns: Sequence[Column], rows: pl.DataFrame) -> tuple[str, str] | None:
    """Return the columns of latitude and longitude, by their names and ranges; None unless there is one of each.

    >>> rows = pl.DataFrame({"lat": [35.6], "経度": [139.7], "long": [900.0]})
    >>> coordinates([Column(name=name, type="decimal") for name in rows.columns], rows)
    ('lat', '経度')
    """
    place: list[str] = []
    for hint, most in _DEGREES.items():
        named = [c.name for c in columns if c.scale == Scale.RATIO and says(c.name, hint)]
        highest = {name: rows[name].cast(pl.Float64, strict=False).abs().max() for name in named}
        within = [name for name, top in highest.items() if isinstance(top, float) and top <= most]
        if len(within) != 1:
            return None
        place += within
    return place[0], place[1]


def shop_roles(columns: Sequence[Column], head: pl.DataFrame, customer: str | None) -> dict[str, Role]:
    """Return the role of each column that plays one in purchases; all others are ``other``.

    Parameters
    ----------
    customer
        The column that tells who bought, where one is known.
    """
    roles: dict[str, Role] = {} if customer is None else {customer: Role.CUSTOMER}
    scores: dict[str, float] = {}
    plain = [c for c in columns if holds_plain_values(head[c.name])]
    for role in (Role.DATE, Role.TIME, Role.INVOICE, Role.PRICE, Role.QUANTITY, Role.ITEM, Role.DESCRIPTION):
        best, highest = None, (0.0, 0)
        for column in plain:
            name = column.name
            if name in roles or not fits(role, column):
                continue
            score = name_score(role, name)
            if score and role in (Role.INVOICE, Role.ITEM) and naming_of(column, head[name]) is not None:
                score = 0.0
            if score and role == Role.INVOICE and customer is not None and belongs(head, name, customer):
                score += 3.0
            # of several items the finer: departments and groups are called products too
            rank = (score, Repeats.of(head[name]).distinct if role == Role.ITEM and score else 0)
            if rank > highest:
                best, highest = name, rank
        if best is not None:
            roles[best] = role
            scores[role] = highest[0]
    named = {role: name for name, role in roles.items()}
    if Role.DESCRIPTION in named and scores.get(Role.ITEM, 0.0) < _SURE_ITEM:
        # a description is the item where no product is named otherwise
        if Role.ITEM in named:
            del roles[named[Role.ITEM]]
        roles[named[Role.DESCRIPTION]] = Role.ITEM
    place = coordinates(columns, head)
    if place is not None and scores.get(Role.ITEM, 0.0) < _SURE_ITEM:
        # who was where: the venue is what lies in one place each, the finest of them
        free = [c.name for c in plain if roles.get(c.name, Role.ITEM) == Role.ITEM and fits(Role.ITEM, c)]
        venues = [n for n in free if all(belongs(head, n, degrees) for degrees in place)]
        counted = {n: Repeats.of(head[n]) for n in venues}
        if venue := max((n for n in venues if counted[n].repeated), key=lambda n: counted[n].distinct, default=None):
            roles = {name: role for name, role in roles.items() if role != Role.ITEM} | {venue: Role.ITEM}
    if Role.QUANTITY not in named and Role.PRICE in named:
        # whole numbers called amount are pieces where another column is the price and mostly the larger
        for column in plain:
            if column.name in roles or spelled(column.name) != "_amount_" or not fits(Role.QUANTITY, column):
                continue
            amount, price = (head[n].cast(pl.Float64, strict=False) for n in (column.name, named[Role.PRICE]))
            if float((amount < price).mean() or 0.0) > 0.5:  # type: ignore[arg-type]
                roles[column.name] = Role.QUANTITY
    return roles


@cache
def name_score(role: Role, name: str) -> float:
    """Return how well a column's name says a role, by the first rule of ``roles.toml`` that it meets.

    >>> name_score(Role.PRICE, "UnitPrice"), name_score(Role.PRICE, "total"), name_score(Role.PRICE, "city")
    (5.0, 2.0, 0.0)
    """
    for rule in _RULES[role]:
        says_all = all(says(name, *map(Hint, rule[part])) for part in ("says", "also") if part in rule)
        says_none = not says(name, *map(Hint, rule.get("not", ())))
        last = [Hint(word) for word in rule.get("last", ())]
        ends_so = not last or last_hint(name, *last) == last[0]
        if says_all and says_none and ends_so and re.search(rule.get("pattern", ""), spelled(name)):
            score: float = rule["score"] + rule.get("numbered", 0.0) * says(name, Hint.NUMBER)
            return score
    return 0.0


# --- where names say nothing -----------------------------------------------------------------------------------------


def bought_by_shape(columns: Sequence[Column], head: pl.DataFrame) -> dict[str, Role]:
    """Return what could have been bought where names tell nothing: by types, once rows are said to be purchases.

    ``columns`` are those that have no role yet.
    """
    roles: dict[str, Role] = {}
    free = [
        c
        for c in columns
        if holds_plain_values(head[c.name])
        and naming_of(c, head[c.name]) is None
        and not says(c.name, Hint.ATTRIBUTE, Hint.BIRTH, Hint.PLACE, Hint.NAME, Hint.CONTACT)
    ]
    texts = [c for c in free if c.type == ValueType.TEXT and Repeats.of(head[c.name]).distinct > 1]
    if texts:
        roles[max(texts, key=lambda c: Repeats.of(head[c.name]).distinct).name] = Role.ITEM
    numbers = [c for c in free if c.scale == Scale.RATIO and not says(c.name, Hint.CALENDAR, Hint.DATE)]
    decimals = [c for c in numbers if c.type == ValueType.DECIMAL]
    if decimals:
        roles[decimals[0].name] = Role.PRICE
    whole = [c for c in numbers if c.type == ValueType.INTEGER]
    if whole and not roles:
        roles[whole[0].name] = Role.QUANTITY
    return roles


def roles_by_position(columns: Sequence[Column], head: pl.DataFrame, *, bought: bool = False) -> dict[str, Role]:
    """Recognise headerless orders of columns by their types.

    The contests write customer, (invoice,) date, (time,) item, price, quantity. Panels that tell no items write
    customer, date, quantity, price; that could be much else, and counts only where rows are said to be purchases.
    """
    orders = (
        (Role.CUSTOMER, Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY),
        (Role.CUSTOMER, Role.INVOICE, Role.DATE, Role.TIME, Role.ITEM, Role.PRICE, Role.QUANTITY),
    )
    for order in orders:
        if len(order) == len(columns) and all(fits(r, c) for r, c in zip(order, columns, strict=True)):
            return {c.name: r for r, c in zip(order, columns, strict=True)}
    pieces = (Role.CUSTOMER, Role.DATE, Role.QUANTITY, Role.PRICE)
    if bought and len(columns) == len(pieces) and all(fits(r, c) for r, c in zip(pieces, columns, strict=True)):
        # numbers of products are as whole as numbers of pieces, but not as small
        typical = head[columns[2].name].cast(pl.Float64, strict=False).median()
        if columns[3].type == ValueType.DECIMAL and isinstance(typical, float) and 0 < typical < _MANY_PIECES:
            return {c.name: r for r, c in zip(pieces, columns, strict=True)}
    return {}


def as_purchases(
    columns: Sequence[Column], head: pl.DataFrame, roles: dict[str, Role]
) -> tuple[list[Column], list[Question]]:
    """Give columns their roles in purchases, and the types that go with them; also return what should be asked.

    What may identify people is an identifier, which is not released. Where it is what was bought or when, it stays
    that, for purchases need it, and is asked about.
    """
    customer = next(name for name, role in roles.items() if role == Role.CUSTOMER)
    with_roles = [column.model_copy(update={"role": roles.get(column.name, Role.OTHER)}) for column in columns]
    findings = identifying_columns(with_roles, head, customer=customer)
    named = {name for name in findings if roles.get(name, Role.OTHER) in (Role.OTHER, Role.INVOICE, Role.DESCRIPTION)}
    roles = roles | dict.fromkeys(named, Role.IDENTIFIER)
    questions = [
        finding.question(roles[name], dict.fromkeys((Role.IDENTIFIER, Role.OTHER, roles[name])))
        for name, finding in findings.items()
        if not finding.sure or name not in named
    ]
    described = []
    for column in columns:
        role = roles.get(column.name, Role.OTHER)
        update: dict[str, object] = {"role": role}
        if role in (Role.CUSTOMER, Role.INVOICE, Role.ITEM, Role.DESCRIPTION):
            # numbers that name something are names: customers 007 and 7 are different people
            update |= {"type": ValueType.TEXT, "width": None, "format": None, "number": None}
        if role == Role.QUANTITY and column.number is None:
            values = head[column.name]
            # every number is written as a whole one, if only as 12.0; 1e3 is not
            if values.dtype != pl.String or filled(values).str.replace(r"\.0+$", "").str.contains(INTEGER).all():
                update["type"] = ValueType.INTEGER
        if role == Role.PRICE and column.type == ValueType.INTEGER:
            update |= {"type": ValueType.DECIMAL, "width": 1.0}
        described.append(column.model_copy(update=update))
    return described, questions


_FEW_VALUES, _FEW_OUTCOMES = 100, 10
_ROLES = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER)


def as_attributes(columns: Sequence[Column], head: pl.DataFrame) -> tuple[list[Column], list[Question]]:
    """Give the columns of a table their roles; also return what of it should be asked.

    What may identify people is taken as an identifier, for that is not released, and asked about where it is not sure.
    """
    findings = identifying_columns(columns, head)
    described = []
    for column in columns:
        values, update = head[column.name], dict[str, object](role=Role.OTHER)
        if holds_plain_values(values):
            role = Role.SENSITIVE if says(column.name, Hint.SENSITIVE) else Role.QUASI
            update["role"] = Role.IDENTIFIER if column.name in findings else role
            if column.type == ValueType.TEXT and values.dtype == pl.String:
                known = values.filter((values != "") & values.is_not_null()).unique()
                if 0 < len(known) <= _FEW_VALUES:
                    update["domain"] = tuple(known.sort().to_list())
        described.append(column.model_copy(update=update))
    questions = [finding.question(Role.IDENTIFIER, _ROLES) for finding in findings.values() if not finding.sure]
    if not any(column.role == Role.SENSITIVE for column in described):
        words = _("Is {column} sensitive? No column is marked sensitive, so attribute disclosure is not checked")
        named = [c.name for c in described if c.role == Role.QUASI and looks_like_an_outcome(c.name)]
        few = [name for name in named if 2 <= Repeats.of(head[name]).distinct <= _FEW_OUTCOMES]
        questions += [role_question(name, words.format(column=name), Role.QUASI, _ROLES) for name in few]
    return described, questions
