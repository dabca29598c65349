"""The catalog finds data where it says it looks, fetches only when told to, and keeps only what it knows."""

import datetime as dt
import shutil
import socket
from pathlib import Path

import pytest

from noren.data import catalog
from noren.data.catalog import KNOWN, cache_folder, describe, fetch, find, open_dataset, search_folders, verify
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import FileError, OutputError, UnknownNameError

NAMES = ["online-retail", "adult", "pwscup2016", "pwscup2017", "pwscup2018-preliminary", "pwscup2018-final"]
PURCHASES = "12583,2010/12/1,22728,3.75,24\n12583,2010/12/2,22727,3.75,12\n13047,2010/12/1,84879,1.69,32\n"


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


def put(folder: Path, name: str = "pwscup2018_final_T.csv", content: str = PURCHASES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    return folder


# --- knowing ---------------------------------------------------------------------------------------------------------


def test_the_catalog_knows_the_public_data_sets() -> None:
    assert [dataset.name for dataset in KNOWN] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_fits_its_schema_and_says_where_it_is_from(name: str) -> None:
    dataset = describe(name)
    assert Schema.preset(dataset.schema).kind == dataset.kind
    assert dataset.rows > 0
    assert dataset.licence
    assert dataset.citation
    assert dataset.homepage.startswith("http")
    roles = [part.role for part in dataset.parts]
    assert len(set(roles)) == len(roles)
    assert {part.role for part in dataset.parts if part.digest is None} <= {"hierarchies"}
    assert (dataset.archive is not None) == (name in ("online-retail", "adult"))


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find("pwscup2018-finale")
    assert str(caught.value) == (
        "there is no dataset 'pwscup2018-finale' (did you mean pwscup2018-final?); use one of " + ", ".join(NAMES)
    )


def test_an_unknown_part_is_answered_with_the_parts() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"there is no part of pwscup2017 'T30' \(did you mean T\d+\?\); use one of T, M, T25, T50, T75, T100",
    ):
        describe("pwscup2017").part("T30")


# --- finding ---------------------------------------------------------------------------------------------------------


def test_a_miss_says_where_it_looked_and_what_to_do(bare_machine: Path) -> None:
    with pytest.raises(FileError) as caught:
        find("pwscup2018-final")
    assert str(caught.value) == (
        f"the data set pwscup2018-final is not in {bare_machine / 'noren'}; put pwscup2018_final_T.csv"
        " (https://github.com/gghatano/pwscup2018webapp) into a folder and set NOREN_DATA to that folder"
    )


def test_a_miss_of_a_set_that_can_be_had_says_how() -> None:
    with pytest.raises(FileError) as caught:
        find("adult")
    assert str(caught.value).endswith(
        "; run noren datasets fetch adult, or unpack https://archive.ics.uci.edu/static/public/2/adult.zip into a"
        " folder and set NOREN_DATA to that folder"
    )


