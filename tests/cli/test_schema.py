"""Schemas are guessed, shown and listed."""

from noren.data.schema import PRESETS, Schema


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
    assert "delimiter ';'" in answer.json["notes"][0]
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
    assert "541,909 rows" in answer.json["notes"][0]


def test_schema_show_and_list(noren) -> None:
    assert [s["name"] for s in noren("schema", "list", "--json").json["schemas"]] == list(PRESETS)
    assert "pwscup2018" in noren("schema", "list").out
    for name in PRESETS:
        assert Schema.from_toml(noren("schema", "show", name).out) == Schema.preset(name)
    assert noren("schema", "show", "adult", "--json").json["kind"] == "table"
    wrong = noren("schema", "show", "pwscup2108")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean pwscup2018?" in wrong.err
