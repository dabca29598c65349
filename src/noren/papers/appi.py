"""The papers of a maker of anonymously processed information (匿名加工情報) under Japan's law."""

from __future__ import annotations

from noren.data.schema import Role
from noren.judgement.numbers import count
from noren.papers.case import Case
from noren.papers.document import Document, Grid, Section, Text
from noren.papers.parts import (
    categories,
    columns_grid,
    counsel,
    document,
    evidence_blocks,
    register,
    rows_text,
    smallest_class,
    steps,
)
from noren.papers.released_columns import column_text, treatment
from noren.papers.wording import Wording

__all__ = ["COUNSEL", "anonymised", "item_one", "item_two"]

COUNSEL = ("appi.counsel_articles", "appi.counsel_standard", "appi.counsel_matching", "appi.counsel_special")


def anonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for anonymously processed information."""
    return [
        _making(case, wording),
        _providing(case, wording),
        _standard(case, wording),
        _recipient(case, wording),
        document("5-register", "appi.register", "inside", register("appi", case, wording), case, wording),
    ]


def _making(case: Case, wording: Wording) -> Document:
    said = wording.said("appi.making_text"), categories(case, wording), wording.said("appi.making_more")
    sections = [Section(wording.word("appi.categories_title"), said)]
    return document("1-making", "appi.making", "public", sections, case, wording)


def _providing(case: Case, wording: Wording) -> Document:
    what = wording.said("appi.providing_text"), categories(case, wording)
    sections = [
        Section(wording.word("appi.categories_title"), what),
        Section(wording.word("appi.provision_title"), (wording.said("appi.provision_text"),)),
    ]
    return document("2-providing", "appi.providing", "public", sections, case, wording)


def _recipient(case: Case, wording: Wording) -> Document:
    rows, columns = count(len(case.release.public)), count(len(case.columns))
    duties = counsel(("appi.recipient_duty_44", "appi.recipient_duty_45", "appi.recipient_duty_46"), wording)
    what = wording.said("appi.recipient_text"), wording.said("appi.recipient_file", rows=rows, columns=columns)
    sections = [
        Section(wording.word("appi.recipient_what"), (*what, categories(case, wording))),
        Section(wording.word("appi.recipient_duties"), (duties,)),
    ]
    return document("4-recipient", "appi.recipient", "recipient", sections, case, wording)


# --- the standard of Rules Art. 34 -----------------------------------------------------------------------------------


def _standard(case: Case, wording: Wording) -> Document:
    keys = ("item", "columns", "risk", "measure", "evidence", "decide")
    rows = tuple(
        _row(f"appi.item_{number}", *told, wording)
        for number, told in enumerate(
            (
                item_one(case, wording),
                item_two(case, wording),
                _item_three(case, wording),
                _item_four(case, wording),
                _item_five(case, wording),
            ),
            start=1,
        )
    )
    table = Grid(tuple(wording.word(f"appi.{key}") for key in keys), rows)
    law = wording.said("appi.law"), wording.said("appi.rules")
    sections = [
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
    return document("3-standard", "appi.standard", "inside", sections, case, wording)


def _row(key: str, columns: str, done: str, evidence: str, wording: Wording) -> tuple[Text, ...]:
    cells = wording.word(key), columns or wording.word("common.none"), wording.word(f"{key}_risk"), done, evidence
    return (*((cell,) for cell in cells), (wording.decision(f"{key}_decide"),))


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
