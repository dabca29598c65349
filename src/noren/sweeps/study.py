"""Results of a sweep: its points, their settings, the recommendation; as a frame, a folder, sentences."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from noren.data.formats.files import writing_folder
from noren.data.formats.text_layout import neutral_cells
from noren.data.schema import Kind, Schema
from noren.data.statement import Statement
from noren.i18n import _, active_language, use_language
from noren.judgement.evidence import AttackResult, facts_from
from noren.judgement.frontier import Choice, RiskUtilityPoint, combined_point, frontier, recommend, risk_utility_point
from noren.judgement.judging import judge
from noren.judgement.release_facts import ReleaseFacts
from noren.judgement.rule import Rule
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.protocols import Score
from noren.sweeps.defaults import strength_text
from noren.sweeps.pieces import score_of
from noren.sweeps.plan import Point, Setting, SweepRequest
from noren.tables import table_of
from noren.version import __version__
from noren.work.store import WorkUnit

_NO_ANSWER = 1e6
"""How far off an answer is that there is none."""


@dataclass(frozen=True)
class StudyData:
    """Facts of the data of a study: schema, numbers of rows and people, digest; not the data themselves.

    ``file`` and ``master`` are where the data were read from, where that is known.
    """

    schema: Schema
    rows: int
    people: int
    digest: str
    file: Path | None = None
    master: Path | None = None


@dataclass(frozen=True, repr=False)
class SweepStudy:
    """The result of a sweep.

    Attributes
    ----------
    source, request
        Facts of the data, and what was requested.
    points
        Each release, setting by setting and seed by seed.
    computed, cached
        How many pieces of work were computed, and how many came from the cache.
    cache
        The cache folder.

    Examples
    --------
    >>> import tempfile
    >>> from noren.api import sample
    >>> from noren.sweeps.sweep import sweep
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     study = sweep(history, "generalize-by-count", k=[2, 5], attacks=["jaccard"], measures=[], seeds=[1],
    ...                   cache=cache, workers=1)
    >>> study.frame["k"].to_list(), study.frame["verdict"].to_list()
    ([2.0, 5.0], ['broken', 'proved'])
    """

    source: StudyData
    request: SweepRequest
    points: Sequence[PointResult]
    computed: int = 0
    cached: int = 0
    cache: Path | None = field(default=None, repr=False)
    version: str = __version__

    @cached_property
    def choices(self) -> list[Choice]:
        """The recommendation, one for each measure of utility among the points."""
        return recommend([setting.place for setting in self.settings], self._needs(self.settings))

    def _needs(self, settings: Sequence[SettingResult]) -> list[tuple[int, float]]:
        """Return of each setting how many of the needed answers are not usable, and how far off they are on average."""
        if not self.request.purpose:
            return []
        ratios = [[*setting.answers(self.request.purpose).values()] for setting in settings]
        return [(sum(ratio > 1 for ratio in some), statistics.fmean(some)) for some in ratios]

    @cached_property
    def settings(self) -> list[SettingResult]:
        """The settings in order, each over its runs."""
        runs: dict[int, list[PointResult]] = {}
        for point in self.points:
            runs.setdefault(id(point.setting), []).append(point)
        bare = [SettingResult(point_results[0].setting, point_results) for point_results in runs.values()]
        places = [setting.place for setting in bare]
        best, chosen = frontier(places), {choice.chosen for choice in recommend(places, self._needs(bare))}
        return [replace(setting, on_frontier=i in best, recommended=i in chosen) for i, setting in enumerate(bare)]

    @property
    def answer(self) -> list[str]:
        """The recommendation, its reasons and alternatives, in sentences; and what failed."""
        from noren.sweeps.advice import answer, failure_text

        failed = [
            _("{sentence}.").format(sentence=f"{setting.label}: {failure_text(name, why)}")
            for setting in self.settings
            for name, why in setting.failed.items()
        ]
        answers = [setting.answers(self.request.purpose) for setting in self.settings]
        first, *rest = answer(self.settings, self.choices, answers, needed=bool(self.request.purpose))
        return [first, *failed, *rest]

    @property
    def recommendation(self) -> str:
        """The recommendation with its reasons, as one text."""
        return " ".join(self.answer)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per point, at its end the measures in alphabetical order and the right guesses of each attack.

        See :func:`explore`.
        """
        measures = sorted({name for point in self.points for name in point.scores})
        attacks = self.request.attacks if self.source.schema.kind == Kind.HISTORY else ()
        hits = [f"{attack.name}.right" for attack in attacks]
        schema = _COLUMNS | dict.fromkeys(measures, pl.Float64) | dict.fromkeys(hits, pl.Int64)
        rows = [
            _row(run, setting) | {name: score.value for name, score in run.scores.items()}
            for setting in self.settings
            for run in setting.runs
        ]
        return pl.DataFrame(rows, schema=schema)

    def save(self, folder: str | Path, *, replace_existing: bool = False) -> Path:
        """Write the study as a folder: page, chart, tables, and the file that repeats it, the only secret one.

        It is written whole or not at all; only an earlier study is replaced.
        """
        from noren.sweeps.files import STUDY, as_plain, holds_study, sweep_toml
        from noren.sweeps.page import frontier_svg, page_html

        folder = Path(folder)
        with writing_folder(folder, replace=(replace_existing or holds_study(folder)) and STUDY) as aside:
            # no seeds, and no texts of unexpected errors
            refused = pl.when(pl.col("state") != "failed").then("refused").alias("refused")
            neutral_cells(self.frame.drop("seed").with_columns(refused)).write_csv(aside / "table.csv")
            (aside / "sweep.toml").touch(mode=0o600)
            texts = {
                "report.html": page_html(self),
                "frontier.svg": frontier_svg(self),
                "table.json": json.dumps(as_plain(self), ensure_ascii=False, indent=2, allow_nan=False) + "\n",
                "sweep.toml": sweep_toml(self, folder),
            }
            for name, text in texts.items():
                (aside / name).write_text(text, encoding="utf-8", newline="\n")
        return folder

    def __repr__(self) -> str:
        return f"SweepStudy({len(self.settings)} settings; {self.answer[0] if self.points else 'nothing run'})"

    def _repr_html_(self) -> str:
        """Show the answer and the table in a notebook."""
        from noren.sweeps.page import short_html

        return short_html(self)


