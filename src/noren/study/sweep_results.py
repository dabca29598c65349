"""What came of the points of a sweep: places on the map, verdicts, scores; and of each setting over its runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noren.data.schema import Kind
from noren.data.statement import Statement
from noren.i18n import _, active_language
from noren.protocols import Score
from noren.study.findings import Verdict
from noren.study.run_risk import damage_of, verdicts_of
from noren.study.run_view import place_on_map
from noren.study.sweep_plan import SHARP, Asked, Point, Setting
from noren.study.table_risk import claimed_by, table_risk
from noren.units.unit import Unit

__all__ = ["PointResult", "SettingResult", "point_result", "setting_results"]


@dataclass(frozen=True)
class PointResult:
    """One release of a sweep.

    Attributes
    ----------
    refused
        Why there is no release, in each language; empty where there is one.
    attacks
        What each attack achieved, the most damaging first (:func:`noren.study.run_risk.attack_facts`).
    left_out
        Attacks and measures that refused this release, and why, in each language.
    failed
        Attacks and measures that broke down, and why, in each language and (``kind``) in a word that may be shown;
        under the method's own name where there is no release for that reason.
    survival
        The chance that it outlives the attackers asked for, under the sharp test; of histories alone.
    place
        Where it stands on the map (:func:`noren.study.run_view.place_on_map`).
    table_risk
        What a released table leaks.
    withstands
        Whether it is safe by the rule: see :func:`withstands`.
    undecided
        What failed, so that the rule can say nothing of the release; none where it can.
    """

    setting: Setting
    seed: int
    run: int
    refused: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    attacks: Sequence[Mapping[str, Any]] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    verdict: Mapping[str, str] = field(default_factory=dict)
    survival: float | None = None
    place: Mapping[str, Any] = field(default_factory=dict)
    table_risk: Mapping[str, Any] | None = None
    withstands: bool = False
    seconds: float = 0.0
    undecided: str | None = None

    @property
    def label(self) -> str:
        """The method and its parameters."""
        return self.setting.label

    @property
    def state(self) -> str:
        """Whether there is a release (``done``), or the method ``refused`` or ``failed``."""
        return "done" if not self.refused else "failed" if self.failed else "refused"

    def reason(self, language: str | None = None) -> str:
        """Why there is no release, in the language now spoken or another; empty where there is one."""
        return in_language(self.refused, language)


def in_language(said: Mapping[str, str], language: str | None = None) -> str:
    """Return a sentence that is kept in several languages, in the one now spoken if it is there."""
    return said.get(language or active_language()) or next(iter(said.values()), "")


def point_result(point: Point, kind: Kind, asked: Asked, results: Mapping[Unit, Any]) -> PointResult:
    """Return what came of a point whose pieces are all done."""
    made = results[point.release.unit]
    seconds = sum(float(results[piece.unit]["seconds"]) for piece in point.pieces)
    if "refused" in made:
        return PointResult(point.setting, point.seed, point.run, made["refused"], seconds=seconds)
    if "failed" in made:
        name = point.setting.method.name
        why = made["failed"]
        return PointResult(point.setting, point.seed, point.run, why, failed={name: why}, seconds=seconds)
    guessed = {name: results[piece.unit] for name, piece in point.guesses.items()}
    scored = {name: results[piece.unit] for name, piece in point.scores.items()}
    left_out = {name: found["refused"] for name, found in (guessed | scored).items() if "refused" in found}
    failed = {name: found["failed"] for name, found in (guessed | scored).items() if "failed" in found}
    scores = {
        name: Score(found["score"]["value"], found["score"]["parts"], found["score"]["notes"])
        for name, found in scored.items()
        if found.get("score") and found["score"]["value"] is not None
    }
    sharp = scores.pop(SHARP, None)
    attacks = [found["facts"] for _name, found in sorted(guessed.items()) if "facts" in found]
    attacks.sort(key=damage_of, reverse=True)
    statement = Statement(**made["statement"])
    risk = table_risk(statement, scores, claimed_by(statement)) if kind == Kind.TABLE else None
    verdict = verdicts_of(attacks)[0] if risk is None else dict.fromkeys(("paper", "sharp"), risk["verdict"])
    place = place_on_map(point.setting.label, statement, scores, risk, verdict["sharp"])
    survival = None if sharp is None else sharp.value
    safe = withstands(verdict["sharp"], survival, place["risk"], asked, kind)
    undecided = None
    if safe or not _refuted(verdict["sharp"], survival, place["risk"], asked):
        undecided = next((name for name in failed if name in _needed_by_rule(guessed, risk)), None)
    return PointResult(
        point.setting,
        point.seed,
        point.run,
        rows={name: int(made[name]) for name in ("public", "deleted", "added")},
        attacks=attacks,
        scores=scores,
        left_out=left_out,
        failed=failed,
        verdict=verdict,
        survival=survival,
        place=place,
        table_risk=risk,
        withstands=safe and undecided is None,
        seconds=seconds,
        undecided=undecided,
    )


def _needed_by_rule(attacks: Iterable[str], risk: Mapping[str, Any] | None) -> set[str]:
    """Return the attacks and measures without which the rule cannot call a release safe."""
    if risk is None:
        return {SHARP, *attacks}
    return set() if risk["basis"] == "proof" else {"classes"}


def _refuted(verdict: str, survival: float | None, risk: float | None, asked: Asked) -> bool:
    """Tell whether a release is unsafe by the rule, whatever else would be found."""
    return (
        verdict == Verdict.BROKEN
        or (survival is not None and survival < asked.require)
        or (asked.most_risk is not None and risk is not None and risk > asked.most_risk + 1e-9)
    )


def withstands(verdict: str, survival: float | None, risk: float | None, asked: Asked, kind: Kind) -> bool:
    """Tell whether a release is safe by the rule of a sweep.

    A history: no attack tried is effective under the sharp test, and the chance to outlive the attackers asked for is
    as high as required. A table: its classes keep what the method claims, or that is proven. Both: the risk is not
    above what is accepted.
    """
    if verdict != Verdict.WITHSTANDS:
        return False
    if kind == Kind.HISTORY and (survival is None or survival < asked.require):
        return False
    return asked.most_risk is None or (risk is not None and risk <= asked.most_risk + 1e-9)


@dataclass(frozen=True)
class SettingResult:
    """A setting over all its runs: the mean use, the highest risk, the lowest survival; safe if every run is."""

    setting: Setting
    runs: Sequence[PointResult]
    on_frontier: bool = False
    recommended: bool = False

    @property
    def done(self) -> list[PointResult]:
        """The runs that came to a release."""
        return [run for run in self.runs if not run.refused]

    @property
    def worst(self) -> PointResult | None:
        """The run that gives the most away; none where all were refused."""

        def danger(run: PointResult) -> tuple[bool, float, float]:
            risk = run.place.get("risk")
            return not run.withstands, 0.0 if risk is None else risk, -(run.survival or 0.0)

        return max(self.done, key=danger, default=None)

    @property
    def point(self) -> dict[str, Any]:
        """The setting as a point of the map and of the rule."""
        worst = self.worst
        if worst is None:
            empty: dict[str, Any] = dict.fromkeys(("use", "risk", "use_of", "risk_of", "k", "survival"))
            return empty | {"label": self.setting.label, "verdict": str(Verdict.UNTRIED), "withstands": False}
        uses = [run.place["use"] for run in self.done if run.place["use"] is not None]
        risks = [run.place["risk"] for run in self.done if run.place["risk"] is not None]
        alive = [run.survival for run in self.done if run.survival is not None]
        broken = any(run.verdict["sharp"] == Verdict.BROKEN for run in self.done)
        return dict(worst.place) | {
            "use": statistics.fmean(uses) if uses else None,
            "risk": max(risks, default=None),
            "survival": min(alive, default=None),
            "verdict": (
                str(Verdict.BROKEN) if broken else str(Verdict.UNTRIED) if self.undecided else worst.verdict["sharp"]
            ),
            "withstands": len(self.done) == len(self.runs) and all(run.withstands for run in self.done),
        }

    @property
    def failed(self) -> dict[str, Mapping[str, str]]:
        """What broke down in some run, and why; of survival under the name it is called by."""
        found = {name: said for run in self.runs for name, said in run.failed.items()}
        return {"survival" if name == SHARP else name: said for name, said in found.items()}

    @property
    def undecided(self) -> bool:
        """Whether the rule can say nothing of it, for something that it needs failed."""
        unsafe = any(not run.withstands and run.undecided is None for run in self.done)
        return not unsafe and any(run.undecided for run in self.done)

    def score(self, measure: str) -> float | None:
        """Return the mean of a measure over the runs that have it."""
        values = [run.scores[measure].value for run in self.done if measure in run.scores]
        return statistics.fmean(values) if values else None

    @property
    def verdict_words(self) -> str:
        """How it fared by the rule, in a few words with a mark, so that colour is not its only carrier."""
        if not self.done:
            return _("– failed") if any(run.failed for run in self.runs) else _("– refused")
        point = self.point
        if point["withstands"]:
            return _("● withstands")
        return _("■ not judged") if point["verdict"] == Verdict.UNTRIED else _("▲ does not withstand")


def setting_results(points: Sequence[PointResult]) -> list[SettingResult]:
    """Return the settings of points, in order, each with its runs."""
    runs: dict[int, list[PointResult]] = {}
    for point in points:
        runs.setdefault(id(point.setting), []).append(point)
    return [SettingResult(some[0].setting, some) for some in runs.values()]
