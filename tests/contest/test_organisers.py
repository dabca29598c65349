"""What organisers do for people: a second organiser, announcements, a limit of teams, new passwords."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contest.served import Person, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("organisers"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def organiser(served: Served) -> Person:
    return served.organiser()


def test_a_second_organiser_acts_under_the_own_name(served: Served, organiser: Person) -> None:
    served.create(organiser, "two")
    deputy, red = served.person("deputy"), served.person("second-red")
    red.ask("POST", "/contests/two/teams", json={"name": "Red"})
    assert deputy.post("/api/v1/contests/two/pause", json={"reason": "not yet"}).status_code == 403
    after = organiser.ask("POST", "/contests/two/organisers", json={"login": "Deputy"})  # logins ignore case
    assert after["organisers"] == ["Organiser", "Deputy"]
    again = organiser.post("/api/v1/contests/two/organisers", json={"login": "deputy"})
    assert (again.status_code, "organises the contest already" in again.text) == (409, True)
    plays = organiser.post("/api/v1/contests/two/organisers", json={"login": "second-red"})
    assert (plays.status_code, "cannot play" in plays.text) == (409, True)
    assert deputy.post("/api/v1/contests/two/teams", json={"name": "Mine"}).status_code == 409
    deputy.ask("POST", "/contests/two/pause", json={"reason": "wrong data"})
    state = served.arena.state("two")
    assert state is not None
    assert served.arena.store.entries("two")[-1].actor == f"organiser:{deputy.account}"
    page = deputy.get("/contests/two/log").text
    assert "Deputy (organiser)" in page
    assert "Organiser (organiser)" in page
    assert red.ask("GET", "/contests/two")["organisers"] == []
    assert deputy.get("/api/v1/contests/two/jobs").status_code == 200
    assert deputy.get("/new").status_code == 403, "of this contest alone"
    token = deputy.ask("POST", "/account/tokens", json={"name": "x", "scopes": ["organiser"]})["text"]
    headers = {"Authorization": f"Bearer {token}"}
    assert Person(served).post("/api/v1/contests/two/resume", headers=headers).status_code == 200