# --- points and settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PointResult:
    """One release of a sweep.

    Attributes
    ----------
    refused
        Why there is no release, in each language; empty where there is one.
    verdict, place
        The verdict by the rule, with its facts, and risk and utility; None without a release.
    left_out
        Attacks and measures that refused this release, and why, in each language.
    failed
        Attacks and measures that broke down, and why, in each language and (``kind``) in a word that can be shown;
        under the method's own name where there is no release for that reason.
    """

    setting: Setting
    seed: int
    run: int
    refused: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    place: RiskUtilityPoint | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def status(self) -> VerdictStatus:
        """How it was judged; untried where there is no release."""
        return VerdictStatus.UNTRIED if self.verdict is None else self.verdict.status

    @property
    def state(self) -> Literal["done", "refused", "failed"]:
        """Whether there is a release (``done``), or the method ``refused`` or ``failed``."""
        return "done" if not self.refused else "failed" if self.failed else "refused"

    def reason(self, language: str | None = None) -> str:
        """Why there is no release, in the active language or another; empty where there is one."""
        return in_language(self.refused, language)


def in_language(texts: Mapping[str, str], language: str | None = None) -> str:
    """Return a sentence that is stored in several languages, in the active one if available."""
    return texts.get(language or active_language()) or next(iter(texts.values()), "")


def point_result(
    point: Point, results: Mapping[WorkUnit, Mapping[str, Any]], source: StudyData, rule: Rule
) -> PointResult:
    """Return the result of a point whose pieces are all done, by a rule."""
    made = results[point.release.unit]
    seconds = sum(float(results[piece.unit]["seconds"]) for piece in point.pieces)
    bare = PointResult(point.setting, point.seed, point.run, seconds=seconds)
    if "refused" in made:
        return replace(bare, refused=made["refused"])
    if "failed" in made:
        return replace(bare, refused=made["failed"], failed={point.setting.method.name: made["failed"]})
    guessed = {name: results[piece.unit] for name, piece in point.guesses.items()}
    scored = {name: results[piece.unit] for name, piece in point.scores.items()}
    parts = guessed | scored
    failed = {name: result["failed"] for name, result in parts.items() if "failed" in result}
    scores = {name: score for name, result in scored.items() if (score := score_of(result)) is not None}
    attacked = [result["tried"] for _name, result in sorted(guessed.items()) if "tried" in result]
    facts = facts_from(
        source.schema.kind,
        source.people,
        Statement(**made["statement"]),
        scores,
        tuple(AttackResult.model_validate(result) for result in attacked),
        ReleaseFacts.model_validate(made["facts"]),
        failed=tuple(sorted(failed)),
    )
    verdict = judge(facts, rule)
    return replace(
        bare,
        rows={name: int(made[name]) for name in ("public", "deleted", "added")},
        verdict=verdict,
        place=risk_utility_point(point.setting.label, verdict, scores),
        scores=scores,
        left_out={name: result["refused"] for name, result in parts.items() if "refused" in result},
        failed=failed,
    )


