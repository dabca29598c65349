"""Whole cups, played by bots through the public interface while processes are killed and uploads cut off.

Nothing acknowledged is lost, nothing is judged twice, the archive replays, and the final tables are those that the
bots' own files give without log and server.
"""

from __future__ import annotations

import json
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE
from tests.rig.bots import Plan
from tests.rig.cup import Played, Rehearsal, disagreements, look_for_losses

from noren.contest.credentials import Login, remember
from noren.contest.rulebook import preset
from noren.contest.simulation import make_data
from noren.work.hash_chain import LogEntry


def until(so: Callable[[], bool]) -> None:
    """Wait for a state that must come."""
    last = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < last
        threading.Event().wait(0.2)


def must_be_whole(played: Played, plan: Plan, uploads: int) -> None:
    """Hold what came of a cup against what was played."""
    assert played.problems == []
    assert (played.lost, played.twice, played.unasked, played.refunded) == ([], [], [], 0)
    assert played.acknowledged == played.judged == played.replay["scores"] == uploads
    assert played.replay["ok"] is True
    assert played.replay["entries"] == played.entries
    for table in played.tables.values():
        assert len(table) == plan.teams
        ranks = [line.rank for line in table.values() if line.rank is not None]
        assert min(ranks, default=1) == 1


def uploads_of(plan: Plan, spoiling: int) -> int:
    """How many files the bots hand in: a release a round, a wrong one before it, and guesses against each target."""
    others = plan.teams - 1
    return 2 * (plan.teams + spoiling) + plan.teams * (min(plan.targets, others) + others)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_thirteen_teams_play_2018_on_postgresql_while_everything_fails(address: str, tmp_path: Path) -> None:
    """The kinds of S0's Table 5: who hides names alone is found out, and has no rank."""
    plan = Plan(preset("pwscup2018"), teams=13, customers=30, rows=300, faults=True, kills=5, targets=2)
    with Rehearsal(workers=plan.workers, database=address) as rehearsal:
        played = rehearsal.play(plan, tmp_path / "cup.zip")
    must_be_whole(played, plan, uploads_of(plan, spoiling=4))
    assert played.faults["servers killed"] + played.faults["workers killed"] == 5
    assert played.faults["servers killed"] >= 2
    assert played.faults["uploads cut off"] > 0
    assert played.faults["answers unheard"] > 0
    by_name = {played.names[team]: line for team, line in played.tables["final"].items()}
    assert by_name["Botan"].values["cell-error"] == 0.0  # hides names alone
    assert by_name["Botan"].broken == ("effective",)
    assert {line.rank is None for line in by_name.values() if line.broken} == {True}
    assert {line.rank is None for line in by_name.values() if not line.broken} == {False}
    assert (tmp_path / "cup.zip").stat().st_size > 0


@pytest.fixture(scope="module")
def rehearsal() -> Iterator[Rehearsal]:
    """One server with SQLite, and one worker, for several small cups."""
    with Rehearsal(workers=1) as found:
        yield found


@pytest.mark.slow
def test_three_teams_play_2018_on_sqlite_with_faults(rehearsal: Rehearsal, noren, tmp_path: Path) -> None:
    plan = Plan(preset("pwscup2018"), teams=3, customers=20, rows=200, faults=True, kills=3, seed=2, workers=1)
    out = tmp_path / "cup.zip"
    played = rehearsal.play(plan, out)
    must_be_whole(played, plan, uploads_of(plan, spoiling=1))
    assert (played.faults["servers killed"], played.faults["workers killed"]) == (2, 1)
    answer = noren("contest", "replay", out, "--workers", 1, "--json")
    assert answer.code == 0
    assert answer.json["ok"] is True
    assert noren("contest", "audit", out).code == 0
    the_checks_can_fail(out, played)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(out.read_bytes().replace(b"released", b"RELEASED", 1)[:-7])
    assert noren("contest", "audit", damaged).code in (1, 2)


