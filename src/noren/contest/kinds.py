"""The kinds of phases, and the roles of people: words that commands know without loading anything."""

from __future__ import annotations

from enum import StrEnum

from noren.i18n import N_, _


class Role(StrEnum):
    """What somebody is in a contest."""

    VISITOR = "visitor"
    MEMBER = "member"
    ORGANISER = "organiser"


class PhaseKind(StrEnum):
    """What a phase is for."""

    REGISTRATION = "registration"
    PROTECT = "protect"
    ATTACK = "attack"
    BREAK = "break"
    EVALUATION = "evaluation"
    RESULTS = "results"

    @property
    def words(self) -> str:
        """What it is called, in the language now spoken."""
        return _(_WORDS[self])


_WORDS = {
    PhaseKind.REGISTRATION: N_("registration"),
    PhaseKind.PROTECT: N_("protect"),
    PhaseKind.ATTACK: N_("attack"),
    PhaseKind.BREAK: N_("break"),
    PhaseKind.EVALUATION: N_("evaluation"),
    PhaseKind.RESULTS: N_("results"),
}
