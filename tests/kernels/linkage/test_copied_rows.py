"""Evidence and learning against plain loops; what is usual against counting."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.linkage.copied_examples import PEOPLE, REACH, case, fit

from noren.kernels.linkage.copied_rows import Copies, evidence, learn
from noren.kernels.linkage.row_layout import KnownLayout, PublicLayout, background, falling

seeds = st.integers(0, 10_000)


@given(seeds, st.booleans())
def test_evidence_is_the_formula(seed: int, others: bool) -> None:
    sides = case(seed)
    found = evidence(sides.known, sides.public, sides.beside, sides.copies, limit=99, other_periods=others)
    odds = sides.copies.share / (1 - sides.copies.share)
    listed = {(u, i): halves for u, i, halves in zip(found.pseudonym, found.person, found.halves, strict=True)}
    for u in range(len(sides.public.first) - 1):
        for i in range(PEOPLE):
            halves = [0.0, 0.0]
            for r in range(sides.public.first[u], sides.public.first[u + 1]):
                halves[sides.public.half[r]] += math.log1p(odds * fit(sides, r, i, others=others))
            assert listed.get((u, i), np.zeros(2)) == pytest.approx(halves)


@given(seeds)
def test_a_shortlist_keeps_the_likeliest(seed: int) -> None:
    sides = case(seed)
    every = evidence(sides.known, sides.public, sides.beside, sides.copies, limit=99)
    few = evidence(sides.known, sides.public, sides.beside, sides.copies, limit=2)
    for u in range(len(every.first) - 1):
        whole = every.halves[every.first[u] : every.first[u + 1]].sum(axis=1)
        kept = few.halves[few.first[u] : few.first[u + 1]].sum(axis=1)
        assert sorted(kept) == pytest.approx(sorted(whole)[-2:])


@given(seeds, st.booleans(), st.integers(1, 12))
def test_of_long_lists_a_part_is_looked_at_and_whoever_is_found_is_weighed_in_full(
    seed: int, others: bool, longest: int
) -> None:
    sides = case(seed, known_rows=40)
    sides = replace(sides, copies=Copies(0.7, np.array([[0.97, 0.02, 0.01], [0.96, 0.04, 0.0]])))
    given_sides = sides.known, sides.public, sides.beside, sides.copies
    every, few = (evidence(*given_sides, limit=99, other_periods=others, longest=length) for length in (None, longest))
    whole = {(u, i): halves for u, i, halves in zip(every.pseudonym, every.person, every.halves, strict=True)}
    listed = {(u, i): halves for u, i, halves in zip(few.pseudonym, few.person, few.halves, strict=True)}
    assert listed.keys() <= whole.keys()
    for pair, halves in listed.items():
        assert halves == pytest.approx(whole[pair])
    # by plain loops: who has a row near one of those that fewest are near to, in the column in which fewest are
    public, known = sides.public, sides.known
    for u in range(len(public.first) - 1):
        size, near_rows = 0, []
        for r in range(public.first[u], public.first[u + 1]):
            inside = (public.begin[r] <= sides.period) & (sides.period <= public.end[r])
            parts = []
            for item in public.item[public.item_first[r] : public.item_first[r + 1]]:
                for period in range(2):
                    mine = np.flatnonzero((inside != others) & (sides.item == item) & (sides.period == period))
                    size += len(mine)
                    low, high, x = public.lo[r] - (0.0, 0.5), public.hi[r] + (0.0, 0.5), known.values[mine]
                    parts.append(mine[(min(((low <= x) & (x <= high)).T, key=np.sum))])
            near_rows.append(parts)
        if size <= longest:
            assert {i for v, i in listed if v == u} == {i for v, i in whole if v == u}
            continue
        spent, looked_at = 0, set[int]()
        for parts in sorted(near_rows, key=lambda parts: sum(min(len(part), longest) for part in parts)):
            spent += sum(min(len(part), longest) for part in parts)
            if spent > longest and looked_at & {i for v, i in whole if v == u}:
                break
            for part in parts:
                looked_at |= set(known.person[part].tolist())
                for i in known.person[part] if len(part) <= longest else []:
                    assert ((u, i) in listed) == ((u, i) in whole)
        assert {i for v, i in listed if v == u} <= looked_at


@given(seeds)
def test_short_lists_are_looked_at_as_a_whole(seed: int) -> None:
    sides = case(seed)
    given_sides = sides.known, sides.public, sides.beside, sides.copies
    plain, indexed = (evidence(*given_sides, limit=3, longest=longest) for longest in (None, 24))
    assert np.array_equal(plain.person, indexed.person)
    assert np.array_equal(plain.halves, indexed.halves)


@given(seeds, st.booleans())
def test_learning_counts_the_levels_of_copies(seed: int, others: bool) -> None:
    sides = case(seed)
    draw = np.random.Generator(np.random.PCG64(seed))
    units = len(sides.public.first) - 1
    person, trust = draw.integers(-1, PEOPLE, units), draw.uniform(0, 1, units)
    odds = sides.copies.share / (1 - sides.copies.share)
    copied = rows = 0.0
    for u in range(units):
        for r in range(sides.public.first[u], sides.public.first[u + 1]):
            periods = [p for p in range(2) if (sides.public.begin[r] <= p <= sides.public.end[r]) != others]
            mine = (sides.known.person == person[u]) & np.isin(sides.period, periods)
            if mine.any():
                rows += trust[u]
                chance = odds * fit(sides, r, int(person[u]), others=others)
                copied += trust[u] * chance / (1 + chance)
    learnt = learn(sides.known, sides.public, sides.beside, sides.copies, person, trust, other_periods=others)
    expected = (copied + sides.copies.share) / (rows + 1)
    assert learnt.share == pytest.approx(min(max(expected, 0.001), 0.999))
    assert learnt.chance.sum(axis=1) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("moved", [0.0, 1.0, 2.0])
def test_how_far_copies_move_is_learnt(moved: float) -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    rows, people = 400, 20
    item, person = draw.integers(0, 50, rows), np.sort(np.arange(rows) % people)
    values = draw.integers(0, 30, (rows, 1)).astype(float)
    known, order = KnownLayout.of(item, np.zeros(rows, np.int64), person, values, np.ones(rows), (50, 1, people))
    when, first = np.zeros(rows, np.int64), np.arange(people + 1) * (rows // people)
    shown = values + moved * draw.choice([-1, 1], (rows, 1))
    public = PublicLayout(first, when, when, shown, shown, np.arange(rows + 1), item, when)
    reach = np.array([[0.5, 1.5, 2.5, np.inf]])
    share = np.bincount(item, minlength=50)[item[order]] / rows
    beside = background(known, share, public, [(when, when)], reach)
    copies = Copies(0.5, np.full((1, 4), 0.25))
    for _round in range(4):
        copies = learn(known, public, beside, copies, np.arange(people), np.ones(people))
    assert copies.share > 0.9
    # a level is never less likely, against the usual, than one farther away: some of it goes to the nearer ones
    assert copies.chance[0, : int(moved) + 1].sum() > 0.85
    if moved:
        assert copies.chance[0, int(moved)] > 0.4


@given(seeds)
def test_usual_shares_are_counted(seed: int) -> None:
    sides = case(seed)
    for c in range(2):
        shares = sides.beside.share[sides.beside.place[:, c]]
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
        assert (shares[:, np.isfinite(REACH[c]) | (np.arange(3) == np.isfinite(REACH[c]).sum())] > 0).all()
    # of the second column the group is the period: shares are the counts, drawn three rows towards the mean of all
    known, public = sides.known, sides.public
    for s in range(len(known.person)):
        x = known.values[s, 1]
        rows = np.flatnonzero(public.begin == sides.period[s])
        if not math.isnan(x) and len(rows):
            near = sum(abs(public.lo[r, 1] - x) <= 0.5 for r in rows)
            share = sides.beside.share[sides.beside.place[s, 1], 0]
            assert near / (len(rows) + 3) <= share <= (near + 3) / (len(rows) + 3)


@given(st.lists(st.floats(0, 9), min_size=2, max_size=6), st.data())
def test_ratios_fall(chance: list[float], data: st.DataObject) -> None:
    usual = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=len(chance), max_size=len(chance))))
    ratio = falling(np.array(chance), usual) / usual
    assert (np.diff(ratio) <= 1e-9 * max(ratio[0], 1)).all()
    if sum(chance) > 1e-3:
        assert (ratio * usual).sum() == pytest.approx(1)
        already = np.array(sorted(chance, reverse=True)) * usual
        assert falling(already, usual) == pytest.approx(already / already.sum())


def test_nothing_to_compare() -> None:
    sides = case(1, known_rows=0)
    found = evidence(sides.known, sides.public, sides.beside, sides.copies, limit=5)
    assert found.first.tolist() == [0] * len(sides.public.first)
    units = len(sides.public.first) - 1
    learnt = learn(sides.known, sides.public, sides.beside, sides.copies, np.zeros(units, np.int64), np.ones(units))
    assert learnt.share == pytest.approx(sides.copies.share)
