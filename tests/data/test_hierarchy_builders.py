"""Builders of hierarchies: examples worked by hand, and every level nests in the next."""

import datetime as dt
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.frames import Table
from noren.data.hierarchies.builder import ColumnValues
from noren.data.hierarchies.builders import BUILDERS, builder_of, builders_for, class_sizes
from noren.data.hierarchies.codes import PREFECTURES, REGIONS
from noren.data.hierarchies.names import alike
from noren.data.hierarchies.numbers import UNITS
from noren.data.schema import Column, Schema
from noren.errors import NorenError, ParameterError, ValueInCellError

Rows = dict[str, tuple[str, ...]]


def values_of(name: str, values: Any, **about: Any) -> ColumnValues:
    """Return the values of a column that stands alone in a table of people; ``about`` is what its schema says."""
    schema = Schema.of({"kind": "table", "columns": {name: {"role": "quasi", "optional": True} | about}})
    return ColumnValues(Table.of({name: values}, schema), schema[name])


def built(by: str, text: str, values: list[Any], other: str = "", **about: Any) -> Rows:
    """Return the labels of each value, from level 1 on."""
    found = builder_of(by, text, other).build(values_of("c", values, **about))
    assert_nested(found.labels)
    assert found.labels.to_series(found.depth - 1).unique().to_list() == ["*"]
    return {row[0]: row[1:-1] for row in found.labels.iter_rows()}


def assert_nested(labels: pl.DataFrame) -> None:
    for here, above in pairwise(labels.columns):
        assert labels.group_by(here).agg(pl.col(above).n_unique())[above].max() == 1


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_widths_quantiles_and_cuts_of_whole_numbers() -> None:
    assert built("widths", "5, 10、20", [17, 21, None], type="integer")["17"] == ("15-19", "10-19", "0-19")
    # eight rows in four ranges of two: three ones fall where their middle lies, and the range of 2 gets what is left
    ages = [1, 1, 1, 2, 3, 4, 5, 9]
    assert built("quantiles", "4, 2", ages, type="integer") == {
        "1": ("<2", "<3"), "2": ("2", "<3"), "3": ("3-4", "3+"), "4": ("3-4", "3+"),
        "5": ("5+", "3+"), "6": ("5+", "3+"), "7": ("5+", "3+"), "8": ("5+", "3+"), "9": ("5+", "3+"),
    }  # fmt: skip
    cuts = built("cuts", "18, 30, 65 / 30", [3, 18, 29, 30, 64, 65, 90], type="integer")
    assert [cuts[age] for age in ("3", "18", "29", "30", "64", "65")] == [
        ("<18", "<30"), ("18-29", "<30"), ("18-29", "<30"), ("30-64", "30+"), ("30-64", "30+"), ("65+", "30+"),
    ]  # fmt: skip


def test_numbers_beside_a_grid_have_open_ends() -> None:
    found = built("cuts", "2.5, 5", [0.123, 2.5, 4.99999, 7.77777], type="decimal")
    assert found == {"0.123": ("<2.5",), "2.5": ("[2.5, 5[",), "4.99999": ("[2.5, 5[",), "7.77777": ("≥5",)}
    assert built("cuts", "17.5", [17, 18], type="integer") == {"17": ("<17.5",), "18": ("≥17.5",)}


def test_long_numbers_keep_their_digits() -> None:
    high = 4_000_123_412_340_008
    found = built("quantiles", "2", [high - 1, high, high + 1, high + 2], type="integer")
    assert found[str(high)] == (f"<{high + 1}",)
    assert found[str(high + 1)] == (f"{high + 1}+",)
    most = 2**62 + 1  # more digits than a float holds
    assert built("quantiles", "2", [most, most + 1], type="integer")[str(most + 1)] == (f"{most + 1}+",)


def test_one_number_has_one_range() -> None:
    assert built("quantiles", "2", [7, 7, 7], type="integer") == {"7": ("*",)}
    assert built("widths", "", [7], type="integer") == {"7": ("6-7",)}


