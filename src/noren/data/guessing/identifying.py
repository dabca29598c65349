"""Detection of columns that identify people, by their names, values and structure.

A column that names people must not be released beside a pseudonym. Three kinds of evidence are weighed: the words of
the column's *name* ("Customer Name", 電話番号), the look of its *values* (an e-mail address, a card number whose check
digit is right, a name out of a list of common ones), and its *structure* (each customer has one value, and nobody else
has it). A finding is ``sure`` where somebody who holds the file would not doubt it: a release with such a column is
refused. An unsure one is a question.

The words, patterns and names lie in ``identifying.toml``. Values are counted on all rows; patterns look at a thousand
different values at most, so that the cost hardly grows with the rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from noren.data.guessing import Question, role_question
from noren.data.guessing.column_words import Hint, is_bare_id, says, spelled
from noren.data.guessing.people import Naming, filled, looks_like_ids, may_name, naming_of
from noren.data.schema import Column, Role, ValueType
from noren.i18n import _
from noren.tables import table_of

_MOST_LOOKED, _MOST_SETS = 1_000, 100_000
"""Different values of a column that patterns look at, and cells with sets, evenly spaced."""
_FEW, _FEW_CUSTOMERS, _FEWEST_TEXTS, _LONG_TEXT = 20, 8, 5, 25
_NEARLY, _MOSTLY = 0.9, 0.8
_BOUGHT = (Role.DATE, Role.TIME, Role.ITEM, Role.PRICE, Role.QUANTITY, Role.INVOICE, Role.DESCRIPTION)
_COUNTED = (Hint.TOTAL, Hint.QUANTITY, Hint.UNIT_PRICE, Hint.NO_PRICE, Hint.QUALITY)
_NO_PEOPLE = (Hint.PLACE, Hint.GOODS, Hint.KIND_OF_GOODS, Hint.WORK, Hint.ATTRIBUTE)
"""What is called so has names that people have too: Jackson is a town, Baker an occupation, Rose a wine."""
_LOOKS = table_of("noren.data.guessing.looks")


@dataclass(frozen=True)
class Identifying:
    """A column that identifies people: how, whether that is certain, and the evidence, which quotes no value."""

    column: str
    kind: str
    sure: bool
    evidence: str

    def question(self, chosen: Role, roles: Iterable[Role]) -> Question:
        """Ask whether the column identifies people; ``chosen`` is what it is taken for until somebody answers."""
        words = _("{column}: {evidence}; does it identify people? {role} was chosen")
        text = words.format(column=self.column, evidence=self.evidence, role=chosen)
        return role_question(self.column, text, chosen, tuple(roles))


def identifying_columns(
    columns: Sequence[Column], rows: pl.DataFrame, *, customer: str | None = None
) -> dict[str, Identifying]:
    """Return the columns that identify people, by name.

    Parameters
    ----------
    rows
        Texts as a file has them, typed values, or the public part of a release: sets are looked into, intervals are
        not, suppressed cells say nothing.
    customer
        The column that tells who bought, where rows are purchases; it is never among the findings.

    Examples
    --------
    >>> rows = pl.DataFrame({"Customer Name": ["Claire Gute", "Sean O'Donnell"], "City": ["Kobe", "Nara"]})
    >>> findings = identifying_columns([Column(name=name) for name in rows.columns], rows)
    >>> [(finding.kind, finding.sure, finding.evidence) for finding in findings.values()]
    [('name', True, 'the column name suggests personal names (2 different values)')]
    """
    there = [column for column in columns if column.name in rows.columns]
    roles = {column.role: column.name for column in there}
    place = _RowSubject(rows, customer or roles.get(Role.CUSTOMER), roles.get(Role.ITEM))
    others = (column for column in there if column.name != place.customer and column.role != Role.CUSTOMER)
    looks = (_ColumnSample.of(column, rows[column.name], place) for column in others)
    findings = (_strongest_finding(look) for look in looks if look is not None)
    return {finding.column: finding for finding in findings if finding is not None}


def looks_like_an_outcome(name: str) -> bool:
    """Tell whether a column is called like what a study wants to predict: an outcome, a verdict, a class.

    >>> looks_like_an_outcome("two_year_recid"), looks_like_an_outcome("審査結果"), looks_like_an_outcome("age")
    (True, True, False)
    """
    return _called(name, "outcome")


# --- a column, and the rows it stands in -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _RowSubject:
    """The rows: purchases of a customer, or people where there is none."""

    rows: pl.DataFrame
    customer: str | None
    item: str | None

    @cached_property
    def customers(self) -> int:
        """How many customers there are, where there are any."""
        return self.rows[self.customer].n_unique() if self.customer in self.rows.columns else 0

    def pairs(self, outer: str | None, inner: str, *, again: bool = False) -> tuple[int, int, int]:
        """Count values of ``outer``, pairs, and values of ``inner``; ``again``: of values of ``outer`` that repeat."""
        if outer is None or any(n not in self.rows.columns or self.rows[n].dtype.is_nested() for n in (outer, inner)):
            return 0, 0, 0
        rows = self.rows.select(a=outer, b=inner)
        both = rows.drop_nulls().filter(pl.all_horizontal(pl.lit(value=True), pl.col(pl.String) != ""))
        both = both.filter(pl.col("a").is_duplicated()) if again else both
        return both["a"].n_unique(), (both["a"].hash(1) ^ both["b"].hash(2)).n_unique(), both["b"].n_unique()


@dataclass(frozen=True)
class _ColumnSample:
    """What a column's cells are: those that hold something, how many are different, and some of these as texts."""

    name: str
    column: Column
    place: _RowSubject
    known: pl.Series
    distinct: int
    texts: pl.Series

    @classmethod
    def of(cls, column: Column, values: pl.Series, place: _RowSubject) -> _ColumnSample | None:
        """Look at a column; nothing where it has no cells that could be read."""
        while isinstance(values.dtype, pl.List | pl.Array):
            values = values.gather_every(-(-max(1, len(values)) // _MOST_SETS)).explode()
        if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary, pl.Boolean, pl.Null, pl.Duration):
            return None
        known = filled(values)
        different = known.unique(maintain_order=True)
        some = different.gather_every(-(-max(1, len(different)) // _MOST_LOOKED))
        if some.dtype.is_float() and bool((some == some.round()).all()):
            some = some.cast(pl.Int64, strict=False)
        texts = some.cast(pl.String).drop_nulls().str.normalize("NFKC").str.strip_chars()
        return cls(column.name, column, place, known, len(different), texts) if len(texts) else None

    @property
    def mostly_own(self) -> bool:
        """Whether there are nearly as many values as people: at least half as many."""
        return self.distinct > (self.place.customers or len(self.known)) / 2

    @cached_property
    def own_customers(self) -> int:
        """How many customers with several rows there are, where each has one value and shares it with nobody."""
        if not _FEW_CUSTOMERS <= self.distinct <= 1.1 * self.place.customers:
            return 0
        people, pairs, values = self.place.pairs(self.place.customer, self.name, again=True)
        return people if pairs <= 1.02 * people and values >= 0.95 * pairs else 0

    def count(self, pattern: str) -> int:
        """Return how many of the texts fit a pattern, and pass its check digits where it has some."""
        fitting = self.texts.filter(self.texts.str.contains(_WORDS["patterns"][pattern]))
        return sum(map(_CHECKS[pattern], fitting)) if pattern in _CHECKS else len(fitting)

    def finding(self, kind: str, *, sure: bool, count: int | None = None, cells: int | None = None) -> Identifying:
        """Return that the column identifies people, by its values where ``count`` of them look so, else by its name."""
        evidence = _("the column name suggests {what} ({values:,} different values)")
        if count is not None:
            evidence = _("{count:,} of {cells:,} values contain {what}")
        what = _(_LOOKS[kind])
        evidence = evidence.format(count=count, cells=cells or len(self.texts), values=self.distinct, what=what)
        return Identifying(self.name, kind, sure, evidence)

    def apart(self, kind: str, *, sure: bool, evidence: str | None = None) -> Identifying:
        """Return that the column identifies people because its values differ."""
        evidence = evidence or _("it has {values:,} different values in {cells:,} cells")
        return Identifying(self.name, kind, sure, evidence.format(values=self.distinct, cells=len(self.known)))


def _strongest_finding(look: _ColumnSample) -> Identifying | None:
    """Return how a column identifies people, or nothing: the first finding that is sure, else the first."""
    role, history = look.column.role, look.place.customer is not None
    bought = role in _BOUGHT or (not history and (role == Role.SENSITIVE or says(look.name, Hint.SENSITIVE)))
    hard = _by_hard_values(look, bought=bought)
    if bought or (hard is not None and hard.sure and hard.kind != "name"):
        return hard
    named = _by_name(look)
    if named is not None and named.sure:
        return named
    others = _by_soft_values(look), _by_structure(look)
    findings = [finding for finding in (named, hard, *others) if finding is not None]
    if findings and history:
        # each item has one value though several people bought it: its maker, the address of its picture
        items, pairs, _values = look.place.pairs(look.place.item, look.name)
        buyers = look.place.pairs(look.place.item, str(look.place.customer))[1]
        if 0 < pairs <= 1.02 * items and buyers >= 1.5 * items:
            return None
    return next((finding for finding in findings if finding.sure), findings[0] if findings else None)


# --- the name --------------------------------------------------------------------------------------------------------

_WORDS = table_of(__name__)


@cache
def _header(words: str) -> tuple[re.Pattern[str], frozenset[str]]:
    """Return what finds a list's words in a name, Latin ones by themselves and others anywhere; and the words."""
    listed = re.sub(r"\n\|", "|", _WORDS["header"][words]).split()
    latin = "|".join(word for word in listed if word.isascii())
    return re.compile("|".join([f"_(?:{latin or '-'})_", *(w for w in listed if not w.isascii())])), frozenset(listed)


def _called(name: str, words: str) -> bool:
    return _header(words)[0].search(spelled(name)) is not None


@cache
def _names_people(name: str) -> bool | None:
    """Tell whether a column is called a name of people; None where it may be: Name, First, 名.

    >>> [_names_people(name) for name in ("Customer Name", "氏名", "name", "Product Name", "会社名", "file_name")]
    [True, True, None, False, False, False]
    """
    words = spelled(name).strip("_").split("_")
    if _called(name, "makers"):
        return False
    if _called(name, "person_names"):
        return True
    if "_".join(words) in _header("bare_names")[1]:
        return None
    beside = [word for word in words if not says(word, Hint.NAME)]
    people = all(word in _header("beside_name")[1] or says(word, Hint.BUYER, Hint.PERSON) for word in beside)
    return False if len(beside) == len(words) or not people else True if beside else None


def _by_name(look: _ColumnSample) -> Identifying | None:
    """Return what a column's name says, where its values do not speak against it."""
    history, texts, is_text = look.place.customer is not None, look.texts, look.column.type == ValueType.TEXT
    if history and says(look.name, Hint.BIRTH):
        days = look.column.type in (ValueType.DATE, ValueType.DATETIME)
        if days or look.count("date") >= _MOSTLY * len(texts):
            return look.finding("birth-date", sure=True)
    called = _names_people(look.name)
    if called is not False and is_text and look.count("letters") >= 0.5 * len(texts):
        sure = bool(called) or sum(_is_person(text) or _is_one_name(text) for text in texts) >= 0.25 * len(texts)
        if sure or not history:
            return look.finding("name", sure=sure)
    if says(look.name, Hint.CONTACT) and may_name(look.column):
        at, calls = look.count("at"), 0 if "mail_" in spelled(look.name) else look.count("phone-called")
        if max(at, calls) >= 0.6 * len(texts):
            return look.finding("e-mail" if at > calls else "phone", sure=True)
    if is_text and _called(look.name, "address") and not _called(look.name, "no_address"):
        numbered = look.count("letters-and-digits") >= 0.3 * len(texts)
        if numbered or look.mostly_own or look.distinct > _FEW:
            return look.finding("address", sure=numbered)
    people = naming_of(look.column, texts) in (Naming.BUYER, Naming.HOUSEHOLD, Naming.CARD, Naming.PERSON)
    numbered = _called(look.name, "numbers") or (says(look.name, Hint.NUMBER) and _called(look.name, "numbered"))
    many = people or (numbered and (look.mostly_own or look.distinct > _FEW))
    if many and ((people and not history) or looks_like_ids(look.column, texts)):
        alone = look.mostly_own or not people or says(look.name, Hint.NUMBER)
        return look.finding("number", sure=look.own_customers >= _FEW if history else alone)
    # called so without a doubt, though values do not look like it: not released until somebody says otherwise
    contact = naming_of(look.column, texts) == Naming.CONTACT
    return look.finding("phone" if contact else "name", sure=False) if contact or (called and is_text) else None


# --- the values ------------------------------------------------------------------------------------------------------


def _by_hard_values(look: _ColumnSample, *, bought: bool) -> Identifying | None:
    """Return what values are that nobody takes for anything else; of what was bought, names only where many are."""
    values = len(look.texts)
    if not may_name(look.column):
        return None
    if isinstance(look.known.dtype, pl.String | pl.Categorical | pl.Enum):
        # all cells are looked at, for @ is cheap to find: some addresses in remarks are enough
        cells = look.known.cast(pl.String)
        marked = cells.filter(cells.str.contains("@", literal=True))
        count = int(marked.str.contains(_WORDS["patterns"]["e-mail"]).sum())
        if count and (count >= 0.5 * len(cells) or count >= max(2, 0.01 * len(cells))):
            return look.finding("e-mail", sure=count >= 0.2 * len(cells), count=count, cells=len(cells))
    plain = says(look.name, Hint.CONTACT) or (not bought and values >= 3)
    phones = look.count("phone") + (look.count("phone-plain") if plain else 0)
    if phones >= 0.5 * values:
        return look.finding("phone", sure=True, count=phones)
    for kind, hint in (("iban", Hint.CARD), ("card", Hint.CARD), ("my-number", Hint.PERSON)):
        # one number in ten has the right check digit by chance: few numbers prove nothing
        count = look.count(kind)
        if count >= _NEARLY * values and (values >= 5 or says(look.name, hint) or kind == "iban"):
            return look.finding(kind, sure=True, count=count)
    if look.column.type != ValueType.TEXT:
        return None
    inside = look.count("phone-inside")
    if inside >= max(2, 0.01 * values):
        return look.finding("phone", sure=inside >= 0.5 * values >= _FEW / 2, count=inside)
    if _called(look.name, "makers") or says(look.name, *_NO_PEOPLE):
        return None
    known, alone = sum(map(_is_person, look.texts)), sum(map(_is_one_name, look.texts))
    if known >= (0.3 if values >= 10 else 0.6) * values and (values >= 3 or not bought):
        enough = values >= 3 and known >= (0.5 if values >= 10 else _MOSTLY) * values
        return look.finding("name", sure=enough and look.column.role not in (Role.ITEM, Role.DESCRIPTION), count=known)
    if alone >= 0.6 * values and values >= _FEWEST_TEXTS and not bought:
        return look.finding("name", sure=alone >= _MOSTLY * values and values >= _FEW, count=alone)
    return None


def _by_soft_values(look: _ColumnSample) -> Identifying | None:
    """Return what values are that may stand in a release for a reason: addresses of machines, pages and houses."""
    if not may_name(look.column):
        return None
    alone = look.own_customers >= _FEW if look.place.customer else look.mostly_own
    for kind in ("ip", "uuid", "url", "number", "address"):
        count = look.count(kind)
        if count >= (0.5 if kind == "address" else _MOSTLY) * len(look.texts):
            called = kind == "address" or (kind == "ip" and _called(look.name, "network"))
            return look.finding(kind, sure=alone or (called and len(look.texts) >= 3), count=count)
    return None


def _luhn(text: str) -> bool:
    """Tell whether a card's number is right: every second digit from the right doubled, the sum divides by 10."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    return sum(sum(divmod(d * (1 + i % 2), 10)) for i, d in enumerate(digits)) % 10 == 0


def _iban(text: str) -> bool:
    """Tell whether an account is right (ISO 13616): its head moved to the end and read in base 36, mod 97 is 1."""
    plain = text.replace(" ", "")
    return 15 <= len(plain) <= 34 and int("".join(str(int(s, 36)) for s in plain[4:] + plain[:4])) % 97 == 1


def _my_number(text: str) -> bool:
    """Tell whether the last digit of a My Number is right, by weights of 2 to 7 from the right, mod 11."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    left = sum(d * (2 + i % 6) for i, d in enumerate(reversed(digits[:-1]))) % 11
    return digits[-1] == (0 if left <= 1 else 11 - left)


_CHECKS: dict[str, Callable[[str], bool]] = {"card": _luhn, "iban": _iban, "my-number": _my_number}

# --- names of people -------------------------------------------------------------------------------------------------

_NAMES = _WORDS["names"]
_JAPANESE = {part: [entry.split("/") for entry in _NAMES[f"japanese_{part}"].split()] for part in ("given", "surnames")}
_GIVEN, _SURNAMES = (
    {*_NAMES[part].split(), *(name for spellings in _JAPANESE[part] for name in spellings)}
    for part in ("given", "surnames")
)
_TITLES = set(_NAMES["titles"].split())
_HONORIFIC = re.compile(f"(?:{'|'.join(_NAMES['honorifics'].split())})$")
_TO_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_SEVERAL = re.compile(r"[;/&|、\n]|\s(?:and|und|et|y|と)\s")
_KANJI, _CJK = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"[\u3041-\u30ff々\u4e00-\u9fff]+")
_LATIN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _plain(text: str) -> str:
    """Return a text in lower case, in katakana, without accents, brackets, quotes and a number at its end."""
    bare = unicodedata.normalize("NFD", re.sub(r"\(.*?\)|\".*?\"|[-\s]*\d+$", " ", text))
    plain = unicodedata.normalize("NFC", re.sub(r"[\u0300-\u036f]", "", bare)).casefold().strip()
    return plain if _KANJI.search(plain) else plain.translate(_TO_KATAKANA)


def _is_one_name(text: str) -> bool:
    return _plain(text) in _GIVEN or _plain(text) in _SURNAMES


def _is_person(text: str) -> bool:
    """Tell whether a text is one or several full names, a part of each being a common one.

    >>> [_is_person(name) for name in ("Claire Gute", "GUTE, Claire", "山田 太郎", "ヤマダ タロウ", "佐藤花子様")]
    [True, True, True, True, True]
    >>> [_is_person(name) for name in ("Green tea", "San Francisco", "Johnson Controls Inc", "山口県", "高橋商店")]
    [False, False, False, False, False]
    """
    parts = [part.strip() for part in _SEVERAL.split(_plain(text)) if part.strip()]
    return 0 < len(parts) <= 5 and all(map(_is_full_name, parts))


def _is_full_name(text: str) -> bool:
    words = [word for word in re.split(r"[\s,.・]+", _HONORIFIC.sub("", text)) if word]
    if words and all(map(_CJK.fullmatch, words)):
        if len(words) == 2:
            return words[0] in _SURNAMES or words[1] in _GIVEN
        # one word is a common surname and what given names are or end in
        whole, ends = words[0] if len(words) == 1 else "", _NAMES["given_ends"]
        cuts = ((whole[:end], whole[end:]) for end in range(1, min(len(whole), 6)) if whole[:end] in _SURNAMES)
        return any(g in _GIVEN or (len(g) in (2, 3) and g[-1] in ends and _KANJI.search(s)) for s, g in cuts)
    own = [word for word in words if word not in _TITLES]
    if not own or not all(map(_LATIN.fullmatch, own)):
        return False
    if len(own) < len(words):
        return len(own) <= 6
    family, comma, first_names = text.partition(",")
    if not 2 <= len(own) <= 4 or max(map(len, own)) == 1:
        return False
    if comma:
        return first_names.split()[:1] != [] and (first_names.split()[0] in _GIVEN or family.strip() in _SURNAMES)
    return own[0] in _GIVEN or (own[-1] in _GIVEN and own[0] in _SURNAMES)


# --- the structure ---------------------------------------------------------------------------------------------------


def _by_structure(look: _ColumnSample) -> Identifying | None:
    """Return whether each customer has a value of their own, or each row a number or a long text.

    In a table it is nearly every row that has a value of its own that can name it.
    """
    name, cells, kind = look.name, len(look.known), look.column.type
    if look.place.customer is not None:
        people = look.own_customers
        if people >= _FEW_CUSTOMERS and (people >= _FEW or not says(name, Hint.ATTRIBUTE, Hint.PLACE)):
            evidence = _("nearly every customer has one value that no other customer has ({values:,} values)")
            return look.apart("per-customer", sure=people >= _FEW, evidence=evidence)
        return look.apart("number", sure=False) if is_bare_id(name) and look.distinct == cells else _by_free_text(look)
    differ = look.distinct == cells > max(1, len(look.place.rows) / 2)
    if kind == ValueType.TEXT and differ and _called(name, "company"):
        return look.apart("name", sure=False)  # a table of companies, not of people who work for some
    if says(name, Hint.BIRTH, Hint.ATTRIBUTE) or (says(name, Hint.PLACE) and not says(name, Hint.ADDRESS, Hint.NAME)):
        return None  # a few rows may have an age or a postcode each
    if may_name(look.column) and look.mostly_own and (is_bare_id(name) or "_id_" in spelled(name)):
        return look.apart("number", sure=differ and not says(name, *_NO_PEOPLE))
    if may_name(look.column) and look.mostly_own and cells > 1 and says(name, Hint.NAME, Hint.CONTACT, Hint.ADDRESS):
        return look.apart("name" if says(name, Hint.NAME) else "address", sure=False)
    if kind == ValueType.INTEGER and says(name, *_COUNTED) and not says(name, Hint.NUMBER):
        return None  # how much or how many names nobody, if only few rows have the same
    many = max(_FEW, len(look.place.rows) / 2)
    nearly = kind == ValueType.TEXT and look.distinct >= _NEARLY * cells >= _NEARLY * many
    alone = nearly or (differ and kind in (ValueType.TEXT, ValueType.INTEGER))
    return _by_free_text(look) or (look.apart("number", sure=False) if alone else None)


def _by_free_text(look: _ColumnSample) -> Identifying | None:
    """Return whether nearly every row holds a long text of its own, as remarks and reviews do."""
    texts, cells = look.texts, len(look.known)
    if look.column.type != ValueType.TEXT or cells < _FEWEST_TEXTS or look.distinct < _NEARLY * cells:
        return None
    long = texts.str.contains(r"\S\s+\S|[\u3041-\u30ff]").mean(), texts.str.len_chars().mean()
    if not (long[0] > _NEARLY and long[1] >= _LONG_TEXT):  # type: ignore[operator]
        return None
    evidence = _("long texts that differ from row to row ({values:,} different values in {cells:,} cells)")
    return look.apart("free-text", sure=False, evidence=evidence)
