"""Columns that identify people are found in files of every kind and size, and little else is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from tests.guard.fragments import FRAGMENTS, Fragment, card, iban, my_number
from tests.zoo.animal import Animal
from tests.zoo.zoo import ZOO

from noren.data.guessing import identifying
from noren.data.guessing.identifying import Identifying, identifying_columns
from noren.data.guessing.schema_guess import guess_columns, guess_schema
from noren.data.schema import Column, Kind, Role
from noren.studio.forms.columns import HISTORY_ROLES, with_answer
from noren.studio.work.reading import guessed_with, questions_in_every_language

CASES = [
    pytest.param(
        one, size, id=f"{one.kind}-{one.name}-{size}", marks=pytest.mark.slow if size > 100 and place % 8 else ()
    )
    for place, one in enumerate(FRAGMENTS)
    for size in one.sizes
]
"""Every eighth file of many people is enough for the fast tier."""


def found_in(values: Mapping[str, object], customer: str | None = None) -> dict[str, tuple[str, bool]]:
    """Return kind and sureness of what is found in columns, typed as they are."""
    rows = pl.DataFrame(values)
    columns = guess_columns(rows.select(pl.all()), kind="table").schema.columns
    plain = [column.model_copy(update={"role": Role.OTHER}) for column in columns]
    return {n: (one.kind, one.sure) for n, one in identifying_columns(plain, rows, customer=customer).items()}


# --- files -----------------------------------------------------------------------------------------------------------


def test_there_are_enough_files() -> None:
    assert len(FRAGMENTS) == len({(one.kind, one.name) for one in FRAGMENTS}) >= 45


@pytest.mark.parametrize(("fragment", "people"), CASES)
def test_what_identifies_people_is_found(fragment: Fragment, people: int) -> None:
    found = identifying_columns(fragment.schema, fragment.rows(people), customer=fragment.customer)
    assert set(found) == fragment.must
    for one in found.values():
        assert one.evidence
        told = fragment.rows(people)[one.column].cast(pl.String).unique().to_list()
        assert not any(value and len(value) > 4 and value in one.evidence for value in told), "a value of the data"


@pytest.mark.parametrize("fragment", [pytest.param(one, id=f"{one.kind}-{one.name}") for one in FRAGMENTS])
def test_a_guess_takes_it_as_an_identifier_and_asks_where_it_is_not_sure(fragment: Fragment) -> None:
    rows, customer = fragment.rows(30), fragment.customer
    guess = guess_columns(rows, kind=None if customer else Kind(fragment.kind), customer=customer)
    assert {column.name for column in guess.schema.columns if column.role == Role.IDENTIFIER} == fragment.must
    unsure = [
        n for n, one in identifying_columns(guess.schema.columns, rows, customer=customer).items() if not one.sure
    ]
    assert [question.column for question in guess.questions if question.about == "role"] == unsure
    assert not any(question.stops for question in guess.questions)


FALSE_ALARMS: set[tuple[str, str]] = set()
"""Columns of the zoo that are taken for identifiers, and are none."""


@pytest.mark.parametrize("animal", ZOO, ids=[one.name for one in ZOO])
def test_the_zoo_raises_no_other_alarm(animal: Animal, tmp_path: Path) -> None:
    flags = dict(zip(animal.flags[::2], animal.flags[1::2], strict=True))
    kind = {"purchases": Kind.HISTORY, "people": Kind.TABLE, None: None}[flags.get("--rows")]
    customer = flags.get("--customer")
    guess = guess_schema(animal.write(tmp_path), kind=None if customer else kind, customer=customer)
    found = {column.name for column in guess.schema.columns if column.role == Role.IDENTIFIER}
    right = animal.reading.roles
    assert {(animal.name, name) for name in found if Role.IDENTIFIER not in right(name)} <= FALSE_ALARMS
    assert {name for name in guess.schema.names if right(name) == {Role.IDENTIFIER}} <= found


def test_false_alarms_are_fewer_than_one_in_twenty() -> None:
    others = [n for a in ZOO for n in a.reading.columns if Role.IDENTIFIER not in a.reading.roles(n)]
    assert len(FALSE_ALARMS) <= 0.05 * len(others)


# --- values ----------------------------------------------------------------------------------------------------------


def test_check_digits() -> None:
    # the numbers that payment networks, ISO 13616 and the agency of the My Number give as examples
    assert all(map(identifying._luhn, ("4111 1111 1111 1111", "378282246310005", "5555-5555-5555-4444")))
    assert all(map(identifying._iban, ("GB82 WEST 1234 5698 7654 32", "DE89 3704 0044 0532 0130 00")))
    assert identifying._my_number("1234 5678 9018")
    for made, check in (
        (card(7), identifying._luhn),
        (iban(7), identifying._iban),
        (my_number(7), identifying._my_number),
    ):
        assert check(made)
        assert sum(check(made[:-1] + digit) for digit in "0123456789") == 1, "one last digit is right"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("ann@example.org", "e-mail"),
        ("call (212) 555-0123 after six, or 212-555-0199", None),  # of one cell nothing is said
        ("+81 90-1234-5678", "phone"),
        ("+49 (0)30 1234567", "phone"),
        ("212-555-0123 x12", "phone"),
        ("01 23 45 67 89", "phone"),
        ("03-1234-5678", "phone"),
        ("４９－１２３４".replace("－", "-"), None),
        ("4006381333931", None),  # an article number
        ("01-04-2018", None),
        ("2018-04-01", None),
        ("978-4-06-519981-7", None),
        ("DE89370400440532013000", "iban"),
        ("12:30:45", None),
        ("192.168.2.200", "ip"),
        ("00:1B:44:11:3A:B7", "ip"),
        ("https://example.org/ann", "url"),
        ("221B Baker Street", "address"),
        ("〒160-0023 東京都新宿区西新宿2-8-1", "address"),
        ("Hauptstraße 12, Berlin", "address"),
        ("12 rue de la Paix", "address"),
    ],
)
def test_one_value_under_no_header(value: str, kind: str | None) -> None:
    found = identifying_columns([Column(name="x")], pl.DataFrame({"x": [value]}))
    assert (found["x"].kind if found else None) == kind


def test_some_addresses_in_remarks_are_found_and_not_sure() -> None:
    notes = ["please ring twice"] * 196
    assert found_in({"note": [*notes, "write to a@example.org", "b@example.org", "", "x"]}) == {
        "note": ("e-mail", False)
    }
    assert found_in({"note": [*notes, "write to a@example.org", "at home @ six", "", "x"]}) == {}
    assert found_in({"note": [*notes, "call 212-555-0123", "or 090-1234-5678", "", "x"]}) == {"note": ("phone", False)}


def test_articles_cards_and_chance() -> None:
    plain = [f"4{n * 7_919:015}" for n in range(200)]  # one in ten has the right check digit by chance
    assert found_in({"ref": [*plain, *plain]}) == {}
    assert found_in({"ref": [card(n % 100) for n in range(200)]}) == {"ref": ("card", True)}
    assert found_in({"ref": [my_number(n % 100) for n in range(200)]}) == {"ref": ("my-number", True)}
    # the check digit of an article number of 12 digits is another
    assert found_in({"ref": [f"{12_345_678_901 + n % 100:012}" for n in range(200)]}) == {}


def test_towns_firms_and_goods_are_no_people() -> None:
    towns = [
        "New York",
        "San Jose",
        "Austin",
        "Jackson",
        "Madison",
        "Santa Maria",
        "Charlotte",
        "Boise",
        "Reno",
        "Mesa",
    ]
    goods = ["Rose wine", "Jasmine rice", "Olive oil", "Green tea", "Miso", "Brown sugar", "Daisy comb", "Soap", "Tea"]
    firms = [
        "Johnson Controls",
        "Wells Fargo",
        "Morgan Stanley",
        "Ford Motor",
        "Works KK",
        "Delta Air",
        "Ernst & Young",
    ]
    places = ["山口", "千葉", "石川", "宮崎", "東京", "大阪", "京都", "奈良", "福岡", "北海道", "中野駅", "高橋商店"]
    for values in (towns, goods, firms, places):
        assert found_in({"x": values * 3}) == {}


# --- structure -------------------------------------------------------------------------------------------------------


def shop(customers: int, **columns: object) -> dict[str, object]:
    """Return three purchases of each customer, with columns by the customer's number."""
    who = [n for n in range(customers) for _ in range(3)]
    made = {name: [cell(n) for n in who] for name, cell in columns.items()}  # type: ignore[operator]
    return {"who": [f"c{n}" for n in who], **made}


