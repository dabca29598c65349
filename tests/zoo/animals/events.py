"""Histories that are no purchases: what people watched, rode, clicked, borrowed, used."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

from tests.zoo.animal import Reading, animal
from tests.zoo.rows import GOODS, purchases, write_csv

DAY = dt.date(2018, 4, 1)
START = dt.datetime(2018, 4, 1, 9, 5, 30)


@animal(
    "events",
    "ratings of films, the moment as seconds since 1970",
    Reading(
        "history",
        {"userId": "customer text", "movieId": "item text", "rating": "other", "timestamp": "date date|datetime"},
        rows=200,
        people=25,
        cells=((1, "userId", "1"), (1, "timestamp", DAY), (1, "movieId", "296")),
    ),
)
def movie_ratings(folder: Path) -> Path:
    chance = random.Random(71)
    zero = dt.datetime(1970, 1, 1)
    rows: list[tuple[object, ...]] = []
    for user in range(1, 26):
        films = [296, *chance.sample(range(300, 400), 7)]
        for place, film in enumerate(films):
            moment = START + dt.timedelta(days=9 * user - 9, minutes=place * 7)
            rows.append(
                (user, film, chance.choice((0.5, 2.0, 3.0, 3.5, 4.0, 5.0)), int((moment - zero).total_seconds()))
            )
    return write_csv(folder, "ratings.csv", ["userId", "movieId", "rating", "timestamp"], rows)


@animal(
    "events",
    "rides on hired bicycles, by card",
    Reading(
        "history",
        {
            "card_id": "customer text",
            "started_at": "date date|datetime",
            "ended_at": "other",
            "from_station": "item|other text",
            "to_station": "other text",
            "minutes": "other|quantity integer",
        },
        rows=200,
        people=25,
        cells=((1, "card_id", "K70001"), (1, "started_at", DAY)),
    ),
    may_ask="kind",
    flags="--rows purchases",
)
def bike_rides(folder: Path) -> Path:
    chance = random.Random(72)
    stations = ["North gate", "Harbour", "Market", "University", "Park"]
    rows = []
    for ride in range(200):
        start = START + dt.timedelta(hours=7 * ride)
        minutes = chance.randrange(4, 50)
        a, b = chance.sample(stations, 2)
        rows.append((f"K{70_001 + ride % 25}", start, start + dt.timedelta(minutes=minutes), a, b, minutes))
    header = ["card_id", "started_at", "ended_at", "from_station", "to_station", "minutes"]
    return write_csv(folder, "rides.csv", header, rows)


@animal(
    "events",
    "clicks in a web shop",
    Reading(
        "history",
        {
            "event_time": "date date|datetime",
            "event_type": "other text",
            "product_id": "item text",
            "category": "other|description text",
            "price": "price decimal",
            "user_id": "customer text",
            "session_id": "other|invoice text",
        },
        rows=200,
        people=24,
        cells=((1, "user_id", "C10259"), (1, "event_time", DAY), (1, "price", 1249.0)),
    ),
    may_ask="customer",
    flags="--customer user_id",
)
def clickstream(folder: Path) -> Path:
    kinds = ("view", "view", "view", "cart", "purchase")
    rows = (
        (
            f"{p.when:%Y-%m-%d %H:%M:%S} UTC",
            kinds[place % 5],
            p.good.code,
            "kitchen" if p.good.price > 5 else "food",
            p.price,
            p.member,
            f"s{p.invoice:08x}",
        )
        for place, p in enumerate(purchases(73, rows=200))
    )
    header = ["event_time", "event_type", "product_id", "category", "price", "user_id", "session_id"]
    return write_csv(folder, "clicks.csv", header, rows)


@animal(
    "events",
    "loans of a library",
    Reading(
        "history",
        {
            "borrower_no": "customer text",
            "loan_date": "date date",
            "due_date": "other",
            "isbn": "item text",
            "title": "description text",
            "branch": "other text",
        },
        rows=160,
        people=24,
        cells=((1, "borrower_no", "C10259"), (1, "loan_date", DAY), (1, "isbn", GOODS[0].code)),
    ),
    may_ask="kind",
    flags="--rows purchases",
)
def library_loans(folder: Path) -> Path:
    rows = (
        (p.member, p.when.date(), p.when.date() + dt.timedelta(days=28), p.good.code, f"On {p.good.name}", p.shop)
        for p in purchases(74)
    )
    header = ["borrower_no", "loan_date", "due_date", "isbn", "title", "branch"]
    return write_csv(folder, "loans.csv", header, rows)


@animal(
    "events",
    "readings of electricity meters",
    Reading(
        "history",
        {"meter_id": "customer text", "timestamp": "date date|datetime", "kwh": "quantity|price|other decimal"},
        rows=240,
        people=20,
        cells=((1, "meter_id", "MTR-80001"), (1, "timestamp", DAY), (1, "kwh", 0.314)),
    ),
    may_ask="kind customer",
    flags="--rows purchases --customer meter_id",
)
def energy_readings(folder: Path) -> Path:
    chance = random.Random(75)
    rows: list[tuple[str, str, str]] = []
    for hour in range(12):
        for meter in range(20):
            used = 0.314 if not rows else round(chance.uniform(0.05, 2.5), 3)
            moment = dt.datetime(2018, 4, 1) + dt.timedelta(minutes=30 * hour)
            rows.append((f"MTR-{80_001 + meter}", f"{moment:%Y-%m-%d %H:%M}", f"{used:.3f}"))
    return write_csv(folder, "meters.csv", ["meter_id", "timestamp", "kwh"], rows)


@animal(
    "events",
    "visits of patients: several rows a person",
    Reading(
        "history",
        {
            "patient_id": "customer text",
            "visit_date": "date date",
            "age": "other",
            "sex": "other text",
            "ward": "other|item text",
            "diagnosis": "other|item|description text",
        },
        rows=120,
        people=40,
        cells=((1, "patient_id", "P90001"), (1, "visit_date", DAY)),
    ),
    asks="kind",
    may_ask="customer",
    flags="--rows purchases",
)
def patient_visits(folder: Path) -> Path:
    chance = random.Random(76)
    wards, illnesses = ("A", "B", "C"), ("asthma", "diabetes", "flu", "fracture", "migraine")
    ages = [chance.randrange(18, 90) for _ in range(40)]
    rows = [
        (
            f"P{90_001 + n % 40}",
            DAY + dt.timedelta(days=n * 2),
            ages[n % 40],
            "MF"[n % 2],
            chance.choice(wards),
            chance.choice(illnesses),
        )
        for n in range(120)
    ]
    return write_csv(folder, "visits.csv", ["patient_id", "visit_date", "age", "sex", "ward", "diagnosis"], rows)
