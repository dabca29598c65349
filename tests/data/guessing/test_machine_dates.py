"""Days as machines and hurried people write them: seconds since 1970, years of two digits."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest

from noren.data.guessing import Question
from noren.data.guessing.column_types import guess_type
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read
from noren.data.schema import Column, Kind, ValueType


def guessed(name: str, values: list[object]) -> tuple[Column, list[Question]]:
    questions: list[Question] = []
    return guess_type(pl.Series(name, values), questions), questions


@pytest.mark.parametrize(
    ("name", "values", "format_"),
    [
        ("timestamp", ["1522573530", "1522573999"], "unix"),
        ("timestamp", [1522573530, 1522573999], "unix"),
        ("event_time", ["1522573530123", "1522573999000"], "unix"),
        ("amount", ["1522573530", "1522573999"], None),
        ("timestamp", ["12", "1522573999"], None),
        ("day", ["4/1/18", "4/23/18", "5/30/18"], "%m/%d/%y"),
        ("day", ["1.4.2018", "23.4.2018"], "%d.%m.%Y"),
        ("day", ["4/1/18 9:05", "4/23/18 16:31"], "%m/%d/%y %H:%M"),
        ("day", ["18/04/01", "18/04/23", "18/05/30"], "%y/%m/%d"),
        ("day", ["01.04.18", "23.04.19", "24.04.19"], "%d.%m.%y"),
    ],
)
def test_how_a_column_writes_its_days(name: str, values: list[object], format_: str | None) -> None:
    assert guessed(name, values)[0].format == format_


def test_a_year_that_could_stand_at_either_end_is_asked_about() -> None:
    _column, [asked] = guessed("day", ["18/04/01", "18/04/23", "18/05/30"])
    assert asked.text == "day: is 18/04/01 2018-04-01 or 2001-04-18? Every value allows both; 2018-04-01 was chosen"
    assert [answer.value for answer in asked.answers] == ["%y/%m/%d", "%d/%m/%y"]
    assert guessed("day", ["4/1/18", "4/23/18"])[1] == []
    _column, [asked] = guessed("day", ["1/4/18", "2/4/18"])
    assert asked.text.startswith("day: day first or month first?")


def test_seconds_since_1970_are_moments(tmp_path: Path) -> None:
    rows = "".join(f"u{n % 20},{296 + n},{1522573530 + 1000 * (n > 0) * n}\n" for n in range(60))
    (tmp_path / "r.csv").write_text("userId,movieId,timestamp\n" + rows, encoding="utf-8")
    data = read(tmp_path / "r.csv").data
    assert data.schema.kind == Kind.HISTORY
    assert data.schema.role("date").format == "unix"
    assert data.frame["timestamp"][0].date() == dt.date(2018, 4, 1)
    assert data.frame["timestamp"][0] == dt.datetime(2018, 4, 1, 9, 5, 30)


def test_spaces_set_columns_apart(tmp_path: Path) -> None:
    lines = "00001 19970101  1   11.77\n00002 19970112 12  120.00\n00002 19970112  5   77.00\n"
    (tmp_path / "m.txt").write_text(lines, encoding="utf-8")
    found = guess_schema(tmp_path / "m.txt", kind=Kind.HISTORY, customer="column1")
    assert found.notes[0] == "read as UTF-8, delimiter ' ', 4 columns, no header"
    assert found.schema["column2"].type == ValueType.DATE
    data = read(tmp_path / "m.txt", found.schema).data
    assert data.frame["column4"].to_list() == [11.77, 120.0, 77.0]
    assert data.frame["column1"].to_list() == ["00001", "00002", "00002"]
    # a text of as many words in each line is no table
    (tmp_path / "t.txt").write_text("the cat sat\na dog ran\nthe owl saw\n", encoding="utf-8")
    assert len(guess_schema(tmp_path / "t.txt").schema.columns) == 1
