"""``noren measure``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.commands import Failures
from noren.cli.parts.inputs import (
    CustomerColumn,
    EngineName,
    Json,
    Master,
    Original,
    ReleasePath,
    Rows,
    SchemaName,
    chosen,
    cluster_schema,
    load_original,
    schema_of_release,
)
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table
from noren.errors import InputError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.schema import Schema
    from noren.protocols import Score

HELP = _("Measure the risk and the utility of a release.")
EXAMPLE = _("Example: noren measure T.csv release/ --schema pwscup2018 --with cell-error --json")


def measure(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, typer.Option("--with", help=_("Measures, separated by commas, or all."))] = "all",
    guess: Annotated[
        Path | None, typer.Option("--guess", help=_("A guess, or a folder of guesses, that noren attack wrote."))
    ] = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    engine: EngineName = "local",
    as_json: Json = False,
) -> None:
    """Measure a release."""
    from noren.api import measure as run
    from noren.data.contest_files import read_guesses
    from noren.data.reading import read_release
    from noren.engines.accelerated.device import must_be_there
    from noren.engines.choice import parse_engine, using
    from noren.measures import measures
    from noren.measures.evidence import at_hand
    from noren.measures.safety.matching import UNLISTED
    from noren.parameters import share_flags
    from noren.protocols import Guess

    where = parse_engine(engine)
    must_be_there(where)
    if where.address is not None:
        known_schema = cluster_schema(original, schema, rows_are, customer)
        _on_cluster(original, release, names, guess, known_schema, where.address, context.args, as_json=as_json)
        return
    known = schema or schema_of_release(release, rows_are, customer)
    data = load_original(original, known, master, rows=rows_are, customer=customer, quiet=as_json)
    picked = chosen(measures, names, data)
    released = read_release(release, data)
    read = {} if guess is None else read_guesses(guess, data)
    guesses = {name: Guess(name, file.pairs, {UNLISTED: file.unlisted}) for name, file in read.items()}
    if names == "all":
        there = at_hand(released, guesses)
        inexact = [m.name for m in picked if not m.needs <= there and m.needs <= there | {"exact"}]
        left = [m.name for m in picked if not m.needs <= there | {"exact"}]
        picked = [m for m in picked if m.needs <= there]
        if left:
            say(_("left out, for want of a guess or the secret part: {names}").format(names=", ".join(left)))
        if inexact:
            say(_("left out, as the release has sets or intervals: {names}").format(names=", ".join(inexact)))
    results, refusals = {}, list[InputError]()
    ready = share_flags(picked, context.args)
    failures = Failures(alone=names != "all" and len(ready) == 1)
    for one in ready:
        try:
            with (
                failures.noting(one.name, refused=lambda error: names == "all" and isinstance(error, InputError)),
                progress_bar(one.name, quiet=as_json) as progress,
                using(where),
            ):
                results[one.name] = run(data, released, one, guesses=guesses, progress=progress)
        except InputError as error:
            if names != "all":
                raise
            refusals.append(error)
            say(_("left out: {name}, as {reason}").format(name=one.name, reason=error))
    if refusals and not results and not failures.reasons:
        raise refusals[0]  # nothing can be measured: the release and the original do not go together
    if as_json:
        show_json(
            {"results": {name: score.as_dict() for name, score in results.items()}, "failed": failures.reasons},
        )
        failures.leave()
        return
    _show(results, failures.reasons)
    failures.leave()


def _show(results: Mapping[str, Score], failed: Iterable[str] = ()) -> None:
    """Print scores as a table, with what they were measured without."""
    from noren.measures import measures

    for name, score in results.items():
        if absent := ", ".join(score.notes.get("columns_not_there", ())):
            words = _("{name}: measured without {columns}, which these purchases do not have")
            say(words.format(name=name, columns=absent))
    rows = []
    for name, score in results.items():
        kind = measures[name]
        better = _("lower is better") if kind.goal == "lower" else _("higher is better")
        rows.append((name, number(score.value), _(kind.unit), better))
        rows += [(f"  {part}", number(value), "", "") for part, value in score.parts.items()]
    rows += [(name, _("failed"), "", "") for name in failed]
    show_table("", (_("measure"), _("value"), _("unit"), ""), rows)


def _on_cluster(
    original: Path,
    release: Path,
    names: str,
    guess: Path | None,
    schema: Schema,
    address: str,
    flags: list[str],
    *,
    as_json: bool,
) -> None:
    """Measure on a Spark cluster; of ``all`` measures those that run there and have what they need."""
    from noren.execution.plans import plans
    from noren.execution.working import measure as run
    from noren.measures import measures
    from noren.parameters import share_flags

    picked = [measures[name.strip()] for name in names.split(",") if name.strip() and names != "all"]
    if names == "all":
        secret = (release / "secret").is_dir()
        there = {"original", "public"} | ({"secret"} if secret else set()) | ({"guess"} if guess else set())
        picked = [measures[name] for name in plans("measure") if measures[name].fits(schema)]
        picked = [one for one in picked if one.needs <= there]
    with progress_bar(_("Measuring"), quiet=as_json) as progress:
        ready = share_flags(picked, flags)
        scores = run(original, release, ready, engine=address, schema=schema, guesses=guess, progress=progress)
    if as_json:
        show_json({"results": {name: score.as_dict() for name, score in scores.items()}, "failed": {}})
        return
    _show(scores)
