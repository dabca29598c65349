"""What commands put on the screen: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from noren.i18n import _
from noren.progress import Progress, Stoppable, silent


class _Situation:
    """How this run of the command line was started, and whether Ctrl-C was pressed."""

    debug = False
    json = False
    """Whether one JSON object is printed and nothing else: no progress, no remarks."""
    interrupts: Sequence[int] = ()


situation = _Situation()


def show_json(content: Any) -> None:
    """Print one JSON object; a number that JSON does not know (NaN, infinity) is null."""
    sys.stdout.write(json.dumps(_finite(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _finite(content: Any) -> Any:
    """Return plain data without the numbers that JSON has no word for.

    >>> _finite({"a": [1.5, float("nan")], "b": {"c": float("inf")}})
    {'a': [1.5, None], 'b': {'c': None}}
    """
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content


def show_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; numbers are set to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = [list(row) for row in rows]
    table = Table(title=Text(title) if title else None, title_justify="left", header_style="bold")
    for i, heading in enumerate(headings):
        numeric = bool(listed) and all(_is_number(row[i]) for row in listed if row[i])
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold", no_wrap=i == 0)
    for row in listed:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def say(*words: str) -> None:
    """Tell the person something that is not the result."""
    with contextlib.suppress(OSError):  # a full or closed stderr is no reason to lose the result
        for line in words:
            print(line, file=sys.stderr)


@contextlib.contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Show how far long work has come, in a terminal alone."""
    if quiet or situation.json or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, words="")

        def report(done: float, words: str = "", best: float | None = None) -> None:
            bar.update(task, completed=done, words=_with_best(words, best))

        yield report


@contextlib.contextmanager
def stoppable_bar(title: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Show how far long work has come; Ctrl-C keeps the best so far where there is one, a second one leaves."""
    with progress_bar(title, quiet=quiet) as shown:

        def report(done: float, words: str = "", best: float | None = None) -> None:
            shown(done, words, best)
            if told.wanted and not told.said and best is not None:
                say(_("stopping with the best so far ({best}); Ctrl-C again leaves without").format(best=number(best)))

        told = Stoppable(report)
        with _stopped_by_ctrl_c(told):
            yield told


@contextlib.contextmanager
def _stopped_by_ctrl_c(told: Stoppable) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(which: int, frame: FrameType | None) -> None:
        if told.best is not None and not told.wanted:
            told.stop()  # heard at the next report: no work is torn apart
            return
        try:
            before(which, frame) if callable(before) else signal.default_int_handler(which, frame)
        except KeyboardInterrupt:  # which a search would take for a wish to keep the best
            raise SystemExit(130) from None

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _with_best(words: str, best: float | None) -> str:
    """Return the words with the best so far, unless they tell it.

    >>> _with_best("searching", 0.25), _with_best("U = 0.2500", 0.25)
    ('searching, best 0.2500', 'U = 0.2500')
    """
    if best is None or number(best) in words:
        return words
    return _("{words}, best {best}").format(words=words, best=number(best))


def number(value: float) -> str:
    """Write a number for a person: four decimals at most, whole numbers plainly."""
    if not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4f}"


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "", 1).removeprefix("-").isdigit()
