"""Pseudo records: equal item sets in every cluster, rows that nobody can tell, and the paper's Table 2."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.arrays import people
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.kernels.items.packed_sets import ItemSets, item_sets
from noren.kernels.items.pseudo_records import cosine_clusters, filled_up, tf_idf, unit_rows
from noren.kernels.items.union_clusters import added_records, union_clusters
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudo_records import STEPS, PseudoRecords
from noren.methods.pseudonymize import Pseudonymize

SCHEMA = Schema.preset("pwscup2016")
VARIANTS = ["clusters", "repaired", "balanced"]


def some_history(customers: int, seed: int, schema: Schema = SCHEMA) -> History:
    """Generate customers with a few invoices each, prices and quantities of their items' own."""
    generator = np.random.default_rng(seed)
    counts = generator.geometric(0.1, customers)
    who = np.repeat(np.arange(customers), counts)
    visit = generator.integers(0, 3, len(who))
    item = generator.integers(0, 25, len(who)) % (5 + who % 21)
    rows = {
        "customer": [f"person-{u}" for u in who],
        "invoice": [str(9000 + 3 * u + v) for u, v in zip(who, visit, strict=True)],
        "date": [f"2011/{1 + (u + 4 * v) % 12}/{1 + u % 28}" for u, v in zip(who, visit, strict=True)],
        "time": [f"{9 + v}:{u % 60:02d}" for u, v in zip(who, visit, strict=True)],
        "item": [f"i{i}" for i in item],
        "price": (1.25 + item + generator.integers(0, 2, len(who)) / 2).tolist(),
        "quantity": (1 + generator.integers(0, 3, len(who)) * (1 + item % 4)).tolist(),
    }
    return History.of(rows, schema)


def items_of(frame: pl.DataFrame) -> dict[str, frozenset[str]]:
    found = frame.drop_nulls(["customer", "item"]).group_by("customer").agg(pl.col("item").unique())
    return {who: frozenset(what) for who, what in found.iter_rows()}


def assert_promise(original: History, release: Release, clusters: int, least: int) -> None:
    """Clusters hold equal sets, the union of their members' own; nothing else changed; added rows look like real."""
    public, secret, notes = release.public.frame, release.secret, release.statement.notes
    person = dict(secret.pseudonyms.iter_rows())
    had, has = items_of(original.frame), items_of(public)
    together: dict[frozenset[str], list[str]] = {}
    for pseudonym in person:
        together.setdefault(has.get(pseudonym, frozenset()), []).append(person[pseudonym])
    # clusters with the same union cannot be told apart either
    assert len(together) <= clusters
    for union, members in together.items():
        assert len(members) >= least
        assert union == frozenset().union(*(had.get(m, frozenset()) for m in members))
    assert release.deleted_rows == 0
    true = release.aligned().frame
    assert true.equals(Pseudonymize().protect(original, seed=secret.seed or 0).aligned().frame)
    added = public.filter(secret.origin.is_null())
    assert release.inserted_rows == len(added) == notes["added_rows"]
    assert len(added) == sum(len(has[p]) - len(had[person[p]]) for p in has)
    assert not added.select("customer", "item").is_duplicated().any()
    assert all(item not in had[person[who]] for who, item in added.select("customer", "item").iter_rows())
    # a purchase of that item that was made, and a visit of that customer that was made
    assert added.join(original.frame, on=["item", "price", "quantity"], how="anti").is_empty()
    visit = [name for name in ("customer", "invoice", "date", "time") if name in public.columns]
    assert added.join(true, on=visit, how="anti").is_empty()


def reid(original: pl.DataFrame, release: Release) -> float:
    """Algorithm 1 in full: every pseudonym gets the customer of largest Jaccard similarity."""
    had, has = items_of(original), items_of(release.public.frame)
    codes = {item: at for at, item in enumerate(sorted(frozenset().union(*had.values())))}

    def matrix(sets: dict[str, frozenset[str]]) -> Any:
        table = np.zeros((len(sets), len(codes)), dtype=np.float32)
        for at, items in enumerate(sets.values()):
            table[at, [codes[i] for i in items]] = 1
        return table

    shown, known = matrix(has), matrix(had)
    common = shown @ known.T
    similarity = common / (shown.sum(axis=1)[:, None] + known.sum(axis=1)[None, :] - common)
    names = list(had)
    person = dict(release.secret.pseudonyms.iter_rows())
    right = [names[best] == person[p] for p, best in zip(has, similarity.argmax(axis=1), strict=True)]
    return float(np.mean(right))


# --- the promise -----------------------------------------------------------------------------------------------------


