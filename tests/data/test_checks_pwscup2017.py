"""The 2017 checkers: the official verdicts, each rule by hand, a row-by-row twin, and files made of noise."""

import contextlib
import datetime
import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.checks.pwscup2017 import COLUMNS, GUESS_COLUMNS, check_guess, check_release
from noren.data.checks.report import Report
from noren.errors import NorenError

T = """\
12967,0,2010/12/3,9:30,84836,1.25,12
12967,0,2010/12/9,9:31,21354,2.1,1
13941,0,2010/12/9,15:00,84836,1.25,6
12967,0,2011/1/4,10:05,22457,2.95,12
13941,0,2011/10/31,23:59,21354,2.1,144
13941,0,2011/11/30,0:00,22457,2.95,2
"""
AT = """\
p1,0,2010/12/31,0:00,84836,1.2,11
p1,0,2010/12/1,9:31,21354,2.10,1
q_1,7,2010/12/9,15:0,22457,99999.99,999999
DEL,,,,,,
p1,0,2011/10/1,23:59,21354,2.1,144
q-2,x-1,2011/11/30,0:00,22457,2.95,2
"""
GUESS = "12967,p1" + ",DEL" * 11 + "\n13941" + ",p1" * 12 + "\n"
VALID = Report(valid=True, problems=(), total=0, warnings=())


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return written(tmp_path / "T.csv", T)


def changed(row: int, column: str, cell: str) -> str:
    lines = AT.splitlines()
    cells = lines[row - 1].split(",")
    cells[COLUMNS.index(column)] = cell
    lines[row - 1] = ",".join(cells)
    return "\n".join(lines) + "\n"


def places(report: Report) -> list[tuple[int | None, str | None]]:
    return [(problem.row, problem.column) for problem in report.problems]


def warned(report: Report) -> list[tuple[int | None, str | None]]:
    return [(problem.row, problem.column) for problem in report.warnings]


# --- the official verdicts --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def official(shared: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads((shared / "oracles" / "INDEX.json").read_text())["pwscup2017"]
    return index


# The official checker names a row for some rules only, and stops at the first rule broken anywhere.
COLUMN_OF = {
    "Custom IDs": "customer",
    "Using CID": "customer",
    "Masking a CID": "customer",
    "Date": "date",
    "Time": "time",
    "Exists non-valid stock code": "item",
    "Unite Price": "price",
    "Quantity": "quantity",
}


def test_every_official_verdict_on_the_release(shared: Path, official: dict[str, Any]) -> None:
    told = official["format_check_AT"]
    ours, theirs = {}, {}
    for case in told["cases"]:
        report = check_release(shared / "oracles" / told["T"], shared / "oracles" / case["file"])
        column = next((name for said, name in COLUMN_OF.items() if case["message"].startswith(said)), None)
        row = re.search(r"at row (\d+)", case["message"])
        first = report.problems[0] if report.problems else None
        # Its rows count from 0.
        theirs[case["id"]] = (case["rejected"], column, int(row[1]) + 1 if row else None, case.get("advisory", False))
        ours[case["id"]] = (
            not report.valid,
            first.column if first else None,
            first.row if first and row else None,
            report.valid and bool(report.warnings),
        )
    assert ours == theirs
    assert len(ours) == len(told["cases"]) == 26


def test_every_official_verdict_on_the_guess(shared: Path, official: dict[str, Any]) -> None:
    told = official["format_check_Fh"]
    t = shared / "oracles" / told["T"]
    reports = {case["id"]: check_guess(t, shared / "oracles" / case["file"]) for case in told["cases"]}
    assert {name: not report.valid for name, report in reports.items()} == {
        case["id"]: case["rejected"] for case in told["cases"]
    }
    assert len(reports) == len(told["cases"]) == 8
    assert {name: places(report)[-1:] for name, report in reports.items()} == {
        "base": [],
        "customer_missing": [(None, "customer")],
        "customer_unknown": [(6, "customer")],
        "not_sorted": [(2, "customer")],
        "column_missing": [(6, None)],
        "column_extra": [(6, None)],
        "customer_twice": [(6, "customer")],
        "count_line": [(1, None)],
    }
    assert "(13 cells), without a count line" in reports["count_line"].problems[0].rule