def test_a_value_of_each_customer() -> None:
    for customers, found in ((7, {}), (8, {"x": ("per-customer", False)}), (20, {"x": ("per-customer", True)})):
        assert found_in(shop(customers, x=lambda n: f"K{n * 31}"), "who") == found
    assert found_in(shop(40, x=lambda n: f"K{n // 2}"), "who") == {}, "two customers share each"
    assert found_in(shop(40, x=lambda n: 1_000.5 + n), "who") == {"x": ("per-customer", True)}
    once = {"who": [f"c{n}" for n in range(40)], "x": [f"K{n}" for n in range(40)]}
    assert found_in(once, "who") == {}, "who bought once has one value of everything"


def test_what_goes_with_the_item_is_nobodys() -> None:
    names = ["Claire Gute", "Sean Miller", "Irene Maddox", "Eric Hoffman", "Paul Brown"]
    rows = pl.DataFrame(
        {
            "who": [f"c{n % 12}" for n in range(60)],
            "what": [f"book {n % 5}" for n in range(60)],
            "by": [names[n % 5] for n in range(60)],
            "to": [names[n % 4] for n in range(60)],
        }
    )
    columns = [
        Column.model_validate({"name": n, "role": r})
        for n, r in zip(rows.columns, ("customer", "item", "other", "other"), strict=True)
    ]
    assert set(identifying_columns(columns, rows)) == {"to"}


