"""The packs of papers that a law asks for, and how they are written into a folder.

- Those of a maker of anonymously processed information (匿名加工情報) under Japan's law.
- Those for pseudonymously processed information (仮名加工情報): for use inside, never called anonymous.
- The annex to a data protection impact assessment, along the three questions of opinion 05/2014.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from noren.data.formats.files import FolderKind, json_signature, writing_folder
from noren.data.schema import Column, Kind, Role
from noren.i18n import active_language
from noren.inference.unicity import UnicityStep, changes_pseudonyms
from noren.judgement.numbers import count
from noren.judgement.page_text import printable
from noren.judgement.sentences import disclosure_sentences, guessed_sentences, inferred_sentences, left_in_release
from noren.papers.case import Case, ReleasedColumn, column_text, is_pseudonymised_only, treatment
from noren.papers.document import Block, Document, DocumentTable, Pack
from noren.papers.parts import (
    categories,
    columns_grid,
    document,
    evidence_blocks,
    evidence_grid,
    register,
    rows_text,
    smallest_class,
    steps,
    why_untried,
)
from noren.papers.wording import Wording, drafts
from noren.papers.writers import as_docx, as_html, as_markdown
from noren.reports.unicity import singled_out_caption
from noren.version import __version__

Law = Literal["appi", "gdpr"]
About = Literal["auto", "anonymised", "pseudonymised"]
_KEPT = "papers.json"


def pack_of(case: Case, law: Law, *, known: Mapping[str, str] | None = None, about: About = "auto") -> Pack:
    """Return the papers for a law, in the language now spoken.

    Parameters
    ----------
    known
        What the steward knows; the rest is marked to be filled in.
    about
        For Japan's law: whether the data are anonymously or pseudonymously processed information. ``auto`` takes
        the second where the method only replaces names.
    """
    texts = {name: printable(text, 2_000) for name, text in (known or {}).items()}
    wording = Wording(active_language(), texts)
    texts_of: str = law
    if law == "gdpr":
        documents = impact_assessment(case, wording)
    elif about == "pseudonymised" or (about == "auto" and is_pseudonymised_only(case.release)):
        documents, texts_of = pseudonymised(case, wording), "pseudonymised"
    else:
        documents = anonymised(case, wording)
    # the document that ends a pack: every field to fill in, every decision, and what counsel must confirm
    open_fields = Pack(wording.language, tuple(documents)).fields()
    fields = [(document.title, field.what, field.key) for document, field in open_fields if field.key]
    decisions = [(document.title, field.what) for document, field in open_fields if not field.key]
    heads, filled = wording.words("common.open_", "document", "what", "key"), wording.text("common.open_all_filled")
    to_fill_in = DocumentTable.of(heads, fields) if fields else filled
    to_decide = DocumentTable.of(heads[:2], decisions) if decisions else filled
    counsel = wording.points(key for key in drafts() if key.startswith(f"{texts_of}.counsel_"))
    sections = [
        wording.section("common.open_fields", wording.text("common.open_intro"), to_fill_in),
        wording.section("common.open_decisions", to_decide),
        wording.section("common.open_counsel", counsel),
    ]
    last = document(f"{len(documents) + 1}-open", "common.open", "inside", sections, case, wording)
    return Pack(wording.language, (*documents, last))


# --- anonymously processed information --------------------------------------------------------------------------------


def anonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for anonymously processed information."""
    section, text = wording.section, wording.text
    what = categories(case, wording)
    duties = wording.points(f"appi.recipient_duty_{article}" for article in (44, 45, 46))
    file = text("appi.recipient_file", counts=case.public.counts(wording))
    making = section("appi.categories_title", text("appi.making_text"), *what, text("appi.making_more"))
    providing = [
        section("appi.categories_title", text("appi.providing_text"), *what),
        section("appi.provision_title", text("appi.provision_text")),
    ]
    items = enumerate(_items(case, wording), start=1)
    table = _table([(f"appi.item_{number}", f"appi.item_{number}", item) for number, item in items], wording)
    deleted = ((line,) for line in rows_text(case, wording))
    standard = [
        section("appi.standard_name", text("appi.standard_intro"), text("appi.law"), text("appi.rules"), table),
        section("appi.columns_title", columns_grid(case, wording)),
        section("appi.steps_title", steps(case.release.statement, wording), *deleted, text("appi.steps_secret")),
        section("common.evidence_title", *evidence_blocks(case, wording), text("appi.self_matching")),
    ]
    recipient = [
        section("appi.recipient_what", text("appi.recipient_text"), file, *what),
        section("appi.recipient_duties", duties),
    ]
    written = [
        ("1-making", "appi.making", "public", [making]),
        ("2-providing", "appi.providing", "public", providing),
        ("3-standard", "appi.standard", "inside", standard),
        ("4-recipient", "appi.recipient", "recipient", recipient),
        ("5-register", "appi.register", "inside", register("appi", case, wording)),
    ]
    return [document(name, key, audience, sections, case, wording) for name, key, audience, sections in written]


