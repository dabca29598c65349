"""Releases beside the periods: what ε they add, and that the budget, the record and the head hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judgement.test_privacy import SECRET, people
from tests.ledger.books import history, ledger

from noren import api
from noren.data.frames import Table
from noren.drawing.ledger_chart import Curves
from noren.errors import CheckFailedError, FileError, InputError, ParameterError
from noren.judgement.release_facts import release_facts
from noren.ledger import Ledger
from noren.tabulations.tabulation import Tabulation, write_tables


def tables(folder: Path, *notes: dict[str, Any]) -> Path:
    """Write one table of two cells for each note."""
    cells = pl.DataFrame({"month": ["2011-01", "2011-02"], "rows": [7, 9]})
    return write_tables(
        folder, [Tabulation(f"t{at}", ("month",), ("rows",), cells, note) for at, note in enumerate(notes)]
    )


def noisy(epsilon: float, adjacency: str = "customer", **more: Any) -> dict[str, Any]:
    return {"kind": "dp", "epsilon": epsilon, "delta": 0.0, "adjacency": adjacency, "bound": {"rows": 5}} | more


def test_epsilons_of_one_adjacency_add_up(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.record(tables(tmp_path / "a", noisy(0.5), noisy(0.25, delta=1e-7), {"kind": "exact", "k": 5}))
    release = api.protect(people(), "retention", k=20, seed=SECRET)
    release.save(tmp_path / "r")
    record = book.record(tmp_path / "r")
    privacy = release_facts(release).privacy
    assert privacy is not None
    assert record.k == pytest.approx(20)
    spent = Ledger.open(tmp_path / "l").recorded.spent
    assert (spent["customer"].epsilon, spent["customer"].delta) == (0.75, 1e-7)
    assert (spent["row"].epsilon, spent["row"].delta) == (privacy.epsilon, privacy.delta)
    told = book.as_dict()
    assert list(told["spent"]) == ["customer", "row"]
    assert "for all rows of a customer: ε = 0.75" in told["spent_in_words"][0]
    assert json.loads(json.dumps(told))["recorded"][1]["name"] == "r"


def test_exact_tables_spend_nothing(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", budget={"epsilon": 0.1})
    assert book.record(tables(tmp_path / "a", {"kind": "exact", "k": 5})).spent == {}
    assert book.recorded.spent == {}


def test_k_of_several_retentions_is_that_of_linked_rows(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    for name, column in (("a", "sex"), ("b", "town")):
        api.protect(people(), "retention", attributes=[column], k=200, seed=SECRET).save(tmp_path / name)
        assert book.recorded.joint_k is None
        book.record(tmp_path / name)
    assert book.recorded.joint_k == book.as_dict()["joint_k"] == pytest.approx(1 + 199 * 199 / 3999)
    assert ledger(tmp_path / "other").recorded.joint_k is None


def test_a_release_over_budget_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", budget={"emm": 0.9, "epsilon": 1})
    book.record(tables(tmp_path / "a", noisy(0.75)))
    before = {path.name: path.read_bytes() for path in (tmp_path / "l").iterdir() if path.is_file()}
    with pytest.raises(CheckFailedError, match=r"ε would be 1\.25 in all, above the budget of 1;"):
        book.record(tables(tmp_path / "b", noisy(0.5)))
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "l").iterdir() if path.is_file()}
    book.record(tables(tmp_path / "c", noisy(0.25)))  # up to the budget
    book.record(tables(tmp_path / "d", noisy(1.0, "row")))  # another adjacency has a sum of its own
    settings = Ledger.open(tmp_path / "l").settings
    assert (settings.budget, settings.epsilon) == ({"emm": 0.9}, 1)


def test_retention_without_epsilon_cannot_be_held_against_a_budget(tmp_path: Path) -> None:
    api.protect(people(), "retention", k=20, seed=7).save(tmp_path / "r")
    assert ledger(tmp_path / "free").record(tmp_path / "r").spent == {}
    book = ledger(tmp_path / "l", budget={"epsilon": 100})
    with pytest.raises(CheckFailedError, match="no ε is proved of it"):
        book.record(tmp_path / "r")
    assert book.recorded.releases == ()


def test_the_same_release_counts_once(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    release = api.protect(people(), "retention", k=20, seed=SECRET)
    release.save(tmp_path / "r")
    release.publish(tmp_path / "public")
    book.record(tmp_path / "r")
    with pytest.raises(InputError, match="was recorded as r"):
        book.record(tmp_path / "public")


def test_releases_with_the_same_noise_are_refused(tmp_path: Path) -> None:
    book, other = ledger(tmp_path / "l"), people().frame.reverse()
    for name, data, seed in (("a", people(), SECRET), ("b", Table(other, people().schema), SECRET)):
        api.protect(data, "retention", k=20, seed=seed).save(tmp_path / name)
    book.record(tmp_path / "a")
    with pytest.raises(CheckFailedError, match="b was not recorded: its noise is that of a"):
        book.record(tmp_path / "b")
    api.protect(people(), "retention", k=20, seed=SECRET + 1).save(tmp_path / "c")
    assert book.record(tmp_path / "c").noise not in (None, book.recorded.releases[0].noise)


@pytest.mark.parametrize(
    "notes",
    [
        {"kind": "dp"},
        noisy(-1.0),
        noisy(float("inf")),
        noisy(1.0, "household"),
        noisy(1.0) | {"epsilon": "1"},
        noisy(1.0, delta=2.0),
    ],
)
def test_noise_without_a_usable_epsilon_is_refused(tmp_path: Path, notes: dict[str, Any]) -> None:
    book = ledger(tmp_path / "l")
    with pytest.raises(FileError, match="does not state epsilon"):
        book.record(tables(tmp_path / "a", notes))
    assert book.recorded.releases == ()


def test_other_folders_are_refused(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    (tmp_path / "empty").mkdir()
    api.protect(history(), "pseudonymize", seed=SECRET).save(tmp_path / "names")
    for name in ("empty", "names", "missing"):
        with pytest.raises(FileError, match="neither a folder of tables"):
            book.record(tmp_path / name)


@pytest.mark.parametrize("limit", [-1, True, "1", float("inf"), float("nan")])
def test_a_budget_of_epsilon_is_a_number(tmp_path: Path, limit: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        ledger(tmp_path / "l", budget={"epsilon": limit})


def test_periods_and_records_live_side_by_side(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.record(tables(tmp_path / "a", noisy(0.5)))
    book.add(history(), seed=1)
    book.record(tables(tmp_path / "b", noisy(0.25)))
    book.add(history(), seed=1)
    assert book.check() == []
    assert (len(book.entries), len(book.recorded.releases)) == (2, 2)
    assert "ε = 0.75" in Curves.of(book).spent[0]


@pytest.mark.parametrize("harm", ["epsilon", "lost", "swapped"])
def test_a_changed_record_is_noticed(tmp_path: Path, harm: str) -> None:
    book = ledger(tmp_path / "l")
    for name, epsilon in (("a", 0.5), ("b", 0.25)):
        book.record(tables(tmp_path / name, noisy(epsilon)))
    assert book.check() == []
    path = tmp_path / "l" / "head.json"
    head = json.loads(path.read_text())
    releases = head["recorded"]["releases"]
    match harm:
        case "epsilon":
            releases[0]["spent"]["customer"]["epsilon"] = 0.1
        case "lost":
            releases.pop()
        case "swapped":
            releases.reverse()
    path.write_text(json.dumps(head))
    assert [error.file for error in book.check()] == [path]
    with pytest.raises(FileError, match="its content was changed"):
        book.record(tables(tmp_path / "d", noisy(0.5)))


def test_the_command(noren: Any, tmp_path: Path) -> None:
    ledger(tmp_path / "l", budget={"epsilon": 1})
    done = noren("ledger", "record", tmp_path / "l", tables(tmp_path / "a", noisy(0.75)))
    assert done.code == 0
    for word in ("a recorded", "customer", "0.75", "Budget ε: 1; Remaining: 0.25"):
        assert word in done.out
    refused = noren("ledger", "record", tmp_path / "l", tables(tmp_path / "b", noisy(0.5)))
    assert (refused.code, refused.err.startswith("noren: b was not recorded")) == (1, True)
    shown = noren("ledger", "show", tmp_path / "l")
    assert "for all rows of a customer: ε = 0.75" in shown.out
    told = json.loads(noren("ledger", "show", tmp_path / "l", "--json").out)
    assert (told["budget_of_epsilon"], told["spent"]["customer"]["epsilon"]) == (1.0, 0.75)
