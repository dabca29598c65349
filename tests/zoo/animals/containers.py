"""The same purchases in other containers: spreadsheets, Parquet, UTF-16, without a header, below a title."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import xlsxwriter
from tests.zoo.animal import Reading, animal
from tests.zoo.rows import purchases, write_csv, write_ods, write_text

DAY = dt.date(2018, 4, 1)
LATER = dt.date(2018, 4, 23)
FIVE = ["customer", "date", "item", "price", "quantity"]


def _five(names: Sequence[str] = FIVE, who: str = "C10259", date: str = "date") -> Reading:
    customer, day, item, price, quantity = names
    columns = {
        customer: "customer text",
        day: f"date {date}",
        item: "item text",
        price: "price decimal",
        quantity: "quantity integer",
    }
    cells = ((1, customer, who), (1, day, DAY), (2, day, LATER), (1, price, 1249.0), (2, price, 0.5), (1, quantity, 3))
    return Reading("history", columns, rows=160, people=24, cells=cells)


def _sheet(book: xlsxwriter.Workbook, name: str, rows: Sequence[Sequence[object]], *, start: int = 0) -> None:
    sheet = book.add_worksheet(name)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    for r, row in enumerate(rows, start=start):
        for c, cell in enumerate(row):
            if isinstance(cell, dt.date):
                sheet.write_datetime(r, c, dt.datetime.combine(cell, dt.time()), day)
            else:
                sheet.write(r, c, cell)


def _book(folder: Path, name: str) -> xlsxwriter.Workbook:
    book = xlsxwriter.Workbook(str(folder / name))
    book.set_properties({"created": dt.datetime(2018, 4, 1)})
    return book


@animal("containers", "UTF-16 with tabs, as a spreadsheet saves “Unicode text”", _five())
def utf16_tabs(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), f"{p.good.name} 茶", p.price, p.quantity) for p in purchases(41))
    return write_csv(folder, "unicode.txt", FIVE, rows, delimiter="\t", encoding="utf-16")


@animal("containers", "a title and the day of the export above the header", _five())
def title_above(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.name, f"{p.price:.2f}", p.quantity) for p in purchases(42))
    return write_csv(folder, "report.csv", FIVE, rows, above="Sales of the Kobe shop\nexported 2019-04-02 08:00\n\n")


@animal("containers", "no header: customer, date, item, price, quantity", _five([f"column{n}" for n in range(1, 6)]))
def headerless(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.code, f"{p.price:.2f}", p.quantity) for p in purchases(43))
    return write_csv(folder, "T.csv", None, rows)


@animal("containers", "compressed, bars between cells", _five())
def compressed_bars(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.name, f"{p.price:.2f}", p.quantity) for p in purchases(44))
    plain = write_csv(folder, "sales.psv", FIVE, rows, delimiter="|")
    path = folder / "sales.psv.gz"
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return path


@animal("containers", "Excel, with real dates and numbers", _five())
def excel(folder: Path) -> Path:
    rows = [(p.member, p.when.date(), p.good.name, p.price, p.quantity) for p in purchases(45)]
    with _book(folder, "sales.xlsx") as book:
        _sheet(book, "Sales", [FIVE, *rows])
    return folder / "sales.xlsx"


@animal("containers", "Excel: a cover on the first sheet, the data on the second", _five())
def excel_second_sheet(folder: Path) -> Path:
    rows = [(p.member, p.when.date(), p.good.name, p.price, p.quantity) for p in purchases(46)]
    with _book(folder, "report.xlsx") as book:
        _sheet(book, "Cover", [("Sales report",), ("made by", "Accounts"), ("see the next sheet",)])
        _sheet(book, "Data", [FIVE, *rows])
    return folder / "report.xlsx"


@animal("containers", "Excel: a title above the header, an empty line between", _five())
def excel_title_above(folder: Path) -> Path:
    rows = [(p.member, p.when.date(), p.good.name, p.price, p.quantity) for p in purchases(47)]
    with _book(folder, "titled.xlsx") as book:
        sheet_rows = [("Sales of the Kobe shop",), (), FIVE, *rows]
        _sheet(book, "Sales", sheet_rows)
    return folder / "titled.xlsx"


@animal("containers", "an OpenDocument spreadsheet", _five())
def opendocument(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.name, p.price, p.quantity) for p in purchases(48))
    return write_ods(folder, "sales.ods", FIVE, rows)


@animal("containers", "Parquet with dates as whole numbers: 20180401", _five())
def parquet_integer_dates(folder: Path) -> Path:
    made = purchases(49)
    pl.DataFrame(
        {
            "customer": [p.member for p in made],
            "date": [int(p.when.strftime("%Y%m%d")) for p in made],
            "item": [p.good.code for p in made],
            "price": [p.price for p in made],
            "quantity": [p.quantity for p in made],
        }
    ).write_parquet(folder / "dates.parquet")
    return folder / "dates.parquet"


@animal(
    "containers",
    "Parquet with customers as 12259.0, some unknown, as pandas leaves them",
    Reading(
        "history",
        {
            "customer_id": "customer text",
            "date": "date date|datetime",
            "item": "item text",
            "price": "price decimal",
            "quantity": "quantity integer",
        },
        rows=160,
        people=24,
        cells=((1, "customer_id", "12259"), (1, "date", DAY), (1, "price", 1249.0)),
    ),
)
def parquet_float_ids(folder: Path) -> Path:
    made = purchases(50, rows=150)
    holes = [None] * 10
    pl.DataFrame(
        {
            "customer_id": [12_000.0 + 37 * p.customer for p in made] + holes,
            "date": [p.when for p in made] + [made[-1].when] * 10,
            "item": [p.good.code for p in made] + ["POST"] * 10,
            "price": [p.price for p in made] + [1.0] * 10,
            "quantity": [p.quantity for p in made] + [1] * 10,
        }
    ).write_parquet(folder / "pandas.parquet")
    return folder / "pandas.parquet"


@animal(
    "containers",
    "Parquet with categories and moments in a time zone",
    Reading(
        "history",
        {
            "customer": "customer text",
            "bought_at": "date date|datetime",
            "product": "item text",
            "price": "price decimal",
            "quantity": "quantity integer",
            "shop": "other text",
        },
        rows=160,
        people=24,
        cells=(
            (1, "customer", "C10259"),
            (1, "bought_at", DAY),
            (1, "product", "Espresso machine"),
            (1, "price", 1249.0),
        ),
    ),
)
def parquet_categories(folder: Path) -> Path:
    made = purchases(51)
    pl.DataFrame(
        {
            "customer": [p.member for p in made],
            "bought_at": pl.Series([p.when for p in made]).dt.replace_time_zone("Asia/Tokyo"),
            "product": pl.Series([p.good.name for p in made], dtype=pl.Categorical),
            "price": pl.Series([p.price for p in made], dtype=pl.Float32),
            "quantity": pl.Series([p.quantity for p in made], dtype=pl.Int8),
            "shop": pl.Series([p.shop for p in made], dtype=pl.Categorical),
        }
    ).write_parquet(folder / "zones.parquet")
    return folder / "zones.parquet"


@animal("containers", "a space after each comma, and lines as Windows ends them", _five())
def loose_commas(folder: Path) -> Path:
    lines = [", ".join(FIVE)]
    lines += [f"{p.member}, {p.when.date()}, {p.good.code}, {p.price:.2f}, {p.quantity}" for p in purchases(52)]
    return write_text(folder, "loose.csv", "\r\n".join(lines) + "\r\n")
