"""The public part alone leaves the house."""

import json

import polars as pl

CARD = ["card.en.html", "card.en.md", "card.ja.html", "card.ja.md", "load_public.py"]


def test_publish_hands_out_the_public_part_alone(noren, small, release, tmp_path) -> None:
    out = tmp_path / "public"
    answer = noren("publish", release, "--out", out, "--official", "--json")
    assert answer.json["files"] == [*CARD, "public.csv", "public.parquet", "statement.json"]
    assert "small seed" in answer.err
    content = b"".join(p.read_bytes() for p in out.iterdir() if p.suffix != ".parquet").decode()
    for customer in small.customers.to_list():
        assert f"{customer}," not in content
    frame = pl.read_parquet(out / "public.parquet")
    assert not set(frame["customer"].to_list()) & set(small.customers.to_list())
    again = noren("publish", release, "--out", out)
    assert (again.code, again.out) == (2, "")
    assert "--force" in again.err
    assert noren("publish", release, "--out", out, "--force").code == 0
    inside = noren("publish", release, "--out", release / "public")
    assert inside.code == 2
    assert "inside the release" in inside.err


def test_the_card_tells_what_analyses_keep_where_scores_are_handed_over(noren, small_csv, release, tmp_path) -> None:
    measured = noren("measure", small_csv, release, "--schema", "pwscup2018", "--with", "cell-error", "--json")
    scores = json.loads(measured.out)
    scores["results"]["reid-rate"] = {"value": 0.987654, "parts": {}}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    out = tmp_path / "public"
    assert noren("publish", release, "--out", out, "--card-from", tmp_path / "scores.json").code == 0
    card = (out / "card.en.md").read_text(encoding="utf-8")
    assert f"| cell-error | {scores['results']['cell-error']['value']:.3f} | lower |" in card
    assert "0.98" not in card  # how often people are found is not for a card
    (tmp_path / "wrong.json").write_text("[1]")
    wrong = noren("publish", release, "--out", out, "--force", "--card-from", tmp_path / "wrong.json")
    assert wrong.code == 2
    assert "noren measure --json" in wrong.err
