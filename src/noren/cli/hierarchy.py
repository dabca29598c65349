"""``noren hierarchy``: build hierarchies, look at them before they are kept, check many files at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Force, Json, Original, SchemaName, load_original
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.data.hierarchies.checking import CheckedFile

hierarchy_commands = app.group(
    "hierarchy",
    help=_("Build and check hierarchies: what values become, level by level, when a table is generalised."),
    no_args_is_help=True,
)


@hierarchy_commands.command(
    "build",
    help=_(
        "Build a column's hierarchy in ARX's form, and show how many rows the labels of each level have. Without --out "
        "nothing is written."
    ),
    epilog=_(
        "Examples: noren hierarchy build people.csv --column age --by widths --with 5,10,20 --out age.csv · "
        "noren hierarchy build people.csv --column born --by dates --with era-year,era · "
        "noren hierarchy build people.csv --column city --by column --with prefecture · "
        "noren hierarchy build people.csv --column job --by groups --with jobs.json --other rest · "
        "noren hierarchy build people.csv --out hierarchies/"
    ),
)
def build(
    original: Original,
    column: Annotated[str | None, Option(metavar="COLUMN", help=_("The column."))] = None,
    by: Annotated[str, Option(metavar="BUILDER", help=_("How: noren hierarchy builders lists all ways."))] = "usual",
    given: Annotated[
        str, Option("--with", metavar="WORDS", help=_("What the builder needs, such as 5,10,20; for groups, a file."))
    ] = "",
    other: Annotated[
        str, Option(metavar="LABEL", help=_("The label of values that the builder has no place for."))
    ] = "",
    out: Annotated[
        Path | None,
        Option(help=_("The CSV file to write; without --column, a folder for the usual ones of all columns.")),
    ] = None,
    schema: SchemaName = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build a hierarchy."""
    from noren.errors import ParameterError

    data = load_original(original, schema, rows="people" if schema is None else None, quiet=True)
    if column is not None:
        _stop_if_there(out, force)
        made = [_built(data, column, by, _words(by, given), other, out, quiet=as_json)]
    elif by != "usual" or given or out is None:
        raise ParameterError(
            _("no column is named"),
            _("name one with --column; without it, --out names a folder for the usual ones of all columns"),
        )
    else:
        made = _all_built(data, out, force=force, quiet=as_json)
    if as_json:
        show_json(made[0] if column is not None else {"hierarchies": made})
        return
    for one in made:
        _show(one)


def _words(by: str, given: str) -> str:
    """Return what a builder is given; groups are read from a file where there is one of that name."""
    from noren.data.formats.source import read_all_bytes
    from noren.errors import FormatError

    if by != "groups" or given.lstrip().startswith("{"):
        return given
    try:
        return read_all_bytes(Path(given), largest=2**28).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(_("the file is not UTF-8"), _("save it as UTF-8"), file=given) from None


def _stop_if_there(out: Path | None, force: bool) -> None:
    """Stop where a file would be lost: with ``--force`` only a hierarchy is replaced."""
    from noren.data.hierarchies.files import check_hierarchy
    from noren.errors import InputError, OutputError

    if out is None or not out.is_file():
        return
    if not force:
        raise OutputError(
            _("{path} is there already; name another file, or add --force to replace it").format(path=out)
        )
    try:
        found = check_hierarchy(out)
    except InputError:
        found = None
    if found is None or found.problems or found.labels.width < 2:
        raise OutputError(_("{path} is not a hierarchy, and only one is replaced; name another file").format(path=out))


def _built(
    data: Records, column: str, by: str, words: str, other: str, out: Path | None, *, quiet: bool
) -> dict[str, Any]:
    """Build one hierarchy, write it where that is asked for, and return what there is to say of it."""
    from noren.data.hierarchies.builders import build as make
    from noren.data.hierarchies.builders import builder_of, class_sizes
    from noren.data.hierarchies.column_values import ColumnValues
    from noren.data.hierarchies.files import write_hierarchy

    builder = builder_of(by, words, other)
    with progress_bar(_("Building {column}").format(column=column), quiet=quiet) as progress:
        values = ColumnValues(data, data.schema[column], progress)
        hierarchy = make(builder, values)
    if out is not None:
        write_hierarchy(hierarchy, out)
    levels = class_sizes(hierarchy, values.counts, values.column)
    return {
        "column": column,
        "by": by,
        "out": None if out is None else str(out),
        "values": len(hierarchy.values),
        "levels": [
            {"labels": level["labels"], "smallest": level["least"], "shown": level["shown"][:5]} for level in levels
        ],
    }


