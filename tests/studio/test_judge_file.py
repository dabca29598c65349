"""A steward has a file from elsewhere judged: upload, job, page; what is refused; what stays of the file."""

from __future__ import annotations

import html
import json
import random
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.studio.conftest import laid_project, wait_for
from tests.studio.in_process import Program, Server
from tests.studio.staffed import Staffed

drawn = random.Random(1)
PEOPLE = [(drawn.randint(20, 59), drawn.choice(["Kobe", "Nara"]), drawn.choice(["flu", "cold"])) for _ in range(200)]
MADE = [f"[{age // 20 * 20}, {age // 20 * 20 + 20}[;{city};{illness}" for age, city, illness in PEOPLE]
UNSHUFFLED = "\n".join(["age;city;illness", *MADE]).encode()
SORTED = "\n".join(["age;city;illness", *sorted(MADE)]).encode()


def people(server: Server, folder: Path) -> str:
    """Return a project of the people whom the files are about."""
    file = folder / "people.csv"
    file.write_text("age,city,illness\n" + "".join(f"{age},{city},{illness}\n" for age, city, illness in PEOPLE))
    server.client().close()  # it has taken up what was under way, and leaves alone what is laid there now
    return laid_project(server, "People", file=file)


@pytest.fixture(scope="module")
def project(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    return people(server, tmp_path_factory.mktemp("people"))


def put(client: Any, project: str, name: str, content: bytes) -> Any:
    return client.put(f"/api/v1/projects/{project}/judged", params={"name": name}, content=content)


def page_of(client: httpx.Client, project: str, name: str, content: bytes) -> tuple[str, str]:
    """Have a file judged; return the job and the page."""
    job = put(client, project, name, content).json()["id"]
    wait_for(client, job)
    answer = client.get(f"/projects/{project}/judged/{job}")
    assert answer.status_code == 200
    return job, html.unescape(answer.text)


def test_a_file_is_judged_and_removed_and_the_page_names_its_flaw(
    client: Program, server: Server, project: str
) -> None:
    job, page = page_of(client, project, "arx.csv", UNSHUFFLED)
    assert "<h1>Broken: The rows follow the order of the original" in page
    assert "Tried: identifying columns, order of rows, classes." in page
    assert "Not tried: linkage with the truth" in page
    assert "name its columns when you upload the file again" in page
    told = client.get(f"/api/v1/projects/{project}/judged/{job}").json()
    assert (told["verdict"], told["flaws"][0]["code"]) == ("broken", "order-leak")
    assert list((server.folder / "projects" / project / "jobs" / job).glob("*.*")) == []
    assert list((server.folder / "projects" / project).glob("*.part")) == []
    listed = client.get(f"/projects/{project}/results").text
    assert f'href="/projects/{project}/judged/{job}">arx.csv</a>' in listed
    entries = [json.loads(line)["body"] for line in client.get("/api/v1/trail").text.splitlines()]
    assert {"project": project, "job": job, "work": "judge", "label": "arx.csv"} in entries


def test_columns_are_matched_as_the_steward_says(client: Program, project: str) -> None:
    rows = [f"{illness};{at}" for at, (_age, _city, illness) in enumerate(PEOPLE)]
    content = "\n".join(["finding;who", *rows]).encode()
    asked = {"name": "odd.csv", "map": ["finding="], "truth": "who"}
    job = client.put(f"/api/v1/projects/{project}/judged", params=asked, content=content).json()["id"]
    assert "name at least one with --map" in wait_for(client, job)["error"]["message"]  # none is left
    asked["map"] = ["finding=illness"]
    job = client.put(f"/api/v1/projects/{project}/judged", params=asked, content=content).json()["id"]
    wait_for(client, job)
    told = client.get(f"/api/v1/projects/{project}/judged/{job}").json()["found"]
    assert told["columns"] == {"finding": "illness"}
    assert "attacks" in told["tried"]
    form = client.get(f"/projects/{project}/results").text
    assert 'data-parameter="map"' in form
    assert 'data-parameter="truth"' in form


def test_the_verdict_follows_the_rule_of_the_project(client: Program, project: str) -> None:
    job, page = page_of(client, project, "sorted.csv", SORTED)
    assert 'class="verdict is-withstands finding"' in page
    try:
        assert client.patch(f"/api/v1/projects/{project}", json={"rule": "1/1000"}).status_code == 200
        stricter = client.get(f"/api/v1/projects/{project}/judged/{job}").json()
        assert "class-too-small" in [flaw["code"] for flaw in stricter["flaws"]]
    finally:
        client.patch(f"/api/v1/projects/{project}", json={"rule": "partner"})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "empty.csv"),
        ("no_rows.csv", b"age,city\n", "give a file with"),
        ("no.parquet", b"PAR1\x00\xff\x00garbage", "no.parquet"),
        ("other.csv", b"x1,x2\nq,w\ne,r\nt,z\n", "name at least one with --map COLUMN=ORIGINAL"),
    ],
)
def test_what_cannot_be_judged_is_told_with_the_remedy(
    client: Program, project: str, name: str, content: bytes, said: str
) -> None:
    _job, page = page_of(client, project, name, content)
    assert f"{name} was not judged" in page
    assert said in page[page.index('class="error-box"') :]
    assert "unexpected error" not in page


def test_a_file_past_the_bound_is_thrown_away(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio", largest_upload=100_000)
    try:
        project, ann = staffed.shop(tmp_path), staffed.hire()["ann"]
        answer = put(ann, project, "big.csv", b"a,b\n" * 30_000)
        assert answer.status_code == 413
        assert answer.json()["error"]["message"].startswith("big.csv: the file is larger than 0 MB; ")
        assert staffed.studio.store.jobs(project, kind="judge") == []
        assert list(staffed.studio.folders.project(project).glob("*.part")) == []
    finally:
        staffed.studio.close()


def test_stewards_alone_bring_files_and_readers_see_what_came_of_them(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio")
    try:
        staff, project = staffed.hire(), staffed.shop(tmp_path)
        staffed.studio.store.share(project, ["cora"])
        rows = staffed.studio.preview(project, 0, 240)
        content = "\n".join(",".join(map(str, row)) for row in [rows["columns"], *rows["rows"]]).encode()
        for login in ("cora", "ben", "ada"):
            assert put(staff[login], project, "a.csv", content).status_code == 403, login
        job = put(staff["ann"], project, "a.csv", content).json()["id"]
        address = f"/projects/{project}/judged/{job}"
        assert "Broken: " in staff["cora"].get(address).text
        assert "/remove" not in staff["cora"].get(address).text
        assert 'id="drop"' not in staff["cora"].get(f"/projects/{project}/results").text
        assert 'id="drop"' in staff["ann"].get(f"/projects/{project}/results").text
        # another reading gives other columns: what was found of them goes
        assert staff["ann"].put(f"/api/v1/projects/{project}/schema", json={"preset": "sample"}).status_code == 202
        assert staff["ann"].get(address).status_code == 404
        staffed.studio.store.share(project, [])
        assert staff["cora"].get(f"/projects/{project}/results").status_code == 404
    finally:
        staffed.studio.close()


def test_a_judged_file_is_not_judged_again_without_it(client: Program, project: str) -> None:
    job, _page = page_of(client, project, "no.parquet", b"PAR1\x00garbage")
    again = client.post(f"/api/v1/jobs/{job}/again").json()["id"]
    assert "upload it again" in wait_for(client, again)["error"]["message"]
    answer = client.post(f"/jobs/{again}/remove", data={"csrf": client.headers["X-CSRF-Token"]})
    assert "Remove no.parquet?" in answer.text
