"""Progress reports of long work: a callback, so that kernels need not know a terminal or a browser.

A search also reports its best result so far. The callback can stop it by raising :class:`Enough`; the best result is
then the answer.

:func:`progress_bar` shows reports in a terminal or a notebook. The functions of ``import noren`` show one by default
after a second (:func:`with_progress_bar`); everything below them is silent unless a caller passes a callback.
"""

import contextlib
import functools
import importlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from html import escape
from typing import Any, Protocol, TypeVar

from noren.i18n import _

Function = TypeVar("Function", bound=Callable[..., Any])
_PATIENCE = 1.0
_PAUSE = 0.2
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


class Progress(Protocol):
    """Called with the share done (0 to 1), a few words, and the best so far where there is one (lower is better)."""

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Report that ``done`` of the work is done."""


class Enough(Exception):  # noqa: N818 - nothing went wrong
    """Raised by a progress callback to end the work.

    A search catches it from its first report with a ``best`` to the last, and returns the best. Elsewhere it passes,
    and the work ends without a result. :class:`Stoppable` raises it only where it is caught.
    """


def silent(done: float, words: str = "", best: float | None = None) -> None:
    """Report to nobody."""


def part_of(progress: Progress, start: float, stop: float, name: str = "") -> Progress:
    """Return a progress that covers the range from ``start`` to ``stop`` of another, prefixed with ``name``.

    >>> part_of(lambda done, words="", best=None: print(done, words, best), 0.5, 1.0, "thin")(0.5, "choosing rows", 0.3)
    0.75 thin: choosing rows 0.3
    """

    def report(done: float, words: str = "", best: float | None = None) -> None:
        progress(start + (stop - start) * done, ": ".join(filter(None, (name, words))), best)

    return report


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let :func:`check_time` raise once the work inside has taken so many seconds, in its threads, too."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def time_is_over() -> bool:
    """Tell whether the time that :func:`time_limit` sets is over."""
    return time.monotonic() >= _deadline.get()


def check_time() -> None:
    """Raise :class:`Enough` if the time is over."""
    if time_is_over():
        raise Enough


class Stoppable:
    """A progress that can be stopped: it raises :class:`Enough`, once, at the next report with a best.

    Without a best it does not raise, so that a search that ended just before is not thrown away.

    >>> progress = Stoppable()
    >>> progress.stop()
    >>> progress(0.1, "comparing")
    >>> try:
    ...     progress(0.2, "searching", best=0.31)
    ... except Enough:
    ...     progress(0.9, "writing the best")
    """

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress
        self.best: float | None = None
        """The best of the latest report: None before a search and after it."""
        self.stop_requested = False
        """Whether :meth:`stop` was called."""
        self.raised = False
        """Whether :class:`Enough` was raised."""

    def stop(self) -> None:
        """End the work as soon as it has something worth keeping; from another thread or a signal handler, too."""
        self.stop_requested = True

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Report, and raise :class:`Enough` if a stop was requested and there is a best."""
        self.best = best
        self._progress(done, words, best)
        if self.stop_requested and not self.raised and best is not None:
            self.raised = True
            raise Enough


# --- in a terminal or a notebook -------------------------------------------------------------------------------------


@contextlib.contextmanager
def progress_bar(title: str = "", *, after: float = 0.0) -> Iterator[Progress]:
    """Show the progress of work that takes longer than ``after`` seconds, in a terminal or a notebook only.

    Threads other than the main one show none: a server has many, and nobody looks at its terminal.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    notebook = getattr(shell, "kernel", None) is not None
    if threading.current_thread() is not threading.main_thread() or not (notebook or sys.stderr.isatty()):
        yield silent
        return
    show = _in_notebook if notebook else _in_terminal
    with show(title, after) as update:

        def report(done: float, words: str = "", best: float | None = None) -> None:
            written = "" if best is None else f"{best:.4f}" if best % 1 else f"{best:,.0f}"
            if written not in words:
                words = _("{progress}, best: {best}").format(progress=words, best=written)
            update(done, words)

        yield report


@contextlib.contextmanager
def _in_terminal(title: str, after: float) -> Iterator[Callable[[float, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    title_column, percent, words_column = map(
        TextColumn, ("{task.description}", "{task.percentage:>3.0f} %", "{task.fields[words]}")
    )
    columns = (title_column, BarColumn(), percent, TimeElapsedColumn(), TimeRemainingColumn(), words_column)
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=1.0, words="")
    # work that reports nothing for a while shows that it goes on, too
    begin = threading.Timer(after, bar.start)
    begin.daemon = True
    begin.start()
    try:
        yield lambda done, words: bar.update(task, completed=done, words=words)
    finally:
        begin.cancel()
        begin.join()
        bar.stop()


@contextlib.contextmanager
def _in_notebook(title: str, after: float) -> Iterator[Callable[[float, str], None]]:
    """Show a bar of HTML, which needs no widgets, and take it away at the end."""
    display = importlib.import_module("IPython.display")
    handle: Any = None
    due = time.monotonic() + after

    def update(done: float, words: str) -> None:
        nonlocal due, handle
        if time.monotonic() < due:
            return
        due = time.monotonic() + _PAUSE
        page = display.HTML(f'<progress value="{done:.3f}"></progress> {done:.0%} {escape(f"{title} {words}".strip())}')
        if handle is None:
            handle = display.display(page, display_id=True)
        else:
            handle.update(page)

    try:
        yield update
    finally:
        if handle is not None:
            handle.update(display.HTML(""))


def with_progress_bar(function: Function) -> Function:
    """Return ``function`` with a progress bar after a second, unless ``progress`` is a callback or False (none)."""

    @functools.wraps(function)
    def call(*arguments: Any, progress: Progress | bool | None = None, **options: Any) -> Any:
        if callable(progress) or progress is False:
            return function(*arguments, progress=progress or silent, **options)
        with progress_bar(after=_PATIENCE) as bar:
            return function(*arguments, progress=bar, **options)

    return call  # type: ignore[return-value]
