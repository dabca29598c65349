"""Scores of releases and guesses: the measures of the rulebook, and the facts for the verdict.

The result is the body of an entry of the log: plain data, numbers to ten decimals, texts in every language, nothing
of the clock or the machine. The same files give the same bytes.

It is done on this machine, or on a Spark cluster for what has a plan there; the log is the same. A cluster does what
looks at every row: the baseline attacks and the measures of a release. A guess has one line for each pseudonym and lies
in memory already, so its measures are done here. Numbers of a cluster are sums in another order; where that could move
a digit of the log, the number is computed here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import polars as pl

from noren import api
from noren.attacks.signatures import Signature
from noren.attacks.unique_rows import UniqueRows
from noren.contest.judging.checking import checked_guess, checked_release, failed_report, translated_report
from noren.contest.judging.prepared import (
    Prepared,
    guess_about_release,
    original_of,
    prepare,
    sketch_of,
    sketch_of_release,
    target_names,
)
from noren.contest.judging.scorer import UNEXPECTED
from noren.contest.judging.submissions import read_guess_file, row_numbers
from noren.contest.rulebook import Rulebook
from noren.contest.stability import by_customer
from noren.data.checks.report import Report
from noren.data.compatibility import class_sizes
from noren.data.frames import History
from noren.data.schema import Kind, Role
from noren.errors import ClusterError, InputError, NorenError, OutputError
from noren.execution.engine import Engine, OriginalInput, ReleaseInput, get_engine
from noren.i18n import LANGUAGES, _, retranslate, track_messages, use_language
from noren.judgement.evidence import AttackResult, attack_result, facts_from
from noren.judgement.judging import deciding_measures
from noren.judgement.release_facts import release_facts
from noren.progress import Progress, part_of, silent
from noren.protocols import Attack, Guess, Measure, Score
from noren.work.hash_chain import rounded
from noren.work.run import Run, RunStore

_UNSURE = 1e-11
"""By what share sums of the same numbers in another order may differ."""
Answer = TypeVar("Answer", Guess, Score)


class ClusterLostError(Exception):
    """A cluster was lost while scoring; the file is scored again elsewhere."""


class ScoringEngine(Engine):
    """This machine and optionally a cluster, which reads the files of one release from ``folder``."""

    def __init__(self, cluster: Engine | None = None, folder: Path | None = None) -> None:
        super().__init__()
        self._cluster, self._folder = cluster, folder

    def attack(
        self, original: OriginalInput, release: ReleaseInput, attack: Attack, *, progress: Progress = silent, **how: Any
    ) -> Guess:
        """Run a baseline attack: on the cluster if the attack has full knowledge."""
        whole = how["knowledge"] == 1 and how["item_prefix"] is None and not attack.listens
        # texts of which some are spelled in a way that Parquet does not keep (2.10) are compared here
        compares = isinstance(attack, Signature) or (isinstance(attack, UniqueRows) and attack.spelling)
        is_spelled = any(rows.spelling.exceptions for rows in (original.rows, release.whole.public))
        has_plan = self._cluster is not None and self._cluster.runs(attack)
        if whole and has_plan and not (compares and is_spelled):
            # a team reads the name of the attack alone
            options = {"seed": how["seed"], "progress": lambda done, words="", best=None: progress(done)}
            guess: Guess | None = self._on_cluster(
                original, release, lambda cluster, *files: cluster.attack(*files, attack, **options)
            )
            if guess is not None:
                return guess
        return super().attack(original, release, attack, **how)

    def measure(self, original: OriginalInput, release: ReleaseInput, measure: Measure, **how: Any) -> Score:
        """Measure a release, or a guess about it: on the cluster if no guess is needed."""
        score = None
        if "guess" not in measure.needs and self._cluster is not None and self._cluster.runs(measure):
            score = self._on_cluster(original, release, lambda cluster, *files: cluster.measure(*files, measure))
        return super().measure(original, release, measure, **how) if score is None else score

    def is_sure(self, value: float) -> bool:
        """Tell whether a value has the same digits in the log, whatever the order of its sum."""
        if self._cluster is None:
            return True
        return value == int(value) or rounded(value * (1 - _UNSURE)) == rounded(value * (1 + _UNSURE))

    def _on_cluster(
        self,
        original: OriginalInput,
        release: ReleaseInput,
        work: Callable[[Engine, OriginalInput, ReleaseInput], Answer],
    ) -> Answer | None:
        """Do work on the cluster; None if it is refused, so that errors of the release are reported by this machine."""
        if self._cluster is None or self._folder is None:
            return None
        data, made = self._folder / "original.parquet", self._folder / "release"
        if not made.exists():  # the first who asks writes the files
            original.rows.frame.select(original.schema.names).write_parquet(data)
            release.whole.save(made)
        try:
            return work(self._cluster, OriginalInput(original.schema, data), ReleaseInput.of(release.whole, made))
        except (ClusterError, OutputError) as error:
            raise ClusterLostError(str(error)) from error
        except NorenError:
            return None


@contextmanager
def on_cluster(engine: str, folder: Path) -> Iterator[ScoringEngine]:
    """Yield an engine that scores one release on a cluster, with a temporary folder for its files.

    If no session can be created, the cluster counts as lost.
    """
    from noren.execution.session import session

    try:
        session(engine)
    except ClusterError as error:
        raise ClusterLostError(str(error)) from error
    folder.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix="judged-") as place:
        yield ScoringEngine(get_engine(engine), Path(place))


def in_memory(release: Prepared) -> tuple[OriginalInput, ReleaseInput]:
    """Return the original and the release as input of engines."""
    return OriginalInput(release.original.schema, None, release.original), ReleaseInput.of(release.release)


_BY_PERIOD = ("um", "mm", "emm")
"""Measures that look at each customer and period."""
_HERE = ScoringEngine()


def score_release(
    rulebook: Rulebook,
    original: Path,
    submitted: Path,
    *,
    master: Path | None = None,
    progress: Progress = silent,
    engine: ScoringEngine = _HERE,
) -> dict[str, Any]:
    """Check and judge a release.

    Returns ``valid``, ``report``, ``values`` by measure, ``facts`` for the judgement, what the ``baseline``'s attacks
    found, how many pseudonyms are in ``classes`` of equal histories of each size, and the ``sketch`` by which near
    duplicates are seen. An invalid release has a report alone.
    """
    track_messages()  # the log holds every language
    with use_language("en"):
        report, release = checked_release(rulebook, original, submitted, master=master)
        if release is not None:
            progress(0.1)
            try:
                values = _values(release, rulebook.of_release(), {}, engine)
            except InputError as error:  # a measure that is not defined for this release
                report, release = failed_report(error), None
        if release is None:
            return _invalid(report, facts=None, baseline={}, classes=None, sketch=None)
        baseline = _baseline(rulebook, release, progress, engine)
        data, whole = release.original, release.release
        facts = facts_from(
            data.schema.kind,
            len(data.customers) if isinstance(data, History) else len(data),
            whole.statement,
            {name: api.measure(data, whole, name) for name in deciding_measures(data.schema)},
            tuple(AttackResult.model_validate(result["tried"]) for result in baseline.values() if "tried" in result),
            release_facts(whole, data),
            failed=tuple(key for key, result in baseline.items() if "failed" in result),
        )
        return {
            "valid": True,
            "report": translated_report(report),
            "values": values,
            "facts": facts.model_dump(mode="json"),
            "baseline": baseline,
            "classes": _classes(release),
            "sketch": sketch_of_release(release),
        }


def score_guess(
    rulebook: Rulebook, original: Path, submitted: Path, salt: bytes, label: str, guess: Path
) -> dict[str, Any]:
    """Check and judge a guess about the target that lots make of a release.

    Returns ``valid``, ``report``, ``tried`` for the judgement, ``values`` by measure, whom it names
    (:mod:`~noren.contest.stability`) and the ``sketch``.
    """
    track_messages()  # the log holds every language
    with use_language("en"):
        data = original_of(rulebook, original)
        release = prepare(rulebook, original, submitted)
        # what a guess may name: the pseudonyms of the target, or the numbers of its rows
        is_table = release.rows.schema.kind == Kind.TABLE
        names = row_numbers(len(release.live)) if is_table else target_names(release, salt, label)["target"]
        report = checked_guess(data, original, names, guess)
        if report.valid:
            pairs = read_guess_file(guess, data)
            answers = Guess("guess", guess_about_release(pairs, release, salt, label).with_columns(score=pl.lit(1.0)))
            try:
                judged = _judged(rulebook, release, "guess", answers)
                return {"valid": True, "report": translated_report(report), **judged, "sketch": sketch_of(pairs)}
            except InputError as error:
                report = failed_report(error)
        return _invalid(report, tried=None, by_customer=None, sketch=None)


def _invalid(report: Report, **nothing: Any) -> dict[str, Any]:
    return {"valid": False, "report": translated_report(report), "values": {}, **nothing}


def _values(
    release: Prepared,
    chosen: Mapping[str, tuple[Measure, str | None]],
    guesses: Mapping[str, Guess],
    engine: ScoringEngine = _HERE,
) -> dict[str, float]:
    """Return the value of each measure or of its part; a measure with several parts runs once."""
    scores: dict[Measure, Score] = {}
    values = {}
    for key, (measure, part) in chosen.items():
        if measure not in scores:
            scores[measure] = engine.measure(*in_memory(release), measure, guesses=guesses)
        value = _part(scores[measure], part)
        if math.isfinite(value) and not engine.is_sure(value):
            scores[measure] = _HERE.measure(*in_memory(release), measure, guesses=guesses)
            value = _part(scores[measure], part)
        if math.isfinite(value):
            values[key] = rounded(value)
    return values


def _part(score: Score, part: str | None) -> float:
    return score.value if part is None else score.parts.get(part, math.nan)


def _baseline(
    rulebook: Rulebook, release: Prepared, progress: Progress, engine: ScoringEngine
) -> dict[str, dict[str, Any]]:
    """Run the baseline attacks; a failed one is listed with its reason."""
    results: dict[str, dict[str, Any]] = {}

    def add(key: str, guess: Guess) -> None:
        results[key] = _judged(rulebook, release, key, guess)

    def fail(key: str, error: Exception) -> None:
        if isinstance(error, MemoryError | ClusterLostError):
            raise error
        reasons = {}
        for language in LANGUAGES:
            with use_language(language):
                if isinstance(error, InputError):
                    parts = error.problem.rule, error.problem.cure
                    reasons[language] = "; ".join(str(retranslate(part)) for part in parts)
                elif isinstance(error, NorenError):
                    reasons[language] = str(retranslate(error.message))
                else:
                    reasons[language] = f"{key}: {_(UNEXPECTED)}"
        results[key] = {"failed": reasons}

    run = Run(engine, *in_memory(release), RunStore(on_guess=add, on_failure=fail))
    chosen = rulebook.baseline_attacks()
    for done, (key, (attack, how)) in enumerate(chosen.items()):
        part = part_of(progress, 0.2 + 0.8 * done / len(chosen), 0.2 + 0.8 * (done + 1) / len(chosen))
        limits: dict[str, Any] = {"knowledge": how.knowledge, "item_prefix": how.item_prefix, "seed": how.seed}
        run.attack({key: attack}, progress=part, **limits)
    return results


def _judged(rulebook: Rulebook, release: Prepared, name: str, guess: Guess) -> dict[str, Any]:
    """Return the values of a guess, its facts for the verdict, and its result for each customer."""
    chosen, whole = rulebook.of_guess(), release.release
    cells = any(measure.name in _BY_PERIOD for measure, _part in chosen.values())
    return {
        "values": _values(release, chosen, {name: guess}),
        "tried": attack_result(name, guess, whole.secret).model_dump(mode="json"),
        "by_customer": by_customer(release.original, whole, guess, cells=cells),
    }


def _classes(release: Prepared) -> dict[str, int] | None:
    """Return, by the size of classes of equal public histories (or equal rows), how many pseudonyms are in them."""
    public = release.release.public
    if isinstance(public, History):
        sizes = class_sizes(public)
    else:
        quasi = [column.name for column in public.schema.with_role(Role.QUASI) if column.name in public.frame.columns]
        if not quasi:
            return None
        sizes = public.texts().group_by(quasi).len()["len"].to_list()
    many = Counter(sizes)
    return {str(size): size * many[size] for size in sorted(many)}
