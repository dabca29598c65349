"""Measures, one file each, in ``safety/`` or ``utility/``; ``noren.measures()`` lists them."""

import sys

from noren.data.schema import Kind
from noren.protocols import Measure, UtilityAxis
from noren.registry import ComponentPackage, Registry

__all__ = ["measures", "place_of_measure", "placing"]

measures: Registry[Measure] = Registry(
    Measure,  # type: ignore[type-abstract]
    "noren.measures",
    {
        "analyst": "noren.measures.utility.analyst:Analyst",
        "association": "noren.measures.utility.association:Association",
        "cell-error": "noren.measures.utility.cell_error:CellError",
        "class-size": "noren.measures.utility.table_losses:ClassSize",
        "classes": "noren.measures.safety.classes:Classes",
        "clustering": "noren.measures.utility.clustering:Clustering",
        "discernibility": "noren.measures.utility.table_losses:Discernibility",
        "e1": "noren.measures.utility.recommendations:E1",
        "e2": "noren.measures.utility.recommendations:E2",
        "e3": "noren.measures.utility.recommendations:E3",
        "e4": "noren.measures.utility.row_changes:E4",
        "e5": "noren.measures.utility.row_changes:E5",
        "e6": "noren.measures.utility.row_changes:E6",
        "effective": "noren.measures.safety.effective:Effective",
        "emm": "noren.measures.safety.extended_month_matching:ExtendedMonthMatching",
        "entropy-loss": "noren.measures.utility.table_losses:EntropyLoss",
        "frequent-itemsets": "noren.measures.utility.frequent_itemsets:FrequentItemsets",
        "item-similarity": "noren.measures.utility.item_similarity:ItemSimilarity",
        "jaccard-mean": "noren.measures.safety.jaccard_mean:JaccardMean",
        "l1-precision": "noren.measures.utility.l1_precision:L1Precision",
        "mm": "noren.measures.safety.month_matching:MonthMatching",
        "prediction": "noren.measures.utility.prediction:Prediction",
        "reid-rate": "noren.measures.safety.reid_rate:ReidRate",
        "rfm": "noren.measures.utility.rfm:Rfm",
        "statistics": "noren.measures.utility.statistics:Statistics",
        "survival": "noren.measures.safety.survival:Survival",
        "table-loss": "noren.measures.utility.table_losses:TableLoss",
        "um": "noren.measures.safety.user_matching:UserMatching",
    },
)
sys.modules[__name__].__class__ = ComponentPackage


def placing(kind: Kind | None = None) -> list[type[Measure]]:
    """Return the measures that tell the use of data of a kind, the preferred one first.

    >>> [measure.name for measure in placing(Kind.TABLE)]
    ['table-loss', 'l1-precision']
    """
    every = [measures[name] for name in measures]
    ranked = [(m.utility_axis.rank, m.name, m) for m in every if m.utility_axis is not None]
    return [m for _rank, _name, m in sorted(ranked, key=lambda entry: entry[:2]) if kind is None or kind in m.accepts]


def place_of_measure(name: str | None) -> UtilityAxis | None:
    """Return how the measure of a name places releases; None where there is no such measure, or it places none."""
    return measures[name].utility_axis if name is not None and name in measures else None
