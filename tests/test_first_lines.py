"""The first lines that a data scientist writes work, on files of the kind that they have; mistakes are explained."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noren
from noren.api import protect as bare_protect
from noren.data.frames import History, ResultSet, Table
from noren.data.reading import read as read_file
from noren.errors import CheckFailedError, NorenError, ParameterError, UnknownNameError

ROWS, CLIENTS = 180, 12
SECRET = "Ann Secretname"


def orders() -> pd.DataFrame:
    """Orders of a shop: odd names, blanks, a name column, customers that are missing in some rows."""
    draw = np.random.default_rng(7)
    who = draw.integers(0, CLIENTS, ROWS)
    return pd.DataFrame(
        {
            "顧客 番号": [f"{SECRET} {i}" for i in who],
            "購入日": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 90, ROWS), unit="D"),
            "商品": draw.choice(["緑茶", "紅茶", "coffee", "ミルク"], ROWS),
            "単価 (円)": draw.choice([110.0, 120.0, 240.0], ROWS),
            "個数": draw.integers(1, 4, ROWS),
            "メモ": [None if i % 3 else "ギフト" for i in range(ROWS)],
        }
    )


NAMES = {
    "顧客 番号": "client_id",
    "購入日": "when",
    "商品": "sku",
    "単価 (円)": "amount",
    "個数": "qty",
    "メモ": "note",
}


@pytest.fixture(scope="module")
def release() -> Any:
    return noren.protect(noren.read(orders(), customer="顧客 番号"), k=3)


def ten_lines(data: Any, customer: str, out: Path) -> Any:
    original = noren.read(data, customer=customer)
    release = noren.protect(original, k=3)
    assert release.verdict("inside").status == "proved"
    guesses = release.attack("all")
    assert guesses.to_polars().columns == ["attack", "named", "right", "rate"]
    scores = release.measure(guesses=guesses)
    assert {"classes", "cell-error", "reid-rate"} <= set(scores)
    assert scores["classes"].value == 3
    assert "k = 3" in repr(release.explain())
    assert list(release.compare()) == list(original.schema.names)
    assert str(release.losses()) == str(noren.losses(original, release))
    assert release.publish(out, "inside") == out
    assert dict(noren.measure(data, release, "all"))["cell-error"] == scores["cell-error"]
    assert set(noren.attack(data, release, "all")) == set(guesses)
    return release


def test_pandas_with_japanese_names_and_blanks(tmp_path: Path) -> None:
    release = ten_lines(orders(), "顧客 番号", tmp_path / "out")
    assert repr(release).startswith("Release by generalize (default method), k = 3, ")
    assert release.statement.notes["method"] == "default"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("card.en.html", "card.en.md", "card.ja.html", "card.ja.md", "load_public.py"),
        *("public.parquet", "statement.json"),
    ]
    assert SECRET not in str(release.to_pandas()) + (tmp_path / "out" / "statement.json").read_text()


def test_polars(tmp_path: Path) -> None:
    frame = pl.from_pandas(orders().rename(columns=NAMES)).lazy()
    release = ten_lines(frame, "client_id", tmp_path / "public.csv")
    written = (tmp_path / "public.csv").read_text().splitlines()
    assert written[0].split(",")[:3] == ["client_id", "when", "sku"]
    assert len(written) == len(release.public) + 1


def test_a_file(tmp_path: Path) -> None:
    orders().rename(columns=NAMES).to_csv(tmp_path / "orders.csv", index=False)
    release = ten_lines(tmp_path / "orders.csv", "client_id", tmp_path / "out")
    file = tmp_path / "orders.csv"
    loaded = noren.Release.load(release.save(tmp_path / "saved"))
    assert loaded.verdict("inside", original=file).status == "proved", "its customer is the one of the release"
    assert noren.verdict(file, tmp_path / "saved", 1 / 3).status == "proved"


def test_a_table_of_people() -> None:
    draw = np.random.default_rng(7)
    people = pd.DataFrame(
        {
            "name": [f"{SECRET} {i}" for i in range(60)],
            "age": draw.integers(20, 80, 60),
            "city": draw.choice(["Kyoto", "Nara"], 60),
            "disease": draw.choice(["flu", "cold", "none"], 60),
        }
    )
    release = noren.protect(people, k=3)
    assert (release.statement.method, release.statement.parameters["l"]) == ("mondrian", 2)
    assert "name" not in release.public.schema.names
    assert release.attack().to_polars()["attack"].to_list() == ["row-linkage"]
    assert release.verdict("inside", attacks="all").status == "proved"
    shares = release.compare().to_polars().filter(pl.col("column") == "age")
    assert shares.select(pl.sum_horizontal("exact", "interval", "set", "suppressed")).item() == pytest.approx(1)
    assert noren.protect(people, rho=0.5, attributes=["city"], seed=1).statement.method == "retention"
    assert noren.protect(people, rule="public", seed=1).statement.parameters["k"] == 11
    assert noren.protect(people, "mondrian", rule="inside", seed=1).statement.parameters["k"] == 3


# --- the original stays in memory ------------------------------------------------------------------------------------


def test_the_original_leaves_no_trace(release: Any, tmp_path: Path) -> None:
    assert isinstance(release.original, History)
    for copied in (pickle.loads(pickle.dumps(release)), copy.copy(release), copy.deepcopy(release)):
        assert copied.original is None
        assert (copied.statement, copied.secret.digest) == (release.statement, release.secret.digest)
        assert copied.public.lines().equals(release.public.lines())
    assert "original" not in repr(release) + release._repr_html_()
    release.save(tmp_path / "saved")
    assert {path.name for path in (tmp_path / "saved").rglob("*")} == {
        *("public.parquet", "statement.json", "secret"),
        *("pseudonyms.parquet", "origin.parquet", "run.json"),
    }
    assert not hasattr(bare_protect(release.original, "pseudonymize", seed=1), "original")


@pytest.mark.parametrize("verb", ["verdict", "attack", "measure", "compare"])
def test_a_release_from_a_folder_asks_for_the_original(release: Any, tmp_path: Path, verb: str) -> None:
    loaded = noren.Release.load(release.save(tmp_path / "saved"))
    with pytest.raises(ParameterError, match=r"does not have its original in memory .*; pass it with original="):
        getattr(loaded, verb)()
    assert getattr(loaded, verb)(original=release.original) is not None


def test_publishing_is_judged(release: Any, tmp_path: Path) -> None:
    with pytest.raises(CheckFailedError, match=r"Broken: only 3 customers share some history.*Nothing was published"):
        release.publish(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    chosen = noren.protect(release.original, "generalize-by-count", k=5, seed=1)
    with pytest.raises(CheckFailedError, match="The seed of this release was chosen by hand"):
        chosen.publish(tmp_path / "out")
    chosen.publish(tmp_path / "out", override="an exercise")
    assert "an exercise" in (tmp_path / "out" / "card.en.md").read_text()


def test_one_component_gives_its_own_result(release: Any) -> None:
    assert isinstance(release.attack("jaccard"), noren.Guess)
    assert release.measure("classes").value == 3
    assert isinstance(noren.attack(orders(), release.to_polars(), "all", schema=release.original.schema), ResultSet)


# --- awkward data ----------------------------------------------------------------------------------------------------

BASE = orders().rename(columns=NAMES).drop(columns="note")
AWKWARD = {
    "categories": BASE.astype({"client_id": "category", "sku": "category"}),
    "time zone": BASE.assign(when=BASE.when.dt.tz_localize("Asia/Tokyo")),
    "decimals": BASE.assign(amount=[decimal.Decimal(f"{x:.2f}") for x in BASE.amount]),
    "days": BASE.assign(when=BASE.when.dt.date),
    "missing customers": BASE.assign(client_id=BASE.client_id.where(BASE.index % 5 != 0)),
    "numbers with gaps": BASE.assign(client_id=[float(i % 7) if i % 5 else np.nan for i in range(ROWS)]),
    "another index": BASE.set_index(BASE.index + 100),
    "pandas on arrow": BASE.convert_dtypes(dtype_backend="pyarrow"),
    "arrow dictionaries": pa.Table.from_pandas(BASE.astype({"sku": "category", "client_id": "category"})),
    "columns by name": BASE.to_dict("list"),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_types_are_read_and_protected(name: str) -> None:
    release = noren.protect(noren.read(AWKWARD[name], customer="client_id"), "generalize-by-count", k=3, seed=1)
    assert release.measure("classes").value >= 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noren.read(BASE, custmer="client_id"), r"no role 'custmer' \(did you mean customer\?\)"),
        (lambda: noren.read(BASE, {"client_id": "customer"}, item="sku"), "item and a schema both say"),
        (lambda: noren.read(None), "the data has no columns"),
        (lambda: noren.read(BASE.set_index("client_id"), customer="client_id"), "make it a column"),
        (lambda: noren.protect(BASE.assign(client_id="x"), k=5), "k = 5 needs at least 5 customers, but there are 1"),
        (lambda: noren.protect(BASE, kk=5), "no method for these data has the parameters kk; name a method, or use"),
        (lambda: noren.protect(BASE, k=[5]), r"k = \[5\] is not valid for generalize"),
        (lambda: noren.protect(BASE, rule="partnr"), r"there is no rule 'partnr' \(did you mean partner\?\)"),
        (lambda: noren.protect(BASE, "pseudonymize", seed=1).attack("all", k=3), "name that component instead"),
        (lambda: noren.verdict(BASE, 5), "int is not a table"),
        (lambda: noren.explore(BASE, 5), "there is no 5 in noren.methods"),  # type: ignore[arg-type]
        (lambda: noren.attack(BASE, "nowhere", "all"), "nowhere: there is no such file"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(call: Any, message: str) -> None:
    with pytest.raises(NorenError, match=message):
        call()


def test_a_misspelled_component_is_named(release: Any) -> None:
    for verb, wrong in (("attack", "jacard"), ("measure", "clases")):
        with pytest.raises(UnknownNameError, match=f"there is no '{wrong}' in noren.{verb}s .*did you mean"):
            getattr(release, verb)(wrong)


def test_data_may_be_records_already() -> None:
    table = Table.of({"age": [31, 44]}, noren.Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}}))
    assert noren.read(table) is table
    assert noren.read({"d": ["2024-01-02"] * 2, "c": ["a", "b"]}, customer="c")["date"][0] == dt.date(2024, 1, 2)


def test_the_reader_of_files_tells_what_it_chose(tmp_path: Path) -> None:
    BASE.to_csv(tmp_path / "orders.csv", index=False)
    assert any("guessed a history" in note for note in read_file(tmp_path / "orders.csv").notes)


def test_roles_are_a_schema_of_folders_and_studies_too(tmp_path: Path) -> None:
    BASE.to_csv(tmp_path / "orders.csv", index=False)
    roles = {"client_id": "customer", "when": "date", "sku": "item", "amount": "price", "qty": "quantity"}
    done = noren.protect_folder(tmp_path / "orders.csv", "generalize-by-count", tmp_path / "out", schema=roles, k=3)
    assert done.original_rows == ROWS
    assert (
        noren.measure_folder(tmp_path / "orders.csv", tmp_path / "out", "classes", schema=roles)["classes"].value >= 3
    )
    assert noren.unicity(BASE, schema=roles) is not None
