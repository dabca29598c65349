"""``noren schema``: guess, show and check schemas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Json, Rows, answers, guessed
from noren.cli.parts.screen import say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.guessing.column_types import Understanding
    from noren.data.guessing.questions import Question

schema_commands = app.group("schema", help=_("Guess, show or check what columns mean."), no_args_is_help=True)


@schema_commands.command(
    "guess",
    help=_("Guess the schema of a file, to be looked at and mended by a person."),
    epilog=_("Example: noren schema guess purchases.csv --out purchases.toml"),
)
def guess(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=_("CSV, Parquet or a workbook (.xlsx, .xls, .ods)."))],
    out: Annotated[Path | None, typer.Option("--out", help=_("Write the schema to this TOML file."))] = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    as_json: Json = False,
) -> None:
    """Guess a schema and say what was chosen."""
    from noren.data.formats.files import writing_file

    found = guessed(file, rows=rows_are, customer=customer, stop=False)
    if out is not None:
        with writing_file(out) as aside:
            aside.write_text(found.schema.to_toml(), encoding="utf-8")
    if as_json:
        content = found.schema.model_dump(mode="json", exclude_none=True)
        for column, about in zip(found.schema.columns, content["columns"], strict=True):
            about["scale"] = str(column.scale)
        show_json(
            {
                "schema": content,
                "said": list(found.said),
                "questions": [asdict(question) for question in found.questions],
                "understood": [asdict(column) for column in found.understood],
            }
        )
        return
    say(*found.said, *_understood_lines(found.understood), *map(_asked, found.questions))
    if out is None:
        print(found.schema.to_toml(), end="")
    else:
        print(_("written to {out}; look at it, then use --schema {out}").format(out=out))


def _understood_lines(understood: Sequence[Understanding]) -> list[str]:
    """Return what was made of each column as the lines of a small table: its type, how it is written, an example."""
    from rich.cells import cell_len, set_cell_size

    rows = [(c.column, c.type, c.written, f"{c.example} → {c.value}" if c.example else "–") for c in understood]
    widths = [min(40, max((cell_len(row[i]) for row in rows), default=0)) for i in range(3)]
    return [
        "  " + "  ".join([*(set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]


def _asked(question: Question) -> str:
    """Return a question as one line, with the flags that answer it."""
    flags = answers(question)
    return _("{question} ({flags})").format(question=question, flags=flags) if flags else str(question)


@schema_commands.command("show", help=_("Print a schema as TOML."), epilog=_("Example: noren schema show pwscup2018"))
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help=_("A preset's name or a TOML file."))],
    as_json: Json = False,
) -> None:
    """Print a schema."""
    from noren.data.schema import Schema

    schema = Schema.load(name)
    if as_json:
        show_json(schema.model_dump(mode="json", exclude_none=True))
    else:
        print(schema.to_toml(), end="")


@schema_commands.command("list", help=_("List the presets."), epilog=_("Example: noren schema list"))
def listing(as_json: Json = False) -> None:
    """List the presets."""
    from noren.data.schema import PRESETS, Schema

    presets = [Schema.preset(name) for name in PRESETS]
    if as_json:
        show_json({"schemas": [{"name": s.name, "title": s.title, "kind": str(s.kind)} for s in presets]})
        return
    show_table("", (_("name"), _("kind"), _("columns")), [(s.name, str(s.kind), ", ".join(s.names)) for s in presets])
