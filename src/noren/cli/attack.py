"""``noren attack``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.judge import show_verdict
from noren.cli.parts.commands import Failures
from noren.cli.parts.inputs import (
    CustomerColumn,
    EngineName,
    ItemPrefix,
    Json,
    KnowledgeShare,
    Known,
    Master,
    Original,
    ReleasePath,
    Rows,
    RuleName,
    SchemaName,
    attackers_limits,
    chosen,
    cluster_schema,
    load_original,
    schema_flag,
)
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table, situation
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.schema import Schema
    from noren.protocols import Guess

HELP = _("Attack the public part of a release, knowing the original, and write the guesses.")
EXAMPLE = _("Example: noren attack T.csv release/ --schema pwscup2018 --with all --out guesses/")


def attack(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    names: Annotated[str, typer.Option("--with", help=_("Attacks, separated by commas, or all."))] = "all",
    out: Annotated[
        Path | None,
        typer.Option("--out", help=_("A folder for the guesses, one file per attack, in the contest's format.")),
    ] = None,
    known: Known = None,
    knowledge: KnowledgeShare = 1.0,
    item_prefix: ItemPrefix = None,
    rule: RuleName = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same guess."))] = 0,
    engine: EngineName = "local",
    as_json: Json = False,
) -> None:
    """Attack a release."""
    from noren.api import attack as run
    from noren.api import measure as count
    from noren.attacks import attacks
    from noren.data.contest_files import write_candidates, write_guess
    from noren.data.formats.files import making_folder
    from noren.data.reading import read_any_release, read_public
    from noren.data.release import Release
    from noren.engines.accelerated.device import must_be_there
    from noren.engines.choice import parse_engine, using
    from noren.judgement.judging import deciding_measures, judge
    from noren.judgement.outcome import Outcome, people_in
    from noren.judgement.rule import rule_named
    from noren.parameters import share_flags

    by, where = rule_named(rule), parse_engine(engine)
    must_be_there(where)
    if where.address is not None:
        for given, flag in ((known, "--known"), (knowledge != 1, "--knowledge"), (item_prefix, "--item-prefix")):
            if given:
                raise ParameterError(
                    _("{flag} does not work on a cluster").format(flag=flag), _("leave it out, or use --engine local")
                )
        read_by = cluster_schema(original, schema, rows_are, customer)
        _on_cluster(original, release, names, out, read_by, where.address, seed, context.args, as_json=as_json)
        return
    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    ready = share_flags(chosen(attacks, names, data), context.args)
    if not ready:
        raise ParameterError(
            _("no attack works on a {kind}").format(kind=_(str(data.schema.kind))),
            _("noren measure tells how far its rows can be linked"),
        )
    target = Release.load(release) if release.is_dir() else read_public(release, data)
    public = target.public if isinstance(target, Release) else target
    limits = attackers_limits(data, known, knowledge, item_prefix, seed)
    whole = target if isinstance(target, Release) else read_any_release(release, data)
    results: dict[str, Any] = {}
    guesses: dict[str, Guess] = {}
    in_turn = sorted(ready, key=lambda attack: attack.listens)
    failures = Failures(alone=names != "all" and len(ready) == 1)
    if out is not None:
        making_folder(out)  # before long work: a place that cannot be written is said at once
    with _saying_what_is_there([one.name for one in in_turn], results, out):
        for one in in_turn:
            with failures.noting(one.name):
                with progress_bar(one.name, quiet=as_json) as progress, using(where):
                    guess = run(data, target, one, **limits, heard=guesses, progress=progress)
                about: dict[str, Any] = {"named": len(guess), "parameters": one.parameters()} | dict(guess.notes)
                if out is not None:
                    if guess.answers is not guess.pairs:
                        listed = out / f"{one.name}.candidates.parquet"
                        about["candidates_file"] = str(write_candidates(guess.pairs, listed))
                    about["file"] = str(write_guess(guess.answers, out / f"{one.name}.csv", data, public))
                guesses[one.name], results[one.name] = guess, about
    verdict = None
    if whole.has_secret:
        scores = {name: count(data, whole, name) for name in deciding_measures(data)}
        outcome = Outcome(release.name, whole, guesses, scores, failures.reasons, people_in(data))
        verdict = judge(outcome, by)
        for tried in verdict.facts.tried:
            results[tried.attack] |= {"right": tried.right, "hits": tried.hits[1:]}
        for shown in verdict.evidence:
            results[shown.attack] |= shown.model_dump(exclude={"attack", "named", "right"})
    worst = verdict.evidence[0] if verdict is not None and verdict.evidence and verdict.evidence[0].right else None
    if as_json:
        most = None if worst is None else worst.attack
        said = None if verdict is None else verdict.as_dict()
        show_json({"results": results, "most_damaging": most, "verdict": said, "failed": failures.reasons})
        failures.leave()
        return
    if verdict is not None:
        show_verdict(verdict)
        if worst is None:
            say(_("no attack re-identified anybody"))
    else:
        rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in results.items()]
        show_table("", (_("attack"), _("customers named"), _("guess")), rows)
    if out is not None:
        told = f"noren measure {original} {release}{schema_flag(schema, rows_are, customer)} --guess {out} --with all"
        say(_("next: {command}").format(command=told))
    failures.leave()


def _on_cluster(
    original: Path,
    release: Path,
    names: str,
    out: Path | None,
    schema: Schema,
    address: str,
    seed: int,
    flags: list[str],
    *,
    as_json: bool,
) -> None:
    """Attack on a Spark cluster and say how many each attack names; of ``all`` those that run there."""
    from noren.attacks import attacks
    from noren.execution.plans import plans
    from noren.execution.working import attack as run
    from noren.parameters import share_flags

    there = list(plans("attack")) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]
    picked = [attacks[name] for name in there if names != "all" or attacks[name].fits(schema)]
    with progress_bar(_("Attacking"), quiet=as_json) as progress:
        ready = share_flags(picked, flags)
        found = run(original, release, ready, engine=address, schema=schema, out=out, seed=seed, progress=progress)
    if as_json:
        show_json({"results": found, "most_damaging": None, "verdict": None, "failed": {}})
        return
    rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in found.items()]
    show_table("", (_("attack"), _("customers named"), _("guess")), rows)
    if out is not None:
        again = f"noren measure {original} {release} --engine {address} --guess {out} --with reid-rate"
        say(_("next: {command}").format(command=again))


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
