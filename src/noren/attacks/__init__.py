"""What threatens: one file per attack, ``original, public → Guess``."""

from noren.protocols import Attack
from noren.registry import Registry

__all__ = ["attacks"]

attacks: Registry[Attack] = Registry(
    Attack,  # type: ignore[type-abstract]
    "noren.attacks",
    {
        "consistency": "noren.attacks.consistency:Consistency",
        "item-candidates": "noren.attacks.item_candidates:ItemCandidates",
        "nearest": "noren.attacks.nearest:Nearest",
        "unique-rows": "noren.attacks.unique_rows:UniqueRows",
    },
)
