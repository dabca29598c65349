"""Hierarchies of codes by what they begin with: item codes, post codes, the codes of diseases (ICD)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from noren.data.hierarchies.builder import Builder, parts_of
from noren.data.hierarchies.column_values import ColumnValues, stop_at_misfits
from noren.data.hierarchies.levels import SAYS_NOTHING, Hierarchy
from noren.errors import ParameterError
from noren.i18n import N_, _

__all__ = ["POSTCODE", "Icd", "Postcode", "Prefix", "fitted", "folded", "mask_hierarchy", "stop_at_text"]

_ICD = r"^([A-Z])([0-9][0-9A-Z])\.?[0-9A-Z]{0,4}$"
POSTCODE = r"^[0-9]{3}-?[0-9]{4}$"


def folded(texts: pl.Series) -> pl.Series:
    """Return texts with full-width digits, letters and dashes as ASCII ones, without spaces around them.

    >>> folded(pl.Series(["１２３－４５６７ ", "〒123−4567"])).to_list()
    ['123-4567', '〒123-4567']
    """
    return texts.str.normalize("NFKC").str.strip_chars().str.replace_all("[‐‑‒–—―−ー]", "-")


def fitted(values: ColumnValues, fits: pl.Series, levels: Sequence[pl.Series], other: str, rule: str) -> Hierarchy:
    """Return the hierarchy of the values that fit; others become ``other``, and stop the work where that is empty."""
    fits = fits.fill_null(value=False)
    if not other:
        cure = _("mend them, or set a label for all other values")
        stop_at_misfits(values.name, values.texts.filter(~fits), rule, cure)
    shown = [pl.select(pl.when(fits).then(labels).otherwise(pl.lit(other))).to_series() for labels in levels]
    return Hierarchy.of_labels(values.name, values.texts, shown)


def _masked(texts: pl.Series, lengths: Sequence[int]) -> list[pl.Series]:
    """Return for each length the first characters, and stars in place of the others."""
    longest = int(texts.str.len_chars().max() or 0)  # type: ignore[arg-type]
    return [texts.str.slice(0, length).str.pad_end(longest, SAYS_NOTHING) for length in lengths]


@dataclass(frozen=True)
class Prefix(Builder):
    """Codes by their first characters: ``85123A`` → ``851***`` → ``8*****``. Short ones count as masked at the end."""

    lengths: tuple[int, ...] = ()

    by: ClassVar[str] = "prefix"
    summary: ClassVar[str] = N_("the first characters of a code")
    asks: ClassVar[str] = N_("how many characters stay, from fine to wide; one fewer at a time if left out")
    example: ClassVar[str] = "3, 1"

    @classmethod
    def of_text(cls, text: str, other: str) -> Prefix:
        """Return the builder of the lengths that somebody typed."""
        return cls(_lengths(text, cls.example))

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        longest = int(values.texts.str.len_chars().max() or 0)  # type: ignore[arg-type]
        lengths = self.lengths or tuple(range(longest - 1, 0, -1))
        return Hierarchy.of_labels(values.name, values.texts, _masked(values.texts, lengths))


def _lengths(text: str, example: str) -> tuple[int, ...]:
    parts = parts_of(text)
    lengths = tuple(int(part) for part in parts if part.isdecimal() and 0 < int(part) <= 1_000)
    if len(lengths) < len(parts) or any(b >= a for a, b in itertools.pairwise(lengths)):
        raise ParameterError(
            _("numbers of characters shrink from level to level, down to 1"),
            _("write them like {example}").format(example=example),
            value=text,
        )
    return lengths


@dataclass(frozen=True)
class Postcode(Builder):
    """the first digits of a Japanese post code: ``123-4567`` → ``123-****`` → ``12*`` → ``1*``.

    Three digits are a post office's area, two a part of a prefecture, one a group of prefectures. Numbers that lost
    their leading zeros, full-width digits and missing dashes are understood.
    """

    lengths: tuple[int, ...] = (3, 2, 1)
    other: str = ""

    by: ClassVar[str] = "postcode"
    summary: ClassVar[str] = N_("the first digits of a Japanese post code")
    asks: ClassVar[str] = N_("how many digits stay, from fine to wide")
    example: ClassVar[str] = "3, 2, 1"

    @classmethod
    def of_text(cls, text: str, other: str) -> Postcode:
        """Return the builder of the lengths that somebody typed."""
        lengths = _lengths(text or cls.example, cls.example)
        if lengths[0] > 6:
            raise ParameterError(_("a post code has seven digits"), _("let six stay at most"), value=text)
        return cls(lengths, other)

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        plain = folded(values.texts).str.strip_prefix("〒").str.strip_chars()
        if values.column.dtype.is_numeric():
            plain = plain.str.zfill(7)
        fits = plain.str.contains(POSTCODE)
        digits = plain.str.replace("-", "", literal=True)
        # the dash stands in labels where all codes have it: what a label begins with is what its values begin with
        dashed = bool(values.texts.filter(fits).str.slice(3, 1).eq("-").all())
        rule = _("not seven-digit post codes: {values}")
        return fitted(values, fits, [self._labels(digits, length, dashed) for length in self.lengths], self.other, rule)

    @staticmethod
    def _labels(digits: pl.Series, length: int, dashed: bool) -> pl.Series:
        kept = digits.str.slice(0, length)
        if length < 3:
            return kept + SAYS_NOTHING
        if not dashed:
            return kept + SAYS_NOTHING * (7 - length)
        return kept.str.slice(0, 3) + "-" + kept.str.slice(3) + SAYS_NOTHING * (7 - length)


@dataclass(frozen=True)
class Icd(Builder):
    """Codes of diseases (ICD-10): ``E11.9`` → ``E11*`` (the category) → ``E*`` (the letter of its chapter)."""

    other: str = ""

    by: ClassVar[str] = "icd"
    summary: ClassVar[str] = N_("category and letter of an ICD-10 code")
    example: ClassVar[str] = ""

    @classmethod
    def of_text(cls, text: str, other: str) -> Icd:
        """Return the builder; it has nothing to choose."""
        stop_at_text(cls.by, text)
        return cls(other)

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        plain = folded(values.texts).str.to_uppercase()
        levels = [plain.str.slice(0, length) + SAYS_NOTHING for length in (3, 1)]
        return fitted(values, plain.str.contains(_ICD), levels, self.other, _("not ICD-10 codes: {values}"))


def stop_at_text(by: str, text: str) -> None:
    """Stop where somebody gives words to a builder that takes none."""
    if text.strip():
        raise ParameterError(_("{by} takes no parameters").format(by=by), _("leave the parameters out"), value=text)


def mask_hierarchy(name: str, values: Iterable[str], *, mask: str = SAYS_NOTHING) -> Hierarchy:
    """Return a hierarchy that hides one more character at a time, from the right: for postal codes and the like.

    Shorter values count as masked where they end.

    >>> mask_hierarchy("zip", ["8053", "8037"]).labels.rows()[1]
    ('8053', '805*', '80**', '8***', '*')
    """
    if len(mask) != 1:
        raise ParameterError(_("the mask is one character"), _("use *"), value=mask)
    known = sorted(set(values))
    longest = max(map(len, known), default=0)
    rows = [(v, *(v[:shown].ljust(longest, mask) for shown in range(longest - 1, 0, -1)), SAYS_NOTHING) for v in known]
    return Hierarchy.of(name, rows)
