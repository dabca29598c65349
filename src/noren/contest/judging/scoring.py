"""What a release or a guess is worth: the measures of the rulebook, and what was found for the one judgement.

The result is the body of an entry of the log: plain data, numbers to ten decimals, texts in every language, nothing
of the clock or the machine. The same files give the same bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from noren import api
from noren.contest.judging.checking import checked_guess, checked_release, in_every_language, refused
from noren.contest.judging.prepared import (
    Prepared,
    as_released,
    original_of,
    prepare,
    renamed,
    sketch_of,
    sketch_of_release,
)
from noren.contest.judging.scoring_engine import ClusterLostError, ScoringEngine, in_memory
from noren.contest.judging.submissions import numbered, read_guess_file
from noren.contest.rulebook import Rulebook
from noren.contest.stability import by_customer
from noren.data.checks.report import Report
from noren.data.fits import class_sizes
from noren.data.frames import History
from noren.data.schema import Kind, Role
from noren.errors import InputError, NorenError
from noren.i18n import LANGUAGES, N_, _, remember_messages, said_again, speaking
from noren.judgement.evidence import Tried, facts_from, tried_by
from noren.judgement.judging import deciding_measures
from noren.judgement.release_facts import release_facts
from noren.progress import Progress, part_of, silent
from noren.protocols import Guess, Measure, Score
from noren.work.chain import rounded
from noren.work.run import Run, RunStore

_BY_PERIOD = ("um", "mm", "emm")
"""Measures that look at each customer and period."""
_HERE = ScoringEngine()
_OWN_FAULT = N_("{component} failed by a fault of its own")


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

    Returns ``valid``, ``report``, ``values`` by measure, ``facts`` for the judgement, what the ``house``'s attacks
    found, how many pseudonyms are in ``classes`` of equal histories of each size, and the ``sketch`` by which near
    duplicates are seen. An invalid release has a report alone.
    """
    with _one_language():
        report, release = checked_release(rulebook, original, submitted, master=master)
        if release is None:
            return _invalid(report, facts=None, house={}, classes=None, sketch=None)
        progress(0.1)
        try:
            values = _values(release, rulebook.of_release(), {}, engine)
        except InputError as error:  # a measure that cannot judge such a release says why
            return _invalid(refused(error), facts=None, house={}, classes=None, sketch=None)
        house = _house(rulebook, release, progress, engine)
        data, whole = release.original, release.release
        facts = facts_from(
            data.schema.kind,
            len(data.customers) if isinstance(data, History) else len(data),
            whole.statement,
            {name: api.measure(data, whole, name) for name in deciding_measures(data.schema)},
            tuple(Tried.model_validate(one["tried"]) for one in house.values() if "tried" in one),
            release_facts(whole, data),
            failed=tuple(key for key, one in house.items() if "failed" in one),
        )
        return {
            "valid": True,
            "report": in_every_language(report),
            "values": values,
            "facts": facts.model_dump(mode="json"),
            "house": house,
            "classes": _classes(release),
            "sketch": sketch_of_release(release),
        }


def score_guess(
    rulebook: Rulebook,
    original: Path,
    submitted: Path,
    salt: bytes,
    label: str,
    guess: Path,
    *,
    master: Path | None = None,
) -> dict[str, Any]:
    """Check and judge a guess about the target that lots make of a release.

    Returns ``valid``, ``report``, ``tried`` for the judgement, ``values`` by measure, whom it names
    (:mod:`~noren.contest.stability`) and the ``sketch``.
    """
    with _one_language():
        data = original_of(rulebook, original, master)
        release = prepare(rulebook, original, submitted, master)
        # what a guess may name: the pseudonyms of the target, or the numbers of its rows
        is_table = release.rows.schema.kind == Kind.TABLE
        names = numbered(len(release.live)) if is_table else renamed(release, salt, label)["target"]
        report = checked_guess(data, original, names, guess)
        if not report.valid:
            return _invalid(report, tried=None, by_customer=None, sketch=None)
        pairs = read_guess_file(guess, data)
        found = Guess("guess", as_released(pairs, release, salt, label).with_columns(score=pl.lit(1.0)))
        try:
            values = _values(release, rulebook.of_guess(), {"guess": found})
        except InputError as error:
            return _invalid(refused(error), tried=None, by_customer=None, sketch=None)
        return {
            "valid": True,
            "report": in_every_language(report),
            "tried": _tried("guess", found, release),
            "values": values,
            "by_customer": _by_customer(rulebook, release, found),
            "sketch": sketch_of(pairs),
        }


