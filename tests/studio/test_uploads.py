"""Files that people send: the command line's errors for wrong ones, and nothing that a hostile one could do."""

from __future__ import annotations

import contextlib
import gzip
import io
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from tests.conftest import PATIENCE
from tests.studio.conftest import ready_project, until, wait_for
from tests.studio.in_process import Program, Server

from noren.data.formats import workbooks
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read
from noren.errors import NorenError
from noren.progress import silent
from noren.studio.actions.projects import add_project, upload
from noren.studio.failure_reasons import error_details
from noren.studio.folders import read_json
from noren.studio.pages import data_parts
from noren.studio.service import Studio
from noren.studio.work import reading
from noren.web.errors import TooLargeError
from noren.web.settings import ServerSettings
from noren.web.uploads import display_name

PEOPLE = b"name,age,city\nAnn,20,Bern\nBob,31,Genf\nCid,31,Bern\n"


def parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def sheet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_excel(content)
    return content.getvalue()


def workbook(cells: str) -> bytes:
    """A workbook whose one sheet is the XML given."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")
    return content.getvalue()


WRONG = {
    "empty.csv": b"",
    "cut.csv": b"customer,date,item\n1,2010/12/1,a\n1,2010/12",
    "nul.csv": b"a,b\n1,\x00\n",
    "quote.csv": b'a,b\n1,"x\n',
    "utf16.csv": "a,b\n1,2\n".encode("utf-16")[:-1],  # half a character
    "header.csv": b"a,b\n",
    "pattern.csv": b"^a$,b\n1,2\n3,4\n",
    "long.csv": b"x" * 300 + b",b\n1,2\n3,4\n",
    "cut.parquet": parquet(pl.DataFrame({"a": [1, 2]}))[:-20],
    "cut.csv.gz": gzip.compress(PEOPLE * 50, mtime=0)[:-9],
    "no.xlsx": b"this is no workbook",
    "archive.zip": workbook(""),
    "far.xlsx": workbook('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
}


def send(client: httpx.Client, project: str, name: str, content: bytes) -> dict[str, Any]:
    """Send a file and return the job that reads it, when it is over."""
    answer = client.put(f"/api/v1/projects/{project}/file", params={"name": name}, content=content)
    assert answer.status_code == 202, answer.text
    return wait_for(client, answer.json()["id"])


def new_project(client: httpx.Client) -> str:
    return str(client.post("/api/v1/projects", json={"name": "Uploads"}).json()["id"])


def work(root: Path, name: str, content: bytes, **order: Any) -> dict[str, Any]:
    """Do what the worker does with an upload, in this process; return the summary."""
    project = "p" * 12
    folder = root / "projects" / project / "jobs" / ("j" * 12)
    folder.mkdir(parents=True, exist_ok=True)
    (root / "projects" / project / "source.bin").write_bytes(content)
    asked = {"kind": "read", "project": project, "root": str(root), "language": "en", "file_name": name}
    return reading.do(asked | order, folder, silent)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_get_the_errors_of_the_command_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(WRONG[name])
    with pytest.raises(NorenError) as by_hand:
        read(name, guess_schema(name).schema)
    with pytest.raises(NorenError) as by_worker:
        work(tmp_path / "studio", name, WRONG[name])
    assert error_details(by_worker.value, name)["message"]["en"] == str(by_hand.value)


def test_a_wrong_file_is_told_in_place_and_another_can_be_sent_at_once(client: httpx.Client) -> None:
    project = new_project(client)
    over = send(client, project, "nul.csv", WRONG["nul.csv"])
    assert over["state"] == "failed"
    assert over["error"]["message"].startswith("nul.csv, row 2: byte 7 is a NUL byte: the file is binary or damaged")
    assert over["error"]["row"] == 2
    shown = client.get(f"/projects/{project}/data").text
    assert "nul.csv was not read" in shown
    assert "byte 7 is a NUL byte" in shown
    assert 'id="file"' in shown
    assert send(client, project, "people.csv", PEOPLE)["state"] == "done"
    facts = client.get(f"/api/v1/projects/{project}").json()["facts"]
    assert (facts["rows"], facts["form"]["delimiter"], facts["form"]["encoding"]) == (3, ",", "utf-8")


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        (
            "a.tsv",
            PEOPLE.replace(b",", b"\t"),
            {"kind": "text", "delimiter": "\t", "encoding": "utf-8", "header": True},
        ),
        (
            "a.csv.gz",
            gzip.compress(PEOPLE, mtime=0),
            {"kind": "text", "delimiter": ",", "encoding": "utf-8", "header": True},
        ),
        (
            "名簿.csv",
            "氏名,年齢\n田中,20\n佐藤,31\n".encode("cp932"),
            {"kind": "text", "delimiter": ",", "encoding": "cp932", "header": True},
        ),
        ("a.parquet", parquet(pl.DataFrame({"age": [1, 2, 3]})), {"kind": "parquet"}),
        ("people.xlsx", sheet(pl.DataFrame({"name": ["Ann", "Bob"], "age": [20, 31]})), {"kind": "excel"}),
    ],
)
def test_the_form_of_a_file_is_told(tmp_path: Path, name: str, content: bytes, form: dict[str, Any]) -> None:
    assert work(tmp_path, name, content)["form"] == form


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "LARGEST_WORKBOOK", 10_000_000)
    bomb = workbook("0" * 20_000_000)
    assert len(bomb) < 50_000
    with pytest.raises(NorenError, match="decodes to more than 10,000,000 bytes"):
        work(tmp_path, "bomb.xlsx", bomb)


def test_too_many_columns_are_refused_before_they_are_read(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    wide = (",".join(names) + "\n" + ",".join("1" * 10_000) + "\n").encode()
    for name, content in (("wide.csv", wide), ("wide.parquet", parquet(pl.DataFrame({n: [1] for n in names})))):
        with pytest.raises(NorenError, match="the file has 10,000 columns, more than 1,000"):
            work(tmp_path, name, content)


def test_columns_that_hold_no_plain_values_are_left_out_and_told(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 31], "visits": [[1], [2, 3]], "raw": [b"a", b"b"]})
    facts = work(tmp_path, "nested.parquet", parquet(frame))
    assert facts["columns"] == ["age"]
    assert facts["unreadable"] == ["visits", "raw"]
    assert data_parts.notices(facts) == ["Left out because they hold lists or bytes: visits, raw."]


LATE = ("number,group\n" + "".join(f"{i},{i % 7}\n" for i in range(60_000)) + "x,1").encode()
"""A row that is wrong beyond those that the guess looks at."""


def test_a_row_that_is_wrong_leaves_a_draft_to_mend(tmp_path: Path) -> None:
    strict = 'kind = "table"\n[columns]\nnumber = { role = "quasi", type = "integer", width = 1.0 }\n'
    strict += 'group = { role = "quasi", type = "integer" }\n'
    with pytest.raises(NorenError, match="row 60002, column number, 'x': this is not a whole number"):
        work(tmp_path, "late.csv", LATE, schema=strict, leave_out=[])
    draft = read_json(tmp_path / "projects" / ("p" * 12) / "jobs" / ("j" * 12) / "draft.json")
    assert draft["file_columns"] == ["number", "group"]
    mended = draft["toml"].replace('type = "integer"', 'type = "text"').replace('scale = "ratio"', 'scale = "nominal"')
    mended = mended.replace("width = 1.0", "")
    assert work(tmp_path, "late.csv", LATE, schema=mended, leave_out=[])["rows"] == 60_001


@pytest.mark.slow
def test_a_guess_gives_way_to_a_late_row(tmp_path: Path) -> None:
    assert work(tmp_path, "late.csv", LATE)["rows"] == 60_001


def test_columns_can_be_left_out_with_and_without_a_header(tmp_path: Path) -> None:
    toml = '[columns]\n{} = {{ role = "quasi" }}\n{} = {{ role = "quasi", type = "integer" }}\n'
    table = 'kind = "table"\n'
    facts = work(tmp_path, "a.csv", PEOPLE, schema=table + toml.format("name", "age"), leave_out=["city"])
    assert (facts["columns"], facts["left_out"]) == (["name", "age"], ["city"])
    headless = b"1,x,5\n2,y,6\n"
    facts = work(tmp_path, "b.csv", headless, schema=table + toml.format("column2", "column3"), leave_out=["column1"])
    assert facts["columns"] == ["column2", "column3"]
    data = pl.read_parquet(tmp_path / "projects" / ("p" * 12) / "data.parquet")
    assert data.rows() == [("x", 5), ("y", 6)]
    with pytest.raises(NorenError, match="does not describe this column"):  # a table's column is never forgotten
        work(tmp_path, "a.csv", PEOPLE, schema=table + toml.format("name", "age"), leave_out=[])


def test_a_column_nobody_could_guess_is_a_question_and_stops_runs(client: httpx.Client) -> None:
    project = new_project(client)
    shop = b"customer,date,item,price,quantity,shelf\na,2010/12/1,x,1,1,A\nb,2010/12/2,y,2,1,B\n"
    assert send(client, project, "shop.csv", shop)["summary"]["open"] == ["shelf"]
    schema = client.get(f"/api/v1/projects/{project}/schema").json()
    assert [c.get("role") for c in schema["content"]["columns"]][-1] is None
    order = {"steps": [{"method": "pseudonymize"}]}
    refused = client.post(f"/api/v1/projects/{project}/runs", json=order)
    assert refused.status_code == 409
    assert "What is “shelf” for?" in refused.json()["error"]["message"]
    shown = client.get(f"/projects/{project}/data").text
    assert "What is “shelf” for?" in shown
    asked = {"content": schema["content"], "leave_out": []}
    problems = client.post(f"/api/v1/projects/{project}/schema/check", json=asked).json()["problems"]
    assert [(p["column"], p["is_question"]) for p in problems] == [("shelf", True)]


def test_hostile_names_are_text_and_lead_nowhere(client: httpx.Client, server: Server) -> None:
    project = new_project(client)
    names = ["<script>alert(1)</script>", "a\x01b", "../../x", "x" * 190, "'; --", "7*{{7}}"]
    lines = [",".join(names)] + [",".join([("red", "green", "blue")[i % 3]] * len(names)) for i in range(9)]
    job = send(client, project, "../../<b>evil\x00.csv", "\n".join(lines).encode())
    assert job["state"] == "done", job
    assert job["summary"]["columns"] == names
    assert client.get(f"/api/v1/projects/{project}").json()["source"]["file"] == "<b>evil?.csv"
    shown = client.get(f"/projects/{project}/data").text
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "a\N{REPLACEMENT CHARACTER}b" in shown
    assert "7*{{7}}" in shown
    assert "evil" not in "".join(path.name for path in server.folder.rglob("*"))
    # every column has a hierarchy, and every file lies in the folder of the hierarchies
    made = client.get(f"/api/v1/projects/{project}/hierarchies").json()
    assert [one["name"] for one in made] == names
    folder = server.folder / "projects" / project / "hierarchies"
    assert sorted(path.name for path in folder.iterdir()) == sorted(one["file"] for one in made)
    for name in names:
        answer = client.get(f"/api/v1/projects/{project}/hierarchy", params={"column": name})
        assert answer.text.splitlines() == ["blue;*", "green;*", "red;*"]
    # and the method finds them by these names
    order = {"steps": [{"method": "hierarchy", "parameters": {"k": 3}}], "attacks": [], "measures": []}
    done = wait_for(client, client.post(f"/api/v1/projects/{project}/runs", json=order).json()["id"])
    assert done["state"] == "done", done


def test_the_name_of_a_file_is_only_shown() -> None:
    assert display_name("C:\\Users\\me\\data.csv") == "data.csv"
    assert display_name("../..") == ".."
    assert display_name("a" * 500) == "a" * 120


# --- bounds ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio that takes 1,000 bytes; its background work is not started."""
    studio = Studio(ServerSettings(folder=tmp_path / "studio", largest_upload=1_000))
    yield studio
    studio.close()


