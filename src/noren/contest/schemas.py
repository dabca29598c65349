"""Models of the REST interface that the server and its client share."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from noren.contest.kinds import ContestRole
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.state import ContestSettings, Member
from noren.i18n import active_language


class StrictModel(BaseModel):
    """A request body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Described(BaseModel):
    """A response made from the attributes of an object."""

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
    """The last entry of the log: its digest proves later which log one saw."""

    position: int
    digest: str
    time: str


class TeamOut(BaseModel):
    """A team; ``out`` is the reason of a disqualification. Only members and organisers see ``people``."""

    id: str
    name: str
    number: int
    members: int
    out: str | None
    people: list[Member]


class ContestOut(BaseModel):
    """A contest: rules, schedule and state. Only organisers see the names of ``organisers``."""

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
    organisers: list[str]
    announcements: list[dict[str, str]]
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
    """A submission and its signed receipt."""

    submission: str
    receipt: dict[str, Any]


class JudgementOut(BaseModel):
    """The visible part of a result: the report in each language, values by measure."""

    valid: bool | None = None
    report: dict[str, Any] | str | None = None
    scorer: str | None = None
    values: dict[str, float] | None = None
    baseline: dict[str, Any] | None = None
    tried: dict[str, Any] | None = None


class SubmissionOut(BaseModel):
    """A submission and the progress of its scoring.

    ``state`` is waiting, running, done, refunded or failed; ``before`` the number of files ahead in the queue;
    ``seconds`` the estimated least and most; ``counts`` whether it is the one that counts.
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
        """Whether its state is final."""
        return self.state in ("done", "refunded", "failed")

    @property
    def report(self) -> dict[str, Any]:
        """The report of the checker in the active language."""
        reports = self.judgement.report if isinstance(self.judgement.report, dict) else {}
        return dict(reports.get(active_language()) or reports.get("en") or {})


class TargetOut(BaseModel):
    """A target, with the used and remaining attempts in the open phases."""

    target: str
    digest: str
    tries: int
    left: int