@dataclass(frozen=True)
class SettingResult:
    """A setting over all its runs: the worst verdict, the mean utility, the highest risk."""

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
        """How strong the protection is: ``k = 5``; empty where the method has no strength."""
        return strength_text(self.method, self.setting.method.parameters())

    @property
    def done(self) -> list[PointResult]:
        """The runs that came to a release."""
        return [run for run in self.runs if not run.refused]

    @property
    def worst(self) -> PointResult | None:
        """The run with the worst verdict, and of these the highest risk; none where all were refused."""

        def danger(run: PointResult) -> tuple[int, float]:
            return -run.status.order, -1.0 if run.place is None or run.place.risk is None else run.place.risk

        return max(self.done, key=danger, default=None)

    @property
    def verdict(self) -> Verdict | None:
        """How safe the worst run is."""
        return None if self.worst is None else self.worst.verdict

    @property
    def place(self) -> RiskUtilityPoint:
        """Risk and utility of the setting."""
        return combined_point([run.place or RiskUtilityPoint(label=run.setting.label) for run in self.runs])

    @property
    def failed(self) -> dict[str, Mapping[str, str]]:
        """What failed in some run, and why."""
        return {name: reason for run in self.runs for name, reason in run.failed.items()}

    @property
    def scores(self) -> dict[str, float]:
        """The mean of each measure over the runs that have it."""
        names = sorted({name for run in self.done for name in run.scores})
        return {
            name: statistics.fmean(run.scores[name].value for run in self.done if name in run.scores) for name in names
        }

    def answers(self, names: Sequence[str] = ()) -> dict[str, float]:
        """Return how far off answers are in the worst run: 1 is the limit of usable, 2 that of with care."""
        notes = [run.scores["analyst"].notes["questions"] for run in self.done if "analyst" in run.scores]
        names = names or (list(notes[0]) if notes else [])
        return {
            n: max((run[n]["ratio"] if n in run else _NO_ANSWER for run in notes), default=_NO_ANSWER) for n in names
        }

    @property
    def uses(self) -> list[float]:
        """The utility of each run."""
        return [run.place.use for run in self.done if run.place is not None and run.place.use is not None]

    @property
    def verdict_label(self) -> str:
        """The verdict in a word with a mark, so that it does not depend on colour."""
        if not self.done:
            return _("– failed") if any(run.failed for run in self.runs) else _("– refused")
        return verdict_label(self.place.status)


# --- the table -------------------------------------------------------------------------------------------------------

_COLUMNS: dict[str, Any] = {name: getattr(pl, dtype) for name, dtype in table_of(__name__)["columns"].items()}


def _row(point: PointResult, setting: SettingResult) -> dict[str, Any]:
    """Return a row of the table, in English, without missing values."""
    place, verdict, names = point.place or RiskUtilityPoint(label=point.setting.label), point.verdict, set(_COLUMNS)
    row = place.model_dump(include=names) | {
        "method": point.setting.method.name,
        "parameters": json.dumps(point.setting.parameters, ensure_ascii=False),
        "run": point.run,
        "seed": point.seed,
        "state": point.state,
        "refused": point.reason("en") or None,
        "on_frontier": setting.on_frontier,
        "recommended": setting.recommended,
        "rows_deleted": point.rows.get("deleted"),
        "rows_added": point.rows.get("added"),
    }
    if verdict is not None:
        with use_language("en"):
            row["sentence"] = verdict.sentence
        row |= {
            "verdict": str(verdict.status),
            "reason": str(verdict.reason),
            "rule": verdict.rule.name or str(verdict.rule.tolerance),
            **(verdict.evidence[0].model_dump(include=names) if verdict.evidence else {}),
            **{f"{attack.attack}.right": attack.right for attack in verdict.evidence},
        }
    return row


def rows_of(settings: Sequence[SettingResult]) -> list[dict[str, Any]]:
    """Return each point as plain data, without its seed: the row of the table, results of attacks, parts of scores."""
    rows = []
    for point, result in [(run, setting) for setting in settings for run in setting.runs]:
        row = _row(point, result)
        row = {name: row.get(name) for name in _COLUMNS if name not in ("seed", "parameters")}
        row["parameters"] = point.setting.parameters
        row["evidence"] = [] if point.verdict is None else [exhibit.model_dump() for exhibit in point.verdict.evidence]
        table = None if point.verdict is None else point.verdict.facts.table
        row["table"] = None if table is None else table.model_dump()
        row["scores"] = {
            name: {"value": score.value, "parts": dict(score.parts)} for name, score in sorted(point.scores.items())
        }
        row["refused"] = None if point.state == "failed" else row["refused"]
        row["failed"] = {name: reason["kind"] for name, reason in sorted(point.failed.items())}
        row["left_out"] = {name: in_language(reason, "en") for name, reason in sorted(point.left_out.items())}
        rows.append(row)
    return rows