def test_the_named_folder_comes_first_then_the_checkouts_then_the_cache(
    tmp_path: Path, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, beside, cached = tmp_path / "mine", tmp_path / "shared" / "data", bare_machine / "noren"
    (tmp_path / "here" / ".git").mkdir()
    monkeypatch.setenv("NOREN_DATA", str(mine))
    assert search_folders() == (mine, beside, cached)
    for folder in (cached, beside, mine):
        put(folder)
        assert find("pwscup2018-final").folder == folder


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_the_checkout_is_found_from_a_folder_deep_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    root = tmp_path / "code" / "repo"
    deep = root / "docs" / "deep"
    deep.mkdir(parents=True)
    (root / marker).touch()
    folder = put(tmp_path / "code" / "shared" / "data")
    monkeypatch.chdir(deep)
    assert find("pwscup2018-final").paths == {"T": folder / "pwscup2018_final_T.csv"}


def test_a_shared_folder_that_is_beside_no_checkout_is_not_looked_into(tmp_path: Path) -> None:
    put(tmp_path / "shared" / "data")
    with pytest.raises(FileError):
        find("pwscup2018-final")


def test_the_checkout_of_the_source_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "elsewhere" / "repo"
    root.mkdir(parents=True)
    (root / "pyproject.toml").touch()
    monkeypatch.setattr(catalog, "__file__", str(root / "src" / "noren" / "data" / "catalog.py"))
    folder = put(tmp_path / "elsewhere" / "shared" / "data")
    assert find("pwscup2018-final").folder == folder


def test_a_folder_without_the_first_part_is_passed_by(
    tmp_path: Path, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOREN_DATA", str(put(tmp_path / "mine", "adult.test", "x")))
    put(bare_machine / "noren", "adult.data", "x")
    assert find("adult").paths == {"data": bare_machine / "noren" / "adult.data"}


def test_a_workbook_unpacked_by_hand_is_found_and_parquet_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "mine", "Online Retail.xlsx", "x")
    monkeypatch.setenv("NOREN_DATA", str(folder))
    assert find("online-retail").path().name == "Online Retail.xlsx"
    put(folder, "online_retail.parquet", "x")
    assert find("online-retail").path().name == "online_retail.parquet"


def test_a_part_that_is_missing_is_named(bare_machine: Path) -> None:
    folder = put(bare_machine / "noren", "pwscup2017_T.csv", "x")
    with pytest.raises(FileError) as caught:
        find("pwscup2017").path("T25")
    assert str(caught.value) == (
        f"{folder / 'pwscup2017_T25.csv'}: the data set pwscup2017 has no T25; put it beside pwscup2017_T.csv"
    )


def test_a_relative_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_folder() == Path("/home/someone/.cache/noren")


def test_without_a_home_the_other_places_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setenv("NOREN_DATA", str(put(tmp_path / "mine")))
    assert search_folders() == (tmp_path / "mine",)
    assert len(open_dataset("pwscup2018-final").data) == 3
    with pytest.raises(OutputError, match="set XDG_CACHE_HOME"):
        fetch("adult")


def test_a_folder_that_is_gone_is_no_place_to_start_from(tmp_path: Path, bare_machine: Path) -> None:
    (tmp_path / "here").rmdir()
    assert search_folders() == (bare_machine / "noren",)


def test_a_folder_we_may_not_enter_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = put(tmp_path / "locked")
    monkeypatch.setenv("NOREN_DATA", str(locked))
    exists = Path.exists

    def may_not_enter(path: Path) -> bool:
        if locked in path.parents:
            raise PermissionError(13, "Permission denied")
        return exists(path)

    monkeypatch.setattr(Path, "exists", may_not_enter)
    with pytest.raises(FileError, match="is not in"):
        find("pwscup2018-final")


def test_finding_asks_nobody_on_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", never)
    monkeypatch.setattr(socket, "getaddrinfo", never)
    for dataset in KNOWN:
        with pytest.raises(FileError):
            find(dataset.name)
        with pytest.raises(FileError):
            open_dataset(dataset.name)
    with pytest.raises(FileError, match=r"put pwscup2016_T\.csv \(.*\) into a folder"):
        find("pwscup2016")


# --- reading ---------------------------------------------------------------------------------------------------------


def test_a_history_is_opened_by_its_schema(bare_machine: Path) -> None:
    put(bare_machine / "noren")
    data = open_dataset("pwscup2018-final").data
    assert isinstance(data, History)
    assert data.schema.name == "pwscup2018"
    assert data.customers.to_list() == ["12583", "13047"]
    assert data.master is None


def test_a_history_is_opened_with_its_master(bare_machine: Path) -> None:
    folder = put(bare_machine / "noren", "pwscup2016_T.csv", "12583,536370,2010/12/1,8:45,22728,3.75,24\n")
    put(folder, "pwscup2016_M.csv", "12583,f,1951/8/14,France\n")
    data = open_dataset("pwscup2016").data
    assert isinstance(data, History)
    assert data.master is not None
    assert data.master.rows() == [("12583", "f", dt.date(1951, 8, 14), "France")]


def test_partial_knowledge_is_a_part(bare_machine: Path) -> None:
    folder = put(bare_machine / "noren", "pwscup2017_T.csv", "12583,0,2010/12/1,8:45,22728,3.75,24\n")
    put(folder, "pwscup2017_T25.csv", "DEL,,,,,,\n12583,0,2010/12/1,8:45,22,3.75,24\n")
    assert open_dataset("pwscup2017", "T25").data.frame["item"].to_list() == [None, "22"]


def test_a_part_with_other_columns_is_not_read_as_if_it_had_them(bare_machine: Path) -> None:
    folder = put(bare_machine / "noren", "pwscup2016_T.csv", "12583,536370,2010/12/1,8:45,22728,3.75,24\n")
    put(folder, "pwscup2016_M.csv", "12583,f,1951/8/14,France\n")
    with pytest.raises(FileError, match="M does not follow the schema pwscup2016; read the file itself"):
        open_dataset("pwscup2016", "M")


# --- on the published data -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parts", "customers"),
    [
        ("online-retail", {"T"}, 4372),
        ("adult", {"data", "test", "hierarchies"}, None),
        ("pwscup2016", {"T", "M"}, 400),
        ("pwscup2017", {"T", "M", "T25", "T50", "T75", "T100"}, 500),
        ("pwscup2018-preliminary", {"T"}, 1000),
        ("pwscup2018-final", {"T", "team01-draws"}, 1000),
    ],
)
def test_the_published_data_are_what_the_catalog_says(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str, parts: set[str], customers: int | None
) -> None:
    monkeypatch.setenv("NOREN_DATA", str(shared / "data"))
    located = find(name)
    assert set(located.paths) == parts
    verify(located)
    for part in located.dataset.parts:
        if part.follows_schema:
            assert len(open_dataset(name, part.role).data) == part.rows
    data = open_dataset(name).data
    assert len(data) == located.dataset.rows
    if isinstance(data, History):
        assert len(data.customers) == customers
        assert (data.master is not None) == ("M" in parts)
        if data.master is not None:
            assert len(data.master) == customers


def test_one_changed_byte_is_noticed(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copyfile(shared / "data" / "pwscup2016_T.csv", copy / "pwscup2016_T.csv")
    monkeypatch.setenv("NOREN_DATA", str(copy))
    verify(find("pwscup2016"))
    content = bytearray((copy / "pwscup2016_T.csv").read_bytes())
    content[0] ^= 1
    (copy / "pwscup2016_T.csv").write_bytes(content)
    with pytest.raises(FileError, match=r"pwscup2016_T\.csv is not the file of the data set pwscup2016 .*get it again"):
        verify(find("pwscup2016"))
