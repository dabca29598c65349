"""Many attacks tried in a rehearsal, and the best of them followed; without one, a vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, PrivateAttr, field_validator

from noren.attacks.ballot import AGREEMENT, Ballot, Rehearsed, Weights, rehearsal
from noren.attacks.by_period import AttackByPeriod, shown_periods
from noren.data.frames import History
from noren.data.statement import Statement
from noren.errors import InputError, ParameterError
from noren.i18n import N_, _
from noren.progress import Progress, part_of, silent
from noren.protocols import Guess, Recoding, Runtime
from noren.registry import build

_ALONE = ("earlier-period", "recoded", "shifted")
"""They are for recodings that no method of ours does, and would take most of the time of a rehearsal."""
_WORTH = 2
"""With one member that said anything there is nothing to choose."""


class Ensemble(AttackByPeriod):
    """Run many attacks and answer as the best of them would; no truth is needed to know which that is.

    How a release was made is public. So the attacker makes another one in the same way, of purchases whose customers
    they know, lets every member attack it, and counts what each finds (:mod:`noren.attacks.ballot`). Whoever found
    most there is followed: a member as it answers, or a vote of all, weighed by what each found in the rehearsal or by
    how far members agree.

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

    name = "ensemble"
    summary = N_("Uses whichever attack re-identifies most in a rehearsal of the release; else lets all vote.")
    source = "Dawid and Skene 1979"
    runtime = Runtime.MINUTES
    sees_through = frozenset(
        {Recoding.DELETED_ROWS, Recoding.ADDED_ROWS, Recoding.SWAPPED_ROWS}
        | {Recoding.GENERALISED_CELLS, Recoding.NOISED_NUMBERS, Recoding.NOISED_DATES, Recoding.CHANGING_PSEUDONYMS}
    )
    listens = True

    members: tuple[str, ...] = Field(
        default=(), description=N_("the attacks that vote, by name; left out: all that fit the data")
    )

    rehearse: bool = Field(
        default=True,
        description=N_("whether to try the members on a release made in the same way, if the statement says how"),
    )

    _heard: Mapping[str, Guess] = PrivateAttr(default_factory=dict)
    _statement: Statement | None = PrivateAttr(default=None)

    def told(self, statement: Statement) -> Ensemble:
        """Return the ensemble that knows how the release was made, and can rehearse."""
        told = self.model_copy()
        told._statement = statement
        return told

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
        """Run the members, rehearse where the statement is known, and follow whoever found most there."""
        guesses, left_out = self._guesses(original, public, seed, part_of(progress, 0.0, 0.5), self._heard)
        ballot = self._ballot(guesses, public)
        agreed = ballot.agreed()
        told = self._rehearsed(original, public, ballot, agreed, seed, part_of(progress, 0.5, 0.95))
        progress(0.95, _("counting votes"))
        pairs, skill, divided = (ballot.elected(*agreed), *agreed) if told is None else told.followed(ballot, agreed)
        about = ballot.about(skill, divided)
        nothing = {"skill": 0.0, "weight": 0.0, "answers": 0}
        notes: dict[str, Any] = {
            "members": {name: about.get(name, nothing) for name in guesses},
            "left_out": left_out,
            "follows": AGREEMENT if told is None else told.best,
            "rehearsed": {} if told is None else dict(told.found),
        }
        return Guess(self.name, pairs.drop("period") if ballot.as_a_whole else pairs, notes)

    def _ballot(self, guesses: Mapping[str, Guess], public: History) -> Ballot:
        return Ballot.of(guesses, shown_periods(public, self).select("pseudonym", "period").unique(maintain_order=True))

    def _rehearsed(
        self, original: History, public: History, ballot: Ballot, agreed: Weights, seed: int, progress: Progress
    ) -> Rehearsed | None:
        """Return what was found in a release like this one; None where the statement does not say how to make one."""
        if self._statement is None or not self.rehearse or len(ballot.said) < _WORTH:
            return None
        names = ballot.elected(*agreed)
        # a pseudonym that is seen in one period stands for a customer that others stand for, too
        changing = not ballot.shown["pseudonym"].is_duplicated().any() and not ballot.as_a_whole
        tried = rehearsal(
            *(original, public, self._statement, names if changing else names.clear()),
            seed=seed,
            progress=part_of(progress, 0.0, 0.1, _("rehearsal")),
        )
        if tried is None:
            return None
        part = part_of(progress, 0.1, 1.0, _("rehearsal"))
        ready = self.model_copy(update={"members": tuple(ballot.said)})
        guesses, _refused = ready._guesses(tried.known, tried.public, seed, part, {}, stern=False)
        return Rehearsed.of(self._ballot(guesses, tried.public), tried.truth)

    def _guesses(
        self,
        original: History,
        public: History,
        seed: int,
        progress: Progress,
        heard: Mapping[str, Guess],
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
            told = part_of(progress, at / len(names), (at + 1) / len(names), name)
            told(0.0)
            if name in heard:
                guesses[name] = heard[name]
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
                # a member that asks for periods knows them
                periods = {"period": self.period, "starts": self.starts}
                own = {key: value for key, value in periods.items() if key in attacks[name].model_fields}
                guesses[name] = build(attacks[name], own).attack(original, public, seed=seed, progress=told)
            except InputError as error:
                if self.members and stern:
                    raise
                left_out[name] = str(error)
        return guesses, left_out