def the_checks_can_fail(archive: Path, played: Played) -> None:
    """Take a judgement away, say one twice, hold a receipt back, change a rank: each is found."""
    with zipfile.ZipFile(archive) as parts:
        entries = [LogEntry(**json.loads(line)) for line in parts.read("log.jsonl").splitlines()]
        names = [name for name in parts.namelist() if name.startswith("receipts/")]
        receipts = {said["submission"]: (said["team"], said) for said in (json.loads(parts.read(one)) for one in names)}
    again = Played()
    look_for_losses(again, receipts, entries)
    assert (again.lost, again.twice, again.unasked, again.problems) == ([], [], [], [])
    last = max(place for place, entry in enumerate(entries) if entry.kind == "guess-judged")
    name = entries[last].body["submission"]
    found = Played()
    look_for_losses(found, receipts, [*entries[:last], *entries[last + 1 :]])
    assert found.lost == [name]
    found = Played()
    look_for_losses(found, receipts, [*entries, entries[last]])
    assert found.twice == [name]
    found = Played()
    look_for_losses(found, {one: said for one, said in receipts.items() if one != name}, entries)
    assert found.unasked == [name]
    table = played.tables["final"]
    standings = [
        {"team": team, "rank": line.rank, "score": line.score, "broken": list(line.broken)}
        for team, line in table.items()
    ]
    board = {"round": "final", "standings": standings}
    assert disagreements(board, table) == []
    standings[0]["score"] = 0.123
    standings.pop()
    assert len(disagreements(board, table)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spoiling"), [("pwscup2017", 2), ("pwscup2016", 2)])
def test_three_teams_play_the_older_cups(rehearsal: Rehearsal, name: str, spoiling: int, tmp_path: Path) -> None:
    """2017 with a pseudonym a month, whose guesses are F̂; 2016 with pseudo records."""
    plan = Plan(preset(name), teams=3, customers=20, rows=200, workers=1, contest=name)
    played = rehearsal.play(plan, tmp_path / "cup.zip")
    must_be_whole(played, plan, uploads_of(plan, spoiling=spoiling))
    assert {line.rank is None for line in played.tables["final"].values()} == {False}  # no condition: all are ranked


@pytest.mark.slow
def test_a_cup_played_from_the_terminal(
    rehearsal: Rehearsal, noren, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two teams play a final by commands alone: sign up, join, hand in (one wrong), attack, results, audit."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NOREN_CONTEST_PASSWORD", "correct horse battery")
    address = rehearsal.hall.address
    organiser = rehearsal.organiser()

    def by(who: str, *words: object, code: int = 0) -> Any:
        """Run a command as somebody, whose login is kept apart."""
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / who))
        answer = noren("contest", *words)
        assert answer.code == code, answer
        return answer.json if "--json" in words else answer

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "organiser"))
    remember(Login(address, organiser.token))
    data = make_data(preset("pwscup2018"), tmp_path, customers=20, rows=200, seed=5, name="T")
    start = organiser.session().now
    made = by(
        "organiser", "create", "terminal", "--data", f"final={data}", "--start", start, "--days", "1,1,1,0,1", "--json"
    )
    assert [one["id"] for one in made["phases"] if one["open"]] == ["registration"]
    for who, team in (("mia", "Fujiwara"), ("ken", "Tachibana")):
        by(who, "signup", address, "--login", who)
        by(who, "register", "terminal", "--name", team)
    by("ana", "signup", address, "--login", "ana")
    assert by("mia", "status", "terminal", "--json")["contest"]["team"]["name"] == "Fujiwara"
    assert by("ana", "join", "terminal", "--code", "wrong", code=2).err.startswith("noren: no team has this code")
    early = by("mia", "data", "terminal", "--out", tmp_path / "early.csv", code=2)
    assert "Protection is not open yet" in early.err

    by("organiser", "open", "terminal", "--now", "--reason", "all are in", "--no-browser")
    mine = tmp_path / "mine.csv"
    by("mia", "data", "terminal", "--out", mine)
    assert mine.read_bytes() == data.read_bytes()
    release = tmp_path / "release"
    noren(
        "protect",
        mine,
        "--schema",
        "pwscup2018",
        "--method",
        "generalize-by-count",
        "--k",
        3,
        "--seed",
        1,
        "--out",
        release,
    )
    short = tmp_path / "short.csv"
    short.write_text("".join(mine.read_text().splitlines(keepends=True)[:-1]))
    wrong = by("mia", "submit", "terminal", short, code=1)
    assert "not valid" in wrong.out
    assert "the file has 199 rows, the original has 200" in wrong.out
    got = by("mia", "submit", "terminal", release, "--json")
    assert got["judged"]["valid"] is True
    assert got["judged"]["counts"] is True
    refused = by("mia", "choose", "terminal", got["submission"], code=2)
    assert "the last valid release counts" in refused.err
    plain = tmp_path / "plain"
    noren("protect", mine, "--schema", "pwscup2018", "--method", "pseudonymize", "--seed", 2, "--out", plain)
    by("ken", "submit", "terminal", plain)
    assert len(by("mia", "status", "terminal", "--json")["submissions"]) == 2

    by("organiser", "open", "terminal", "--now", "--no-browser")
    late = by("mia", "submit", "terminal", release, code=2)
    assert "by the server's clock" in late.err
    until(lambda: organiser.contest("terminal")["rounds"][0]["targets"] == 2)
    (target,) = by("mia", "targets", "terminal", "--out", tmp_path / "targets", "--json")["targets"]
    assert Path(target["file"]).exists()
    by("mia", "attack", "terminal", target["target"], "--with", "nearest", "--out", tmp_path / "guess.csv")
    own = "01" if target["target"] == "02" else "02"
    assert "your own release" in by("mia", "attack", "terminal", own, tmp_path / "guess.csv", code=2).err

    by("organiser", "open", "terminal", "--now", "--no-browser")
    by("organiser", "open", "terminal", "--now", "--no-browser")
    until(lambda: bool(organiser.contest("terminal")["results"]))
    board = by("ken", "leaderboard", "terminal", "--json")
    assert [(one["name"], one["rank"]) for one in board["standings"]] == [("Fujiwara", 1), ("Tachibana", None)]
    assert board["standings"][1]["broken"] == ["effective"]
    assert by("organiser", "jobs", "terminal", "--json") == {"jobs": []}
    assert by("organiser", "flags", "terminal", "--json") == {"flags": []}
    assert "only organisers can do this" in by("ken", "jobs", "terminal", code=2).err
    assert "Fujiwara" in by("ken", "results", "terminal").out
    by("ken", "results", "terminal", "--out", tmp_path / "results.html")
    by("ken", "export", "terminal", "--out", tmp_path / "cup.zip")
    assert by("mia", "audit", "terminal", "--json")["ok"] is True  # with the receipts that submit kept
    assert by("mia", "audit", tmp_path / "cup.zip", "--json")["ok"] is True
    (kept,) = (tmp_path / "data" / "noren" / "receipts").rglob(f"{got['submission']}.json")
    kept.write_text(kept.read_text().replace(got["receipt"]["digest"], "0" * 64))
    assert by("mia", "audit", "terminal", "--json", code=1)["ok"] is False
