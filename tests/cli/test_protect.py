"""A release is made, told and repeated."""

import json

SCHEMA = ("--schema", "pwscup2018")


def test_protect_tells_what_it_did(noren, small_csv, tmp_path) -> None:
    folder = tmp_path / "r"
    answer = noren(
        "protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--out", folder, "--json"
    )
    said = answer.json
    assert (said["release"], said["method"]) == (str(folder), "generalize-by-count")
    assert said["parameters"]["k"] == 3
    assert said["parameters"]["suppress_cells"] is False
    assert said["original_rows"] == 600
    assert said["public_rows"] + said["deleted_rows"] == 600
    assert sorted(p.name for p in folder.iterdir()) == ["public.parquet", "secret", "statement.json"]
    table = noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--out", tmp_path / "p")
    assert "600" in table.out
    assert "next: noren measure" in table.err


def test_the_seed_is_secret_and_repeats_the_bytes(noren, small_csv, tmp_path) -> None:
    for name in ("a", "b"):
        noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 5, "--out", tmp_path / name)
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--out", tmp_path / "c")
    same = [p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file()]
    assert len(same) == 5
    for file in same:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert (tmp_path / "a/public.parquet").read_bytes() != (tmp_path / "c/public.parquet").read_bytes()
    assert "seed" not in (tmp_path / "a/statement.json").read_text()
    assert json.loads((tmp_path / "a/secret/run.json").read_text())["seed"] == 5


def test_protect_says_what_was_lost(noren, tmp_path) -> None:
    rows = [("bigshop", n) for n in range(80)] + [(f"c{n % 4}", n) for n in range(16)]
    lines = [f"{who},2011/1/{n % 28 + 1},i{n % 5},1.5,1,s{n % 3}" for who, n in rows]
    csv = tmp_path / "t.csv"
    csv.write_text("customer,date,item,price,quantity,store\n" + "\n".join(lines) + "\n")
    words = ("protect", csv, "--method", "generalize-by-count", "--k", 2, "--seed", 1, "--out")
    text = noren(*words, tmp_path / "a").out
    assert "Not released: 76 of 96 rows, 1 of 6 columns." in text
    assert "Emptied columns (1 of 6): store. Reason: would distinguish the members of a group." in text
    assert "no matching rows in the group" in text
    assert "limit the rows per customer to 5 (--most-rows 5)." in text
    losses = noren(*words, tmp_path / "b", "--json").json["losses"]
    assert losses["secret"]["customers"][0] == {
        "customer": "bigshop", "rows": 80, "lost": 76, "reason": "counterpart"
    }  # fmt: skip
    assert losses["proposal"]["most_rows"] == 5
    left_out = noren(*words, tmp_path / "c", "--most-rows", 5, "--json").json
    assert (left_out["deleted_rows"], left_out["losses"]["proposal"]) == (80, None)
    for file in (tmp_path / "a").iterdir():  # what names people is printed, and stays out of the public files
        assert file.is_dir() or b"bigshop" not in file.read_bytes()
