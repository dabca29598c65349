"""When what may be done: the phases of a contest, and what is open at a moment.

A moment is a text in UTC with microseconds, as the log writes it, so that moments compare as texts. A phase is open
from its first moment up to, and without, its last: who comes one microsecond later is late. Between phases nothing is
open.
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
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)
_IN_ROUNDS = (PhaseKind.PROTECT, PhaseKind.ATTACK)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def moment(given: str | dt.datetime, zone: str = "UTC") -> str:
    """Return a moment as the log writes it; a time without a zone is one of ``zone``.

    >>> moment("2026-04-01 09:00", "Asia/Tokyo")
    '2026-04-01T00:00:00.000000+00:00'
    """
    if isinstance(given, str):
        try:
            given = dt.datetime.fromisoformat(given.strip())
        except ValueError:
            raise ParameterError(say("no_time", given=str(given)[:40])) from None
    if given.tzinfo is None:
        given = given.replace(tzinfo=get_time_zone(zone))
    try:
        return given.astimezone(dt.UTC).isoformat(timespec="microseconds")
    except OverflowError:
        raise ParameterError(_("{given} is no time; choose a year of our time").format(given=given)) from None


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
    """A stretch of time in which something may be done.

    Attributes
    ----------
    id
        What it is called in addresses: ``final-attack``.
    round
        To which round protecting and attacking belong: ``preliminary``, ``final``.
    opens, closes
        From when, and until when; without ``closes`` for good.
    frozen_from
        From when on the board of the phase stands still until the results.
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
    def _as_moment(cls, given: str | None) -> str | None:
        return None if given is None else moment(given)

    def is_open(self, now: str) -> bool:
        """Tell whether a moment is in it."""
        return self.opens <= now and (self.closes is None or now < self.closes)

    def is_over(self, now: str) -> bool:
        """Tell whether it is past."""
        return self.closes is not None and self.closes <= now

    def as_dict(self) -> dict[str, Any]:
        """Return the phase as plain data, as the log holds it."""
        return self.model_dump(mode="json", exclude_defaults=True) | {"kind": str(self.kind)}

    @property
    def words(self) -> str:
        """What people call it."""
        if self.title:
            return self.title
        return f"{self.round} · {self.kind.words}" if self.round else self.kind.words


def open_phases(phases: Sequence[Phase], now: str, kind: PhaseKind | None = None) -> list[Phase]:
    """Return the phases that are open at a moment."""
    return [one for one in phases if one.is_open(now) and kind in (None, one.kind)]


def check_phases(phases: Sequence[Phase], rounds: Sequence[str]) -> None:
    """Stop at phases by which no contest can be played."""
    names = [one.id for one in phases]
    for one in phases:
        if not _NAME.fullmatch(one.id) or names.count(one.id) > 1:
            raise _wrong(one, _("its name is taken or is no name"), _("use a word of its own, like final-attack"))
        if one.closes is not None and one.closes <= one.opens:
            raise _wrong(one, _("it closes before it opens"), _("let it close later"))
        if one.frozen_from is not None and one.frozen_from < one.opens:
            raise _wrong(one, _("its board is frozen before it opens"), _("freeze it later"))
        if (one.kind in _IN_ROUNDS) != (one.round is not None):
            raise _wrong(one, _("protecting and attacking belong to a round, and nothing else does"), _("say which"))
        if one.kind in _IN_ROUNDS and (one.round not in rounds or one.closes is None):
            raise _wrong(one, _("it needs a round that has data, and an end"), _("add them"))
    for one in phases:
        if one.kind == PhaseKind.ATTACK:
            before = [other for other in phases if other.kind == PhaseKind.PROTECT and other.round == one.round]
            if not before or max(other.closes or "" for other in before) > one.opens:
                raise _wrong(one, say("too_early"))
    ends = [one.closes or "" for one in phases if one.kind in _IN_ROUNDS]
    for one in phases:
        if one.kind == PhaseKind.RESULTS and ends and one.opens < max(ends):
            raise _wrong(one, _("results come before all is played"), _("let them open when attacking is over"))
    if not ends:
        raise ParameterError(_("nobody could hand in anything; add a phase of the kind protect"))


