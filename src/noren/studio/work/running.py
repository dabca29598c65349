"""Protect, attack, measure; and everything a page shows of it, as numbers and facts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from noren import api
from noren.data.frames import Records
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import InputError
from noren.i18n import _
from noren.progress import Progress, part_of
from noren.studio.folders import Folders, write_json
from noren.studio.work.outcome_files import save_outcome
from noren.studio.work.project_files import method_of
from noren.studio.work.stages import end_of
from noren.study.crosstabs import crosstabs
from noren.study.outcomes import Outcome, judge
from noren.study.row_pairs import row_pairs
from noren.study.run_view import run_view

__all__ = ["do", "original_of"]

_VIEWED = 0.92


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the release and judge it."""
    original, folders = original_of(order), Folders(Path(order["root"]))
    release = api.protect(
        original,
        method_of(order["steps"], folders.project(order["project"])),
        seed=order["seed"],
        progress=part_of(progress, 0.0, end_of("run", "protect")),
    )
    release.save(folder / "release", replace_existing=True)
    release = Release.load(folder / "release")  # judged is what was written
    outcome = _judged(original, release, order, progress)
    save_outcome(outcome, folder)
    progress(end_of("run", "measure"), _("preparing what the pages show"))
    view = run_view(original, outcome)
    write_json(folder / "result.json", view)
    progress(_VIEWED)
    pq.write_table(row_pairs(original, release).to_arrow(), folder / "rows.parquet", compression="zstd")
    progress(0.95)
    write_json(folder / "crosstabs.json", crosstabs(original, release))
    progress(1.0)
    return {"map": view["map"], "verdict": view["verdict"], "rows": view["rows"]}


def _judged(original: Records, release: Release, order: Mapping[str, Any], progress: Progress) -> Outcome:
    """Attack and measure; a measure that was asked for and cannot judge this release is left out."""
    wanted = order.get("measures")
    protected, attacked, measured = (end_of("run", stage) for stage in ("protect", "attack", "measure"))
    judging = part_of(progress, protected, measured)
    if wanted is None:
        return judge(original, release, attacks=order.get("attacks"), progress=judging)

    def attacking(done: float, words: str = "", best: float | None = None) -> None:
        judging(min(done, (attacked - protected) / (measured - protected)), words, best)

    outcome = judge(original, release, attacks=order.get("attacks"), measures=[], progress=attacking)
    scores = {}
    for at, name in enumerate(wanted):
        share = (measured - attacked) / len(wanted)
        part = part_of(progress, attacked + share * at, attacked + share * (at + 1), name)
        part(0.0)
        with contextlib.suppress(InputError):
            scores[name] = api.measure(original, release, name, guesses=outcome.guesses, progress=part)
    return replace(outcome, scores=scores)


def original_of(order: Mapping[str, Any]) -> Records:
    """Return the project's data."""
    files, project = Folders(Path(order["root"])), order["project"]
    schema = Schema.from_toml(files.schema(project).read_text(encoding="utf-8"))
    return read(files.data(project), schema).data
