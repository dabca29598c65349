"""How data, releases, guesses and scores look in a notebook: one small card of HTML.

A card is bounded (:data:`MOST_ROWS` rows, :data:`MOST_COLUMNS` columns, :data:`LONGEST` characters a cell), every value
in it is escaped, its style is inside it, and it loads nothing. Colours come from the notebook, so it is as readable on
a dark page as on a light one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from noren.i18n import _, active_language

__all__ = ["LONGEST", "MOST_COLUMNS", "MOST_ROWS", "Card", "Grid", "brief", "number"]

MOST_ROWS = 10
MOST_COLUMNS = 20
LONGEST = 80

_STYLE = """
.noren-card{color-scheme:light dark;color:inherit;background:transparent;max-width:100%;overflow-x:auto;
 border-left:3px solid #5f86b8;padding:4px 0 4px 14px;margin:4px 0;
 font:14px/1.5 "Hiragino Sans","Noto Sans JP","Yu Gothic UI",system-ui,sans-serif}
.noren-card p{margin:0 0 6px}
.noren-card dl{display:grid;grid-template-columns:max-content 1fr;gap:0 14px;margin:0 0 8px}
.noren-card dt{opacity:.75;font-weight:normal}
.noren-card dd{margin:0;overflow-wrap:anywhere}
.noren-card table{border-collapse:collapse;margin:0;font-size:13px}
.noren-card caption{caption-side:bottom;text-align:left;opacity:.75;padding-top:4px}
.noren-card th,.noren-card td{text-align:left;vertical-align:top;padding:2px 12px 2px 0;border:0;white-space:pre-wrap}
.noren-card thead th{border-bottom:1px solid;font-weight:600}
.noren-card thead small{display:block;opacity:.75;font-weight:normal}
.noren-card .noren-number{text-align:right;font-variant-numeric:tabular-nums}
""".strip()


def brief(text: object, longest: int = LONGEST) -> str:
    """Return a text on one line: cut where it is long, without signs that steer a terminal or turn a line around.

    >>> brief("a\\nb"), brief("x" * 9, 4)
    ('a�b', 'xxx…')
    """
    said = str(text)
    cut = said if len(said) <= longest else f"{said[: longest - 1]}…"
    return "".join(c if c.isprintable() or c == "\u3000" else "�" for c in cut)


def number(value: float) -> str:
    """Return a number as a person reads it: four digits that count, thousands apart.

    >>> number(0.123456), number(2), number(38000.0), number(float("nan"))
    ('0.1235', '2', '38,000', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.4g}"


@dataclass(frozen=True)
class Grid:
    """The first rows of a table, as texts; a heading is a name and a smaller word under it."""

    headings: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    all_rows: int
    all_columns: int

    def html(self) -> str:
        """Return the table, and how much of the whole it is."""
        sides = [' class="noren-number"' if one else "" for one in self.numeric]
        head = "".join(
            f'<th scope="col"{side}>{_safe(name)}{f"<small>{_safe(under)}</small>" if under else ""}</th>'
            for (name, under), side in zip(self.headings, sides, strict=True)
        )
        body = "".join(
            "<tr>" + "".join(f"<td{side}>{_safe(cell)}</td>" for cell, side in zip(row, sides, strict=True)) + "</tr>"
            for row in self.rows
        )
        return f"<table>{self._caption()}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _caption(self) -> str:
        """Return how much is shown, where it is not all."""
        said = []
        if self.all_rows > len(self.rows):
            said.append(
                _("{first} to {last} of {total}").format(first=1, last=len(self.rows), total=f"{self.all_rows:,}")
            )
        if self.all_columns > len(self.headings):
            said.append(
                _("columns {first} to {last} of {total}").format(
                    first=1, last=len(self.headings), total=f"{self.all_columns:,}"
                )
            )
        return f"<caption>{_safe('; '.join(said))}</caption>" if said else ""


@dataclass(frozen=True)
class Card:
    """A kind of thing, its name, facts about it and perhaps its first rows."""

    kind: str
    name: str
    facts: Sequence[tuple[str, str]]
    grid: Grid | None = None

    def html(self) -> str:
        """Return the card."""
        facts = "".join(f"<dt>{_safe(label)}</dt><dd>{_safe(said, 300)}</dd>" for label, said in self.facts)
        return (
            f'<div class="noren-card" lang="{active_language()}"><style>{_STYLE}</style>'
            f"<p>{_safe(self.kind)} <strong>{_safe(self.name)}</strong></p><dl>{facts}</dl>"
            f"{self.grid.html() if self.grid is not None else ''}</div>"
        )


def _safe(text: object, longest: int = LONGEST) -> str:
    return escape(brief(text, longest))
