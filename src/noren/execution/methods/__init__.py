"""Plans of methods: one file for each, and importing this folder makes them known."""

from noren.execution.methods import (
    chain,
    generalize,
    generalize_by_count,
    hierarchy,
    mondrian,
    monthly_pseudonyms,
    perturb,
    pseudo_records,
    pseudonymize,
    retention,
    swap,
    thin,
)

__all__ = [
    "chain",
    "generalize",
    "generalize_by_count",
    "hierarchy",
    "mondrian",
    "monthly_pseudonyms",
    "perturb",
    "pseudo_records",
    "pseudonymize",
    "retention",
    "swap",
    "thin",
]
