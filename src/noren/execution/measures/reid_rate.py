"""The share of customers who are named rightly, on a cluster."""

from __future__ import annotations

from noren.data.schema import Kind, Role
from noren.execution.frames import ClusterRecords
from noren.execution.guess import ClusterEvidence
from noren.execution.hits import hits_of
from noren.execution.plans import plan
from noren.i18n import N_
from noren.measures.safety.reid_rate import ReidRate, best_rate
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(ReidRate, driver=N_("three counts for each attack, and the names of the periods"))
def measure(_measure: ReidRate, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join the guesses with the secret, and count."""
    found = hits_of(evidence)
    people = max(_people(evidence.original), 1)
    return best_rate({attack: hit.customers / people for attack, hit in found.items()}, people)


def _people(original: ClusterRecords) -> int:
    """Return how many people the original is about."""
    if original.schema.kind == Kind.TABLE:
        return original.rows
    return original.frame.select(original.at(Role.CUSTOMER)).dropna().distinct().count()
