"""What the REST interface takes and gives: models that the server and its client share."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from noren.contest.kinds import ContestRole
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.state import ContestSettings
from noren.i18n import active_language


class StrictModel(BaseModel):
    """What is taken: nothing that nobody knows."""

    model_config = ConfigDict(extra="forbid")


class Described(BaseModel):
    """What is told of something that is kept: those of its attributes that the model names."""

    model_config = ConfigDict(from_attributes=True)


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
    settings: ContestSettings
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
    role: ContestRole
    team: TeamOut | None
    has_results: bool
    salt: str | None
    results: str | None
    rescorings: list[dict[str, Any]]


class ReceivedOut(BaseModel):
    """What was handed in, and the signed receipt that one keeps."""

    submission: str
    receipt: dict[str, Any]


class JudgementOut(BaseModel):
    """What the judge found, as far as one may see it: the report in each language, values by measure."""

    valid: bool | None = None
    report: dict[str, Any] | str | None = None
    scorer: str | None = None
    values: dict[str, float] | None = None
    baseline: dict[str, Any] | None = None
    tried: dict[str, Any] | None = None


class SubmissionOut(BaseModel):
    """A file that was handed in, and how far its judging is.

    ``state`` is waiting, running, done, refunded or failed; ``before`` how many wait before it; ``seconds`` the least
    and the most it may take; ``counts`` whether it is the one that stands.
    """

    id: str
    kind: Literal["release", "guess"]
    team: str
    phase: str
    round: str
    target: str | None
    digest: str
    bytes: int
    time: str
    position: int
    state: str
    before: int = 0
    done: float = 0.0
    words: str = ""
    seconds: tuple[float, float] | None = None
    trouble: str = ""
    valid: bool | None
    counts: bool
    chosen: bool
    judgement: JudgementOut = JudgementOut()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard of it."""
        return self.state in ("done", "refunded", "failed")

    @property
    def report(self) -> dict[str, Any]:
        """What the checker says, in the language now spoken."""
        reports = self.judgement.report if isinstance(self.judgement.report, dict) else {}
        return dict(reports.get(active_language()) or reports.get("en") or {})


class TargetOut(BaseModel):
    """What may be attacked, how many of one's tries count, and how many are left in the phases that are open."""

    target: str
    digest: str
    tries: int
    left: int
