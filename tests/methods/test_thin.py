"""Rows are deleted: as many as asked, the telling ones first where asked, and nobody vanishes unasked."""

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.histories import SCHEMA, histories, history, known

from noren.data.frames import History
from noren.errors import ParameterError
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.thin import Thin, identification_risk


def chances(original: History) -> list[float]:
    """Count, pair of columns by pair of columns, who else has such a row."""
    rows = original.frame.rows()
    total = [0.0] * len(rows)
    pairs = list(combinations(range(1, 5), 2))
    for one, other in pairs:
        who = defaultdict(set)
        for row in rows:
            who[row[one], row[other]].add(row[0])
        total = [t + 1 / len(who[row[one], row[other]]) for t, row in zip(total, rows, strict=True)]
    return [t / len(pairs) for t in total]


@given(original=histories())
def test_giveaway_by_brute_force(original: History) -> None:
    assert identification_risk(original) == pytest.approx(chances(original), abs=1e-12)


@given(original=histories(), seed=st.integers(0, 2**64), share=st.floats(0, 1), rarest=st.booleans())
def test_as_many_as_asked_and_nobody_vanishes(original: History, seed: int, share: float, rarest: bool) -> None:
    release = Thin(share=share, rarest=rarest).protect(original, seed=seed)
    asked = int(np.floor(share * len(original) + 1e-9))
    spare = len(original) - len(original.customers)
    assert release.deleted_rows == min(asked, spare)
    assert sorted(known(release).values()) == sorted(original.customers)
    kept = release.secret.origin.sort()
    assert release.aligned().frame[kept].drop("customer").equals(original.frame[kept].drop("customer"))
    short = release.statement.notes.get("rows_kept_so_that_nobody_vanishes", 0)
    assert short == max(asked - spare, 0)
    vanishing = Thin(share=share, rarest=rarest, allow_vanish=True).protect(original, seed=seed)
    assert vanishing.deleted_rows == asked
    assert set(known(vanishing).values()) == set(original["customer"].gather(vanishing.secret.origin))


@given(original=histories(), seed=st.integers(0, 2**64), share=st.floats(0, 1))
def test_the_most_telling_rows_go_first(original: History, seed: int, share: float) -> None:
    release = Thin(share=share, rarest=True, allow_vanish=True).protect(original, seed=seed)
    kept = set(release.secret.origin)
    chance = np.round(chances(original), 9)
    gone = [chance[at] for at in range(len(original)) if at not in kept]
    assert min(gone, default=1) >= max((chance[at] for at in kept), default=0)


def test_at_random_means_that_every_row_may_go() -> None:
    rows = history(*(f"ann 2010/12/1 i{at} 1 1" for at in range(20)))
    gone = np.zeros(20)
    for seed in range(200):
        release = Thin(share=0.25).protect(rows, seed=seed)
        gone += ~np.isin(np.arange(20), release.secret.origin.to_numpy())
    # 200 draws of 5 of 20: 50 each, standard deviation 6
    assert gone.min() > 25
    assert gone.max() < 75


def test_all_rows() -> None:
    rows = history("ann 2010/12/1 a 1 1", "bob 2010/12/2 b 2 2", "ann 2010/12/3 c 3 3")
    assert Thin(share=1).protect(rows, seed=1).deleted_rows == 1
    nothing = Thin(share=1, allow_vanish=True).protect(rows, seed=1)
    assert (len(nothing.public), nothing.secret.pseudonyms.height) == (0, 0)
    assert nothing.deleted_rows == 3


def test_a_generalised_history_can_be_thinned(small: History) -> None:
    shared = GeneralizeByCount(k=3).protect(small, seed=1).public
    assert isinstance(shared, History)
    for rarest in (False, True):
        assert Thin(share=0.1, rarest=rarest).protect(shared, seed=1).deleted_rows == len(shared) // 10


def test_what_stays_is_spelled_as_it_was(tmp_path: Path) -> None:
    from noren.data.contest_files import read_rows

    lines = [f"{at % 2},2010/12/0{at},x,{at}.50,1" for at in range(1, 9)]
    (tmp_path / "T.csv").write_text("\n".join(lines) + "\n", encoding="ascii")
    release = Thin(share=0.5).protect(read_rows(tmp_path / "T.csv", SCHEMA), seed=1)
    assert release.deleted_rows == 4
    kept = {line.split(",", 1)[1] for line in release.public.lines()}
    assert kept < {line.split(",", 1)[1] for line in lines}


def test_same_seed_same_bytes(small: History, tmp_path: Path) -> None:
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        Thin(share=0.3, rarest=True).protect(small, seed=seed).save(tmp_path / folder)
    same = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in same)
    assert (tmp_path / "one/public.parquet").read_bytes() != (tmp_path / "other/public.parquet").read_bytes()


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan"), "much"])
def test_a_share_that_is_none(share) -> None:
    problem = f"share = {share} is not valid for thin: .*; Share of rows to delete, from 0 to 1"
    with pytest.raises(ParameterError, match=problem):
        methods.create("thin", share=share)
