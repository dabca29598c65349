"""The same purchases as they are written in other countries: dates, numbers, money, encodings."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from tests.zoo.animal import Reading, animal
from tests.zoo.rows import purchases, write_csv

DAY = dt.date(2018, 4, 1)
LATER = dt.date(2018, 4, 23)


def _history(
    customer: str, date: str, item: str, price: str, quantity: str, more: dict[str, str] | None = None, **also: object
) -> Reading:
    """Return the reading of a shop's five columns, whatever they are called; the first rows are the same everywhere."""
    columns = {
        customer: "customer text",
        date: "date date|datetime",
        item: "item text",
        price: "price decimal",
        quantity: "quantity integer",
    }
    cells = (
        (1, customer, also.get("who", "C10259")),
        (1, date, DAY),
        (2, date, LATER),
        (1, price, also.get("first_price", 1249.0)),
        (2, price, also.get("second_price", 0.5)),
        (1, quantity, 3),
    )
    return Reading("history", columns | (more or {}), rows=160, people=24, cells=cells)


def _german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@animal(
    "countries",
    "Germany: semicolons, 1.249,00, 01.04.2018, Latin-1",
    _history(
        "Kundennummer", "Rechnungsdatum", "Artikelnummer", "Einzelpreis", "Menge", {"Bezeichnung": "description text"}
    ),
)
def german(folder: Path) -> Path:
    rows = (
        (p.member, p.when.strftime("%d.%m.%Y"), p.good.code, f"{p.good.name} für Gäste", _german(p.price), p.quantity)
        for p in purchases(21)
    )
    header = ["Kundennummer", "Rechnungsdatum", "Artikelnummer", "Bezeichnung", "Einzelpreis", "Menge"]
    return write_csv(folder, "Umsätze.csv", header, rows, delimiter=";", encoding="latin-1")


@animal(
    "countries",
    "France: 1 249,00 € with a no-break space, 01/04/2018",
    _history("N° client", "Date d'achat", "Article", "Prix unitaire", "Quantité"),
)
def french(folder: Path) -> Path:
    rows = (
        (
            p.member,
            p.when.strftime("%d/%m/%Y"),
            p.good.name,
            f"{p.price:,.2f}".replace(",", "\u202f").replace(".", ",") + "\u00a0€",
            p.quantity,
        )
        for p in purchases(22)
    )
    header = ["N° client", "Date d'achat", "Article", "Prix unitaire", "Quantité"]
    return write_csv(folder, "achats.csv", header, rows, delimiter=";", encoding="utf-8-sig")


@animal(
    "countries",
    "United States: 04/01/2018 and $1,249.00",
    _history("Customer ID", "Order Date", "Product", "Price", "Quantity"),
)
def american(folder: Path) -> Path:
    rows = ((p.member, p.when.strftime("%m/%d/%Y"), p.good.name, f"${p.price:,.2f}", p.quantity) for p in purchases(23))
    return write_csv(folder, "orders.csv", ["Customer ID", "Order Date", "Product", "Price", "Quantity"], rows)


@animal(
    "countries",
    "United States, short: 4/1/18 and 1,249.00 in quotes",
    _history("CustomerID", "Date", "Item", "Amount", "Units"),
    may_ask="format",
)
def american_short(folder: Path) -> Path:
    rows = (
        (p.member, f"{p.when.month}/{p.when.day}/{p.when:%y}", p.good.name, f"{p.price:,.2f}", p.quantity)
        for p in purchases(24)
    )
    return write_csv(folder, "export.csv", ["CustomerID", "Date", "Item", "Amount", "Units"], rows)


@animal(
    "countries",
    "India: ₹1,24,900.00 in lakhs, 01-04-2018",
    _history("Customer Code", "Bill Date", "Item Name", "Rate", "Qty", first_price=124_900.0, second_price=50.0),
)
def indian(folder: Path) -> Path:
    def lakhs(number: float) -> str:
        whole, cents = f"{number:.2f}".split(".")
        head, tail = whole[:-3], whole[-3:]
        pairs: list[str] = []
        while head:
            head, pair = head[:-2], head[-2:]
            pairs.insert(0, pair)
        return f"₹{','.join([*pairs, tail])}.{cents}"

    rows = (
        (p.member, p.when.strftime("%d-%m-%Y"), p.good.name, lakhs(100 * p.price), p.quantity) for p in purchases(25)
    )
    return write_csv(folder, "bills.csv", ["Customer Code", "Bill Date", "Item Name", "Rate", "Qty"], rows)


@animal("countries", "Switzerland: 1'249.00, 01.04.2018", _history("Kunde", "Datum", "Artikel", "Preis", "Anzahl"))
def swiss(folder: Path) -> Path:
    rows = (
        (p.member, p.when.strftime("%d.%m.%Y"), p.good.name, f"{p.price:,.2f}".replace(",", "'"), p.quantity)
        for p in purchases(26)
    )
    return write_csv(folder, "verkauf.csv", ["Kunde", "Datum", "Artikel", "Preis", "Anzahl"], rows, delimiter=";")


