"""Files from elsewhere: which column is which, and what their cells mean."""

import datetime as dt
import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.elsewhere import writers

import noren
from noren.data.foreign import ForeignFile, column_fits, read_foreign
from noren.data.frames import Records
from noren.data.reading import as_records, write
from noren.data.schema import Column, Schema
from noren.errors import InputError

ORIGINAL = as_records(writers.people(), Schema.of(writers.PEOPLE))


def column(texts: Sequence[object], values: list[object], kind: str, form: str | None = None) -> list[object]:
    """Return what cells mean beside an original column of a type."""
    schema = Schema.of({"kind": "table", "columns": {"x": {"role": "quasi", "type": kind, "format": form}}})
    original = as_records({"x": values}, schema)
    cells = read_foreign({"x": texts}, original).cells.frame["x"]
    return cells.to_list()


def test_whole_numbers_in_every_notation() -> None:
    texts = ["[20, 30[", "[20,30)", "(20,30]", "]20;30]", "20-29", ">=30", "<20", "3*", "{23, 27}", "25", "*", "NA", ""]
    ends = [(20, 29), (20, 29), (21, 30), (21, 30), (20, 29), (30, 60), (17, 19), (30, 39), (23, 27), (25, 25)]
    read = column([*texts], [17, 25, 60], "integer")
    assert read == [*({"lo": lo, "hi": hi} for lo, hi in ends), None, None, None]


def test_labels_as_people_write_them() -> None:
    texts = ["20代", "20歳代", "20s", "20～39歳", "20歳以上40歳未満", "20 以上 39 以下", "25才"]
    texts += ["50歳以上", "50 and over", "30～", "20未満", "20以下", "under 20", "{20、25}"]
    ends = [(20, 29), (20, 29), (20, 29), (20, 39), (20, 39), (20, 39), (25, 25)]
    ends += [(50, 60), (50, 60), (30, 60), (17, 19), (17, 20), (17, 19), (20, 25)]
    assert column([*texts], [17, 25, 60], "integer") == [{"lo": lo, "hi": hi} for lo, hi in ends]
    months = ["2011年2月", "2011/02", "2011/2", "201102", "02/2011", "2011.02"]
    february = {"lo": dt.date(2011, 2, 1), "hi": dt.date(2011, 2, 28)}
    assert column([*months], [dt.date(2011, 1, 5), dt.date(2011, 3, 9)], "date") == [february] * len(months)
    assert column(["2011年"], [dt.date(2011, 1, 5)], "date") == [
        {"lo": dt.date(2011, 1, 1), "hi": dt.date(2011, 12, 31)}
    ]


def test_open_ends_of_decimals_stop_just_before() -> None:
    (cell, other) = column(["[1.5, 2.5[", "(1.5,2.5]"], [1.5, 2.5], "decimal")
    assert isinstance(cell, dict)
    assert isinstance(other, dict)
    assert cell["lo"] == 1.5
    assert 2.499 < cell["hi"] < 2.5
    assert (1.5 < other["lo"] < 1.501, other["hi"]) == (True, 2.5)


def test_days_and_their_parts() -> None:
    days = [dt.date(2011, 1, 5), dt.date(2011, 3, 9)]
    texts = ["2011-01-05", "2011-Q1", "2011-02", "2011", "[2011-01-01, 2011-02-01[", "*"]
    first, last = dt.date(2011, 1, 1), dt.date(2011, 12, 31)
    assert column([*texts], [*days], "date") == [
        {"lo": days[0], "hi": days[0]},
        {"lo": first, "hi": dt.date(2011, 3, 31)},
        {"lo": dt.date(2011, 2, 1), "hi": dt.date(2011, 2, 28)},
        {"lo": first, "hi": last},
        {"lo": first, "hi": dt.date(2011, 1, 31)},
        None,
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["2011-05-19", "2011-12-09"],
        ["19.05.2011", "09.12.2011"],
        ["19/05/2011", "09/12/2011"],
        ["May 19, 2011", "Dec 9, 2011"],
        ["20110519", "20111209"],
        ["2011-05-19 00:00:00", "2011-12-09 00:00:00"],
        ["2011/5/19", "2011-12-09"],
    ],
)
def test_dates_in_another_format_than_the_originals(texts: list[str | None]) -> None:
    days = [dt.date(2011, 5, 19), dt.date(2011, 12, 9)]
    assert column(texts, [*days], "date", "%Y/%m/%d") == [*days]
    first, last = texts
    assert column([f"[{first}; {last}["], [*days], "date", "%Y/%m/%d") == [{"lo": days[0], "hi": dt.date(2011, 12, 8)}]


