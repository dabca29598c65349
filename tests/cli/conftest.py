"""What several commands are tried on: releases of purchases, and a table of people."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

SCHEMA = ("--schema", "pwscup2018")
TABLE = """
kind = "table"
[columns]
sex = { role = "quasi", domain = ["f", "m"] }
town = { role = "quasi", domain = ["a", "b", "c"] }
age = { role = "quasi", type = "integer", minimum = 0, maximum = 99 }
"""


@pytest.fixture
def release(noren, small_csv, tmp_path) -> Path:
    folder = tmp_path / "release"
    answer = noren(
        "protect",
        small_csv,
        *SCHEMA,
        "--method",
        "generalize-by-count",
        "--k",
        3,
        "--seed",
        1,
        "--out",
        folder,
        "--json",
    )
    assert answer.code == 0, answer.err
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    draws = np.random.default_rng(1)
    rows = 500
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[i] for i in draws.integers(0, 2, rows)],
            "town": [("a", "b", "c")[i] for i in draws.choice(3, rows, p=[0.7, 0.2, 0.1])],
            "age": draws.integers(0, 100, rows),
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "t.toml").write_text(TABLE.replace("= 99 }", "= 99.0 }").replace("= 0,", "= 0.0,"))
    return tmp_path


@pytest.fixture
def releases(noren, small_csv, tmp_path) -> list[Path]:
    folders = []
    for k in (2, 3, 6):
        folders.append(tmp_path / f"k{k}")
        words = ("--method", "generalize-by-count", "--k", k, "--seed", 1, "--out", folders[-1], "--official")
        assert noren("protect", small_csv, *SCHEMA, *words).code == 0
    return folders
