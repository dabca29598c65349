"""One digest of rows, whatever their order and files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noren
from noren.data.release import SCHEMA_FILE, Release, RowDigest, public_digest, schema_in
from noren.errors import FileError

LINES = st.lists(st.text(max_size=5), max_size=8)


@given(LINES, LINES, st.randoms())
def test_order_and_parts_do_not_matter(one: list[str], other: list[str], random) -> None:
    mixed = one + other
    random.shuffle(mixed)
    parts = sum((RowDigest.of(pl.Series(part, dtype=pl.String)) for part in (one, other)), RowDigest())
    whole = RowDigest.of(pl.Series(mixed, dtype=pl.String))
    assert parts.text(["a"]) == whole.text(["a"])
    assert whole.rows == len(mixed)


@given(LINES, LINES)
def test_other_rows_have_another_digest(one: list[str], other: list[str]) -> None:
    first, second = (RowDigest.of(pl.Series(lines, dtype=pl.String)).text(["a"]) for lines in (one, other))
    assert (first == second) == (sorted(one) == sorted(other))


def test_known_value() -> None:
    """Two rows by hand: BLAKE2b of each, lanes added modulo 2^64, SHA-256 of names, number and lanes."""
    import hashlib

    lanes = [
        sum(int.from_bytes(hashlib.blake2b(t).digest()[8 * i : 8 * i + 8], "little") for t in (b"x,1", b"y,2")) % 2**64
        for i in range(8)
    ]
    said = hashlib.sha256(b"item\0n\0" + b"2\0" + np.array(lanes, dtype="<u8").tobytes()).hexdigest()
    assert RowDigest.of(pl.Series(["y,2", "x,1"])).text(["item", "n"]) == said


def test_of_a_release_and_of_one_in_parts(tmp_path: Path) -> None:
    history = noren.sample(customers=12, rows=90, items=9, seed=1)
    release = noren.protect(history, "pseudonymize", seed=1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    release.save(whole)
    release.save(parts)
    schema = schema_in(parts / "public.parquet")
    (parts / "public.parquet").unlink()
    (parts / "public.parquet").mkdir()
    for name, rows in (("b", release.public.frame[:50]), ("a", release.public.frame[50:])):
        rows.with_columns(pl.col("time").cast(pl.Int64)).write_parquet(parts / "public.parquet" / f"{name}.parquet")
    (parts / "public.parquet" / "_SUCCESS").touch()
    (parts / "public.parquet" / SCHEMA_FILE).write_text(schema or "")
    assert public_digest(parts) == public_digest(whole)
    assert public_digest(whole)[1] == 90
    back = Release.load(parts)
    assert (
        back.public.lines().to_list() == release.public.lines()[50:].to_list() + release.public.lines()[:50].to_list()
    )
    said = subprocess.run([sys.executable, "-m", "noren", "digest", str(parts)], capture_output=True, text=True)
    assert said.stdout == public_digest(whole)[0] + "\n"


def test_what_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="this is not part of a release"):
        public_digest(tmp_path)
