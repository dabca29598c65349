"""Texts to translate in TOML files, for Babel: those of the keys that ``babel.cfg`` names, or all, at any depth."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO


def extract(
    file: BinaryIO, _keywords: Any, _comment_tags: Any, options: Mapping[str, str]
) -> Iterator[tuple[int, str, str | tuple[str, str], list[str]]]:
    """Yield each text as Babel takes it; lines are not told, for catalogues name files alone."""
    keys = options["keys"].split() if "keys" in options else None
    for text in _texts(tomllib.load(file), keys):
        yield 1, "_" if isinstance(text, str) else "ngettext", text, []


def _texts(part: Any, keys: list[str] | None) -> Iterator[str | tuple[str, str]]:
    if isinstance(part, list):
        for one in part:
            yield from _texts(one, keys)
    elif isinstance(part, dict) and keys is None and set(part) == {"one", "other"}:
        yield part["one"], part["other"]
    elif isinstance(part, dict):
        for name, value in part.items():
            if isinstance(value, str) and (keys is None or name in keys):
                yield value
            else:
                yield from _texts(value, keys)
