"""The 2018 checkers: the official verdicts, each rule by hand, a row-by-row twin, and files made of noise."""

import contextlib
import datetime
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.checks.pwscup2018 import COLUMNS, check_guess, check_release
from noren.data.checks.report import Report
from noren.errors import NorenError

T = """\
17850,2010/12/1,85123A,2.55,6
17850,2010/12/1,71053,3.39,6
13047,2010/12/2,84406B,2.75,8
12583,2011/1/5,22728,3.75,24
13047,2011/1/9,71053,3.39,2
12583,2011/11/30,22727,0.4,12
"""
A = """\
11,2010/12/1,{85123A;71053},[2.55;3.39],6
11,[2010/12/1;2010/12/3],71053,*,[1;6]
12,2010/12/02,{84406B},2.75,8
*,*,*,*,*
12,*,*,*,*
13,[2011/11/1;2011/12/31],22727,0.40,[12;12]
"""


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode("latin-1") if isinstance(content, str) else content)
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return written(tmp_path / "T.csv", T)


def changed(row: int, column: str, cell: str, table: str = A) -> str:
    lines = table.splitlines()
    cells = lines[row - 1].split(",")
    cells[COLUMNS.index(column)] = cell
    lines[row - 1] = ",".join(cells)
    return "\n".join(lines) + "\n"


def places(report: Report) -> list[tuple[int | None, str | None]]:
    return [(problem.row, problem.column) for problem in report.problems]


# --- the official verdicts --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def official(shared: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads((shared / "oracles" / "INDEX.json").read_text())["pwscup2018"]
    return index


def original_of(shared: Path, official: dict[str, Any], name: str) -> Path:
    source = official["inputs"][name]
    return shared / "data" / source["data"] if "data" in source else shared / "oracles" / source["file"]


def test_every_official_verdict_on_the_release_with_its_rows_and_columns(
    shared: Path, official: dict[str, Any]
) -> None:
    told = official["format_check_A"]
    ours, theirs = {}, {}
    for case in told["cases"]:
        report = check_release(shared / "oracles" / told["T"], shared / "oracles" / case["file"])
        first = [(m["line"], COLUMNS[m["cell"] - 1] if "cell" in m else None) for m in case["first_messages"]]
        theirs[case["id"]] = (case["rejected"], case["n_messages"], first)
        # The official checker calls an empty file's place line 0; no editor has a row 0, so ours is the whole file.
        found = [(problem.row or 0, problem.column) for problem in report.problems[: len(first)]]
        ours[case["id"]] = (not report.valid, report.total, found)
        assert report.warnings == ()
    assert ours == theirs
    assert len(ours) == len(told["cases"]) == 63


def test_the_official_vectors_and_their_attacks_are_valid(
    shared: Path, official: dict[str, Any], tmp_path: Path
) -> None:
    guesses = 0
    for vector in official["vectors"]:
        assert vector["expected"]["checker_exit"] == 0
        t, a = original_of(shared, official, vector["T"]), shared / "oracles" / vector["files"]["A"]
        assert check_release(t, a) == Report(valid=True, problems=(), total=0, warnings=()), vector["id"]
        published = written(tmp_path / "A1.csv", publish(a))
        for attack in vector["expected"]["attacks"].values():
            if attack.get("file"):
                assert check_guess(t, published, shared / "oracles" / attack["file"]).valid, attack["file"]
                guesses += 1
    assert len(official["vectors"]) == 7
    listed = [attack for vector in official["vectors"] for attack in vector["expected"]["attacks"].values()]
    assert guesses == sum(bool(attack.get("file")) for attack in listed) == 11


def publish(release: Path) -> str:
    lines = gzip.decompress(release.read_bytes()).decode().splitlines()
    return "".join(f"{line}\n" for line in sorted(line for line in lines if line != "*,*,*,*,*"))


