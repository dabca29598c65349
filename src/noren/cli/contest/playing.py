"""Commands for teams, from ``noren contest register`` over ``submit`` and ``attack`` to ``status``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.contest.connecting import Connection, Contest, Round, add_action, local_time, round_of
from noren.cli.parts.commands import App, Note, Output, Part, TextTable, number, progress_bar, refusal, say, situation
from noren.contest import actions
from noren.errors import Problem
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.client import Client
    from noren.contest.schemas import ReceivedOut, SubmissionOut

app = App()

Phase = Annotated[str | None, Option("--phase", help=_("The phase, such as final-protect."))]
Wait = Annotated[bool, Option("--wait/--no-wait", help=_("Wait for the result."))]
Target = Annotated[str, Argument(metavar="TARGET", help=_("The target's number, such as 07."))]


def _registered(_client: Client, request: dict[str, Any], answer: dict[str, Any]) -> Output:
    words = _(actions.register.done).format(name=answer["team"]["name"], code=answer["code"])
    join = f"noren contest join {request['contest']} --code {answer['code']}"
    return Output(answer, [words, Note(_("Team members join with: {command}").format(command=join))])


add_action(app, actions.register, _registered)
add_action(app, actions.join, lambda _client, _request, answer: {"team": answer})


@app.command("data")
def data(contest: Contest, out: Path, round_: Round = None, *, connection: Connection) -> Output:
    """Fetch the data of a round."""
    with connection.client() as client:
        chosen = round_of(client.contest(contest), round_, "protect")
        with progress_bar() as progress:
            size = client.download("contests", contest, "rounds", chosen, "data", out=out, progress=progress)
    written = _("written to {out}").format(out=out)
    return Output({"round": chosen, "out": str(out), "bytes": size}, [written])


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
    """Submit a release."""
    with connection.client() as client, submission_file(release) as file:
        with progress_bar() as progress:
            received = client.submit(contest, file, phase=phase, progress=progress)
        return _after_submission(client, contest, received, out, wait=wait)


@contextlib.contextmanager
def submission_file(release: Path) -> Iterator[Path]:
    """Yield the file to submit: of a release folder, its rows in the original's order, then those inserted.

    The public part of a release stands for its folder.
    """
    if release.name == "public.parquet" and (release.parent / "statement.json").is_file():
        release = release.parent
    if not release.is_dir():
        yield release
        return
    from noren.data.release import Release, submission_of

    whole = Release.load(release)
    if not whole.has_secret:
        raise refusal("no_row_order", folder=release)
    with TemporaryDirectory(prefix="noren-") as folder:
        file = Path(folder) / "release.csv"
        file.write_bytes(submission_of(whole))
        yield file


add_action(
    app,
    actions.choose,
    lambda client, request, _none: _submission_output(client.submission(request["contest"], request["submission"])),
)


@app.command("targets")
def targets(contest: Contest, out: Path | None = None, round_: Round = None, *, connection: Connection) -> Output:
    """List what may be attacked, and fetch it."""
    from noren.data.formats.files import create_folder

    files: dict[str, str] = {}
    with connection.client() as client:
        chosen = round_of(client.contest(contest), round_, "attack")
        listed = client.targets(contest, chosen)
        if out is not None:
            create_folder(out)
            with progress_bar() as progress:
                for done, attackable in enumerate(listed):
                    target = attackable.target
                    progress(done / len(listed), target)
                    path = out / f"{target}.csv"
                    client.download("contests", contest, "rounds", chosen, "targets", target, out=path)
                    files[target] = str(path)
    answer = [attackable.model_dump() | {"file": files.get(attackable.target)} for attackable in listed]
    rows = [(row.target, str(row.tries), str(row.left), files.get(row.target, "")) for row in listed]
    table = TextTable((_("Target"), _("Attempts"), _("Remaining"), _("File")), rows)
    return Output({"round": chosen, "targets": answer}, [table])


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
    """Submit a guess."""
    from noren.contest.judging.prepared import write_attack
    from noren.contest.rulebook import read_rulebook

    if (guess is None) == (with_ is None):
        raise refusal("no_guess")
    if guess is not None and out is not None:
        raise refusal("excludes", flag="GUESS", others="--out")
    with connection.client() as client, TemporaryDirectory(prefix="noren-") as folder:
        if guess is None:  # fetch the target, attack it and write the guess
            chosen, public = round_of(client.contest(contest), round_, "attack"), Path(folder) / "target.csv"
            client.download("contests", contest, "rounds", chosen, "targets", target, out=public)
            if original is None:
                original = Path(folder) / "original.csv"
                client.download("contests", contest, "rounds", chosen, "data", out=original)
            book = read_rulebook(client.text("contests", contest, "rulebook.toml"))
            guess = out or Path(folder) / "guess.csv"
            with progress_bar(str(with_)) as progress:
                write_attack(book, original, public, str(with_), guess, progress=progress)
        with progress_bar() as progress:
            received = client.submit(contest, guess, target=target, phase=phase, progress=progress)
        return _after_submission(client, contest, received, None, wait=wait)


def _after_submission(client: Client, contest: str, received: ReceivedOut, out: Path | None, *, wait: bool) -> Output:
    """Store the receipt, wait for the judge, and return the result; exit code 1 if the file is not valid."""
    from noren.contest.credentials import save_receipt

    submission_id, receipt = received.submission, received.receipt
    receipt_file = save_receipt(client.address, contest, submission_id, receipt, out)
    if not situation.json:
        say(_("received as {submission}; receipt stored in {file}").format(submission=submission_id, file=receipt_file))
    answer = {"submission": submission_id, "receipt": receipt, "receipt_file": str(receipt_file)}
    if not wait:
        following = _("next: {command}").format(command=f"noren contest status {contest} {submission_id}")
        return Output(answer | {"judged": None}, [Note(following)])
    with progress_bar() as progress:
        submission = client.judged(contest, submission_id, progress)
    output = _submission_output(submission)
    return Output(answer | {"judged": output.data}, output.parts, exit_code=0 if submission.valid is True else 1)


@app.command("status")
def status(
    contest: Annotated[str | None, Argument(metavar="[CONTEST]")] = None,
    submission: Annotated[str | None, Argument(metavar="[SUBMISSION]")] = None,
    *,
    connection: Connection,
) -> Output:
    """Show the state of contests and of submitted files."""
    with connection.client() as client:
        if contest is None:
            session, contests = client.session(), client.get("contests")
            state = _("not logged in to {server}") if session.account is None else _("logged in to {server} as {login}")
            login = session.account and session.account["login"]
            rows = []
            for about in contests:
                open_phases = ", ".join(phase["id"] for phase in about["phases"] if phase.get("open"))
                rows.append((about["id"], about["title"], open_phases, str(about["teams"]), about["role"]))
            headings = ("ID", _("Title"), _("Phase"), _("Teams"), _("Role"))
            return Output(
                {"session": session.model_dump(mode="json"), "contests": contests},
                [Note(state.format(server=client.address, login=login)), TextTable(headings, rows)],
            )
        if submission is not None:
            return _submission_output(client.submission(contest, submission))
        about = client.contest(contest)
        submissions = client.submissions(contest) if about["role"] != "visitor" else []
    zone = about["settings"]["zone"]
    parts: list[Part] = []
    if about["paused"]:
        parts.append(Note(_("The contest is paused: {reason}").format(reason=about["paused"])))
    if about.get("team"):
        parts.append(Note(f"{_('Team')}: {about['team']['name']}"))
    plan = []
    for phase in about["phases"]:
        times = local_time(phase["opens"], zone), local_time(phase.get("closes"), zone)
        plan.append((phase["id"], *times, _("open") if phase.get("open") else ""))
    parts.append(TextTable((_("Phase"), _("Opens"), _("Closes"), ""), plan, f"{about['title']} ({zone})"))
    if submissions:
        files = [(file.id, _kind(file), file.round, local_time(file.time), _result(file)) for file in submissions]
        parts.append(TextTable((_("File"), _("Kind"), _("Round"), _("Time"), _("Result")), files))
    return Output({"contest": about, "submissions": [file.model_dump(mode="json") for file in submissions]}, parts)


def _kind(submission: SubmissionOut) -> str:
    return _("Release") if submission.kind == "release" else _("Guess about {target}").format(target=submission.target)


def _result(submission: SubmissionOut) -> str:
    """Return the judge's result of a file in a word or two."""
    if submission.state == "refunded":
        return _("returned: {reason}").format(reason=submission.trouble)
    if submission.valid is None:
        return submission.trouble or _("waiting")
    if not submission.valid:
        return _("not valid")
    return _("valid, counts") if submission.counts else _("valid")


