"""What public rows say of people, worked out where the chosen engine does it."""

from __future__ import annotations

from noren.engines.accelerated.device import accelerator_for
from noren.engines.accelerated.evidence import weighed_rows
from noren.engines.choice import chosen_engine
from noren.kernels.linkage.copied_rows import Copies, CopyEvidence, evidence, odds_of, plain_arrays
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, PublicLayout

__all__ = ["row_evidence"]

_PAYS = 200_000
"""Public rows from which a graphics processor is quicker than one core, which is what the kernel runs on."""


def row_evidence(
    known: KnownLayout,
    public: PublicLayout,
    beside: Backgrounds,
    copies: Copies,
    *,
    limit: int,
    other_periods: bool = False,
) -> CopyEvidence:
    """Return what speaks for each pseudonym and person: see :func:`~noren.kernels.linkage.copied_rows.evidence`."""
    accelerator = accelerator_for(chosen_engine(), pays=len(public.begin) >= _PAYS)
    if accelerator is None:
        return evidence(known, public, beside, copies, limit=limit, other_periods=other_periods)
    arrays = plain_arrays(known, public, beside, copies)
    most = min(limit, max(len(known.rows), 1))
    return CopyEvidence(*weighed_rows(accelerator, *arrays, odds_of(copies), most, other_periods))
