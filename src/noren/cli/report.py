"""``noren report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.failures import Failures
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Master, Original, Rows, RuleName, SchemaName, load_original
from noren.cli.parts.screen import progress_bar
from noren.i18n import _


@app.command(
    "report",
    help=_("Attack and measure releases and write one HTML page about them, for the steward."),
    epilog=_("Example: noren report T.csv release-k2/ release-k3/ --schema pwscup2018 --out report.html"),
)
def report(
    original: Original,
    releases: Annotated[list[Path], typer.Argument(metavar="RELEASE…", help=_("Release folders to compare."))],
    out: Annotated[Path, typer.Option("--out", help=_("The HTML file to write."))],
    rule: RuleName = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
) -> None:
    """Write a report."""
    from noren.data.reading import read_release
    from noren.judgement.outcome import examine
    from noren.judgement.rule import rule_named
    from noren.reports.report import write_report

    by = rule_named(rule)
    data = load_original(original, schema, master, rows=rows_are, customer=customer)
    loaded = {path: read_release(path, data) for path in releases}
    outcomes, failures = [], Failures()
    for path, release in loaded.items():
        with progress_bar(path.name) as progress:
            outcomes.append(examine(data, release, label=path.name, progress=progress))
        for name, reason in outcomes[-1].failed.items():
            failures.add(f"{path.name}, {name}", reason)
    write_report(data, outcomes, out, rule=by)
    print(_("report written to {out}").format(out=out))
    failures.leave()
