"""``noren unicity``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Json, Master, Original, Rows, SchemaName, load_original
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.inference.curve import Unicity


@app.command(
    "unicity",
    help=_(
        "Measure unicity: which share of customers a few known purchases single out, in the original and in a release."
    ),
    epilog=_("Example: noren unicity T.csv release/ --schema pwscup2018 --known 1-10 --date week --price round:10"),
)
def unicity(
    original: Original,
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RELEASE]", help=_("A release folder, or a released file in the original's row order.")
        ),
    ] = None,
    known: Annotated[str, typer.Option("--known", help=_("How many purchases are known: 4, 1-20 or 1,2,4."))] = "1-20",
    columns: Annotated[
        str | None,
        typer.Option("--columns", help=_("What is known of a purchase: columns or roles; date and item if not said.")),
    ] = None,
    date: Annotated[
        str | None, typer.Option("--date", help=_("exact, hour, day, week, month, quarter, year or unknown."))
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help=_("exact, hour or unknown."))] = None,
    item: Annotated[str | None, typer.Option("--item", help=_("exact, category, prefix:2 or unknown."))] = None,
    price: Annotated[
        str | None, typer.Option("--price", help=_("exact, round:10 (to tens), digits:2 (the first two) or unknown."))
    ] = None,
    quantity: Annotated[
        str | None,
        typer.Option("--quantity", help=_("exact, round:10 (to tens), digits:2 (the first two) or unknown.")),
    ] = None,
    categories: Annotated[
        Path | None, typer.Option("--categories", help=_("A file of categories: item,category[,name]."))
    ] = None,
    sample: Annotated[int, typer.Option("--sample", min=1, help=_("How many customers to ask about."))] = 2_000,
    everybody: Annotated[bool, typer.Option("--all", help=_("Ask about every customer."))] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same draws; it is no secret."))] = 0,
    chart: Annotated[Path | None, typer.Option("--chart", help=_("The picture to write: .html, .svg or .png."))] = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    as_json: Json = False,
) -> None:
    """Count who is singled out."""
    from noren.data.reading import read_any_release
    from noren.drawing.ground import chart_ending, write_picture
    from noren.drawing.label_places import heading_lines
    from noren.drawing.unicity_lines import unicity_lines
    from noren.inference.unicity import numbers_of
    from noren.inference.unicity import unicity as run
    from noren.judgement.singled_out import left_in_release, singled_out

    numbers_of(known)
    if chart is not None:
        chart_ending(chart)
    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    there = None if release is None else read_any_release(release, data)
    with progress_bar(_("Unicity"), quiet=as_json) as progress:
        found = run(
            data, there, known=known, columns=_named(columns), date=date, time=time, item=item, price=price,
            quantity=quantity, categories=categories, sample=None if everybody else sample, seed=seed,
            progress=progress,
        )  # fmt: skip
    first = found.original.headline()
    sentences = [singled_out(first, found.sampled)]
    if found.release is not None:
        sentences += [left_in_release(step) for step in found.release.steps if step.known == first.known]
    if chart is not None:
        others = {} if found.release is None or release is None else {release.name: found.release.as_list()}
        heading = [line for said in sentences for line in heading_lines(said)]
        write_picture(unicity_lines(found.original.as_list(), others, heading=heading), chart)
    if as_json:
        show_json(found.as_dict() | {"sentences": sentences} | ({"chart": str(chart)} if chart else {}))
        return
    _show(found)
    say(*sentences, *_remarks(found))
    if chart is not None:
        say(_("chart written to {out}").format(out=chart))


def _named(columns: str | None) -> list[str] | None:
    return None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]


def _show(found: Unicity) -> None:
    from noren.reports.unicity_part import release_headings, release_rows, unicity_headings, unicity_rows

    two = found.release is not None
    show_table(_("original") if two else "", unicity_headings(), unicity_rows(found.original.as_list()))
    if found.release is not None:
        show_table(_("release"), release_headings(), release_rows(found.release.as_list()))


def _remarks(found: Unicity) -> list[str]:
    known = ", ".join(f"{name} ({word})" for name, word in found.columns.items())
    said = [
        _("known of a purchase: {known}; {sampled:,} of {customers:,} customers asked about").format(
            known=known, sampled=found.sampled, customers=found.customers
        )
    ]
    steps = found.original.steps
    if all(step.unique == 1 for step in steps):
        said.append(_("every customer asked about is singled out, from {known} on").format(known=steps[0].known))
    if found.beyond is not None:
        said.append(
            _("nobody asked about has {count:,} different purchases; the most is {most:,}").format(
                count=found.beyond, most=found.most
            )
        )
    return said
