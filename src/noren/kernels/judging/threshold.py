"""How many hits prove that a release is unsafe (S0 §4), in whole numbers and without rounding.

An attacker names ``n`` of ``N`` pseudonyms and ``X`` of them are right. The release is held to be safe as long as it
may satisfy

    H0: whoever names them, for every set S of pseudonyms, Pr(all of S are named rightly) <= p^|S|.

The guess is *effective* when ``X >= r(n)``, where ``r(n)`` is the least ``s`` whose probability under H0 is surely
below ``alpha``. Two bounds on that probability:

**paper**: ``Pr(X >= s) <= u(s) = Σ_{k=s..n} C(n,k)·p^k``. Exactly k right means that one of C(n,k) sets is all right;
add up. This counts overlapping events many times.

**sharp**: ``Pr(X >= s) <= min_{0<=j<=s} C(n,j)·p^j / C(s,j)``, for every N; equal to the supremum over everything that
H0 allows where enough people are left to be wrong about, ``N >= s + 8`` for p = 1/3.

*Upper bound.* C(X,j) counts the j-sets that are all right, so ``E[C(X,j)] = Σ_{|S|=j} Pr(S all right) <= C(n,j)·p^j``.
C(x,j) grows with x, so by Markov ``Pr(X >= s) <= E[C(X,j)] / C(s,j)``, for every j from 0 to s.

*Attained for N >= s + 8.* Let q be the minimum. With probability q let a uniformly drawn s-set of the n be right and
the others a uniform derangement, so that nobody else is; with 1 - q all N are deranged. H0 speaks of whatever is
named, so take j of these right names and l others. The j are all right with
``q·C(n-j,s-j)/C(n,s) = q·C(s,j)/C(n,j) <= p^j`` (0 for j > s). Given that, M = N - s people are deranged, or N, and l
given names, none of them a person's own, hold with at most 3^-l: for l = 1 with 1/(M-1); for more with at most
``(M-l)!/D_M``, which times 3^l falls and then grows with l, from 9·(M-2)!/D_M < 0.44 at l = 2 to 3^M/D_M < 0.45 at
l = M, as D_8 = 14,833 > 3^8. So H0 holds and ``Pr(X >= s) = q``. With seven left the last step fails
(D_7 = 1,854 < 3^7), and the supremum may be far lower: for N = n = 7 and s = 5 it is 22/2187 = 0.0101, as each of the
22 bijections with five hits or more may have 3^-7, where the formula says 0.0864.

*Where.* The term for j + 1 over the term for j is ``p·(n-j)/(s-j)``, below 1 exactly while ``j < (s-pn)/(1-p)``, so the
minimum is at ``j* = ⌈(s-pn)/(1-p)⌉`` cut to [0, s]. (The inequality is Linial and Luria's, arXiv 1403.7739.)
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import comb
from typing import Literal

from noren.errors import ParameterError

Bound = Literal["paper", "sharp"]
P = Fraction(1, 3)
ALPHA = Fraction(1, 2000)


def _reject_outside(n: int, p: Fraction, alpha: Fraction) -> None:
    if n < 0:
        raise ParameterError.out_of_range("n", n, "n >= 0")
    if not 0 < p < 1:
        raise ParameterError.out_of_range("p", p, "0 < p < 1")
    if not 0 < alpha <= 1:
        raise ParameterError.out_of_range("alpha", alpha, "0 < alpha <= 1")


def union_probability(n: int, s: int, p: Fraction = P) -> Fraction:
    """Return the paper's bound ``u = Σ_{k=s..n} C(n,k)·p^k``.

    >>> union_probability(7, 7)
    Fraction(1, 2187)
    """
    return sum((comb(n, k) * p**k for k in range(s, n + 1)), Fraction(0))


def sharp_probability(n: int, s: int, p: Fraction = P) -> Fraction:
    """Return what H0 keeps ``Pr(X >= s)`` at or below: the largest it may be, where N >= s + 8 (for p = 1/3).

    >>> sharp_probability(2, 1), sharp_probability(2, 2)
    (Fraction(2, 3), Fraction(1, 9))
    """
    j = _best_j(n, s, p)
    return Fraction(comb(n, j), comb(s, j)) * p**j


def _best_j(n: int, s: int, p: Fraction) -> int:
    a, b = p.numerator, p.denominator
    return min(max(-((a * n - b * s) // (b - a)), 0), s)


def threshold(n: int, bound: Bound = "paper", p: Fraction = P, alpha: Fraction = ALPHA) -> int:
    """Return ``r(n)``: this many of ``n`` named people right, or more, make a guess effective; ``n + 1`` if none does.

    Parameters
    ----------
    n
        How many people the attacker names.
    bound
        ``paper``, the rule of PWS Cup 2018, or ``sharp``, which asks for fewer right answers.
    p
        The chance of naming one person that a safe release may leave, between 0 and 1.
    alpha
        The chance of calling a safe release unsafe, at most 1.

    Examples
    --------
    Seven of seven: 1/3^7 = 1/2187 is below 1/2000; six of six: 1/729 is not.

    >>> threshold(7), threshold(6), threshold(99), threshold(99, "sharp")
    (7, 7, 64, 52)
    """
    _reject_outside(n, p, alpha)
    if bound == "sharp":  # the probability falls as s grows
        return bisect_left(range(1, n + 1), x=True, key=lambda s: _is_rare(n, s, p, alpha)) + 1
    # the terms b^n·C(n,k)·p^k are added from k = n down until they reach b^n·alpha, as all down to k = 0 surely do
    a, b = p.numerator, p.denominator
    limit = alpha.numerator * b**n
    s = n
    tail = term = a**n
    while tail * alpha.denominator < limit:
        term = term * s * b // ((n - s + 1) * a)
        tail += term
        s -= 1
    return s + 1


def _is_rare(n: int, s: int, p: Fraction, alpha: Fraction) -> bool:
    j = _best_j(n, s, p)
    left: int = comb(n, j) * p.numerator**j * alpha.denominator
    right: int = comb(s, j) * p.denominator**j * alpha.numerator
    return left < right


def thresholds(last: int, bound: Bound = "paper", p: Fraction = P, alpha: Fraction = ALPHA) -> list[int]:
    """Return ``r(0), …, r(last)``, each from the one before.

    The paper's sum grows by ``u(n+1, s) = u(n, s) + p·u(n, s-1)`` (Pascal's rule), so each step is a few products. Both
    bounds grow with n and fall with s, so r never goes back.

    >>> thresholds(12)
    [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11]
    """
    _reject_outside(last, p, alpha)
    s, table = 1, []
    if bound == "sharp":
        for n in range(last + 1):
            while s <= n and not _is_rare(n, s, p, alpha):
                s += 1
            table.append(s)
        return table
    a, b = p.numerator, p.denominator
    # all times b^n, to stay whole: tail = u(n, s), before = C(n, s-1)·p^(s-1), limit = alpha
    tail, before, limit = 0, 1, alpha.numerator
    for n in range(last + 1):
        while s <= n and tail * alpha.denominator >= limit:
            before = before * (n - s + 1) * a // (s * b)
            tail -= before
            s += 1
        table.append(s)
        tail = tail * (a + b) + before * a
        before = before * (n + 1) * b // (n + 2 - s)
        limit *= b
    return table
