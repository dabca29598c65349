"""Purchases recognised by two or three cells: the sample attacks S1 to S6 of PWS Cup 2017."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.attacks.assignment import PAIRS_BY_PERIOD, pairs_of
from noren.attacks.by_period import AttackByPeriod, require_columns
from noren.data.arrays import exact_values, numbered, physical, text_bytes, text_views
from noren.data.cells import is_generalised
from noren.data.formats.render import cell_text
from noren.data.frames import History
from noren.data.periods import in_order
from noren.data.schema import Column, Role, ValueType
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.kernels.linkage.last_match import (
    NO_ROW,
    Sides,
    days_seen,
    first_letters,
    joint_key,
    last_match,
    looked_up,
    settled,
    whole_steps,
)
from noren.progress import Progress, silent
from noren.protocols import OTHER_ROWS, Guess, Recoding

ITEM_LETTERS = 2
"""What the attackers of 2017 were told of an item: its first two characters."""


class Signature(AttackByPeriod):
    """Recognise purchases by a key of two or three cells, and name a pseudonym per customer and period.

    The attacker knows purchases, all or some, items perhaps by their first two characters alone. Anyone who bought
    three on the 5th is the pseudonym that bought three on the 5th: each key leads to the pseudonym of the last public
    row that carries it, and the last known row that leads anywhere decides its customer's period. The period is that of
    the known row; a key without a date may lead to a pseudonym of another period. Cells are compared as text, as files
    spell them (``3.8`` is not ``3.80``), so a generalised cell matches nothing.

    Each answer stands as the contest's programs give it, cell by cell. Its score is ours: the share of the customer's
    known rows in that period that lead to the pseudonym named.

    References
    ----------
    S3; the judges' programs of PWS Cup 2017. For S6 their sheet says price, their program quantity: as the program.
    """

    source = "S3 (PWS Cup 2017)"
    key: ClassVar[tuple[Role, ...]]
    """The columns that rows are recognised by; a date is needed besides, to tell which period an answer is for."""
    cost = 0.1
    sees_through = OTHER_ROWS | {Recoding.CHANGING_PSEUDONYMS}

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name a pseudonym for each customer and period of the known rows; nothing is drawn at random."""
        progress(0.0, _("comparing rows"))
        columns = [original.schema.role(role) for role in self.key]
        require_columns(public, columns)
        # numbers that are equal exactly where the cells' texts are
        seen, known = joint_key([part for column in columns for part in _parts(public, original, column)])
        public, seen = _filled(public, seen, self.key)
        original, known = _filled(original, known, (*self.key, Role.DATE))
        if not len(public) or not len(original):
            return Guess(
                self.name, pl.DataFrame(schema=PAIRS_BY_PERIOD), {"matched_rows": 0, "known_rows": len(original)}
            )
        matches = last_match(seen, known)
        progress(0.7, _("assigning pseudonyms"))
        # the pseudonym that each known row leads to as a number, and a public row that shows each number's
        led_to = np.zeros(len(public) + 1, bool)
        led_to[matches] = True  # NO_ROW marks the place behind the last
        rows_shown = np.flatnonzero(led_to[:-1])
        number = np.full(len(public) + 1, NO_ROW, np.int64)
        number[rows_shown], first = numbered(public[Role.CUSTOMER][rows_shown].cast(pl.String))
        answer, released_rows = number[matches], rows_shown[first]
        whose, first = numbered(original[Role.CUSTOMER].cast(pl.String))
        customers = original[Role.CUSTOMER][first]
        # the period of each known row as a number; days are few, and each is named once
        days = physical(exact_values(original, original.schema.role(Role.DATE)).cast(pl.Date)).to_numpy()
        earliest, seen_days = days_seen(days)
        once = np.flatnonzero(seen_days)
        names = self.periods(pl.Series(once + earliest, dtype=pl.Int32).cast(pl.Date)).to_list()
        periods = in_order(name for name in dict.fromkeys(names) if name is not None)
        place = {name: at for at, name in enumerate(periods)}
        of_day = np.full(len(seen_days), NO_ROW, np.int64)
        of_day[once] = [place.get(name, NO_ROW) for name in names]
        when = looked_up(days, earliest, of_day)
        last, agreeing, rows = settled(whose, when, answer, (len(customers), len(periods)))
        customer, period = np.nonzero(last != NO_ROW)
        share = agreeing[customer, period] / rows[customer, period]
        places = np.empty(len(customers), np.int64)
        places[customers.arg_sort().to_numpy()] = np.arange(len(customers))
        order = np.lexsort((period, places[customer], -share))
        customer, period = customer[order], period[order]
        pseudonyms = public[Role.CUSTOMER][released_rows[last[customer, period]]]
        pairs = pairs_of(pseudonyms, customers[customer], share[order], pl.Series(periods, dtype=pl.String)[period])
        notes = {"matched_rows": int(np.count_nonzero(matches != NO_ROW)), "known_rows": len(matches)}
        return Guess(self.name, pairs, notes)


