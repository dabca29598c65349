"""What organisers do for people: a second organiser, announcements, a limit of teams, new passwords."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contest.served import PASSWORD, Person, Served

from noren.contest.phases import get_time_zone

TEAMS = "/api/v1/contests/full/teams"


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


def test_announcements_are_read_by_all_who_see_the_contest(served: Served, organiser: Person) -> None:
    served.create(organiser, "news")
    visitor = Person(served)
    assert visitor.ask("GET", "/contests/news")["announcements"] == []
    organiser.ask("POST", "/contests/news/announcements", json={"text": " The data\nare out. "})
    organiser.post("/contests/news/organise/announce", data={"text": "<b>Second</b>"})
    told = visitor.ask("GET", "/contests/news")["announcements"]
    assert [line["text"] for line in told] == ["The data are out.", "<b>Second</b>"]
    page = visitor.get("/contests/news").text
    assert page.index("&lt;b&gt;Second") < page.index("The data are out."), "the newest first, as text"
    assert organiser.post("/api/v1/contests/news/announcements", json={"text": " "}).status_code == 422
    assert visitor.post("/api/v1/contests/news/announcements", json={"text": "mine"}).status_code == 403
    assert "Announcement: The data are out." in organiser.get("/contests/news/log").text


def test_places_for_teams_are_not_given_twice(served: Served, organiser: Person) -> None:
    """Twelve ask at once for three places."""
    served.create(organiser, "full", settings={"most_teams": 3})
    people = [served.person(f"many{number}") for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda person: person.post(TEAMS, json={"name": person.account}), people))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 9
    assert any("all 3 places for teams are taken" in answer.text for answer in answers)
    assert len(organiser.ask("GET", "/contests/full/teams")) == 3
    late, last, *_others = (p for p, answer in zip(people, answers, strict=True) if answer.status_code == 409)
    code = next(answer.json()["code"] for answer in answers if answer.status_code == 201)
    late.ask("POST", "/contests/full/join", json={"code": code})  # a team has room
    form = {"most_teams": "", "team_size": "10", "reason": "more room"}
    assert organiser.post("/contests/full/organise/settings", data=form).status_code == 200
    last.ask("POST", "/contests/full/teams", json={"name": "another"})
    assert organiser.ask("GET", "/contests/full")["settings"]["most_teams"] is None


def test_every_time_zone_is_offered_and_known(organiser: Person) -> None:
    zones = zoneinfo.available_timezones()
    assert {"Asia/Tokyo", "Asia/Kolkata", "America/St_Johns", "UTC"} < zones
    assert {get_time_zone(zone).utcoffset(dt.datetime(2026, 4, 1)) is not None for zone in zones} == {True}
    offered = re.findall(r'<option value="([^"]+)">', organiser.get("/new").text.partition("<datalist")[2])
    assert offered[: len(zones)] == sorted(zones)


def test_a_forgotten_password_is_replaced_by_a_code_that_works_once(served: Served, organiser: Person) -> None:
    served.create(organiser, "reset")
    mia = served.person("mia")
    mia.ask("POST", "/contests/reset/teams", json={"name": "Mia's"})
    code = organiser.ask("POST", "/contests/reset/password-resets", json={"login": "mia"})["code"]
    assert mia.get("/api/v1/account").status_code == 401, "old sessions end"
    last = served.arena.store.entries("reset")[-1]
    assert (last.kind, last.actor) == ("password-reset", f"organiser:{organiser.account}")
    assert code not in str(last.body)
    browser = Person(served)
    for password in (PASSWORD, code):  # neither opens a session
        answer = browser.post("/api/v1/session", json={"login": "mia", "password": password})
        assert answer.status_code == 401
    form = {"login": "mia", "code": code, "password": "a new password"}
    assert browser.post("/reset", data=form | {"code": "wrong"}).status_code == 403
    assert browser.post("/reset", data=form | {"password": "short"}).status_code == 422
    assert browser.post("/reset", data=form, follow_redirects=False).status_code == 303
    assert browser.ask("GET", "/account")["login"] == "mia"
    again = Person(served)
    assert again.post("/reset", data=form).status_code == 403, "the code worked once"
    assert again.post("/reset", data=form | {"code": "a new password"}).status_code == 403
    again.ask("POST", "/session", json={"login": "mia", "password": "a new password"})


def test_no_organiser_resets_passwords_that_others_rely_on(served: Served, organiser: Person) -> None:
    """Not of people who are not in a team, who organise, or who play for another organiser, too."""
    served.create(organiser, "first")
    deputy, red, nobody = (served.person(f"reset-{name}") for name in ("deputy", "red", "nobody"))
    organiser.ask("POST", "/contests/first/organisers", json={"login": "reset-deputy"})
    red.ask("POST", "/contests/first/teams", json={"name": "Red"})
    resets = "/api/v1/contests/first/password-resets"
    statuses = [
        deputy.post(resets, json={"login": login}).status_code for login in ("reset-nobody", "organiser", "none")
    ]
    assert statuses == [404, 403, 404]
    served.create(organiser, "elsewhere")
    red.ask("POST", "/contests/elsewhere/teams", json={"name": "Red"})
    refused = deputy.post(resets, json={"login": "reset-red"})
    assert (refused.status_code, "where you are no organiser" in refused.text) == (403, True)
    assert red.ask("GET", "/account")["login"] == "reset-red", "and nothing happened"
    page = organiser.post("/contests/first/organise/reset_password", data={"login": "reset-red"})
    assert "Code for a new password" in page.text
    assert nobody.ask("GET", "/account")
