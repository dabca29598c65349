"""What a notebook and a log show of data, releases, guesses and scores: enough to go on, bounded, nothing secret."""

from __future__ import annotations

import datetime as dt
import pprint
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from rich.pretty import pretty_repr

import noren
from noren.data.frames import LONGEST, MOST_COLUMNS, MOST_ROWS, History, Records, ResultSet, Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.i18n import use_language
from noren.judgement.sentences import headline_sentence
from noren.protocols import Guess, Score
from noren.sweeps.sweep import sweep

HOSTILE = "</td><script>alert(1)</script><img src='http://example.org/x' onerror=\"x\">\u202e\x1b[2J&"
SEED = 918_273_645


class Seen(HTMLParser):
    """The tags of a card, its texts and its tables; every tag must be closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.facts: dict[str, str] = {}
        self.styles = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            self.styles += data
            return
        if self.open[-1] == "dd":
            self.facts[self.texts[-1]] = data
        self.texts.append(data.strip())
        if self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


def seen(thing: Any) -> Seen:
    return Seen(thing._repr_html_())


@pytest.fixture(scope="module")
def history() -> History:
    rows = {
        "customer": ["Ann Secretname", "Ann Secretname", "Bob Secretname", "Bob Secretname"],
        "date": ["2010/12/1", "2010/12/3", "2010/12/8", "2011/1/1"],
        "item": ["x", "y", "x", "z"],
        "price": [1.5, 2.0, 1.5, 0.5],
        "quantity": [2, 4, 4, 10],
    }
    return History.of(rows, Schema.preset("pwscup2018"))


@pytest.fixture(scope="module")
def release(history: History) -> Release:
    return noren.protect(history, "generalize-by-count", k=2, seed=SEED)


def people(width: int, rows: int) -> Table:
    names = [f"column{i}" for i in range(width)]
    schema = Schema.of({"kind": "table", "columns": {name: {"role": "quasi"} for name in names}})
    return Table.of({name: [f"{name}-{i}" for i in range(rows)] for name in names}, schema)


# --- what is told ----------------------------------------------------------------------------------------------------


def test_a_history(history: History) -> None:
    card = seen(history)
    assert card.texts[:2] == ["history", "pwscup2018"]
    assert card.facts["rows"] == "4"
    assert card.facts["customers"] == "2"
    assert card.rows[0] == ["customer", "date", "item", "price", "quantity"]
    assert card.rows[1] == ["Ann Secretname", "2010/12/1", "x", "1.5", "2"]
    assert len(card.rows) == 5
    assert ("small", {}) in card.tags, "each column tells its role"


def test_a_table_with_a_gap() -> None:
    schema = Schema.of(
        {"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer", "optional": True}, "ill": {}}}
    )
    card = seen(Table.of({"age": [31, None], "ill": ["flu", "none"]}, schema))
    assert card.texts[0] == "table"
    assert card.rows[1:] == [["31", "flu"], ["–", "none"]]


def test_a_release(release: Release) -> None:
    card = seen(release)
    facts = card.facts
    assert card.texts[:2] == ["release", "generalize-by-count"]
    assert "k = 2" in facts["parameters"]
    assert facts["promise"] == "each public history is shared by at least k customers"
    assert facts["rows"] == "4"
    assert facts["pseudonyms"] == "2"
    assert facts["secret part"] == "withheld"
    assert [row[1:] for row in card.rows[1:]] == [line.split(",")[1:] for line in release.public.lines()]


def test_a_published_release_has_no_secret_part(release: noren.Release, tmp_path) -> None:
    release.publish(tmp_path / "out", override="a test")
    assert seen(Release.load(tmp_path / "out")).facts["secret part"] == "not here"


def test_a_suppressed_cell_is_a_star(history: History) -> None:
    shown = history.to_polars().with_columns(item=pl.lit(None, dtype=pl.String))
    release = Release.of_aligned(history, History.of_release(shown, history.schema), Statement("by hand"))
    assert [row[2] for row in seen(release).rows[1:]] == ["*"] * 4


def test_a_guess() -> None:
    pairs = pl.DataFrame({"pseudonym": ["1", "2"], "customer": ["a", None], "score": [0.98765, float("nan")]})
    guess = Guess("jaccard", pairs)
    card = seen(guess)
    assert card.texts[:2] == ["Guess", "jaccard"]
    assert card.facts["Named"] == "2"
    assert card.rows == [["pseudonym", "customer", "score"], ["1", "a", "0.9877"], ["2", "–", "–"]]
    assert repr(guess) == "Guess(attack='jaccard', pairs=2)"


def test_only_the_first_of_several_candidates_is_shown() -> None:
    pairs = pl.DataFrame({"pseudonym": ["1", "1"], "customer": ["a", "b"], "score": [1.0, 0.5], "rank": [1, 2]})
    assert seen(Guess("mine", pairs)).rows[1:] == [["1", "a", "1"]]


def test_a_score(history: History, release: Release) -> None:
    score = noren.measure(history, release, "cell-error")
    card = seen(score)
    assert card.texts[:2] == ["Measure", "cell-error"]
    assert card.facts["Value"] == f"{score.value:.4g} (lower is better)"
    assert card.rows == [["Part", "Value"], *([name, f"{part:.4g}"] for name, part in score.parts.items())]
    assert repr(score).startswith(f"Score({score.value:.4g}, measure='cell-error', goal='lower', parts(date=")


def test_a_score_of_nobody_in_particular() -> None:
    score = Score(0.25, {}, {"who": "Ann Secretname"})
    assert repr(score) == "Score(0.25)"
    assert seen(score).facts["Value"] == "0.25"
    assert "Secretname" not in score._repr_html_()
    assert score == Score(0.25, {}, {"who": "Ann Secretname"}, measure="x", goal="higher")
    assert seen(Score(float("nan"), goal="higher")).facts["Value"] == "– (higher is better)"


def test_numbers_a_person_can_read() -> None:
    parts = {"much": 38_000.4, "little": 0.000_012_345, "none": 0.0, "no end": float("inf"), "below": -2500.0}
    assert [row[1] for row in seen(Score(1, parts)).rows[1:]] == ["38,000", "1.234e-05", "0", "inf", "-2,500"]


def test_a_verdict(history: History, release: Release) -> None:
    verdict = noren.verdict(history, release, "1/2", attacks=["unique-rows", "jaccard"])
    assert repr(verdict) == str(verdict) == f"Verdict({headline_sentence(verdict)})"
    assert repr(verdict).startswith("Verdict(Proved: at least 2 customers share each released history, so nobody is")
    card = seen(verdict)
    assert card.texts[:2] == ["Verdict", "◆ proved (1/2)"]
    assert card.facts["Risk"] == "50.0%"
    assert card.rows[0][:3] == ["Attack", "Named", "Right"]
    assert [row[0] for row in card.rows[1:]] == ["jaccard"], "unique-rows named nobody"


def test_studies(history: History, tmp_path) -> None:
    sample = noren.sample(customers=100, rows=1000, items=100, seed=1)
    inferred = noren.infer(sample, method="pseudonymize", hold_out=0.3, seeds=1, threats=["membership"])
    assert repr(inferred).startswith("InferenceStudy(beyond the control group: membership by likelihood +90.0%, ")
    assert seen(inferred).rows[1][:5] == ["membership", "–", "likelihood", "auc", "1"]
    study = sweep(sample, "generalize-by-count", k=[5], attacks=[], measures=[], seeds=[1], cache=tmp_path, workers=1)
    assert repr(study).startswith("SweepStudy(1 settings; Recommended: generalize-by-count, k = 5. ")


def test_results_are_a_mapping_that_prints_as_a_table() -> None:
    table = pl.DataFrame({"Name": ["a", "暖簾"], "Value": [0.25, 1234.0], "Unit": ["share", None]})
    results = ResultSet({"a": 1, "暖簾": 2}, table, {"b": "broke <down>"})
    assert (dict(results), len(results)) == ({"a": 1, "暖簾": 2}, 2)
    shown = repr(results).splitlines()
    assert "".join(shown[1].split()) == "│Name┆Value┆Unit│"
    assert "".join(shown[-3].split()) == "│暖簾┆1234.0┆null│"
    assert shown[-1] == "b failed: broke <down>"
    assert seen(results).facts["b"] == "broke <down>"
    assert seen(results).rows == [["Name", "Value", "Unit"], ["a", "0.25", "share"], ["暖簾", "1,234", "–"]]
    assert results.to_polars().equals(table)


# --- bounds and safety -----------------------------------------------------------------------------------------------


def things_of(table: Table) -> list[Any]:
    pairs = pl.DataFrame({name: table.frame[name] for name in table.schema.names})
    release = Release.of_aligned(table, table, Statement("by hand"))
    parts = {f"{i}{table.frame[0, 0]}": 1.0 for i in range(len(table))}
    return [table, release, Guess(table.frame[0, 0], pairs), Score(1.0, parts, measure=table.frame[0, 0])]


@pytest.mark.parametrize("which", range(4), ids=["records", "release", "guess", "score"])
def test_a_card_is_bounded(which: int) -> None:
    few, many = (things_of(people(MOST_COLUMNS + 5, rows))[which] for rows in (MOST_ROWS, 3_000))
    card = seen(many)
    rows = card.rows[1:]
    assert len(rows) == (MOST_COLUMNS if which == 3 else MOST_ROWS)
    assert max(map(len, rows)) <= MOST_COLUMNS
    assert any("of 3,000" in text for text in card.texts)
    assert which == 3 or any(f"columns 1 to {MOST_COLUMNS} of {MOST_COLUMNS + 5}" in text for text in card.texts)
    assert len(many._repr_html_()) - len(few._repr_html_()) < 2_000
    assert len(repr(many)) < 600


@pytest.mark.parametrize("which", range(4), ids=["records", "release", "guess", "score"])
def test_values_cannot_write_into_the_page(which: int) -> None:
    schema = Schema.of({"kind": "table", "columns": {f"name {HOSTILE}": {"role": "quasi"}}})
    thing = things_of(Table.of({f"name {HOSTILE}": [HOSTILE, "x" * 5_000]}, schema))[which]
    card = seen(thing)
    assert {tag for tag, _about in card.tags} <= {
        "div", "style", "p", "strong", "dl", "dt", "dd", "small",
        "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert {name for _tag, about in card.tags for name in about} <= {"class", "lang", "scope"}
    assert not {"\u202e", "\x1b"} & set("".join(card.texts) + repr(thing))
    assert max(map(len, card.texts)) <= max(LONGEST, 300)
    assert "<script>" in "".join(card.texts), "what it says can still be read"


@pytest.mark.parametrize("which", range(4), ids=["records", "release", "guess", "score"])
def test_a_card_loads_nothing_and_suits_light_and_dark(which: int) -> None:
    card = seen(things_of(people(3, 3))[which])
    assert "color-scheme:light dark" in card.styles
    assert not any(word in card.styles for word in ("url(", "@import", "http", "//"))
    # text has the notebook's own colour, so that it can be read on any ground
    assert [line for line in card.styles.replace("}", ";").split(";") if line.strip().startswith("color:")] == [
        "color:inherit"
    ]


# --- secrets ---------------------------------------------------------------------------------------------------------


def test_nothing_secret_is_shown_in_any_way_of_showing(history: History, release: Release) -> None:
    assert release.secret.seed == SEED
    shown = "".join(
        way(thing)
        for thing in (release, release.secret, release.public, {"kept": [release]})
        for way in (repr, str, pprint.pformat, pretty_repr, "{}".format)
    )
    shown += release._repr_html_() + release.public._repr_html_()
    for secret in (SEED, release.secret.digest, "Secretname"):
        assert str(secret) not in shown
    assert not hasattr(release.secret, "_repr_html_")
    # the map does hold the names, so the check above can fail
    assert "Ann Secretname" in release.secret.pseudonyms["customer"].to_list()


def test_a_log_gets_no_rows_of_people(history: History) -> None:
    assert repr(history) == "History(rows=4, schema='pwscup2018', columns='customer, date, item, price, quantity')"
    wide = people(30, 1)
    assert repr(wide).startswith("Table(rows=1, schema='custom', columns='column0, column1,")
    assert "and 10 more" in repr(wide)


def test_a_release_prints_on_one_line(release: Release) -> None:
    said = repr(release)
    assert said.startswith("Release by generalize-by-count, k = 2, ")
    assert said.endswith(": 4 rows of 2 pseudonyms; secret withheld")


# --- Japanese --------------------------------------------------------------------------------------------------------


def test_cards_speak_japanese(history: History, release: Release) -> None:
    with use_language("ja"):
        cards = [seen(thing) for thing in (history, release, noren.measure(history, release, "cell-error"))]
    assert [card.texts[0] for card in cards] == ["履歴", "リリース", "指標"]
    assert all(card.tags[0] == ("div", {"class": "noren-card", "lang": "ja"}) for card in cards)
    assert cards[0].facts["行数"] == "4"
    assert cards[1].facts["保証内容"] != "each public history is shared by at least k customers"
    assert cards[2].facts["値"].endswith("(低いほど良い)")


def test_generalised_cells_are_shown_as_files_spell_them() -> None:
    schema = Schema.preset("pwscup2018")
    cells = {
        "customer": ["7"],
        "date": [{"lo": dt.date(2010, 12, 1), "hi": dt.date(2010, 12, 3)}],
        "item": [["x", "y"]],
        "price": [2.1],
        "quantity": [{"lo": 3, "hi": 3}],
    }
    public: Records = History.of_release(cells, schema)
    assert seen(public).rows[1] == ["7", "[2010/12/1;2010/12/3]", "{x;y}", "2.1", "3"]
