"""Sketches tell how much two files have in common."""

import base64
import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contest.judging_cases import METHODS, called_otherwise, made

from noren.contest.judging.prepared import prepare, similarity, sketch_of, sketch_of_release
from noren.work.hash_chain import canonical


def rows(numbers: range | list[int]) -> pl.DataFrame:
    return pl.DataFrame({"item": [f"item {n}" for n in numbers], "price": [f"{n % 7}.5" for n in numbers]})


@given(st.lists(st.integers(0, 99), unique=True), st.lists(st.integers(0, 99), unique=True))
def test_small_files_are_compared_without_error(one: list[int], other: list[int]) -> None:
    share = len(set(one) & set(other)) / max(len(one), len(other), 1)
    assert similarity(sketch_of(rows(one)), sketch_of(rows(other))) == pytest.approx(share)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 0.96, 1.0])
def test_known_shares_of_large_files(share: float) -> None:
    """256 of 40,000 rows tell the share to within four standard errors of a Jaccard estimate."""
    count = 20_000
    shift = round(count * (1 - share))
    found = similarity(sketch_of(rows(range(count))), sketch_of(rows(range(shift, shift + count))))
    jaccard = share / (2 - share)
    error = 4 * np.sqrt(jaccard * (1 - jaccard) / 256) * 2 / (1 + jaccard) ** 2
    assert found == pytest.approx(share, abs=float(error) + 1e-12)


def test_a_large_file_and_a_part_of_it() -> None:
    assert similarity(sketch_of(rows(range(10_000))), sketch_of(rows(range(100)))) == pytest.approx(0.01, abs=0.02)


def test_what_is_empty_is_like_nothing() -> None:
    nothing = sketch_of(rows([]))
    assert similarity(nothing, nothing) == 0.0
    assert similarity(nothing, sketch_of(rows([1]))) == 0.0
    assert similarity(None, nothing) == 0.0


def test_the_order_of_rows_and_their_repetition_do_not_count_but_places_do() -> None:
    assert sketch_of(rows([3, 1, 2, 1])) == sketch_of(rows([1, 2, 3]))
    places = np.arange(3)
    assert similarity(sketch_of(rows([1, 2, 3]), places), sketch_of(rows([3, 2, 1]), places)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_pseudonyms_are_left_out(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    known = sketch_of_release(prepare(case.rulebook, case.original, case.submitted))
    assert known["rows"] <= len(case.lines)
    assert len(canonical(known)) < 2_200
    if name != "table":
        assert sketch_of_release(prepare(case.rulebook, case.original, called_otherwise(case))) == known


def test_another_method_gives_other_rows(tmp_path: Path) -> None:
    one = made("pwscup2018", tmp_path / "one")
    whole = [f"{n + 1},{line.split(',', 1)[1]}" for n, line in enumerate(one.original.read_text().splitlines())]
    other = one.with_lines(whole)
    known = [sketch_of_release(prepare(one.rulebook, one.original, file)) for file in (one.submitted, other)]
    assert similarity(*known) < 0.2


def test_numbers_of_rows_are_the_same_on_every_machine() -> None:
    """By whole numbers, without a library: BLAKE2b of each text, mixed as SplitMix64 does, the first six bytes kept."""
    whole, drawn = 2**64, 5
    for text in ("x", "é"):
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        drawn = (drawn * 0x9E3779B97F4A7C15 + number) % whole
        drawn = (drawn ^ drawn >> 30) * 0xBF58476D1CE4E5B9 % whole
        drawn = (drawn ^ drawn >> 27) * 0x94D049BB133111EB % whole
        drawn ^= drawn >> 31
    kept = base64.b64encode(drawn.to_bytes(8, "big")[:6]).decode()
    assert sketch_of(pl.DataFrame({"a": ["x"], "b": ["é"]}), np.array([5])) == {"rows": 1, "least": kept}