def test_every_official_verdict_on_the_guess_with_its_row(shared: Path, official: dict[str, Any]) -> None:
    told = official["format_check_F"]
    column = {"unknown pid": "pseudonym", "unknown id": "customer", "duplicated pid": "pseudonym"}
    ours, theirs = {}, {}
    for case in told["cases"]:
        paths = (shared / "oracles" / name for name in (told["T"], told["Aprime"], case["file"]))
        report = check_guess(*paths)
        ours[case["id"]] = (not report.valid, places(report)[:1])
        # It stops at the first problem, and numbers lines from 0.
        said = re.fullmatch(r"Line (\d+): (.*)", case["message"])
        theirs[case["id"]] = (case["rejected"], [(int(said[1]) + 1, column.get(said[2]))] if said else [])
    assert ours == theirs
    assert len(ours) == len(told["cases"]) == 21


def test_the_threshold_guesses_are_valid(shared: Path, official: dict[str, Any], tmp_path: Path) -> None:
    told = official["safety_threshold"]
    published = written(tmp_path / "A1.csv", publish(shared / "oracles" / told["A"]))
    t = original_of(shared, official, told["T"])
    verdicts = [check_guess(t, published, shared / "oracles" / case["file"]).valid for case in told["cases"]]
    assert verdicts == [True] * 10


# --- each rule by hand ------------------------------------------------------------------------------------------------


def test_a_release_with_every_kind_of_cell_is_valid(original: Path, tmp_path: Path) -> None:
    for name, content in {
        "plain": A,
        "crlf": A.replace("\n", "\r\n"),
        "mixed ends": A.replace("\n", "\r\n", 2),
        "no last end": A.removesuffix("\n"),
        "the original itself": T,
        "all deleted": "*,*,*,*,*\n" * 6,
    }.items():
        report = check_release(original, written(tmp_path / "A.csv", content))
        assert report == Report(valid=True, problems=(), total=0, warnings=()), name
    packed = written(tmp_path / "A.csv.gz", gzip.compress(A.encode()))
    assert check_release(original, packed).valid


BROKEN_CELLS = {
    ("customer", "a pseudonym is a whole number from 1 to 999999999"): ["0", "-1", "1.0", "1000000000", "*", "²"],
    ("customer", "customer 17850 already has 11"): ["99"],
    ("date", "a date is a day of 2010 or 2011"): [
        *("", "2009/12/31", "2012/1/1", "2011/2/29", "2010/012/1", "{2010/12/1}", "[2010/12/1]"),
        *("[2010/12/1;2010/12/1;2010/12/1]", "[2010/12/1;*]", "[", "[]", "[;]"),
    ],
    ("date", "a range starts with its smaller end"): ["[2010/12/3;2010/12/1]"],
    ("date", "the cell must contain the original date 2010/12/1"): ["[2010/12/2;2010/12/9]", "2010/12/2"],
    ("item", "the cell must contain the original item 71053"): ["", "85123A", "{85123A;22728}"],
    ("item", "a set of items in braces with one semicolon between two items"): [
        *("[71053;71053]", "{}", "{71053", "{;}", "{71053;}")
    ],
    ("item", "nothing does not"): ["{71053;nothing}"],
    ("item", "' 85123A' does not"): ["{71053; 85123A}"],
    ("item", "71053 occurs twice"): ["{71053;85123A;71053}"],
    ("price", "a price is a number from 0.01 to 99999.99 with at most two decimals"): [
        *("0", "0.00", "3.390", "3;39", "3.", ".39", "+3.39", "3.39e0", "100000", "nan", "[3.39;1e9]")
    ],
    ("price", "a range starts with its smaller end"): ["[4;3.39]"],
    ("price", "the cell must contain the original price 3.39"): ["[3.4;4]", "3.4"],
    ("quantity", "a quantity is a whole number from 1 to 999999"): ["0", "6.0", "06", "1000000", "[0;6]"],
    ("quantity", "a range starts with its smaller end"): ["[6;1]"],
    ("quantity", "the cell must contain the original quantity 6"): ["[7;9]", "7"],
}
"""Cells that break a rule, by their column and what the message says."""


@pytest.mark.parametrize(
    ("column", "cell", "rule"),
    [(column, cell, rule) for (column, rule), cells in BROKEN_CELLS.items() for cell in cells],
)
def test_a_broken_cell_is_named_with_its_rule(
    original: Path, tmp_path: Path, column: str, cell: str, rule: str
) -> None:
    report = check_release(original, written(tmp_path / "A.csv", changed(2, column, cell)))
    assert (report.valid, report.total) == (False, 1)
    problem = report.problems[0]
    assert problem.row == 2
    assert (problem.column, problem.value) == (column, cell)
    assert rule in problem.rule
    assert problem.cure


