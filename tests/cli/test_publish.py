"""The public part alone leaves the house."""

import polars as pl


def test_publish_hands_out_the_public_part_alone(noren, small, release, tmp_path) -> None:
    out = tmp_path / "public"
    answer = noren("publish", release, "--out", out, "--official", "--json")
    assert answer.json["files"] == ["public.csv", "public.parquet", "statement.json"]
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
