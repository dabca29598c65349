"""Releases of single periods as one: no pseudonym twice, every row where it belongs."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.books import MONTHS, history, months, rows_of

import noren
from noren.data.periods import periods_of
from noren.data.release import Release, Statement
from noren.errors import ParameterError
from noren.ledger.joined import _fresh, joined, joined_rows, of_period, pseudonyms_of


def released(method: object = "pseudonymize", **parameters: object) -> list[Release]:
    answer: list[Release] = []
    for month in MONTHS:
        made = noren.protect(months(month), method, seed=1, **parameters)  # type: ignore[arg-type]
        answer.append(of_period(made, month, {name for r in answer for name in pseudonyms_of(r)}, seed=1))
    return answer


def test_methods_alone_would_use_a_pseudonym_twice() -> None:
    alone = [pseudonyms_of(noren.protect(months(month), "pseudonymize", seed=1)) for month in MONTHS]
    assert alone[0] == alone[1] == {"10", "11"}
    assert [pseudonyms_of(release) for release in released()] == [{"10", "11"}, {"12", "13"}, {"14", "15"}]


def test_a_renamed_release_is_the_same_release() -> None:
    plain = noren.protect(months("2011/1"), "pseudonymize", seed=1)
    renamed = of_period(plain, "2011/1", ["99"], seed=5)
    assert rows_of(renamed.by_name()) == rows_of(plain.by_name()) == rows_of(months("2011/1"))  # type: ignore[arg-type]
    assert renamed.aligned().frame.drop("customer").equals(plain.aligned().frame.drop("customer"))
    assert renamed.secret.pseudonyms["period"].to_list() == ["2011/1"] * 2
    assert renamed.public.lines().is_sorted()
    assert renamed.statement.notes["period"] == "2011/1"


def test_joined_is_what_one_release_of_everything_would_be() -> None:
    together = joined(released())
    original = joined_rows([months(month) for month in MONTHS])
    assert rows_of(original) == rows_of(history())
    assert together.secret.original_rows == 6
    assert together.aligned().frame.drop("customer").equals(original.frame.drop("customer"))
    assert rows_of(together.by_name()) == rows_of(history())  # type: ignore[arg-type]
    whole = noren.protect(history(), "monthly-pseudonyms", seed=1)
    ours = sorted(together.secret.pseudonyms.select("customer", "period").rows())
    assert ours == sorted(whole.secret.pseudonyms.select("customer", "period").rows())
    assert together.secret.pseudonyms["pseudonym"].n_unique() == 6


def test_deleted_rows_and_measures_go_through() -> None:
    together = joined(released([{"method": "thin", "share": 0.5}, "monthly-pseudonyms"]))
    assert together.deleted_rows == 0  # nobody may vanish, and each has one row a month
    gone = joined(released([{"method": "thin", "share": 0.5, "allow_vanish": True}, "monthly-pseudonyms"]))
    assert gone.deleted_rows == 3
    assert noren.measure(history(), gone, "cell-error").value == 0.5


def test_cells_of_several_releases_are_over_all_their_values() -> None:
    releases = released("generalize-by-count", k=2)
    together = joined(releases)
    assert [str(release.public.frame["item"][0].to_list()) for release in releases[:2]] == ["['tea']", "['cup', 'tea']"]
    assert together.public.frame["item"].list.len().to_list() == [1, 1, 2, 2, 1, 1]
    assert together.public.frame["quantity"].struct.field("hi").to_list() == [1, 1, 3, 3, 1, 1]
    mixed = joined([released()[0], releases[1]])
    assert mixed.public.frame["quantity"].struct.field("lo").to_list() == [1, 1, 2, 2]
    assert mixed.public.frame["item"].cast(pl.List(pl.String)).to_list() == [["tea"]] * 2 + [["cup", "tea"]] * 2


def told(*categories: dict[str, list[str]] | None) -> list[Release]:
    notes = [{} if groups is None else {"categories": groups} for groups in categories]
    return [Release(r.public, r.secret, Statement("x", notes=n)) for r, n in zip(released(), notes, strict=False)]


def test_categories_of_all_releases_are_one_list() -> None:
    both = joined(told({"ware": ["cup"]}, {"ware": ["pot"], "drinks": ["tea"]}))
    assert both.statement.notes["categories"] == {"drinks": ["tea"], "ware": ["cup", "pot"]}
    with pytest.raises(ParameterError, match="the item cup had the category ware in an earlier release and has things"):
        joined(told({"ware": ["cup"]}, {"things": ["cup"]}))
    with pytest.raises(ParameterError, match="some releases of the ledger use categories, others items"):
        joined(told({"ware": ["cup"]}, None))


@given(st.integers(0, 300), st.integers(0, 120), st.integers(0, 3))
def test_fresh_pseudonyms_are_new_distinct_and_equally_long(top: int, count: int, seed: int) -> None:
    names = _fresh(count, [str(n) for n in range(top)] + ["odd"], seed).to_list()
    assert len(set(names)) == count
    assert len({len(name) for name in names}) <= 1
    assert all(int(name) >= max(top, 10) for name in names)


def test_pseudonyms_may_run_out() -> None:
    assert _fresh(2, ["999999990"], 1).sort().to_list() == ["999999991", "999999992"]
    with pytest.raises(ParameterError, match="all nine-digit pseudonyms have been used"):
        _fresh(20, ["999999990"], 1)


def test_the_last_master_counts() -> None:
    from dataclasses import replace

    masters = [
        None,
        pl.DataFrame({"customer": ["ann", "bob"]}),
        pl.DataFrame({"customer": ["ann", "bob", "cho"]}),
        None,
    ]
    parts = [replace(months(m), master=master) for m, master in zip([*MONTHS, MONTHS[0]], masters, strict=True)]
    joint = joined_rows(parts)
    assert joint.master is not None
    assert len(joint.master) == 3
    assert periods_of(joint["date"]).unique().sort().to_list() == MONTHS
