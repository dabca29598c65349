"""``noren protect``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.inputs import Force, Json, Master, Original, SchemaName, Seed, load_original, schema_flag
from noren.cli.screen import number, progress_bar, say, show_json, show_table, stoppable_bar
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.data.release import Statement
    from noren.protocols import Method

HELP = _("Protect a history or a table and write the release: public part, secret part, statement.")
EXAMPLE = _("Example: noren protect T.csv --schema pwscup2018 --method generalize-by-count --k 3 --out release/")


def protect(
    context: typer.Context,
    original: Original,
    out: Annotated[Path, typer.Option("--out", help=_("The folder to write the release to."))],
    method: Annotated[
        str | None,
        typer.Option("--method", help=_("Which method; noren methods lists them and their parameters (--k 3 …).")),
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option("--chain", help=_("A TOML file of [[step]] tables: several methods in turn, in place of one.")),
    ] = None,
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
    stream: Annotated[
        bool,
        typer.Option("--stream", help=_("Retention alone: block by block, for files of any size; no secret part.")),
    ] = False,
    only_estimate: Annotated[
        bool, typer.Option("--estimate", help=_("Say how long it will take and how much memory, and stop."))
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect and write a release."""
    from noren.api import protect as run
    from noren.data.formats.files import must_be_free

    ready = _chosen(method, chain, context.args)
    if only_estimate:
        _estimated(ready, load_original(original, schema, master, quiet=as_json), as_json=as_json)
        return
    must_be_free(out, replace=force)
    if stream:
        _streamed(ready, original, out, schema, seed, force=force, as_json=as_json)
        return
    data = load_original(original, schema, master, quiet=as_json)
    with stoppable_bar(_("Protecting"), quiet=as_json) as progress:
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
        "added_rows": release.inserted_rows,
        "notes": release.statement.notes,
    }
    if as_json:
        show_json(answer)
        return
    facts = [
        *_told(release.statement),
        (_("original rows"), number(len(data))),
        (_("released rows"), number(len(release.public))),
        (_("deleted rows"), number(release.deleted_rows)),
        (_("added rows"), number(release.inserted_rows)),
        (_("release"), str(out)),
    ]
    show_table("", (_("what"), ""), facts)
    say(_("next: {command}").format(command=f"noren measure {original} {out}{schema_flag(schema)} --with all"))


def _estimated(ready: Method, data: Records, *, as_json: bool) -> None:
    """Say what protecting these data will take, and what that rests on."""
    from noren.study.cost import Shape, estimate_run

    cost = estimate_run(ready, Shape.of(data), data.schema, attacks=[], measures=[])
    facts: dict[str, Any] = {name: getattr(cost, name) for name in ("seconds", "low", "high", "memory_bytes")}
    if as_json:
        show_json(facts | {"confidence": cost.confidence, "reasons": cost.reasons})
        return
    unknown = _("unknown")
    span = unknown if cost.high is None else f"{cost.low:,.1f} … {cost.high:,.1f}"
    memory = unknown if cost.memory_bytes is None else number(round(cost.memory_bytes / 1e6))
    show_table("", (_("what"), ""), [(_("seconds"), span), (_("memory, MB"), memory)])
    say(*cost.reasons)


def _streamed(
    ready: Method, original: Path, out: Path, schema: str | None, seed: int | None, *, force: bool, as_json: bool
) -> None:
    """Protect a file block by block and say what was done."""
    from noren.api import draw_seed
    from noren.data.guess import guess_schema
    from noren.data.schema import Schema
    from noren.methods.retention import Retention
    from noren.methods.retention_stream import protect_file

    if not isinstance(ready, Retention):
        raise ParameterError(_("only retention works on a stream"), _("leave --stream out"))
    known = guess_schema(original).schema if schema is None else Schema.load(schema)
    used = draw_seed() if seed is None else seed
    with progress_bar(_("Protecting"), quiet=as_json) as progress:
        said = protect_file(original, out, ready, known, seed=used, replace=force, progress=progress)
    if as_json:
        show_json({"release": str(out)} | said.as_dict())
        return
    show_table("", (_("what"), ""), [*_told(said), (_("original rows"), number(said.notes["rows"]))])


def _chosen(method: str | None, chain: Path | None, flags: list[str]) -> Method:
    """Return the method that ``--method`` and its parameters mean, or the chain in a file."""
    from noren.methods import methods
    from noren.methods.chain import read_chain
    from noren.parameters import from_flags

    if (method is None) == (chain is None):
        raise ParameterError(
            _("name one of --method and --chain"), _("noren methods lists the methods; a chain is a TOML file")
        )
    if chain is None:
        return from_flags(methods[method or ""], flags)
    if flags:
        raise ParameterError(
            _("{word!r} was not expected").format(word=flags[0]),
            _("the parameters of a chain's steps stand in its file"),
            file=chain,
        )
    return read_chain(chain)


def _told(statement: Statement) -> list[tuple[str, str]]:
    """Return for each method what was done and what it promises."""
    several = len(statement.steps) > 1
    facts = []
    for place, step in enumerate(statement.steps, start=1):
        label = _("step {number}").format(number=place) if several else _("method")
        given = [f"{name}={value}" for name, value in step.parameters.items() if value not in (None, [])]
        facts += [(label, " ".join([step.method, *given])), (_("promise"), _(step.promise))]
        if step.notes.get("stopped"):
            facts.append((_("stopped"), _("after {share:.0%} of the search").format(share=step.notes["searched"])))
    return facts
