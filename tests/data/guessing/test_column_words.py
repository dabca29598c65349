"""What a column's name says, in ten languages."""

import pytest

from noren.data.guessing.column_words import Hint, is_bare, is_bare_id, last_hint, says, spelled


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CustomerID", "_customer_id_"),
        ("HTTPUserAgent", "_http_user_agent_"),
        ("Customer ID", "_customer_id_"),
        ("customer-name", "_customer_name_"),
        ("会員ＩＤ", "_会員_id_"),
        ("がっこう", "_がっこう_"),
        ("quantité", "_quantite_"),
        ("Stück", "_stuck_"),
        ("Straße", "_strasse_"),
        ("Rechnungsbetrag", "_rechnungs_betrag_"),
        ("update", "_update_"),
        ("_", "__"),
    ],
)
def test_names_are_spelled_in_one_way(name: str, words: str) -> None:
    assert spelled(name) == words


@pytest.mark.parametrize(
    ("word", "names"),
    [
        (
            Hint.BUYER,
            "cust_id CustID CustomerID customer_unique_id user_id userid Member_number visitorid msno 会員ID 顧客コード"
            " Kundennr Kundennummer client NoClient id_cliente utente buyer 客户编号 고객번호",
        ),
        (Hint.HOUSEHOLD, "household_key HSHD_ID 世帯番号"),
        (Hint.CARD, "card_no loyalty_id account_id カード番号"),
        (Hint.PERSON, "patient_id employee_no 社員番号 Patientennummer"),
        (
            Hint.ORDER,
            "order_id invoice_no BASKET_ID receipt transaction_id ticket Bon num_pedido 伝票番号 订单号 주문번호",
        ),
        (Hint.DATE, "purchase_date InvoiceDate timestamp t_dat event_time 購買日 Bestelldatum jour fecha 구매일 日期"),
        (Hint.GOODS, "sku asin article_id product_id StockCode itemDescription 商品コード JAN JANコード Artikel"),
        (Hint.UNIT_PRICE, "price unit_price Preis Einzelpreis prix precio 単価 价格"),
        (Hint.TOTAL, "sales_value amount dollars spend 金額 betrag Rechnungsbetrag TotalAmount 금액"),
        (Hint.QUANTITY, "qty quantity cds units 数量 Menge quantité Bestellmenge 수량"),
        (Hint.SENSITIVE, "income Diagnose hiv_status 年収 religion 病名"),
        (Hint.BIRTH, "birth_date DOB Geburtsdatum 生年月日"),
    ],
)
def test_words_are_found(word: Hint, names: str) -> None:
    assert [name for name in names.split() if not says(name, word)] == []


@pytest.mark.parametrize(
    ("word", "names"),
    [
        (Hint.BUYER, "discount clientele custom customs abuse"),
        (Hint.CARD, "cardio cardinality discard accounting"),
        (Hint.QUANTITY, "discount country account community"),
        (Hint.DATE, "update candidate holiday_home todayish"),
        (Hint.GOODS, "production itemised stockholm january"),
        (Hint.ORDER, "border disorder inventory ordinary"),
        (Hint.PERSON, "personality impatient"),
    ],
)
def test_words_inside_other_words_do_not_count(word: Hint, names: str) -> None:
    assert [name for name in names.split() if says(name, word)] == []


def test_a_name_is_of_what_it_ends_with() -> None:
    entities = (Hint.ORDER, Hint.BUYER, Hint.PLACE)
    assert last_hint("order_customer_id", *entities) == Hint.BUYER
    assert last_hint("customer_order_id", *entities) == Hint.ORDER
    assert last_hint("shop_customer_id", *entities) == Hint.BUYER
    assert last_hint("customer_store_id", *entities) == Hint.PLACE
    assert last_hint("colour", *entities) is None


def test_bare_names() -> None:
    assert is_bare("Client", Hint.BUYER)
    assert is_bare("会員", Hint.BUYER)
    assert not is_bare("client_mood", Hint.BUYER)
    assert [name for name in ("id", "ID", "uuid", "Row ID", "shop_id", "idea") if is_bare_id(name)] == [
        "id", "ID", "uuid", "Row ID"
    ]  # fmt: skip
