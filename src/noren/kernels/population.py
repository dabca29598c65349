"""How far columns tell people apart, and how many are unique in the population that a sample was drawn from.

**How many people of a population are unique, estimated from the classes of a sample.**
A class has the people who are alike in all quasi-identifiers. Known are the sizes of the classes of the sample: ``f_i``
classes of ``i`` rows, ``u`` in all, ``n`` rows; the population has ``N`` people, and ``π = n/N`` of them are in the
sample. Who is alone in the sample need not be alone in the population.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares, minimize
from scipy.special import expit, gammaln, logit
from scipy.stats import hypergeom

from noren.kernels.arrays import Real, Whole


class Separation(NamedTuple):
    """How far a set of columns tells rows apart."""

    distinction: float
    """Different combinations of values, over rows."""
    separation: float
    """The share of pairs of rows that differ in a column."""
    alone: float
    """The share of rows whose combination no other has."""


def separation(classes: Whole) -> Separation:
    """Return how far classes tell rows apart.

    Of four rows two are alike: three combinations, five of six pairs, two rows alone.

    >>> separation(np.array([0, 0, 1, 2]))
    Separation(distinction=0.75, separation=0.8333333333333334, alone=0.5)
    """
    rows = len(classes)
    sizes = np.bincount(classes)
    sizes = sizes[sizes > 0].astype(np.float64)
    pairs = rows * (rows - 1) / 2
    alike = float((sizes * (sizes - 1)).sum() / 2)
    return Separation(
        len(sizes) / rows if rows else 0.0,
        1 - alike / pairs if pairs else 0.0,
        float((sizes == 1).sum()) / rows if rows else 0.0,
    )


# --- How many people of a population are unique, estimated from the classes of a sample -------------------------------


SMALL_FRACTION = 0.1
"""Up to this sampling fraction the rule of Dankar et al. trusts the estimator of Pitman."""
_NEAR = 1e-6


class ClassCounts(NamedTuple):
    """How many classes of each size there are: ``number[i]`` of ``size[i]`` rows."""

    size: Real
    number: Real

    @property
    def rows(self) -> float:
        """Rows of the sample."""
        return float(self.size @ self.number)

    @property
    def classes(self) -> float:
        """Classes of the sample."""
        return float(self.number.sum())

    def of(self, size: int) -> float:
        """Return how many classes have ``size`` rows."""
        return float(self.number[self.size == size].sum())


def class_counts(sizes: Whole) -> ClassCounts:
    """Return how many classes of each size there are.

    >>> class_counts(np.array([1, 3, 1])).number.tolist()
    [2.0, 1.0]
    """
    size, count = np.unique(sizes, return_counts=True)
    return ClassCounts(size.astype(np.float64), count.astype(np.float64))


def zayatz_uniques(classes: ClassCounts, population: float) -> float:
    """Return the number of unique people by Zayatz (1991).

    Classes of the population are taken to have the sizes that the sample's have. Then a row that is alone in the sample
    is from a class of one with the chance ``f₁·h(1) / Σ f_i·h(i)``, ``h(i)`` being the chance that a class of ``i``
    shows one row, which is hypergeometric; each stands for ``1/π`` people.

    Four are alone and two alike, half the population: h(1) = 1/2, h(2) = 2·(1/2)(6/11) = 6/11.

    >>> round(zayatz_uniques(class_counts(np.array([1, 1, 1, 1, 2])), 12), 6) == round(4 * 2 / (2 + 6 / 11) * 2, 6)
    True
    """
    n, alone = classes.rows, classes.of(1)
    if not alone:
        return 0.0
    shows_one = hypergeom.pmf(1, round(population), classes.size.astype(np.int64), round(n))
    sure = alone * shows_one[classes.size == 1][0] / float(classes.number @ shows_one)
    return float(alone * sure * population / n)


def pitman_uniques(classes: ClassCounts, population: float) -> float | None:
    """Return the number of unique people under Pitman's sampling formula, fitted by likelihood (Hoshino 2001).

    People come one after another: after ``i``, the next is alike to a class of ``j`` with the chance ``(j−α)/(θ+i)``,
    else unlike all. ``θ`` and ``α`` maximise ``Σ_{i<u} log(θ+iα) − Σ_{i<n} log(θ+i) + Σ_j f_j·Σ_{i<j} log(i−α)``.
    The first of N people stays alone with the chance ``Π_{i<N} (θ+α+i−1)/(θ+i)``, and so does each: Hoshino's
    ``Γ(θ+1)/Γ(θ+α)·N^α`` is the limit of N times this for large N, and we take the exact value.

    None where there is no maximum inside 0 < α < 1, as where everybody is alone.
    """
    n, u = classes.rows, classes.classes
    if not classes.of(1):
        return 0.0
    if u in (1.0, n):
        return None

    def value(at: Real) -> float:
        alpha = float(expit(at[0]))
        theta = float(np.exp(at[1])) - alpha
        new = (u - 1) * np.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
        every = gammaln(theta + n) - gammaln(theta + 1)
        alike = float(classes.number @ (gammaln(classes.size - alpha) - gammaln(1 - alpha)))
        return float(every - new - alike)

    room = [(logit(_NEAR), -logit(_NEAR)), (-20.0, float(np.log(1e3 * population)))]
    best = min(
        (
            minimize(value, [logit(alpha), np.log(theta)], method="Nelder-Mead", bounds=room, options=_PRECISE)
            for alpha in (0.2, 0.8)
            for theta in (1.0, u)
        ),
        key=lambda fit: float(fit.fun),
    )
    alpha = float(expit(best.x[0]))
    theta = float(np.exp(best.x[1])) - alpha
    if any(x - low < _NEAR or high - x < _NEAR for x, (low, high) in zip(best.x, room, strict=True)):
        return None
    stays = gammaln(theta + 1) + gammaln(theta + alpha + population - 1)
    return float(population * np.exp(stays - gammaln(theta + alpha) - gammaln(theta + population)))


_PRECISE = {"xatol": 1e-9, "fatol": 1e-9, "maxiter": 1000, "maxfev": 1000}


def snb_uniques(classes: ClassCounts, population: float) -> float | None:
    """Return the number of unique people if sizes are slide negative binomial (Chen and Keller-McNulty 1998).

    A class has 1 + X people, X negative binomial with ``α`` and ``β``. Its probability generating function is
    ``g(s) = s·(β/(1−(1−β)s))^α``, and each person is in the sample with the chance π, so ``f₁`` is expected to be
    ``K·π·g′(1−π)`` and ``f₂`` to be ``K·π²/2·g″(1−π)``. K, the number of classes of the population, is estimated as
    Haas and Stokes (1998) do after Shlosser. The two equations give α and β; ``K·β^α`` classes have one person.

    None where no α and β solve them.
    """
    f, singles, doubles = classes.rows / population, classes.of(1), classes.of(2)
    if not singles:
        return 0.0
    if f >= 1:
        return singles
    if not doubles:
        return None
    # how many classes the population has (Haas and Stokes 1998, their third estimator after Shlosser)
    i, count = classes.size, classes.number
    unseen = (1 - f) ** i
    more = (i * f * f * (1 - f * f) ** (i - 1)) @ count / ((unseen * ((1 + f) ** np.minimum(i, 1e3) - 1)) @ count)
    ratio = (unseen @ count) / ((i * f * (1 - f) ** (i - 1)) @ count)
    total = float(classes.classes + singles * more * ratio**2)
    if not np.isfinite(total) or total > population:
        return None

    def misses(at: Real) -> Real:
        alpha, beta = float(np.exp(at[0])), float(expit(at[1]))
        left = (1 - beta) * (1 - f)
        share = np.exp(alpha * (np.log(beta) - np.log1p(-left)))
        first = total * f * share * (1 + alpha * left / (1 - left))
        second = total * f * f / 2 * alpha * (1 - beta) * share * (2 + (alpha - 1) * left) / (1 - left) ** 2
        return np.log(np.maximum([first / singles, second / doubles], 1e-300))

    starts = [(a, b) for a in (-2.0, 0.0, 2.0) for b in (-4.0, 0.0, 4.0)]
    solution = min((least_squares(misses, at, bounds=(-20, 20)) for at in starts), key=lambda fit: float(fit.cost))
    if solution.cost > _NEAR:
        return None
    return float(total * np.exp(np.exp(solution.x[0]) * np.log(expit(solution.x[1]))))
