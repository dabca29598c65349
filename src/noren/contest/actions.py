"""Actions of teams and organisers in a contest: each returns new log entries, or is refused.

Every function takes the contest and the time, and returns the entries to append to the log. They change nothing and
read nothing else, so the server's decision can be repeated from the log alone. Actions are declared here once
(:mod:`noren.web.actions`): the REST interface, the client, commands and forms follow from the signatures. The texts of
commands and of the API's schema are in ``commands.toml``.
"""

from __future__ import annotations

import datetime as dt
import hmac
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from noren.contest.kinds import PhaseKind
from noren.errors import InputError
from noren.i18n import N_, _
from noren.tables import Texts, table_of
from noren.web.actions import Action, ActionParameter, action
from noren.work.hash_chain import EntryContent, LogEntry, digest_of

if TYPE_CHECKING:  # commands are made of these functions, and start without pydantic
    from noren.contest.phases import Phase
    from noren.contest.state import Contest, ContestSettings, Team

say = Texts(__name__)
_LONGEST_NAME = 60
_LONGEST_REASON = 500
_DAY = dt.timedelta(days=1)
_IDENT = {"pattern": r"^[a-z0-9]{12}$", "description": "an identifier"}

Reason = Annotated[
    str,
    ActionParameter(
        N_("Reason; everyone can read it in the log."),
        rules={"max_length": 2_000, "description": "reason, which the log records"},
    ),
]
TeamId = Annotated[str, ActionParameter(N_("Name or identifier of a team."), "TEAM", _IDENT)]
"""A team; commands take its name as well."""
Login = Annotated[str, ActionParameter(N_("Login of an account."), "LOGIN", {"max_length": 200})]
_ABOUT = table_of("noren.contest.commands")


def _models() -> dict[str, Any]:
    from noren.contest.phases import Phase
    from noren.contest.state import ContestSettings

    return {"Phase": Phase, "ContestSettings": ContestSettings}


class RefusedError(InputError):
    """An action that is refused: not found (404), not allowed (403), not now (409), invalid (422), too often (429)."""

    def __init__(self, message: str, cure: str = "", *, status: int = 409) -> None:
        super().__init__(message, cure)
        self.status = status


def not_found(name: str) -> RefusedError:
    """Return the refusal of something that is not there, or not for the person who asks."""
    return RefusedError(_("{name!r} was not found; check the name").format(name=name[:60]), status=404)


def too_large(largest: int) -> str:
    """Return the message about an upload that is too large."""
    return _("the upload is larger than {largest:,} bytes; send a smaller file").format(largest=largest)


def code_digest(code: str) -> str:
    """Return the digest of an invitation or team code, as the log holds it."""
    return digest_of(b"noren-code:" + code.strip().lower().encode())


# --- teams -----------------------------------------------------------------------------------------------------------


@action("newcomer", "POST /contests/{contest}/teams", **_ABOUT["register"])
def register(
    contest: Contest,
    now: str,
    *,
    account: str,
    member: str,
    team: str,
    code: str,
    name: Annotated[str, ActionParameter(N_("Name of the team."), rules={"max_length": 200})],
    invitation: Annotated[
        str, ActionParameter(N_("Invitation code, if the contest requires one."), rules={"max_length": 100})
    ] = "",
) -> list[EntryContent]:
    """Register a team."""
    _registration_open(contest, now)
    _may_join(contest, account)
    most = contest.settings.most_teams
    if most is not None and len(contest.teams) >= most:
        raise RefusedError(say("contest_is_full", count=most))
    name, member = _one_line(name, _LONGEST_NAME), _one_line(member, _LONGEST_NAME)
    if any(other.name.casefold() == name.casefold() for other in contest.teams.values()):
        raise RefusedError(_("the name {name} is taken; choose another name").format(name=name), status=422)
    body = {"team": team, "name": name, "code_digest": code_digest(code), "account": account, "member": member}
    if contest.settings.registration == "invited":
        digest = code_digest(invitation)
        if not is_among(digest, contest.invitations):
            raise RefusedError(_("this contest is by invitation only; ask the organiser for a code"), status=403)
        body["invitation"] = digest
    return [EntryContent("registered", f"member:{account}", body)]


