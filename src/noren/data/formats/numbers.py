"""Numbers as people write them: ``1,280``, ``1.249,00``, ``¥1,280``, ``(5.00)``, ``１，２８０円``, ``12.5%``.

A column writes its numbers in one way, and a schema names that way by an example, ``number = "1.234,56"``: which sign
groups the thousands, which one starts the fraction, and whether a percent sign follows. Around the digits every way
allows a currency (``$5``, ``5 EUR``, ``1,280円``), brackets or a sign for negative numbers, spaces, and full-width
signs. A group has three digits, so ``1,28`` is no number where commas group; what does not fit is never guessed at.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

__all__ = [
    "CURRENCIES",
    "INTEGER",
    "NUMBER",
    "NUMBER_FORMATS",
    "NumberFormat",
    "currencies_of",
    "decimal_text",
    "fitting_formats",
    "number_format",
    "number_text",
    "number_value",
    "plain_signs",
]

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
INTEGER = r"^[+-]?[0-9]{1,18}$"

_GROUPED = ("1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56")
NUMBER_FORMATS = (*_GROUPED, *(f"{example}%" for example in _GROUPED))
"""The ways to write numbers, each named by an example."""

CURRENCIES = (
    *("US$", "A$", "C$", "HK$", "NT$", "R$", "S$", "¥", "$", "€", "£", "₩", "₹", "₽", "฿", "₫", "₱", "₺", "₪", "₴"),
    *("円", "元", "圓", "원", "ドル", "ユーロ", "zł", "Kč", "kr", "Fr.", "Ft"),
    *("JPY", "USD", "EUR", "GBP", "CNY", "RMB", "KRW", "TWD", "HKD", "SGD", "THB", "VND", "INR", "IDR", "PHP", "MYR"),
    *("AUD", "CAD", "NZD", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "TRY", "ILS", "RUB", "UAH", "ZAR"),
    *("BRL", "MXN", "ARS", "CLP", "COP", "AED", "SAR", "EGP", "NGN", "KES"),
)
"""Signs, words and codes of money that may stand before or after a number."""

# full-width forms of ASCII, and the spaces, dashes and apostrophes of typesetting
_FOREIGN = {
    **{chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)},
    **dict.fromkeys("\u3000\u00a0\u2007\u2009\u202f", " "),
    **dict.fromkeys("\u2212\u2010\u2011", "-"),
    **dict.fromkeys("\u2019\u02bc", "'"),
    "￥": "¥",
    "￡": "£",
    "￦": "₩",
}
_MONEY = "|".join(re.escape(sign) for sign in sorted(CURRENCIES, key=len, reverse=True))


@dataclass(frozen=True)
class NumberFormat:
    """Which sign groups thousands, which one starts the fraction, and whether the numbers are percentages."""

    name: str
    group: str
    point: str
    percent: bool

    @property
    def agrees_with_plain(self) -> bool:
        """Whether a number written plainly (``1234.5``) means the same in this way."""
        return self.point == "." and not self.percent


@functools.cache
def number_format(name: str) -> NumberFormat:
    """Return the way to write numbers that an example names.

    >>> number_format("1.234,56")
    NumberFormat(name='1.234,56', group='.', point=',', percent=False)
    """
    return NumberFormat(name, group=name[1], point=name[5], percent=name.endswith("%"))


def plain_signs(text: pl.Expr) -> pl.Expr:
    """Return texts with full-width letters, digits and signs as ASCII, and every kind of space as one.

    >>> pl.select(plain_signs(pl.lit("１，２８０円"))).item()
    '1,280円'
    """
    return text.str.replace_many(list(_FOREIGN), list(_FOREIGN.values())).str.strip_chars(" \t")


def number_value(text: pl.Expr, name: str) -> pl.Expr:
    """Return numbers as plain text (``-1249.5``, a percentage as ``12.5e-2``), null where they are written otherwise.

    >>> pl.select(number_value(pl.lit("(¥1,280)"), "1,234.56")).item()
    '-1280'
    """
    way = number_format(name)
    group, point = re.escape(way.group), re.escape(way.point)
    between = "[0-9]{2,3}" if way.group == "," else "[0-9]{3}"  # in India 1,00,000
    digits = rf"([0-9]{{1,3}}(?:{group}{between})*{group}[0-9]{{3}}|[0-9]+)?({point}[0-9]*)?"
    money = rf"(?:{_MONEY})?"
    percent = " ?%" if way.percent else ""
    cell = rf"^([+-]?) ?{money} ?([+-]?) ?{digits}(?:[eE]([+-]?[0-9]{{1,3}}))?{percent} ?{money}(-?)$"
    bare = plain_signs(text)
    bracketed = bare.str.contains(r"^\(.*\)$")
    inside = pl.when(bracketed).then(bare.str.strip_chars("() ")).otherwise(bare)
    parts = inside.str.extract_groups(cell)
    whole = parts.struct.field("3").fill_null("").str.replace_all(way.group, "", literal=True)
    fraction = parts.struct.field("4").fill_null("").str.slice(1)
    signs = pl.concat_str(
        parts.struct.field("1"), parts.struct.field("2"), parts.struct.field("6"), ignore_nulls=True
    ).str.strip_chars("+")
    power = parts.struct.field("5").cast(pl.Int32, strict=False).fill_null(0) - (2 if way.percent else 0)
    minus = pl.when((signs == "-") | bracketed).then(pl.lit("-")).otherwise(pl.lit(""))
    value = pl.concat_str(
        minus,
        pl.when(whole == "").then(pl.lit("0")).otherwise(whole),
        pl.when(fraction == "").then(pl.lit("")).otherwise(pl.concat_str(pl.lit("."), fraction)),
        pl.when(power != 0).then(pl.concat_str(pl.lit("e"), power)).otherwise(pl.lit("")),
    )
    good = (
        ((whole != "") | (fraction != ""))
        & (signs.str.len_chars() <= 1)
        & ~(bracketed & (signs == "-"))
        & (bracketed | ~bare.str.contains(r"[()]"))
    )
    return pl.when(good).then(value)


def currencies_of(texts: pl.Series) -> set[str]:
    """Return the kinds of money that a column names, each in one spelling."""
    found = (
        texts.to_frame("text")
        .select(plain_signs(pl.col("text")).str.extract_all(_MONEY).list.explode(empty_as_null=False).drop_nulls())
        .to_series()
        .unique()
    )
    same = {
        "円": "¥",
        "JPY": "¥",
        "USD": "$",
        "US$": "$",
        "ドル": "$",
        "EUR": "€",
        "ユーロ": "€",
        "GBP": "£",
        "원": "₩",
    }
    return {same.get(sign, sign) for sign in found}


def number_text(value: pl.Expr, name: str) -> pl.Expr:
    """Write numbers so that :func:`number_value` reads them back, without groups.

    A fraction of three digits gets a fourth where it could be taken for a group: ``1,2490``.

    >>> pl.select(number_text(pl.lit(-1.249), "1.234,56")).item()
    '-1,2490'
    """
    way = number_format(name)
    plain = _percent_text(value) if way.percent else decimal_text(value.cast(pl.Float64))
    if way.point == ",":
        plain = plain.str.replace(r"^([+-]?[1-9][0-9]{0,2}\.[0-9]{3})$", "${1}0").str.replace(".", ",", literal=True)
    return pl.concat_str(plain, pl.lit("%")) if way.percent else plain


def _percent_text(value: pl.Expr) -> pl.Expr:
    """Write a share in percent with the fewest digits that read back as itself."""
    times = value * 100
    tidy = decimal_text(times.round(10))
    same = pl.concat_str(tidy, pl.lit("e-2")).cast(pl.Float64, strict=False) == value
    return pl.when(same).then(tidy).otherwise(decimal_text(times))


def decimal_text(value: pl.Expr) -> pl.Expr:
    """Write a number with the fewest digits that read back as itself: 2.1, 3, 0.001."""
    plain = value.cast(pl.String).str.strip_suffix(".0")
    # shortest notation turns to exponents for small and large numbers; there, fixed notation where it says the same
    small = value.cast(pl.Decimal(38, 12), strict=False).cast(pl.String).str.strip_chars_end("0").str.strip_suffix(".")
    fixed = pl.when(value.abs() < 1).then(small).otherwise(value.cast(pl.Int64, strict=False).cast(pl.String))
    same = plain.str.contains("e", literal=True) & (fixed.cast(pl.Float64, strict=False) == value)
    return pl.when(same).then(fixed).otherwise(plain)


def fitting_formats(texts: pl.Series) -> Sequence[str]:
    """Return the ways in which every one of some filled texts is a number, the likeliest first.

    >>> fitting_formats(pl.Series(["1.249,50"])), fitting_formats(pl.Series(["1,280"]))
    (('1.234,56',), ('1,234.56', '1.234,56', '1 234,56'))
    """
    percent = texts.str.contains(r"[%％]").any()
    names = [name for name in NUMBER_FORMATS if name.endswith("%") == percent]
    frame = texts.to_frame("text")
    # a few texts rule most ways out
    head = frame.head(50).select(number_value(pl.col("text"), name).is_not_null().all().alias(name) for name in names)
    names = [name for name in names if head[name][0]]
    if not names:
        return ()
    whole = frame.select(number_value(pl.col("text"), name).is_not_null().all().alias(name) for name in names)
    return tuple(name for name in names if whole[name][0])
