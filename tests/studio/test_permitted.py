"""Pages show what a role can do: no form and no link of them ends in a refusal."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from starlette.testclient import TestClient
from tests.studio.route_table import ROUTES
from tests.studio.staffed import STAFF, Staffed, run_by

from noren.studio.users import UserRole

TERMS = {"to": "Example University", "purpose": "teaching", "reason": "the partner signed a contract"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TestClient]]:
    """A studio that wants four eyes, with a safe and a broken run, a ledger and requests, shared with Cora."""
    folder = tmp_path_factory.mktemp("permitted")
    staffed = Staffed(folder / "studio", four_eyes=True)
    staff = staffed.hire()
    project, ann = staffed.shop(folder), staff["ann"]
    staffed.studio.store.share(project, ["cora"])
    for method, parameters in (("generalize-by-count", {"k": 6}), ("pseudonymize", {})):
        run = run_by(ann, project, method, **parameters)
        assert ann.post(f"/api/v1/runs/{run}/publications", json=TERMS).status_code == 201
    assert ann.post(f"/api/v1/projects/{project}/ledger", json={"attacks": ["s1"]}).status_code == 201
    assert ann.post(f"/api/v1/projects/{project}/ledger/releases", json={}).status_code == 202
    yield staff
    staffed.studio.close()


def least_role(method: str, path: str) -> str:
    """Return the role that the table names for an address; the row with the fewest gaps is its route."""
    fitting = [
        row for row in ROUTES if row.method == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", row.path), path)
    ]
    assert fitting, (method, path)
    return min(fitting, key=lambda row: row.path.count("{")).least


def crawl(client: TestClient) -> tuple[dict[str, int], set[str]]:
    """Follow every link from the first page on; return the statuses, and where forms can be sent."""
    waiting, seen, targets = ["/"], {}, set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        answer = client.get(address)
        seen[address] = answer.status_code
        waiting += [answer.headers["location"]] if answer.status_code == 303 else []
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        for form in re.findall(r"<form\b[^>]*>.*?</form>", answer.text, re.DOTALL):
            if 'method="post"' in form[: form.index(">")]:
                targets |= {html.unescape(to) for to in re.findall(r'\b(?:form)?action="([^"]+)"', form)}
        for link in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', answer.text):
            target = urlsplit(urljoin(address, html.unescape(link)))
            if not target.netloc and "start=" not in target.query:
                waiting.append(target.path + (f"?{target.query}" if target.query else ""))
    return seen, targets


@pytest.mark.parametrize("login", STAFF)
def test_no_page_offers_what_ends_in_a_refusal(house: dict[str, TestClient], login: str) -> None:
    role = STAFF[login]
    seen, targets = crawl(house[login])
    assert {address: status for address, status in seen.items() if status not in (200, 303)} == {}
    paths = {urlsplit(target).path for target in targets}
    least = {path: least_role("POST", path) for path in paths}
    assert {path: need for path, need in least.items() if need != "all" and not role.covers(UserRole(need))} == {}
    changing = {re.sub(r"/[a-z0-9]{12}\b|/[0-9a-f]{64}\b", "/*", path) for path in paths} - {"/preferences", "/logout"}
    if role == UserRole.READER:
        assert changing == {"/account"}
    elif role == UserRole.REVIEWER:
        papers = {"/projects/*/results/*/papers", "/projects/*/results/*/publish/report"}
        assert changing == {"/account", "/inbox/*/approve", "/inbox/*/refuse", *papers}
    elif role == UserRole.ADMINISTRATOR:
        assert {path.split("/")[1] for path in changing} == {"account", "users"}
    else:
        assert {"/projects", "/projects/*/protect", "/projects/*/results/*/publish/share"} <= changing


def test_who_may_not_change_columns_sees_them_still(house: dict[str, TestClient]) -> None:
    for login in ("ben", "cora"):
        project = house[login].get("/api/v1/projects").json()[0]["id"]
        shown = house[login].get(f"/projects/{project}/data").text
        form = re.search(r'<(\w+)[^>]* id="columns-form"[^>]*>', shown)
        assert form
        assert form[1] == "fieldset"
        assert " disabled>" in form[0]
