"""Small files with what identifies people in them, and files with nothing of the kind that look like it.

Each is made for any number of people. Its columns are functions of a person and of a row; those that must be found
stand in ``must``, and nothing else may be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from noren.data.schema import Column

__all__ = ["FRAGMENTS", "SIZES", "Fragment"]

SIZES = (1, 2, 4, 30, 2_001)
SOME, MANY = (4, 30, 2_001), (30, 2_001)
Cell = Callable[[int, int], object]
"""A cell by the person's number and the row's."""


def words(text: str, by: str = " ") -> list[str]:
    return text.split(by)


GIVEN = words(
    "Claire Darrin Sean Brosina Andrew Irene Harold Pete Alejandro Zuschuss Ken Sandra Emily Eric Tracy Matthew Gene "
    "Steven Linda Ruben Erin Odella Patrick Lena Darren Janet Ted Kunst Paul Brendan"
)
FAMILY = words(
    "Gute Van-Huff O'Donnell Hoffman Allen Maddox Pawlan Kriz Grove Donatelli Brown Flashing Burns Hoffmann Blumstein "
    "Smith Johnson Abelman Foulston Miller Stobb"
)
FAMILY_JA = words("山田 佐藤 鈴木 高橋 田中 伊達 渡辺 白石 綾小路 小林 神田 吉田 宇佐美")
GIVEN_JA = words("太郎 花子 一郎 恵 翔太 美咲 玲央 健一 小百合 大輔 由美子")
KANA = words("ヤマダ サトウ スズキ タカハシ タナカ ダテ ワタナベ シライシ アヤノコウジ コバヤシ")
KANA_GIVEN = words("タロウ ハナコ イチロウ メグミ ショウタ ミサキ レオ")
GOODS = words("Green tea,Brown rice,Rose wine,Soy sauce,Miso soup,Olive oil,Jasmine rice,Noodles,Butter,Salmon", ",")
TOWNS = words("San Jose,Santa Maria,Jackson,Austin,New York,Springfield,Charlotte,Kobe,Osaka,Nara", ",")
FIRMS = words("Johnson Controls,Wells Fargo,Morgan Stanley,Works KK,Acme Ltd,Miller Brewing,Ford Motor,Delta Air", ",")


def full(n: int, _row: int = 0) -> str:
    return f"{GIVEN[n % 30]} {FAMILY[n * 7 % 21]}"


def kanji(n: int, _row: int = 0) -> str:
    return f"{FAMILY_JA[n % 13]} {GIVEN_JA[n * 3 % 11]}"


def kana(n: int, _row: int = 0) -> str:
    return f"{KANA[n % 10]} {KANA_GIVEN[n % 7]}"


def mail(n: int, _row: int = 0) -> str:
    return f"{GIVEN[n % 30].lower()}.{n}@mail{n % 3}.example.org"


def luhn(digits: str) -> str:
    """Return the number with its check digit."""
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def card(n: int, _row: int = 0) -> str:
    return luhn(f"4{n * 7_919 % 10**14:014}")


def my_number(n: int, _row: int = 0) -> str:
    digits = f"{n * 104_729 % 10**11:011}"
    left = sum(int(d) * (p + 1 if p <= 6 else p - 5) for p, d in enumerate(reversed(digits), start=1)) % 11
    return digits + str(0 if left <= 1 else 11 - left)


def iban(n: int, _row: int = 0) -> str:
    account = f"{37_040_044 + n:018}"
    check = 98 - int(account + "131400") % 97  # D is 13, E is 14
    return f"DE{check:02} {account[:4]} {account[4:8]} {account[8:12]} {account[12:16]} {account[16:]}"


def jan(n: int, row: int) -> str:
    digits = f"49{(n + row) * 104_729 % 10**10:010}"
    return digits + str(-sum(int(d) * (1 + 2 * (i % 2)) for i, d in enumerate(digits)) % 10)


def uuid(n: int, _row: int = 0) -> str:
    text = f"{n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def street(n: int, _row: int = 0) -> str:
    return f"{1 + n * 13 % 997} {('Elm', 'Old Oak', 'Station', 'High')[n % 4]} {('Street', 'Ave', 'Road')[n % 3]}"


def address_ja(n: int, _row: int = 0) -> str:
    return (
        f"東京都{('新宿区西新宿', '港区芝公園', '八王子市元本郷町')[n % 3]}{1 + n % 4}丁目{1 + n % 30}番{1 + n % 9}号"
    )


def remark(n: int, row: int) -> str:
    return f"person {n} said on visit {row} that the delivery was {('late', 'fine', 'early')[row % 3]}, thank you"


def born(n: int, _row: int = 0) -> dt.date:
    return dt.date(1950, 1, 1) + dt.timedelta(days=97 * n % 18_000)


def of(values: list[str] | tuple[str, ...]) -> Cell:
    """Return one of the values by the row: it goes with nobody."""
    return lambda n, row: values[(n * 5 + row * 3) % len(values)]


@dataclass(frozen=True)
class Fragment:
    """A file: its kind, its columns, those that identify people, and how many people it is made for."""

    name: str
    kind: Literal["history", "table"]
    columns: Mapping[str, Cell]
    must: frozenset[str]
    sizes: tuple[int, ...] = SIZES

    def rows(self, people: int) -> pl.DataFrame:
        """Return the file's rows: three purchases of each customer, or one row per person."""
        each = 3 if self.kind == "history" else 1
        places = [(n, n * each + i) for n in range(people) for i in range(each)]
        return pl.DataFrame({name: [cell(n, row) for n, row in places] for name, cell in self.columns.items()})

    @property
    def customer(self) -> str | None:
        """The column that tells who bought; the first of purchases."""
        return next(iter(self.columns)) if self.kind == "history" else None

    @property
    def schema(self) -> list[Column]:
        """The columns as somebody who knows the shop describes them, and nothing of what identifies people."""
        types = {int: "integer", float: "decimal", dt.date: "date"}
        roles = {"history": dict(zip(self.columns, ("customer", *ROLES), strict=False)), "table": {}}[self.kind]
        return [
            Column.model_validate(
                {"name": n, "role": roles.get(n, "other"), "type": types.get(type(cell(0, 0)), "text")}
            )
            for n, cell in self.columns.items()
        ]


