"""Whose pseudonym it is when some of its rows are another's: swapped rows.

A swap puts rows of a partner k under the pseudonym of i. Of the rows under it a share t is then the owner's and the
rest the partner's, and each row speaks by

    log((1 - a) + a (t f_i + (1 - t) f_k)),

f being what :mod:`noren.kernels.linkage.copied_rows` finds for a row and a person, against any row that is sold. t is
not known; it takes a few values, whose chances are learnt. i with t beside k says the same of the rows as k with 1 - t
beside i: where much is swapped the rows tell the two people, and something else (how many rows there are) must tell
which is which.

**Split-half calibration of evidence: the temperature by which log-likelihoods are to be divided.**
Evidence that counts the same fact many times (a basket's rows share their day) is too sure of itself; divided by a
temperature above 1 it is not. Cut the rows of every pseudonym into two halves: both speak of the same customer. Whoever
is too sure finds halves that contradict each other, whoever is not sure enough gives away that they agree. The
temperature is the one at which it is likeliest that the halves belong together:

    Σ_pseudonyms log Σ_i p_A(i) p_B(i) / π(i)

is largest, p_A and p_B being what the halves say of customer i and π what was believed before. No truth is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.linkage.copied_rows import Beside, Copies, Held, Shown, plain_arrays, row_weight
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, PublicLayout
from noren.kernels.ordered import first_from

OWN_SHARES = np.array([1.0, 0.9, 0.75, 0.6, 0.5, 0.4, 0.25, 0.1, 0.0])
"""Which share of a pseudonym's rows may be its owner's: all of them first, none last."""
_BLOCK = 8_192


@dataclass(frozen=True)
class OwnerScores:
    """How likely each candidate is to own a pseudonym, by logarithm."""

    parts: Real
    """For each pseudonym, candidate and own share, against any rows that are sold."""
    others: Real
    """The same for people who are not among the candidates: all rows are then a partner's."""

    @property
    def whole(self) -> Real:
        """For each pseudonym and candidate, all own shares together."""
        return log_sum(self.parts)

    def shares_of(self, candidate: Whole) -> Real:
        """Return how likely each own share is if that candidate of each pseudonym owns it; 0 where there is none."""
        units = np.flatnonzero(candidate >= 0)
        parts = self.parts[units, candidate[units]]
        shares = np.zeros((len(candidate), len(OWN_SHARES)))
        shares[units] = np.exp(parts - log_sum(parts)[:, None])
        return shares


@dataclass(frozen=True)
class Partners:
    """What the rows of each pseudonym say of every pair of its candidates."""

    candidates: Whole
    """A few likely people for each pseudonym; below 0 where there are fewer."""
    alone: Real
    """For each pseudonym and candidate: all rows are theirs."""
    beside: Real
    """For each pseudonym, candidate and own share but the first and the last: all partners together."""
    people: int
    """How many people there are, any of whom may be a partner."""

    def owned(self, chance: Real) -> OwnerScores:
        """Return how likely each candidate is to own each pseudonym, ``chance`` being that of each own share."""
        weight = np.log(np.maximum(chance, 1e-12))
        any_partner = -np.log(max(self.people, 1))
        parts = np.full((*self.candidates.shape, len(OWN_SHARES)), -np.inf)
        parts[:, :, 0] = weight[0] + self.alone
        parts[:, :, 1:-1] = weight[1:-1] + any_partner + self.beside
        others = weight[-1] + any_partner + log_sum(self.alone)
        parts[:, :, -1] = np.where(self.candidates >= 0, others[:, None], -np.inf)
        return OwnerScores(parts, others)


def partners(
    known: KnownLayout, public: PublicLayout, beside: Backgrounds, copies: Copies, candidates: Whole
) -> Partners:
    """Return what the rows of each pseudonym say of every pair of its candidates; 0 is what any rows say."""
    arrays = plain_arrays(known, public, beside, copies)
    units, many = candidates.shape
    alone, beside_any = np.empty((units, many)), np.empty((units, many, len(OWN_SHARES) - 2))
    for start in range(0, units, _BLOCK):  # pairs of all pseudonyms take much more memory than what is left of them
        some = slice(start, min(start + _BLOCK, units))
        alone[some], pairs = _partners(*arrays, copies.share, candidates, OWN_SHARES[1:-1], some.start, some.stop)
        beside_any[some] = log_sum(np.moveaxis(pairs, 2, 3))
    return Partners(candidates, alone, beside_any, len(known.rows))


def log_sum(values: Real) -> Real:
    """Return the logarithm of the sum of exponentials along the last axis."""
    most = values.max(axis=-1, initial=-np.inf)
    safe = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe[..., None]).sum(axis=-1)) + safe)


