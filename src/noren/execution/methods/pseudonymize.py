"""Names hidden on a cluster."""

from __future__ import annotations

from noren.execution.edits import nobodys_rows, under_pseudonyms
from noren.execution.frames import ClusterRecords
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.i18n import N_
from noren.methods.pseudonymize import Pseudonymize
from noren.progress import Progress, silent

__all__ = ["protect"]


@plan(Pseudonymize, driver=N_("cuts and sizes of at most 2,000 parts of the order of customers"))
def protect(
    method: Pseudonymize, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by the pseudonyms that one machine gives them."""
    return under_pseudonyms(original, original, method.statement(nobodys_rows(original)), seed=seed)
