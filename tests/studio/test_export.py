"""What leaves the studio: the public part alone, and the secret part to nobody who does not insist."""

from __future__ import annotations

import io
import json
import re
import shlex
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urljoin, urlsplit

import httpx
import polars as pl
import pytest
from playwright.sync_api import expect
from tests.cli.test_publish import CARD
from tests.conftest import Command
from tests.studio.browsing import another_page, at_rest, watched, without_axe_violations, without_overflow
from tests.studio.conftest import wait_for
from tests.studio.finished_runs import SEED, Finished, finished_runs, history_file, released
from tests.studio.in_process import Server

from noren.studio.exports import Download, file_name, packed


@pytest.fixture(scope="module")
def runs(server: Server) -> Finished:
    """Runs that were released to somebody."""
    made = finished_runs(server)
    with closing(server.client()) as client:
        for run in made.runs.values():
            released(client, run)
    return made


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def cells(parquet: bytes) -> set[str]:
    """Return every text and number that a file of rows says."""
    frame = pl.read_parquet(io.BytesIO(parquet))
    said: set[str] = set()
    for name in frame.columns:
        column = frame.select(name)
        while isinstance(column.dtypes[0], pl.List):
            column = column.explode(name)
        if isinstance(column.dtypes[0], pl.Struct):
            column = column.unnest(name)
        for part in column.iter_columns():
            said |= set(part.cast(pl.String).drop_nulls())
    return said


# --- the public part -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pseudonymize", "by-count"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_public_part_tells_nothing_of_the_secret(
    client: httpx.Client, runs: Finished, name: str, form: str
) -> None:
    files = unpacked(client.get(f"{runs.page(name)}/publish/public.zip", params={"form": form}))
    assert set(files) == {"public.parquet", "statement.json", *CARD} | ({"public.csv"} if form == "csv" else set())
    pairs = runs.pseudonyms(name)
    customers = {customer for _pseudonym, customer in pairs}
    assert len(customers) == 120
    said = cells(files["public.parquet"])
    assert said.isdisjoint(customers)
    assert str(SEED) not in said
    secret = runs.job_folder(name) / "release" / "secret"
    digest = json.loads((secret / "run.json").read_text())["digest"]
    everything = b"\0".join(files.values()) + "\0".join(files).encode()
    hidden = [str(SEED), digest, "secret", "origin", str(runs.folder), *customers]
    assert [word for word in hidden if word.encode() in everything] == []
    assert SEED.to_bytes(8, "little") not in everything
    assert (secret / "origin.parquet").read_bytes() not in everything


def test_the_public_part_is_what_publish_writes(
    client: httpx.Client, runs: Finished, noren: Command, tmp_path: Path
) -> None:
    release = runs.job_folder("by-count") / "release"
    assert noren("publish", release, "--out", tmp_path / "out", "--official", "--override", "a test").code == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    files = unpacked(client.get(f"/api/v1/runs/{runs.runs['by-count']}/public", params={"form": "csv"}))
    same = {name for name in written if not name.startswith("card.")}  # the command's card tells the reason, too
    assert {name: files[name] for name in same} == {name: written[name] for name in same}
    assert files.keys() == written.keys()
    assert "▲ broken" in files["card.en.md"].decode()
    again = client.get(f"/api/v1/runs/{runs.runs['by-count']}/public", params={"form": "csv"})
    assert unpacked(again) == files


def test_a_table_has_a_text_file_of_its_own_form(client: httpx.Client, runs: Finished) -> None:
    files = unpacked(client.get(f"{runs.page('hierarchy')}/publish/public.zip", params={"form": "csv"}))
    rows = pl.read_csv(io.BytesIO(files["public.csv"]), infer_schema=False)
    assert 392 <= len(rows) < 400  # up to 2 % are deleted
    assert "person" not in rows.columns
    assert json.loads(files["statement.json"])["parameters"]["hierarchies"] == "hierarchies"


