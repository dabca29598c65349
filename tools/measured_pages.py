"""Write the pages of measurements: ``docs/scale.md`` and ``docs/comparison.md``.

    python tools/measured_pages.py [benchmarks/results] [docs]

The first is made from what ``benchmarks/bench_scale.py`` measured, and from the fragments beside it: files
``scale_NAME.md`` in the folder of results, each a section, in the order of their names. The tables of all components go
to ``scale.md`` in that folder. The second is ``benchmarks/peers/comparison.md`` with the figures of
``benchmarks/bench_peers.py``.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BAR = 4e9
"""Bytes that protecting, measuring and auditing ten million rows can take."""
BARRED = 10_000_000
FASTER = 1.15
"""Exponents from here on count as faster than n log n, which has 1.07 between 10⁶ and 10⁷ rows; the rest allows for
noise."""
SAME = 1e-6
"""Up to here, numbers that two programs computed are the same."""
SHORT = 0.1
"""Seconds below which a time is too short to show growth."""
DETAILS = ("U against the size of blocks", "What others report")
"""Parts of fragments that are left to the files of results."""
ABOUT = ROOT / "benchmarks" / "peers" / "comparison.md"
WRITTEN = "<!-- Written by tools/measured_pages.py; do not edit. -->"
ROOMS = {"methods": "Methods", "attacks": "Attacks", "measures": "Measures", "commands": "Whole commands"}

Point = dict[str, Any]
Line = tuple[str, str, str]


def exponent(points: Iterable[Point], what: str = "seconds", least: float = SHORT) -> float | None:
    """Return the slope of the last two sizes on logarithmic paper: 1 grows with the rows, 2 with their square.

    >>> exponent([{"rows": 10, "seconds": 1.0}, {"rows": 100, "seconds": 100.0}])
    2.0
    """
    known = sorted((p for p in points if p.get(what, 0.0) >= least), key=lambda p: int(p["rows"]))[-2:]
    if len(known) < 2:
        return None
    first, last = known
    return math.log(last[what] / first[what]) / math.log(last["rows"] / first["rows"])


def lines_of(points: Iterable[Point]) -> dict[Line, list[Point]]:
    """Return the points of each component or command, by room, name and data."""
    lines: dict[Line, list[Point]] = {}
    for point in sorted(points, key=lambda p: (p["room"], p["name"], p["on"], p["rows"])):
        lines.setdefault((point["room"], point["name"], point["on"]), []).append(point)
    return lines


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, first two columns left, the others right."""
    lines = ["| " + " | ".join(head) + " |", "|---|---" + "|---:" * (len(head) - 2) + "|"]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows])


def seconds_text(seconds: float) -> str:
    """Return seconds as a table has them."""
    return f"{seconds:,.2f}" if seconds < 10 else f"{seconds:,.0f}"


def cell(point: Point | None) -> str:
    """Return what a size took, or why there is no figure."""
    if point is None:
        return "–"
    if "seconds" in point:
        return seconds_text(point["seconds"])
    return f"({point['left_out']})" if "left_out" in point else "refused"


def room_section(room: str, lines: dict[Line, list[Point]]) -> list[str]:
    """Return the section of one room: a line for each component, sizes as columns."""
    mine = {line: points for line, points in lines.items() if line[0] == room}
    if not mine:
        return []
    sizes = sorted({int(p["rows"]) for points in mine.values() for p in points})
    head = ["name", "on", *(f"{n:,} rows, s" for n in sizes), "exponent", "peak, MB", "bytes per row"]
    rows = []
    for (_room, name, on), points in mine.items():
        at = {int(p["rows"]): p for p in points}
        slope = exponent(points)
        rows.append(
            [
                f"`{name}`",
                on,
                *(cell(at.get(n)) for n in sizes),
                "–" if slope is None else f"{slope:.2f}",
                *_memory(points),
            ]
        )
    return [f"## {ROOMS.get(room, room)}", table(head, rows)]


def _memory(points: Sequence[Point]) -> tuple[str, str]:
    """Return the peak at the largest size, and the bytes that each row more took since the size before."""
    known = [p for p in points if "peak" in p]
    if not known:
        return "–", "–"
    peak = f"{known[-1]['peak'] / 1e6:,.0f}"
    if len(known) < 2:
        return peak, "–"
    first, last = known[-2:]
    return peak, f"{max(last['peak'] - first['peak'], 0) / (last['rows'] - first['rows']):,.0f}"


