"""What columns are for: of purchases the basket, the day, the product; of people what identifies, links, is sensitive.

Each role of purchases takes the column whose name says it best and whose values can be it. Where names leave a choice,
values decide: of two numbers called *order* the basket is the one whose values belong to one customer each, of two
products the finer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from noren.data.formats.parse import holds_plain_values
from noren.data.guessing.column_words import Hint, last_said, says, spelled
from noren.data.guessing.identifying import Identifying, identifying_columns, looks_like_an_outcome
from noren.data.guessing.people import Repeats, belongs, filled, may_name, naming_of
from noren.data.guessing.questions import Question, role_question
from noren.data.schema import Column, Role, Scale, ValueType
from noren.data.value_formats import INTEGER
from noren.i18n import _

_SURE_ITEM = 2.0
_MANY_PIECES = 10
_OF_SOMETHING = (Hint.ORDER, Hint.GOODS, Hint.WORK, Hint.PLACE, Hint.BUYER, Hint.HOUSEHOLD, Hint.CARD, Hint.PERSON)
_NUMBERS_OF = re.compile(
    r"_(?:num|number|nb|n|anzahl|no)_(?:of_)?(?:items|products|units|pieces|cds|articles|artikel)_"
)
_COUNTS_OF = re.compile(
    r"_(?:num|number|nb|n|count|total|anzahl|no_of)_(?:\w*_)?"
    r"(?:purchases|visits|sales|orders|transactions|trips|invoices|receipts|customers|users|days)_"
)
_FULL_PRICE = re.compile(
    r"_(?:list|original|regular|base|old|before|retail|cost|purchase|total|gesamt|line|net|gross)_"
)
_PLAIN_AMOUNT = re.compile(
    r"_(?:amount|amt|sales_value|spend|spent|dollars|betrag|montant|importe|importo|valor|umsatz|total_amount|amount_paid"
    r"|purchaseamount|totale|monto|summe|sales)_|金額|金额|금액|税込|代金|实付"
)


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
    scorers: tuple[tuple[Role, Callable[[Column], float]], ...] = (
        (Role.DATE, _date_score),
        (Role.TIME, _time_score),
        (Role.INVOICE, lambda column: _invoice_score(column, head, customer)),
        (Role.PRICE, _price_score),
        (Role.QUANTITY, _quantity_score),
        (Role.ITEM, lambda column: _item_score(column, head)),
        (Role.DESCRIPTION, _description_score),
    )
    for role, score in scorers:
        best, highest = None, (0.0, 0)
        for column in plain:
            if column.name in roles or not fits(role, column):
                continue
            said = score(column)
            # of several items the finer: departments and groups are called products too
            rank = (said, Repeats.of(head[column.name]).distinct if role == Role.ITEM and said else 0)
            if rank > highest:
                best, highest = column.name, rank
        if best is not None:
            roles[best] = role
            scores[role] = highest[0]
    _settle_item(roles, scores)
    _settle_quantity(roles, plain, head)
    return roles


def _settle_item(roles: dict[str, Role], scores: dict[str, float]) -> None:
    """Let a description be the item where no product is named otherwise."""
    named = {role: name for name, role in roles.items()}
    if Role.DESCRIPTION in named and scores.get(Role.ITEM, 0.0) < _SURE_ITEM:
        if Role.ITEM in named:
            del roles[named[Role.ITEM]]
        roles[named[Role.DESCRIPTION]] = Role.ITEM


def _settle_quantity(roles: dict[str, Role], columns: Sequence[Column], head: pl.DataFrame) -> None:
    """Take whole numbers called *amount* for pieces where another column is the price and mostly the larger."""
    named = {role: name for name, role in roles.items()}
    if Role.QUANTITY in named or Role.PRICE not in named:
        return
    for column in columns:
        if column.name in roles or spelled(column.name) != "_amount_" or not fits(Role.QUANTITY, column):
            continue
        amount, price = (head[n].cast(pl.Float64, strict=False) for n in (column.name, named[Role.PRICE]))
        if float((amount < price).mean() or 0.0) > 0.5:  # type: ignore[arg-type]
            roles[column.name] = Role.QUANTITY


# --- how well a name says a role -------------------------------------------------------------------------------------


def _date_score(column: Column) -> float:
    name = column.name
    if says(name, Hint.BIRTH):
        return 0.0
    of_purchase = says(name, Hint.ORDER, Hint.EVENT)
    if says(name, Hint.OTHER_DATE):
        return 1.0 if of_purchase else 0.0
    if of_purchase:
        return 4.0
    return 2.0 if says(name, Hint.DATE) else 1.5


def _time_score(column: Column) -> float:
    return 2.0 if says(column.name, Hint.TIME) else 1.0


def _invoice_score(column: Column, head: pl.DataFrame, customer: str | None) -> float:
    name = column.name
    if naming_of(column, head[name]) is not None or _COUNTS_OF.search(spelled(name)):
        return 0.0
    numbered = says(name, Hint.NUMBER)
    by_order = last_said(name, *_OF_SOMETHING) == Hint.ORDER
    by_event = numbered and says(name, Hint.EVENT) and not says(name, *_OF_SOMETHING)
    money = says(name, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUANTITY) or (by_order and says(name, Hint.TOTAL))
    if not (by_order or by_event) or money:
        return 0.0
    if says(
        name, Hint.QUALITY, Hint.DATE, Hint.CALENDAR, Hint.ADDRESS, Hint.DESCRIPTION, Hint.KIND_OF_GOODS, Hint.NAME
    ):
        return 0.0
    under = customer is not None and belongs(head, name, customer)
    return 2.0 + numbered + 3.0 * under


def _price_score(column: Column) -> float:
    name = column.name
    if spelled(name) in ("_rate_", "_unit_rate_"):
        return 2.0  # what bills in India call the price; a rate of something is none
    if says(name, Hint.NO_PRICE, Hint.QUANTITY, Hint.DATE, Hint.CALENDAR, Hint.ATTRIBUTE, Hint.BIRTH):
        return 0.0
    if says(name, Hint.NUMBER):
        return 0.0
    if says(name, Hint.UNIT_PRICE):
        return 4.0 if _FULL_PRICE.search(spelled(name)) else 5.0
    if says(name, Hint.TOTAL):
        return 3.0 if _PLAIN_AMOUNT.search(spelled(name)) else 2.0
    return 0.0


def _quantity_score(column: Column) -> float:
    name = column.name
    if _NUMBERS_OF.search(spelled(name)):
        return 3.0
    if says(name, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.DATE, Hint.CALENDAR, Hint.BUYER, Hint.HOUSEHOLD, Hint.PERSON):
        return 0.0
    if not says(name, Hint.QUANTITY):
        return 0.0
    return 1.0 if last_said(name, Hint.ORDER, Hint.GOODS) == Hint.ORDER else 3.0


def _item_score(column: Column, head: pl.DataFrame) -> float:
    name = column.name
    if naming_of(column, head[name]) is not None:
        return 0.0
    if says(
        name, Hint.DATE, Hint.CALENDAR, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUANTITY, Hint.PLACE, Hint.DESCRIPTION
    ):
        return 0.0
    numbered, goods = says(name, Hint.NUMBER), says(name, Hint.GOODS)
    if says(name, Hint.KIND_OF_GOODS):
        return 1.5 if goods else 1.0
    if says(name, Hint.NAME) or (says(name, Hint.QUALITY) and not says(name, Hint.WORK)):
        return 0.0
    of = last_said(name, *_OF_SOMETHING)
    if goods and of == Hint.GOODS:
        if says(name, Hint.ORDER):
            return 0.5  # the line of an order
        return 0.0 if spelled(name) == "_stock_" else 4.0 + numbered
    if of == Hint.WORK and not says(name, Hint.ORDER, Hint.BUYER):
        return 2.0 + numbered
    return 0.0


def _description_score(column: Column) -> float:
    name = column.name
    if spelled(name) == "_title_":
        return 2.0
    if says(name, Hint.BUYER, Hint.PLACE, Hint.KIND_OF_GOODS, Hint.PERSON, Hint.ORDER):
        return 0.0
    goods = says(name, Hint.GOODS, Hint.WORK)
    if says(name, Hint.DESCRIPTION):
        return 4.0 if goods else 3.0
    if spelled(name) == "_title_":
        return 2.5  # of the book or the film that a number names
    return 3.5 if says(name, Hint.GOODS) and (says(name, Hint.NAME) or "_title_" in spelled(name)) else 0.0


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
    found = identifying_columns(with_roles, head, customer=customer)
    named = {name for name in found if roles.get(name, Role.OTHER) in (Role.OTHER, Role.INVOICE, Role.DESCRIPTION)}
    roles = roles | dict.fromkeys(named, Role.IDENTIFIER)
    asked = [
        one.question(roles[name], dict.fromkeys((Role.IDENTIFIER, Role.OTHER, roles[name])))
        for name, one in found.items()
        if not one.sure or name not in named
    ]
    described = []
    for column in columns:
        role = roles.get(column.name, Role.OTHER)
        update: dict[str, object] = {"role": role}
        if role in (Role.CUSTOMER, Role.INVOICE, Role.ITEM, Role.DESCRIPTION):
            # numbers that name something are names: customers 007 and 7 are different people
            update |= {"type": ValueType.TEXT, "width": None, "format": None, "number": None}
        if role == Role.QUANTITY and column.number is None and _whole(head[column.name]):
            update["type"] = ValueType.INTEGER
        if role == Role.PRICE and column.type == ValueType.INTEGER:
            update |= {"type": ValueType.DECIMAL, "width": 1.0}
        described.append(column.model_copy(update=update))
    return described, asked


def _whole(values: pl.Series) -> bool:
    """Tell whether every number is written as a whole one, if only as 12.0; 1e3 is not."""
    if values.dtype != pl.String:
        return True
    return bool(filled(values).str.replace(r"\.0+$", "").str.contains(INTEGER).all())


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
