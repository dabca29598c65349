"""``attack``, ``measure`` and ``judge``: the safety and the utility of a release, with exit codes for pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Failures, Note, Output, Part, TextTable, app, number, progress_bar, say, situation
from noren.cli.parts.inputs import Control, EngineName, Knowledge, Original, Reading, ReleasePath, RuleName, chosen
from noren.errors import InputError, ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.execution.engine import OriginalInput
    from noren.judgement.rule import Rule
    from noren.judgement.verdict import Verdict
    from noren.protocols import Guess


@app.command("attack", component_flags=True)
def attack(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, Option("--attacks")] = "all",
    out: Path | None = None,
    *,
    knowledge: Knowledge,
    rule: RuleName = None,
    reading: Reading,
    seed: Annotated[int, Option(min=0)] = 0,
    engine: EngineName = "local",
) -> Output:
    """Attack a release."""
    from noren.attacks import attacks
    from noren.data.formats.files import create_folder
    from noren.execution.engine import get_engine
    from noren.execution.files import is_local, local_path
    from noren.judgement.evidence import facts_counted
    from noren.judgement.judging import deciding_measures
    from noren.judgement.judging import judge as judged
    from noren.judgement.rule import get_rule
    from noren.measures import measures
    from noren.registry import share_flags
    from noren.work.run import Run, RunStore

    by, where = get_rule(rule), get_engine(engine)
    data = reading.open(where, original)
    some = [] if names == "none" else chosen(attacks, names, data.schema, where.runs)
    ready = share_flags(some, context.args)
    limits = where.limits(data, **vars(knowledge), seed=seed)
    target = where.load(release, data)
    if not ready and not target.has_secret:  # otherwise classes decide
        raise ParameterError(
            _("no attack works on a {kind}; use noren measure to see how far its rows can be linked").format(
                kind=_(str(data.schema.kind))
            )
        )
    results: dict[str, Any] = {}
    failures = Failures(alone=names != "all" and len(ready) == 1)
    if out is not None and is_local(out):
        create_folder(local_path(out))  # before long work: a place that cannot be written is said at once

    def write(name: str, guess: Guess) -> None:
        about: dict[str, Any] = {"named": len(guess), "parameters": parameters[name]} | dict(guess.notes)
        results[name] = about | ({} if out is None else where.write_guess(guess, out, data, target))

    parameters = {attack.name: attack.parameters() for attack in ready}
    run = Run(where, data, target, RunStore(on_guess=write, on_failure=failures.note))
    try:
        with progress_bar() as progress:
            run.attack(ready, progress=progress, **limits)
    except BaseException:
        if situation.interrupts and out is not None:  # guesses are written whole, each when it is there
            missing = ", ".join(name for name in parameters if name not in results)
            words = _("{out} has no guesses of {missing}; run the command again")
            say(words.format(out=out, missing=missing))
        raise
    guesses = run.store.guesses
    verdict = None
    if target.has_secret:
        deciding = [measures.create(name) for name in deciding_measures(data.schema)]
        scores = {kind.name: where.measure(data, target, kind) for kind in deciding}
        verdict = judged(facts_counted(where.counts(data, target), guesses, scores, failures.reasons), by)
        for tried in verdict.facts.tried:
            results[tried.attack] |= {"right": tried.right, "hits": tried.hits[1:]}
        for evidence in verdict.evidence:
            results[evidence.attack] |= evidence.model_dump(exclude={"attack", "named", "right"})
    worst = verdict.evidence[0] if verdict is not None and verdict.evidence and verdict.evidence[0].right else None
    answer = {
        "results": results,
        "most_damaging": None if worst is None else worst.attack,
        "verdict": None if verdict is None else verdict.as_dict(),
        "failed": failures.reasons,
    }
    parts: list[Part] = []
    if verdict is not None:
        parts += [
            *verdict_parts(verdict),
            *([Note(_("No attack re-identified anyone."))] if ready and worst is None else []),
        ]
    else:
        rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in results.items()]
        parts.append(TextTable((_("Attack"), _("Named"), _("File")), rows))
    if out is not None:
        again = f"noren measure {original} {release}{reading.flags}{where.flag} --guess {out} --measures all"
        parts.append(Note(_("next: {command}").format(command=again)))
    return Output(answer, parts, failures.exit_code)


@app.command("measure", component_flags=True)
def measure(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, Option("--measures")] = "all",
    guess: Path | None = None,
    *,
    reading: Reading,
    engine: EngineName = "local",
) -> Output:
    """Measure a release."""
    from noren.execution.engine import get_engine
    from noren.measures import measures
    from noren.registry import share_flags
    from noren.work.run import Run, RunStore

    where = get_engine(engine)
    data = reading.open(where, original, release=release)
    picked = chosen(measures, names, data.schema, where.runs)
    released = where.load(release, data, in_order=True)
    guesses = {} if guess is None else where.guesses(guess, data)
    if names == "all":
        there = released.available_evidence(guesses)
        inexact = [m.name for m in picked if not m.needs <= there and m.needs <= there | {"exact"}]
        left = [m.name for m in picked if not m.needs <= there | {"exact"}]
        picked = [m for m in picked if m.needs <= there]
        if left:
            say(_("skipped, because a guess or the secret part is missing: {names}").format(names=", ".join(left)))
        if inexact:
            say(_("skipped, because the release has sets or intervals: {names}").format(names=", ".join(inexact)))
    refusals = list[InputError]()
    ready = share_flags(picked, context.args)
    failures = Failures(alone=names != "all" and len(ready) == 1)

    def fail(name: str, error: Exception) -> None:
        if names != "all" or not isinstance(error, InputError):
            failures.note(name, error)
            return
        refusals.append(error)
        say(_("skipped: {reason}").format(reason=f"{name}: {error}"))

    run = Run(where, data, released, RunStore(dict(guesses), on_failure=fail))
    with progress_bar() as progress:
        run.measure(ready, progress=progress)
    results = run.store.scores
    if refusals and not results and not failures.reasons:
        raise refusals[0]  # nothing can be measured: the release and the original do not go together
    parts: list[Part] = []
    rows = []
    for name, score in results.items():
        if absent := ", ".join(score.notes.get("missing_columns", ())):
            words = _("{name}: measured without {columns}, which the data does not have")
            parts.append(Note(words.format(name=name, columns=absent)))
        kind = measures[name]
        better = _("lower is better") if kind.goal == "lower" else _("higher is better")
        rows.append((name, number(score.value), _(kind.unit), better))
        rows += [(f"  {part}", number(value), "", "") for part, value in score.parts.items()]
    rows += [(name, _("failed"), "", "") for name in failures.reasons]
    parts.append(TextTable((_("Measure"), _("Value"), _("Unit"), ""), rows))
    parts += [line for name, score in results.items() for line in measures[name].in_words(score.notes)]
    answer = {"results": {name: score.as_dict() for name, score in results.items()}, "failed": failures.reasons}
    return Output(answer, parts, failures.exit_code)


@app.command("judge", component_flags=True)
def judge(
    context: typer.Context,
    original: Original,
    releases: Annotated[list[Path], Argument(metavar="FILE…")],
    rule: RuleName = None,
    names: Annotated[str, Option("--attacks")] = "all",
    mapping: Annotated[list[str] | None, Option("--map", metavar="COLUMN=ORIGINAL")] = None,
    truth: Annotated[str | None, Option("--truth", metavar="COLUMN")] = None,
    ledger: Path | None = None,
    budget: Annotated[str | None, Option(metavar="TIME")] = None,
    *,
    knowledge: Knowledge,
    control: Control = None,
    reading: Reading,
    seed: Annotated[int, Option(min=0)] = 0,
) -> Output:
    """Judge a release or a file from elsewhere."""
    from noren.data.reading import read
    from noren.execution.engine import Engine
    from noren.interactive import judge as judge_foreign
    from noren.judgement.rule import get_rule
    from noren.work.run import seconds_of

    # flags of attacks come last, after the files
    flags = next((at for at, name in enumerate(releases) if str(name).startswith("--")), len(releases))
    files, arguments = releases[:flags], [*map(str, releases[flags:]), *context.args]
    if not files:
        raise ParameterError(_("no file to judge is named; name at least one after the original"))
    by, _seconds = get_rule(rule), seconds_of(budget)  # a time that cannot be read is refused before any work
    opened = reading.open(Engine(), original)
    pairs = dict(pair.rpartition("=")[::2] for pair in mapping or ())
    others = None if control is None else read(control, opened.schema).data
    answers, parts, exit_codes = [], list[Part](), set[int]()
    for file in files:
        if file.is_dir() or (opened.schema.official and not (pairs or truth or ledger)):
            limits = vars(knowledge) | {"seed": seed}
            judged, failed = _judge_release(opened, file, by, names, arguments, budget, limits, others)
        else:
            given = (name for name, value in vars(knowledge).items() if value != getattr(Knowledge, name))
            if settings := [*arguments, *(f"--{name.replace('_', '-')}" for name in given)]:
                words = _("a file from elsewhere takes no settings of attacks; leave out {flag}")
                raise ParameterError(words.format(flag=settings[0]))
            with progress_bar(file.name) as progress:
                judged = judge_foreign(
                    opened.rows, file, by, map=pairs, truth=truth, control=others, ledger=ledger, attacks=names,
                    budget=budget, seed=seed, progress=progress,
                )  # fmt: skip
            failed = {}
        answers.append(judged.as_dict() | {"release": str(file), "failed": failed})
        parts += [*([f"{file}:"] if len(files) > 1 else []), *verdict_parts(judged)]
        exit_codes.add({"broken": 1, "untried": 3}.get(str(judged.status), 0))  # what a pipeline goes by
    answer = answers[0] if len(answers) == 1 else {"results": answers}
    return Output(answer, parts, 1 if 1 in exit_codes else max(exit_codes))


def _judge_release(
    opened: OriginalInput, release: Path, by: Rule, names: str, arguments: list[str], budget: str | None,
    knowledge: dict[str, Any], control: Records | None,
) -> tuple[Verdict, dict[str, str]]:  # fmt: skip
    """Judge a release of this program or a contest's file; return the verdict, and what broke down.

    What classes prove or refute is found first, once, and said; attacks follow.
    """
    from noren.attacks import attacks
    from noren.data.reading import read_any_release
    from noren.execution.engine import Engine
    from noren.inference.study import inferred_from
    from noren.judgement.evidence import facts_of
    from noren.judgement.judging import deciding_measures
    from noren.judgement.judging import judge as judged
    from noren.judgement.outcome import examine
    from noren.judgement.sentences import headline_sentence
    from noren.registry import share_flags

    here, data = Engine(), opened.rows
    there = read_any_release(release, data)
    everyone = names == "all" and not arguments
    some = [] if names == "none" else chosen(attacks, names, data.schema)
    ready = None if everyone else share_flags(some, arguments)
    limits = here.limits(opened, **knowledge)
    with progress_bar(release.name) as progress:
        first = examine(data, there, attacks=[], measures=deciding_measures(data.schema))
        proved = judged(first, by)
        if not situation.json and ready != [] and str(proved.status) in ("proved", "broken"):
            say(_("before any attack: {sentence}").format(sentence=headline_sentence(proved)))
        outcome = examine(
            data, there, attacks=ready, measures=[], attacked=1.0, budget=budget, progress=progress, **limits
        )
        outcome = replace(outcome, scores=first.scores, failed={**first.failed, **outcome.failed})
        if control is not None:
            seed = knowledge["seed"]
            study = inferred_from(data, control, there.public, there.statement, seed=seed, progress=progress)
            outcome = replace(outcome, inferred=study.inferred)
            for name, reason in study.not_tried.items():
                say(_("{name} was not tried: {reason}").format(name=name, reason=reason))
    for name, reason in outcome.failed.items():
        say(_("{name} failed: {reason}").format(name=name, reason=reason))
    return judged(facts_of(outcome, proved.facts), by), dict(outcome.failed)


def verdict_parts(verdict: Verdict) -> Iterator[Part]:
    """Yield the verdict: its label, its sentence, the results of each attack, the rule."""
    from noren.judgement.sentences import (
        cautions,
        flaw_sentence,
        headline_sentence,
        remarks,
        rule_sentence,
        verdict_label,
    )

    yield verdict_label(verdict.status)
    if verdict.facts.foreign is None:
        yield verdict.sentence
    else:  # a line each: what is wrong and what to do about it, then what was tried and what was not
        yield headline_sentence(verdict)
        yield from (f"- {flaw.code}: {flaw_sentence(flaw, verdict)}" for flaw in verdict.flaws[1:])
        yield from remarks(verdict)
    yield from (line for line in cautions(verdict) if line not in verdict.sentence)
    headings, *rows = verdict.evidence_table()
    if rows:
        yield TextTable(headings, rows)
    without_guesses = [evidence.attack for evidence in verdict.evidence if not evidence.named]
    if without_guesses:
        yield _("Attacks without a guess: {attacks}.").format(attacks=", ".join(without_guesses))
    yield Note(rule_sentence(verdict.rule))