def test_a_day_of_moments_is_all_its_moments() -> None:
    moments = [dt.datetime(2010, 12, 1, 8, 26), dt.datetime(2011, 5, 19, 12)]
    day = {"lo": dt.datetime(2010, 12, 1), "hi": dt.datetime(2010, 12, 1, 23, 59, 59, 999_999)}
    assert column(["2010-12-01"], [*moments], "datetime") == [day]
    assert column([dt.date(2010, 12, 1)], [*moments], "datetime") == [day]
    assert column(["01/12/2010 08:26", "19/05/2011 12:00"], [*moments], "datetime") == moments


def test_decimal_commas_are_no_ranges() -> None:
    assert column(["12,50", "1,5"], [1.5, 12.5], "decimal") == [12.5, 1.5]
    assert column(["1.234,50", "1.234", "7"], [1.5, 12.5], "decimal") == [1234.5, 1234.0, 7.0]
    assert column(["[1,5; 2,5]", "7,25"], [1.5, 12.5], "decimal") == [{"lo": 1.5, "hi": 2.5}, {"lo": 7.25, "hi": 7.25}]


def test_ends_without_a_number_are_the_originals() -> None:
    texts = ["(-Inf,20]", "[50, Inf)", "[*, 30[", ">= 30", "[20,99999999999999999999]", "20〜29", "20 ～ 29"]
    ends = [(17, 20), (50, 60), (17, 29), (30, 60), (20, 2**63 - 1), (20, 29), (20, 29)]
    assert column([*texts], [17, 25, 60], "integer") == [{"lo": lo, "hi": hi} for lo, hi in ends]
    assert (
        column(["**", "*"], [1.5, 60.0], "decimal")
        == column([math.inf, math.nan], [1.5, 60.0], "decimal")
        == [None, None]
    )


@pytest.mark.parametrize(
    ("header", "numbers"),
    [('"","city","illness"', ("1", "2")), (",city,illness", ("0", "1")), ("X,city,illness", ("1", "2"))],
)
def test_the_row_names_of_r_and_pandas_are_no_column(header: str, numbers: tuple[str, str], tmp_path: Path) -> None:
    rows = [
        f"{number},{city},{illness}"
        for number, city, illness in zip(numbers, ("Kobe", "*"), ("flu", "cold"), strict=True)
    ]
    (tmp_path / "x.csv").write_text("\n".join([header, *rows, ""]))
    file = read_foreign(tmp_path / "x.csv", ORIGINAL)
    assert names(file) == {"city": "city", "illness": "illness"}
    assert file.published.frame.rows() == [("Kobe", "flu"), (None, "cold")]


def test_blank_lines_are_suppressed_rows_but_the_last_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("age,city\n23,Kobe\n,\n25,Osaka\n,\n\n")
    shown = read_foreign(tmp_path / "x.csv", ORIGINAL).published.frame
    assert shown.rows() == [("23", "Kobe"), (None, None), ("25", "Osaka")]


def test_spaces_around_values_do_not_count() -> None:
    people = {"work": [" Private", " State", " Private", " State"], "sex": ["f ", "f ", "m ", "m "]}
    facts = noren.judge(people, {"work": ["{Private, State}"] * 4, "sex": ["f", "f", " m", "m"]}, 0.5).facts
    assert facts.foreign is not None
    assert not any(what.startswith("labels") for what, _why in facts.foreign.not_tried)
    assert (facts.foreign.least, facts.foreign.candidates and facts.foreign.candidates.fitted) == (2, 4)


