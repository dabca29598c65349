"""The papers for pseudonymously processed information (仮名加工情報): for use inside, never called anonymous."""

from __future__ import annotations

from noren.papers.appi import item_one, item_two
from noren.papers.case import Case, is_pseudonymised_only
from noren.papers.document import Document, Grid, Points, Section, Text
from noren.papers.parts import columns_grid, document, evidence_blocks, register, steps
from noren.papers.wording import Wording

__all__ = ["COUNSEL", "pseudonymised"]

COUNSEL = ("pseudonymised.counsel_articles", "pseudonymised.counsel_standard", "pseudonymised.counsel_personal")


def pseudonymised(case: Case, wording: Wording) -> list[Document]:
    """Return the papers for pseudonymously processed information; each says that it is not anonymous."""
    what = Section(wording.word("pseudonymised.what_it_is"), (_what(case, wording),))
    purpose = Section(wording.word("pseudonymised.publication_name"), (wording.said("pseudonymised.publication_text"),))
    duties = Points(tuple(wording.said(f"pseudonymised.notice_{number}") for number in "35678"))
    written = [
        ("1-standard", "pseudonymised.standard", "inside", _standard(case, wording)),
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


def _what(case: Case, wording: Wording) -> Text:
    return wording.said(
        "pseudonymised.not_anonymous" if is_pseudonymised_only(case.release) else "pseudonymised.chosen"
    )


def _standard(case: Case, wording: Wording) -> list[Section]:
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
