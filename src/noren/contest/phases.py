"""The phases of a contest: their order, and which are open at a moment.

A moment is a text in UTC with microseconds, as the log writes it, so that moments compare as texts. A phase is open
from its first moment up to, but without, its last. Between phases nothing is open.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator

from noren.contest.kinds import PhaseKind
from noren.errors import ParameterError
from noren.tables import Texts

say = Texts(__name__)
PRACTICE = "practice"
"""The round in which teams try everything at once with data of its own: it has no ranks and no results."""
_IN_ROUNDS = (PhaseKind.PROTECT, PhaseKind.ATTACK)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def moment(time: str | dt.datetime, zone: str = "UTC") -> str:
    """Return a moment as the log writes it; a time without a zone is one of ``zone``.

    >>> moment("2026-04-01 09:00", "Asia/Tokyo")
    '2026-04-01T00:00:00.000000+00:00'
    """
    try:
        parsed = dt.datetime.fromisoformat(time.strip()) if isinstance(time, str) else time
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=get_time_zone(zone))
        return parsed.astimezone(dt.UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        raise ParameterError(say("no_time", text=str(time)[:40])) from None


def get_time_zone(name: str) -> dt.tzinfo:
    """Return a time zone.

    >>> get_time_zone("UTC").utcoffset(None)
    datetime.timedelta(0)
    """
    if name in ("UTC", "Etc/UTC"):
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ParameterError(say("no_zone", name=name[:60])) from None


class Phase(BaseModel):
    """A period of a contest in which some actions are possible.

    Attributes
    ----------
    id
        Its name in addresses: ``final-attack``.
    round
        The round of protection and attack: ``preliminary``, ``final``.
    opens, closes
        Start and end; without ``closes`` it stays open.
    frozen_from
        From when the leaderboard of the phase is frozen until the results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: PhaseKind
    round: str | None = None
    opens: str
    closes: str | None = None
    frozen_from: str | None = None
    title: str = Field(default="", max_length=100)

    @field_validator("opens", "closes", "frozen_from")
    @classmethod
    def _as_moment(cls, time: str | None) -> str | None:
        return None if time is None else moment(time)

    def is_open(self, now: str) -> bool:
        """Tell whether it is open at a moment."""
        return self.opens <= now and (self.closes is None or now < self.closes)

    def is_over(self, now: str) -> bool:
        """Tell whether it is past."""
        return self.closes is not None and self.closes <= now

    def as_dict(self) -> dict[str, Any]:
        """Return the phase as plain data, as the log holds it."""
        return self.model_dump(mode="json", exclude_defaults=True) | {"kind": str(self.kind)}

    @property
    def label(self) -> str:
        """Its name in the active language."""
        if self.title:
            return self.title
        return f"{round_label(self.round)} · {self.kind.label}" if self.round else self.kind.label


def round_label(name: str) -> str:
    """Return the name of a round in the active language.

    >>> round_label("final"), round_label("third")
    ('Final round', 'Round third')
    """
    return say(f"rounds.{name}") if name in ("preliminary", "final", PRACTICE) else say("rounds.other", name=name)


def open_phases(phases: Sequence[Phase], now: str, kind: PhaseKind | None = None) -> list[Phase]:
    """Return the phases that are open at a moment."""
    return [phase for phase in phases if phase.is_open(now) and kind in (None, phase.kind)]


def check_phases(phases: Sequence[Phase], rounds: Sequence[str]) -> None:
    """Reject phases with which no contest can be played."""
    names = [phase.id for phase in phases]
    for phase in phases:
        in_round = phase.kind in _IN_ROUNDS
        if not _NAME.fullmatch(phase.id) or names.count(phase.id) > 1:
            raise _wrong(phase, "name")
        if phase.closes is not None and phase.closes <= phase.opens:
            raise _wrong(phase, "closes")
        if phase.frozen_from is not None and phase.frozen_from < phase.opens:
            raise _wrong(phase, "frozen")
        if in_round != (phase.round is not None) or (in_round and (phase.round not in rounds or phase.closes is None)):
            raise _wrong(phase, "round")
    for phase in phases:
        if phase.kind == PhaseKind.ATTACK:
            before = [other for other in phases if other.kind == PhaseKind.PROTECT and other.round == phase.round]
            if not before or max(other.closes or "" for other in before) > phase.opens:
                raise _wrong(phase, "attack")
    ends = [phase.closes or "" for phase in phases if phase.kind in _IN_ROUNDS]
    for phase in phases:
        if phase.kind == PhaseKind.RESULTS and ends and phase.opens < max(ends):
            raise _wrong(phase, "results")
    if not ends:
        raise ParameterError(say("no_protection"))


