"""The kinds of phases, the roles of people, and where releases are judged: what commands know without loading more."""

from __future__ import annotations

from enum import StrEnum

from noren.engines.choice import parse_engine
from noren.errors import ParameterError
from noren.tables import Texts

say = Texts(__name__)


class ContestRole(StrEnum):
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
    def label(self) -> str:
        """What it is called, in the language now spoken."""
        return say(self.value)


ENGINE_FROM = 1_000_000
"""Rows from which a release is handed to a cluster; each attack and measure on Spark begins with seconds of its own."""


def cluster_of(engine: str) -> str | None:
    """Return the address of the cluster that somebody names to judge on; None for this machine alone.

    >>> cluster_of("local[2]"), cluster_of("local")
    ('local[2]', None)
    """
    choice = parse_engine(engine)
    if choice.kind not in ("local", "spark"):
        raise ParameterError(say("judged_elsewhere", engine=engine))
    return choice.address