# --- days ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "month", "year", "era"),
    [
        ("2019-05-01", "令和元年5月", "令和元年", "令和"),
        ("2019-04-30", "平成31年4月", "平成31年", "平成"),
        ("1989-01-08", "平成元年1月", "平成元年", "平成"),
        ("1989-01-07", "昭和64年1月", "昭和64年", "昭和"),
        ("1926-12-25", "昭和元年12月", "昭和元年", "昭和"),
        ("1926-12-24", "大正15年12月", "大正15年", "大正"),
        ("1912-07-30", "大正元年7月", "大正元年", "大正"),
        ("1912-07-29", "明治45年7月", "明治45年", "明治"),
        ("1868-01-25", "明治元年1月", "明治元年", "明治"),
        ("1868-01-24", "明治より前", "明治より前", "明治より前"),
        ("2026-11-16", "令和8年11月", "令和8年", "令和"),
    ],
)
def test_eras_change_on_their_day(day: str, month: str, year: str, era: str) -> None:
    found = built("dates", "era-month, era-year, era", [dt.date.fromisoformat(day)], type="date")
    assert list(found.values()) == [(month, year, era)]


def test_units_of_days() -> None:
    day = [dt.date(2008, 12, 29)]
    expected = {
        "day": "2008/12/29", "week": "2009-W01", "week-year": "2009 (weeks)", "month": "2008-12", "quarter": "2008-Q4",
        "fiscal-year": "FY2008", "year": "2008", "decade": "2000-2009", "era-month": "平成20年12月",
        "era-year": "平成20年", "era": "平成",
    }  # fmt: skip
    assert list(expected) == list(UNITS)
    for unit, label in expected.items():
        assert built("dates", unit, day, type="date") == {"2008/12/29": (label,)}
    # the fiscal year begins with April
    spring = [dt.datetime(2020, 3, 31, 8, 1), dt.datetime(2020, 4, 1, 0, 0)]
    found = built("dates", "day, fiscal-year", spring, type="datetime")
    assert found == {"2020/3/31 8:01": ("2020/3/31", "FY2019"), "2020/4/1 0:00": ("2020/4/1", "FY2020")}


def test_units_that_do_not_nest_are_refused_with_an_example() -> None:
    spring = [dt.date(2019, 4, 30), dt.date(2019, 5, 1)]
    with pytest.raises(ParameterError, match="year is not nested in era: 2019 lies in 平成 and in 令和"):
        built("dates", "month, year, era", spring, type="date")
    with pytest.raises(ParameterError, match="week is not nested in month: 2019-W18 lies in 2019-04 and in 2019-05"):
        built("dates", "week, month", spring, type="date")
    assert built("dates", "month, year, era", [dt.date(2001, 2, 3)], type="date") == {
        "2001/2/3": ("2001-02", "2001", "平成")
    }


# --- codes -----------------------------------------------------------------------------------------------------------


def test_codes_by_what_they_begin_with() -> None:
    assert built("prefix", "3, 1", ["85123A", "71053"]) == {
        "71053": ("710***", "7*****"),
        "85123A": ("851***", "8*****"),
    }
    assert built("postcode", "", ["123-4567", "060-0001"]) == {
        "060-0001": ("060-****", "06*", "0*"),
        "123-4567": ("123-****", "12*", "1*"),
    }
    # without a dash in all of them there is none in labels; a number has lost its zeros
    assert built("postcode", "3", ["１２３－４５６７", "〒0600001"]) == {
        "〒0600001": ("060****",),
        "１２３－４５６７": ("123****",),
    }
    assert built("postcode", "3", [600001], type="integer") == {"600001": ("060****",)}
    assert built("icd", "", ["E11.9", "e10", "J450"]) == {
        "E11.9": ("E11*", "E*"),
        "J450": ("J45*", "J*"),
        "e10": ("E10*", "E*"),
    }


def test_places_are_known_without_being_named() -> None:
    assert built("usual", "", ["123-4567", None])["123-4567"] == ("123-****", "12*", "1*")
    assert built("usual", "", ["1234567"])["1234567"] == ("12345**", "123****", "1******")  # any code of seven digits
    assert built("usual", "", ["東京都港区", "大阪府"])["東京都港区"] == ("東京都港区", "東京都", "関東")
    assert built("usual", "", ["東京都港区", "elsewhere"]) == {"elsewhere": (), "東京都港区": ()}
    assert built("usual", "", ["8053", "8037"])["8053"] == ("805*", "80**", "8***")
    assert built("usual", "", ["Bern", "Genf"])["Genf"] == ()


def test_codes_of_municipalities() -> None:
    # the check digit of 01100 (Sapporo): 11 - (0*6 + 1*5 + 1*4 + 0*3 + 0*2) mod 11 = 2
    assert built("municipality", "", ["011002", "131032"]) == {
        "011002": ("01 北海道", "北海道"),
        "131032": ("13 東京都", "関東"),
    }
    assert built("municipality", "region", ["13103", "24201"]) == {"13103": ("関東",), "24201": ("近畿",)}
    assert built("municipality", "", [1100], type="integer") == {"1100": ("01 北海道", "北海道")}
    assert built("municipality", "", [11002, 131016], type="integer")["11002"] == ("01 北海道", "北海道")
    assert built("municipality", "", ["1", "47"])["47"] == ("47 沖縄県", "九州・沖縄")
    with pytest.raises(ParameterError, match="municipality cannot group these values: '131031', '99999'"):
        built("municipality", "", ["131031", "99999", "131032"])


