"""Several attacks tried in a rehearsal, of which the best is used; without a rehearsal, a vote.

**An attacker who knows how a release was made makes one like it, and sees which attack finds most there.**
The statement of a release is public: methods and their parameters. Anyone who knows them can protect purchases of their
own choice in the same way, with a seed of their own, and knows the truth about that release. What an attack finds in
the rehearsal foretells what it finds in the release itself; the truth about the release is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field, PrivateAttr, field_validator

from noren.attacks.assignment import PAIRS_BY_PERIOD, pairs_of, uniform
from noren.attacks.by_period import ALWAYS, AttackByPeriod, rows_by_period
from noren.attacks.linkage import Linkage
from noren.data.compatibility import partial
from noren.data.frames import History
from noren.data.periods import in_order
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import InputError, ParameterError, UnknownNameError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.assignment import SILENT, chances, greedy_pairs, reliability, tested
from noren.progress import Progress, part_of, silent
from noren.protocols import Guess, Runtime, require_kind
from noren.registry import build

_ALONE = ("earlier-period", "recoded", "shifted")
"""They are for recodings that no method of ours does, and would take most of the time of a rehearsal."""
_MOST_REHEARSED = 5_000
"""Customers that a rehearsal is made with; of more these are drawn."""
_WORTH = 2
"""With one member that said anything there is nothing to choose."""


class Ensemble(AttackByPeriod):
    """Run several attacks and return the answer of the best, which is found without the truth.

    How a release was made is public. So the attacker makes another one in the same way, of purchases whose customers
    they know, lets every member attack it, and counts what each finds. The one that found most there is followed: a
    member as it answers, or a vote of all, weighed by what each found in the rehearsal or by how far members agree.

    Without a statement they vote by agreement alone: attacks that are right agree, attacks that err do so each in its
    own way (:mod:`noren.kernels.linkage.assignment`). Attacks of one family, which err together (s1 to s6 look rows up,
    s7 and s8 compare one number), do not vouch for each other, and whatever agrees more than skill explains shares its
    votes. Then in a period each pseudonym is given to one customer, the likeliest first, and below a chance of 1 in 5 a
    cell is left empty. Where most members are misled in the same way, as by rows that changed hands, so is this vote.

    An attack whose answers name no period speaks for every period its pseudonyms are seen in. An answer that names a
    pseudonym not seen in the period does not count. Attacks that do not fit the data, or refuse them, are left out.
    The score is the chance of the answer by the votes, or the score of the member that is followed. The notes say who
    is followed and what each found in the rehearsal, list the members with their skill and weight, and why others were
    left out.

    References
    ----------
    Dawid and Skene 1979, one number per voter; Parisi, Strino, Nadler and Kluger 2014.

    Examples
    --------
    By date and quantity (s1), and by all columns (nearest), 7 is Ann and 8 is Bob; by price (s7) it is the other way
    round, and is outvoted.

    >>> from noren.data.schema import Schema
    >>> def history(customers, prices):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": ["a", "b"], "price": prices, "quantity": [3, 4]}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> vote = Ensemble(members=("nearest", "s1", "s7"))
    >>> guess = vote.attack(history(["ann", "bob"], [1.0, 2.0]), history(["7", "8"], [2.0, 1.0]), seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer").rows())
    [('7', 'ann'), ('8', 'bob')]
    >>> [name for name, about in guess.notes["members"].items() if about["skill"] > 0.5]
    ['nearest', 's1']
    """

    name = "ensemble"
    summary = N_("Uses the attack that re-identifies most in a rehearsal of the release; otherwise all attacks vote.")
    source = "Dawid and Skene 1979"
    runtime = Runtime.MINUTES
    cost = 10_000.0
    sees_through = Linkage.sees_through
    listens = True

    members: tuple[str, ...] = Field(default=(), description=N_("attacks that vote (default: all that fit the data)"))

    rehearse: bool = Field(
        default=True,
        description=N_("try the members on a release made in the same way, if the statement says how it was made"),
    )

    _other_guesses: Mapping[str, Guess] = PrivateAttr(default_factory=dict)
    _statement: Statement | None = PrivateAttr(default=None)

    def with_public_metadata(self, statement: Statement) -> Ensemble:
        """Return the ensemble that knows how the release was made, and can rehearse."""
        informed = self.model_copy()
        informed._statement = statement
        return informed

    def with_other_guesses(self, guesses: Mapping[str, Guess]) -> Ensemble:
        """Return the ensemble that takes these guesses for its members' and does not run those again."""
        informed = self.model_copy()
        informed._other_guesses = guesses
        return informed

    @field_validator("members")
    @classmethod
    def _other_attacks(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        from noren.attacks import attacks

        if cls.name in names:
            raise ParameterError(_("ensemble cannot be its own member; name other attacks"))
        if twice := [name for name in names if names.count(name) > 1]:
            raise ParameterError(_("{name} is named twice; name each once").format(name=twice[0]))
        return tuple(attacks[name].name for name in names)

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Run the members, rehearse if the statement is known, and follow the member that found most."""
        guesses, left_out = self._guesses(original, public, seed, part_of(progress, 0.0, 0.5), self._other_guesses)
        ballot = Ballot.of(guesses, rows_by_period(public, self))
        agreed = ballot.agreed()
        result = self._rehearsed(original, public, ballot, agreed, seed, part_of(progress, 0.5, 0.95))
        progress(0.95, _("assigning pseudonyms"))
        pairs, skill, divided = (
            (ballot.elected(*agreed), *agreed) if result is None else result.followed(ballot, agreed)
        )
        spoke = (ballot.answers != SILENT).sum(axis=0).tolist()
        members = zip(ballot.pairs_by_member, skill.tolist(), (skill / divided).tolist(), spoke, strict=True)
        about = {name: {"skill": q, "weight": w, "answers": n} for name, q, w, n in members}
        nothing = {"skill": 0.0, "weight": 0.0, "answers": 0}
        notes: dict[str, Any] = {
            "members": {name: about.get(name, nothing) for name in guesses},
            "left_out": left_out,
            "follows": AGREEMENT if result is None else result.best,
            "rehearsed": {} if result is None else dict(result.hit_rates),
        }
        return Guess(self.name, pairs.drop("period") if ballot.as_a_whole else pairs, notes)

    def _rehearsed(
        self, original: History, public: History, ballot: Ballot, agreed: Weights, seed: int, progress: Progress
    ) -> RehearsalResult | None:
        """Return what was found in a release like this one; None where the statement does not say how to make one."""
        if self._statement is None or not self.rehearse or len(ballot.pairs_by_member) < _WORTH:
            return None
        names = ballot.elected(*agreed)
        # a pseudonym that is seen in one period stands for a customer that others stand for, too
        changing = not ballot.pseudonyms["pseudonym"].is_duplicated().any() and not ballot.as_a_whole
        names = names if changing else names.clear()
        tried = rehearsal(
            *(*_some(original, public, names, seed), self._statement, names),
            seed=seed,
            progress=part_of(progress, 0.0, 0.1, _("rehearsal")),
        )
        if tried is None:
            return None
        part = part_of(progress, 0.1, 1.0, _("rehearsal"))
        ready = self.model_copy(update={"members": tuple(ballot.pairs_by_member)})
        known, released, truth = tried
        guesses, _refused = ready._guesses(known, released, seed, part, {}, stern=False)
        return RehearsalResult.of(Ballot.of(guesses, rows_by_period(released, self)), truth)

    def _guesses(
        self,
        original: History,
        public: History,
        seed: int,
        progress: Progress,
        other_guesses: Mapping[str, Guess],
        *,
        stern: bool = True,
    ) -> tuple[dict[str, Guess], dict[str, str]]:
        """Run the members; return their guesses, and why others were left out.

        Stern: a member that was asked for by name must not be left out.
        """
        from noren.attacks import attacks

        names = self.members or tuple(name for name in attacks if name not in (self.name, *_ALONE))
        guesses: dict[str, Guess] = {}
        left_out: dict[str, str] = {}
        for at, name in enumerate(names):
            member_progress = part_of(progress, at / len(names), (at + 1) / len(names), name)
            member_progress(0.0)
            if name in other_guesses:
                guesses[name] = other_guesses[name]
                continue
            try:
                # a member that asks for periods knows them
                periods = {"period": self.period, "starts": self.starts}
                own = {key: value for key, value in periods.items() if key in attacks[name].model_fields}
                member = build(attacks[name], own)
                require_kind(member, original.schema)
                if not member.fits(original.schema):
                    raise ParameterError(_("{name} does not fit the data").format(name=name))
                guesses[name] = member.attack(original, public, seed=seed, progress=member_progress)
            except InputError as error:
                if self.members and stern:
                    raise
                left_out[name] = str(error)
        return guesses, left_out


# --- What members answer, cell by cell, and what is made of it: an election, or one of them followed ------------------


Weights = tuple[Real, Real]
"""The skill of each member, and by what its votes are divided."""

AGREEMENT, VOTE = "vote by agreement", "vote by rehearsal"
_CELL = ["customer", "period"]
_LEAST_CHANCE = 0.2
"""Naming somebody who has no pseudonym costs what a hit gains; what is less likely than this is left out."""
_NONE = -2


@dataclass(frozen=True)
class Ballot:
    """The answers of all members, by customer and period."""

    pseudonyms: pl.DataFrame
    """The pseudonyms of each period."""
    pairs_by_member: Mapping[str, pl.DataFrame]
    """By member, surest first: ``pseudonym``, ``customer``, ``score`` and ``period``. Who said nothing is left out."""
    cells: pl.DataFrame
    names: pl.Series
    """``cells``, ``names``: the customers and periods that anybody answered for, and the pseudonyms by number."""
    answers: Whole
    """One line per cell, one number per member."""
    choices: Whole
    """How many pseudonyms each cell has to choose from."""

    @classmethod
    def of(cls, guesses: Mapping[str, Guess], rows: pl.DataFrame) -> Ballot:
        """Take the first answer of each member for each customer and period, if the pseudonym is seen there.

        ``rows`` tell the ``pseudonym`` and the ``period`` of each public row.
        """
        pairs_by_member, pseudonyms = {}, rows.select("pseudonym", "period").unique(maintain_order=True)
        for name, guess in guesses.items():
            pairs = guess.answers.with_columns(pl.col("pseudonym", "customer").cast(pl.String))
            if pseudonyms["period"].eq(ALWAYS).any():
                pairs = pairs.drop("period", strict=False)
            key = [column for column in ("pseudonym", "period") if column in pairs.columns]
            pairs = pairs.with_columns(pl.col(key).cast(pl.String), pl.col("score").cast(pl.Float64))
            pairs = pairs.join(pseudonyms, on=key, how="inner", maintain_order="left_right").select(
                list(PAIRS_BY_PERIOD)
            )
            pairs = pairs.drop_nulls(["pseudonym", *_CELL]).unique(_CELL, keep="first", maintain_order=True)
            if len(pairs):
                pairs_by_member[name] = pairs
        every = pl.concat([pl.DataFrame(schema=PAIRS_BY_PERIOD), *pairs_by_member.values()])
        cells = every.select(_CELL).unique()
        periods = pl.Enum(in_order(cells["period"].unique()))
        cells = cells.with_columns(time=pl.col("period").cast(periods)).sort("customer", "time")
        names = every["pseudonym"].unique().sort()
        member_answers = [_answers(cells, pairs, names) for pairs in pairs_by_member.values()]
        answers = np.stack(member_answers, axis=1) if member_answers else np.empty((0, 0), np.int64)
        many = cells.join(pseudonyms.group_by("period").len(), on="period", how="left", maintain_order="left")["len"]
        return cls(pseudonyms, pairs_by_member, cells, names, answers, many.cast(pl.Int64).to_numpy())

    @property
    def as_a_whole(self) -> bool:
        """Whether the release does not tell periods."""
        return bool(self.pseudonyms["period"].eq(ALWAYS).any())

    def agreed(self) -> Weights:
        """Return skill and divisor of each member from the agreement of the answers."""
        if not self.pairs_by_member:
            return np.zeros(0), np.ones(0)
        from noren.attacks import attacks

        # attacks that live in one module work in one way, and are one family
        modules = [attacks[name].__module__ for name in self.pairs_by_member]
        families = np.array([modules.index(module) for module in modules], np.int64)
        return reliability(self.answers, self.choices, families)

    def elected(self, skill: Real, divided: Real, least: float = _LEAST_CHANCE) -> pl.DataFrame:
        """Return the answers elected, surest first: in a period each pseudonym once, to the likeliest customer."""
        if not self.pairs_by_member:
            return pl.DataFrame(schema=PAIRS_BY_PERIOD)
        answers, names = np.where(skill > 0, self.answers, SILENT), self.names
        chance = chances(answers, self.choices, skill, divided)
        cell, voter = np.nonzero((answers != SILENT) & (chance >= least))
        time = self.cells["time"].to_physical().cast(pl.Int64).to_numpy()
        place = time[cell] * len(names) + answers[cell, voter]
        size = (len(self.cells), (int(time.max(initial=0)) + 1) * len(names))
        row, column = greedy_pairs(cell, place, chance[cell, voter], size)
        pseudonym = column % len(names)
        sure = np.where(answers[row] == pseudonym[:, None], chance[row], 0.0).max(axis=1, initial=0.0)
        order = np.argsort(-sure, kind="stable")
        cells = self.cells[row]
        return pairs_of(names.gather(pseudonym), cells["customer"], sure, cells["period"])[order]


@dataclass(frozen=True)
class RehearsalResult:
    """The result of a rehearsal, whose truth is known.

    ``hit_rates`` is, for each member and each kind of vote, the share of pseudonyms found, less that of customers named
    who have none; ``weights`` are skill and divisor of each member.
    """

    hit_rates: Mapping[str, float]
    weights: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, ballot: Ballot, truth: pl.DataFrame) -> RehearsalResult:
        """Count what each found; ``truth`` has ``pseudonym`` and ``customer``."""
        true = ballot.pseudonyms.join(truth, on="pseudonym").unique(_CELL, keep="first", maintain_order=True)
        right = _answers(ballot.cells, true, ballot.names, _NONE)
        skill, divided = tested(ballot.answers, right, ballot.choices) if ballot.pairs_by_member else ballot.agreed()
        pairs_by_name = {
            VOTE: ballot.elected(skill, divided, 0.0),
            AGREEMENT: ballot.elected(*ballot.agreed()),
            **ballot.pairs_by_member,
        }
        weights = dict(zip(ballot.pairs_by_member, zip(skill.tolist(), divided.tolist(), strict=True), strict=True))
        return cls({name: _hit_rate(pairs, true) for name, pairs in pairs_by_name.items()}, weights)

    @property
    def best(self) -> str:
        """Who found most; of equals a vote, then the first member."""
        return max(self.hit_rates, key=lambda name: self.hit_rates[name])

    def followed(self, ballot: Ballot, agreed: Weights) -> tuple[pl.DataFrame, Real, Real]:
        """Return the answers of the member that found most, and skill and divisor of each member."""
        skill, divided = (
            np.array([self.weights.get(name, (0.0, 1.0)) for name in ballot.pairs_by_member]).reshape(-1, 2).T
        )
        if self.best in ballot.pairs_by_member:
            return ballot.pairs_by_member[self.best], skill, divided
        return ballot.elected(*((skill, divided, 0.0) if self.best == VOTE else agreed)), skill, divided


def _hit_rate(pairs: pl.DataFrame, true: pl.DataFrame) -> float:
    """Return the share of true pseudonyms that are found, less that of answers for customers who have none.

    >>> true = pl.DataFrame({"customer": ["ann", "bob"], "period": ["1", "1"], "pseudonym": ["7", "8"]})
    >>> _hit_rate(true[:1], true), _hit_rate(true.with_columns(period=pl.lit("2")), true)
    (0.5, -1.0)
    """
    both = pairs.join(true, on=_CELL, how="left", suffix=" true", maintain_order="left")
    hits = both["pseudonym"].eq(both["pseudonym true"]).sum()
    return float(hits - both["pseudonym true"].null_count()) / max(len(true), 1)


def _answers(cells: pl.DataFrame, pairs: pl.DataFrame, names: pl.Series, none: int = SILENT) -> Whole:
    """Return the pseudonym given in each cell as a number; ``none`` where there is none among the names."""
    placed = cells.join(pairs, on=_CELL, how="left", maintain_order="left")["pseudonym"]
    return placed.cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64).fill_null(none).to_numpy()


# --- An attacker who knows how a release was made makes one like it, and sees which attack finds most there -----------


_NEARLY_ALL = 0.95
_STREAM = 0x5EED
"""Keeps the seed of a rehearsal apart from the seed of the attack."""


def _some(original: History, public: History, names: pl.DataFrame, seed: int) -> tuple[History, History]:
    """Return the rows of some customers, drawn where there are many, and of as large a share of the pseudonyms.

    A pseudonym goes with the customer that ``names`` say it stands for.
    """
    customers, pseudonyms = (side[Role.CUSTOMER].cast(pl.String) for side in (original, public))
    people = customers.drop_nulls().unique().sort()
    if len(people) <= _MOST_REHEARSED:
        return original, public
    drawn = uniform(len(people), seed=seed)
    least = np.sort(drawn)[_MOST_REHEARSED]
    chosen = people.filter(pl.Series(drawn < least))
    each = pseudonyms.drop_nulls().unique().sort()
    behind = names.unique("pseudonym", keep="first", maintain_order=True).select("pseudonym", "customer")
    whose = pl.DataFrame({"pseudonym": each}).join(behind, on="pseudonym", how="left", maintain_order="left")[
        "customer"
    ]
    lot = pl.Series(uniform(len(each), seed=seed) < least)
    those = each.filter(whose.is_in(chosen.implode()).zip_with(whose.is_not_null(), lot))
    rows = (
        side.is_in(some.implode()).fill_null(value=False) for side, some in ((customers, chosen), (pseudonyms, those))
    )
    return original.take(next(rows).arg_true()), public.take(next(rows).arg_true())


def rehearsal(
    known: History,
    public: History,
    statement: Statement,
    names: pl.DataFrame,
    *,
    seed: int,
    progress: Progress = silent,
) -> tuple[History, History, pl.DataFrame] | None:
    """Protect purchases like the original's once more; None where the method cannot be run again.

    Returned are what is known, what is public, and the truth: ``pseudonym`` and ``customer``. What is protected are the
    known rows, or the public ones if those are more: then each pseudonym stands for a customer. The same share of it is
    known as of the original. Methods that generalise by a long search are not run again.

    ``names`` (``pseudonym`` and ``customer``) are what to call pseudonyms that change with time, so that months hang
    together; they need not be right.
    """
    from noren.methods import methods

    try:  # a method that is not ours, says too little or generalises by a long search is not run
        ours = [methods[step.method] for step in statement.steps]
        if any(step.generalises and step.best_so_far for step in ours) or not len(known) or not len(public):
            return None
        method = methods.create("chain", steps=[{"method": s.method} | s.parameters for s in statement.steps])
    except (InputError, UnknownNameError):
        return None
    acted = known
    if len(known) <= _NEARLY_ALL * len(public) and not public.generalised:
        # public rows as an original: pseudonyms are customers, those of one customer under one name
        customer = public.schema.role(Role.CUSTOMER).name
        named = names.select("pseudonym", name="customer").unique("pseudonym", keep="first", maintain_order=True)
        rows = public.frame.select(pseudonym=pl.col(customer).cast(pl.String))
        name = rows.join(named, on="pseudonym", how="left", maintain_order="left").select(
            pl.when(pl.col("name").is_null()).then("? " + pl.col("pseudonym")).otherwise("name").alias(customer)
        )
        acted = replace(public, frame=public.frame.with_columns(name.to_series()), master=None)
    own = int(np.random.SeedSequence([_STREAM, seed]).generate_state(1, np.uint64)[0]) >> 1
    try:
        release = method.protect(acted, seed=own, progress=progress)
    except InputError:
        return None
    if not isinstance(release.public, History) or not len(release.public):
        return None
    # the original has as many rows as it takes to release the public ones
    share = len(known) * len(release.public) / (len(public) * len(acted))
    knows = acted
    if share <= _NEARLY_ALL:
        letters = None  # how many characters of items are known, where they were cut
        if (item := public.schema.with_role(Role.ITEM)) and not public.generalised:
            length = pl.col(item[0].name).cast(pl.String).str.len_chars().max()
            few, many = (side.frame.select(length).item() or 0 for side in (known, public))
            letters = few if 0 < few < many else None
        knows = partial(acted, share, own, item_prefix=letters)
    return knows, release.public, release.secret.pseudonyms.select("pseudonym", "customer").unique()