def test_birth_dates_identify_beside_a_customer_and_link_in_a_table() -> None:
    days = [dt.date(1970, 1, 1) + dt.timedelta(days=n % 9) for n in range(30)]
    assert found_in({"who": [f"c{n % 9}" for n in range(30)], "dob": days}, "who") == {"dob": ("birth-date", True)}
    assert found_in({"dob": days}) == {}


def test_public_parts_are_looked_into() -> None:
    people = ["Claire Gute", "Sean Miller", "Irene Maddox", "Eric Hoffman"]
    rows = pl.DataFrame(
        {
            "pseudonym": ["1", "2", "3"],
            "name": [people[:2], people[2:], None],
            "kind": pl.Series(
                ["a@example.org", "b@example.org", None], dtype=pl.Enum(["a@example.org", "b@example.org"])
            ),
            "age": [{"lo": 20, "hi": 29}, {"lo": 30, "hi": 39}, None],
            "phone": [None, None, None],
            "city": [["Nara", "Uji"], ["Kobe"], ["Nara"]],
        }
    )
    columns = [Column(name=name) for name in (*rows.columns, "gone")]
    found = identifying_columns(columns, rows, customer="pseudonym")
    assert {name: (one.kind, one.sure) for name, one in found.items()} == {
        "name": ("name", True), "kind": ("e-mail", True)
    }  # fmt: skip
    assert found["kind"] == Identifying("kind", "e-mail", True, "2 of 2 values contain e-mail addresses")


