"""Write the report of one or several runs: one HTML page that stands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noren.progress import Progress
from noren.reports.report import write_report
from noren.studio.folders import Folders
from noren.studio.work.outcome_files import load_outcome
from noren.studio.work.running import original_of

__all__ = ["do"]


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the page about the runs of ``order["runs"]``; what they found was kept."""
    original, files = original_of(order), Folders(Path(order["root"]))
    progress(0.1)
    outcomes = [load_outcome(files.job(order["project"], run["id"]), run.get("label")) for run in order["runs"]]
    progress(0.4)
    about = {"rule": order.get("rule"), "title": order.get("title")}
    write_report(original, outcomes, folder / "report.html", **about, pseudonyms=False)
    progress(1.0)
    return {"runs": [run["id"] for run in order["runs"]]}
