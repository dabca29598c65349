"""The stages of a cluster as a page shows them: a small table, the same in the studio and in the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, size

__all__ = ["stage_rows"]


def stage_rows(steps: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a line for each step that was kept: what it does, its tasks, what it shuffled, and its seconds.

    >>> kept = {"step": {"en": "jaccard"}, "stages": 2, "done": 5, "tasks": 6, "rows": 100, "bytes": 8500}
    >>> stage_rows([kept | {"seconds": 2.5, "over": False}])
    [['◐\\xa0jaccard (2 stages)', '5 of 6', '100 rows, 8.5 kB', '2.5']]
    """
    return [
        [
            _name(one),
            _("{done} of {tasks}").format(done=count(one["done"]), tasks=count(one["tasks"])),
            _shuffled(one["rows"], one["bytes"]),
            f"{one['seconds']:,.1f}",
        ]
        for one in steps
    ]


def _name(step: Mapping[str, Any]) -> str:
    """Return what a step does, whether it is over, and how many stages it took so far."""
    said = step["step"].get(active_language()) or step["step"]["en"] or _("preparing")
    stages = ngettext("{count} stage", "{count} stages", step["stages"]).format(count=count(step["stages"]))
    return f"{'●' if step['over'] else '◐'}\N{NO-BREAK SPACE}{said} ({stages})"


def _shuffled(rows: int, bytes_: int) -> str:
    if not rows:
        return "–"
    return ngettext("{count} row, {size}", "{count} rows, {size}", rows).format(count=count(rows), size=size(bytes_))
