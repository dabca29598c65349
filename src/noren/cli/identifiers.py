"""``noren identifiers``: which columns of a table tell people apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json, Original, SchemaName, load_original
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.inference.identifiers import ColumnSet


Columns = Annotated[str, typer.Option("--columns", help=_("Columns to look at, separated by commas."))]


def named(columns: str) -> list[str]:
    """Return the columns of a list that a person typed."""
    return [name.strip() for name in columns.split(",") if name.strip()]


@app.command(
    "identifiers",
    help=_("Find which columns of a table, and which small combinations of them, identify people."),
    epilog=_("Example: noren identifiers people.csv --schema people --largest 3"),
)
def identifiers(
    table: Original,
    columns: Columns = "",
    largest: Annotated[int, typer.Option("--largest", help=_("How many columns a set may have."))] = 3,
    shown: Annotated[int, typer.Option("--shown", min=1, help=_("How many sets of each size are shown."))] = 5,
    schema: SchemaName = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Which pairs of rows a long table is judged by."))] = 0,
    as_json: Json = False,
) -> None:
    """Find quasi-identifiers."""
    from noren.inference.identifiers import identifiers as search

    data = load_original(table, schema, rows="people" if schema is None else None, quiet=as_json)
    with progress_bar(_("Searching"), quiet=as_json) as progress:
        found = search(data, columns=named(columns), largest=largest, shown=shown, seed=seed, progress=progress)
    if as_json:
        show_json(found.as_dict())
        return
    headings = (_("columns"), _("alone"), _("separation"), _("distinction"))
    show_table("", headings, [_row(one) for one in (*found.columns, *found.sets)])
    say(
        _(
            "alone: people whose combination nobody else has; separation: pairs of people that differ; "
            "distinction: different combinations, over people"
        )
    )
    if found.searched < found.possible:
        say(
            _(
                "{searched:,} of {possible:,} combinations were searched: those that add a column to a strong one"
            ).format(searched=found.searched, possible=found.possible)
        )


def _row(one: ColumnSet) -> tuple[str, ...]:
    from noren.judgement.numbers import percent

    share = percent(one.separation)
    if one.low < one.high:
        share += f" ({percent(one.low)}–{percent(one.high)})"
    return " + ".join(one.columns), percent(one.alone), share, percent(one.distinction)
