"""Publishing: a public part leaves with a verdict, or with the reason for which somebody published it all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from noren.data.frames import Records, Table
from noren.data.public_scan import kept_columns
from noren.data.release import Release
from noren.errors import CheckFailedError, ParameterError
from noren.i18n import _
from noren.judgement.judging import deciding_measures, judge
from noren.judgement.outcome import Outcome
from noren.judgement.rule import Rule, rule_named
from noren.judgement.verdict import Verdict, Word
from noren.measures import measures
from noren.papers.card import card_files
from noren.papers.case import case_in_ledger, case_of
from noren.progress import Progress, silent
from noren.protocols import Evidence

__all__ = ["publish"]

_LONGEST = 500


def publish(
    folder: Path,
    out: Path,
    original: Records | None = None,
    *,
    rule: Rule | str | None = None,
    anyway: str = "",
    keep: Sequence[str] = (),
    official: bool = False,
    force: bool = False,
    scores: Mapping[str, float] | None = None,
    progress: Progress = silent,
) -> Verdict:
    """Copy the public part of a release folder to ``out`` with its statement and a card, if the verdict allows it.

    Parameters
    ----------
    original
        What was protected; needed where nothing is proved, for attacks then decide.
    anyway
        Why a release is published that is broken or untried, or whose seed could be tried out; the card says it.
    keep
        Columns to publish although they identify people; statement and card say so.
    scores
        Measures of utility to publish in the card.
    """
    anyway = " ".join(anyway.split())
    if len(anyway) > _LONGEST or not anyway.isprintable():
        raise ParameterError(_("this reason is too long"), _("use {most} characters or fewer").format(most=_LONGEST))
    release = Release.load(folder)
    if kept := {release.public.schema[name].name for name in keep}:
        notes = {**release.statement.notes, "kept": sorted(kept | kept_columns(release.statement))}
        release = replace(release, statement=replace(release.statement, notes=notes))
    in_ledger = case_in_ledger(folder, rule)
    verdict = _verdict(release, original, rule_named(rule), progress) if in_ledger is None else in_ledger.verdict
    refused = verdict.facts.chosen_seed or not verdict.word.is_safe
    if refused and not anyway:
        why = verdict.sentence if not verdict.word.is_safe else _(
            "The seed of this release was chosen by hand (below 2³²): whoever holds the original can try such seeds and"
            " rebuild the pseudonyms. Protect again without --seed."
        )  # fmt: skip
        words = _("{why} Nothing was published; give a reason with --anyway to publish it all the same.")
        if original is None and verdict.word == Word.UNTRIED:
            words = _("{why} Nothing was published; name the original with --original, so that attacks can decide.")
        raise CheckFailedError(words.format(why=why))
    card = card_files(release, scores, verdict=verdict, anyway=anyway if refused else "")
    release.publish(out, official=official, replace_existing=force, card=card)
    return verdict


def _verdict(release: Release, original: Records | None, rule: Rule, progress: Progress) -> Verdict:
    """Return the verdict on a release: by what it proves itself, and by attacks where that is not enough.

    Classes of a table are counted without its original, unless a claim (t) is about that.
    """
    known, classes = original, {}
    if isinstance(release.public, Table) and release.statement.steps[-1].parameters.get("t") is None:
        known = release.public if original is None else original
    if known is not None and isinstance(known, Table):
        evidence = Evidence(known, release)
        classes = {name: measures.create(name).measure(evidence) for name in deciding_measures(release.public)}
    alone = judge(Outcome("", release, scores=classes, original=original), rule)
    if alone.word in (Word.PROVED, Word.BROKEN) or original is None:
        return alone
    return case_of(release, original, rule=rule, progress=progress).verdict
