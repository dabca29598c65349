"""Lower bounds on ε from what a guesser gets right: evidence that a proof of an upper bound is not wrong.

**One run** (Steinke, Nasr and Jagielski 2023): each of many rows is one of two values by a fair coin, and a guesser
says which for as many as he likes. Under (ε, δ) the number of right guesses is hardly more than binomial with the
chance e^ε/(1+e^ε). **Many runs**: one row is one of two values in every run; a threshold is chosen in half of the runs,
and the rates of the other half, Clopper and Pearson's bounds of them, give ``ln((TPR - δ)/FPR)``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc, expit

from noren.kernels.arrays import Whole
from noren.kernels.judging.shares import share_high, share_low
from noren.retention.perturbation import Perturbation


def one_run_epsilon(coins: int, guessed: int, right: int, delta: float = 0.0, error: float = 0.05) -> float:
    """Return what ε is at least, but for a chance of ``error``, given so many right guesses of so many coins."""
    low, high = 0.0, 40.0
    if _chance(coins, guessed, right, 0.0, delta) >= error:
        return 0.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(coins, guessed, right, middle, delta) < error else (low, middle)
    return low


def _chance(coins: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """Return how likely so many right guesses are at most: theorem 5.2 of the paper."""
    chance = float(expit(epsilon))
    reached = float(bdtrc(right - 1, guessed, chance)) if right else 1.0
    if delta == 0 or not right:
        return reached
    fewer = np.arange(1, right + 1)
    below = bdtr(float(right - 1), guessed, chance) - np.where(
        fewer < right, bdtr(np.maximum(right - 1.0 - fewer, 0.0), guessed, chance), 0.0
    )
    return min(reached + 2 * coins * delta * float((below / fewer).max()), 1.0)


def row_epsilon(plan: Perturbation, rows: int, seed: int, error: float = 0.05) -> float:
    """Return what one run tells of ε of single rows: values that differ in every attribute, guessed where one shows."""
    coins = np.random.default_rng(seed).integers(0, 2, rows)
    noisy = plan.perturbed([_ends(size, coins) for size in plan.sizes], seed=seed)
    shows = [
        np.all([column == end for column, end in zip(noisy, ends, strict=True)], axis=0)
        for ends in ([0] * len(plan.sizes), [size - 1 for size in plan.sizes])
    ]
    right = int((shows[0] & (coins == 0)).sum() + (shows[1] & (coins == 1)).sum())
    return one_run_epsilon(rows, int(shows[0].sum() + shows[1].sum()), right, error=error)


def table_epsilon(plan: Perturbation, rows: int, runs: int, seed: int, delta: float, error: float = 0.05) -> float:
    """Return what many runs tell of ε of all rows without an order, the others being of a third value if there is one.

    The score is how many more rows show the first value of every attribute than show the last.
    """
    others = [
        np.full(rows - 1, size // 2 if size > 2 else at % 2, dtype=np.int64) for at, size in enumerate(plan.sizes)
    ]
    scores = np.empty((2, runs))
    for coin in (0, 1):
        for run in range(runs):
            codes = [np.append(other, _ends(size, coin)) for other, size in zip(others, plan.sizes, strict=True)]
            noisy = plan.perturbed(codes, seed=(seed << 64) + (run << 1) + coin)
            first = np.all([column == 0 for column in noisy], axis=0).sum()
            last = np.all([column == size - 1 for column, size in zip(noisy, plan.sizes, strict=True)], axis=0).sum()
            scores[coin, run] = float(first) - float(last)
    half = runs // 2
    thresholds = np.unique(scores[:, :half])
    rates = [[(scores[coin, :half] >= at).mean() for at in thresholds] for coin in (0, 1)]
    usable = np.array(rates[1]) >= 10 / half  # a rate of hardly any run tells nothing surely
    worth = np.where(usable, (np.array(rates[0]) - delta) / np.maximum(rates[1], 1e-9), 0.0)
    at = thresholds[int(worth.argmax())]
    hits = [int((scores[coin, half:] >= at).sum()) for coin in (0, 1)]
    true, false = share_low(hits[0], runs - half, error / 2), share_high(hits[1], runs - half, error / 2)
    return max(float(np.log(max(true - delta, 1e-12) / false)), 0.0)


def _ends(size: int, coin: Whole | int) -> Whole:
    return np.asarray(np.where(np.asarray(coin) == 0, 0, size - 1), dtype=np.int64)