def test_the_official_vectors(shared: Path, official: dict[str, Any]) -> None:
    t = shared / "data" / official["inputs"]["T"]["data"]
    reports = {}
    for vector in official["vectors"]:
        source = t if vector["T"] == "T" else shared / "oracles" / vector["T"]
        reports[vector["id"]] = check_release(source, shared / "oracles" / vector["files"]["AT"], limit=1_000)
    micro = reports.pop("pwscup2017/micro")
    assert list(reports.values()) == [VALID] * 3
    # "against the rules some customers have two pseudonyms in a month"
    assert not micro.valid
    assert {problem.rule.split(";")[0] for problem in micro.problems} == {"a customer has one pseudonym per month"}


def test_the_guesses_of_the_official_attacks_are_valid(shared: Path, official: dict[str, Any]) -> None:
    t = shared / "data" / official["inputs"]["T"]["data"]
    files = [
        known["Fh"]
        for vector in official["vectors"]
        for attack in vector["expected"]["UM"].values()
        for known in attack.values()
    ]
    assert [name for name in files if check_guess(t, shared / "oracles" / name) != VALID] == []
    assert len(files) == 3 * 24 + 6
    (cases,) = (v["expected"]["UM_cases"]["cases"] for v in official["vectors"] if "UM_cases" in v["expected"])
    # The match-rate tool reads what the checker refuses: a count line, shuffled rows.
    assert {case["id"]: check_guess(t, shared / "oracles" / case["file"]).valid for case in cases} == {
        "truth_no_count_line": True,
        "one_cell_wrong": False,
        "rows_shuffled": False,
        "customer_missing": False,
        "all_DEL": True,
        "no_final_newline": True,
    }


# --- AT by hand -------------------------------------------------------------------------------------------------------


def test_a_sound_release_is_valid_however_its_lines_end(original: Path, tmp_path: Path) -> None:
    for content in (AT, AT.replace("\n", "\r\n"), AT.replace("\n", "\r"), AT.removesuffix("\n")):
        assert check_release(original, written(tmp_path / "AT.csv", content)) == VALID
    assert check_release(original, written(tmp_path / "AT.csv.gz", gzip.compress(AT.encode()))) == VALID


BROKEN_CELLS = {
    ("customer", "pseudonyms and invoices consist of letters, digits, _ and -"): ["p.1", " p1"],
    ("customer", "a pseudonym must not be a customer of the original"): ["12967", "13941"],
    ("customer", "customer 12967 already has p1 in 2010/12"): ["p2", "del"],
    ("invoice", "pseudonyms and invoices consist of letters, digits, _ and -"): ["a b"],
    ("date", "a date is a day written like 2010/12/1, without leading zeros"): [
        *("", "2010/12/09", "2010-12-9", "2010/12/40", "2010/12/39", "2010/12/0")
    ],
    ("date", "a date stays in the month of the original, 2010/12"): ["2010/11/9", "2011/12/9"],
    ("time", "a time is written like 9:30, from 0:00 to 23:59"): ["", "9", "9:300", "24:00", "9:60"],
    ("item", "the item must occur in the original table"): ["", "21354 "],
    ("price", "a price is a number up to 99999.99 with at most two decimals"): ["", "1.234", "-1", "100000", "1."],
    ("quantity", "a quantity is a whole number of at most six digits"): ["", "1.0", "1234567", "+1"],
}
"""Cells that break a rule, by their column and what the message says."""


