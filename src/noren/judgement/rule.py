"""Rules: the tolerated probability of re-identification, and how attacks are tested against it.

A rule is a few numbers, chosen before anything is tried and shown wherever a verdict is. Those of the presets and where
they come from are explained in ``docs/theory/judgement.md``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from noren.errors import FileError, ParameterError, suggestion
from noren.i18n import N_, _
from noren.inference.findings import Threat
from noren.kernels.judging.threshold import Bound
from noren.measures.safety.effective import exact_chance
from noren.retention.perturbation import USUAL_DELTA

_EXACT: Final = BeforeValidator(lambda value: exact_chance(value, finest=10**6))
Chance = Annotated[Fraction, _EXACT, PlainSerializer(float, return_type=float)]


class Rule(BaseModel):
    """The conditions that a release must meet for a recipient.

    >>> get_rule("partner").tolerance, get_rule("partner").least_k
    (Fraction(1, 5), 5)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str = ""
    """What the rule is called; empty where it has no name."""
    tolerance: Chance
    """The highest probability of naming a person rightly that the recipient may have."""
    alpha: Chance = Fraction(1, 100)
    """The chance of calling a release broken that is not, shared by all attackers."""
    attackers: int = Field(default=20, ge=1)
    """How many attackers share it; more, where more are tried."""
    bound: Bound = "sharp"
    """How rare hits are reckoned: as rare as they are (sharp), or by the sum of the 2018 contest (paper)."""
    answers: Literal["best", "all"] = "best"
    """Whether an attack is judged by its surest answers too, as many as serve it best, or by all it hands in."""
    membership: Chance | None = None
    """The share of people, beyond a tenth of others taken for one, who may be told to be in the data; None: any."""
    attributes: Chance | None = None
    """How much of a secret may be told of people beyond what is told of somebody outside; None: any."""
    epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The highest ε of differential privacy that must be proved, for one row replaced; None: none needs to be."""
    delta: float = Field(default=USUAL_DELTA, gt=0, lt=1)
    """The δ at which it must be."""
    per: Literal["guess", "person"] = "guess"
    """Whether the tolerance holds for each guess, or for naming a person at least once over all releases together."""

    @property
    def least_k(self) -> int:
        """How many people must be alike for a proof by this rule."""
        return -(-self.tolerance.denominator // self.tolerance.numerator)

    def level(self, tried: int) -> Fraction:
        """Return the chance of a false alarm that each of so many attacks may have."""
        return self.alpha / max(self.attackers, tried, 1)

    def limit(self, threat: Threat) -> Fraction | None:
        """Return how much of a threat the rule allows; None where it sets no limit."""
        return self.membership if threat == "membership" else self.attributes

    def as_dict(self) -> dict[str, Any]:
        """Return the rule as plain data, from which :class:`Rule` makes it again; no limits that it does not set."""
        left_out = ({"per"} if self.per == "guess" else set()) | ({"delta"} if self.epsilon is None else set())
        return self.model_dump(mode="json", exclude_none=True, exclude=left_out)


RULES: Final[Mapping[str, Rule]] = {
    "sensitive": Rule(
        name="sensitive", tolerance=Fraction(1, 11), membership=Fraction(1, 10), attributes=Fraction(1, 10)
    ),
    "public": Rule(name="public", tolerance=Fraction(1, 11)),
    "partner": Rule(name="partner", tolerance=Fraction(1, 5)),
    "inside": Rule(name="inside", tolerance=Fraction(1, 3)),
    "pwscup2018": Rule(name="pwscup2018", tolerance=Fraction(1, 3), bound="paper", answers="all"),
}
"""The rules that have a name, the strictest first."""
RECIPIENTS: Final[Mapping[str, str]] = {
    "sensitive": N_("anyone, if being in the data is itself a secret"),
    "public": N_("anyone, as on a public web page"),
    "partner": N_("a partner bound by a contract"),
    "inside": N_("people of your own organisation"),
    "pwscup2018": N_("the attackers of PWS Cup 2018, by the contest’s own test"),
}
"""The recipients that each rule is meant for."""
DEFAULT: Final = RULES["partner"]
"""The rule used by default."""


def get_rule(request: str | float | Path | Rule | Mapping[str, Any] | None = None) -> Rule:
    """Return the rule that a person asks for: a name, a tolerance such as 0.15 or 1/8, a TOML file, or its fields.

    Fields in one text, such as ``epsilon=1,delta=1e-6``, have the tolerance of ``partner`` by default.

    >>> get_rule().name, get_rule("1/8").tolerance, get_rule(0.125).tolerance, get_rule("public").least_k
    ('partner', Fraction(1, 8), Fraction(1, 8), 11)
    """
    if request is None or isinstance(request, Rule):
        return request or DEFAULT
    if isinstance(request, Mapping):
        return _built(request, None)
    if not isinstance(request, str | Path):
        return _built({"tolerance": request}, None)
    request = str(request)
    if request in RULES:
        return RULES[request]
    if request.endswith(".toml"):
        path = Path(request)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(_("the file cannot be read ({reason})").format(reason=reason), file=path) from None
        fields = content.get("rule", content)
        return _built(fields if isinstance(fields, dict) else {}, path)
    if "=" in request:
        named = {name.strip(): value.strip() for name, _is, value in (p.partition("=") for p in request.split(","))}
        return _built({"tolerance": DEFAULT.tolerance} | named, None)
    if not request[:1].isdigit() and not request.startswith("."):
        message = _("there is no rule {word!r}{hint}; rules are {names}, a tolerance such as 0.2, or a TOML file")
        hint = suggestion(request, list(RULES))
        raise ParameterError(message.format(word=request, hint=hint, names=", ".join(RULES)))
    return _built({"tolerance": request}, None)


def _built(fields: Mapping[str, Any], path: Path | None) -> Rule:
    try:
        return Rule.model_validate({"name": "" if path is None else path.stem} | dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        message = str(first.get("ctx", {}).get("error") or first["msg"])
        problem = f"{where}: {message}" if where else message
        cure = _("a rule has {names}; tolerance is required").format(names=", ".join(Rule.model_fields))
        if path is None:
            raise ParameterError(problem, cure) from None
        raise FileError(problem, cure, file=path) from None
