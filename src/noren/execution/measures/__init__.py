"""Plans of measures: one file for each, and importing this folder makes them known."""

from noren.execution.measures import (
    cell_error,
    cell_losses,
    class_size,
    classes,
    discernibility,
    effective,
    jaccard_mean,
    l1_precision,
    reid_rate,
    rfm,
    row_changes,
    statistics,
    survival,
)

__all__ = [
    "cell_error",
    "cell_losses",
    "class_size",
    "classes",
    "discernibility",
    "effective",
    "jaccard_mean",
    "l1_precision",
    "reid_rate",
    "rfm",
    "row_changes",
    "statistics",
    "survival",
]
