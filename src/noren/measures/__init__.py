"""What judges: ``safety/`` says what leaks, ``utility/`` what stays useful; one file per measure."""

from noren.protocols import Measure
from noren.registry import Registry

__all__ = ["measures"]

measures: Registry[Measure] = Registry(
    Measure,  # type: ignore[type-abstract]
    "noren.measures",
    {
        "cell-error": "noren.measures.utility.cell_error:CellError",
        "classes": "noren.measures.safety.classes:Classes",
        "effective": "noren.measures.safety.effective:Effective",
        "frequent-itemsets": "noren.measures.utility.frequent_itemsets:FrequentItemsets",
        "item-similarity": "noren.measures.utility.item_similarity:ItemSimilarity",
        "reid-rate": "noren.measures.safety.reid_rate:ReidRate",
        "rfm": "noren.measures.utility.rfm:Rfm",
        "statistics": "noren.measures.utility.statistics:Statistics",
        "survival": "noren.measures.safety.survival:Survival",
    },
)