def bars_section(lines: dict[Line, list[Point]]) -> list[str]:
    """Return the section of limits: protecting, measuring and auditing ten million rows in 4 GB."""
    rows = []
    for (room, name, on), points in lines.items():
        if room != "commands" or name.split()[0] not in ("protect", "measure", "audit"):
            continue
        known = [p for p in points if "peak" in p]
        if not known:
            continue
        last = known[-1]
        there = last["rows"] >= BARRED
        within = ("yes" if last["peak"] < BAR else "**no**") if there else "not run"
        rows.append([name, on, f"{last['rows']:,}", seconds_text(last["seconds"]), f"{last['peak'] / 1e9:.2f}", within])
    if not rows:
        return []
    sentence = (
        "One command on a Parquet file each, including reading and writing. The limit is "
        f"{BAR / 1e9:.0f} GB at {BARRED:,} rows."
    )
    head = ["command", "on", "rows", "processor seconds", "peak, GB", f"below {BAR / 1e9:.0f} GB"]
    return ["## Ten million rows in four gigabytes", sentence, table(head, rows)]


def faster_section(lines: dict[Line, list[Point]]) -> list[str]:
    """Return the section of what grows faster than n log n."""
    rows = []
    for (_room, name, on), points in lines.items():
        slope = exponent(points)
        stopped = [p for p in points if "refused" in p]
        if (slope is None or slope < FASTER) and not stopped:
            continue
        largest = max((int(p["rows"]) for p in points if "seconds" in p), default=0)
        sentence = f"{stopped[0]['rows']:,} rows: {stopped[0]['refused']}" if stopped else ""
        rows.append([f"`{name}`", on, "–" if slope is None else f"{slope:.2f}", f"{largest:,}", sentence])
    if not rows:
        known = sum(exponent(points) is not None for points in lines.values())
        sentence = f"None of the {known:,} components and commands measured at two sizes, of {len(lines):,} in all."
        return ["## What grows faster than n log n", sentence]
    sentence = (
        f"Exponent of at least {FASTER} between the two largest sizes that took {SHORT} s or longer. The last column "
        "quotes components that refuse a size."
    )
    head = ["name", "on", "exponent", "largest size measured", "refuses"]
    if not any(row[-1] for row in rows):
        head, rows, sentence = head[:-1], [row[:-1] for row in rows], sentence.partition(" The last column ")[0]
    return ["## What grows faster than n log n", sentence, table(head, rows)]


def fragment(text: str) -> str:
    """Return a file of results as a section: headings one level lower where it has a title, details left out."""
    lowered = re.sub(r"^#", "##", text, flags=re.MULTILINE) if text.startswith("# ") else text
    parts = re.split(r"^(?=### )", lowered, flags=re.MULTILINE)
    parts_kept = [part for part in parts if part.partition("\n")[0].removeprefix("### ") not in DETAILS]
    measured = re.search(r"^(- )?Measured on .*", lowered, flags=re.MULTILINE)
    if measured and measured[0] not in "".join(parts_kept):
        parts_kept.append(measured[0].removeprefix("- "))
    return "".join(parts_kept).strip()


def scale(results: Path) -> str:
    """Return the page of growth: limits, growth and the fragments."""
    measured = _measured(results)
    lines = lines_of(measured["points"])
    fragments = [fragment(path.read_text(encoding="utf-8").strip()) for path in sorted(results.glob("scale_*.md"))]
    parts = [
        "# Scale and cost",
        WRITTEN,
        "What protecting, attacking and measuring cost as data grow. All figures are processor seconds and peak memory "
        "of whole processes, on generated data: histories of 60 rows per customer and 4,000 items, and tables of "
        "people. An exponent of 1 grows with the rows, one of 2 with their square. "
        "`benchmarks/results/scale.md` has every method, attack, measure and command.",
        *bars_section(lines),
        *faster_section(lines),
        *fragments,
    ]
    return "\n\n".join(parts) + "\n"


