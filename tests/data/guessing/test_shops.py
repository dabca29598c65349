"""Files of many shops: purchases are never taken for people, and what could go either way is asked.

Each file has twelve customers with three orders of two lines, unless it says otherwise; what its kind and its columns'
roles are was written down by hand.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from noren.data.guessing.schema_guess import SchemaGuess, guess_columns
from noren.data.schema import Kind
from noren.errors import SchemaError


@dataclass(frozen=True)
class Line:
    """One line of one order of one customer, each numbered through all of the file."""

    customer: int
    order: int
    line: int

    @property
    def product(self) -> int:
        return (5 * self.customer + 3 * self.order + self.line) % 37

    @property
    def day(self) -> dt.date:
        return dt.date(2024, 1, 1) + dt.timedelta(days=7 * self.customer + self.order)


def lines(customers: int = 12, orders: int = 3, each: int = 2) -> list[Line]:
    return [
        Line(c, c * orders + o, (c * orders + o) * each + i)
        for c in range(customers)
        for o in range(orders)
        for i in range(each)
    ]


Cell = Callable[[Line], Any]


def frame(columns: dict[str, Cell], rows: list[Line] | None = None) -> pl.DataFrame:
    there = lines() if rows is None else rows
    return pl.DataFrame({name: [cell(row) for row in there] for name, cell in columns.items()})


def roles(found: SchemaGuess) -> dict[str, str]:
    return {column.name: str(column.role) for column in found.schema.columns if column.role != "other"}


def asked(found: SchemaGuess) -> list[str]:
    return [question.about for question in found.questions if question.stops]


# what columns hold
who: Cell = lambda r: 10_000 + 7 * r.customer  # noqa: E731
who_text: Cell = lambda r: f"C{r.customer:04}"  # noqa: E731
basket: Cell = lambda r: 900_000 + r.order  # noqa: E731
line_no: Cell = lambda r: 1 + r.line  # noqa: E731
day: Cell = lambda r: r.day  # noqa: E731
day_text: Cell = lambda r: r.day.isoformat()  # noqa: E731
moment: Cell = lambda r: dt.datetime.combine(r.day, dt.time(9 + r.order % 8, 30))  # noqa: E731
clock: Cell = lambda r: dt.time(9 + r.order % 8, 30)  # noqa: E731
product: Cell = lambda r: 5_000 + r.product  # noqa: E731
product_text: Cell = lambda r: f"P-{r.product}"  # noqa: E731
words: Cell = lambda r: f"fine thing {r.product}"  # noqa: E731
price: Cell = lambda r: round(1.25 + r.product / 4, 2)  # noqa: E731
total: Cell = lambda r: round((1.25 + r.product / 4) * (1 + r.line % 4), 2)  # noqa: E731
pieces: Cell = lambda r: 1 + r.line % 4  # noqa: E731
shop: Cell = lambda r: 1 + r.order % 3  # noqa: E731
town: Cell = lambda r: ("Nara", "Uji", "Kyoto")[r.customer % 3]  # noqa: E731

SHOPS: dict[str, tuple[dict[str, Cell], dict[str, str]]] = {
    "cds": (
        {"customer": who, "date": day, "cds": pieces, "dollars": total},
        {"customer": "customer", "date": "date", "cds": "quantity", "dollars": "price"},
    ),
    "groceries": (
        {"Member_number": who, "Date": day, "itemDescription": words},
        {"Member_number": "customer", "Date": "date", "itemDescription": "item"},
    ),
    "household panel": (
        {
            "household_key": who, "BASKET_ID": basket, "DAY": lambda r: 1 + (7 * r.customer + r.order) % 711,
            "PRODUCT_ID": product, "QUANTITY": pieces, "SALES_VALUE": total, "STORE_ID": shop,
            "RETAIL_DISC": lambda _r: -0.5, "TRANS_TIME": lambda r: 900 + r.order, "WEEK_NO": lambda r: 1 + r.order,
            "COUPON_DISC": lambda _r: 0.0,
        },
        {
            "household_key": "customer", "BASKET_ID": "invoice", "PRODUCT_ID": "item", "QUANTITY": "quantity",
            "SALES_VALUE": "price",
        },
    ),
    "German": (
        {"Kundennummer": who, "Bestelldatum": day, "Artikel": words, "Menge": pieces, "Preis": price},
        {"Kundennummer": "customer", "Bestelldatum": "date", "Artikel": "item", "Menge": "quantity", "Preis": "price"},
    ),
    "German, missing or incomplete": (
        {"KdNr": who_text, "Bon": basket, "Kaufdatum": day, "Uhrzeit": clock, "ArtNr": product, "Artikelnr": product,
         "Artikelbezeichnung": words, "Stück": pieces, "Einzelpreis": price, "Betrag": total, "Filiale": shop},
        {"KdNr": "customer", "Bon": "invoice", "Kaufdatum": "date", "Uhrzeit": "time", "Artikelnr": "item",
         "Artikelbezeichnung": "description", "Stück": "quantity", "Einzelpreis": "price"},
    ),
    "French": (
        {"NoClient": who, "N° de commande": basket, "jour": day, "article": words, "quantité": pieces, "prix": price},
        {"NoClient": "customer", "N° de commande": "invoice", "jour": "date", "article": "item",
         "quantité": "quantity", "prix": "price"},
    ),
    "Spanish": (
        {"id_cliente": who, "num_pedido": basket, "fecha": day, "producto": words, "cantidad": pieces,
         "importe": total},
        {"id_cliente": "customer", "num_pedido": "invoice", "fecha": "date", "producto": "item",
         "cantidad": "quantity", "importe": "price"},
    ),
    "Italian": (
        {"codice_cliente": who, "scontrino": basket, "data": day, "prodotto": words, "quantità": pieces,
         "prezzo": price},
        {"codice_cliente": "customer", "scontrino": "invoice", "data": "date", "prodotto": "item",
         "quantità": "quantity", "prezzo": "price"},
    ),
    "Portuguese": (
        {"cliente": who_text, "pedido": basket, "data_compra": day, "produto": words, "quantidade": pieces,
         "preço": price},
        {"cliente": "customer", "pedido": "invoice", "data_compra": "date", "produto": "item",
         "quantidade": "quantity", "preço": "price"},
    ),
    "Japanese": (
        {"会員ID": who_text, "伝票番号": basket, "購買日": day, "時刻": clock, "商品コード": product, "商品名": words,
         "単価": price, "数量": pieces, "金額": total, "店舗コード": shop, "性別": lambda r: "男女"[r.customer % 2]},
        {"会員ID": "customer", "伝票番号": "invoice", "購買日": "date", "時刻": "time", "商品コード": "item",
         "商品名": "description", "単価": "price", "数量": "quantity"},
    ),
    "Japanese, no price by piece": (
        {"顧客コード": who, "売上日": day, "JANコード": product, "売上金額": total, "点数": pieces},
        {"顧客コード": "customer", "売上日": "date", "JANコード": "item", "売上金額": "price", "点数": "quantity"},
    ),
    "Chinese": (
        {"会员编号": who, "订单号": basket, "下单日期": day, "商品名称": words, "单价": price, "数量": pieces},
        {"会员编号": "customer", "订单号": "invoice", "下单日期": "date", "商品名称": "item", "单价": "price",
         "数量": "quantity"},
    ),
    "Korean": (
        {"고객번호": who, "주문번호": basket, "구매일": day, "상품코드": product, "상품명": words,
         "금액": total, "수량": pieces},
        {"고객번호": "customer", "주문번호": "invoice", "구매일": "date", "상품코드": "item", "상품명": "description",
         "금액": "price", "수량": "quantity"},
    ),
    "fashion": (
        {"t_dat": day_text, "customer_id": lambda r: f"{r.customer * 7919:064x}", "article_id": product, "price": price,
         "sales_channel_id": shop},
        {"t_dat": "date", "customer_id": "customer", "article_id": "item", "price": "price"},
    ),
    "clicks": (
        {"event_time": moment, "event_type": lambda _r: "purchase", "product_id": product, "category_id": shop,
         "brand": town, "price": price, "user_id": who, "user_session": lambda r: f"s-{r.order}"},
        {"event_time": "date", "product_id": "item", "price": "price", "user_id": "customer"},
    ),
    "clicks written together": (
        {"visitorid": who, "itemid": product, "transactionid": basket, "orderdate": day},
        {"visitorid": "customer", "itemid": "item", "transactionid": "invoice", "orderdate": "date"},
    ),
    "office supplies": (
        {"Row ID": line_no, "Order ID": lambda r: f"CA-{r.order}", "Order Date": day,
         "Ship Date": lambda r: r.day + dt.timedelta(days=2), "Customer ID": who_text,
         "Customer Name": lambda r: f"Ann Number{r.customer}", "Segment": town, "Postal Code": shop,
         "Product ID": product_text, "Category": town, "Product Name": words, "Sales": total, "Quantity": pieces,
         "Discount": lambda _r: 0.2, "Profit": price},
        {"Row ID": "identifier", "Order ID": "invoice", "Order Date": "date", "Customer ID": "customer",
         "Customer Name": "identifier", "Product ID": "item", "Product Name": "description", "Sales": "price",
         "Quantity": "quantity"},
    ),
    "orders and lines, a number for each order": (
        {"order_id": basket, "order_item_id": lambda r: 1 + r.line % 2, "product_id": product,
         "customer_id": lambda r: f"{r.order * 104729:032x}", "customer_unique_id": lambda r: f"{r.customer:032x}",
         "customer_city": town, "order_purchase_timestamp": moment, "order_approved_at": moment, "price": price,
         "freight_value": price},
        {"order_id": "invoice", "product_id": "item", "customer_id": "identifier", "customer_unique_id": "customer",
         "order_purchase_timestamp": "date", "price": "price"},
    ),
    "baskets numbered for each customer": (
        {"order_id": basket, "user_id": who, "order_number": lambda r: 1 + r.order % 3, "product_id": product,
         "add_to_cart_order": lambda r: 1 + r.line % 2, "reordered": lambda r: r.line % 2},
        {"order_id": "invoice", "user_id": "customer", "product_id": "item"},
    ),
    "music by subscription": (
        {"msno": lambda r: f"{r.customer * 31:044x}=", "payment_method_id": shop, "plan_list_price": price,
         "actual_amount_paid": total, "transaction_date": day, "membership_expire_date": day},
        {"msno": "customer", "plan_list_price": "price", "transaction_date": "date"},
    ),
    "supermarket by code": (
        {"SHOP_WEEK": lambda r: 202_400 + r.order, "SHOP_DATE": day, "QUANTITY": pieces, "SPEND": total,
         "PROD_CODE": lambda r: f"PRD{r.product}", "PROD_CODE_10": lambda r: f"CL{r.product % 5}",
         "CUST_CODE": lambda r: f"CUST{r.customer}", "CUST_PRICE_SENSITIVITY": lambda r: "LM"[r.customer % 2],
         "CUST_LIFESTAGE": town, "BASKET_ID": basket, "BASKET_SIZE": lambda r: "LM"[r.order % 2], "STORE_CODE": shop},
        {"SHOP_DATE": "date", "QUANTITY": "quantity", "SPEND": "price", "PROD_CODE": "item", "CUST_CODE": "customer",
         "BASKET_ID": "invoice"},
    ),
    "amount is a number of pieces": (
        {"TRANSACTION_DT": day, "CUSTOMER_ID": who, "AGE_GROUP": town, "PIN_CODE": shop, "PRODUCT_SUBCLASS": shop,
         "PRODUCT_ID": product, "AMOUNT": lambda _r: 1, "SALES_PRICE": lambda r: 40 + r.product},
        {"TRANSACTION_DT": "date", "CUSTOMER_ID": "customer", "PRODUCT_ID": "item", "AMOUNT": "quantity",
         "SALES_PRICE": "price"},
    ),
    "bank": (
        {"TransactionID": line_no, "CustomerID": who_text, "CustomerDOB": lambda r: dt.date(1980, 1, 1 + r.customer),
         "CustGender": lambda r: "FM"[r.customer % 2], "CustAccountBalance": price, "TransactionDate": day,
         "TransactionAmount (INR)": total},
        {"TransactionID": "invoice", "CustomerID": "customer", "CustomerDOB": "identifier", "TransactionDate": "date",
         "TransactionAmount (INR)": "price"},
    ),
    "one day of sales": (
        {"User_ID": who, "Product_ID": product_text, "Gender": lambda r: "FM"[r.customer % 2], "Age": town,
         "Product_Category": shop, "Purchase": lambda r: 1_000 + r.product},
        {"User_ID": "customer", "Product_ID": "item", "Purchase": "price"},
    ),
    "loyalty cards": (
        {"card_no": lambda r: f"{4_000_000_000_000_000 + r.customer}", "receipt": basket, "timestamp": moment,
         "sku": product_text, "qty": pieces, "unit_price": price, "total": total},
        {"card_no": "customer", "receipt": "invoice", "timestamp": "date", "sku": "item", "qty": "quantity",
         "unit_price": "price"},
    ),
    "ratings": (
        {"userId": who, "movieId": product, "rating": lambda r: 1 + r.line % 5, "date": day},
        {"userId": "customer", "movieId": "item", "date": "date"},
    ),
    "visits alone": (
        {"member": who_text, "purchase_date": day},
        {"member": "customer", "purchase_date": "date"},
    ),
    "floats for numbers": (
        {"customer_id": lambda r: float(10_000 + r.customer), "date": day, "item": words, "price": price},
        {"customer_id": "customer", "date": "date", "item": "item", "price": "price"},
    ),
    "released purchases": (
        {"pseudonym": who, "date": day, "item": product_text, "price": price, "quantity": pieces},
        {"pseudonym": "customer", "date": "date", "item": "item", "price": "price", "quantity": "quantity"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("shop_name", SHOPS)
def test_purchases_are_known_as_purchases(shop_name: str) -> None:
    columns, expected = SHOPS[shop_name]
    found = guess_columns(frame(columns))
    assert (str(found.schema.kind), roles(found), asked(found)) == ("history", expected, [])
    assert found.schema.guessed


@pytest.mark.parametrize("shop_name", SHOPS)
@pytest.mark.parametrize("customers", [1, 2, 3])
def test_few_customers_are_customers_too(shop_name: str, customers: int) -> None:
    columns, expected = SHOPS[shop_name]
    found = guess_columns(frame(columns, lines(customers)))
    assert (str(found.schema.kind), roles(found), asked(found)) == ("history", expected, [])


@pytest.mark.parametrize("shop_name", SHOPS)
def test_texts_of_a_file_say_the_same_as_typed_values(shop_name: str) -> None:
    columns, expected = SHOPS[shop_name]
    typed = frame(columns)
    moments = [name for name, dtype in typed.schema.items() if dtype == pl.Datetime]
    texts = typed.with_columns(pl.col(moments).dt.strftime("%Y-%m-%d %H:%M")).select(pl.all().cast(pl.String))
    assert roles(guess_columns(texts)) == expected
    blank = texts.with_columns(
        pl.when(pl.int_range(pl.len()) % 9 == 4).then(pl.lit("")).otherwise(pl.all()).name.keep()
    )
    assert roles(guess_columns(blank)) == expected, "with one cell in nine left empty"


@pytest.mark.parametrize("shop_name", SHOPS)
def test_one_row_is_a_purchase_by_its_names_or_a_question(shop_name: str) -> None:
    columns, expected = SHOPS[shop_name]
    found = guess_columns(frame(columns, lines(1, 1, 1)))
    unclear = {
        "cds", "household panel", "music by subscription", "one day of sales", "visits alone",
        "baskets numbered for each customer",
    }  # fmt: skip
    assert (str(found.schema.kind), roles(found)) == ("history", expected)
    assert asked(found) == (["kind"] if shop_name in unclear else [])


def test_a_column_of_blanks_takes_no_part() -> None:
    rows = frame({"customer_id": who, "date": day, "item": words, "price": price})
    for dtype in (pl.String, pl.Float64, pl.Null):
        empty = rows.with_columns(pl.Series("member_id", [None] * len(rows), dtype=dtype))
        found = guess_columns(empty)
        assert roles(found) == {"customer_id": "customer", "date": "date", "item": "item", "price": "price"}
        assert found.questions == ()


# --- people ----------------------------------------------------------------------------------------------------------

person: Cell = lambda r: r.line  # noqa: E731
age: Cell = lambda r: 20 + r.line % 50  # noqa: E731
sex: Cell = lambda r: "fm"[r.line % 2]  # noqa: E731

TABLES: dict[str, tuple[dict[str, Cell], dict[str, str]]] = {
    "people": (
        {"id": person, "age": age, "sex": sex, "zip": lambda r: 60_000 + r.line, "disease": town},
        {"id": "identifier", "age": "quasi", "sex": "quasi", "zip": "quasi", "disease": "sensitive"},
    ),
    "customers": (
        {"CustomerID": lambda r: f"{r.line:04}-X", "Gender": sex, "tenure": age, "MonthlyCharges": price, "Churn": sex},
        {"CustomerID": "identifier", "Gender": "quasi", "tenure": "quasi", "MonthlyCharges": "quasi", "Churn": "quasi"},
    ),
    "customers and what they spent": (
        {"customer_id": person, "age": age, "last_purchase_date": day, "total_spend": total},
        {"customer_id": "identifier", "age": "quasi", "last_purchase_date": "quasi", "total_spend": "quasi"},
    ),
    "survey": (
        {"age": age, "gender": sex, "region": town, "q1": pieces, "q2": pieces, "income": total},
        {"age": "quasi", "gender": "quasi", "region": "quasi", "q1": "quasi", "q2": "quasi", "income": "sensitive"},
    ),
    "companies": (
        {"company": words, "industry": town, "revenue": total, "employees": age, "founded": age},
        {"company": "quasi", "industry": "quasi", "revenue": "quasi", "employees": "quasi", "founded": "quasi"},
    ),
    "staff": (
        {"社員番号": person, "氏名": lambda r: f"山田{r.line}", "部署コード": shop, "年齢": age, "年収": total},
        {"社員番号": "identifier", "氏名": "identifier", "部署コード": "quasi", "年齢": "quasi", "年収": "sensitive"},
    ),
    "patients": (
        {"Patientennummer": person, "Geburtsdatum": lambda r: dt.date(1950, 1, 1) + dt.timedelta(days=97 * r.line),
         "PLZ": lambda r: 10_115 + r.line % 40, "Diagnose": town, "E-Mail": lambda r: f"a{r.line}@example.org"},
        {"Patientennummer": "identifier", "Geburtsdatum": "quasi", "PLZ": "quasi", "Diagnose": "sensitive",
         "E-Mail": "identifier"},
    ),
    "houses": (
        {"date": day, "price": total, "bedrooms": pieces, "zipcode": shop},
        {"date": "quasi", "price": "quasi", "bedrooms": "quasi", "zipcode": "quasi"},
    ),
    "remarks": (
        {"age": age, "sex": sex, "remarks": lambda r: f"said on the {r.line}th day that all is well"},
        {"age": "quasi", "sex": "quasi", "remarks": "identifier"},
    ),
    "heart": (
        {"age": age, "cardio": lambda r: r.line % 2, "account": lambda r: r.line % 2, "cholesterol": pieces},
        {"age": "quasi", "cardio": "quasi", "account": "quasi", "cholesterol": "quasi"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_people_are_known_as_people(table: str) -> None:
    columns, expected = TABLES[table]
    found = guess_columns(frame(columns))
    assert (str(found.schema.kind), roles(found), asked(found)) == ("table", expected, [])


def test_texts_of_their_own_are_asked_about() -> None:
    [question] = guess_columns(frame(TABLES["remarks"][0])).questions
    assert (question.about, question.column, question.chosen, question.stops) == (
        "role",
        "remarks",
        "identifier",
        False,
    )
    assert question.text == (
        "remarks: long texts that differ from row to row (72 different values in 72 cells);"
        " does it identify people? identifier was chosen"
    )


# --- what is asked ---------------------------------------------------------------------------------------------------


def question(columns: dict[str, Cell], rows: list[Line] | None = None) -> tuple[str, str, str]:
    found = guess_columns(frame(columns, rows))
    [one] = [question for question in found.questions if question.stops]
    return one.about, one.chosen, one.text


def test_visits_of_patients_are_asked_about() -> None:
    visits = {"patient_id": who, "birth_year": age, "sex": sex, "diagnosis": town, "visit_date": day}
    assert question(visits) == (
        "kind",
        "history",
        "60 rows repeat a value of patient_id (12 values in 72 rows): is each row a purchase?",
    )


def test_a_customer_who_repeats_with_nothing_bought_is_asked_about() -> None:
    assert question({"user_id": who, "gender": sex, "city": town})[:2] == ("kind", "table")


def test_a_few_people_entered_twice_are_asked_about() -> None:
    twice = {"customer_id": lambda r: max(r.line, 3), "name": lambda r: f"n{r.line}", "age": age}
    assert question(twice) == (
        "kind",
        "table",
        "3 rows repeat a value of customer_id (69 values in 72 rows): is each row a purchase?",
    )
    assert question({"id": lambda r: max(r.line, 3), "age": age})[:2] == ("kind", "table")


def test_one_row_a_customer_with_all_of_a_purchase_is_one() -> None:
    once = {"customer": person, "date": day, "item": words, "price": price}
    found = guess_columns(frame(once))
    assert (str(found.schema.kind), asked(found)) == ("history", [])
    assert (
        found.notes[-1]
        == "(almost) every value of customer occurs in one row; rows are read as purchases, one per customer"
    )
    half = {"Customer ID": person, "Age": age, "Item Purchased": words, "Purchase Amount (USD)": total}
    assert question(half)[:2] == ("kind", "history")


def test_two_who_could_be_the_customer_are_asked_about() -> None:
    both = {"customer_id": who, "user_id": lambda r: r.line % 5, "date": day, "item": words}
    assert question(both) == (
        "customer",
        "customer_id",
        "customer_id and user_id could each be the customer (12 and 5 values in 72 rows): which one is it?",
    )
    found = guess_columns(frame(both))
    assert [answer.value for answer in found.questions[0].answers] == ["customer_id", "user_id"]
    home = {"household_id": lambda r: r.customer // 3, "customer_id": who, "date": day, "item": words}
    assert question(home)[:2] == ("customer", "customer_id")


def test_a_number_for_each_order_alone_is_asked_about() -> None:
    alone = {"order_id": basket, "customer_id": lambda r: 7_000 - r.order, "product_id": product, "price": price}
    assert question(alone) == (
        "customer",
        "customer_id",
        "every value of customer_id has only one order_id: is it the customer, or another order number?",
    )


def test_purchases_of_nobody_are_asked_about() -> None:
    till = {"Invoice ID": line_no, "Branch": town, "Customer type": sex, "Product line": town, "Unit price": price,
            "Quantity": pieces, "Date": day}  # fmt: skip
    assert question(till) == (
        "kind",
        "table",
        "Date, Invoice ID, Unit price, Quantity and 1 more look like purchases, but no column is the customer:"
        " is each row a purchase?",
    )


def test_a_number_of_nothing_in_purchases_is_asked_about() -> None:
    bare = {"id": who, "chain": shop, "date": day, "productsize": price, "purchasequantity": pieces,
            "purchaseamount": total, "brand": town}  # fmt: skip
    assert question(bare) == (
        "customer",
        "id",
        "no column is named like a customer; id has 12 values in 72 rows: is it the customer?",
    )


def test_names_nobody_knows_are_asked_about_where_a_number_repeats_beside_dates() -> None:
    strange = {"asiakas": who, "pvm": day, "tuote": words, "hinta": price}
    rows = lines(30)
    assert question(strange, rows)[:2] == ("kind", "history")
    headerless = {"column1": who, "column2": day, "column3": pieces, "column4": price}
    assert question(headerless, rows)[:2] == ("kind", "history")


def test_a_list_in_the_contests_order_is_asked_about_where_nobody_comes_again() -> None:
    people = {"column1": person, "column2": day, "column3": product_text, "column4": price, "column5": pieces}
    assert question(people)[:2] == ("kind", "history")


# --- what somebody said ----------------------------------------------------------------------------------------------


def test_what_somebody_said_is_taken_and_not_asked_again() -> None:
    visits = frame({"patient_id": who, "sex": sex, "diagnosis": town, "visit_date": day})
    as_people = guess_columns(visits, kind="table")
    assert asked(as_people) == []
    assert roles(as_people) == {
        "patient_id": "identifier", "sex": "quasi", "diagnosis": "sensitive", "visit_date": "quasi"
    }  # fmt: skip
    as_visits = guess_columns(visits, kind=Kind.HISTORY)
    assert asked(as_visits) == []
    assert roles(as_visits) == {"patient_id": "customer", "visit_date": "date"}


def test_rows_said_to_be_purchases_keep_their_roles() -> None:
    columns, expected = SHOPS["household panel"]
    assert roles(guess_columns(frame(columns), kind="history")) == expected
    nameless = frame({"a": who, "b": words, "c": price})
    found = guess_columns(nameless, kind="history")
    assert roles(found) == {"a": "customer", "b": "item", "c": "price"}
    assert asked(found) == ["customer"]
    assert asked(guess_columns(nameless, customer="a")) == []


def test_the_customer_somebody_names_is_the_customer() -> None:
    both = frame({"customer_id": who, "user_id": lambda r: r.line % 5, "date": day, "item": words})
    found = guess_columns(both, customer="user_id")
    assert roles(found) == {"customer_id": "identifier", "user_id": "customer", "date": "date", "item": "item"}
    assert [(question.about, question.column) for question in found.questions] == [("role", "customer_id")]
    with pytest.raises(SchemaError, match=r"the data has no column 'user' \(did you mean user_id\?\)"):
        guess_columns(both, customer="user")
    with pytest.raises(SchemaError, match="rows that are people have no customer column; omit the customer"):
        guess_columns(both, kind="table", customer="user_id")
    with pytest.raises(SchemaError, match="no column can be a date, an item, a price or a quantity"):
        guess_columns(frame({"customer": who}), kind="history")
    with pytest.raises(SchemaError, match="no column can be the customer"):
        guess_columns(frame({"age": age}), kind="history")


def test_numbers_of_days_are_no_dates_and_that_is_said() -> None:
    found = guess_columns(frame(SHOPS["household panel"][0]))
    assert "DAY has numbers from 1 to 113, not dates; it is read as other" in found.notes
    groceries = guess_columns(frame(SHOPS["groceries"][0]))
    assert groceries.notes[-1] == "no other column fits, so itemDescription is read as the item"
