"""Write what is asked for beside runs: reports, reconstructed tables, and releases of the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noren import api
from noren.data.frames import Table
from noren.data.reading import write
from noren.data.release import Release
from noren.ledger import BudgetError, Ledger, Proposal
from noren.progress import Progress, part_of
from noren.reports.report import write_report
from noren.studio.folders import Folders
from noren.studio.work.results import load_outcome
from noren.studio.work.running import original_of


def write_report_of(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the page about the runs of ``order["runs"]``; what they found was kept."""
    original, files = original_of(order), Folders(Path(order["root"]))
    progress(0.1)
    outcomes = [load_outcome(files.job(order["project"], run["id"]), run.get("label")) for run in order["runs"]]
    progress(0.4)
    about = {"rule": order.get("rule"), "title": order.get("title")}
    write_report(original, outcomes, folder / "report.html", **about, pseudonyms=False)
    progress(1.0)
    return {"runs": [run["id"] for run in order["runs"]]}


_FOLDS_SEED = 0


def reconstruct(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Reconstruct as the release's statement says, and as ``noren reconstruct`` does where nothing is chosen."""
    run = order["runs"][0]["id"]
    release = Release.load(Folders(Path(order["root"])).job(order["project"], run) / "release")
    found = api.reconstruct(release, seed=_FOLDS_SEED, progress=part_of(progress, 0.05, 0.9))
    records = found.records(_FOLDS_SEED)
    table = Table(records, found.perturbation.released_schema(release.public.schema))
    for ending in ("parquet", "csv"):
        write(table, folder / f"reconstructed.{ending}")
    progress(1.0)
    return {"run": run, "records": len(records), "model": found.model}


_ABOUT_PEOPLE: Any = {"facts": {"tried": {"__all__": {"right_at"}}}}
"""Which answers of an attack are right is told in the secret part alone."""


def weigh_or_add(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
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
