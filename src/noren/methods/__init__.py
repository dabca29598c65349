"""What protects: one file per method, ``original → Release``."""

from noren.protocols import Method
from noren.registry import Registry

__all__ = ["methods"]

methods: Registry[Method] = Registry(
    Method,  # type: ignore[type-abstract]
    "noren.methods",
    {
        "generalize": "noren.methods.generalize:Generalize",
        "generalize-by-count": "noren.methods.generalize_by_count:GeneralizeByCount",
        "pseudonymize": "noren.methods.pseudonymize:Pseudonymize",
    },
)