def _one_language() -> Any:
    """Speak one language, in texts that remember their messages: what is kept is in every one."""
    remember_messages()
    return speaking("en")


def _invalid(report: Report, **nothing: Any) -> dict[str, Any]:
    return {"valid": False, "report": in_every_language(report), "values": {}, **nothing}


def _values(
    release: Prepared,
    chosen: Mapping[str, tuple[Measure, str | None]],
    guesses: Mapping[str, Guess],
    engine: ScoringEngine = _HERE,
) -> dict[str, float]:
    """Return the value of each measure, or of the part that counts; measures of several parts run once."""
    scores: dict[Measure, Score] = {}
    values = {}
    for key, (one, part) in chosen.items():
        if one not in scores:
            scores[one] = engine.measure(*in_memory(release), one, guesses=guesses)
        value = _part(scores[one], part)
        if math.isfinite(value) and not engine.is_sure(value):
            scores[one] = _HERE.measure(*in_memory(release), one, guesses=guesses)
            value = _part(scores[one], part)
        if math.isfinite(value):
            values[key] = rounded(value)
    return values


def _part(score: Score, part: str | None) -> float:
    return score.value if part is None else score.parts.get(part, math.nan)


def _house(
    rulebook: Rulebook, release: Prepared, progress: Progress, engine: ScoringEngine
) -> dict[str, dict[str, Any]]:
    """Run the house's attacks; one that fails is named with its reason."""
    found: dict[str, dict[str, Any]] = {}

    def add(key: str, guess: Guess) -> None:
        values = _values(release, rulebook.of_guess(), {key: guess})
        named = _by_customer(rulebook, release, guess)
        found[key] = {"tried": _tried(key, guess, release), "values": values, "by_customer": named}

    def fail(key: str, error: Exception) -> None:
        if isinstance(error, MemoryError | ClusterLostError):
            raise error
        told = {}
        for language in LANGUAGES:
            with speaking(language):
                if isinstance(error, InputError):
                    parts = error.problem.rule, error.problem.cure
                    told[language] = "; ".join(str(said_again(part)) for part in parts)
                elif isinstance(error, NorenError):
                    told[language] = str(said_again(error.said))
                else:
                    told[language] = _(_OWN_FAULT).format(component=key)
        found[key] = {"failed": told}

    run = Run(engine, *in_memory(release), RunStore(on_guess=add, on_failure=fail))
    chosen = rulebook.house_attacks()
    for done, (key, (attack, how)) in enumerate(chosen.items()):
        part = part_of(progress, 0.2 + 0.8 * done / len(chosen), 0.2 + 0.8 * (done + 1) / len(chosen))
        limits = {"knowledge": how.knowledge, "item_prefix": how.item_prefix, "seed": how.seed}
        run.attack({key: attack}, progress=part, **limits)
    return found


def _by_customer(rulebook: Rulebook, release: Prepared, guess: Guess) -> dict[str, Any]:
    cells = any(one.name in _BY_PERIOD for one, _part in rulebook.of_guess().values())
    return by_customer(release.original, release.release, guess, cells=cells)


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


def _tried(name: str, guess: Guess, release: Prepared) -> dict[str, Any]:
    return tried_by(name, guess, release.release.secret).model_dump(mode="json")
