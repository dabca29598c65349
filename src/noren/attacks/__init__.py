"""Attacks, one file each (``original, public → Guess``); ``noren.attacks()`` lists them."""

import sys

from noren.protocols import Attack
from noren.registry import ComponentPackage, Registry

__all__ = ["attacks"]

attacks: Registry[Attack] = Registry(
    Attack,  # type: ignore[type-abstract]
    "noren.attacks",
    {
        "consistency": "noren.attacks.consistency:Consistency",
        "earlier-period": "noren.attacks.earlier_period:EarlierPeriod",
        "ensemble": "noren.attacks.ensemble:Ensemble",
        "item-candidates": "noren.attacks.item_candidates:ItemCandidates",
        "jaccard": "noren.attacks.jaccard:Jaccard",
        "linkage": "noren.attacks.linkage:Linkage",
        "nearest": "noren.attacks.nearest:Nearest",
        "profile": "noren.attacks.profile:Profile",
        "recoded": "noren.attacks.recoded:Recoded",
        "row-linkage": "noren.attacks.row_linkage:RowLinkage",
        "s1": "noren.attacks.signatures:S1",
        "s2": "noren.attacks.signatures:S2",
        "s3": "noren.attacks.signatures:S3",
        "s4": "noren.attacks.signatures:S4",
        "s5": "noren.attacks.signatures:S5",
        "s6": "noren.attacks.signatures:S6",
        "s7": "noren.attacks.monthly_profile:S7",
        "s8": "noren.attacks.monthly_profile:S8",
        "shifted": "noren.attacks.shifted:Shifted",
        "unique-rows": "noren.attacks.unique_rows:UniqueRows",
    },
)
sys.modules[__name__].__class__ = ComponentPackage
