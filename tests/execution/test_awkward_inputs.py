"""Uneven customers, many small files, a task that fails: the release is that of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import noren
from noren.data.frames import History
from noren.data.release import public_digest
from noren.work.run import measure_folder, protect_folder

ROOT = Path(__file__).resolve().parents[2]


def written(history: History, folder: Path, files: int) -> Path:
    """Write a history as so many Parquet files."""
    folder.mkdir()
    size = -(-len(history) // files)
    for at in range(files):
        history.frame[at * size : (at + 1) * size].write_parquet(folder / f"part-{at:05d}.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def digest_alone(original: Path, folder: Path) -> tuple[str, int]:
    """Return the digest of the release that one machine makes."""
    release = noren.protect(original, "generalize-by-count", schema="sample", k=3, seed=1, audit=False)
    release.save(folder)
    return public_digest(folder)


@pytest.mark.parametrize("files", [3, 1_000])
def test_a_customer_with_a_tenth_of_all_rows_and_many_small_files(master: str, spark, tmp_path: Path, files) -> None:
    history = noren.sample(customers=200, rows=9_000, items=200, seed=5)
    heavy = pl.when(pl.int_range(pl.len()) % 10 == 3).then(pl.lit("heavy")).otherwise("customer").alias("customer")
    original = written(History(history.frame.with_columns(heavy), history.schema), tmp_path / "original", files)
    release = tmp_path / "cluster"
    protect_folder(original, "generalize-by-count", release, k=3, engine=master, schema="sample", seed=1, audit=False)
    assert public_digest(release) == digest_alone(original, tmp_path / "alone")
    costs = [measure_folder(original, release, "cell-error", engine=one, schema="sample") for one in (master, "local")]
    assert costs[0]["cell-error"].value == pytest.approx(costs[1]["cell-error"].value, rel=1e-9)


def test_a_task_that_fails_once(java: None, tmp_path: Path) -> None:
    history = noren.sample(customers=60, rows=2_000, items=100, seed=5)
    original, died = written(history, tmp_path / "original", 4), tmp_path / "died"
    command = [sys.executable, str(Path(__file__).with_name("fail_once.py")), str(original), str(tmp_path / "cluster")]
    subprocess.run([*command, str(died)], check=True, timeout=600, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    assert died.exists()
    assert public_digest(tmp_path / "cluster") == digest_alone(original, tmp_path / "alone")
