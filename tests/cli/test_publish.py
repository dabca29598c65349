"""The public part alone leaves the house."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import SCHEMA

CARD = ["card.en.html", "card.en.md", "card.ja.html", "card.ja.md", "load_public.py"]


INSIDE = ("--rule", "inside")


@pytest.fixture
def release(noren, small_csv, tmp_path) -> Path:
    """A release in classes of three, whose seed nobody can guess."""
    folder = tmp_path / "release"
    noren("protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--official", "--out", folder)
    return folder


def test_publish_hands_out_the_public_part_alone(noren, small, release, tmp_path) -> None:
    out = tmp_path / "public"
    answer = noren("publish", release, *INSIDE, "--out", out, "--official", "--json")
    assert answer.json["files"] == [*CARD, "public.csv", "public.parquet", "statement.json"]
    assert (answer.json["verdict"], answer.json["override"]) == ("proved", "")
    content = b"".join(p.read_bytes() for p in out.iterdir() if p.suffix != ".parquet").decode()
    for customer in small.customers.to_list():
        assert f"{customer}," not in content
    frame = pl.read_parquet(out / "public.parquet")
    assert not set(frame["customer"].to_list()) & set(small.customers.to_list())
    again = noren("publish", release, *INSIDE, "--out", out)
    assert (again.code, again.out) == (2, "")
    assert "--force" in again.err
    assert noren("publish", release, *INSIDE, "--out", out, "--force").code == 0
    inside = noren("publish", release, "--out", release / "public")
    assert inside.code == 2
    assert "inside the release" in inside.err


def test_the_card_tells_what_analyses_keep_where_scores_are_handed_over(noren, small_csv, release, tmp_path) -> None:
    measured = noren("measure", small_csv, release, "--schema", "pwscup2018", "--measures", "cell-error", "--json")
    scores = json.loads(measured.out)
    scores["results"]["reid-rate"] = {"value": 0.987654, "parts": {}}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    out = tmp_path / "public"
    assert noren("publish", release, *INSIDE, "--out", out, "--scores", tmp_path / "scores.json").code == 0
    card = (out / "card.en.md").read_text(encoding="utf-8")
    assert f"| cell-error | {scores['results']['cell-error']['value']:.3f} | lower |" in card
    assert "0.98" not in card  # how often people are found is not for a card
    (tmp_path / "wrong.json").write_text("[1]")
    wrong = noren("publish", release, "--out", out, "--force", "--scores", tmp_path / "wrong.json")
    assert wrong.code == 2
    assert "noren measure --json" in wrong.err


def test_what_is_broken_or_untried_is_refused_unless_somebody_says_why(noren, small_csv, release, tmp_path) -> None:
    out = tmp_path / "public"
    refused = noren("publish", release, "--rule", "partner", "--out", out)
    assert (refused.code, out.exists()) == (1, False)
    assert "Broken: only 3 customers share some history" in refused.err
    assert "--override" in refused.err
    told = noren("publish", release, "--rule", "partner", "--out", out, "--override", "the partner signed on 3 May")
    assert told.code == 0
    card = (out / "card.en.md").read_text(encoding="utf-8")
    assert "▲ broken\n\nSomeone is re-identified" in card
    assert "Rule partner" in card
    assert "Published despite this verdict, for this reason: the partner signed on 3 May" in card
    assert "次の理由で提供または公表されました：the partner signed on 3 May" in (out / "card.ja.md").read_text(
        encoding="utf-8"
    )
    noren("protect", small_csv, *SCHEMA, "--method", "perturb", "--out", tmp_path / "noise")
    untried = noren("publish", tmp_path / "noise", "--out", tmp_path / "public2")
    assert untried.code == 1
    assert "name the original with --original" in untried.err
    attacked = noren("publish", tmp_path / "noise", "--original", small_csv, *SCHEMA, "--out", tmp_path / "public2")
    assert attacked.code == 1
    assert "Broken: " in attacked.err


def test_a_seed_that_can_be_tried_out_is_refused_and_the_card_does_not_tell(noren, small_csv, tmp_path) -> None:
    words = ("--method", "generalize-by-count", "--k", 5, "--seed", 7, "--out", tmp_path / "r")
    noren("protect", small_csv, *SCHEMA, *words)
    refused = noren("publish", tmp_path / "r", "--out", tmp_path / "public")
    assert refused.code == 1
    assert "The seed of this release was chosen by hand" in refused.err
    told = noren("publish", tmp_path / "r", "--out", tmp_path / "public", "--override", "an example")
    assert (told.code, told.out.splitlines()[0]) == (0, "◆ proved")
    assert "seed" not in (tmp_path / "public/card.en.md").read_text(encoding="utf-8")


def test_an_original_of_another_release_is_not_believed(noren, small_csv, release, tmp_path) -> None:
    lines = small_csv.read_text(encoding="utf-8").splitlines()
    (tmp_path / "other.csv").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    noren("protect", small_csv, *SCHEMA, "--method", "perturb", "--out", tmp_path / "noise")
    words = ("--original", tmp_path / "other.csv", *SCHEMA, "--out", tmp_path / "public")
    answer = noren("publish", tmp_path / "noise", *words)
    assert answer.code == 2
    assert "was not made from this original" in answer.err
