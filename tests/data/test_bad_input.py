"""Everything a file can do wrong, and what a person is told: one line, with the place, the rule and the cure."""

from __future__ import annotations

import datetime as dt
import gzip
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from noren.data.contest_files import read_master, read_months, read_pairs, read_rows
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import convert, read, read_release
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import FileError, FormatError, InputError, NorenError, ParameterError, SchemaError, ValueInCellError

SHOP = Schema.of({"columns": {role: {"role": role} for role in ("customer", "date", "item", "price", "quantity")}})
HEADER = b"customer,date,item,price,quantity\n"
ROW = b"a,2010/12/1,x,1.5,2\n"

Content = bytes | Callable[[Path], object]
Reader = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A bad file, who reads it, and what the message must say."""

    content: Content
    kind: type[NorenError]
    says: tuple[str, ...]
    reader: Reader
    name: str


def case(
    content: Content, kind: type[NorenError], *says: str, by: Reader | None = None, name: str = "shop.csv"
) -> Case:
    return Case(content, kind, says, by or (lambda path: read(path, SHOP)), name)


def value(row: bytes, column: str, shown: str, *says: str) -> Case:
    """A purchase with a bad value, in a CSV file."""
    return case(HEADER + ROW + row + b"\n", ValueInCellError, "row 3", f"column {column}", f"'{shown}'", *says)


def typed(column: str, values: object, row: int, shown: str, *says: str) -> Case:
    """Two purchases with a bad value, in a Parquet file."""
    usual = {"customer": ["a", "b"], "date": [dt.date(2010, 12, 1)] * 2, "item": ["x", "y"], "price": [1.0, 2.0]}
    content = parquet(**(usual | {"quantity": [1, 2], column: values}))
    says = (f"row {row}", f"column {column}", f"'{shown}'", *says)
    return case(content, ValueInCellError, *says, name="shop.parquet")


def cell(row: bytes, column: str, shown: str, *says: str) -> Case:
    """A released row of 2018 with a bad cell."""
    return official(ROW + row + b"\n", ValueInCellError, "row 2", f"column {column}", f"'{shown}'", *says)


def official(content: bytes, kind: type[NorenError], *says: str, year: int = 2018) -> Case:
    return case(content, kind, *says, by=lambda path: read_rows(path, Schema.preset(f"pwscup{year}")))


def schema(text: str, *says: str) -> Case:
    return case(text.encode(), SchemaError, *says, by=Schema.load, name="schema.toml")


def column(about: str, *says: str) -> Case:
    """A schema of a history with one column more."""
    return schema(f"{HISTORY}p = {{ {about} }}", "column p", *says)


def table(content: Content, kind: type[NorenError], columns: dict[str, object], *says: str) -> Case:
    return case(content, kind, *says, by=lambda path: read(path, Schema.of({"kind": "table", "columns": columns})))


HISTORY = "[columns]\n" + "".join(f'{role} = {{ role = "{role}" }}\n' for role in ("customer", "date", "item"))


def sheet(*rows: tuple[object, ...]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with xlsxwriter.Workbook(str(path)) as book:
            page = book.add_worksheet()
            for i, row in enumerate(rows):
                page.write_row(i, 0, row)

    return write


def parquet(**columns: object) -> Callable[[Path], None]:
    return lambda path: pl.DataFrame(columns, strict=False).write_parquet(path)


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a", "<a/>")


def encoded(encoding: str) -> Reader:
    layout = SHOP.text.model_copy(update={"encoding": encoding})
    return lambda path: read(path, SHOP.model_copy(update={"text": layout}))


def into(name: str) -> Reader:
    return lambda path: convert(path, path.with_name(name), SHOP)


def against_two_rows(path: Path) -> object:
    original = path.with_name("T.csv")
    original.write_bytes(ROW * 2)
    return read_release(path, read_rows(original, Schema.preset("pwscup2018")))


FILES = {
    "empty file": case(b"", FileError, "the file is empty; give a file with at least one row"),
    "empty file, guessed": case(b"", FileError, "the file is empty", by=guess_schema),
    "blank lines only": case(b"\n\n\n", FileError, "no rows"),
    "byte order mark only": case(b"\xef\xbb\xbf", FileError, "no rows"),
    "header only": case(HEADER, FileError, "the file has no rows; give a file with at least one row"),
    "header without line end": case(HEADER.strip(), FileError, "the file has no rows"),
    "no file": case(lambda path: None, FileError, "there is no such file; check the path"),
    "a folder": case(lambda path: path.mkdir(), FileError, "this is a folder; name a file in it"),
    "half a character of utf-16": case(
        (HEADER + ROW).decode().encode("utf-16")[:-1],
        FormatError,
        "row 2: the bytes are not UTF-16; set the right encoding, or save the file as UTF-8",
    ),
    "utf-16 without mark": case(
        (HEADER + ROW).decode().encode("utf-16-be"), FormatError, "row 1", "byte 1 is a NUL byte"
    ),
    "nul byte": case(HEADER + ROW + b"a\0b,", FormatError, "row 3", "byte 56 is a NUL byte", "export it again"),
    "truncated gzip": case(gzip.compress(ROW * 500)[:-9], FileError, "damaged", "get it again", name="shop.csv.gz"),
    "broken gzip": case(b"\x1f\x8b\x08\x00" + b"\xff" * 30, FileError, "the compressed file is damaged"),
    "truncated parquet": case(b"PAR1" + b"\0" * 50, FileError, "not a readable Parquet file", "export it again"),
    "text named as a workbook": case(ROW, FileError, "not a readable Excel file", name="shop.xlsx"),
    "a zip archive": case(archive, FileError, "a zip archive", "name a workbook .xlsx", name="shop.zip"),
    "workbook without sheets": case(archive, FileError, "not a readable Excel file", name="shop.xlsx"),
    "empty sheet": case(sheet(), FileError, "the sheet Sheet1 has no rows", name="shop.xlsx"),
    "sheet with a header only": case(sheet(("a", "b")), FileError, "the sheet Sheet1 has no rows", name="shop.xlsx"),
    "parquet without rows": case(parquet(a=[]), FileError, "the file has no rows", name="shop.parquet"),
    "one endless line": case(
        b"x" * 9_000_000, FormatError, "row 1", "a row is longer than 8,388,608 bytes", "line end"
    ),
    "short row": case(HEADER + ROW + b"a,b\n", FormatError, "row 3", "'a,b'", "the row has 2 cells, the others 5"),
    "long row": case(HEADER + ROW * 3 + b"a,b,c,d,e,f\n", FormatError, "row 5", "'a,b,c,d,e,f'", "6 cells", "quotes"),
    "blank line in the middle": case(HEADER + ROW + b"\n" + ROW, FormatError, "row 3", "the line is empty; remove it"),
    "a title and a blank line above a short row": case(
        b"Sales\n\n" + HEADER + ROW + b"a,b\n", FormatError, "row 5", "'a,b'", "2 cells, the others 5"
    ),
    "open quote": case(HEADER + ROW + b'a,2010/12/1,"x,1,2\n' + ROW, FormatError, "row 3", "never closed", "close it"),
    "open quote at the end": case(HEADER + ROW + b'a,2010/12/1,x,1,"2\n', FormatError, "row 3", "never closed"),
    "open quote before a long text": case(HEADER + b'"' + ROW * 10_000, FormatError, "row 2", "never closed"),
    "field of a million characters": case(
        HEADER + b"a,2010/12/1," + b"x" * 1_000_000 + b",1,2\n",
        FormatError,
        *("row 2", "column 3", "'xxxx", "(1,000,000 characters)", "1,000,000 bytes, more than 100,000", "check for"),
    ),
    "not the encoding given": case(
        HEADER + ROW + b"\xe9,2010/12/1,x,1,2\n",
        FormatError,
        *("row 3", "'e9'", "the bytes are not UTF-8; set the right encoding"),
        by=encoded("utf-8"),
    ),
    "unknown encoding": case(HEADER, ParameterError, "'ebcdic' is not supported; use one of", by=encoded("EBCDIC")),
    "column without a name": table(
        b"a,,b\n1,2,3\n", SchemaError, {"a": {}, "b": {}}, "column column2", "add it to the"
    ),
    "column of a name that was there": table(b"a,a\n1,2\n", SchemaError, {"a": {}}, "column a_2", "add it to the"),
    "column without a name in a sheet": case(
        sheet(("customer", None), ("x", 2)), SchemaError, "no column 'date'", "customer, column2", name="shop.xlsx"
    ),
    "no such sheet": case(
        sheet(("a", "b"), (1, 2)),
        FileError,
        *("the workbook has no sheet 'x'", "its sheets are Sheet1"),
        by=lambda path: read(path, SHOP.model_copy(update={"text": SHOP.text.model_copy(update={"sheet": "x"})})),
        name="shop.xlsx",
    ),
    "web page named as a workbook": case(
        b"<html><table></table></html>",
        FileError,
        "this is XML, not an Excel workbook",
        "save it as .xlsx or CSV",
        name="shop.xls",
    ),
    "workbook with a password": case(
        b"\xd0\xcf\x11\xe0" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600,
        FileError,
        *("protected by a password", "save it without one"),
        name="shop.xlsx",
    ),
    "damaged old workbook": case(
        b"\xd0\xcf\x11\xe0" + b"\0" * 600, FileError, "not a readable Excel file", name="shop.xls"
    ),
    "column name of 300 characters": case(
        b"a" * 300 + b",b\n1,2\n", SchemaError, "'aaaa", "a column name has 1 to 200 characters", by=guess_schema
    ),
    "column that means many": case(b"^a$,b\n1,2\n", SchemaError, "'^a$'", "several columns", by=guess_schema),
    "missing column": case(
        b"customer,date,item\na,2010/12/1,x\n", SchemaError, "no column 'price'", "customer, date, item"
    ),
    "missing column in parquet": case(parquet(customer=["a"]), SchemaError, "no column 'date'", name="shop.parquet"),
    "missing column among thousands": case(
        ",".join(f"c{i}" for i in range(3000)).encode() + b"\n" + b"1," * 2999 + b"1\n",
        SchemaError,
        *("no column 'customer'", "c18, c19 and 2,980 more"),
    ),
    "unknown column of a table": table(
        b"a,b\n1,2\n", SchemaError, {"a": {}}, "column b", "does not describe this column"
    ),
    "unknown column of a table in parquet": case(
        parquet(a=["1"], b=["2"]),
        SchemaError,
        *("column b", "does not describe this column"),
        by=lambda path: read(path, Schema.of({"kind": "table", "columns": {"a": {}}})),
        name="shop.parquet",
    ),
}
VALUES = {
    "mixed date formats": value(
        b"a,12/31/2010,x,1,2", "date", "12/31/2010", "YYYY/MM/DD or YYYY-MM-DD", "in the same way"
    ),
    "day out of the calendar": value(b"a,2011/2/29,x,1,2", "date", "2011/2/29", "not a valid date"),
    "year before the first": value(b"a,-2010/12/1,x,1,2", "date", "-2010/12/1", "not a valid date"),
    "year of five digits": value(b"a,+12010/12/1,x,1,2", "date", "+12010/12/1", "not a valid date"),
    "number with a gap": value(b"a,2010/12/1,x,1 000,2", "price", "1 000", "write it like 2.10"),
    "full-width digits": value("a,2010/12/1,x,１,2".encode(), "price", "１", "not a finite number"),
    "not a number": value(b"a,2010/12/1,x,NaN,2", "price", "NaN", "not a finite number"),
    "infinite": value(b"a,2010/12/1,x,1e999,2", "price", "inf", "this is not a finite number", "write it like 2.10"),
    "half a piece": value(b"a,2010/12/1,x,1,1.5", "quantity", "1.5", "not a whole number; write it like 12"),
    "19 digits": value(b"a,2010/12/1,x,1," + b"9" * 19, "quantity", "9" * 19, "not a whole number"),
    "missing value": value(b"a,2010/12/1,,1,2", "item", "", "the value is missing", "optional = true"),
    "a control character": value(b"a,\x1b[31mred,x,1,2", "date", r"\x1b[31mred", "not a valid date"),
    "a line end in a value": value(b'a,"20\n10",x,1,2', "date", r"20\n10", "not a valid date"),
    "a line end in a column name": table(
        b'"da\nte",b\nx,y\n', ValueInCellError, {"da\nte": {"type": "date"}, "b": {}}, "row 2", r"column da\nte", "'x'"
    ),
    "outside its domain": table(
        b"sex\nf\nx\n", ValueInCellError, {"sex": {"domain": ["f", "m"]}}, "row 3", "column sex", "'x'", "(2 values)"
    ),
    "above its maximum": table(
        b"age\n200\n", ValueInCellError, {"age": {"type": "integer", "maximum": 120}}, "row 2", "'200'", "must be ≤ 120"
    ),
    "before its minimum": table(
        b"born\n1899/12/31\n",
        ValueInCellError,
        {"born": {"type": "date", "minimum": dt.date(1900, 1, 1)}},
        *("row 2", "column born", "'1899-12-31'", "must be ≥ 1900-01-01", "change the bounds"),
    ),
    "not a number in parquet": typed("price", [1.0, float("nan")], 2, "nan", "this is not a finite number"),
    "infinite in parquet": typed("price", [float("-inf"), 1.0], 1, "-inf", "this is not a finite number"),
    "missing as pandas writes it": typed("quantity", [1.0, float("nan")], 2, "", "the value is missing"),
    "half a piece in parquet": typed("quantity", [1.0, 1.5], 2, "1.5", "not a whole number"),
    "half a piece as a decimal": typed("quantity", pl.Series(["1.5", "2"]).cast(pl.Decimal(5, 1)), 1, "1.5", "whole"),
    "a moment where a day belongs": typed("date", [dt.datetime(2010, 12, 1, 8, 45)] * 2, 1, "2010-12-01 08:45:00"),
    "a number where a day belongs": typed("date", [20101201, 20101202], 1, "20101201", "not a valid date"),
    "a day where a number belongs": typed("price", [dt.date(2010, 12, 1)] * 2, 1, "2010-12-01", "not a finite number"),
    "a day no calendar has": typed("date", pl.Series([0, 2**31 - 1]).cast(pl.Int32).cast(pl.Date), 2, "2147483647"),
    "a list where a text belongs": typed("item", [["x"], ["y"]], 1, "List(String)", "neither a text nor a number"),
    "a span of time where a text belongs": typed(
        "item", [dt.timedelta(1)] * 2, 1, "1 day, 0:00:00", "neither a text nor a number"
    ),
}
OFFICIAL = {
    "reversed range of days": cell(
        b"1,[2010/12/4;2010/12/1],x,1,2", "date", "[2010/12/4;2010/12/1]", "a range starts with its smaller end"
    ),
    "reversed range of prices": cell(
        b"1,2010/12/1,x,[2.11;2.10],2", "price", "[2.11;2.10]", "a range starts with its smaller end"
    ),
    "reversed range of quantities": cell(
        b"1,2010/12/1,x,1,[4;2]", "quantity", "[4;2]", "a range starts with its smaller end"
    ),
    "range without an end": cell(b"1,2010/12/1,x,1,[4;]", "quantity", "[4;]", "missing", "a range like [a;b]"),
    "range with three ends": cell(b"1,2010/12/1,x,1,[4;5;6]", "quantity", "[4;5;6]", "not a whole number"),
    "range of items": cell(b"1,2010/12/1,[x;y],1,2", "item", "[x;y]", "a set like {a;b}"),
    "empty set": cell(b"1,2010/12/1,{},1,2", "item", "{}", "none of them empty"),
    "set that names an item twice": cell(b"1,2010/12/1,{x;x},1,2", "item", "{x;x}", "different values"),
    "set never closed": cell(b"1,2010/12/1,{x;y,1,2", "item", "{x;y", "a set like {a;b}"),
    "set without braces": cell(b"1,2010/12/1,x;y,1,2\n1,2010/12/1,*,1,2", "item", "x;y", "a set like {a;b}"),
    "negative price": cell(b"a,2010/12/1,x,-1.5,2", "price", "-1.5", "must be ≥ 0.01"),
    "price off its grid": cell(b"a,2010/12/1,x,1.234,2", "price", "1.234", "a multiple of 0.01"),
    "quoted cells": official(b'"a,2010/12/1",x,1,2\n', ValueInCellError, "row 1", "column date", "'2010/12/1\"'"),
    "missing cell": official(b"a,2010/12/1,,1,2\n", ValueInCellError, "row 1", "column item", "the value is missing"),
    "byte order mark": official(b"\xef\xbb\xbf" + ROW, FormatError, "row 1", "byte order mark", "UTF-8 without BOM"),
    "mixed line ends": official(ROW + ROW.replace(b"\n", b"\r\n"), FormatError, "mixes line ends", "all lines with LF"),
    "blank line at the end": official(ROW + b"\n", FormatError, "row 2", "the line is empty; remove it"),
    "too few columns": official(b"a,2010/12/1,x\n", FormatError, "row 1", "3 cells, the schema pwscup2018 5 columns"),
    "time out of the clock": official(
        b"7,0,2010/12/1,25:00,x,1,2\n", ValueInCellError, "row 1", "column time", "'25:00'", "HH:MM", year=2017
    ),
    "half-deleted row": official(
        b"7,0,2010/12/1,,x,1,2\n", ValueInCellError, "row 1", "column time", "delete the whole row", year=2016
    ),
    "pairs with three columns": case(b"a,b\nc,d,e\n", FormatError, "row 2", "'c,d,e'", "3 cells", by=read_pairs),
    "eleven months": case(b"7" + b",DEL" * 11 + b"\n", FormatError, "row 1", "12 cells", by=read_months),
    "a count and no months": case(b"7\n", FileError, "no rows", by=read_months),
    "birthday that is no day": case(b"7,f,x,UK\n", ValueInCellError, "row 1", "column birthday", "'x'", by=read_master),
    "release of another length": case(ROW, FileError, "the release has 1 rows, the original 2", by=against_two_rows),
    "folder that is no release": case(lambda path: path.mkdir(), FileError, "not part of a release", by=Release.load),
    "converting a header": case(HEADER, FileError, "the file has no rows", by=into("out.parquet")),
    "converting a bad last row": case(
        HEADER + ROW * 9 + b"a,b,c,4,5\n", ValueInCellError, "row 11", "column date", "'b'", by=into("out.csv")
    ),
    "converting other columns": case(
        parquet(customer=["a"]), SchemaError, "no column 'date'", by=into("out.csv"), name="shop.parquet"
    ),
    "converting to no format": case(
        ROW, ParameterError, "the file name ends in '.doc'", ".csv", by=into("shop.csv.doc")
    ),
}
SCHEMAS = {
    "not TOML": schema("name = ", "this is not TOML", "this is not TOML"),
    "number of 5,000 digits": schema("x = " + "9" * 5000, "this is not TOML"),
    "unknown role": column(
        'role = "prise"', "there is no role 'prise' (did you mean price?); use one of customer, invoice"
    ),
    "role that is no text": column("role = []", "role: "),
    "missing role": schema(HISTORY.replace("item", "x"), "column x", "there is no role 'x'"),
    "no customer": schema(
        HISTORY.replace('"customer"', '"other"'), 'no column has the role customer; give one column role = "customer"'
    ),
    "nothing bought": schema(
        HISTORY.replace('"item"', '"other"').replace('"date"', '"other"'),
        "no column describes a purchase; give a column one of the roles date, item, price, quantity",
    ),
    "role of a table in a history": schema(
        f'{HISTORY}p = {{ role = "quasi" }}', "the role quasi is not allowed in a history"
    ),
    "role given twice": schema(f'{HISTORY}p = {{ role = "item" }}', "two columns have the role item; keep one"),
    "unknown scale": column('scale = "log"', "there is no scale 'log'; use one of nominal, interval, ratio"),
    "scale that is no text": column("scale = {}", "there is no scale {}"),
    "scale against type": column('scale = "ratio", type = "date"', "ratio does not apply to values of type date"),
    "unknown type": column('type = "money"', "type: "),
    "unknown key": column("witdh = 1", "witdh: "),
    "width of zero": column('type = "decimal", width = 0', "width: "),
    "domain of numbers": column('type = "integer", domain = ["1"]', "domain does not apply to values of type integer"),
    "domain twice the same": column('domain = ["a", "a"]', "at least one value, without duplicates"),
    "minimum above maximum": column('type = "integer", minimum = 2, maximum = 1', "the minimum is above the maximum"),
    "bounds of a text": column("minimum = 2", "minimum, maximum does not apply to values of type text"),
    "bounds of another type": column('type = "date", minimum = 2010', "type date are written like 2010-12-01"),
    "bounds of two types": column(
        'type = "date", minimum = 2010-01-01, maximum = 2011-01-01T00:00:00', "type date are written like 2010-12-01"
    ),
    "bound with a time zone": column('type = "datetime", minimum = 2010-01-01T00:00:00Z', "like 2010-12-01T08:00:00"),
    "bound that is no number": column('type = "decimal", minimum = nan', "written like 0.01"),
    "format of no date": column('type = "date", format = "%H:%M"', "'%H:%M' does not describe a date", "%Y/%m/%d"),
    "format of a text": column('format = "%Y"', "format does not apply to values of type text"),
    "column called star": schema(f'{HISTORY}"*" = {{}}', "column *", "is a pattern for several columns"),
    "column that is no table": schema("[columns]\ncustomer = 1", "column 'customer' needs a table"),
    "delimiter of two signs": schema(f'[text]\ndelimiter = ",,"\n{HISTORY}', "text.delimiter: "),
    "delimiter that is a quote": schema(f"[text]\ndelimiter = '\"'\n{HISTORY}", "text.delimiter: ", "cannot separate"),
    "no columns": schema('name = "x"', "columns: "),
    "not UTF-8": case(b"\xff", FileError, "the schema cannot be read", "UTF-8", by=Schema.load, name="schema.toml"),
    "no schema file": case(
        lambda path: None, FileError, "there is no such file; check the path", by=Schema.load, name="schema.toml"
    ),
    "a name of 5,000 letters": case(
        b"", FileError, "the schema cannot be read", by=lambda path: Schema.load(path.with_name(f"shop{'x' * 5000}"))
    ),
}
CASES = FILES | VALUES | OFFICIAL | SCHEMAS


def test_no_two_cases_share_a_name() -> None:
    assert len(CASES) == len(FILES) + len(VALUES) + len(OFFICIAL) + len(SCHEMAS)


@pytest.mark.parametrize("name", CASES)
def test_one_line_with_the_place_the_rule_and_the_cure(name: str, tmp_path: Path) -> None:
    bad = CASES[name]
    path = tmp_path / bad.name
    if callable(bad.content):
        bad.content(path)
    else:
        path.write_bytes(bad.content)
    with pytest.raises(NorenError) as caught:
        bad.reader(path)
    said = str(caught.value)
    assert type(caught.value) is bad.kind
    assert caught.value.exit_code == 2
    assert said.isprintable()  # so it is one line
    assert bad.name.split(".")[0] in said
    for part in bad.says:
        assert part in said
    assert isinstance(caught.value, InputError)
    assert "; " in said  # the remedy
    assert {found.name for found in tmp_path.iterdir()} <= {bad.name, "T.csv"}