@action("newcomer", "POST /contests/{contest}/join", **_ABOUT["join"])
def join(
    contest: Contest,
    now: str,
    *,
    account: str,
    member: str,
    code: Annotated[str, ActionParameter(N_("Team code; ask a member of the team."), rules={"max_length": 100})],
) -> list[EntryContent]:
    """Join a team by its code."""
    _registration_open(contest, now)
    digest = code_digest(code)
    teams = [team for team in contest.teams.values() if hmac.compare_digest(team.code, digest)]
    if not teams:
        raise RefusedError(_("no team has this code; ask a member of the team"), status=422)
    team = teams[0]
    if account in team.members:
        return []
    _may_join(contest, account)
    if len(team.members) >= contest.settings.team_size:
        raise RefusedError(say("team_is_full", name=team.name, count=len(team.members)))
    body = {"team": team.id, "account": account, "member": _one_line(member, _LONGEST_NAME)}
    return [EntryContent("joined", f"member:{account}", body)]


@action("player", "POST /contests/{contest}/leave", status=204)
def leave(contest: Contest, now: str, *, account: str) -> list[EntryContent]:
    """Leave one's team.

    A member who submitted a file cannot leave, because the log names them.
    """
    _registration_open(contest, now)
    team = team_of(contest, account)
    if any(submission.account == account for submission in contest.of_team(team.id)):
        raise RefusedError(_("you submitted a file for this team, so you cannot leave it; ask the organiser"))
    return [EntryContent("left", f"member:{account}", {"team": team.id, "account": account})]


@action("member", "POST /contests/{contest}/team/code")
def new_code(contest: Contest, _now: str, *, account: str, code: str) -> list[EntryContent]:
    """Replace the code of one's team; the old one stops working."""
    team = team_of(contest, account)
    return [EntryContent("code-changed", f"member:{account}", {"team": team.id, "code_digest": code_digest(code)})]


def team_of(contest: Contest, account: str) -> Team:
    """Return the team of an account; refuse accounts without a team."""
    name = contest.team_of.get(account)
    if name is None:
        raise RefusedError(say("in_no_team"), status=403)
    return contest.teams[name]


def _registration_open(contest: Contest, now: str) -> None:
    _not_paused(contest)
    kinds = [phase.kind for phase in contest.phases]
    if PhaseKind.REGISTRATION in kinds and not contest.open(now, PhaseKind.REGISTRATION):
        raise _not_open(contest, now, PhaseKind.REGISTRATION)
    if contest.has_results(now):
        raise RefusedError(_("the contest is over; look at its results"))


def _may_join(contest: Contest, account: str) -> None:
    if account in contest.organisers:  # they know too much to play
        raise RefusedError(say("organiser_plays"))
    if account in contest.team_of:
        name = contest.teams[contest.team_of[account]].name
        raise RefusedError(_("you are already in the team {name}; a person can be in one team").format(name=name))


def is_among(digest: str, known: set[str]) -> bool:
    """Tell whether the digest of a code is known, in constant time."""
    return any([hmac.compare_digest(digest, known_digest) for known_digest in known])  # noqa: C419 - all are compared, even after a match


# --- files -----------------------------------------------------------------------------------------------------------


def receive(
    contest: Contest, now: str, *, kind: str, account: str, submission: str, digest: str, size: int,
    target: str = "", phase: str | None = None, key: str = "",
) -> list[EntryContent]:  # fmt: skip
    """Accept a release, or a guess about a target, within the phase, the quota and the size limit; a key only once."""
    team = _may_play(contest, account)
    if (known := contest.by_key(team.id, key)) is not None:
        if (known.kind, known.target or "", known.digest) != (kind, target, digest):
            raise RefusedError(_("this key was used for another file; send a new key with a new file"), status=422)
        return []
    wanted = PhaseKind.PROTECT if kind == "release" else PhaseKind.ATTACK
    open_ = [open_phase for open_phase in contest.open(now, wanted) if phase in (None, open_phase.id)]
    if not open_:
        raise _not_open(contest, now, wanted)
    if len(open_) > 1:
        raise RefusedError(say("several_phases", names=", ".join(open_phase.id for open_phase in open_)), status=422)
    at = open_[0]
    body: dict[str, Any] = {"submission": submission, "account": account, "digest": digest, "bytes": size}
    body |= {"key": key} if key else {}
    if kind == "guess":
        targets = contest.targets.get(at.round or "", {})
        if not targets:
            raise RefusedError(_("the targets are being prepared; try again in a minute"))
        if target not in targets:
            names = ", ".join(sorted(targets)[:50])
            raise RefusedError(say("no_such_target", target=target[:20], names=names), status=404)
        if targets[target].team == team.id:
            raise RefusedError(say("own_target", target=target), status=422)
        body["target"] = target
    quota, largest = contest.rulebook.quota, contest.settings.largest_file
    most = quota.releases if kind == "release" else quota.guesses
    if contest.used(team.id, at.id, body.get("target")) >= most:
        raise RefusedError(say("no_attempts_left", most=most), status=429)
    since = (dt.datetime.fromisoformat(now) - _DAY).isoformat(timespec="microseconds")
    today = sum(1 for file in contest.of_team(team.id) if file.time >= since and file.refunded is None)
    if today >= quota.files_per_day:
        raise RefusedError(say("too_many_files", count=today), status=429)
    if size > largest:
        raise RefusedError(too_large(largest), status=413)
    about = {"team": team.id, "phase": at.id, "round": at.round}
    return [EntryContent(f"{kind}-received", f"team:{team.id}", body | about)]


