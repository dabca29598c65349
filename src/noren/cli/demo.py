"""``noren demo``: the whole of Noren on generated data, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.inputs import Force, Json
from noren.cli.screen import number, progress_bar, say, show_json, show_table
from noren.i18n import _

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

    with writing_folder(out, replace=force or _is_demo(out)) as folder:
        if not as_json:
            say(_("1. generating {rows:,} purchases of {customers:,} customers").format(rows=rows, customers=customers))
        original = sample(customers=customers, rows=rows, seed=seed, schema=_SCHEMA)
        write_rows(original, folder / "T.csv")
        outcomes = []
        with progress_bar(_("2. protecting, attacking, measuring"), quiet=as_json) as progress:
            for i, (name, parameters) in enumerate(_RUNS):
                label = " ".join([name, *(f"{k}={v}" for k, v in parameters.items() if k == "k")])
                progress(i / len(_RUNS), label)
                release = protect(original, methods.create(name, **parameters), seed=seed)
                release.save(folder / label.replace(" ", "-").replace("=", ""), official=True)
                outcomes.append(judge(original, release, label=label))
        write_report(original, outcomes, folder / "report.html")
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
        show_json({"out": str(out), "report": str(page), "releases": summary})
        return
    table = [(_("deleted rows"), *(number(o.release.deleted_rows) for o in outcomes), _("lower is better"))]
    for name in outcomes[0].scores:
        better = _("lower is better") if measures[name].goal == "lower" else _("higher is better")
        # a measure of exact values says nothing of sets and intervals
        told = (number(o.scores[name].value) if name in o.scores else "–" for o in outcomes)
        table.append((name, *told, better))
    show_table(_("What each release loses and leaks"), ("", *(o.label for o in outcomes), ""), table)
    print(_("report: {page}").format(page=page.as_uri()))


def _is_demo(folder: Path) -> bool:
    """Tell whether a folder holds an earlier demo, which may be replaced."""
    return (folder / "report.html").exists() and (folder / "T.csv").exists()
