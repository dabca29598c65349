"""Releases: what is public, what is secret, and that the two never mix."""

from __future__ import annotations

import datetime as dt
import json
import stat
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.data.strategies import tables

from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import FileError, OutputError, ParameterError

CONTEST = Schema.preset("pwscup2018")
PUBLIC = {"public.parquet", "statement.json"}
SECRET = {"secret", "secret/pseudonyms.parquet", "secret/origin.parquet", "secret/run.json"}
STATEMENT = Statement("generalize", {"k": 3}, "each row is one of 3", notes={"ja": "暖簾"})


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def history(customers: list[str], schema: Schema = CONTEST) -> History:
    days = [dt.date(2010, 12, 1 + i % 30) for i in range(len(customers))]
    items = [f"item-{i}" for i in range(len(customers))]
    rows = {"customer": customers, "date": days, "item": items, "price": [1.5] * len(days), "quantity": [1] * len(days)}
    return History.of(rows, schema)


@st.composite
def releases(draw: st.DrawFn) -> tuple[History, Release]:
    """Draw an original and its release: pseudonyms, ranges, sets, suppressed cells and deleted rows."""
    people = draw(st.lists(st.sampled_from([f"customer-{i:06}-original" for i in range(5)]), min_size=1, max_size=8))
    original = history(people)
    deleted = draw(st.lists(st.booleans(), min_size=len(people), max_size=len(people)))
    hidden = draw(st.lists(st.booleans(), min_size=len(people), max_size=len(people)))
    names = {person: f"P{i}" for i, person in enumerate(sorted(set(people), reverse=True))}
    gone, empty = pl.Series(deleted), pl.Series(hidden)
    day, item = pl.col("date"), pl.col("item")
    frame = original.frame.with_columns(
        pl.col("customer").replace_strict(names),
        pl.struct(lo=day, hi=day + dt.timedelta(2)).alias("date"),
        pl.when(~empty).then(pl.concat_list(item.cast(pl.Enum(original.frame["item"])))).alias("item"),
        pl.struct(lo=pl.col("quantity"), hi=pl.col("quantity") + 1).alias("quantity"),
    ).with_columns(pl.when(~gone).then(pl.all()).name.keep())
    return original, Release.of_aligned(original, History(frame, CONTEST), STATEMENT, seed=draw(st.integers(0, 2**63)))


@given(drawn=releases())
def test_a_release_comes_back_from_its_folder(tmp_path: Path, drawn: tuple[History, Release]) -> None:
    _original, release = drawn
    loaded = Release.load(release.save(tmp_path / "release", replace_existing=True))
    assert files(tmp_path / "release") == PUBLIC | SECRET
    assert loaded.statement == release.statement
    assert loaded.public.schema == release.public.schema
    assert loaded.public.frame.rows() == release.public.frame.rows()
    assert loaded.public.lines().to_list() == release.public.lines().to_list()
    assert_frame_equal(loaded.secret.pseudonyms, release.secret.pseudonyms)
    assert loaded.secret.origin.to_list() == release.secret.origin.to_list()
    assert (loaded.secret.seed, loaded.secret.digest) == (release.secret.seed, release.secret.digest)
    assert loaded.secret.original_rows == release.secret.original_rows
    assert loaded.aligned().lines().to_list() == release.aligned().lines().to_list()
    assert loaded.deleted_rows == release.deleted_rows
    assert loaded.has_secret


@pytest.mark.parametrize("official", [False, True])
@given(drawn=releases())
def test_nothing_secret_is_published(tmp_path: Path, official: bool, drawn: tuple[History, Release]) -> None:
    original, release = drawn
    folder = release.publish(tmp_path / "public", official=official, replace_existing=True)
    assert files(folder) == PUBLIC | ({"public.csv"} if official else set())
    statement = json.loads((folder / "statement.json").read_text(encoding="utf-8"))
    assert set(statement) == {"method", "parameters", "promise", "noren", "notes"}
    assert statement["parameters"] == {"k": 3}
    assert release.secret.seed is not None
    assert str(release.secret.seed) not in (folder / "statement.json").read_text() or release.secret.seed < 1000
    told = b"".join(path.read_bytes() for path in folder.iterdir()) + uncompressed(folder / "public.parquet")
    for customer in original.customers:
        assert customer.encode() not in told
    assert (release.secret.digest or "").encode() not in told
    kept = {item for cell in release.public.frame["item"].drop_nulls() for item in cell}
    for item in set(original["item"]) - kept:
        assert item.encode() not in told  # not even in the names of categories
    loaded = Release.load(folder)
    assert not loaded.has_secret
    assert (loaded.secret.pseudonyms.shape, len(loaded.secret.origin)) == ((0, 2), 0)
    assert loaded.public.lines().to_list() == release.public.lines().to_list()