@kernel()
def _partners(
    known: Held,
    public: Shown,
    beside: Beside,
    share: float,
    candidates: Whole,
    own: Real,
    begin_unit: int,
    end_unit: int,
) -> tuple[Real, Real]:
    known_first, known_person, values, rows = known
    unit_first, begin, end, lo, hi, item_first, item, _half = public
    periods = rows.shape[1] - 1
    many = candidates.shape[1]
    alone = np.full((end_unit - begin_unit, many), -np.inf)
    pairs = np.full((end_unit - begin_unit, many, many, len(own)), -np.inf)
    memo = np.zeros(len(beside[2]))
    memo_of = np.full(len(beside[2]), -1, np.int64)
    most = 0
    for u in range(begin_unit, end_unit):
        most = max(most, unit_first[u + 1] - unit_first[u])
    fits = np.empty((most, many))
    for u in range(begin_unit, end_unit):
        start, count = unit_first[u], unit_first[u + 1] - unit_first[u]
        for r in range(start, start + count):
            for c in range(many):
                i = candidates[u, c]
                total = 0.0
                held = 0.0
                if i >= 0:
                    held = rows[i, end[r] + 1] - rows[i, begin[r]]
                    for p in range(begin[r], end[r] + 1):
                        for e in range(item_first[r], item_first[r + 1]):
                            a = known_first[item[e] * periods + p]
                            b = known_first[item[e] * periods + p + 1]
                            for s in range(first_from(known_person, a, b, i), b):
                                if known_person[s] != i:
                                    break
                                total += row_weight(s, r, values, lo, hi, beside, memo, memo_of)
                fits[r - start, c] = total / held if held > 0 else 0.0
        for c in range(many):
            if candidates[u, c] < 0:
                continue
            spoken = 0.0
            for r in range(count):
                spoken += np.log((1 - share) + share * fits[r, c])
            alone[u - begin_unit, c] = spoken
            for d in range(many):
                if d == c or candidates[u, d] < 0:
                    continue
                for t in range(len(own)):
                    spoken = 0.0
                    for r in range(count):
                        spoken += np.log((1 - share) + share * (own[t] * fits[r, c] + (1 - own[t]) * fits[r, d]))
                    pairs[u - begin_unit, c, d, t] = spoken
    return alone, pairs


# --- Split-half calibration of evidence: the temperature by which log-likelihoods are to be divided -------------------


TEMPERATURES = np.array([0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0])


def posterior(first: Whole, value: Real, prior: Real, rest: Real) -> Real:
    """Return the chance of each listed customer, ``prior`` times e^value against all others of the same pseudonym.

    The customers of a pseudonym start at ``first``; ``rest`` is what was believed of all who are not listed, for whom
    nothing speaks.

    Two of four customers are listed; the first fits three times as well as any customer would.

    >>> posterior(np.array([0, 2]), np.log([3.0, 1.0]), np.array([0.25, 0.25]), np.array([0.5])).round(2).tolist()
    [0.5, 0.17]
    """
    unit = np.repeat(np.arange(len(rest)), np.diff(first))
    most = np.zeros(len(rest))
    np.maximum.at(most, unit, value)
    weight = prior * np.exp(value - most[unit])
    whole = np.bincount(unit, weights=weight, minlength=len(rest)) + rest * np.exp(-most)
    return np.asarray(weight / np.maximum(whole[unit], 1e-300))


def agreement(first: Whole, halves: Real, prior: Real, rest: Real, heat: float) -> float:
    """Return how likely it is, by logarithm, that the halves of each pseudonym belong together."""
    first_half, second_half = (posterior(first, halves[:, side] / heat, prior, rest) for side in (0, 1))
    unit = np.repeat(np.arange(len(rest)), np.diff(first))
    size = len(rest)
    same = np.bincount(unit, weights=first_half * second_half / np.maximum(prior, 1e-300), minlength=size)
    left = [np.maximum(1 - np.bincount(unit, weights=side, minlength=size), 0.0) for side in (first_half, second_half)]
    same = same + np.divide(left[0] * left[1], rest, out=np.zeros(size), where=rest > 1e-9)
    return float(np.log(np.maximum(same, 1e-300)).sum())


def temperature(first: Whole, halves: Real, prior: Real, rest: Real) -> float:
    """Return the temperature at which the halves agree best; 1 where nothing tells.

    The halves agree on the first of two customers, each with certainty: the colder the better.

    >>> halves = np.array([[3.0, 3.0], [0.0, 0.0]])
    >>> temperature(np.array([0, 2]), halves, np.array([0.5, 0.5]), np.array([0.0]))
    0.7
    """
    scores = np.array([agreement(first, halves, prior, rest, heat) for heat in TEMPERATURES])
    if not len(halves) or np.ptp(scores) < 1e-9:
        return 1.0
    return float(TEMPERATURES[int(np.argmax(scores))])
