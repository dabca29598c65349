"""Rulebooks: the scoring rules of a contest in TOML, with a version; the log holds their digest.

A score is a weighted sum of *terms*, each a measure with a weight; lower is better. A *condition* is a measure with a
limit. Measures of attacks take the worst value of all attackers. The rules of the three cups and of any other contest
are a few lines of this form.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from noren.attacks import attacks
from noren.data.schema import Kind
from noren.errors import FileError, NorenError, ParameterError, suggestion
from noren.i18n import translated
from noren.judgement.rule import Rule, get_rule
from noren.measures import measures
from noren.measures.safety.effective import Effective
from noren.protocols import Attack, Measure
from noren.tables import Texts, table_of
from noren.work.hash_chain import digest_of

say = Texts(__name__)
PRESETS = ("pwscup2018", "pwscup2017", "pwscup2016", "custom")
_FINEST = 10**6
_LARGEST = 2**18


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Term(_Part):
    """A measure and its weight in the score."""

    measure: str
    weight: float = Field(default=1.0, gt=0, le=1)
    parameters: dict[str, Any] = {}
    part: str | None = None
    """A part of the measure, if not its whole value counts."""

    @property
    def key(self) -> str:
        """The name of the value in the log: ``item-similarity.retail``."""
        return self.measure if self.part is None else f"{self.measure}.{self.part}"


class Condition(_Part):
    """A measure with a limit."""

    measure: str
    most: float | None = None
    least: float | None = None
    parameters: dict[str, Any] = {}
    part: str | None = None

    @property
    def key(self) -> str:
        """The name of the value in the log."""
        return self.measure if self.part is None else f"{self.measure}.{self.part}"

    def is_met(self, value: float) -> bool:
        """Tell whether a value is within the limit."""
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)


class BaselineAttack(_Part):
    """An attack that the server runs on every release."""

    attack: str
    parameters: dict[str, Any] = {}
    knowledge: float = Field(default=1.0, gt=0, le=1)
    item_prefix: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)
    """The seed of the known part and of the attack."""

    @property
    def key(self) -> str:
        """Its name in tables: ``s1``, or ``s1 25%`` with partial knowledge."""
        return self.attack if self.knowledge == 1 else f"{self.attack} {self.knowledge:.0%}"


class Baseline(_Part):
    """The baseline attacks and their role."""

    attacks: tuple[BaselineAttack, ...] = ()
    counts: bool = False
    """Whether their results count in scores and conditions, like those of teams."""
    visible: bool = True
    """Whether a team sees their results on its own release."""


class Quota(_Part):
    """Limits of the submissions of a team."""

    releases: int = Field(default=20, ge=1)
    """Valid releases of a team in a phase."""
    guesses: int = Field(default=3, ge=1)
    """Valid guesses of a team about one target."""
    files_per_day: int = Field(default=500, ge=1)
    """Files of a team in 24 hours, valid or not."""


class Rulebook(_Part):
    """The rules of one contest.

    >>> book = preset("pwscup2018")
    >>> book.name, [term.key for term in book.terms], book.conditions[0].key
    ('pwscup2018', ['cell-error'], 'effective')
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{1,39}$")
    version: int = Field(default=1, ge=1)
    title: str = Field(default="", max_length=200)
    data_schema: str = Field(default="", alias="schema")
    """The format of data and releases: a preset or TOML; if empty, it is guessed from the data."""
    kind: Kind = Kind.HISTORY
    inserted_rows: bool = False
    """Whether rows may follow that stand for no original row (pseudo records)."""
    exact_values: bool = False
    """Whether cells must be exact values, not sets or intervals; what some measures can compare."""
    terms: tuple[Term, ...] = Field(min_length=1)
    conditions: tuple[Condition, ...] = ()
    otherwise: Literal["after", "none"] = "after"
    """Whether releases that break a condition are ranked after all others, or not at all."""
    baseline: Baseline = Baseline()
    quota: Quota = Quota()
    outcome: Literal["valid", "effect", "counts"] = "valid"
    """What an attacker learns about a guess before the results: whether it is valid, whether it breaks a condition, or
    how many guesses are correct."""
    rule: Any = "partner"
    """The rule of the verdicts."""
    duplicates: float = Field(default=0.95, gt=0, le=1)
    """Share of equal rows or answers from which two files of different teams are flagged."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)

    @property
    def test(self) -> Effective | None:
        """The test of the condition on effective attacks, if there is one: its thresholds are those of the contest."""
        tested = (self.measured[condition.key][0] for condition in self.conditions)
        return next((measure for measure in tested if isinstance(measure, Effective)), None)

    def judged_by(self, tried: int = 0) -> Rule:
        """Return the rule of the verdicts after so many attacks; the contest's own test has the condition's numbers.

        >>> preset("pwscup2018", bound="sharp", p="1/4").judged_by(tried=40).level(40)
        Fraction(1, 2000)
        """
        rule, test = get_rule(self.rule), self.test
        if test is None or rule.name != "pwscup2018":
            return rule
        attackers = max(rule.attackers, tried)  # the condition has an error for each attack, the rule one for all
        numbers = {"bound": test.bound, "tolerance": Fraction(test.p), "alpha": Fraction(test.alpha) * attackers}
        return rule.model_copy(update=numbers | {"attackers": attackers})

    @property
    def measured(self) -> Mapping[str, tuple[Measure, str | None]]:
        """Every measure of terms and conditions, by the name of its value."""
        both: list[Term | Condition] = [*self.terms, *self.conditions]
        return _ready(tuple((of.key, of.measure, json.dumps(of.parameters, default=str), of.part) for of in both))

    def of_release(self) -> dict[str, tuple[Measure, str | None]]:
        """Return the measures of releases."""
        return {key: ready for key, ready in self.measured.items() if "guess" not in ready[0].needs}

    def of_guess(self) -> dict[str, tuple[Measure, str | None]]:
        """Return the measures of attacks."""
        return {key: ready for key, ready in self.measured.items() if "guess" in ready[0].needs}

    def baseline_attacks(self) -> dict[str, tuple[Attack, BaselineAttack]]:
        """Return the baseline attacks by name."""
        return {how.key: (attacks.create(how.attack, **how.parameters), how) for how in self.baseline.attacks}

    def score(self, values: Mapping[str, float]) -> float | None:
        """Return the score of measured values (lower is better); None if one is missing.

        >>> preset("pwscup2018").score({"cell-error": 0.206, "effective": 0.0})
        0.206
        """
        ready = self.measured
        total = 0.0
        for term in self.terms:
            value = values.get(term.key)
            if value is None:
                return None
            total += term.weight * (1.0 - value if ready[term.key][0].goal == "higher" else value)
        return round(total, 10)

    def broken(self, values: Mapping[str, float]) -> list[str]:
        """Return the broken conditions; one without a value is not broken."""
        tested = [condition for condition in self.conditions if condition.key in values]
        return [condition.key for condition in tested if not condition.is_met(values[condition.key])]

    def to_toml(self) -> str:
        """Return the rulebook as its file."""
        return tomli_w.dumps(self.model_dump(mode="json", by_alias=True, exclude_none=True))

    @property
    def digest(self) -> str:
        """The digest of the file."""
        return digest_of(self.to_toml().encode())


@lru_cache(maxsize=64)
def _ready(wanted: tuple[tuple[str, str, str, str | None], ...]) -> Mapping[str, tuple[Measure, str | None]]:
    made = {key: (measures.create(name, **json.loads(parameters)), part) for key, name, parameters, part in wanted}
    return MappingProxyType(made)


def preset(name: str, **changes: Any) -> Rulebook:
    """Return a preset rulebook; ``changes`` replace fields, or the parameters ``bound``, ``p``, ``alpha``, ``risk``.

    >>> preset("pwscup2018", bound="sharp").conditions[0].parameters["bound"]
    'sharp'
    """
    if name not in PRESETS:
        raise ParameterError(
            say("no_such_rulebook", name=name, hint=suggestion(name, list(PRESETS)), names=", ".join(PRESETS))
        )
    return _built(_changed(table_of(f"noren.contest.rulebooks.{name}"), changes), None)


def read_rulebook(source: str | Path, **changes: Any) -> Rulebook:
    """Return a rulebook by the name of a preset, a file or its text."""
    is_text = isinstance(source, str) and "\n" in source
    if isinstance(source, str) and not is_text and not source.endswith(".toml"):
        return preset(source, **changes)  # its error lists the presets
    path = None if is_text else Path(source)
    try:
        text = str(source) if path is None else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(say("unreadable", reason=error), file=path) from None
    if len(text) > _LARGEST:
        raise FileError(say("large"), file=path)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(say("invalid", reason=error), file=path) from None
    return _built(_changed(table, changes), path)


_OF_TEST = ("bound", "p", "alpha")


def _changed(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rulebook with some of them replaced."""
    table = {**table, **{key: value for key, value in changes.items() if key not in (*_OF_TEST, "risk")}}
    tested = {key: changes[key] for key in _OF_TEST if changes.get(key) is not None}
    if tested:
        if not any(item.get("measure") == "effective" for item in table.get("conditions", ())):
            raise ParameterError(say("no_test", name=table.get("name", ""), names=", ".join(tested)))
        table["conditions"] = [
            {**item, "parameters": {**item.get("parameters", {}), **tested}} if item["measure"] == "effective" else item
            for item in table["conditions"]
        ]
    risk = changes.get("risk")
    if risk is not None:
        risks = ("um", "mm", "emm")
        if risk not in risks or not any(item.get("measure") in risks for item in table.get("terms", ())):
            raise ParameterError(say("no_such_risk", risk=risk, names=", ".join(risks)))
        table["terms"] = [{**item, "measure": risk} if item["measure"] in risks else item for item in table["terms"]]
    return table


