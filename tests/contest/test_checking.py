"""Every way in which a file can be wrong has its problem, with row, column, value and cure; never a traceback."""

import gzip
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.contest.judging_cases import LABEL, METHODS, SALT, Case, made, rulebook

import noren.api as api
from noren.cli.contest.playing import submission_file
from noren.contest.judging.checking import check_guess, check_release, translated_report
from noren.contest.judging.prepared import LARGEST, make_target
from noren.contest.judging.scoring import score_guess, score_release
from noren.data import checks
from noren.data.checks.report import Report
from noren.data.reading import write
from noren.data.release import submission_of
from noren.errors import InputError, Problem, SchemaError
from noren.i18n import LANGUAGES, use_language

FORMATS = sorted(METHODS)
HISTORIES = [name for name in FORMATS if name != "table"]
OWN = ["custom", "pwscup2016"]


def rules(report: Report) -> list[tuple[int | None, str | None, str]]:
    return [(problem.row, problem.column, problem.rule) for problem in report.problems]


def changed(case: Case, row: int, column: str, value: str) -> Path:
    """The submitted file with one cell changed; ``row`` is a line, from 1."""
    lines = [line.split(",") for line in case.lines]
    lines[row - 1][case.data.schema.names.index(column)] = value
    return case.with_lines([",".join(cells) for cells in lines])