def _submission_output(submission: SubmissionOut) -> Output:
    """Return the judge's report on a file."""
    parts: list[Part] = [f"{submission.id}: {_kind(submission)}, {_result(submission)}"]
    report = submission.report
    for problem in (*report.get("problems", ()), *report.get("warnings", ())):
        rule, cure = str(problem.get("rule") or ""), str(problem.get("cure") or "")
        parts.append(
            f"  {Problem(problem.get('row'), problem.get('column'), problem.get('value'), rule, cure).sentence()}"
        )
    total = int(report.get("total", 0))
    if total > len(report.get("problems", ())):
        parts.append("  " + _("Problems: {count:,}").format(count=total))
    parts += score_table(submission.judgement.values, submission.judgement.baseline)
    if submission.trouble and submission.state != "refunded":
        parts.append(submission.trouble)
    return Output(submission.model_dump(mode="json"), parts)


def score_table(values: Mapping[str, float] | None, baseline: Mapping[str, Any] | None) -> list[TextTable]:
    """Return the table of a file's measures and baseline attacks; empty without any."""
    rows = [(name, number(value)) for name, value in (values or {}).items()]
    for name, scores in (baseline or {}).items():
        rows += [(f"{name}: {key}", number(value)) for key, value in (scores.get("values") or {}).items()]
    return [TextTable((_("Measure"), _("Value")), rows)] if rows else []
