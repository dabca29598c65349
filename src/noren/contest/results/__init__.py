"""The results of a contest: tables like those of S0, the attack matrix, how firm ranks are; as pages, CSV and JSON.

All follows from the log after the lots are revealed, so that a replay makes the same results, and their digest stands
in the log.
"""

from noren.contest.results.model import (
    Prediction,
    ReleaseKind,
    Results,
    RoundResults,
    matrix_csv,
    results_json,
    results_of,
    stability_csv,
    standings_csv,
)
from noren.contest.results.page import results_html

__all__ = [
    "Prediction",
    "ReleaseKind",
    "Results",
    "RoundResults",
    "matrix_csv",
    "results_html",
    "results_json",
    "results_of",
    "stability_csv",
    "standings_csv",
]
