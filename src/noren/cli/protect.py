"""``noren protect``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from noren.cli.parts.commands import (
    COMPONENT_FLAGS,
    Note,
    Output,
    Part,
    Table,
    app,
    number,
    progress_bar,
    say,
    situation,
    stoppable_bar,
)
from noren.cli.parts.inputs import EngineName, Force, Keep, Original, Reading, Seed, guessed, stop_at_both
from noren.errors import CheckFailedError, OutputError, ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.release import Statement
    from noren.data.schema import Schema
    from noren.protocols import Method


@app.command("protect", context_settings=COMPONENT_FLAGS)
def protect(
    context: typer.Context,
    original: Original,
    out: Path,
    method: str | None = None,
    chain: Path | None = None,
    *,
    reading: Reading,
    keep: Keep = None,
    seed: Seed = None,
    official: Annotated[bool, Option("--official")] = False,
    no_audit: Annotated[bool, Option("--no-audit")] = False,
    stream: Annotated[bool, Option("--stream")] = False,
    engine: EngineName = "local",
    force: Force = False,
) -> Output:
    """Protect and write a release."""
    from noren.api import draw_seed
    from noren.data.formats.files import must_be_free
    from noren.data.release import RELEASE
    from noren.execution.engine import engine_named
    from noren.execution.files import is_local, local_path

    ready, where = _chosen(method, chain, context.args), engine_named(engine)
    if is_local(out):
        must_be_free(local_path(out), replace=force and RELEASE)
    used = draw_seed() if seed is None else seed
    if stream:
        known = _schema_of_stream(original, reading)
        with progress_bar(_("Protecting")) as progress:
            said = where.stream(original, ready, out, known, seed=used, replace=force, progress=progress)
        rows = [*_told(said), (_("original rows"), number(said.notes["rows"]))]
        return Output({"release": str(out)} | said.as_dict(), [Table((_("what"), ""), rows)])
    options = {name: value for name, value in (("official", official), ("keep", tuple(keep or ()))) if value}
    data = reading.open(where, original)
    with _telling_the_seed(used, drawn=seed is None), stoppable_bar(_("Protecting")) as progress:
        done = where.protect(data, ready, out, seed=used, audit=not no_audit, force=force, progress=progress, **options)
    counts = (done.original_rows, done.public_rows, done.deleted_rows, done.inserted_rows)
    keys = ("original_rows", "public_rows", "deleted_rows", "added_rows")
    answer: dict[str, Any] = {"release": str(out), "method": ready.name, "parameters": ready.parameters()}
    answer |= {**dict(zip(keys, counts, strict=True)), **done.more, "promise": done.statement.promise}
    answer |= {"left_out": list(done.left_out), "notes": done.statement.notes}
    answer |= {"failed": {"audit": str(done.failure)}} if done.failure else {}

    def parts() -> Iterator[Part]:
        labels = (_("original rows"), _("released rows"), _("deleted rows"), _("added rows"))
        facts = _told(done.statement)
        facts += [(_("left out, as they identify people"), ", ".join(done.left_out))] if done.left_out else []
        facts += [(label, number(count)) for label, count in zip(labels, counts, strict=True)]
        yield Table((_("what"), ""), [*facts, (_("release"), str(out))])
        again = f"noren measure {original} {out}{reading.flags}{where.flag}"
        if done.failure:
            yield Note(str(done.failure))
        command = f"{again} --with {'classes' if done.failure else 'all'}"
        yield Note(_("next: {command}").format(command=command))

    if done.failure and situation.json:
        say(str(done.failure))
    # the release is written, and must not be published yet
    return Output(answer, parts(), 1 if done.failure else 0)


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


def _schema_of_stream(original: Path, reading: Reading) -> Schema:
    """Return the schema that a stream is read by: as named, else guessed."""
    from noren.data.schema import Schema

    if reading.schema is None:
        return guessed(original, rows=reading.rows_are, customer=reading.customer).schema
    stop_at_both(reading.schema, reading.rows_are, reading.customer)
    return Schema.load(reading.schema)


def _chosen(method: str | None, chain: Path | None, flags: list[str]) -> Method:
    """Return the method that ``--method`` and its parameters mean, or the chain in a file."""
    from noren.methods import methods
    from noren.methods.chain import read_chain
    from noren.registry import from_flags

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