def uncompressed(path: Path) -> bytes:
    """Return everything a Parquet file says, written again without compression or dictionaries."""
    table = pq.read_table(path)
    pq.write_table(table, path.with_suffix(".plain"), compression="none", use_dictionary=False)
    content = path.with_suffix(".plain").read_bytes() + repr(table.schema.to_string(show_field_metadata=True)).encode()
    path.with_suffix(".plain").unlink()
    return content + repr(pq.ParquetFile(path).metadata.to_dict()).encode()


def test_columns_outside_the_schema_are_not_published(tmp_path: Path) -> None:
    original = history(["customer-000001-original"])
    aligned = original.frame.with_columns(customer=pl.lit("P1"), who=original["customer"])
    release = Release.of_aligned(original, History(aligned, CONTEST), STATEMENT)
    release.publish(tmp_path / "public")
    assert pq.read_schema(tmp_path / "public/public.parquet").names == list(CONTEST.names)


def test_categories_tell_nothing_of_those_taken_out(tmp_path: Path) -> None:
    original = history(["a", "b"])
    domain = pl.Enum(["P1", "P2", "customer-000001-original"])
    aligned = original.frame.with_columns(customer=pl.Series(["P1", "P2"], dtype=domain))
    Release.of_aligned(original, History(aligned, CONTEST), STATEMENT).publish(tmp_path / "public")
    assert b"customer-000001-original" not in uncompressed(tmp_path / "public/public.parquet")
    assert Release.load(tmp_path / "public").public.frame["customer"].to_list() == ["P1", "P2"]


def test_a_release_keeps_its_secret_to_itself(tmp_path: Path) -> None:
    original = history(["a", "b"])
    release = Release.of_aligned(original, original, STATEMENT, seed=123_456_789)
    assert "123456789" not in repr(release)
    assert repr(release.secret) == "Secret(2 original rows; contents withheld)"
    release.save(tmp_path / "release", official=True)
    assert files(tmp_path / "release") == PUBLIC | SECRET | {"public.csv", "secret/A.csv", "secret/F.csv"}
    assert stat.S_IMODE((tmp_path / "release/secret").stat().st_mode) == 0o700
    assert json.loads((tmp_path / "release/secret/run.json").read_text()) == {
        "seed": 123_456_789,
        "digest": original.digest(),
        "rows": 2,
    }
    assert "seed" not in (tmp_path / "release/statement.json").read_text()
    assert (tmp_path / "release/secret/F.csv").read_bytes() == b"a,a\nb,b\n"


@given(table=tables())
def test_a_table_is_released_like_a_history(tmp_path: Path, table: Table) -> None:
    release = Release.of_aligned(table, table, STATEMENT)
    loaded = Release.load(release.save(tmp_path / "release", replace_existing=True))
    assert_frame_equal(loaded.aligned().frame, table.frame)
    assert loaded.secret.pseudonyms.is_empty()
    assert loaded.secret.seed is None


def test_the_public_order_tells_nothing(tmp_path: Path) -> None:
    original = history(["c", "a", "b"])
    release = Release.of_aligned(original, original, STATEMENT)
    assert release.public.frame["customer"].to_list() == ["a", "b", "c"]
    assert release.secret.origin.to_list() == [1, 2, 0]
    assert release.aligned().lines().to_list() == original.lines().to_list()


def test_inserted_rows_have_no_origin() -> None:
    original = history(["a", "b", "c"])
    frame = pl.concat([original.frame[1:], original.frame[:1].with_columns(customer=pl.lit("dummy"))])
    secret = Secret(pl.DataFrame({"pseudonym": ["b"], "customer": ["b"]}), pl.Series([1, 2, None]), 3)
    release = Release(History(frame, CONTEST), secret, STATEMENT)
    assert release.deleted_rows == 1
    assert release.aligned().frame["customer"].to_list() == [None, "b", "c"]


def test_a_release_of_another_length() -> None:
    with pytest.raises(
        ParameterError, match="the release has 1 rows, the original 2; give it in the original's row order"
    ):
        Release.of_aligned(history(["a", "b"]), history(["a"]), STATEMENT)


def test_a_format_that_is_not_official(tmp_path: Path) -> None:
    own = CONTEST.model_copy(update={"official": None, "name": "shop"})
    release = Release.of_aligned(history(["a"], own), history(["a"], own), STATEMENT)
    with pytest.raises(
        ParameterError, match="the schema shop has no official text format; give a purchase history of a contest"
    ):
        release.publish(tmp_path / "public", official=True)
    assert list(tmp_path.iterdir()) == []


def test_the_official_format_of_2017(tmp_path: Path) -> None:
    schema = Schema.preset("pwscup2017")
    rows = {"customer": ["b", "a"], "invoice": ["0"] * 2, "date": ["2010/12/1"] * 2, "time": ["8:45"] * 2}
    original = History.of(rows | {"item": ["x"] * 2, "price": [1.5] * 2, "quantity": [1] * 2}, schema)
    Release.of_aligned(original, original, STATEMENT).publish(tmp_path / "public", official=True)
    assert (tmp_path / "public/public.csv").read_bytes() == b"a,0,2010/12/1,8:45,x,1.5,1\nb,0,2010/12/1,8:45,x,1.5,1\n"


