"""What every document keeps to, whichever it is."""

from pathlib import Path

import pytest

from noren.errors import UnknownNameError
from noren.reproduce import DOCUMENT_MODULES, document, get_documents
from noren.reproduce.frame import Extent, UnitResults

FULL, QUICK = Extent(), Extent(quick=True)


@pytest.mark.parametrize("name", DOCUMENT_MODULES)
def test_a_document_is_whole(name: str) -> None:
    found = document(name)
    assert found.key == name
    keys = [part.key for part in found.parts]
    assert len(set(keys)) == len(keys)
    assert all(part.title and part.title[0].isupper() for part in found.parts)
    assert found.title
    assert found.citation


@pytest.mark.parametrize("name", DOCUMENT_MODULES)
def test_quick_is_a_part_of_full(name: str) -> None:
    for part in document(name).parts:
        full = set(part.units(FULL))
        assert set(part.units(QUICK)) <= full, part.key
        assert len(full) == len(part.units(FULL)), f"{part.key} asks for a unit twice"


@pytest.mark.parametrize("name", DOCUMENT_MODULES)
def test_work_stands_at_the_top_of_a_module_and_takes_plain_values(name: str) -> None:
    for part in document(name).parts:
        for unit in part.units(QUICK):
            assert unit.work.__qualname__ == unit.work.__name__
            assert unit.work.__module__.startswith("noren.reproduce.")
            assert all(isinstance(value, str | int | float | bool) for value in unit.arguments)


@pytest.mark.parametrize("name", DOCUMENT_MODULES)
def test_errata_are_named_once_and_those_that_cells_name_are_there(name: str) -> None:
    found = document(name)
    errata = {erratum.key: erratum for erratum in found.errata()}
    assert len(errata) == len(list(found.errata()))
    cells = [cell for erratum in errata.values() for cell in erratum.cells]
    for part in found.parts:
        if not part.units(FULL):
            cells += part.compare(UnitResults(FULL, {})).cells
    assert {cell.erratum for cell in cells if cell.erratum} <= set(errata)
    assert all(cell.unexplained is errata[cell.erratum].unexplained for cell in cells if cell.erratum)
    assert not any(cell.unexplained for cell in cells if not cell.erratum)
    assert [cell for cell in cells if cell.fails] == []


def test_names_of_documents() -> None:
    assert [found.key for found in get_documents("all")] == list(DOCUMENT_MODULES)
    assert [found.key for found in get_documents("s4, S4")] == ["S4"]
    with pytest.raises(UnknownNameError, match=r"there is no 'S9' in noren reproduce.*did you mean S"):
        get_documents("S9")


@pytest.mark.parametrize("name", DOCUMENT_MODULES)
def test_a_page_begins_with_a_short_summary(name: str) -> None:
    summary = document(name).summary
    assert 40 < len(summary.split()) <= 200
    page = Path(__file__).parents[2] / "docs" / "results" / f"{name}.md"
    assert summary in page.read_text(encoding="utf-8").partition("\n## ")[0]
