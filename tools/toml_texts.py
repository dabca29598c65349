"""Texts to translate in TOML files, for Babel: of the keys that ``babel.cfg`` names, or all but those it skips."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO


def extract(
    file: BinaryIO, _keywords: Any, _comment_tags: Any, options: Mapping[str, str]
) -> Iterator[tuple[int, str, str | tuple[str, str], list[str]]]:
    """Yield each text as Babel takes it, without its line number: catalogues name files alone."""
    keys = options["keys"].split() if "keys" in options else None
    for text in _texts(tomllib.load(file), keys, options.get("skip", "").split()):
        yield 1, "_" if isinstance(text, str) else "ngettext", text, []


def _texts(part: Any, keys: list[str] | None, skip: list[str]) -> Iterator[str | tuple[str, str]]:
    if isinstance(part, list):
        for value in part:
            yield from _texts(value, keys, skip)
    elif isinstance(part, dict) and keys is None and set(part) == {"one", "other"}:
        yield part["one"], part["other"]
    elif isinstance(part, dict):
        for name, value in part.items():
            if name in skip:
                continue
            if isinstance(value, str) and (keys is None or name in keys):
                yield value
            else:
                yield from _texts(value, keys, skip)
