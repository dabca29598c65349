"""A round for practice: open during registration, everything seen at once, nothing counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contest.served import Person, Served

from noren.contest.phases import check_phases, planned_phases
from noren.contest.replay import replay
from noren.contest.rulebook import preset

HIDDEN = {"attacks": [{"attack": "nearest"}], "visible": False, "counts": False}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


def test_practice_is_during_registration() -> None:
    plan = planned_phases("2026-04-01", (7, 1, 1, 0, 0), ["final", "practice"])
    check_phases(plan, ["final", "practice"])
    times = {phase.id: (phase.opens[:10], (phase.closes or "")[:10], phase.label) for phase in plan}
    assert times["practice"] == ("2026-04-01", "2026-04-08", "Practice · Protection")
    assert times["registration"][:2] == times["practice"][:2]
    assert times["final-protect"][:2] == ("2026-04-08", "2026-04-09")
    assert "practice" not in [
        phase.id for phase in planned_phases("2026-04-01", (0, 1, 1, 0, 0), ["final", "practice"])
    ]


def test_what_is_tried_in_practice_has_no_effect(served: Served, tmp_path: Path) -> None:
    organiser = served.organiser()
    phases = planned_phases(served.arena.now(), (1, 1, 1, 0, 1), ["final", "practice"])
    book = preset("pwscup2018", baseline=HIDDEN).to_toml()
    new = {"id": "cup", "title": "A cup", "rulebook": book, "phases": [phase.as_dict() for phase in phases]}
    data = served.case().original.read_bytes()
    files = {"contest": (None, json.dumps(new)), "final": ("T.csv", data), "practice": ("P.csv", data)}
    organiser.ask("POST", "/contests", files=files)
    red, blue = served.person("red"), served.person("blue")
    for person in (red, blue):
        person.ask("POST", "/contests/cup/teams", json={"name": person.account})
    assert red.ask("GET", "/contests/cup/rounds/practice/data") == data
    release = served.case(1).submitted.read_bytes()
    practised = red.ask("PUT", "/contests/cup/releases", content=release)["submission"]
    served.judge()
    seen = red.ask("GET", f"/contests/cup/submissions/{practised}")
    assert (seen["valid"], seen["counts"]) == (True, False)
    assert seen["judgement"]["values"].keys() == {"cell-error"}
    assert seen["judgement"]["baseline"].keys() == {"nearest"}, "even what the rules hide in the contest"
    page = red.get("/contests/cup/protect").text
    assert "nothing here counts" in page
    board = blue.ask("GET", "/contests/cup/rounds/practice/leaderboard")["standings"]
    assert [line["rank"] for line in board] == [None, None]
    assert "no team has a rank" in Person(served).get("/contests/cup/board?round=practice").text

    served.go_to("cup", "final-protect")
    assert red.put("/api/v1/contests/cup/releases?phase=practice", content=release).status_code == 409
    final = blue.ask("PUT", "/contests/cup/releases", content=release)["submission"]
    served.go_to("cup", "results")
    results = organiser.ask("GET", "/contests/cup/results.json")
    results = json.loads(results) if isinstance(results, bytes) else results
    assert [line["round"] for line in results["rounds"]] == ["final"]
    ranks = {line["team"]: (line["rank"], line["submission"]) for line in results["rounds"][0]["standings"]}
    assert sorted(ranks.values(), key=str) == [(1, final), (None, None)], "practice is no release of the final"
    assert Person(served).get("/contests/cup/results").status_code == 200
    assert Person(served).get("/contests/cup/results?round=practice").status_code == 404
    archive = tmp_path / "cup.zip"
    archive.write_bytes(organiser.ask("GET", "/contests/cup/archive"))
    assert replay(archive, workers=1).ok


def test_the_form_makes_data_for_practice(served: Served) -> None:
    organiser = served.organiser()
    form = {"title": "T", "id": "trial", "rounds": "one", "practice": "yes", "rows": "200", "customers": "12"}
    page = organiser.post("/new", data=form).text
    assert "Practice · Protection" in page
    assert organiser.post("/contests", data=form).status_code == 200
    state = served.arena.state("trial")
    assert state is not None
    assert list(state.rounds) == ["final", "practice"]
    assert state.rounds["final"].data != state.rounds["practice"].data
    assert next(phase for phase in state.phases if phase.id == "practice").round == "practice"