@pytest.mark.parametrize(
    ("column", "cell", "rule"),
    [(column, cell, rule) for (column, rule), cells in BROKEN_CELLS.items() for cell in cells],
)
def test_a_broken_cell_is_named_with_its_rule(
    original: Path, tmp_path: Path, column: str, cell: str, rule: str
) -> None:
    report = check_release(original, written(tmp_path / "AT.csv", changed(2, column, cell)))
    assert (report.valid, report.total, places(report)) == (False, 1, [(2, column)])
    assert report.problems[0].value == cell
    assert rule in report.problems[0].rule
    assert report.problems[0].cure


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (changed(1, "customer", "仮名").replace("p1,0,2010/12/1,", "仮名,0,2010/12/1,"), []),
        (changed(2, "quantity", '"1"'), []),  # the official reader drops quotes around a cell
        (changed(2, "price", "0"), [(2, "price")]),
        (changed(2, "price", "0.00"), [(2, "price")]),
        (changed(2, "quantity", "000"), [(2, "quantity")]),
        (changed(2, "invoice", ""), [(2, "invoice")]),
        (changed(6, "customer", ""), [(6, "customer")]),
        (changed(6, "customer", "DEL"), [(6, None)]),
        (AT.replace("DEL,,,,,,", "DEL"), [(4, None)]),
        (AT.replace("DEL,,,,,,", "\n \t\nDEL,,,,,,"), [(4, None)]),  # blank lines are passed over
        (AT + "DEL,,,,,,\nDEL,,,,,,\n", [(7, None)]),
        ("\n".join(AT.splitlines()[:-1]), [(None, None)]),
        (AT.replace("\n", ",extra\n"), [(1, None), (4, None)]),
        ("\ufeff" + AT, [(1, None)]),
    ],
)
def test_what_the_official_checker_does_not_look_at_is_a_warning(
    original: Path, tmp_path: Path, content: str, found: list[tuple[int | None, str | None]]
) -> None:
    report = check_release(original, written(tmp_path / "AT.csv", content))
    assert (report.valid, report.problems, report.total, warned(report)) == (True, (), 0, found)


@pytest.mark.parametrize(
    ("content", "found", "rule"),
    [
        ("", [(None, None)], "no rows"),
        ("\n \n", [(None, None)], "no rows"),
        (AT + "a,0,2011/11/1,1:00,22457,1,1\n" * 9, [(7, None)], "the file has 15 rows, the original has 6"),
        (AT.replace(",144\n", "\n"), [(5, None)], "this one has 6"),
        (AT.replace(",144\n", ",144,\n"), [(5, None)], "this one has 8"),
        ("DEL\n" + AT.split("\n", 1)[1], [(1, None)], "this one has 1"),
        (
            "DEL,,,,,,\n" * 4 + "".join(AT.splitlines(keepends=True)[4:]),
            [(None, None)],
            "3 of 6) must stay; this file keeps 2",
        ),
        (AT.encode().replace(b"x-1", b"x\xff1"), [(6, None)], "not UTF-8"),
    ],
)
def test_a_broken_row_is_named(
    original: Path, tmp_path: Path, content: str | bytes, found: list[tuple[int | None, str | None]], rule: str
) -> None:
    report = check_release(original, written(tmp_path / "AT.csv", content))
    assert (report.valid, places(report)) == (False, found)
    assert rule in report.problems[0].rule
    assert report.problems[0].cure


def test_half_of_the_rows_is_rounded_down(tmp_path: Path) -> None:
    original = written(tmp_path / "T.csv", "".join(T.splitlines(keepends=True)[:5]))
    lines = AT.splitlines(keepends=True)[:5]
    kept = written(tmp_path / "AT.csv", "".join(["DEL,,,,,,\n"] * 3 + ["p,0,2011/1/4,1:0,22457,1,1\n"] + lines[4:]))
    assert check_release(original, kept) == VALID
    fewer = written(tmp_path / "AT.csv", "".join(["DEL,,,,,,\n"] * 4 + lines[4:]))
    assert places(check_release(original, fewer)) == [(None, None)]


def test_a_pseudonym_may_be_shared_but_a_month_has_one_of_them(original: Path, tmp_path: Path) -> None:
    shared_name = re.sub(r"(?m)^(p1|q_1|q-2),", "same,", AT)
    assert check_release(original, written(tmp_path / "AT.csv", shared_name)) == VALID
    report = check_release(original, written(tmp_path / "AT.csv", AT.replace("p1,0,2010/12/1,", "p9,0,2010/12/1,")))
    assert places(report) == [(2, "customer")]
    assert report.problems[0].cure == "write p1 here too, or delete the row"


