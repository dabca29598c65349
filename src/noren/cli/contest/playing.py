"""``noren contest register, join, data, submit, targets, attack, status``: what a team does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.contest.connecting import Connection, Contest, Round, add_action, round_of, shown_time
from noren.cli.parts.commands import App, Note, Output, Part, TextTable, number, progress_bar, refusal, say, situation
from noren.contest import actions
from noren.errors import Problem
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.client import Client
    from noren.contest.schemas import ReceivedOut, SubmissionOut

app = App()

Phase = Annotated[str | None, Option("--phase", help=_("For which phase, where several are open."))]
Wait = Annotated[bool, Option("--wait/--no-wait", help=_("Wait for what the judge finds."))]
Target = Annotated[str, Argument(metavar="TARGET", help=_("The number of a target, such as 07."))]


def _registered(_client: Client, said: dict[str, Any], answer: dict[str, Any]) -> Output:
    words = _(actions.register.done).format(name=answer["team"]["name"], code=answer["code"])
    join = f"noren contest join {said['contest']} --code {answer['code']}"
    return Output(answer, [words, Note(_("others join with: {command}").format(command=join))])


add_action(app, actions.register, _registered)
add_action(app, actions.join, lambda _client, _said, answer: {"team": answer})


@app.command("data")
def data(
    contest: Contest,
    out: Path,
    round_: Round = None,
    *,
    connection: Connection,
) -> Output:
    """Fetch the data of a round."""
    with connection.client() as asked:
        chosen = round_of(asked.contest(contest), round_, "protect")
        with progress_bar(_("Fetching")) as progress:
            size = asked.download("contests", contest, "rounds", chosen, "data", out=out, progress=progress)
    words = _("the data of {round}: {bytes:,} bytes in {out}").format(round=chosen, bytes=size, out=out)
    return Output({"round": chosen, "out": str(out), "bytes": size}, [words])


@app.command("submit")
def submit(
    contest: Contest,
    release: Annotated[Path, Argument(metavar="RELEASE")],
    phase: Phase = None,
    out: Path | None = None,
    wait: Wait = True,
    *,
    connection: Connection,
) -> Output:
    """Hand in a release."""
    with connection.client() as asked, handed_in(release) as file:
        with progress_bar(_("Sending")) as progress:
            got = asked.submit(contest, file, phase=phase, progress=progress)
        return _after(asked, contest, got, out, wait=wait)


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
        raise refusal("no_row_order", folder=release)
    with TemporaryDirectory(prefix="noren-") as folder:
        file = Path(folder) / "release.csv"
        file.write_bytes(submission_of(whole))
        yield file


add_action(
    app, actions.choose, lambda client, said, _none: _handed(client.submission(said["contest"], said["submission"]))
)


@app.command("targets")
def targets(
    contest: Contest,
    out: Path | None = None,
    round_: Round = None,
    *,
    connection: Connection,
) -> Output:
    """List what may be attacked, and fetch it."""
    from noren.data.formats.files import create_folder

    files: dict[str, str] = {}
    with connection.client() as asked:
        chosen = round_of(asked.contest(contest), round_, "attack")
        listed = asked.targets(contest, chosen)
        if out is not None:
            create_folder(out)
            with progress_bar(_("Fetching")) as progress:
                for done, one in enumerate(listed):
                    progress(done / len(listed), one.target)
                    name = f"{one.target}.csv"
                    asked.download("contests", contest, "rounds", chosen, "targets", one.target, out=out / name)
                    files[one.target] = str(out / f"{one.target}.csv")
    told = [one.model_dump() | {"file": files.get(one.target)} for one in listed]
    rows = [(one.target, str(one.tries), str(one.left), files.get(one.target, "")) for one in listed]
    table = TextTable((_("target"), _("tries"), _("left"), _("file")), rows)
    return Output({"round": chosen, "targets": told}, [table])


@app.command("attack")
def attack(
    contest: Contest,
    target: Target,
    guess: Annotated[Path | None, Argument(metavar="[GUESS]")] = None,
    with_: Annotated[str | None, Option("--with", metavar="ATTACK")] = None,
    original: Path | None = None,
    out: Path | None = None,
    round_: Round = None,
    phase: Phase = None,
    wait: Wait = True,
    *,
    connection: Connection,
) -> Output:
    """Hand in a guess."""
    from noren.contest.judging.prepared import guess_on
    from noren.contest.rulebook import read_rulebook

    if (guess is None) == (with_ is None):
        raise refusal("no_guess")
    if guess is not None and out is not None:
        raise refusal("out_without_attack")
    with connection.client() as asked, TemporaryDirectory(prefix="noren-") as folder:
        if guess is None:  # fetch the target, attack it and write the guess
            chosen, public = round_of(asked.contest(contest), round_, "attack"), Path(folder) / "target.csv"
            asked.download("contests", contest, "rounds", chosen, "targets", target, out=public)
            if original is None:
                original = Path(folder) / "original.csv"
                asked.download("contests", contest, "rounds", chosen, "data", out=original)
            book, guess = (
                read_rulebook(asked.text("contests", contest, "rulebook.toml")),
                out or Path(folder) / "guess.csv",
            )
            with progress_bar(str(with_)) as progress:
                guess_on(book, original, public, str(with_), guess, progress=progress)
        with progress_bar(_("Sending")) as progress:
            got = asked.submit(contest, guess, target=target, phase=phase, progress=progress)
        return _after(asked, contest, got, None, wait=wait)


def _after(asked: Client, contest: str, got: ReceivedOut, out: Path | None, *, wait: bool) -> Output:
    """Keep the receipt, wait for the judge, and tell what was found; exit code 1 where the file is not valid."""
    from noren.contest.credentials import keep_receipt

    kept = keep_receipt(asked.address, contest, got.submission, got.receipt, out)
    if not situation.json:
        say(_("received as {submission}; the receipt is in {file}").format(submission=got.submission, file=kept))
    told = {"submission": got.submission, "receipt": got.receipt, "receipt_file": str(kept)}
    if not wait:
        following = _("next: {command}").format(command=f"noren contest status {contest} {got.submission}")
        return Output(told | {"judged": None}, [Note(following)])
    with progress_bar(_("Judging")) as progress:
        found = asked.judged(contest, got.submission, progress)
    shown = _handed(found)
    return Output(told | {"judged": shown.data}, shown.parts, exit_code=0 if found.valid is True else 1)


# --- looking at one's own --------------------------------------------------------------------------------------------


@app.command("status")
def status(
    contest: Annotated[str | None, Argument(metavar="[CONTEST]")] = None,
    submission: Annotated[str | None, Argument(metavar="[SUBMISSION]")] = None,
    *,
    connection: Connection,
) -> Output:
    """Tell how things stand."""
    with connection.client() as asked:
        if contest is None:
            session, found = asked.session(), asked.get("contests")
            words = _("{server}: you are not logged in") if session.account is None else _("{server}: you are {login}")
            login = session.account and session.account["login"]
            rows = []
            for one in found:
                is_open = ", ".join(phase["id"] for phase in one["phases"] if phase.get("open"))
                rows.append((one["id"], one["title"], is_open, str(one["teams"]), one["role"]))
            return Output(
                {"session": session.model_dump(mode="json"), "contests": found},
                [
                    Note(words.format(server=asked.address, login=login)),
                    TextTable((_("contest"), _("title"), _("open now"), _("teams"), _("you are")), rows),
                ],
            )
        if submission is not None:
            return _handed(asked.submission(contest, submission))
        about = asked.contest(contest)
        handed = asked.submissions(contest) if about["role"] != "visitor" else []
    zone = about["settings"]["zone"]
    parts: list[Part] = []
    if about["paused"]:
        parts.append(Note(_("the contest is paused: {reason}").format(reason=about["paused"])))
    if about.get("team"):
        parts.append(Note(_("your team: {name}").format(name=about["team"]["name"])))
    plan = []
    for one in about["phases"]:
        times = shown_time(one["opens"], zone), shown_time(one.get("closes"), zone)
        plan.append((one["id"], *times, _("open") if one.get("open") else ""))
    parts.append(TextTable((_("phase"), _("opens"), _("closes"), ""), plan, f"{about['title']} ({zone})"))
    if handed:
        files = [(file.id, _kind(file), file.round, shown_time(file.time), _word(file)) for file in handed]
        parts.append(TextTable((_("file"), _("kind"), _("round"), _("received"), _("found")), files))
    return Output({"contest": about, "submissions": [file.model_dump(mode="json") for file in handed]}, parts)


def _kind(one: SubmissionOut) -> str:
    return _("release") if one.kind == "release" else _("guess against {target}").format(target=one.target)


def _word(one: SubmissionOut) -> str:
    """Return in a word what came of a file."""
    if one.state == "refunded":
        return _("given back: {reason}").format(reason=one.trouble)
    if one.valid is None:
        return one.trouble or _("waiting")
    if not one.valid:
        return _("not valid")
    return _("valid, counts") if one.counts else _("valid")


def _handed(found: SubmissionOut) -> Output:
    """Return what the judge found of a file."""
    parts: list[Part] = [f"{found.id}: {_kind(found)}, {_word(found)}"]
    report = found.report
    for told in (*report.get("problems", ()), *report.get("warnings", ())):
        rule, cure = str(told.get("rule") or ""), str(told.get("cure") or "")
        parts.append(f"  {Problem(told.get('row'), told.get('column'), told.get('value'), rule, cure).sentence()}")
    total = int(report.get("total", 0))
    if total > len(report.get("problems", ())):
        parts.append("  " + _("{count:,} problems in all").format(count=total))
    parts += score_table(found.shown.values, found.shown.baseline)
    if found.trouble and found.state != "refunded":
        parts.append(found.trouble)
    return Output(found.model_dump(mode="json"), parts)


def score_table(values: Mapping[str, float] | None, baseline: Mapping[str, Any] | None) -> list[TextTable]:
    """Return the table of a file's measures and of what the baseline attacks got, where there are any."""
    rows = [(name, number(value)) for name, value in (values or {}).items()]
    for name, one in (baseline or {}).items():
        rows += [(f"{name}: {key}", number(value)) for key, value in (one.get("values") or {}).items()]
    return [TextTable((_("measure"), _("value")), rows)] if rows else []
