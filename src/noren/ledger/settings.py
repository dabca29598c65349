"""Settings of a ledger: the file ``ledger.toml``, and the schema of its data next to it.

Nothing in it is secret. The schema and the length of a period stay as they were at the first release; the budget, the
attacks, whether released periods are attacked again, and the chain may be changed by hand, and count from the next
release on. The rule may be changed too: verdicts are given by it whenever somebody looks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from noren.attacks import attacks as known_attacks
from noren.data.formats.files import writing_file
from noren.data.periods import Calendar
from noren.data.schema import Kind, Schema
from noren.errors import FileError, NorenError, ParameterError, SchemaError
from noren.judgement.rule import DEFAULT, RULES, Rule, get_rule
from noren.ledger.incoming import CALENDARS
from noren.ledger.risk import MEASURES
from noren.methods.chain import Chain, read_chain
from noren.protocols import Attack, Method, require_kind
from noren.registry import build
from noren.tables import Texts

say = Texts(__name__)

USUAL_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "linkage")
"""Attacks by default: those of S3, and linkage by everything known, as far as they are installed."""
VERSION = 1
_LARGEST = dict.fromkeys(MEASURES, 1) | {"epsilon": 1000}
"""What a budget may limit, and the highest limit."""
_KEYS = ("version", "period", "attacks", "rule", "attack_released", "budget", "step")

ChainLike = str | Path | Method | Sequence[str | Method | Mapping[str, Any]]


@dataclass(frozen=True)
class LedgerSettings:
    """The settings of a ledger."""

    schema: Schema
    """What the columns mean."""
    chain: Chain
    """How a period is protected."""
    period: Calendar = "month"
    """How long a period is: ``month``, ``week`` or ``quarter``."""
    attacks: tuple[str, ...] = ()
    """The names of the attacks that everything released is tried by."""
    budget: Mapping[str, float] = field(default_factory=dict)
    """The most that UM, MM and EMM may come to; what is not named has no limit."""
    epsilon: float | None = None
    """The most that ε of what is recorded beside the periods may come to, for each adjacency."""
    rule: Rule = DEFAULT
    """What a recipient may be able to do with everything released; verdicts are given by it."""
    attack_released: bool = True
    """Whether what was released is attacked again, together with each later period. Where it is not, a period is
    attacked before its release and never after, and what attacks find in all periods together is not known.
    """

    @classmethod
    def of(
        cls,
        schema: Schema | str | Path,
        chain: ChainLike,
        *,
        period: str = "month",
        attacks: Iterable[str] | None = None,
        budget: Mapping[str, float] | None = None,
        rule: Rule | str | Mapping[str, Any] | None = None,
        attack_released: bool = True,
    ) -> LedgerSettings:
        """Return validated settings; raise on any that do not fit."""
        if not isinstance(attack_released, bool):
            raise ParameterError(say("attack_released", value=attack_released))
        schema = schema if isinstance(schema, Schema) else Schema.load(schema)
        if schema.kind != Kind.HISTORY:
            raise SchemaError(say("not_a_history"))
        by = next((calendar for calendar in CALENDARS if calendar == period), None)
        if by is None:
            raise ParameterError(
                say("unknown_value", setting="period", value=period, hint="", names=", ".join(CALENDARS))
            )
        if attacks is None:
            names = [n for n in USUAL_ATTACKS if n in known_attacks and known_attacks[n].fits(schema)]
        else:
            names = [attacks] if isinstance(attacks, str) else list(attacks)
            if not names or not all(isinstance(name, str) for name in names):
                raise ParameterError(say("no_attacks", names=", ".join(known_attacks)))
        limits, tried = budget or {}, tuple(dict.fromkeys(names))
        if not isinstance(limits, Mapping):
            raise ParameterError(say("budget_not_a_table"))
        for name, limit in limits.items():
            if name not in _LARGEST:
                raise ParameterError(
                    say("unknown_value", setting="budget", value=name, hint="", names=", ".join(_LARGEST))
                )
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= _LARGEST[name]:
                allowed = f"0 <= {name} <= {_LARGEST[name]}"
                raise ParameterError(say("out_of_range", name=name, value=limit, range=allowed))
        epsilon = limits.get("epsilon")
        limits = {name: float(limits[name]) for name in MEASURES if name in limits}
        settings = cls(schema, chain_of(chain, by), by, tried, limits, epsilon, get_rule(rule), attack_released)
        settings.ready_attacks()
        for step in settings.chain.steps:
            require_kind(step, schema)
        return settings

    def ready_attacks(self) -> list[Attack]:
        """Return the attacks, with the length of a period."""
        ready = []
        for name in self.attacks:
            kind = known_attacks[name]
            if not kind.fits(self.schema):
                raise ParameterError(say("attack_does_not_fit", attack=name, schema=self.schema.name))
            ready.append(build(kind, {"period": self.period} if "period" in kind.model_fields else {}))
        return ready

    # --- on disk -------------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write ``ledger.toml`` and ``schema.toml``."""
        steps = []
        for step in self.chain.steps:
            # a file that a step reads is named by its full path, as the ledger may be used from anywhere
            files = {name: str(value.resolve()) for name, value in step if isinstance(value, Path)}
            known = {n: v for n, v in (step.parameters() | files).items() if v not in (None, [])}
            steps.append({"method": step.name} | known)
        content = {
            "version": VERSION,
            "period": self.period,
            "attacks": list(self.attacks),
            "rule": self.rule.name if RULES.get(self.rule.name) == self.rule else self.rule.as_dict(),
            **({} if self.attack_released else {"attack_released": False}),
            "budget": dict(self.budget) | ({} if self.epsilon is None else {"epsilon": self.epsilon}),
            "step": steps,
        }
        with writing_file(folder / "schema.toml") as aside:
            aside.write_text(self.schema.to_toml(), encoding="utf-8")
        with writing_file(folder / "ledger.toml") as aside:
            aside.write_text(tomli_w.dumps(content), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> LedgerSettings:
        """Read the settings of the ledger in ``folder``."""
        path = folder / "ledger.toml"
        if not path.is_file():
            raise FileError(say("not_a_ledger"), file=folder)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(say("unreadable", reason=str(error)[:160]), file=path) from None
        unknown = [key for key in content if key not in _KEYS]
        if unknown:
            raise FileError(say("unknown_setting", key=unknown[0]), file=path)
        if content.get("version") != VERSION:
            raise FileError(say("other_version", version=content.get("version"), known=VERSION), file=path)
        schema, rule = Schema.load(folder / "schema.toml"), content.get("rule")
        try:
            return cls.of(
                schema,
                content.get("step", ()),
                period=content.get("period", ""),
                attacks=content.get("attacks", ()),
                budget=content.get("budget", {}),
                rule=rule if isinstance(rule, dict | None) else str(rule),
                attack_released=content.get("attack_released", True),
            )
        except NorenError as error:
            raise ParameterError(str(error), file=path) from None


def chain_of(steps_or_file: ChainLike, by: Calendar) -> Chain:
    """Return a chain whose steps have the period of the ledger; raise where a step has another.

    A step that moves dates or changes names by other periods than the ledger would move rows out of the period they
    are released in, or give a person two names in one.
    """
    if isinstance(steps_or_file, str | Path):
        chain = read_chain(steps_or_file)
    elif isinstance(steps_or_file, Chain):
        chain = steps_or_file
    else:
        chain = Chain(steps=[steps_or_file] if isinstance(steps_or_file, Method) else steps_or_file)
    steps = []
    for number, step in enumerate(chain.steps, start=1):
        if "period" in type(step).model_fields and "period" not in step.model_fields_set:
            steps.append(build(type(step), step.model_dump(exclude_unset=True) | {"period": by}))
        elif getattr(step, "period", by) == by:
            steps.append(step)
        else:
            raise ParameterError(
                say("step_of_other_period", number=number, method=step.name, own=getattr(step, "period", ""), period=by)
            )
    return Chain(steps=steps)
