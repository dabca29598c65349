"""A run as a form orders it: which methods with what typed, which attacks and measures, and what is wrong with it.

Fields are named ``method.0``, ``0.k``, ``0.attributes``, … for the first step, ``method.1``, ``1.share``, … for the
next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from noren.attacks import attacks as every_attack
from noren.data.schema import Kind, Role, Scale, Schema
from noren.errors import InputError, NorenError, ParameterError, listing
from noren.i18n import _, active_language
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.methods.retention import Retention
from noren.protocols import Component, Method, Runtime
from noren.studio.folders import StepData, method_of, with_project_files, without_paths
from noren.studio.forms import parameter_forms as forms
from noren.studio.forms.columns import open_stops
from noren.studio.store import Job, Project
from noren.tables import Texts
from noren.web.errors import ConflictError
from noren.work.run import fitting

say = Texts(__name__)
USUAL_K: Final = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""The k that a plan shows, as ``noren plan`` does."""
_MANY = 100_000
MOST_STEPS: Final = 8
_METHOD = re.compile(r"method\.(\d{1,2})")
_SEED = "seed"


def checked_methods(
    project: Project,
    folder: Path,
    schema: Schema,
    steps: Sequence[StepData],
    *,
    attacks: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
) -> list[Method]:
    """Return the methods of a run that can be started: what is wrong is said now, not in the worker."""
    if project.facts.get("open"):
        question = _("What is “{name}” for?").format(name=listing(project.facts["open"]))
        raise ConflictError(say("unanswered", question=question))
    if questions := open_stops(project.facts):
        raise ConflictError(say("unanswered", question=questions[0]["text"][active_language()]))
    if not 1 <= len(steps) <= MOST_STEPS:
        raise ParameterError(say("steps", most=MOST_STEPS))
    ready: list[Method] = []
    for step in steps:
        method = method_of([step], folder)
        if Kind(project.facts["kind"]) not in method.accepts:
            kinds = "/".join(sorted(method.accepts))
            about = {"component": method.name, "kinds": kinds, "kind": project.facts["kind"]}
            raise ParameterError(say("other_kind", **about))
        ready.append(method)
    for judge in chain(
        (every_attack[name] for name in attacks or ()), (every_measure[name] for name in measures or ())
    ):
        if not judge.fits(schema):
            raise ParameterError(say("unfit", component=judge.name))
    method_of(steps, folder)
    return ready