@pytest.mark.parametrize(
    ("row", "column", "cell"),
    [
        (2, "date", "[2010/1/1;2011/12/31]"),
        (2, "date", "[2010/12/01;2010/12/1]"),
        (2, "item", "{71053}"),
        (2, "item", "{22728;71053;22727}"),
        (2, "price", "[0.01;99999.99]"),
        (2, "price", "[3.39;3.39]"),
        (2, "quantity", "[1;999999]"),
        (6, "price", "0.4"),
        (6, "customer", "999999999"),
        (6, "customer", "17850"),
    ],
)
def test_a_sound_cell_is_accepted(original: Path, tmp_path: Path, row: int, column: str, cell: str) -> None:
    assert check_release(original, written(tmp_path / "A.csv", changed(row, column, cell))).valid


def test_sets_end_at_a_hundred_and_rows_at_eight_thousand(tmp_path: Path) -> None:
    t = "".join(f"1,2010/12/1,{10_000 + i},1,1\n" for i in range(101))
    original = written(tmp_path / "T.csv", t)
    items = [str(10_000 + i) for i in range(101)]
    lines = ["1,2010/12/1,{" + ";".join(items[:100]) + "},1,1", *t.splitlines()[1:]]
    assert check_release(original, written(tmp_path / "A.csv", "\n".join(lines))).valid
    lines[0] = "1,2010/12/1,{" + ";".join(items) + "},1,1"
    report = check_release(original, written(tmp_path / "A.csv", "\n".join(lines)))
    assert places(report) == [(1, "item")]
    assert report.problems[0].rule == "a set has at most 100 items; this one has 101"
    for length, place in ((8_000, (1, "price")), (8_001, (1, None))):
        start = "1,2010/12/1,*,"
        lines[0] = start + "1" * (length - len(start) - 2) + ",1"
        assert len(lines[0]) == length
        report = check_release(original, written(tmp_path / "A.csv", "\n".join(lines)))
        assert places(report) == [place]


@pytest.mark.parametrize(
    ("content", "place", "rule"),
    [
        ("", (None, None), "the file has 0 rows, the original has 6"),
        ("\n".join(A.splitlines()[:-1]), (5, None), "the file has 5 rows, the original has 6"),
        (A + "\n", (7, None), "the file has 7 rows, the original has 6"),
        (A + "12,*,*,*,*\n" * 3, (7, None), "the file has 9 rows, the original has 6"),
        (A.replace("*,*,*,*,*", ""), (4, None), "this one has 0"),
        (A.replace("*,*,*,*,*", "*"), (4, None), "this one has 1"),
        (A.replace("*,*,*,*,*", "*,*,*,*,*,"), (4, None), "this one has 6"),
        (A.replace("\n", "\r"), (1, None), "carriage return"),
        (A.replace("*,*,*,*,*\n", "*,*,*,*,*\r\r\n"), (4, None), "carriage return"),
        (A.replace("*,*,*,*,*", "*,*,*,*\r,*"), (4, None), "carriage return"),
        (A.removesuffix("\n") + "\r", (6, None), "carriage return"),
    ],
)
def test_a_broken_row_is_named(
    original: Path, tmp_path: Path, content: str, place: tuple[int | None, None], rule: str
) -> None:
    report = check_release(original, written(tmp_path / "A.csv", content))
    assert (places(report), report.total) == ([place], 1)
    assert rule in report.problems[0].rule
    assert report.problems[0].cure


def test_a_shared_pseudonym_is_held_against_who_came_second(original: Path, tmp_path: Path) -> None:
    """Rows of 17850 and 13047 carry 7: the second bearer's two rows are named, with whom it belongs to."""
    content = "7,*,*,*,*\n7,*,*,*,*\n7,*,*,*,*\n8,*,*,*,*\n7,*,*,*,*\n8,*,*,*,*\n"
    report = check_release(original, written(tmp_path / "A.csv", content))
    assert places(report) == [(3, "customer"), (5, "customer")]
    assert report.problems[0].rule == "a pseudonym belongs to one customer; 7 already belongs to customer 17850"
    assert report.problems[0].cure == "give customer 13047 another pseudonym"