def test_what_cannot_be_had_is_said(client: httpx.Client, runs: Finished) -> None:
    assert client.get(f"/api/v1/runs/{runs.runs['by-count']}/public", params={"form": "xlsx"}).status_code == 422
    assert client.get("/api/v1/runs/aaaaaaaaaaaa/public").status_code == 404
    assert client.get(f"/api/v1/jobs/{runs.runs['by-count']}/report").status_code == 404
    assert client.post(f"/api/v1/runs/{runs.runs['by-count']}/reconstruction").status_code == 409
    assert client.get(f"{runs.page('retention')}/publish/report.html").status_code == 404


# --- names of files ------------------------------------------------------------------------------------------


def test_downloads_are_named_after_the_project_and_the_run(client: httpx.Client, runs: Finished) -> None:
    told = client.get(f"{runs.page('by-count')}/publish/public.zip").headers
    plain, full = re.fullmatch(
        r"attachment; filename=\"([ -~]+)\"; filename\*=UTF-8''(\S+)", told["content-disposition"]
    ).groups()  # type: ignore[union-attr]
    assert plain == "noren_Shop-A-2026_generalize-by-count-k-4_public.zip"
    assert unquote(full) == "noren_Shop-A-2026-店_generalize-by-count-k-4_public.zip"
    assert told["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["../../etc/passwd"], "noren_etc-passwd_x.zip"),
        (['a"; filename="b.exe'], "noren_a-filename-b.exe_x.zip"),
        (["a\r\nSet-Cookie: x"], "noren_a-Set-Cookie-x_x.zip"),
        (["CON", "nul"], "noren_CON-_nul-_x.zip"),
        (["店", "", "..."], "noren_店_x.zip"),
        (["\u202egnp.exe"], "noren_gnp.exe_x.zip"),
        (["が".encode().decode()], "noren_が_x.zip"),
        (["a" * 500], f"noren_{'a' * 60}_x.zip"),
    ],
)
def test_names_mean_nothing_to_a_system(words: list[str], name: str) -> None:
    made = file_name(*words, ending="x.zip")
    assert made == name
    header = Download(made, "application/zip", iter([])).disposition
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


# --- packing -------------------------------------------------------------------------------------------------


def test_archives_are_sent_as_they_are_packed(tmp_path: Path) -> None:
    """Ten megabytes come in pieces, the first long before the end; what is held is never the whole."""
    (tmp_path / "public.parquet").write_bytes(bytes(range(256)) * 40_000)
    pieces: Iterator[bytes] = packed([("public.parquet", tmp_path / "public.parquet"), ("a.json", b"{}")])
    first = next(pieces)
    assert first.startswith(b"PK")
    assert len(first) < 2**20
    rest = list(pieces)
    assert len(rest) > 20
    assert max(map(len, rest)) < 2**20
    with zipfile.ZipFile(io.BytesIO(first + b"".join(rest))) as archive:
        assert archive.read("public.parquet") == (tmp_path / "public.parquet").read_bytes()
        assert archive.read("a.json") == b"{}"
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_pages_answer_while_a_download_waits(client: httpx.Client, runs: Finished) -> None:
    with client.stream("GET", f"{runs.page('by-count')}/publish/public.zip") as slow:
        assert slow.status_code == 200
        assert client.get("/healthz").status_code == 200
        assert client.get(f"{runs.page('by-count')}/publish").status_code == 200


# --- the secret part -----------------------------------------------------------------------------------------


def test_the_secret_part_needs_a_confirmation(client: httpx.Client, runs: Finished) -> None:
    page, api = f"{runs.page('by-count')}/publish/secret", f"/api/v1/runs/{runs.runs['by-count']}/secret"
    for address in (page, api):
        assert client.get(address).status_code == 405
    assert client.post(api, json={"confirmed": False}).status_code == 422
    assert client.post(api, json={}).status_code == 422
    asked = client.post(page, data={})
    assert asked.status_code == 422
    assert "confirm first: anyone who has the secret part" in asked.text
    assert str(SEED) not in asked.text