def test_a_folder_that_holds_something_is_not_replaced(tmp_path: Path) -> None:
    release = Release.of_aligned(history(["a"]), history(["a"]), STATEMENT)
    release.save(tmp_path / "release")
    with pytest.raises(OutputError, match="is not empty"):
        release.save(tmp_path / "release")
    with pytest.raises(OutputError, match=r"contains secret/.*, which this command did not write"):
        release.publish(tmp_path / "release", replace_existing=True)
    assert files(tmp_path / "release") == PUBLIC | SECRET  # a secret part is not lost to something to hand out
    release.save(tmp_path / "release", official=True, replace_existing=True)
    assert files(tmp_path / "release") == PUBLIC | SECRET | {"public.csv", "secret/A.csv", "secret/F.csv"}


@pytest.mark.parametrize(
    ("part", "content", "says"),
    [
        ("public.parquet", b"", "not part of a release"),
        ("statement.json", b"{", "not part of a release"),
        ("statement.json", b"[]", "not part of a release"),
        ("statement.json", b"{}", "not part of a release"),
        ("statement.json", b'{"method": 3}', "'3': method has an unexpected value"),
        ("statement.json", b'{"method": "x", "parameters": []}', "'list': parameters has an unexpected value"),
        ("statement.json", b'{"method": "x", "promise": true}', "'True': promise has an unexpected value"),
        ("statement.json", b"[" * 100_000, "not part of a release"),
        ("statement.json", b'{"method": ' + b"9" * 5000 + b"}", "not part of a release"),
        ("secret/run.json", b'{"rows": "3"}', "'3': rows has an unexpected value"),
        ("secret/run.json", b'{"rows": 1}', "the secret part does not belong to the public part; protect again"),
        ("secret/run.json", b'{"rows": -1}', "the secret part does not belong to the public part"),
        ("secret/run.json", b'{"rows": 2, "seed": "s"}', "'s': seed has an unexpected value"),
        ("secret/origin.parquet", b"PAR1", "not part of a release"),
    ],
)
def test_a_damaged_release(tmp_path: Path, part: str, content: bytes, says: str) -> None:
    release = Release.of_aligned(history(["a", "b"]), history(["a", "b"]), STATEMENT)
    release.save(tmp_path / "release")
    (tmp_path / "release" / part).write_bytes(content)
    with pytest.raises(FileError) as caught:
        Release.load(tmp_path / "release")
    assert says in str(caught.value)
    assert str(tmp_path / "release") in str(caught.value)
    assert str(caught.value).isprintable()


def test_parts_that_are_missing(tmp_path: Path) -> None:
    release = Release.of_aligned(history(["a"]), history(["a"]), STATEMENT)
    for number, part in enumerate((*PUBLIC, *(SECRET - {"secret"}))):
        folder = release.save(tmp_path / str(number))
        (folder / part).unlink()
        with pytest.raises(
            FileError, match=f"{part}: this is not part of a release; name a folder written by noren protect"
        ):
            Release.load(folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (pl.col("price").cast(pl.String), "column price: the values do not match the column type decimal"),
        (pl.lit([1]).alias("customer"), "column customer: the values do not match the column type text"),
        (pl.col("date").cast(pl.Datetime), "column date: the values do not match the column type date"),
        (
            pl.lit(2**31 - 1, dtype=pl.Int32).cast(pl.Date).alias("date"),
            "column date: the values do not match the column type",
        ),
        (
            pl.struct(lo=pl.lit("a"), hi=pl.lit("b")).alias("quantity"),
            "column quantity: the values do not match the column type",
        ),
    ],
)
def test_public_data_that_are_not_what_the_schema_says(tmp_path: Path, change: pl.Expr, says: str) -> None:
    Release.of_aligned(history(["a"]), history(["a"]), STATEMENT).publish(tmp_path / "public")
    path = tmp_path / "public/public.parquet"
    table = pq.read_table(path)
    frame = pl.DataFrame(table).with_columns(change)
    pq.write_table(frame.to_arrow().replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(FileError, match=says):
        Release.load(tmp_path / "public")
    pq.write_table(frame.drop("item").to_arrow().replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(FileError, match="not part of a release"):
        Release.load(tmp_path / "public")
    pq.write_table(frame.to_arrow().replace_schema_metadata({"noren.schema": b"\xff"}), path)
    with pytest.raises(FileError, match="not part of a release"):
        Release.load(tmp_path / "public")
    pq.write_table(frame.to_arrow(), path)
    with pytest.raises(FileError, match="not part of a release"):
        Release.load(tmp_path / "public")
