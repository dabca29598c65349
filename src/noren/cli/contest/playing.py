"""``noren contest register, join, data, submit, targets, attack, status``: what a team does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.contest.options import Contest, Round, Server, Token, add_action, client, round_of, shown_time
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table
from noren.contest import acts
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.client import Client, Submitted
    from noren.contest.schemas import ReceivedOut

__all__ = ["app"]

app = App()

Phase = Annotated[str | None, typer.Option("--phase", help=_("For which phase, where several are open."))]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help=_("Wait for what the judge finds."))]
Target = Annotated[str, typer.Argument(metavar="TARGET", help=_("The number of a target, such as 07."))]


def _registered(_asked: Client, said: dict[str, Any], answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(answer)
        return
    print(_(acts.register.done).format(name=answer["team"]["name"], code=answer["code"]))
    say(
        _("others join with: {command}").format(command=f"noren contest join {said['contest']} --code {answer['code']}")
    )


# --- files -----------------------------------------------------------------------------------------------------------


add_action(app, acts.register, show=_registered)
add_action(app, acts.join, lambda _said, answer: {"team": answer})


@app.command(
    "data",
    help=_("Fetch the data of a round, which are protected or attacked."),
    epilog=_("Example: noren contest data cup-2026 --round final --out T.csv"),
)
def data(
    contest: Contest,
    out: Annotated[Path, typer.Option("--out", help=_("The file to write."))],
    round_: Round = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Fetch the data of a round."""
    with client(server, token) as asked:
        chosen = round_of(asked.contest(contest), round_, "protect")
        with progress_bar(_("Fetching"), quiet=as_json) as progress:
            size = asked.data(contest, chosen, out, progress)
    if as_json:
        show_json({"round": chosen, "out": str(out), "bytes": size})
    else:
        print(_("the data of {round}: {bytes:,} bytes in {out}").format(round=chosen, bytes=size, out=out))


@app.command(
    "submit",
    help=_("Hand in a release; keep its receipt, and see what the judge finds."),
    epilog=_("Example: noren contest submit cup-2026 release/"),
)
def submit(
    contest: Contest,
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help=_("The release: a file in the original's row order, or a folder."))
    ],
    phase: Phase = None,
    out: Annotated[
        Path | None, typer.Option("--out", help=_("Also write the receipt to this file; one is kept in any case."))
    ] = None,
    wait: Wait = True,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Hand in a release."""
    with client(server, token) as asked, handed_in(release) as file:
        with progress_bar(_("Sending"), quiet=as_json) as progress:
            got = asked.submit_release(contest, file, phase=phase, progress=progress)
        _after(asked, contest, got, out, wait=wait, as_json=as_json)


def _chosen(asked: Client, said: dict[str, Any], _answer: None, *, as_json: bool) -> None:
    """Show the release that was chosen to count."""
    found = asked.submission(said["contest"], said["submission"])
    show_json(found.model_dump(mode="json")) if as_json else show_handed(found)


@contextlib.contextmanager
def handed_in(release: Path) -> Iterator[Path]:
    """Yield the file that is handed in: of a release folder, its rows in the original's order, then those inserted."""
    if not release.is_dir():
        yield release
        return
    from noren.contest.judging.submissions import submission_of
    from noren.data.release import Release

    whole = Release.load(release)
    if not whole.has_secret:
        raise ParameterError(
            _("{folder} has no secret part, which tells the original's row order").format(folder=release),
            _("name the folder that noren protect wrote, not the published one"),
        )
    with TemporaryDirectory(prefix="noren-") as folder:
        file = Path(folder) / "release.csv"
        file.write_bytes(submission_of(whole))
        yield file


add_action(app, acts.choose, show=_chosen)


