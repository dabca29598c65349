"""The papers that a law asks for, of three kinds.

- Those of a maker of anonymously processed information (匿名加工情報) under Japan's law.
- Those for pseudonymously processed information (仮名加工情報): for use inside, never called anonymous.
- The annex to a data protection impact assessment, along the three questions of opinion 05/2014.
"""

from __future__ import annotations

from noren.data.schema import Kind, Role
from noren.inference.unicity import Step, changes_pseudonyms
from noren.judgement.numbers import count
from noren.judgement.sentences import guessed_sentences, inferred_sentences, told_sentences
from noren.judgement.singled_out import left_in_release
from noren.papers.case import Case, column_text, is_pseudonymised_only, treatment
from noren.papers.document import Block, Document, Grid, Points, Section, Text
from noren.papers.parts import (
    categories,
    columns_grid,
    counsel,
    document,
    evidence_blocks,
    evidence_grid,
    register,
    rows_text,
    smallest_class,
    steps,
    why_untried,
)
from noren.papers.wording import Wording
from noren.reports.unicity_part import singled_out_caption


def anonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for anonymously processed information."""

    def section(title: str, *blocks: Block) -> Section:
        return Section(wording.word(f"appi.{title}"), blocks)

    what, rows, columns = categories(case, wording), count(len(case.release.public)), count(len(case.columns))
    duties = counsel(("appi.recipient_duty_44", "appi.recipient_duty_45", "appi.recipient_duty_46"), wording)
    file = wording.said("appi.recipient_file", rows=rows, columns=columns)
    making = wording.said("appi.making_text"), what, wording.said("appi.making_more")
    written = [
        ("1-making", "appi.making", "public", [section("categories_title", *making)]),
        (
            "2-providing",
            "appi.providing",
            "public",
            [
                section("categories_title", wording.said("appi.providing_text"), what),
                section("provision_title", wording.said("appi.provision_text")),
            ],
        ),
        ("3-standard", "appi.standard", "inside", _standard(case, wording)),
        (
            "4-recipient",
            "appi.recipient",
            "recipient",
            [
                section("recipient_what", wording.said("appi.recipient_text"), file, what),
                section("recipient_duties", duties),
            ],
        ),
        ("5-register", "appi.register", "inside", register("appi", case, wording)),
    ]
    return [document(name, key, audience, sections, case, wording) for name, key, audience, sections in written]


# --- the standard of Rules Art. 34 -----------------------------------------------------------------------------------


def _standard(case: Case, wording: Wording) -> list[Section]:
    items = (item_one, item_two, _item_three, _item_four, _item_five)
    rows: list[tuple[Text, ...]] = []
    for key, item in ((f"appi.item_{number}", item) for number, item in enumerate(items, start=1)):
        columns, done, evidence = item(case, wording)
        cells = wording.word(key), columns or wording.word("common.none"), wording.word(f"{key}_risk"), done, evidence
        rows.append((*((cell,) for cell in cells), (wording.decision(f"{key}_decide"),)))
    headings = ("item", "columns", "risk", "measure", "evidence", "decide")
    table = Grid(tuple(wording.word(f"appi.{key}") for key in headings), tuple(rows))
    law = wording.said("appi.law"), wording.said("appi.rules")
    return [
        Section(wording.word("appi.standard_name"), (wording.said("appi.standard_intro"), *law, table)),
        Section(wording.word("appi.columns_title"), (columns_grid(case, wording),)),
        Section(
            wording.word("appi.steps_title"),
            (steps(case, wording), *((line,) for line in rows_text(case, wording)), wording.said("appi.steps_secret")),
        ),
        Section(
            wording.word("common.evidence_title"),
            (*evidence_blocks(case, wording), wording.said("appi.self_matching")),
        ),
    ]


Told = tuple[str, str, str]
"""The columns that an item is about, what was done, and the evidence."""


def item_one(case: Case, wording: Wording) -> Told:
    """Return what is told of descriptions that identify: names, identifiers, free texts."""
    naming = (Role.CUSTOMER, Role.IDENTIFIER, Role.OTHER, Role.DESCRIPTION)
    shown = [c for c in case.columns if c.role in naming]
    gone = [c for c in case.deleted or () if c.role in naming]
    done = [f"{column_text(c.name)}: {treatment(c, wording)}" for c in shown]
    done += [f"{column_text(c.name)}: {wording.word('common.done_deleted')}" for c in gone]
    names = ", ".join(map(column_text, [*(c.name for c in shown), *(c.name for c in gone)]))
    left = count(sum(c.role == Role.IDENTIFIER for c in shown))
    return names, "; ".join(done) or wording.word("common.none"), wording.word("appi.item_1_evidence", count=left)


def item_two(case: Case, wording: Wording) -> Told:
    """Return what is told of individual identification codes: that nobody looks for them in values."""
    gone = ", ".join(column_text(c.name) for c in case.deleted or () if c.role == Role.IDENTIFIER)
    kept = ", ".join(column_text(c.name) for c in case.columns if c.role == Role.IDENTIFIER)
    done = wording.word("appi.item_2_done", columns=gone or wording.word("common.none"))
    return kept, done, wording.word("appi.item_2_evidence")


def _item_three(case: Case, wording: Wording) -> Told:
    linking = [c for c in case.columns if c.role in (Role.CUSTOMER, Role.INVOICE)]
    done = [
        f"{column_text(c.name)}: {treatment(c, wording)}"
        if c.role == Role.CUSTOMER
        else wording.word("appi.item_3_invoice", column=column_text(c.name))
        for c in linking
    ]
    said = wording.word("appi.item_3_done", done="; ".join(done) or wording.word("appi.item_3_no_code"))
    return ", ".join(column_text(c.name) for c in linking), said, wording.word("appi.item_3_evidence")


def _item_four(case: Case, wording: Wording) -> Told:
    hidden = [c for c in case.columns if c.interval or c.set or c.suppressed]
    done = [f"{column_text(c.name)}: {treatment(c, wording)}" for c in hidden] + rows_text(case, wording)
    evidence = [smallest_class(case, wording)]
    evidence += [
        wording.word("appi.item_4_evidence_attack", named=count(one.named), right=count(one.right))
        for one in case.verdict.evidence
        if one.attack == "unique-rows"
    ]
    names = ", ".join(column_text(c.name) for c in case.columns if c.role != Role.CUSTOMER)
    return names, "; ".join(done) or wording.word("common.none"), "\n".join(evidence)


def _item_five(case: Case, wording: Wording) -> Told:
    names = ", ".join(column_text(c.name) for c in case.columns)
    done = "\n".join(str(part) for item in steps(case, wording).items for part in item)
    return names, done, case.verdict.sentence


# --- pseudonymously processed information ----------------------------------------------------------------------------


def pseudonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for pseudonymously processed information; each says that it is not anonymous."""
    kind = "pseudonymised.not_anonymous" if is_pseudonymised_only(case.release) else "pseudonymised.chosen"
    what = Section(wording.word("pseudonymised.what_it_is"), (wording.said(kind),))
    purpose = Section(wording.word("pseudonymised.publication_name"), (wording.said("pseudonymised.publication_text"),))
    duties = Points(tuple(wording.said(f"pseudonymised.notice_{number}") for number in "35678"))
    written = [
        ("1-standard", "pseudonymised.standard", "inside", _standard_of_use(case, wording)),
        ("2-publication", "pseudonymised.publication", "public", [purpose]),
        (
            "3-notice",
            "pseudonymised.notice",
            "inside",
            [Section(wording.word("pseudonymised.notice_title"), (duties,))],
        ),
        ("4-register", "pseudonymised.register", "inside", register("pseudonymised", case, wording)),
    ]
    return [document(name, key, audience, [what, *own], case, wording) for name, key, audience, own in written]


