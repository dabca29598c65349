"""``noren papers``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import (
    Control,
    CustomerColumn,
    Force,
    Json,
    Master,
    Rows,
    RuleName,
    SchemaName,
    load_original,
    schema_of_release,
)
from noren.cli.parts.screen import progress_bar, say, show_json
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.papers.case import Case


@app.command(
    "papers",
    help=_(
        "Write the papers that go with a release: what the law asks a maker to publish, to tell and to keep, with "
        "measured evidence. What software cannot know is marked to be filled in."
    ),
    epilog=_(
        "Example: noren papers release/ --for appi --original T.csv --schema pwscup2018 --facts facts.toml --out "
        "papers/ --lang ja"
    ),
)
def papers(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help=_("A folder that noren protect wrote."))],
    law: Annotated[
        Literal["appi", "gdpr"], typer.Option("--for", help=_("The law: Japan's (appi) or the European one (gdpr)."))
    ],
    out: Annotated[Path, typer.Option("--out", help=_("The folder to write: HTML, DOCX and Markdown."))],
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            help=_("The original, to attack the release and measure it; left out, the ledger's evidence or none."),
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option("--facts", help=_('A TOML file of what you know, such as company = "…"; the rest is left open.')),
    ] = None,
    about: Annotated[
        Literal["auto", "anonymised", "pseudonymised"],
        typer.Option(
            "--as", help=_("For appi: which kind of information it is; auto goes by whether only names are replaced.")
        ),
    ] = "auto",
    rule: RuleName = None,
    control: Control = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write papers."""
    from noren.judgement.verdict import Word
    from noren.papers.pack import pack_of, said_of, write_pack
    from noren.papers.steward_facts import read_facts

    known = {} if facts is None else read_facts(facts)
    case = _case(release, original, (schema, rows_are, customer), master, control, rule, quiet=as_json)
    pack = pack_of(case, law, known=known, about=about)
    write_pack(pack, case, out, replace_existing=force)
    if as_json:
        show_json(said_of(pack, case) | {"papers": str(out)})
        return
    if case.verdict.word == Word.BROKEN:
        say(_("warning: this release is broken by the rule, and every page says so"))
    elif not case.verdict.word.is_safe:
        say(_("warning: nothing that decides was tried on this release, and every page says so; give --original"))
    for document in pack.documents:
        print(f"{document.name}  {document.title}")
    left = len(pack.fields())
    print(
        ngettext(
            "papers written to {out}; {count} place is to be filled in, listed in {last}",
            "papers written to {out}; {count} places are to be filled in, listed in {last}",
            left,
        ).format(out=out, count=left, last=pack.documents[-1].name)
    )


def _case(
    release: Path,
    original: Path | None,
    meaning: tuple[str | None, str | None, str | None],
    master: Path | None,
    control: Path | None,
    rule: str | None,
    *,
    quiet: bool,
) -> Case:
    """Return what the papers are about: attacked now, as the ledger knows it, or by itself."""
    from noren.data.reading import read, read_release
    from noren.data.release import Release
    from noren.errors import ParameterError
    from noren.judgement.rule import rule_named
    from noren.papers.case import case_in_ledger, case_of

    by = rule_named(rule)
    if original is None:
        if control is not None:
            raise ParameterError(_("--control is of use beside the original"), _("give --original as well"))
        return case_in_ledger(release, None if rule is None else by) or case_of(Release.load(release), rule=by)
    schema, rows_are, customer = meaning
    schema = schema or schema_of_release(release, rows_are, customer)
    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=quiet)
    there = read_release(release, data)
    others = None if control is None else read(control, data.schema).data
    with progress_bar(release.name, quiet=quiet) as progress:
        return case_of(there, data, rule=by, control=others, progress=progress)
