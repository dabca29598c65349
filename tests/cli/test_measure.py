"""Measures of purchases that lack a column."""

from pathlib import Path


def test_purchases_without_items_from_door_to_door(noren, tmp_path: Path) -> None:
    rows = [f"{who},2011-{1 + at % 3}-{1 + who},{1 + who % 4}.50" for who in range(8) for at in range(3)]
    (tmp_path / "paid.csv").write_text("\n".join(["who,when,paid", *rows, ",2011-1-1,9.99"]) + "\n")
    (tmp_path / "paid.toml").write_text(
        '[columns]\nwho = { role = "customer", optional = true }\nwhen = { role = "date" }\npaid = { role = "price" }\n'
    )
    data = (tmp_path / "paid.csv", "--schema", tmp_path / "paid.toml")
    made = noren("protect", *data, "--method", "generalize", "--k", "2", "--seed", "1", "--out", tmp_path / "out")
    assert made.code == 0
    assert "Removed rows without a customer" in made.out
    judged = noren("measure", data[0], tmp_path / "out", *data[1:], "--measures", "all", "--json").json["results"]
    assert judged["classes"]["value"] >= 2
    assert "jaccard-mean" not in judged
    shown = noren("measure", data[0], tmp_path / "out", *data[1:], "--measures", "rfm")
    assert "rfm: measured without quantity, which the data does not have" in shown.err
    refused = noren("measure", data[0], tmp_path / "out", *data[1:], "--measures", "jaccard-mean")
    assert (refused.code, refused.out) == (2, "")
    assert "jaccard-mean needs a column with the role item, and these purchases have none" in refused.err


def test_the_analysts_check_is_said_in_sentences(noren, small_csv, releases) -> None:
    shown = noren("measure", small_csv, releases[0], "--schema", "pwscup2018", "--measures", "analyst", "--draws", "2")
    assert shown.code == 0, shown.err
    assert "Monthly sales: " in shown.out
    assert "Revenue: " in shown.out