def test_the_secret_part_is_not_sent_to_other_sites(server: Server, client: httpx.Client, runs: Finished) -> None:
    page, api = f"{runs.page('by-count')}/publish/secret", f"/api/v1/runs/{runs.runs['by-count']}/secret"
    token = client.headers["X-CSRF-Token"]
    for address, content in ((page, {"data": {"confirmed": "yes"}}), (api, {"json": {"confirmed": True}})):
        assert client.post(address, **content, headers={"X-CSRF-Token": ""}).status_code == 403
        assert client.post(address, **content, headers={"Origin": "http://evil.example"}).status_code == 403
        with httpx.Client(base_url=server.address, headers={"X-CSRF-Token": token}) as stranger:
            assert stranger.post(address, **content).status_code == 403


def test_who_insists_gets_the_secret_part(client: httpx.Client, runs: Finished) -> None:
    page, api = f"{runs.page('by-count')}/publish/secret", f"/api/v1/runs/{runs.runs['by-count']}/secret"
    by_form = client.post(page, data={"confirmed": "yes", "csrf": client.headers["X-CSRF-Token"]})
    by_program = client.post(api, json={"confirmed": True})
    assert by_form.content == by_program.content
    assert by_form.headers["cache-control"] == "no-store"
    assert by_form.headers["content-disposition"].startswith("attachment; ")
    assert "SECRET.zip" in by_form.headers["content-disposition"]
    files = unpacked(by_form)
    assert set(files) == {"secret/pseudonyms.parquet", "secret/origin.parquet", "secret/run.json"}
    assert json.loads(files["secret/run.json"])["seed"] == SEED
    known = pl.read_parquet(io.BytesIO(files["secret/pseudonyms.parquet"])).rows()
    assert known == runs.pseudonyms("by-count")


# --- nothing else tells it -----------------------------------------------------------------------------------


def texts_of(answer: httpx.Response) -> Iterator[str]:
    """Return everything that an answer says: archives opened, rows as lines."""
    if answer.headers.get("content-type", "") == "application/zip":
        files = unpacked(answer)
    else:
        files = {answer.url.path: answer.content}
    for content in files.values():
        if content[:4] == b"PAR1":
            frame = pl.read_parquet(io.BytesIO(content))
            yield "\n".join(" ".join(str(cell) for cell in row) for row in frame.rows())
        else:
            yield content.decode("utf-8", "replace")


