"""Users of the studio: each with a password and a role; whoever is revoked is out at once and told so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient
from tests.conftest import PATIENCE
from tests.contest.served import awaited
from tests.studio.quiet import SHOP, heading
from tests.studio.staffed import PASSWORD, STAFF, Staffed

from noren.errors import NorenError
from noren.studio.api.runs import _events, _runs_event
from noren.studio.audit_trail import STUDIO
from noren.studio.users import UserRole
from noren.web.accounts import hashed

REVOKED = "your access was revoked; contact an administrator"


@pytest.fixture
def staffed(tmp_path: Path) -> Iterator[Staffed]:
    made = Staffed(tmp_path / "studio")
    yield made
    made.studio.close()


def told(answer: object) -> str:
    message: str = answer.json()["error"]["message"]  # type: ignore[attr-defined]
    return message


def test_a_studio_without_users_is_one_persons(staffed: Staffed) -> None:
    said = staffed.client.get("/api/v1/session").json()
    assert (said["user"], said["role"]) == (None, "steward")
    assert (
        heading(staffed.client.get("/users").text) == "This studio has no users: anyone who opens it can do everything"
    )
    made = staffed.client.post("/api/v1/projects", json={"name": "Mine"})
    assert made.status_code == 201
    assert [entry.actor for entry in staffed.studio.store.trail.entries()] == ["owner"]


def test_from_the_first_user_on_only_users_are_let_in(staffed: Staffed) -> None:
    first = {"login": "Ann", "name": "Ann A.", "password": PASSWORD}
    reader = staffed.client.post("/users", data=first | {"role": "reader"})
    assert reader.status_code == 422
    assert "the first user must be an administrator" in reader.text
    assert staffed.client.post("/users", data=first | {"role": "administrator"}).status_code == 303
    assert staffed.client.get("/").headers["location"] == "/login"
    assert staffed.client.get("/api/v1/projects").status_code == 401
    wrong = staffed.browser().post("/login", data={"login": "ann", "password": "another password"})
    assert wrong.status_code == 403
    said = staffed.logged_in("ANN").get("/api/v1/session").json()
    assert (said["user"], said["role"]) == ("ann", "administrator")
    assert staffed.studio.store.users.get("ann").created_by == "owner"


def test_the_one_password_opens_nothing_once_there_are_users(staffed: Staffed) -> None:
    staffed.studio.settings.password_file.write_text(hashed(PASSWORD))
    one = staffed.browser()
    assert one.post("/login", data={"password": PASSWORD}).status_code == 303
    assert one.get("/api/v1/projects").status_code == 200
    staffed.hire()
    assert one.get("/api/v1/projects").status_code == 401
    assert staffed.browser().post("/login", data={"password": PASSWORD}).status_code == 403


@pytest.mark.parametrize(
    ("login", "password", "reason"),
    [
        ("owner", PASSWORD, "'owner' is no login"),
        ("a", PASSWORD, "'a' is no login"),
        ("eve", "short", "the password needs 10 to 1,000 characters"),
        ("ANN", PASSWORD, "the login ann is taken"),
    ],
)
def test_who_cannot_be_added(staffed: Staffed, login: str, password: str, reason: str) -> None:
    staffed.studio.store.users.add("ann", "", PASSWORD, UserRole.ADMINISTRATOR)
    with pytest.raises(NorenError, match=reason):
        staffed.studio.store.users.add(login, "", password, UserRole.READER)
    assert [user.login for user in staffed.studio.store.users.all()] == ["ann"]
    assert [entry.kind for entry in staffed.studio.store.trail.entries()] == ["user-added"]


def test_the_last_administrator_stays(staffed: Staffed) -> None:
    staff, users = staffed.hire(), staffed.studio.store.users
    assert told(staff["ada"].delete("/api/v1/users/ada")) == "ada is the last administrator; appoint another first"
    with pytest.raises(NorenError, match="ada is the last administrator"):
        users.set_role("ada", UserRole.STEWARD)
    assert users.get("ada").role == UserRole.ADMINISTRATOR
    assert staff["ada"].delete("/api/v1/users/dan").status_code == 204
    assert staff["ada"].delete("/api/v1/users/dan").status_code == 409  # she was revoked already
    assert staff["ada"].delete("/api/v1/users/nobody").status_code == 404


def test_an_administrator_cannot_become_an_approver_by_herself(staffed: Staffed) -> None:
    ada = staffed.hire()["ada"]
    second = {"login": "eve", "password": PASSWORD, "role": "administrator"}
    assert ada.post("/api/v1/users", json=second).status_code == 201
    answer = ada.patch("/api/v1/users/ada", json={"role": "reviewer"})
    assert (answer.status_code, told(answer)) == (409, "another administrator must change your role")
    assert staffed.studio.store.users.get("eve").created_by == "ada"
    staffed.studio.store.users.set_role("ada", UserRole.REVIEWER)


def test_an_open_tab_of_a_revoked_user_gets_one_clear_line(staffed: Staffed) -> None:
    staff = staffed.hire()
    ben = staff["ben"]
    assert ben.get("/").status_code == 200
    assert staff["ada"].delete("/api/v1/users/ben").status_code == 204
    for answer in (ben.get("/api/v1/projects"), ben.post("/api/v1/projects", json={"name": "Mine"})):
        assert answer.status_code == 401
        assert told(answer) == REVOKED
    for answer in (ben.get("/"), ben.post("/users", data={"login": "eve"})):
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    shown = ben.get("/login").text
    assert shown.count(REVOKED) == 1
    assert REVOKED not in staffed.browser().get("/login").text  # nobody else is told
    assert ben.post("/login", data={"login": "ben", "password": PASSWORD}).status_code == 403
    assert staff["cora"].get("/").status_code == 200


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"role": "reader"}, "your role or password was changed; log in again"),
        ({"password": "another password"}, "your role or password was changed; log in again"),
    ],
)
def test_who_is_changed_logs_in_again(staffed: Staffed, change: dict[str, str], line: str) -> None:
    staff = staffed.hire()
    assert staff["ada"].patch("/api/v1/users/ben", json=change).status_code == 200
    assert told(staff["ben"].get("/api/v1/projects")) == line
    again = staffed.logged_in("ben", change.get("password", PASSWORD))
    assert again.get("/api/v1/session").json()["role"] == change.get("role", "reviewer")


def test_everybody_changes_her_own_password(staffed: Staffed) -> None:
    cora, elsewhere = staffed.hire()["cora"], staffed.logged_in("cora")
    assert "reader" in heading(cora.get("/account").text)
    new = "a new password, longer"
    assert cora.post("/account", data={"old": "wrong password", "password": new}).status_code == 403
    assert cora.post("/account", data={"old": PASSWORD, "password": "short"}).status_code == 422
    assert cora.post("/account", data={"old": PASSWORD, "password": new}).status_code == 303
    assert cora.get("/api/v1/session").json()["user"] == "cora"
    assert elsewhere.get("/api/v1/session").status_code == 401
    assert staffed.logged_in("cora", new).get("/").status_code == 200


def test_a_stream_of_events_ends_with_the_session(staffed: Staffed) -> None:
    staff = staffed.hire()
    project = staff["ann"].post("/api/v1/projects", json={"name": "Shop"}).json()["id"]
    heard = []

    async def listen() -> None:
        request = SimpleNamespace(
            app=staffed.app,
            state=SimpleNamespace(session=staff["cora"].cookies["noren_session"]),
            is_disconnected=never,
        )
        async for event in _events(request, lambda: _runs_event(project, staffed.studio), every=0.0):  # type: ignore[arg-type]
            heard.append(event)
            staffed.studio.store.users.revoke("cora")

    async def never() -> bool:
        return False

    awaited(asyncio.wait_for(listen(), PATIENCE))
    assert heard == ["data: []\n\n"]


def test_who_logs_out_is_out(staffed: Staffed) -> None:
    cora = staffed.hire()["cora"]
    assert cora.post("/logout").status_code == 303
    assert told(cora.get("/api/v1/session")) == "you are not logged in; log in first"


def test_pages_of_administrators(staffed: Staffed) -> None:
    staff = staffed.hire()
    shown = staff["ada"].get("/users").text
    assert heading(shown) == "5 users"
    assert all(login in shown for login in STAFF)
    assert staff["ada"].get("/").headers["location"] == "/users"
    assert 'href="/users"' in staff["ada"].get("/account").text
    assert 'href="/users"' not in staff["ann"].get("/").text
    assert 'href="/users"' not in staff["ben"].get("/").text
    assert 'href="/trail"' in staff["ben"].get("/").text
    assert staff["ben"].get("/users").status_code == 403
    assert "your role is reviewer; this needs the role administrator" in staff["ben"].get("/api/v1/users").text
    role = staff["ada"].post("/users/cora/role", data={"role": "reviewer"})
    assert role.status_code == 303
    assert staffed.studio.store.users.get("cora").role == UserRole.REVIEWER
    assert staff["ada"].post("/users/cora/role", data={"role": "king"}).status_code == 422
    assert staff["ada"].post("/users/cora/revoke").status_code == 303
    assert heading(staff["ada"].get("/users").text) == "4 users"


def test_the_trail_says_who_did_what_and_no_password(staffed: Staffed) -> None:
    staff = staffed.hire()
    project = staff["ann"].post("/api/v1/projects", json={"name": "Shop"}).json()["id"]
    sent = staff["dan"].put(f"/api/v1/projects/{project}/file", params={"name": "s.csv"}, content=SHOP.encode())
    assert sent.status_code == 202
    staff["ann"].patch(f"/api/v1/projects/{project}", json={"rule": "public"})
    staff["ann"].delete(f"/api/v1/projects/{project}")
    staff["ada"].delete("/api/v1/users/cora")
    found = staffed.studio.store.trail.entries()
    assert [(entry.kind, entry.actor) for entry in found] == [
        *[("user-added", STUDIO)] * 5,
        *(("entered", login) for login in STAFF),
        ("project-added", "ann"),
        ("uploaded", "dan"),
        ("ordered", "dan"),
        ("project-changed", "ann"),
        ("project-removed", "ann"),
        ("user-revoked", "ada"),
    ]
    assert found[-3].body == {"project": project, "rule": "public"}
    everything = b"".join(staffed.studio.store.trail.lines()).decode()
    assert [word for word in (PASSWORD, "argon2", "tea", "mug", "bob") if word in everything] == []


def test_an_act_and_its_entry_are_one(staffed: Staffed, monkeypatch: pytest.MonkeyPatch) -> None:
    store = staffed.studio.store
    project = store.add_project("Kept", {})

    def fails(*_given: object, **_body: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(store.trail, "note", fails)
    acts = (
        lambda: store.add_project("Lost", {}),
        lambda: store.remove_project(project.id),
        lambda: store.add_job(project.id, "run", "Lost", {}),
        lambda: store.users.add("ann", "", PASSWORD, UserRole.ADMINISTRATOR),
    )
    for act in acts:
        with pytest.raises(RuntimeError, match="no room"):
            act()
    monkeypatch.undo()
    assert [one.name for one in store.projects()] == ["Kept"]
    assert store.jobs() == []
    assert store.users.all() == []
    assert [entry.kind for entry in store.trail.entries()] == ["project-added"]


def test_many_acts_at_once_stay_a_chain(address: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from noren.studio.store import Store
    from noren.work.hash_chain import verify

    stores = [Store(address) for _ in range(3)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: stores[number % 3].add_project(f"P{number}", {}), range(24)))
    found = stores[0].trail.entries()
    verify(found)
    assert len(found) == 24
    for store in stores:
        store.close()


def test_programs_see_one_user_as_the_pages_do(staffed: Staffed) -> None:
    ada: TestClient = staffed.hire()["ada"]
    made = ada.post("/api/v1/users", json={"login": "eve", "password": PASSWORD, "role": "reader"})
    assert made.status_code == 201
    assert {key: made.json()[key] for key in ("login", "name", "role", "revoked")} == {
        "login": "eve", "name": "eve", "role": "reader", "revoked": None,
    }  # fmt: skip
    assert "password" not in str(ada.get("/api/v1/users").json())
    assert ada.post("/api/v1/users", json={"login": "eve", "password": PASSWORD, "role": "reader"}).status_code == 422
    assert ada.post("/api/v1/users", json={"login": "x", "password": "p", "role": "king"}).status_code == 422
