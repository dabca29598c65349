"""Many attacks vote, and those that the others confirm count most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, field_validator

from noren.attacks.by_period import AttackByPeriod
from noren.attacks.period_sides import ALWAYS, shown_periods
from noren.cost_law import BY_PEOPLE, CostLaw
from noren.data.frames import History
from noren.data.periods import in_order
from noren.errors import InputError, ParameterError
from noren.i18n import N_, _
from noren.kernels.linkage.one_to_one import greedy_pairs
from noren.kernels.linkage.votes import SILENT, chances, reliability
from noren.progress import Progress, part_of, silent
from noren.protocols import Attack, Guess
from noren.registry import build

__all__ = ["Ensemble"]

_PAIRS = {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64, "period": pl.String}
_LEAST_CHANCE = 0.2
"""Naming somebody who has no pseudonym costs what a hit gains; what is less likely than this is left out."""


class Ensemble(AttackByPeriod):
    """Let many attacks vote on every customer and period; no truth is needed to know which of them to trust.

    Attacks that are right agree; attacks that err do so each in its own way. So the skill of each is told by how often
    it gives the same answer as others, and its vote weighs accordingly (:mod:`noren.kernels.linkage.votes`). Attacks of
    one family, which err together (s1 to s6 look rows up, s7 and s8 compare one number), do not vouch for each other,
    and whatever agrees more than skill explains shares its votes. In a period each pseudonym is given to one customer,
    the likeliest first. The score is the chance of the answer by the votes; below 1 in 5 a cell is left empty.

    An attack whose answers name no period speaks for every period its pseudonyms are seen in. An answer that names a
    pseudonym not seen in the period does not count. Attacks that do not fit the data, or refuse them, are left out.
    The notes list the members with their skill and weight, and why others were left out.

    A vote is as good as its voters: where most are misled in the same way, as by rows that changed hands, so is it.

    References
    ----------
    Dawid and Skene 1979, one number per voter; Parisi, Strino, Nadler and Kluger 2014.

    Examples
    --------
    By date and quantity (s1), and by all columns (nearest), 7 is Ann and 8 is Bob; by price (s7) it is the other way
    round, and is outvoted.

    >>> from noren.data.schema import Schema
    >>> def history(customers, prices):
    ...     rows = {"customer": customers, "date": ["2010/12/1"] * 2, "item": ["a", "b"], "price": prices,
    ...             "quantity": [3, 4]}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> vote = Ensemble(members=("nearest", "s1", "s7"))
    >>> guess = vote.attack(history(["ann", "bob"], [1.0, 2.0]), history(["7", "8"], [2.0, 1.0]), seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer").rows())
    [('7', 'ann'), ('8', 'bob')]
    >>> [name for name, about in guess.notes["members"].items() if about["skill"] > 0.5]
    ['nearest', 's1']
    """

    name: ClassVar[str] = "ensemble"
    summary: ClassVar[str] = N_("Lets all attacks vote on each customer and period, weighed by what others confirm.")
    source: ClassVar[str] = "Dawid and Skene 1979"
    cost: ClassVar[CostLaw | None] = BY_PEOPLE
    listens: ClassVar[bool] = True

    members: tuple[str, ...] = Field(
        default=(), description=N_("the attacks that vote, by name; left out: all that fit the data")
    )

    _heard: Mapping[str, Guess] = PrivateAttr(default_factory=dict)

    def after(self, guesses: Mapping[str, Guess]) -> Ensemble:
        """Return the ensemble that takes these guesses for its members' and does not run those again."""
        told = self.model_copy()
        told._heard = guesses
        return told

    @field_validator("members")
    @classmethod
    def _other_attacks(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        from noren.attacks import attacks

        if cls.name in names:
            raise ParameterError(_("the ensemble cannot vote in itself"), _("name other attacks"))
        if len(set(names)) < len(names):
            raise ParameterError(_("an attack is named twice"), _("name each member once"))
        return tuple(attacks[name].name for name in names)

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Run the members, each with the same seed, and let them vote."""
        guesses, left_out = self._guesses(original, public, seed, progress)
        progress(0.95, _("counting votes"))
        shown = shown_periods(public, self).select("pseudonym", "period").unique(maintain_order=True)
        said = {name: pairs for name, guess in guesses.items() if len(pairs := _by_period(guess, shown))}
        pairs, weights = _elected(said, shown)
        nothing = {"skill": 0.0, "weight": 0.0, "answers": 0}
        notes = {"members": {name: weights.get(name, nothing) for name in guesses}, "left_out": left_out}
        return Guess(self.name, pairs.drop("period") if _as_a_whole(shown) else pairs, notes)

    def _guesses(
        self, original: History, public: History, seed: int, progress: Progress
    ) -> tuple[dict[str, Guess], dict[str, str]]:
        """Run the members; return their guesses, and why others were left out."""
        from noren.attacks import attacks

        names = self.members or tuple(name for name in attacks if name != self.name)
        guesses: dict[str, Guess] = {}
        left_out: dict[str, str] = {}
        for at, name in enumerate(names):
            told = part_of(progress, 0.95 * at / len(names), 0.95 * (at + 1) / len(names), name)
            told(0.0)
            if name in self._heard:
                guesses[name] = self._heard[name]
                continue
            try:
                if lacking := attacks[name].lacks(original.schema):
                    raise ParameterError(
                        _("{component} needs a column with the role {roles}, and these purchases have none").format(
                            component=name, roles=", ".join(lacking)
                        )
                    )
                if not attacks[name].fits(original.schema):
                    raise ParameterError(_("{name} does not fit the data").format(name=name))
                guesses[name] = self._member(attacks[name]).attack(original, public, seed=seed, progress=told)
            except InputError as error:
                if self.members:
                    raise
                left_out[name] = str(error)
        return guesses, left_out

    def _member(self, kind: type[Attack]) -> Attack:
        """Return a member that knows the periods, if it asks for any."""
        told: dict[str, Any] = {"period": self.period, "starts": self.starts}
        return build(kind, {name: value for name, value in told.items() if name in kind.model_fields})


def _as_a_whole(shown: pl.DataFrame) -> bool:
    return bool(shown["period"].eq(ALWAYS).any())


def _by_period(guess: Guess, shown: pl.DataFrame) -> pl.DataFrame:
    """Return pseudonym, customer and period of the answers that count: the first for each customer and period."""
    pairs = guess.answers.with_columns(pl.col("pseudonym", "customer").cast(pl.String))
    if _as_a_whole(shown):
        pairs = pairs.drop("period", strict=False)
    key = [name for name in ("pseudonym", "period") if name in pairs.columns]
    pairs = pairs.with_columns(pl.col(key).cast(pl.String))
    pairs = pairs.join(shown, on=key, how="inner", maintain_order="left_right")
    pairs = pairs.select("pseudonym", "customer", "period").drop_nulls()
    return pairs.unique(["customer", "period"], keep="first", maintain_order=True)


def _elected(said: dict[str, pl.DataFrame], shown: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the answers elected, surest first, and what is found of each member."""
    if not said:
        return pl.DataFrame(schema=_PAIRS), {}
    cells = pl.concat([pairs.select("customer", "period") for pairs in said.values()]).unique()
    periods = in_order(cells["period"].unique())
    cells = cells.with_columns(time=pl.col("period").cast(pl.Enum(periods))).sort("customer", "time")
    names = pl.concat([pairs["pseudonym"] for pairs in said.values()]).unique().sort()
    answers = np.stack([_answers(cells, pairs, names) for pairs in said.values()], axis=1)
    many = cells.join(shown.group_by("period").len(), on="period", how="left", maintain_order="left")["len"]
    choices = many.cast(pl.Int64).to_numpy()
    skill, divided = reliability(answers, choices, _families(list(said)))
    chance = chances(answers, choices, skill, divided)
    cell, voter = np.nonzero((answers != SILENT) & (chance >= _LEAST_CHANCE))
    # a pseudonym of a period is given once, to the customer who is likeliest to have it
    place = cells["time"].to_physical().cast(pl.Int64).to_numpy()[cell] * len(names) + answers[cell, voter]
    row, column = greedy_pairs(cell, place, chance[cell, voter], (len(cells), len(periods) * len(names)))
    given = column % len(names)
    sure = np.where(answers[row] == given[:, None], chance[row], 0.0).max(axis=1, initial=0.0)
    order = np.argsort(-sure, kind="stable")
    pairs = pl.DataFrame(
        {
            "pseudonym": names.gather(given[order]),
            "customer": cells["customer"].gather(row[order]),
            "score": sure[order],
            "period": cells["period"].gather(row[order]),
        },
        schema=_PAIRS,
    )
    about = zip(said, skill.tolist(), (skill / divided).tolist(), (answers != SILENT).sum(axis=0).tolist(), strict=True)
    return pairs, {name: {"skill": q, "weight": w, "answers": n} for name, q, w, n in about}


def _families(names: list[str]) -> NDArray[np.int64]:
    """Return a number for each attack, the same for those that live in one module and work in one way."""
    from noren.attacks import attacks

    modules = [attacks[name].__module__ for name in names]
    return np.array([modules.index(module) for module in modules], np.int64)


def _answers(cells: pl.DataFrame, pairs: pl.DataFrame, names: pl.Series) -> NDArray[np.int64]:
    """Return a member's answer in each cell as a number."""
    placed = cells.join(pairs, on=["customer", "period"], how="left", maintain_order="left")["pseudonym"]
    return placed.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(SILENT).to_numpy()
