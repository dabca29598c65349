"""The chance to survive attacks, on a cluster."""

from __future__ import annotations

import numpy as np

from noren.execution.guess import ClusterEvidence
from noren.execution.histories import class_sizes
from noren.execution.plans import plan
from noren.execution.sides import public_of
from noren.i18n import N_, _
from noren.measures.safety.survival import Survival
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(Survival, driver=N_("one number for each class of pseudonyms with equal histories"))
def measure(measure: Survival, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count the pseudonyms that share a history; what an attacker does best is worked out from these sizes."""
    progress(0.0, _("comparing public histories"))
    return measure.score_of(np.repeat(*class_sizes(public_of(evidence))).tolist())
