"""Retention on a cluster draws what one machine draws."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.execution.sameness import on_cluster, same_release
from tests.methods.test_retention import SCHEMA, people

from noren.data.frames import Table
from noren.errors import NorenError, ParameterError, ValueInCellError
from noren.execution.plans.tables import protect_retention as protect
from noren.execution.release import load_release
from noren.execution.session import explain_faults
from noren.execution.spark import SparkCounts
from noren.judgement.release_facts import release_facts
from noren.methods.retention import Retention


def test_the_same_draws_of_texts_numbers_and_days(spark, master: str, tmp_path: Path) -> None:
    method = Retention(
        k=3, attributes=("pay", "sex", "town", "born", "age"), classes=("age=20..90:5",), missing="category"
    )
    data = people(700, missing=True)
    release = same_release(method, data, spark, tmp_path, seed=2**90 + 3)
    assert release.secret.pseudonyms.is_empty()
    assert "(missing)" in release.public.frame["town"].to_list()
    # the rows of a folder count as those of the noise, if they may be
    original, frame = on_cluster(data, spark, tmp_path / "again"), release.public.frame
    town = frame["town"].replace("(missing)", "elsewhere")
    cases = (frame, release.statement.notes["k"]), (frame.reverse(), 1.0), (frame.with_columns(town), 1.0)
    for at, (rows, k) in enumerate(cases):
        replace(release, public=Table(rows, release.public.schema)).save(tmp_path / f"judged {at}")
        counts = SparkCounts(master, original, load_release(spark, tmp_path / f"judged {at}"))
        assert release_facts(counts).proven_k == pytest.approx(k)


def test_domains_may_be_taken_from_the_data(spark, tmp_path: Path) -> None:
    noted = Table(people(50).frame.with_columns(pl.Series("note", ["z", "b", "ä", "a", "b"] * 10)), SCHEMA)
    same_release(Retention(rho=0.5, attributes=("sex", "note"), domains="data"), noted, spark, tmp_path)


def test_what_stops_one_machine_stops_a_cluster(spark, tmp_path: Path) -> None:
    blank = people(90, missing=True)
    method = Retention(k=2, attributes=("sex", "town"))
    with pytest.raises(ValueInCellError) as alone:
        method.protect(blank, seed=1)
    # the first missing town is in row 1 of the file, which one worker alone reads
    lying = on_cluster(Table(blank.frame[1:14], blank.schema), spark, tmp_path / "blank", files=2)
    with (
        pytest.raises(NorenError, match=r"row 7, column town: the value is missing") as together,
        explain_faults(spark),
    ):
        protect(method, lying, seed=1).save(tmp_path / "release")
    assert str(alone.value).replace("row 1", "row 7") == str(together.value)
    assert not (tmp_path / "release").exists()
    single = on_cluster(Table(blank.frame[:1], blank.schema), spark, tmp_path / "single", files=1)
    with pytest.raises(ParameterError, match="the table has 1 rows; give a table of at least 2 rows"):
        protect(method, single, seed=1)
