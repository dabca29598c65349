"""The state of a contest: the fold of its log.

Nothing here is stored. The entries determine the contest at the end of the log and at any moment before it, so a frozen
leaderboard is the fold of the entries up to then, and replaying is folding again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from noren.contest.kinds import PhaseKind
from noren.contest.phases import Phase, open_phases
from noren.contest.rulebook import Rulebook, read_rulebook
from noren.work.hash_chain import LogEntry

_MUTABLE = (dict, list, set)


class ContestSettings(BaseModel):
    """Settings of a contest beside its rulebook and phases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    zone: str = "UTC"
    """The time zone of displayed times."""
    team_size: int = Field(default=10, ge=1, le=1000)
    most_teams: int | None = Field(default=None, ge=1)
    """How many teams can register; None: any number."""
    registration: Literal["open", "invited"] = "open"
    visibility: Literal["public", "members"] = "public"
    """Who sees rules, schedule and leaderboards: everyone, or members only."""
    counting: Literal["last", "chosen"] = "last"
    """Which release of a team counts: the last valid one, or the one it chooses (until it does, the last)."""
    names_hidden: bool = True
    """Whether the names of attacked teams are hidden until the results."""
    largest_file: int = Field(default=64 * 2**20, ge=1, le=2**31)
    """Bytes of an upload; the scorer limits the unpacked size (256 MiB)."""
    seconds: int = Field(default=900, ge=1)
    """Time limit for scoring one file."""
    megabytes: int = Field(default=4096, ge=256)
    """Memory limit for scoring one file."""


@dataclass(frozen=True)
class Round:
    """The data of a round: digest, file name and size."""

    id: str
    data: str
    name: str
    rows: int
    people: int


@dataclass(frozen=True)
class Member:
    """A person in a team."""

    account: str
    name: str
    since: str


@dataclass(frozen=True)
class Team:
    """A team; ``out`` is the reason of a disqualification."""

    id: str
    name: str
    number: int
    code: str
    """The digest of the team code."""
    members: Mapping[str, Member] = field(default_factory=dict)
    out: str | None = None


@dataclass(frozen=True)
class Submission:
    """A submitted file; ``judged`` is its last result, ``refunded`` the reason why it does not count."""

    id: str
    kind: Literal["release", "guess"]
    team: str
    phase: str
    round: str
    digest: str
    bytes: int
    time: str
    position: int
    entry: str
    target: str | None = None
    judged: Mapping[str, Any] | None = None
    judged_at: int | None = None
    refunded: str | None = None
    account: str = ""
    key: str = ""
    """The digest of the key under which it was sent; the same key again is the same submission."""

    @property
    def valid(self) -> bool | None:
        """Whether it is valid; None before it is checked."""
        return None if self.judged is None else bool(self.judged["valid"])

    @property
    def values(self) -> Mapping[str, float]:
        """The measured values."""
        measured: Mapping[str, float] = (self.judged or {}).get("values", {})
        return measured

    @property
    def counts(self) -> bool:
        """Whether it counts: valid and not refunded."""
        return self.valid is True and self.refunded is None


@dataclass(frozen=True)
class Target:
    """A release as published to attackers."""

    id: str
    submission: str
    team: str
    digest: str