ROLES = ("date", "item", "price")
BOUGHT: dict[str, Cell] = {
    "Customer ID": lambda n, _r: f"C{10_000 + 37 * n}",
    "Date": lambda n, r: dt.date(2024, 1, 1) + dt.timedelta(days=(n + 11 * r) % 300),
    "Item": of(GOODS),
    "Price": lambda n, r: round(1.25 + (n + r) % 40 / 4, 2),
}
BOUGHT_JA: dict[str, Cell] = {
    "会員番号": BOUGHT["Customer ID"],
    "購買日": BOUGHT["Date"],
    "商品名": of(("緑茶", "田舎みそ", "山形だし", "小林製麺", "千葉ピーナッツ")),
    "金額": lambda n, r: 100 + (n + r) % 40 * 10,
}
PEOPLE: dict[str, Cell] = {
    "age": lambda n, _r: 20 + n % 50,
    "sex": lambda n, _r: "fm"[n % 2],
    "city": lambda n, _r: TOWNS[n % 10],
}
PEOPLE_JA: dict[str, Cell] = {
    "年齢": PEOPLE["age"],
    "性別": lambda n, _r: "男女"[n % 2],
    "都道府県": lambda n, _r: ("山口", "千葉", "石川", "東京", "大阪")[n % 5],
}


def bought(story: str, /, sizes: tuple[int, ...] = SIZES, but: tuple[str, ...] = (), **columns: Cell) -> Fragment:
    named = {header.replace("_", " "): cell for header, cell in columns.items()}
    return Fragment(story, "history", BOUGHT | named, frozenset(named) - set(but), sizes)


def bought_ja(story: str, /, sizes: tuple[int, ...] = SIZES, but: tuple[str, ...] = (), **columns: Cell) -> Fragment:
    return Fragment(story, "history", BOUGHT_JA | columns, frozenset(columns) - set(but), sizes)


def people(story: str, /, sizes: tuple[int, ...] = SIZES, but: tuple[str, ...] = (), **columns: Cell) -> Fragment:
    return Fragment(story, "table", PEOPLE | columns, frozenset(columns) - set(but), sizes)


def people_ja(story: str, /, sizes: tuple[int, ...] = SIZES, but: tuple[str, ...] = (), **columns: Cell) -> Fragment:
    return Fragment(story, "table", PEOPLE_JA | columns, frozenset(columns) - set(but), sizes)


def blank(cell: Cell, every: int = 3) -> Cell:
    """Leave cells empty, the first one never."""
    return lambda n, row: cell(n, row) if row % every == 0 else ""


