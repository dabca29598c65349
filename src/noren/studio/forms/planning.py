"""Before a run: what it will take, what is wrong with it already, and what retention keeps at which k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from noren.attacks import attacks as every_attack
from noren.data.schema import Role, Scale, Schema
from noren.errors import InputError, ParameterError
from noren.i18n import _, ngettext
from noren.measures import measures as every_measure
from noren.methods.retention import Retention
from noren.protocols import Component
from noren.studio.experience import STUDIO_PARTS, Experience, expected_parts
from noren.studio.service import Studio
from noren.studio.work.project_files import method_of
from noren.sweeps.cost import Cost, Shape, estimate, together

__all__ = [
    "LONG",
    "USUAL_K",
    "RunPlan",
    "early_problem",
    "estimate_order",
    "quick_judges",
    "retention_plan",
    "said_memory",
    "said_seconds",
    "said_time",
]

USUAL_K: Final = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""The k that a plan shows, as ``noren plan`` does."""
_MANY = 100_000
LONG: Final = 120.0
"""Seconds from which on a run is offered with quick judges alone."""
_QUICK: Final = 5.0


def estimate_order(
    studio: Studio,
    project: str,
    steps: Sequence[Mapping[str, Any]],
    *,
    attacks: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
) -> Cost:
    """Return what a run of these steps will take on this machine, as busy as it was of late."""
    schema = studio.schema(project)
    method = method_of(steps, studio.folders.project(project))
    shape = Shape.of_profile(studio.profile(project))
    known = Experience.of(studio.settings.folder)
    parts = expected_parts(method, shape, schema, attacks=attacks, measures=measures)
    corrected = known.corrected(parts, shape, known.share or 1.0)
    own = {part: cost for part, cost in corrected.items() if part not in STUDIO_PARTS}
    return replace(_widened(together(corrected)), parts=together(own).parts)


def quick_judges(
    studio: Studio, project: str, attacks: Sequence[str], measures: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the attacks and measures that take a few seconds each on data of this size."""
    shape = Shape.of_profile(studio.profile(project))

    def is_quick(judge: Component) -> bool:
        cost = estimate(judge, shape, generalised=True)
        return cost.high is not None and cost.high <= _QUICK

    return (
        # who listens to others runs them, quick or not
        [name for name in attacks if not every_attack[name].listens and is_quick(every_attack[name]())],
        [name for name in measures if is_quick(every_measure[name]())],
    )


def _widened(cost: Cost) -> Cost:
    """Return a cost whose range is half to twice the time, or wider where its parts say so; its end is rounded up.

    >>> said_time(_widened(Cost(8.0, 6.0, 11.0, 0, "measured")))
    '4 to 20 seconds'
    """
    if cost.seconds is None or cost.high is None or not math.isfinite(cost.high):
        return cost
    high = math.ceil(max(cost.high, 2 * cost.seconds) / 5) * 5
    return replace(cost, low=min(cost.low, cost.seconds / 2), high=float(high))


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


# --- in words ------------------------------------------------------------------------------------------------


def said_time(cost: Cost) -> str:
    """Return how long something takes, for a person; a range, for nobody knows exactly.

    >>> said_time(Cost(3.0, 2.0, 4.5, 0, "measured")), said_time(Cost(60.0, 30.0, 120.0, 0, "rough"))
    ('2 to 5 seconds', '30 seconds to 2 minutes')
    >>> said_time(Cost(None, 0.0, None, None, "unknown"))
    'nobody knows how long'
    """
    if cost.high is None or not math.isfinite(cost.high):
        return _("nobody knows how long")
    if cost.high < 1:
        return _("less than a second")
    low, high = _duration(max(cost.low, 1.0)), _duration(math.ceil(cost.high))
    if low == high:
        return _("about {time}").format(time=high[1])
    if low[0] == high[0]:
        return _("{low} to {high}").format(low=low[2], high=high[1])
    return _("{low} to {high}").format(low=low[1], high=high[1])


def said_seconds(seconds: float) -> str:
    """Return how long something took.

    >>> said_seconds(0.3), said_seconds(61.2), said_seconds(600)
    ('less than a second', '61 seconds', '10 minutes')
    """
    return _("less than a second") if seconds < 1 else _duration(seconds)[1]


def _duration(seconds: float) -> tuple[str, str, str]:
    """Return the unit of a duration, the duration with it, and the bare number."""
    if seconds < 90:
        number = round(seconds)
        return "s", ngettext("{count} second", "{count} seconds", number).format(count=number), str(number)
    if seconds < 5400:
        number = round(seconds / 60)
        return "min", ngettext("{count} minute", "{count} minutes", number).format(count=number), str(number)
    number = round(seconds / 3600)
    return "h", ngettext("{count} hour", "{count} hours", number).format(count=number), str(number)


def said_memory(cost: Cost) -> str:
    """Return how much memory something takes, for a person.

    >>> said_memory(Cost(1.0, 1.0, 1.0, 1_560_000_000, "measured")), said_memory(Cost(1.0, 1.0, 1.0, 3000, "measured"))
    ('1.6 GB', 'less than 10 MB')
    """
    if cost.memory_bytes is None:
        return _("an unknown amount")
    if cost.memory_bytes < 1e7:
        return _("less than {count} MB").format(count=10)
    if cost.memory_bytes < 1e9:
        return _("{count} MB").format(count=round(cost.memory_bytes / 1e7) * 10)
    return _("{count} GB").format(count=round(cost.memory_bytes / 1e9, 1))
