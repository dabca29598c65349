"""People are counted as people: a table in which somebody stands in several rows is not protected."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import noren
from noren.data.frames import Table
from noren.data.guessing import people
from noren.data.guessing.people import reject_repeated_people
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.methods.retention import Retention, protect_file


def table(columns: dict[str, tuple[str, list[Any]]]) -> Table:
    """Return a table of columns by name: their role and their values."""
    about = {
        name: {"role": role, "type": "integer" if isinstance(values[0], int) else "text", "optional": None in values}
        for name, (role, values) in columns.items()
    }
    schema = Schema.of({"kind": "table", "columns": about})
    return Table.of({name: values for name, (_role, values) in columns.items()}, schema)


AGES = ("quasi", [30 + i for i in range(6)])


@pytest.mark.parametrize(
    ("columns", "people"),
    [
        ({"Member_number": ("quasi", [7, 7, 8, 9, 9, 9])}, 3),
        ({"patient_id": ("identifier", ["a", "b", "c", "d", "e", "a"])}, 5),
        ({"patient_id": ("other", ["a", "b", None, None, "c", "a"])}, 5),
        ({"顧客コード": ("sensitive", ["1", "1", "1", "2", "2", "2"])}, 2),
        ({"code": ("identifier", ["A1", "A1", "A2", "A3", "A4", "A5"])}, 5),
        ({"e-mail": ("identifier", ["a@x", "a@x", "b@x", "c@x", "d@x", "e@x"])}, 5),
        ({"household_id": ("quasi", [1, 1, 2, 2, 3, 3])}, 3),
        # two numbers of customers, the first one that of an order: the fewest people count
        ({"customer_id": ("quasi", [1, 2, 3, 4, 5, 6]), "customer_unique_id": ("quasi", [1, 1, 2, 3, 4, 5])}, 5),
        # each row is a person
        ({"case_no": ("identifier", [1, 1, 2, 3, 4, 5]), "id": ("identifier", [1, 2, 3, 4, 5, 6])}, 6),
        ({"person": ("identifier", ["1", "2", "3", "4", "5", "6"])}, 6),
        ({"household_id": ("quasi", [1, 1, 2, 2, 3, 3]), "person_id": ("identifier", [1, 2, 3, 4, 5, 6])}, 6),
        ({"name": ("identifier", ["Ann", "Ann", "Bo", "Cy", "Di", "Ed"])}, 6),
        ({"phone": ("identifier", ["1", "1", "2", "3", "4", "5"])}, 6),
        ({"address": ("identifier", ["1 Elm", "1 Elm", "2 Elm", "3 Elm", "4 Elm", "5 Elm"])}, 6),
        ({"remarks": ("identifier", ["none", "none", "slept", "ate", "ran", "sat"])}, 6),
        ({"zip": ("quasi", [1, 1, 2, 2, 3, 3]), "shop_id": ("quasi", [1, 1, 1, 2, 2, 2])}, 6),
        ({"department_id": ("quasi", [1, 1, 2, 2, 3, 3]), "product_id": ("other", [1, 1, 1, 2, 2, 2])}, 6),
        ({"member": ("quasi", ["yes", "no", "yes", "no", "yes", "no"])}, 6),
        ({"user": ("quasi", ["home", "home", "office", "home", "home", "office"])}, 6),
    ],
)
def test_people_are_counted_by_what_identifies_them(columns: dict[str, tuple[str, list[Any]]], people: int) -> None:
    data = table({**columns, "age": AGES})
    if people < 6:
        with pytest.raises(SchemaError, match=f"its {people} values occur in 6 rows .*k would count rows, not people"):
            reject_repeated_people(data)
    else:
        reject_repeated_people(data)


def test_what_is_only_guessed_to_identify_people_does_not_count_them() -> None:
    data = table({"case_no": ("identifier", [1, 1, 2, 3, 4, 5]), "age": AGES})
    with pytest.raises(SchemaError, match="its 5 values occur in 6 rows"):
        reject_repeated_people(data)
    reject_repeated_people(dataclasses.replace(data, schema=data.schema.model_copy(update={"guessed": True})))


def test_a_table_whose_people_repeat_is_not_protected() -> None:
    rows = {"Member_number": ("quasi", [i // 3 for i in range(90)]), "age": ("quasi", [i % 3 for i in range(90)])}
    said = (
        r"^Member_number identifies people, and its 30 values occur in 90 rows \(3 each\),"
        r" so k would count rows, not people;"
        r' declare rows as purchases \(kind = "history", --rows purchases\), or keep one row per person$'
    )
    with pytest.raises(SchemaError, match=said):
        noren.protect(table(rows), "mondrian", k=2, seed=1)
    with pytest.raises(SchemaError, match="k would count rows"):
        noren.explore(table(rows), "mondrian", k=2)


def test_a_table_of_people_is_protected_as_before() -> None:
    people = sample_people(rows=60, seed=1)
    assert len(noren.protect(people, "mondrian", k=2, seed=1).public) == 60


def test_purchases_are_about_their_customers() -> None:
    reject_repeated_people(noren.sample(customers=12, rows=240, items=40, seed=1))


SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "patient_id": {"role": "identifier", "type": "integer"},
            "sex": {"role": "quasi", "domain": ["f", "m"]},
        },
    }
)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_stream_counts_people_too(tmp_path: Path, ending: str) -> None:
    def written(numbers: list[int]) -> Path:
        rows = pl.DataFrame({"patient_id": numbers, "sex": ["f", "m"] * (len(numbers) // 2)})
        path = tmp_path / f"visits.{ending}"
        rows.write_csv(path) if ending == "csv" else rows.write_parquet(path)
        return path

    method = Retention(k=2)
    said = r"patient_id identifies people, and its 997 values occur in 1,000 rows \(1 each\)"
    with pytest.raises(SchemaError, match=said):
        protect_file(written([max(i, 3) for i in range(1000)]), tmp_path / "r", method, SCHEMA, seed=1)
    assert not (tmp_path / "r").exists()
    assert protect_file(written(list(range(1000))), tmp_path / "r", method, SCHEMA, seed=1).notes["rows"] == 1000


def test_a_stream_remembers_people_over_blocks_and_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [pl.DataFrame({"patient_id": range(i, i + 10), "sex": ["f"] * 10}) for i in (0, 10, 15)]
    seen = people.PeopleSeen(SCHEMA)
    for block in blocks[:2]:
        seen.add(block)
    seen.reject_repeated_people()
    seen.add(blocks[2])
    with pytest.raises(SchemaError, match="its 25 values occur in 30 rows"):
        seen.reject_repeated_people()
    monkeypatch.setattr(people, "_MOST_SEEN", 20)
    full = people.PeopleSeen(SCHEMA)
    for block in blocks:
        full.add(block)
    full.reject_repeated_people()
