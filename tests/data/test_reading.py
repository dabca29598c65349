"""One door for every format: what it chose is said, and files of any size pass through."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal
from tests.data.strategies import tables

from noren.data.contest_files import read_rows
from noren.data.formats import parquet, text_files
from noren.data.frames import History, Table
from noren.data.reading import convert, read, read_public, read_release, write
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError

SHOP = Schema.of({"columns": {role: {"role": role} for role in ("customer", "date", "item", "price", "quantity")}})
HEADER = b"customer,date,item,price,quantity\n"
CONTEST = Schema.preset("pwscup2018")
T = b"a,2010/12/1,x,1.5,2\nb,2010/12/2,y,2.50,3\na,2010/12/3,z,2,1\n"
A = b"P2,[2010/12/1;2010/12/3],{x;y},*,2\n*,*,*,*,*\nP1,2010/12/3,z,2,[1;3]\n"


def shop(rows: int) -> bytes:
    return HEADER + b"".join(
        b"c%d,2010/12/%d,i%d,%d.25,%d\n" % (i % 7, i % 30 + 1, i % 5, i, i + 1) for i in range(rows)
    )


def saved(tmp_path: Path, name: str, content: bytes) -> Path:
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def test_the_schema_may_be_given_in_any_way(tmp_path: Path) -> None:
    path = saved(tmp_path, "T.csv", T)
    (tmp_path / "schema.toml").write_text(CONTEST.to_toml(), encoding="utf-8")
    for schema in (CONTEST, "pwscup2018", tmp_path / "schema.toml", str(tmp_path / "schema.toml")):
        found = read(path, schema)
        assert isinstance(found.data, History)
        assert found.data.lines().to_list() == T.decode().splitlines()
        assert found.notes == ("read as UTF-8, delimiter ',', 5 columns, no header",)
    guessed = read(path)
    assert guessed.data.frame.rows() == found.data.frame.rows()
    assert guessed.notes[1].startswith("guessed a history: column1 = customer")


def test_a_contest_schema_reads_a_file_with_a_header_too(tmp_path: Path) -> None:
    header = CONTEST.text.model_copy(update={"header": None})
    schema = CONTEST.model_copy(update={"text": header})
    found = read(saved(tmp_path, "T.csv", HEADER + T), schema).data
    assert found.frame.rows() == read(saved(tmp_path, "T2.csv", T), schema).data.frame.rows()


def test_the_master_of_the_customers(tmp_path: Path) -> None:
    master = saved(tmp_path, "M.csv", b"a,f,1950/1/1,Others\nb,m,1960/01/31,France\n")
    found = read(saved(tmp_path, "T.csv", T), CONTEST, master=master).data
    assert isinstance(found, History)
    assert found.master is not None
    assert found.master.rows()[1] == ("b", "m", dt.date(1960, 1, 31), "France")


def test_a_table_has_no_master(tmp_path: Path) -> None:
    path = saved(tmp_path, "people.csv", b"a\n1\n")
    with pytest.raises(ParameterError, match="a table has no use for --master; omit it"):
        read(path, Schema.of({"kind": "table", "columns": {"a": {}}}), master=path)


def test_columns_that_a_history_does_not_know_are_left_out_and_said(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"customer": ["a"], "date": [dt.date(2010, 12, 1)], "item": ["x"], "price": [1.5], "quantity": [2]}
    )
    frame.with_columns(shop=pl.lit("s"), till=pl.lit(3)).write_parquet(tmp_path / "shop.parquet")
    found = read(tmp_path / "shop.parquet", SHOP)
    assert_frame_equal(found.data.frame, frame)
    assert found.notes == ("columns not read: shop, till",)


# --- releases --------------------------------------------------------------------------------------------------------


def test_a_release_file_in_the_order_of_the_original(tmp_path: Path) -> None:
    original = read(saved(tmp_path, "T.csv", T), CONTEST).data
    release = read_release(saved(tmp_path, "A.csv", A), original)
    assert release.statement == Statement(method="unknown", notes={"file": "A.csv"})
    assert release.public.lines().to_list() == ["P1,2010/12/3,z,2,[1;3]", "P2,[2010/12/1;2010/12/3],{x;y},*,2"]
    assert release.secret.origin.to_list() == [2, 0]
    assert release.secret.pseudonyms.rows() == [("P2", "a"), ("P1", "a")]
    assert release.deleted_rows == 1
    assert release.aligned().lines().to_list() == A.decode().splitlines()
    folder = release.save(tmp_path / "release")
    assert read_release(folder, original).public.lines().to_list() == release.public.lines().to_list()


def test_what_an_attacker_sees(tmp_path: Path) -> None:
    original = read(saved(tmp_path, "T.csv", T), CONTEST).data
    public = ["P1,2010/12/3,z,2,[1;3]", "P2,[2010/12/1;2010/12/3],{x;y},*,2"]
    aligned = saved(tmp_path, "A.csv", A)
    assert read_public(aligned, original).lines().to_list() == public
    published = saved(tmp_path, "A1.csv", "".join(f"{line}\n" for line in reversed(public)).encode())
    assert read_public(published, original).lines().to_list() == public[::-1]  # as it stands
    folder = read_release(aligned, original).publish(tmp_path / "public")
    assert read_public(folder, original).lines().to_list() == public


# --- writing ---------------------------------------------------------------------------------------------------------


def test_contest_files_are_written_as_they_were_read(tmp_path: Path) -> None:
    for name, content in (("T.csv", T), ("A.csv", A)):
        data = read(saved(tmp_path, name, content), CONTEST).data
        write(data, tmp_path / "copy.csv")
        assert (tmp_path / "copy.csv").read_bytes() == content


def test_generalised_cells_in_other_formats(tmp_path: Path) -> None:
    data = read(saved(tmp_path, "A.csv", A), CONTEST).data
    write(data, tmp_path / "A.parquet")
    back = pl.read_parquet(tmp_path / "A.parquet")
    assert back["quantity"].to_list() == [{"lo": 2, "hi": 2}, None, {"lo": 1, "hi": 3}]
    assert back["item"].to_list() == [["x", "y"], None, ["z"]]
    write(data, tmp_path / "A.tsv")
    assert (tmp_path / "A.tsv").read_bytes() == A.replace(b",", b"\t")
    write(data, tmp_path / "A.xlsx")
    assert pl.read_excel(tmp_path / "A.xlsx").row(0) == ("P2", "[2010/12/1;2010/12/3]", "{x;y}", "*", "2")


def test_the_header_of_a_text_file(tmp_path: Path) -> None:
    data = Table(pl.DataFrame({"a": ["1"], "b": ["2"]}), Schema.of({"kind": "table", "columns": {"a": {}, "b": {}}}))
    write(data, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n1,2\n"
    layout = data.schema.text.model_copy(update={"header": False, "delimiter": ";", "encoding": "utf-8-sig"})
    write(Table(data.frame, data.schema.model_copy(update={"text": layout})), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"\xef\xbb\xbf1;2\n"


def test_an_ending_that_names_no_format(tmp_path: Path) -> None:
    data = Table(pl.DataFrame({"a": ["1"]}), Schema.of({"kind": "table", "columns": {"a": {}}}))
    for name in ("t.doc", "t", "t.csv.gz"):
        with pytest.raises(ParameterError, match="the file name ends in"):
            write(data, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# --- converting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [64, 1000, 8 << 20])
def test_the_same_content_in_every_format_and_block_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    source = saved(tmp_path, "shop.csv", shop(300))
    expected = read(source, SHOP).data.frame
    monkeypatch.setattr(text_files, "BLOCK_BYTES", size)
    monkeypatch.setattr(parquet, "_BLOCK_ROWS", size)
    previous = source
    for name in ("1.parquet", "2.tsv", "3.xlsx", "4.csv", "5.parquet", "6.xlsx", "7.txt"):
        assert convert(previous, tmp_path / name, SHOP) == 300
        assert_frame_equal(read(tmp_path / name, SHOP).data.frame, expected)
        previous = tmp_path / name
    assert (tmp_path / "4.csv").read_bytes() == (tmp_path / "7.txt").read_bytes() == shop(300)


def test_blocks_are_written_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = saved(tmp_path, "shop.csv", shop(300))
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 500)
    monkeypatch.setattr("noren.data.reading.TYPING_THREADS", 2)
    told: list[tuple[float, int]] = []
    sizes: list[int] = []

    def progress(share: float, rows: int) -> None:
        told.append((share, rows))
        sizes.extend(part.stat().st_size for part in tmp_path.glob(".out.csv.*.part"))

    assert convert(source, tmp_path / "out.csv", SHOP, progress) == 300
    rows = [rows for _share, rows in told]
    assert len(told) >= 10
    assert rows == sorted(rows)
    assert rows[-1] == 300
    assert all(0 < share <= 1 for share, _rows in told)
    assert max(b - a for a, b in zip([0, *rows], rows, strict=False)) <= 25  # no more than a block at a time
    assert sizes[0] < sizes[-1] + 1
    assert (tmp_path / "out.csv").read_bytes() == source.read_bytes()


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    source = saved(tmp_path, "shop.csv", shop(5))
    assert convert(source, source, SHOP) == 5
    assert source.read_bytes() == shop(5)


def test_the_schema_of_a_conversion_is_guessed_where_none_is_given(tmp_path: Path) -> None:
    assert convert(saved(tmp_path, "shop.csv", shop(5)), tmp_path / "shop.parquet") == 5
    assert convert(tmp_path / "shop.parquet", tmp_path / "T.csv", "pwscup2018") == 5
    assert (tmp_path / "T.csv").read_bytes() == shop(5)[len(HEADER) :]
    with pytest.raises(SchemaError, match="no column 'InvoiceNo'"):
        convert(tmp_path / "shop.parquet", tmp_path / "x.csv", "online-retail")


@given(table=tables())
def test_converting_there_and_back(tmp_path: Path, table: Table) -> None:
    write(table, tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "b.csv", table.schema)
    convert(tmp_path / "b.csv", tmp_path / "c.parquet", table.schema)
    assert_frame_equal(read(tmp_path / "c.parquet", table.schema).data.frame, table.frame)


def test_a_saved_release_reads_the_same(tmp_path: Path) -> None:
    original = read_rows(saved(tmp_path, "T.csv", T), CONTEST)
    release = Release.of_aligned(original, read_rows(saved(tmp_path, "A.csv", A), CONTEST), Statement("test"), seed=3)
    release.save(tmp_path / "release", official=True)
    for place in (tmp_path / "release", tmp_path / "A.csv", tmp_path / "release/secret/A.csv"):
        assert read_release(place, original).aligned().lines().to_list() == A.decode().splitlines()
