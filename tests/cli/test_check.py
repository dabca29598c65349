"""The contests' checkers, from the command line."""

import gzip
import json
from pathlib import Path


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
    assert told.out.count("\n") == 20 + 2
    assert told.out.endswith("\n…\nA.csv.gz is not valid. Problems: 25\n")
    assert noren("check", small_csv).code == 2
    assert noren("check", small_csv, released, "--schema", "adult").code == 2


def test_every_official_vector_by_the_command(noren, shared) -> None:
    index = json.loads((shared / "oracles/INDEX.json").read_text())
    oracles: Path = shared / "oracles"
    original = oracles / index["pwscup2018"]["format_check_A"]["T"]
    for case in index["pwscup2018"]["format_check_A"]["cases"]:
        answer = noren("check", original, oracles / case["file"], "--schema", "pwscup2018", "--json")
        assert (answer.code, answer.json["valid"]) == ((2, False) if case["rejected"] else (0, True)), case["id"]
