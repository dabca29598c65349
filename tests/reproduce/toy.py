"""A document whose work leaves a trace each time it is done, so that a test can count."""

import os
from pathlib import Path
from typing import Any

from noren.reproduce.frame import Chart, Comparison, Datum, Erratum, Extent, PaperDocument, PaperSection, UnitResults
from noren.work.store import WorkUnit, cached_folder

HOSTILE = "<script>alert('|')</script>"


def square(folder: str, number: int) -> dict[str, Any]:
    """Note the run, wait where the folder holds a pipe for this number, and return the square."""
    note(folder, f"square {number}")
    gate = Path(folder) / f"gate-{number}"
    if gate.exists():
        (Path(folder) / "waiting").write_text(str(os.getpid()))
        gate.read_bytes()  # a pipe that nobody writes to
    return {"square": number**2, "by": [number, number]}


def crash(number: int) -> int:
    """End the process that runs it, as the kernel does where memory is short."""
    os._exit(number)


def total(folder: str, *squares: dict[str, Any]) -> int:
    """Add up what other units found."""
    note(folder, "total")
    return sum(found["square"] for found in squares)


def look(folder: str, size: int) -> int:
    """Look into a folder that is kept."""
    return len((cached_folder(fill, folder, size) / "text").read_text())


def fill(target: Path, folder: str, size: int) -> None:
    note(folder, f"fill {size}")
    (target / "text").write_text("x" * size)


def note(folder: str, what: str) -> None:
    with (Path(folder) / "runs").open("a") as file:
        file.write(what + "\n")


def runs(folder: Path) -> list[str]:
    """What was done, in order."""
    return (folder / "runs").read_text().splitlines() if (folder / "runs").exists() else []


def squares(folder: Path, count: int = 6) -> list[WorkUnit]:
    return [WorkUnit(square, (str(folder), number)) for number in range(count)]


def document(folder: Path, paper: float = 0.0) -> PaperDocument:
    """Six squares, of which quick does two; a total that needs them; a chart; an erratum."""

    def units(asked: Extent) -> list[WorkUnit]:
        return squares(folder)[: 2 if asked.quick else None]

    def compare(found: UnitResults) -> Comparison:
        cells = [
            Datum(f"{unit.arguments[1]}²", paper=float(unit.arguments[1]) ** 2 + paper, exact=True, tolerance=0.0)
            if unit not in found
            else Datum(
                f"{unit.arguments[1]}²",
                paper=float(unit.arguments[1]) ** 2 + paper,
                ours=float(found[unit]["square"]),
                exact=True,
                tolerance=0.0,
            )
            for unit in squares(folder)
        ]
        return Comparison(cells, [HOSTILE], [Chart(HOSTILE, lambda: "<svg></svg>")])

    def sum_units(asked: Extent) -> list[WorkUnit]:
        return [WorkUnit(total, (str(folder),), needs=tuple(units(asked)))]

    def compare_sum(found: UnitResults) -> Comparison:
        (ours,) = found.of(sum_units(found.extent))
        return Comparison([Datum("Σ", "all", paper=55.0, ours=float(ours), spread=0.5, seeds=2, tolerance=60.0)])

    def nowhere(_asked: Extent) -> list[WorkUnit]:
        return [WorkUnit(square, (str(folder), 9), data=("adult",))]

    return PaperDocument(
        "S9",
        "Toy",
        "Nobody (2026)",
        (
            PaperSection("table", "1", "Squares", units, compare),
            PaperSection("figure", "2", "Their sum", sum_units, compare_sum),
            PaperSection("check", "people", "Needs Adult", nowhere, lambda _: Comparison([Datum("never", ours=1.0)])),
        ),
        lambda: [Erratum("sign", HOSTILE, [Datum("x", "", 1.0, 2.0, exact=True, tolerance=0.0,
                                                                         erratum="sign")])],
    )  # fmt: skip


def main(folder: str, cache: str) -> None:
    """Run the six squares in two processes, as a command does."""
    from noren.reproduce.run import DocumentChoice, reproduce

    reproduce([document(Path(folder))], None, DocumentChoice(tables=("1",)), folder=Path(cache), workers=2)
