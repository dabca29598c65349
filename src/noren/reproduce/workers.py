"""Running units of work on all cores; what is done is kept at once, so that a kill loses only what was under way.

Nothing heavy is imported here: a child process comes here first, before any library has chosen its number of threads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.errors import NorenError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.reproduce.frame import Unit
    from noren.reproduce.store import Store

__all__ = ["run_units"]

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def run_units(units: Sequence[Unit], done: dict[Unit, Any], store: Store, workers: int) -> Iterator[Unit]:
    """Run units, put their results into ``done`` and into the store, and yield each once it is done.

    A unit starts when those it needs are done. The results do not depend on the number of workers.
    """
    from noren.reproduce.store import use

    use(store.folder)
    narrow = [unit for unit in units if not unit.wide]
    left = list(units)
    if workers > 1 and len(narrow) > 1:
        context = multiprocessing.get_context("spawn")  # neither polars nor numba survive a fork
        pool = ProcessPoolExecutor(
            min(workers, len(narrow)), mp_context=context, initializer=_begin, initargs=(store.folder,)
        )
        try:
            for unit in _pooled(left, done, store, pool):
                left.remove(unit)
                yield unit
            pool.shutdown()
        except BaseException as error:
            _stop(pool)
            if isinstance(error, BrokenProcessPool):
                raise NorenError(
                    _("a process was ended from outside, likely for want of memory; run again with --workers 1")
                ) from None
            raise
    while left:
        unit = next(_ready(left, done))
        done[unit] = run_and_keep(unit, _arguments(unit, done), store.path(unit))
        left.remove(unit)
        yield unit


def _pooled(units: Sequence[Unit], done: dict[Unit, Any], store: Store, pool: ProcessPoolExecutor) -> Iterator[Unit]:
    """Run in child processes whatever does not wait for a wide unit; a wide one runs here when no other is left."""
    waiting = [unit for unit in units if not unit.wide]
    running: dict[Future[Any], Unit] = {}
    while True:
        for unit in list(_ready(waiting, done)):
            waiting.remove(unit)
            running[pool.submit(run_and_keep, unit, _arguments(unit, done), store.path(unit))] = unit
        if not running:
            wide = next(_ready([unit for unit in units if unit.wide and unit not in done], done), None)
            if wide is None:
                return
            done[wide] = run_and_keep(wide, _arguments(wide, done), store.path(wide))
            yield wide
            continue
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            unit = running.pop(future)
            done[unit] = future.result()
            yield unit


def _ready(units: Iterable[Unit], done: dict[Unit, Any]) -> Iterator[Unit]:
    return (unit for unit in units if all(other in done for other in unit.needs))


def _arguments(unit: Unit, done: dict[Unit, Any]) -> tuple[Any, ...]:
    return (*unit.arguments, *(done[other] for other in unit.needs))


def run_and_keep(unit: Unit, arguments: tuple[Any, ...], path: Path) -> Any:
    """Run one unit, keep what it returns, and return it as it will be read again."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from noren.reproduce.store import save

    with threadpool_limits(None if unit.wide else 1):
        result = unit.work(*arguments)
    return save(path, unit, result)


def _begin(folder: Path) -> None:
    """Prepare a child process: one thread for each library, since all cores are busy with children already."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent answers it
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()

    from noren.reproduce.store import use

    use(folder)


def _follow(parent: Any) -> None:
    """End when the parent has ended, however it did."""
    parent.join()
    os._exit(1)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the children at once: what they had done is kept already."""
    children = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for child in children:
        child.terminate()
    for child in children:
        child.join()
