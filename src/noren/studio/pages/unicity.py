"""The part of the data page that tells how many known purchases single a customer out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noren.drawing.ground import live
from noren.drawing.unicity_lines import unicity_lines
from noren.i18n import _
from noren.inference.coarseness import EXACT
from noren.judgement.numbers import count
from noren.judgement.page_text import printable
from noren.reports.unicity_part import singled_out_caption, unicity_headings, unicity_rows

__all__ = ["unicity_context"]


def unicity_context(history: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the curve of a profile for the page; None of tables, of one customer and of profiles made before."""
    found = None if history is None else history.get("unicity")
    if found is None:
        return None
    words = ", ".join(f"{printable(name, 40)} ({_exactly(word)})" for name, word in found["columns"].items())
    about = _(
        "Known of a purchase: {known}. {sampled} of {customers} customers were asked about, drawn by lot."
    ).format(known=words, sampled=count(found["sampled"]), customers=count(found["customers"]))
    return {
        "caption": singled_out_caption(found),
        "about": about,
        "spec": live(unicity_lines(found["curve"])),
        "headings": unicity_headings(),
        "table": unicity_rows(found["curve"]),
    }


def _exactly(word: str) -> str:
    return _("exact") if word == EXACT else word