def test_an_upload_past_the_bound_is_thrown_away(small_studio: Studio) -> None:
    project = add_project(small_studio, name="x").id
    with pytest.raises(TooLargeError, match=r"big\.csv: the file is larger than 0 MB"):
        upload(small_studio, project=project, name="big.csv", chunks=iter([b"a" * 600, b"b" * 600]))
    assert list(small_studio.folders.project(project).iterdir()) == []
    assert small_studio.project(project).source == {}


def raw_upload(server: Server, client: httpx.Client, project: str, length: int, body: bytes) -> bytes:
    """Send the head of an upload and some of its body, then close; return the answer's first bytes."""
    host, port = server.address.removeprefix("http://").rstrip("/").split(":")
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    head = (
        f"PUT /api/v1/projects/{project}/file?name=a.csv HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {cookies}\r\n"
        f"X-CSRF-Token: {client.headers['X-CSRF-Token']}\r\nContent-Length: {length}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(head.encode() + body)
        if len(body) < length and body:
            line.shutdown(socket.SHUT_WR)
        return line.recv(4_000)


def test_a_file_said_to_be_too_large_is_refused_unread(client: httpx.Client, server: Server) -> None:
    answer = raw_upload(server, client, new_project(client), 5 * 2**30, b"")
    assert answer.startswith(b"HTTP/1.1 413")


def test_an_upload_that_is_cut_off_changes_nothing(client: httpx.Client, server: Server) -> None:
    project = new_project(client)
    assert send(client, project, "people.csv", PEOPLE)["state"] == "done"
    before = client.get(f"/api/v1/projects/{project}").json()
    raw_upload(server, client, project, 10_000, b"name,age\nMallory,")
    folder = server.folder / "projects" / project
    until(lambda: not list(folder.glob("*.part")), "what came is thrown away")
    assert client.get(f"/api/v1/projects/{project}").json() == before


def test_data_with_releases_stay(client: httpx.Client) -> None:
    project = new_project(client)
    send(client, project, "people.csv", PEOPLE)
    order = {"steps": [{"method": "mondrian", "parameters": {"k": 2}}], "attacks": [], "measures": []}
    assert client.post(f"/api/v1/projects/{project}/runs", json=order).status_code == 202
    again = client.put(f"/api/v1/projects/{project}/file", params={"name": "b.csv"}, content=PEOPLE)
    assert again.status_code == 409
    assert "copy its data into a new project" in again.json()["error"]["message"]
    assert client.put(f"/api/v1/projects/{project}/schema", json={"preset": "adult"}).status_code == 409
    assert "This project has runs already; copy its data" in client.get(f"/projects/{project}/data").text


# --- small files -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people(server: Server) -> Iterator[tuple[Program, str]]:
    with contextlib.closing(server.client()) as client:
        yield client, ready_project(client, "people", "Hierarchies")


def put_hierarchy(client: httpx.Client, project: str, column: str, content: bytes) -> httpx.Response:
    asked = {"column": column, "name": "mine.csv"}
    return client.put(f"/api/v1/projects/{project}/hierarchy", params=asked, content=content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Female;person;*\nMale;;*\n", "mine.csv, row 2, 'Male;;*': level 1 is empty; give every value"),
        (b"Female;Male;*\nMale;Female;*\n", "mine.csv, row 1, 'Female': the hierarchy is circular"),
        (b"Female;*\nMale;person;*\n", "mine.csv, row 2, 'Male;person;*': this row has 3 levels"),
        (b"Female;*\n", "1 values of the data are not in their hierarchies: sex = 'Male'"),
        (b"\xff\xfe;*\n", "mine.csv: the file is not UTF-8"),
        (b"", "mine.csv: the file has no rows"),
        (gzip.compress(b"Female;*\nMale;*\n", mtime=0), "mine.csv: this is a compressed file"),
        (b";".join([b"Female"] * 40) + b"\n", "mine.csv, row 1: this row has 40 levels, more than 30"),
    ],
)
def test_wrong_hierarchies_are_named_and_the_old_one_stays(
    people: tuple[httpx.Client, str], content: bytes, said: str
) -> None:
    client, project = people
    before = client.get(f"/api/v1/projects/{project}/hierarchies").json()
    answer = put_hierarchy(client, project, "sex", content)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith(said)
    assert client.get(f"/api/v1/projects/{project}/hierarchies").json() == before


