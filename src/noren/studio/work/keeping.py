"""Weigh or add the next release of a project's ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noren.ledger import BudgetError, Ledger, Proposal
from noren.progress import Progress
from noren.studio.folders import Folders
from noren.studio.work.running import original_of

__all__ = ["curve_of", "do"]

_ABOUT_PEOPLE: Any = {"facts": {"tried": {"__all__": {"right_at"}}}}
"""Which answers of an attack are right is told in the secret part alone."""


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Do what ``order["act"]`` says: ``weigh`` writes nothing, ``add`` keeps the release unless the budget breaks."""
    book = Ledger.open(Folders(Path(order["root"])).ledger(order["project"]))
    history = original_of(order)
    how = {"period": order["period"], "seed": order["seed"], "allow_gap": True, "progress": progress}
    released = False
    if any(entry.period == order["period"] for entry in book.entries):
        # taken up again after the release was written: it must not be released twice
        entry = next(entry for entry in book.entries if entry.period == order["period"])
        return {"period": entry.period, "released": True, "after": entry.risk.model_dump(mode="json")}
    try:
        if order["act"] == "add":
            _entry, proposal = book.keep_weighed(history, **how)
            released = True
        else:
            proposal = book.weigh(history, **how)
    except BudgetError as refused:
        proposal = refused.proposal
    return _told(book, proposal, released=released)


def _told(book: Ledger, proposal: Proposal, *, released: bool) -> dict[str, Any]:
    return {
        "period": proposal.period,
        "released": released,
        "original_rows": len(proposal.rows),
        "public_rows": len(proposal.release.public),
        "before": None if proposal.before is None else proposal.before.model_dump(mode="json"),
        "after": proposal.after.model_dump(mode="json"),
        "certificate": None if proposal.certificate is None else proposal.certificate.model_dump(mode="json"),
        "uncertified": proposal.uncertified,
        "verdict": proposal.verdict.as_dict(),
        "judged": proposal.verdict.model_dump(mode="json", exclude=_ABOUT_PEOPLE),
        "budget": dict(proposal.budget),
        "broken": dict(proposal.broken),
        "failed": dict(proposal.failed),
        "exposed": len(proposal.exposed),
        "curve": curve_of(book, None if released else proposal),
    }


def curve_of(book: Ledger, proposal: Proposal | None = None) -> dict[str, Any]:
    """Return what each attack found after each release, by the measure that the tightest budget is about."""
    measure = book.tightest(proposal)
    periods, found = book.curves(proposal, measure)
    certified = book.certified_curve(proposal, measure)
    return {
        "periods": periods,
        "measure": measure,
        "found": found,
        "certified": certified,
        "mm": book.curves(proposal)[1],
    }
