"""``noren publish``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Force, Json, Keep, Master, Rows, RuleName, SchemaName, load_original
from noren.cli.parts.screen import progress_bar, say, show_json
from noren.i18n import _


@app.command(
    "publish",
    help=_(
        "Copy the public part of a release and its statement to a new folder, with a data card that tells the verdict. "
        "A release that is broken or untried is refused (exit code 1) unless --anyway; the secret part stays where "
        "it is."
    ),
    epilog=_("Example: noren publish release/ --original orders.csv --rule partner --out public/"),
)
def publish(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help=_("A folder that noren protect wrote."))],
    out: Annotated[Path, typer.Option("--out", help=_("The folder to publish."))],
    original: Annotated[
        Path | None,
        typer.Option("--original", help=_("What was protected: attacks decide where the release proves nothing.")),
    ] = None,
    rule: RuleName = None,
    anyway: Annotated[
        str, typer.Option("--anyway", metavar="REASON", help=_("Publish whatever the verdict; the card tells why."))
    ] = "",
    keep: Keep = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    official: Annotated[
        bool, typer.Option("--official", help=_("Also write the contest's text file (public.csv)."))
    ] = False,
    card_from: Annotated[
        Path | None,
        typer.Option(
            "--card-from",
            help=_("What noren measure --json printed: the card then tells what analyses keep. It is public."),
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Publish a release."""
    from noren.data.formats.files import must_be_free
    from noren.data.release import PUBLISHED
    from noren.errors import ParameterError
    from noren.judgement.sentences import word_text
    from noren.papers.card import read_scores
    from noren.papers.publishing import publish as run

    if out.resolve() == release.resolve() or release.resolve() in out.resolve().parents:
        raise ParameterError(
            _("{out} lies inside the release, beside its secret part").format(out=out), _("name a folder elsewhere")
        )
    must_be_free(out, replace=force and PUBLISHED)
    scores = None if card_from is None else read_scores(card_from)
    data = None
    if original is not None:
        data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    with progress_bar(_("Judging"), quiet=as_json) as progress:
        verdict = run(
            release, out, data, rule=rule, anyway=anyway, keep=keep or (), official=official, force=force,
            scores=scores, progress=progress,
        )  # fmt: skip
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    if as_json:
        show_json({"published": str(out), "files": files, "anyway": anyway, **verdict.as_dict()})
        return
    print(word_text(verdict.word))
    print(verdict.sentence)
    if anyway:
        say(_("published all the same: {reason}").format(reason=anyway))
    print(_("published {files} to {out}").format(files=", ".join(files), out=out))
