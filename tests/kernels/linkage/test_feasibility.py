"""Candidates against trying every assignment of rows, and one-to-one candidates against listing every assignment."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_bipartite_matching

from noren.kernels.linkage.feasibility import (
    Candidates,
    KnownRows,
    PublicRows,
    assignable,
    candidates,
    one_to_one_counts,
)

ITEMS = 3
Cell = tuple[float, float] | None
Row = tuple[list[int] | None, Cell]


def known_of(customers: list[list[tuple[int, float]]]) -> KnownRows:
    values = [(float(item), x) for rows in customers for item, x in rows]
    who = [at for at, rows in enumerate(customers) for _ in rows]
    return KnownRows.of(np.array(values).reshape(-1, 2), np.array(who, dtype=np.int64), len(customers), ITEMS)


def public_of(pseudonyms: list[list[Row]], known: KnownRows) -> PublicRows:
    rows = [row for rows in pseudonyms for row in rows]
    lo, hi = np.full((len(rows), 2), -np.inf), np.full((len(rows), 2), np.inf)
    first, stop = np.zeros((len(rows), 2), dtype=np.int64), np.zeros((len(rows), 2), dtype=np.int64)
    members: list[float] = []
    for at, (items, cell) in enumerate(rows):
        first[at, 0] = len(members)
        if items is not None:
            members += sorted(map(float, items))
            lo[at, 0], hi[at, 0] = (min(items), max(items)) if items else (np.inf, -np.inf)
        stop[at, 0] = len(members)
        if cell is not None:
            lo[at, 1], hi[at, 1] = cell
    who = np.array([at for at, rows in enumerate(pseudonyms) for _ in rows], dtype=np.int64)
    return PublicRows.of(lo, hi, first, stop, np.array(members), who, len(pseudonyms), known)


def fits(row: Row, known: tuple[int, float]) -> bool:
    items, cell = row
    return (items is None or known[0] in items) and (cell is None or cell[0] <= known[1] <= cell[1])


def possible(rows: list[Row], known: list[tuple[int, float]]) -> bool:
    return any(
        all(fits(row, chosen) for row, chosen in zip(rows, some, strict=True))
        for some in itertools.permutations(known, len(rows))
    )


KNOWN = st.lists(
    st.lists(st.tuples(st.integers(0, ITEMS - 1), st.integers(0, 4).map(float)), max_size=4), min_size=1, max_size=4
)
CELL = st.one_of(
    st.none(), st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda ends: (float(min(ends)), float(max(ends))))
)
ITEM_SET = st.one_of(st.none(), st.lists(st.integers(0, ITEMS - 1), max_size=ITEMS, unique=True))
PUBLIC = st.lists(st.lists(st.tuples(ITEM_SET, CELL), min_size=1, max_size=4), max_size=4)


@given(customers=KNOWN, pseudonyms=PUBLIC)
def test_against_trying_everything(customers: list[list[tuple[int, float]]], pseudonyms: list[list[Row]]) -> None:
    known = known_of(customers)
    found = candidates(known, public_of(pseudonyms, known))
    expected = [[who for who, rows in enumerate(customers) if possible(said, rows)] for said in pseudonyms]
    assert [found.customer[a:b].tolist() for a, b in itertools.pairwise(found.first)] == expected
    assert found.counts.tolist() == list(map(len, expected))


def test_rows_must_move_along_a_path_to_make_room() -> None:
    # the first free row is taken first: [0;9] takes 0, [0;5] takes 4, and [0;0] needs both to move on
    known = known_of([[(0, 0.0), (0, 4.0), (0, 7.0)], [(0, 0.0), (0, 7.0), (0, 8.0)]])
    public = public_of([[([0], (0.0, 8.0)), ([0], (0.0, 5.0)), ([0], (0.0, 0.0))]], known)
    assert candidates(known, public).customer.tolist() == [0]


def test_a_missing_value_fits_a_suppressed_cell_alone() -> None:
    known = KnownRows.of(np.array([[np.nan, 1.0], [0.0, np.nan]]), np.array([0, 1]), 2, 1)
    public = public_of([[(None, (1.0, 1.0))], [([0], None)], [(None, None)], [([0], (1.0, 1.0))]], known)
    assert candidates(known, public).counts.tolist() == [1, 1, 2, 0]


def test_long_histories() -> None:
    # 3,000 rows of one item and one value each: every permutation fits, and one row more does not
    many = 3000
    values = np.column_stack([np.zeros(2 * many - 1), np.ones(2 * many - 1)])
    who = np.repeat([0, 1], [many, many - 1])
    known = KnownRows.of(values, who, 2, 1)
    public = public_of([[([0], (0.0, 1.0))] * many, [([0], (0.0, 1.0))] * (many - 1)], known)
    assert candidates(known, public).counts.tolist() == [1, 2]


def test_rows_that_an_item_does_not_tell_apart_are_sorted_by_value() -> None:
    draw = np.random.default_rng(1)
    customers = [[(0, float(x)) for x in draw.integers(0, 50, draw.integers(1, 4))] for _ in range(40)]
    lows = draw.integers(0, 50, (200, 2))
    pseudonyms: list[list[Row]] = [[([0], (float(x), float(x + 3))) for x in pair] for pair in lows]
    known = known_of(customers)
    found = candidates(known, public_of(pseudonyms, known))
    assert known.by_column[2] == {0, 1}
    expected = [[who for who, rows in enumerate(customers) if possible(said, rows)] for said in pseudonyms]
    assert listed(found) == expected


def graph(edges: list[list[int]], customers: int) -> Candidates:
    first = np.concatenate(([0], np.cumsum([len(one) for one in edges]))).astype(np.int64)
    return Candidates(first, np.array([c for one in edges for c in one], dtype=np.int64), customers)


def listed(found: Candidates) -> list[list[int]]:
    return [found.customer[a:b].tolist() for a, b in itertools.pairwise(found.first)]


def by_scipy(found: Candidates) -> list[list[int]]:
    """The candidates that are left, where an assignment exists, by other algorithms than the kernels'."""
    count = len(found.counts)
    pairs = csr_array((np.ones(len(found.customer)), found.customer, found.first), shape=(count, found.customers))
    owner = np.full(found.customers, -1)
    owner[maximum_bipartite_matching(pairs, perm_type="column")] = np.arange(count)
    taker, displaced = found.pseudonym, owner[found.customer]
    held = displaced >= 0
    moves = csr_array((np.ones(held.sum()), (taker[held], displaced[held])), shape=(count + 1, count + 1))
    part = connected_components(moves, directed=True, connection="strong")[1]
    # from the node `count`, which stands for the free customers, backwards to all who may end there
    ends = np.unique(taker[~held])
    back = moves.T + csr_array((np.ones(len(ends)), (np.full(len(ends), count), ends)), shape=moves.shape)
    may_leave = np.zeros(count + 1, dtype=bool)
    may_leave[breadth_first_order(csr_array(back), count, directed=True, return_predecessors=False)] = True
    keep = ~held | (part[taker] == part[displaced]) | may_leave[displaced]
    return [found.customer[a:b][keep[a:b]].tolist() for a, b in itertools.pairwise(found.first)]


