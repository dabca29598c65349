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
        "e1": "noren.measures.utility.recommendations:E1",
        "e2": "noren.measures.utility.recommendations:E2",
        "e3": "noren.measures.utility.recommendations:E3",
        "e4": "noren.measures.utility.row_changes:E4",
        "e5": "noren.measures.utility.row_changes:E5",
        "e6": "noren.measures.utility.row_changes:E6",
        "effective": "noren.measures.safety.effective:Effective",
        "emm": "noren.measures.safety.extended_month_matching:ExtendedMonthMatching",
        "frequent-itemsets": "noren.measures.utility.frequent_itemsets:FrequentItemsets",
        "item-similarity": "noren.measures.utility.item_similarity:ItemSimilarity",
        "jaccard-mean": "noren.measures.safety.jaccard_mean:JaccardMean",
        "mm": "noren.measures.safety.month_matching:MonthMatching",
        "reid-rate": "noren.measures.safety.reid_rate:ReidRate",
        "rfm": "noren.measures.utility.rfm:Rfm",
        "statistics": "noren.measures.utility.statistics:Statistics",
        "survival": "noren.measures.safety.survival:Survival",
        "um": "noren.measures.safety.user_matching:UserMatching",
    },
)
