"""``noren report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.failures import Failures
from noren.cli.inputs import CustomerColumn, Master, Original, Rows, SchemaName, load_original
from noren.cli.screen import progress_bar
from noren.i18n import _

HELP = _("Attack and measure releases and write one HTML page about them, for the steward.")
EXAMPLE = _("Example: noren report T.csv release-k2/ release-k3/ --schema pwscup2018 --out report.html")


def report(
    original: Original,
    releases: Annotated[list[Path], typer.Argument(metavar="RELEASE…", help=_("Release folders to compare."))],
    out: Annotated[Path, typer.Option("--out", help=_("The HTML file to write."))],
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
) -> None:
    """Write a report."""
    from noren.data.reading import read_release
    from noren.study.outcomes import judge
    from noren.study.report import write_report

    data = load_original(original, schema, master, rows=rows_are, customer=customer)
    loaded = {path: read_release(path, data) for path in releases}
    outcomes, failures = [], Failures()
    for path, release in loaded.items():
        with progress_bar(path.name) as progress:
            outcomes.append(judge(data, release, label=path.name, progress=progress))
        for name, reason in outcomes[-1].failed.items():
            failures.add(f"{path.name}, {name}", reason)
    write_report(data, outcomes, out)
    print(_("report written to {out}").format(out=out))
    failures.leave()
