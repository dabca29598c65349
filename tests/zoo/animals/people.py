"""Tables of people, and of companies: one row each."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

from tests.zoo.animal import Reading, animal
from tests.zoo.rows import write_csv

GIVEN = [
    "Aiko",
    "Ben",
    "Chie",
    "Dan",
    "Emi",
    "Finn",
    "Goro",
    "Hana",
    "Ivan",
    "Jun",
    "Kei",
    "Lena",
    "Mari",
    "Nils",
    "Otto",
    "Pia",
    "Ryo",
    "Sara",
    "Taro",
    "Uta",
]
FAMILY = [
    "Abe",
    "Brown",
    "Chiba",
    "Doi",
    "Endo",
    "Fuji",
    "Goto",
    "Hara",
    "Ito",
    "Jones",
    "Kato",
    "Lund",
    "Mori",
    "Noda",
    "Ono",
]
ILLNESSES = ("asthma", "diabetes", "flu", "hypertension", "migraine")


def _name(n: int) -> str:
    return f"{GIVEN[n % 10]} {FAMILY[n * 7 % 11]}-{n}"


@animal(
    "people",
    "a census: nobody is named",
    Reading(
        "table",
        {
            "age": "quasi integer",
            "workclass": "quasi text",
            "education": "quasi text",
            "marital-status": "quasi text",
            "race": "quasi|sensitive text",
            "sex": "quasi text",
            "hours-per-week": "quasi|other integer",
            "native-country": "quasi text",
            "income": "sensitive text",
        },
        rows=120,
        people=120,
        cells=((1, "age", 39), (1, "income", "<=50K")),
    ),
)
def census(folder: Path) -> Path:
    chance = random.Random(81)
    others = [
        (
            chance.randrange(17, 80),
            chance.choice(("Private", "State", "Self")),
            chance.choice(("Bachelors", "HS-grad", "Masters")),
            chance.choice(("Married", "Single", "Divorced")),
            chance.choice(("White", "Black", "Asian")),
            chance.choice(("Male", "Female")),
            chance.choice((20, 38, 40, 45, 60)),
            chance.choice(("Japan", "Japan", "Peru")),
            chance.choice(("<=50K", ">50K")),
        )
        for _ in range(119)
    ]
    rows = [(39, "Private", "Bachelors", "Married", "White", "Male", 40, "Japan", "<=50K"), *others]
    header = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "race",
        "sex",
        "hours-per-week",
        "native-country",
        "income",
    ]
    return write_csv(folder, "census.csv", header, rows)


@animal(
    "people",
    "patients of a hospital, one row each",
    Reading(
        "table",
        {
            "patient_id": "identifier text|integer",
            "name": "identifier text",
            "birth_date": "quasi date",
            "sex": "quasi text",
            "postcode": "quasi text|integer",
            "diagnosis": "sensitive text",
        },
        rows=80,
        people=80,
        cells=((1, "birth_date", dt.date(1961, 4, 1)), (1, "postcode", "0650"), (1, "diagnosis", "asthma")),
    ),
)
def patients(folder: Path) -> Path:
    chance = random.Random(82)
    rows = [
        (
            f"P{90_001 + n}",
            _name(n),
            dt.date(1961, 4, 1) + dt.timedelta(days=chance.randrange(12_000) if n else 0),
            "MF"[n % 2],
            f"{650 + n % 6:04d}",
            ILLNESSES[n % 5],
        )
        for n in range(80)
    ]
    return write_csv(folder, "patients.csv", ["patient_id", "name", "birth_date", "sex", "postcode", "diagnosis"], rows)


@animal(
    "people",
    "employees with the day they came and what they earn",
    Reading(
        "table",
        {
            "employee_no": "identifier",
            "name": "identifier text",
            "department": "quasi text",
            "hired_on": "quasi date",
            "salary": "sensitive integer|decimal",
        },
        rows=80,
        people=80,
        cells=((1, "hired_on", dt.date(2018, 4, 1)), (1, "salary", 4_249_000)),
    ),
)
def employees(folder: Path) -> Path:
    chance = random.Random(83)
    rows = [
        (
            20_001 + n,
            _name(n),
            chance.choice(("Sales", "Stock", "Office")),
            dt.date(2018, 4, 1) - dt.timedelta(days=n * 31 % 4000),
            4_249_000 + 1_000 * (chance.randrange(3000) if n else 0),
        )
        for n in range(80)
    ]
    return write_csv(folder, "employees.csv", ["employee_no", "name", "department", "hired_on", "salary"], rows)


@animal(
    "people",
    "companies: what can be counted differs from row to row and names nobody",
    Reading(
        "table",
        {
            "company": "identifier text",
            "country": "quasi text",
            "industry": "quasi text",
            "employees": "quasi integer",
            "revenue": "quasi|sensitive integer|decimal",
            "founded": "quasi integer|date",
        },
        rows=60,
        people=60,
        cells=((1, "company", "Works 1 KK"), (1, "revenue", 1_249_000)),
    ),
)
def companies(folder: Path) -> Path:
    chance = random.Random(84)
    rows = [
        (
            f"Works {n + 1} KK",
            chance.choice(("Japan", "France", "Peru")),
            chance.choice(("tea", "steel", "ships")),
            20 + 13 * n,
            1_249_000 + 7_919 * n,
            1900 + n % 40,
        )
        for n in range(60)
    ]
    return write_csv(
        folder, "companies.csv", ["company", "country", "industry", "employees", "revenue", "founded"], rows
    )


@animal(
    "people",
    "a survey with answers from 1 to 5, some not given",
    Reading(
        "table",
        {"respondent": "identifier", "age_group": "quasi text"}
        | {f"q{n:02d}": "quasi|sensitive|other" for n in range(1, 11)},
        rows=80,
        people=80,
        cells=((1, "age_group", "30-39"), (1, "q01", 5), (2, "q01", None)),
    ),
)
def survey(folder: Path) -> Path:
    chance = random.Random(85)
    rows: list[list[object]] = []
    for n in range(80):
        answers: list[object] = [chance.choice((1, 2, 3, 4, 4, 5, None)) for _ in range(10)]
        if n < 2:
            answers[0] = (5, None)[n]
        rows.append([40_001 + n, ("30-39", "20-29", "40-49")[n % 3], *answers])
    return write_csv(folder, "survey.csv", ["respondent", "age_group", *(f"q{n:02d}" for n in range(1, 11))], rows)


@animal(
    "people",
    "students and their marks",
    Reading(
        "table",
        {
            "student_id": "identifier",
            "school": "quasi text",
            "year": "quasi integer",
            "maths": "quasi|sensitive integer|decimal",
            "physics": "quasi|sensitive integer|decimal",
            "literature": "quasi|sensitive integer|decimal",
        },
        rows=80,
        people=80,
        cells=((1, "maths", 87.5), (1, "school", "North")),
    ),
)
def students(folder: Path) -> Path:
    chance = random.Random(86)
    rows = [
        (
            f"S{30_001 + n}",
            ("North", "South")[n % 2],
            n % 3 + 1,
            87.5 if not n else chance.randrange(80, 200) / 2,
            chance.randrange(80, 200) / 2,
            chance.randrange(80, 200) / 2,
        )
        for n in range(80)
    ]
    return write_csv(folder, "students.csv", ["student_id", "school", "year", "maths", "physics", "literature"], rows)


@animal(
    "people",
    "members of a club with e-mail, telephone and the day they joined",
    Reading(
        "table",
        {
            "member_id": "identifier",
            "name": "identifier text",
            "email": "identifier text",
            "phone": "identifier text",
            "joined": "quasi date",
            "city": "quasi text",
            "birthday": "quasi date",
        },
        rows=80,
        people=80,
        cells=((1, "joined", dt.date(2018, 4, 1)), (1, "phone", "090-1234-0000"), (1, "city", "Kobe")),
    ),
    may_ask="kind",
    flags="--rows people",
)
def members(folder: Path) -> Path:
    chance = random.Random(87)
    rows = [
        (
            f"M{60_001 + n}",
            _name(n),
            f"{_name(n).lower().replace(' ', '.')}@example.org",
            f"090-1234-{n:04d}",
            dt.date(2018, 4, 1) + dt.timedelta(days=n % 50),
            chance.choice(("Kobe", "Osaka", "Nara")) if n else "Kobe",
            dt.date(1960, 1, 5) + dt.timedelta(days=chance.randrange(15_000)),
        )
        for n in range(80)
    ]
    return write_csv(folder, "members.csv", ["member_id", "name", "email", "phone", "joined", "city", "birthday"], rows)


@animal(
    "people",
    "people whose number was given twice by mistake, three times",
    Reading(
        "table",
        {"person_id": "identifier", "age": "quasi integer", "city": "quasi text", "illness": "sensitive text"},
        rows=80,
        people=80,
        cells=((1, "age", 41), (1, "illness", "asthma")),
    ),
    may_ask="kind customer",
    flags="--rows people",
)
def repeated_ids(folder: Path) -> Path:
    chance = random.Random(88)
    rows = [
        (
            f"Q{70_001 + (n if n not in (40, 50, 60) else n - 1)}",
            41 if not n else chance.randrange(20, 70),
            chance.choice(("Kobe", "Osaka", "Nara")),
            ILLNESSES[n % 5],
        )
        for n in range(80)
    ]
    return write_csv(folder, "people.csv", ["person_id", "age", "city", "illness"], rows)


@animal(
    "people",
    "a single row",
    Reading(
        "table",
        {"name": "identifier|quasi text", "age": "quasi integer", "city": "quasi text", "illness": "sensitive text"},
        rows=1,
        people=1,
        cells=((1, "age", 41), (1, "name", "Aiko Abe")),
    ),
)
def one_row(folder: Path) -> Path:
    return write_csv(folder, "one.csv", ["name", "age", "city", "illness"], [("Aiko Abe", 41, "Kobe", "asthma")])


@animal(
    "people",
    "every value of every column differs",
    Reading(
        "table",
        {
            "code": "identifier text",
            "name": "identifier text",
            "born": "quasi date",
            "height_mm": "quasi integer",
            "weight_g": "quasi integer",
        },
        rows=60,
        people=60,
        cells=((1, "born", dt.date(1961, 4, 1)), (1, "height_mm", 1500)),
    ),
)
def all_distinct(folder: Path) -> Path:
    rows = [
        (f"Z{80_001 + n}", _name(n), dt.date(1961, 4, 1) + dt.timedelta(days=211 * n), 1500 + 7 * n, 50_000 + 613 * n)
        for n in range(60)
    ]
    return write_csv(folder, "distinct.csv", ["code", "name", "born", "height_mm", "weight_g"], rows)


@animal(
    "people",
    "300 columns",
    Reading(
        "table",
        {"person": "identifier"} | {f"a{n:03d}": "quasi|sensitive|other" for n in range(1, 300)},
        rows=40,
        people=40,
        cells=((1, "a001", 3), (1, "a299", 1)),
    ),
)
def wide(folder: Path) -> Path:
    chance = random.Random(89)
    rows: list[list[object]] = []
    for n in range(40):
        answers = [chance.randrange(4) for _ in range(299)]
        if not n:
            answers[0], answers[-1] = 3, 1
        rows.append([f"W{90_001 + n}", *answers])
    return write_csv(folder, "wide.csv", ["person", *(f"a{n:03d}" for n in range(1, 300))], rows)


@animal(
    "people",
    "a Japanese list of staff: 氏名, 生年月日, 年収",
    Reading(
        "table",
        {
            "社員番号": "identifier",
            "氏名": "identifier text",
            "生年月日": "quasi date",
            "部署": "quasi text",
            "年収": "sensitive integer|decimal",
        },
        rows=60,
        people=60,
        cells=((1, "生年月日", dt.date(1980, 4, 1)), (1, "年収", 5_249_000)),
    ),
)
def japanese_staff(folder: Path) -> Path:
    chance = random.Random(90)
    rows = [
        (
            f"E{50_001 + n}",
            f"{['山田', '佐藤', '鈴木', '高橋', '田中'][n % 5]}{['太郎', '花子', '一郎', '恵', '翔'][n // 5 % 5]}{n}",
            f"{1980 + n % 20}/4/{n % 28 + 1}",
            ("営業", "総務", "倉庫")[n % 3],
            f"{5_249_000 + 10_000 * (chance.randrange(300) if n else 0):,}",
        )
        for n in range(60)
    ]
    return write_csv(folder, "社員.csv", ["社員番号", "氏名", "生年月日", "部署", "年収"], rows, encoding="cp932")
