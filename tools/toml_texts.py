"""Texts to translate in TOML files, for Babel: the values of the keys that ``babel.cfg`` names, at any depth."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO


def extract(
    file: BinaryIO, _keywords: Any, _comment_tags: Any, options: Mapping[str, str]
) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield each text as Babel takes it; lines are not told, for catalogues name files alone."""
    for text in _texts(tomllib.load(file), options["keys"].split()):
        yield 1, "_", text, []


def _texts(part: Any, keys: Collection[str]) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _texts(one, keys)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name in keys and isinstance(value, str):
                yield value
            else:
                yield from _texts(value, keys)