def _standard_of_use(case: Case, wording: Wording) -> list[Section]:
    keys = ("item", "columns", "risk", "measure", "evidence", "decide")
    none = wording.word("common.none")
    unknown = none, none, wording.word("appi.item_2_evidence")
    told = (("appi.item_1", item_one(case, wording)), ("appi.item_2", item_two(case, wording)),
            ("pseudonymised.item_3", unknown))  # fmt: skip
    rows = tuple(
        (
            (wording.word(f"pseudonymised.item_{number}"),),
            (columns or none,),
            (wording.word(f"{key}_risk"),),
            (done,),
            (evidence,),
            (wording.decision(f"pseudonymised.item_{number}_decide"),),
        )
        for number, (key, (columns, done, evidence)) in enumerate(told, start=1)
    )
    table = Grid(tuple(wording.word(f"appi.{key}") for key in keys), rows)
    law = wording.said("appi.law"), wording.said("appi.rules")
    return [
        Section(wording.word("pseudonymised.standard_name"), (*law, table)),
        Section(wording.word("appi.columns_title"), (columns_grid(case, wording), steps(case, wording))),
        Section(wording.word("common.evidence_title"), evidence_blocks(case, wording)),
    ]


# --- impact assessment -----------------------------------------------------------------------------------------------


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
