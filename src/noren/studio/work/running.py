"""Protect, attack, measure; everything a page shows of it, as numbers and facts; and what is written of runs.

Nothing finished is lost. The release is kept before anybody attacks it, each guess and each score as soon as it is
there. A failed attack or measure is reported with its reason, and the others go on; a resumed run
does only what is missing. A release whose audit failed is stored and marked, and cannot be shared.

The project's folder is a cache of ``noren explore`` as well: what a sweep did with the same seed is taken from there,
and what a run does is there for the next sweep.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from noren.data.frames import Records, Table
from noren.data.reading import read, write
from noren.data.release import Release
from noren.data.schema import Schema
from noren.drawing.crosstabs import crosstabs
from noren.errors import FileError
from noren.execution.engine import OriginalInput, ServerEngine
from noren.execution.session import report_stages
from noren.i18n import _
from noren.judgement.evidence import VerdictStatus, facts_of
from noren.judgement.judging import deciding_measures, judge
from noren.judgement.sentences import verdict_label
from noren.measures import measures as every_measure
from noren.measures.losses import losses
from noren.progress import Progress, part_of
from noren.reports.run_view import column_cells, row_pairs, run_view
from noren.studio.folders import JUDGED_FILE, LOSSES_FILE, STAGES_FILE, Folders, method_of, read_json, write_json
from noren.studio.work import STAGES
from noren.studio.work.reading import named_by_ending
from noren.studio.work.results import RunFolder, load_outcome, summary_of
from noren.sweeps.cached_point import CachedPoint
from noren.work.run import Run

if TYPE_CHECKING:
    from noren.ledger import Ledger, Proposal

_SHARED = "shared.json"
"""Names the folders of the project where a run shares its release and guesses with sweeps."""
_VIEWED = 0.92
_FOLDS_SEED = 0
_ABOUT_PEOPLE: Any = {"facts": {"tried": {"__all__": {"right_at"}}}}
"""Which answers of an attack are right is told in the secret part alone."""


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the release and judge it; what of it is there already stays."""
    original, project = original_of(order), Folders(Path(order["root"])).project(order["project"])
    data = OriginalInput(original.schema, Folders(Path(order["root"])).data(order["project"]), original)
    method = method_of(order["steps"], project)
    shared = CachedPoint(project, original, method, order["seed"], order.get("attacks"), order.get("measures"))
    write_json(folder / _SHARED, [str(path.relative_to(project)) for path in shared.folders])
    results = RunFolder(folder, shared)
    engine = ServerEngine(order.get("engine", "local"), ran=results.add_engine)
    # the stages of a cluster, where one works, are kept beside the run while they pass; they stay with it
    stages = read_json(folder / STAGES_FILE) or []  # of a run that is taken up again
    with report_stages(lambda steps: write_json(folder / STAGES_FILE, [*stages, *map(asdict, steps)])):
        released, attacked, measured = (end for _stage, end in STAGES["run"][:3])
        how: dict[str, Any] = {"seed": order["seed"], "progress": part_of(progress, 0.0, released)}
        run = Run.protect(engine, data, method, folder / "release", results, **how)
        release = run.release.whole
        results.release = release if shared.is_of(folder / "release") else None
        # what classes prove or refute is known before any attack, and said while attacks go on
        deciding = deciding_measures(original.schema)
        run.measure([every_measure.create(n) for n in deciding if n in (order.get("measures") or deciding)])
        counted = facts_of(results.outcome(release))
        status = judge(counted, order.get("rule")).status
        proof = verdict_label(status) if status in (VerdictStatus.PROVED, VerdictStatus.BROKEN) else ""
        run.examine(
            order.get("attacks"),
            order.get("measures"),
            attacked=(attacked - released) / (measured - released),
            progress=part_of(progress, released, measured, proof),
        )
    progress(measured, _("preparing"))
    summary = {"failed": results.failed, "audited": results.audited, "engines": results.engines}
    pairs = row_pairs(original, release)
    pq.write_table(pairs.to_arrow(), folder / "rows.parquet", compression="zstd")
    progress(_VIEWED)
    view: dict[str, Any] = run_view(original, results.outcome(release), counted).model_dump(mode="json") | summary
    view["cells"] = [cells.model_dump(mode="json") for cells in column_cells(pairs, original, release)]
    write_json(folder / "result.json", view)
    progress(0.95)
    write_json(folder / "crosstabs.json", crosstabs(original, release))
    write_json(folder / LOSSES_FILE, losses(original, release).to_dict())
    progress(1.0)
    return summary_of(view, order.get("rule"))