def test_pseudonyms_of_one_row_each_are_no_row_numbers() -> None:
    original = as_records(writers.purchases(), Schema.of(writers.PURCHASES))
    frame = original.frame.head(3).with_columns(customer=pl.Series(["1", "2", "3"])).rename({"customer": "pseudonym"})
    assert names(read_foreign(frame, original))["pseudonym"] == "customer"
    assert names(read_foreign(frame.with_row_index("id"), original)) == names(read_foreign(frame, original))


@pytest.mark.parametrize(
    "cells", [[b"\xff"], [dt.timedelta(1)], [{"a": 1}], pl.Series([[1, 2]], dtype=pl.Array(int, 2))]
)
def test_cells_that_are_no_values_are_refused(cells: object) -> None:
    with pytest.raises(InputError, match=r"column age: cells of type .* cannot be read"):
        read_foreign(pl.DataFrame({"age": cells}), ORIGINAL)


def test_typed_cells_of_another_type_are_read_where_they_can() -> None:
    assert column([20110519], [dt.date(2011, 5, 19)], "date", "%Y/%m/%d") == [dt.date(2011, 5, 19)]
    assert column([dt.date(2011, 5, 19)], [3, 4], "integer") == [None]
    assert column([True, False], [dt.datetime(2011, 5, 19)], "datetime") == [None, None]


def test_categories_sets_masks_and_labels_of_their_own() -> None:
    texts = ["130**", "{13053, 14850}", "14850", "[13000, 13060[", "*", "North"]
    zips = ["13053", "13068", "14850"]
    assert column([*texts], [*zips], "text") == [
        ["13053", "13068"],
        ["13053", "14850"],
        ["14850"],
        ["13053"],
        None,
        None,
    ]
    assert column(["Kobe", "NA"], ["Kobe", "NA"], "text") == ["Kobe", "NA"]  # NA is a value here


def test_a_label_that_nobody_can_read_is_a_value_of_its_own() -> None:
    file = read_foreign({"city": ["West", "North", "West"]}, ORIGINAL)
    assert file.unread == {"city": 3}
    assert file.published.frame["city"].to_list() == ["West", "North", "West"]
    assert file.cells.frame["city"].null_count() == 3


def names(file: ForeignFile) -> dict[str, str | None]:
    return dict(file.columns)


def test_columns_are_matched_by_names_tools_change() -> None:
    frame = ORIGINAL.frame.select(Age="age", city_recoded="city", ZIP_masked="zip", anon_illness="illness")
    file = read_foreign(frame, ORIGINAL)
    assert names(file) == {"Age": "age", "city_recoded": "city", "ZIP_masked": "zip", "anon_illness": "illness"}
    assert file.by_values == ()


def test_columns_are_matched_by_values_where_names_tell_nothing() -> None:
    frame = ORIGINAL.frame.select(c1="city", c2="illness", c3="age").with_columns(cluster=pl.lit("k1"))
    file = read_foreign(frame, ORIGINAL)
    assert names(file) == {"c1": "city", "c2": "illness", "c3": "age", "cluster": None}
    assert set(file.by_values) == {"c1", "c2", "c3"}


def test_what_could_be_two_columns_is_asked() -> None:
    schema = Schema.of(
        {"kind": "table", "columns": {n: {"role": "quasi", "type": "integer"} for n in ("wage", "rent")}}
    )
    original = as_records({"wage": [1, 2, 3, 4], "rent": [4, 3, 1, 2]}, schema)
    with pytest.raises(InputError, match=r"could be any of wage, rent; say which with --map c=wage"):
        read_foreign({"c": [2, 1, 3, 4]}, original)
    assert names(read_foreign({"c": [2, 1, 3, 4]}, original, mapping={"c": "rent"})) == {"c": "rent"}
    with pytest.raises(InputError, match="no column of the file looks like"):
        read_foreign({"c": [2, 1, 3, 4]}, original, mapping={"c": ""})


def test_the_customer_is_asked_for() -> None:
    original = as_records(writers.purchases(), Schema.of(writers.PURCHASES))
    frame = original.frame.rename({"customer": "q"}).with_columns(q=pl.lit("x") + pl.col("q"))
    with pytest.raises(InputError, match="--map q=customer"):
        read_foreign(frame, original)
    assert names(read_foreign(frame, original, mapping={"q": "customer"}))["q"] == "customer"
    assert names(read_foreign(frame.rename({"q": "仮ID"}), original))["仮ID"] == "customer"