@app.command(
    "targets",
    help=_("List the releases that may be attacked, and fetch them."),
    epilog=_("Example: noren contest targets cup-2026 --out targets/"),
)
def targets(
    contest: Contest,
    out: Annotated[
        Path | None, typer.Option("--out", help=_("A folder to fetch them into, one file for each."))
    ] = None,
    round_: Round = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """List what may be attacked, and fetch it."""
    from noren.data.formats.files import making_folder

    files: dict[str, str] = {}
    with client(server, token) as asked:
        chosen = round_of(asked.contest(contest), round_, "attack")
        listed = asked.targets(contest, chosen)
        if out is not None:
            making_folder(out)
            with progress_bar(_("Fetching"), quiet=as_json) as progress:
                for done, one in enumerate(listed):
                    progress(done / len(listed), one.target)
                    asked.target(contest, chosen, one.target, out / f"{one.target}.csv")
                    files[one.target] = str(out / f"{one.target}.csv")
    if as_json:
        told = [one.model_dump() | {"file": files.get(one.target)} for one in listed]
        show_json({"round": chosen, "targets": told})
        return
    rows = [(one.target, str(one.tries), str(one.left), files.get(one.target, "")) for one in listed]
    show_table("", (_("target"), _("tries"), _("left"), _("file")), rows)


@app.command(
    "attack",
    help=_("Hand in a guess against a target: a file, or what one of our attacks finds."),
    epilog=_("Example: noren contest attack cup-2026 07 --with jaccard"),
)
def attack(
    contest: Contest,
    target: Target,
    guess: Annotated[
        Path | None, typer.Argument(metavar="[GUESS]", help=_("The guess to hand in: lines pseudonym,customer."))
    ] = None,
    with_: Annotated[
        str | None,
        typer.Option("--with", metavar="ATTACK", help=_("Run this attack on the target, hand in its guess.")),
    ] = None,
    original: Annotated[
        Path | None, typer.Option("--original", help=_("The data of the round; fetched where left out."))
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help=_("Keep the guess that --with made in this file."))] = None,
    round_: Round = None,
    phase: Phase = None,
    wait: Wait = True,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Hand in a guess."""
    if (guess is None) == (with_ is None):
        raise ParameterError(_("what is the guess?"), _("name its file, or an attack with --with"))
    if guess is not None and out is not None:
        raise ParameterError(_("--out keeps what --with makes"), _("leave it out"))
    with client(server, token) as asked, TemporaryDirectory(prefix="noren-") as folder:
        if guess is None:
            chosen = round_of(asked.contest(contest), round_, "attack")
            made = out or Path(folder) / "guess.csv"
            _attacked(asked, contest, chosen, target, str(with_), original, Path(folder), made, quiet=as_json)
            guess = made
        with progress_bar(_("Sending"), quiet=as_json) as progress:
            got = asked.submit_guess(contest, target, guess, phase=phase, progress=progress)
        _after(asked, contest, got, None, wait=wait, as_json=as_json)


def _attacked(
    asked: Client, contest: str, round_: str, target: str, attack: str, original: Path | None, folder: Path, out: Path,
    *, quiet: bool,
) -> None:  # fmt: skip
    """Fetch a target, attack it and write the guess."""
    from noren.contest.judging.prepared import guess_on
    from noren.contest.rulebook import read_rulebook

    public = folder / "target.csv"
    asked.target(contest, round_, target, public)
    if original is None:
        original = folder / "original.csv"
        asked.data(contest, round_, original)
    book = read_rulebook(asked.rulebook(contest))
    with progress_bar(attack, quiet=quiet) as progress:
        guess_on(book, original, public, attack, out, progress=progress)


def _after(asked: Client, contest: str, got: ReceivedOut, out: Path | None, *, wait: bool, as_json: bool) -> None:
    """Keep the receipt, wait for the judge, and tell what was found; leave with 1 where the file is not valid."""
    from noren.contest.credentials import keep_receipt

    kept = keep_receipt(asked.connection.address, contest, got.submission, got.receipt, out)
    if not as_json:
        say(_("received as {submission}; the receipt is in {file}").format(submission=got.submission, file=kept))
    found = None
    if wait:
        with progress_bar(_("Judging"), quiet=as_json) as progress:
            found = asked.judged(contest, got.submission, progress)
    if as_json:
        told = {"submission": got.submission, "receipt": got.receipt, "receipt_file": str(kept)}
        show_json(told | {"judged": None if found is None else found.model_dump(mode="json")})
    elif found is None:
        say(_("next: {command}").format(command=f"noren contest status {contest} {got.submission}"))
    else:
        show_handed(found)
    if found is not None and found.valid is not True:
        raise typer.Exit(1)


# --- looking at one's own --------------------------------------------------------------------------------------------


@app.command(
    "status",
    help=_("Tell how a contest stands, what your team handed in and what was found; or list contests."),
    epilog=_("Example: noren contest status cup-2026"),
)
def status(
    contest: Annotated[
        str | None, typer.Argument(metavar="[CONTEST]", help=_("A contest; all that you may see where left out."))
    ] = None,
    submission: Annotated[
        str | None, typer.Argument(metavar="[SUBMISSION]", help=_("A file that you handed in."))
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Tell how things stand."""
    with client(server, token) as asked:
        if contest is None:
            _show_contests(asked, as_json=as_json)
            return
        if submission is not None:
            found = asked.submission(contest, submission)
            show_json(found.model_dump(mode="json")) if as_json else show_handed(found)
            return
        about = asked.contest(contest)
        handed = asked.submissions(contest) if about["role"] != "visitor" else []
    if as_json:
        show_json({"contest": about, "submissions": [one.model_dump(mode="json") for one in handed]})
        return
    _show_contest(about)
    if handed:
        rows = [(one.id, _kind(one), one.round, shown_time(one.time), _word(one)) for one in handed]
        show_table("", (_("file"), _("kind"), _("round"), _("received"), _("found")), rows)


def _show_contests(asked: Client, *, as_json: bool) -> None:
    session, found = asked.session(), asked.contests()
    if as_json:
        show_json({"session": session.model_dump(mode="json"), "contests": found})
        return
    account = session.account
    say(
        _("{server}: you are not logged in").format(server=asked.connection.address)
        if account is None
        else _("{server}: you are {login}").format(server=asked.connection.address, login=account["login"])
    )
    rows = [(one["id"], one["title"], _open_now(one["phases"]), str(one["teams"]), one["role"]) for one in found]
    show_table("", (_("contest"), _("title"), _("open now"), _("teams"), _("you are")), rows)


def _open_now(phases: list[dict[str, Any]]) -> str:
    return ", ".join(one["id"] for one in phases if one.get("open"))


def _show_contest(about: dict[str, Any]) -> None:
    zone = about["settings"]["zone"]
    if about["paused"]:
        say(_("the contest is paused: {reason}").format(reason=about["paused"]))
    if about.get("team"):
        say(_("your team: {name}").format(name=about["team"]["name"]))
    rows = [
        (
            one["id"],
            shown_time(one["opens"], zone),
            shown_time(one.get("closes"), zone),
            _("open") if one.get("open") else "",
        )
        for one in about["phases"]
    ]
    show_table(f"{about['title']} ({zone})", (_("phase"), _("opens"), _("closes"), ""), rows)


def _kind(one: Submitted) -> str:
    return _("release") if one.kind == "release" else _("guess against {target}").format(target=one.target)


def _word(one: Submitted) -> str:
    """Return in a word what came of a file."""
    if one.state == "refunded":
        return _("given back: {reason}").format(reason=one.trouble)
    if one.valid is None:
        return one.trouble or _("waiting")
    if not one.valid:
        return _("not valid")
    return _("valid, counts") if one.counts else _("valid")


def show_handed(found: Submitted) -> None:
    """Show what the judge found of a file."""
    print(f"{found.id}: {_kind(found)}, {_word(found)}")
    report = found.report
    for problem in (*report.get("problems", ()), *report.get("warnings", ())):
        print(f"  {_problem(problem)}")
    total = int(report.get("total", 0))
    if total > len(report.get("problems", ())):
        print("  " + _("{count:,} problems in all").format(count=total))
    values, house = found.shown.values or {}, found.shown.house or {}
    rows = [(name, number(value)) for name, value in values.items()]
    for name, one in house.items():
        rows += [(f"{name}: {key}", number(value)) for key, value in (one.get("values") or {}).items()]
    if rows:
        show_table("", (_("measure"), _("value")), rows)
    if found.trouble and found.state != "refunded":
        print(found.trouble)


def _problem(told: dict[str, Any]) -> str:
    from noren.errors import Problem

    rule, cure = str(told.get("rule") or ""), str(told.get("cure") or "")
    return Problem(told.get("row"), told.get("column"), told.get("value"), rule, cure).sentence()