class S1(Signature):
    """Recognise purchases by date and quantity.

    Examples
    --------
    Ann is the one who bought three on 12/5. Both rows of December 6 carry Bob's key, and the last one wins.

    >>> from noren.data.schema import Schema
    >>> def history(customers, days, quantities):
    ...     rows = {"customer": customers, "date": [f"2010/12/{day}" for day in days], "item": "a",
    ...             "price": 1.0, "quantity": quantities}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "bob"], [5, 6], [3, 1])
    >>> guess = S1().attack(known, history(["7", "8", "9"], [5, 6, 6], [3, 1, 1]), seed=1)
    >>> guess.pairs.select("pseudonym", "customer", "period").rows()
    [('7', 'ann', '2010/12'), ('9', 'bob', '2010/12')]
    """

    name = "s1"
    summary = N_("Recognises purchases by date and quantity, month by month.")
    key = (Role.DATE, Role.QUANTITY)
    roles = (Role.DATE, Role.QUANTITY)
    sees_through = Signature.sees_through | {Recoding.RENAMED_ITEMS}


class S2(Signature):
    """Recognise purchases by the item's first two characters and the price."""

    name = "s2"
    summary = N_("Recognises purchases by the item's first two characters and price, month by month.")
    key = (Role.ITEM, Role.PRICE)
    roles = (Role.ITEM, Role.PRICE, Role.DATE)
    sees_through = OTHER_ROWS | {Recoding.NOISED_DATES}


class S3(Signature):
    """Recognise purchases by the item's first two characters and the quantity."""

    name = "s3"
    summary = N_("Recognises purchases by the item's first two characters and quantity, month by month.")
    key = (Role.ITEM, Role.QUANTITY)
    roles = (Role.ITEM, Role.QUANTITY, Role.DATE)
    sees_through = OTHER_ROWS | {Recoding.NOISED_DATES}


class S4(Signature):
    """Recognise purchases by the item's first two characters and the date."""

    name = "s4"
    summary = N_("Recognises purchases by the item's first two characters and date, month by month.")
    key = (Role.ITEM, Role.DATE)
    roles = (Role.ITEM, Role.DATE)
    sees_through = Signature.sees_through | {Recoding.NOISED_NUMBERS}


class S5(Signature):
    """Recognise purchases by the item's first two characters, the price and the quantity."""

    name = "s5"
    summary = N_("Recognises purchases by the item's first two characters, price and quantity, month by month.")
    key = (Role.ITEM, Role.PRICE, Role.QUANTITY)
    roles = (Role.ITEM, Role.PRICE, Role.QUANTITY, Role.DATE)
    sees_through = OTHER_ROWS | {Recoding.NOISED_DATES}


class S6(Signature):
    """Recognise purchases by the item's first two characters, the date and the quantity."""

    name = "s6"
    summary = N_("Recognises purchases by the item's first two characters, date and quantity, month by month.")
    key = (Role.ITEM, Role.DATE, Role.QUANTITY)
    roles = (Role.ITEM, Role.DATE, Role.QUANTITY)


