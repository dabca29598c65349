"""A reader sees the projects shared with her, and no trace of the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.studio.route_table import ROUTES
from tests.studio.staffed import Staffed, run_by
from tests.studio.test_routes import NAMES, answers

from noren.studio.users import UserRole

QUERIES = dict.fromkeys(("builders", "hierarchy", "values"), "?column=date") | {"crosstab": "?a=date&b=item"}
"""What some routes must be asked with."""
GONE = "there is no such project, run or file; it may have been removed"


class Shop:
    """A studio with a project of Ann's and a run of it, which is shared with nobody."""

    def __init__(self, staffed: Staffed, project: str, run: str) -> None:
        self.staffed, self.project, self.run = staffed, project, run
        self.ann, self.cora, self.ada = (staffed.logged_in(login) for login in ("ann", "cora", "ada"))

    def share(self, *logins: str) -> None:
        answer = self.ann.put(f"/api/v1/projects/{self.project}/readers", json={"readers": list(logins)})
        assert (answer.status_code, answer.json()) == (200, list(logins))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shares")
    staffed = Staffed(folder / "studio")
    ann = staffed.hire()["ann"]
    project = staffed.shop(folder)
    yield Shop(staffed, project, run_by(ann, project, k=6))
    staffed.studio.close()


@pytest.mark.parametrize("login", ["cora", "ada"])
def test_what_is_not_shared_is_not_there_on_any_route(shop: Shop, login: str) -> None:
    shop.share()
    about = [
        row for row in ROUTES if {"{project}", "{job}"} & {*row.path.replace("}/", "} ").replace("/", " ").split()}
    ]
    assert len(about) > 80
    names = NAMES | {"project": shop.project, "job": shop.run}
    about = [row._replace(path=row.path + QUERIES.get(row.path.rpartition("/")[2], "")) for row in about]
    wrong = {
        row: status
        for row, status in answers(shop.staffed, getattr(shop, login), about, names).items()
        if status != (404 if UserRole(row.least) == UserRole.READER else 403)
    }
    assert list(wrong.values()) == [303], wrong  # the old address of the list of runs, which leads to the new one


def test_lists_searches_and_counts_leave_out_what_is_not_shared(shop: Shop) -> None:
    shop.share()
    assert shop.cora.get("/api/v1/projects").json() == []
    assert shop.cora.get("/api/v1/projects", params={"search": "small"}).headers["X-Total-Count"] == "0"
    shown = shop.cora.get("/").text
    assert "No project is shared with you yet. Ask a data steward." in shown
    assert shop.project not in shown
    assert "Small" not in shop.cora.get("/", params={"search": "small"}).text
    shop.share("cora")
    assert [one["id"] for one in shop.cora.get("/api/v1/projects").json()] == [shop.project]
    assert "Small" in shop.cora.get("/").text
    assert shop.cora.get(f"/projects/{shop.project}/results/{shop.run}").status_code == 200
    assert shop.cora.get(f"/api/v1/runs/{shop.run}/result").status_code == 200
    shop.share()
    assert shop.cora.get(f"/api/v1/jobs/{shop.run}").json()["error"]["message"] == GONE


def test_stewards_share_on_the_page_of_the_data(shop: Shop) -> None:
    shop.share()
    page = f"/projects/{shop.project}/data"
    assert 'name="reader-cora" value="yes">' in shop.ann.get(page).text
    assert shop.ann.post(f"/projects/{shop.project}/readers", data={"reader-cora": "yes"}).status_code == 303
    assert 'name="reader-cora" value="yes" checked>' in shop.ann.get(page).text
    assert "reader-cora" not in shop.cora.get(page).text
    last = shop.staffed.studio.store.trail.head()
    assert last is not None
    assert (last.kind, last.actor, last.body["readers"]) == ("project-shared", "ann", ["cora"])


@pytest.mark.parametrize("login", ["ben", "nobody", "ada"])
def test_a_project_is_shared_with_readers_alone(shop: Shop, login: str) -> None:
    answer = shop.ann.put(f"/api/v1/projects/{shop.project}/readers", json={"readers": [login]})
    assert answer.status_code == 422
    assert "there is no reader of that login; use one of cora" in answer.text


def test_an_administrator_is_sent_to_the_users(shop: Shop) -> None:
    assert shop.ada.get("/").headers["location"] == "/users"
    assert shop.ada.get("/api/v1/projects").json() == []


def test_reviewers_see_everything(shop: Shop) -> None:
    shop.share()
    ben = shop.staffed.logged_in("ben")
    assert [one["id"] for one in ben.get("/api/v1/projects").json()] == [shop.project]
