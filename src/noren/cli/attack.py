"""``noren attack``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.inputs import Json, Master, Original, ReleasePath, SchemaName, chosen, load_original, schema_flag
from noren.cli.screen import number, progress_bar, say, show_json, show_table
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
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same guess."))] = 0,
    as_json: Json = False,
) -> None:
    """Attack a release."""
    from noren.api import attack as run
    from noren.attacks import attacks
    from noren.data.formats.guess_files import write_candidates, write_guess
    from noren.data.reading import read, read_public
    from noren.data.release import Release
    from noren.measures.safety.verdicts import verdicts
    from noren.parameters import share_flags

    data = load_original(original, schema, master, quiet=as_json)
    ready = share_flags(chosen(attacks, names, data), context.args)
    target = Release.load(release) if release.is_dir() else read_public(release, data)
    public = target.public if isinstance(target, Release) else target
    limits: dict[str, Any] = {
        "known": None if known is None else read(known, data.schema).data,
        "knowledge": knowledge,
        "item_prefix": item_prefix,
    }
    truth = _truth(release, data) if not isinstance(target, Release) else target.secret if target.has_secret else None
    results: dict[str, Any] = {}
    guesses: dict[str, Guess] = {}
    for one in sorted(ready, key=lambda attack: attack.listens):
        with progress_bar(one.name, quiet=as_json) as progress:
            guess = run(data, target, one, **limits, heard=guesses, seed=seed, progress=progress)
        guesses[one.name] = guess
        about: dict[str, Any] = {"named": len(guess), "parameters": one.parameters()} | dict(guess.notes)
        if out is not None:
            about["file"] = str(write_guess(guess.answers, out / f"{one.name}.csv", data, public))
            if guess.answers is not guess.pairs:
                about["candidates_file"] = str(write_candidates(guess.pairs, out / f"{one.name}.candidates.parquet"))
        results[one.name] = about
    judged = verdicts(guesses, truth) if truth is not None else []
    for verdict in judged:
        best = {bound: _said(one) for bound, one in verdict.best.items()}
        results[verdict.attack] |= {"right": verdict.right, "best": best, "hits": list(verdict.hits)}
    worst = judged[0] if judged and judged[0].right else None
    if as_json:
        show_json({"results": results, "most_damaging": None if worst is None else worst.attack})
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
        told = f"noren measure {original} {release}{schema_flag(schema)} --guess {out} --with all"
        say(_("next: {command}").format(command=told))


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