def details(results: Path) -> str:
    """Return the tables of all components and commands."""
    measured = _measured(results)
    lines = lines_of(measured["points"])
    about = (
        "Each figure is one run in its own process. Seconds are processor seconds: of the work alone for components, "
        "of the whole process for commands. The peak is that of the whole process, data and imports included. The "
        "exponent is the slope between the two largest sizes on a log-log plot. Measures of attacks are given the "
        "true names. A figure in brackets was not run but extrapolated from smaller sizes: it exceeds the limit of "
        f"{measured['limit']:,.0f} s or {measured['memory'] / 1e9:.1f} GB."
    )
    parts = ["# Scale: all components", about, *(text for room in ROOMS for text in room_section(room, lines))]
    made_by = "`python benchmarks/bench_scale.py` measures, `python tools/measured_pages.py` writes."
    parts += [made_by, measured["machine"]]
    return "\n\n".join(parts) + "\n"


def _measured(results: Path) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((results / "scale.json").read_text(encoding="utf-8"))
    return measured


def agreement(ours: Point, theirs: Point) -> str:
    """Tell whether a peer computed the same numbers, or how far they are apart in all.

    >>> agreement({"k": 5, "t": 0.25}, {"k": 5.0}), agreement({"a": 0.5, "b": 0.5}, {"a": 0.75, "b": 0.25})
    ('yes', '0.5 apart')
    """
    both = [(ours[name], theirs[name]) for name in ours if name in theirs]
    if not both:
        return "–"
    if any(isinstance(value, str) for pair in both for value in pair):
        return "yes" if all(a == b for a, b in both) else "**no**"
    apart = sum(abs(a - b) for a, b in both)
    return "yes" if apart <= SAME else f"{apart:.2g} apart"


def figures(results: Path) -> str:
    """Return the tables of peers: ours beside each, and those that did not run."""
    measured: dict[str, Any] = json.loads((results / "peers.json").read_text(encoding="utf-8"))
    lines, absent = [], {}
    for task in measured["tasks"]:
        ours, *peers = task["rows"]
        for peer in peers:
            if "failed" in ours or str(peer.get("failed", "")).startswith("not run"):
                absent[peer["who"]] = peer.get("failed") or f"Noren: {ours['failed']}"
                continue
            mine = [f"{ours['spent']:.3g}", f"{ours['peak'] / 1e9:.2f}"]
            if "failed" in peer:
                lines.append([task["task"], peer["who"], mine[0], peer["failed"], "–", mine[1], "–", "–"])
                continue
            ratio, peak = peer["spent"] / ours["spent"], f"{peer['peak'] / 1e9:.2f}"
            times = f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"
            same = agreement(ours.get("answer", {}), peer.get("answer", {}))
            lines.append([task["task"], peer["who"], mine[0], f"{peer['spent']:.3g}", times, mine[1], peak, same])
    head = ["task", "peer", "Noren, s", "peer, s", "times", "Noren, GB", "peer, GB", "same answer"]
    sentences = [f"- {who}: {why}." for who, why in absent.items()]
    return "\n\n".join(filter(None, [table(head, lines), "\n".join(sentences), measured["machine"]]))


def comparison(results: Path) -> str:
    """Return the page of peers: what is written by hand, with the tables where it says so."""
    title, _, rest = ABOUT.read_text(encoding="utf-8").partition("\n")
    return f"{title}\n\n{WRITTEN}\n{rest.replace('{figures}', figures(results))}"


def main(results: Path, docs: Path) -> None:
    """Write the pages, and the tables of all components beside the measurements."""
    if not (results / "scale.json").exists():
        sys.exit(f"{results} holds no scale.json; run python benchmarks/bench_scale.py")
    (results / "scale.md").write_text(details(results), encoding="utf-8")
    (docs / "scale.md").write_text(scale(results), encoding="utf-8")
    if (results / "peers.json").exists():
        (docs / "comparison.md").write_text(comparison(results), encoding="utf-8")
    print(docs)


if __name__ == "__main__":
    places = [ROOT / "benchmarks" / "results", ROOT / "docs"]
    folders = [Path(word) for word in sys.argv[1:3]]
    main(*folders, *places[len(folders) :])
