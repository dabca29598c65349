"""Fetching: only when told, from an archive on this machine, and only what use one of is kept."""

import datetime as dt
import functools
import hashlib
import socket
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from noren.data import catalog
from noren.data.catalog import DataPart, Dataset, fetch, find, open_dataset, rows_digest, verify
from noren.data.frames import History, Table
from noren.data.reading import read
from noren.data.schema import Kind, Schema
from noren.errors import FileError


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a checkout, data or a cache; returns the folder that is to be the cache's home."""
    home = tmp_path / "cache-home"
    monkeypatch.delenv("NOREN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(catalog, "__file__", str(tmp_path / "site-packages" / "noren" / "data" / "catalog.py"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return home


# --- what the rows are, whatever the file ----------------------------------------------------------------------------

RETAIL: dict[str, list[Any]] = {
    "InvoiceNo": ["536365", "C536379"],
    "StockCode": ["71053", "85123A"],
    "Description": [" WHITE METAL LANTERN ", None],
    "Quantity": [6, -1],
    "InvoiceDate": [dt.datetime(2010, 12, 1, 8, 26), dt.datetime(2011, 12, 9, 12, 50)],
    "UnitPrice": [3.39, 0.001],
    "CustomerID": ["17850", None],
    "Country": ["United Kingdom", "EIRE"],
}
RETAIL_LINES = (
    "536365,71053,WHITE METAL LANTERN,6,2010/12/1 8:26,3.39,17850,United Kingdom\n"
    "C536379,85123A,*,-1,2011/12/9 12:50,0.001,*,EIRE\n"
)
RETAIL_DIGEST = hashlib.sha256(RETAIL_LINES.encode()).hexdigest()


def retail() -> History:
    return History.of(pl.DataFrame(RETAIL), Schema.preset("online-retail"))


def workbook(path: Path) -> Path:
    """Write RETAIL as the archive's workbook is written: codes of digits as numbers, moments as fractions of a day."""
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, RETAIL)
    moment = book.add_format({"num_format": "m/d/yyyy h:mm"})
    for column, values in enumerate(RETAIL.values()):
        for row, value in enumerate(values, start=1):
            if isinstance(value, dt.datetime):
                # a hair early, as binary fractions of a day can be
                days = (value - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1) - 1e-8
                sheet.write_number(row, column, days, moment)
            elif isinstance(value, str) and value.isdigit():
                sheet.write_number(row, column, int(value))
            elif value is not None:
                sheet.write(row, column, value)
    book.close()
    return path


def test_the_digest_of_rows_is_that_of_their_text() -> None:
    assert rows_digest(retail()) == RETAIL_DIGEST


def test_the_digest_of_rows_changes_with_any_cell() -> None:
    seen = {RETAIL_DIGEST}
    other = {
        "InvoiceNo": "536366", "StockCode": "71054", "Description": "WHITE", "Quantity": 7,
        "InvoiceDate": dt.datetime(2010, 12, 1, 8, 27), "UnitPrice": 3.4, "CustomerID": "17851", "Country": "France",
    }  # fmt: skip
    for name, value in other.items():
        changed = History.of(pl.DataFrame(RETAIL | {name: [value, RETAIL[name][1]]}), Schema.preset("online-retail"))
        seen.add(rows_digest(changed))
    swapped = History.of(pl.DataFrame(RETAIL).reverse(), Schema.preset("online-retail"))
    seen.add(rows_digest(swapped))
    assert len(seen) == 2 + len(other)


def test_a_workbook_and_a_parquet_of_the_same_rows_have_one_digest(tmp_path: Path) -> None:
    from_workbook = read(workbook(tmp_path / "a.xlsx"), "online-retail").data
    assert rows_digest(from_workbook) == RETAIL_DIGEST


def test_a_table_without_moments_has_a_digest() -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"type": "integer"}, "sex": {}}})
    table = Table.of(pl.DataFrame({"age": [39], "sex": [" Male"]}), schema)
    assert rows_digest(table) == hashlib.sha256(b"39,Male\n").hexdigest()


# --- fetching --------------------------------------------------------------------------------------------------------

