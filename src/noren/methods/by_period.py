"""Base of methods that work period by period: the parameters that define the periods."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from noren.data.arrays import exact_values
from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.methods.pseudonymize import HistoryMethod
from noren.protocols import in_form

_DAY = pl.duration(days=1)


class MethodByPeriod(HistoryMethod):
    """A method that works period by period: months, weeks, quarters, or custom periods."""

    period: Literal["month", "week", "quarter", "custom"] = Field(
        default="month",
        title=N_("Periods"),
        description=N_("length of a period; custom periods begin on the days in starts"),
        json_schema_extra=in_form(
            main=True,
            words={
                "month": N_("calendar months"),
                "week": N_("weeks"),
                "quarter": N_("quarters"),
                "custom": N_("custom periods"),
            },
        ),
    )
    starts: tuple[date, ...] = Field(default=(), title=N_("First day of each custom period, such as 2010-12-01"))

    @field_validator("starts", mode="before")
    @classmethod
    def _contest_spelling(cls, days_or_text: Any) -> Any:
        """Read days as the contests write them, too: 2010/12/1."""
        if not isinstance(days_or_text, list | tuple):
            return days_or_text
        days = []
        for day in days_or_text:
            parts = day.strip().split("/") if isinstance(day, str) else []
            contest = len(parts) == 3 and all(part.isascii() and part.isdigit() for part in parts)
            days.append("{:0>4}-{:0>2}-{:0>2}".format(*parts) if contest else day)
        return days

    @model_validator(mode="after")
    def _starts_are_for_custom(self) -> MethodByPeriod:
        if (self.period == "custom") != bool(self.starts):
            raise ValueError(_("period=custom needs starts, and no other period takes it"))
        for day, next_day in pairwise(self.first_days):
            if day == next_day:
                raise ValueError(_("{name} is named twice; name each once").format(name=day))
        return self

    @property
    def first_days(self) -> list[date]:
        """The first days of custom periods, in order."""
        return sorted(self.starts)

    def days_of(self, original: History) -> pl.Series:
        """Return the day of each row; null where the row has no date."""
        return exact_values(original, original.schema.role(Role.DATE)).cast(pl.Date)

    def periods(self, original: History) -> pl.Series:
        """Return the name of each row's period; stop at a custom period in which nothing happens."""
        days = self.days_of(original)
        if self.period != "custom":
            return periods_of(days, self.period)
        named = periods_of(days, self.first_days)
        used = set(named.unique())
        for day in self.first_days:
            if len(days) and f"{day.year}/{day.month}/{day.day}" not in used:
                raise ParameterError(
                    _("no row falls in the period that begins on {day}; leave that day out of starts").format(
                        day=day.isoformat()
                    )
                )
        return named

    def spans(self, original: History, last_day: date | None = None) -> tuple[pl.Series, pl.Series]:
        """Return the first and the last day of each row's period; the last custom period ends with the data.

        Where the rows are a part of the data, ``last_day`` says when those end.
        """
        days = self.days_of(original)
        day = pl.col("day")
        frame = days.to_frame("day")
        if self.period == "custom":
            if last_day is None:
                self.periods(original)
            begins = pl.DataFrame({"first": self.first_days}, schema={"first": pl.Date})
            end = days.max() if last_day is None else last_day
            begins = begins.with_columns(last=(pl.col("first").shift(-1) - _DAY).fill_null(end))
            placed = frame.with_row_index().drop_nulls().sort("day").join_asof(begins, left_on="day", right_on="first")
            frame = frame.with_row_index().join(placed.drop("day"), on="index", how="left", maintain_order="left")
            return frame["first"], frame["last"]
        every = {"month": "1mo", "week": "1w", "quarter": "1q"}[self.period]
        first = day.dt.truncate(every)
        frame = frame.select(first=first, last=first.dt.offset_by(every) - _DAY)
        return frame["first"], frame["last"]
