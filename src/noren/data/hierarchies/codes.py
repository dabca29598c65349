"""Hierarchies of codes by what they begin with (item codes, post codes, ICD), and of places in Japan.

Places are told by what their codes and names look like: no list of municipalities is needed. Codes of municipalities
(JIS X 0402: five digits, six with the check digit) begin with the code of their prefecture (JIS X 0401). Addresses
begin with one of 47 names; what follows is a municipality by its shape: it ends in 市, 区, 町 or 村. Names in which
these characters stand elsewhere (四日市市, 町田市, 玉村町) are known one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import polars as pl

from noren.data.hierarchies.builder import Builder, ColumnValues, parts_of
from noren.data.hierarchies.levels import SAYS_NOTHING, Hierarchy
from noren.errors import ParameterError, suggestion
from noren.i18n import _
from noren.tables import table_of

_ICD = r"^([A-Z])([0-9][0-9A-Z])\.?[0-9A-Z]{0,4}$"
POSTCODE = r"^[0-9]{3}-?[0-9]{4}$"


def folded(texts: pl.Series) -> pl.Series:
    """Return texts with full-width digits, letters and dashes as ASCII ones, without spaces around them.

    >>> folded(pl.Series(["１２３－４５６７ ", "〒123−4567"])).to_list()
    ['123-4567', '〒123-4567']
    """
    return texts.str.normalize("NFKC").str.strip_chars().str.replace_all("[‐‑‒–—―−ー]", "-")


class Prefix(Builder, by="prefix"):
    """Codes by their first characters: ``85123A`` → ``851***`` → ``8*****``. Short ones count as masked at the end."""

    @classmethod
    def _read(cls, text: str) -> tuple[int, ...]:
        parts = parts_of(text)
        lengths = tuple(int(part) for part in parts if part.isdecimal() and 0 < int(part) <= 1_000)
        if len(lengths) < len(parts) or any(b >= a for a, b in itertools.pairwise(lengths)):
            raise cls._misread(text)
        return lengths

    def _build(self, values: ColumnValues) -> Hierarchy:
        texts = values.texts
        longest = int(texts.str.len_chars().max() or 0)  # type: ignore[arg-type]
        lengths = self.parameters or range(longest - 1, 0, -1)
        return values.hierarchy([texts.str.slice(0, length).str.pad_end(longest, SAYS_NOTHING) for length in lengths])


class Postcode(Prefix, by="postcode"):
    """The first digits of a Japanese post code: ``123-4567`` → ``123-****`` → ``12*`` → ``1*``.

    Three digits are a post office's area, two a part of a prefecture, one a group of prefectures. Numbers that lost
    their leading zeros, full-width digits and missing dashes are understood.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[int, ...]:
        lengths = super()._read(text or cls.example)
        if lengths[0] > 6:
            raise ParameterError.out_of_range(cls.by, lengths[0], "1 <= characters <= 6")
        return lengths

    def _build(self, values: ColumnValues) -> Hierarchy:
        plain = folded(values.texts).str.strip_prefix("〒").str.strip_chars()
        if values.column.dtype.is_numeric():
            plain = plain.str.zfill(7)
        fits = plain.str.contains(POSTCODE)
        digits = plain.str.replace("-", "", literal=True)
        # the dash stands in labels where all codes have it: what a label begins with is what its values begin with
        dash = "-" if values.texts.filter(fits).str.slice(3, 1).eq("-").all() else ""
        levels = [
            digits.str.slice(0, length) + SAYS_NOTHING
            if length < 3
            else digits.str.slice(0, 3) + dash + digits.str.slice(3, length - 3) + SAYS_NOTHING * (7 - length)
            for length in self.parameters
        ]
        return self._fitted(values, fits, levels)


class Icd(Builder, by="icd"):
    """Codes of diseases (ICD-10): ``E11.9`` → ``E11*`` (the category) → ``E*`` (the letter of its chapter)."""

    def _build(self, values: ColumnValues) -> Hierarchy:
        plain = folded(values.texts).str.to_uppercase()
        levels = [plain.str.slice(0, length) + SAYS_NOTHING for length in (3, 1)]
        return self._fitted(values, plain.str.contains(_ICD), levels)


def mask_hierarchy(name: str, values: Iterable[str]) -> Hierarchy:
    """Return a hierarchy that hides one more character at a time, from the right: for postal codes and the like.

    Shorter values count as masked where they end.

    >>> mask_hierarchy("zip", ["8053", "8037"]).labels.rows()[1]
    ('8053', '805*', '80**', '8***', '*')
    """
    known = sorted(set(values))
    longest = max(map(len, known), default=0)
    cuts = range(longest - 1, 0, -1)
    rows = [(v, *(v[:cut].ljust(longest, SAYS_NOTHING) for cut in cuts), SAYS_NOTHING) for v in known]
    return Hierarchy.of(name, rows)


