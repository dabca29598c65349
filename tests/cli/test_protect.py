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
