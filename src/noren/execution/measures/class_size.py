"""The mean size of classes, counted on a cluster."""

from __future__ import annotations

from noren.execution.guess import ClusterEvidence
from noren.execution.measures.table_classes import class_sizes
from noren.execution.plans import plan
from noren.i18n import N_
from noren.measures.utility.table_losses import ClassSize
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(ClassSize, driver=N_("how many classes there are of each size"))
def measure(measure: ClassSize, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return what one machine says of classes of these sizes."""
    return measure.of_sizes(class_sizes(evidence.release.public), evidence.original.rows)
