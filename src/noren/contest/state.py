"""How a contest stands: the fold of its log.

Nothing here is stored. Whoever has the entries has the contest, at the end of the log or at any moment before it, so a
frozen board is the fold of the entries up to then, and replaying is folding again.
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


class ContestSettings(BaseModel):
    """What an organiser chooses beside the rulebook and the phases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    zone: str = "UTC"
    """The time zone in which times are shown."""
    team_size: int = Field(default=10, ge=1, le=1000)
    registration: Literal["open", "invited"] = "open"
    visibility: Literal["public", "members"] = "public"
    """Who sees rules, schedule and boards: anybody, or whoever plays."""
    counting: Literal["last", "chosen"] = "last"
    """Which release of a team counts: the last valid one, or the one it chooses (until it does, the last)."""
    names_hidden: bool = True
    """Whether the names of attacked teams are hidden until the results."""
    largest_file: int = Field(default=64 * 2**20, ge=1, le=2**31)
    """Bytes of a file as it is sent; what it holds when it is unpacked is bounded by the judge (256 MiB)."""
    seconds: int = Field(default=900, ge=1)
    """How long one file may be judged."""
    megabytes: int = Field(default=4096, ge=256)
    """How much memory one judge may take."""


@dataclass(frozen=True)
class Round:
    """The data of a round: their digest, what they are called, and how large they are."""

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
    """A team. ``out`` says why it is disqualified."""

    id: str
    name: str
    number: int
    code: str
    """The digest of the code by which people join."""
    members: Mapping[str, Member] = field(default_factory=dict)
    out: str | None = None


@dataclass(frozen=True)
class Submission:
    """A file that was received. ``judged`` is what the judge wrote last, ``refunded`` why it does not count."""

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

    @property
    def valid(self) -> bool | None:
        """Whether the checker accepted it; None while nobody looked."""
        return None if self.judged is None else bool(self.judged["valid"])

    @property
    def values(self) -> Mapping[str, float]:
        """What was measured."""
        found: Mapping[str, float] = (self.judged or {}).get("values", {})
        return found

    @property
    def counts(self) -> bool:
        """Whether it stands: valid, and not refunded."""
        return self.valid is True and self.refunded is None


@dataclass(frozen=True)
class Target:
    """A release as its attackers know it."""

    id: str
    submission: str
    team: str
    digest: str


@dataclass
class Contest:
    """A contest after some entry of its log. Made by :func:`fold` alone; nobody else changes one."""

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
    """Who is in which team, by account."""
    invitations: set[str] = field(default_factory=set)
    submissions: dict[str, Submission] = field(default_factory=dict)
    chosen: dict[tuple[str, str], str] = field(default_factory=dict)
    targets: dict[str, dict[str, Target]] = field(default_factory=dict)
    flags: list[dict[str, Any]] = field(default_factory=list)
    rescorings: list[dict[str, Any]] = field(default_factory=list)
    salt: str | None = None
    """The salt of the lots, once it is revealed."""
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
        return self.salt is not None and any(one.opens <= now for one in self.phases if one.kind == PhaseKind.RESULTS)

    def protecting_over(self, round_: str, now: str) -> bool:
        """Tell whether no release of a round can come any more."""
        of = [one for one in self.phases if one.kind == PhaseKind.PROTECT and one.round == round_]
        return all(one.is_over(now) for one in of)

    # --- which file counts ---------------------------------------------------------------------------------------

    def releases(self, team: str, round_: str) -> list[Submission]:
        """Return the releases of a team, the oldest first."""
        return [one for one in self.of_team(team) if one.kind == "release" and one.round == round_]

    def of_team(self, team: str) -> list[Submission]:
        """Return all that a team handed in, the oldest first."""
        return [one for one in self.submissions.values() if one.team == team]

    def counting_release(self, team: str, round_: str) -> Submission | None:
        """Return the release of a team that counts: the chosen one, else the last valid one."""
        chosen = self.chosen.get((team, round_)) if self.settings.counting == "chosen" else None
        if chosen is not None and self.submissions[chosen].counts:
            return self.submissions[chosen]
        valid = [one for one in self.releases(team, round_) if one.counts]
        return valid[-1] if valid else None

    def guesses(self, round_: str, *, team: str | None = None, target: str | None = None) -> list[Submission]:
        """Return guesses, the oldest first."""
        return [
            one
            for one in self.submissions.values()
            if one.kind == "guess"
            and one.round == round_
            and (team is None or one.team == team)
            and (target is None or one.target == target)
        ]

    def unjudged(self, round_: str | None = None) -> list[Submission]:
        """Return what still waits for the judge, for the first time or by another scorer."""
        return [
            one
            for one in self.submissions.values()
            if one.refunded is None
            and round_ in (None, one.round)
            and (one.judged is None or one.judged["scorer"] != self.scorer)
        ]

    def used(self, team: str, phase: str, target: str | None = None) -> int:
        """Return how many tries of a team count: what is invalid or was refunded does not."""
        return sum(
            1
            for one in self.submissions.values()
            if one.team == team
            and one.phase == phase
            and one.target == target
            and one.refunded is None
            and one.valid is not False
        )

    def copy(self) -> Contest:
        """Return a contest to fold more entries into."""
        mutable: dict[str, Any] = {name: one for name, one in vars(self).items() if isinstance(one, dict | list | set)}
        return replace(self, **{name: copy(one) for name, one in mutable.items()})