@dataclass
class Contest:
    """A contest after some entry of its log; created and changed only by :func:`fold`."""

    id: str = ""
    title: str = ""
    rulebook: Rulebook = None  # type: ignore[assignment]  # there from the first entry on
    settings: ContestSettings = field(default_factory=ContestSettings)
    rounds: dict[str, Round] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    commitment: str = ""
    public_key: str = ""
    scorer: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    rehearsal: bool = False
    paused: str | None = None
    teams: dict[str, Team] = field(default_factory=dict)
    team_of: dict[str, str] = field(default_factory=dict)
    """The team of each account."""
    organisers: dict[str, str] = field(default_factory=dict)
    """The names of the accounts that organise it."""
    invitations: set[str] = field(default_factory=set)
    submissions: dict[str, Submission] = field(default_factory=dict)
    choices: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """The releases that a team chose in a round, by the time of its choice."""
    targets: dict[str, dict[str, Target]] = field(default_factory=dict)
    announcements: list[dict[str, str]] = field(default_factory=list)
    flags: list[dict[str, Any]] = field(default_factory=list)
    rescorings: list[dict[str, Any]] = field(default_factory=list)
    salt: str | None = None
    """The salt of the random draws, once it is published."""
    results: str | None = None
    position: int = -1
    digest: str = ""
    time: str = ""

    # --- what is open --------------------------------------------------------------------------------------------

    def open(self, now: str, kind: PhaseKind) -> list[Phase]:
        """Return the phases of a kind that are open; while the contest is paused, none."""
        return [] if self.paused is not None else open_phases(self.phases, now, kind)

    def has_results(self, now: str) -> bool:
        """Tell whether the results may be shown."""
        results = [phase for phase in self.phases if phase.kind == PhaseKind.RESULTS]
        return self.salt is not None and any(phase.opens <= now for phase in results)

    def protecting_over(self, round_: str, now: str) -> bool:
        """Tell whether the protection phases of a round are over."""
        phases = [phase for phase in self.phases if phase.kind == PhaseKind.PROTECT and phase.round == round_]
        return all(phase.is_over(now) for phase in phases)

    # --- which file counts ---------------------------------------------------------------------------------------

    def releases(self, team: str, round_: str) -> list[Submission]:
        """Return the releases of a team, the oldest first."""
        return [file for file in self.of_team(team) if file.kind == "release" and file.round == round_]

    def of_team(self, team: str) -> list[Submission]:
        """Return the submissions of a team, the oldest first."""
        return [file for file in self.submissions.values() if file.team == team]

    def by_key(self, team: str, key: str) -> Submission | None:
        """Return the submission that a team sent under a key."""
        return next((file for file in self.of_team(team) if key and file.key == key), None)

    def counting_release(self, team: str, round_: str) -> Submission | None:
        """Return the release of a team that counts: the chosen one, else the last valid one."""
        choices = [*self.choices.get((team, round_), {}).values()] if self.settings.counting == "chosen" else []
        if choices and self.submissions[choices[-1]].counts:
            return self.submissions[choices[-1]]
        valid = [release for release in self.releases(team, round_) if release.counts]
        return valid[-1] if valid else None

    def counted_releases(self, team: str, round_: str) -> list[tuple[str, Submission]]:
        """Return which releases of a team counted, each with the time from which on."""
        valid = {release.time: release for release in self.releases(team, round_) if release.counts}
        choices = self.choices.get((team, round_), {}) if self.settings.counting == "chosen" else {}
        chosen = {at: self.submissions[name] for at, name in choices.items() if self.submissions[name].counts}
        first = min(chosen, default="~")  # from the first choice on, only choices count
        return sorted(({at: file for at, file in valid.items() if at < first} | chosen).items())

    def guesses(self, round_: str, *, team: str | None = None, target: str | None = None) -> list[Submission]:
        """Return guesses, the oldest first."""
        guesses = (file for file in self.submissions.values() if file.kind == "guess" and file.round == round_)
        return [file for file in guesses if team in (None, file.team) and target in (None, file.target)]

    def unjudged(self, round_: str | None = None) -> list[Submission]:
        """Return the submissions that wait for scoring, for the first time or with another scorer."""
        files = (file for file in self.submissions.values() if file.refunded is None and round_ in (None, file.round))
        return [file for file in files if file.judged is None or file.judged["scorer"] != self.scorer]

    @property
    def refunds(self) -> list[dict[str, str]]:
        """The attempts that do not count, with the reason."""
        files = self.submissions.values()
        return [{"submission": file.id, "team": file.team, "reason": file.refunded} for file in files if file.refunded]

    def used(self, team: str, phase: str, target: str | None = None) -> int:
        """Return the used attempts of a team; invalid and refunded files do not count."""
        files = (file for file in self.of_team(team) if file.phase == phase and file.target == target)
        return sum(file.refunded is None and file.valid is not False for file in files)

    def copy(self) -> Contest:
        """Return a contest to fold more entries into."""
        fields: dict[str, Any] = vars(self)
        return replace(self, **{name: copy(fields[name]) for name in fields if isinstance(fields[name], _MUTABLE)})