def test_deleted_and_misshapen_rows_bind_no_pseudonym(original: Path, tmp_path: Path) -> None:
    content = "7,*,*,*,*\n*,*,*,*,*\n8,*,*,*,*\n8,*,*,*\n8,*,*,*,*\n9,*,*,*,*\n"
    assert places(check_release(original, written(tmp_path / "A.csv", content))) == [(4, None)]


def test_the_limit_bounds_what_is_told_and_not_what_is_counted(original: Path, tmp_path: Path) -> None:
    release = written(tmp_path / "A.csv", "x,x,x,x,x\n" * 6)
    report = check_release(original, release)
    assert (len(report.problems), report.total) == (20, 30)
    assert places(report)[:6] == [*((1, column) for column in COLUMNS), (2, "customer")]
    assert check_release(original, release, limit=3).problems == report.problems[:3]


def test_control_characters_stay_out_of_the_sentences(original: Path, tmp_path: Path) -> None:
    for cell in ("\x1b[2J", "{71053;\x1b[2J}", "\x00", "{\x00;71053}"):
        report = check_release(original, written(tmp_path / "A.csv", changed(2, "item", cell)))
        assert report.problems[0].value == cell
        assert report.problems[0].sentence("A.csv").isprintable()


# --- F' by hand -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "found"),
    [
        ("", []),
        ("11,17850\n12,13047\n13,12583\n", []),
        ("12,13047", []),
        ("11,17850\r\n12,17850\r\n", []),
        ("11,17850\r12,17850\r", []),  # the official reader takes CR alone for a line end here
        ("\n", [(1, None)]),
        ("11,17850\n\n", [(2, None)]),
        ("11, 17850\n", [(1, None)]),
        ("*,17850\n", [(1, None)]),
        ("11,17850,1\n", [(1, None)]),
        ("-11,17850\n", [(1, None)]),
        ("11,17850\x00\n", [(1, None)]),
        ("011,17850\n", [(1, "pseudonym")]),
        ("14,17850\n", [(1, "pseudonym")]),
        ("11,17851\n", [(1, "customer")]),
        ("14,17851\n", [(1, "pseudonym"), (1, "customer")]),
        ("11,17850\n12,13047\n11,13047\n", [(3, "pseudonym")]),
        ("14,17850\n14,17850\n", [(1, "pseudonym"), (2, "pseudonym"), (2, "pseudonym")]),
    ],
)
def test_a_guess(original: Path, tmp_path: Path, guess: str, found: list[tuple[int, str | None]]) -> None:
    lines = [line for line in A.splitlines() if not line.startswith("*")]
    published = written(tmp_path / "A1.csv", "\n".join(sorted(lines)))
    report = check_guess(original, published, written(tmp_path / "F1.csv", guess))
    assert (report.valid, places(report)) == (not found, found)
    # A itself, deleted rows included, knows the same pseudonyms.
    assert check_guess(original, written(tmp_path / "A.csv", A), tmp_path / "F1.csv") == report


def test_nothing_is_published_nothing_can_be_guessed(original: Path, tmp_path: Path) -> None:
    nothing = written(tmp_path / "A1.csv", "")
    assert check_guess(original, nothing, nothing).valid
    assert places(check_guess(original, nothing, written(tmp_path / "F1.csv", "11,17850"))) == [(1, "pseudonym")]


# --- a row-by-row twin ------------------------------------------------------------------------------------------------
# The same rules written as one plain loop over rows: slow, short, and independent of the columns' arithmetic.


def day(text: str) -> int | None:
    if not re.fullmatch(r"201[01]/[0-9]{1,2}/[0-9]{1,2}", text, re.ASCII):
        return None
    try:
        return datetime.date(*map(int, text.split("/"))).toordinal()
    except ValueError:
        return None


def cents(text: str) -> int | None:
    if not re.fullmatch(r"(0|[1-9][0-9]{0,4})(\.[0-9]{1,2})?", text):
        return None
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0")) or None


def count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,5}", text) else None


