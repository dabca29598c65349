"""The part of the page Data that shows hierarchies, builds them, and lets a person look before anything is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from noren.data.hierarchies.builders import builders_for
from noren.data.schema import Column, Role, Scale
from noren.errors import NorenError, ParameterError
from noren.i18n import _, ngettext
from noren.judgement.numbers import count
from noren.judgement.page_text import printable
from noren.studio import data_words, groupings
from noren.studio.hierarchies import Asked, hierarchy_facts
from noren.studio.service import Studio
from noren.studio.store import Project

__all__ = ["Tried", "hierarchies_context", "try_hierarchy"]

_LONGEST_NAME: Final = 80
_NOT_OFFERED: Final = ("usual", "widths")
"""Builders that the page offers elsewhere: as the first one, and in a field of their own."""


@dataclass(frozen=True)
class Tried:
    """What a person asked for one column: as it was typed, with what was built to look at, or what was wrong."""

    place: int
    asked: Asked
    about: Mapping[str, Any] | None = None
    said: str = ""
    kept: bool = False


def try_hierarchy(studio: Studio, project: str, posted: Mapping[str, str]) -> Tried:
    """Do what a form asks: keep widths, the first one again or what a builder makes, or only look at that."""
    names = studio.schema(project).names
    index = posted.get("column", "")
    place = int(index) if index.isdigit() and int(index) < len(names) else 0
    builds = "by" in posted
    text = posted.get("with" if builds else "widths", "").replace("\r\n", "\n")
    asked = Asked(posted.get("by", "widths"), text, posted.get("other", "").strip())
    keep = not builds or posted.get("act") == "keep"
    try:
        if not builds and "first" not in posted and not text.strip():
            raise ParameterError(_("no width is given"), _("write them like 5, 10, 20"))
        wanted = None if "first" in posted else asked
        about = groupings.build_hierarchy(studio, project, names[place], wanted, keep=keep)
    except NorenError as error:
        return Tried(place, asked, said=str(error))
    return Tried(place, asked, about, kept=keep)


def hierarchies_context(studio: Studio, found: Project, tried: Tried | None) -> list[dict[str, Any]]:
    """Return what the page shows of each column that could link a person."""
    schema = studio.schema(found.id)
    numbered = {name: i for i, name in enumerate(schema.names)}
    facts = hierarchy_facts(studio.folders.project(found.id))
    return [
        _shown(about, schema[about["name"]], numbered[about["name"]], tried)
        for about in facts
        if about["name"] in numbered and schema[about["name"]].role == Role.QUASI
    ]


def _shown(about: Mapping[str, Any], column: Column, place: int, tried: Tried | None) -> dict[str, Any]:
    mine = tried if tried is not None and tried.place == place else None
    own = about["asked"] and Asked(**about["asked"])
    builds = mine is not None and mine.asked.by != "widths"
    asked = mine.asked if mine is not None and builds else own
    return {
        "index": place,
        "column": column.name,
        "name": printable(column.name, _LONGEST_NAME),
        "sentence": data_words.levels_sentence(about),
        "made": _made(about),
        "is_first": about["made"] == "default",
        "is_number": column.scale == Scale.RATIO,
        "widths": mine.asked.text if mine is not None and not builds else _widths(about),
        "has_file": bool(about["file"]),
        "levels": _levels(about),
        "builders": [
            {"by": one.by, "summary": _(one.summary), "asks": _(one.asks) if one.asks else "", "example": one.example}
            for one in builders_for(column)
            if one.by not in _NOT_OFFERED
        ],
        "asked": {"by": asked.by, "text": asked.text, "other": asked.other}
        if asked
        else {"by": "", "text": "", "other": ""},
        "said": mine.said if mine is not None else "",
        "wrong_widths": mine is not None and bool(mine.said) and not builds,
        "wrong_builder": mine is not None and bool(mine.said) and builds,
        "open": mine is not None,
        "open_builder": builds,
        "seen": _levels(mine.about) if mine is not None and mine.about is not None and not mine.kept else [],
        "seen_sentence": data_words.levels_sentence(mine.about) if mine is not None and mine.about is not None else "",
    }


def _made(about: Mapping[str, Any]) -> str:
    if about["made"] == "built":
        return _("built by {by}").format(by=about["asked"]["by"])
    return {
        "default": _("the first one, made by Noren"),
        "widths": _("by your widths"),
        "uploaded": _("your file"),
    }[about["made"]]


def _widths(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{width:.15g}" for width in about["widths"] or [])


def _levels(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        level
        | {
            "examples": [(printable(label, 40), rows) for label, rows in level["shown"]],
            "rest": ngettext("and {count} more", "and {count} more", level["more"]).format(count=count(level["more"]))
            if level["more"]
            else "",
        }
        for level in about["levels"]
    ]
