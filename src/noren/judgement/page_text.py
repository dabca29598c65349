"""Text from data made safe for pages: no control characters, no overlong cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

LONGEST = 200
_MOST_ENTRIES = 60
_UNPRINTABLE = r"[\p{C}\p{Z}&&[^ ]]"


def printable(text: str, longest: int = LONGEST) -> str:
    """Return ``text`` fit for a page: no control or direction marks, cut to ``longest`` characters.

    >>> printable("a\\x00b" + "c" * 9, 8)
    'a�bcccc…'
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut)


def printable_texts(text: pl.Expr, longest: int = LONGEST) -> pl.Expr:
    """Return a column of texts, each as :func:`printable` has it.

    >>> pl.DataFrame({"x": ["a\\x00b" + "c" * 9]}).select(printable_texts(pl.col("x"), 8)).item()
    'a�bcccc…'
    """
    fits = text.str.len_chars() <= longest
    cut = pl.when(fits).then(text).otherwise(text.str.head(longest - 1) + "…")
    return cut.str.replace_all(_UNPRINTABLE, "\N{REPLACEMENT CHARACTER}")


def plain(value: Any) -> Any:
    """Return what notes and parameters hold as short plain data: what is endless is cut, what is not finite is None.

    >>> plain({"a": (1, float("inf")), "b": "x\\x00"})
    {'a': [1, None], 'b': 'x�'}
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {printable(str(key)): plain(part) for key, part in list(value.items())[:_MOST_ENTRIES]}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in list(value)[:_MOST_ENTRIES]]
    return printable(str(value))