def broken_range(cell: str, original: str, read: Any) -> bool:
    ends = cell[1:-1].split(";") if cell.startswith("[") and cell.endswith("]") else [cell, cell]
    values = [read(end) for end in ends]
    return len(values) != 2 or None in values or not values[0] <= read(original) <= values[1]


def broken_item(cell: str, original: str, items: set[str]) -> bool:
    if len(cell) > 2 and cell[0] == "{" and cell[-1] == "}" and cell != original:
        members = cell[1:-1].split(";")
        known = set(members) <= items and original in members
        return not known or len(members) > 100 or len(set(members)) < len(members)
    return cell != original


def twin(t: str, a: bytes) -> Iterator[tuple[int, str | None]]:
    originals = [line.split(",") for line in t.splitlines()]
    items = {cells[2] for cells in originals}
    lines = a.replace(b"\r\n", b"\n").decode("latin-1").split("\n")
    if lines[-1] == "":
        lines.pop()
    name_of: dict[str, str] = {}
    bearer_of: dict[str, str] = {}
    for row, (line, true) in enumerate(zip(lines, originals, strict=False), 1):
        if "\r" in line or len(line) > 8_000 or line.count(",") != 4:
            yield row, None
        elif line != "*,*,*,*,*":
            customer, date, item, price, quantity = line.split(",")
            if not re.fullmatch(r"[1-9][0-9]{0,8}", customer):
                yield row, "customer"
            elif true[0] not in name_of and customer not in bearer_of:
                name_of[true[0]], bearer_of[customer] = customer, true[0]
            elif name_of.get(true[0]) != customer:
                yield row, "customer"
            if date != "*" and broken_range(date, true[1], day):
                yield row, "date"
            if item != "*" and broken_item(item, true[2], items):
                yield row, "item"
            if price != "*" and broken_range(price, true[3], cents):
                yield row, "price"
            if quantity != "*" and broken_range(quantity, true[4], count):
                yield row, "quantity"
    if len(lines) > len(originals):
        yield len(originals) + 1, None
    elif len(lines) < len(originals) and not any("\r" in line for line in lines):
        yield len(lines), None


def agree(original: Path, path: Path, content: bytes) -> bool:
    report = check_release(original, written(path, content), limit=1_000)
    found = [(problem.row or 0, problem.column) for problem in report.problems]
    expected = sorted(twin(T, content), key=lambda p: (p[0], COLUMNS.index(p[1]) + 1 if p[1] else 0))
    assert sorted(found, key=str) == sorted(expected, key=str), content
    assert report.total == len(expected)
    return report.valid


CELLS = [
    *(
        "*",
        "",
        "[",
        "]",
        "[]",
        "{}",
        "{",
        "[;]",
        "11",
        "12",
        "13",
        "17850",
        "13047",
        "0",
        "01",
        "6",
        "8",
        "[1;9]",
        "[9;1]",
    ),
    *("[6;6]", "[6;24]", "2.55", "3.39", "3.4", "[2.55;3.39]", "[0.4;99999.99]", "[3;2]", "2010/12/1", "2010/12/01"),
    *("[2010/12/1;2011/12/31]", "[2010/1/1;2011/12/31]", "2011/2/30", "85123A", "71053", "22727", "{71053;85123A}"),
    *("{71053;22727;22728;84406B;85123A}", "{71053;71053}", "{71053;}", "{x;71053}", "é", "\x00", '"', "\r", " "),
]
WIDEST = ["", "[2010/1/1;2011/12/31]", "{71053;22727;22728;84406B;85123A}", "[0.01;99999.99]", "[1;999999]"]
LINES = [*A.splitlines(), *T.splitlines(), "", "*,*,*,*,*", "*", ",,,,", ",,,,,", "customer,date,item"]