def quick_judges(attacks: Sequence[str], measures: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the attacks and measures that take seconds on data of tens of thousands of rows.

    >>> quick_judges(["unique-rows", "ensemble"], ["reid-rate"])
    (['unique-rows'], ['reid-rate'])
    """
    return (
        [name for name in attacks if every_attack[name].runtime == Runtime.SECONDS],
        [name for name in measures if every_measure[name].runtime == Runtime.SECONDS],
    )


class AttributeOut(BaseModel):
    """An attribute that would be released, and how many values it has."""

    name: str
    values: int


class PlanLine(BaseModel):
    """What is kept at one k: the probability of each attribute that a value stays as it is."""

    k: float
    rho: list[float]


class PlanOut(BaseModel):
    """What retention can keep of these attributes."""

    rows: int
    attributes: list[AttributeOut]
    plans: list[PlanLine]


def retention_plan(method: Retention, schema: Schema, profile: Mapping[str, Any], ks: Sequence[float] = ()) -> PlanOut:
    """Return the plan of a retention: ρ for its own k (or k for its own ρ) first, then for ``ks`` that can hold.

    Where domains are to be taken from the data, the profile tells how many values there are.
    """
    rows = int(profile["rows"])
    if method.domains == "data":  # domains of the right size; which values they are does not matter here
        distinct = {about["name"]: about["distinct"] for about in profile["columns"]}
        columns = [
            column.model_copy(update={"domain": tuple(str(i) for i in range(min(distinct[column.name], _MANY)))})
            if column.scale == Scale.NOMINAL and column.domain is None and distinct.get(column.name)
            else column
            for column in schema.columns
        ]
        schema = schema.model_copy(update={"columns": tuple(columns)})
    own = method.plan(schema, rows)
    plans = [PlanLine(k=own.k(rows) if method.k is None else method.k, rho=list(own.rhos))]
    for k in ks:
        if k <= rows and k != plans[0].k:
            other = Retention(**method.model_dump() | {"k": k, "rho": None}).plan(schema, rows)
            plans.append(PlanLine(k=k, rho=list(other.rhos)))
    attributes = [AttributeOut(name=attribute.name, values=attribute.size) for attribute in own.attributes]
    return PlanOut(rows=rows, attributes=attributes, plans=plans)


def early_problem(method: Component, schema: Schema, profile: Mapping[str, Any], people: int) -> dict[str, str]:
    """Return what can be told to be wrong with a method on these data before it runs, by parameter."""
    k = getattr(method, "k", None)
    rows = int(profile["rows"])
    if getattr(method, "l", None) is not None or getattr(method, "t", None) is not None:
        sensitive = [column.name for column in schema.with_role(Role.SENSITIVE)]
        if not sensitive:
            return {"sensitive": say("no_sensitive")}
        alone = getattr(method, "t", None) is None and getattr(method, "diversity", "distinct") == "distinct"
        if len(sensitive) > 1 and not alone and getattr(method, "sensitive", None) is None:
            return {"sensitive": _("use one of {names}").format(names=", ".join(sensitive))}
    if isinstance(method, Retention):
        # a chosen column without a finite list of values, where a person can cure that
        names = method.attributes or tuple(column.name for column in schema.with_role(Role.QUASI))
        classed = {declared.partition("=")[0] for declared in method.classes}
        for column in (schema[name] for name in names if name in schema.names and name not in classed):
            if column.scale == Scale.NOMINAL and column.domain is None and method.domains == "declared":
                return {"domains": say("unlisted", column=column.name)}
            if column.scale != Scale.NOMINAL and (column.minimum is None or column.maximum is None):
                return {"classes": say("unbounded", column=column.name)}
        try:
            retention_plan(method, schema, profile)
        except ParameterError as error:
            return {"k" if k is not None and k > rows else "attributes": str(error)}
        except InputError as error:
            return {"attributes": str(error)}
    elif isinstance(k, int) and k > people:
        return {"k": say("few_people", people=people)}
    return {}


class Surroundings:
    """What forms need to know of a project whose data were read."""

    def __init__(self, project: Project, folder: Path, schema: Schema, profile: Mapping[str, Any]) -> None:
        self.project, self.folder, self.schema, self.profile = project, folder, schema, profile
        self.people = int(project.facts["people"])
        self.columns = forms.columns_of(schema, profile)
        self.methods = [every_method[name] for name in every_method if every_method[name].fits(schema)]
        self.attacks, self.measures = fitting(every_attack, schema), fitting(every_measure, schema)

    def method(self, name: str) -> type[Method] | None:
        """Return a method that can be chosen here."""
        return next((m for m in self.methods if m.name == name and name != "chain"), None)


@dataclass(frozen=True)
class Draft:
    """What was typed into the form of a run."""

    steps: tuple[tuple[str, Mapping[str, Sequence[str]]], ...]
    attacks: tuple[str, ...] | None = None
    measures: tuple[str, ...] | None = None
    seed: str = ""


def draft_of_job(job: Job, around: Surroundings, *, diverse: bool = False, most_rows: str = "") -> Draft:
    """Return what somebody would have typed to order a run; the seed stays a secret.

    ``diverse`` asks for several sensitive values in each class, ``most_rows`` leaves out longer histories, where a
    method can.
    """
    steps = []
    for step in job.order["steps"]:
        method = around.method(step["method"])
        if method is not None:
            typed = forms.typed_of(method, step["parameters"], around.columns)
            asks = diverse and forms.has_diversity(method, around.columns)
            more = {"l": [forms.DIVERSE], "sensitive": []} if asks else {}
            more |= {"most_rows": [most_rows]} if most_rows and "most_rows" in method.model_fields else {}
            steps.append((method.name, typed | more))
    judges = (job.order.get("attacks"), job.order.get("measures"))
    attacks, measures = (None if names is None else tuple(names) for names in judges)
    return Draft(tuple(steps), attacks, measures)


def draft_of_form(sent: Mapping[str, Sequence[str]], around: Surroundings) -> Draft:
    """Return what was typed, out of the fields a browser sent."""
    numbers = sorted(int(match[1]) for name in sent if (match := _METHOD.fullmatch(name)))
    steps = []
    for number in numbers[:MOST_STEPS]:
        method = around.method(sent[f"method.{number}"][0])
        if method is not None:
            start = f"{number}."
            typed = {name.removeprefix(start): list(texts) for name, texts in sent.items() if name.startswith(start)}
            steps.append((method.name, typed))
    # which of those that fit were ticked; nothing where all were, or where nobody was asked
    chosen = []
    for name, every in (("attack", around.attacks), ("measure", around.measures)):
        ticked = tuple(component for component in every if component in sent.get(name, ()))
        chosen.append(None if "judges" not in sent or len(ticked) == len(every) else ticked)
    return Draft(tuple(steps), chosen[0], chosen[1], "".join(sent.get(_SEED, ())).strip()[:30])


# --- what is wrong, and what it means ------------------------------------------------------------------------


@dataclass(frozen=True)
class FormStep:
    """One method of a checked draft, as the form shows it."""

    number: int
    method: type[Method]
    controls: Sequence[forms.Control]
    error: str = ""
    """What is wrong with the step as a whole."""
    meaning: str = ""
    """What k comes to, in a sentence."""
    plan: PlanOut | None = None
    """What retention keeps."""


@dataclass(frozen=True)
class CheckedForm:
    """A draft with everything that can be said of it before it runs."""

    draft: Draft
    steps: Sequence[FormStep]
    ready: Sequence[StepData] | None
    """The steps as an order takes them, where nothing is wrong."""
    seed: int | None
    error: str
    errors: Mapping[str, str]
    """What is wrong, by the name of the form's field."""


def checked(draft: Draft, around: Surroundings) -> CheckedForm:
    """Judge a draft: what is wrong next to each field, and what k means."""
    errors: dict[str, str] = {}
    steps: list[FormStep] = []
    ready: list[StepData] = []
    for number, (name, typed) in enumerate(draft.steps):
        method = every_method[name]
        made, wrong = forms.check(method, typed, around.columns, with_project_files(method, {}, around.folder))
        if made is not None and number == 0:  # later steps work on what the first one made
            wrong = early_problem(made, around.schema, around.profile, around.people)
        steps.append(
            FormStep(
                number,
                method,
                forms.controls(method, typed, around.columns, wrong),
                wrong.get("", ""),
                "" if made is None or wrong else meaning_of(made, around),
                retention_plan(made, around.schema, around.profile, USUAL_K)
                if isinstance(made, Retention) and not wrong
                else None,
            )
        )
        errors |= {f"{number}.{place}": message for place, message in wrong.items()}
        if made is not None:
            ready.append({"method": name, "parameters": without_paths(made)})
    seed = None
    if draft.seed.isascii() and draft.seed.isdigit() and int(draft.seed) < 2**63:
        seed = int(draft.seed)
    elif draft.seed:
        errors[_SEED] = _("write a whole number from 0 on, of up to 18 digits")
    error, whole = "", ready if ready and len(ready) == len(draft.steps) else None
    if whole and not errors:
        try:
            judges = {"attacks": draft.attacks, "measures": draft.measures}
            checked_methods(around.project, around.folder, around.schema, ready, **judges)
        except NorenError as problem:
            error = str(problem)
    return CheckedForm(draft, steps, whole, seed, error, errors)


def meaning_of(method: Component, around: Surroundings) -> str:
    """Return what the chosen k comes to on these data, in a sentence."""
    k = getattr(method, "k", None)
    if isinstance(method, Retention):
        own = retention_plan(method, around.schema, around.profile).plans[0]
        rho = f"{own.rho[0]:.3f}" if len(set(own.rho)) == 1 else f"{min(own.rho):.3f}–{max(own.rho):.3f}"
        chance = 1 / own.k
        return say("meaning.retention", chance=f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}", rho=rho)
    if not isinstance(k, int):
        return ""
    if around.project.facts["kind"] == "history":
        return say("meaning.groups", k=k, people=around.people, groups=max(around.people // k, 1))
    return say("meaning.rows", others=k - 1, rows=int(around.profile["rows"]))