def original_of(order: Mapping[str, Any]) -> Records:
    """Return the project's data."""
    files, project = Folders(Path(order["root"])), order["project"]
    schema = Schema.from_toml(files.schema(project).read_text(encoding="utf-8"))
    return read(files.data(project), schema).data


def forget_shared(project: Path, folder: Path, others: Iterable[Path]) -> None:
    """Delete what a run in ``folder`` shares with sweeps, less what the runs in ``others`` share as well."""
    needed = {name for other in others for name in read_json(other / _SHARED) or ()}
    for name in read_json(folder / _SHARED) or ():
        if name not in needed:
            shutil.rmtree(project / name, ignore_errors=True)


# --- what is asked for beside runs ------------------------------------------------------------------------------------


def write_report_of(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Write the page about the runs of ``order["runs"]``; what they found was kept."""
    from noren.reports.report import write_report  # here, as below: other work needs nothing of it

    original, files = original_of(order), Folders(Path(order["root"]))
    progress(0.1)
    loaded = [(load_outcome(files.job(order["project"], run["id"])), run["label"]) for run in order["runs"]]
    outcomes = [replace(outcome, label=label) for outcome, label in loaded]
    progress(0.4)
    about = {"rule": order.get("rule"), "title": order.get("title")}
    write_report(original, outcomes, folder / "report.html", **about, pseudonyms=False)
    progress(1.0)
    return {"runs": [run["id"] for run in order["runs"]]}


def judge_file(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Find what there is to find of a file from elsewhere; the verdict is given when it is shown."""
    from noren.interactive import judge

    original, uploaded = original_of(order), folder / JUDGED_FILE
    progress(0.05, _("looking at the file"))
    if not uploaded.exists():  # a job that was over is started again
        raise FileError(_("the file was removed after it was judged; upload it again"), file=uploaded)
    book = Folders(Path(order["root"])).ledger(order["project"])
    how = {"map": order["map"], "truth": order["truth"], "ledger": book if book.exists() else None}
    with named_by_ending(uploaded, folder, order["file_name"]) as path:
        verdict = judge(original, path, **how, progress=part_of(progress, 0.1, 1.0))
    return {"facts": verdict.facts.model_dump(mode="json")}


def reconstruct(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Reconstruct as the release's statement says, and as ``noren reconstruct`` does where nothing is chosen."""
    from noren import api

    run = order["runs"][0]["id"]
    release = Release.load(Folders(Path(order["root"])).job(order["project"], run) / "release")
    reconstruction = api.reconstruct(release, seed=_FOLDS_SEED, progress=part_of(progress, 0.05, 0.9))
    records = reconstruction.records(_FOLDS_SEED)
    table = Table(records, reconstruction.perturbation.released_schema(release.public.schema))
    for ending in ("parquet", "csv"):
        write(table, folder / f"reconstructed.{ending}")
    progress(1.0)
    return {"run": run, "records": len(records), "model": reconstruction.model}


def weigh_or_add(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Do what ``order["act"]`` says: ``weigh`` writes nothing, ``add`` keeps the release unless the budget breaks."""
    from noren.ledger import BudgetError, Ledger

    book = Ledger.open(Folders(Path(order["root"])).ledger(order["project"]))
    history = original_of(order)
    how = {"period": order["period"], "seed": order["seed"], "allow_gap": True, "progress": progress}
    released = False
    entry = next((entry for entry in book.entries if entry.period == order["period"]), None)
    if entry is not None:  # taken up again after the release was written: it must not be released twice
        return {"period": entry.period, "released": True, "after": entry.risk.model_dump(mode="json")}
    try:
        if order["act"] == "add":
            _entry, proposal = book.add_with_proposal(history, **how)
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
    periods, curves = book.curves(proposal, measure)
    certified = book.certified_curve(proposal, measure)
    return {
        "periods": periods,
        "measure": measure,
        "attacks": curves,
        "certified": certified,
        "mm": book.curves(proposal)[1],
    }
