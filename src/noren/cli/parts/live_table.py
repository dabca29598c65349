"""A table that fills while a sweep runs: one line for each point, and how far the whole has come.

In a terminal it stands still and changes; elsewhere each finished point is a line on standard error.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from noren.cli.parts.screen import say
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.sweeps.running import Line, Prospect, Watch

__all__ = ["watching"]

_OTHER_LINES = 8
"""Lines of a terminal that are not for points: headings, rules, the bar."""


@contextlib.contextmanager
def watching(*, quiet: bool = False) -> Iterator[Watch]:
    """Yield who is told how a sweep gets on."""
    from noren.sweeps.running import Watch

    if quiet:
        yield Watch()
    elif sys.stderr.isatty():
        with _live() as watch:
            yield watch
    else:
        yield _lines()


def prospect_words(prospect: Prospect) -> str:
    """Return what is ahead, as a sentence."""
    points = ngettext("{count} release to look at", "{count} releases to look at", len(prospect.lines)).format(
        count=len(prospect.lines)
    )
    if not prospect.left:
        return _("{points}; all of it is kept from before").format(points=points)
    words = _("{points}: {left:,} pieces of work, {kept:,} kept from before, on {workers}")
    if prospect.slow:
        words = _(
            "{points}: {left:,} pieces of work, {kept:,} kept from before, on {workers}; slow on large data: {names}"
        )
    workers = ngettext("{count} process", "{count} processes", prospect.workers).format(count=prospect.workers)
    return words.format(
        points=points, left=prospect.left, kept=prospect.kept, workers=workers, names=", ".join(prospect.slow)
    )


def cells(line: Line) -> tuple[str, ...]:
    """Return what a line says: release, state, use, risk, verdict, time."""
    from noren.judgement.numbers import decimal, percent
    from noren.judgement.sentences import word_text

    states = {
        "waiting": _("waiting"),
        "refused": _("refused"),
        "failed": _("failed"),
        "done": _("kept") if line.kept else _("done"),
    }
    state = states.get(line.state) or _("{done} of {pieces}").format(done=line.done, pieces=line.pieces)
    result, label = line.result, f"{line.label} ({line.run})" if line.run > 1 else line.label
    if result is None:
        return label, state, "", "", "", ""
    time = "" if line.kept else f"{result.seconds:.1f} s"
    if result.place is None:
        return label, state, "", "", result.reason(), time
    use, risk = result.place.use, result.place.risk
    return (
        label,
        state,
        "–" if use is None else decimal(use),
        "–" if risk is None else percent(risk),
        word_text(result.word),
        time,
    )


def _lines() -> Watch:
    """Return who says each finished point on a line of its own."""
    from noren.sweeps.running import Watch

    class Said(Watch):
        def __init__(self) -> None:
            self._all = self._over = 0

        def begin(self, prospect: Prospect) -> None:
            self._all = len(prospect.lines)
            say(prospect_words(prospect))

        def changed(self, at: int, line: Line) -> None:
            if line.result is None:
                return
            self._over += 1
            label, state, use, risk, verdict, time = cells(line)
            facts = [state, _("use {use}, risk {risk}").format(use=use, risk=risk) if use else "", verdict, time]
            say(f"[{self._over}/{self._all}] {label}: {', '.join(fact for fact in facts if fact)}")

    return Said()


@contextlib.contextmanager
def _live() -> Iterator[Watch]:
    """Yield who keeps a table up to date in the terminal."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Table
    from rich.text import Text

    from noren.sweeps.running import Watch

    console = Console(stderr=True)
    bar = Bar(
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    task = bar.add_task("", total=1.0)
    lines: list[Line] = []

    def table() -> Any:
        shown = Table(header_style="bold")
        for heading, side in zip(
            (_("release"), _("state"), _("use"), _("risk"), _("verdict"), _("time")),
            ("left", "left", "right", "right", "left", "right"),
            strict=True,
        ):
            shown.add_column(heading, justify=side, overflow="ellipsis", no_wrap=True)  # type: ignore[arg-type]
        for line in window(lines, max(console.height - _OTHER_LINES, 3)):
            shown.add_row(*(Text(cell) for cell in cells(line)))
        return Group(shown, bar)

    with Live(console=console, get_renderable=table, refresh_per_second=4, transient=True):

        class Shown(Watch):
            def begin(self, prospect: Prospect) -> None:
                console.print(Text(prospect_words(prospect)))
                lines[:] = prospect.lines

            def changed(self, at: int, line: Line) -> None:
                lines[at] = line
                done = sum(one.done for one in lines) / max(sum(one.pieces for one in lines), 1)
                bar.update(task, completed=done)

        yield Shown()


def window(lines: Sequence[Line], most: int) -> Sequence[Line]:
    """Return as many lines as there is room for, from shortly before the first that is not over."""
    first = next((at for at, line in enumerate(lines) if line.result is None), len(lines))
    start = max(min(first - 2, len(lines) - most), 0)
    return lines[start : start + most]
