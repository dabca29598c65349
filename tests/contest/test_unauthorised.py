"""Contests on files that look nothing like a contest's: what Noren writes of them, the arena takes."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import noren.api as api
from noren.contest.judging.checking import check_guess
from noren.contest.judging.prepared import make_target, original_of, write_attack
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.rulebook import Rulebook, preset
from noren.data.release import submission_of

SALT, LABEL = bytes(32), "cup/final/s"
DAYS = pl.Series([f"2024-0{1 + n % 9}-{10 + n % 17}" for n in range(240)])


def shop(blank: bool) -> pl.DataFrame:
    """Purchases with ISO dates and prices, without quantities; perhaps with blanks."""
    frame = pl.DataFrame(
        {
            "Member": [f"m{n * 7 % 24}" for n in range(240)],
            "Bought on": DAYS,
            "article": [f"a{n * n % 31}" for n in range(240)],
            "amount": [f"{(n * 13) % 50 + 0.5:.2f}" for n in range(240)],
        }
    )
    gone = pl.int_range(pl.len()) % 11 == 0
    return frame.with_columns(pl.when(gone).then(None).otherwise("article").alias("article")) if blank else frame


def rules(path: Path) -> Rulebook:
    """The preset custom, its schema guessed from the data as when a contest is created."""
    book = preset("custom")
    return book.model_copy(update={"data_schema": original_of(book, path).schema.to_toml()})


@pytest.mark.parametrize("blank", [False, True])
@pytest.mark.parametrize(("method", "given"), [("pseudonymize", {}), ("generalize-by-count", {"k": 3})])
def test_releases_of_a_strangers_shop(method: str, given: dict[str, Any], blank: bool, tmp_path: Path) -> None:
    path, submitted, target = (tmp_path / name for name in ("shop.csv", "A.csv", "target.csv"))
    shop(blank).write_csv(path)
    book = rules(path)
    data = original_of(book, path)
    release = api.protect(data, method, seed=1, **given)
    submitted.write_bytes(submission_of(release))
    judged = score_release(book, path, submitted)
    assert judged["report"]["en"]["problems"] == []
    assert judged["values"]["cell-error"] == pytest.approx(api.measure(data, release, "cell-error").value)
    target.write_bytes(make_target(book, path, submitted, SALT, LABEL))
    shown = pl.read_csv(StringIO(target.read_text()), infer_schema=False)
    assert shown["Bought on"].str.contains(r"2024-\d\d-\d\d|^\*$").all()  # days as the original has them
    guess = tmp_path / "guess.csv"
    write_attack(book, path, target, "nearest", guess)
    assert check_guess(book, path, target, guess).valid
    found = score_guess(book, path, submitted, SALT, LABEL, guess)
    assert found["valid"]
    if method == "pseudonymize":
        assert found["values"]["reid-rate"] == 1.0  # names alone hide nobody
    else:
        assert found["tried"]["named"] == len(guess.read_text().splitlines()) == 24