def _wrong(phase: Phase, problem: str) -> ParameterError:
    return ParameterError(say(problem, phase=phase.id))


def open_next_phase(phases: Sequence[Phase], now: str) -> list[Phase]:
    """Return the phases with all that is to come moved by the same time, so that the first of it begins now.

    What is open ends when the next begins.

    >>> plan = planned_phases("2026-04-01", (1, 1, 1, 0, 0), ["final"])
    >>> [one.opens[8:13] for one in open_next_phase(plan, moment("2026-04-01T06:00"))]
    ['01T00', '01T06', '02T06', '03T06']
    """
    coming = [phase.opens for phase in phases if phase.opens > now]
    if not coming:
        raise ParameterError(say("all_begun"))
    by = dt.datetime.fromisoformat(now) - dt.datetime.fromisoformat(min(coming))
    made = []
    for phase in phases:
        is_open = phase.opens <= now and phase.closes is not None and phase.closes > now
        moved = phase.model_copy(update={"closes": now}) if is_open else phase
        made.append(_shifted(phase, by) if phase.opens > now else moved)
    return made


def extend_phase(phases: Sequence[Phase], name: str, closes: str) -> list[Phase]:
    """Return the phases with one that closes at another moment; all that opens when it did or later moves by as much.

    >>> plan = planned_phases("2026-04-01", (1, 1, 1, 0, 0), ["final"])
    >>> [one.opens[8:13] for one in extend_phase(plan, "final-protect", moment("2026-04-04"))]
    ['01T00', '02T00', '04T00', '05T00']
    """
    old = next(phase.closes for phase in phases if phase.id == name) or closes
    by = dt.datetime.fromisoformat(closes) - dt.datetime.fromisoformat(old)
    others = [_shifted(phase, by) if phase.opens >= old else phase for phase in phases]
    return [phase.model_copy(update={"closes": closes}) if phase.id == name else phase for phase in others]


def _shifted(phase: Phase, by: dt.timedelta) -> Phase:
    times = {name: at for name in ("opens", "closes", "frozen_from") if (at := getattr(phase, name)) is not None}
    return phase.model_copy(update={name: moment(dt.datetime.fromisoformat(at) + by) for name, at in times.items()})


def planned_phases(start: str, days: Sequence[float], rounds: Sequence[str] = ("preliminary", "final")) -> list[Phase]:
    """Return a usual plan: registration, then for each round protecting, attacking and a break, evaluation, results.

    ``days`` are how long registration, protecting, attacking, a break and evaluation take. Practice is during
    registration.

    >>> [one.id for one in planned_phases("2026-04-01T00:00:00+00:00", (7, 7, 7, 2, 1), ["final"])]
    ['registration', 'final-protect', 'final-attack', 'evaluation', 'results']
    """
    at = dt.datetime.fromisoformat(moment(start))
    registration, protect, attack, pause, evaluation = (dt.timedelta(days=length) for length in days)
    plan: list[tuple[str, PhaseKind, str | None, dt.timedelta]] = [
        ("registration", PhaseKind.REGISTRATION, None, registration)
    ]
    for place, name in enumerate(round_ for round_ in rounds if round_ != PRACTICE):
        if place and pause:
            plan.append((f"break-{place}", PhaseKind.BREAK, None, pause))
        plan.append((f"{name}-protect", PhaseKind.PROTECT, name, protect))
        plan.append((f"{name}-attack", PhaseKind.ATTACK, name, attack))
    if evaluation:
        plan.append(("evaluation", PhaseKind.EVALUATION, None, evaluation))
    phases = []
    if PRACTICE in rounds and registration:
        until = moment(at + registration)
        phases.append(Phase(id=PRACTICE, kind=PhaseKind.PROTECT, round=PRACTICE, opens=moment(at), closes=until))
    for ident, kind, of, length in plan:
        phases.append(Phase(id=ident, kind=kind, round=of, opens=moment(at), closes=moment(at + length)))
        at += length
    return [*phases, Phase(id="results", kind=PhaseKind.RESULTS, opens=moment(at))]
