"""Running units of work on all cores; what is done is kept at once, so that a kill loses only what was under way.

Nothing heavy is imported here: a child process comes here first, before any library has chosen its number of threads.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.errors import NorenError
from noren.i18n import _, activate, active_language

if TYPE_CHECKING:
    from noren.work.store import PieceStore, WorkUnit

Prepared = tuple[Callable[..., None], tuple[Any, ...]]
"""A function at the top of a module and its arguments, called in each process before its first unit."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
_AHEAD = 2
"""Units that wait in line for each process: enough to keep it busy, few enough that the order of units is kept."""


def run_units(
    units: Sequence[WorkUnit],
    done: dict[WorkUnit, Any],
    store: PieceStore,
    workers: int,
    *,
    prepared: Prepared | None = None,
    started: Callable[[WorkUnit], None] = lambda unit: None,
) -> Iterator[WorkUnit]:
    """Run units, put their results into ``done`` and into the store, and yield each once it is done.

    A unit starts when those it needs are done, the first in order before later ones. The results do not depend on the
    number of workers.

    ``prepared`` is what each process does first, such as taking hold of data that all units look at; ``started`` is
    told of each unit when it is handed to a process.
    """
    from noren.work.store import use

    use(store.folder)
    if prepared is not None:
        prepared[0](*prepared[1])
    left, count = list(units), min(workers, sum(not unit.wide for unit in units))
    pools: contextlib.AbstractContextManager[ProcessPoolExecutor | None] = contextlib.nullcontext()
    if count > 1:
        pools = child_processes(count, (use, (store.folder,)), *([] if prepared is None else [prepared]))
    with pools as pool:
        while left:
            for unit in () if pool is None else _pooled(left, done, store, pool, count * _AHEAD, started):
                left.remove(unit)
                yield unit
            if left:  # where there is a pool, a wide one: nothing else is ready
                unit = next(_ready(left, done))
                started(unit)
                done[unit] = run_and_keep(unit, _arguments(unit, done), store.path(unit))
                left.remove(unit)
                yield unit


@contextlib.contextmanager
def child_processes(count: int, *prepared: Prepared) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of child processes, which end with the caller and at once when it stops on an error or Ctrl-C."""
    context = multiprocessing.get_context("spawn")  # neither polars nor numba survive a fork
    # as bytes: what it needs is imported where they are read, after the number of threads is set
    first = pickle.dumps([(activate, (active_language(),)), *prepared])
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(first,))
    try:
        yield pool
        pool.shutdown()
    except BaseException as error:
        # the children end at once: what they had done is kept already
        children = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()
        for child in children:
            child.join()
        if isinstance(error, BrokenProcessPool):
            message = _("a process was killed, probably for lack of memory; run again with --workers 1")
            raise NorenError(message) from None
        raise


def _pooled(
    units: Sequence[WorkUnit],
    done: dict[WorkUnit, Any],
    store: PieceStore,
    pool: ProcessPoolExecutor,
    most: int,
    started: Callable[[WorkUnit], None],
) -> Iterator[WorkUnit]:
    """Run in child processes whatever does not wait for a wide unit."""
    waiting = [unit for unit in units if not unit.wide]
    running: dict[Future[Any], WorkUnit] = {}
    while running or any(_ready(waiting, done)):
        for unit in list(islice(_ready(waiting, done), most - len(running))):
            waiting.remove(unit)
            started(unit)
            with _without_main():
                running[pool.submit(run_and_keep, unit, _arguments(unit, done), store.path(unit))] = unit
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            unit = running.pop(future)
            done[unit] = future.result()
            yield unit


def _ready(units: Iterable[WorkUnit], done: dict[WorkUnit, Any]) -> Iterator[WorkUnit]:
    return (unit for unit in units if all(other in done for other in unit.needs))


def _arguments(unit: WorkUnit, done: dict[WorkUnit, Any]) -> tuple[Any, ...]:
    return (*unit.arguments, *(done[other] for other in unit.needs))


def run_and_keep(unit: WorkUnit, arguments: tuple[Any, ...], path: Path) -> Any:
    """Run one unit, keep what it returns, and return it as it will be read again.

    A result with ``failed`` is not stored, nor anything based on it: it would be reused forever.
    """
    from noren.work.store import passing, save

    if unit.wide:
        result = unit.work(*arguments)
    else:
        with _threads(len(sys.modules)).limit(limits=1):
            result = unit.work(*arguments)
    if passing(result) or any(map(passing, arguments[len(unit.arguments) :])):
        result = json.loads(json.dumps(result, allow_nan=False))
        return result | {"passing": True} if isinstance(result, dict) else result
    return save(path, unit, result)


@lru_cache(maxsize=1)
def _threads(_modules: int) -> Any:
    """Return who limits the threads of libraries; looked up anew when more are loaded, for that takes its time."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Let a process start that does not run the caller's script again: no unit is in it, and it may not be guarded."""
    main = sys.modules["__main__"]
    main_values: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    vars(main).pop("__file__", None)
    try:
        yield
    finally:
        vars(main).update(main_values)


def _begin(prepared: bytes) -> None:
    """Prepare a child process: one thread for each library, since all cores are busy with children already."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent answers it
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    for work, arguments in pickle.loads(prepared):  # noqa: S301 - our own bytes, from the parent
        work(*arguments)


def _follow(parent: Any) -> None:
    """End when the parent has ended, however it did."""
    parent.join()
    os._exit(1)
