"""Estimate what a perturbed table was before, from the public part of its release alone, and write it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noren import api
from noren.data.frames import Table
from noren.data.reading import write
from noren.data.release import Release
from noren.progress import Progress, part_of
from noren.studio.folders import Folders

__all__ = ["do"]

_FOLDS_SEED = 0


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Reconstruct as the release's statement says, and as ``noren reconstruct`` does where nothing is chosen."""
    run = order["runs"][0]["id"]
    release = Release.load(Folders(Path(order["root"])).job(order["project"], run) / "release")
    found = api.reconstruct(release, seed=_FOLDS_SEED, progress=part_of(progress, 0.05, 0.9))
    records = found.records(_FOLDS_SEED)
    table = Table(records, found.perturbation.released_schema(release.public.schema))
    for ending in ("parquet", "csv"):
        write(table, folder / f"reconstructed.{ending}")
    progress(1.0)
    return {"run": run, "records": len(records), "model": found.model}
