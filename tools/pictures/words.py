"""What the pictures say: ``words.en.toml`` and ``words.ja.toml``, one table for each picture."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["LANGUAGES", "words_of"]

LANGUAGES = ("en", "ja")


@cache
def _texts(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((Path(__file__).parent / f"words.{language}.toml").read_text(encoding="utf-8"))


def words_of(picture: str) -> dict[str, Mapping[str, str]]:
    """Return what a picture says, by language and key.

    >>> words_of("flow")["en"]["attack"], words_of("flow")["ja"]["attack"]
    ('attack', '攻撃')
    """
    return {language: _texts(language)[picture] for language in LANGUAGES}