@action("member", "POST /contests/{contest}/submissions/{submission}/choose", **_ABOUT["choose"])
def choose(
    contest: Contest,
    now: str,
    *,
    account: str,
    submission: Annotated[str, ActionParameter(N_("A release that you submitted."), "SUBMISSION", _IDENT)],
) -> list[EntryContent]:
    """Choose the release that counts."""
    team = _may_play(contest, account)
    release = contest.submissions.get(submission)
    if release is None or release.team != team.id or release.kind != "release":
        raise not_found(submission)
    if contest.settings.counting != "chosen":
        raise RefusedError(_("in this contest the last valid release counts; submit it again"))
    if release.phase not in [phase.id for phase in contest.open(now, PhaseKind.PROTECT)]:
        raise _not_open(contest, now, PhaseKind.PROTECT)
    if not release.counts:
        raise RefusedError(_("only a valid release can count; choose another"), status=422)
    body = {"team": team.id, "round": release.round, "submission": submission}
    return [EntryContent("release-chosen", f"team:{team.id}", body)]


def _may_play(contest: Contest, account: str) -> Team:
    _not_paused(contest)
    team = team_of(contest, account)
    if team.out is not None:
        raise RefusedError(_("your team is disqualified: {reason}; ask the organiser").format(reason=team.out))
    return team


def _not_open(contest: Contest, now: str, kind: PhaseKind) -> RefusedError:
    phases = [phase for phase in contest.phases if phase.kind == kind]
    past = [phase for phase in phases if phase.is_over(now)]
    coming = [phase for phase in phases if phase.opens > now]
    if coming:
        return opens_later(coming[0])
    if past and past[-1].closes:
        closed = format_moment(past[-1].closes)
        return RefusedError(say("closed", phase=past[-1].label, moment=closed, now=format_moment(now)))
    return RefusedError(_("this contest has no phase for that"))


def opens_later(phase: Phase) -> RefusedError:
    """Return the refusal of something that a phase allows once it is open."""
    return RefusedError(say("opens_later", phase=phase.label, moment=format_moment(phase.opens)))


def format_moment(moment: str) -> str:
    """Return a moment for a message: in UTC, to the second."""
    return moment[:19].replace("T", " ") + " UTC"


def _not_paused(contest: Contest) -> None:
    if contest.paused is not None:
        raise RefusedError(say("paused", reason=contest.paused))


# --- the judge -------------------------------------------------------------------------------------------------------


def judge(contest: Contest, *, submission: str, scorer: str, result: Mapping[str, Any]) -> list[EntryContent]:
    """Record the result of scoring; a second result of the same scorer changes nothing."""
    known = contest.submissions.get(submission)
    if known is None or (known.judged is not None and known.judged["scorer"] == scorer):
        return []
    if scorer != contest.scorer:
        return []  # meanwhile another scorer was named
    return [EntryContent(f"{known.kind}-judged", "judge", {"submission": submission, "scorer": scorer, **result})]


def refund(contest: Contest, _now: str, *, submission: str, reason: str) -> list[EntryContent]:
    """Refund an attempt that failed because of an internal error."""
    known = contest.submissions.get(submission)
    if known is None or known.refunded is not None or known.judged is not None:
        return []
    return [EntryContent("refunded", "judge", {"submission": submission, "reason": reason})]


def publish_targets(contest: Contest, *, round_: str, targets: Sequence[Mapping[str, str]]) -> list[EntryContent]:
    """Publish the targets of a round."""
    if round_ in contest.targets:
        return []
    body = {"round": round_, "targets": [dict(target) for target in targets]}
    return [EntryContent("targets-published", "clock", body)]


