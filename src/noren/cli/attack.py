"""``noren attack``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.failures import Failures, situation
from noren.cli.inputs import (
    CustomerColumn,
    Json,
    Master,
    Original,
    ReleasePath,
    Rows,
    SchemaName,
    chosen,
    load_original,
    schema_flag,
)
from noren.cli.screen import number, progress_bar, say, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.data.release import Secret
    from noren.measures.safety.verdicts import Try, Verdict
    from noren.protocols import Guess

HELP = _("Attack the public part of a release, knowing the original, and write who was named.")
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
    known: Annotated[
        Path | None,
        typer.Option("--known", help=_("What the attacker knows, if not all of the original: rows in its columns.")),
    ] = None,
    knowledge: Annotated[
        float, typer.Option("--knowledge", help=_("The share of rows that the attacker knows; the seed chooses which."))
    ] = 1.0,
    item_prefix: Annotated[
        int | None,
        typer.Option(
            "--item-prefix", help=_("How many first characters of an item the attacker knows; all if not said.")
        ),
    ] = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same guess."))] = 0,
    as_json: Json = False,
) -> None:
    """Attack a release."""
    from noren.api import attack as run
    from noren.api import attackers_knowledge
    from noren.attacks import attacks
    from noren.data.formats.files import making_folder
    from noren.data.formats.guess_files import write_candidates, write_guess
    from noren.data.reading import read, read_public
    from noren.data.release import Release
    from noren.measures.safety.verdicts import verdicts
    from noren.parameters import share_flags

    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    ready = share_flags(chosen(attacks, names, data), context.args)
    if not ready:
        raise ParameterError(
            _("no attack works on a {kind}").format(kind=_(str(data.schema.kind))),
            _("noren measure tells how far its rows can be linked"),
        )
    target = Release.load(release) if release.is_dir() else read_public(release, data)
    public = target.public if isinstance(target, Release) else target
    limits: dict[str, Any] = {
        "known": None if known is None else read(known, data.schema).data,
        "knowledge": knowledge,
        "item_prefix": item_prefix,
    }
    attackers_knowledge(data, **limits, seed=seed)  # what cannot be known is said once, before any attack runs
    truth = _truth(release, data) if not isinstance(target, Release) else target.secret if target.has_secret else None
    results: dict[str, Any] = {}
    guesses: dict[str, Guess] = {}
    in_turn = sorted(ready, key=lambda attack: attack.listens)
    failures = Failures(alone=names != "all" and len(ready) == 1)
    if out is not None:
        making_folder(out)  # before long work: a place that cannot be written is said at once
    with _saying_what_is_there([one.name for one in in_turn], results, out):
        for one in in_turn:
            with failures.noting(one.name):
                with progress_bar(one.name, quiet=as_json) as progress:
                    guess = run(data, target, one, **limits, heard=guesses, seed=seed, progress=progress)
                about: dict[str, Any] = {"named": len(guess), "parameters": one.parameters()} | dict(guess.notes)
                if out is not None:
                    if guess.answers is not guess.pairs:
                        listed = out / f"{one.name}.candidates.parquet"
                        about["candidates_file"] = str(write_candidates(guess.pairs, listed))
                    about["file"] = str(write_guess(guess.answers, out / f"{one.name}.csv", data, public))
                guesses[one.name], results[one.name] = guess, about
    judged = verdicts(guesses, truth) if truth is not None else []
    for verdict in judged:
        best = {bound: _said(one) for bound, one in verdict.best.items()}
        results[verdict.attack] |= {"right": verdict.right, "best": best, "hits": list(verdict.hits)}
    worst = judged[0] if judged and judged[0].right else None
    if as_json:
        most = None if worst is None else worst.attack
        show_json({"results": results, "most_damaging": most, "failed": failures.reasons})
        failures.leave()
        return
    if judged:
        judgements = [
            (v.attack, number(v.named), number(v.right), _in_short(v.best["paper"]), _in_short(v.best["sharp"]))
            for v in judged
        ]
        columns = (_("attack"), _("named"), _("right"), _("best try, paper"), _("best try, sharp"))
        show_table("", columns, judgements)
        say(_most_damage(worst))
    else:
        rows = [(name, number(about["named"]), str(about.get("file", ""))) for name, about in results.items()]
        show_table("", (_("attack"), _("customers named"), _("guess")), rows)
    if out is not None:
        told = f"noren measure {original} {release}{schema_flag(schema, rows_are, customer)} --guess {out} --with all"
        say(_("next: {command}").format(command=told))
    failures.leave()


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


def _truth(path: Path, data: Records) -> Secret | None:
    """Return what a released file in the original's order tells the steward; a published one tells nothing."""
    from noren.data.reading import read, read_release

    # a file of as many rows may be a published one whose order says nothing: only deleted rows show the original's
    rows = read(path, data.schema).data
    if len(rows) != len(data) or not rows.frame[data.schema.role("customer").name].is_null().any():
        return None
    return read_release(path, data).secret


def _said(best: Try) -> dict[str, Any]:
    return {"named": best.named, "right": best.right, "needed": best.needed, "effective": best.effective}


def _in_short(best: Try) -> str:
    words = _("{right} of {named}, {needed} needed").format(right=best.right, named=best.named, needed=best.needed)
    return words + (" ✗" if best.effective else "")


def _most_damage(worst: Verdict | None) -> str:
    if worst is None:
        return _("no attack named anybody rightly")
    paper, sharp = (worst.best[bound].effective for bound in ("paper", "sharp"))
    if paper:
        verdict = _("the release is unsafe by the paper's rule and the sharp one")
    elif sharp:
        verdict = _("the release is unsafe by the sharp rule, though not by the paper's")
    else:
        verdict = _("the release is not refuted by either rule")
    return _("most damaging: {attack}; {verdict}").format(attack=worst.attack, verdict=verdict)
