"""Format checks of contest files by the rules of the contest.

Each checker answers as the contest's own checker did (valid or not) and, unlike it, names every broken rule with row,
column, value and cure. A checker loads when it is first used.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from types import ModuleType

    from noren.data.checks.report import Report

__all__ = ["CHECKERS", "check_guess", "check_release"]

CHECKERS = ("pwscup2017", "pwscup2018")
"""The schema presets that have an official checker, which is a module of that name here."""


def check_release(schema_name: str, original: Path, release: Path, *, limit: int = 20) -> Report:
    """Check an anonymised table against its original by the rules of ``schema_name``.

    ``schema_name`` is one of :data:`CHECKERS`; ``original`` is T, plain or gzip-compressed, ``release`` is in its row
    order (2018: A; 2017: AT). At most ``limit`` problems, and warnings, are described; all are counted.
    """
    report: Report = _checker(schema_name).check_release(original, release, limit=limit)
    return report


def check_guess(
    schema_name: str, original: Path, guess: Path, *, published: Path | None = None, limit: int = 20
) -> Report:
    """Check an attacker's answer by the rules of ``schema_name``; the rest is as for :func:`check_release`.

    The ``guess`` has a pseudonym and a customer a row (2018: F'), or a customer and twelve pseudonyms (2017: F̂).
    ``published`` is what the attacker was given (2018: A'); the rules of 2017 do not look at it.
    """
    files = [original, guess]
    if schema_name == "pwscup2018":
        if published is None:
            message = _("a guess in the format of {schema} needs the published table")
            raise ParameterError(message.format(schema=schema_name))
        files.insert(1, published)
    report: Report = _checker(schema_name).check_guess(*files, limit=limit)
    return report


def _checker(schema_name: str) -> ModuleType:
    if schema_name not in CHECKERS:
        message = _("there is no {setting} {value!r}{hint}; use one of {names}")
        about = {"setting": "official checker", "value": schema_name, "hint": ""}
        raise ParameterError(message.format(**about, names=", ".join(sorted(CHECKERS))))
    return importlib.import_module(f"{__name__}.{schema_name}")
