"""``noren papers``: from a folder, an original or a ledger to a folder of papers."""

from noren.ledger import Ledger

SCHEMA = ("--schema", "pwscup2018")


def test_papers_with_evidence_and_facts(noren, small_csv, release, tmp_path) -> None:
    (tmp_path / "facts.toml").write_text('company = "株式会社のれん"\n', encoding="utf-8")
    out = tmp_path / "papers"
    words = ("papers", release, "--law", "appi", "--original", small_csv, *SCHEMA, "--out", out)
    answer = noren(*words, "--facts", tmp_path / "facts.toml", "--rule", "inside", "--lang", "ja", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["verdict"]["verdict"] == "proved"
    assert "株式会社のれんは、匿名加工情報を作成しました。" in (out / "1-making.md").read_text(encoding="utf-8")
    assert len(list(out.iterdir())) == 19
    again = noren(*words)
    assert again.code == 2
    assert "--force" in again.err


def test_house_defaults_come_first_and_later_files_count(noren, release, tmp_path) -> None:
    (tmp_path / "house.toml").write_text('company = "Noren Inc."\ncontact = "desk"\n', encoding="utf-8")
    (tmp_path / "facts.toml").write_text('contact = "lab"\n', encoding="utf-8")
    files = ("--facts", tmp_path / "house.toml", "--facts", tmp_path / "facts.toml")
    answer = noren("papers", release, "--law", "appi", *files, "--out", tmp_path / "papers")
    assert answer.code == 0, answer.err
    said = (tmp_path / "papers" / "1-making.md").read_text(encoding="utf-8")
    assert said.count("Noren Inc. has made anonymously processed information.") == 1
    assert "Contact: lab." in said
    (tmp_path / "facts.toml").write_text('contcat = "lab"\n', encoding="utf-8")
    wrong = noren("papers", release, "--law", "appi", *files, "--out", tmp_path / "other")
    assert wrong.code == 2
    assert "contcat is not a fact of the papers" in wrong.err


def test_papers_about_a_broken_release_are_written_and_stamped(noren, small_csv, release, tmp_path) -> None:
    out = tmp_path / "papers"
    answer = noren(
        "papers", release, "--law", "gdpr", "--original", small_csv, *SCHEMA, "--rule", "public", "--out", out
    )
    assert answer.code == 0, answer.err
    assert "warning: every document states the verdict: ▲ broken" in answer.err
    assert "▲ broken" in (out / "1-dpia.md").read_text(encoding="utf-8")
    assert f"written to {out}; fields to fill in: " in answer.out


def test_papers_about_a_release_alone_say_that_nothing_was_tried(noren, small_csv, tmp_path) -> None:
    release = tmp_path / "thinned"
    noren("protect", small_csv, *SCHEMA, "--method", "thin", "--out", release)
    answer = noren("papers", release, "--law", "gdpr", "--rule", "public", "--out", tmp_path / "papers")
    assert answer.code == 0, answer.err
    assert "warning: every document states the verdict: ■ untried" in answer.err


def test_papers_take_the_evidence_of_a_ledger(noren, small, tmp_path) -> None:
    book = Ledger.create(
        tmp_path / "ledger", schema="pwscup2018", chain=["monthly-pseudonyms"], attacks=["s1"], rule="partner"
    )
    entry = book.add(small, seed=1)
    answer = noren("papers", book.release_folder(entry.period), "--law", "gdpr", "--out", tmp_path / "papers", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["verdict"]["evidence"][0]["attack"] == "s1"
    said = (tmp_path / "papers" / "1-dpia.md").read_text(encoding="utf-8")
    assert f"kept when {entry.period} was released" in said
    words = ("--law", "gdpr", "--rule", "1/2", "--out", tmp_path / "other", "--json")
    other = noren("papers", book.release_folder(entry.period), *words)
    assert other.json["verdict"]["rule"]["tolerance"] == 0.5
    assert other.json["verdict"]["evidence"][0]["attack"] == "s1"


def test_what_cannot_be_is_told_in_one_line(noren, small_csv, release, tmp_path) -> None:
    out = ("--out", tmp_path / "papers")
    alone = noren("papers", release, "--law", "appi", "--control", small_csv, *out)
    assert alone.code == 2
    assert "--original is missing; add it" in alone.err
    nothing = noren("papers", tmp_path, "--law", "appi", *out)
    assert nothing.code == 2
    other = noren("papers", release, "--law", "hipaa", *out)
    assert other.code == 2
    assert not (tmp_path / "papers").exists()
