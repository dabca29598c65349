"""What the REST interface takes and gives in several places."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from noren.contest.desk import Desk, Role, Who
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.state import Contest, Settings, Team

__all__ = [
    "ContestOut",
    "MemberOut",
    "PhaseOut",
    "Strict",
    "TeamOut",
    "contest_out",
    "described_file",
    "phases_out",
    "team_out",
]


class Strict(BaseModel):
    """What is taken: nothing that nobody knows."""

    model_config = ConfigDict(extra="forbid")


class PhaseOut(Phase):
    """A phase, and whether it is open now."""

    open: bool


class RoundOut(BaseModel):
    """The data of a round, and how many targets there are to attack."""

    id: str
    name: str
    rows: int
    people: int
    digest: str
    targets: int


class HeadOut(BaseModel):
    """The last entry of the log: whoever notes it down can prove later which log they saw."""

    position: int
    digest: str
    time: str


class MemberOut(BaseModel):
    """A person in a team."""

    account: str
    name: str
    since: str


class TeamOut(BaseModel):
    """A team; ``out`` says why it is disqualified. Its people are named to themselves and to the organiser."""

    id: str
    name: str
    number: int
    members: int
    out: str | None
    people: list[MemberOut]


class ContestOut(BaseModel):
    """A contest: its rules, its schedule, and how far it is."""

    id: str
    title: str
    rulebook: Rulebook
    rulebook_digest: str
    settings: Settings
    phases: list[PhaseOut]
    rounds: list[RoundOut]
    commitment: str
    public_key: str
    scorer: str
    versions: dict[str, str]
    rehearsal: bool
    paused: str | None
    teams: int
    head: HeadOut
    now: str
    role: Role
    team: TeamOut | None
    has_results: bool
    salt: str | None
    results: str | None
    rescorings: list[dict[str, Any]]


def team_out(team: Team, *, people: bool) -> TeamOut:
    """Describe a team."""
    members = team.members.values() if people else ()
    return TeamOut(
        id=team.id,
        name=team.name,
        number=team.number,
        members=len(team.members),
        out=team.out,
        people=[MemberOut(account=one.account, name=one.name, since=one.since) for one in members],
    )


def contest_out(desk: Desk, who: Who, contest: Contest) -> ContestOut:
    """Describe a contest to somebody."""
    now, own = desk.arena.now(), contest.team_of.get(who.id)
    return ContestOut(
        id=contest.id,
        title=contest.title,
        rulebook=contest.rulebook,
        rulebook_digest=contest.rulebook.digest,
        settings=contest.settings,
        phases=phases_out(contest, now),
        rounds=[
            RoundOut(
                id=one.id,
                name=one.name,
                rows=one.rows,
                people=one.people,
                digest=one.data,
                targets=len(contest.targets.get(one.id, {})),
            )
            for one in contest.rounds.values()
        ],
        commitment=contest.commitment,
        public_key=contest.public_key,
        scorer=contest.scorer,
        versions=contest.versions,
        rehearsal=contest.rehearsal,
        paused=contest.paused,
        teams=len(contest.teams),
        head=HeadOut(position=contest.position, digest=contest.digest, time=contest.time),
        now=now,
        role=desk.role(who, contest),
        team=None if own is None else team_out(contest.teams[own], people=True),
        has_results=contest.has_results(now),
        salt=contest.salt if contest.has_results(now) else None,
        results=contest.results,
        rescorings=contest.rescorings,
    )


def phases_out(contest: Contest, now: str) -> list[PhaseOut]:
    """Describe the phases of a contest."""
    paused = contest.paused is not None
    return [PhaseOut(**one.model_dump(), open=one.is_open(now) and not paused) for one in contest.phases]


def described_file(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return how a file of a media type is described in the API's schema."""
    shape = "object" if kind == "application/json" else "string"
    return {200: {"content": {kind: {"schema": {"type": shape}}}, "description": "the file"}}
