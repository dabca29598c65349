"""A worker that dies in the middle changes nothing; when all are gone, that is said and nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.execution.standalone import Standalone

import noren
from noren.data.release import public_digest

ROOT = Path(__file__).resolve().parents[2]


def _started(cluster: Standalone, original: Path, release: Path, patience: float = 60) -> subprocess.Popen[str]:
    """Start protecting in another process, and wait until it is in the middle."""
    command = [sys.executable, str(Path(__file__).with_name("protect_and_tell.py"))]
    started = subprocess.Popen(
        [*command, cluster.address, str(original), str(release), str(patience)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "running\n"
    return started


def _original(folder: Path) -> Path:
    history = noren.sample(customers=150, rows=6_000, items=200, seed=5)
    folder.mkdir()
    for at in range(6):
        history.frame[at * 1_000 : (at + 1) * 1_000].write_parquet(folder / f"part-{at}.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def test_one_of_two_workers_is_killed(java: None, tmp_path: Path) -> None:
    original = _original(tmp_path / "original")
    (tmp_path / "cluster").mkdir()
    with Standalone(tmp_path / "cluster") as cluster:
        started = _started(cluster, original, tmp_path / "release")
        cluster.kill(0)
        said, _err = started.communicate(timeout=600)
    assert said == "done\n"
    alone = noren.protect(original, "generalize-by-count", schema="sample", k=3, seed=1)
    alone.save(tmp_path / "alone")
    assert public_digest(tmp_path / "release") == public_digest(tmp_path / "alone")


def test_all_workers_are_killed(java: None, tmp_path: Path) -> None:
    original = _original(tmp_path / "original")
    (tmp_path / "cluster").mkdir()
    with Standalone(tmp_path / "cluster") as cluster:
        started = _started(cluster, original, tmp_path / "release", patience=3)
        cluster.kill(0)
        cluster.kill(1)
        said, _err = started.communicate(timeout=600)
    assert said.startswith("error: nothing was written, because all workers of the cluster were gone for 3 seconds")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster", "original"]
