"""Writers of files as other tools write them, clean or with one known flaw.

Each takes an original and writes the file: ARX generalises and suppresses in its notation, sdcMicro recodes to factors
and blanks single cells, Amnesia writes ranges, people replace identifiers by hand, synthesisers draw new rows.
"""

import datetime as dt
import hashlib
from pathlib import Path

import numpy as np
import polars as pl

CITIES = {"Kobe": "West", "Osaka": "West", "Sendai": "North", "Sapporo": "North"}


def people(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    """Return a table: a number and an e-mail address of each person, age, city, zip, a diagnosis."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"P{n}" for n in draw.permutation(90_000)[:rows] + 10_000],
            "email": [f"user{n}@example.org" for n in draw.permutation(9_000)[:rows]],
            "age": draw.integers(20, 60, rows),
            "city": draw.choice([*CITIES], rows),
            "zip": [str(code) for code in draw.integers(13_000, 13_900, rows)],
            "illness": draw.choice(["flu", "cold", "cough", "asthma"], rows),
        }
    )


PEOPLE = {
    "kind": "table",
    "columns": {
        "id": {"role": "identifier"},
        "email": {"role": "identifier"},
        "age": {"role": "quasi", "type": "integer"},
        "city": {"role": "quasi"},
        "zip": {"role": "other"},
        "illness": {"role": "sensitive"},
    },
}


def purchases(customers: int = 60, seed: int = 0) -> pl.DataFrame:
    """Return a history: who bought what, when, at what price and how many, in the order of time."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(6, 25, customers)
    who = np.repeat(draw.permutation(max(9_000, 2 * customers))[:customers] + 1_000, rows)
    draw.shuffle(who)
    item = np.minimum(draw.geometric(0.03, len(who)), 80)
    days = np.sort(draw.integers(0, 360, len(who)))
    return pl.DataFrame(
        {
            "customer": [str(n) for n in who],
            "date": [dt.date(2011, 1, 1) + dt.timedelta(days=int(day)) for day in days],
            "item": [f"A{n:03}" for n in item],
            "price": np.round(1 + (item * 37 % 90) / 10, 2),
            "quantity": draw.integers(1, 6, len(who)),
        }
    )


PURCHASES = {
    "columns": {
        "customer": {"role": "customer"},
        "date": {"role": "date", "type": "date"},
        "item": {"role": "item"},
        "price": {"role": "price", "type": "decimal"},
        "quantity": {"role": "quantity", "type": "integer"},
    }
}


def _write(frame: pl.DataFrame, path: Path, separator: str = ",", null: str = "") -> Path:
    frame.write_csv(path, separator=separator, null_value=null)
    return path


def _mixed(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(len(frame), shuffle=True, seed=seed)


def _brackets(age: str, width: int, closed: str = "[{},{}[") -> pl.Expr:
    low = pl.col(age) // width * width
    left, rest = closed.split("{}", 1)
    middle, right = rest.split("{}", 1)
    low = low - (1 if closed.endswith("]") else 0)
    return pl.concat_str(pl.lit(left), low, pl.lit(middle), low + width, pl.lit(right)).alias(age)


# --- ARX: semicolons, [20, 40[, *, {a, b}, shuffled -------------------------------------------------------------------


def arx(
    frame: pl.DataFrame, path: Path, seed: int = 0, *, shuffled: bool = True, zip_kept: bool = False,
    rare: bool = False, constant: bool = False, dropped: float = 0.0,
) -> Path:  # fmt: skip
    """Write what ARX exports: classes of age and city; zip masked, unless it was forgotten; suppressed rows dropped."""
    made = frame.select(
        _brackets("age", 20, "[{}, {}["),
        city=pl.col("city").replace_strict({"Kobe": "{Kobe, Osaka}", "Osaka": "{Kobe, Osaka}",
                                            "Sendai": "{Sapporo, Sendai}", "Sapporo": "{Sapporo, Sendai}"}),
        zip=pl.col("zip") if zip_kept else pl.lit("13***"),
        illness="illness",
    )  # fmt: skip
    if rare:  # one row was suppressed, and its zip was not
        there = pl.int_range(pl.len()) == 7
        made = made.with_columns(pl.when(there).then(pl.lit("*")).otherwise(n).alias(n) for n in ("age", "city"))
        made = made.with_columns(zip=pl.when(there).then(frame["zip"]).otherwise("zip"))
    if constant:  # everybody in one class has the flu
        one = (pl.col("age") == "[20, 40[") & (pl.col("city") == "{Kobe, Osaka}")
        made = made.with_columns(illness=pl.when(one).then(pl.lit("flu")).otherwise("illness"))
    made = made.filter(pl.Series(np.random.default_rng(seed).random(len(made)) >= dropped))
    return _write(_mixed(made, seed) if shuffled else made, path, ";")


# --- sdcMicro: factors (20,30], NA ------------------------------------------------------------------------------------


def sdcmicro(frame: pl.DataFrame, path: Path, seed: int = 0, *, blanks: bool = False, exact_zip: bool = False) -> Path:
    """Write what sdcMicro returns: ages cut to factors, cities recoded, NA where a cell was suppressed locally."""
    made = frame.select(_brackets("age", 20, "({},{}]"), city=pl.col("city").replace_strict(CITIES), illness="illness")
    if exact_zip:
        made = made.with_columns(frame["zip"])
    if blanks:  # four people of the west have a blank age: k = 4, and far more where a blank counts as every age
        west = made.with_row_index("row").filter(pl.col("city") == "West")["row"].head(4)
        made = made.with_columns(age=pl.when(pl.int_range(pl.len()).is_in(west.implode())).then(None).otherwise("age"))
    return _write(_mixed(made, seed), path, null="NA")


# --- Amnesia: 20-39, * ------------------------------------------------------------------------------------------------


def amnesia(frame: pl.DataFrame, path: Path, seed: int = 0, *, names: bool = False, numbered: bool = False) -> Path:
    """Write what Amnesia writes: ranges with both ends, * for what is suppressed."""
    low = pl.col("age") // 20 * 20
    made = frame.select(
        age=pl.concat_str(low, pl.lit("-"), low + 19), city=pl.col("city").replace_strict(CITIES), zip=pl.lit("*"),
        illness="illness",
    )  # fmt: skip
    if names:
        made = made.with_columns(email=frame["email"])
    if numbered:  # numbers in the order of the original, though rows are shuffled
        made = made.with_columns(record=pl.int_range(1, pl.len() + 1))
    return _write(_mixed(made, seed), path)


# --- by hand ----------------------------------------------------------------------------------------------------------


def by_hand(
    frame: pl.DataFrame, path: Path, seed: int = 0, *, names: str = "random", shift: str = "", items: bool = False,
    order: str = "mixed", noise: bool = False,
) -> Path:  # fmt: skip
    """Write purchases under pseudonyms: drawn, hashed or numbered; dates shifted, items renamed, values blurred."""
    draw = np.random.default_rng(seed)
    who = frame["customer"].unique(maintain_order=True)
    drawn = pl.Series([f"{n:06}" for n in draw.permutation(900_000)[: len(who)] + 100_000])
    if names == "first":
        drawn = pl.Series([str(n) for n in range(1, len(who) + 1)])
    elif names == "spending":
        spent = frame.group_by("customer").agg((pl.col("price") * pl.col("quantity")).sum()).sort("price", "customer")
        drawn = who.to_frame().join(spent.with_row_index("n"), on="customer", how="left", maintain_order="left")["n"]
        drawn = drawn.cast(pl.String)
    elif names == "sha256":
        drawn = pl.Series([hashlib.sha256(text.encode()).hexdigest() for text in who])
    elif names == "kept":
        drawn = who
    code = dict(zip(who, drawn, strict=True))
    made = frame.with_columns(customer=pl.col("customer").replace_strict(code)).rename({"customer": "pseudonym"})
    if shift:
        days = [45] * len(who) if shift == "constant" else draw.integers(-300, 300, len(who)).tolist()
        by = dict(zip(drawn, days, strict=True))
        moved = pl.col("pseudonym").replace_strict(by, return_dtype=pl.Int64)
        made = made.with_columns(date=pl.col("date") + pl.duration(days=moved))
    if noise:  # of each row the date by up to three days, the price by up to a tenth
        days, share = (pl.lit(pl.Series(draw.uniform(-most, most, len(made)))) for most in (3, 0.1))
        made = made.with_columns(
            pl.col("date") + pl.duration(days=days.round()), (pl.col("price") * (1 + share)).round(2)
        )
    if items:
        kinds = frame["item"].unique().sort()
        renamed = dict(zip(kinds, pl.Series([f"X{n}" for n in draw.permutation(len(kinds))]), strict=True))
        made = made.with_columns(item=pl.col("item").replace_strict(renamed))
    return _write(made if order == "kept" else _mixed(made, seed), path)


def aggregated(frame: pl.DataFrame, path: Path, seed: int = 0) -> Path:
    """Write purchases that tell nobody apart: every pseudonym has a row of the year, and of one of two prices."""
    draw = np.random.default_rng(seed)
    drawn = [f"{n:06}" for n in draw.permutation(900_000)[: frame["customer"].n_unique()] + 100_000]
    cells = {"date": pl.lit("2011"), "item": pl.lit("*"), "price": pl.lit("[1, 11["), "quantity": pl.lit("*")}
    return _write(_mixed(pl.DataFrame({"pseudonym": drawn}).with_columns(**cells), seed), path)


def measured(rows: int = 500, seed: int = 0) -> pl.DataFrame:
    """Return a table of whole numbers: age, height, weight, income and a score of each person."""
    draw = np.random.default_rng(seed)
    common = draw.normal(size=rows)
    about = {"age": (45, 12), "height": (165, 9), "weight": (62, 11), "income": (41_000, 9_000), "score": (500, 90)}
    return pl.DataFrame(
        {n: np.rint(m + s * (common + draw.normal(size=rows))).astype(int) for n, (m, s) in about.items()}
    )


MEASURED = {"kind": "table", "columns": {n: {"role": "quasi", "type": "integer"} for n in measured(1).columns}}


def blurred(frame: pl.DataFrame, path: Path, seed: int = 0, *, noise: float = 1.0, size: int = 1) -> Path:
    """Write means of classes of neighbours, or single rows, with noise; at 1 as large as the column's deviation."""
    draw = np.random.default_rng(seed)
    near = frame.sort("income").with_columns(pl.all().mean().over(pl.int_range(pl.len()) // size))
    made = near.select(
        (pl.col(n) + pl.Series(draw.normal(0, noise * frame[n].to_numpy().std(), len(frame)))).round(2)
        for n in frame.columns
    )
    return _write(_mixed(made, seed), path)


# --- synthesisers -----------------------------------------------------------------------------------------------------


def synthetic(frame: pl.DataFrame, path: Path, seed: int = 0, *, copied: float = 0.0) -> Path:
    """Write rows of independent columns, with a share of rows that were copied from the original."""
    draw = np.random.default_rng(seed)
    drawn = enumerate(frame.columns, start=10 * seed)
    made = frame.select(pl.col(name).sample(pl.len(), with_replacement=True, seed=at) for at, name in drawn)
    some = draw.random(len(frame)) < copied
    rows = pl.Series(draw.integers(0, len(frame), len(frame)))
    made = pl.DataFrame(
        {n: np.where(some, frame[n].gather(rows).to_numpy(), made[n].to_numpy()) for n in frame.columns}
    )
    return _write(made, path)
