"""A text file is read on a cluster as on one machine: the same values, the same numbers of rows, the same refusals."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import noren
from noren.data import reading
from noren.data.release import public_digest
from noren.data.schema import Schema, TextLayout
from noren.errors import FileError, NorenError
from noren.execution.engine import get_engine
from noren.execution.files import guessed_schema, read
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.session import explain_faults
from noren.work.run import protect_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORY = noren.sample(customers=12, rows=300, items=30, seed=7)
CELLS = HISTORY.frame.with_columns(pl.col("date").dt.strftime("%Y/%m/%d"), pl.col("time").dt.strftime("%H:%M"))
TEXT = CELLS.write_csv()


@pytest.fixture(autouse=True)
def small_blocks(spark: SparkSession) -> Iterator[None]:
    """Cut files into blocks of 1,000 bytes, about thirty rows."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
    yield
    spark.conf.unset("spark.sql.files.maxPartitionBytes")


def rows_of(records: ClusterRecords) -> pl.DataFrame:
    """Return the rows in the order of their numbers, which must count them from 0."""
    frame = pl.DataFrame(records.frame.toArrow()).sort(ROW)
    assert frame[ROW].to_list() == list(range(records.rows))
    names = {f"c{at}": name for at, name in enumerate(records.schema.names)}
    return frame.drop(ROW).rename(names).cast(pl.Schema(records.types))


def _quoted(text: str) -> bytes:
    head, *lines = text.splitlines()
    return "\n".join([head, *(f'"{line.split(",")[0]}\n",{line.split(",", 1)[1]}' for line in lines)]).encode()


FORMS = {
    "plain": TEXT.encode(),
    "windows": TEXT.replace("\n", "\r\n").encode(),
    "old": TEXT.replace("\n", "\r").encode(),
    "marked": b"\xef\xbb\xbf" + TEXT.encode(),
    "empty lines at the end": TEXT.encode() + b"\n,,,,,,,,\n\n",
    "no line end": TEXT.rstrip().encode(),
    "other columns and order": CELLS.select(
        "item", "customer", pl.lit("x").alias("more"), *(name for name in HISTORY.schema.names[1:] if name != "item")
    )
    .write_csv()
    .encode(),
    "lines in cells": _quoted(TEXT),
    "mixed line ends": TEXT.replace("\n", "\r\n", 40).encode(),
    "packed": gzip.compress(TEXT.encode()),
    "Japanese": TEXT.replace("c0", "客0").encode("cp932"),
}


@pytest.mark.parametrize("name", FORMS)
def test_same_rows(spark: SparkSession, tmp_path: Path, name: str) -> None:
    (tmp_path / "T [1].csv").write_bytes(FORMS[name])
    alone = reading.read(tmp_path / "T [1].csv", HISTORY.schema).data
    together = read(spark, tmp_path / "T [1].csv", HISTORY.schema)
    assert rows_of(together).equals(alone.frame)


@pytest.fixture(scope="module")
def elsewhere(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Give a folder, and its address as one that is no path of this machine."""
    folder, setting = tmp_path_factory.mktemp("elsewhere"), "fs.viewfs.mounttable.elsewhere.link./data"
    spark.conf.set(setting, folder.as_uri())
    yield folder, "viewfs://elsewhere/data"
    spark.conf.unset(setting)


@pytest.mark.parametrize("name", ["plain", "windows", "marked", "empty lines at the end", "other columns and order"])
def test_same_rows_of_a_text_elsewhere(spark: SparkSession, elsewhere: tuple[Path, str], name: str) -> None:
    folder, address = elsewhere
    (folder / "T 1.csv").write_bytes(FORMS[name])
    alone = reading.read(folder / "T 1.csv", HISTORY.schema).data
    assert rows_of(read(spark, f"{address}/T 1.csv", HISTORY.schema)).equals(alone.frame)
    guessed = guessed_schema(spark, f"{address}/T 1.csv", kind="history", customer="customer")
    assert guessed.schema == guessed_schema(spark, folder / "T 1.csv", kind="history", customer="customer").schema


@pytest.mark.parametrize("name", ["lines in cells", "packed"])
def test_a_text_elsewhere_that_only_one_worker_can_read_is_to_be_converted(
    spark: SparkSession, elsewhere: tuple[Path, str], name: str
) -> None:
    folder, address = elsewhere
    (folder / "T.csv").write_bytes(FORMS[name])
    with pytest.raises(FileError, match=r"noren convert T\.csv T\.parquet"):
        read(spark, f"{address}/T.csv", HISTORY.schema)


def test_other_layouts(spark: SparkSession, tmp_path: Path) -> None:
    """What the schema says of a text: tabs, no header, spaces around cells; with or without a mark of UTF-8."""
    schema = HISTORY.schema.model_copy(update={"text": TextLayout(header=False, delimiter="\t", strip=True)})
    text = TEXT.split("\n", 1)[1].replace(",", "\t ") + "\t \t\t\t \t\t\t\t\n"
    for at, mark in enumerate((b"", b"\xef\xbb\xbf")):
        (tmp_path / f"{at}.tsv").write_bytes(mark + text.encode())
        assert rows_of(read(spark, tmp_path / f"{at}.tsv", schema)).equals(HISTORY.frame)


LINES = TEXT.splitlines()
FAULTS = {
    "a cell too few": [*LINES[:200], LINES[200].rsplit(",", 1)[0], *LINES[201:]],
    "an empty line": [*LINES[:150], "", *LINES[150:]],
    "a price that is none": [*LINES[:230], LINES[230].rsplit(",", 2)[0] + ",dear,1", *LINES[231:]],
    "a column is missing": [line.rsplit(",", 1)[0] for line in LINES],
    "nothing": LINES[:1],
}


@pytest.mark.parametrize("name", FAULTS)
def test_same_refusals(spark: SparkSession, tmp_path: Path, name: str) -> None:
    (tmp_path / "T.csv").write_text("\n".join(FAULTS[name]) + "\n")
    with pytest.raises(NorenError) as alone:
        reading.read(tmp_path / "T.csv", HISTORY.schema)
    with pytest.raises(NorenError) as together, explain_faults(spark):
        read(spark, tmp_path / "T.csv", HISTORY.schema).frame.toArrow()
    assert str(together.value) == str(alone.value)


def test_same_release_by_a_guessed_schema(master: str, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "T.csv").write_text(TEXT)
    data = get_engine(master).read(tmp_path / "T.csv", kind="history", customer="customer")
    assert data.schema == reading.read(tmp_path / "T.csv", kind="history", customer="customer").data.schema
    for engine, out in ((master, "cluster"), ("local", "alone")):
        protect_folder(
            tmp_path / "T.csv", "generalize-by-count", tmp_path / out, k=3, seed=1, engine=engine,
            schema=Schema.preset("sample"),
        )  # fmt: skip
    assert public_digest(tmp_path / "cluster") == public_digest(tmp_path / "alone")
