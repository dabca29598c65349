"""Stability of ranks under resampling of the customers (bootstrap).

Customers are drawn with replacement, as many as there are, the same for all teams and guesses. The results of attacks
are counted again for them by the same kernels, and ranks follow by the rules. Held fixed are the releases and their own
measures, the guesses, their targets, and disqualifications. The draws follow from the revealed salt, so anyone who has
the log gets the same numbers.

The log holds for every guess how many pseudonyms of each customer it names, and how many correctly, in a few characters
per customer (:class:`ByCustomer`), so that ranks can be computed for other samples without any file. Digits are in the
order of the customers' names as text; the names are not included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.contest.receipts import seed
from noren.contest.standings import Status, board, guesses_against, ranks
from noren.contest.state import Contest
from noren.data.contest_files import listed_customers
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.i18n import _
from noren.judgement.numbers import count
from noren.kernels.arrays import Flags, Real
from noren.kernels.judging.composition import matching_curves, user_matchings
from noren.kernels.judging.shares import mean_high, mean_low, share_interval
from noren.kernels.judging.threshold import threshold
from noren.measures.safety.effective import Effective
from noren.measures.safety.hits import hits_by_target
from noren.measures.safety.matching import UNLISTED, matched
from noren.protocols import Evidence, Guess, Measure

_WIDEST = 8
DRAWS = 1000
_AT_ONCE = 2**22
_OUTSIDE = 0.025


@dataclass(frozen=True)
class ByCustomer:
    """The result of one guess for each customer."""

    named: NDArray[np.int64]
    right: NDArray[np.int64]
    """``named``, ``right``: how many pseudonyms of each customer are named, and how many correctly."""
    match: NDArray[np.bool_] | None = None
    live: NDArray[np.bool_] | None = None
    """``match``, ``live``: where guess and truth agree, and where there is a pseudonym, for each customer (row) and
    period (column); None if no measure of the rules needs it.
    """
    refused: bool = False
    """Whether user matching rejects the guess, because it omits customers."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as in the log.

        >>> ByCustomer(np.array([0, 1, 2]), np.array([0, 0, 1])).as_dict()
        {'named': '012', 'right': '001', 'width': 1}
        """
        width = len(f"{int(self.named.max(initial=0)):x}")
        shifts = 4 * np.arange(width - 1, -1, -1)  # each number is so many hexadecimal digits, one after the other
        digits = np.frombuffer(b"0123456789abcdef", np.uint8)
        data: dict[str, Any] = {
            name: digits[(counts[:, None] >> shifts) & 15].tobytes().decode()
            for name, counts in (("named", self.named), ("right", self.right))
        }
        data["width"] = width
        if self.match is not None and self.live is not None:
            bits = {"match": self.match, "live": self.live}
            data |= {"periods": self.match.shape[1]}
            data |= {name: np.packbits(cells).tobytes().hex() for name, cells in bits.items()}
        return data | ({"refused": True} if self.refused else {})

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ByCustomer:
        """Return it from the log.

        >>> ByCustomer.of({"named": "0112", "right": "0011", "width": 1}).right.tolist()
        [0, 0, 1, 1]
        """
        width = int(data["width"])
        named, right = _counts(data["named"], width), _counts(data["right"], width)
        if "match" not in data:
            return cls(named, right)
        shape = len(named), int(data["periods"])
        packed = (np.frombuffer(bytes.fromhex(data[name]), np.uint8) for name in ("match", "live"))
        match, live = (
            np.unpackbits(bits, count=shape[0] * shape[1]).astype(np.bool_).reshape(shape) for bits in packed
        )
        return cls(named, right, match, live, bool(data.get("refused")))


def by_customer(original: Records, release: Release, guess: Guess, *, cells: bool) -> dict[str, Any]:
    """Return the result of a guess for each customer, as in the log.

    The release has its secret part, and the guess its pseudonyms; ``cells``: a measure of the rules looks at each
    customer and period (um, mm, emm).
    """
    if isinstance(original, History):  # who the customers are, in the order of the digits; of a table its rows
        customers = listed_customers(original)
    else:
        customers = pl.int_range(1, len(original) + 1, eager=True).cast(pl.String)
    counted = customers.to_frame("target").join(
        hits_by_target(guess, release.secret), on="target", how="left", maintain_order="left"
    )
    named, right = (counted[name].fill_null(0).to_numpy() for name in ("named", "right"))
    if not cells:
        return ByCustomer(named, right).as_dict()
    tables = matched(Evidence(original, release, {"guess": guess}))
    refused = bool(guess.notes.get(UNLISTED))
    return ByCustomer(named, right, tables.match["guess"], tables.live, refused).as_dict()


def _counts(text: str, width: int) -> NDArray[np.int64]:
    if not 1 <= width <= _WIDEST or len(text) % width:
        raise ValueError(f"{len(text)} digits are not numbers of {width}")
    nibbles = np.frombuffer(bytes.fromhex("".join(f"0{digit}" for digit in text)), np.uint8).astype(np.int64)
    return nibbles.reshape(-1, width) @ (16 ** np.arange(width - 1, -1, -1, dtype=np.int64))


@dataclass(frozen=True)
class TeamStability:
    """Stability of the rank of one team."""

    team: str
    rank: int
    same_rank: float
    low: float
    high: float
    """``same_rank``, ``low``, ``high``: the share of draws in which it has this very rank; its 95 % interval."""
    best: int | None
    worst: int | None
    """``best``, ``worst``: the ranks that hold it in 95 % of the draws; None where it has no rank in so many."""
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    """``mean``, ``mean_low``, ``mean_high``: its mean rank, with a 95 % interval; None if a draw gives no rank."""


@dataclass(frozen=True)
class Stability:
    """Stability of the ranks of a round."""

    draws: int
    people: int
    teams: tuple[TeamStability, ...]
    fixed: tuple[str, ...] = ()
    """Measures of attacks whose values could not be counted again, and stayed as they are."""

    @property
    def sentence(self) -> str:
        """What is resampled, in the active language."""
        sentence = _(
            "The ranks are computed again for {draws} bootstrap samples of the {people} customers, the same for all "
            "teams. Only the results of attacks change with the sample."
        ).format(draws=count(self.draws), people=count(self.people))
        if not self.fixed:
            return sentence
        return sentence + " " + _("Not resampled: {names}.").format(names=", ".join(self.fixed))


def stability_of(contest: Contest, round_: str, *, draws: int = DRAWS) -> Stability | None:
    """Return the stability of the ranks; None before the salt is revealed, or if no team is ranked."""
    if contest.salt is None:
        return None
    book, people_of_round = contest.rulebook, contest.rounds[round_].people
    final = board(contest, round_, contest.time, kind="final")
    playing = [standing for standing in final.standings if standing.status in (Status.RANKED, Status.CONDITION)]
    attacks: dict[str, list[ByCustomer]] = {}  # the guesses about each team's release
    is_complete = True
    for standing in playing:
        judged: list[Mapping[str, Any]] = [
            guess.judged or {} for guess in guesses_against(contest, round_, standing.submission or "")
        ]
        if book.baseline.counts:  # without those that failed
            baseline = (contest.submissions[standing.submission or ""].judged or {}).get("baseline") or {}
            judged += [result for result in baseline.values() if "values" in result]
        logged = [result["by_customer"] for result in judged if result.get("by_customer") is not None]
        attacks[standing.team] = [ByCustomer.of(counts) for counts in logged]
        is_complete = is_complete and len(logged) == len(judged)
    people = max((len(counts.named) for those in attacks.values() for counts in those), default=0)
    people = people or people_of_round
    if not people or all(standing.rank is None for standing in playing):
        return None
    keys = book.of_guess()
    # resampled are whole measures that do not depend on the order of the answers
    fixed = {
        key
        for key, (measure, part) in keys.items()
        if part is not None
        or measure.name not in _RESAMPLED
        or (isinstance(measure, Effective) and measure.best_prefix)
    }
    if not is_complete:
        fixed = set(keys)
    drawn_from = seed(bytes.fromhex(contest.salt), f"{contest.id}/{round_}/stability")
    ranks_in_draws: list[list[int | None]] = []
    for weights in drawn_weights(drawn_from, people, draws):
        values = []
        for standing in playing:  # own values unchanged, of attacks the worst
            in_draws = {key: np.full(len(weights), value) for key, value in standing.values.items()}
            for key, (measure, _part) in keys.items():
                if attacks[standing.team] and key not in fixed:
                    drawn = resampled_values(measure, attacks[standing.team], weights, people_of_round)
                    in_draws[key] = drawn.min(axis=1) if measure.goal == "higher" else drawn.max(axis=1)
            values.append(in_draws)
        for at in range(len(weights)):
            in_draw = [{name: float(counts[at]) for name, counts in of.items()} for of in values]
            scored = [(bool(book.broken(of)), book.score(of)) for of in in_draw]
            unranked = book.otherwise == "none"
            ranks_in_draws.append(
                ranks([None if score is None or (broken and unranked) else (broken, score) for broken, score in scored])
            )
    teams = tuple(
        _team_stability(standing.team, standing.rank, [ranked[at] for ranked in ranks_in_draws])
        for at, standing in enumerate(playing)
        if standing.rank is not None
    )
    return Stability(draws, people, teams, tuple(sorted(fixed)))


def drawn_weights(key: int, people: int, draws: int) -> Iterable[Real]:
    """Yield how often each customer is drawn, a row for each draw, as many rows at once as memory bears.

    A word of Philox is a fraction of 2^32 in its upper half; times the number of people it says who is drawn.

    >>> [block.sum(axis=1).tolist() for block in drawn_weights(7, 5, 3)]
    [[5.0, 5.0, 5.0]]
    """
    source = np.random.Philox(key=key)
    step = max(1, min(draws, _AT_ONCE // people))
    for start in range(0, draws, step):
        many = min(step, draws - start)
        words = source.random_raw(many * people) >> np.uint64(32)
        drawn = ((words * np.uint64(people)) >> np.uint64(32)).astype(np.int64).reshape(many, people)
        flat = drawn + people * np.arange(many)[:, None]
        yield np.bincount(flat.ravel(), minlength=many * people).reshape(many, people).astype(np.float64)


# --- what attacks come to --------------------------------------------------------------------------------------------


def resampled_values(measure: Measure, guesses: Sequence[ByCustomer], weights: Real, people: int) -> Real:
    """Return the values of a measure for guesses (columns) and samples of customers (rows).

    >>> guess = ByCustomer(np.array([1, 1]), np.array([1, 0]))
    >>> from noren.measures.safety.reid_rate import ReidRate
    >>> resampled_values(ReidRate(), [guess], np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]]), 2).tolist()
    [[0.5], [1.0], [0.0]]
    """
    return _RESAMPLED[measure.name](measure, guesses, weights, people)


_needed = lru_cache(maxsize=2**16)(threshold)
"""Cached, because the guesses of a round name similar numbers of people."""


def _effective(measure: Measure, guesses: Sequence[ByCustomer], weights: Real, _people: int) -> Real:
    if not isinstance(measure, Effective):
        raise TypeError(measure.name)
    columns = [guess.named for guess in guesses], [guess.right for guess in guesses]
    named, right = (weights @ np.stack(guess, axis=1).astype(np.float64) for guess in columns)
    counts, place = np.unique(named, return_inverse=True)
    p, alpha = Fraction(measure.p), Fraction(measure.alpha)
    needed = np.array([_needed(int(n), measure.bound, p, alpha) for n in counts])
    return (right >= needed[place].reshape(right.shape)).astype(np.float64)


def _by_periods(
    guesses: Sequence[ByCustomer], weights: Real, rate: Callable[[Flags, Flags], Real], *, refusing: bool = False
) -> Real:
    """Return the rate of each guess, those about equally many periods together; 0 where there are none, or refused."""
    rates = np.zeros((len(weights), len(guesses)))
    shapes: dict[int, list[int]] = {}
    for at, guess in enumerate(guesses):
        if guess.match is not None and guess.match.shape[1] and not (refusing and guess.refused):
            shapes.setdefault(guess.match.shape[1], []).append(at)
    for columns in shapes.values():
        match, live = (np.stack([getattr(guesses[at], name) for at in columns], axis=1) for name in ("match", "live"))
        rates[:, columns] = rate(match, live)
    return rates


_RESAMPLED: dict[str, Callable[[Measure, Sequence[ByCustomer], Real, int], Real]] = {
    "effective": _effective,
    "reid-rate": lambda _measure, guesses, weights, people: np.asarray(
        weights @ np.stack([guess.right > 0 for guess in guesses], axis=1).astype(np.float64) / people
    ),
    "um": lambda _measure, guesses, weights, _people: _by_periods(
        guesses, weights, lambda match, _live: user_matchings(match, weights), refusing=True
    ),
    "mm": lambda _measure, guesses, weights, _people: _by_periods(
        guesses, weights, lambda match, live: matching_curves(match, live, weights)[..., -1]
    ),
    "emm": lambda _measure, guesses, weights, _people: _by_periods(
        guesses, weights, lambda match, live: matching_curves(match, live, weights).max(axis=-1)
    ),
}


def _team_stability(team: str, rank: int, drawn: Sequence[int | None]) -> TeamStability:
    same = sum(1 for drawn_rank in drawn if drawn_rank == rank)
    low, high = share_interval(same, len(drawn))
    last = max((drawn_rank for drawn_rank in drawn if drawn_rank is not None), default=rank) + 1  # stands for no rank
    ordered = sorted(last if drawn_rank is None else drawn_rank for drawn_rank in drawn)
    best, worst = (ordered[round(q * (len(ordered) - 1))] for q in (_OUTSIDE, 1 - _OUTSIDE))
    numbers = [float(drawn_rank) for drawn_rank in drawn if drawn_rank is not None]
    whole = len(numbers) == len(drawn) > 1
    return TeamStability(
        team=team,
        rank=rank,
        same_rank=same / len(drawn),
        low=low,
        high=high,
        best=None if best == last else best,
        worst=None if worst == last else worst,
        mean=float(np.mean(numbers)) if whole else None,
        mean_low=mean_low(numbers, _OUTSIDE) if whole else None,
        mean_high=mean_high(numbers, _OUTSIDE) if whole else None,
    )
