"""noren ledger, as a person types it."""

import json
from pathlib import Path

import pytest
from tests.cli.test_publish import CARD
from tests.ledger.books import LINES, MONTHS, everything_in, history, months

from noren.data.contest_files import write_rows

INIT = ("init", "l", "--schema", "pwscup2018", "--chain", "chain.toml")
CHAIN = '[[step]]\nmethod = "monthly-pseudonyms"\n'


@pytest.fixture
def original(tmp_path: Path) -> Path:
    write_rows(history(), tmp_path / "T.csv")
    return tmp_path / "T.csv"


@pytest.fixture
def folder(noren, tmp_path: Path) -> Path:
    """An empty ledger with a budget that January breaks."""
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    words = ("--schema", "pwscup2018", "--chain", tmp_path / "chain.toml", "--attacks", "s1", "--budget", "emm=0.7")
    answer = noren("ledger", "init", tmp_path / "ledger", *words)
    assert answer.code == 0, answer.err
    return tmp_path / "ledger"


@pytest.mark.parametrize("command", ["init", "add", "show", "check", "chart"])
def test_every_command_helps_with_an_example(noren, command) -> None:
    answer = noren("ledger", command, "--help")
    assert answer.code == 0
    assert f"Example: noren ledger {command}" in " ".join(answer.out.split())


def test_a_stewards_year(noren, folder, original, tmp_path) -> None:
    first = noren("ledger", "add", folder, original, "--seed", 1, "--dry-run")
    assert first.code == 0
    assert "nothing was written" in first.err
    assert "rows of later periods, not added: 4" in first.err
    for word in ("UM", "0.5000", "0.7000", "MM of each attack after each release", "2010/12"):
        assert word in first.out
    assert noren("ledger", "show", folder).err.startswith("nothing was released yet")

    assert "2010/12 released: 2 rows in" in noren("ledger", "add", folder, original, "--seed", 1).out
    refused = noren("ledger", "add", folder, original, "--seed", 1)
    assert refused.code == 1
    assert refused.err.splitlines()[-1] == (
        "noren: 2011/1 was not released: EMM would be 0.7500, above the budget of 0.7; "
        "protect it more strongly with --chain, or do not release it"
    )
    (tmp_path / "strong.toml").write_text(
        '[[step]]\nmethod = "thin"\nshare = 0.5\nallow_vanish = true\n' + CHAIN, encoding="utf-8"
    )
    passed = noren("ledger", "add", folder, original, "--seed", 1, "--chain", tmp_path / "strong.toml")
    assert passed.code == 0
    assert "2011/1 released: 1 rows" in passed.out

    shown = noren("ledger", "show", folder)
    assert shown.code == 0
    assert "Budget EMM: 0.7; Remaining: 0.0333" in shown.out
    said = " ".join(shown.out.split())
    assert "▲ broken" in said
    assert "All releases up to 2011/1: Broken: " in said
    assert "Rule partner" in said
    for told in (first.out, passed.out, shown.out):
        assert "safe" not in told
    checked = noren("ledger", "check", folder)
    assert (checked.code, checked.out) == (0, "No file has changed (releases: 2).\n")
    published = noren("publish", folder / "releases/2011-1", "--out", tmp_path / "out", "--override", "a test")
    assert published.code == 0
    handed_out = {path.name for path in (tmp_path / "out").iterdir()}
    assert handed_out == {*CARD, "public.parquet", "statement.json"}


