"""sample, convert, schema, datasets, check: data on the command line."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from noren.data.schema import PRESETS, Schema


def test_sample_prints_the_shape(noren, tmp_path) -> None:
    words = ("sample", "--customers", 40, "--rows", 900, "--items", 120, "--seed", 3)
    answer = noren(*words, "--out", tmp_path / "T.csv", "--json")
    said = answer.json
    assert (said["n"], said["m"]) == (40, 900)
    assert set(said) == {"n", "m", "b", "mu", "h", "out"}
    frame = pl.read_csv(tmp_path / "T.csv", infer_schema=False)
    assert len(frame) == 900
    assert frame["customer"].n_unique() == 40
    sets = frame.group_by("customer").agg(pl.col("item").unique())["item"].to_list()
    assert said["b"] == pytest.approx(sum(map(len, sets)) / 40)
    pairs = [(set(a), set(b)) for i, a in enumerate(sets) for b in sets[:i]]
    assert said["mu"] == pytest.approx(sum(len(a & b) / len(a | b) for a, b in pairs) / len(pairs))
    assert said["h"] == pytest.approx(sum(len(a & b) for a, b in pairs) / len(pairs))
    again = noren(*words, "--out", tmp_path / "again.csv")
    assert "different items per customer" in again.out
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "T.csv").read_bytes()


@pytest.mark.parametrize("schema", ["pwscup2016", "pwscup2017", "pwscup2018", "online-retail", "sample"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_samples_read_back_by_their_schema(noren, tmp_path, schema, ending) -> None:
    file = tmp_path / f"T.{ending}"
    words = ("sample", "--customers", 10, "--rows", 80, "--items", 30, "--schema", schema, "--out", file)
    assert noren(*words).code == 0
    released = noren(
        "protect", file, "--schema", schema, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "r", "--json"
    )
    assert released.code == 0, released.err
    assert released.json["public_rows"] == 80


def test_sample_master(noren, tmp_path) -> None:
    out, master = tmp_path / "T.csv", tmp_path / "M.csv"
    noren("sample", "--customers", 10, "--rows", 80, "--schema", "pwscup2017", "--out", out, "--master", master)
    people = [line.split(",") for line in master.read_text().splitlines()]
    assert len(people) == 10
    assert {p[0] for p in people} == {line.split(",")[0] for line in out.read_text().splitlines()}
    done = noren(
        "protect",
        out,
        "--schema",
        "pwscup2017",
        "--master",
        master,
        "--method",
        "pseudonymize",
        "--out",
        tmp_path / "r",
    )
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rows", 5, "--customers", 10), "rows"),
        (("--customers", 0), "customers"),
        (("--schema", "adult"), "samples are histories"),
        (("--schema", "nonsense"), "no schema 'nonsense'"),
        (("--out", "T.docx"), "no format ends in '.docx'"),
    ],
)
def test_impossible_samples_are_refused(noren, tmp_path, monkeypatch, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    answer = noren("sample", "--out", "T.csv", *words)
    assert answer.code == 2
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_convert(noren, tmp_path, small_csv) -> None:
    answer = noren("convert", small_csv, tmp_path / "T.parquet", "--schema", "pwscup2018", "--json")
    assert answer.json["rows"] == 600
    assert pl.read_parquet(tmp_path / "T.parquet").columns == list(Schema.preset("pwscup2018").names)
    assert noren("convert", tmp_path / "T.parquet", tmp_path / "back.csv", "--schema", "pwscup2018").code == 0
    assert (tmp_path / "back.csv").read_bytes() == small_csv.read_bytes()
    assert noren("convert", small_csv, tmp_path / "T.xlsx", "--schema", "pwscup2018").code == 0
    assert noren("convert", tmp_path / "T.xlsx", tmp_path / "excel.csv", "--schema", "pwscup2018").code == 0
    assert (tmp_path / "excel.csv").read_bytes() == small_csv.read_bytes()


def test_schema_guess(noren, tmp_path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text("customer;date;item;price;quantity\n007;2024-01-31;x;1.50;2\n7;2024-02-01;y;2;1\n")
    answer = noren("schema", "guess", file, "--json")
    columns = {c["name"]: c for c in answer.json["schema"]["columns"]}
    assert (columns["customer"]["role"], columns["customer"]["type"]) == ("customer", "text")
    assert (columns["price"]["type"], columns["price"]["scale"], columns["price"]["width"]) == (
        "decimal",
        "ratio",
        0.01,
    )
    assert "semicolon" in answer.json["said"][0]
    printed = noren("schema", "guess", file)
    assert Schema.from_toml(printed.out).role("date").format == "%Y-%m-%d"
    written = noren("schema", "guess", file, "--out", tmp_path / "shop.toml")
    assert written.code == 0
    done = noren(
        "protect",
        file,
        "--schema",
        tmp_path / "shop.toml",
        "--method",
        "pseudonymize",
        "--seed",
        1,
        "--out",
        tmp_path / "r",
    )
    assert done.code == 0, done.err


def test_schema_guess_of_online_retail(noren, shared) -> None:
    answer = noren("schema", "guess", shared / "data/online_retail.parquet", "--json")
    roles = {c["name"]: c["role"] for c in answer.json["schema"]["columns"]}
    assert roles == {
        "InvoiceNo": "invoice", "StockCode": "item", "Description": "description", "Quantity": "quantity",
        "InvoiceDate": "date", "UnitPrice": "price", "CustomerID": "customer", "Country": "other",
    }  # fmt: skip
    assert "541,909 rows" in answer.json["said"][0]


def test_schema_show_and_list(noren) -> None:
    assert [s["name"] for s in noren("schema", "list", "--json").json["schemas"]] == list(PRESETS)
    assert "pwscup2018" in noren("schema", "list").out
    for name in PRESETS:
        assert Schema.from_toml(noren("schema", "show", name).out) == Schema.preset(name)
    assert noren("schema", "show", "adult", "--json").json["kind"] == "table"
    wrong = noren("schema", "show", "pwscup2108")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean pwscup2018?" in wrong.err


def test_check_lists_problems(noren, small_csv, tmp_path) -> None:
    lines = small_csv.read_text().splitlines()
    assert noren("check", small_csv, small_csv).out.endswith("is valid\n")
    bad = [line.rsplit(",", 1)[0] + ",[9999;1]" for line in lines[:25]] + lines[25:]
    released = tmp_path / "A.csv.gz"
    released.write_bytes(gzip.compress(("\n".join(bad) + "\n").encode()))
    answer = noren("check", small_csv, released, "--json")
    assert answer.code == 2
    said = answer.json
    assert (said["valid"], said["total"], len(said["problems"])) == (False, 25, 20)
    first = said["problems"][0]
    assert (first["row"], first["column"], first["value"]) == (1, "quantity", "[9999;1]")
    assert first["rule"]
    assert first["cure"]
    told = noren("check", small_csv, released)
    assert "… and 5 more problems" in told.out
    assert "is not valid: 25 problems" in told.out
    assert noren("check", small_csv).code == 2
    assert noren("check", small_csv, released, "--schema", "adult").code == 2


def test_datasets(noren, tmp_path, monkeypatch) -> None:
    listed = noren("datasets", "--json").json["datasets"]
    assert [d["name"] for d in listed] == [
        "online-retail", "adult", "pwscup2016", "pwscup2017", "pwscup2018-preliminary", "pwscup2018-final",
    ]  # fmt: skip
    assert "online-retail" in noren("datasets").out
    wrong = noren("datasets", "fetch", "onlin-retail")
    assert wrong.code == 2
    assert "did you mean online-retail?" in wrong.err


@pytest.mark.parametrize("room", ["methods", "attacks", "measures"])
def test_components_are_listed(noren, room) -> None:
    listed = noren(room, "--json").json[room]
    assert [c["name"] for c in listed] == sorted(c["name"] for c in listed)
    assert all({"name", "summary", "source", "accepts", "schema"} <= set(c) for c in listed)
    shown = noren(room)
    assert all(c["name"] in shown.out for c in listed)
    one = noren(room, listed[0]["name"])
    assert one.out.startswith(listed[0]["name"])
    wrong = noren(room, "nonsense")
    assert (wrong.code, wrong.out) == (2, "")


def test_a_component_says_which_columns_it_needs(noren) -> None:
    assert "It needs columns with the roles: date, price." in noren("attacks", "s7").out
    assert "needs columns" not in noren("attacks", "consistency").out


def test_purchases_without_items_from_door_to_door(noren, tmp_path: Path) -> None:
    rows = [f"{who},2011-{1 + at % 3}-{1 + who},{1 + who % 4}.50" for who in range(8) for at in range(3)]
    (tmp_path / "paid.csv").write_text("\n".join(["who,when,paid", *rows, ",2011-1-1,9.99"]) + "\n")
    (tmp_path / "paid.toml").write_text(
        '[columns]\nwho = { role = "customer", optional = true }\nwhen = { role = "date" }\npaid = { role = "price" }\n'
    )
    data = (tmp_path / "paid.csv", "--schema", tmp_path / "paid.toml")
    made = noren("protect", *data, "--method", "generalize", "--k", "2", "--seed", "1", "--out", tmp_path / "out")
    assert made.code == 0
    assert "left out, as nobody owns them" in made.out
    judged = noren("measure", data[0], tmp_path / "out", *data[1:], "--with", "all", "--json").json["results"]
    assert judged["classes"]["value"] >= 2
    assert "jaccard-mean" not in judged
    shown = noren("measure", data[0], tmp_path / "out", *data[1:], "--with", "rfm")
    assert "rfm: measured without quantity, which these purchases do not have" in shown.err
    refused = noren("measure", data[0], tmp_path / "out", *data[1:], "--with", "jaccard-mean")
    assert (refused.code, refused.out) == (2, "")
    assert "jaccard-mean needs a column with the role item, and these purchases have none" in refused.err


def test_every_official_vector_by_the_command(noren, shared) -> None:
    index = json.loads((shared / "oracles/INDEX.json").read_text())
    oracles: Path = shared / "oracles"
    original = oracles / index["pwscup2018"]["format_check_A"]["T"]
    for case in index["pwscup2018"]["format_check_A"]["cases"]:
        answer = noren("check", original, oracles / case["file"], "--schema", "pwscup2018", "--json")
        assert (answer.code, answer.json["valid"]) == ((2, False) if case["rejected"] else (0, True)), case["id"]
