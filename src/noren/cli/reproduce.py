"""``noren reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Force, Json
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.reproduce.frame import Datum
    from noren.reproduce.run import Reproduction


@app.command(
    "reproduce",
    help=_("Set the tables and figures of the papers beside ours; a run that was stopped goes on where it was."),
    epilog=_("Example: noren reproduce S4 --table 5 --quick"),
)
def reproduce(
    documents: Annotated[str, typer.Argument(metavar="S0|S1|S2|S3|S4|beyond|all", help=_("Which document, or all."))],
    table: Annotated[list[str] | None, typer.Option("--table", help=_("Only this table; may be given again."))] = None,
    figure: Annotated[
        list[str] | None, typer.Option("--figure", help=_("Only this figure; may be given again."))
    ] = None,
    part: Annotated[
        list[str] | None, typer.Option("--part", help=_("Only this part, by its key: rho, table-5, figure-2."))
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=_("Fewer seeds, and some numbers left out: under three minutes for all."))
    ] = False,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help=_("How many seeds for random numbers, usually 5."))
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help=_("A folder for a page, Markdown, JSON and pictures."))
    ] = None,
    force: Force = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", help=_("Where finished work is kept; your cache folder where left out."))
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=_("Compute again what is kept."))] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help=_("How many processes; all cores where left out."))
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce documents."""
    from noren.data.formats.files import must_be_free
    from noren.reproduce import documents_named
    from noren.reproduce.frame import Extent
    from noren.reproduce.run import DocumentChoice
    from noren.reproduce.run import reproduce as run
    from noren.reproduce.writing import REPRODUCTION, write

    chosen = documents_named(documents)
    choice = DocumentChoice(tuple(table or ()), tuple(figure or ()), tuple(part or ()))
    choice.check(chosen)
    if out is not None:
        must_be_free(out, replace=force and REPRODUCTION)
    with progress_bar(_("Reproducing"), quiet=as_json) as progress:
        report = run(
            chosen, Extent(quick, seeds), choice, folder=cache, fresh=fresh, workers=workers, progress=progress
        )
    if out is not None:
        write(report, out, replace=force)
    if as_json:
        show_json(report.as_dict())
    else:
        _show(report)
        if out is not None:
            print(_("written to {out}").format(out=out))
    if report.failed:
        for document, key, cell in report.failed:
            say(
                _("{document} {part}, {row} {column}: the paper has {paper}, ours is {ours}").format(
                    document=document, part=key, row=cell.row, column=cell.column, paper=cell.paper, ours=cell.ours
                )
            )
        raise typer.Exit(1)


def _show(report: Reproduction) -> None:
    import textwrap

    from rich.console import Console

    from noren.reproduce.writing import before_table, headline, part_title

    for result in report.documents:
        print(f"{result.document.key}: {_(result.document.title)}\n")
        for part in result.parts:
            if part.comparison.cells:
                _show_cells(part_title(part), part.comparison.cells)
            else:
                print(part_title(part))
            print(*before_table(part), "", sep="\n")
        if result.errata:
            print(_("Errata"))
        for erratum in result.errata:
            words = (
                _("{key} ({where}): printed: {printed}; unexplained. {derivation}")
                if erratum.unexplained
                else _("{key} ({where}): printed: {printed}; it must be: {derived}. {derivation}")
            )
            print(textwrap.fill(words.format(**erratum.as_dict()), Console().width, subsequent_indent="  "))
        print()
    print(headline(report) + ".")
    counts = _("{computed} pieces of work computed, {kept} kept from before.")
    print(counts.format(computed=report.computed, kept=report.kept))


def _show_cells(title: str, cells: Sequence[Datum]) -> None:
    """Show cells as wide as the paper's table, or one below the other where the terminal is too narrow for that."""
    from rich.cells import cell_len
    from rich.console import Console

    from noren.reproduce.writing import grid, long_grid

    shown = grid(cells)
    headings = _two_lines(shown.headings)
    columns = zip(*shown.rows, *([heading.split("\n")[i] for heading in headings] for i in (0, -1)), strict=True)
    if sum(max(map(cell_len, column)) + 3 for column in columns) + 1 > Console().width:
        shown = long_grid(cells)
        headings = _two_lines(shown.headings)
    show_table(title, headings, shown.rows)


def _two_lines(headings: Sequence[tuple[str, str]]) -> list[str]:
    """Return headings whose first line names the paper's column once."""
    if not any(column for column, _whose in headings):
        return [whose for _column, whose in headings]
    before = ""
    lines = []
    for column, whose in headings:
        lines.append(f"{column if column != before else ''}\n{whose}")
        before = column
    return lines
