"""The audit finds the real k, from the original and the public part alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import CheckFailedError, SchemaError
from noren.measures import measures
from noren.measures.safety.classes import Classes, audit
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Evidence, Score

SCHEMA = Schema.preset("pwscup2018")
NO_SECRET = Secret(
    pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String}), pl.Series([], dtype=pl.UInt32), 0
)


def judged(original: History, release: Release) -> Score:
    # without the secret and with empty notes: the audit must not need them
    public_alone = replace(release, secret=NO_SECRET)
    return Classes().measure(Evidence(original, public_alone))


def claiming(release: Release, k: Any) -> Release:
    return replace(release, statement=Statement("hand", {"k": k}))


def prices(who: list[str], said: list[float]) -> History:
    rows = {"customer": who, "date": ["2010/12/1"] * len(who), "item": ["a"] * len(who), "price": said}
    return History.of({**rows, "quantity": [1] * len(who)}, SCHEMA)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("suppress", [False, True])
def test_a_method_that_keeps_its_word(small: History, k: int, suppress: bool) -> None:
    release = GeneralizeByCount(k=k, suppress_cells=suppress).protect(small, seed=1)
    score = judged(small, release)
    assert score.value == score.parts["min"] >= k
    assert score.parts["one_to_one"] >= k
    assert score.parts["below"] == 0
    assert score.notes == {"pseudonyms": 30, "fitting_nobody": 0, "claimed": k, "holds": True}
    audit(small, release)


def test_pseudonyms_alone_are_classes_of_one(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    score = judged(small, release)
    assert (score.value, score.parts["one_to_one"]) == (1, 1)
    assert score.notes["claimed"] is None
    assert score.notes["holds"] is None
    audit(small, release)  # nothing claimed, nothing broken


def test_a_claim_that_is_not_real_is_stopped(small: History) -> None:
    release = claiming(GeneralizeByCount(k=2).protect(small, seed=1), 3)
    score = judged(small, release)
    assert score.notes["holds"] is False
    assert 0 < score.parts["below"] <= 1
    with pytest.raises(
        CheckFailedError, match=r"claims k=3, but one pseudonym fits only 2 of the customers"
    ) as stopped:
        audit(small, release)
    assert stopped.value.exit_code == 1
    assert not any(customer in str(stopped.value) for customer in small.customers)


def test_one_row_too_narrow_breaks_a_class(small: History) -> None:
    release = GeneralizeByCount(k=2).protect(small, seed=1)
    column = release.public.frame["price"]
    wide = (column.struct.field("lo") != column.struct.field("hi")).arg_true()
    # one interval shrinks to its lower end: one of its two members no longer fits
    at = int(wide[0])
    narrow = [{"lo": c["lo"], "hi": c["lo"] if row == at else c["hi"]} for row, c in enumerate(column.to_list())]
    frame = release.public.frame.with_columns(pl.Series("price", narrow, dtype=column.dtype))
    broken = replace(release, public=replace(release.public, frame=frame))
    assert judged(small, broken).parts["one_to_one"] == 1
    with pytest.raises(CheckFailedError):
        audit(small, broken)


def test_what_one_to_one_rules_out() -> None:
    # 7 and 8 fit ann and bob alone; 9 fits bob and cem, but bob is needed: 9 is cem
    original = prices(["ann", "bob", "bob", "cem"], [1, 1, 2, 2])
    public = prices(["7", "8", "9"], [1, 1, 2])
    score = judged(original, claiming(Release(public, NO_SECRET, Statement("hand")), 2))
    assert (score.value, score.parts["one_to_one"], score.parts["below"]) == (2, 1, pytest.approx(1 / 3))  # type: ignore[comparison-overlap]
    assert score.notes["holds"] is False


def test_values_that_moved_fit_nobody() -> None:
    public = prices(["7", "8"], [1, 99])
    score = judged(prices(["ann", "bob"], [1, 2]), claiming(Release(public, NO_SECRET, Statement("hand")), 2))
    assert (score.value, score.notes["fitting_nobody"], score.notes["holds"]) == (0, 1, False)


def test_nothing_published_leaves_everybody() -> None:
    public = prices(["7"], [1]).take(pl.Series([], dtype=pl.UInt32))
    score = judged(prices(["ann", "bob"], [1, 2]), claiming(Release(public, NO_SECRET, Statement("hand")), 2))
    assert (score.value, score.notes["holds"]) == (2, True)


@pytest.mark.parametrize("k", ["3", None, True, 0, 2.0])
def test_what_is_no_claim(small: History, k: Any) -> None:
    assert judged(small, claiming(Pseudonymize().protect(small, seed=1), k)).notes["claimed"] is None


def test_tables_are_refused(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    with pytest.raises(SchemaError, match="the release is a table"):
        Classes().measure(Evidence(small, replace(release, public=None)))  # type: ignore[arg-type]
    assert isinstance(measures.create("classes"), Classes)


@pytest.fixture(scope="module")
def final(shared: Path) -> History:
    return read_rows(shared / "data" / "pwscup2018_final_T.csv", SCHEMA)


@pytest.mark.parametrize(("name", "least", "one_to_one"), [("pair_final", 2, 2), ("random_final", 1, 1)])
def test_official_releases(name: str, least: int, one_to_one: int, shared: Path, final: History) -> None:
    release = read_release(shared / "oracles" / "pwscup2018" / name / "A.csv.gz", final)
    score = judged(final, claiming(release, 2))
    assert (score.value, score.parts["one_to_one"], score.notes["fitting_nobody"]) == (least, one_to_one, 0)
    assert score.notes["holds"] is (name == "pair_final")
