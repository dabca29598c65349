"""Methods, one file each (``original → Release``); ``noren.methods()`` lists them."""

import sys

from noren.protocols import Method
from noren.registry import ComponentPackage, Registry

__all__ = ["methods"]

methods: Registry[Method] = Registry(
    Method,  # type: ignore[type-abstract]
    "noren.methods",
    {
        "chain": "noren.methods.chain:Chain",
        "generalize": "noren.methods.generalize:Generalize",
        "generalize-by-count": "noren.methods.generalize_by_count:GeneralizeByCount",
        "hierarchy": "noren.methods.hierarchy:HierarchyMethod",
        "microaggregate": "noren.methods.microaggregate:Microaggregate",
        "mondrian": "noren.methods.mondrian:Mondrian",
        "monthly-pseudonyms": "noren.methods.monthly_pseudonyms:MonthlyPseudonyms",
        "perturb": "noren.methods.perturb:Perturb",
        "pseudo-records": "noren.methods.pseudo_records:PseudoRecords",
        "pseudonymize": "noren.methods.pseudonymize:Pseudonymize",
        "retention": "noren.methods.retention:Retention",
        "swap": "noren.methods.swap:Swap",
        "thin": "noren.methods.thin:Thin",
    },
)
sys.modules[__name__].__class__ = ComponentPackage
