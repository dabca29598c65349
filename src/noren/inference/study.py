"""Inferences against a control group: on a release there is, or over seeds on people of whom some are held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from noren.api import as_records, protect
from noren.data.categories import as_released
from noren.data.frames import History, Records, ResultSet, Table
from noren.data.reading import SchemaLike, as_public, checked_seed, open_release
from noren.data.release import Release
from noren.data.statement import Statement
from noren.engines.blocks import run_interruptibly
from noren.errors import InputError, ParameterError, suggestion
from noren.inference.findings import THREATS, Inferred, Threat, attribute_result, mean_of, membership_result
from noren.inference.inferences import MEMBERSHIP, secrets_of, unseen_item, vote, ways
from noren.inference.people import PeoplePool, pool_of, reject_overlap, split
from noren.progress import Progress, part_of, silent
from noren.protocols import Method
from noren.tables import Texts

say = Texts(__name__)


@dataclass(frozen=True, repr=False)
class InferenceStudy:
    """The results of inferences on one release or over several seeds.

    Attributes
    ----------
    inferred
        Each way to infer; of several seeds the mean.
    seeds
        How many releases were made; 0 where one was given.
    not_tried
        The threats that could not be tried, with the reason.
    """

    inferred: tuple[Inferred, ...]
    seeds: int = 0
    not_tried: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        told = [f"{result.threat} by {result.by} {result.excess:+.1%}" for result in self.inferred]
        return f"InferenceStudy(beyond the control group: {', '.join(told) or 'nothing tried'})"

    def _repr_html_(self) -> str:
        """Return how a notebook shows the study: what each way infers, with its interval, and what was not tried."""
        names = ["threat", "about", "by", "number", "value", "low", "high"]
        rows = [
            (r.threat, r.about, r.by, n, e.value, e.low, e.high) for r in self.inferred for n, e in r.numbers.items()
        ]
        return ResultSet({}, pl.DataFrame(rows, names, orient="row"), self.not_tried)._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        results = [result.model_dump(mode="json") | {"excess": result.excess} for result in self.inferred]
        return {"inferred": results, "seeds": self.seeds, "not_tried": dict(self.not_tried)}


def infer(
    original: Any,
    release: Any = None,
    *,
    control: Any = None,
    method: str | Method | None = None,
    hold_out: float = 0.2,
    seeds: int = 5,
    seed: int = 0,
    targets: int = 1000,
    threats: Sequence[Threat] | None = None,
    secret: str | None = None,
    schema: SchemaLike | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> InferenceStudy:
    """Infer membership and secret attributes, compared with a control group.

    Parameters
    ----------
    release, control
        A release of ``original`` or its folder, and people who are not in it.
    method, hold_out, seeds
        Or a method with its ``parameters``: for each seed a share of people is held out, the others are protected, and
        both are inferred about; every number is the mean over the seeds.
    seed
        What the first draw of people starts from.
    targets
        About how many members, and controls, at most.
    threats
        ``membership``, ``attribute``; left out, both, as far as the data let them be tried.
    secret
        The column of a table that the attacker wants; left out, every sensitive one.

    Examples
    --------
    Pseudonyms hide no one: everybody's own history is there, and no outsider's is.

    >>> import noren
    >>> history = noren.sample(customers=100, rows=1500, items=200, seed=1)
    >>> study = infer(history, method="pseudonymize", hold_out=0.3, seeds=2, threats=["membership"])
    >>> [(one.by, one.numbers["tpr at 0.1"].value) for one in study.inferred]
    [('likelihood', 1.0), ('nearness', 1.0)]
    """
    data, seed = as_records(original, schema), checked_seed(seed)
    for threat in threats or ():
        if threat not in THREATS:
            about = {"hint": suggestion(threat, THREATS), "names": ", ".join(THREATS)}
            raise ParameterError(say("unknown_threat", setting="threat", value=threat, **about))
    if targets < 1:
        raise ParameterError.out_of_range("targets", targets, "targets >= 1")
    if (release is None) == (method is None):
        raise ParameterError(say("release_or_method"))
    how: dict[str, Any] = {"targets": targets, "threats": threats, "secret": secret}
    if release is None:
        if control is not None:
            raise ParameterError(say("control_of_a_method"))
        return held_out(data, method, parameters, hold_out, range(seed, seed + seeds), progress, **how)
    if parameters:
        raise ParameterError(say("parameter_of_no_method", name=next(iter(parameters))))
    if control is None:
        raise ParameterError(say("no_control"))
    there = open_release(release)
    public = as_public(there, data)
    statement = there.statement if isinstance(there, Release) else Statement("unknown")
    return inferred_from(data, as_records(control, data.schema), public, statement, seed=seed, progress=progress, **how)


def held_out(
    data: Records,
    method: Any,
    parameters: Mapping[str, Any],
    hold_out: float,
    seeds: Sequence[int],
    progress: Progress,
    **how: Any,
) -> InferenceStudy:
    """Hold people out, protect the others and infer about both, for every seed; return the means."""
    if not seeds:
        raise ParameterError.out_of_range("seeds", 0, "seeds >= 1")
    studies = []
    for at, seed in enumerate(seeds):
        part = part_of(progress, at / len(seeds), (at + 1) / len(seeds))
        members, controls = split(data, hold_out, seed)
        release = protect(members, method, seed=seed, progress=part_of(part, 0.0, 0.5), **parameters)
        how |= {"seed": seed, "progress": part_of(part, 0.5, 1.0), "apart": True}
        studies.append(inferred_from(members, controls, release.public, release.statement, **how))
    means = tuple(mean_of(same) for same in zip(*(study.inferred for study in studies), strict=True))
    return InferenceStudy(means, len(seeds), studies[0].not_tried)


def inferred_from(
    members: Records,
    controls: Records,
    public: Records,
    statement: Statement,
    *,
    targets: int = 1000,
    threats: Sequence[Threat] | None = None,
    secret: str | None = None,
    seed: int = 0,
    progress: Progress = silent,
    apart: bool = False,
) -> InferenceStudy:
    """Infer about members and controls from one release; ``apart`` where it is known that they are."""
    if not apart:
        reject_overlap(members, controls)
    if isinstance(members, History) and isinstance(controls, History):
        # people in the words of the release: what its categories mean is public
        members, controls = (as_released(side, statement) for side in (members, controls))
    pool = pool_of(members, controls, targets, seed)
    results: list[Inferred] = []
    not_tried: dict[str, str] = {}
    for at, threat in enumerate(threats or THREATS):
        part = part_of(progress, at / 2, (at + 1) / 2, threat)
        try:
            results += run_interruptibly(_inferred, pool, public, statement, threat, secret, seed, part)
        except InputError as error:
            if threats is not None:  # asked for by name, and refused
                raise
            not_tried[threat] = str(error)
    progress(1.0)
    return InferenceStudy(tuple(results), 0, not_tried)


def _inferred(
    pool: PeoplePool,
    public: Records,
    statement: Statement,
    threat: Threat,
    secret: str | None,
    seed: int,
    progress: Progress,
) -> list[Inferred]:
    names = ways(statement) if threat == "membership" else secrets_of(pool.people.schema, public, secret)
    results = []
    for at, name in enumerate(names):
        part = part_of(progress, at / len(names), (at + 1) / len(names))
        if threat == "membership":
            scores = MEMBERSHIP[name](pool, public, statement, part)
            results.append(membership_result(name, scores, pool.member, pool.rare))
            continue
        if isinstance(public, Table):
            guesses, by = vote(pool, public, statement, name, part), "vote"
        elif isinstance(public, History):
            guesses, by = unseen_item(pool, public, seed, part), "most alike"
        results.append(attribute_result(by, name, *guesses, pool.member, pool.rare))
    return results
