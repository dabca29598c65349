"""S4's experiment on synthetic data: Tables 8 and 9, figure 5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from noren.i18n import _
from noren.reproduce import s4_work as work
from noren.reproduce.frame import Chart, ChartLine, Comparison, Datum, Extent, Findings, lines
from noren.reproduce.s4_adult import by_chance
from noren.reproduce.s4_printed import KS, PATTERNS, TABLE_8, TABLE_9
from noren.work.store import Unit

SEEDS = 5
QUICK_PATTERNS = ("A-1", "C-3", "E-5")
TABLES = {1_000: TABLE_8, 10_000: TABLE_9}
# about three standard errors of the difference between two means of five runs, by the spread over our own seeds
# rows: perturbed, em
TOLERANCES = {1_000: (2.8, 8.2), 10_000: (0.9, 2.2)}
ODD = (1_000, "E-1, k = 10")
SLACK = 0.5
"""How far ``auto`` may be below the better of the paper's two numbers."""


def unit(rows: int, pattern: str, k: int, seed: int, model: str) -> Unit:
    """Return the work for a cell of Table 8 or 9 and one seed."""
    return Unit(work.synthetic, (rows, pattern, k, seed, model))


def units(*tables: int) -> Callable[[Extent], list[Unit]]:
    """Return the work for the tables of so many rows each; quick runs ``auto`` on three patterns alone."""
    return lambda asked: [
        unit(rows, pattern, k, seed, model)
        for rows in tables
        for model in ("em", "auto")
        for pattern in (QUICK_PATTERNS if asked.quick and model == "auto" else PATTERNS)
        for k in KS
        for seed in asked.seeds(full=SEEDS)
    ]


def _values(found: Findings, rows: int, pattern: str, k: int, model: str, what: str) -> list[float]:
    seeds = found.asked.seeds(full=SEEDS)
    return [run[what] for run in found.of([unit(rows, pattern, k, seed, model) for seed in seeds])]


def table(rows: int) -> Callable[[Findings], Comparison]:
    """Return what compares the table of so many rows."""

    def compare(found: Findings) -> Comparison:
        cells = [
            cell
            for pattern, (perturbed, reconstructed) in TABLES[rows].items()
            for k, before, after in zip(KS, perturbed, reconstructed, strict=True)
            for cell in _line(found, rows, pattern, k, before, after)
        ]
        return Comparison(cells, _says(cells, rows))

    return compare


def _line(found: Findings, rows: int, pattern: str, k: int, perturbed: float, reconstructed: float) -> list[Datum]:
    """Return the three cells of one pattern and k."""
    row, said = f"{pattern}, k = {k}", {"digits": 1}
    near_perturbed, near_em = TOLERANCES[rows]
    before = _values(found, rows, pattern, k, "em", "perturbed")
    em = _values(found, rows, pattern, k, "em", "reconstructed")
    auto = _values(found, rows, pattern, k, "auto", "reconstructed")
    near = by_chance(near_perturbed, len(before)), by_chance(near_em, len(em))
    odd = _("more than at k = 5, though ρ is less; perhaps 64.52 was meant") if (rows, row) == ODD else ""
    best = max(perturbed, reconstructed)
    return [
        Datum.over(row, _("perturbed"), before, paper=perturbed, tolerance=near[0], **said),
        Datum.over(row, "em", em, paper=reconstructed, tolerance=near[1], note=odd, **said),
        Datum.over(row, "auto", auto, paper=best, tolerance=SLACK, aim="at-least", **said),
    ]


def _says(cells: Sequence[Datum], rows: int) -> list[str]:
    says = [_("auto stands beside the better of the paper's two numbers, perturbed and reconstructed.")]
    em = [cell.difference for cell in cells if cell.column == "em" and cell.difference is not None]
    if em:
        near = sum(cell.ok is True for cell in cells if cell.column == "em")
        words = _(
            "em is {mean:+.1f} points from the paper in the mean; {near} of {cells} cells as near as chance allows."
        )
        says.append(words.format(mean=fmean(em), near=near, cells=len(em)))
    printed = {f"{p}, k = {k}": after for p, said in TABLES[rows].items() for k, after in zip(KS, said[1], strict=True)}
    run = [cell for cell in cells if cell.column == "auto" and isinstance(cell.ours, float)]
    if run:
        gain = fmean(float(cell.ours or 0.0) - printed[cell.row] for cell in run)
        words = _("auto gains {gain:.1f} points over the paper's reconstruction, mean of {cells} cells.")
        says.append(words.format(gain=gain, cells=len(run)))
        short = [f"{cell.row} ({cell.difference:+.1f})" for cell in run if cell.ok is False]
        words = _("More than {slack} below the better of the paper's two: {short}.")
        says.append(words.format(slack=SLACK, short=", ".join(short) or _("none")))
    return says


def figure_5(found: Findings) -> Comparison:
    """Draw what was reconstructed, by pattern: the paper's, ``em`` and ``auto``."""

    def mean(rows: int, pattern: str, k: int, model: str) -> float | None:
        values = _values(found, rows, pattern, k, model, "reconstructed")
        return round(fmean(values), 2) if values else None

    def chart(rows: int) -> Chart:
        def draw() -> str:
            panels = {
                f"k = {k}": [
                    ChartLine(_("paper"), [TABLES[rows][p][1][at] for p in PATTERNS], "paper"),
                    ChartLine("em", [mean(rows, p, k, "em") for p in PATTERNS], "ours"),
                    ChartLine("auto", [mean(rows, p, k, "auto") for p in PATTERNS], "better"),
                ]
                for at, k in enumerate(KS)
            }
            low = 50 if rows == 1_000 else 85
            title = _("L1 precision, per cent (up is better)")
            return lines(
                PATTERNS, panels, across_title=_("pattern"), up_title=title, up=(low, 100), width=900, height=130
            )

        return Chart(_("What was reconstructed from {rows:,} rows, by pattern").format(rows=rows), draw)

    spans = []
    for rows in TABLES:
        for k in KS:
            means = [value for p in PATTERNS if (value := mean(rows, p, k, "em")) is not None]
            said = [TABLES[rows][p][1][KS.index(k)] for p in PATTERNS]
            row, span = _("{rows:,} rows, k = {k}").format(rows=rows, k=k), max(means) - min(means) if means else None
            seeds = len(found.asked.seeds(full=SEEDS))
            column = _("best less worst pattern, em")
            spans.append(Datum(row, column, max(said) - min(said), span, seeds=seeds, digits=1))
    return Comparison(
        spans,
        [_("With 1,000 rows the pattern decides how well reconstruction does; with 10,000 it hardly matters.")],
        [chart(rows) for rows in TABLES],
    )
