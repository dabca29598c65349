"""``noren protect``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.parts.inputs import (
    CustomerColumn,
    EngineName,
    Force,
    Json,
    Keep,
    Master,
    Original,
    Rows,
    SchemaName,
    Seed,
    cluster_schema,
    guessed,
    load_original,
    schema_flag,
    stop_at_both,
)
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table, stoppable_bar
from noren.errors import AuditUnfinishedError, CheckFailedError, OutputError, ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.release import Statement
    from noren.data.schema import Schema
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
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    keep: Keep = None,
    seed: Seed = None,
    official: Annotated[
        bool,
        typer.Option("--official", help=_("Also write the contest's text files (public.csv, secret/A.csv, F.csv).")),
    ] = False,
    no_audit: Annotated[
        bool,
        typer.Option(
            "--no-audit", help=_("Skip the audit before writing, which counts the customers that fit each pseudonym.")
        ),
    ] = False,
    stream: Annotated[
        bool,
        typer.Option("--stream", help=_("Retention alone: block by block, for files of any size; no secret part.")),
    ] = False,
    engine: EngineName = "local",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect and write a release."""
    from noren.api import draw_seed
    from noren.api import protect as run
    from noren.data.formats.files import must_be_free
    from noren.data.release import RELEASE, must_have_official_form
    from noren.engines.accelerated.device import must_be_there
    from noren.engines.choice import parse_engine, using
    from noren.engines.waiting import heard

    ready = _chosen(method, chain, context.args)
    where = parse_engine(engine)
    must_be_there(where)
    if where.address is not None:
        for given, flag in ((official, "--official"), (stream, "--stream"), (master, "--master"), (keep, "--keep")):
            if given:
                raise ParameterError(
                    _("{flag} does not work on a cluster").format(flag=flag), _("leave it out, or use --engine local")
                )
        known = cluster_schema(original, schema, rows_are, customer)
        _on_cluster(ready, original, out, known, where.address, seed, audit=not no_audit, force=force, as_json=as_json)
        return
    must_be_free(out, replace=force and RELEASE)
    if stream:
        known = _schema_of_stream(original, schema, rows_are, customer)
        _streamed(ready, original, out, known, seed, force=force, as_json=as_json)
        return
    held = [load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)]
    if official:
        must_have_official_form(held[0])
    naming = [column.name for column in held[0].schema.with_role("identifier")]
    unaudited = ""
    used = draw_seed() if seed is None else seed
    with _telling_the_seed(used, drawn=seed is None):
        try:
            with stoppable_bar(_("Protecting"), quiet=as_json) as progress, using(where):
                release = heard(run, held.pop, ready, seed=used, audit=not no_audit, keep=keep or (), progress=progress)
        except AuditUnfinishedError as error:
            release, unaudited = error.release, str(error)
        release.save(out, official=official, replace_existing=force)
    rows = (release.secret.original_rows, len(release.public), release.deleted_rows, release.inserted_rows)
    left_out = [name for name in naming if name not in release.public.schema.names]
    _show(ready, out, release.statement, rows, left_out, as_json=as_json, failed=unaudited)
    again = f"noren measure {original} {out}{schema_flag(schema, rows_are, customer)}"
    _leave_unaudited(unaudited, "" if as_json else f"{again} --with classes")
    if not as_json:
        say(_("next: {command}").format(command=f"{again} --with all"))


