"""Plans of attacks: one file for each, and importing this folder makes them known."""

from noren.execution.attacks import jaccard, monthly_profile, signatures, unique_rows

__all__ = ["jaccard", "monthly_profile", "signatures", "unique_rows"]
