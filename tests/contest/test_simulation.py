"""Simulated teams play whole contests: ``noren contest simulate``, and the contest of the demo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.conftest import PATIENCE, Command

from noren.contest.replay import replay
from noren.contest.rulebook import preset
from noren.contest.simulation import ROUNDS, SimulationPlan, simulate
from noren.errors import ParameterError


@pytest.mark.slow
def test_three_teams_play_by_the_rules_of_2018(noren: Command, tmp_path: Path) -> None:
    """A team that only hides names is found out; targets are drawn by lot, so that others may be, too."""
    out = tmp_path / "cup.zip"
    words = ("--teams", 3, "--customers", 20, "--rows", 200, "--seed", 2, "--out", out, "--json")
    answer = noren("contest", "simulate", *words)
    assert answer.code == 0, answer.err
    boards = answer.json["boards"]
    assert [board["round"] for board in boards] == list(ROUNDS)
    for board in boards:
        assert {one["name"]: one["broken"] for one in board["standings"]}["Botan"] == ["effective"]
        ranks = [None if one["broken"] else place for place, one in enumerate(board["standings"], start=1)]
        assert [one["rank"] for one in board["standings"]] == ranks
        assert {one["attackers"] for one in board["standings"]} == {2}
    found = replay(out, workers=1).as_dict()
    assert (found["ok"], found["scores"]) == (True, 2 * (3 + 3 * 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pwscup2017", "pwscup2016", "custom"])
def test_four_teams_play_by_other_rules(name: str, tmp_path: Path) -> None:
    plan = SimulationPlan(preset(name), teams=4, customers=20, rows=200)
    boards = simulate(plan, tmp_path / "cup.zip")
    assert all(one["rank"] for board in boards for one in board["standings"])
    assert replay(tmp_path / "cup.zip", workers=1).as_dict()["ok"]


def test_teams_play_with_histories() -> None:
    book = preset("custom").model_copy(update={"kind": "table"})
    with pytest.raises(ParameterError, match="need a purchase history"):
        simulate(SimulationPlan(book, teams=2))


@pytest.mark.slow
def test_the_demo_opens_a_contest_that_is_being_played() -> None:
    words = ["-m", "noren", "contest", "serve", "--demo", "--port", "0", "--no-open"]
    environment = {**os.environ, "NOREN_LANG": "en"}
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True, env=environment) as demo:
        assert demo.stderr is not None
        running = next(line for line in demo.stderr if "the contest is open" in line)
        [address] = re.findall(r"http://\S+", running)
        assert "login: organiser, password: " in running
        assert httpx.get(address, timeout=PATIENCE).status_code == 200
        asked = f"{address.replace('/contests/', '/api/v1/contests/')}/rounds/preliminary/leaderboard"
        standings = httpx.get(asked, timeout=PATIENCE).json()["standings"]
        demo.terminate()
        assert demo.wait(PATIENCE) == 0
    ranked = [one["rank"] is not None for one in sorted(standings, key=lambda one: one["score"])]
    assert (len(ranked), ranked[:2], ranked[4]) == (6, [False, False], True)  # pseudonyms alone, k = 3; k = 2 is chance
