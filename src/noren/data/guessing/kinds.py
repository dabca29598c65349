"""Decision whether rows are purchases or people, and which column is the customer.

A wrong answer counts the wrong people: where rows of purchases are taken for people, k counts rows. So what the file
tells clearly is taken, and what could go either way is asked, with its evidence, before anything is protected.

Rows are purchases where a customer's number comes again and something bought stands beside it, and people where a
number does not come again or nobody is numbered and nothing is bought.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from noren.data.formats.parse import holds_plain_values
from noren.data.guessing import Answer, Question
from noren.data.guessing.column_words import Hint, is_bare_id, says
from noren.data.guessing.people import (
    Naming,
    PeopleColumn,
    Repeats,
    belongs,
    may_name,
    not_overruled,
    people_columns,
    unnamed_people_columns,
    varies_within,
)
from noren.data.guessing.roles import bought_by_shape, fits, roles_by_position, shop_roles
from noren.data.schema import ONLY_IN_HISTORIES, Column, Kind, Role, ValueType
from noren.errors import SchemaError, listing, suggestion
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

_FEW_REPEATS = 1.05
"""Below so many rows a value, repeats may be accidents: a person entered twice."""
_FEWEST_ORDERS = 10
_FEWEST_ROWS = 10
_FEW_COLUMNS = 4
_THINGS_BOUGHT = (Role.ITEM, Role.PRICE, Role.QUANTITY, Role.DATE)


@dataclass(frozen=True)
class KindDecision:
    """What rows are, the roles of their columns where they are purchases, with questions and notes for the user."""

    kind: Kind
    roles: dict[str, Role]
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()


def decide(
    columns: Sequence[Column],
    head: pl.DataFrame,
    *,
    kind: Kind | str | None = None,
    roles: Mapping[str, Role] | None = None,
) -> KindDecision:
    """Decide what the rows of ``head`` are.

    Parameters
    ----------
    kind, roles
        The user's decisions, of columns by their names: there is no question about them.
    """
    if kind is not None and kind not in set(Kind):
        raise SchemaError(say("unknown_kind", kind=kind, kinds=", ".join(Kind)))
    names, decided = {c.name: c for c in columns}, dict(roles or {})
    kind = Kind(kind) if kind else None
    for name, role in decided.items():
        if role in ONLY_IN_HISTORIES and kind == Kind.TABLE:
            raise SchemaError(say("role_of_purchases", role=role), value=name)
        if name not in names:
            raise SchemaError(say("data_no_column", name=name, hint=suggestion(name, names), names=listing([*names])))
        if not holds_plain_values(head[name]):
            raise SchemaError(say("not_plain_values", role=role), column=name)
        needed = Role.PRICE if role == Role.QUANTITY else role  # a number
        if needed in (Role.DATE, Role.TIME, Role.PRICE) and not fits(needed, names[name]):
            raise SchemaError(say("other_values", role=role, type=names[name].type), column=name)
    if kind is None and decided:
        bought = ONLY_IN_HISTORIES & set(decided.values())
        kind = Kind.HISTORY if bought else Kind.TABLE if {Role.QUASI, Role.SENSITIVE} & set(decided.values()) else None
    decision = _decide(columns, head, kind, decided)
    once = {role for role in decided.values() if role in ONLY_IN_HISTORIES}
    others = {name: role for name, role in decision.roles.items() if role not in once and name not in decided}
    return replace(decision, roles=others | decided) if decision.kind == Kind.HISTORY else decision


def _decide(
    columns: Sequence[Column], head: pl.DataFrame, kind: Kind | None, decided: Mapping[str, Role]
) -> KindDecision:
    customer = next((name for name, role in decided.items() if role == Role.CUSTOMER), None)
    if customer is not None:
        return _purchases(columns, head, customer, decided=decided)
    if kind == Kind.TABLE:
        return KindDecision(Kind.TABLE, {})
    columns = [column for column in columns if column.name not in decided]
    questions: tuple[Question, ...]
    if all(re.fullmatch(r"column\d+", c.name) for c in columns):
        placed = roles_by_position(columns, head, bought=kind == Kind.HISTORY)
        if placed:
            buyer = next(name for name, role in placed.items() if role == Role.CUSTOMER)
            questions = ()
            if kind is None and not Repeats.of(head[buyer]).repeated and len(head) >= _FEWEST_ROWS:
                questions = (_kind_question(say("single_rows", column=buyer), Kind.HISTORY),)
            return KindDecision(Kind.HISTORY, placed, questions)
    people = people_columns(columns, head)
    if kind == Kind.HISTORY:
        if people:
            chosen, questions = _customer(people, head, columns)
            return _purchases(columns, head, chosen.name, questions, decided)
        roles = shop_roles(columns, head, None)
        free = [c for c in columns if c.name not in roles]
        unnamed = unnamed_people_columns(free, head) or [
            PeopleColumn(c.name, Naming.BUYER, Repeats.of(head[c.name]))
            for c in free
            if holds_plain_values(head[c.name]) and may_name(c) and not says(c.name, Hint.ATTRIBUTE, Hint.PLACE)
        ]
        if not unnamed:
            raise SchemaError(say("no_customer"))
        questions = () if is_bare_id(unnamed[0].name) else (_customer_question(unnamed),)
        return _purchases(columns, head, unnamed[0].name, questions, decided)
    numbered = [column for column in people if column.naming not in (Naming.CONTACT, Naming.BUYERS_NAME)]
    buyers = [column for column in people if column.naming != Naming.PERSON]  # patients and pupils do not buy
    if buyers and (buyers[0] in numbered or not numbered):
        decision = _with_buyers(columns, head, buyers)
    elif numbered:
        decision = KindDecision(Kind.TABLE, {})
    else:
        decision = _with_nobody(columns, head)
    repeating = [column for column in not_overruled(numbered) if column.counted.repeated]
    if decision.kind == Kind.TABLE and not decision.questions and repeating:
        # patients, pupils, employees: people where each has one row, and a question where some have more
        return _undecided_kind(columns, head, repeating[0])
    return decision


# --- somebody who buys is named --------------------------------------------------------------------------------------


def _with_buyers(columns: Sequence[Column], head: pl.DataFrame, buyers: list[PeopleColumn]) -> KindDecision:
    chosen, questions = _customer(buyers, head, columns)
    roles = shop_roles(columns, head, chosen.name)
    there = set(roles.values())
    # a date is one of a purchase by its name
    ordered = any(role == Role.DATE and says(name, Hint.ORDER, Hint.EVENT) for name, role in roles.items())
    bought = ordered or there & {Role.ITEM, Role.INVOICE, Role.PRICE, Role.QUANTITY}
    if chosen.naming == Naming.CONTACT and len(there & {Role.ITEM, Role.INVOICE, Role.PRICE, Role.DATE}) < 2:
        return KindDecision(Kind.TABLE, {})  # families share a telephone
    if chosen.counted.each >= _FEW_REPEATS:
        others = [name for name, role in roles.items() if role != Role.CUSTOMER]
        varying = any(varies_within(head, chosen.name, name) for name in others)
        if bought and varying and there & set(_THINGS_BOUGHT):
            return _purchases(columns, head, chosen.name, questions)
        return _undecided_kind(columns, head, chosen)
    # (nearly) every customer has one row: purchases by their names, or a list of customers
    thing, money, day = there & {Role.ITEM, Role.INVOICE}, there & {Role.PRICE, Role.QUANTITY}, Role.DATE in there
    traits = any(says(c.name, Hint.ATTRIBUTE, Hint.BIRTH, Hint.SENSITIVE, Hint.CONTACT, Hint.ADDRESS) for c in columns)
    if thing and day and (money or not traits):
        decision = _purchases(columns, head, chosen.name, questions)
        notes = (say("one_row_each", column=chosen.name),) if len(head) > 1 else ()
        return replace(decision, notes=decision.notes + notes)
    if chosen.counted.repeated:
        return _undecided_kind(columns, head, chosen)
    if (thing and (money or day)) or (not traits and (thing or (day and money) or ordered)):
        return _undecided_kind(columns, head, chosen, say("single_rows", column=chosen.name))
    return KindDecision(Kind.TABLE, {})


def _undecided_kind(
    columns: Sequence[Column], head: pl.DataFrame, person: PeopleColumn, text: str = ""
) -> KindDecision:
    """Ask whether rows are purchases, by default because people come again.

    For now they are taken as purchases where something is bought, for that counts people.
    """
    if not text:
        counted = person.counted
        about = {"column": person.name, "repeated": counted.repeated}
        text = say("repeated_values", **about, values=counted.distinct, rows=counted.filled)
    roles = shop_roles(columns, head, person.name)
    possible = bool(set(roles.values()) & set(_THINGS_BOUGHT))
    kind = Kind.HISTORY if possible else Kind.TABLE
    return KindDecision(kind, roles if possible else {}, (_kind_question(text, kind),))


def _kind_question(text: str, chosen: Kind) -> Question:
    answers = (Answer("history", _("each row is a purchase")), Answer("table", _("each row is a person")))
    return Question("kind", text, chosen=str(chosen), answers=answers, stops=True)


# --- which of several is the customer --------------------------------------------------------------------------------


def _customer(
    people: list[PeopleColumn], head: pl.DataFrame, columns: Sequence[Column]
) -> tuple[PeopleColumn, tuple[Question, ...]]:
    """Choose who bought of the columns that name people, and ask where two could."""
    # the shop's own telephone stands in every row and names nobody
    people = [column for column in people if column.counted.distinct > 1 or column.naming != Naming.CONTACT] or people
    best = people[0]
    for other in people[1:]:
        more_rows = other.naming == best.naming and other.counted.each > best.counted.each
        if more_rows and _split(best, other, head) == "finer":
            best = other  # a number for each order, and one that comes again: Olist has both
    rivals = [
        column
        for column in people
        if column is not best
        and {column.naming, best.naming} <= {Naming.BUYER, Naming.HOUSEHOLD}
        and column.counted.repeated
        and not (column.naming == best.naming and _split(column, best, head) == "finer")
        and _split(column, best, head) != "same"
    ]
    if rivals:
        counts = {"first_values": best.counted.distinct, "second_values": rivals[0].counted.distinct}
        text = say("two_customers", first=best.name, second=rivals[0].name, **counts, rows=len(head))
        return best, (_customer_question([best, *rivals], text),)
    # a customer's number may be another name of the order's: every order has its own
    named = {role: name for name, role in shop_roles(columns, head, best.name).items()}
    order = named.get(Role.INVOICE)
    orders = None if order is None else Repeats.of(head[order])
    if order is None or orders is None or orders.distinct < _FEWEST_ORDERS or orders.each < _FEW_REPEATS:
        return best, ()
    if not (belongs(head, best.name, order) and belongs(head, order, best.name)):
        return best, ()
    text = say("customer_or_order", column=best.name, order=order)
    others = [column for column in people if column is not best and not belongs(head, column.name, order)]
    return best, (_customer_question([best, *others], text),)


def _split(column: PeopleColumn, other: PeopleColumn, head: pl.DataFrame) -> str:
    """Return how ``column`` splits rows compared with ``other``: ``same``, ``finer`` (nested in it) or ``across``."""
    pairs = ((column.name, other.name), (other.name, column.name))
    under, over = (belongs(head, *pair, slack=0.0) for pair in pairs)
    return "same" if under and over else "finer" if under else "across"


def _customer_question(people: Sequence[PeopleColumn], text: str = "") -> Question:
    """Ask which column is the customer, by default because none is named so; the first is chosen for now."""
    first, counted = people[0].name, people[0].counted
    text = text or say("unnamed_customer", column=first, values=counted.distinct, rows=counted.filled)
    answers = tuple(Answer(c.name, say("is_customer", column=c.name, values=c.counted.distinct)) for c in people)
    return Question("customer", text, chosen=first, answers=answers, column=first, stops=True)


# --- nobody who buys is named ----------------------------------------------------------------------------------------


def _with_nobody(columns: Sequence[Column], head: pl.DataFrame) -> KindDecision:
    roles = shop_roles(columns, head, None)
    there = set(roles.values())
    if not there & {Role.PRICE, Role.INVOICE} and sum(says(c.name, Hint.ATTRIBUTE, Hint.BIRTH) for c in columns) >= 2:
        # every row has an id of its own beside what people are like: a birthday, a sex, a race
        ids = [head[c.name] for c in columns if is_bare_id(c.name) and holds_plain_values(head[c.name])]
        if any(Repeats.of(values).distinct == len(head) > 1 for values in ids):
            return KindDecision(Kind.TABLE, {})
    thing = there & {Role.ITEM, Role.INVOICE}
    free = [c for c in columns if c.name not in roles]
    unnamed = unnamed_people_columns(free, head)
    if (thing and Role.DATE in there) or len(there & {Role.ITEM, Role.INVOICE, Role.PRICE, Role.QUANTITY}) >= 2:
        if unnamed:
            return _purchases(columns, head, unnamed[0].name, (_customer_question(unnamed),))
        bought = listing([name for name, role in roles.items() if role not in (Role.CUSTOMER, Role.OTHER)], most=4)
        return KindDecision(Kind.TABLE, {}, (_kind_question(say("bought_by_nobody", bought=bought), Kind.TABLE),))
    # Where rows tell what people are like, a number of theirs has one sex and one birthday each, and a code of anything
    # else does not. Elsewhere a number that repeats may be people's if dates or little else go with it.
    traits = [c.name for c in columns if says(c.name, Hint.ATTRIBUTE, Hint.BIRTH) and holds_plain_values(head[c.name])]
    varying = [name for name in traits if Repeats.of(head[name]).distinct > 1]
    nameless = not any(says(c.name, *Hint) for c in columns)
    likely = unnamed if Role.DATE in there or (nameless and len(columns) <= _FEW_COLUMNS) else []
    if varying:
        likely = [column for column in unnamed if any(belongs(head, column.name, name) for name in varying)]
    likely = [*(column for column in unnamed if is_bare_id(column.name)), *likely]
    return _undecided_kind(columns, head, likely[0]) if likely else KindDecision(Kind.TABLE, {})


# --- purchases -------------------------------------------------------------------------------------------------------


def _purchases(
    columns: Sequence[Column],
    head: pl.DataFrame,
    customer: str,
    questions: tuple[Question, ...] = (),
    decided: Mapping[str, Role] | None = None,
) -> KindDecision:
    """Return the roles of purchases whose customer is known."""
    roles, notes = shop_roles(columns, head, customer) | dict(decided or {}), list[str]()
    if not set(roles.values()) & set(_THINGS_BOUGHT):
        shaped = bought_by_shape([c for c in columns if c.name not in roles], head)
        roles |= shaped
        notes += [say("nothing_else_fits", column=name, role=role) for name, role in shaped.items()]
    if not set(roles.values()) & set(_THINGS_BOUGHT):
        raise SchemaError(say("no_purchase"))
    # what a reader might miss: numbers of days that are no dates, names that stand for items
    if Role.DATE not in roles.values():
        for column in columns:
            numbers = column.type == ValueType.INTEGER and column.name not in roles
            if numbers and says(column.name, Hint.DATE) and not says(column.name, Hint.TIME):
                values = head[column.name].cast(pl.Float64, strict=False)
                low, high = values.min(), values.max()
                if isinstance(low, float) and isinstance(high, float):
                    notes.append(say("numbers_no_dates", column=column.name, low=low, high=high))
    items = [name for name, role in roles.items() if role == Role.ITEM and says(name, Hint.DESCRIPTION)]
    notes += [say("nothing_else_fits", column=name, role=Role.ITEM) for name in items]
    return KindDecision(Kind.HISTORY, roles, questions, tuple(notes))