def _wrong(phase: Phase, why: str, cure: str = "") -> ParameterError:
    return ParameterError(_("the phase {phase} cannot be: {why}").format(phase=phase.id, why=why), cure)


def opened_now(phases: Sequence[Phase], now: str) -> list[Phase]:
    """Return the phases with all that is to come moved by the same time, so that the first of it begins now.

    What is open ends when the next begins.

    >>> plan = planned_phases("2026-04-01", (1, 1, 1, 0, 0), ["final"])
    >>> [one.opens[8:13] for one in opened_now(plan, moment("2026-04-01T06:00"))]
    ['01T00', '01T06', '02T06', '03T06']
    """
    coming = [one.opens for one in phases if one.opens > now]
    if not coming:
        raise ParameterError(_("every phase of this contest has begun; let one close later instead"))
    by = dt.datetime.fromisoformat(now) - dt.datetime.fromisoformat(min(coming))
    made = []
    for one in phases:
        is_open = one.opens <= now and one.closes is not None and one.closes > now
        moved = one.model_copy(update={"closes": now}) if is_open else one
        made.append(_shifted(one, by) if one.opens > now else moved)
    return made


def extended(phases: Sequence[Phase], name: str, closes: str) -> list[Phase]:
    """Return the phases with one that closes at another moment; all that opens when it did or later moves by as much.

    >>> plan = planned_phases("2026-04-01", (1, 1, 1, 0, 0), ["final"])
    >>> [one.opens[8:13] for one in extended(plan, "final-protect", moment("2026-04-04"))]
    ['01T00', '02T00', '04T00', '05T00']
    """
    old = next(one.closes for one in phases if one.id == name) or closes
    by = dt.datetime.fromisoformat(closes) - dt.datetime.fromisoformat(old)
    others = [_shifted(one, by) if one.opens >= old else one for one in phases]
    return [one.model_copy(update={"closes": closes}) if one.id == name else one for one in others]


def _shifted(phase: Phase, by: dt.timedelta) -> Phase:
    times = {name: at for name in ("opens", "closes", "frozen_from") if (at := getattr(phase, name)) is not None}
    return phase.model_copy(update={name: moment(dt.datetime.fromisoformat(at) + by) for name, at in times.items()})


def planned_phases(start: str, days: Sequence[float], rounds: Sequence[str] = ("preliminary", "final")) -> list[Phase]:
    """Return a usual plan: registration, then for each round protecting, attacking and a break, evaluation, results.

    ``days`` are how long registration, protecting, attacking, a break and evaluation take.

    >>> [one.id for one in planned_phases("2026-04-01T00:00:00+00:00", (7, 7, 7, 2, 1), ["final"])]
    ['registration', 'final-protect', 'final-attack', 'evaluation', 'results']
    """
    at = dt.datetime.fromisoformat(moment(start))
    registration, protect, attack, pause, evaluation = (dt.timedelta(days=one) for one in days)
    plan: list[tuple[str, PhaseKind, str | None, dt.timedelta]] = [
        ("registration", PhaseKind.REGISTRATION, None, registration)
    ]
    for place, name in enumerate(rounds):
        if place and pause:
            plan.append((f"break-{place}", PhaseKind.BREAK, None, pause))
        plan.append((f"{name}-protect", PhaseKind.PROTECT, name, protect))
        plan.append((f"{name}-attack", PhaseKind.ATTACK, name, attack))
    if evaluation:
        plan.append(("evaluation", PhaseKind.EVALUATION, None, evaluation))
    phases = []
    for ident, kind, of, length in plan:
        phases.append(Phase(id=ident, kind=kind, round=of, opens=moment(at), closes=moment(at + length)))
        at += length
    return [*phases, Phase(id="results", kind=PhaseKind.RESULTS, opens=moment(at))]
