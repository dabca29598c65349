"""``noren attack``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noren.cli.inputs import Json, Master, Original, ReleasePath, SchemaName, chosen, load_original, schema_flag
from noren.cli.screen import number, progress_bar, say, show_json, show_table
from noren.i18n import _

HELP = _("Attack the public part of a release, knowing the original, and write who was named.")
EXAMPLE = _("Example: noren attack T.csv release/ --schema pwscup2018 --with all --out guesses/")


def attack(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, typer.Option("--with", help=_("Attacks, separated by commas, or all."))] = "all",
    out: Annotated[
        Path | None,
        typer.Option("--out", help=_("A folder for the guesses, one file per attack, in the contest's format.")),
    ] = None,
    schema: SchemaName = None,
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same guess."))] = 0,
    as_json: Json = False,
) -> None:
    """Attack a release."""
    from noren.api import attack as run
    from noren.attacks import attacks
    from noren.data.formats.guess_files import write_guess
    from noren.data.reading import read_public
    from noren.data.release import Release
    from noren.parameters import share_flags

    data = load_original(original, schema, master, quiet=as_json)
    ready = share_flags(chosen(attacks, names, data), context.args)
    target = Release.load(release) if release.is_dir() else read_public(release, data)
    public = target.public if isinstance(target, Release) else target
    results: dict[str, Any] = {}
    for one in ready:
        with progress_bar(one.name, quiet=as_json) as progress:
            guess = run(data, target, one, seed=seed, progress=progress)
        about: dict[str, Any] = {"named": len(guess), "parameters": one.parameters()} | dict(guess.notes)
        if out is not None:
            about["file"] = str(write_guess(guess.pairs, out / f"{one.name}.csv", data, public))
        results[one.name] = about
    if as_json:
        show_json({"results": results})
        return
    rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in results.items()]
    show_table("", (_("attack"), _("customers named"), _("guess")), rows)
    if out is not None:
        told = f"noren measure {original} {release}{schema_flag(schema)} --guess {out} --with all"
        say(_("next: {command}").format(command=told))
