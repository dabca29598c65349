"""``noren hierarchy``: build hierarchies, look at them before they are kept, check many files at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, Part, Table, app, progress_bar, say
from noren.cli.parts.inputs import Force, Original, SchemaName, load_people
from noren.cli.releases import checked_parts
from noren.errors import FormatError, InputError, OutputError, ParameterError
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.data.hierarchies.levels import CheckedFile

hierarchy_commands = app.group(
    "hierarchy",
    help=_("Build and check hierarchies: what values become, level by level, when a table is generalised."),
    no_args_is_help=True,
)


@hierarchy_commands.command("build")
def build(
    original: Original,
    column: Annotated[str | None, Option(metavar="COLUMN")] = None,
    by: Annotated[str, Option(metavar="BUILDER")] = "usual",
    given: Annotated[str, Option("--with", metavar="WORDS")] = "",
    other: Annotated[str, Option(metavar="LABEL")] = "",
    out: Path | None = None,
    schema: SchemaName = None,
    force: Force = False,
) -> Output:
    """Build a hierarchy."""
    from noren.data.formats.source import read_all_bytes

    data = load_people(original, schema, quiet=True)
    if column is not None:
        _stop_if_there(out, force)
        words = given
        if by == "groups" and not given.lstrip().startswith("{"):  # the name of a file
            try:
                words = read_all_bytes(Path(given), largest=2**28).decode("utf-8-sig")
            except UnicodeDecodeError:
                raise FormatError(_("the file is not UTF-8"), _("save it as UTF-8"), file=given) from None
        made = [_built(data, column, by, words, other, out)]
    elif by != "usual" or given or out is None:
        raise ParameterError(
            _("no column is named"),
            _("name one with --column; without it, --out names a folder for the usual ones of all columns"),
        )
    else:
        made = _all_built(data, out, force=force)
    headings = (_("level"), _("labels"), _("rows of the rarest"), _("labels with their rows"))
    parts: list[Part] = []
    for one in made:
        rows = []
        for i, level in enumerate(one["levels"]):
            shown = "; ".join(f"{label} ({count:,})" for label, count in level["shown"])
            rows.append((str(i), f"{level['labels']:,}", f"{level['smallest']:,}", shown))
        written = _("nothing was written; add --out to keep it")
        if one["out"] is not None:
            written = ngettext("{count:,} value written to {out}", "{count:,} values written to {out}", one["values"])
        note = written.format(count=one["values"], out=one["out"])
        parts += [Table(headings, rows, one["column"]), Note(note)]
    return Output(made[0] if column is not None else {"hierarchies": made}, parts)


def _stop_if_there(out: Path | None, force: bool) -> None:
    """Stop where a file would be lost: with ``--force`` only a hierarchy is replaced."""
    from noren.data.hierarchies.levels import check_hierarchy

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


def _built(data: Records, column: str, by: str, words: str, other: str, out: Path | None) -> dict[str, Any]:
    """Build one hierarchy, write it where that is asked for, and return what there is to say of it."""
    from noren.data.hierarchies.builder import ColumnValues
    from noren.data.hierarchies.builders import builder_of, class_sizes
    from noren.data.hierarchies.levels import write_hierarchy

    builder = builder_of(by, words, other)
    with progress_bar(_("Building {column}").format(column=column)) as progress:
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
            {"labels": level["labels"], "smallest": level["least"], "shown": level["shown"][:5]} for level in levels
        ],
    }


def _all_built(data: Records, out: Path, *, force: bool) -> list[dict[str, Any]]:
    """Write the usual hierarchy of every column that could link a person into a folder."""
    from noren.data.formats.files import making_folder
    from noren.data.hierarchies.levels import hierarchy_file_name
    from noren.data.schema import Role

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
    return [_built(data, name, "usual", "", "", file) for name, file in files.items() if name not in empty]


@hierarchy_commands.command("check")
def check(
    files: Annotated[list[Path], Argument(metavar="FILE…")],
    data: Path | None = None,
    column: Annotated[str | None, Option(metavar="COLUMN")] = None,
    schema: SchemaName = None,
    limit: Annotated[int, Option(min=1)] = 20,
) -> Output:
    """Check hierarchies; exit code 0 when all can be used, 2 when one cannot."""
    from noren.data.hierarchies.levels import check_files, files_in

    records = None if data is None else load_people(data, schema, quiet=True)
    found = check_files(files_in(files), records, column=column)
    valid = not any(one.problems for one in found)
    answer = {"valid": valid, "files": [one.as_dict() for one in found]}
    return Output(answer, _checked_parts(found, limit), exit_code=0 if valid else 2)


def _checked_parts(found: Sequence[CheckedFile], limit: int) -> Iterator[Part]:
    for one in found:
        name, valid = one.file.name, []
        if one.hierarchy is not None:
            words = _("{file} is valid: {values:,} values, {levels} levels")
            valid.append(words.format(file=name, values=len(one.hierarchy.values), levels=one.hierarchy.depth))
        notes = [f"{name}: {note}" for note in one.notes]
        yield from checked_parts(name, one.problems[:limit], len(one.problems), notes, valid)


@hierarchy_commands.command("builders")
def builders() -> Output:
    """List the builders."""
    from noren.data.hierarchies.builders import BUILDERS

    listed: list[dict[str, Any]] = [
        {
            "by": one.by,
            "summary": _(one.summary),
            "with": _(one.asks) if one.asks else "",
            "example": one.example,
            "types": sorted(one.types),
        }
        for one in BUILDERS.values()
    ]
    rows = [(one["by"], one["summary"], one["example"], one["with"]) for one in listed]
    headings = ("--by", _("what it does"), _("--with, for example"), _("what that is"))
    return Output({"builders": listed}, [Table(headings, rows)])
