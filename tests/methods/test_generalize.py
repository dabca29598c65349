"""Generalize: the optimum for pairs, its promise on any history, and what the statement says is what is measured."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import rustworkx
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.arrays import people
from noren.data.cells import contains
from noren.data.checks import check_release
from noren.data.contest_files import write_rows
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.judgement.judging import judge
from noren.judgement.outcome import run_outcome
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import get_rule
from noren.kernels.sharing.alignment import customer_features
from noren.measures.safety.classes import audit
from noren.measures.safety.survival import Survival
from noren.measures.utility.cell_error import CellError
from noren.methods import generalize as module
from noren.methods import methods
from noren.methods.generalize import Generalize
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.shared_values import measured_values
from noren.progress import silent
from noren.protocols import Evidence

SCHEMA = Schema.preset("pwscup2018")


def value(original: History, release: Release) -> float:
    return CellError().measure(Evidence(original, release)).value


def of_rows(rows: list[tuple[Any, ...]], schema: Schema = SCHEMA) -> History:
    return History.of(dict(zip(schema.names, map(list, zip(*rows, strict=True)), strict=True)), schema)


def some_history(people: int, seed: int) -> History:
    generator = np.random.default_rng(seed)
    counts = generator.geometric(0.12, people)
    total = int(counts.sum())
    return of_rows(
        list(
            zip(
                [f"c{u}" for u in np.repeat(np.arange(people), counts)],
                [f"2011/{1 + d // 28}/{1 + d % 28}" for d in generator.integers(0, 300, total)],
                [f"i{i}" for i in generator.integers(0, 15, total)],
                np.round(generator.exponential(3.0, total) + 0.01, 2).tolist(),
                generator.integers(1, 20, total).tolist(),
                strict=True,
            )
        )
    )


def assert_shared(original: History, release: Release, k: int) -> None:
    """Each public history is that of at least k pseudonyms, and every cell holds its true value."""
    public = release.public.frame
    histories = Counter(
        tuple(sorted(lines))
        for lines in release.public.texts()
        .with_columns(pl.concat_str(pl.exclude("customer"), separator=",").alias("line"))
        .group_by("customer")
        .agg("line")["line"]
        .to_list()
    )
    assert all(count >= k for count in histories.values())
    rows = release.secret.origin
    for column in original.measured():
        truth = original.frame[column.name].gather(rows)
        held = contains(public[column.name], truth) | truth.is_null()
        assert held.all(), column.name


# --- the optimum for pairs -------------------------------------------------------------------------------------------


def test_rows_meet_across_the_order_of_prices() -> None:
    original = of_rows(
        [
            ("a", "2011/1/1", "x", 9.0, 1),
            ("a", "2011/1/2", "y", 2.0, 1),
            ("b", "2011/1/1", "x", 7.0, 1),
            ("b", "2011/1/2", "y", 8.0, 1),
        ]
    )
    release = Generalize(k=2).protect(original, seed=1)
    # prices: |9-7| and |2-8| over their deviation, sqrt(7.25), the second cut at 2
    expected = (2 + min(6, 2 * 7.25**0.5)) / 7.25**0.5 / 16
    assert release.statement.notes["U"] == pytest.approx(expected, abs=1e-12)
    assert release.statement.notes["lower_bound"] == pytest.approx(expected, abs=1e-9)
    assert release.statement.notes["proved_optimal"] is True
    assert value(original, release) == pytest.approx(expected, abs=1e-12)


def test_pairs_of_the_final_data_are_optimal(shared: Path) -> None:
    whole = read(shared / "data" / "pwscup2018_final_T.csv", "pwscup2018").data
    assert isinstance(whole, History)
    some = whole.customers[-200:]  # those who came last have short histories
    original = History(whole.frame.filter(pl.col("customer").is_in(some.implode())), whole.schema)
    method = Generalize(k=2)
    release = method.protect(original, seed=1)
    notes = release.statement.notes
    assert notes["proved_optimal"] is True
    assert notes["gap"] <= 1e-9
    assert value(original, release) == pytest.approx(notes["U"], abs=1e-12)
    assert_shared(original, release, 2)

    from noren.engines.blocks import map_blocks
    from noren.kernels.sharing.pairing import PairTable, pair_tariff

    laid = method._rows_to_search(original, measured_values(original, None)[0], people(original.frame["customer"])[0])
    table = PairTable(laid.rows, pair_tariff(2, suppress=True), map_blocks)
    pairs = np.argwhere(np.triu(np.ones_like(table.bound, dtype=bool), 1))
    assert table.ask(pairs, np.full(len(pairs), 1e200)).all()
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(200))
    costs = np.rint(table.bound[pairs[:, 0], pairs[:, 1]] * 1e6).astype(int)
    graph.add_edges_from([(u, v, c) for (u, v), c in zip(pairs.tolist(), costs.tolist(), strict=True)])
    best = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=lambda c: 10**11 - c)
    total = sum(float(table.bound[u, v]) for u, v in best)
    assert total / (4 * len(original)) == pytest.approx(notes["U"], abs=1e-8)


def test_the_official_checker_accepts_it(shared: Path, tmp_path: Path) -> None:
    whole = read(shared / "data" / "pwscup2018_preliminary_T.csv", "pwscup2018").data
    assert isinstance(whole, History)
    original = History(whole.frame.filter(pl.col("customer").is_in(whole.customers[-60:].implode())), whole.schema)
    write_rows(original, tmp_path / "T.csv")
    for k in (2, 4):
        aligned = Generalize(k=k, effort="quick").protect(original, seed=1).aligned()
        assert isinstance(aligned, History)
        write_rows(aligned, tmp_path / "A.csv")
        report = check_release("pwscup2018", tmp_path / "T.csv", tmp_path / "A.csv")
        assert report.valid, report


# --- the promise -----------------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdefg"),
        st.integers(1, 28).map(lambda d: f"2011/3/{d}"),
        st.sampled_from("uvwxyz"),
        st.integers(1, 9).map(float),
        st.integers(1, 5),
    ),
    min_size=2,
    max_size=40,
).filter(lambda rows: len({r[0] for r in rows}) > 1)


@examples(40)
@given(ROWS, st.integers(2, 7), st.booleans())
def test_any_history_is_shared_by_k_at_the_stated_error(rows: list[Any], k: int, suppress: bool) -> None:
    original = of_rows(rows)
    k = min(k, len(original.customers))
    release = Generalize(k=k, effort="quick", suppress_cells=suppress, lower_bound="exact").protect(original, seed=3)
    assert_shared(original, release, k)
    notes = release.statement.notes
    assert value(original, release) == pytest.approx(notes["U"], abs=1e-9)
    assert 0 <= notes["lower_bound"] <= notes["U"] + 1e-9
    by_count = GeneralizeByCount(k=k, suppress_cells=suppress).protect(original, seed=3)
    if k == 2 and len(original.customers) % 2 == 0:
        assert notes["proved_optimal"]
        assert notes["U"] <= value(original, by_count) + 1e-9


@examples(25)
@given(ROWS, st.data())
def test_missing_values_cost_what_is_measured(rows: list[Any], data: st.DataObject) -> None:
    original = of_rows(rows)
    frame = original.frame
    for name in ("date", "item", "price", "quantity", "customer"):
        gone = data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame)), label=name)
        hide = pl.Series(gone) & (pl.Series(range(len(frame))) % (7 if name == "customer" else 2) == 1)
        frame = frame.with_columns(frame[name].set(hide, None))
    original = History(frame, SCHEMA)
    if len(original.customers) < 2:
        return
    for k, suppress_cells in ((2, True), (2, False), (3, True), (3, False)):
        if k > len(original.customers):
            continue
        method = Generalize(k=k, effort="quick", suppress_cells=suppress_cells, lower_bound="exact")
        release = method.protect(original, seed=3)
        assert_shared(original, release, k)
        notes = release.statement.notes
        assert value(original, release) == pytest.approx(notes["U"], abs=1e-9)
        assert notes["lower_bound"] <= notes["U"] + 1e-9
        audit(original, release)


def test_it_beats_groups_by_count() -> None:
    original = some_history(90, 1)
    for k in (2, 3, 5, 8):
        ours = Generalize(k=k, effort="quick", lower_bound="exact").protect(original, seed=1)
        assert_shared(original, ours, k)
        theirs = GeneralizeByCount(k=k, suppress_cells=True).protect(original, seed=1)
        assert value(original, ours) < 0.9 * value(original, theirs)
        assert ours.statement.notes["lower_bound"] > 0.6 * value(original, ours)


def test_the_same_seed_gives_the_same_bytes() -> None:
    original = some_history(40, 2)
    one, two = (Generalize(k=3, effort="quick").protect(original, seed=5) for _ in range(2))
    other = Generalize(k=3, effort="quick").protect(original, seed=6)
    assert one.public.lines().to_list() == two.public.lines().to_list()
    assert one.statement == two.statement
    assert one.public.lines().to_list() != other.public.lines().to_list()


def test_blocks() -> None:
    original = some_history(90, 3)
    whole = Generalize(k=3, effort="quick").protect(original, seed=1)
    cut = Generalize(k=3, effort="quick", block=30).protect(original, seed=1)
    assert cut.statement.notes["blocks"] == 3
    assert "lower_bound" not in cut.statement.notes
    assert_shared(original, cut, 3)
    assert value(original, cut) == pytest.approx(cut.statement.notes["U"], abs=1e-9)
    assert 0.98 * value(original, whole) < value(original, cut) < 1.2 * value(original, whole)


def test_many_customers_are_cut_into_blocks_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WHOLE_UP_TO", 40)
    release = Generalize(k=2).protect(some_history(61, 4), seed=1)
    assert release.statement.notes["blocks"] == 3  # 61 of 26 at a time


def test_the_lower_bound_is_asked_for_and_changes_nothing() -> None:
    original = some_history(40, 2)
    plain = Generalize(k=3, effort="quick").protect(original, seed=5)
    bounded = Generalize(k=3, effort="quick", lower_bound="exact").protect(original, seed=5)
    assert plain.public.digest() == bounded.public.digest()
    assert not {"lower_bound", "gap", "lower_bound_any"} & set(plain.statement.notes)
    assert "lower_bound" not in plain.statement.parameters
    notes = bounded.statement.notes
    assert 0 < notes["lower_bound"] < notes["U"] == plain.statement.notes["U"]
    assert notes["gap"] == pytest.approx(notes["U"] - notes["lower_bound"], abs=1e-12)
    one_block = Generalize(k=3, effort="quick", lower_bound="estimate").protect(original, seed=5).statement.notes
    assert one_block["lower_bound"] == notes["lower_bound"]  # there is nothing to estimate


def test_a_bound_over_blocks_is_that_of_all_or_estimated_from_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAMPLED", 4)
    covered = []
    for seed in range(4):
        original = some_history(84, seed)
        notes = {
            asked: Generalize(k=3, effort="quick", block=12, lower_bound=asked)
            .protect(original, seed=seed)
            .statement.notes
            for asked in ("exact", "estimate")
        }
        every, some = notes["exact"], notes["estimate"]
        assert (every["blocks"], every["lower_bound_blocks"], some["lower_bound_blocks"]) == (7, 7, 4)
        assert not {"lower_bound", "gap"} & (set(every) | set(some))  # groups across blocks could cost less
        assert "lower_bound_interval" not in every
        low, high = some["lower_bound_interval"]
        assert low < some["lower_bound_within_blocks"] < high
        assert 0.5 * every["U"] < every["lower_bound_within_blocks"] < every["U"]
        covered.append(low <= every["lower_bound_within_blocks"] <= high)
    assert sum(covered) >= 3


def test_a_block_alone_gives_the_groups_that_the_whole_gives() -> None:
    """What another engine relies on: units of the whole, rows of a block, its number and the seed."""
    original = some_history(60, 9)
    method = Generalize(k=3, effort="quick", block=20)
    laid = method._rows_to_search(original, measured_values(original, None)[0], people(original.frame["customer"])[0])
    search = method._searched(laid, 4, silent)
    blocks = method.blocks(customer_features(laid.rows))
    assert [block.tolist() for block in blocks] == [block.tolist() for block in search.blocks]
    assert len(blocks) == 3
    for at in (2, 0):  # in any order, on any number of threads
        alone = method.search_block(laid.rows.of(blocks[at]), at, 4, spread=map)
        there = search.groups[at][0]
        assert [g.table.tolist() for g in alone.groups] == [g.table.tolist() for g in there.groups]
        assert alone.cost == there.cost


def test_pairs_of_an_odd_number_of_customers_are_the_same_every_time() -> None:
    original = some_history(45, 8)
    assert len({Generalize(k=2).protect(original, seed=3).public.digest() for _ in range(5)}) == 1


# --- customers deleted whole ------------------------------------------------------------------------------------------


def test_a_customer_deleted_whole_is_named_by_nothing(tmp_path: Path) -> None:
    """Two with ten equal rows and one with one row: a pair, and four cells of 84 are lost."""
    original = of_rows([(who, "2011/1/1", "x", 1.0, 2) for who in "a" * 10 + "b" * 10 + "c"])
    release = Generalize(k=2).protect(original, seed=1)
    notes = release.statement.notes
    assert value(original, release) == pytest.approx(4 / 84, abs=1e-12)
    assert notes["U"] == pytest.approx(4 / 84, abs=1e-12)
    assert notes["lower_bound"] <= notes["U"] + 1e-12
    assert notes["deleted_customers"] == 1
    assert release.deleted_rows == 1
    # nothing public, nor the truth of a guess, speaks of c: the class of the deleted is no class
    assert sorted(release.secret.pseudonyms["customer"].to_list()) == ["a", "b"]
    assert release_facts(release).smallest_class == 2
    audit(original, release)
    outcome = run_outcome(original, "generalize", k=2, seed=1, attacks=["jaccard", "consistency"], measures=[])
    assert not outcome.failed
    assert outcome.guesses
    assert all(guess.pairs["pseudonym"].n_unique() <= 2 for guess in outcome.guesses.values())
    assert judge(outcome, get_rule("inside")).facts.smallest_class == 2
    write_rows(original, tmp_path / "T.csv")
    aligned = release.aligned()
    assert isinstance(aligned, History)
    write_rows(aligned, tmp_path / "A.csv")
    assert check_release("pwscup2018", tmp_path / "T.csv", tmp_path / "A.csv").valid


# --- effort ----------------------------------------------------------------------------------------------------------


def test_seconds_by_the_clock() -> None:
    original = some_history(40, 5)
    release = Generalize(k=3, effort=0.5).protect(original, seed=1)
    assert_shared(original, release, 3)
    assert release.statement.notes["by_the_clock"] is True


def test_progress_tells_the_current_error_and_an_interruption_keeps_the_best() -> None:
    original = some_history(40, 6)
    said: list[tuple[float, str]] = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        said.append((done, words))
        if words.startswith("U = ") and sum(w.startswith("U = ") for _d, w in said) == 4:
            raise KeyboardInterrupt

    release = Generalize(k=3).protect(original, seed=1, progress=progress)
    assert release.statement.notes["stopped"] is True
    assert_shared(original, release, 3)
    assert [done for done, _w in said] == sorted(done for done, _w in said)
    last = [w for _d, w in said if w.startswith("U = ")][-1]
    assert float(last.removeprefix("U = ")) == pytest.approx(release.statement.notes["U"], abs=1e-4)


# --- bad and odd input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 1}, "k = 1 is out of range; use k >= 2"),
        ({"k": 2, "effort": 0.0}, "effort = 0.0 is out of range; use effort > 0"),
        ({"k": 2, "effort": "endless"}, "effort"),
        ({"k": 2, "block": 1}, "block = 1 is out of range; use block >= 2"),
        ({"survival": 0.9, "min_class": 1}, "min_class = 1 is out of range; use min_class >= 2"),
        ({"survival": 0.9, "lower_bound": "exact"}, "no lower bound with survival"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        methods.create("generalize", **parameters)


def test_more_than_the_customers_there_are() -> None:
    with pytest.raises(ParameterError, match="k = 5 needs at least 5 customers, but there are 3"):
        Generalize(k=5).protect(some_history(3, 1), seed=1)


def test_a_seed_out_of_range() -> None:
    with pytest.raises(ParameterError, match="seed = -1 is out of range; use 0 <= seed"):
        Generalize(k=2).protect(some_history(4, 1), seed=-1)


def test_equal_rows_of_one_item_cost_nothing() -> None:
    original = of_rows([(c, "2011/1/1", "x", 1.0, 2) for c in "aabbccddee"])
    for k in (2, 3, 5):
        release = Generalize(k=k).protect(original, seed=1)
        assert release.statement.notes["U"] == 0.0
        assert release.deleted_rows == 0
        assert release.statement.notes["proved_optimal"] is True


def test_constant_columns() -> None:
    original = of_rows(
        [(c, "2011/1/1", "x", 1.0, q) for c, q in zip("aabbccdd", [1, 9, 1, 8, 5, 5, 6, 5], strict=True)]
    )
    release = Generalize(k=2).protect(original, seed=1)
    sd = float(np.std([1, 9, 1, 8, 5, 5, 6, 5]))
    assert release.statement.notes["U"] == pytest.approx(2 / sd / 32, abs=1e-12)


def test_a_very_long_history_beside_short_ones() -> None:
    rows = [("long", "2011/1/1", f"i{i % 50}", 1.0 + i % 7, 1) for i in range(100_000)]
    rows += [(f"short{u}", "2011/1/2", "i1", 2.0, 1) for u in range(5)]
    original = of_rows(rows)
    release = Generalize(k=2).protect(original, seed=1)
    assert release.deleted_rows == 99_999
    assert release.statement.notes["proved_optimal"] is True


def test_two_histories_too_long_for_each_other() -> None:
    rows = [(c, "2011/1/1", "x", 1.0, 1) for c in "ab" for _ in range(13_000)]
    with pytest.raises(ParameterError, match="13,000 and 13,000 rows, too many"):
        Generalize(k=2).protect(of_rows(rows), seed=1)


def test_a_schema_with_names_where_numbers_should_be() -> None:
    schema = Schema.model_validate(
        {"columns": {"who": {"role": "customer"}, "day": {"role": "date", "type": "text"}, "what": {"role": "item"}}}
    )
    with pytest.raises(SchemaError, match="one column of names"):
        Generalize(k=2).protect(of_rows([("a", "x", "y"), ("b", "x", "y")], schema), seed=1)


def test_other_columns_are_suppressed_and_price_may_be_absent() -> None:
    schema = Schema.model_validate(
        {
            "columns": {
                "who": {"role": "customer"},
                "day": {"role": "date"},
                "what": {"role": "item"},
                "where": {"role": "other"},
            }
        }
    )
    rows = [("a", "2011-01-01", "x", "Kobe"), ("b", "2011-01-03", "y", "Nara")]
    original = of_rows(rows, schema)
    release = Generalize(k=2).protect(original, seed=1)
    assert release.statement.notes["suppressed_columns"] == ["where"]
    # two days apart at a deviation of 1: 2, which is no more than the ceiling; different items 1
    assert release.statement.notes["U"] == pytest.approx(3 / 4, abs=1e-12)
    assert value(original, release) == pytest.approx(3 / 4, abs=1e-12)


def test_rows_of_one_category_are_alike(tmp_path: Path) -> None:
    original = of_rows(
        [(who, "2011/1/1", what, 1.0, 1) for who, what in (("a", "x1"), ("b", "x2"), ("c", "x1"), ("d", "y"))]
    )
    shelves = tmp_path / "shelves.csv"
    shelves.write_text("item,category\nx1,x\nx2,x\ny,y\n")
    release = Generalize(k=2, categories=shelves).protect(original, seed=1)
    assert sorted(release.aligned().texts()["item"].to_list()) == ["x", "x", "{x;y}", "{x;y}"]
    assert release.statement.notes["categories"] == {"x": ["x1", "x2"], "y": ["y"]}
    assert release.statement.parameters["categories"] == "shelves.csv"
    assert value(original, release) == release.statement.notes["U"] == pytest.approx(1 / 16)


# --- mixed class sizes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("survival", "min_class"), [(0.9, 2), (0.9, 3), (0.5, 2), (0.99, 2)])
def test_classes_as_small_as_survival_allows(survival: float, min_class: int) -> None:
    original = some_history(60, 3)
    release = Generalize(survival=survival, min_class=min_class, effort="quick").protect(original, seed=1)
    assert_shared(original, release, min_class)
    score = Survival(bound="sharp").measure(Evidence(original, release))
    assert score.value >= survival
    assert score.value == pytest.approx(release.statement.notes["survival"], abs=1e-12)
    assert score.notes["classes"] == release.statement.notes["classes"]
    assert value(original, release) == pytest.approx(release.statement.notes["U"], abs=1e-12)
    smaller = min(score.notes["classes"], key=int)
    usual = max(score.notes["classes"], key=lambda size: score.notes["classes"][size])
    # a class more of the usual size less one would be one too many for a larger k
    assert int(smaller) >= min_class
    uniform = Generalize(k=int(usual), effort="quick").protect(original, seed=1)
    assert release.statement.notes["U"] <= uniform.statement.notes["U"] + 0.02


def test_the_longest_histories_are_in_the_smallest_classes() -> None:
    original = some_history(60, 5)
    release = Generalize(survival=0.9, effort="quick").protect(original, seed=1)
    of = dict(release.secret.pseudonyms.select("pseudonym", "customer").iter_rows())
    rows = Counter(original.frame["customer"].to_list())
    public = release.public.frame
    histories: dict[str, list[str]] = {}
    for pseudonym in public["customer"].unique():
        mine = str(sorted(public.filter(pl.col("customer") == pseudonym).drop("customer").rows(), key=str))
        histories.setdefault(mine, []).append(of[pseudonym])
    sizes = {who: len(members) for members in histories.values() for who in members}
    small, large = min(sizes.values()), max(sizes.values())
    assert small < large
    mean = {s: float(np.mean([rows[w] for w in sizes if sizes[w] == s])) for s in (small, large)}
    assert mean[small] > mean[large]


def test_survival_that_no_classes_give() -> None:
    with pytest.raises(ParameterError, match="no class sizes"):
        Generalize(survival=0.999999).protect(some_history(8, 1), seed=1)
