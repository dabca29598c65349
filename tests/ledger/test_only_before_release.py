"""A ledger that attacks a period before its release alone: what is out is not attacked, what is unknown is said."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.books import MONTHS, everything_in, history, ledger

from noren.drawing.ledger_chart import Curves
from noren.errors import CheckFailedError, ParameterError
from noren.judgement.verdict import VerdictStatus
from noren.ledger import Ledger, book
from noren.ledger.certificate import attacks_sentence, certificate_sentence
from noren.ledger.risk import attack_all

CLASSES = [{"method": "generalize-by-count", "k": 2}]


@pytest.fixture
def attacked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The dates of the rows that each attack was given, by release."""
    seen: list[list[str]] = []
    real = attack_all

    def watched(originals: Sequence[Any], releases: Sequence[Any], *rest: Any, **more: Any) -> Any:
        seen.append([str(one["date"].min())[:7] for one in originals])
        assert len(originals) == len(releases)
        return real(originals, releases, *rest, **more)

    monkeypatch.setattr(book, "attack_all", watched)
    return seen


def test_what_is_out_is_not_attacked_again(tmp_path: Path, attacked: list[list[str]]) -> None:
    made = ledger(tmp_path / "l", attack_released=False)
    months = [made.weigh(history(), seed=1)] + [made.add_with_proposal(history(), seed=1)[1] for _month in MONTHS]
    assert {tuple(one) for one in attacked} == {("2010-12",), ("2011-01",), ("2011-02",)}
    # counted by hand, each month by itself: one of two, both, one of two
    assert [one.after.mm for one in months[1:]] == [0.5, 1.0, 0.5]
    assert [one.after.alone for one in months[1:]] == [False, True, True]
    assert [one.before for one in months[1:]] == [None, None, None]


def test_by_default_everything_is_attacked_as_before(tmp_path: Path, attacked: list[list[str]]) -> None:
    made = ledger(tmp_path / "l")
    found = [made.add_with_proposal(history(), seed=1)[1].after for _month in MONTHS]
    assert [risk.mm for risk in found] == [0.5, 0.75, pytest.approx(4 / 6)]
    assert not any(risk.alone for risk in found)
    assert attacked[-1] == ["2010-12", "2011-01", "2011-02"]
    assert b"attack_released" not in everything_in(made.folder)["ledger.toml"]


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", attack_released=False)
    for _month in MONTHS[:2]:
        made.add(history(), seed=1)
    risk = made.risk()
    assert risk is not None
    assert "the results cover only the last period" in attacks_sentence(risk)
    assert certificate_sentence(None, attacked=False) == "No certificate."
    verdicts = made.verdicts()
    assert [one.attack for one in verdicts["2010/12"].evidence] == ["s1"]
    assert verdicts["2011/1"].status == VerdictStatus.UNTRIED
    assert made.curves()[1] == {"s1": [0.5, None]}
    assert Curves.of(made).finding() == "After 2011/1, the risk of everything released is not known"
    assert made.as_dict()["attack_released"] is False


def test_a_certificate_holds_whatever_is_attacked(tmp_path: Path) -> None:
    either = [
        ledger(tmp_path / str(again), chain=CLASSES, budget={"mm": 0.6}, attack_released=again)
        for again in (True, False)
    ]
    for made in either:
        for _month in MONTHS:
            made.add(history(), seed=1)
    every, alone = (made.certificate() for made in either)
    assert every is not None
    assert every == alone
    assert [made.left()["mm"] for made in either] == [pytest.approx(0.1)] * 2
    last = either[1].verdicts()["2011/2"]
    assert last is not None
    assert last.guarantee is not None
    assert last.guarantee.k == 2
    assert last.evidence == ()


def test_a_budget_that_cannot_be_held_stops_the_release(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", budget={"mm": 0.9}, attack_released=False)
    made.add(history(), seed=1)
    before = everything_in(made.folder)
    with pytest.raises(CheckFailedError, match="2011/1 was not released: this ledger attacks only before release"):
        made.add(history(), seed=1)
    assert everything_in(made.folder) == before
    assert made.left() == {"mm": pytest.approx(0.4)}  # the first release is all there is, and was attacked


def test_a_budget_given_later_is_not_counted_where_nobody_knows(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", attack_released=False)
    for _month in MONTHS[:2]:
        made.add(history(), seed=1)
    settings = made.folder / "ledger.toml"
    settings.write_text(settings.read_text().replace("[budget]", "[budget]\nmm = 0.9"))
    assert Ledger.open(made.folder).left() == {}


def test_the_setting_may_be_changed_between_releases(tmp_path: Path, attacked: list[list[str]]) -> None:
    made = ledger(tmp_path / "l", attack_released=False)
    for _month in MONTHS[:2]:
        made.add(history(), seed=1)
    settings = made.folder / "ledger.toml"
    settings.write_text(settings.read_text().replace("attack_released = false", "attack_released = true"))
    entry = Ledger.open(made.folder).add(history(), seed=1)
    assert attacked[-1] == ["2010-12", "2011-01", "2011-02"]
    assert entry.risk.mm == pytest.approx(4 / 6)
    assert not entry.risk.alone


def test_an_answer_that_is_none_is_refused(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", attack_released=False)
    assert Ledger.open(made.folder).settings == made.settings
    settings = made.folder / "ledger.toml"
    settings.write_text(settings.read_text().replace("attack_released = false", 'attack_released = "never"'))
    with pytest.raises(ParameterError, match="use true or false"):
        Ledger.open(made.folder)