def told_pairs(text: str, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pseudonyms that stand near their customer: in one row, one sentence, one object."""
    near = r"\b{0}\b[^\n]{{0,100}}\b{1}\b"
    return [
        (pseudonym, customer)
        for pseudonym, customer in pairs
        if customer in text
        and (re.search(near.format(pseudonym, customer), text) or re.search(near.format(customer, pseudonym), text))
    ]


VALUES = {"a": "date", "b": "item", "column": "item", "count": 500, "form": "csv", "start": 0, "only_changed": True}
"""What to ask for where an address takes parameters."""


def described(client: httpx.Client, project: str, job: str) -> Iterator[str]:
    """Return every address that the interface describes, with all of its parameters and with none."""
    for path, acts in client.get("/api/docs.json").json()["paths"].items():
        address = path.replace("{project}", project).replace("{job}", job)
        if "get" not in acts or path.endswith("/events") or "{" in address:
            continue
        names = [one["name"] for one in acts["get"].get("parameters", ()) if one["in"] == "query"]
        yield address
        yield f"{address}?{urlencode({name: VALUES[name] for name in names if name in VALUES})}"


def addresses(client: httpx.Client, runs: Finished, name: str) -> Iterator[httpx.Response]:
    """Ask for everything that the interface describes and that pages of the project link to."""
    project, job = runs.project_of(name), runs.runs[name]
    waiting = [runs.page(name), *described(client, project, job)]
    waiting += [f"/projects/{project}/{place}" for place in ("data", "protect", "results", "compare", "ledger")]
    seen: set[str] = set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = client.get(address)
        yield answer
        if "text/html" in answer.headers.get("content-type", ""):
            for link in re.findall(r'(?:href|action|src)="([^"#]+)', answer.text):
                target = urlsplit(urljoin(str(answer.url), link.replace("&amp;", "&")))
                ours = target.netloc == answer.url.netloc.decode() and (project in target.path or job in target.path)
                if ours and "start=" not in target.query:  # pages of rows: the interface gave them all at once
                    waiting.append(target.path + (f"?{target.query}" if target.query else ""))


def test_no_address_tells_the_secret(client: httpx.Client, runs: Finished) -> None:
    name = "by-count"
    report = wait_for(
        client, client.post(f"/api/v1/projects/{runs.history}/reports", json={"runs": [runs.runs[name]]}).json()["id"]
    )
    assert report["state"] == "done"
    pairs = runs.pseudonyms(name)
    assert told_pairs(f"{pairs[0][0]} {pairs[0][1]}", pairs) == [pairs[0]]  # the test can fail
    digest = json.loads((runs.job_folder(name) / "release" / "secret" / "run.json").read_text())["digest"]
    asked = 0
    kinds = set()
    for answer in [client.get(f"/api/v1/jobs/{report['id']}/report"), *addresses(client, runs, name)]:
        asked += answer.status_code == 200
        kinds.add(answer.headers.get("content-type", "").split(";")[0])
        for text in texts_of(answer):
            assert str(SEED) not in text, answer.url
            assert digest not in text, answer.url
            assert str(runs.folder) not in text, answer.url
            assert told_pairs(text, pairs) == [], answer.url
    assert asked > 40
    assert {"text/html", "application/json", "application/zip"} <= kinds


# --- scripts, report, reconstruction -------------------------------------------------------------------------


def test_the_script_makes_the_same_release_again(
    client: httpx.Client, runs: Finished, noren: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    history_file(tmp_path)
    for name, content in unpacked(client.get(f"{runs.page('by-count')}/publish/script")).items():
        Path(name).write_bytes(content)
    assert str(SEED) not in Path("reproduce.sh").read_text() + Path("reproduce.py").read_text()
    compile(Path("reproduce.py").read_text(), "reproduce.py", "exec")
    line = next(one for one in Path("reproduce.sh").read_text().splitlines() if one.startswith("noren protect "))
    made = noren(*shlex.split(line.removesuffix(" &&").replace('"$SEED"', str(SEED)))[1:])
    assert made.code == 0, made.err
    files = unpacked(client.get(f"{runs.page('by-count')}/publish/public.zip"))
    assert Path("release/public.parquet").read_bytes() == files["public.parquet"]
    alone = client.get(f"{runs.page('by-count')}/publish/script", params={"form": "py"})
    assert alone.text == Path("reproduce.py").read_text()


def test_scripts_bring_the_files_that_they_read(client: httpx.Client, runs: Finished) -> None:
    files = unpacked(client.get(f"/api/v1/runs/{runs.runs['hierarchy']}/script"))
    assert {"reproduce.sh", "reproduce.py", "schema.toml", "README.txt", "hierarchies/age.csv"} <= set(files)
    assert b"--hierarchies hierarchies" in files["reproduce.sh"]
    assert str(runs.folder).encode() not in b"".join(files.values())


def test_the_report_stands_alone(client: httpx.Client, runs: Finished) -> None:
    here = f"{runs.page('pseudonymize')}/publish"
    started = client.post(f"{here}/report", data={"csrf": client.headers["X-CSRF-Token"]})
    assert started.status_code == 303
    assert started.headers["location"] == f"{here}#report"
    job = re.search(r'data-job="([a-z0-9]{12})"', client.get(here).text)
    if job:  # else it was quicker than we are
        assert wait_for(client, job[1])["state"] == "done"
    report = client.get(f"{here}/report.html")
    assert report.headers["content-type"] == "text/html; charset=utf-8"
    assert report.headers["content-disposition"].startswith("attachment; ")
    assert re.findall(r'(?:src|href)="(?!#)', report.text) == []
    assert "default-src 'none'" in report.text
    assert "pseudonymize: Broken: " in report.text
    assert "Rule partner" in report.text
    assert told_pairs(report.text, runs.pseudonyms("pseudonymize")) == []


def test_a_table_is_reconstructed_as_the_command_line_does(
    client: httpx.Client, runs: Finished, noren: Command, tmp_path: Path
) -> None:
    here = f"{runs.page('retention')}/publish"
    assert client.get(f"{here}/reconstructed").status_code == 404
    job = client.post(f"/api/v1/runs/{runs.runs['retention']}/reconstruction").json()["id"]
    assert wait_for(client, job)["state"] == "done"
    release = runs.job_folder("retention") / "release"
    assert noren("reconstruct", release, "--out", tmp_path / "table.csv").code == 0
    table = client.get(f"{here}/reconstructed")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.content == (tmp_path / "table.csv").read_bytes()
    assert len(pl.read_csv(io.BytesIO(table.content))) == 400
    parquet = client.get(f"/api/v1/jobs/{job}/reconstruction", params={"form": "parquet"})
    assert parquet.headers["content-type"] == "application/vnd.apache.parquet"
    assert len(pl.read_parquet(io.BytesIO(parquet.content))) == 400


def test_a_seed_that_could_be_tried_is_a_warning(client: httpx.Client, runs: Finished) -> None:
    asked = {"steps": [{"method": "pseudonymize"}], "attacks": [], "measures": [], "seed": 7}
    job = client.post(f"/api/v1/projects/{runs.history}/runs", json=asked).json()["id"]
    assert wait_for(client, job)["state"] == "done"
    page = client.get(f"/projects/{runs.history}/results/{job}/publish").text
    assert "made with a small seed" in page
    assert "No attack or measure was tried." in page
    assert "small seed" not in client.get(f"{runs.page('by-count')}/publish").text
    client.delete(f"/api/v1/jobs/{job}")


# --- in a browser --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
def test_publishing_by_hand(server: Server, browser: Any, runs: Finished) -> None:
    with watched(browser, server.address, viewport={"width": 1366, "height": 900}) as page:
        page.goto(runs.page("retention"))
        with another_page(page):
            page.locator(".verdict-actions").get_by_role("link", name="Release").click()
        page.locator("#release summary").click()  # it was released to somebody else already
        page.locator("[name=to]").fill("Example University")
        page.locator("[name=purpose]").fill("teaching")
        with another_page(page):
            page.locator("#release form button").click()
        expect(page.locator("#release")).to_contain_text("Released to Example University")
        with page.expect_download() as public:
            page.locator("#public").get_by_role("link", name="Download (Parquet)", exact=True).click()
        assert public.value.suggested_filename.endswith("public.zip")
        with another_page(page):  # and that again, when the report is written
            page.get_by_role("button", name=re.compile("Write")).click()
        with page.expect_download() as report:
            page.locator("#report").get_by_role("link", name="Download").click()
        assert report.value.suggested_filename.endswith("report.html")
        at_rest(page)
        here = page.url
        page.locator("#secret").get_by_role("button", name="Download").click()
        box = page.get_by_label("I keep this file secret")
        expect(box).to_be_focused()  # it must be ticked first
        assert page.url == here
        box.check()
        with page.expect_download() as secret:
            page.locator("#secret").get_by_role("button", name="Download").click()
        assert secret.value.suggested_filename.endswith("SECRET.zip")
        expect(box).not_to_be_checked()


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_can_be_used_by_everybody(server: Server, browser: Any, runs: Finished) -> None:
    for width, scheme in ((1366, "light"), (390, "dark")):
        options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
        with watched(browser, server.address, **options) as page:
            page.goto(f"{runs.page('retention')}/publish")
            page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
            without_axe_violations(page)
            without_overflow(page)
