"""``noren protect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.inputs import Force, Json, Master, Original, SchemaName, Seed, load_original, schema_flag
from noren.cli.screen import number, progress_bar, say, show_json, show_table
from noren.i18n import _

HELP = _("Protect a history or a table and write the release: public part, secret part, statement.")
EXAMPLE = _("Example: noren protect T.csv --schema pwscup2018 --method generalize-by-count --k 3 --out release/")


def protect(
    context: typer.Context,
    original: Original,
    method: Annotated[
        str, typer.Option("--method", help=_("Which method; noren methods lists them and their parameters (--k 3 …)."))
    ],
    out: Annotated[Path, typer.Option("--out", help=_("The folder to write the release to."))],
    schema: SchemaName = None,
    master: Master = None,
    seed: Seed = None,
    official: Annotated[
        bool,
        typer.Option("--official", help=_("Also write the contest's text files (public.csv, secret/A.csv, F.csv).")),
    ] = False,
    no_audit: Annotated[
        bool, typer.Option("--no-audit", help=_("Do not count the customers that fit each pseudonym before writing."))
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect and write a release."""
    from noren.api import protect as run
    from noren.data.formats.files import must_be_free
    from noren.methods import methods
    from noren.parameters import from_flags

    ready = from_flags(methods[method], context.args)
    must_be_free(out, replace=force)
    data = load_original(original, schema, master, quiet=as_json)
    with progress_bar(_("Protecting"), quiet=as_json) as progress:
        release = run(data, ready, seed=seed, audit=not no_audit, progress=progress)
    release.save(out, official=official, replace_existing=force)
    answer = {
        "release": str(out),
        "method": ready.name,
        "parameters": ready.parameters(),
        "promise": release.statement.promise,
        "original_rows": len(data),
        "public_rows": len(release.public),
        "deleted_rows": release.deleted_rows,
        "notes": release.statement.notes,
    }
    if as_json:
        show_json(answer)
        return
    facts = [
        (_("method"), " ".join([ready.name, *(f"{k}={v}" for k, v in ready.parameters().items() if v is not None)])),
        (_("promise"), _(release.statement.promise)),
        (_("original rows"), number(len(data))),
        (_("released rows"), number(len(release.public))),
        (_("deleted rows"), number(release.deleted_rows)),
        (_("release"), str(out)),
    ]
    show_table("", (_("what"), ""), facts)
    say(_("next: {command}").format(command=f"noren measure {original} {out}{schema_flag(schema)} --with all"))
