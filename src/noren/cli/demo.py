"""``noren demo``: the whole of Noren on generated data, in one command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.failures import Failures
from noren.cli.inputs import Force, Json
from noren.cli.screen import number, progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.formats.files import FolderKind

HELP = _("Run everything on generated data: protect, attack, measure, report.")
EXAMPLE = _("Example: noren demo --out demo/")

_SCHEMA = "pwscup2018"
_RUNS: tuple[tuple[str, dict[str, object]], ...] = (
    ("pseudonymize", {}),
    ("generalize-by-count", {"k": 2, "suppress_cells": True}),
    ("generalize-by-count", {"k": 3, "suppress_cells": True}),
    ("generalize-by-count", {"k": 6, "suppress_cells": True}),
)


def demo(
    out: Annotated[Path, typer.Option("--out", help=_("The folder to write everything to."))] = Path("demo"),
    customers: Annotated[int, typer.Option("--customers", help=_("How many customers."))] = 400,
    rows: Annotated[int, typer.Option("--rows", help=_("How many purchases."))] = 38_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same bytes."))] = 1,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Run the demo."""
    from noren.api import protect, sample
    from noren.data.formats.files import writing_folder
    from noren.data.formats.official import write_rows
    from noren.measures import measures
    from noren.methods import methods
    from noren.study.outcomes import judge
    from noren.study.report import write_report

    with writing_folder(out, replace=(force or _holds_demo(out)) and _kind()) as folder:
        if not as_json:
            say(_("1. generating {rows:,} purchases of {customers:,} customers").format(rows=rows, customers=customers))
        original = sample(customers=customers, rows=rows, seed=seed, schema=_SCHEMA)
        write_rows(original, folder / "T.csv")
        outcomes, failures = [], Failures()
        with progress_bar(_("2. protecting, attacking, measuring"), quiet=as_json) as progress:
            for i, (name, parameters) in enumerate(_RUNS):
                label = _label(name, parameters)
                progress(i / len(_RUNS), label)
                release = protect(original, methods.create(name, **parameters), seed=seed)
                release.save(folder / _folder_name(name, parameters), official=True)
                outcomes.append(judge(original, release, label=label))
                for failing, reason in outcomes[-1].failed.items():
                    failures.add(f"{label}, {failing}", reason)
        write_report(original, outcomes, folder / "report.html")
        _sign(folder)
    summary = [
        {
            "release": o.label,
            "deleted_rows": o.release.deleted_rows,
            "scores": {name: score.value for name, score in o.scores.items()},
        }
        for o in outcomes
    ]
    page = (out / "report.html").resolve()
    if as_json:
        show_json({"out": str(out), "report": str(page), "releases": summary, "failed": failures.reasons})
        failures.leave()
        return
    table = [(_("deleted rows"), *(number(o.release.deleted_rows) for o in outcomes), _("lower is better"))]
    for name in dict.fromkeys(name for o in outcomes for name in o.scores):
        better = _("lower is better") if measures[name].goal == "lower" else _("higher is better")
        # a measure of exact values says nothing of sets and intervals
        told = (number(o.scores[name].value) if name in o.scores else "–" for o in outcomes)
        table.append((name, *told, better))
    show_table(_("What each release loses and leaks"), ("", *(o.label for o in outcomes), ""), table)
    print(_("report: {page}").format(page=page.as_uri()))
    failures.leave()


def _label(name: str, parameters: Mapping[str, object]) -> str:
    return " ".join([name, *(f"{k}={v}" for k, v in parameters.items() if k == "k")])


def _folder_name(name: str, parameters: Mapping[str, object]) -> str:
    return _label(name, parameters).replace(" ", "-").replace("=", "")


# --- knowing an earlier demo again -----------------------------------------------------------------------------------

_SIGN = ".noren"
_SIGNED = ("T.csv", "report.html")


def _sign(folder: Path) -> None:
    """Note what the files are whose names anybody may use: an original and a report are told from yours by digests."""
    files = {name: _digest(folder / name) for name in _SIGNED}
    (folder / _SIGN).write_text(json.dumps({"folder": "demo", "files": files}, indent=1) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _kind() -> FolderKind:
    """Return what a demo's folder holds: its own files, and releases."""
    from noren.data.formats.files import FolderKind
    from noren.data.release import RELEASE

    releases = [f"{_folder_name(name, parameters)}/{file}" for name, parameters in _RUNS for file in RELEASE.names]
    return FolderKind((_SIGN, *_SIGNED, *releases), _unsigned)


def _unsigned(folder: Path) -> str | None:
    """Return a file that is not the one an earlier demo wrote."""
    try:
        files = json.loads((folder / _SIGN).read_text(encoding="utf-8"))["files"]
        return next((name for name in _SIGNED if _digest(folder / name) != files[name]), None)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return next((name for name in _SIGNED if (folder / name).exists()), _SIGN)


def _holds_demo(folder: Path) -> bool:
    """Tell whether a folder holds an earlier demo and nothing else, so that another may take its place."""
    return folder.is_dir() and any(folder.iterdir()) and _kind().foreign(folder) is None