def test_columns_with_a_part_in_purchases_are_found_by_their_values_alone() -> None:
    rows = pl.DataFrame(
        {
            "who": [f"c{n}" for n in range(12)],
            "customer name": [f"thing {n}" for n in range(12)],
            "invoice": [f"{n}@example.org" for n in range(12)],
        }
    )
    columns = [
        Column(name="who", role=Role.CUSTOMER),
        Column(name="customer name", role=Role.ITEM),
        Column(name="invoice", role=Role.INVOICE),
    ]
    assert set(identifying_columns(columns, rows)) == {"invoice"}
    table = [column.model_copy(update={"role": Role.SENSITIVE}) for column in columns[1:]]
    assert set(identifying_columns(table, rows)) == {"invoice"}


# --- what is guessed and asked ---------------------------------------------------------------------------------------


def test_an_outcome_is_asked_about_where_nothing_is_sensitive() -> None:
    people = {"age": [20 + n % 9 for n in range(40)], "default": [n % 2 for n in range(40)], "risk": list(range(40))}
    guess = guess_columns(pl.DataFrame(people))
    asked = {question.column: question for question in guess.questions}
    assert asked["default"].text == (
        "Is default sensitive? No column is marked sensitive, so attribute disclosure is not checked"
    )
    assert (asked["default"].about, asked["default"].chosen, asked["default"].stops) == ("role", "quasi", False)
    assert [answer.value for answer in asked["default"].answers] == ["identifier", "quasi", "sensitive", "other"]
    assert guess.schema["default"].role == Role.QUASI
    with_secret = guess_columns(pl.DataFrame(people | {"disease": ["flu", "none"] * 20}))
    assert "default" not in {question.column for question in with_secret.questions}


def test_an_id_beside_a_birthday_and_a_sex_means_people() -> None:
    people = {
        "id": list(range(60)),
        "dob": [dt.date(1970, 1, 1) + dt.timedelta(days=31 * n) for n in range(60)],
        "sex": ["f", "m"] * 30,
        "race": ["a", "b", "c"] * 20,
        "screening_date": [dt.date(2013, 1, 1) + dt.timedelta(days=n % 9) for n in range(60)],
        "charge_desc": ["battery", "theft", "fraud"] * 20,
        "prior_count": [n % 7 for n in range(60)],
        "end": [n // 2 * 31 for n in range(60)],
    }
    guess = guess_columns(pl.DataFrame(people))
    assert (guess.schema.kind, [question for question in guess.questions if question.stops]) == ("table", [])
    assert guess.schema["id"].role == Role.IDENTIFIER


def test_what_was_bought_stays_what_was_bought_and_is_asked_about() -> None:
    rows = pl.DataFrame(
        {
            "customer": [f"c{n % 9}" for n in range(60)],
            "date": [dt.date(2024, 1, 1 + n % 28) for n in range(60)],
            "item": [f"voucher for {n % 11}@example.org" for n in range(60)],
        }
    )
    guess = guess_columns(rows)
    [question] = guess.questions
    assert guess.schema["item"].role == Role.ITEM
    assert (question.column, question.chosen) == ("item", "item")
    assert [answer.value for answer in question.answers] == ["identifier", "other", "item"]
    assert question.text == "item: 60 of 60 values contain e-mail addresses; does it identify people? item was chosen"


def test_the_studio_asks_and_takes_the_answer(tmp_path: Path) -> None:
    lines = [f"c{n // 3},2024-01-{1 + n % 28:02},i{n % 7},K{n // 3}\n" for n in range(36)]
    (tmp_path / "shop.csv").write_text("customer,date,item,key\n" + "".join(lines), encoding="utf-8")
    guess = guessed_with(tmp_path / "shop.csv", [])
    assert guess.schema["key"].role == Role.IDENTIFIER
    [asked] = questions_in_every_language(guess)
    assert (asked["about"], asked["column"], asked["stops"], set(asked["text"])) == ("role", "key", False, {"en", "ja"})
    for role in (answer["value"] for answer in asked["answers"]):
        answered = guessed_with(tmp_path / "shop.csv", with_answer([], "role", "key", role))
        assert answered.schema["key"].role == role
        assert role in HISTORY_ROLES
