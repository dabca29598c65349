"""Tables and messages in TOML files: each file is next to its module and has its name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from noren.i18n import _, ngettext


@cache
def table_of(module: str) -> Mapping[str, Any]:
    """Return the content of the TOML file beside a module: ``catalog.toml`` of ``noren.data.catalog``.

    >>> table_of("noren.data.catalog")["dataset"][0]["name"]
    'online-retail'
    """
    package, _dot, name = module.rpartition(".")
    return tomllib.loads((files(package) / f"{name}.toml").read_text(encoding="utf-8"))


class Texts:
    """The messages of a module by their names, in the language in use.

    A message is a text, or two where its form depends on a number (``one``, ``other``). ``tools/babel.cfg`` names the
    files whose texts are translated. A module has its own: ``say = Texts(__name__)``, then ``say("word.proved")``,
    ``say("weak.bound", bound="20%")`` or, with a number, ``say("rows", 2, rows="2")``.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, name: str, number: int | None = None, /, **values: object) -> str:
        """Return a message by its dotted name, with ``values`` in it; ``number`` chooses between its two forms."""
        message: Any = table_of(self._module)
        for part in name.split("."):
            message = message[part]
        if number is None:
            text = _(message)
        else:
            singular, plural = message["one"], message["other"]
            text = ngettext(singular, plural, number)
        return text.format(**values) if values else text
