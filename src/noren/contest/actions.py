"""What may be done in a contest: each act is decided from how it stands, and becomes entries of its log or a refusal.

Every function takes the contest and the moment, and returns what the log is to say. They change nothing and read
nothing else, so the server's decision can be made again from the log alone. What teams and organisers do is declared
here once (:mod:`noren.web.actions`): the REST interface, the client, commands and forms follow from the signatures.
What help pages of commands and the API's schema say of them is in ``commands.toml``.
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
        N_("Why; everybody reads it in the log."),
        rules={"max_length": 2_000, "description": "why; it stands in the log"},
    ),
]
TeamId = Annotated[str, ActionParameter(N_("The name or the identifier of a team."), "TEAM", _IDENT)]
"""A team; commands take its name as well."""
_ABOUT = table_of("noren.contest.commands")


def _models() -> dict[str, Any]:
    from noren.contest.phases import Phase
    from noren.contest.state import ContestSettings

    return {"Phase": Phase, "ContestSettings": ContestSettings}


class RefusedError(InputError):
    """An act that is not allowed: not found (404), not by you (403), not now (409), wrong (422), too often (429)."""

    def __init__(self, message: str, cure: str = "", *, status: int = 409) -> None:
        super().__init__(message, cure)
        self.status = status


def code_digest(code: str) -> str:
    """Return what the log keeps of a code by which people join."""
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
    name: Annotated[str, ActionParameter(N_("What the team is called."), rules={"max_length": 200})],
    invitation: Annotated[
        str, ActionParameter(N_("The organiser's code, where a contest is by invitation."), rules={"max_length": 100})
    ] = "",
) -> list[EntryContent]:
    """Found a team."""
    _registration_open(contest, now)
    _has_no_team(contest, account)
    name, member = _name(name), _name(member)
    if any(one.name.casefold() == name.casefold() for one in contest.teams.values()):
        raise RefusedError(_("there is a team {name} already; choose another name").format(name=name), status=422)
    body = {"team": team, "name": name, "code_digest": code_digest(code), "account": account, "member": member}
    if contest.settings.registration == "invited":
        given = code_digest(invitation)
        if not is_among(given, contest.invitations):
            raise RefusedError(_("this contest is by invitation; ask the organiser for a code"), status=403)
        body["invitation"] = given
    return [EntryContent("registered", f"member:{account}", body)]


@action("newcomer", "POST /contests/{contest}/join", **_ABOUT["join"])
def join(
    contest: Contest,
    now: str,
    *,
    account: str,
    member: str,
    code: Annotated[str, ActionParameter(N_("The code of the team; its members know it."), rules={"max_length": 100})],
) -> list[EntryContent]:
    """Join a team by its code."""
    _registration_open(contest, now)
    given = code_digest(code)
    found = [team for team in contest.teams.values() if hmac.compare_digest(team.code, given)]
    if not found:
        raise RefusedError(_("no team has this code; ask a member of the team for it"), status=422)
    team = found[0]
    if account in team.members:
        return []
    _has_no_team(contest, account)
    if len(team.members) >= contest.settings.team_size:
        members = len(team.members)
        raise RefusedError(say("team_is_full", members, name=team.name, count=members), _("found a team of your own"))
    return [EntryContent("joined", f"member:{account}", {"team": team.id, "account": account, "member": _name(member)})]


@action("player", "POST /contests/{contest}/leave", status=204)
def leave(contest: Contest, now: str, *, account: str) -> list[EntryContent]:
    """Leave one's team.

    Who handed something in stays, for the log says so.
    """
    _registration_open(contest, now)
    team = team_of(contest, account)
    if any(one.account == account for one in contest.of_team(team.id)):
        raise RefusedError(_("you handed in a file for this team; ask the organiser"))
    return [EntryContent("left", f"member:{account}", {"team": team.id, "account": account})]


@action("member", "POST /contests/{contest}/team/code")
def new_code(contest: Contest, _now: str, *, account: str, code: str) -> list[EntryContent]:
    """Make another code for one's team; the old one lets nobody in any more."""
    team = team_of(contest, account)
    return [EntryContent("code-changed", f"member:{account}", {"team": team.id, "code_digest": code_digest(code)})]


