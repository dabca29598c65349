"""Default settings of methods: usual strengths, those that a rule requires, and a few sensible ones.

The command line, Python and the studio share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.judgement.rule import Rule
from noren.methods import methods as every_method
from noren.protocols import ALIKE, Method
from noren.registry import build, spread
from noren.tables import Texts

say = Texts(__name__)

LEAST_DIVERSE: Final = 2
"""How many sensitive values each class has at least, by default."""
_MOST_METHODS: Final = 2


def usual_values(kind: type[Method], people: int, rule: Rule | None = None) -> str:
    """Return the values of a method's strength to try, as a user writes them; with the k that a rule requires.

    >>> from noren.judgement.rule import get_rule
    >>> kind = every_method["generalize-by-count"]
    >>> [usual_values(kind, 400, rule) for rule in (None, get_rule("partner"), get_rule("public"))]
    ['2..6', '2..6', '2..6, 11, 17']
    """
    values = kind.usual_values(people)
    if rule is None or not _is_k(kind):
        return values
    usual_k = {int(k) for part in values.split(", ") for k in spread(part)}
    added_k = () if rule.least_k in usual_k else k_around(rule)[1:]
    return ", ".join([values, *(str(k) for k in added_k if k not in usual_k and k <= people)])


def k_around(rule: Rule) -> tuple[int, int, int]:
    """Return the k to try for a rule: one below what it requires, that, and half as many more.

    >>> from noren.judgement.rule import get_rule
    >>> [k_around(get_rule(name)) for name in ("public", "partner", "inside")]
    [(10, 11, 17), (4, 5, 8), (2, 3, 5)]
    """
    return max(rule.least_k - 1, 2), rule.least_k, -(-3 * rule.least_k // 2)


def usual_parameters(kind: type[Method], schema: Schema, values: Sequence[Any]) -> dict[str, Any]:
    """Return the default parameters of a method at these strengths, with two sensitive values in each class.

    A class whose people all have the same sensitive value reveals it, however large the class is.
    """
    strength = {} if kind.strength is None else {kind.strength.parameter: list(values)}
    has_diversity = "l" in kind.model_fields and bool(schema.with_role(Role.SENSITIVE))
    return strength | ({"l": LEAST_DIVERSE} if has_diversity else {})


# --- a few settings for a release ------------------------------------------------------------------------------------


def sensible_methods(kinds: Sequence[type[Method]]) -> list[type[Method]]:
    """Return the methods to try for a release, without a study.

    They prove their guarantee by classes, so that a rule's k determines their strength; the two most prominent ones.

    >>> [kind.name for kind in sensible_methods([every_method[name] for name in ("thin", "generalize-by-count")])]
    ['generalize-by-count']
    """
    alike = [kind for kind in kinds if kind.promises == ALIKE and _is_k(kind)]
    return sorted(alike, key=lambda kind: (-kind.prominence, kind.name))[:_MOST_METHODS]


def default_method(schema: Schema, parameters: Mapping[str, Any], rule: Rule) -> Method:
    """Return the method for data of this schema where only parameters, or not even these, are named.

    >>> people, rule = Schema.of({"age": "quasi", "illness": "sensitive"}), Rule(tolerance="1/5")
    >>> default_method(people, {}, rule).parameters()["k"], default_method(people, {"rho": 0.4}, rule).name
    (5, 'retention')
    """
    kinds = [every_method[name] for name in every_method if name != "chain" and every_method[name].fits(schema)]
    able = [kind for kind in kinds if parameters.keys() <= kind.model_fields.keys()]
    if not able:
        known = sorted({name for kind in kinds for name in kind.model_fields})
        raise ParameterError(say("no_method", names=", ".join(parameters), known=", ".join(known)))
    best = (sensible_methods(able) or sorted(able, key=lambda kind: (-kind.prominence, kind.name)))[0]
    strength = {"k": rule.least_k} if takes_k(best, parameters) else {}
    usual = {name: value for name, value in usual_parameters(best, schema, ()).items() if name == "l"}
    return build(best, {**usual, **strength, **parameters})


def takes_k(kind: type[Method], parameters: Mapping[str, Any]) -> bool:
    """Return whether a rule's k can be the strength of a method of which these parameters are set."""
    instead = () if kind.strength is None else kind.strength.instead
    return _is_k(kind) and not {"k", *instead} & parameters.keys()


def sensible_values(rule: Rule, people: int) -> list[int]:
    """Return the k to try on data about so many people: the required one, a safer and a more useful one."""
    if people < rule.least_k:
        raise ParameterError(say("few_people", people=people, k=rule.least_k))
    return sorted({k for k in k_around(rule) if k <= people})


def _is_k(kind: type[Method]) -> bool:
    return kind.strength is not None and kind.strength.parameter == "k"


def strength_text(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the strength of a method by its parameters, as in labels; empty where it has none.

    >>> strength_text("thin", {"share": 0.1}), strength_text("pseudonymize", {})
    ('share = 0.1', '')
    """
    kind = every_method[method] if method in every_method else None  # noqa: SIM401 - a register has no get
    if kind is None or kind.strength is None or parameters.get(kind.strength.parameter) is None:
        return ""
    value = parameters[kind.strength.parameter]
    written = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{kind.strength.parameter.replace('_', '-')} = {written}"
