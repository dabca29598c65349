"""Protect, attack, measure; and everything a page shows of it, as numbers and facts.

Nothing finished is lost. The release is kept before anybody attacks it, each guess and each score as soon as it is
there. An attack or a measure that fails is told with its reason, and the others go on; a run that is taken up again
does what is missing alone. A release whose audit could not be done is kept, but it says so and is not handed out.

The project's folder is a cache of ``noren explore`` as well: what a sweep did with the same seed is taken from there,
and what a run does is there for the next sweep.
"""

from __future__ import annotations

import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from noren import api
from noren.attacks import attacks as every_attack
from noren.data.frames import Records
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.drawing.crosstabs import crosstabs
from noren.engines.choice import Engine, parse_engine, using
from noren.errors import AuditUnfinishedError, CheckFailedError, InputError, NorenError
from noren.i18n import _
from noren.judgement.outcome import fitting, label_of
from noren.measures import measures as every_measure
from noren.measures.evidence import at_hand
from noren.progress import Enough, Progress, part_of
from noren.protocols import Component, Method
from noren.reports.row_pairs import row_pairs
from noren.reports.run_view import run_view
from noren.studio.folders import STAGES_FILE, Folders, read_json, write_json
from noren.studio.judged import summary_of
from noren.studio.reasons import reason_of
from noren.studio.work.outcome_files import Kept, Part
from noren.studio.work.project_files import method_of
from noren.studio.work.stages import end_of
from noren.sweeps.kept import KeptPoint
from noren.web.disk import is_disk_full

if TYPE_CHECKING:
    from noren.execution.handing import Handed

__all__ = ["do", "forget_shared", "original_of"]

_SHARED = "shared.json"
"""Names the folders of the project where a run shares its release and guesses with sweeps."""
_VIEWED = 0.92


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Make the release and judge it; what of it is there already stays."""
    original, kept, project = original_of(order), Kept(folder), Folders(Path(order["root"])).project(order["project"])
    method = method_of(order["steps"], project)
    shared = KeptPoint(project, original, method, order["seed"], order.get("attacks"), order.get("measures"))
    write_json(folder / _SHARED, [str(path.relative_to(project)) for path in shared.folders])
    engine = parse_engine(order.get("engine", "local"))
    with using(engine), _telling_stages(engine, folder):
        cluster = None if engine.address is None else _handed(order, original, folder, engine.address)
        if not kept.has_release:
            part = part_of(progress, 0.0, end_of("run", "protect"))
            _release(original, method, order["seed"], folder, kept, shared, cluster, part)
        release = Release.load(folder / "release")  # judged is what was written
        known = shared if shared.is_of(folder / "release") else None
        _attack(original, release, order.get("attacks"), kept, known, cluster, progress)
        _measure(original, release, order.get("measures"), kept, known, cluster, progress)
    return summary_of(_show(original, release, kept, folder, progress), order.get("rule"))


def _show(original: Records, release: Release, kept: Kept, folder: Path, progress: Progress) -> dict[str, Any]:
    """Prepare what the pages show, and return what they show first."""
    progress(end_of("run", "measure"), _("preparing what the pages show"))
    told = {"failed": kept.failed, "audited": kept.audited, "engines": kept.engines}
    view: dict[str, Any] = run_view(original, kept.outcome(release)).model_dump(mode="json") | told
    write_json(folder / "result.json", view)
    progress(_VIEWED)
    pq.write_table(row_pairs(original, release).to_arrow(), folder / "rows.parquet", compression="zstd")
    progress(0.95)
    write_json(folder / "crosstabs.json", crosstabs(original, release))
    progress(1.0)
    return view


@contextmanager
def _telling_stages(engine: Engine, folder: Path) -> Iterator[None]:
    """Keep the stages of a cluster beside the run while they pass; they stay with it."""
    if engine.address is None:
        yield
        return
    from noren.execution.stages import hearing_stages

    path = folder / STAGES_FILE
    before = read_json(path) or []  # of a run that is taken up again
    with hearing_stages(lambda steps: write_json(path, [*before, *map(asdict, steps)])):
        yield


def _handed(order: Mapping[str, Any], original: Records, folder: Path, address: str) -> Handed:
    """Return the way to a cluster; it reads the project's own file."""
    from noren.execution.handing import Handed

    data = Folders(Path(order["root"])).data(order["project"])
    return Handed(address, data, original.schema, folder / "release")