def test_prefectures_and_regions() -> None:
    assert (len(PREFECTURES), len(set(PREFECTURES)), len(REGIONS)) == (47, 47, 8)
    assert [PREFECTURES[code - 1] for code in (1, 13, 23, 26, 27, 40, 47)] == [
        "北海道", "東京都", "愛知県", "京都府", "大阪府", "福岡県", "沖縄県",
    ]  # fmt: skip
    assert [len(own) for own in REGIONS.values()] == [1, 6, 7, 9, 7, 5, 4, 8]


@pytest.mark.parametrize(
    ("address", "municipality"),
    [
        ("東京都港区芝公園4-2-8", "東京都港区"),
        ("東京都町田市原町田", "東京都町田市"),
        ("東京都東村山市本町", "東京都東村山市"),
        ("東京都八丈町大賀郷", "東京都八丈町"),
        ("千葉県市川市八幡", "千葉県市川市"),
        ("三重県四日市市諏訪町", "三重県四日市市"),
        ("広島県廿日市市下平良", "広島県廿日市市"),
        ("石川県野々市市三納", "石川県野々市市"),
        ("福島県郡山市朝日", "福島県郡山市"),
        ("群馬県佐波郡玉村町下新田", "群馬県佐波郡玉村町"),
        ("北海道余市郡余市町朝日町", "北海道余市郡余市町"),
        ("奈良県高市郡明日香村岡", "奈良県高市郡明日香村"),
        ("山形県東村山郡山辺町緑ケ丘", "山形県東村山郡山辺町"),
        ("愛知県 蒲郡市 旭町", "愛知県蒲郡市"),
        ("兵庫県神崎郡市川町西川辺", "兵庫県神崎郡市川町"),
        ("佐賀県杵島郡大町町大町", "佐賀県杵島郡大町町"),
        ("滋賀県近江八幡市桜宮町", "滋賀県近江八幡市"),
        ("長野県軽井沢町長倉", "長野県軽井沢町"),
        ("大阪府", "大阪府"),
    ],
)
def test_municipalities_by_shape(address: str, municipality: str) -> None:
    region = next(region for region, own in REGIONS.items() if municipality.startswith(own))
    prefecture = next(one for one in PREFECTURES if municipality.startswith(one))
    found = built("place", "", [address, "京都府宇治市"])
    assert found[address] == (municipality, prefecture, region)


def test_wards_lie_in_their_city_and_bare_names_are_known() -> None:
    found = built("place", "", ["神奈川県横浜市西区みなとみらい", "愛知県名古屋市中村区名駅", "神奈川県鎌倉市"])
    assert found["愛知県名古屋市中村区名駅"] == ("愛知県名古屋市中村区", "愛知県名古屋市", "愛知県", "中部")
    assert found["神奈川県横浜市西区みなとみらい"] == ("神奈川県横浜市西区", "神奈川県横浜市", "神奈川県", "関東")
    assert found["神奈川県鎌倉市"] == ("神奈川県鎌倉市", "神奈川県鎌倉市", "神奈川県", "関東")
    assert built("place", "", ["東京", "大阪府"]) == {"大阪府": ("大阪府", "近畿"), "東京": ("東京都", "関東")}
    with pytest.raises(ParameterError, match="place cannot group these values: '港区'"):
        built("place", "", ["港区", "東京都港区"])
    assert built("place", "prefecture", ["港区", "東京都"], other="不明")["港区"] == ("不明",)


# --- names -----------------------------------------------------------------------------------------------------------


def test_groups_by_json_and_by_lines() -> None:
    tree = '{"Europe": {"West": ["France", "Belgium"], "South": ["Italy"]}, "Asia": ["Japan"]}'
    expected = {
        "Belgium": ("West", "Europe"), "France": ("West", "Europe"), "Italy": ("South", "Europe"),
        "Japan": ("Asia", "Asia"),
    }  # fmt: skip
    assert built("groups", tree, ["France", "Italy", "Japan", None]) == expected  # also what the data do not have
    lines = "France;West;Europe;*\nBelgium;West;Europe\nItaly;South;Europe\nJapan;Asia\nPeru;\n"
    assert built("groups", lines, ["France", "Italy"]) == expected
    assert built("groups", "France;West", ["France", "Peru"], other="rest")["Peru"] == ("rest",)
    with pytest.raises(ParameterError, match="groups cannot group these values: 'Peru', 'Togo'"):
        built("groups", tree, ["France", "Togo", "Peru"])