class TestJson:
    def test_init(self, noren, tmp_path) -> None:
        (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
        words = ("--schema", "pwscup2017", "--chain", tmp_path / "chain.toml", "--period", "week", "--json")
        said = noren("ledger", "init", tmp_path / "l", *words, "--budget", "um=0.1,mm=0.2", "--budget", "emm=1").json
        assert said["budget"] == said["left"] == {"um": 0.1, "mm": 0.2, "emm": 1.0}
        assert said["attacks"][:2] == ["s1", "s2"]
        assert said["steps"][0]["period"] == said["period"] == "week"
        assert said["entries"] == []
        assert said["rule"]["name"] == "partner"

    def test_add_and_refusal(self, noren, folder, original) -> None:
        (one,) = noren("ledger", "add", folder, original, "--seed", 1, "--json").json["additions"]
        assert (one["period"], one["released"], one["before"], one["broken"]) == ("2010/12", True, None, {})
        assert one["curve"] == {"periods": ["2010/12"], "mm": {"s1": [0.5]}}
        assert one["release"] == str(folder / "releases/2010-12")
        before = everything_in(folder)
        refused = noren("ledger", "add", folder, original, "--seed", 1, "--json")
        assert refused.code == 1
        (two,) = refused.json["additions"]
        assert (two["released"], two["release"], two["broken"]) == (False, None, {"emm": 0.75})
        assert two["before"]["emm"] == 0.5
        assert two["after"]["attacks"]["s1"] == {"um": 0.5, "mm": 0.75, "emm": 0.75}
        assert two["curve"]["mm"] == {"s1": [0.5, 0.75]}
        assert everything_in(folder) == before

    def test_show_check_and_chart(self, noren, folder, original, tmp_path) -> None:
        noren("ledger", "add", folder, original, "--seed", 2)  # s1 names one of two who are alike, and is right
        shown = noren("ledger", "show", folder, "--json").json
        assert shown["left"]["emm"] == pytest.approx(0.2)
        assert [entry["period"] for entry in shown["entries"]] == ["2010/12"]
        assert shown["entries"][0]["verdict"]["verdict"] == "broken"
        assert shown["entries"][0]["verdict"]["rule"] == shown["rule"]
        assert noren("ledger", "check", folder, "--json").json == {"ok": True, "problems": []}
        drawn = noren("ledger", "chart", folder, "--out", tmp_path / "c.svg", "--json")
        assert drawn.json == {"out": str(tmp_path / "c.svg")}
        assert (tmp_path / "c.svg").read_text(encoding="utf-8").startswith("<svg")


class TestExplain:
    def test_names_are_told_on_request_alone(self, noren, folder, original, tmp_path) -> None:
        for words in ((), ("--json",)):
            plain = noren("ledger", "add", folder, original, "--seed", 1, "--dry-run", *words)
            assert "ann" not in plain.out + plain.err.replace("channel", "")
            assert "bob" not in plain.out + plain.err
        told = noren("ledger", "add", folder, original, "--seed", 1, "--dry-run", "--explain")
        assert "warning: this table names customers; keep it confidential" in told.err
        assert ("ann" in told.out) != ("bob" in told.out)  # December's one key leads to one of them
        said = noren("ledger", "add", folder, original, "--seed", 1, "--dry-run", "--explain", "--json").json
        (person,) = said["additions"][0]["exposed"]
        assert person["customer"] in ("ann", "bob")
        assert (person["periods_found"], person["periods"], person["attacks"]) == (1, 1, 1)

    def test_shows_and_charts_name_nobody(self, noren, folder, original, tmp_path) -> None:
        noren("ledger", "add", folder, original, "--seed", 1)
        noren("ledger", "chart", folder, "--out", tmp_path / "c.html")
        page = (tmp_path / "c.html").read_text(encoding="utf-8")
        for said in (page, noren("ledger", "show", folder, "--json").out, noren("ledger", "show", folder).out):
            assert "bob" not in said


class TestAll:
    def test_one_after_another_until_the_budget(self, noren, folder, original) -> None:
        answer = noren("ledger", "add", folder, original, "--all", "--seed", 1, "--json")
        assert answer.code == 1
        assert [(a["period"], a["released"]) for a in answer.json["additions"]] == [
            ("2010/12", True),
            ("2011/1", False),
        ]

    def test_everything(self, noren, folder, original) -> None:
        file = folder / "ledger.toml"
        file.write_text(file.read_text(encoding="utf-8").replace("emm = 0.7", "emm = 0.8"), encoding="utf-8")
        answer = noren("ledger", "add", folder, original, "--all")
        assert answer.code == 0, answer.err
        shown = noren("ledger", "show", folder, "--json").json
        assert [entry["period"] for entry in shown["entries"]] == MONTHS
        assert shown["curve"]["mm"]["s1"] == pytest.approx([1 / 2, 3 / 4, 4 / 6])
        again = noren("ledger", "add", folder, original, "--all")
        assert again.code == 2
        assert "the file ends with 2011/2, and 2011/2 was already released" in again.err

    def test_it_stops_at_a_gap_and_tells_what_was_done(self, noren, folder, tmp_path) -> None:
        write_rows(months(MONTHS[0], MONTHS[2]), tmp_path / "gap.csv")
        answer = noren("ledger", "add", folder, tmp_path / "gap.csv", "--all", "--json")
        assert answer.code == 2
        assert "after 2010/12 comes 2011/1, not 2011/2" in answer.err
        assert [a["period"] for a in answer.json["additions"]] == ["2010/12"]
        assert noren("ledger", "add", folder, tmp_path / "gap.csv", "--allow-gap").code == 0


def test_a_chart_of_what_would_come(noren, folder, original, tmp_path) -> None:
    noren("ledger", "add", folder, original, "--seed", 1)
    refused = noren("ledger", "add", folder, original, "--seed", 1, "--chart", tmp_path / "c.html")
    assert refused.code == 1
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "would find 75.0% of the pseudonyms at most; the budget of 70.0% is exceeded" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "nowhere", "T.csv"), "nowhere: this is not a ledger; name a folder created by noren ledger init"),
        (("add", "ledger", "nowhere.csv"), "nowhere.csv: there is no such file"),
        (("add", "ledger", "T.csv", "--period-name", "2011/1", "--all"), "--all and --period-name, --dry-run exclude"),
        (("add", "ledger", "T.csv", "--all", "--dry-run"), "--all and --period-name, --dry-run exclude"),
        (("add", "ledger", "T.csv", "--period-name", "2013/1"), "T.csv: the file has no rows of 2013/1"),
        (("add", "ledger", "T.csv", "--chart", "c.pdf"), "no chart ends in '.pdf'"),
        (("add", "ledger", "T.csv", "--chain", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("init", "ledger", "--schema", "pwscup2018", "--chain", "chain.toml"), "is not empty"),
        ((*INIT, "--budget", "emm"), "--budget emm is not valid; write it like emm=0.2"),
        ((*INIT, "--budget", "u=1"), "there is no budget 'u'"),
        ((*INIT, "--attacks", ","), "a ledger needs attacks to measure risk"),
        ((*INIT, "--period", "day"), "there is no period 'day'"),
        (("show", "nowhere"), "this is not a ledger"),
        (("chart", "ledger", "--out", "c.png"), "nothing was released yet, so there is nothing to draw"),
    ],
)  # fmt: skip
def test_wrong_words_are_one_line_and_exit_2(noren, folder, original, monkeypatch, words, said) -> None:
    monkeypatch.chdir(folder.parent)
    before = everything_in(folder.parent)
    answer = noren("ledger", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert said in answer.err
    assert len([line for line in answer.err.splitlines() if line.startswith("noren: ")]) == 1
    assert everything_in(folder.parent) == before


@pytest.mark.parametrize(
    ("lines", "more", "said"),
    [
        (LINES, ("--period-name", "2010/12"), "T2.csv: 2010/12 was already released; the next period is 2011/1"),
        (LINES[:2], (), "T2.csv: the file ends with 2010/12, and 2010/12 was already released"),
        (LINES[4:], (), "T2.csv: after 2010/12 comes 2011/1, not 2011/2; add 2011/1 first"),
        (LINES[1:], (), "T2.csv: the rows of 2010/12 are not those released (2 rows then, 1 in this file)"),
        (["ann 2010/11/1 tea 1 1", *LINES], ("--period-name", "2010/11"), "2010/11 comes before 2010/12"),
    ],
)
def test_the_past_stays(noren, folder, original, tmp_path, lines, more, said) -> None:
    noren("ledger", "add", folder, original, "--seed", 1)
    before = everything_in(folder)
    write_rows(history(lines), tmp_path / "T2.csv")
    answer = noren("ledger", "add", folder, tmp_path / "T2.csv", *more)
    assert answer.code == 2
    assert said in answer.err
    assert everything_in(folder) == before


def test_damage_is_named_and_exits_2(noren, folder, original) -> None:
    noren("ledger", "add", folder, original, "--seed", 1)
    statement = folder / "releases/2010-12/statement.json"
    statement.write_text(statement.read_text(encoding="utf-8") + " ", encoding="utf-8")
    answer = noren("ledger", "check", folder)
    assert answer.code == 2
    assert f"{statement}: the file changed after the release" in answer.out
    said = noren("ledger", "check", folder, "--json")
    assert said.code == 2
    assert said.json["ok"] is False
    assert said.json["problems"][0]["file"] == str(statement)
    added = noren("ledger", "add", folder, original)
    assert added.code == 2
    assert str(statement) in added.err


def test_a_small_seed_is_warned_of(noren, folder, original) -> None:
    assert "small seeds" in noren("ledger", "add", folder, original, "--seed", 1, "--dry-run").err
    assert "small seeds" not in noren("ledger", "add", folder, original, "--dry-run").err


def test_a_master_is_read(noren, folder, original, tmp_path) -> None:
    (tmp_path / "M.csv").write_text("ann,f,1950/1/1,Japan\n", encoding="utf-8")
    answer = noren("ledger", "add", folder, original, "--master", tmp_path / "M.csv")
    assert answer.code == 2
    assert "1 customers of the original are missing from the master, the first is bob" in answer.err


def test_what_is_kept_reads_as_plain_files(noren, folder, original) -> None:
    noren("ledger", "add", folder, original, "--seed", 1)
    entry = json.loads((folder / "releases/2010-12/entry.json").read_text(encoding="utf-8"))
    assert entry["risk"]["mm"] == 0.5
    assert json.loads((folder / "head.json").read_text(encoding="utf-8"))["entries"] == 1


def test_a_ledger_that_attacks_only_before_release_says_what_is_not_known(noren, small_csv, tmp_path) -> None:
    (tmp_path / "chain.toml").write_text('[[step]]\nmethod = "monthly-pseudonyms"\n')
    folder = tmp_path / "once"
    words = ("--schema", "pwscup2018", "--chain", tmp_path / "chain.toml", "--attacks", "s1", "--only-before-release")
    made = noren("ledger", "init", folder, *words)
    assert made.code == 0, made.err
    assert "Each period is attacked only before its release." in made.out
    for _month in range(2):
        added = noren("ledger", "add", folder, small_csv, "--seed", 1)
        assert added.code == 0, added.err
    assert "Risk of 2011/1 alone" in added.out
    assert "the results cover only the last period, not all releases together" in " ".join(added.out.split())
    shown = noren("ledger", "show", folder)
    assert shown.code == 0, shown.err
    assert "the results cover only the last period, not all releases together" in " ".join(shown.out.split())
    about = noren("ledger", "show", folder, "--json").json
    assert about["attack_released"] is False
    assert [entry["risk"].get("alone", False) for entry in about["entries"]] == [False, True]
