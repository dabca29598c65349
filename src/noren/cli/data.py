"""Data themselves: ``sample``, ``convert``, ``categorize``, ``schema``, ``datasets``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, Table, app, number, progress_bar
from noren.cli.parts.inputs import CustomerColumn, Original, Reading, Rows, SchemaName, answers, guessed
from noren.i18n import _

_PURCHASES, _PEOPLE = 38_000, 4_000


@app.command("sample")
def sample(
    out: Path,
    customers: int = 400,
    rows: int | None = None,
    items: int = 2_800,
    seed: Annotated[int, Option(min=0)] = 0,
    schema: str = "sample",
    master: Path | None = None,
    kind: Literal["history", "people"] = "history",
) -> Output:
    """Generate a history and print its shape, or a table of people."""
    from noren.data.reading import checked_seed

    seed = checked_seed(seed)
    if kind == "people":
        return _people(out, _PEOPLE if rows is None else rows, seed, schema, master)
    from noren.data.samples.generator import write_sample
    from noren.data.schema import Schema

    with progress_bar(_("Generating")) as progress:
        shape = write_sample(
            out,
            Schema.load(schema),
            customers=customers,
            rows=_PURCHASES if rows is None else rows,
            items=items,
            seed=seed,
            master_path=master,
            progress=progress,
        )
    facts = [
        ("n", number(shape.n), _("customers")),
        ("m", number(shape.m), _("purchases")),
        ("b", number(shape.b), _("different items per customer, mean")),
        ("µ", number(shape.mu), _("Jaccard similarity of two customers' items, mean")),
        ("h", number(shape.h), _("items two customers share, mean")),
    ]
    return Output(
        {"n": shape.n, "m": shape.m, "b": shape.b, "mu": shape.mu, "h": shape.h, "out": str(out)},
        [Table((_("figure"), _("value"), _("meaning")), facts, str(out))],
    )


def _people(out: Path, rows: int, seed: int, schema: str, master: Path | None) -> Output:
    from noren.data.reading import write
    from noren.data.samples.people import sample_people
    from noren.errors import ParameterError

    if master is not None or schema not in ("sample", "people"):
        raise ParameterError(
            _("a table of people has columns of its own and no master"), _("leave --schema and --master out")
        )
    with progress_bar(_("Generating")) as progress:
        people = sample_people(rows, seed)
        progress(0.8)
        write(people, out)
    quasi = [column.name for column in people.schema.with_role("quasi")]
    alike = people.frame.group_by(quasi).len()["len"]
    alone = int((alike == 1).sum())
    facts = [
        (_("rows"), number(len(people)), _("people")),
        (_("combinations"), number(len(alike)), _("different combinations of quasi-identifiers")),
        (_("alone"), number(alone), _("people whose combination nobody else has")),
    ]
    return Output(
        {"rows": len(people), "combinations": len(alike), "alone": alone, "out": str(out)},
        [Table((_("figure"), _("value"), _("meaning")), facts, str(out))],
    )


@app.command("convert")
def convert(
    source: Annotated[Path, Argument(metavar="SOURCE")],
    target: Annotated[Path, Argument(metavar="TARGET")],
    schema: SchemaName = None,
) -> Output:
    """Convert a file."""
    from noren.data.reading import convert as run

    with progress_bar(_("Converting")) as progress:
        rows = run(source, target, schema, progress=lambda done, count: progress(done, f"{count:,}"))
    words = _("{rows:,} rows written to {target}").format(rows=rows, target=target)
    return Output({"rows": rows, "out": str(target)}, [words])


@app.command("categorize")
def categorize(
    original: Original,
    out: Path,
    names: Path | None = None,
    names_schema: str | None = None,
    file: Path | None = None,
    count: Annotated[int, Option(min=1)] = 19,
    seed: Annotated[int, Option(min=0, max=2**32 - 1)] = 0,
    page: Path | None = None,
    *,
    reading: Reading,
) -> Output:
    """Categorize items."""
    from noren.data.categories import (
        complete,
        derive_categories,
        item_names,
        read_categories,
        read_item_names,
        write_categories,
    )
    from noren.data.frames import History
    from noren.data.schema import Role
    from noren.errors import SchemaError
    from noren.reports.category_page import write_category_page

    data = reading.load(original)
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
    listed = [{"category": c, "name": categories.name(c), "items": len(found)} for c, found in groups.items()]
    rows = [(c, categories.name(c), f"{len(found):,}") for c, found in groups.items()]
    written = _("categories of {items:,} items written to {out}").format(items=len(categories.of_item), out=out)
    return Output(
        {"out": str(out), "items": len(categories.of_item), "categories": listed},
        [Table((_("category"), _("name"), _("items")), rows), Note(written)],
    )


schema_commands = app.group("schema", help=_("Guess, show or check what columns mean."), no_args_is_help=True)


@schema_commands.command("guess")
def guess(
    file: Annotated[Path, Argument(metavar="FILE")],
    out: Path | None = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
) -> Output:
    """Guess a schema and say what was chosen."""
    from rich.cells import cell_len, set_cell_size

    from noren.data.formats.files import writing_file

    found = guessed(file, rows=rows_are, customer=customer, stop=False)
    if out is not None:
        with writing_file(out) as aside:
            aside.write_text(found.schema.to_toml(), encoding="utf-8")
    content = found.schema.model_dump(mode="json", exclude_none=True)
    for column, about in zip(found.schema.columns, content["columns"], strict=True):
        about["scale"] = str(column.scale)
    answer = {
        "schema": content,
        "said": list(found.said),
        "questions": [asdict(question) for question in found.questions],
        "understood": [asdict(column) for column in found.understood],
    }
    # what was made of each column, as a small table: its type, how it is written, an example
    rows = [(c.column, c.type, c.written, f"{c.example} → {c.value}" if c.example else "–") for c in found.understood]
    widths = [min(40, max((cell_len(row[i]) for row in rows), default=0)) for i in range(3)]
    lines = [*found.said]
    for row in rows:
        cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[3]]))
    for question in found.questions:
        flags = answers(question)
        lines.append(_("{question} ({flags})").format(question=question, flags=flags) if flags else str(question))
    written = found.schema.to_toml().removesuffix("\n")
    if out is not None:
        written = _("written to {out}; look at it, then use --schema {out}").format(out=out)
    return Output(answer, [*map(Note, lines), written])


@schema_commands.command("show")
def show(name: Annotated[str, Argument(metavar="NAME")]) -> Output:
    """Print a schema."""
    from noren.data.schema import Schema

    schema = Schema.load(name)
    return Output(schema.model_dump(mode="json", exclude_none=True), [schema.to_toml().removesuffix("\n")])


@schema_commands.command("list")
def listing() -> Output:
    """List the presets."""
    from noren.data.schema import PRESETS, Schema

    presets = [Schema.preset(name) for name in PRESETS]
    return Output(
        {"schemas": [{"name": s.name, "title": s.title, "kind": str(s.kind)} for s in presets]},
        [Table((_("name"), _("kind"), _("columns")), [(s.name, str(s.kind), ", ".join(s.names)) for s in presets])],
    )


datasets_commands = app.group(
    "datasets",
    help=_("List the public data sets Noren knows, and fetch those that can be downloaded."),
    invoke_without_command=True,
)


@datasets_commands.callback()
def datasets(context: typer.Context) -> Output | None:
    """List the data sets and where they were found."""
    if context.invoked_subcommand is not None:
        return None
    from noren.data.catalog import find, known
    from noren.errors import FileError

    listed = []
    for dataset in known():
        try:
            where: str | None = str(find(dataset.name).folder)
        except FileError:
            where = None
        listed.append(
            {
                "name": dataset.name,
                "title": _(dataset.title),
                "schema": dataset.schema,
                "kind": str(dataset.kind),
                "rows": dataset.rows,
                "licence": _(dataset.licence),
                "found": where,
                "can_be_fetched": dataset.archive is not None,
            }
        )
    rows = [
        (str(d["name"]), str(d["schema"]), f"{d['rows']:,}", str(d["title"]), str(d["found"] or _("not here")))
        for d in listed
    ]
    table = Table((_("name"), _("schema"), _("rows"), _("what"), _("where")), rows)
    return Output({"datasets": listed}, [table])


@datasets_commands.command("fetch")
def fetch(name: Annotated[str, Argument(metavar="NAME")]) -> Output:
    """Fetch a data set."""
    from noren.data.catalog import fetch as run

    with progress_bar(_("Fetching")) as progress:
        found = run(name, progress)
    files = [str(path) for path in found.paths.values()]
    return Output({"name": name, "files": files}, files)