def test_every_contradiction_of_groups_is_told() -> None:
    with pytest.raises(ValueInCellError) as stopped:
        built("groups", '{"a": ["x", "y"], "b": ["x", "y"]}', ["x"])
    assert str(stopped.value).splitlines() == [
        "row 3, 'x': the value is listed twice with different labels; list each value once",
        "  row 4, 'y': the value is listed twice with different labels; list each value once",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": ', "the groups are not valid JSON"),
        ('{"a": 3}', "groups expects lines value;group;wider group, or JSON; write them like"),
        ('["x"]\n', "groups expects lines value;group;wider group, or JSON"),
        ("", "groups expects lines value;group;wider group, or JSON"),
    ],
)
def test_groups_that_nobody_can_read(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        builder_of("groups", text)


def test_rare_values_become_other() -> None:
    values = ["a"] * 4 + ["b"] * 2 + ["c", "other"]
    assert built("frequency", "2, 3", values) == {
        "a": ("a", "a"),
        "b": ("b", "(other)"),
        "c": ("(other)", "(other)"),
        "other": ("(other)", "(other)"),
    }
    assert built("frequency", "2", ["a", "a", "b"], other="rare")["b"] == ("rare",)


def test_names_that_are_written_alike() -> None:
    # pairs of characters: whole milk 11, uht milk 9, in common 5: 10 / 20
    names = ["whole milk"] * 2 + ["UHT-milk", "butter", "Butter!", "Ｂｕｔｔｅｒ", "----"]
    found = built("similarity", "0.9, 0.5", names)
    assert found["UHT-milk"] == ("UHT-milk", "≈ whole milk")
    assert found["whole milk"] == ("whole milk", "≈ whole milk")
    assert found["butter"] == found["Ｂｕｔｔｅｒ"] == ("≈ Butter!", "≈ Butter!")
    assert found["----"] == ("----", "----")
    with pytest.raises(ParameterError, match="20,001 names are too many"):
        alike(pl.Series(map(str, range(20_001))), [0.5])


def by_brute_force(names: list[str], threshold: float) -> list[int]:
    """Leaders one after the other, then each name to the leader it is most like."""

    def pairs(name: str) -> set[str]:
        return {f" {word} "[i : i + 2] for word in name.split() for i in range(len(word) + 1)}

    def dice(one: str, other: str) -> float:
        return 2 * len(pairs(one) & pairs(other)) / (len(pairs(one)) + len(pairs(other)))

    leaders: list[int] = []
    for i, name in enumerate(names):
        if not any(dice(name, names[j]) >= threshold - 1e-12 for j in leaders):
            leaders.append(i)
    return [
        i if i in leaders else max(leaders, key=lambda j: (dice(name, names[j]), -j)) for i, name in enumerate(names)
    ]


@examples(40)
@given(st.lists(st.text("ab c", min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=12, unique=True))
def test_likeness_is_what_one_would_do_by_hand(names: list[str]) -> None:
    plain = sorted({" ".join(name.split()) for name in names})
    assert alike(pl.Series(plain), [0.6])[0].tolist() == by_brute_force(plain, 0.6)


def places(**columns: list[str | None]) -> ColumnValues:
    about = {name: {"role": "quasi", "optional": True} for name in columns}
    table = Table.of(columns, Schema.of({"kind": "table", "columns": about}))
    return ColumnValues(table, table.schema["city"])


def test_values_by_another_column() -> None:
    values = places(
        city=["Bern", "Thun", "Genf", "Bern", None],
        canton=["BE", "BE", "GE", None, "ZH"],
        land=["CH", "CH", "CH", "CH", "CH"],
    )
    found = builder_of("column", "canton, land").build(values)
    assert found.labels.rows() == [("Bern", "BE", "CH", "*"), ("Genf", "GE", "CH", "*"), ("Thun", "BE", "CH", "*")]


def test_what_another_column_contradicts_is_told_with_rows() -> None:
    values = places(city=["Bern", "Bern", "Bern", "Genf", "Genf", "Thun"], canton=["BE", "BE", "ZH", "GE", "VD", None])
    with pytest.raises(ParameterError) as stopped:
        builder_of("column", "canton").build(values)
    assert (
        "2 values of city have more than one canton (with their rows): 'Bern' (BE 2, ZH 1), 'Genf' (GE 1, VD 1)"
        in str(stopped.value)
    )
    empty = places(city=["Bern", "Thun"], canton=["BE", None])
    with pytest.raises(ParameterError, match="column canton cannot group these values: 'Thun'"):
        builder_of("column", "canton").build(empty)
    assert builder_of("column", "canton", "unknown").build(empty).labels.row(1) == ("Thun", "unknown", "*")


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "text", "words"),
    [
        ("widths", "5, 12", "ranges of 12 cannot be made of ranges of 5"),
        ("widths", "ten", "widths expects widths from fine to wide"),
        ("widths", "nan", "each a multiple of the previous one"),
        ("cuts", "18, 30 / 31", "the coarser level has cuts 31"),
        ("cuts", "30, 18", "cuts expects starts of ranges in ascending order"),
        ("cuts", "", "coarser levels after a slash; write them like 18, 30, 45, 65 / 30, 65"),
        ("cuts", "inf", "at most 20 numbers"),
        ("quantiles", "4, 3", "each a divisor of the previous one; write them like 16, 8, 4, 2"),
        ("quantiles", "1", "quantiles expects numbers of ranges from 2"),
        ("frequency", "3, 2", "frequency expects minimum numbers of rows of a value from 2, increasing"),
        ("frequency", "", "frequency expects minimum numbers of rows of a value from 2, increasing"),
        ("similarity", "0.1", "similarity expects similarities from 1 .* to 0.2, decreasing from level to level"),
        ("prefix", "1, 3", "prefix expects numbers of characters to keep, from fine to wide"),
        ("values", "3", "values takes no parameters"),
        ("column", "", "column expects columns, from fine to wide"),
        ("column", "nowhere", "nowhere"),
        ("dates", "month", "dates does not apply to values of type integer; use one of usual, widths"),
        ("widdths", "", r"there is no builder 'widdths' \(did you mean widths\?\)"),
    ],
)
def test_wrong_words_are_answered(by: str, text: str, words: str) -> None:
    with pytest.raises(NorenError, match=words):
        built(by, text, [17, 30], type="integer")


