"""One release with the guesses of attacks and the scores of measures, for comparisons and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noren import api
from noren.data.frames import Records
from noren.data.release import Release, Statement
from noren.execution.engine import people_in
from noren.inference.findings import Inferred
from noren.methods import methods as every_method
from noren.progress import Progress, part_of, silent
from noren.protocols import Attack, Guess, Measure, Method, Score
from noren.work.run import Run, RunStore, Stage, seconds_of

__all__ = ["Outcome", "examine", "label_of", "non_default_parameters", "people_in", "run_outcome"]


@dataclass(frozen=True)
class Outcome:
    """A release with the guesses of attacks and the scores of measures.

    ``failed`` names attacks and measures that broke down, with the reason: nothing is known from them, for or against
    the release. ``left_out`` names attacks for which there was no time. ``people`` says how many people the original is
    about; left out, those of the secret part are counted. ``inferred`` is what was inferred against a control group,
    where there was one; ``original`` what was protected, where it is at hand.
    """

    label: str
    release: Release
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    scores: Mapping[str, Score] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    people: int | None = None
    inferred: tuple[Inferred, ...] = ()
    original: Records | None = None


def run_outcome(
    original: Records,
    method: Method | str,
    *,
    seed: int | None = None,
    attacks: Sequence[Attack | str] | None = None,
    measures: Sequence[Measure | str] | None = None,
    label: str | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Outcome:
    """Protect ``original``, attack the release and measure both.

    Parameters
    ----------
    method
        A ready method, or a name with its ``parameters``.
    seed
        What the method starts from; drawn at random where left out. Attackers never get it.
    attacks, measures
        Ready ones or names; left out, every one that fits the data and needs no parameter.
    label
        How the outcome is called; left out, the method and the parameters that differ from their defaults.

    Examples
    --------
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> outcome = run_outcome(history, "generalize-by-count", k=4, seed=1, attacks=["unique-rows"])
    >>> outcome.label, outcome.scores["reid-rate"].value
    ('generalize-by-count, k = 4', 0.0)
    """
    release = api.protect(original, method, seed=seed, progress=part_of(progress, 0.0, 0.4), **parameters)
    return examine(
        original, release, attacks=attacks, measures=measures, label=label, progress=part_of(progress, 0.4, 1.0)
    )


def examine(
    original: Records,
    release: Release,
    *,
    attacks: Sequence[Attack | str] | None = None,
    measures: Sequence[Measure | str] | None = None,
    label: str | None = None,
    budget: str | float | None = None,
    progress: Progress = silent,
    **knowledge: Any,
) -> Outcome:
    """Attack and measure a release there is (see :func:`run_outcome`).

    Attacks end after the ``budget`` of time, such as ``10m``; what has not ended is left out. ``knowledge`` limits what
    attackers know, as :func:`noren.api.attack` has it: known, knowledge, item_prefix, seed.

    Measures that need what is not at hand (a published release has no secret part, a generalised one no exact values)
    or cannot judge this release are left out where none is asked for by name. An attack or a measure that breaks down
    is noted as failed, and the others go on.
    """
    stages: tuple[tuple[Stage, Any], ...] = (("attack", attacks), ("measure", measures))
    store = RunStore(named=frozenset(stage for stage, choice in stages if choice is not None))
    how: dict[str, Any] = {"seconds": seconds_of(budget), "progress": progress} | knowledge
    Run.in_memory(original, release, store).examine(attacks, measures, **how)
    progress(1.0)
    name = label_of(release.statement) if label is None else label
    people = people_in(original)
    found = store.guesses, store.scores, store.failures, tuple(store.left_out)
    return Outcome(name, release, *found, people, original=original)


def label_of(statement: Statement) -> str:
    """Return the method and the parameters that differ from their defaults, for a person; of a chain, each step's.

    >>> label_of(Statement("generalize-by-count", {"k": 3, "suppress_cells": True}))
    'generalize-by-count, k = 3, suppress-cells'
    >>> label_of(Statement.of_chain([Statement("thin", {"share": 0.2}), Statement("monthly-pseudonyms")]))
    'thin, share = 0.2 → monthly-pseudonyms'
    >>> label_of(Statement("retention", {"attributes": ["age", "sex"], "k": 5.0}))
    'retention, attributes = age + sex, k = 5'
    """
    if statement.steps != [statement]:
        return " → ".join(label_of(step) for step in statement.steps)
    parts = [statement.method]
    for name, value in non_default_parameters(statement).items():
        flag, values = name.replace("_", "-"), value if isinstance(value, list | tuple) else [value]
        texts = " + ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in values)
        parts.append((flag if value else f"no-{flag}") if isinstance(value, bool) else f"{flag} = {texts}")
    return ", ".join(parts)


def non_default_parameters(statement: Statement) -> dict[str, Any]:
    """Return the parameters of a single method that differ from their defaults.

    >>> non_default_parameters(Statement("generalize-by-count", {"k": 3, "suppress_cells": False}))
    {'k': 3}
    """
    fields = every_method[statement.method].model_fields if statement.method in every_method else {}
    parameters = dict(statement.parameters)
    for name, about in fields.items():
        if name in parameters and not about.is_required():
            default = about.get_default(call_default_factory=True)
            if parameters[name] == default or (isinstance(default, tuple) and parameters[name] == list(default)):
                del parameters[name]
    return parameters
