"""Parts that several papers share: columns, steps, the evidence, the register, the list of what is open."""

from __future__ import annotations

from collections.abc import Sequence

from noren.data.schema import Role
from noren.data.statement import Statement
from noren.i18n import _
from noren.judgement.numbers import count, percent
from noren.judgement.outcome import non_default_parameters
from noren.judgement.page_text import printable
from noren.judgement.sentences import cautions, rule_sentence, verdict_label, verdict_meaning
from noren.judgement.verdict import AttackEvidence
from noren.methods import methods
from noren.papers.case import Case, column_text, treatment
from noren.papers.document import Block, Document, DocumentTable, Points, Section, Text
from noren.papers.wording import Wording, drafts
from noren.reports.scripts import listed
from noren.version import __version__

_LONGEST = 200


def document(name: str, key: str, audience: str, sections: Sequence[Section], case: Case, wording: Wording) -> Document:
    """Return a document whose title and basis are the texts ``key_name`` and, if there is one, ``key_basis``.

    Every page of papers about a release that is not safe by the rule bears a stamp.
    """
    word, basis = case.verdict.status, f"{key}_basis"
    stamp = {"word": verdict_label(word), "meaning": verdict_meaning(word)}
    return Document(
        name=name,
        title=wording.word(f"{key}_name"),
        audience=wording.word(f"common.audience_{audience}"),
        basis=wording.word(basis) if basis in drafts() else "",
        sections=tuple(sections),
        stamp="" if word.is_safe else wording.word("common.stamp", **stamp),
        note=wording.word("common.draft", version=__version__),
    )


# --- columns and steps -----------------------------------------------------------------------------------------------


def categories(case: Case, wording: Wording) -> list[Block]:
    """Return the categories of information about individuals: names of columns and what they are for, and no more.

    A column in which every cell is empty contains nothing; it is named apart, for it is in the file.
    """
    items: list[Text] = []
    for column in case.public.contained:
        if column.role == Role.CUSTOMER:
            items.append(wording.text("appi.category_customer"))
        else:
            role = wording.word("appi.pseudonym" if column.pseudonyms else f"common.role_{column.role}")
            items.append(wording.text("appi.category", column=column_text(column.name), role=role))
    blocks: list[Block] = [Points(tuple(items)) if items else wording.text("appi.no_category")]
    if case.public.emptied:
        blocks.append(wording.text("appi.emptied", columns=", ".join(column_text(c.name) for c in case.public.emptied)))
    return blocks


def columns_grid(case: Case, wording: Wording) -> DocumentTable:
    """Return each column, what it is for and what was done to it; deleted ones too, where they are known."""
    done = [(c.name, c.role, treatment(c, wording)) for c in case.public.columns]
    done += [(c.name, c.role, wording.word("common.done_deleted")) for c in case.public.dropped or ()]
    rows = [(column_text(name), wording.word(f"common.role_{role}"), what) for name, role, what in done]
    return DocumentTable.of(wording.words("common.", "column", "role", "done"), rows)


def steps(statement: Statement, wording: Wording) -> Points:
    """Return what a statement says of each step: method, parameters, what the method does."""
    items = []
    for step in statement.steps:
        parameters = printable(listed(non_default_parameters(step)), _LONGEST) or wording.word("common.none")
        summary = _(methods[step.method].summary) if step.method in methods else ""
        method = printable(step.method)
        items.append(wording.text("common.step", method=method, parameters=parameters, summary=summary))
    return Points(tuple(items))


def rows_text(case: Case, wording: Wording) -> list[str]:
    """Return how many rows were deleted and added, where the secret part tells it."""
    release = case.release
    if not release.has_secret:
        return []
    every = count(release.secret.original_rows)
    lines = [wording.word("common.rows_deleted", deleted=count(release.deleted_rows), all=every)]
    if release.inserted_rows:
        lines.append(wording.word("common.rows_inserted", inserted=count(release.inserted_rows)))
    return lines


# --- evidence --------------------------------------------------------------------------------------------------------


def evidence_blocks(case: Case, wording: Wording) -> tuple[Block, ...]:
    """Return the verdict, its rule and what each attack got; what was not measured is said."""
    verdict = case.verdict
    blocks: list[Block] = [(verdict_label(verdict.status),), (verdict.sentence,), (rule_sentence(verdict.rule),)]
    blocks += [(line,) for line in cautions(verdict) if line not in verdict.sentence]
    if case.period:
        blocks.append(wording.text("common.from_ledger", period=case.period))
    if verdict.evidence:
        return (*blocks, evidence_grid(verdict.evidence, wording))
    return (*blocks, wording.text("common.not_measured", why=why_untried(case, wording)))


def smallest_class(case: Case, wording: Wording) -> str:
    """Return how many people are alike at least, and in what; or that nobody counted."""
    if case.least is None:
        return wording.word("common.class_none")
    return wording.word(f"common.class_{case.verdict.facts.kind}", least=count(case.least))


def why_untried(case: Case, wording: Wording) -> str:
    """Return why no attack was judged."""
    if case.public.dropped is None:
        return wording.word("common.why_no_original")
    return wording.word("common.nobody_tried" if case.release.has_secret else "common.why_no_secret")


def evidence_grid(evidence: Sequence[AttackEvidence], wording: Wording) -> DocumentTable:
    """Return what each attack got, as a table."""
    rows = [
        (
            row.attack,
            count(row.named),
            count(row.right),
            f"{percent(row.rate)} ({percent(row.low)} – {percent(row.high)})" if row.named else "–",
            percent(row.customers),
            wording.word("common.yes" if row.exceeds else "common.no"),
        )
        for row in evidence
    ]
    return DocumentTable.of(
        wording.words("common.", "attack", "named", "right", "rate", "share_of_people", "exceeds"), rows
    )


# --- the register ----------------------------------------------------------------------------------------------------


def register(law: str, case: Case, wording: Wording) -> list[Section]:
    """Return the register of what could undo the processing: what there is, who holds it, where, until when."""
    here = wording.word("appi.register_here" if case.release.has_secret else "appi.register_not_here")
    known = case.public.pseudonyms
    pseudonyms = wording.word("common.none") if known is None else count(known)
    rows = [
        (wording.word(f"appi.register_{what}", count=pseudonyms), wording.word(f"appi.register_what_{what}"), here)
        for what in ("pseudonyms", "origin", "run")
    ]
    keeping = [
        (wording.text(f"appi.register_{item}"), wording.text(f"appi.register_{item}_entry"))
        for item in ("1", "2", "3", "until")
    ]
    what = DocumentTable.of(wording.words("appi.register_", "what", "contents", "is_here"), rows)
    held = DocumentTable((wording.word(f"{law}.register_measure"), wording.word("appi.register_entry")), tuple(keeping))
    return [
        wording.section(f"{law}.register_name", wording.text(f"{law}.register_intro"), what),
        wording.section("appi.register_keeping", held),
    ]