def test_a_hierarchy_is_bounded_in_size(people: tuple[httpx.Client, str]) -> None:
    client, project = people
    answer = put_hierarchy(client, project, "sex", b"a;*\n" * 600_000)
    assert answer.status_code == 413
    assert "larger than 2 MB" in answer.json()["error"]["message"]


def test_a_hierarchy_of_ones_own_replaces_the_first(people: tuple[httpx.Client, str]) -> None:
    client, project = people
    own = b"Female;person;*\nMale;person;*\n"
    answer = put_hierarchy(client, project, "sex", own)
    assert answer.status_code == 200, answer.text
    assert answer.json()["made"] == "uploaded"
    assert [level["labels"] for level in answer.json()["levels"]] == [2, 1, 1]
    assert answer.json()["levels"][1]["examples"] == [["person", 4000]]
    address = f"/api/v1/projects/{project}/hierarchy?column=sex"
    assert client.get(address).content == own
    assert client.post(address, json={}).json()["made"] == "default"
    assert client.get(address).text == "Female;*\nMale;*\n"


def test_widths_make_ranges_and_wrong_ones_are_told(people: tuple[httpx.Client, str]) -> None:
    client, project = people
    address = f"/api/v1/projects/{project}/hierarchy?column=age"
    assert client.get(address).text.splitlines()[3] == "20;20-24;20-29;20-39;0-39;*"
    assert client.post(address, json={"widths": [10, 30]}).json()["widths"] == [10, 30]
    assert client.get(address).text.splitlines()[3] == "20;20-29;0-29;*"
    wrong = client.post(address, json={"widths": [10, 25]})
    assert wrong.status_code == 422
    assert "ranges of 25 cannot be made of ranges of 10" in wrong.json()["error"]["message"]
    assert client.post(address, json={"widths": [float(10**20)]}).status_code == 422
    words = client.post(f"/api/v1/projects/{project}/hierarchy?column=sex", json={"widths": [2]})
    assert "widths does not apply to values of type text; use one of usual, prefix" in words.json()["error"]["message"]
    assert client.post(address, json={"widths": None}).json()["made"] == "default"


