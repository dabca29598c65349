"""A pack of papers: which documents there are for which law, and how they are written into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from noren.data.formats.files import FolderKind, json_signature, writing_folder
from noren.i18n import active_language
from noren.judgement.page_text import printable
from noren.papers.case import Case, is_pseudonymised_only
from noren.papers.document import Document, DocumentTable, Pack
from noren.papers.laws import anonymised, impact_assessment, pseudonymised
from noren.papers.parts import document
from noren.papers.wording import Wording, drafts
from noren.papers.writers import as_docx, as_html, as_markdown
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
