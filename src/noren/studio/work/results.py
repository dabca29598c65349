"""What is kept of a run: guesses, scores and failures while it goes on; its result, and how it is judged when shown.

What attackers guessed and judges said is kept as soon as each is finished, so that nothing is done twice. Guesses name
customers: they lie in the job's private folder and no page shows them. ``outcome.json`` holds the scores, what the
attacks noted, what failed and why, and whether the release was audited. ``doing.json`` names what is under way; where a
worker dies, it tells what it died of.

A finished run keeps what was found of it (:class:`~noren.judgement.evidence.Facts`), untouched by any rule. So another
rule judges every run anew without work. Beside the facts lies a copy of where a run stood by the rule it was made
under, for lists are long and reckoning takes a moment. What failed is kept as ``failed: [{"component": …, "kind":
"attack" | "measure" | "audit", "reason": {"en": …, "ja": …}}]`` and whether its claim was checked as ``audited``, both
in its result and in its summary: nothing is said of it that sounds safer than it is.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field, ValidationError

from noren.attacks import attacks as every_attack
from noren.data.release import Release
from noren.errors import AuditUnfinishedError, FileError, InputError, NorenError, listing
from noren.execution.engine import ProtectResult
from noren.i18n import _, active_language
from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, label_of
from noren.judgement.rule import Rule, get_rule
from noren.judgement.verdict import Verdict
from noren.measures import measures as every_measure
from noren.measures import placing
from noren.protocols import Guess, Score
from noren.reports.run_view import RunView
from noren.studio.failure_reasons import reason_of
from noren.studio.folders import read_json, write_json
from noren.studio.store import Job
from noren.sweeps.cached_point import CachedPoint
from noren.tables import Texts
from noren.web.errors import is_disk_full
from noren.work.run import RunStore, Stage

say = Texts(__name__)
_OUTCOME, _DOING, _GUESSES = "outcome.json", "doing.json", "guesses"
_EMPTY: dict[str, Any] = {"label": "", "notes": {}, "scores": {}, "failed": [], "audited": None, "engines": {}}
Part = Literal["attack", "measure", "audit"]


class RunFolder(RunStore):
    """What a run has so far, in the folder of its job.

    Where it is given what sweeps ``shared``, it takes their answers, and lets them have what this machine found.
    """

    def __init__(self, folder: Path, shared: CachedPoint | None = None) -> None:
        self.folder, self._shared = folder, shared
        self.release: Release | None = None
        """The release, where sweeps have the same; None where this run made another."""
        self._content: dict[str, Any] = deepcopy(_EMPTY) | (read_json(folder / _OUTCOME) or {})
        self.failed: list[dict[str, Any]] = self._content["failed"]
        """What did not come to its end."""
        self.audited: bool | None = self._content["audited"]
        """Whether the claim of the release was checked: None before it was made, and where it claims nothing."""
        self.engines: dict[str, str] = self._content["engines"]
        """Where each component ran, where a cluster was asked for."""
        guesses = {
            name: Guess(name, pl.read_parquet(folder / _GUESSES / f"{name}.parquet"), notes)
            for name, notes in self._content["notes"].items()
        }
        scores = {
            name: Score(entry["value"], entry["parts"], entry.get("notes", {}))
            for name, entry in self._content["scores"].items()
        }
        super().__init__(guesses, scores)

    def was_tried(self, kind: Part, name: str) -> bool:
        """Tell whether a component came to its end, or failed and is not to be tried again."""
        done = name in (self.guesses if kind == "attack" else self.scores)
        return done or any((failure["kind"], failure["component"]) == (kind, name) for failure in self.failed)

    def note_release(self, label: str, *, audited: bool | None) -> None:
        """Keep that the release is there, and whether it was audited."""
        self.audited = audited
        self._write(label=label, audited=audited, released=True)

    def find_release(self, out: Path) -> bool:
        """Tell whether the release is there, its audit ended or failed as told; one that sweeps have is put there."""
        if self._content.get("released", False) and (self.folder / "release").is_dir():
            return True
        if self._shared is None or not self._shared.take_release(out):
            return False
        statement = Release.load(out).statement
        self.note_release(label_of(statement), audited=True if statement.claims_k else None)
        return True

    def add_release(self, made: ProtectResult, seconds: float) -> None:
        """Keep what is known of a release that was made."""
        name = made.statement.method
        if isinstance(made.failure, AuditUnfinishedError):
            if is_disk_full(made.failure):
                raise made.failure
            traceback.print_exception(made.failure)
            self.add_failure("audit", name, reason_of(made.failure.__cause__ or made.failure, name))
        self.note_release(label_of(made.statement), audited=made.audited)
        if made.audited is not False:
            self._share(name, lambda shared: shared.add_release(self.folder / "release", seconds))

    def find_guess(self, name: str) -> Guess | None:
        """Return what an attack guessed in a sweep."""
        return None if self.release is None or self._shared is None else self._shared.guess(name)

    def find_score(self, name: str) -> Score | None:
        """Return what a measure said in a sweep."""
        return None if self.release is None or self._shared is None else self._shared.score(name)

    def add_guess(self, name: str, guess: Guess, seconds: float | None) -> None:
        """Keep what an attack guessed."""
        (self.folder / _GUESSES).mkdir(exist_ok=True, mode=0o700)
        guess.pairs.write_parquet(self.folder / _GUESSES / f"{name}.parquet")
        super().add_guess(name, guess, seconds)
        notes = json.loads(json.dumps(dict(guess.notes), default=str))
        self._write(notes=self._content["notes"] | {name: notes})
        if (release := self.release) is not None and seconds is not None:
            self._share(name, lambda shared: shared.add_guess(guess, release, seconds))

    def add_score(self, name: str, score: Score, seconds: float | None) -> None:
        """Keep what a measure said."""
        super().add_score(name, score, seconds)
        stored = json.loads(json.dumps(score.as_dict(), default=str, allow_nan=False))
        self._write(scores=self._content["scores"] | {name: stored})
        if self.release is not None and seconds is not None:
            self._share(name, lambda shared: shared.add_score(name, score, seconds))

    def _share(self, name: str, work: Callable[[CachedPoint], None]) -> None:
        """Let sweeps have what this machine made; where they cannot, the run has it anyway. A full disk ends it."""
        if self._shared is None or self.engines.get(name, "local") != "local":
            return
        try:
            work(self._shared)
        except (OSError, NorenError) as error:
            if is_disk_full(error):
                raise
            traceback.print_exception(error)

    def fail(self, stage: Stage, name: str, error: Exception) -> None:
        """Keep why a component failed. A full disk ends the run: nothing after it could be kept either."""
        if is_disk_full(error):
            raise error
        if isinstance(error, InputError) and stage == "measure":
            return
        traceback.print_exception(error)
        self.add_failure(stage, name, reason_of(error, name))

    def add_engine(self, component: str, engine: str) -> None:
        """Keep where a component ran."""
        self.engines[component] = engine
        self._write()

    def add_failure(self, kind: Part, name: str, reason: dict[str, str]) -> None:
        """Keep that a component failed, and why."""
        self.failed.append({"component": name, "kind": kind, "reason": reason})
        self._write()

    @contextmanager
    def doing(self, kind: Part, name: str) -> Iterator[None]:
        """Say what is under way, for whoever finds the worker dead."""
        write_json(self.folder / _DOING, {"kind": kind, "component": name})
        yield
        (self.folder / _DOING).unlink(missing_ok=True)

    def outcome(self, release: Release) -> Outcome:
        """Return all of it together with the release, which says so where its audit failed."""
        statement = release.statement
        if self.audited is False and "audit" not in statement.notes:
            noted = replace(statement, notes={**statement.notes, "audit": "failed"})
            release = replace(release, statement=noted)
        failed = {part["component"]: part["reason"]["en"] for part in self.failed if part["kind"] != "audit"}
        return Outcome(self._content["label"], release, self.guesses, self.scores, failed)

    def _write(self, **values: Any) -> None:
        self._content |= values
        write_json(self.folder / _OUTCOME, self._content)


def set_aside(folder: Path, reason: dict[str, str]) -> bool:
    """Set aside the attack, the measure or the audit at which a worker was killed; tell whether there was one."""
    doing = read_json(folder / _DOING)
    if doing is None:
        return False
    (folder / _DOING).unlink()
    run = RunFolder(folder)
    if doing["kind"] == "audit":
        run.note_release(label_of(Release.load(folder / "release").statement), audited=False)
    run.add_failure(doing["kind"], doing["component"], reason)
    return True


def forget_failures(folder: Path) -> None:
    """Let everything be tried again that failed; a release whose audit failed is made and audited anew."""
    content = read_json(folder / _OUTCOME)
    if content is not None:
        released = content.get("released", False) and content.get("audited") is not False
        failed = content.get("failed", [])
        content |= {"failed": [], "released": released}
        if any(part["kind"] == "attack" for part in failed):  # who counts on all attacks counted without these
            content["notes"] = {n: old for n, old in content["notes"].items() if not every_attack[n].listens}
            content["scores"] = {
                n: old for n, old in content["scores"].items() if "guess" not in every_measure[n].needs
            }
        write_json(folder / _OUTCOME, content)
    (folder / _DOING).unlink(missing_ok=True)


def load_outcome(folder: Path) -> Outcome:
    """Return the outcome of a run."""
    return RunFolder(folder).outcome(Release.load(folder / "release"))


class Result(RunView):
    """What is kept of a finished run; ``audited`` tells whether its claim was checked, None where it claims nothing.

    ``engines`` says where each component ran, where a cluster was asked for.
    """

    failed: tuple[dict[str, Any], ...] = ()
    audited: bool | None = None
    engines: dict[str, str] = Field(default_factory=dict)

    @property
    def outcome(self) -> dict[str, Any]:
        """What failed and whether the claim was checked, as summaries of jobs hold it."""
        return {"failed": list(self.failed), "audited": self.audited}


def summary_of(view: Mapping[str, Any], rule: str | None) -> dict[str, Any]:
    """Return what lists of runs need of a kept result, with a copy of where it stands by a rule."""
    result, by = Result.model_validate(view), get_rule(rule)
    place = result.place(judge(result.facts, by)).model_dump(mode="json")
    rows, verdict = result.rows.model_dump(mode="json"), {"rule": by.as_dict(), "place": place}
    return {"rows": rows, "judged": verdict} | result.outcome


def result_in(folder: Path) -> Result | None:
    """Return what is kept of a run in the folder of its job."""
    path = folder / "result.json"
    content = read_json(path)
    if content is None:
        return None
    try:
        return Result.model_validate(content)
    except ValidationError:
        raise FileError(say("unreadable"), file=path) from None


@lru_cache(maxsize=128)
def judged(folder: Path, ended: str | None, rule: Rule) -> Verdict | None:
    """Return how safe the release of a run is by a rule; None where nothing is kept of it."""
    result = result_in(folder)
    return None if result is None else judge(result.facts, rule)


def place_by(job: Job, folder: Path, rule: Rule) -> RiskUtilityPoint:
    """Return where a finished run stands on the map, by a rule."""
    judged_before = job.summary.get("judged")
    if judged_before is not None and judged_before["rule"] == rule.as_dict():
        return RiskUtilityPoint.model_validate(judged_before["place"])
    return _place(folder, job.ended, rule) or RiskUtilityPoint(label=job.label)


@lru_cache(maxsize=4096)
def _place(folder: Path, ended: str | None, rule: Rule) -> RiskUtilityPoint | None:
    result, verdict = result_in(folder), judged(folder, ended, rule)
    return None if result is None or verdict is None else result.place(verdict)


def failures(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what failed, in the reader's language: the component, what it is, and why."""
    language = active_language()
    return [
        part | {"what": say(f"kind.{part['kind']}"), "reason": part["reason"].get(language) or part["reason"]["en"]}
        for part in summary.get("failed", [])
    ]


