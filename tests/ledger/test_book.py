"""A ledger weighs each release on top of those that are out, and keeps it or changes nothing."""

import json
import stat
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples
from tests.ledger.books import MONTHS, everything_in, history, ledger, months, rows_of

import noren
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.errors import CheckFailedError, OutputError, ParameterError
from noren.ledger import BudgetError, Ledger, Risk, period_seed
from noren.ledger.joined import joined, pseudonyms_of


def values(risk: Risk | None) -> tuple[float, float, float]:
    assert risk is not None
    return risk.um, risk.mm, risk.emm


def test_the_risk_is_what_a_hand_counts(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    assert (book.entries, book.risk(), book.curves()) == ((), None, ([], {}))
    entries = [book.add(history(), seed=seed) for seed in (1, 2, 3)]
    assert [entry.period for entry in entries] == MONTHS
    assert [entry.risk.mm for entry in entries] == pytest.approx([1 / 2, 3 / 4, 4 / 6])
    assert [entry.risk.emm for entry in entries] == [1 / 2, 3 / 4, 3 / 4]  # what was found once stays found
    assert [entry.risk.um for entry in entries][:2] == [1 / 2, 1 / 2]
    assert entries[0].risk.chance == {"um": 0.5, "mm": 0.5, "emm": 0.5}
    periods, curves = book.curves()
    assert periods == MONTHS
    assert curves["s1"] == pytest.approx([1 / 2, 3 / 4, 4 / 6])
    assert Ledger.open(tmp_path / "l").entries == book.entries == tuple(entries)
    assert values(book.risk()) == values(entries[-1].risk)
    assert book.check() == []


def test_an_entry_tells_rows_and_pseudonyms(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=[{"method": "thin", "share": 0.5, "allow_vanish": True}, "monthly-pseudonyms"])
    entry = book.add(months("2010/12"), seed=1)
    told = entry.original_rows, entry.public_rows, entry.deleted_rows, entry.added_rows, entry.pseudonyms
    assert told == (2, 1, 1, 0, 1)
    assert (entry.number, entry.previous, entry.calendar) == (1, None, "month")


def test_a_release_of_the_ledger_is_a_release(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    for _month in MONTHS:
        book.add(history(), seed=1)
    loaded = [Release.load(book.release_folder(month)) for month in MONTHS]
    for month, release in zip(MONTHS, loaded, strict=True):
        assert rows_of(release.by_name()) == rows_of(months(month))  # type: ignore[arg-type]
        assert release.secret.seed == 1
    names = [pseudonyms_of(release) for release in loaded]
    assert len(set.union(*names)) == sum(map(len, names)) == 6
    together = joined(loaded)
    guess = noren.attack(history(), together, "s1")
    assert noren.measure(history(), together, "mm", guesses=[guess]).value == pytest.approx(4 / 6)


def test_months_added_one_by_one_are_as_from_the_whole(tmp_path: Path) -> None:
    one, other = ledger(tmp_path / "one"), ledger(tmp_path / "other")
    for month in MONTHS:
        one.add(months(month), seed=7)
        other.add(history(), seed=7)
        public = [book.release_folder(month) / "public.parquet" for book in (one, other)]
        assert public[0].read_bytes() == public[1].read_bytes()
    assert [e.risk for e in one.entries] == [e.risk for e in other.entries]


def test_another_seed_in_every_period(tmp_path: Path) -> None:
    assert len({period_seed(seed, month) for seed in (0, 1) for month in MONTHS}) == 6
    with pytest.raises(ParameterError, match="seed = -1 is out of range; use 0 <= seed"):
        period_seed(-1, "2011/1")
    book = ledger(tmp_path / "l")
    seeds = {Release.load(book.release_folder(book.add(history()).period)).secret.seed for _month in MONTHS}
    assert len(seeds) == 3
    assert None not in seeds


class TestBudget:
    def test_what_would_break_it_is_refused_and_nothing_changes(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", budget={"emm": 0.7, "um": 0.5})
        book.add(history(), seed=1)
        assert book.left() == pytest.approx({"um": 0.0, "emm": 0.2})
        before = everything_in(tmp_path)
        with pytest.raises(BudgetError) as refused:
            book.add(history(), seed=1)
        assert isinstance(refused.value, CheckFailedError)
        assert refused.value.exit_code == 1
        said = "2011/1 was not released: EMM would be 0.7500, above the budget of 0.7; protect it more strongly"
        assert str(refused.value).startswith(said)
        proposal = refused.value.proposal
        assert (proposal.period, proposal.broken) == ("2011/1", {"emm": 0.75})
        assert everything_in(tmp_path) == before
        assert [path.name for path in (tmp_path / "l/releases").iterdir()] == ["2010-12"]

    def test_a_value_at_the_limit_is_within_it(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", budget={"emm": 0.75, "mm": 0.75, "um": 0.5})
        assert [book.add(history(), seed=1).period for _month in range(2)] == MONTHS[:2]

    def test_a_stronger_chain_may_pass(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", budget={"emm": 0.7})
        book.add(history(), seed=1)
        gone = [{"method": "thin", "share": 0.5, "allow_vanish": True}, "monthly-pseudonyms"]
        entry = book.add(history(), chain=gone, seed=1)
        assert entry.public_rows == 1
        assert entry.risk.emm == pytest.approx(2 / 3)
        statement = json.loads((book.release_folder("2011/1") / "statement.json").read_text())
        assert [step["method"] for step in statement["parameters"]["steps"]] == ["thin", "monthly-pseudonyms"]
        assert [step.name for step in book.settings.chain.steps] == ["monthly-pseudonyms"]

    def test_it_may_be_changed_by_hand(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", budget={"emm": 0.7})
        book.add(history(), seed=1)
        file = tmp_path / "l/ledger.toml"
        file.write_text(file.read_text().replace("emm = 0.7", "emm = 0.4"))
        assert Ledger.open(tmp_path / "l").left()["emm"] == pytest.approx(-0.1)
        file.write_text(file.read_text().replace("emm = 0.4", "emm = 0.8"))
        assert Ledger.open(tmp_path / "l").add(history(), seed=1).budget == {"emm": 0.8}


def test_weighing_writes_nothing(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.add(history(), seed=1)
    before = everything_in(tmp_path)
    proposal = book.weigh(history(), seed=1)
    assert everything_in(tmp_path) == before
    assert proposal.before == book.risk()
    assert values(proposal.after) == (0.5, 0.75, 0.75)
    assert book.curves(proposal) == (MONTHS[:2], {"s1": [0.5, 0.75]})
    assert values(book.add(history(), seed=1).risk) == (0.5, 0.75, 0.75)


def test_a_seed_weighs_as_it_adds(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=["swap", "perturb", "monthly-pseudonyms"])
    weighed = book.weigh(history(), seed=5).release
    book.add(history(), seed=5)
    kept = Release.load(book.release_folder("2010/12"))
    assert kept.public.lines().equals(weighed.public.lines())


def test_who_is_exposed_is_told_to_the_steward(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.add(history(), seed=1)
    exposed = book.weigh(history(), seed=1).exposed
    rows = exposed.rows()
    # both are found in January; whom December's one key leads to, the pseudonyms decide
    assert sorted(row[1:] for row in rows) == [(1, 2, 1), (2, 2, 1)]
    assert rows[0][1] == 2
    assert exposed.columns == ["customer", "periods_found", "periods", "attacks"]


def test_an_attacker_who_keeps_releases_apart_is_tried_too(tmp_path: Path) -> None:
    # the key of s2, item and price, is the same in both months: in one heap it leads to February's pseudonym alone
    lines = ["ann 2011/1/7 tea 1.5 2", "bob 2011/1/7 cup 2.5 3", "ann 2011/2/3 tea 1.5 1", "bob 2011/2/3 cup 2.5 1"]
    book = ledger(tmp_path / "l", attacks=["s2"])
    assert [book.add(history(lines), seed=1).risk.mm for _month in range(2)] == [1.0, 1.0]
    together = joined([Release.load(book.release_folder(month)) for month in ("2011/1", "2011/2")])
    heap = noren.attack(history(lines), together, "s2")
    assert noren.measure(history(lines), together, "mm", guesses=[heap]).value == 0.5


def test_attacks_that_know_nothing_of_periods_work_as_well(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2}], attacks=["consistency", "s8"])
    for _month in MONTHS:
        entry = book.add(history(), seed=1)
    assert set(entry.risk.attacks) == {"consistency", "s8"}
    assert book.check() == []


def test_an_attack_may_come_later(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.add(history(), seed=1)
    file = tmp_path / "l/ledger.toml"
    file.write_text(file.read_text().replace('"s1"', '"s8"'))
    book = Ledger.open(tmp_path / "l")
    book.add(history(), seed=1)
    _periods, curves = book.curves()
    assert curves["s1"] == [0.5, None]
    assert curves["s8"][0] is None
    assert book.risk().emm >= 0.5  # type: ignore[union-attr]


def test_periods_and_schema_may_not_change(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=["pseudonymize"])
    book.add(history(), seed=1)
    file = tmp_path / "l/ledger.toml"
    file.write_text(file.read_text().replace('period = "month"', 'period = "quarter"'))
    changed = Ledger.open(tmp_path / "l")
    assert [error.problem.rule for error in changed.check()] == [
        "schema.toml or the period of ledger.toml changed after 2010/12"
    ]
    with pytest.raises(Exception, match="changed after 2010/12; restore both files"):
        changed.add(history(), seed=1)


def test_a_ledger_is_made_in_a_free_folder_alone(tmp_path: Path) -> None:
    ledger(tmp_path / "l")
    before = everything_in(tmp_path)
    with pytest.raises(OutputError, match="is not empty"):
        ledger(tmp_path / "l")
    assert everything_in(tmp_path) == before


def test_data_frames_will_do(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    frame = history().frame.with_columns(pl.col("date").dt.strftime("%Y/%m/%d"))
    assert book.to_come(frame) == MONTHS
    assert book.add(frame, seed=1).period == "2010/12"


class TestMaster:
    MASTER = pl.DataFrame({"customer": ["ann", "bob", "cho"], "sex": ["f", "m", "f"]})

    def test_it_is_kept_and_adds_nobody_who_bought_nothing(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        entry = book.add(replace(history(), master=self.MASTER), seed=1)
        assert entry.risk.um == 0.5  # of two customers, not of three
        assert (book.release_folder("2010/12") / "secret/master.parquet").is_file()
        assert book.add(history(), seed=1).risk.mm == 0.75

    def test_strangers_to_it_are_named(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        book.add(replace(history(), master=self.MASTER), seed=1)
        before = everything_in(tmp_path)
        with pytest.raises(
            ParameterError, match="1 customers of the original are missing from the master, the first is dan"
        ):
            book.add(history(["dan 2011/1/7 tea 1.5 2"]), seed=1)
        assert everything_in(tmp_path) == before


class TestSecrets:
    def test_nothing_outside_the_secret_parts_names_a_customer(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", chain=["swap", "monthly-pseudonyms"])
        for _month in MONTHS:
            book.add(history(), seed=123456789)
        files = everything_in(tmp_path)
        shown = {name: content for name, content in files.items() if "/secret/" not in name}
        assert len(shown) == 3 + 3 * 3
        for content in shown.values():
            assert b"ann" not in content.replace(b"cannot", b"").replace(b"channel", b"")
            assert b"bob" not in content
            assert b"123456789" not in content
        hidden = b"".join(content for name, content in files.items() if "/secret/" in name)
        assert b"bob" in hidden  # or the search would find nothing anywhere

    def test_only_the_steward_may_look(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        book.add(history(), seed=1)
        secret = book.release_folder("2010/12") / "secret"
        assert stat.S_IMODE(secret.stat().st_mode) == 0o700
        assert {path.name for path in secret.iterdir()} == {
            "exposed.parquet", "facts.json", "origin.parquet", "original.parquet", "pseudonyms.parquet", "run.json",
            "seal.json",
        }  # fmt: skip

    def test_publishing_leaves_entry_and_secret_behind(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        book.add(history(), seed=1)
        Release.load(book.release_folder("2010/12")).publish(tmp_path / "out")
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"public.parquet", "statement.json"}


@st.composite
def purchases(draw: st.DrawFn) -> list[str]:
    people, days = ("ann", "bob", "cho"), ("2010/12/1", "2010/12/9", "2011/1/3", "2011/2/8", "2011/2/9")
    months_left = [f"{draw(st.sampled_from(people))} {day} tea 1.5 {draw(st.integers(1, 3))}" for day in days]
    return months_left + draw(
        st.lists(
            st.builds("{} {} tea 1.5 {}".format, st.sampled_from(people), st.sampled_from(days), st.integers(1, 3))
        )
    )


@examples(8)
@given(purchases(), st.integers(0, 5))
def test_whatever_is_bought_the_ledger_holds_together(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], seed: int
) -> None:
    book = ledger(tmp_path_factory.mktemp("l") / "l", attacks=["s1", "s2", "s8"])
    risks = [book.add(history(lines), seed=seed).risk for _month in MONTHS]
    for before, after in pairwise(risks):
        assert after.emm >= before.emm
    for risk in risks:
        assert 0 <= risk.mm <= risk.emm <= 1
        for name in ("um", "mm", "emm"):
            assert max(parts[name] for parts in risk.attacks.values()) <= risk.value(name) + 1e-12
    loaded = [Release.load(book.release_folder(month)) for month in MONTHS]
    names = [pseudonyms_of(release) for release in loaded]
    assert len(set.union(*names)) == sum(map(len, names))
    assert rows_of(joined(loaded).by_name()) == rows_of(history(lines))  # type: ignore[arg-type]
    assert book.check() == []


@pytest.mark.slow
def test_three_months_of_the_contest(shared: Path, tmp_path: Path) -> None:
    data = shared / "data"
    history = read(data / "pwscup2017_T.csv", "pwscup2017", master=data / "pwscup2017_M.csv").data
    assert isinstance(history, History)
    chain: list[Any] = [{"method": "thin", "share": 0.1}, "perturb", "monthly-pseudonyms"]
    book = Ledger.create(tmp_path / "l", schema="pwscup2017", chain=chain, attacks=[f"s{n}" for n in range(1, 9)])
    bare = Ledger.create(tmp_path / "b", schema="pwscup2017", chain=["monthly-pseudonyms"], attacks=["s7", "s8"])
    entries = [book.add(history, seed=1) for _month in range(3)]
    plain = [bare.add(history, seed=1) for _month in range(3)]
    assert [entry.period for entry in entries] == MONTHS
    assert [entry.original_rows for entry in entries] == [3049, 2357, 2026]
    assert [entry.public_rows for entry in entries] == [2745, 2122, 1824]
    # names alone protect nobody whose mean price is known; deleting and moving rows helps
    assert [entry.risk.mm > 0.95 for entry in plain] == [True] * 3
    assert [0.2 < entry.risk.emm < 0.35 for entry in entries] == [True] * 3
    assert {entry.risk.best("mm") for entry in entries} == {"s7"}
    loaded = [Release.load(book.release_folder(month)) for month in MONTHS]
    assert len(set.union(*map(pseudonyms_of, loaded))) == sum(entry.pseudonyms for entry in entries)
    assert book.check() == []