def test_columns_of_their_own_have_names_of_their_own() -> None:
    frame = {"age": ["x", "y"], "age_": ["z", "z"], "city": ["Kobe", "Osaka"]}
    file = read_foreign(frame, ORIGINAL, mapping={"age": "", "age_": ""})
    assert file.published.frame.rows() == [("x", "z", "Kobe"), ("y", "z", "Osaka")]
    assert file.cells.frame.columns == ["city"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mapping": {"agee": "age"}}, "no column 'agee' .did you mean age"),
        ({"mapping": {"age": "agee"}}, "no column 'agee' .did you mean age"),
        ({"mapping": {"": "age"}}, "no column ''; name the file's column first"),
        ({"truth": "who"}, "no column 'who'; its columns are id, email, age"),
        ({"truth": "rows"}, "the file has 3 rows and the original has 600"),
        ({"mapping": {"age": "age", "zip": "age"}}, "two columns are named 'age'"),
    ],
)
def test_wrong_words_are_said_with_what_there_is(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_foreign(ORIGINAL.frame.head(3), ORIGINAL, **wrong)  # type: ignore[arg-type]


def test_empty_files_are_refused(tmp_path: Path) -> None:
    for content in ("", "age,city\n", "age,city\n,\n"):
        (tmp_path / "x.csv").write_text(content)
        with pytest.raises(InputError, match="at least one row"):
            read_foreign(tmp_path / "x.csv", ORIGINAL)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_every_kind_of_file_reads_alike(suffix: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["[20, 30[", "*"], "city": ["Kobe", "Osaka"], "illness": ["flu", "cold"]})
    path = tmp_path / f"x{suffix}"
    schema = Schema.of({"kind": "table", "columns": {n: {"role": "other"} for n in frame.columns}})
    write(Records.of(frame, schema), path)
    file = read_foreign(path, ORIGINAL)
    assert file.cells.frame["age"].to_list() == [{"lo": 20, "hi": 29}, None]
    assert file.published.frame.rows() == [("[20, 30[", "Kobe", "flu"), (None, "Osaka", "cold")]


def test_noren_s_own_cells_come_back() -> None:
    release = noren.protect(ORIGINAL, "mondrian", k=5, seed=1)
    for shown in (release.to_polars(), release.to_polars(cells="typed")):
        file = read_foreign(shown, ORIGINAL)
        assert file.unread == {}
        age = file.cells.frame["age"].struct.unnest()
        assert (age["hi"] > age["lo"]).any()


def test_which_cell_allows_which_value() -> None:
    cells = pl.Series("x", [["a", "b"], ["c"], None], dtype=pl.List(pl.String))
    cell, value, fits = column_fits(cells, pl.Series("x", ["a", "c", None]))
    assert fits[cell][:, value].tolist() == [[True, False, False], [False, True, False], [True, True, True]]
    assert Column(name="x").known


def test_the_rows_tell_what_a_label_stands_for_where_it_is_known_whose_they_are() -> None:
    west = ORIGINAL.frame["city"].replace_strict(writers.CITIES)
    ordered = read_foreign({"city": west}, ORIGINAL, truth="rows")
    by_id = read_foreign({"city": west.reverse(), "who": ORIGINAL.frame["id"].reverse()}, ORIGINAL, truth="who")
    for file in (ordered, by_id):
        assert file.unread == {}
        cells = dict(zip(file.published.frame["city"], file.cells.frame["city"], strict=True))
        assert {label: sorted(cell) for label, cell in cells.items()} == {
            "West": ["Kobe", "Osaka"], "North": ["Sapporo", "Sendai"],
        }  # fmt: skip
    assert by_id.rows is not None
    assert by_id.rows.to_list() == list(range(len(ORIGINAL) - 1, -1, -1))


def test_typed_dates_of_a_release_are_read_and_lie_in_no_telling_order() -> None:
    shop = noren.sample(customers=60, rows=3000, items=200, seed=1)
    release = noren.protect(shop, "generalize-by-count", k=5, seed=1)
    assert read_foreign(release.public.frame, shop).unread == {}
    assert noren.judge(shop, release.public.frame).flaws == ()