# --- F̂ by hand --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "found", "hints"),
    [
        (GUESS, [], []),
        (GUESS.replace("\n", "\r\n"), [], []),
        (GUESS.removesuffix("\n"), [], []),
        (GUESS.replace(",DEL\n", ",\n"), [], [(1, "2011/11")]),
        (GUESS.replace("12967,p1", "12967,p.1"), [], [(1, "2010/12")]),
        (GUESS.replace(",p1\n", "\n"), [], [(2, None)]),
        (GUESS.replace("\n13941", "\n\n13941"), [], [(2, None)]),
        ("", [(None, None)], []),
        ("2\n" + GUESS, [(1, None)], []),
        (",".join(GUESS_COLUMNS) + "\n" + GUESS, [(1, "customer")], [(1, month) for month in GUESS_COLUMNS[1:]]),
        (GUESS.replace(",DEL\n", "\n"), [(1, None)], []),
        (GUESS.replace("\n", ",DEL\n"), [(1, None), (2, None)], []),
        (GUESS.replace(",p1\n", ",p1,p1\n"), [(2, None)], []),
        (GUESS.splitlines()[0], [(None, "customer")], []),
        (GUESS.replace("13941", "013941"), [(None, "customer"), (2, "customer")], []),
        (GUESS + GUESS, [(3, "customer"), (4, "customer")], []),
        ("\n".join(reversed(GUESS.splitlines())), [(2, "customer")], []),
    ],
)
def test_a_guess(
    original: Path,
    tmp_path: Path,
    content: str,
    found: list[tuple[int | None, str | None]],
    hints: list[tuple[int | None, str | None]],
) -> None:
    report = check_guess(original, written(tmp_path / "Fh.csv", content))
    assert (report.valid, places(report), warned(report)) == (not found, found, hints)
    assert all(problem.cure for problem in report.problems + report.warnings)


def test_customers_ascend_as_numbers_not_as_text(tmp_path: Path) -> None:
    original = written(tmp_path / "T.csv", T.replace("12967", "9"))
    ascending = GUESS.replace("12967", "9")
    assert check_guess(original, written(tmp_path / "Fh.csv", ascending)).valid
    descending = "\n".join(reversed(ascending.splitlines()))
    assert places(check_guess(original, written(tmp_path / "Fh.csv", descending))) == [(2, "customer")]


# --- a row-by-row twin ------------------------------------------------------------------------------------------------


def lines_of(content: bytes) -> list[tuple[int, list[str]]]:
    text = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removeprefix(b"\xef\xbb\xbf")
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        decoded = text.decode("latin-1")
    rows = []
    for number, line in enumerate(decoded.split("\n"), 1):
        if line.strip(" \t"):
            rows.append((number, [re.sub(r'\A"([^"]*)"\Z', r"\1", cell) for cell in line.split(",")]))
    return rows


def utf8(content: bytes) -> bool:
    with contextlib.suppress(UnicodeDecodeError):
        content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removeprefix(b"\xef\xbb\xbf").decode()
        return True
    return False


def real_day(text: str) -> datetime.date | None:
    if not re.fullmatch(r"[0-9]{4}/1?[0-9]/[1-3]?[0-9]", text):
        return None
    with contextlib.suppress(ValueError):
        return datetime.date(*map(int, text.split("/")))
    return None


def release_is_valid(content: bytes) -> bool:
    originals = [line.split(",") for line in T.splitlines()]
    rows = lines_of(content)
    if not utf8(content) or not rows or len(rows[0][1]) < 7:
        return False
    width = len(rows[0][1])
    names: dict[Any, Any] = {}
    live = [(place, cells) for place, (_, cells) in enumerate(rows) if cells[0] != "DEL"]
    if len(live) < len(rows) // 2 or any(len(cells) > width for _, cells in rows):
        return False
    for place, cells in live:
        if place >= len(originals) or len(cells) < 7:
            return False
        true, (name, invoice, date, time, item, price, quantity) = originals[place], cells[:7]
        day, month = real_day(date), real_day(true[2])
        assert month is not None
        clock = re.fullmatch(r"([0-9]{1,2}):([0-9]{1,2})", time)
        sound = (
            re.fullmatch(r"[\w-]*", name),
            re.fullmatch(r"[\w-]*", invoice),
            name not in {cells[0] for cells in originals},
            day and (day.year, day.month) == (month.year, month.month),
            clock and int(clock[1]) < 24 and int(clock[2]) < 60,
            item in {cells[4] for cells in originals},
            re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,2})?", price),
            re.fullmatch(r"[0-9]{1,6}", quantity),
            names.setdefault((true[0], month.month), name) == name,
        )
        if not all(sound):
            return False
    return True