def team_of(contest: Contest, account: str) -> Team:
    """Return the team of somebody; who has none is refused."""
    name = contest.team_of.get(account)
    if name is None:
        raise RefusedError(_("you are in no team of this contest; found one, or join one by its code"), status=403)
    return contest.teams[name]


def _registration_open(contest: Contest, now: str) -> None:
    _not_paused(contest)
    kinds = [one.kind for one in contest.phases]
    if PhaseKind.REGISTRATION in kinds and not contest.open(now, PhaseKind.REGISTRATION):
        raise _not_open(contest, now, PhaseKind.REGISTRATION)
    if contest.has_results(now):
        raise RefusedError(_("the contest is over; look at its results"))


def _has_no_team(contest: Contest, account: str) -> None:
    if account in contest.team_of:
        name = contest.teams[contest.team_of[account]].name
        raise RefusedError(_("you are in the team {name} already; one person, one team").format(name=name))


def _name(given: str) -> str:
    name = " ".join(given.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RefusedError(say("name_length", most=_LONGEST_NAME), status=422)
    return name


def is_among(given: str, known: set[str]) -> bool:
    """Tell whether the digest of a code is one of those known."""
    return any([hmac.compare_digest(given, one) for one in known])  # noqa: C419 - all are compared, whatever was found


# --- files -----------------------------------------------------------------------------------------------------------


def receive(
    contest: Contest, now: str, *, kind: str, account: str, submission: str, digest: str, size: int,
    target: str = "", phase: str | None = None,
) -> list[EntryContent]:  # fmt: skip
    """Take a release in, or a guess against a target, if the team may hand in one more, and so large a one."""
    team = _may_play(contest, account)
    wanted = PhaseKind.PROTECT if kind == "release" else PhaseKind.ATTACK
    open_ = [one for one in contest.open(now, wanted) if phase in (None, one.id)]
    if not open_:
        raise _not_open(contest, now, wanted)
    if len(open_) > 1:
        raise RefusedError(say("several_phases", names=", ".join(one.id for one in open_)), status=422)
    at = open_[0]
    body: dict[str, Any] = {"submission": submission, "account": account, "digest": digest, "bytes": size}
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
        raise RefusedError(say("no_tries_left", most=most), status=429)
    since = (dt.datetime.fromisoformat(now) - _DAY).isoformat(timespec="microseconds")
    today = sum(1 for one in contest.of_team(team.id) if one.time >= since and one.refunded is None)
    if today >= quota.files_per_day:
        raise RefusedError(say("too_many_files", count=today), status=429)
    if size > largest:
        raise RefusedError(_("the file is larger than {most:,} bytes; send less").format(most=largest), status=413)
    about = {"team": team.id, "phase": at.id, "round": at.round}
    return [EntryContent(f"{kind}-received", f"team:{team.id}", body | about)]


@action("member", "POST /contests/{contest}/submissions/{submission}/choose", **_ABOUT["choose"])
def choose(
    contest: Contest,
    now: str,
    *,
    account: str,
    submission: Annotated[str, ActionParameter(N_("A release that you handed in."), "SUBMISSION", _IDENT)],
) -> list[EntryContent]:
    """Say which release counts."""
    team = _may_play(contest, account)
    found = contest.submissions.get(submission)
    if found is None or found.team != team.id or found.kind != "release":
        raise RefusedError(_("there is no such release"), status=404)
    if contest.settings.counting != "chosen":
        raise RefusedError(_("in this contest the last valid release counts; hand it in again"))
    if found.phase not in [one.id for one in contest.open(now, PhaseKind.PROTECT)]:
        raise _not_open(contest, now, PhaseKind.PROTECT)
    if not found.counts:
        raise RefusedError(_("only a valid release can count; choose another"), status=422)
    body = {"team": team.id, "round": found.round, "submission": submission}
    return [EntryContent("release-chosen", f"team:{team.id}", body)]


def _may_play(contest: Contest, account: str) -> Team:
    _not_paused(contest)
    team = team_of(contest, account)
    if team.out is not None:
        raise RefusedError(_("your team is disqualified: {reason}; ask the organiser").format(reason=team.out))
    return team


def _not_open(contest: Contest, now: str, kind: PhaseKind) -> RefusedError:
    of = [one for one in contest.phases if one.kind == kind]
    past = [one for one in of if one.is_over(now)]
    next_ = [one for one in of if one.opens > now]
    if next_:
        said = say("opens_later", phase=next_[0].words, moment=shown_moment(next_[0].opens))
        return RefusedError(said, _("come back then"))
    if past and past[-1].closes:
        closed = shown_moment(past[-1].closes)
        said = say("closed", phase=past[-1].words, moment=closed, now=shown_moment(now))
        return RefusedError(said, _("the server's clock counts"))
    return RefusedError(_("this contest has no phase for that"))


def shown_moment(moment: str) -> str:
    """Return a moment for a message: in UTC, to the second."""
    return moment[:19].replace("T", " ") + " UTC"


def _not_paused(contest: Contest) -> None:
    if contest.paused is not None:
        raise RefusedError(say("paused", reason=contest.paused))


# --- the judge -------------------------------------------------------------------------------------------------------


def judge(contest: Contest, *, submission: str, scorer: str, result: Mapping[str, Any]) -> list[EntryContent]:
    """Write down what the judge found; a second time by the same scorer changes nothing."""
    known = contest.submissions.get(submission)
    if known is None or (known.judged is not None and known.judged["scorer"] == scorer):
        return []
    if scorer != contest.scorer:
        return []  # meanwhile another scorer was named
    return [EntryContent(f"{known.kind}-judged", "judge", {"submission": submission, "scorer": scorer, **result})]


def refund(contest: Contest, _now: str, *, submission: str, reason: str) -> list[EntryContent]:
    """Give a try back that failed by our fault."""
    known = contest.submissions.get(submission)
    if known is None or known.refunded is not None or known.judged is not None:
        return []
    return [EntryContent("refunded", "judge", {"submission": submission, "reason": reason})]


def publish_targets(contest: Contest, *, round_: str, targets: Sequence[Mapping[str, str]]) -> list[EntryContent]:
    """Let what teams attack be known."""
    if round_ in contest.targets:
        return []
    return [EntryContent("targets-published", "clock", {"round": round_, "targets": [dict(one) for one in targets]})]


def reveal(contest: Contest, now: str, *, salt: str) -> list[EntryContent]:
    """Reveal the salt of the lots when the results open and all is judged."""
    due = any(one.opens <= now for one in contest.phases if one.kind == PhaseKind.RESULTS)
    if contest.salt is not None or not due or contest.unjudged():
        return []
    return [EntryContent("revealed", "clock", {"salt": salt})]


def publish_results(contest: Contest, *, digest: str) -> list[EntryContent]:
    """Write down the digest of the results; made anew after a later change, they have another."""
    if contest.salt is None or contest.results == digest:
        return []
    return [EntryContent("results", "clock", {"digest": digest})]


# --- the organiser ---------------------------------------------------------------------------------------------------


@action("organiser", "POST /contests/{contest}/pause", **_ABOUT["pause"])
def pause(contest: Contest, _now: str, *, account: str, reason: Reason) -> list[EntryContent]:
    """Let nothing be handed in until the contest is resumed."""
    _not_paused(contest)
    return [_by(account, "paused", {"reason": _reason(reason)})]


@action("organiser", "POST /contests/{contest}/resume", **_ABOUT["resume"])
def resume(contest: Contest, _now: str, *, account: str) -> list[EntryContent]:
    """Go on.

    Times stay as they are, and may be extended.
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
    """Change the times of phases.

    What began keeps its beginning, and what is attacked is not reopened.
    """
    from noren.contest.phases import check_phases

    check_phases(phases, list(contest.rounds))
    new = {one.id: one for one in phases}
    for old in contest.phases:
        kept = new.get(old.id)
        if old.opens <= now and (kept is None or kept.opens != old.opens or kept.kind != old.kind):
            raise RefusedError(_("{phase} has begun; its beginning stays").format(phase=old.words), status=422)
        if kept is not None and old.is_over(now) and kept.closes != old.closes and old.round in contest.targets:
            raise RefusedError(say("being_attacked", phase=old.words), status=422)
    if contest.salt is not None:
        raise RefusedError(_("the lots are revealed; the contest is over"))
    body = {"phases": [one.as_dict() for one in phases], "reason": _reason(reason)}
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

    How a release is chosen to count stays once one was handed in.
    """
    if settings.counting != contest.settings.counting and contest.submissions:
        raise RefusedError(_("which release counts cannot change after the first was handed in"), status=422)
    body = {"settings": settings.model_dump(mode="json"), "reason": _reason(reason)}
    return [_by(account, "settings-changed", body)]


@action("organiser", "POST /contests/{contest}/invitations", done="{code}", **_ABOUT["invite"])
def invite(_contest: Contest, _now: str, *, account: str, code: str) -> list[EntryContent]:
    """Make a code that lets one team in."""
    return [_by(account, "invited", {"code_digest": code_digest(code)})]


@action("organiser", "POST /contests/{contest}/teams/{team}/disqualify", **_ABOUT["disqualify"])
def disqualify(contest: Contest, _now: str, *, account: str, team: TeamId, reason: Reason) -> list[EntryContent]:
    """Take a team out of the ranking.

    What it found in others' releases stays true.
    """
    found = _team(contest, team)
    if found.out is not None:
        raise RefusedError(_("the team is disqualified already"))
    return [_by(account, "disqualified", {"team": team, "reason": _reason(reason)})]


@action("organiser", "POST /contests/{contest}/teams/{team}/reinstate", **_ABOUT["reinstate"])
def reinstate(contest: Contest, _now: str, *, account: str, team: TeamId, reason: Reason) -> list[EntryContent]:
    """Let a team back in."""
    if _team(contest, team).out is None:
        raise RefusedError(_("the team is not disqualified"))
    return [_by(account, "reinstated", {"team": team, "reason": _reason(reason)})]


@action("organiser", "POST /contests/{contest}/rescore", **_ABOUT["rescore"])
def rescore(
    contest: Contest,
    _now: str,
    *,
    account: str,
    installed: str,
    reason: Reason,
    scorer: Annotated[
        str, ActionParameter(N_("The scorer that the server has, by its name."), "SCORER", rules={"max_length": 100})
    ],
) -> list[EntryContent]:
    """Judge all again by a named scorer."""
    if scorer != installed:
        raise RefusedError(say("other_scorer", installed=installed, scorer=scorer[:40]), status=422)
    if scorer == contest.scorer:
        raise RefusedError(_("everything is judged by {scorer} already").format(scorer=scorer))
    return [_by(account, "rescored", {"scorer": scorer, "reason": _reason(reason)})]


def _team(contest: Contest, team: str) -> Team:
    if team not in contest.teams:
        raise RefusedError(_("there is no such team"), status=404)
    return contest.teams[team]


def _reason(given: str) -> str:
    reason = " ".join(given.split())
    if not reason or len(reason) > _LONGEST_REASON:
        raise RefusedError(say("reason_length", most=_LONGEST_REASON), status=422)
    return reason


def _by(account: str, kind: str, body: dict[str, Any]) -> EntryContent:
    return EntryContent(kind, f"organiser:{account}", body)


# --- once more -------------------------------------------------------------------------------------------------------

DECIDED: dict[str, Callable[..., list[EntryContent]]] = {
    "release-received": receive,
    "guess-received": receive,
    "release-chosen": choose,
    "rescheduled": reschedule,
    "settings-changed": change_settings,
    "paused": pause,
    "resumed": resume,
    "disqualified": disqualify,
    "reinstated": reinstate,
    "refunded": refund,
}
"""Which act makes an entry, by its kind: those whose decision follows from the log alone."""


def decided_again(contest: Contest, entry: LogEntry) -> list[EntryContent]:
    """Take the decision again that made an entry, with the contest before it, at its moment."""
    from noren.contest.phases import Phase
    from noren.contest.state import ContestSettings

    act, said = DECIDED[entry.kind], entry.body
    kind = entry.kind.removesuffix("-received")
    given: dict[str, Any] = {"account": "", **said, "size": said.get("bytes"), "kind": kind}
    if act is choose:  # the log says for which team it was done, and any member may
        given["account"] = next(iter(contest.teams[said["team"]].members))
    if act is reschedule:
        given["phases"] = [Phase.model_validate(one) for one in said["phases"]]
    if act is change_settings:
        given["settings"] = ContestSettings.model_validate(said["settings"])
    taken = inspect.signature(act.function if isinstance(act, Action) else act).parameters
    return act(contest, entry.time, **{name: given[name] for name in taken if name in given})
