"""Who may do what: every route of the studio for every role. A route that is not in ``route_table`` fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.contest.served import awaited
from tests.contest.test_routes import routes_of
from tests.studio.route_table import ROUTES, Row
from tests.studio.staffed import PASSWORD, STAFF, Staffed

from noren.studio.api import router as api
from noren.studio.users import UserRole

NAMES = {
    "project": "a" * 12,
    "job": "b" * 12,
    "login": "nobody",
    "number": "1",
    "name": "x",
    "room": "methods",
    "record": "c" * 64,
}
ACTS = {"/jobs/": "cancel", "/users/": "revoke", "/inbox/": "approve", "/ledger/": "weigh"}
BODIES: dict[str, dict[str, Any]] = {"POST /account": {"data": {"old": PASSWORD, "password": "short"}}}
WHO = {login: STAFF[login] for login in ("cora", "ben", "ann", "ada")}


@pytest.fixture(scope="module")
def staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staffed]:
    made = Staffed(tmp_path_factory.mktemp("routes") / "studio")
    yield made
    made.studio.close()


def answers(
    staffed: Staffed, person: TestClient, rows: Sequence[Row], names: Mapping[str, str] = NAMES
) -> dict[Row, int]:
    """Ask for routes, about nobody's things unless others are named, in one loop; return the statuses."""
    headers = {"X-CSRF-Token": person.headers["X-CSRF-Token"], "Accept-Language": "en"}

    async def ask() -> dict[Row, int]:
        transport, found = httpx.ASGITransport(staffed.app, raise_app_exceptions=False), {}
        async with httpx.AsyncClient(
            transport=transport, base_url=str(person.base_url), headers=headers, cookies=dict(person.cookies)
        ) as client:
            for row in rows:
                act = next((act for part, act in ACTS.items() if part in row.path), "")
                bring = BODIES.get(f"{row.method} {row.path}", {})
                found[row] = (await client.request(row.method, row.path.format(act=act, **names), **bring)).status_code
        return found

    return awaited(ask())


def test_the_table_knows_every_route(staffed: Staffed) -> None:
    known = {(row.method, row.path) for row in ROUTES} | {("GET", "/api/docs.json"), ("HEAD", "/api/docs.json")}
    assert routes_of(staffed.app) == known, "write new routes into tests/studio/route_table.py, with their least role"
    assert len(ROUTES) == len(known) - 2


def plain_routes(routes: Any) -> Iterator[Any]:
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else plain_routes(included.routes)


def test_what_changes_something_through_the_interface_is_an_action() -> None:
    """Uploads are streams, and a builder's column is in the query; everything else is declared in ``acts``."""
    changing = [route for route in plain_routes(api.routes) if not route.methods & {"GET", "HEAD"}]
    by_hand = {f"{min(route.methods)} {route.path}" for route in changing if not hasattr(route.endpoint, "role")}
    files = {f"PUT /projects/{{project}}/{name}" for name in ("file", "categories", "hierarchy", "judged")}
    assert by_hand == files | {"POST /projects/{project}/hierarchy"}


def test_every_role_may_do_what_the_table_says(staffed: Staffed) -> None:
    staff, wrong = staffed.hire(), []
    last = [row for row in ROUTES if row.path == "/logout"]
    for login, role in WHO.items():
        rows = [*(row for row in ROUTES if row not in last), *last]
        for row, status in answers(staffed, staff[login], rows).items():
            may = row.least == "all" or role.covers(UserRole(row.least))
            # about things that are not there: a role that may is told so, and nothing changes; no worker runs here
            if (status in (401, 403)) is may or (status >= 500 and (row.path, status) != ("/healthz", 503)):
                wrong.append(f"{row.method} {row.path} as {role}: {status}")
    assert wrong == []


def test_who_did_not_log_in_is_sent_to_log_in(staffed: Staffed) -> None:
    wrong = []
    for row, answer in answers(staffed, staffed.browser(), ROUTES).items():
        sent_away = 401 if row.path.startswith("/api/") else 303
        if row.least == "all" and row.path == "/preferences":
            assert answer == 303
        elif (answer == sent_away) is (row.least == "all"):
            wrong.append(f"{row.method} {row.path}: {answer}")
    assert wrong == []


def test_a_change_needs_the_token_of_its_page(staffed: Staffed) -> None:
    ann = staffed.logged_in("ann")
    for headers in ({"X-CSRF-Token": ""}, {"X-CSRF-Token": "wrong"}, {"Origin": "https://evil.example"}):
        for path in ("/api/v1/users", "/users", f"/api/v1/publications/{'c' * 64}/approval"):
            assert ann.post(path, headers=headers).status_code == 403, (path, headers)
