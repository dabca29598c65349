"""Attack with partial knowledge, measure month by month, as a person types it."""

from pathlib import Path

import polars as pl
import pytest
from tests import pwscup2017

from noren.api import sample
from noren.data.contest_files import write_lines, write_rows
from noren.data.schema import Schema
from noren.measures import measures

SCHEMA = ("--schema", "pwscup2017")
ATTACKS = "s1,s2,s3,s4,s5,s6"
MEASURES = "um,mm,emm,e1,e2,e3,e4,e5,e6"


@pytest.fixture
def monthly(noren, tmp_path: Path) -> Path:
    """A generated history, its master, and a release of it under monthly pseudonyms."""
    original = sample(customers=20, rows=400, items=60, seed=3, schema="pwscup2017")
    write_rows(original, tmp_path / "T.csv")
    assert original.master is not None
    write_lines(original.master.with_columns(pl.col("birthday").dt.to_string("%Y/%m/%d")), tmp_path / "M.csv")
    made = noren(
        "protect", tmp_path / "T.csv", *SCHEMA, "--method", "monthly-pseudonyms", "--seed", 1, "--out", tmp_path / "r",
        "--official",
    )  # fmt: skip
    assert made.code == 0, made.err
    return tmp_path


def test_attack_and_measure(noren, monthly: Path) -> None:
    master = ("--master", monthly / "M.csv")
    attacked = noren(
        "attack", monthly / "T.csv", monthly / "r", *master, *SCHEMA, "--attacks", f"{ATTACKS},s7,s8",
        "--out", monthly / "guess", "--json",
    )  # fmt: skip
    assert attacked.code == 0, attacked.err
    assert set(attacked.json["results"]) == {*ATTACKS.split(","), "s7", "s8"}
    lines = (monthly / "guess/s6.csv").read_text().splitlines()
    assert len(lines) == 20
    assert all(line.count(",") == 12 for line in lines)
    judged = noren(
        "measure", monthly / "T.csv", monthly / "r", *master, *SCHEMA, "--guess", monthly / "guess",
        "--measures", MEASURES, "--json",
    )  # fmt: skip
    assert judged.code == 0, judged.err
    scores = judged.json["results"]
    assert set(scores) == set(MEASURES.split(","))
    assert scores["emm"]["value"] >= scores["mm"]["value"] > 0.9
    assert scores["um"]["value"] > 0.9
    months = {line.split(",")[2].rpartition("/")[0] for line in (monthly / "T.csv").read_text().splitlines()}
    assert set(scores["emm"]["notes"]["periods"]) == months
    assert len(scores["emm"]["notes"]["curve"]["s6"]) == len(months)
    assert [scores[name]["value"] for name in ("e4", "e5", "e6")] == [0, 0, 0]
    assert scores["e3"]["parts"].keys() == {"items", "similarity"}


def test_partial_knowledge(noren, monthly: Path) -> None:
    def rows_matched(*words: object) -> int:
        answer = noren("attack", monthly / "T.csv", monthly / "r", *SCHEMA, "--attacks", "s6", "--json", *words)
        assert answer.code == 0, answer.err
        found: int = answer.json["results"]["s6"]["known_rows"]
        return found

    assert rows_matched() == 400
    assert rows_matched("--knowledge", 0.25, "--item-prefix", 2, "--seed", 5) == 100
    half = (monthly / "T.csv").read_text().splitlines()[:200]
    (monthly / "known.csv").write_text("\n".join(half + ["DEL,,,,,,"] * 200) + "\n")
    assert rows_matched("--known", monthly / "known.csv") == 200
    assert rows_matched("--known", monthly / "known.csv", "--knowledge", 0.1) == 20
    refused = noren("attack", monthly / "T.csv", monthly / "r", *SCHEMA, "--knowledge", 1.5)
    assert (refused.code, refused.out) == (2, "")
    assert "is out of range; use 0 < knowledge <= 1" in refused.err
    (monthly / "known.csv").write_text("99999,0,2011/1/1,9:00,1,1.5,1\n")
    refused = noren("attack", monthly / "T.csv", monthly / "r", *SCHEMA, "--known", monthly / "known.csv")
    assert refused.code == 2
    assert "not in the original" in refused.err


def test_a_guess_that_leaves_customers_out(noren, monthly: Path) -> None:
    noren("attack", monthly / "T.csv", monthly / "r", *SCHEMA, "--attacks", "s6", "--out", monthly / "guess")
    file = monthly / "guess/s6.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    words = ("measure", monthly / "T.csv", monthly / "r", *SCHEMA, "--guess", file, "--measures", "um,mm", "--json")
    scores = noren(*words).json["results"]
    assert (scores["um"]["value"], scores["um"]["notes"]["refused"]) == (0.0, {"s6": 1})
    assert scores["mm"]["value"] > 0.8