@animal(
    "countries",
    "ISO 8601 with a fraction and a zone: 2018-04-01T09:05:30.123+09:00",
    _history("user_id", "purchased_at", "product_id", "unit_price", "quantity"),
)
def iso_with_zone(folder: Path) -> Path:
    rows = (
        (p.member, p.when.isoformat() + ".123+09:00", p.good.code, f"{p.price:.2f}", p.quantity) for p in purchases(27)
    )
    return write_csv(folder, "events.csv", ["user_id", "purchased_at", "product_id", "unit_price", "quantity"], rows)


@animal(
    "countries",
    "months by name: 01-Apr-2018 09:05",
    _history("Customer ID", "InvoiceDate", "StockCode", "Price", "Quantity"),
)
def month_names(folder: Path) -> Path:
    rows = (
        (p.member, p.when.strftime("%d-%b-%Y %H:%M"), p.good.code, f"{p.price:.2f}", p.quantity) for p in purchases(28)
    )
    return write_csv(folder, "retail.csv", ["Customer ID", "InvoiceDate", "StockCode", "Price", "Quantity"], rows)


@animal(
    "countries",
    "dates that read as well with the day as with the month first",
    Reading(
        "history",
        {
            "customer": "customer text",
            "date": "date date",
            "item": "item text",
            "price": "price decimal",
            "quantity": "quantity integer",
        },
        rows=160,
        people=24,
        cells=((1, "date", DAY), (1, "price", 1249.0)),
    ),
    asks="format",
    formats={"date": "%d/%m/%Y"},
)
def day_or_month(folder: Path) -> Path:
    rows = (
        (p.member, f"{(p.when.day - 1) % 12 + 1:02d}/{p.when:%m/%Y}", p.good.name, f"{p.price:.2f}", p.quantity)
        for p in purchases(29)
    )
    return write_csv(folder, "either.csv", ["customer", "date", "item", "price", "quantity"], rows)


@animal(
    "countries",
    "Japan, Shift_JIS: 平成30年4月1日, ￥1,249, full-width digits",
    _history(
        "会員ID",
        "購買日",
        "JANコード",
        "単価",
        "数量",
        {"商品名": "description text", "店舗": "other text"},
        first_price=124_900.0,
        second_price=50.0,
    ),
)
def japanese_eras(folder: Path) -> Path:
    wide = str.maketrans("0123456789", "０１２３４５６７８９")

    def era(day: dt.date) -> str:
        # 令和 began in May 2019, after these purchases
        return f"平成{day.year - 1988}年{day.month}月{day.day}日"

    rows = (
        (
            p.member,
            era(p.when.date()),
            p.good.code,
            f"{p.good.name}（特選）",
            f"￥{round(100 * p.price):,}",
            str(p.quantity).translate(wide),
            {"Kobe": "神戸店", "Osaka": "大阪店", "Nara": "奈良店"}[p.shop],
        )
        for p in purchases(30)
    )
    header = ["会員ID", "購買日", "JANコード", "商品名", "単価", "数量", "店舗"]
    return write_csv(folder, "購買履歴.csv", header, rows, encoding="cp932")


@animal(
    "countries",
    "Japan over a change of era: 平成31年4月30日, then 令和元年5月1日",
    Reading(
        "history",
        {
            "顧客番号": "customer text",
            "購入日": "date date",
            "商品": "item text",
            "金額": "price decimal",
            "個数": "quantity integer",
        },
        rows=160,
        people=24,
        cells=((1, "購入日", dt.date(2019, 4, 1)), (3, "購入日", dt.date(2019, 5, 1)), (1, "金額", 124_900.0)),
    ),
)
def change_of_era(folder: Path) -> Path:
    def era(day: dt.date) -> str:
        if day < dt.date(2019, 5, 1):
            return f"平成{day.year - 1988}年{day.month}月{day.day}日"
        year = day.year - 2018
        return f"令和{'元' if year == 1 else year}年{day.month}月{day.day}日"

    rows = []
    for place, p in enumerate(purchases(31), start=1):
        day = dt.date(2019, 5, 1) if place == 3 else p.when.date() + dt.timedelta(days=365)
        rows.append((p.member, era(day), p.good.name, f"{round(100 * p.price):,}円", p.quantity))
    return write_csv(folder, "売上.csv", ["顧客番号", "購入日", "商品", "金額", "個数"], rows)


@animal(
    "countries",
    "Japan, UTF-8 from a spreadsheet: 2018年4月1日, 124900",
    _history("会員番号", "日付", "品名", "価格", "点数", first_price=124_900.0, second_price=50.0),
)
def japanese_years(folder: Path) -> Path:
    rows = (
        (p.member, f"{p.when.year}年{p.when.month}月{p.when.day}日", p.good.name, round(100 * p.price), p.quantity)
        for p in purchases(32)
    )
    header = ["会員番号", "日付", "品名", "価格", "点数"]
    return write_csv(folder, "購買.csv", header, rows, encoding="utf-8-sig")