def mutate(rng: random.Random) -> bytes:
    """Return A after a few accidents: cells and lines exchanged, bytes flipped, cut, doubled or thrown in."""
    lines = (A if rng.random() < 0.8 else T).splitlines()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines)) if lines else 0
        match rng.randrange(12):
            case 0 | 1 | 2 if lines:
                cells = lines[at].split(",")
                cells[rng.randrange(len(cells))] = rng.choice(CELLS)
                lines[at] = ",".join(cells)
            case 6 | 7 | 8 | 9 | 10 | 11 if lines and lines[at].count(",") == 4 and lines[at][0] != "*":
                cells = lines[at].split(",")
                column = rng.randrange(1, 5)
                cells[column] = rng.choice(["*", T.splitlines()[at % 6].split(",")[column], WIDEST[column]])
                lines[at] = ",".join(cells)
            case 3 if lines:
                lines[at] = rng.choice(LINES)
            case 4:
                lines.insert(at, rng.choice(LINES))
            case 5 if lines:
                del lines[at]
    content = bytearray("\n".join(lines).encode("latin-1") + rng.choice([b"", b"\n", b"\r\n", b"\r"]))
    for _ in range(rng.choice([0, 0, 0, 0, 1, 2])):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(4):
            case 0:
                content[at:at] = bytes([rng.randrange(256)])
            case 1:
                content[at : at + 1] = rng.choice([b"\x00", b"\xff", b"\r", b"\n", b",", b";", b"[", b"]", b"*", b""])
            case 2:
                del content[at:]
            case 3:
                content += content[at:]
    return bytes(content)


@pytest.mark.slow
def test_damaged_releases_are_judged_as_row_by_row(original: Path, tmp_path: Path) -> None:
    rng = random.Random(20180910)
    valid = sum(agree(original, tmp_path / "A.csv", mutate(rng)) for _ in range(600))
    assert 60 < valid < 300  # both answers were put to the test


def test_damaged_guesses_are_judged_as_row_by_row(original: Path, tmp_path: Path) -> None:
    rng = random.Random(20180911)
    published = written(tmp_path / "A1.csv", A)
    pieces = ["11,17850\n", "12,13047\n", "13,12583\r\n", "13,17850\n", "14,12583\n", "11,1\n", "\n", "*,", "é", "\x00"]
    verdicts = []
    for _ in range(400):
        content = "".join(rng.sample(pieces, rng.randint(0, 3))).encode("latin-1")
        if rng.random() < 0.3:
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.choice([b"\r", b"\n", b"0", b",", b"\xff", b" "]) + content[at:]
        lines = re.split(r"\r\n|\r|\n", content.decode("latin-1"))
        if lines[-1] == "":
            lines.pop()
        expected: list[tuple[int, str | None]] = []
        seen = set()
        for row, line in enumerate(lines, 1):
            if not re.fullmatch("[0-9]+,[0-9]+", line):
                expected.append((row, None))
                continue
            pseudonym, customer = line.split(",")
            expected += [(row, "pseudonym")] * ((pseudonym not in {"11", "12", "13"}) + (pseudonym in seen))
            expected += [(row, "customer")] * (customer not in {"17850", "13047", "12583"})
            seen.add(pseudonym)
        report = check_guess(original, published, written(tmp_path / "F1.csv", content))
        assert places(report) == expected, content
        verdicts.append(report.valid)
    assert 60 < sum(verdicts) < 300


@examples(100)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from([*CELLS, ",", "\n"])).map(lambda parts: "".join(parts).encode("latin-1")),
    )
)
def test_any_bytes_get_a_report(original: Path, tmp_path: Path, content: bytes) -> None:
    assume(not content.startswith(b"\x1f\x8b"))  # told as a damaged gzip file
    agree(original, tmp_path / "A.csv", content)
    published, guess = written(tmp_path / "A1.csv", content), written(tmp_path / "F1.csv", content)
    assert isinstance(check_guess(original, written(tmp_path / "A.csv", A), guess), Report)
    assert isinstance(check_guess(original, published, guess), Report)
    with contextlib.suppress(NorenError):  # as an original, most of it is no table
        assert isinstance(check_release(guess, original), Report)


@pytest.mark.parametrize("content", [b"," * 2_000_000, b"\n" * 500_000, b"[" * 2_000_000, b"{a" + b";a" * 1_000_000])
def test_endless_lines_and_endless_files(original: Path, tmp_path: Path, content: bytes) -> None:
    """Linear work: any quadratic step would take hours here."""
    path = written(tmp_path / "A.csv", content)
    assert not check_release(original, path).valid
    assert not check_guess(original, path, path).valid