def test_a_customer_who_is_not_in_the_master(noren, monthly: Path) -> None:
    short = monthly / "short.csv"
    short.write_text("".join((monthly / "M.csv").read_text().splitlines(keepends=True)[:5]))
    words = ("attack", monthly / "T.csv", monthly / "r", *SCHEMA, "--master", short, "--attacks", "s1")
    refused = noren(*words, "--out", monthly / "guess")
    assert refused.code == 2
    assert "are missing from the master, the first is" in refused.err


def test_an_empty_published_file(noren, monthly: Path) -> None:
    (monthly / "S.csv").write_text("")
    refused = noren("attack", monthly / "T.csv", monthly / "S.csv", *SCHEMA, "--attacks", "s1")
    assert (refused.code, refused.out) == (2, "")
    assert "S.csv" in refused.err


def test_other_histories_keep_the_periods_of_a_guess(noren, small_csv: Path, tmp_path: Path) -> None:
    schema = ("--schema", "pwscup2018")
    weekly = ("--method", "monthly-pseudonyms", "--period", "week", "--seed", 1)
    noren("protect", small_csv, *schema, *weekly, "--out", tmp_path / "r")
    assert noren("attack", small_csv, tmp_path / "r", *schema, "--attacks", "s6", "--out", tmp_path / "g").code == 0
    assert "/W" in (tmp_path / "g/s6.csv").read_text().splitlines()[0].split(",")[2]
    words = ("measure", small_csv, tmp_path / "r", *schema, "--guess", tmp_path / "g", "--measures", "mm", "--json")
    assert noren(*words).json["results"]["mm"]["value"] > 0.8


def test_all_measures_leave_out_what_needs_exact_values(noren, small_csv: Path, tmp_path: Path) -> None:
    schema = ("--schema", "pwscup2018")
    noren(
        "protect", small_csv, *schema, "--method", "generalize-by-count", "--k", 3, "--seed", 1, "--out", tmp_path / "r"
    )
    judged = noren("measure", small_csv, tmp_path / "r", *schema, "--json")
    assert judged.code == 0, judged.err
    fitting = {name for name in measures if measures[name].fits(Schema.preset("pwscup2018"))}
    assert set(judged.json["results"]) == {name for name in fitting if not measures[name].needs & {"guess", "exact"}}
    assert "skipped, because the release has sets or intervals: e1, e2, e3, e4, e5" in judged.err
    assert "skipped, because a guess or the secret part is missing" in judged.err
    by_name = noren("measure", small_csv, tmp_path / "r", *schema, "--measures", "e1")
    assert (by_name.code, by_name.out) == (2, "")
    assert "e1 needs exact values" in by_name.err


def test_the_contest_as_it_was(noren, shared: Path, tmp_path: Path) -> None:
    """The organisers' half of the data, their published file, their answers."""
    data, oracles = shared / "data", shared / "oracles" / "pwscup2017" / "noise_light"
    about = ("--master", data / "pwscup2017_M.csv", *SCHEMA)
    original = data / "pwscup2017_T.csv"
    for file in ("S", "AT"):
        (tmp_path / f"{file}.csv").write_bytes(pwscup2017.official(shared, f"pwscup2017/noise_light/{file}.csv.gz"))
    attacked = noren(
        "attack", original, tmp_path / "S.csv", *about, "--attacks", ATTACKS, "--known", data / "pwscup2017_T50.csv",
        "--out", tmp_path / "guess",
    )  # fmt: skip
    assert attacked.code == 0, attacked.err
    for name in ATTACKS.split(","):
        official = pwscup2017.official(shared, f"pwscup2017/{oracles.name}/Fh_{name.upper()}_T50.csv.gz")
        assert (tmp_path / f"guess/{name}.csv").read_bytes() == official
    judged = noren(
        "measure",
        original,
        tmp_path / "AT.csv",
        *about,
        "--guess",
        tmp_path / "guess",
        "--measures",
        MEASURES,
        "--json",
    )
    assert judged.code == 0, judged.err
    scores = judged.json["results"]
    expected = pwscup2017.expected(shared, "noise_light")
    assert scores["um"]["parts"] == {name.lower(): one["T50"]["UM"] for name, one in expected["UM"].items()}
    assert scores["e5"]["value"] == pytest.approx(expected["E"]["E5"]["value"], abs=1e-9)


def test_further_candidates_are_kept_beside_the_answers(noren, small_csv, tmp_path) -> None:
    schema = ("--schema", "pwscup2018")
    noren("protect", small_csv, *schema, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p")
    done = noren(
        "attack", small_csv, tmp_path / "p", *schema, "--attacks", "jaccard", "--candidates", 3,
        "--out", tmp_path / "g", "--json",
    )  # fmt: skip
    about = done.json["results"]["jaccard"]
    assert (about["named"], about["right"]) == (30, 30)
    assert len((tmp_path / "g/jaccard.csv").read_text().splitlines()) == 30
    every = pl.read_parquet(about["candidates_file"])
    assert (len(every), every["rank"].max()) == (90, 3)
