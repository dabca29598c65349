"""Files of shops that sell things to people with a card or an account."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

from tests.zoo.animal import Reading, animal
from tests.zoo.rows import FIRST, purchases, write_csv, write_text

DAY = dt.date(2018, 4, 1)
LATER = dt.date(2018, 4, 23)


@animal(
    "shops",
    "a supermarket's baskets: who, when, what; one row an item, no prices",
    Reading(
        "history",
        {"member": "customer text", "date": "date date", "item": "item text"},
        rows=160,
        people=24,
        cells=((1, "member", "C10259"), (1, "date", DAY), (2, "date", LATER), (2, "item", "Matches")),
    ),
)
def supermarket_baskets(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.name) for p in purchases(1))
    return write_csv(folder, "baskets.csv", ["member", "date", "item"], rows)


@animal(
    "shops",
    "a panel of households, days counted from the first, times as 1631",
    Reading(
        "history",
        {
            "household_key": "customer text",
            "BASKET_ID": "invoice text",
            "DAY": "date|other",
            "PRODUCT_ID": "item text",
            "QUANTITY": "quantity integer",
            "SALES_VALUE": "price decimal",
            "STORE_ID": "other",
            "RETAIL_DISC": "other",
            "TRANS_TIME": "time|other",
            "WEEK_NO": "other",
            "COUPON_DISC": "other",
        },
        rows=160,
        people=24,
        cells=((1, "household_key", "2375"), (1, "SALES_VALUE", 3747.0), (1, "QUANTITY", 3)),
    ),
    may_ask="format",
)
def household_panel(folder: Path) -> Path:
    made = purchases(2)
    header = "household_key BASKET_ID DAY PRODUCT_ID QUANTITY SALES_VALUE STORE_ID RETAIL_DISC TRANS_TIME WEEK_NO"
    rows = (
        (
            2340 + 5 * p.customer,
            26_984_800_000 + p.invoice,
            (p.when.date() - DAY).days + 1,
            825_000 + int(p.good.code[-6:]),
            p.quantity,
            f"{p.total:.2f}",
            364 + len(p.shop),
            -0.3 if p.quantity > 2 else 0,
            100 * p.when.hour + p.when.minute,
            (p.when.date() - DAY).days // 7 + 1,
            -0.5 if p.quantity > 5 else 0,
        )
        for p in made
    )
    return write_csv(folder, "transaction_data.csv", [*header.split(), "COUPON_DISC"], rows)


@animal(
    "shops",
    "a web shop's orders with their status; refunds have negative quantities",
    Reading(
        "history",
        {
            "order_id": "invoice text",
            "order_date": "date date|datetime",
            "customer_email": "customer text",
            "sku": "item text",
            "product_name": "description text",
            "unit_price": "price decimal",
            "qty": "quantity integer",
            "status": "other text",
        },
        rows=160,
        people=24,
        cells=((1, "unit_price", 1249.0), (1, "customer_email", "c10259@example.org"), (12, "qty", -1)),
    ),
)
def web_orders(folder: Path) -> Path:
    rows = []
    for place, p in enumerate(purchases(3), start=1):
        status = "cancelled" if place % 9 == 0 else "refunded" if place % 12 == 0 else "completed"
        quantity = -1 if status == "refunded" else p.quantity
        mail = f"{p.member.lower()}@example.org"
        when = p.when.isoformat(" ")
        rows.append((p.invoice, when, mail, f"SKU-{p.good.code[-6:]}", p.good.name, p.price, quantity, status))
    header = ["order_id", "order_date", "customer_email", "sku", "product_name", "unit_price", "qty", "status"]
    return write_csv(folder, "orders.csv", header, rows)


@animal(
    "shops",
    "payments of a music service: one row a renewal, dates as 20180401",
    Reading(
        "history",
        {
            "msno": "customer text",
            "payment_method_id": "other|item",
            "payment_plan_days": "other|item|quantity",
            "plan_list_price": "price|other",
            "actual_amount_paid": "price|other",
            "is_auto_renew": "other",
            "transaction_date": "date date",
            "membership_expire_date": "other",
            "is_cancel": "other",
        },
        rows=120,
        people=20,
        cells=((1, "transaction_date", DAY), (1, "actual_amount_paid", 149.0)),
    ),
)
def subscriptions(folder: Path) -> Path:
    chance = random.Random(4)
    rows = []
    for month in range(6):
        for person in range(20):
            start = DAY + dt.timedelta(days=30 * month + (person * 3) % 20)
            plan, price = ((30, 149), (30, 99), (90, 447))[person % 3]
            paid = 0 if person and chance.random() < 0.05 else price
            renew = int(chance.random() < 0.8)
            end = start + dt.timedelta(days=plan)
            name = f"{random.Random(person).getrandbits(128):032x}"
            method = 41 - person % 4
            rows.append((name, method, plan, price, paid, renew, f"{start:%Y%m%d}", f"{end:%Y%m%d}", 1 - renew))
    header = "msno payment_method_id payment_plan_days plan_list_price actual_amount_paid is_auto_renew"
    return write_csv(
        folder, "transactions.csv", [*header.split(), "transaction_date", "membership_expire_date", "is_cancel"], rows
    )


@animal(
    "shops",
    "everybody bought exactly once",
    Reading(
        "history",
        {"customer_id": "customer text", "date": "date date", "item": "item text", "price": "price decimal"},
        rows=40,
        people=40,
        cells=((1, "date", DAY), (1, "price", 1249.0)),
    ),
    may_ask="kind customer",
    flags="--rows purchases",
)
def one_purchase_each(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.name, f"{p.price:.2f}") for p in purchases(5, customers=40, rows=40))
    return write_csv(folder, "first_orders.csv", ["customer_id", "date", "item", "price"], rows)


@animal(
    "shops",
    "one customer, a reseller, has a tenth of all rows",
    Reading(
        "history",
        {
            "customer_id": "customer text",
            "date": "date date",
            "item": "item text",
            "price": "price decimal",
            "quantity": "quantity integer",
        },
        rows=300,
        people=30,
        cells=((1, "price", 1249.0), (2, "quantity", 1)),
    ),
)
def heavy_customer(folder: Path) -> Path:
    made = purchases(6, customers=30, rows=300, heavy=0.1)
    rows = ((p.member, p.when.date(), p.good.name, f"{p.price:.2f}", p.quantity) for p in made)
    return write_csv(folder, "sales.csv", ["customer_id", "date", "item", "price", "quantity"], rows)


@animal(
    "shops",
    "quantities, but no prices",
    Reading(
        "history",
        {"client": "customer text", "purchase_date": "date date", "article": "item text", "units": "quantity integer"},
        rows=160,
        people=24,
        cells=((1, "units", 3), (1, "purchase_date", DAY)),
    ),
)
def no_prices(folder: Path) -> Path:
    rows = ((p.member, p.when.strftime("%Y/%m/%d"), p.good.code, p.quantity) for p in purchases(7))
    return write_csv(folder, "units.csv", ["client", "purchase_date", "article", "units"], rows)


@animal(
    "shops",
    "no items: who, when, how many, for how much",
    Reading(
        "history",
        {"custid": "customer text", "date": "date date", "quantity": "quantity integer", "amount": "price decimal"},
        rows=160,
        people=24,
        cells=((1, "custid", "00259"), (1, "amount", 3747.0), (2, "date", LATER)),
    ),
)
def no_items(folder: Path) -> Path:
    rows = ((f"{37 * p.customer:05d}", p.when.strftime("%Y%m%d"), p.quantity, f"{p.total:.2f}") for p in purchases(8))
    return write_csv(folder, "cds.csv", ["custid", "date", "quantity", "amount"], rows)


@animal(
    "shops",
    "the same in columns of fixed width, without a header",
    Reading(
        "history",
        {"column1": "customer text", "column2": "date date", "column3": "quantity integer", "column4": "price decimal"},
        rows=160,
        people=24,
        cells=((1, "column1", "00259"), (1, "column2", DAY), (1, "column4", 3747.0)),
    ),
    may_ask="kind customer",
    flags="--rows purchases",
)
def fixed_width(folder: Path) -> Path:
    lines = (f"{37 * p.customer:05d} {p.when:%Y%m%d} {p.quantity:2d} {p.total:7.2f}\n" for p in purchases(8))
    return write_text(folder, "master.txt", "".join(lines))


@animal(
    "shops",
    "a gift shop with cancelled invoices: C-numbers, negative quantities",
    Reading(
        "history",
        {
            "InvoiceNo": "invoice text",
            "StockCode": "item text",
            "Description": "description text",
            "Quantity": "quantity integer",
            "InvoiceDate": "date date|datetime",
            "UnitPrice": "price decimal",
            "CustomerID": "customer text",
            "Country": "other text",
        },
        rows=160,
        people=24,
        cells=((1, "UnitPrice", 1249.0), (1, "InvoiceDate", DAY), (10, "InvoiceNo", "C50010"), (10, "Quantity", -2)),
    ),
)
def negative_quantities(folder: Path) -> Path:
    rows = []
    for place, p in enumerate(purchases(9), start=1):
        back = place % 10 == 0
        number, quantity = (f"C{50_000 + place}", -2) if back else (str(p.invoice), p.quantity)
        when = p.when.strftime("%Y-%m-%d %H:%M:%S")
        country = "France" if p.customer % 7 == 0 else "Japan"
        rows.append((number, p.good.code, p.good.name, quantity, when, p.price, 12_000 + 37 * p.customer, country))
    header = ["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country"]
    return write_csv(folder, "retail.csv", header, rows)


@animal(
    "shops",
    "several shops and tills; a card number of 16 digits",
    Reading(
        "history",
        {
            "shop": "other text",
            "till": "other",
            "receipt_no": "invoice text",
            "date": "date date",
            "time": "time time",
            "card_number": "customer text",
            "product": "item text",
            "quantity": "quantity integer",
            "price": "price decimal",
        },
        rows=160,
        people=24,
        cells=(
            (1, "card_number", "4000123412340007"),
            (1, "time", dt.time(9, 5)),
            (2, "time", dt.time(16, 31)),
            (1, "shop", "Kobe"),
        ),
    ),
)
def several_shops(folder: Path) -> Path:
    rows = (
        (
            p.shop,
            p.invoice % 4 + 1,
            p.invoice,
            p.when.date(),
            f"{p.when:%H:%M}",
            4_000_123_412_340_000 + p.customer,
            p.good.name,
            p.quantity,
            f"{p.price:.2f}",
        )
        for p in purchases(10)
    )
    header = ["shop", "till", "receipt_no", "date", "time", "card_number", "product", "quantity", "price"]
    return write_csv(folder, "tills.csv", header, rows)


@animal(
    "shops",
    "one row an order, with its total",
    Reading(
        "history",
        {
            "order_number": "invoice text",
            "customer_id": "customer text",
            "created_at": "date date|datetime",
            "total": "price decimal",
            "payment": "other text",
        },
        rows=120,
        people=24,
        cells=((1, "total", 3747.0), (1, "order_number", "50001"), (1, "created_at", DAY)),
    ),
)
def order_totals(folder: Path) -> Path:
    ways = ("card", "cash", "invoice")
    rows = (
        (50_001 + place, p.member, p.when.isoformat(" "), f"{p.total:.2f}", ways[p.invoice % 3])
        for place, p in enumerate(purchases(11, rows=120))
    )
    return write_csv(folder, "orders.csv", ["order_number", "customer_id", "created_at", "total", "payment"], rows)


@animal(
    "shops",
    "a marketplace: customer_id is new with every order, customer_unique_id is the person",
    Reading(
        "history",
        {
            "order_id": "invoice text",
            "customer_id": "other|invoice|identifier text",
            "customer_unique_id": "customer text",
            "order_purchase_timestamp": "date date|datetime",
            "product_id": "item text",
            "price": "price decimal",
            "freight_value": "other",
        },
        rows=160,
        people=24,
        cells=((1, "price", 1249.0), (1, "customer_unique_id", "u0010259")),
    ),
    may_ask="customer",
    flags="--customer customer_unique_id",
)
def new_id_each_order(folder: Path) -> Path:
    rows = (
        (
            f"o{p.invoice:08d}",
            f"k{p.invoice * 7919 % 10**8:08d}",
            f"u00{p.member[1:]}",
            p.when.isoformat(" "),
            f"p{p.good.code}",
            f"{p.price:.2f}",
            f"{2 + p.price / 100:.2f}",
        )
        for p in purchases(12)
    )
    header = [
        "order_id",
        "customer_id",
        "customer_unique_id",
        "order_purchase_timestamp",
        "product_id",
        "price",
        "freight_value",
    ]
    return write_csv(folder, "marketplace.csv", header, rows)


@animal(
    "shops",
    "names of columns in capitals, with spaces",
    Reading(
        "history",
        {
            "CUSTOMER NUMBER": "customer text",
            "DATE OF PURCHASE": "date date",
            "PRODUCT CODE": "item text",
            "PRODUCT NAME": "description text",
            "UNIT PRICE": "price decimal",
            "QTY SOLD": "quantity integer",
        },
        rows=160,
        people=24,
        cells=((1, "CUSTOMER NUMBER", "C10259"), (1, "DATE OF PURCHASE", DAY), (1, "QTY SOLD", 3)),
    ),
)
def capital_names(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), p.good.code, p.good.name, p.price, p.quantity) for p in purchases(13))
    header = ["CUSTOMER NUMBER", "DATE OF PURCHASE", "PRODUCT CODE", "PRODUCT NAME", "UNIT PRICE", "QTY SOLD"]
    return write_csv(folder, "SALES.CSV", header, rows)


@animal(
    "shops",
    "names of products with line ends, commas and quotes in them",
    Reading(
        "history",
        {
            "customer": "customer text",
            "date": "date date",
            "product": "item text",
            "price": "price decimal",
            "quantity": "quantity integer",
        },
        rows=160,
        people=24,
        cells=((1, "product", 'Espresso machine,\n"Deluxe"'), (2, "product", 'Matches,\n"Deluxe"'), (2, "price", 0.5)),
    ),
)
def line_ends_in_names(folder: Path) -> Path:
    rows = ((p.member, p.when.date(), f'{p.good.name},\n"Deluxe"', p.price, p.quantity) for p in purchases(14))
    return write_csv(folder, "names.csv", ["customer", "date", "product", "price", "quantity"], rows)


@animal(
    "shops",
    "wholesale: the customers are companies",
    Reading(
        "history",
        {
            "Invoice No": "invoice text",
            "Invoice Date": "date date",
            "Company": "customer text",
            "Article No": "item text",
            "Net Price": "price decimal",
            "Qty": "quantity integer",
            "Country": "other text",
        },
        rows=160,
        people=24,
        cells=((1, "Company", "Firm C10259 Ltd"), (1, "Net Price", 1249.0)),
    ),
    may_ask="kind customer",
    flags="--rows purchases --customer Company",
)
def wholesale_invoices(folder: Path) -> Path:
    rows = (
        (f"R-{p.invoice}", p.when.date(), f"Firm {p.member} Ltd", p.good.code, p.price, 10 * p.quantity, p.shop)
        for p in purchases(15)
    )
    header = ["Invoice No", "Invoice Date", "Company", "Article No", "Net Price", "Qty", "Country"]
    return write_csv(folder, "wholesale.csv", header, rows)


@animal(
    "shops",
    "bills of a restaurant by table: nothing tells who ate",
    Reading(
        "history",
        {
            "bill_no": "customer text",
            "date": "date date",
            "time": "time time",
            "table_no": "other",
            "dish": "item text",
            "price": "price decimal",
            "portions": "quantity integer",
        },
        rows=160,
        people=84,
        cells=((1, "bill_no", str(FIRST.invoice)), (1, "price", 1249.0)),
    ),
    asks="kind customer",
    flags="--rows purchases --customer bill_no",
)
def restaurant_bills(folder: Path) -> Path:
    rows = (
        (p.invoice, p.when.date(), f"{p.when:%H:%M}", p.customer % 12 + 1, p.good.name, p.price, p.quantity)
        for p in purchases(16)
    )
    header = ["bill_no", "date", "time", "table_no", "dish", "price", "portions"]
    return write_csv(folder, "bills.csv", header, rows)
