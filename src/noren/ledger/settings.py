"""What a ledger goes by: the file ``ledger.toml``, and the schema of its data beside it.

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
from noren.i18n import _
from noren.judgement.rule import DEFAULT, RULES, Rule, rule_named
from noren.ledger.incoming import CALENDARS
from noren.ledger.risk import MEASURES
from noren.methods.chain import Chain, read_chain
from noren.protocols import Attack, Method
from noren.registry import build

USUAL_ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "linkage")
"""Tried where nobody says which: those of S3, and linking by everything known, as far as they are installed."""
VERSION = 1
_KEYS = ("version", "period", "attacks", "rule", "attack_released", "budget", "step")

ChainLike = str | Path | Method | Sequence[str | Method | Mapping[str, Any]]


@dataclass(frozen=True)
class LedgerSettings:
    """What a ledger goes by.

    Attributes
    ----------
    schema
        What the columns mean.
    chain
        How a period is protected.
    period
        How long a period is: ``month``, ``week`` or ``quarter``.
    attacks
        The names of the attacks that everything released is tried by.
    budget
        The most that UM, MM and EMM may come to; what is not named has no limit.
    rule
        What a recipient may be able to do with everything released; verdicts are given by it.
    attack_released
        Whether what was released is attacked again, together with each later period. Where it is not, a period is
        attacked before its release and never after, and what attacks find in all periods together is not known.
    """

    schema: Schema
    chain: Chain
    period: Calendar = "month"
    attacks: tuple[str, ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
    rule: Rule = DEFAULT
    attack_released: bool = True

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
        """Return settings that fit together; say what does not."""
        if not isinstance(attack_released, bool):
            raise ParameterError(
                _("attack_released = {given!r} is no answer").format(given=attack_released), _("use true or false")
            )
        schema = schema if isinstance(schema, Schema) else Schema.load(schema)
        if schema.kind != Kind.HISTORY:
            raise SchemaError(_("a ledger keeps purchase histories"), _("use a schema of kind history"))
        by = next((one for one in CALENDARS if one == period), None)
        if by is None:
            raise ParameterError(
                _("a ledger cannot go by {period!r}").format(period=period),
                _("use one of {names}").format(names=", ".join(CALENDARS)),
            )
        if attacks is None:
            names = [n for n in USUAL_ATTACKS if n in known_attacks and known_attacks[n].fits(schema)]
        else:
            names = [attacks] if isinstance(attacks, str) else list(attacks)
            if not names or not all(isinstance(name, str) for name in names):
                raise ParameterError(
                    _("a ledger without attacks sees no risk"),
                    _("name one or more of {names}").format(names=", ".join(known_attacks)),
                )
        limits, tried = budget or {}, tuple(dict.fromkeys(names))
        if not isinstance(limits, Mapping):
            raise ParameterError(_("the budget is no table"), _("write it like emm = 0.2"))
        for name, limit in limits.items():
            if name not in MEASURES:
                raise ParameterError(
                    _("there is no budget for {name}").format(name=name),
                    _("use {names}").format(names=", ".join(MEASURES)),
                )
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
                raise ParameterError(
                    _("the budget {name} = {limit} is no share").format(name=name, limit=limit),
                    _("use a number from 0 to 1, such as 0.2"),
                )
        limits = {name: float(limits[name]) for name in MEASURES if name in limits}
        settings = cls(schema, chain_of(chain, by), by, tried, limits, rule_named(rule), attack_released)
        settings.ready_attacks()
        return settings

    def ready_attacks(self) -> list[Attack]:
        """Return the attacks, told how long a period is."""
        ready = []
        for name in self.attacks:
            kind = known_attacks[name]
            if not kind.fits(self.schema):
                raise ParameterError(
                    _("{attack} does not work on data of the schema {schema}").format(
                        attack=name, schema=self.schema.name
                    ),
                    _("leave it out of the attacks"),
                )
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
            "budget": dict(self.budget),
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
            raise FileError(
                _("this is no ledger"), _("name a folder that noren ledger init made, or make one"), file=folder
            )
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(
                _("the settings cannot be read ({reason})").format(reason=str(error)[:160]),
                _("mend the line it names, or restore the file; the releases are not touched"),
                file=path,
            ) from None
        unknown = [key for key in given if key not in _KEYS]
        if unknown:
            raise FileError(_("{key} is no setting of a ledger").format(key=unknown[0]), _("leave it out"), file=path)
        if given.get("version") != VERSION:
            raise FileError(
                _("the ledger is of version {version}, this program knows {known}").format(
                    version=given.get("version"), known=VERSION
                ),
                _("use the Noren that wrote it, or a newer one"),
                file=path,
            )
        schema, rule = Schema.load(folder / "schema.toml"), given.get("rule")
        try:
            return cls.of(
                schema,
                given.get("step", ()),
                period=given.get("period", ""),
                attacks=given.get("attacks", ()),
                budget=given.get("budget", {}),
                rule=rule if isinstance(rule, dict | None) else str(rule),
                attack_released=given.get("attack_released", True),
            )
        except NorenError as error:
            raise ParameterError(str(error), file=path) from None


def chain_of(given: ChainLike, by: Calendar) -> Chain:
    """Return the chain that ``given`` means, its steps told how long a period is; stop at one told otherwise.

    A step that moves dates or changes names by other periods than the ledger would move rows out of the period they
    are released in, or give a person two names in one.
    """
    if isinstance(given, str | Path):
        chain = read_chain(given)
    elif isinstance(given, Chain):
        chain = given
    else:
        chain = Chain(steps=[given] if isinstance(given, Method) else given)
    steps = []
    for number, step in enumerate(chain.steps, start=1):
        if "period" in type(step).model_fields and "period" not in step.model_fields_set:
            steps.append(build(type(step), step.model_dump(exclude_unset=True) | {"period": by}))
        elif getattr(step, "period", by) == by:
            steps.append(step)
        else:
            raise ParameterError(
                _("step {number}, {method}, goes by {own}, the ledger by {period}").format(
                    number=number, method=step.name, own=getattr(step, "period", ""), period=by
                ),
                _('set its period = "{period}", or leave it out').format(period=by),
            )
    return Chain(steps=steps)
