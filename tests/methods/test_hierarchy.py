"""Whole columns by hierarchies: the best levels, and what a person hears when something is amiss."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.conftest import Command

from noren import api
from noren.data.frames import Table
from noren.data.hierarchies import interval_hierarchy, mask_hierarchy, read_hierarchy, write_hierarchy
from noren.data.hierarchies.builder import ColumnValues
from noren.data.hierarchies.builders import usual_builder
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import CheckFailedError, ParameterError, SchemaError
from noren.methods import methods

SCHEMA = Schema.of(
    {
        "name": "patients",
        "kind": "table",
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "integer", "minimum": 0},
            "zip": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "visits": {"role": "other", "type": "integer"},
        },
    }
)
PEOPLE = {
    "name": ["Ann", "Bob", "Cem", "Dan", "Eve", "Fay", "Gil", "Hal"],
    "age": [21, 23, 27, 29, 41, 44, 46, 90],
    "zip": ["8053", "8053", "8037", "8037", "4001", "4001", "4002", "1201"],
    "sex": ["f", "m", "m", "m", "f", "f", "m", "m"],
    "illness": ["flu", "cold", "flu", "flu", "cold", "flu", "cold", "rare"],
    "visits": [1, 2, 3, 4, 5, 6, 7, 8],
}


@pytest.fixture
def people() -> Table:
    return Table.of(PEOPLE, SCHEMA)


@pytest.fixture
def ladders(tmp_path: Path) -> Path:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    write_hierarchy(interval_hierarchy("age", range(100), [10, 20]), folder / "age.csv")
    write_hierarchy(mask_hierarchy("zip", PEOPLE["zip"]), folder / "patients_zip.csv")  # type: ignore[arg-type]
    return folder


def naive(people: Table, ladders: Path, k: int, share: float, loss: str) -> float:
    """Return the least loss of all nodes, each by a group-by of all rows."""
    columns = {"age": ladders / "age.csv", "zip": ladders / "patients_zip.csv"}
    labels = {name: read_hierarchy(file).labels for name, file in columns.items()}
    labels["sex"] = pl.DataFrame({"0": ["f", "m"], "1": ["*", "*"]})
    rows, best = len(people), math.inf
    for levels in itertools.product(*(range(one.width) for one in labels.values())):
        frame = people.frame.select(
            pl.col(name).cast(pl.String).replace_strict(dict(zip(one["0"], one[str(level)], strict=True)))
            for (name, one), level in zip(labels.items(), levels, strict=True)
        )
        size = frame.select(pl.len().over(list(labels)))["len"]
        lost = int((size < k).sum())
        if lost > share * rows:
            continue
        kept = size.filter(size >= k)
        if loss == "discernibility":
            best = min(best, float(kept.sum()) + lost * rows)
        elif loss == "class-size":
            classes = sum(1.0 / n for n in kept.to_list())
            best = min(best, rows / max(round(classes) + (lost > 0), 1))
        else:
            best = min(best, cells_loss(people, labels, levels, size >= k, loss))
    return best


def cells_loss(
    people: Table, labels: dict[str, pl.DataFrame], levels: tuple[int, ...], kept: pl.Series, loss: str
) -> float:
    rows, shares, gone, there = len(people), [], 0.0, 0.0
    for (name, one), level in zip(labels.items(), levels, strict=True):
        label = dict(zip(one["0"], one[str(level)], strict=True))
        values = people.frame[name].cast(pl.String).to_list()
        leaves = [list(label.values()).count(label[v]) / len(label) for v in values]
        total = sum(share if k else 1.0 for share, k in zip(leaves, kept, strict=True))
        shares.append((total - rows / len(label)) / (rows - rows / len(label)))
        for value, k in zip(values, kept, strict=True):
            own = values.count(value)
            alike = sum(label[v] == label[value] for v in values) if k else rows
            gone += math.log2(alike / own)
            there += math.log2(rows / own)
    return gone / there if loss == "entropy" else math.prod(1 + s for s in shares) ** (1 / len(shares)) - 1


@pytest.mark.parametrize("loss", ["loss", "discernibility", "class-size", "entropy"])
@pytest.mark.parametrize(("k", "share"), [(2, 0.0), (2, 0.2), (3, 0.5), (2, 1.0)])
def test_no_combination_of_levels_is_better(people: Table, ladders: Path, k: int, share: float, loss: str) -> None:
    release = api.protect(people, "hierarchy", k=k, suppression=share, hierarchies=ladders, loss=loss, seed=1)
    assert release.statement.notes["score"] == pytest.approx(naive(people, ladders, k, share, loss), rel=1e-9)
    assert release.statement.notes["nodes"] == 4 * 5 * 2
    measure = {"loss": "table-loss", "entropy": "entropy-loss"}.get(loss, loss)
    given: dict[str, Any] = {"hierarchies": ladders} if measure.endswith("-loss") else {}
    assert api.measure(people, release, measure, **given).value == pytest.approx(release.statement.notes["score"])


def test_without_files_values_get_their_usual_hierarchies(people: Table, tmp_path: Path) -> None:
    (tmp_path / "built").mkdir()
    for column in people.schema.with_role("quasi"):
        values = ColumnValues(people, column)
        write_hierarchy(usual_builder(values).build(values), tmp_path / "built" / f"{column.name}.csv")
    by_hand = api.protect(people, "hierarchy", k=2, hierarchies=tmp_path / "built", seed=1)
    automatic = api.protect(people, "hierarchy", k=2, seed=1)
    assert automatic.public.lines().to_list() == by_hand.public.lines().to_list()
    assert automatic.statement.notes["automatic_hierarchies"] is True
    assert automatic.statement.notes["columns_without_hierarchy"] == []
    assert "automatic_hierarchies" not in by_hand.statement.notes


def test_many_columns_of_numbers_are_searched_by_fewer_levels() -> None:
    names = [f"n{at}" for at in range(10)]
    schema = Schema.of({"kind": "table", "columns": {n: {"role": "quasi", "type": "integer"} for n in names}})
    table = Table.of({name: [i * (at + 1) % 100 for i in range(100)] for at, name in enumerate(names)}, schema)
    notes = api.protect(table, "hierarchy", k=5, seed=1).statement.notes
    # six levels of each column would be 6^10 combinations, sixty million
    assert notes["nodes"] == math.prod(1 + level for level in notes["highest_levels"].values()) <= 200_000


def test_two_of_a_hundred_rows_may_be_deleted_by_default() -> None:
    schema = Schema.of({"kind": "table", "columns": {"city": {"role": "quasi"}, "illness": {"role": "sensitive"}}})
    for strangers, kept in ((2, True), (3, False)):  # one more, and the whole column goes
        city = ["x"] * (100 - strangers) + [f"y{at}" for at in range(strangers)]
        table = Table.of({"city": city, "illness": "flu"}, schema)
        release = api.protect(table, "hierarchy", k=2, seed=1)
        assert (release.public.frame["city"].null_count() == 0, release.deleted_rows > 0) == (kept, kept)


def test_cells_by_hand(people: Table, ladders: Path) -> None:
    """Hal alone is old and far away: with one row to spare, the others keep decades and the first digit."""
    release = api.protect(
        people, "hierarchy", k=2, suppression=0.125, hierarchies=ladders, loss="discernibility", quasi=["age"], seed=1
    )
    assert release.statement.notes["levels"] == {"age": 1}
    assert release.deleted_rows == 1
    assert release.aligned().frame["age"].to_list() == ["20-29"] * 4 + ["40-49"] * 3 + [None]
    assert release.aligned().frame["visits"].to_list() == [1, 2, 3, 4, 5, 6, 7, None]
    # left out of --quasi, the other linking columns are not shown; nor is the name
    assert release.public.schema.names == ("age", "illness", "visits")
    assert release.statement.notes["columns_not_released"] == ["zip", "sex", "name"]


def test_values_at_level_0_stay_typed_and_stars_say_nothing(people: Table, ladders: Path) -> None:
    release = api.protect(people, "hierarchy", k=8, hierarchies=ladders, seed=1)
    assert release.public.frame["age"].null_count() == 8
    alike = Table.of({**PEOPLE, "age": [30] * 8, "zip": ["1201"] * 8, "sex": ["f"] * 8}, SCHEMA)
    release = api.protect(alike, "hierarchy", k=8, hierarchies=ladders, seed=1)
    assert release.public.frame["age"].to_list() == [30] * 8
    assert release.public.frame["age"].dtype == pl.Int64


def test_a_release_comes_back_from_its_folder(people: Table, ladders: Path, tmp_path: Path) -> None:
    release = api.protect(people, "hierarchy", k=2, hierarchies=ladders, suppression=0.2, seed=1)
    release.save(tmp_path / "h")
    again = Release.load(tmp_path / "h")
    assert again.public.lines().to_list() == release.public.lines().to_list()
    assert again.statement.parameters["hierarchies"] == "hierarchies"
    assert str(tmp_path) not in (tmp_path / "h" / "statement.json").read_text(encoding="utf-8")


def test_identifiers_may_become_pseudonyms(people: Table, ladders: Path) -> None:
    release = api.protect(people, "hierarchy", k=2, hierarchies=ladders, identifiers="pseudonyms", seed=1)
    known = dict(release.secret.pseudonyms.select("pseudonym", "customer").iter_rows())
    shown = release.aligned().frame["name"].to_list()
    assert [known[name] for name in shown] == PEOPLE["name"]
    assert not set(shown) & set(PEOPLE["name"])


@pytest.mark.parametrize("search", ["safe", "arx"])
@pytest.mark.parametrize(
    ("asked", "part", "least"), [({"l": 2}, "l_distinct", 2.0), ({"l": 2, "diversity": "entropy"}, "l_entropy", 2.0)]
)
def test_diversity_is_kept(
    people: Table, ladders: Path, search: str, asked: dict[str, Any], part: str, least: float
) -> None:
    given: dict[str, Any] = {"k": 2, "hierarchies": ladders, "suppression": 0.8, "search": search}
    release = api.protect(people, "hierarchy", **given, **asked, seed=1)
    score = api.measure(people, release, "classes")
    assert score.parts[part] >= least - 1e-9
    assert score.notes["holds"] is True
    without = api.protect(people, "hierarchy", **given | {"suppression": 0.4}, seed=1)
    assert api.measure(people, without, "classes").parts[part] < least


@pytest.mark.parametrize("search", ["safe", "arx"])
def test_closeness_is_to_the_original(people: Table, ladders: Path, search: str) -> None:
    release = api.protect(people, "hierarchy", k=2, hierarchies=ladders, suppression=0.4, t=0.3, search=search, seed=1)
    score = api.measure(people, release, "classes")
    assert score.notes["sensitive"]["illness"]["t_equal_to_original"] <= 0.3 + 1e-9
    assert score.notes["holds"] is True


class TestMissing:
    """Empty cells and question marks."""

    @pytest.fixture
    def gaps(self) -> Table:
        columns = SCHEMA.columns
        open_ = SCHEMA.model_copy(update={"columns": tuple(c.model_copy(update={"optional": True}) for c in columns)})
        return Table.of({**PEOPLE, "zip": ["8053", "8053", "?", "?", "4001", "4001", None, "1201"]}, open_)

    def test_are_a_category(self, gaps: Table, ladders: Path) -> None:
        release = api.protect(gaps, "hierarchy", k=2, quasi=["zip"], hierarchies=ladders, suppression=0.2, seed=1)
        # the three that say nothing are alike, and only 1201 is alone
        assert release.deleted_rows == 1
        assert release.statement.notes["levels"] == {"zip": 0}

    def test_are_one_category_however_they_are_written(self, gaps: Table, ladders: Path) -> None:
        some = Table(gaps.frame[[5, 6, 2, 3]].with_columns(pl.Series("zip", ["4001", "4001", "?", None])), gaps.schema)
        release = api.protect(some, "hierarchy", k=2, quasi=["zip", "sex"], hierarchies=ladders, seed=1)
        assert release.statement.notes["levels"] == {"zip": 0, "sex": 1}
        # whoever saw ? beside an empty cell would tell the two rows apart
        assert release.aligned().frame["zip"].to_list() == ["4001", "4001", None, None]

    def test_are_deleted_before_all_else(self, gaps: Table, ladders: Path) -> None:
        release = api.protect(
            gaps, "hierarchy", k=2, quasi=["zip"], hierarchies=ladders, suppression=0.2, missing="drop", seed=1
        )
        assert release.statement.notes["incomplete_rows"] == 3
        assert release.deleted_rows == 3 + release.statement.notes["suppressed_rows"]
        assert release.statement.notes["suppressed_rows"] == 1

    def test_are_an_error_that_lists_them(self, gaps: Table, ladders: Path) -> None:
        problem = r"2 values of the data are not in their hierarchies: zip = '', zip = '\?'"
        with pytest.raises(ParameterError, match=problem):
            api.protect(gaps, "hierarchy", k=2, hierarchies=ladders, missing="error", seed=1)


def test_a_value_without_a_row_is_an_error_that_lists_it(people: Table, ladders: Path) -> None:
    write_hierarchy(mask_hierarchy("zip", ["8053", "8037", "4001"]), ladders / "patients_zip.csv")
    with pytest.raises(ParameterError, match=r"2 values .* zip = '1201', zip = '4002'; add a row for each"):
        api.protect(people, "hierarchy", k=2, hierarchies=ladders, seed=1)


def test_a_number_may_be_spelled_otherwise(ladders: Path) -> None:
    (ladders / "age.csv").write_text("07;x;*\n8;x;*\n", encoding="utf-8")
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    release = api.protect(Table.of({"age": [7, 8]}, schema), "hierarchy", k=2, hierarchies=ladders, seed=1)
    assert release.public.frame["age"].to_list() == ["x", "x"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 1}, "k = 1 is out of range; use k >= 2"),
        ({"k": 2, "suppression": 5}, r"suppression = 5 is out of range; use 0\.05"),
        ({"k": 2, "suppression": -0.1}, "suppression = -0.1 is out of range; use 0 <= suppression <= 1"),
        ({"k": 2, "t": 20}, r"t = 20 is out of range; use 0\.2"),
        ({"k": 2, "l": 1}, "l = 1 is out of range; use l >= 2"),
        ({"k": 9}, "k = 9 needs at least 9 rows, but there are 8"),
        ({"k": 2, "quasi": ["age", "age"]}, "age is named twice"),
        ({"k": 2, "quasi": ["name"]}, "name identifies people"),
        ({"k": 2, "quasi": ["agee"]}, "did you mean age"),
        ({"k": 2, "l": 2, "sensitive": "sex"}, "sex is both quasi and sensitive"),
        ({"k": 2, "l": 2, "quasi": ["age", "illness"]}, "l and t need one sensitive column; name one of name, age"),
        (
            {"k": 2, "l": 4, "search": "arx"},
            "no combination of levels meets k, l and t with at most 2.0% of the rows deleted",
        ),
        ({"k": 2, "l": 4}, "classes with 100.0% of the rows fail k, l or t, and only 2.0% of the rows may be"),
    ],
)
def test_what_cannot_be_done_is_said(people: Table, ladders: Path, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises((ParameterError, SchemaError), match=words):
        api.protect(people, "hierarchy", hierarchies=ladders, seed=1, **parameters)


def test_of_several_sensitive_columns_each_has_its_values_and_t_is_a_question(people: Table, ladders: Path) -> None:
    both = SCHEMA.model_copy(
        update={
            "columns": tuple(
                c.model_copy(update={"role": "sensitive"}) if c.name == "visits" else c for c in SCHEMA.columns
            )
        }
    )
    table = Table(people.frame, both)
    problem = "l and t need one sensitive column; name one of illness, visits with --sensitive"
    with pytest.raises(ParameterError, match=problem):
        api.protect(table, "hierarchy", k=2, t=0.5, hierarchies=ladders, seed=1)
    for method in ("hierarchy", "mondrian"):
        release = api.protect(table, method, k=2, l=2, hierarchies=ladders, seed=1)
        told = api.measure(table, release, "classes").notes["sensitive"]
        assert min(told[column]["l_distinct"] for column in ("illness", "visits")) >= 2
        assert [told[column]["disclosed_rows"] for column in ("illness", "visits")] == [0.0, 0.0]


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_and_one_row(people: Table, ladders: Path, rows: int) -> None:
    with pytest.raises(ParameterError, match=f"k = 2 needs at least 2 rows, but there are {rows}"):
        api.protect(Table(people.frame[:rows], SCHEMA), "hierarchy", k=2, hierarchies=ladders, seed=1)


def test_a_column_nobody_classified_stops_the_run(people: Table, ladders: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}, "zip": {}}})
    with pytest.raises(SchemaError, match="the role of zip is not set"):
        api.protect(Table(people.frame, schema), "hierarchy", k=2, hierarchies=ladders, seed=1)


def test_a_history_is_refused(ladders: Path) -> None:
    with pytest.raises(ParameterError, match="hierarchy works on a table, and this is a history"):
        api.protect(api.sample(customers=3, rows=20, items=5), "hierarchy", k=2, hierarchies=ladders)


def test_a_claim_that_is_not_real_is_found_out(people: Table, ladders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import noren.methods.hierarchy as module

    monkeypatch.setattr(module, "suppressed", lambda codes, *_rest: codes[:, 0] < 0)
    problem = "does not keep what it claims: its smallest class has 1 rows, and k is 2"
    with pytest.raises(CheckFailedError, match=problem):
        api.protect(people, "hierarchy", k=2, suppression=0.9, hierarchies=ladders, loss="class-size", seed=1)


def test_the_same_seed_gives_the_same_bytes(people: Table, ladders: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        api.protect(people, "hierarchy", k=2, hierarchies=ladders, identifiers="pseudonyms", seed=5).save(
            tmp_path / name
        )
    assert (tmp_path / "a" / "public.parquet").read_bytes() == (tmp_path / "b" / "public.parquet").read_bytes()


# --- ARX -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(shared: Path) -> Table:
    """Adult's 30,162 complete rows."""
    table = read(shared / "data" / "adult.data", "adult").data
    complete = ~pl.any_horizontal(pl.col(pl.String) == "?")
    assert isinstance(table, Table)
    rows = table.take(table.frame.select(complete).to_series().arg_true())
    assert len(rows) == 30_162
    return rows


