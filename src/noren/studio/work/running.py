"""Protect, attack, measure; and everything a page shows of it, as numbers and facts.

Nothing finished is lost. The release is kept before anybody attacks it, each guess and each score as soon as it is
there. An attack or a measure that fails is told with its reason, and the others go on; a run that is taken up again
does what is missing alone. A release whose audit could not be done is kept, but it says so and is not handed out.
"""

from __future__ import annotations

import shutil
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from noren import api
from noren.attacks import attacks as every_attack
from noren.data.frames import Records
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import AuditUnfinishedError, CheckFailedError, InputError
from noren.i18n import _
from noren.measures import measures as every_measure
from noren.measures.evidence import at_hand
from noren.progress import Enough, Progress, part_of
from noren.studio.folders import Folders, write_json
from noren.studio.reasons import is_disk_full, reason_of
from noren.studio.work.outcome_files import Kept, Part
from noren.studio.work.project_files import method_of
from noren.studio.work.stages import end_of
from noren.study.crosstabs import crosstabs
from noren.study.outcomes import fitting, label_of
from noren.study.row_pairs import row_pairs
from noren.study.run_view import run_view

__all__ = ["do", "original_of"]

_VIEWED = 0.92


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the release and judge it; what of it is there already stays."""
    original, kept = original_of(order), Kept(folder)
    if not kept.has_release:
        _release(original, order, folder, kept, part_of(progress, 0.0, end_of("run", "protect")))
    release = Release.load(folder / "release")  # judged is what was written
    _attack(original, release, order.get("attacks"), kept, progress)
    _measure(original, release, order.get("measures"), kept, progress)
    progress(end_of("run", "measure"), _("preparing what the pages show"))
    told = {"failed": kept.failed, "audited": kept.audited}
    view = run_view(original, kept.outcome(release)) | told
    write_json(folder / "result.json", view)
    progress(_VIEWED)
    pq.write_table(row_pairs(original, release).to_arrow(), folder / "rows.parquet", compression="zstd")
    progress(0.95)
    write_json(folder / "crosstabs.json", crosstabs(original, release))
    progress(1.0)
    return {"map": view["map"], "verdict": view["verdict"], "rows": view["rows"]} | told


def _release(original: Records, order: Mapping[str, Any], folder: Path, kept: Kept, progress: Progress) -> None:
    """Make the release, keep it, and audit what it claims; one whose claim is false is thrown away."""
    method = method_of(order["steps"], Folders(Path(order["root"])).project(order["project"]))
    release, audit = api.protect_unaudited(original, method, seed=order["seed"], progress=progress)
    release.save(folder / "release", replace_existing=True)
    audited: bool | None = None
    if audit is not None:
        with kept.doing("audit", release.statement.method):
            audited = _audited(release, audit, folder, kept)
    kept.add_release(label_of(release.statement), audited=audited)


def _audited(release: Release, audit: Callable[[], None], folder: Path, kept: Kept) -> bool:
    """Audit a release that is kept; tell whether the audit came to its end. Its statement says so where it did not."""
    try:
        audit()
    except AuditUnfinishedError as error:
        if is_disk_full(error):
            raise
        traceback.print_exc(file=sys.stderr)  # the job's error log
        error.release.save(folder / "release", replace_existing=True)
        method = release.statement.method
        kept.add_failure("audit", method, reason_of(error.__cause__ or error, method))
        return False
    except CheckFailedError:
        shutil.rmtree(folder / "release")
        raise
    return True


def _attack(original: Records, release: Release, wanted: list[str] | None, kept: Kept, progress: Progress) -> None:
    names = fitting(every_attack, original.schema) if wanted is None else wanted
    start, stop = end_of("run", "protect"), end_of("run", "attack")
    for at, name in enumerate(sorted(names, key=lambda name: every_attack[name].listens)):
        share = (stop - start) / len(names)
        part = part_of(progress, start + share * at, start + share * (at + 1), name)
        part(0.0)

        def attack(name: str = name, part: Progress = part) -> None:
            kept.add_guess(api.attack(original, release, name, heard=kept.guesses, progress=part))

        if not kept.was_tried("attack", name):
            _tried("attack", name, attack, kept)


def _measure(original: Records, release: Release, wanted: list[str] | None, kept: Kept, progress: Progress) -> None:
    """Measure; what cannot judge this release is left out, whether or not it was asked for."""
    there = at_hand(release, kept.guesses)
    names = [n for n in fitting(every_measure, original.schema) if every_measure[n].needs <= there]
    names = names if wanted is None else wanted
    start, stop = end_of("run", "attack"), end_of("run", "measure")
    for at, name in enumerate(names):
        share = (stop - start) / len(names)
        part = part_of(progress, start + share * at, start + share * (at + 1), name)
        part(0.0)

        def measure(name: str = name, part: Progress = part) -> None:
            try:
                score = api.measure(original, release, name, guesses=kept.guesses, progress=part)
            except InputError:
                return
            kept.add_score(name, score)

        if not kept.was_tried("measure", name):
            _tried("measure", name, measure, kept)


def _tried(kind: Part, name: str, work: Callable[[], None], kept: Kept) -> None:
    """Do a piece of the work, and keep why where it fails.

    A full disk ends the run: nothing after it could be kept either.
    """
    with kept.doing(kind, name):
        try:
            work()
        except Exception as error:
            if is_disk_full(error) or isinstance(error, Enough):
                raise
            traceback.print_exc(file=sys.stderr)  # the job's error log
            kept.add_failure(kind, name, reason_of(error, name))


def original_of(order: Mapping[str, Any]) -> Records:
    """Return the project's data."""
    files, project = Folders(Path(order["root"])), order["project"]
    schema = Schema.from_toml(files.schema(project).read_text(encoding="utf-8"))
    return read(files.data(project), schema).data
