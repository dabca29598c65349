"""What a release lost: worked examples, and a count by hand for every method that deletes rows."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren.data.frames import History, Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures.losses import ColumnLoss, CustomerLoss, losses

SHOP = Schema.of(
    {
        "columns": {
            "customer": {"role": "customer"},
            "date": {"role": "date"},
            "item": {"role": "item"},
            "price": {"role": "price"},
            "quantity": {"role": "quantity"},
            "store": {"role": "other"},
            "memo": {"role": "other", "optional": True},
        }
    }
)


def shop(*counts: int) -> History:
    """Return a history in which the customers c0, c1, … have so many rows; memo is always empty."""
    who = [f"c{at}" for at, count in enumerate(counts) for _row in range(count)]
    rows = {"customer": who, "date": "2011/1/1", "item": [f"i{n % 7}" for n in range(len(who))], "price": 1.0}
    return History.of(pl.DataFrame(rows | {"quantity": 1, "store": "s", "memo": None}), SHOP)


def test_one_customer_with_most_rows() -> None:
    history = shop(100, 5, 4, 4, 3)
    lost = losses(history, noren.protect(history, "generalize-by-count", k=2, seed=1))
    # groups (100, 5) and (4, 4, 3): 5 + 5 and 3 + 3 + 3 rows stay
    assert (lost.rows, lost.rows_lost, lost.people, lost.people_lost) == (116, 97, 5, 0)
    assert lost.secret.customers[0] == CustomerLoss("c0", 100, 95, "counterpart")
    assert [loss.lost for loss in lost.secret.customers] == [95, 1, 1]
    assert lost.columns == (ColumnLoss("store", "emptied", "apart", 1.0),)  # memo was empty before
    proposal = lost.proposal
    assert proposal is not None
    assert (proposal.most_rows, proposal.customers, proposal.rows, proposal.released) == (5, 1, 100, 5)
    # without c0 the groups are (5, 4) and (4, 3): 8 and 6 of 16 rows stay
    assert (proposal.bound, proposal.others, proposal.others_lost, proposal.others_lost_then) == (5, 16, 2, 2)
    assert str(lost) == "Not released: 97 of 116 rows, 1 of 7 columns."
    again = noren.protect(history, "generalize-by-count", k=2, most_rows=proposal.most_rows, seed=1)
    after = noren.losses(history, again)
    assert (after.rows_lost, after.people_lost, after.proposal) == (100 + proposal.others_lost_then, 1, None)
    assert after.secret.customers[0].reason == "left_out"


@pytest.mark.parametrize("method", ["generalize", "generalize-by-count"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_estimate_is_what_leaving_out_does(method: str, seed: int) -> None:
    counts = np.random.default_rng(seed).geometric(0.1, 40)
    history = shop(2000, *counts)
    proposal = losses(history, noren.protect(history, method, k=3, seed=seed)).proposal
    assert proposal is not None
    again = noren.protect(history, method, k=3, seed=seed, most_rows=proposal.most_rows)
    then = noren.losses(history, again)
    assert then.people_lost >= 1
    difference = abs(then.rows_lost - proposal.rows - proposal.others_lost_then)
    assert difference <= (0 if proposal.exact else 0.05 * proposal.others)
    # the bound holds of every customer, in both releases
    kept = Counter(again.by_name()["customer"].to_list())
    assert max(kept.values()) <= proposal.bound


def test_nobody_is_an_outlier_among_equals() -> None:
    history = shop(9, 9, 8, 8, 5, 2)
    assert losses(history, noren.protect(history, "generalize-by-count", k=3, seed=1)).proposal is None


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("generalize", {"k": 3}), ("microaggregate", {"k": 3}), ("thin", {"share": 0.4}), ("pseudonymize", {})],
)
def test_counts_are_those_of_the_rows(method: str, parameters: dict[str, Any]) -> None:
    history = noren.sample(customers=12, rows=200, items=30, seed=3)
    release = noren.protect(history, method, seed=4, **parameters)
    before = Counter(history["customer"].to_list())
    after = Counter(release.by_name()["customer"].to_list())
    missing = {who: count - after[who] for who, count in before.items()}
    positions, texts = release.row_positions(), release.public.texts().drop("customer")
    lost = losses(history, release)
    assert lost.rows_lost == release.deleted_rows == sum(missing.values())
    assert lost.people_lost == sum(after[who] == 0 for who in before)
    assert {(c.customer, c.lost) for c in lost.secret.customers} <= set(missing.items())
    assert [c.lost for c in lost.secret.customers] == sorted(filter(None, missing.values()), reverse=True)[:5]
    for row in lost.secret.sample:
        assert tuple(row.before.values()) == history.texts("").row(row.row - 1)
        place = positions[row.row - 1]
        assert row.after == (None if place is None else dict(zip(texts.columns, texts.row(place), strict=True)))


PEOPLE = Schema.of(
    {
        "kind": "table",
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "integer"},
            "city": {"role": "quasi"},
            "job": {"role": "quasi"},
            "illness": {"role": "sensitive"},
        },
    }
)


def people() -> Table:
    rows = {"name": list("abcdefgh"), "age": [20, 21, 22, 23, 40, 41, 42, 43], "city": ["x"] * 4 + ["y"] * 4}
    return Table.of(rows | {"job": list("mmnnmmnn"), "illness": list("fcfcfcfc")}, PEOPLE)


def test_a_table_names_what_quasi_leaves_out() -> None:
    lost = losses(people(), noren.protect(people(), "mondrian", k=2, quasi=["age", "city"], seed=1))
    assert lost.columns == (
        ColumnLoss("name", "dropped", "identifier", 1.0),
        ColumnLoss("job", "dropped", "quasi", 1.0),
    )
    assert str(lost) == "Not released: 2 of 5 columns."
    assert list(lost.sentences()) == [
        "Dropped columns (1 of 5): name. Reason: role identifier.",
        "Dropped columns (1 of 5): job. Reason: quasi-identifiers that were not chosen (--quasi).",
    ]
    assert (lost.rows_lost, lost.secret.customers, lost.proposal) == (0, (), None)


AGES = Schema.of(
    {"kind": "table", "columns": {n: {"role": "quasi", "type": "integer", "optional": True} for n in "ab"}}
)


def test_shares_count_values_that_were_there() -> None:
    original = Table.of({"a": [1, 2, None, 4, 5], "b": [1, 2, 3, 4, 5]}, AGES)
    aligned = Table(pl.DataFrame({"a": [None, 2, None, 4, None], "b": [1, 2, 3, 4, None]}), AGES)
    release = Release.of_aligned(original, aligned, Statement("by hand"))
    # a: of the released rows 1, 2 and 4 had a value, and 1 lost it; the fifth row is deleted
    assert losses(original, release).columns == (ColumnLoss("a", "partly", "cells", 1 / 3),)
    assert losses(original, release).rows_lost == 1


def test_names_stay_in_the_secret_part() -> None:
    history = shop(50, 4, 4, 4)
    lost = losses(history, noren.protect(history, "generalize-by-count", k=2, seed=1))
    plain = lost.to_dict()
    assert plain["secret"]["customers"][0]["customer"] == "c0"
    public = json.dumps({name: value for name, value in plain.items() if name != "secret"})
    for text in (str(lost), repr(lost), " ".join(lost.sentences()), str(lost.proposal), public):
        assert "c0" not in text


def test_another_original_is_refused() -> None:
    release = noren.protect(shop(3, 3), "generalize-by-count", k=2, seed=1)
    with pytest.raises(ParameterError, match="6"):
        noren.losses(shop(3, 2), release)


def test_one_customer_and_none_left() -> None:
    history = shop(3)
    lost = losses(history, noren.protect(history, "pseudonymize", seed=1))
    assert (str(lost), len(lost.secret.sample)) == ("Every row and every column is released.", 1)
    with pytest.raises(ParameterError, match="needs at least 2 customers, but there are 1"):
        noren.protect(shop(50, 3), "generalize-by-count", k=2, most_rows=10, seed=1)
