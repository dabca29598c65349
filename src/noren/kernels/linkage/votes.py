"""What many answers together say, and how far each voter can be trusted, when nobody knows the truth.

Voters answer questions with one of K choices each, or stay silent. A voter of skill q knows the answer with chance q
and else guesses, so it is right with chance p = 1/K + (1 - 1/K) q, and speaks for its answer by
``log(p (K - 1)/(1 - p))``. Nobody tells q. But two voters who err each in its own way give the same answer with chance
1/K + (1 - 1/K) q q': what they agree more often than by chance is the product of their skills, and all pairs together
tell each skill (the one-coin model of Dawid and Skene 1979; products of skills as in Parisi et al. 2014).

Voters that go about it in the same way make the same mistakes. Those of one family do not vouch for each other. What
any two agree more often than their skills explain is taken for mistakes in common: such pairs count less when skills
are told, and the votes of both are divided among them.

Where the truth of like questions is at hand, skills are counted (:func:`tested`).
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["SILENT", "chances", "reliability", "tested"]


SILENT = -1

_ROUNDS = 300
_PLAIN_ROUNDS = 20
_STEP = 0.3
_IN_COMMON = 0.05
_MOST_QUESTIONS = 400
_DOUBT = 2.0
"""Before they agree on anything, two voters are taken to have agreed by chance in so many questions."""
_FEW = 20
_MOST_SKILL = 0.99


def reliability(answers: Whole, choices: Whole, family: Whole) -> tuple[Real, Real]:
    """Return the skill of each voter, told from the answers alone, and by what its votes are divided.

    Parameters
    ----------
    answers
        One line per question, one number per voter; equal numbers are equal answers, :data:`SILENT` is none.
    choices
        The number of choices each question has.
    family
        A number per voter; those with equal numbers do not vouch for each other.

    Examples
    --------
    Two of three agree on all four questions.

    >>> answers = np.array([[1, 1, 2], [3, 3, 1], [2, 2, 0], [0, 0, 3]])
    >>> skill, divided = reliability(answers, np.full(4, 50), np.arange(3))
    >>> skill.round(1).tolist(), divided.tolist()
    ([0.8, 0.8, 0.0], [1.0, 1.0, 1.0])

    Were they of one family, nobody could tell.

    >>> reliability(answers, np.full(4, 50), np.array([0, 0, 1]))[0].round(1).tolist()
    [0.0, 0.0, 0.0]
    """
    shared, product = _agreement(answers, choices)
    weight = np.where(family[:, None] == family[None, :], 0.0, np.sqrt(np.minimum(shared, _MOST_QUESTIONS)))
    skill = np.full(len(family), 0.5)
    for at in range(_ROUNDS):
        more = np.maximum(product - np.outer(skill, skill), 0.0) if at >= _PLAIN_ROUNDS else 0.0
        trust = weight / (1 + (more / _IN_COMMON) ** 2)
        told = (trust * product) @ skill / np.maximum(trust @ skill**2, 1e-9)
        skill = (1 - _STEP) * skill + _STEP * np.clip(told, 0.0, _MOST_SKILL)
    return skill, _divided(skill, shared, product)


def tested(answers: Whole, truth: Whole, choices: Whole) -> tuple[Real, Real]:
    """Return the skill of each voter, counted where the truth is known, and by what its votes are divided.

    Two answer both questions alike, and one of them right.

    >>> answers, truth = np.array([[1, 1, 2], [3, 3, 1]]), np.array([1, 0])
    >>> tested(answers, truth, np.full(2, 50))[0].round(2).tolist()
    [0.24, 0.24, 0.0]
    """
    said = answers != SILENT
    blind = (said / np.maximum(choices, 1)[:, None]).sum(axis=0) + _DOUBT / max(choices.mean(), 1.0)
    many = said.sum(axis=0) + _DOUBT
    right = (said & (answers == truth[:, None])).sum(axis=0) + _DOUBT / max(choices.mean(), 1.0)
    skill = np.clip((right - blind) / np.maximum(many - blind, 1e-9), 0.0, _MOST_SKILL)
    return skill, _divided(skill, *_agreement(answers, choices))


def _agreement(answers: Whole, choices: Whole) -> tuple[Real, Real]:
    """Return for each two voters how many questions both answered, and how often they agree beyond chance."""
    said = answers != SILENT
    together = said[:, :, None] & said[:, None, :]
    shared = together.sum(axis=0).astype(np.float64)
    agreed = (together & (answers[:, :, None] == answers[:, None, :])).sum(axis=0)
    by_chance = np.einsum("qab,q->ab", together, 1 / np.maximum(choices, 1)) + _DOUBT / max(choices.mean(), 1.0)
    by_chance /= shared + _DOUBT
    rate = (agreed + _DOUBT / max(choices.mean(), 1.0)) / (shared + _DOUBT)
    product = np.clip((rate - by_chance) / np.maximum(1 - by_chance, 1e-9), 0.0, 1.0)
    return shared, product


def _divided(skill: Real, shared: Real, product: Real) -> Real:
    """Return by what the votes of each are divided: 1, and more for what it agrees with others beyond skill."""
    explained = np.outer(skill, skill)
    common = np.clip((product - explained) / np.maximum(1 - explained, 1e-9), 0.0, 1.0)
    common[(shared <= _FEW) | np.eye(len(skill), dtype=np.bool_)] = 0.0
    return np.asarray(1 + common.sum(axis=1))


def chances(answers: Whole, choices: Whole, skill: Real, divided: Real) -> Real:
    """Return for each question and voter the chance of its answer by the votes of all; 0 where it is silent.

    Two who are right with chance 0.6 say 1, one who is with chance 0.8 says 2.

    >>> skill = np.array([0.2, 0.2, 0.6])
    >>> chances(np.array([[1, 1, 2]]), np.array([2]), skill, np.ones(3)).round(2).tolist()
    [[0.36, 0.36, 0.64]]
    """
    same = (answers[:, :, None] == answers[:, None, :]) & (answers != SILENT)[:, :, None]
    blind = 1 / np.maximum(choices, 1)[:, None]
    right = np.minimum(blind + (1 - blind) * skill[None, :], _MOST_SKILL)
    weight = np.log(right / (1 - right) * np.maximum(choices - 1, 1)[:, None]) / divided
    votes = np.einsum("qab,qb->qa", same, np.maximum(weight, 0.0))
    # each answer counts once, by the first who gave it
    first = ~np.tril(same, -1).any(axis=2) & (answers != SILENT)
    most = votes.max(axis=1, initial=0.0)[:, None]
    each = np.where(answers != SILENT, np.exp(votes - most), 0.0)
    unsaid = np.maximum(choices - first.sum(axis=1), 0)[:, None] * np.exp(-most)
    whole = np.where(first, each, 0.0).sum(axis=1, keepdims=True) + unsaid
    return np.asarray(each / np.maximum(whole, 1e-300))
