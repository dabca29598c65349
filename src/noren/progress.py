"""Progress reports of long work: a callback, so that kernels need not know a terminal or a browser.

A search also reports its best result so far. The callback can stop it by raising :class:`Enough`; the best result is
then the answer.
"""

from typing import Protocol


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
