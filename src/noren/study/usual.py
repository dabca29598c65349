"""Which values of a method are worth a try, where nobody says any."""

from __future__ import annotations

from noren.data.schema import Kind
from noren.parameters import flags
from noren.protocols import Component

__all__ = ["RANGED", "ranged_parameter", "usual_values"]

RANGED = ("k", "clusters", "share", "survival", "rho", "l")
"""The parameters that a sweep goes through, the first that a method has."""
_USUAL = {"k": "2..6", "clusters": "50, 100", "share": "0.1, 0.3, 0.5", "survival": "0.9", "rho": "0.3, 0.5", "l": "2"}
_OF_TABLES = {"k": "2, 5, 10, 20"}
_SIZES = (4, 8, 16)
"""How many customers share a cluster, in the mean."""


def ranged_parameter(kind: type[Component]) -> str | None:
    """Return the parameter that tells weak from strong protection by a method, where it has one.

    >>> from noren.methods import methods
    >>> ranged_parameter(methods["generalize"]), ranged_parameter(methods["thin"]), ranged_parameter(methods["chain"])
    ('k', 'share', None)
    """
    names = {flag.field for flag in flags(kind)}
    return next((name for name in RANGED if name in names), None)


def usual_values(kind: type[Component], people: int | None = None) -> str:
    """Return the values to try of that parameter, as a person writes them; nothing where a method has none.

    >>> from noren.methods import methods
    >>> usual_values(methods["generalize"]), usual_values(methods["mondrian"])
    ('2..6', '2, 5, 10, 20')
    >>> usual_values(methods["pseudo-records"], people=400)
    '100, 50, 25'
    """
    parameter = ranged_parameter(kind)
    if parameter is None:
        return ""
    if parameter == "clusters" and people is not None:
        return ", ".join(str(count) for count in dict.fromkeys(max(people // size, 1) for size in _SIZES))
    if kind.accepts == {Kind.TABLE} and parameter in _OF_TABLES:
        return _OF_TABLES[parameter]
    return _USUAL[parameter]