@given(st.integers(2, 14), st.integers(0, 10**6), st.sampled_from(VARIANTS), st.data())
def test_members_of_a_cluster_have_the_same_items(customers: int, seed: int, variant: str, data: st.DataObject) -> None:
    original = some_history(customers, seed)
    least = 1 if variant == "clusters" else data.draw(st.integers(1, customers))
    clusters = data.draw(st.integers(1, customers // least))
    size = None if variant == "clusters" else least
    method = PseudoRecords(clusters=clusters, variant=variant, min_size=size, effort="quick")
    assert_promise(original, method.protect(original, seed=seed), clusters, least)


@pytest.mark.parametrize(("variant", "least"), [("clusters", 1), ("repaired", 4), ("balanced", 2)])
def test_the_least_size_where_none_is_given(variant: str, least: int) -> None:
    original = some_history(30, 3)
    release = PseudoRecords(clusters=7, variant=variant).protect(original, seed=3)
    assert_promise(original, release, 7, least)
    notes = release.statement.notes
    assert notes["smallest_cluster"] >= least
    assert notes["clusters"] == 7
    assert notes["reid_by_items"] == 7 / 30
    assert notes["largest_risk"] == 1 / notes["smallest_cluster"]


def test_three_customers_of_the_papers_figure() -> None:
    # S2, figure 1: u1 {g1, g2}, u2 {g1, g3, g5}, u3 {g4, g5}, all three given {g1 … g5}: 3 + 2 + 3 rows
    had = {"u1": ["g1", "g2"], "u2": ["g1", "g3", "g5"], "u3": ["g4", "g5"]}
    rows = [(u, g) for u, items in had.items() for g in items]
    original = History.of(
        {
            "customer": [u for u, _g in rows],
            "date": ["2011/1/1"] * 7,
            "item": [g for _u, g in rows],
            "price": [1.0] * 7,
            "quantity": [1] * 7,
        },
        Schema.preset("pwscup2018"),
    )
    for variant in VARIANTS:
        release = PseudoRecords(clusters=1, variant=variant).protect(original, seed=1)
        assert release.inserted_rows == 8
        assert set(items_of(release.public.frame).values()) == {frozenset({"g1", "g2", "g3", "g4", "g5"})}
        assert reid(original.frame, release) == pytest.approx(1 / 3)


def test_a_customer_left_alone_is_told() -> None:
    release = PseudoRecords(clusters=5, variant="clusters").protect(some_history(6, 2), seed=2)
    notes = release.statement.notes
    assert notes["customers_alone"] == 4
    assert notes["largest_risk"] == 1.0
    assert notes["largest_cluster"] == 2


def test_as_many_clusters_as_customers_add_nothing() -> None:
    original = some_history(6, 2)
    release = PseudoRecords(clusters=6, min_size=1).protect(original, seed=2)
    assert release.inserted_rows == 0
    assert release.statement.notes["customers_alone"] == 6


# --- what might tell added rows --------------------------------------------------------------------------------------


def test_a_spelling_of_the_files_own_does_not_tell_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "T.csv"
    lines = ["a,1,2010/12/01,8:05,x,1.50,1", "a,1,2010/12/01,8:05,y,2.50,1", "b,2,2010/12/02,9:05,x,1.50,03"]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    original = read_rows(path, SCHEMA)
    assert original.lines().to_list() == lines
    release = PseudoRecords(clusters=1).protect(original, seed=1)
    assert release.inserted_rows == 1
    assert [line.split(",", 1)[1] for line in release.public.lines()] == [
        "1,2010/12/1,8:05,x,1.5,1",
        "1,2010/12/1,8:05,y,2.5,1",
        "2,2010/12/2,9:05,x,1.5,3",
        "2,2010/12/2,9:05,y,2.5,1",
    ]


def test_nothing_public_tells_which_rows_were_added(tmp_path: Path) -> None:
    original = some_history(20, 8)
    beside = History(
        original.frame.with_columns(phone=pl.lit("0123")), SCHEMA, master=pl.DataFrame({"customer": ["x"]})
    )
    release = PseudoRecords(clusters=6).protect(beside, seed=8)
    assert release.public.frame.columns == list(SCHEMA.names)
    assert release.public.frame.null_count().sum_horizontal().item() == 0
    assert release.public.lines().is_sorted()
    release.publish(tmp_path / "public", official=True)
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == [
        "public.csv",
        "public.parquet",
        "statement.json",
    ]
    said = (tmp_path / "public" / "statement.json").read_text(encoding="utf-8")
    assert "person-" not in said
    assert set(json.loads(said)["notes"]) == {
        "clusters",
        "added_rows",
        "smallest_cluster",
        "largest_cluster",
        "reid_by_items",
        "largest_risk",
    }


def test_odd_prices_are_found_among_added_rows_too() -> None:
    # one price in three is unusual: if added rows had the usual price alone, an unusual one would be surely true
    original = some_history(100, 4)
    release = PseudoRecords(clusters=12).protect(original, seed=4)
    usual = original.frame.group_by("item").agg(usual=pl.col("price").mode().min())
    public = release.public.frame.with_columns(added=release.secret.origin.is_null()).join(usual, on="item")
    odd = public.group_by("added").agg((pl.col("price") != pl.col("usual")).mean()).sort("added")["price"].to_list()
    assert release.inserted_rows > 400
    assert odd[1] == pytest.approx(odd[0], abs=0.1)


# --- odd input -------------------------------------------------------------------------------------------------------


def test_rows_without_a_customer_and_customers_without_an_item() -> None:
    columns = [c.model_copy(update={"optional": True}) for c in Schema.preset("online-retail").columns]
    schema = Schema(columns=tuple(columns))
    rows = {
        "InvoiceNo": ["1", "1", "2", "3", "4"],
        "StockCode": ["x", "y", "x", None, "z"],
        "Description": ["X", "Y", "X", None, None],
        "Quantity": [1, 2, 3, 4, 5],
        "InvoiceDate": ["2010-12-01 08:26:00"] * 5,
        "UnitPrice": [1.0, 2.0, 3.0, 4.0, 5.0],
        "CustomerID": ["a", "a", "b", "c", None],
        "Country": ["UK", "UK", "Spain", "Japan", "UK"],
    }
    for variant in VARIANTS:
        release = PseudoRecords(clusters=1, variant=variant).protect(History.of(rows, schema), seed=1)
        # b lacks y, c lacks x and y; nobody's z is nobody's
        assert release.inserted_rows == 3
        added = release.public.frame.filter(release.secret.origin.is_null())
        assert sorted(added.select("StockCode", "Description", "Country").rows()) == [
            ("x", "X", "Japan"),
            ("y", "Y", "Japan"),
            ("y", "Y", "Spain"),
        ]
        assert release.public.frame["CustomerID"].null_count() == 0
        assert release.statement.notes["rows_without_customer"] == release.deleted_rows == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"clusters": 0}, "clusters = 0 is out of range; use clusters >= 1"),
        ({"clusters": 2, "min_size": 0}, "min_size = 0 is out of range; use min_size >= 1"),
        ({"clusters": 2, "min_size": 2, "variant": "clusters"}, "use repaired or balanced"),
        ({"clusters": 2, "variant": "best"}, "variant"),
        ({"clusters": 2, "effort": "endless"}, "effort"),
        ({}, "clusters"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        methods.create("pseudo-records", **parameters)


@pytest.mark.parametrize(
    ("customers", "parameters", "words"),
    [
        (3, {"clusters": 5}, "clusters = 5 needs at least 5 customers, but there are 3; use a smaller value"),
        (
            7,
            {"clusters": 3, "min_size": 3},
            "3 clusters of at least 3 customers need more than the 7 customers; use at most 2",
        ),
        (7, {"clusters": 4}, "need more than the 7 customers; use at most 3 clusters, or a smaller min_size"),
        (1, {"clusters": 1}, "1 clusters of at least 2 customers need more than the 1 customers"),
        (7, {"clusters": 3, "min_size": 9, "variant": "repaired"}, "at least 9 .* use at most 1 clusters"),
    ],
)
def test_not_enough_customers(customers: int, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        PseudoRecords(**parameters).protect(some_history(customers, 1), seed=1)


def test_no_customer_at_all() -> None:
    nobody = History(some_history(1, 1).frame.head(0), SCHEMA)
    with pytest.raises(ParameterError, match="clusters = 1 needs at least 1 customers, but there are 0"):
        PseudoRecords(clusters=1).protect(nobody, seed=1)


def test_one_customer_alone_is_left_as_it_is() -> None:
    release = PseudoRecords(clusters=1, min_size=1).protect(some_history(1, 1), seed=1)
    assert release.inserted_rows == 0
    assert release.statement.notes["largest_risk"] == 1.0


def test_a_seed_out_of_range() -> None:
    with pytest.raises(ParameterError, match="seed = -1 is out of range; use 0 <= seed"):
        PseudoRecords(clusters=2).protect(some_history(5, 1), seed=-1)


def test_an_original_that_is_generalised() -> None:
    generalised = GeneralizeByCount(k=2).protect(some_history(5, 1), seed=1).public
    assert isinstance(generalised, History)
    with pytest.raises(SchemaError, match="the original is already generalised"):
        PseudoRecords(clusters=2).protect(generalised, seed=1)


def test_too_many_clusters_and_items_for_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.methods.pseudo_records._MOST_CELLS", 20)
    with pytest.raises(ParameterError, match=r"3 clusters of .* items are too many to search at once"):
        PseudoRecords(clusters=3).protect(some_history(8, 1), seed=1)


# --- same seed, same bytes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_same_seed_same_bytes(variant: str, tmp_path: Path) -> None:
    original = some_history(25, 5)
    method = PseudoRecords(clusters=8, variant=variant, effort="quick")
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        method.protect(original, seed=seed).save(tmp_path / folder, official=True)
    names = [path.relative_to(tmp_path / "one") for path in sorted((tmp_path / "one").rglob("*")) if path.is_file()]
    assert len(names) == 8
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)
    assert (tmp_path / "one/public.csv").read_bytes() != (tmp_path / "other/public.csv").read_bytes()


@pytest.mark.slow
def test_the_number_of_threads_decides_nothing() -> None:
    script = (
        "from noren.api import protect, sample\n"
        "original = sample(customers=60, rows=1500, items=120, seed=2, schema='pwscup2018')\n"
        "for variant in ('repaired', 'balanced'):\n"
        "    print(protect(original, 'pseudo-records', clusters=15, variant=variant, seed=2).public.digest())\n"
    )
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    said = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | dict.fromkeys(names, threads),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "3")
    ]
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 2