def live_rows(case: Case) -> list[int]:
    """The lines of rows that are not deleted."""
    header = 0 if case.data.schema.official else 1
    return [n for n, line in enumerate(case.lines, 1) if n > header and line[:2] != "*," and line[:4] != "DEL,"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_noren_protects_is_valid(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    assert check_release(case.rulebook, case.original, case.submitted) == Report(
        valid=True, problems=(), total=0, warnings=()
    )


def test_customers_whose_names_are_as_our_pseudonyms(tmp_path: Path) -> None:
    """A shop that numbers its customers as we number pseudonyms; what we protect for it is no less valid."""
    data = api.sample(customers=30, rows=90, items=5, seed=1)
    numbers = {name: str(101 + n) for n, name in enumerate(data.customers)}
    data = replace(data, frame=data.frame.with_columns(pl.col("customer").replace_strict(numbers)))
    release = api.protect(data, "pseudonymize", seed=1)
    assert set(release.secret.pseudonyms["pseudonym"]) & set(numbers.values())
    original, submitted = tmp_path / "T.csv", tmp_path / "A.csv"
    write(data, original)
    submitted.write_bytes(submission_of(release))
    assert check_release(rulebook("custom"), original, submitted).valid


@pytest.mark.parametrize("name", ["pwscup2017", "pwscup2018"])
def test_the_cups_checkers_have_the_last_word(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    wrong = changed(case, live_rows(case)[0], "item", "no such item")
    ours = check_release(case.rulebook, case.original, wrong, limit=5)
    assert ours == checks.check_release(name, case.original, wrong, limit=5)
    assert not ours.valid


def test_what_the_checker_of_2017_accepts_can_be_judged(tmp_path: Path) -> None:
    """Blank lines, quotes, a byte order mark, a price of 0 and missing rows at the end are no reason to refuse."""
    case = made("pwscup2017", tmp_path)
    rows = live_rows(case)
    lines = changed(case, rows[0], "price", "0").read_text().splitlines()
    lines[rows[1] - 1] = ",".join(f'"{cell}"' for cell in lines[rows[1] - 1].split(","))
    odd = case.with_lines(["\ufeff" + lines[0], "", *lines[1:-3]])
    report = check_release(case.rulebook, case.original, odd)
    assert report.valid
    assert len(report.warnings) == 4
    judged = score_release(case.rulebook, case.original, odd)
    assert judged["valid"]
    assert set(judged["values"]) == {"e1", "e2", "e3", "e4", "e5", "e6"}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"\n\n\n",
        lambda content: gzip.compress(content)[:-20],
        lambda content: content[: len(content) // 2] + b"\xff\xfe\x81" + content[len(content) // 2 :],
        lambda content: content.replace(b",", b",\0", 1),
        lambda content: random.Random(1).randbytes(5_000),
        lambda content: content.replace(b",", b"", 40),
        lambda content: content[: len(content) // 2],
        lambda content: content + b"1,2,3\n",
        lambda content: b'"' + content,
        lambda content: b"PK\x03\x04" + content,
    ],
    ids=["empty", "blank", "cut gzip", "no UTF-8", "NUL", "noise", "ragged", "half", "longer", "open quote", "zip"],
)
def test_damaged_files_are_told_and_never_raise(name: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    case = made(name, tmp_path)
    broken = tmp_path / "broken.csv"
    broken.write_bytes(damage(case.submitted.read_bytes()))
    report = check_release(case.rulebook, case.original, broken)
    assert not report.valid
    assert report.total >= len(report.problems) >= 1
    assert all(problem.rule for problem in report.problems)
    target = tmp_path / "target.csv"
    target.write_bytes(make_target(case.rulebook, case.original, case.submitted, SALT, LABEL))
    check_guess(case.rulebook, case.original, target, broken)


def test_a_file_of_two_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path)
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(2**31)
    report = check_release(case.rulebook, case.original, large)
    assert rules(report) == [(None, None, f"the file decodes to more than {LARGEST:,} bytes")]


def test_a_gzip_of_a_valid_file_is_valid(tmp_path: Path) -> None:
    case = made("custom", tmp_path)
    packed = tmp_path / "A.csv.gz"
    packed.write_bytes(gzip.compress(case.submitted.read_bytes()))
    assert check_release(case.rulebook, case.original, packed).valid


@pytest.mark.parametrize("name", HISTORIES)
def test_another_row_order_is_refused(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    header = [] if case.data.schema.official else case.lines[:1]
    rows = case.lines[len(header) :]
    random.Random(2).shuffle(rows)
    report = check_release(case.rulebook, case.original, case.with_lines(header + rows))
    assert not report.valid
    assert report.total > 20 == len(report.problems)


@pytest.mark.parametrize("name", OWN)
def test_one_wrong_cell_is_one_problem(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    row = live_rows(case)[5]
    for column, value, rule in [
        ("item", "NO SUCH", "the value must occur in this column of the original"),
        ("date", "2011/2/30", "this is not a valid date written as YYYY/MM/DD"),
        ("price", "cheap", "this is not a finite number"),
        ("price", "-3", "the value must be ≥ 0.01"),
        ("quantity", "1.5", "this is not a whole number"),
        ("customer", "", "the cell is empty"),
        ("customer", str(case.data.frame["customer"][0]), "a pseudonym must not be a customer of the original"),
    ]:
        report = check_release(case.rulebook, case.original, changed(case, row, column, value))
        assert (row, column, rule) in rules(report), (column, value, rules(report))
        assert report.total == 1
        assert report.problems[0].value == value
        assert report.problems[0].cure


def test_sets_and_ranges_of_any_history(tmp_path: Path) -> None:
    case = made("custom", tmp_path)
    row = live_rows(case)[5]
    items = case.data.frame["item"].unique().sort()
    header, *rows = case.lines
    cells = rows[row - 2].split(",")
    names = list(case.data.schema.names)

    def told(column: str, value: str) -> list[str]:
        one = [*cells]
        one[names.index(column)] = value
        lines = [header, *rows[: row - 2], ",".join(one), *rows[row - 1 :]]
        return [
            problem.rule for problem in check_release(case.rulebook, case.original, case.with_lines(lines)).problems
        ]

    assert told("item", f"{{{items[0]};{items[1]}}}") == []
    assert told("item", f"{{{items[0]};NO}}") == ["the value must occur in this column of the original"]
    assert told("item", f"{{{items[0]};{items[0]}}}") == ["a set lists different values, none of them empty"]
    assert told("item", "{}") == ["a set lists different values, none of them empty"]
    assert told("price", "[1;2.5]") == told("price", "*") == told("price", "") == []
    assert told("price", "[2.5;1]") == ["a range starts with its smaller end"]
    assert told("price", "[1;]") == ["this is not a finite number"]
    assert told("price", "[0;2]") == ["the value must be ≥ 0.01"]


@pytest.mark.parametrize("name", OWN)
def test_pseudonyms_are_one_to_one(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    first, *_rest, last = [
        row for row in live_rows(case) if row <= len(case.data) + (0 if case.data.schema.official else 1)
    ]
    given = case.lines[last - 1].split(",")[0]
    other = case.lines[first - 1].split(",")[0]
    assert given != other
    two_names = rules(check_release(case.rulebook, case.original, changed(case, last, "customer", "new")))
    assert [(row, column) for row, column, _rule in two_names] == [(last, "customer")]
    assert "a customer has one pseudonym in all rows" in two_names[0][2]
    shared = rules(check_release(case.rulebook, case.original, changed(case, last, "customer", other)))
    assert (last, "customer") in [(row, column) for row, column, _rule in shared]


def test_rows_that_are_missing_or_too_many(tmp_path: Path) -> None:
    case = made("custom", tmp_path)
    count = len(case.data)
    less = check_release(case.rulebook, case.original, case.with_lines(case.lines[:-1]))
    assert rules(less) == [(count, None, f"the file has {count - 1} rows, the original has {count}")]
    row = case.lines[live_rows(case)[-1] - 1]
    more = check_release(case.rulebook, case.original, case.with_lines([*case.lines, row]))
    assert rules(more) == [(count + 2, None, f"the file has {count + 1} rows, the original has {count}")]
    assert "inserted rows are not allowed" in more.problems[0].cure


def test_inserted_rows_where_the_rules_allow_them(tmp_path: Path) -> None:
    case = made("pwscup2016", tmp_path)
    row = case.lines[live_rows(case)[-1] - 1]
    assert check_release(case.rulebook, case.original, case.with_lines([*case.lines, row])).valid
    stranger = ",".join(["nobody", *row.split(",")[1:]])
    report = check_release(case.rulebook, case.original, case.with_lines([*case.lines, stranger, "DEL,,,,,,"]))
    at = len(case.lines) + 1
    assert rules(report) == [
        (at, "customer", "an inserted row must have the pseudonym of a customer with rows"),
        (at + 1, None, "there are deleted rows after the last row of the original"),
    ]


def test_exact_values_where_the_rules_want_them(tmp_path: Path) -> None:
    case = made("pwscup2016", tmp_path)
    row = live_rows(case)[0]
    for value, rule in [("[1;2]", "this is not a finite number"), ("*", "the value is missing")]:
        report = check_release(case.rulebook, case.original, changed(case, row, "price", value))
        assert rules(report) == [(row, "price", rule)]
    half = check_release(case.rulebook, case.original, changed(case, row, "customer", "DEL"))
    assert rules(half) == [(row, "customer", "a row without a pseudonym is deleted and must have no values")]


def test_columns_of_a_table(tmp_path: Path) -> None:
    case = made("table", tmp_path)
    rows = pl.read_csv(case.submitted, infer_schema=False)

    def told(frame: pl.DataFrame) -> list[tuple[str | None, str]]:
        path = tmp_path / "table.csv"
        frame.write_csv(path)
        report = check_release(case.rulebook, case.original, path)
        return [(problem.column, problem.rule) for problem in report.problems]

    assert told(rows.drop("name", strict=False)) == []
    assert told(rows.drop("city")) == [(None, "the file has no column 'city'")]
    assert told(rows.with_columns(secret=pl.lit("x"))) == [("secret", "the original has no such column")]
    assert told(rows.with_columns(city=pl.lit("Rome")))[0] == (
        "city",
        "the value must occur in this column of the original",
    )
    assert told(rows.with_columns(age=pl.lit("*"), city=pl.lit("*"))) == []


# --- guesses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "pwscup2017"])
def test_guesses(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    target = tmp_path / "target.csv"
    target.write_bytes(make_target(case.rulebook, case.original, case.submitted, SALT, LABEL))
    rows = target.read_text().splitlines()[0 if case.data.schema.official else 1 :]
    pseudonym = "1" if name == "table" else rows[0].split(",")[0]
    person = "1" if name == "table" else str(case.data.frame["customer"][0])

    def told(*lines: str) -> list[int | None]:
        path = case.with_lines(list(lines), "guess.csv")
        report = check_guess(case.rulebook, case.original, target, path)
        judged = score_guess(case.rulebook, case.original, case.submitted, SALT, LABEL, path)
        assert judged["valid"] == report.valid
        assert judged["report"]["en"]["total"] == report.total
        return [problem.row for problem in report.problems]

    fine = f"{pseudonym},{person}"
    assert told(fine) == []
    assert told() == []
    assert told(fine, fine) == [2]
    assert told(f"99999999,{person}") == [1]
    assert told(f"{pseudonym},99999999") == [1]
    assert told(pseudonym) == [1]
    assert told("pseudonym,customer", fine)[:1] == [1]


def test_a_customers_name_may_hold_a_comma(tmp_path: Path) -> None:
    data = api.sample(customers=6, rows=60, items=5, seed=1)
    data = replace(data, frame=data.frame.with_columns(customer=pl.lit("Smith, ") + pl.col("customer")))
    original, submitted, target, guess = (tmp_path / name for name in ("T.csv", "A.csv", "target.csv", "guess.csv"))
    write(data, original)
    submitted.write_bytes(submission_of(api.protect(data, "pseudonymize", seed=1)))
    book = rulebook("custom")
    target.write_bytes(make_target(book, original, submitted, SALT, LABEL))
    pseudonym, customer = pl.read_csv(target, infer_schema=False)["customer"][0], data.frame["customer"][0]
    for text in (f"{pseudonym},{customer}\n", f'{pseudonym},"{customer}"\n'):
        guess.write_text(text)
        assert check_guess(book, original, target, guess).valid


def test_a_guess_of_2017_has_a_row_for_each_customer(tmp_path: Path) -> None:
    case = made("pwscup2017", tmp_path)
    customers = sorted(case.data.frame["customer"].unique())
    rows = [",".join([customer, *["DEL"] * 12]) for customer in customers]
    target = tmp_path / "target.csv"
    target.write_bytes(make_target(case.rulebook, case.original, case.submitted, SALT, LABEL))

    def report(lines: list[str]) -> Report:
        return check_guess(case.rulebook, case.original, target, case.with_lines(lines, "guess.csv"))

    assert report(rows).valid
    assert report(rows[1:]).total == 1
    assert not report([rows[1], rows[0], *rows[2:]]).valid


# --- languages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_log_keeps_does_not_depend_on_the_judges_language(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    lines = case.lines[: len(case.lines) // 2]
    lines[3] = lines[3].replace(",", ",x", 2)
    broken = case.with_lines(lines)
    kept = []
    for language in LANGUAGES:
        with use_language(language):
            kept.append(score_release(case.rulebook, case.original, broken)["report"])
    assert kept[0] == kept[1]
    for language in LANGUAGES:
        with use_language(language):
            alone = check_release(case.rulebook, case.original, broken)
        assert [p["rule"] for p in kept[0][language]["problems"]] == [p.rule for p in alone.problems]
        assert [p["cure"] for p in kept[0][language]["problems"]] == [p.cure for p in alone.problems]


def test_the_log_keeps_no_long_values() -> None:
    report = Report(
        valid=False, problems=(Problem(1, "item", "x" * 900 + "\x1b", "r", "c"),) * 30, total=30, warnings=()
    )
    told = translated_report(report)["en"]
    assert told["total"] == 30
    assert len(told["problems"]) == 20
    assert told["problems"][0]["value"] == "x" * 200 + "…"


# --- whose fault -----------------------------------------------------------------------------------------------------


def test_an_original_that_cannot_be_read_is_not_the_teams_fault(tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path)
    case.original.write_text("nonsense\n")
    with pytest.raises(InputError):
        check_release(case.rulebook, case.original, case.submitted)


def test_data_of_another_kind_than_the_rulebooks_stop(tmp_path: Path) -> None:
    case = made("custom", tmp_path)
    book = rulebook("table").model_copy(update={"data_schema": "sample"})
    with pytest.raises(SchemaError, match="data of the kind table, and these are of the kind history"):
        check_release(book, case.original, case.submitted)


@pytest.mark.parametrize("name", ["custom", "table"])
def test_a_release_can_be_a_parquet_file_where_there_is_no_official_format(name: str, tmp_path: Path) -> None:
    """The same cells as a CSV file, Parquet, the folder's own file for contests, or its public part."""
    case = made(name, tmp_path)
    values = score_release(case.rulebook, case.original, case.submitted)
    for typed in (False, True):
        cells = pl.read_csv(case.submitted, infer_schema=typed, null_values=["*"] if typed else None)
        cells.write_parquet(tmp_path / "A.parquet")
        assert score_release(case.rulebook, case.original, tmp_path / "A.parquet") == values
    folder = case.release.save(tmp_path / "mine", official=True)
    assert (folder / "secret" / "A.csv").read_bytes() == case.submitted.read_bytes()
    for submitted in (folder, folder / "public.parquet"):
        with submission_file(submitted) as file:
            assert file.read_bytes() == case.submitted.read_bytes()
    report = check_release(case.rulebook, case.original, folder / "public.parquet")  # by a browser, without the folder
    assert report.problems[0].rule.startswith("this is the public part of a release")


def test_whole_numbers_with_gaps_are_whole_numbers(tmp_path: Path) -> None:
    """As pandas writes them: 31.0 and nothing for 31 and a suppressed cell."""
    case = made("table", tmp_path)
    cells = case.data.frame.drop("name").with_columns(age=pl.Series([None, *map(float, case.data.frame["age"][1:])]))
    cells.write_parquet(tmp_path / "A.parquet")
    assert check_release(case.rulebook, case.original, tmp_path / "A.parquet").valid
    nested = cells.with_columns(age=pl.concat_list("age"))
    nested.write_parquet(tmp_path / "nested.parquet")
    problem = check_release(case.rulebook, case.original, tmp_path / "nested.parquet").problems[0]
    assert (problem.column, problem.rule) == ("age", "the column holds lists or structures")


@pytest.mark.parametrize(
    ("name", "rule"), [("pwscup2018", "this is not a text file"), ("custom", "this is not a readable Parquet file")]
)
def test_a_file_that_is_no_text_is_told_once(name: str, rule: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    wrong = tmp_path / "A.csv"
    wrong.write_bytes(b"PAR1" + bytes(range(256)) * 4)
    report = check_release(case.rulebook, case.original, wrong)
    assert report.total == 1
    assert rule in report.problems[0].rule
