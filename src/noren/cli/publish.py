"""``noren publish``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.inputs import Force, Json
from noren.cli.parts.screen import say, show_json
from noren.i18n import _

HELP = _(
    "Copy the public part of a release and its statement to a new folder, with a data card; the secret part stays "
    "where it is."
)
EXAMPLE = _("Example: noren publish release/ --out to-hand-out/")

_EASY_TO_TRY = 2**40


def publish(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help=_("A folder that noren protect wrote."))],
    out: Annotated[Path, typer.Option("--out", help=_("The folder to hand out."))],
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
    from noren.data.release import Release
    from noren.errors import ParameterError
    from noren.papers.card import card_files, read_scores

    if out.resolve() == release.resolve() or release.resolve() in out.resolve().parents:
        raise ParameterError(
            _("{out} lies inside the release, beside its secret part").format(out=out), _("name a folder elsewhere")
        )
    kept = None if card_from is None else read_scores(card_from)
    loaded = Release.load(release)
    loaded.publish(out, official=official, replace_existing=force, card=card_files(loaded, kept))
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    if any(
        str(step.notes.get("audit", "")).startswith("failed") for step in (loaded.statement, *loaded.statement.steps)
    ):
        say(
            _(
                "warning: the audit of this release did not finish, and its statement says so; hand it out only if "
                "noren measure --with classes says that its claim holds"
            )
        )
    if loaded.secret.seed is not None and loaded.secret.seed < _EASY_TO_TRY:
        say(
            _(
                "note: this release was made with a small seed of your choice; whoever has the original could try such "
                "seeds and rebuild the pseudonyms. Protect again without --seed before you hand it out."
            )
        )
    if as_json:
        show_json({"published": str(out), "files": files, "rows": len(loaded.public)})
        return
    print(_("published {files} to {out}").format(files=", ".join(files), out=out))