TINY_RETAIL = Dataset(
    name="online-retail",
    title="",
    schema="online-retail",
    kind=Kind.HISTORY,
    parts=(DataPart("T", ("online_retail.parquet", "Online Retail.xlsx"), 2, "", RETAIL_DIGEST, by_rows=True),),
    licence="",
    citation="",
    homepage="",
    archive="352/online+retail.zip",
    members=("Online Retail.xlsx",),
)
DATA = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40,"
    " United-States, <=50K\n\n"
)
TEST = "|1x3 Cross validator\n" + DATA.replace("50K", "50K.")
TINY_ADULT = Dataset(
    name="adult",
    title="",
    schema="adult",
    kind=Kind.TABLE,
    parts=(
        DataPart("data", ("adult.data",), 1, "", hashlib.sha256(DATA.encode()).hexdigest()),
        DataPart("test", ("adult.test",), 1, "", hashlib.sha256(TEST.encode()).hexdigest()),
    ),
    licence="",
    citation="",
    homepage="",
    archive="2/adult.zip",
    members=("adult.data", "adult.test"),
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None:
        """Say nothing."""


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An archive on this machine: its address, and the folder it serves."""
    folder = tmp_path / "archive"
    (folder / "2").mkdir(parents=True)
    (folder / "352").mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", folder
        running.shutdown()
        thread.join()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "KNOWN", (TINY_RETAIL, TINY_ADULT))


def pack(path: Path, members: dict[str, str | bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)


@pytest.mark.usefixtures("tiny")
def test_a_table_is_fetched_and_found(archive: tuple[str, Path], bare_machine: Path) -> None:
    address, folder = archive
    pack(folder / "2" / "adult.zip", {"Index": "", "adult.data": DATA, "adult.names": "", "adult.test": TEST})
    told: list[float] = []
    located = fetch("adult", lambda done, words="", best=None: told.append(done), archive=address)
    assert located == find("adult")
    assert {p.name: p.read_text() for p in (bare_machine / "noren").iterdir()} == {
        "adult.data": DATA,
        "adult.test": TEST,
    }
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert open_dataset("adult", "test").data.frame["salary-class"].to_list() == ["<=50K."]


@pytest.mark.usefixtures("tiny")
def test_a_workbook_is_fetched_and_kept_as_parquet(
    archive: tuple[str, Path], bare_machine: Path, tmp_path: Path
) -> None:
    address, folder = archive
    pack(folder / "352" / "online+retail.zip", {"Online Retail.xlsx": workbook(tmp_path / "a.xlsx").read_bytes()})
    located = fetch("online-retail", archive=address + "/")
    assert [p.name for p in (bare_machine / "noren").iterdir()] == ["online_retail.parquet"]
    verify(located)
    # the moments of the workbook, a hair early, are kept as the minutes they are
    assert open_dataset("online-retail").data.frame["InvoiceDate"].to_list() == RETAIL["InvoiceDate"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"adult.data": DATA + " ", "adult.test": TEST}, "adult.data is not the file of the data set adult"),
        ({"adult.data": DATA, "adult.test": DATA}, "adult.test is not the file of the data set adult"),
        ({"adult.data": DATA}, "adult.test is missing or incomplete"),
        ({"../adult.data": DATA, "../adult.test": TEST}, "adult.data is missing or incomplete"),
    ],
)
def test_other_content_is_refused_and_removed(
    archive: tuple[str, Path], bare_machine: Path, members: dict[str, str | bytes], why: str
) -> None:
    address, folder = archive
    pack(folder / "2" / "adult.zip", members)
    with pytest.raises(FileError, match=why) as caught:
        fetch("adult", archive=address)
    said = str(caught.value)
    assert said.startswith(f"{address}/2/adult.zip: the download failed (")
    remedy = f"; run noren datasets fetch adult, or unpack {address}/2/adult.zip into a folder and set NOREN_DATA"
    assert said.endswith(f"{remedy} to that folder")
    assert "\n" not in said
    assert list((bare_machine / "noren").iterdir()) == []


@pytest.mark.usefixtures("tiny")
def test_what_was_there_before_stays_when_a_fetch_fails(archive: tuple[str, Path], bare_machine: Path) -> None:
    address, folder = archive
    (bare_machine / "noren").mkdir(parents=True)
    (bare_machine / "noren" / "adult.data").write_text(DATA)
    pack(folder / "2" / "adult.zip", {"adult.data": "wrong", "adult.test": TEST})
    with pytest.raises(FileError):
        fetch("adult", archive=address)
    assert {p.name: p.read_text() for p in (bare_machine / "noren").iterdir()} == {"adult.data": DATA}


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("content", [b"<html>moved</html>", b"PK\x03\x04 cut"])
def test_a_workbook_that_is_none_is_refused(archive: tuple[str, Path], bare_machine: Path, content: bytes) -> None:
    address, folder = archive
    pack(folder / "352" / "online+retail.zip", {"Online Retail.xlsx": content})
    with pytest.raises(FileError, match=r"this is not a readable Excel file|this is XML, not an Excel workbook"):
        fetch("online-retail", archive=address)
    assert list((bare_machine / "noren").iterdir()) == []


@pytest.mark.usefixtures("tiny")
def test_an_archive_cut_short_is_refused_and_the_next_try_starts_over(
    archive: tuple[str, Path], bare_machine: Path
) -> None:
    address, folder = archive
    served = folder / "2" / "adult.zip"
    pack(served, {"adult.data": DATA, "adult.test": TEST})
    whole = served.read_bytes()
    served.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="the compressed file is damaged"):
        fetch("adult", archive=address)
    assert list((bare_machine / "noren").iterdir()) == []
    served.write_bytes(whole)
    verify(fetch("adult", archive=address))


@pytest.mark.usefixtures("tiny")
def test_an_archive_left_by_a_stopped_call_is_used(archive: tuple[str, Path], bare_machine: Path) -> None:
    address, _folder = archive
    (bare_machine / "noren").mkdir(parents=True)
    pack(bare_machine / "noren" / "adult.zip", {"adult.data": DATA, "adult.test": TEST})
    verify(fetch("adult", archive=address))
    assert {p.name for p in (bare_machine / "noren").iterdir()} == {"adult.data", "adult.test"}


def test_offline_is_told_with_the_set_the_address_and_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody_knows(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody_knows)
    with pytest.raises(FileError) as caught:
        fetch("online-retail")
    address = "https://archive.ics.uci.edu/static/public/352/online+retail.zip"
    assert str(caught.value) == (
        f"{address}: the download failed (Name or service not known); run noren datasets fetch online-retail,"
        f" or unpack {address} into a folder and set NOREN_DATA to that folder"
    )


def test_what_has_no_archive_cannot_be_fetched() -> None:
    with pytest.raises(
        FileError, match=r"the data set pwscup2017 cannot be downloaded; put pwscup2017_T\.csv \(.*\) into a folder"
    ):
        fetch("pwscup2017")


def test_the_real_adult_is_fetched(shared: Path, archive: tuple[str, Path]) -> None:
    address, folder = archive
    files = {name: (shared / "data" / name).read_bytes() for name in ("adult.data", "adult.test")}
    pack(folder / "2" / "adult.zip", dict(files))
    located = fetch("adult", archive=address)
    assert {path.name: path.read_bytes() for path in located.paths.values()} == files
