"""Commands on data: ``sample``, ``convert``, ``categorize``, ``schema``, ``datasets`` and ``hierarchy``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, Part, TextTable, app, number, progress_bar, refusal, say, wording
from noren.cli.parts.inputs import CustomerColumn, Force, Original, PeopleReading, Reading, Rows, SchemaName, answers
from noren.cli.releases import checked_parts
from noren.errors import FileError, FormatError, InputError, OutputError, SchemaError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records

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
    from noren.data.reading import checked_seed, write
    from noren.data.samples.generator import write_sample
    from noren.data.samples.people import sample_people
    from noren.data.schema import Schema

    seed = checked_seed(seed)
    answer: dict[str, float]
    labels: tuple[str, ...]
    if kind == "people":
        if master is not None or schema not in ("sample", "people"):
            raise refusal("excludes", flag="--kind people", others="--schema, --master")
        with progress_bar() as progress:
            people = sample_people(_PEOPLE if rows is None else rows, seed)
            progress(0.8)
            write(people, out)
        quasi = [column.name for column in people.schema.with_role("quasi")]
        class_sizes = people.frame.group_by(quasi).len()["len"]
        unique = int((class_sizes == 1).sum())
        answer = {"rows": len(people), "combinations": len(class_sizes), "unique": unique}
        labels = _("People"), _("Combinations of quasi-identifiers"), _("Unique people")
    else:
        with progress_bar() as progress:
            sizes = {"customers": customers, "rows": _PURCHASES if rows is None else rows, "items": items}
            shape = write_sample(out, Schema.load(schema), **sizes, seed=seed, master_path=master, progress=progress)
        answer = {"n": shape.n, "m": shape.m, "b": shape.b, "mu": shape.mu, "h": shape.h}
        labels = (
            *(f"{_('Customers')} (n)", f"{_('Purchases')} (m)", _("Different items per customer, mean (b)")),
            *(_("Jaccard similarity of two customers, mean (µ)"), _("Items shared by two customers, mean (h)")),
        )
    facts = [(label, number(value)) for label, value in zip(labels, answer.values(), strict=True)]
    return Output(answer | {"out": str(out)}, [TextTable(("", _("Value")), facts, str(out))])


@app.command("convert")
def convert(
    source: Annotated[Path, Argument(metavar="SOURCE")],
    target: Annotated[Path, Argument(metavar="TARGET")],
    schema: SchemaName = None,
) -> Output:
    """Convert a file."""
    from noren.data.reading import convert as run

    with progress_bar() as progress:
        rows = run(source, target, schema, progress=lambda done, count: progress(done, f"{count:,}"))
    return Output({"rows": rows, "out": str(target)}, [wording("rows_written", rows=rows, out=target)])


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
    grid: Annotated[float | None, Option(min=0.0001, max=90.0)] = None,
    *,
    reading: Reading,
) -> Output:
    """Categorize items."""
    from noren.data.categories import (
        complete,
        derive_categories,
        grid_categories,
        item_names,
        read_categories,
        read_item_names,
        write_categories,
    )
    from noren.data.frames import History
    from noren.data.schema import Role
    from noren.reports.profile import write_category_page

    data = reading.load(original)
    if not isinstance(data, History):
        raise SchemaError(_("a table has no items; give a purchase history"))
    items = data[Role.ITEM].drop_nulls().unique().to_list()
    names_by_item: dict[str, str] = {}
    if names is not None:
        names_by_item = read_item_names(names, names_schema)
    elif (file is None and grid is None) or data.schema.with_role(Role.DESCRIPTION):
        names_by_item = item_names(data)
    if grid is not None:
        categories = grid_categories(data, grid)
    elif file is not None:
        categories = complete(read_categories(file), items)
    else:
        categories = derive_categories(names_by_item, items, count=count, seed=seed)
    write_categories(categories, out)
    if page is not None:
        write_category_page(categories, names_by_item, page)
    groups = categories.groups()
    listed = [{"category": c, "name": categories.name(c), "items": len(members)} for c, members in groups.items()]
    rows = [(c, categories.name(c), f"{len(members):,}") for c, members in groups.items()]
    return Output(
        {"out": str(out), "items": len(categories.of_item), "categories": listed},
        [TextTable((_("Category"), _("Name"), _("Items")), rows), Note(wording("written", out=out))],
    )


schema_commands = app.group(
    "schema", help=_("Guess, show and list schemas, which define the columns of a file."), no_args_is_help=True
)


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

    guessed = Reading(None, rows_are, customer).guess(file)
    if out is not None:
        with writing_file(out) as aside:
            aside.write_text(guessed.schema.to_toml(), encoding="utf-8")
    content = guessed.schema.model_dump(mode="json", exclude_none=True)
    for column, about in zip(guessed.schema.columns, content["columns"], strict=True):
        about["scale"] = str(column.scale)
    answer = {
        "schema": content,
        "notes": list(guessed.notes),
        "questions": [asdict(question) for question in guessed.questions],
        "understood": [asdict(column) for column in guessed.understood],
    }
    # what was made of each column, as a small table: its type, how it is written, an example
    rows = [(c.column, c.type, c.written, f"{c.example} → {c.value}" if c.example else "–") for c in guessed.understood]
    widths = [min(40, max((cell_len(row[i]) for row in rows), default=0)) for i in range(3)]
    lines = [*guessed.notes]
    for row in rows:
        cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[3]]))
    for question in guessed.questions:
        flags = answers(question)
        lines.append(f"{question} ({flags})" if flags else str(question))
    written = guessed.schema.to_toml().removesuffix("\n")
    if out is not None:
        written = _("written to {out}; review it, then use --schema {out}").format(out=out)
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
        [TextTable((_("Name"), _("Kind"), _("Columns")), [(s.name, str(s.kind), ", ".join(s.names)) for s in presets])],
    )


datasets_commands = app.group("datasets", help=_("List and download public data sets."), invoke_without_command=True)


@datasets_commands.callback()
def datasets(context: typer.Context) -> Output | None:
    """List the data sets and where they were found."""
    if context.invoked_subcommand is not None:
        return None
    from noren.data.catalog import KNOWN, find

    listed, rows = [], []
    for dataset in KNOWN:
        try:
            where: str | None = str(find(dataset.name).folder)
        except FileError:
            where = None
        name, title, schema, kind = dataset.name, _(dataset.title), dataset.schema, str(dataset.kind)
        about = {"name": name, "title": title, "schema": schema, "kind": kind, "rows": dataset.rows}
        fetched = dataset.archive is not None
        listed.append(about | {"licence": _(dataset.licence), "folder": where, "can_be_fetched": fetched})
        rows.append((name, schema, f"{dataset.rows:,}", title, where or "–"))
    table = TextTable((_("Name"), _("Schema"), _("Rows"), _("Title"), _("Folder")), rows)
    return Output({"datasets": listed}, [table])


@datasets_commands.command("fetch")
def fetch(name: Annotated[str, Argument(metavar="NAME")]) -> Output:
    """Fetch a data set."""
    from noren.data.catalog import fetch as run

    with progress_bar() as progress:
        downloaded = run(name, progress)
    files = [str(path) for path in downloaded.paths.values()]
    return Output({"name": name, "files": files}, files)


hierarchy_commands = app.group(
    "hierarchy", help=_("Build and check hierarchies, which generalize values level by level."), no_args_is_help=True
)


@hierarchy_commands.command("build")
def build(
    original: Original,
    column: Annotated[str | None, Option(metavar="COLUMN")] = None,
    by: Annotated[str, Option(metavar="BUILDER")] = "usual",
    parameters: Annotated[str, Option("--with", metavar="PARAMETERS")] = "",
    other: Annotated[str, Option(metavar="LABEL")] = "",
    out: Path | None = None,
    *,
    reading: PeopleReading,
    force: Force = False,
) -> Output:
    """Build a hierarchy."""
    from noren.data.formats.files import create_folder
    from noren.data.formats.source import read_all_bytes
    from noren.data.hierarchies.levels import hierarchy_file_name
    from noren.data.schema import Role

    data = reading.load(original, quiet=True)
    if column is not None:
        _reject_existing(out, force)
        if by == "groups" and not parameters.lstrip().startswith("{"):  # the name of a file
            try:
                parameters = read_all_bytes(Path(parameters), largest=2**28).decode("utf-8-sig")
            except UnicodeDecodeError:
                raise FormatError(_("the file is not UTF-8; save it as UTF-8"), file=parameters) from None
        made = [_built(data, column, by, parameters, other, out)]
    elif by != "usual" or parameters or out is None:
        raise refusal("missing", flag="--column", example="--column age")
    else:  # the usual hierarchy of every column that could link a person
        linking = [column.name for column in data.schema.with_role(Role.QUASI)]
        named = {name: hierarchy_file_name(name, [other for other in linking if other != name]) for name in linking}
        if not linking:
            raise refusal("no_linking_column")
        folder = create_folder(out)
        files = {name: folder / file for name, file in named.items() if file is not None}
        for file in files.values():
            _reject_existing(file, force)
        empty = [name for name in files if not data.frame[name].count()]
        say(*(_("{column} has no values and gets no hierarchy").format(column=name) for name in empty))
        made = [_built(data, name, by, "", "", file) for name, file in files.items() if name not in empty]
    headings = (_("Level"), _("Labels"), _("Rows of the rarest"), "")
    parts: list[Part] = []
    for hierarchy in made:
        rows = []
        for i, level in enumerate(hierarchy["levels"]):
            examples = "; ".join(f"{label} ({count:,})" for label, count in level["examples"])
            rows.append((str(i), f"{level['labels']:,}", f"{level['smallest']:,}", examples))
        path = hierarchy["out"]
        note = _("nothing was written; use --out") if path is None else wording("written", out=path)
        parts += [TextTable(headings, rows, hierarchy["column"]), Note(note)]
    return Output(made[0] if column is not None else {"hierarchies": made}, parts)


def _reject_existing(out: Path | None, force: bool) -> None:
    """Stop where a file would be lost: with ``--force`` only a hierarchy is replaced."""
    from noren.data.hierarchies.levels import check_hierarchy

    if out is None or not out.is_file():
        return
    if not force:
        raise OutputError(wording("exists", path=out))
    try:
        existing = check_hierarchy(out)
    except InputError:
        existing = None
    if existing is None or existing.problems or existing.labels.width < 2:
        raise OutputError(_("{path} is not a hierarchy and is not replaced; name another file").format(path=out))


def _built(data: Records, column: str, by: str, parameters: str, other: str, out: Path | None) -> dict[str, Any]:
    """Build one hierarchy, write it to ``out`` if given, and return its size, level by level."""
    from noren.data.hierarchies.builder import ColumnValues
    from noren.data.hierarchies.builders import builder_of, class_sizes
    from noren.data.hierarchies.levels import write_hierarchy

    builder = builder_of(by, parameters, other)
    with progress_bar(column) as progress:
        values = ColumnValues(data, data.schema[column], progress)
        hierarchy = builder.build(values)
    if out is not None:
        write_hierarchy(hierarchy, out)
    levels = class_sizes(hierarchy, values.counts, values.column)
    return {
        "column": column,
        "by": by,
        "out": None if out is None else str(out),
        "values": len(hierarchy.values),
        "levels": [
            {"labels": level["labels"], "smallest": level["least"], "examples": level["examples"][:5]}
            for level in levels
        ],
    }


@hierarchy_commands.command("check")
def check(
    files: Annotated[list[Path], Argument(metavar="FILE…")],
    data: Path | None = None,
    column: Annotated[str | None, Option(metavar="COLUMN")] = None,
    *,
    reading: PeopleReading,
    limit: Annotated[int, Option(min=1)] = 20,
) -> Output:
    """Check hierarchies; exit code 0 when all can be used, 2 when one cannot."""
    from noren.data.hierarchies.levels import check_files, files_in

    records = None if data is None else reading.load(data, quiet=True)
    checks = check_files(files_in(files), records, column=column)
    valid = not any(checked.problems for checked in checks)
    parts: list[Part] = []
    for checked in checks:
        name, summary = checked.file.name, []
        if checked.hierarchy is not None:
            values, levels = len(checked.hierarchy.values), checked.hierarchy.depth
            summary.append(wording("hierarchy_valid", file=name, values=values, levels=levels))
        notes = [f"{name}: {note}" for note in checked.notes]
        parts += checked_parts(name, checked.problems[:limit], len(checked.problems), notes, summary)
    answer = {"valid": valid, "files": [checked.as_dict() for checked in checks]}
    return Output(answer, parts, exit_code=0 if valid else 2)


@hierarchy_commands.command("builders")
def builders() -> Output:
    """List the builders."""
    from noren.data.hierarchies.builders import BUILDERS

    listed: list[dict[str, Any]] = [
        {
            "by": builder.by,
            "summary": _(builder.summary),
            "with": _(builder.asks) if builder.asks else "",
            "example": builder.example,
            "types": sorted(builder.types),
        }
        for builder in BUILDERS.values()
    ]
    rows = [(about["by"], about["summary"], about["example"], about["with"]) for about in listed]
    headings = ("--by", _("Meaning"), "--with", _("Parameters"))
    return Output({"builders": listed}, [TextTable(headings, rows)])