def test_a_column_without_values_and_odd_labels_are_refused() -> None:
    with pytest.raises(ParameterError, match="the column has no values"):
        built("usual", "", [None, None])
    for label in ("a;b", "*", " x"):
        with pytest.raises(ParameterError, match="this cannot be the label of other values"):
            builder_of("frequency", "2", label)


def test_builders_are_offered_by_type() -> None:
    offered = {kind: [one.by for one in builders_for(Column(name="c", role="quasi", type=kind))] for kind in
               ("integer", "date", "time", "text")}  # fmt: skip
    assert offered["integer"][:4] == ["usual", "widths", "quantiles", "cuts"]
    assert "dates" in offered["date"]
    assert "hours" in offered["time"]
    assert not {"widths", "dates", "hours"} & set(offered["text"])
    assert set().union(*offered.values()) == set(BUILDERS)


def test_class_sizes_tell_the_smallest_class() -> None:
    values = values_of("city", ["Bern", "Bern", "Genf", None], domain=["Bern", "Genf", "Chur"])
    sizes = class_sizes(builder_of("frequency", "2").build(values), values.counts, values.column)
    assert [(level["labels"], level["least"]) for level in sizes] == [(3, 1), (2, 1), (1, 3)]
    assert sizes[1]["examples"] == [["Bern", 2], ["other", 1]]


WORDS = {"widths": "3, 6", "quantiles": "6, 3", "cuts": "-5, 0, 7 / 0", "prefix": "2, 1", "frequency": "2, 4",
         "similarity": "0.8, 0.4", "values": "", "usual": ""}  # fmt: skip


@examples(40)
@given(st.sampled_from(sorted(WORDS)), st.lists(st.integers(-30, 30), min_size=1, max_size=30))
def test_every_level_nests_and_lists_every_value(by: str, numbers: list[int]) -> None:
    found = built(by, WORDS[by], numbers, type="integer")
    assert {str(number) for number in numbers} <= set(found)


@examples(40)
@given(
    st.sampled_from(["week, week-year", "month, quarter, year, decade", "era-month, era-year, era"]),
    st.lists(st.dates(dt.date(1860, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=20),
)
def test_units_that_nest_always_nest(units: str, days: list[dt.date]) -> None:
    found = built("dates", units, days, type="date")
    assert {f"{day.year}/{day.month}/{day.day}" for day in days} <= set(found)
