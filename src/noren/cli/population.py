"""``noren population``: how many people of a population are unique."""

from __future__ import annotations

from typing import Annotated

import typer

from noren.cli.identifiers import Columns, named
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json, Original, SchemaName, load_original
from noren.cli.parts.screen import say, show_json, show_table
from noren.i18n import _


@app.command(
    "population",
    help=_("Estimate population uniqueness: how many people are unique in the population a table was drawn from."),
    epilog=_("Example: noren population people.csv --schema people --population 300e6"),
)
def population(
    table: Original,
    size: Annotated[
        float | None, typer.Option("--population", help=_("How many people the population has, such as 300e6."))
    ] = None,
    fraction: Annotated[
        float | None, typer.Option("--fraction", help=_("Or which share of the population is in the table."))
    ] = None,
    columns: Columns = "",
    schema: SchemaName = None,
    as_json: Json = False,
) -> None:
    """Estimate population uniqueness."""
    from noren.inference.population import population as estimate
    from noren.judgement.numbers import percent
    from noren.judgement.singled_out import estimates_differ

    data = load_original(table, schema, rows="people" if schema is None else None, quiet=as_json)
    found = estimate(data, size, fraction=fraction, columns=named(columns))
    if as_json:
        show_json(found.as_dict())
        return
    rows = []
    for name in ("pitman", "zayatz", "snb"):
        if name in found.estimates:
            value = found.estimates[name]
            mark = _("chosen") if name == found.chosen else ""
            rows.append((name, f"{value:,.0f}", percent(value / found.population), mark))
        else:
            rows.append((name, "", "", found.failed[name]))
    show_table("", (_("estimator"), _("unique people"), _("share"), ""), rows)
    say(
        _("{alone:,} of {rows:,} people are unique in the table, which has {fraction} of {population:,} people").format(
            alone=found.alone, rows=found.rows, fraction=percent(found.fraction), population=found.population
        )
    )
    if apart := estimates_differ(found):
        say(apart)
    say(_("an estimate holds where the table is a random sample of the population"))
