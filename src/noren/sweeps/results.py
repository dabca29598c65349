"""What came of the points of a sweep: facts, verdicts, places on the map; and of each setting over its runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noren.data.schema import Kind
from noren.data.statement import Statement
from noren.i18n import _, active_language
from noren.judgement.evidence import Tried, facts_from
from noren.judgement.judging import judge
from noren.judgement.place import Place, over_runs, place_of
from noren.judgement.release_facts import ReleaseFacts
from noren.judgement.rule import Rule
from noren.judgement.sentences import word_text
from noren.judgement.verdict import Verdict, Word
from noren.protocols import Score
from noren.sweeps.plan import Point, Setting
from noren.sweeps.usual import strength_words
from noren.work.piece import Unit

__all__ = ["PointResult", "SettingResult", "in_language", "point_result", "setting_results"]


@dataclass(frozen=True)
class PointResult:
    """One release of a sweep.

    Attributes
    ----------
    refused
        Why there is no release, in each language; empty where there is one.
    verdict, place
        How safe it is by the rule, with the facts it was judged from, and where it stands; None where there is none.
    left_out
        Attacks and measures that refused this release, and why, in each language.
    failed
        Attacks and measures that broke down, and why, in each language and (``kind``) in a word that may be shown;
        under the method's own name where there is no release for that reason.
    """

    setting: Setting
    seed: int
    run: int
    refused: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    place: Place | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """The method and its parameters."""
        return self.setting.label

    @property
    def word(self) -> Word:
        """How it was judged; untried where there is no release."""
        return Word.UNTRIED if self.verdict is None else self.verdict.word

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


def point_result(
    point: Point, results: Mapping[Unit, Mapping[str, Any]], *, kind: Kind, people: int, rule: Rule
) -> PointResult:
    """Return what came of a point of data about so many people, whose pieces are all done, by a rule."""
    made = results[point.release.unit]
    seconds = sum(float(results[piece.unit]["seconds"]) for piece in point.pieces)
    if "refused" in made:
        return PointResult(point.setting, point.seed, point.run, made["refused"], seconds=seconds)
    if "failed" in made:
        name, why = point.setting.method.name, made["failed"]
        return PointResult(point.setting, point.seed, point.run, why, failed={name: why}, seconds=seconds)
    guessed = {name: results[piece.unit] for name, piece in point.guesses.items()}
    scored = {name: results[piece.unit] for name, piece in point.scores.items()}
    parts = guessed | scored
    failed = {name: found["failed"] for name, found in parts.items() if "failed" in found}
    scores = {
        name: Score(found["score"]["value"], found["score"]["parts"], found["score"]["notes"])
        for name, found in scored.items()
        if found.get("score") and found["score"]["value"] is not None
    }
    facts = facts_from(
        kind,
        people,
        Statement(**made["statement"]),
        scores,
        tuple(Tried.model_validate(found["tried"]) for _name, found in sorted(guessed.items()) if "tried" in found),
        ReleaseFacts.model_validate(made["facts"]),
        failed=tuple(sorted(failed)),
    )
    verdict = judge(facts, rule)
    return PointResult(
        point.setting,
        point.seed,
        point.run,
        rows={name: int(made[name]) for name in ("public", "deleted", "added")},
        verdict=verdict,
        place=place_of(point.setting.label, verdict, scores),
        scores=scores,
        left_out={name: found["refused"] for name, found in parts.items() if "refused" in found},
        failed=failed,
        seconds=seconds,
    )


@dataclass(frozen=True)
class SettingResult:
    """A setting over all its runs: the worst verdict, the mean use, the highest risk."""

    setting: Setting
    runs: Sequence[PointResult]
    on_frontier: bool = False
    recommended: bool = False

    @property
    def label(self) -> str:
        """The method and its parameters."""
        return self.setting.label

    @property
    def method(self) -> str:
        """The name of its method."""
        return self.setting.method.name

    @property
    def strength(self) -> str:
        """How strong the protection is: ``k = 5``; empty where nothing tells."""
        return strength_words(self.method, self.setting.method.parameters())

    @property
    def done(self) -> list[PointResult]:
        """The runs that came to a release."""
        return [run for run in self.runs if not run.refused]

    @property
    def worst(self) -> PointResult | None:
        """The run that is judged worst and of these gives the most away; none where all were refused."""

        def danger(run: PointResult) -> tuple[int, float]:
            return -run.word.order, -1.0 if run.place is None or run.place.risk is None else run.place.risk

        return max(self.done, key=danger, default=None)

    @property
    def verdict(self) -> Verdict | None:
        """How safe the worst run is."""
        return None if self.worst is None else self.worst.verdict

    @property
    def place(self) -> Place:
        """Where the setting stands."""
        return over_runs([run.place or Place(label=run.label) for run in self.runs])

    @property
    def failed(self) -> dict[str, Mapping[str, str]]:
        """What broke down in some run, and why."""
        return {name: said for run in self.runs for name, said in run.failed.items()}

    @property
    def scores(self) -> dict[str, float]:
        """The mean of each measure over the runs that have it."""
        names = sorted({name for run in self.done for name in run.scores})
        return {
            name: statistics.fmean(run.scores[name].value for run in self.done if name in run.scores) for name in names
        }

    @property
    def uses(self) -> list[float]:
        """The use that each run keeps."""
        return [run.place.use for run in self.done if run.place is not None and run.place.use is not None]

    @property
    def verdict_words(self) -> str:
        """How it was judged, in a word with a mark, so that colour is not its only carrier."""
        if not self.done:
            return _("– failed") if any(run.failed for run in self.runs) else _("– refused")
        return word_text(self.place.word)


def setting_results(points: Sequence[PointResult]) -> list[SettingResult]:
    """Return the settings of points, in order, each with its runs."""
    runs: dict[int, list[PointResult]] = {}
    for point in points:
        runs.setdefault(id(point.setting), []).append(point)
    return [SettingResult(some[0].setting, some) for some in runs.values()]
