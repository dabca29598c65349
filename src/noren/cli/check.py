"""``noren check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json, Original
from noren.cli.parts.screen import say, show_json
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.data.checks.report import Report


@app.command(
    "check",
    help=_("Check a release or a guess by a contest's rules, as its official checker does, and list every problem."),
    epilog=_("Example: noren check T.csv A.csv --schema pwscup2018"),
)
def check(
    original: Original,
    release: Annotated[
        Path | None,
        typer.Argument(metavar="RELEASE", help=_("The released file: A, AT; with --guess what was published.")),
    ] = None,
    schema: Annotated[str, typer.Option("--schema", help=_("Whose rules: pwscup2017 or pwscup2018."))] = "pwscup2018",
    guess: Annotated[Path | None, typer.Option("--guess", help=_("Check this guess (F', F̂) instead."))] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help=_("How many problems to list."))] = 20,
    as_json: Json = False,
) -> None:
    """Check a file; exit code 0 when it is valid, 2 when it is not."""
    from noren.api import check as run

    report = run(original, release, schema=schema, guess=guess, limit=limit)
    if as_json:
        show_json(report.as_dict())
    else:
        show_report(report, (guess or release or original).name)
    if not report.valid:
        raise typer.Exit(2)


def show_report(report: Report, file: str) -> None:
    """Print what a checker says of a file."""
    for problem in report.problems:
        print(problem.sentence(file))
    more = report.total - len(report.problems)
    if more > 0:
        print(ngettext("… and {count:,} more problem", "… and {count:,} more problems", more).format(count=more))
    for warning in report.warnings:
        say(_("note: {sentence}").format(sentence=warning.sentence(file)))
    if report.valid:
        print(_("{file} is valid").format(file=file))
    else:
        told = ngettext(
            "{file} is not valid: {count:,} problem", "{file} is not valid: {count:,} problems", report.total
        )
        print(told.format(file=file, count=report.total))