def engine_sentences(engines: Mapping[str, str]) -> list[str]:
    """Return where the components of a run ran, the cluster first; nothing where no cluster was asked for.

    >>> engine_sentences({"pseudonymize": "local[2]", "nearest": "local"})[0]
    'On the cluster local[2]: pseudonymize.'
    """
    where = {
        engine: listing([name for name in engines if engines[name] == engine])
        for engine in sorted(set(engines.values()), key=lambda engine: (engine == "local", engine))
    }
    return [say("ran.here" if e == "local" else "ran.cluster", engine=e, names=names) for e, names in where.items()]


def missing_sentence(summary: Mapping[str, Any]) -> str:
    """Return what the verdict leaves out because it failed, as one sentence; nothing where nothing failed."""
    failed = failures(summary)
    if not failed:
        return ""
    if summary.get("audited") is False:
        return say("missing.audit")
    attacks = [part for part in failed if part["kind"] == "attack"]
    names = [part["component"] for part in attacks or failed]
    return say("missing.attacks" if attacks else "missing.measures", len(names), count=len(names), names=listing(names))


def unmeasured_reason(summary: Mapping[str, Any], axis: Literal["use", "risk"]) -> str:
    """Return why the use or the risk is not known: a measure that could tell it failed, or nobody asked for one."""
    measures = sorted(measure.name for measure in placing()) if axis == "use" else ["reid-rate", "classes"]
    failed = {failure["component"]: failure["reason"] for failure in failures(summary)}
    reason = next((failed[name] for name in measures if name in failed), None)
    return _("not measured") if reason is None else f"{_('failed')}: {reason}"