def fold(entries: Iterable[LogEntry], after: Contest | None = None) -> Contest:
    """Return the contest after some entries, from the first one or after another state, which stays unchanged."""
    contest = Contest() if after is None else after.copy()
    for entry in entries:
        body = entry.body
        match entry.kind:
            case "created":
                contest.id, contest.title = body["contest"], body["title"]
                contest.rulebook = read_rulebook(body["rulebook"])
                contest.settings = ContestSettings.model_validate(body["settings"])
                contest.rounds = {name: Round(id=name, **round_) for name, round_ in body["rounds"].items()}
                contest.phases = _phases(body["phases"])
                contest.commitment, contest.public_key = body["commitment"], body["public_key"]
                contest.scorer, contest.versions = body["scorer"], dict(body["versions"])
                contest.rehearsal = body["rehearsal"]
                contest.organisers = {entry.actor.partition(":")[2]: body.get("organiser", "")}
            case "rescheduled":
                contest.phases = _phases(body["phases"])
            case "paused" | "resumed":
                contest.paused = body["reason"] if entry.kind == "paused" else None
            case "settings-changed":
                contest.settings = ContestSettings.model_validate(body["settings"])
            case "announced":
                contest.announcements.append({"time": entry.time, "text": body["text"]})
            case "password-reset":
                pass
            case "organiser-added":
                contest.organisers[body["organiser"]] = body["name"]
            case "invited":
                contest.invitations.add(body["code_digest"])
            case "registered" | "joined" | "left" | "code-changed" | "disqualified" | "reinstated":
                _apply_to_team(contest, entry)
            case "release-received" | "guess-received":
                contest.submissions[body["submission"]] = Submission(
                    id=body["submission"],
                    kind="release" if entry.kind == "release-received" else "guess",
                    time=entry.time,
                    position=entry.position,
                    entry=entry.digest,
                    target=body.get("target"),
                    key=body.get("key", ""),
                    **{name: body[name] for name in ("team", "phase", "round", "digest", "bytes", "account")},
                )
            case "release-judged" | "guess-judged":
                known = contest.submissions[body["submission"]]
                contest.submissions[known.id] = replace(known, judged=body, judged_at=entry.position)
            case "refunded":
                known = contest.submissions[body["submission"]]
                contest.submissions[known.id] = replace(known, refunded=body["reason"])
            case "release-chosen":
                place = body["team"], body["round"]
                contest.choices[place] = contest.choices.get(place, {}) | {entry.time: body["submission"]}
            case "targets-published":
                targets = [
                    Target(row["target"], row["submission"], contest.submissions[row["submission"]].team, row["digest"])
                    for row in body["targets"]
                ]
                contest.targets[body["round"]] = {target.id: target for target in targets}
            case "flagged":
                contest.flags.append(dict(body))
            case "rescored":
                contest.scorer = body["scorer"]
                contest.rescorings.append(dict(body))
            case "revealed":
                contest.salt = body["salt"]
            case "results":
                contest.results = body["digest"]
            case _:
                raise KeyError(entry.kind)
        contest.position, contest.digest, contest.time = entry.position, entry.digest, entry.time
    return contest


def _apply_to_team(contest: Contest, entry: LogEntry) -> None:
    body, name = entry.body, entry.body["team"]
    if entry.kind == "registered":
        team = Team(name, body["name"], len(contest.teams) + 1, body["code_digest"])
        contest.invitations.discard(body.get("invitation", ""))
    else:
        team = contest.teams[name]
    match entry.kind:
        case "registered" | "joined":
            member = Member(body["account"], body["member"], entry.time)
            team = replace(team, members={**team.members, member.account: member})
            contest.team_of[member.account] = name
        case "left":
            others = {account: other for account, other in team.members.items() if account != body["account"]}
            team = replace(team, members=others)
            contest.team_of.pop(body["account"], None)
        case "code-changed":
            team = replace(team, code=body["code_digest"])
        case "disqualified" | "reinstated":
            team = replace(team, out=body["reason"] if entry.kind == "disqualified" else None)
    contest.teams[name] = team


def _phases(phases: Sequence[Mapping[str, Any]]) -> tuple[Phase, ...]:
    return tuple(sorted((Phase.model_validate(phase) for phase in phases), key=lambda phase: (phase.opens, phase.id)))
