"""Before a run: which judges are quick, what is wrong with it already, and what retention keeps at which k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from noren.attacks import attacks as every_attack
from noren.data.schema import Role, Scale, Schema
from noren.descriptions import Runtime
from noren.errors import InputError, ParameterError
from noren.i18n import _
from noren.measures import measures as every_measure
from noren.methods.retention import Retention
from noren.protocols import Component

__all__ = ["USUAL_K", "RunPlan", "early_problem", "quick_judges", "retention_plan"]

USUAL_K: Final = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""The k that a plan shows, as ``noren plan`` does."""
_MANY = 100_000


def quick_judges(attacks: Sequence[str], measures: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the attacks and measures that take seconds on data of tens of thousands of rows.

    >>> quick_judges(["unique-rows", "ensemble"], ["reid-rate"])
    (['unique-rows'], ['reid-rate'])
    """
    return (
        [name for name in attacks if every_attack[name].runtime == Runtime.SECONDS],
        [name for name in measures if every_measure[name].runtime == Runtime.SECONDS],
    )


@dataclass(frozen=True)
class RunPlan:
    """What retention keeps: the released attributes with the number of their values, and ρ of each for each k."""

    rows: int
    attributes: tuple[tuple[str, int], ...]
    lines: tuple[tuple[float, tuple[float, ...]], ...]


def retention_plan(method: Retention, schema: Schema, profile: Mapping[str, Any], ks: Sequence[float] = ()) -> RunPlan:
    """Return the plan of a retention: ρ for its own k (or k for its own ρ) first, then for ``ks`` that can hold.

    Where domains are to be taken from the data, the profile tells how many values there are.
    """
    rows = int(profile["rows"])
    declared = _with_domains(schema, profile) if method.domains == "data" else schema
    own = method.plan(declared, rows)
    lines = [(own.k(rows) if method.k is None else method.k, tuple(own.rhos))]
    for k in ks:
        if k <= rows and k != lines[0][0]:
            other = Retention(**method.model_dump() | {"k": k, "rho": None}).plan(declared, rows)
            lines.append((k, tuple(other.rhos)))
    return RunPlan(rows, tuple((a.name, a.size) for a in own.attributes), tuple(lines))


def _with_domains(schema: Schema, profile: Mapping[str, Any]) -> Schema:
    """Return a schema whose texts have domains of the right size; which values they are does not matter here."""
    distinct = {about["name"]: about["distinct"] for about in profile["columns"]}
    columns = [
        column.model_copy(update={"domain": tuple(str(i) for i in range(min(distinct[column.name], _MANY)))})
        if column.scale == Scale.NOMINAL and column.domain is None and distinct.get(column.name)
        else column
        for column in schema.columns
    ]
    return schema.model_copy(update={"columns": tuple(columns)})


def early_problem(method: Component, schema: Schema, profile: Mapping[str, Any], people: int) -> dict[str, str]:
    """Return what can be told to be wrong with a method on these data before it runs, by parameter."""
    k = getattr(method, "k", None)
    rows = int(profile["rows"])
    if getattr(method, "l", None) is not None or getattr(method, "t", None) is not None:
        sensitive = [column.name for column in schema.with_role(Role.SENSITIVE)]
        if not sensitive:
            return {"sensitive": _("no column is called sensitive; say which is on the page of the data")}
        alone = getattr(method, "t", None) is None and getattr(method, "diversity", "distinct") == "distinct"
        if len(sensitive) > 1 and not alone and getattr(method, "sensitive", None) is None:
            return {"sensitive": _("choose one of {names}").format(names=", ".join(sensitive))}
    if isinstance(method, Retention):
        if unbounded := _unbounded(method, schema):
            return unbounded
        try:
            retention_plan(method, schema, profile)
        except ParameterError as error:
            return {"k" if k is not None and k > rows else "attributes": str(error)}
        except InputError as error:
            return {"attributes": str(error)}
    elif isinstance(k, int) and k > people:
        said = _("there are only {people:,} people; use {people:,} or less").format(people=people)
        return {"k": said}
    return {}


def _unbounded(method: Retention, schema: Schema) -> dict[str, str]:
    """Return which chosen column has no finite list of values, where a person can cure that."""
    names = method.attributes or tuple(column.name for column in schema.with_role(Role.QUASI))
    classed = {said.partition("=")[0] for said in method.classes}
    for column in (schema[name] for name in names if name in schema.names and name not in classed):
        if column.scale == Scale.NOMINAL and column.domain is None and method.domains == "declared":
            said = _("{column} has no list of values: declare one on the page of the data, or take those that occur")
            return {"domains": said.format(column=column.name)}
        if column.scale != Scale.NOMINAL and (column.minimum is None or column.maximum is None):
            said = _("{column} has no least and greatest value: declare them on the page of the data, or use classes")
            return {"classes": said.format(column=column.name)}
    return {}