def test_every_optimum_of_arx_is_met(shared: Path, adult: Table) -> None:
    entries = json.loads((shared / "oracles" / "arx" / "adult.json").read_text(encoding="utf-8"))["results"]
    losses = {"dm": "discernibility", "aecs": "class-size", "loss": "loss"}
    assert len(entries) == 20
    for entry in entries:
        method = methods.create(
            "hierarchy",
            k=entry["k"],
            suppression=entry["suppression"],
            loss=losses[entry["metric"]],
            quasi=list(entry["levels"]),
            hierarchies=shared / "data" / "adult_hierarchies",
            l=entry["l"] or None,
            sensitive=entry.get("sensitive"),
            search="arx",
        )
        notes = method.protect(adult, seed=1).statement.notes
        assert notes["score"] == pytest.approx(float(entry["score"]), rel=1e-9), entry
        assert (notes["levels"], notes["suppressed_rows"], notes["classes"]) == (
            entry["levels"],
            entry["suppressed"],
            entry["classes"],
        )


def test_adult_from_the_command_line(shared: Path, noren: Command, tmp_path: Path) -> None:
    words = ["protect", shared / "data" / "adult.data", "--schema", "adult", "--method", "hierarchy", "--k", 5]
    words += ["--hierarchies", shared / "data" / "adult_hierarchies"]
    done = noren(*words, "--suppression", 0.05, "--out", tmp_path / "h", "--json")
    assert done.code == 0
    assert done.json["notes"]["columns_without_hierarchy"] == ["relationship"]
    assert done.json["deleted_rows"] == done.json["notes"]["suppressed_rows"] <= 0.05 * 32_561
    judged = ["--schema", "adult", "--measures", "classes", "--json"]
    measured = noren("measure", shared / "data" / "adult.data", tmp_path / "h", *judged)
    assert measured.json["results"]["classes"]["value"] >= 5
    asked = noren(*words, "--suppression", 5, "--out", tmp_path / "i")
    assert (asked.code, asked.err) == (2, "noren: suppression = 5 is out of range; use 0.05\n")
    listed = noren(*words, "--missing", "error", "--out", tmp_path / "i")
    assert listed.code == 2
    assert "workclass = '?', occupation = '?', native-country = '?'" in listed.err