def test_an_interruption_keeps_the_best_so_far() -> None:
    original = some_history(60, 6)
    reports: list[tuple[float, float | None]] = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        reports.append((done, best))
        if best is not None and sum(added is not None for _done, added in reports) == 2:
            raise KeyboardInterrupt

    release = PseudoRecords(clusters=15).protect(original, seed=6, progress=progress)
    assert release.statement.notes["stopped"] is True
    assert_promise(original, release, 15, 2)
    assert [done for done, _added in reports] == sorted(done for done, _added in reports)
    assert [added for _done, added in reports if added is not None][-1] == release.inserted_rows


# --- Table 2 ---------------------------------------------------------------------------------------------------------

TABLE_2 = {50: (8, 125_798), 75: (4, 91_946), 100: (4, 59_374), 125: (3, 46_101)}
BARS = {50: 107_000, 75: 70_000, 100: 53_500, 125: 38_000}


@pytest.fixture(scope="module")
def contest(shared: Path) -> History:
    data = read(shared / "data" / "pwscup2016_T.csv", "pwscup2016").data
    assert isinstance(data, History)
    return data


@pytest.fixture(scope="module")
def contest_sets(contest: History) -> tuple[ItemSets, int]:
    codes, customers = people(contest.frame["customer"])
    item = contest.frame["item"].rank("dense").cast(pl.Int64).to_numpy() - 1
    items = int(item.max()) + 1
    assert (len(customers), items) == (400, 2781)
    return item_sets(codes, item, 400, items), items