def _on_cluster(component: Component, cluster: Handed | None, kept: Kept, progress: Progress) -> bool:
    """Tell whether a component runs on the cluster, and say where it does; nothing where none was asked for."""
    if cluster is None:
        return False
    from noren.execution.handing import has_plan

    fits = has_plan(component)
    kept.add_engine(component.name, cluster.engine if fits else "local")
    if not fits:
        progress(0.0, _("{component}: on this machine, it has no plan for a cluster").format(component=component.name))
    return fits


def _release(
    original: Records,
    method: Method,
    seed: int,
    folder: Path,
    kept: Kept,
    shared: KeptPoint,
    cluster: Handed | None,
    progress: Progress,
) -> None:
    """Make the release, keep it, and audit what it claims; one whose claim is false is thrown away."""
    if shared.take_release(folder / "release"):
        statement = Release.load(folder / "release").statement
        kept.add_release(label_of(statement), audited=True if statement.claims_k else None)
        return
    if cluster is not None and _on_cluster(method, cluster, kept, progress):
        release, audited = cluster.protect(method, seed=seed, progress=progress)
        release.save(folder / "release", replace_existing=True)
        kept.add_release(label_of(release.statement), audited=audited)
        return
    begin = time.perf_counter()
    release, audit = api.protect_unaudited(original, method, seed=seed, progress=progress)
    release.save(folder / "release", replace_existing=True)
    audited = None
    if audit is not None:
        with kept.doing("audit", release.statement.method):
            audited = _audited(release, audit, folder, kept)
    kept.add_release(label_of(release.statement), audited=audited)
    if audited is not False:
        _share(lambda: shared.add_release(folder / "release", time.perf_counter() - begin))


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


def _attack(
    original: Records,
    release: Release,
    wanted: list[str] | None,
    kept: Kept,
    shared: KeptPoint | None,
    cluster: Handed | None,
    progress: Progress,
) -> None:
    names = fitting(every_attack, original.schema) if wanted is None else wanted
    start, stop = end_of("run", "protect"), end_of("run", "attack")
    for at, name in enumerate(sorted(names, key=lambda name: every_attack[name].listens)):
        share = (stop - start) / len(names)
        part = part_of(progress, start + share * at, start + share * (at + 1), name)
        part(0.0)

        def attack(name: str = name, part: Progress = part) -> None:
            begin, guess = time.perf_counter(), None if shared is None else shared.guess(name)
            if guess is not None:
                kept.add_guess(guess)
                return
            ready = every_attack.create(name)
            if cluster is not None and _on_cluster(ready, cluster, kept, part):
                kept.add_guess(cluster.attack(ready, progress=part))
                return
            guess = api.attack(original, release, name, heard=kept.guesses, progress=part)
            kept.add_guess(guess)
            if shared is not None:
                _share(lambda: shared.add_guess(guess, release, time.perf_counter() - begin))

        if not kept.was_tried("attack", name):
            _tried("attack", name, attack, kept)


def _measure(
    original: Records,
    release: Release,
    wanted: list[str] | None,
    kept: Kept,
    shared: KeptPoint | None,
    cluster: Handed | None,
    progress: Progress,
) -> None:
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
            begin, score = time.perf_counter(), None if shared is None else shared.score(name)
            if score is not None:
                kept.add_score(name, score)
                return
            ready = every_measure.create(name)
            on_cluster = _on_cluster(ready, cluster, kept, part)
            try:
                if cluster is not None and on_cluster:
                    guesses = kept.guesses_folder if kept.guesses else None
                    kept.add_score(name, cluster.measure(ready, guesses=guesses, progress=part))
                    return
                score = api.measure(original, release, name, guesses=kept.guesses, progress=part)
            except InputError:
                return
            kept.add_score(name, score)
            if shared is not None:
                _share(lambda: shared.add_score(name, score, time.perf_counter() - begin))

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


def _share(work: Callable[[], None]) -> None:
    """Let sweeps have what a run made; where they cannot, the run has it all the same. A full disk ends it."""
    try:
        work()
    except (OSError, NorenError) as error:
        if is_disk_full(error):
            raise
        traceback.print_exc(file=sys.stderr)  # the job's error log


def original_of(order: Mapping[str, Any]) -> Records:
    """Return the project's data."""
    files, project = Folders(Path(order["root"])), order["project"]
    schema = Schema.from_toml(files.schema(project).read_text(encoding="utf-8"))
    return read(files.data(project), schema).data


def forget_shared(project: Path, folder: Path, others: Iterable[Path]) -> None:
    """Delete what a run in ``folder`` shares with sweeps, less what the runs in ``others`` share as well."""
    needed = {name for other in others for name in read_json(other / _SHARED) or ()}
    for name in read_json(folder / _SHARED) or ():
        if name not in needed:
            shutil.rmtree(project / name, ignore_errors=True)