FRAGMENTS = (
    # --- purchases: names
    bought("customer name", Customer_Name=full),
    bought("name of the bill", Billing_Name=lambda n, _r: f"{FAMILY[n % 21].upper()}, {GIVEN[n % 30].upper()}"),
    bought("names with titles", Recipient_name=lambda n, _r: f"Mr. {full(n)}"),
    bought("names in lower case", contact_name=lambda n, _r: full(n).lower()),
    bought("names under no header", SOME, c7=full),
    bought("bare name", name=full),
    bought("company as customer name", Customer_Name=of(FIRMS)),
    bought("names on half of the rows", Customer_Name=blank(full)),
    bought("first and last name", First_Name=lambda n, _r: GIVEN[n % 30], Last_Name=lambda n, _r: FAMILY[n % 21]),
    bought("nickname", Nickname=lambda n, _r: f"tiger{n % 700}"),
    bought_ja("氏名", 氏名=kanji),
    bought_ja("氏名 without a space", 会員名=lambda n, r: kanji(n, r).replace(" ", "")),
    bought_ja("フリガナ", フリガナ=kana),
    bought_ja("half-width kana", 氏名カナ=lambda n, _r: ("ﾔﾏﾀﾞ ﾀﾛｳ", "ｻﾄｳ ﾊﾅｺ", "ｽｽﾞｷ ﾚｵ")[n % 3]),
    bought_ja("names with 様", 宛名=lambda n, r: kanji(n, r) + " 様"),
    bought_ja("Japanese names under no header", SOME, 列9=kanji),
    # --- purchases: what reaches people
    bought("e-mail", Email=mail),
    bought("e-mail under no header", ref=mail),
    bought("two e-mails in a cell", ref=lambda n, _r: f"{mail(n)}; {mail(n + 1)}"),
    bought("e-mails of some", contact=blank(mail)),
    bought("telephones", Phone=lambda n, _r: f"({200 + n % 700}) 555-{n % 10_000:04}"),
    bought("telephones under no header", c5=lambda n, _r: f"{200 + n % 700}-555-{n % 10_000:04}"),
    bought("international telephones", SOME, c6=lambda n, _r: f"+44 20 7946 {n % 10_000:04}"),
    bought_ja("電話番号", 電話番号=lambda n, _r: f"090-{1_000 + n}-5678"),
    bought_ja("電話 without hyphens", 連絡先電話=lambda n, _r: f"080{n:08}"),
    bought_ja("full-width telephones", 備考番号=lambda n, _r: f"０３－{1_000 + n}－５６７８".replace("－", "-")),
    bought("street", Shipping_Street=street),
    bought("addresses under no header", SOME, c8=street),
    bought_ja("住所", 住所=address_ja),
    bought_ja("address under no header", SOME, 列3=address_ja),
    bought("network addresses", SOME, last_login=lambda n, _r: f"203.0.{n // 250}.{n % 250}"),
    # --- purchases: numbers
    bought("payment cards", (30, 2_001), payment_ref=card),
    bought("payment cards with spaces", card_used=lambda n, _r: " ".join(card(n)[i : i + 4] for i in (0, 4, 8, 12))),
    bought("bank accounts", bank=iban),
    bought("account number", Account_No=lambda n, _r: f"AC{n * 7_919 % 10**7:07}"),
    bought_ja("My Number", (30, 2_001), 列8=my_number),
    bought("a code of each customer", MANY, key2=lambda n, _r: f"{n * 104_729 % 2**32:08x}"),
    bought("a code of each customer, half of them blank", MANY, key2=blank(lambda n, _r: f"K{n * 7_919 % 10**9}", 2)),
    bought("UUID of each customer", MANY, token=uuid),
    bought("birth date", Date_of_Birth=born),
    bought_ja("生年月日", 生年月日=lambda n, _r: f"{1950 + n % 60}/{1 + n % 12}/{1 + n % 28}"),
    bought("remarks", SOME, remarks=remark),
    bought("remarks with some addresses", MANY, note=lambda n, r: f"write to {mail(n)}" if r % 40 == 5 else "no note"),
    bought(
        "everything at once",
        Customer_Name=full,
        Email=mail,
        Phone=lambda n, _r: f"+1 415 555 {n % 10_000:04}",
        Address=street,
        Birthday=born,
    ),
    # --- purchases: nothing
    bought(
        "nothing of the kind",
        but=("Product Name", "City", "Company Name", "Brand", "Author", "Store Name", "File Name", "Event Name"),
        Product_Name=of(GOODS),
        City=of(TOWNS),
        Company_Name=of(FIRMS),
        Brand=of(("Ford", "Paul Smith", "Calvin Klein", "Tommy Hilfiger", "Jack Wolfskin")),
        Author=of([full(n) for n in range(9)]),
        Store_Name=of(("Smith Street", "Madison", "Kobe")),
        File_Name=of(("export_jan.csv", "export_feb.csv")),
        Event_Name=of(("sale", "spring week")),
    ),
    bought(
        "numbers of nothing of the kind",
        but=("JAN", "order time", "weight", "lot", "version", "ship mode"),
        JAN=jan,
        order_time=lambda n, r: f"{9 + r % 9:02}:{n % 60:02}",
        weight=lambda n, r: (n * 7 + r) % 400,
        lot=lambda n, r: f"0{r % 90 + 10}-{n % 9}-2018",
        version=lambda _n, r: f"1.2.{r % 5}",
        ship_mode=of(("First Class", "Second Class", "Same Day")),
    ),
    bought_ja(
        "日本の品々",
        but=("店舗名", "地域", "ブランド", "担当部署", "分類"),
        店舗名=of(("山口店", "高橋商店", "千葉駅前店")),
        地域=of(("山口", "石川", "宮崎", "千葉", "東京")),
        ブランド=of(("小林製薬", "森永", "山崎パン")),
        担当部署=of(("営業部", "総務部")),
        分類=of(("飲料", "食品")),
    ),
    # --- people
    people(
        "convictions",
        id=lambda n, _r: n + 1,
        name=lambda n, _r: full(n % 1_500).lower(),
        first=lambda n, _r: GIVEN[n % 30].lower(),
        last=lambda n, _r: FAMILY[n * 7 % 21].lower(),
        c_case_number=lambda n, _r: f"13{n * 7 % 1_800:06}CF10A",
        but=("dob", "race"),
        dob=born,
        race=of(("Other", "Caucasian")),
    ),
    people("address book", FirstName=lambda n, _r: GIVEN[n % 30], Surname=lambda n, _r: FAMILY[n % 21], Street=street),
    people("passengers", Name=lambda n, _r: f"{FAMILY[n % 21]}, Mr. {GIVEN[n % 30]} {GIVEN[n % 7]}"),
    people("user names", username=lambda n, _r: f"{GIVEN[n % 30].lower()}{n}"),
    people("e-mails of some", email=blank(mail)),
    people("telephones of families", phone=lambda n, _r: f"03-{1_000 + n // 2}-5678"),
    people("social security", ssn=lambda n, _r: f"{100 + n % 800}-{10 + n % 80}-{1_000 + n}"),
    people("passports", passport_no=lambda n, _r: f"TK{n * 7_919 % 10**7:07}"),
    people("policies that repeat", MANY, policy_number=lambda n, _r: f"P{n // 2:06}"),
    people("licences", driver_license_number=lambda n, _r: f"D{n * 7_919 % 10**8:08}"),
    people("profiles", SOME, profile=lambda n, _r: f"https://people.example.org/in/{n * 31}"),
    people("network addresses", SOME, ip=lambda n, _r: f"2001:db8::{n // 999:x}:{n + 4096:x}"),
    people("unique identifiers", SOME, token=uuid),
    people("remarks", MANY, remarks=remark),
    people("names under no header", SOME, column3=full),
    people("surnames under no header", MANY, column3=lambda n, _r: words("Smith Davis Garcia Jones Kriz")[n % 5]),
    people("two people in a cell", SOME, parents=lambda n, _r: f"{full(n)} & {full(n + 3)}"),
    people_ja("名簿", 氏名=lambda n, r: kanji(n % 600, r), フリガナ=lambda n, r: kana(n % 600, r)),
    people_ja("姓と名", 姓=lambda n, _r: FAMILY_JA[n % 13], 名=lambda n, _r: GIVEN_JA[n % 11]),
    people_ja("カナ under no header", SOME, 列3=kana),
    people_ja("個人番号", 個人番号=my_number),
    people_ja("学籍番号", 学籍番号=lambda n, _r: f"S{n * 31:06}"),
    people_ja("連絡先", メール=mail, 携帯電話=lambda n, _r: f"090{n:08}", 住所=address_ja),
    people_ja("所見", MANY, 所見=lambda n, r: f"{n}番目の方は{r}回目の来院、体調は良好。次回は来月の予定です。"),
    people(
        "attributes of people",
        but=("occupation", "education", "zip", "income", "company name", "hobby", "postcode", "employer"),
        occupation=of(("Baker", "Cook", "Miller", "Smith", "Taylor")),
        education=of(("Bachelors", "HS-grad")),
        zip=lambda n, _r: 60_000 + n % 40,
        income=lambda n, _r: 20_000 + 137 * n,
        hobby=of(("chess", "go")),
        **{"company name": of(FIRMS)},  # type: ignore[arg-type]
        postcode=lambda n, _r: f"SW1A {n % 9}AA",
        employer=of(FIRMS),
    ),
    people_ja(
        "属性",
        but=("職業", "年収", "出身地"),
        職業=of(("会社員", "公務員")),
        年収=lambda n, _r: 3_000_000 + 10_000 * n,
        出身地=of(("山口県", "高知市", "石川県")),
    ),
)  # fmt: skip