@pytest.mark.parametrize("clusters", TABLE_2)
def test_filled_up_clusters_add_what_the_paper_says(clusters: int, contest_sets: tuple[ItemSets, int]) -> None:
    sets, items = contest_sets
    least, printed = TABLE_2[clusters]
    rows = unit_rows(tf_idf(sets, items))
    added = []
    for seed in range(5):
        generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
        cluster = cosine_clusters(rows, clusters, generator)
        added.append(added_records(sets, filled_up(rows, cluster, least)))
    assert np.mean(added) == pytest.approx(printed, rel=0.08)


@pytest.mark.parametrize("clusters", BARS)
def test_balanced_clusters_add_far_less(clusters: int, contest_sets: tuple[ItemSets, int]) -> None:
    sets, items = contest_sets
    found = union_clusters(sets, items, clusters, 2, steps=STEPS["quick"], seed=1)
    assert np.bincount(found.cluster, minlength=clusters).min() >= 2
    assert found.added == added_records(sets, found.cluster) < 0.85 * BARS[clusters]


@pytest.mark.parametrize(("variant", "clusters"), [("clusters", 50), ("repaired", 75), ("balanced", 125)])
def test_re_identification_by_jaccard_is_clusters_over_customers(variant: str, clusters: int, contest: History) -> None:
    release = PseudoRecords(clusters=clusters, variant=variant, effort="quick").protect(contest, seed=1)
    assert release.inserted_rows == release.statement.notes["added_rows"]
    measured = reid(contest.frame, release)
    assert clusters / 400 - 0.005 <= measured <= clusters / 400