def _all_built(data: Records, out: Path, *, force: bool, quiet: bool) -> list[dict[str, Any]]:
    """Write the usual hierarchy of every column that could link a person into a folder."""
    from noren.data.formats.files import making_folder
    from noren.data.hierarchies.files import hierarchy_file_name
    from noren.data.schema import Role
    from noren.errors import ParameterError

    linking = [one.name for one in data.schema.with_role(Role.QUASI)]
    named = {name: hierarchy_file_name(name, [other for other in linking if other != name]) for name in linking}
    if not linking:
        raise ParameterError(_("no column could link a person"), _("name one with --column"))
    folder = making_folder(out)
    files = {name: folder / file for name, file in named.items() if file is not None}
    for file in files.values():
        _stop_if_there(file, force)
    empty = [name for name in files if not data.frame[name].count()]
    say(*(_("{column} holds no values, and gets no hierarchy").format(column=name) for name in empty))
    return [_built(data, name, "usual", "", "", file, quiet=quiet) for name, file in files.items() if name not in empty]


def _show(one: Mapping[str, Any]) -> None:
    rows = [
        (str(i), f"{level['labels']:,}", f"{level['smallest']:,}", _with_rows(level["shown"]))
        for i, level in enumerate(one["levels"])
    ]
    headings = (_("level"), _("labels"), _("rows of the rarest"), _("labels with their rows"))
    show_table(one["column"], headings, rows)
    if one["out"] is None:
        say(_("nothing was written; add --out to keep it"))
    else:
        said = ngettext("{count:,} value written to {out}", "{count:,} values written to {out}", one["values"])
        say(said.format(count=one["values"], out=one["out"]))


def _with_rows(labels: Sequence[tuple[str, int]]) -> str:
    return "; ".join(f"{label} ({rows:,})" for label, rows in labels)


@hierarchy_commands.command(
    "check",
    help=_("Check files of hierarchies, by themselves and beside the data, and list every problem of every file."),
    epilog=_("Example: noren hierarchy check hierarchies/*.csv --data people.csv"),
)
def check(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE…", help=_("Files named after their columns (age.csv, adult_age.csv), or folders.")),
    ],
    data: Annotated[
        Path | None, Option(help=_("The data, whose values the files must list; CSV, Parquet, Excel."))
    ] = None,
    column: Annotated[
        str | None, Option(metavar="COLUMN", help=_("The column that the file is for, if its name is another."))
    ] = None,
    schema: SchemaName = None,
    limit: Annotated[int, Option(min=1, help=_("How many problems of a file to list."))] = 20,
    as_json: Json = False,
) -> None:
    """Check hierarchies; exit code 0 when all can be used, 2 when one cannot."""
    from noren.data.hierarchies.checking import check_files, files_in

    records = None
    if data is not None:
        records = load_original(data, schema, rows="people" if schema is None else None, quiet=True)
    found = check_files(files_in(files), records, column=column)
    if as_json:
        valid = not any(one.problems for one in found)
        show_json({"valid": valid, "files": [one.as_dict() for one in found]})
    else:
        _show_checked(found, limit)
    if any(one.problems for one in found):
        raise typer.Exit(2)


def _show_checked(found: Sequence[CheckedFile], limit: int) -> None:
    for one in found:
        for problem in one.problems[:limit]:
            print(problem.sentence(one.file.name))
        more = len(one.problems) - limit
        if more > 0:
            print(ngettext("… and {count:,} more problem", "… and {count:,} more problems", more).format(count=more))
        say(*(_("note: {sentence}").format(sentence=f"{one.file.name}: {note}") for note in one.notes))
        if one.problems:
            told = ngettext(
                "{file} is not valid: {count:,} problem", "{file} is not valid: {count:,} problems", len(one.problems)
            )
            print(told.format(file=one.file.name, count=len(one.problems)))
        elif one.hierarchy is not None:
            print(
                _("{file} is valid: {values:,} values, {levels} levels").format(
                    file=one.file.name, values=len(one.hierarchy.values), levels=one.hierarchy.depth
                )
            )


@hierarchy_commands.command(
    "builders",
    help=_("List the builders, with what each needs."),
    epilog=_("Example: noren hierarchy builders"),
)
def builders(as_json: Json = False) -> None:
    """List the builders."""
    from noren.data.hierarchies.builders import BUILDERS

    if as_json:
        show_json(
            {
                "builders": [
                    {
                        "by": one.by,
                        "summary": _(one.summary),
                        "with": _(one.asks) if one.asks else "",
                        "example": one.example,
                        "types": sorted(one.types),
                    }
                    for one in BUILDERS.values()
                ]
            }
        )
        return
    rows = [(one.by, _(one.summary), one.example, _(one.asks) if one.asks else "") for one in BUILDERS.values()]
    show_table("", ("--by", _("what it does"), _("--with, for example"), _("what that is")), rows)
