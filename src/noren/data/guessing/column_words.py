"""Hints in column names: words for people, orders, goods and money.

Names come in English, German, French, Spanish, Italian, Portuguese, Dutch, Japanese, Chinese and Korean, in camelCase,
in snake_case and cut short (``cust_id``, ``Kundennr``, ``顧客コード``). A name is first spelled in one way, its words
between underscores (:func:`spelled`); then a word counts only where it stands by itself or with a word for *number*
behind it, so that ``cardio`` is no card and ``discount`` no count. Chinese, Japanese and Korean put no space between
words: theirs count wherever they stand.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from enum import StrEnum

from noren.tables import table_of

Hint = StrEnum(
    "Hint",
    "BUYER HOUSEHOLD CARD CONTACT PERSON NUMBER NAME ATTRIBUTE QUALITY PLACE ORDER EVENT DATE BIRTH OTHER_DATE "
    "CALENDAR TIME GOODS WORK LATITUDE LONGITUDE KIND_OF_GOODS DESCRIPTION UNIT_PRICE TOTAL NO_PRICE QUANTITY "
    "SENSITIVE ADDRESS",
)
"""What a word in a name is about; ``column_words.toml`` has the words of each."""


def _choice(words: str) -> str:
    return "|".join(words.split())


_WORDS = table_of(__name__)
_NUMBER, _SECOND_HALVES = _choice(_WORDS["numbers"]), _choice(_WORDS["second_halves"])
_LATIN = {Hint(hint): _choice(words) for hint, words in _WORDS["latin"].items()} | {Hint.NUMBER: _NUMBER}
_CJK = {Hint(hint): _choice(words) for hint, words in _WORDS["cjk"].items()}
_FIRST_HALVES = "|".join(_LATIN[word] for word in (Hint.BUYER, Hint.PERSON, Hint.ORDER, Hint.EVENT, Hint.GOODS))
_COMPOUND = re.compile(f"_({_FIRST_HALVES}|unit|total|net|gross|gesamt|einzel)({_SECOND_HALVES}|{_NUMBER})(?=_)_")
"""Two words written together: Bestelldatum, orderdate, customername."""

_CODES = {
    kind: re.compile(f"(?<![a-z])(?:{_choice(words)})(?:_?(?:{_NUMBER}|{_CJK[Hint.NUMBER]}))?_$".casefold())
    for kind, words in _WORDS["codes"].items()
}
_FEW_CODES = 100


@functools.cache
def _pattern(word: Hint) -> re.Pattern[str]:
    # a word by itself, or written together with a word for number: userid, kundennr
    closing = "" if word == Hint.NUMBER else f"(?:{_NUMBER})?"
    latin = [f"_(?:{_LATIN[word]}){closing}_"] if word in _LATIN else []
    cjk = [_CJK[word].casefold()] if word in _CJK else []
    return re.compile("|".join(latin + cjk))


@functools.cache
def spelled(name: str) -> str:
    """Return the words of a column's name in lower case, without accents, each between underscores.

    >>> spelled("CustomerID"), spelled("N° de commande"), spelled("会員ＩＤ"), spelled("Bestelldatum")
    ('_customer_id_', '_n_de_commande_', '_会員_id_', '_bestell_datum_')
    """
    # Latin letters lose their accents; other signs stay, for が is not か
    plain = unicodedata.normalize("NFKC", name).replace("ß", "ss")
    plain = re.sub("[\u00c0-\u024f]", lambda sign: unicodedata.normalize("NFD", sign[0])[0], plain)
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    # 会員ID: where the script changes, a word ends
    plain = re.sub(r"(?<=[^\x00-\x7f])(?=[A-Za-z])|(?<=[A-Za-z])(?=[^\x00-\x7f])", "_", plain)
    words = "_" + re.sub(r"[\W_]+", "_", plain.casefold()).strip("_") + "_"
    return _COMPOUND.sub(r"_\1_\2_", words)


@functools.cache
def says(name: str, *words: Hint) -> bool:
    """Tell whether a column's name has one of ``words``.

    >>> says("Kundennr", Hint.BUYER), says("cardio", Hint.CARD), says("order_customer_id", Hint.ORDER, Hint.GOODS)
    (True, False, True)
    """
    text = spelled(name)
    return any(_pattern(word).search(text) for word in words)


@functools.cache
def last_hint(name: str, *words: Hint) -> Hint | None:
    """Return which of ``words`` a name ends with, as far as it has them: what it is a name *of*.

    >>> last_hint("order_customer_id", Hint.ORDER, Hint.BUYER), last_hint("customer_order_id", Hint.ORDER, Hint.BUYER)
    (<Hint.BUYER: 'buyer'>, <Hint.ORDER: 'order'>)
    """
    text = spelled(name)
    places = []
    for word in words:
        matches = (_pattern(word).match(text, at) for at in reversed(range(len(text))))
        places += [(match.end(), word) for match in itertools.islice(filter(None, matches), 1)]
    return max(places, key=lambda place: place[0])[1] if places else None


def is_bare(name: str, word: Hint) -> bool:
    """Tell whether a name is one word and no more.

    >>> is_bare("Customer", Hint.BUYER), is_bare("customer_group", Hint.BUYER)
    (True, False)
    """
    text = spelled(name)
    return _pattern(word).fullmatch(text) is not None or text.strip("_") in _CJK.get(word, "").split("|")


def is_bare_id(name: str) -> bool:
    """Tell whether a name says that values are numbers of something, and not of what.

    >>> is_bare_id("ID"), is_bare_id("shop_id")
    (True, False)
    """
    return re.fullmatch(r"_(?:row_)?(?:id|ids|uid|uuid|guid|pid|identifier)_", spelled(name)) is not None


def is_code(name: str, distinct: int) -> bool:
    """Tell whether whole numbers of so many different values are codes by their name: no sum of them means anything.

    >>> is_code("ZIP", 9_000), is_code("home_state_id", 50), is_code("state", 9_000), is_code("sex_ratio", 2)
    (True, True, False, False)
    """
    kinds = ("postal", "few") if distinct <= _FEW_CODES else ("postal",)
    return any(_CODES[kind].search(spelled(name)) for kind in kinds)
