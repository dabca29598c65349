"""What commands put on the screen: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from noren.progress import Progress, silent

__all__ = ["number", "progress_bar", "say", "show_json", "show_table"]


def show_json(content: Any) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


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
    for line in words:
        print(line, file=sys.stderr)


@contextlib.contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Show how far long work has come, in a terminal alone."""
    if quiet or not sys.stderr.isatty():
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

        def report(done: float, words: str = "") -> None:
            bar.update(task, completed=done, words=words)

        yield report


def number(value: float) -> str:
    """Write a number for a person: four decimals at most, whole numbers plainly."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4f}"


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "", 1).removeprefix("-").isdigit()
