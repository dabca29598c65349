"""``noren attack``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from noren.cli.judge import verdict_parts
from noren.cli.parts.commands import COMPONENT_FLAGS, Failures, Note, Output, Part, Table, app
from noren.cli.parts.inputs import (
    EngineName,
    ItemPrefix,
    KnowledgeShare,
    Known,
    Original,
    Reading,
    ReleasePath,
    RuleName,
    chosen,
)
from noren.cli.parts.screen import number, progress_bar, say, situation
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.protocols import Guess


@app.command("attack", context_settings=COMPONENT_FLAGS)
def attack(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, Option("--with")] = "all",
    out: Path | None = None,
    known: Known = None,
    knowledge: KnowledgeShare = 1.0,
    item_prefix: ItemPrefix = None,
    rule: RuleName = None,
    *,
    reading: Reading,
    seed: Annotated[int, Option(min=0)] = 0,
    engine: EngineName = "local",
) -> Output:
    """Attack a release."""
    from noren.attacks import attacks
    from noren.data.formats.files import making_folder
    from noren.execution.engine import engine_named
    from noren.execution.files import is_local, local_path
    from noren.judgement.evidence import facts_counted
    from noren.judgement.judging import deciding_measures, judge
    from noren.judgement.rule import rule_named
    from noren.measures import measures
    from noren.registry import share_flags
    from noren.work.run import Run, RunStore

    by, where = rule_named(rule), engine_named(engine)
    data = reading.open(where, original)
    ready = share_flags(chosen(attacks, names, data.schema, where.runs), context.args)
    if not ready:
        raise ParameterError(
            _("no attack works on a {kind}").format(kind=_(str(data.schema.kind))),
            _("noren measure tells how far its rows can be linked"),
        )
    limits = where.limits(data, known=known, knowledge=knowledge, item_prefix=item_prefix, seed=seed)
    target = where.load(release, data)
    results: dict[str, Any] = {}
    failures = Failures(alone=names != "all" and len(ready) == 1)
    if out is not None and is_local(out):
        making_folder(local_path(out))  # before long work: a place that cannot be written is said at once

    def write(name: str, guess: Guess) -> None:
        about: dict[str, Any] = {"named": len(guess), "parameters": parameters[name]} | dict(guess.notes)
        results[name] = about | ({} if out is None else where.write_guess(guess, out, data, target))

    parameters = {one.name: one.parameters() for one in ready}
    run = Run(where, data, target, RunStore(on_guess=write, on_failure=failures.note))
    with _saying_what_is_there([one.name for one in ready], results, out), progress_bar(_("attack")) as progress:
        run.attack(ready, progress=progress, **limits)
    guesses = run.store.guesses
    verdict = None
    if target.has_secret:
        deciding = [measures.create(name) for name in deciding_measures(data.schema)]
        scores = {one.name: where.measure(data, target, one) for one in deciding}
        verdict = judge(facts_counted(where.counts(data, target), guesses, scores, failures.reasons), by)
        for tried in verdict.facts.tried:
            results[tried.attack] |= {"right": tried.right, "hits": tried.hits[1:]}
        for shown in verdict.evidence:
            results[shown.attack] |= shown.model_dump(exclude={"attack", "named", "right"})
    worst = verdict.evidence[0] if verdict is not None and verdict.evidence and verdict.evidence[0].right else None
    answer = {
        "results": results,
        "most_damaging": None if worst is None else worst.attack,
        "verdict": None if verdict is None else verdict.as_dict(),
        "failed": failures.reasons,
    }

    def parts() -> Iterator[Part]:
        if verdict is not None:
            yield from verdict_parts(verdict)
            if worst is None:
                yield Note(_("no attack re-identified anybody"))
        else:
            rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in results.items()]
            yield Table((_("attack"), _("customers named"), _("guess")), rows)
        if out is not None:
            again = f"noren measure {original} {release}{reading.flags}{where.flag} --guess {out} --with all"
            yield Note(_("next: {command}").format(command=again))

    return Output(answer, parts(), failures.exit_code)


@contextlib.contextmanager
def _saying_what_is_there(names: Sequence[str], done: Mapping[str, Any], out: Path | None) -> Iterator[None]:
    """Say after Ctrl-C which guesses are written, each whole, and which are missing."""
    try:
        yield
    except BaseException:
        if situation.interrupts and out is not None:
            missing = [name for name in names if name not in done]
            say(
                _("{out} holds the guesses of {names}; missing: {missing}").format(
                    out=out, names=", ".join(done) or _("none"), missing=", ".join(missing)
                )
            )
        raise
