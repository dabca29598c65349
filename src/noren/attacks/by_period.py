"""What attacks on repeated releases share: the parameter that says how long a pseudonym is kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

import polars as pl
from pydantic import Field, model_validator

from noren.data.periods import Calendar, periods_of
from noren.data.statement import Statement
from noren.i18n import N_, _
from noren.protocols import Attack
from noren.registry import build

__all__ = ["AttackByPeriod", "told_periods"]


class AttackByPeriod(Attack):
    """An attack that names a pseudonym for each customer and period.

    Of a release that says when it changes pseudonyms, :func:`noren.attack` tells the attack the periods, unless they
    are given here.
    """

    period: Literal["month", "week", "quarter", "custom"] = Field(
        default="month",
        description=N_("how long a pseudonym is kept: a month, ISO week, quarter, or custom (see starts)"),
    )
    starts: tuple[date, ...] = Field(default=(), description=N_("the first day of each custom period, like 2010-12-01"))

    @model_validator(mode="after")
    def _starts_are_for_custom(self) -> AttackByPeriod:
        if self.period == "custom" and not self.starts:
            raise ValueError(_("period=custom needs the first day of each period; add starts"))
        if self.period != "custom" and self.starts:
            raise ValueError(
                _("period={period} has its own days; use period=custom with starts").format(period=self.period)
            )
        return self

    def periods(self, dates: pl.Series) -> pl.Series:
        """Return the name of the period each date falls in; null for none, and before the first custom period."""
        by: Calendar | Sequence[date] = self.starts if self.period == "custom" else self.period
        days = dates.cast(pl.Date)
        return periods_of(days.set(days < min(self.starts), None) if self.starts else days, by)


def told_periods(attack: Attack, statement: Statement) -> Attack:
    """Tell an attack when pseudonyms change, which is public, unless it was told already.

    >>> from noren.attacks.signatures import S1
    >>> told_periods(S1(), Statement("monthly-pseudonyms", {"period": "quarter"})).parameters()["period"]
    'quarter'
    """
    period = {"period", "starts"}
    told = [step.parameters for step in statement.steps if step.method == "monthly-pseudonyms"]
    if not told or not period <= set(type(attack).model_fields) or period & attack.model_fields_set:
        return attack
    said = {name: value for name, value in told[-1].items() if name in period}
    return build(type(attack), attack.parameters() | said)