def _show(
    ready: Method,
    out: Path,
    statement: Statement,
    rows: tuple[int, int, int, int],
    left_out: Sequence[str] = (),
    *,
    as_json: bool,
    failed: str = "",
    **more: Any,
) -> None:
    """Say what was done; ``rows`` counts those of the original, public, deleted and added ones."""
    if as_json:
        counts = dict(zip(("original_rows", "public_rows", "deleted_rows", "added_rows"), rows, strict=True))
        answer = {"release": str(out), "method": ready.name, "parameters": ready.parameters()} | counts | more
        answer |= {"promise": statement.promise, "left_out": list(left_out), "notes": statement.notes}
        show_json(answer | ({"failed": {"audit": failed}} if failed else {}))
        return
    labels = (_("original rows"), _("released rows"), _("deleted rows"), _("added rows"))
    facts = _told(statement)
    facts += [(_("left out, as they identify people"), ", ".join(left_out))] if left_out else []
    facts += [(label, number(count)) for label, count in zip(labels, rows, strict=True)]
    show_table("", (_("what"), ""), [*facts, (_("release"), str(out))])


def _on_cluster(
    ready: Method,
    original: Path,
    out: Path,
    schema: Schema,
    address: str,
    seed: int | None,
    *,
    audit: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Protect on a Spark cluster and say what was done."""
    from noren.api import draw_seed
    from noren.execution.working import protect as run

    used = draw_seed() if seed is None else seed
    with _telling_the_seed(used, drawn=seed is None), progress_bar(_("Protecting"), quiet=as_json) as progress:
        done = run(
            original,
            ready,
            engine=address,
            out=out,
            schema=schema,
            seed=used,
            audit=audit,
            force=force,
            progress=progress,
        )
    unaudited = ""
    if done.audited is False:
        unaudited = _(
            "what the chain's last step claims was not audited: on a cluster no chain of a table is;"
            " do not publish it yet"
        )
    rows = (done.original_rows, done.public_rows, done.deleted_rows, done.inserted_rows)
    more: dict[str, Any] = {"engine": address, "audited": bool(done.audited)}
    left_out = [column.name for column in schema.with_role("identifier")]
    _show(ready, out, done.statement, rows, left_out, as_json=as_json, **more)
    _leave_unaudited(unaudited)
    if not as_json:
        say(_("next: {command}").format(command=f"noren digest {out}"))


def _leave_unaudited(reason: str, command: str = "") -> None:
    """End with exit code 1 where the audit broke down: the release is written, and must not be published yet."""
    if reason:
        say(reason, *([_("next: {command}").format(command=command)] if command else []))
        raise typer.Exit(1)


@contextlib.contextmanager
def _telling_the_seed(seed: int, *, drawn: bool) -> Iterator[None]:
    """Say a drawn seed where the work of a long search would be lost with it: the claim is false, or the disk full."""
    try:
        yield
    except (CheckFailedError, OutputError):
        if drawn:
            say(
                _("nothing was written; --seed {seed} makes the same release again (keep the seed secret)").format(
                    seed=seed
                )
            )
        raise


def _schema_of_stream(original: Path, schema: str | None, rows_are: str | None, customer: str | None) -> Schema:
    """Return the schema that a stream is read by: as named, else guessed."""
    from noren.data.schema import Schema

    if schema is None:
        return guessed(original, rows=rows_are, customer=customer).schema
    stop_at_both(schema, rows_are, customer)
    return Schema.load(schema)


def _streamed(
    ready: Method, original: Path, out: Path, schema: Schema, seed: int | None, *, force: bool, as_json: bool
) -> None:
    """Protect a file block by block and say what was done."""
    from noren.api import draw_seed
    from noren.data.inputs import checked_seed
    from noren.methods.retention import Retention
    from noren.methods.retention_stream import protect_file

    if not isinstance(ready, Retention):
        raise ParameterError(_("only retention works on a stream"), _("leave --stream out"))
    used = draw_seed() if seed is None else checked_seed(seed)
    with progress_bar(_("Protecting"), quiet=as_json) as progress:
        said = protect_file(original, out, ready, schema, seed=used, replace=force, progress=progress)
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
        if nobodys := step.notes.get("rows_without_customer"):
            facts.append((_("left out, as nobody owns them"), _("{count:,} rows").format(count=nobodys)))
        if step.notes.get("columns_not_there"):
            facts.append((_("done without"), ", ".join(step.notes["columns_not_there"])))
    return facts
