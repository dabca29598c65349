"""Arguments that several commands share, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.screen import say
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.data.schema import Schema
    from noren.registry import Kind, Registry

__all__ = [
    "Force",
    "Json",
    "Master",
    "Original",
    "ReleasePath",
    "SchemaName",
    "Seed",
    "chosen",
    "load_original",
    "schema_flag",
    "schema_of_release",
]

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help=_("The original data: CSV, Parquet, Excel or an official text file."))
]
ReleasePath = Annotated[
    Path,
    typer.Argument(metavar="RELEASE", help=_("A release folder, or a released file in the original's row order.")),
]
SchemaName = Annotated[
    str | None,
    typer.Option("--schema", help=_("A preset's name or a TOML file; guessed where left out.")),
]
Master = Annotated[Path | None, typer.Option("--master", help=_("The contest's customer file M."))]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help=_("Same seed, same bytes. Drawn at random where left out. Keep it secret: it rebuilds the pseudonyms."),
    ),
]
Json = Annotated[bool, typer.Option("--json", help=_("Print one JSON object and nothing else."))]
Force = Annotated[bool, typer.Option("--force", help=_("Replace what the output folder holds."))]


def load_original(
    path: Path, schema: str | Schema | None, master: Path | None = None, *, quiet: bool = False
) -> Records:
    """Read the original and say what was chosen on the way."""
    from noren.data.reading import read

    answer = read(path, schema, master=master)
    if not quiet:
        say(*(f"{path.name}: {line}" for line in answer.said))
    say(*(f"{path.name}: {line}" for line in answer.questions))
    return answer.data


def schema_flag(schema: str | None) -> str:
    """Return the flag that names the schema again, for a command that comes next."""
    return f" --schema {schema}" if schema else ""


def schema_of_release(path: Path) -> str | None:
    """Return the preset that a release's table was read by, where its original needs no other schema."""
    from noren.data.release import Release
    from noren.data.schema import PRESETS, Kind

    if not path.is_dir():
        return None
    schema = Release.load(path).public.schema
    return schema.name if schema.kind == Kind.TABLE and schema.name in PRESETS else None


def chosen(registry: Registry[Kind], names: str, data: Records) -> list[type[Kind]]:
    """Return the components that ``names`` (separated by commas, or ``all``) means for these data."""
    if names == "all":
        return [registry[name] for name in registry if registry[name].fits(data.schema)]
    picked = [registry[name.strip()] for name in names.split(",") if name.strip()]
    if not picked:
        raise ParameterError(
            _("--with names nothing"), _("use one of {names}, or all").format(names=", ".join(registry))
        )
    return picked
