"""Tables and texts that lie in a TOML file beside the module that reads them, under its name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["table_of"]


@cache
def table_of(module: str) -> Mapping[str, Any]:
    """Return the content of the TOML file beside a module: ``known_data.toml`` of ``noren.data.known_data``.

    >>> sorted(table_of("noren.data.known_data"))
    ['dataset']
    """
    package, _dot, name = module.rpartition(".")
    return tomllib.loads((files(package) / f"{name}.toml").read_text(encoding="utf-8"))