def reveal(contest: Contest, now: str, *, salt: str) -> list[EntryContent]:
    """Publish the salt of the random draws once the results open and everything is scored."""
    due = any(phase.opens <= now for phase in contest.phases if phase.kind == PhaseKind.RESULTS)
    if contest.salt is not None or not due or contest.unjudged():
        return []
    return [EntryContent("revealed", "clock", {"salt": salt})]


def publish_results(contest: Contest, *, digest: str) -> list[EntryContent]:
    """Record the digest of the results; it changes when the results change."""
    if contest.salt is None or contest.results == digest:
        return []
    return [EntryContent("results", "clock", {"digest": digest})]


# --- the organiser ---------------------------------------------------------------------------------------------------


@action("organiser", "POST /contests/{contest}/pause", **_ABOUT["pause"])
def pause(contest: Contest, _now: str, *, account: str, reason: Reason) -> list[EntryContent]:
    """Pause a contest: nothing can be submitted until it is resumed."""
    _not_paused(contest)
    return [_by(account, "paused", {"reason": _one_line(reason)})]


@action("organiser", "POST /contests/{contest}/resume", **_ABOUT["resume"])
def resume(contest: Contest, _now: str, *, account: str) -> list[EntryContent]:
    """Resume a paused contest.

    The schedule does not change.
    """
    if contest.paused is None:
        raise RefusedError(_("the contest is not paused"))
    return [_by(account, "resumed", {})]


@action("organiser", "PUT /contests/{contest}/phases", names=_models, **_ABOUT["reschedule"])
def reschedule(
    contest: Contest,
    now: str,
    *,
    account: str,
    reason: Reason,
    phases: Annotated[Sequence[Phase], ActionParameter(rules={"max_length": 100})],
) -> list[EntryContent]:
    """Change the schedule.

    A phase that has begun keeps its start, and releases that are being attacked stay closed.
    """
    from noren.contest.phases import check_phases

    check_phases(phases, list(contest.rounds))
    new = {phase.id: phase for phase in phases}
    for old in contest.phases:
        changed = new.get(old.id)
        if old.opens <= now and (changed is None or changed.opens != old.opens or changed.kind != old.kind):
            raise RefusedError(_("{phase} has begun, so its start cannot change").format(phase=old.label), status=422)
        if changed is not None and old.is_over(now) and changed.closes != old.closes and old.round in contest.targets:
            raise RefusedError(say("being_attacked", phase=old.label), status=422)
    if contest.salt is not None:
        raise RefusedError(_("the contest is over; look at its results"))
    body = {"phases": [phase.as_dict() for phase in phases], "reason": _one_line(reason)}
    return [_by(account, "rescheduled", body)]


@action("organiser", "PUT /contests/{contest}/settings", names=_models, **_ABOUT["change_settings"])
def change_settings(
    contest: Contest,
    _now: str,
    *,
    account: str,
    reason: Reason,
    settings: Annotated[ContestSettings, ActionParameter()],
) -> list[EntryContent]:
    """Change settings.

    Which release counts cannot change after the first submission.
    """
    if settings.counting != contest.settings.counting and contest.submissions:
        raise RefusedError(_("which release counts cannot change after the first submission"), status=422)
    body = {"settings": settings.model_dump(mode="json"), "reason": _one_line(reason)}
    return [_by(account, "settings-changed", body)]


@action("organiser", "POST /contests/{contest}/invitations", done="{code}", **_ABOUT["invite"])
def invite(_contest: Contest, _now: str, *, account: str, code: str) -> list[EntryContent]:
    """Create a code with which one team can register."""
    return [_by(account, "invited", {"code_digest": code_digest(code)})]


@action("organiser", "POST /contests/{contest}/announcements", **_ABOUT["announce"])
def announce(
    _contest: Contest,
    _now: str,
    *,
    account: str,
    text: Annotated[str, ActionParameter(N_("The announcement."), "TEXT", {"max_length": 2_000})],
) -> list[EntryContent]:
    """Post an announcement to all who see the contest."""
    return [_by(account, "announced", {"text": _one_line(text)})]


@action("organiser", "POST /contests/{contest}/organisers", **_ABOUT["add_organiser"])
def add_organiser(
    contest: Contest, _now: str, *, account: str, person: str, name: str, login: Login
) -> list[EntryContent]:
    """Let another account organise the contest."""
    if person in contest.organisers:
        raise RefusedError(_("{name} organises the contest already").format(name=name))
    if person in contest.team_of:
        raise RefusedError(say("organiser_plays"))
    return [_by(account, "organiser-added", {"organiser": person, "name": name})]