_PLACES: Final = table_of(__name__)
REGIONS: Final = {region: tuple(own.split()) for region, own in _PLACES["regions"].items()}
"""The eight regions, with Mie in Kinki; prefectures in the order of their codes (JIS X 0401)."""
PREFECTURES: Final = tuple(prefecture for own in REGIONS.values() for prefecture in own)
"""The 47 prefectures; the first has the code 01."""
_REGION_OF: Final = {prefecture: region for region, own in REGIONS.items() for prefecture in own}
_BY_CODE: Final = {f"{code:02d}": name for code, name in enumerate(PREFECTURES, start=1)}
_BY_STEM: Final = {name.removesuffix(name[-1]): name for name in PREFECTURES if name != "北海道"}

_ODD_CITIES, _WITH_WARDS = ("|".join(_PLACES[cities].split()) for cities in ("odd_cities", "cities_with_wards"))
_MUNICIPALITY: Final = (
    f"^((?:{_ODD_CITIES})市|(?:{_WITH_WARDS})市(?:中村|[^市町村]{{1,4}})区"
    "|(?:余市|高市|[^市]+?)郡(?:玉村|大町|村田|.+?)[町村]|.+?[市区町村])"
)
_CHECK_WEIGHTS: Final = (6, 5, 4, 3, 2)


class Municipality(Builder, by="municipality"):
    """Codes of municipalities: ``13103`` or ``131032`` → ``13 東京都`` → ``関東``. A wrong check digit is an error.

    Numbers that lost their leading zero are understood: five digits where none has six, else six. Codes of prefectures
    alone (``13``) are, too.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[str, ...]:
        known = parts_of(cls.example)
        units = parts_of(text) or known
        for unit in units:
            if unit not in known:
                message = _("there is no {setting} {value!r}{hint}; use one of {names}")
                about = {"setting": "unit", "value": unit, "hint": suggestion(unit, known)}
                raise ParameterError(message.format(**about, names=cls.example))
        if units != [unit for unit in known if unit in units]:
            raise cls._misread(text)
        return tuple(units)

    def _build(self, values: ColumnValues) -> Hierarchy:
        codes = folded(values.texts)
        longest = int(codes.str.len_chars().max() or 0)  # type: ignore[arg-type]
        if values.column.dtype.is_numeric() or longest <= 2:
            codes = codes.str.zfill(2 if longest <= 2 else max(longest, 5))
        names = codes.str.slice(0, 2).replace_strict(_BY_CODE, default=None, return_dtype=pl.String)
        fits = names.is_not_null() & codes.str.contains(r"^\d{2}$|^\d{5}$|^\d{6}$") & _checked(codes)
        regions = names.replace_strict(_REGION_OF, default=None, return_dtype=pl.String)
        levels = {"prefecture": codes.str.slice(0, 2) + " " + names, "region": regions}
        return self._fitted(values, fits, [levels[unit] for unit in self.parameters])


def _checked(codes: pl.Series) -> pl.Series:
    """Tell whether the check digit of codes with six digits is right: 11 less the weighted sum modulo 11.

    >>> _checked(pl.Series(["131016", "011002", "131015", "13101"])).to_list()
    [True, True, False, True]
    """
    code = pl.col("code")
    digits = [code.str.slice(place, 1).cast(pl.Int64, strict=False) * w for place, w in enumerate(_CHECK_WEIGHTS)]
    right = (11 - pl.sum_horizontal(digits) % 11) % 10 == code.str.slice(5, 1).cast(pl.Int64, strict=False)
    fine = pl.when(code.str.len_chars() == 6).then(right).otherwise(pl.lit(True))
    return codes.to_frame("code").select(fine.alias("fine"))["fine"]


class PlaceName(Municipality, by="place"):
    """Addresses and names of places: ``東京都港区芝公園4-2-8`` → ``東京都港区`` → ``東京都`` → ``関東``.

    Wards of the twenty cities that have them are a level of their own below the city. A place that does not begin with
    its prefecture has none: take the prefecture from another column then (``column``).
    """

    def _build(self, values: ColumnValues) -> Hierarchy:
        plain = folded(values.texts).str.replace_all(r"\s", "").replace(_BY_STEM)
        prefectures = plain.str.extract(f"^({'|'.join(PREFECTURES)})")
        frame = pl.DataFrame({"plain": plain, "prefecture": prefectures}).with_columns(
            rest=pl.col("plain").str.strip_prefix(pl.col("prefecture")).str.extract(_MUNICIPALITY).fill_null("")
        )
        wards = frame["prefecture"] + frame["rest"]
        cities = wards.str.replace(rf"^(.+?(?:{_WITH_WARDS})市).*区$", "$1")
        regions = prefectures.replace_strict(_REGION_OF, default=None, return_dtype=pl.String)
        levels = {"prefecture": [prefectures], "region": [regions]}
        levels["municipality"] = ([wards] if (wards != cities).any() else []) + [cities]
        if not (cities != prefectures).any():
            levels["municipality"] = []  # prefectures alone
        chosen = [labels for unit in self.parameters for labels in levels[unit]]
        return self._fitted(values, prefectures.is_not_null(), chosen)