ItemAnswer = tuple[str, str, str]
"""The columns that an item is about, what was done, and the evidence."""


def _table(items: Sequence[tuple[str, str, ItemAnswer]], wording: Wording) -> DocumentTable:
    """Return the table of a standard: of each item its name, the name of its risk, and what is told of it."""
    rows = [
        (
            wording.word(key),
            columns or wording.word("common.none"),
            wording.word(f"{risk}_risk"),
            done,
            evidence,
            wording.decision(f"{key}_decide"),
        )
        for key, risk, (columns, done, evidence) in items
    ]
    return DocumentTable.of(wording.words("appi.", "item", "columns", "risk", "measure", "evidence", "decide"), rows)


def _items(case: Case, wording: Wording) -> list[ItemAnswer]:
    """Return what is told of each item of the standard of Rules Art. 34.

    They are descriptions that identify (names, identifiers, free texts), individual identification codes (that nobody
    looks for them in values), codes that link, what is rare, and the nature of the data base.
    """
    none, public = wording.word("common.none"), case.public
    columns, dropped = public.columns, public.dropped or ()
    every: list[ReleasedColumn | Column] = [*columns, *dropped]
    text = {column.name: column_text(column.name) for column in every}
    done = {c.name: f"{text[c.name]}: {treatment(c, wording)}" for c in columns}
    done |= {c.name: f"{text[c.name]}: {wording.word('common.done_deleted')}" for c in dropped}
    naming = (Role.CUSTOMER, Role.IDENTIFIER, Role.OTHER, Role.DESCRIPTION)
    own = [c.name for c in every if c.role in naming]
    identifiers = [c.name for c in every if c.role == Role.IDENTIFIER]
    linking = [c for c in columns if c.role in (Role.CUSTOMER, Role.INVOICE)]
    linked = [
        wording.word("appi.item_3_invoice", column=text[c.name])
        if c.role == Role.INVOICE and c.has_values
        else done[c.name]
        for c in linking
    ]
    chosen = "unknown" if any(c.pseudonyms == "unknown" for c in columns) else "drawn"
    codes = "; ".join(linked) or wording.word("appi.item_3_no_code")
    rare = [done[c.name] for c in columns if c.interval or c.set or c.suppressed] + rows_text(case, wording)
    alike = [smallest_class(case, wording)]
    alike += [
        wording.word("appi.item_4_evidence_attack", named=count(evidence.named), right=count(evidence.right))
        for evidence in case.verdict.evidence
        if evidence.attack == "unique-rows"
    ]
    measured = ", ".join(text[c.name] for c in columns if c.role != Role.CUSTOMER)
    methods_text = "\n".join(str(part) for item in steps(case.release.statement, wording).items for part in item)
    return [
        (
            ", ".join(text[name] for name in own),
            "; ".join(done[name] for name in own) or none,
            wording.word("appi.item_1_evidence", count=count(sum(c.role == Role.IDENTIFIER for c in public.contained))),
        ),
        (
            ", ".join(text[name] for name in identifiers),
            wording.word("appi.item_2_done", columns="; ".join(done[name] for name in identifiers) or none),
            wording.word("appi.item_2_evidence"),
        ),
        (
            ", ".join(text[c.name] for c in linking),
            wording.word("appi.item_3_done", done=codes),
            wording.word(f"appi.item_3_evidence_{chosen}"),
        ),
        (measured, "; ".join(rare) or none, "\n".join(alike)),
        (", ".join(text[c.name] for c in public.contained), methods_text, case.verdict.sentence),
    ]


# --- pseudonymously processed information ----------------------------------------------------------------------------


def pseudonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for pseudonymously processed information; each says that it is not anonymous."""
    section, text = wording.section, wording.text
    kind = "pseudonymised.not_anonymous" if is_pseudonymised_only(case.release) else "pseudonymised.chosen"
    what = section("pseudonymised.what_it_is", text(kind))
    duties = wording.points(f"pseudonymised.notice_{number}" for number in "35678")
    none = wording.word("common.none")
    first, two, *_rest = _items(case, wording)
    table = _table(
        [
            ("pseudonymised.item_1", "appi.item_1", first),
            ("pseudonymised.item_2", "appi.item_2", two),
            ("pseudonymised.item_3", "pseudonymised.item_3", (none, none, wording.word("appi.item_2_evidence"))),
        ],
        wording,
    )
    standard = [
        section("pseudonymised.standard_name", text("appi.law"), text("appi.rules"), table),
        section("appi.columns_title", columns_grid(case, wording), steps(case.release.statement, wording)),
        section("common.evidence_title", *evidence_blocks(case, wording)),
    ]
    purpose = section("pseudonymised.publication_name", text("pseudonymised.publication_text"))
    written = [
        ("1-standard", "pseudonymised.standard", "inside", standard),
        ("2-publication", "pseudonymised.publication", "public", [purpose]),
        ("3-notice", "pseudonymised.notice", "inside", [section("pseudonymised.notice_title", duties)]),
        ("4-register", "pseudonymised.register", "inside", register("pseudonymised", case, wording)),
    ]
    return [document(name, key, audience, [what, *own], case, wording) for name, key, audience, own in written]


# --- impact assessment -----------------------------------------------------------------------------------------------


def impact_assessment(case: Case, wording: Wording) -> list[Document]:
    """Return the annex: what was done, three questions with measured answers, what was not measured."""
    section, text, facts = wording.section, wording.text, case.verdict.facts
    table = facts.table
    people = count(facts.people) if facts.people else "–"
    about = text("gdpr.processing_data", counts=case.public.counts(wording), people=people)
    processing: list[Block] = [text("gdpr.processing_text"), about]
    if is_pseudonymised_only(case.release):
        processing.append(text("gdpr.pseudonymous"))

    singling: list[Block] = [(smallest_class(case, wording),)]
    if case.unicity is None:
        singling.append(text("gdpr.no_unicity"))
    else:
        singling.append(text("gdpr.unicity_original", finding=singled_out_caption(case.unicity)))
        known = [UnicityStep(**step) for step in case.unicity["release"] or () if step["known"] <= 4][-1:]
        singling += [(left_in_release(step),) for step in known] or [text("gdpr.no_unicity_release")]

    within = "gdpr.within_periods" if changes_pseudonyms(case.release) else "gdpr.within"
    linking: list[Block] = [text("gdpr.within_table" if facts.kind == Kind.TABLE else within)]
    if case.verdict.evidence:
        linking += [text("gdpr.with_original"), evidence_grid(case.verdict.evidence, wording)]
    else:
        linking.append(text("gdpr.no_attack", why=why_untried(case, wording)))

    inferred = inferred_sentences(facts.inferred, case.verdict.rule)
    inference: list[Block] = [(line,) for line in inferred] or [text("gdpr.no_inference")]
    if table is None or not table.disclosures:
        inference.append(text("gdpr.no_sensitive"))
    else:
        disclosures = disclosure_sentences(table) or [wording.word("gdpr.nothing_told")]
        inference += [(line,) for line in (*disclosures, *guessed_sentences(table))]

    unsaid = wording.points(("gdpr.open_outside", "gdpr.open_means", "gdpr.open_attacks"))
    done = steps(case.release.statement, wording)
    sections = [
        section("gdpr.processing_title", *processing, done, columns_grid(case, wording)),
        section("gdpr.singling_title", *singling),
        section("gdpr.linking_title", *linking),
        section("gdpr.inference_title", *inference),
        section("gdpr.open_title", unsaid, (wording.decision("gdpr.open_decide"),)),
        section("gdpr.conclusion_title", *evidence_blocks(case, wording)),
    ]
    return [document("1-dpia", "gdpr.annex", "inside", sections, case, wording)]


# --- on disk ---------------------------------------------------------------------------------------------------------

_WRITERS: Mapping[str, Callable[[Document, str], bytes]] = {"html": as_html, "docx": as_docx, "md": as_markdown}


def pack_files(pack: Pack, case: Case) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a pack: each document in three forms, and what the pack says as data."""
    for paper in pack.documents:
        for ending, write in _WRITERS.items():
            yield f"{paper.name}.{ending}", write(paper, pack.language)
    yield _KEPT, (json.dumps(pack_as_data(pack, case), ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def pack_as_data(pack: Pack, case: Case) -> dict[str, Any]:
    """Return what a pack says as plain data: its documents, what is left to fill in, and the verdict."""
    return {
        "noren": __version__,
        "language": pack.language,
        "documents": {document.name: document.title for document in pack.documents},
        "to_fill_in": [
            {"document": document.name, "key": field.key or None, "what": field.what}
            for document, field in pack.fields()
        ],
        "stamped": bool(pack.documents[0].stamp),
        "verdict": case.verdict.as_dict(),
    }


def write_pack(pack: Pack, case: Case, folder: str | Path, *, replace_existing: bool = False) -> Path:
    """Write a pack into a folder, whole or not at all; another pack there is replaced where that is asked for."""
    with writing_folder(folder, replace=replace_existing and PAPERS) as aside:
        for name, content in pack_files(pack, case):
            (aside / name).write_bytes(content)
    return Path(folder)


PAPERS = FolderKind(
    ("[1-9]-*.html", "[1-9]-*.docx", "[1-9]-*.md", _KEPT), json_signature(_KEPT, "noren", "documents", "to_fill_in")
)
"""A folder of papers."""
