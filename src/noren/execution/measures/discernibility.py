"""How many rows each row cannot be told from, counted on a cluster."""

from __future__ import annotations

from noren.execution.guess import ClusterEvidence
from noren.execution.measures.table_classes import class_sizes
from noren.execution.plans import plan
from noren.i18n import N_
from noren.measures.utility.table_losses import Discernibility
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(Discernibility, driver=N_("how many classes there are of each size"))
def measure(measure: Discernibility, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return what one machine says of classes of these sizes."""
    return measure.of_sizes(class_sizes(evidence.release.public), evidence.original.rows)
