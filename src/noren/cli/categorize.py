"""``noren categorize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Json, Master, Original, Rows, SchemaName, load_original
from noren.cli.parts.screen import say, show_json, show_table
from noren.i18n import _


@app.command(
    "categorize",
    help=_("Put items into categories, by their names or by a file of yours, with a page to review them."),
    epilog=_("Example: noren categorize T.csv --names online_retail.parquet --out categories.csv --page review.html"),
)
def categorize(
    original: Original,
    out: Annotated[Path, typer.Option("--out", help=_("The CSV file to write: item,category,name."))],
    names: Annotated[
        Path | None,
        typer.Option("--names", help=_("Data with the items' names, where the original has none.")),
    ] = None,
    names_schema: Annotated[
        str | None, typer.Option("--names-schema", help=_("The schema of the data with names; guessed where left out."))
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help=_("Your own categories, a CSV file item,category; items left out become unknown.")),
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, help=_("How many categories to make of the names."))] = 19,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help=_("Same seed, same categories."))] = 0,
    page: Annotated[Path | None, typer.Option("--page", help=_("Also write an HTML page to review them."))] = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    as_json: Json = False,
) -> None:
    """Categorize items."""
    from noren.data.categories import complete, read_categories, write_categories
    from noren.data.category_names import derive_categories, item_names, read_item_names
    from noren.data.frames import History
    from noren.data.schema import Role
    from noren.errors import SchemaError
    from noren.reports.category_page import write_category_page

    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    if not isinstance(data, History):
        raise SchemaError(_("a table has no items"), _("give a purchase history"))
    items = data[Role.ITEM].drop_nulls().unique().to_list()
    called: dict[str, str] = {}
    if names is not None:
        called = read_item_names(names, names_schema)
    elif file is None or data.schema.with_role(Role.DESCRIPTION):
        called = item_names(data)
    if file is not None:
        categories = complete(read_categories(file), items)
    else:
        categories = derive_categories(called, items, count=count, seed=seed)
    write_categories(categories, out)
    if page is not None:
        write_category_page(categories, called, page)
    groups = categories.groups()
    if as_json:
        listed = [{"category": c, "name": categories.name(c), "items": len(found)} for c, found in groups.items()]
        show_json({"out": str(out), "items": len(categories.of_item), "categories": listed})
        return
    rows = [(c, categories.name(c), f"{len(found):,}") for c, found in groups.items()]
    show_table("", (_("category"), _("name"), _("items")), rows)
    say(_("categories of {items:,} items written to {out}").format(items=len(categories.of_item), out=out))
