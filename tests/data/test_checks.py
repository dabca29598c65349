"""What all format checkers share: dispatch by schema, the report, reading any bytes, and the faults of an original."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noren.data import checks
from noren.data.checks import report as report_module
from noren.data.checks.report import (
    LONGEST_REPORTED,
    WHOLE_FILE,
    Finding,
    Report,
    calendar_day,
    gather,
    inline,
    read_lines,
)
from noren.errors import FileError, FormatError, ParameterError, Problem, ValueInCellError

T_2018 = "17850,2010/12/1,85123A,2.55,6\n13047,2010/12/2,71053,3.39,8\n"
T_2017 = "12967,0,2010/12/3,9:30,84836,1.25,12\n13941,0,2011/1/4,10:05,21354,2.1,1\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- dispatch ---------------------------------------------------------------------------------------------------------


def test_each_schema_finds_its_checker(tmp_path: Path) -> None:
    t18, t17 = written(tmp_path / "t18", T_2018), written(tmp_path / "t17", T_2017)
    at = written(tmp_path / "at", "a,0,2010/12/3,9:30,84836,1.25,12\nb,0,2011/1/4,10:05,21354,2.1,1\n")
    f1 = written(tmp_path / "f1", "17850,13047\n")
    fh = written(tmp_path / "fh", "12967" + ",DEL" * 12 + "\n13941" + ",a" * 12 + "\n")
    assert set(checks.CHECKERS) == {"pwscup2017", "pwscup2018"}
    assert checks.check_release("pwscup2018", t18, t18).valid
    assert checks.check_release("pwscup2017", t17, at).valid
    assert checks.check_guess("pwscup2018", t18, f1, published=t18).valid
    assert checks.check_guess("pwscup2017", t17, fh).valid
    assert checks.check_guess("pwscup2017", t17, fh, published=at).valid
    # Each knows only its own format.
    assert not checks.check_release("pwscup2018", t18, at).valid
    assert not checks.check_guess("pwscup2017", t17, f1, limit=3).valid


def test_a_schema_without_checker_is_refused_with_those_that_have_one(tmp_path: Path) -> None:
    t = written(tmp_path / "t", T_2018)
    for call in (lambda: checks.check_release("adult", t, t), lambda: checks.check_guess("pwscup2016", t, t)):
        with pytest.raises(ParameterError, match=r"there is no official checker .*; use one of pwscup2017, pwscup2018"):
            call()
    with pytest.raises(ParameterError, match="needs the published table"):
        checks.check_guess("pwscup2018", t, t)


def test_importing_the_door_loads_no_checker() -> None:
    code = "import sys, noren.data.checks as c; print(any(m.startswith('polars') for m in sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False"]


# --- the report -------------------------------------------------------------------------------------------------------


def at(column: str):
    return lambda row: Problem(row or None, column, "x", "a rule", "a cure")


def test_problems_come_by_row_then_column_and_all_are_counted() -> None:
    findings = [
        Finding(np.array([3, 5, 9]), 5, at("quantity")),
        Finding(np.array([3, 4]), 2, at("date")),
        Finding(np.array([WHOLE_FILE]), 0, at("file")),
    ]
    report = gather(findings, limit=4)
    assert [(p.row, p.column) for p in report.problems] == [(None, "file"), (3, "date"), (3, "quantity"), (4, "date")]
    assert (report.valid, report.total) == (False, 6)
    assert len(gather(findings).problems) == 6
    assert gather(findings, limit=0).problems == ()
    assert gather(findings, limit=0).total == 6


def test_warnings_leave_the_verdict_alone() -> None:
    report = gather([], [Finding(np.arange(1, 100), 1, at("price"))], limit=20)
    assert report.valid
    assert report.total == 0
    assert len(report.warnings) == 20


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ParameterError, match="limit = -1 is out of range; use limit >= 0"):
        gather([], limit=-1)


def test_the_report_as_plain_data_is_json() -> None:
    problem = Problem(2, "item", "x\x00", "a rule", "a cure")
    told = {"row": 2, "column": "item", "value": "x\x00", "rule": "a rule", "cure": "a cure"}
    report = Report(valid=False, problems=(problem,), total=31, warnings=())
    assert json.loads(json.dumps(report.as_dict())) == {"valid": False, "problems": [told], "total": 31, "warnings": []}


def test_a_report_keeps_the_start_of_an_endless_value() -> None:
    report = gather([Finding(np.array([1]), 0, lambda row: Problem(row, None, "x" * 10_000_000, "a rule", "a cure"))])
    assert report.problems[0].value == "x" * LONGEST_REPORTED


def test_values_inside_sentences_cannot_write_to_the_terminal() -> None:
    assert inline("85123A") == "85123A"
    assert inline("") == "''"
    assert inline(" a") == "' a'"
    assert inline("\x1b[31m") == r"'\x1b[31m'"
    assert len(inline("y" * 1_000)) < 120


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "kept", "universal"),
    [
        (b"", [], []),
        (b"\n", [""], [""]),
        (b"a", ["a"], ["a"]),
        (b"a\n", ["a"], ["a"]),
        (b"a\r\n", ["a"], ["a"]),
        (b"a\n\n", ["a", ""], ["a", ""]),
        (b"a\r\nb\nc", ["a", "b", "c"], ["a", "b", "c"]),
        (b"a\rb\r", ["a\rb\r"], ["a", "b"]),
        (b"a\r\r\nb", ["a\r", "b"], ["a", "", "b"]),
        (b"\xff\x00,\xe9\n", ["ÿ\x00,é"], ["ÿ\x00,é"]),
    ],
)
def test_lines_of_any_bytes(tmp_path: Path, content: bytes, kept: list[str], universal: list[str]) -> None:
    path = written(tmp_path / "file", content)
    assert read_lines(path).text.to_list() == kept
    assert read_lines(path, carriage_return_ends_line=True).text.to_list() == universal
    packed = written(tmp_path / "file.gz", gzip.compress(content))
    assert read_lines(packed).text.to_list() == kept


def test_utf8_is_read_as_such_and_its_absence_told(tmp_path: Path) -> None:
    good = read_lines(written(tmp_path / "good", "仮名\n".encode()), utf8=True)
    assert (good.text.to_list(), good.not_utf8, good.byte_order_mark) == (["仮名"], None, False)
    marked = read_lines(written(tmp_path / "marked", b"\xef\xbb\xbfa\n"), utf8=True)
    assert (marked.text.to_list(), marked.byte_order_mark) == (["a"], True)
    bad = read_lines(written(tmp_path / "bad", b"a\nb\n\xff\n"), utf8=True)
    assert (bad.text.to_list(), bad.not_utf8) == (["a", "b", "ÿ"], 3)


def test_unreadable_files_are_told_with_a_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"missing\.csv.*check the path"):
        read_lines(tmp_path / "missing.csv")
    with pytest.raises(FileError, match="folder"):
        read_lines(tmp_path)
    with pytest.raises(FileError, match="damaged"):
        read_lines(written(tmp_path / "cut.csv.gz", gzip.compress(b"a,b\n" * 1000)[:-9]))
    with pytest.raises(FileError, match="damaged"):
        read_lines(written(tmp_path / "noise.csv", b"\x1f\x8b1,2,3\n"))
    monkeypatch.setattr(report_module, "LARGEST_FILE", 1_000)
    with pytest.raises(FileError, match="1,000 bytes"):
        read_lines(written(tmp_path / "bomb.csv.gz", gzip.compress(b"\x00" * 1_001)))
    with pytest.raises(FileError, match="1,000 bytes"):
        read_lines(written(tmp_path / "large.csv", b"\x00" * 1_001))
    assert len(read_lines(written(tmp_path / "just.csv", b"\x00" * 1_000)).text) == 1
    monkeypatch.setattr(report_module, "MOST_LINES", 10)
    assert len(read_lines(written(tmp_path / "ten.csv", b"\n" * 10)).text) == 10
    with pytest.raises(FileError, match="more than 10 lines"):
        read_lines(written(tmp_path / "eleven.csv", b"\n" * 11))


# --- the original -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "content", "error", "row", "column"),
    [
        ("pwscup2018", "", FileError, None, None),
        ("pwscup2018", T_2018 + "\n", FormatError, 3, None),
        ("pwscup2018", T_2018 + "1,2010/12/1,a,1.0\n", FormatError, 3, None),
        ("pwscup2018", T_2018 + "1,2010/12/1,a,1.0,1,1\n", FormatError, 3, None),
        ("pwscup2018", "customer,date,item,price,quantity\n" + T_2018, ValueInCellError, 1, "date"),
        ("pwscup2018", T_2018 + "1,2011/2/29,a,1.0,1\n", ValueInCellError, 3, "date"),
        ("pwscup2018", T_2018 + "1,2011/2/28,a,0.00,1\n", ValueInCellError, 3, "price"),
        ("pwscup2018", T_2018 + "1,2011/2/28,a,1.001,1\n", ValueInCellError, 3, "price"),
        ("pwscup2018", T_2018 + "1,2011/2/28,a,1,0\n", ValueInCellError, 3, "quantity"),
        ("pwscup2017", "", FileError, None, None),
        ("pwscup2017", T_2018, FormatError, 1, None),
        ("pwscup2017", T_2017 + "1,0,2011/13/1,9:00,a,1,1\n", ValueInCellError, 3, "date"),
        ("pwscup2017", T_2017.encode() + b"1,0,2011/1/1,9:00,\xff,1,1\n", FormatError, 3, None),
    ],
)
def test_faults_of_the_original_stop_the_check(
    tmp_path: Path,
    schema: str,
    content: str | bytes,
    error: type[FileError | FormatError | ValueInCellError],
    row: int | None,
    column: str | None,
) -> None:
    original = written(tmp_path / "T.csv", content)
    with pytest.raises(error, match=r"T\.csv") as told:
        checks.check_release(schema, original, original)
    assert (told.value.problem.row, told.value.problem.column) == (row, column)
    assert told.value.problem.cure


def test_the_2017_guess_needs_customers_that_are_numbers(tmp_path: Path) -> None:
    original = written(tmp_path / "T.csv", T_2017.replace("13941", "13941B"))
    with pytest.raises(ValueInCellError) as told:
        checks.check_guess("pwscup2017", original, original)
    assert (told.value.problem.row, told.value.problem.column, told.value.problem.value) == (2, "customer", "13941B")


def test_calendar_days_are_the_days_of_the_calendar() -> None:
    import datetime

    import polars as pl

    years, months, days = (1900, 2000, 2010, 2011, 2012), range(14), range(33)
    texts = [f"{y}/{m}/{d}" for y in years for m in months for d in days]
    pattern = r"^([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})$"
    read = pl.DataFrame({"text": texts}).select(calendar_day(pl.col("text"), pattern)).to_series().to_list()

    def expected(text: str) -> int | None:
        try:
            return int(datetime.date(*map(int, text.split("/"))).strftime("%Y%m%d"))
        except ValueError:
            return None

    assert read == [expected(text) for text in texts]
