"""Which columns of a project's table tell people apart, for the page where their roles are chosen."""

from __future__ import annotations

from typing import Any

import polars as pl

from noren.data.frames import Table
from noren.data.schema import Role
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.inference.identifiers import ColumnSet, identifiers
from noren.inference.population import PopulationRisk, population
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.judgement.singled_out import estimates_differ
from noren.studio.service import Studio
from noren.studio.store import Project

__all__ = ["told_apart"]

_LARGEST = 3
_MOST_COLUMNS = 60
_LONGEST_NAME = 80


def told_apart(studio: Studio, project: Project, people: str) -> dict[str, Any]:
    """Return what the columns tell, each and in small sets; and who is unique among so many ``people``."""
    schema = studio.schema(project.id)
    frame = pl.read_parquet(studio.folders.data(project.id), columns=list(schema.names))
    table = Table(frame, schema)
    names = [column.name for column in schema.columns if column.role != Role.IDENTIFIER][:_MOST_COLUMNS]
    said: dict[str, Any] = {"people": people, "rows": [], "problem": "", "unique": None}
    try:
        found = identifiers(table, columns=names, largest=_LARGEST)
        said["rows"] = [_row(one) for one in (*found.columns, *found.sets)]
        if people.strip():
            said["unique"] = _unique(table, _number(people))
    except NorenError as error:
        said["problem"] = str(error)
    return said


def _row(one: ColumnSet) -> dict[str, str]:
    return {
        "columns": " + ".join(printable(name, _LONGEST_NAME) for name in one.columns),
        "alone": percent(one.alone),
        "separation": percent(one.separation),
        "distinction": percent(one.distinction),
    }


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "").replace("_", "").strip())
    except ValueError:
        raise ParameterError(
            _("{text!r} is no number of people").format(text=printable(text, 40)), _("write it like 300000000")
        ) from None


def _unique(table: Table, people: float) -> dict[str, Any]:
    found = population(table, people)
    sentence = _(
        "By the columns that could link a person, about {uniques} of {people} people are unique in the population "
        "({share}), as {estimator} estimates it from {rows} people, {alone} of whom are alone here."
    ).format(
        uniques=count(round(found.uniques)),
        people=count(found.population),
        share=percent(found.share),
        estimator=found.chosen,
        rows=count(found.rows),
        alone=count(found.alone),
    )
    others = [
        (name, _counted(found, name) if name in found.estimates else found.failed[name])
        for name in ("pitman", "zayatz", "snb")
        if name != found.chosen
    ]
    return {"sentence": sentence, "others": others, "apart": estimates_differ(found)}


def _counted(found: PopulationRisk, name: str) -> str:
    uniques = found.estimates[name]
    return f"{count(round(uniques))} ({percent(uniques / found.population)})"
