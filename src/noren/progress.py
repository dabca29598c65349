"""How far long work has come: a function that is told, so that no kernel knows a terminal or a browser.

Work that gets better the longer it runs tells the best it has so far. Whoever hears that may say *enough*: the function
raises :class:`Enough`, and what is best becomes the answer.
"""

from typing import Protocol


class Progress(Protocol):
    """Called with the share done (0 to 1), a few words, and the best so far where there is one (lower is better)."""

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Report that ``done`` of the work is done."""


class Enough(Exception):  # noqa: N818 - nothing went wrong
    """Said by whoever is told of progress: come to an end.

    Whoever has something worth keeping catches it and returns that; it has, from the first report with a ``best`` to
    the last. Elsewhere it passes, and the work ends with nothing. :class:`Stoppable` says it where it is heard.
    """


def silent(done: float, words: str = "", best: float | None = None) -> None:
    """Report to nobody."""


def part_of(progress: Progress, start: float, stop: float, name: str = "") -> Progress:
    """Return a progress that fills the part of another from ``start`` to ``stop``, under a name of its own.

    >>> part_of(lambda done, words="", best=None: print(done, words, best), 0.5, 1.0, "thin")(0.5, "choosing rows", 0.3)
    0.75 thin: choosing rows 0.3
    """

    def report(done: float, words: str = "", best: float | None = None) -> None:
        progress(start + (stop - start) * done, ": ".join(filter(None, (name, words))), best)

    return report


class Stoppable:
    """A progress that can be told to stop: it says :class:`Enough`, once, at the next report of a best.

    Where there is no best it does not: a search that ended just before is not thrown away.

    >>> told = Stoppable()
    >>> told.stop()
    >>> told(0.1, "comparing")
    >>> try:
    ...     told(0.2, "searching", best=0.31)
    ... except Enough:
    ...     told(0.9, "writing the best")
    """

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress
        self.best: float | None = None
        """The best of the latest report: None before a search and after it."""
        self.stop_requested = False
        """Whether somebody said stop."""
        self.raised = False
        """Whether the work was told so."""

    def stop(self) -> None:
        """End the work as soon as it has something worth keeping; from another thread or a signal handler, too."""
        self.stop_requested = True

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Report, and say enough if that is wanted and there is a best."""
        self.best = best
        self._progress(done, words, best)
        if self.stop_requested and not self.raised and best is not None:
            self.raised = True
            raise Enough
