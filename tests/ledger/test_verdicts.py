"""Each entry keeps what attacks got, and is judged by the rule in force."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.ledger.books import MONTHS, history, ledger

from noren.data.formats.files import writing_file
from noren.errors import FileError
from noren.judgement.judging import judge
from noren.judgement.rule import RULES, get_rule
from noren.judgement.verdict import Reason, VerdictStatus
from noren.ledger import Ledger
from noren.ledger.proposal import stored_form, stored_verdict

SEED = 2
"""In December, where one pseudonym is named for two customers who are alike, it is the right one."""


def filled(folder: Path, **settings: object) -> Ledger:
    book = ledger(folder, **settings)
    for _month in MONTHS:
        book.add(history(), seed=SEED)
    return book


def test_what_attacks_got_is_kept_and_judged(tmp_path: Path) -> None:
    book = filled(tmp_path / "l")
    found = book.verdicts()
    assert list(found) == MONTHS
    first, second = found["2010/12"], found["2011/1"]
    # in December one of two is found, in January both: by hand, see tests/ledger/books.py
    assert [(one.attack, one.named, one.right, one.customers) for one in first.facts.tried] == [("s1", 1, 1, 1)]
    assert {one.attack for one in second.facts.tried} == {"s1", "s1 alone"}
    assert second.facts.people == 2
    assert (second.status, second.reason, second.risk) == (VerdictStatus.BROKEN, Reason.TOO_MANY_NAMED, 1.0)
    assert found["2011/2"] == judge(found["2011/2"].facts, "partner")
    assert book.check() == []


def test_a_proposal_has_the_verdict_that_its_entry_gets(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    proposed = book.weigh(history(), seed=1).verdict
    book.add(history(), seed=1)
    assert Ledger.open(tmp_path / "l").verdicts() == {"2010/12": proposed}


def test_another_rule_judges_the_same_facts(tmp_path: Path) -> None:
    book = filled(tmp_path / "l", rule="public")
    assert book.settings.rule == RULES["public"]
    file = tmp_path / "l/ledger.toml"
    assert 'rule = "public"' in file.read_text()
    file.write_text(file.read_text().replace('rule = "public"', "rule = 0.3"))
    again = Ledger.open(tmp_path / "l")
    assert again.settings.rule == get_rule("0.3")
    assert again.check() == []
    for period, verdict in again.verdicts().items():
        before = book.verdicts()[period]
        assert verdict == judge(before.facts, "0.3")
    assert [entry["verdict"]["rule"] for entry in again.as_dict()["entries"]] == [again.settings.rule.as_dict()] * 3


def test_a_rule_without_a_name_is_read_back(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", rule="1/8")
    assert Ledger.open(tmp_path / "l").settings == made.settings


def test_a_verdict_of_another_program_is_given_anew(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    proposal = book.weigh(history(), seed=1)
    kept = json.loads(json.dumps(stored_form(proposal.verdict)))
    assert stored_verdict(kept, book.settings.rule) == proposal.verdict
    kept["verdict"]["word"] = "proved"
    assert stored_verdict(kept | {"noren": "0"}, book.settings.rule) == proposal.verdict
    assert stored_verdict(kept, RULES["public"]) == judge(proposal.verdict.facts, "public")
    kept["verdict"] = {"of": "another form"}
    assert stored_verdict(kept, book.settings.rule) == proposal.verdict


def test_the_facts_lie_under_the_seal(tmp_path: Path) -> None:
    book = filled(tmp_path / "l")
    file = book.release_folder("2011/1") / "secret/facts.json"
    assert "right_at" not in (book.release_folder("2011/1") / "entry.json").read_text()
    file.write_text(file.read_text().replace('"people": 2', '"people": 9'))
    assert [error.file for error in book.check()] == [file]
    with pytest.raises(FileError, match="the file changed after the release"):
        book.verdicts()


def test_what_each_release_proves_all_prove_together(tmp_path: Path) -> None:
    book = filled(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2}], rule="1/2")
    first, *later = book.verdicts().values()
    assert (first.facts.claimed, first.facts.smallest_class, first.facts.periods) == ({"k": 2}, 2, 1)
    assert first.status == VerdictStatus.PROVED
    for months, verdict in enumerate(later, start=2):
        assert (verdict.status, verdict.reason) == (VerdictStatus.PROVED, Reason.GUARANTEE)
        assert verdict.guarantee is not None
        assert (verdict.guarantee.k, verdict.guarantee.by, verdict.risk) == (2, "classes", 0.5)
        assert verdict.facts.periods == months
        said = "periods, so no single guess re-identifies a pseudonym with a probability above 50.0%"
        assert f"in each of the {months} {said}" in verdict.sentence
    # two of two customers in pairs, three months: 1 - (1/2)^3 are named rightly at least once
    assert "up to 87.5% of the customers are named correctly at least once" in verdict.sentence


def test_one_month_without_classes_and_nothing_is_proved_together(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2}], rule="1/2")
    for chain in (None, ["monthly-pseudonyms"], None):
        book.add(history(), seed=1, chain=chain)
    first, *later = book.verdicts().values()
    assert first.status == VerdictStatus.PROVED
    for verdict in later:
        assert (verdict.facts.claimed, verdict.guarantee) == ({}, None)


def test_an_entry_without_facts_is_damaged(tmp_path: Path) -> None:
    """A ledger has one format: facts that the seal does not name are an error, whether the file is there or not."""
    book = ledger(tmp_path / "l")
    entry = book.add(history(), seed=1)
    secret = book.release_folder(entry.period) / "secret"
    seal = json.loads((secret / "seal.json").read_text())
    del seal["files"]["facts.json"]
    rewrite(secret / "seal.json", seal)
    path = secret.parent / "entry.json"
    kept = json.loads(path.read_text())
    kept["files"]["secret/seal.json"] = sha256((secret / "seal.json").read_bytes()).hexdigest()
    rewrite(path, kept)
    rewrite(tmp_path / "l/head.json", {"entries": 1, "digest": sha256(path.read_bytes()).hexdigest()})
    for said in ("the file changed after the release", "it cannot be read"):
        assert [error.file for error in book.check()] == [secret / "facts.json"]
        with pytest.raises(FileError, match=said):
            book.verdicts()
        (secret / "facts.json").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["certificate", "redraws", "interval"])
def test_an_entry_of_another_format_cannot_be_read(name: str, tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    path = book.release_folder(book.add(history(), seed=1).period) / "entry.json"
    kept = json.loads(path.read_text())
    del (kept if name in kept else kept["risk"])[name]
    rewrite(path, kept)
    with pytest.raises(FileError, match="it cannot be read") as damage:
        book.verdicts()
    assert damage.value.file == path


def rewrite(path: Path, content: object) -> None:
    with writing_file(path) as aside:
        aside.write_text(json.dumps(content), encoding="utf-8")
