"""Voters whose skill is known to the test alone."""

import numpy as np
import pytest

from noren.kernels.linkage.assignment import SILENT, chances, reliability


def ballots(
    skills: list[float], questions: int = 3000, choices: int = 60, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.Generator(np.random.PCG64(seed))
    truth = draw.integers(0, choices, questions)
    guessed = draw.integers(0, choices, (questions, len(skills)))
    knows = draw.random((questions, len(skills))) < np.array(skills)
    return np.where(knows, truth[:, None], guessed), truth


def test_skills_are_found_without_the_truth() -> None:
    skills = [0.9, 0.6, 0.3, 0.1, 0.0]
    answers, _truth = ballots(skills)
    found, divided = reliability(answers, np.full(len(answers), 60), np.arange(5))
    assert found == pytest.approx(skills, abs=0.06)
    assert divided == pytest.approx(np.ones(5), abs=0.1)


def test_the_vote_beats_its_best_voter() -> None:
    answers, truth = ballots([0.6, 0.6, 0.6, 0.5, 0.1])
    many = np.full(len(answers), 60)
    chance = chances(answers, many, *reliability(answers, many, np.arange(5)))
    elected = answers[np.arange(len(answers)), chance.argmax(axis=1)]
    alone = (answers == truth[:, None]).mean(axis=0).max()
    assert (elected == truth).mean() > alone + 0.1
    # and knows how sure it is
    assert chance.max(axis=1).mean() == pytest.approx((elected == truth).mean(), abs=0.05)


def test_a_clique_that_errs_together_does_not_outvote_the_skilled() -> None:
    answers, truth = ballots([0.8, 0.7, 0.2])
    clique = np.repeat(answers[:, 2:], 4, axis=1)
    both = np.concatenate([answers[:, :2], clique], axis=1)
    many = np.full(len(both), 60)
    skill, divided = reliability(both, many, np.array([0, 1, 2, 2, 2, 2]))
    assert skill[:2] == pytest.approx([0.8, 0.7], abs=0.08)
    assert skill[2:].max() < 0.3
    assert divided[2] == pytest.approx(4, abs=0.2)
    chance = chances(both, many, skill, divided)
    elected = both[np.arange(len(both)), chance.argmax(axis=1)]
    assert (elected == truth).mean() > 0.79


def test_silence_is_no_answer() -> None:
    answers, _truth = ballots([0.9, 0.9, 0.5])
    answers[::2, 0] = SILENT
    many = np.full(len(answers), 60)
    skill, divided = reliability(answers, many, np.arange(3))
    assert skill == pytest.approx([0.9, 0.9, 0.5], abs=0.05)
    chance = chances(answers, many, skill, divided)
    assert (chance[::2, 0] == 0).all()
    assert (chance[1::2, 0] > 0).all()


def test_few_answers_prove_little() -> None:
    answers = np.array([[1, 1, 2]])
    skill, _divided = reliability(answers, np.array([100]), np.arange(3))
    assert skill[0] == skill[1] < 0.7
