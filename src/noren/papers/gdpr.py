"""The annex to a data protection impact assessment, along the three questions of opinion 05/2014."""

from __future__ import annotations

from noren.data.schema import Kind
from noren.inference.unicity import Step, changes_pseudonyms
from noren.judgement.numbers import count
from noren.judgement.sentences import guessed_sentences, inferred_sentences, told_sentences
from noren.judgement.singled_out import left_in_release
from noren.papers.case import Case, is_pseudonymised_only
from noren.papers.document import Block, Document, Points, Section
from noren.papers.parts import (
    columns_grid,
    document,
    evidence_blocks,
    evidence_grid,
    smallest_class,
    steps,
    why_untried,
)
from noren.papers.wording import Wording
from noren.reports.unicity_part import singled_out_caption

__all__ = ["COUNSEL", "impact_assessment"]

COUNSEL = ("gdpr.counsel_opinion", "gdpr.counsel_risk")


def impact_assessment(case: Case, wording: Wording) -> list[Document]:
    """Return the annex: what was done, three questions with measured answers, what was not measured."""
    unsaid = Points(tuple(wording.said(f"gdpr.{key}") for key in ("open_outside", "open_means", "open_attacks")))
    sections = [
        Section(wording.word("gdpr.processing_title"), _processing(case, wording)),
        Section(wording.word("gdpr.singling_title"), _singling(case, wording)),
        Section(wording.word("gdpr.linking_title"), _linking(case, wording)),
        Section(wording.word("gdpr.inference_title"), _inference(case, wording)),
        Section(wording.word("gdpr.open_title"), (unsaid, (wording.decision("gdpr.open_decide"),))),
        Section(wording.word("gdpr.conclusion_title"), evidence_blocks(case, wording)),
    ]
    return [document("1-dpia", "gdpr.annex", "inside", sections, case, wording)]


def _processing(case: Case, wording: Wording) -> tuple[Block, ...]:
    rows, people = count(len(case.release.public)), count(case.facts.people) if case.facts.people else "–"
    said: list[Block] = [
        wording.said("gdpr.processing_text"),
        wording.said("gdpr.processing_data", rows=rows, people=people),
    ]
    if is_pseudonymised_only(case.release):
        said.append(wording.said("gdpr.pseudonymous"))
    return (*said, steps(case, wording), columns_grid(case, wording))


def _singling(case: Case, wording: Wording) -> tuple[Block, ...]:
    said: list[Block] = [(smallest_class(case, wording),)]
    found = case.unicity
    if found is None:
        return (*said, wording.said("gdpr.no_unicity"))
    said.append((singled_out_caption(found),))
    known = [Step(**step) for step in found["release"] or ()]
    shown = [step for step in known if step.known <= 4][-1:]
    return (*said, *((left_in_release(step),) for step in shown))


def _linking(case: Case, wording: Wording) -> tuple[Block, ...]:
    if case.facts.kind == Kind.TABLE:
        inside = wording.said("gdpr.within_table")
    else:
        changing = changes_pseudonyms(case.release)
        inside = wording.said("gdpr.within_periods" if changing else "gdpr.within")
    if not case.verdict.evidence:
        return inside, wording.said("gdpr.no_attack", why=why_untried(case, wording))
    return inside, wording.said("gdpr.with_original"), evidence_grid(case.verdict.evidence, wording)


def _inference(case: Case, wording: Wording) -> tuple[Block, ...]:
    inferred = inferred_sentences(case.facts.inferred, case.verdict.rule)
    said: list[Block] = [(line,) for line in inferred] or [wording.said("gdpr.no_inference")]
    table = case.facts.table
    if table is None or not table.told:
        return (*said, wording.said("gdpr.no_sensitive"))
    told = told_sentences(table) or [wording.word("gdpr.nothing_told")]
    return (*said, *((line,) for line in (*told, *guessed_sentences(table))))