def key_texts(history: History, columns: list[Column]) -> list[pl.Series]:
    """Return the texts that rows are recognised by: those of the cells, of items what an attacker was told."""
    texts = [_text(history, column) for column in columns]
    cut = [column.role == Role.ITEM for column in columns]
    return [text.str.head(ITEM_LETTERS) if short else text for text, short in zip(texts, cut, strict=True)]


# --- keys as numbers ---------------------------------------------------------------------------------------


def _parts(public: History, known: History, column: Column) -> list[Sides]:
    """Return one column of the public rows and of the known ones as numbers.

    The text of an exact cell is canonical or one of the few that its file spells otherwise. A canonical text stands for
    one value and an odd one is no value's canonical text, so texts are equal where value and odd text are.
    """
    sides = public.frame[column.name], known.frame[column.name]
    if column.role == Role.ITEM:
        released, ours = (_first_characters(_text(side, column)) for side in (public, known))
        return [(released, ours)]
    if column.type == ValueType.TEXT or any(is_generalised(side.dtype) for side in sides):
        codes = _text_codes(pl.concat([_text(public, column), _text(known, column)]))
        return [(codes[: len(public)], codes[len(public) :])]
    left, right = map(physical, sides)
    if left.dtype.is_integer() and right.dtype.is_integer():
        parts = [(_plain(left), _plain(right))]
    else:
        prices = _plain(left.cast(pl.Float64)), _plain(right.cast(pl.Float64))
        parts = [whole_steps(prices, max(1, round(1 / column.grid)))]
    odd = [
        texts.select(pl.col("row").cast(pl.Int64) + start, "text")
        for history, start in ((public, 0), (known, len(public)))
        if (texts := history.spelling.exceptions.get(column.name)) is not None
    ]
    if odd and len(spelled := pl.concat(odd)):
        codes = np.full(len(public) + len(known), NO_ROW, np.int64)
        codes[spelled["row"].to_numpy()] = _text_codes(spelled["text"])
        parts.append((codes[: len(public)], codes[len(public) :]))
    return parts


def _plain(values: pl.Series) -> NDArray[Any]:
    """Return numbers as they lie in memory, 0 for none; rows without a value are left out later."""
    return (values.fill_null(0) if values.null_count() else values).to_numpy()


def _text(history: History, column: Column) -> pl.Series:
    frame = history.frame
    if frame.schema[column.name] == pl.String and column.name not in history.spelling.exceptions:
        return frame[column.name]
    canonical = frame.select(cell_text(pl.col(column.name), column, frame.schema[column.name]).alias(column.name))
    return history.spelling.apply(canonical)[column.name]


def _first_characters(items: pl.Series) -> Whole:
    """Return the first two characters of texts as numbers."""
    length_and_start = text_views(items)[0].view(np.int64)
    start = length_and_start >> 32
    if items.null_count() or (start & 0x8080).any():  # a character of several bytes
        return first_letters(*text_bytes(items), ITEM_LETTERS)
    first, second = start & 0xFF, start >> 8 & 0xFF
    letters: Whole = np.where(length_and_start & 0xFFFFFFFE, first << 8 | second, first)
    return letters


def _text_codes(texts: pl.Series) -> Whole:
    """Return texts as numbers that are equal where the texts are."""
    return texts.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(NO_ROW).to_numpy()


def _filled(history: History, keys: Whole, roles: tuple[Role, ...]) -> tuple[History, Whole]:
    """Leave out rows without a customer or a part of the key: deleted rows and suppressed cells match nothing."""
    names = [history.schema.role(role).name for role in (Role.CUSTOMER, *roles)]
    if not any(history.frame[name].null_count() for name in names):
        return history, keys
    rows = history.frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series().arg_true()
    return history.take(rows), keys[rows.to_numpy()]
