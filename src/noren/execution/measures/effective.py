"""Whether a guess refutes that a release is safe, on a cluster."""

from __future__ import annotations

from noren.errors import ParameterError
from noren.execution.guess import ClusterEvidence
from noren.execution.hits import hits_of
from noren.execution.plans import plan
from noren.i18n import N_, _
from noren.measures.safety.effective import Effective
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(Effective, driver=N_("three counts for each attack, and the names of the periods"))
def measure(measure: Effective, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join the guesses with the secret, and count."""
    if measure.best_prefix:
        raise ParameterError(
            _("a guess on a cluster has no order, so it has no most confident part"),
            _("leave best_prefix out, or use --engine local"),
        )
    found = hits_of(evidence)
    return measure.score_of({name: (hit.named, hit.right, measure.needed(hit.named)) for name, hit in found.items()})