def fold(entries: Iterable[LogEntry], after: Contest | None = None) -> Contest:
    """Return the contest that entries make, from the first or after another state; that one stays as it is."""
    contest = Contest() if after is None else after.copy()
    for entry in entries:
        said = entry.body
        match entry.kind:
            case "created":
                contest.id, contest.title = said["contest"], said["title"]
                contest.rulebook = read_rulebook(said["rulebook"])
                contest.settings = ContestSettings.model_validate(said["settings"])
                contest.rounds = {name: Round(id=name, **found) for name, found in said["rounds"].items()}
                contest.phases = _phases(said["phases"])
                contest.commitment, contest.public_key = said["commitment"], said["public_key"]
                contest.scorer, contest.versions = said["scorer"], dict(said["versions"])
                contest.rehearsal = said["rehearsal"]
            case "rescheduled":
                contest.phases = _phases(said["phases"])
            case "paused":
                contest.paused = said["reason"]
            case "resumed":
                contest.paused = None
            case "settings-changed":
                contest.settings = ContestSettings.model_validate(said["settings"])
            case "invited":
                contest.invitations.add(said["code_digest"])
            case "registered" | "joined" | "left" | "code-changed" | "disqualified" | "reinstated":
                _apply_to_team(contest, entry)
            case "release-received" | "guess-received":
                contest.submissions[said["submission"]] = Submission(
                    id=said["submission"],
                    kind="release" if entry.kind == "release-received" else "guess",
                    time=entry.time,
                    position=entry.position,
                    entry=entry.digest,
                    target=said.get("target"),
                    **{name: said[name] for name in ("team", "phase", "round", "digest", "bytes", "account")},
                )
            case "release-judged" | "guess-judged":
                known = contest.submissions[said["submission"]]
                contest.submissions[known.id] = replace(known, judged=said, judged_at=entry.position)
            case "refunded":
                known = contest.submissions[said["submission"]]
                contest.submissions[known.id] = replace(known, refunded=said["reason"])
            case "release-chosen":
                contest.chosen[said["team"], said["round"]] = said["submission"]
            case "targets-published":
                contest.targets[said["round"]] = {
                    one["target"]: Target(
                        one["target"], one["submission"], contest.submissions[one["submission"]].team, one["digest"]
                    )
                    for one in said["targets"]
                }
            case "flagged":
                contest.flags.append(dict(said))
            case "rescored":
                contest.scorer = said["scorer"]
                contest.rescorings.append(dict(said))
            case "revealed":
                contest.salt = said["salt"]
            case "results":
                contest.results = said["digest"]
            case _:
                raise KeyError(entry.kind)
        contest.position, contest.digest, contest.time = entry.position, entry.digest, entry.time
    return contest


def _apply_to_team(contest: Contest, entry: LogEntry) -> None:
    said, name = entry.body, entry.body["team"]
    if entry.kind == "registered":
        team = Team(name, said["name"], len(contest.teams) + 1, said["code_digest"])
        contest.invitations.discard(said.get("invitation", ""))
    else:
        team = contest.teams[name]
    match entry.kind:
        case "registered" | "joined":
            member = Member(said["account"], said["member"], entry.time)
            team = replace(team, members={**team.members, member.account: member})
            contest.team_of[member.account] = name
        case "left":
            others = {account: one for account, one in team.members.items() if account != said["account"]}
            team = replace(team, members=others)
            contest.team_of.pop(said["account"], None)
        case "code-changed":
            team = replace(team, code=said["code_digest"])
        case "disqualified":
            team = replace(team, out=said["reason"])
        case "reinstated":
            team = replace(team, out=None)
    contest.teams[name] = team


def _phases(said: Sequence[Mapping[str, Any]]) -> tuple[Phase, ...]:
    return tuple(sorted((Phase.model_validate(one) for one in said), key=lambda one: (one.opens, one.id)))