EDGES = st.integers(1, 5).flatmap(
    lambda customers: st.tuples(
        st.lists(st.lists(st.integers(0, customers - 1), unique=True).map(sorted), min_size=1, max_size=4),
        st.just(customers),
    )
)


@given(EDGES)
def test_one_to_one_against_listing(drawn: tuple[list[list[int]], int]) -> None:
    edges, customers = drawn
    ways = [way for way in itertools.product(*edges) if len(set(way)) == len(way)]
    kept = assignable(graph(edges, customers))
    if not ways:
        assert kept is None
    else:
        assert kept is not None
        assert listed(kept) == [sorted({way[at] for way in ways}) for at in range(len(edges))]


def test_candidates_of_some_pseudonyms_in_another_order() -> None:
    found = graph([[0, 2], [], [1]], 3)
    assert listed(found.take(np.array([2, 0, 0, 1]))) == [[1], [0, 2], [0, 2], []]


@pytest.mark.parametrize("empty", [[], [[]]])
def test_nobody(empty: list[list[Any]]) -> None:
    kept = assignable(graph(empty, 2))
    assert (kept is None) == bool(empty)


@given(EDGES, st.data())
def test_one_to_one_by_histories_against_pseudonym_by_pseudonym(
    drawn: tuple[list[list[int]], int], data: st.DataObject
) -> None:
    edges, customers = drawn
    sharing = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(edges), max_size=len(edges))))
    found = graph(edges, customers)
    kept = assignable(found.take(np.repeat(np.arange(len(edges)), sharing)))
    counts = one_to_one_counts(found, sharing)
    if kept is None:
        assert counts is None
    else:
        assert counts is not None
        assert np.repeat(counts, sharing).tolist() == kept.counts.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_one_to_one_by_histories_on_larger_graphs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    histories, customers = 40, 100
    sharing = generator.integers(1, 4, histories)
    # a hidden assignment, so that there is one, and few others: long ways must be found to it
    hidden = np.split(generator.permutation(customers)[: sharing.sum()], np.cumsum(sharing)[:-1])
    edges = [sorted({*own.tolist(), *generator.integers(0, customers, 2).tolist()}) for own in hidden]
    found = graph(edges, customers)
    every = found.take(np.repeat(np.arange(histories), sharing))
    kept = assignable(every)
    counts = one_to_one_counts(found, sharing)
    assert kept is not None
    assert counts is not None
    assert listed(kept) == by_scipy(every)
    assert np.repeat(counts, sharing).tolist() == kept.counts.tolist()


@given(customers=KNOWN, pseudonyms=PUBLIC, enough=st.integers(1, 3))
def test_enough_are_some_of_all(
    customers: list[list[tuple[int, float]]], pseudonyms: list[list[Row]], enough: int
) -> None:
    known = known_of(customers)
    public = public_of(pseudonyms, known)
    every, some = candidates(known, public), candidates(known, public, enough)
    assert some.counts.tolist() == np.minimum(every.counts, enough).tolist()
    assert all(set(one) <= set(of) for one, of in zip(listed(some), listed(every), strict=True))
