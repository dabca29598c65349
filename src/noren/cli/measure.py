"""``noren measure``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from noren.cli.parts.commands import COMPONENT_FLAGS, Failures, Note, Output, Part, Table, app
from noren.cli.parts.inputs import EngineName, Original, Reading, ReleasePath, chosen
from noren.cli.parts.screen import number, progress_bar, say
from noren.errors import InputError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.protocols import Score


@app.command("measure", context_settings=COMPONENT_FLAGS)
def measure(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, Option("--with")] = "all",
    guess: Path | None = None,
    *,
    reading: Reading,
    engine: EngineName = "local",
) -> Output:
    """Measure a release."""
    from noren.execution.engine import engine_named
    from noren.measures import measures
    from noren.registry import share_flags
    from noren.work.run import Run, RunStore

    where = engine_named(engine)
    data = reading.open(where, original, release=release)
    picked = chosen(measures, names, data.schema, where.runs)
    released = where.load(release, data, in_order=True)
    guesses = {} if guess is None else where.guesses(guess, data)
    if names == "all":
        there = released.at_hand(guesses)
        inexact = [m.name for m in picked if not m.needs <= there and m.needs <= there | {"exact"}]
        left = [m.name for m in picked if not m.needs <= there | {"exact"}]
        picked = [m for m in picked if m.needs <= there]
        if left:
            say(_("left out, for want of a guess or the secret part: {names}").format(names=", ".join(left)))
        if inexact:
            say(_("left out, as the release has sets or intervals: {names}").format(names=", ".join(inexact)))
    refusals = list[InputError]()
    ready = share_flags(picked, context.args)
    failures = Failures(alone=names != "all" and len(ready) == 1)

    def fail(name: str, error: Exception) -> None:
        if names != "all" or not isinstance(error, InputError):
            failures.note(name, error)
            return
        refusals.append(error)
        say(_("left out: {name}, as {reason}").format(name=name, reason=error))

    run = Run(where, data, released, RunStore(dict(guesses), on_failure=fail))
    with progress_bar(_("measure")) as progress:
        run.measure(ready, progress=progress)
    results = run.store.scores
    if refusals and not results and not failures.reasons:
        raise refusals[0]  # nothing can be measured: the release and the original do not go together
    answer = {"results": {name: score.as_dict() for name, score in results.items()}, "failed": failures.reasons}
    return Output(answer, _parts(results, failures.reasons), failures.exit_code)


def _parts(results: Mapping[str, Score], failed: Iterable[str]) -> Iterator[Part]:
    """Yield scores as a table, with what they were measured without."""
    from noren.measures import measures

    for name, score in results.items():
        if absent := ", ".join(score.notes.get("columns_not_there", ())):
            words = _("{name}: measured without {columns}, which these purchases do not have")
            yield Note(words.format(name=name, columns=absent))
    rows = []
    for name, score in results.items():
        kind = measures[name]
        better = _("lower is better") if kind.goal == "lower" else _("higher is better")
        rows.append((name, number(score.value), _(kind.unit), better))
        rows += [(f"  {part}", number(value), "", "") for part, value in score.parts.items()]
    rows += [(name, _("failed"), "", "") for name in failed]
    yield Table((_("measure"), _("value"), _("unit"), ""), rows)