@action("organiser", "POST /contests/{contest}/password-resets", done="{code}", **_ABOUT["reset_password"])
def reset_password(
    contest: Contest, _now: str, *, account: str, person: str, code: str, login: Login
) -> list[EntryContent]:
    """Replace the password of a team's member by a code for setting a new one."""
    if person not in contest.team_of:
        raise not_found(login)
    return [_by(account, "password-reset", {"team": contest.team_of[person], "member": person})]


@action("organiser", "POST /contests/{contest}/teams/{team}/disqualify", **_ABOUT["disqualify"])
def disqualify(contest: Contest, _now: str, *, account: str, team: TeamId, reason: Reason) -> list[EntryContent]:
    """Remove a team from the ranking.

    Its attacks on other releases still count.
    """
    if _team(contest, team).out is not None:
        raise RefusedError(_("the team is already disqualified"))
    return [_by(account, "disqualified", {"team": team, "reason": _one_line(reason)})]


@action("organiser", "POST /contests/{contest}/teams/{team}/reinstate", **_ABOUT["reinstate"])
def reinstate(contest: Contest, _now: str, *, account: str, team: TeamId, reason: Reason) -> list[EntryContent]:
    """Return a disqualified team to the ranking."""
    if _team(contest, team).out is None:
        raise RefusedError(_("the team is not disqualified"))
    return [_by(account, "reinstated", {"team": team, "reason": _one_line(reason)})]


@action("organiser", "POST /contests/{contest}/rescore", **_ABOUT["rescore"])
def rescore(
    contest: Contest,
    _now: str,
    *,
    account: str,
    installed: str,
    reason: Reason,
    scorer: Annotated[
        str, ActionParameter(N_("Name of the scorer installed on the server."), "SCORER", rules={"max_length": 100})
    ],
) -> list[EntryContent]:
    """Score everything again with a named scorer."""
    if scorer != installed:
        raise RefusedError(say("other_scorer", installed=installed, scorer=scorer[:40]), status=422)
    if scorer == contest.scorer:
        raise RefusedError(_("everything is already scored with {scorer}").format(scorer=scorer))
    return [_by(account, "rescored", {"scorer": scorer, "reason": _one_line(reason)})]


def _team(contest: Contest, team: str) -> Team:
    if team not in contest.teams:
        raise not_found(team)
    return contest.teams[team]


def _one_line(text: str, most: int = _LONGEST_REASON) -> str:
    """Return a reason or, with another limit, a name, whose characters are printable."""
    line = " ".join(text.split())
    if not line or len(line) > most or (most == _LONGEST_NAME and not line.isprintable()):
        raise RefusedError(say("text_length", most=most), status=422)
    return line


def _by(account: str, kind: str, body: dict[str, Any]) -> EntryContent:
    return EntryContent(kind, f"organiser:{account}", body)


ORGANISING: tuple[Action[..., list[EntryContent]], ...] = tuple(
    act for act in [*globals().values()] if isinstance(act, Action) and act.role == "organiser"
)
"""All actions of organisers; each is a route and, if it takes only texts, a form."""


DECIDED: dict[str, Callable[..., list[EntryContent]]] = {
    "release-received": receive,
    "guess-received": receive,
    "release-chosen": choose,
    "rescheduled": reschedule,
    "settings-changed": change_settings,
    "announced": announce,
    "paused": pause,
    "resumed": resume,
    "disqualified": disqualify,
    "reinstated": reinstate,
    "refunded": refund,
}
"""The action behind each kind of entry whose decision follows from the log alone."""


def repeat_decision(contest: Contest, entry: LogEntry) -> list[EntryContent]:
    """Repeat the decision that made an entry, with the contest before it, at its time."""
    from noren.contest.phases import Phase
    from noren.contest.state import ContestSettings

    act, body = DECIDED[entry.kind], entry.body
    kind = entry.kind.removesuffix("-received")
    arguments: dict[str, Any] = {"account": "", **body, "size": body.get("bytes"), "kind": kind}
    if act is choose:  # the log names only the team, and any member may choose
        arguments["account"] = next(iter(contest.teams[body["team"]].members))
    if act is reschedule:
        arguments["phases"] = [Phase.model_validate(phase) for phase in body["phases"]]
    if act is change_settings:
        arguments["settings"] = ContestSettings.model_validate(body["settings"])
    taken = inspect.signature(act.function if isinstance(act, Action) else act).parameters
    return act(contest, entry.time, **{name: arguments[name] for name in taken if name in arguments})
