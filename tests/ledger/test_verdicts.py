"""Each entry keeps what attacks got, and is judged by the rule in force; an older ledger is as it was."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.ledger.books import MONTHS, history, ledger

from noren.data.formats.files import writing_file
from noren.errors import FileError
from noren.judgement.judging import judge
from noren.judgement.rule import RULES, rule_named
from noren.judgement.verdict import Reason, Word
from noren.ledger import Ledger, verdicts

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
    assert first is not None
    assert second is not None
    # in December one of two is found, in January both: by hand, see tests/ledger/books.py
    assert [(one.attack, one.named, one.right, one.customers) for one in first.facts.tried] == [("s1", 1, 1, 1)]
    assert {one.attack for one in second.facts.tried} == {"s1", "s1 alone"}
    assert second.facts.people == 2
    assert (second.word, second.reason, second.risk) == (Word.BROKEN, Reason.TOO_MANY_NAMED, 1.0)
    assert found["2011/2"] == judge(found["2011/2"].facts, "partner")  # type: ignore[union-attr]
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
    assert again.settings.rule == rule_named("0.3")
    assert again.check() == []
    for period, verdict in again.verdicts().items():
        assert verdict is not None
        before = book.verdicts()[period]
        assert before is not None
        assert verdict == judge(before.facts, "0.3")
    assert [entry["verdict"]["rule"] for entry in again.as_dict()["entries"]] == [again.settings.rule.as_dict()] * 3


def test_a_rule_without_a_name_is_read_back(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", rule="1/8")
    assert Ledger.open(tmp_path / "l").settings == made.settings


def test_a_verdict_of_another_program_is_given_anew(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    proposal = book.weigh(history(), seed=1)
    kept = json.loads(json.dumps(verdicts.kept_form(proposal.verdict)))
    assert verdicts.verdict_of_kept(kept, book.settings.rule) == proposal.verdict
    kept["verdict"]["word"] = "proved"
    assert verdicts.verdict_of_kept(kept | {"noren": "0"}, book.settings.rule) == proposal.verdict
    assert verdicts.verdict_of_kept(kept, RULES["public"]) == judge(proposal.verdict.facts, "public")
    kept["verdict"] = {"of": "another form"}
    assert verdicts.verdict_of_kept(kept, book.settings.rule) == proposal.verdict


def test_the_facts_lie_under_the_seal(tmp_path: Path) -> None:
    book = filled(tmp_path / "l")
    file = book.release_folder("2011/1") / "secret/facts.json"
    assert "right_at" not in (book.release_folder("2011/1") / "entry.json").read_text()
    file.write_text(file.read_text().replace('"people": 2', '"people": 9'))
    assert [error.file for error in book.check()] == [file]
    with pytest.raises(FileError, match="not what it was"):
        book.verdicts()


def test_what_each_release_proves_all_prove_together(tmp_path: Path) -> None:
    book = filled(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2}], rule="1/2")
    first, *later = book.verdicts().values()
    assert first is not None
    assert (first.facts.claimed, first.facts.smallest_class, first.facts.periods) == ({"k": 2}, 2, 1)
    assert first.word == Word.PROVED
    for months, verdict in enumerate(later, start=2):
        assert verdict is not None
        assert (verdict.word, verdict.reason) == (Word.PROVED, Reason.GUARANTEE)
        assert verdict.guarantee is not None
        assert (verdict.guarantee.k, verdict.guarantee.by, verdict.risk) == (2, "classes", 0.5)
        assert verdict.facts.periods == months
        assert f"in each of the {months} periods, so no pseudonym is re-identified with a probability above 50.0%" in (
            verdict.sentence
        )
    # two of two customers in pairs, three months: 1 - (1/2)^3 are named rightly at least once
    assert "re-identifies up to 87.5% of the customers at least once" in verdict.sentence  # type: ignore[union-attr]


def test_one_month_without_classes_and_nothing_is_proved_together(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2}], rule="1/2")
    for chain in (None, ["monthly-pseudonyms"], None):
        book.add(history(), seed=1, chain=chain)
    first, *later = book.verdicts().values()
    assert first is not None
    assert first.word == Word.PROVED
    for verdict in later:
        assert verdict is not None
        assert (verdict.facts.claimed, verdict.guarantee) == ({}, None)


class TestOlderLedgers:
    def test_they_open_and_verify_as_before(self, tmp_path: Path) -> None:
        book = filled(tmp_path / "l")
        as_an_older_noren_left_it(tmp_path / "l")
        old = Ledger.open(tmp_path / "l")
        assert old.check() == []
        assert old.settings.rule == RULES["partner"]
        assert [entry.risk.attacks for entry in old.entries] == [entry.risk.attacks for entry in book.entries]
        assert old.verdicts() == dict.fromkeys(MONTHS)
        assert [entry["verdict"] for entry in old.as_dict()["entries"]] == [None] * 3

    def test_what_comes_after_is_judged(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        book.add(history(), seed=1)
        as_an_older_noren_left_it(tmp_path / "l")
        old = Ledger.open(tmp_path / "l")
        old.add(history(), seed=1)
        assert [verdict is None for verdict in old.verdicts().values()] == [True, False]
        assert old.check() == []

    def test_facts_that_no_seal_knows_are_not_believed(self, tmp_path: Path) -> None:
        book = filled(tmp_path / "l")
        facts = book.release_folder("2011/2") / "secret/facts.json"
        content = facts.read_bytes()
        as_an_older_noren_left_it(tmp_path / "l")
        facts.write_bytes(content)
        assert book.verdicts()["2011/2"] is None


def as_an_older_noren_left_it(folder: Path) -> None:
    """Take the rule and the facts out of a ledger, and chain its entries as if they had never been."""
    settings = folder / "ledger.toml"
    kept_lines = [line for line in settings.read_text().splitlines(keepends=True) if not line.startswith("rule")]
    settings.write_text("".join(kept_lines))
    entries = sorted(
        (folder / "releases").glob("*/entry.json"), key=lambda path: json.loads(path.read_text())["number"]
    )
    digest = None
    for path in entries:
        (path.parent / "secret/facts.json").unlink()
        seal = path.parent / "secret/seal.json"
        _write(seal, (kept := json.loads(seal.read_text())) | {"files": without_facts(kept["files"])})
        entry = json.loads(path.read_text())
        entry["previous"] = digest
        del entry["certificate"], entry["risk"]["redraws"], entry["risk"]["interval"]
        entry["files"]["secret/seal.json"] = sha256(seal.read_bytes()).hexdigest()
        _write(path, entry)
        digest = sha256(path.read_bytes()).hexdigest()
    _write(folder / "head.json", {"entries": len(entries), "digest": digest})


def without_facts(files: dict[str, str]) -> dict[str, str]:
    return {name: digest for name, digest in files.items() if name != "facts.json"}


def _write(path: Path, content: object) -> None:
    with writing_file(path) as aside:
        aside.write_text(json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n", encoding="utf-8")
