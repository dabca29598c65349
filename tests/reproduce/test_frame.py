"""A cell's verdict, and what is asked for."""

import pytest

from noren.reproduce.frame import Datum, Extent
from noren.work.store import WorkUnit


@pytest.mark.parametrize(
    ("cell", "ok", "fails"),
    [
        (Datum("a", paper=0.35, ours=0.352, exact=True, tolerance=0.002), True, False),
        (Datum("a", paper=0.35, ours=0.3521, exact=True, tolerance=0.002), False, True),
        (Datum("a", paper=0.35, ours=0.3521, exact=True, tolerance=0.002, erratum="e"), False, False),
        (Datum("a", paper=0.35, ours=0.3521, tolerance=0.002), False, False),
        (Datum("a", paper=71.0, ours=76.0, tolerance=0.5, aim="at-least"), True, False),
        (Datum("a", paper=71.0, ours=70.4, tolerance=0.5, aim="at-least"), False, False),
        (Datum("a", paper=0.2, ours=0.1, tolerance=0.0, aim="at-most"), True, False),
        (Datum("a", paper=0.2, ours=0.3, tolerance=0.0, aim="at-most"), False, False),
        (Datum("a", paper=1.0, ours=2.0), None, False),
        (Datum("a", paper=1.0, tolerance=0.1, exact=True), None, False),
        (Datum("a", ours=1.0, tolerance=0.1, exact=True), None, False),
        (Datum("a", paper="safe", ours="safe", exact=True), True, False),
        (Datum("a", paper="safe", ours="hit", exact=True), False, True),
    ],
)
def test_verdicts(cell: Datum, ok: bool | None, fails: bool) -> None:
    assert (cell.ok, cell.fails) == (ok, fails)


def test_a_random_cell_is_mean_and_standard_deviation() -> None:
    cell = Datum.over("a", "em", [1.0, 2.0, 6.0], paper=2.5)
    assert (cell.ours, cell.spread, cell.seeds, cell.difference) == (3.0, pytest.approx(7**0.5), 3, 0.5)  # type: ignore[comparison-overlap]
    assert Datum.over("a", "em", [1.0]).spread is None
    assert Datum.over("a", "em", [], paper=2.5).ours is None


def test_seeds() -> None:
    assert list(Extent(quick=True).seeds(full=5, quick=2)) == [1, 2]
    assert list(Extent(quick=True, wanted_seeds=4).seeds(full=5)) == [1, 2, 3, 4]


def test_a_unit_reads_what_its_needs_read() -> None:
    inner = WorkUnit(print, ("a",), data=("adult",))
    assert WorkUnit(print, needs=(inner,), data=("pwscup2016", "adult")).all_data() == ("pwscup2016", "adult")
    assert inner.name == "print a"