def _built(table: Mapping[str, Any], path: Path | None) -> Rulebook:
    try:
        book = Rulebook.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise FileError(say("invalid", reason=f"{place}: {translated(first['msg'])}"), file=path) from None
    # what no contest could be decided by
    try:
        ready, _baseline, _rule = book.measured, book.baseline_attacks(), book.judged_by()
    except NorenError as error:
        raise FileError(say("invalid", reason=error), file=path) from None
    total = sum(Fraction(term.weight).limit_denominator(_FINEST) for term in book.terms)
    if total != 1:
        raise FileError(say("weights", total=float(total)), file=path)
    by_key: dict[str, Term | Condition] = {}
    both: list[Term | Condition] = [*book.terms, *book.conditions]
    for entry in both:
        other = by_key.setdefault(entry.key, entry)
        if other is not entry and (type(other) is type(entry) or other.parameters != entry.parameters):
            raise FileError(say("twice", measure=entry.key), file=path)
    for term in book.terms:
        measure = ready[term.key][0]
        if measure.goal == "higher" and tuple(measure.bounds) != (0.0, 1.0):
            raise FileError(say("no_upper_limit", measure=term.key), file=path)
    for condition in book.conditions:
        if (condition.most is None) == (condition.least is None):
            raise FileError(say("one_limit", measure=condition.key), file=path)
    for key, (measure, _part) in ready.items():
        if book.kind not in measure.accepts:
            raise FileError(say("other_kind", measure=key, kind=book.kind), file=path)
    return book
