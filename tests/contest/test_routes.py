"""Who may do what: every route of the arena, with every method, for every role, on ids of their own and of others.

``route_table`` says the status of every answer. A route that is not in it, or a method that a path answers and the
table does not tell, fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contest.route_table import BROWSERS, PAGES, PAGES_AFTER_RESULTS, REST, REST_AFTER_RESULTS, ROLES, Row
from tests.contest.served import PASSWORD, Person, Served, awaited

from noren.contest.store.tables import accounts

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
REASON = {"reason": ""}  # whoever may do it is told that a reason is wanting (422), and nothing changes


class Stage:
    """Two contests in the phase of attacks, one of them hidden, with people of every role."""

    def __init__(self, folder: Path) -> None:
        self.served = Served(folder)
        self.people: dict[str, Person] = {}
        self.tokens: dict[str, str] = {}
        self.ids: dict[str, dict[str, str]] = {}
        self._people()
        self._contests()
        self._tokens()

    def _people(self) -> None:
        served = self.served
        self.people["org"] = served.organiser()
        for name in ("stranger", "red", "blue", "other"):
            self.people[name] = served.person(name)
        with served.arena.store.engine.begin() as database:
            database.execute(accounts.update().where(accounts.c.login == "other").values(role="organiser"))

    def _contests(self) -> None:
        served, organiser, people = self.served, self.people["org"], self.people
        served.create(organiser)
        served.create(people["other"], "second")
        served.create(organiser, "veiled", settings={"visibility": "members", "registration": "invited"})
        teams = {}
        for name in ("red", "blue"):
            teams[name] = people[name].ask("POST", "/contests/cup/teams", json={"name": name})["team"]["id"]
        hook = organiser.ask("POST", "/contests/cup/hooks", json={"url": "https://cup.example/"})["hook"]["id"]
        served.go_to("cup", "final-protect")
        files = {}
        for seed, name in enumerate(("red", "blue")):
            release = served.case(seed).submitted.read_bytes()
            files[name] = people[name].ask("PUT", "/contests/cup/releases", content=release)["submission"]
        served.go_to("cup", "final-attack")
        state = served.arena.state("cup")
        assert state is not None
        target = {name: one.id for one in state.targets["final"].values() for name in teams if one.team == teams[name]}
        job = served.arena.store.jobs.of("cup")[0].id
        self.ids = {
            "contest": {"cup": "cup", "second": "second", "veiled": "veiled"},
            "team": teams,
            "submission": files,
            "target": target,
            "round": {"final": "final"},
            "job": {"cup": job},
            "hook": {"cup": hook},
            "token": {},
        }

    def _tokens(self) -> None:
        for name in ("red", "org"):
            for scope in ("read", "team", "organiser"):
                asked = {"name": scope, "scopes": [scope]}
                said = self.people[name].ask("POST", "/account/tokens", json=asked)
                self.tokens[f"{name}:{scope}"] = said["text"]
        for name in ("blue", "blue-too"):
            said = self.people["blue"].ask("POST", "/account/tokens", json={"name": name, "scopes": ["read"]})
            self.ids["token"][name] = said["token"]["id"]

    def log_in(self) -> None:
        """Let everybody log in again."""
        for name in ("org", "stranger", "red", "blue", "other"):
            login = "organiser" if name == "org" else name
            self.people[name] = person = Person(self.served)
            person.ask("POST", "/session", json={"login": login, "password": PASSWORD})
            person.know()

    # --- asking ------------------------------------------------------------------------------------------------------

    def headers(self, role: str) -> dict[str, str]:
        """Return what a role shows of itself."""
        if role in self.tokens:
            return {"Authorization": f"Bearer {self.tokens[role]}"}
        person = self.people.get(role) or self.people.setdefault(role, Person(self.served))
        cookies = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
        return {"Cookie": cookies, "X-CSRF-Token": person.headers["X-CSRF-Token"]}

    def body(self, row: Row, role: str) -> dict[str, Any]:
        """Return what a request brings: fit to be read, and refused only by who may do it."""
        bring = BODIES.get(row.route)
        if bring is None:
            return {"data": {"nothing": ""}} if row in PAGES and row.method == "POST" else {}
        return bring(self, role)

    def address(self, row: Row, **others: str) -> str:
        names = {name: self.ids.get(name, {}).get(one, one) for name, one in row.ids.items()} | others
        return row.path.format(**names)

    def walk(self, asking: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
        """Ask much, in one loop."""

        async def ask() -> None:
            transport = httpx.ASGITransport(self.served.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as client:
                await asking(client)

        awaited(ask())

    async def answer(
        self, client: httpx.AsyncClient, role: str, method: str, path: str, **bring: Any
    ) -> httpx.Response:
        """Ask as a role."""
        client.cookies.clear()
        return await client.request(method, path, headers=self.headers(role), **bring)


def _json(**said: Any) -> Callable[[Stage, str], dict[str, Any]]:
    return lambda _stage, _role: {"json": said}


def _phases(stage: Stage, _role: str) -> dict[str, Any]:
    return {"json": {"phases": stage.served.phases(), "reason": ""}}


BODIES: Mapping[str, Callable[[Stage, str], dict[str, Any]]] = {
    "POST /api/v1/session": lambda _stage, role: {"json": {"login": f"no {role}", "password": "wrong password"}},
    "POST /api/v1/accounts": _json(login="?", name="Nobody", password=PASSWORD),
    "PUT /api/v1/account/password": _json(old=PASSWORD, new=PASSWORD),
    "POST /api/v1/account/tokens": _json(name="new", scopes=["team"]),
    "POST /account/password": lambda _stage, _role: {"data": {"old": PASSWORD, "password": PASSWORD}},
    "POST /reset": lambda _stage, role: {"data": {"login": f"no {role}", "code": "a wrong code"}},
    "POST /api/v1/clock": _json(forward=0.001),
    "POST /api/v1/contests": lambda _stage, _role: {"files": {"contest": (None, "{}")}},
    "POST /api/v1/contests/{contest}/pause": _json(**REASON),
    "PUT /api/v1/contests/{contest}/phases": _phases,
    "PUT /api/v1/contests/{contest}/settings": _json(settings={}, **REASON),
    "POST /api/v1/contests/{contest}/announcements": _json(text=""),
    "POST /api/v1/contests/{contest}/password-resets": _json(login="no such login"),
    "POST /api/v1/contests/{contest}/organisers": _json(login="no such login"),
    "POST /api/v1/contests/{contest}/rescore": _json(scorer="another", **REASON),
    "POST /api/v1/contests/{contest}/teams/{team}/disqualify": _json(**REASON),
    "POST /api/v1/contests/{contest}/teams/{team}/reinstate": _json(**REASON),
    "POST /api/v1/contests/{contest}/hooks": _json(url="https://cup.example/"),
    "POST /api/v1/contests/{contest}/teams": _json(name="Green"),
    "POST /api/v1/contests/{contest}/join": _json(code="a wrong code"),
    "PUT /api/v1/contests/{contest}/releases": lambda _stage, _role: {"content": b"a file"},
    "PUT /api/v1/contests/{contest}/guesses/{target}": lambda _stage, _role: {"content": b"a file"},
}


ENDS_SESSIONS = ("PUT /api/v1/account/password", "POST /account/password", "DELETE /api/v1/session", "POST /logout")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("stage"))
    yield made
    made.served.close()


def routes_of(app: Any) -> set[tuple[str, str]]:
    """Return method and path of every route of the application, whatever it is included through."""
    return set(_routes(app.router.routes, ""))


def _routes(routes: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from _routes(included.routes, prefix + route.include_context.prefix)
        elif getattr(route, "methods", None):
            yield from ((method, prefix + route.path) for method in route.methods)
        elif route.path != "/static":  # files of ours that everybody may see
            raise AssertionError(f"what is {route.path}?")


OPEN = {("GET", "/api/docs.json"), ("HEAD", "/api/docs.json")}
"""What says the same to everybody."""


def test_the_table_knows_every_route(stage: Stage) -> None:
    known = {(row.method, row.path) for row in (*REST, *PAGES)} | OPEN
    assert routes_of(stage.served.app) == known


def test_no_path_answers_another_method(stage: Stage) -> None:
    wrong = []

    async def walk(client: httpx.AsyncClient) -> None:
        by_path: dict[str, tuple[set[str], Row]] = {}
        for row in (*REST, *PAGES):
            by_path.setdefault(row.path, (set(), row))[0].add(row.method)
        for path, (answered, row) in by_path.items():
            for method in sorted({*METHODS} - answered):
                for role in ("visitor", "org"):
                    answer = await stage.answer(client, role, method, stage.address(row))
                    if answer.status_code != 405:
                        wrong.append((method, path, role, answer.status_code))

    stage.walk(walk)
    assert wrong == []


def test_who_may_not_see_a_contest_cannot_tell_it_from_none(stage: Stage) -> None:
    told, inside = [], []

    async def walk(client: httpx.AsyncClient) -> None:
        async def ask(row: Row, role: str, contest: str) -> httpx.Response:
            address = stage.address(row, contest=contest)
            return await stage.answer(client, role, row.method, address, **stage.body(row, role))

        routes = {row.route: row for row in (*REST, *PAGES) if "contest" in row.ids}
        for row in routes.values():
            for role in ("visitor", "stranger", "blue", "other"):
                there, none = [await ask(row, role, name) for name in ("veiled", "nowhere")]
                same = there.content.replace(b"veiled", b"nowhere") == none.content
                hides = there.status_code in (401, 404) or there.headers.get("location") == "/login"
                if not (hides and same and there.status_code == none.status_code):
                    told.append((row.route, role, there.status_code, none.status_code))
            inside.append((await ask(row, "org", "veiled")).status_code)

    stage.walk(walk)
    assert told == []
    assert inside.count(200) > 10  # it is there, for whoever may see it


def test_ids_of_another_contest_are_not_there(stage: Stage) -> None:
    ids, other = stage.ids, stage.people["other"]
    for method, path in (
        ("DELETE", f"hooks/{ids['hook']['cup']}"),
        ("POST", f"jobs/{ids['job']['cup']}/retry"),
        ("GET", f"submissions/{ids['submission']['red']}"),
        ("GET", f"submissions/{ids['submission']['red']}/file"),
        ("GET", f"rounds/final/targets/{ids['target']['red']}"),
    ):
        assert other.request(method, f"/api/v1/contests/second/{path}").status_code == 404, path
    asked = {"reason": "to see"}
    path = f"/api/v1/contests/second/teams/{ids['team']['red']}/disqualify"
    assert other.post(path, json=asked).status_code == 404


def test_tokens_open_no_page(stage: Stage) -> None:
    person = Person(stage.served)
    organiser = {"Authorization": f"Bearer {stage.tokens['org:organiser']}"}
    assert person.get("/contests/veiled", headers=organiser).status_code == 404
    assert person.get("/contests/cup/organise", headers=organiser, follow_redirects=False).status_code == 303


def test_a_change_needs_the_token_of_its_page(stage: Stage) -> None:
    red = stage.people["red"]
    for headers in ({"X-CSRF-Token": ""}, {"X-CSRF-Token": "wrong"}, {"Origin": "https://evil.example"}):
        answer = red.post("/api/v1/contests/cup/team/code", headers=headers)
        assert answer.status_code == 403, headers


def walked(stage: Stage, table: list[Row], roles: tuple[str, ...]) -> list[str]:
    """Return what the table says otherwise than the answers do."""
    wrong = []

    async def walk(client: httpx.AsyncClient) -> None:
        for row in table:
            said = []
            for role in roles:
                answer = await stage.answer(client, role, row.method, stage.address(row), **stage.body(row, role))
                said.append(answer.status_code)
            if tuple(said) != row.statuses:
                wrong.append(f"{row.route} {row.ids}: {said}")

    stage.walk(walk)
    return wrong


def test_everybody_may_do_what_the_table_says(stage: Stage) -> None:
    """The first walk is in the phase of attacks, the others when results are open; sessions end last."""
    last = [row for row in (*REST, *PAGES) if row.route in ENDS_SESSIONS]
    assert walked(stage, [row for row in REST if row not in last], ROLES) == []
    assert walked(stage, [row for row in PAGES if row not in last], BROWSERS) == []
    stage.served.go_to("cup", "results")
    assert walked(stage, REST_AFTER_RESULTS, ROLES) == []
    assert walked(stage, PAGES_AFTER_RESULTS, BROWSERS) == []
    for route in ENDS_SESSIONS:
        [row] = [row for row in last if row.route == route]
        assert walked(stage, [row], ROLES if row in REST else BROWSERS) == []
        stage.log_in()


def test_the_table_has_a_status_for_everybody() -> None:
    for table, roles in (
        (REST, ROLES),
        (PAGES, BROWSERS),
        (REST_AFTER_RESULTS, ROLES),
        (PAGES_AFTER_RESULTS, BROWSERS),
    ):
        assert {len(row.statuses) for row in table} == {len(roles)}


def test_the_size_of_the_table() -> None:
    """Told where the table is told of: routes with their methods, rows, and cells (a row and a role)."""
    routes = {row.route for row in (*REST, *PAGES)}
    rows = (*REST, *PAGES, *REST_AFTER_RESULTS, *PAGES_AFTER_RESULTS)
    assert (len(routes), len(rows), sum(len(row.statuses) for row in rows)) == (89, 148, 1410)