def guess_is_valid(content: bytes) -> bool:
    rows = lines_of(content)
    return (
        utf8(content)
        and [cells[0] for _, cells in rows] == ["12967", "13941"]
        and len(rows[0][1]) == 13
        and len(rows[1][1]) <= 13
    )


CELLS = [
    *("", "DEL", "p1", "q_1", "p.1", "12967", "0", "2010/12/1", "2010/12/31", "2010/12/32", "2011/1/4", "2010/12/01"),
    *(
        "9:30",
        "24:00",
        "9:3",
        "84836",
        "21354",
        "1.25",
        "1.255",
        "99999",
        "100000",
        "12",
        "é",
        "\x00",
        '"',
        '"p1"',
        " ",
    ),
]


def mutate(rng: random.Random, table: str, more: list[str]) -> bytes:
    lines = table.splitlines()
    for _ in range(rng.randint(0, 2)):
        at = rng.randrange(len(lines)) if lines else 0
        match rng.randrange(8):
            case 0 | 1 | 2 | 3 if lines:
                cells = lines[at].split(",")
                cells[rng.randrange(len(cells))] = rng.choice(CELLS)
                lines[at] = ",".join(cells)
            case 4 if lines:
                lines[at] = rng.choice(more)
            case 5:
                lines.insert(at, rng.choice(more))
            case 6:
                lines.append(rng.choice(more))
            case 7 if lines:
                del lines[at]
    content = bytearray(rng.choice(["\n", "\n", "\r\n", "\r"]).join(lines).encode() + rng.choice([b"", b"\n", b"\r"]))
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(content) + 1)
        content[at : at + rng.randrange(2)] = rng.choice([b"\x00", b"\xff", b"\r", b"\n", b",", b'"', b"0", b"-", b""])
    return bytes(content)


@pytest.mark.slow
def test_damaged_releases_are_judged_as_row_by_row(original: Path, tmp_path: Path) -> None:
    rng = random.Random(20170901)
    verdicts = []
    for _ in range(500):
        content = mutate(rng, AT, [*AT.splitlines(), "", "DEL,,,,,,", "DEL", ",,,,,,", ","])
        report = check_release(original, written(tmp_path / "AT.csv", content))
        assert report.valid == release_is_valid(content), content
        assert report.valid == (report.total == 0)
        verdicts.append(report.valid)
    assert 80 < sum(verdicts) < 400


@pytest.mark.slow
def test_damaged_guesses_are_judged_as_row_by_row(original: Path, tmp_path: Path) -> None:
    rng = random.Random(20170902)
    verdicts = []
    for _ in range(500):
        content = mutate(rng, GUESS, [*GUESS.splitlines(), "", "2", "13941"])
        report = check_guess(original, written(tmp_path / "Fh.csv", content))
        assert report.valid == guess_is_valid(content), content
        verdicts.append(report.valid)
    assert 80 < sum(verdicts) < 400


@examples(100)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from([*CELLS, ",", "\n"])).map(lambda parts: "".join(parts).encode()),
    )
)
def test_any_bytes_get_a_report(original: Path, tmp_path: Path, content: bytes) -> None:
    assume(not content.startswith(b"\x1f\x8b"))  # told as a damaged gzip file
    path = written(tmp_path / "file.csv", content)
    assert check_release(original, path).valid == release_is_valid(content)
    assert check_guess(original, path).valid == guess_is_valid(content)
    with contextlib.suppress(NorenError):  # as an original, most of it is no table
        assert isinstance(check_release(path, original), Report)


@pytest.mark.parametrize("content", [b"," * 2_000_000, b"\n" * 500_000, b'"' * 2_000_000, b"1,1\n" * 100_000])
def test_endless_lines_and_endless_files(original: Path, tmp_path: Path, content: bytes) -> None:
    """Linear work: any quadratic step would take hours here."""
    path = written(tmp_path / "file.csv", content)
    assert not check_release(original, path).valid
    assert not check_guess(original, path).valid
