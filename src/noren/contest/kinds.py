"""Kinds of phases, roles of people and scoring engines: a small module that commands can load quickly."""

from __future__ import annotations

from enum import StrEnum

from noren.engines.choice import parse_engine
from noren.errors import ParameterError
from noren.tables import Texts

say = Texts(__name__)


class ContestRole(StrEnum):
    """The role of a person in a contest."""

    VISITOR = "visitor"
    MEMBER = "member"
    ORGANISER = "organiser"


class PhaseKind(StrEnum):
    """The kind of a phase."""

    REGISTRATION = "registration"
    PROTECT = "protect"
    ATTACK = "attack"
    BREAK = "break"
    EVALUATION = "evaluation"
    RESULTS = "results"

    @property
    def label(self) -> str:
        """Its name in the active language."""
        return say(self.value)


ENGINE_FROM = 1_000_000
"""Rows from which a release is scored on a cluster; each Spark job has an overhead of seconds."""


def cluster_of(engine: str) -> str | None:
    """Return the address of the cluster that an engine names; None for this machine alone.

    >>> cluster_of("local[2]"), cluster_of("local")
    ('local[2]', None)
    """
    choice = parse_engine(engine)
    if choice.kind not in ("local", "spark"):
        raise ParameterError(say("other_engine", engine=engine))
    return choice.address