@pytest.mark.parametrize(("column", "said"), [("income", "only quasi-identifiers"), ("nobody", "no column 'nobody'")])
def test_only_linking_columns_have_hierarchies(people: tuple[httpx.Client, str], column: str, said: str) -> None:
    client, project = people
    answer = client.get(f"/api/v1/projects/{project}/hierarchy", params={"column": column})
    assert answer.status_code == 422
    assert said in answer.json()["error"]["message"]


def test_categories_of_items(client: httpx.Client, server: Server) -> None:
    project = new_project(client)
    rows = "customer,date,item,price,quantity\na,2010/12/1,x,1,1\nb,2010/12/2,y,2,1\nb,2010/12/3,z,2,1\n"
    assert send(client, project, "shop.csv", rows.encode())["state"] == "done"
    address = f"/api/v1/projects/{project}/categories"
    assert client.get(address).json() is None
    some = b"item,category\nx,c1\ny,c2\n"
    missing = client.put(address, params={"name": "mine.csv"}, content=some)
    assert missing.status_code == 422
    assert "1 items have no category, for example z" in missing.json()["error"]["message"]
    wrong = client.put(address, params={"name": "mine.csv"}, content=b"x,c1\nx,c2\n")
    assert wrong.json()["error"]["message"].startswith("mine.csv, row 2, 'x': the item has two categories")
    filled = client.put(address, params={"name": "mine.csv", "fill": True}, content=some)
    assert filled.json() == {
        "categories": 3,
        "items": 3,
        "largest": [["c1", "c1", 1, 1], ["c2", "c2", 1, 1], ["unknown", "unknown", 1, 1]],
    }
    assert (server.folder / "projects" / project / "categories.csv").exists()
    assert client.delete(address).status_code == 204
    assert not (server.folder / "projects" / project / "categories.csv").exists()
