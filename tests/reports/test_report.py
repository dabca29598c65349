"""The page holds the scores' own numbers, loads nothing, escapes everything and says everything in one language."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.drawing.base import COLOURS
from noren.errors import OutputError, ParameterError
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, examine, run_outcome
from noren.measures import measures
from noren.protocols import Score
from noren.reports.report import point_labels, report_html, write_report
from noren.reports.scripts import ScriptOrder, commands

STYLES = files("noren.drawing") / "templates" / "report.css"
VOID = {"meta", "br", "wbr", "img", "link", "input", "hr"}
SPOKEN = ("title", "aria-label", "data-label")
FEW: dict[str, Any] = {"attacks": ["unique-rows"], "measures": ["cell-error", "effective", "reid-rate"]}


class Page(HTMLParser):
    """What a page says and what it is made of; ``data`` are its numbers by the heading they stand under."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.said: list[tuple[str, str]] = []
        self.spoken: list[str] = []
        self.numbers: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        self.spoken += [given[name] for name in SPOKEN if name in given]
        if tag == "data":
            self.numbers.append((given["value"], ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open:
            self.said.append((self.open[-1], data.strip()))
            if self.open[-1] == "data":
                self.numbers[-1] = (self.numbers[-1][0], data)

    def inside(self, tag: str) -> list[str]:
        return [text for within, text in self.said if within == tag]


@pytest.fixture(scope="module")
def text(history: History, outcomes: list[Outcome]) -> str:
    return report_html(history, outcomes)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_the_page_is_whole_and_in_english(text: str, page: Page, outcomes: list[Outcome]) -> None:
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert page.open == []
    use = 1 - outcomes[3].scores["cell-error"].value
    assert page.inside("h1") == [
        "1 of 4 releases meets the rule: generalize-by-count, k = 6, suppress-cells (proved) keeps "
        f"{use:.1%} of the utility"
    ]
    assert page.inside("title") == page.inside("h1")
    assert [text for text in page.inside("span") if text[0] in "◆●▲■"] == [
        "▲ broken", "▲ broken", "▲ broken", "◆ proved", "▲ exceeds",
    ]  # fmt: skip


@pytest.mark.parametrize(("rule", "said"), [(None, "20.0% (k = 5)"), ("public", "9.1% (k = 11)"), ("1/8", "12.5%")])
def test_the_rule_in_force_stands_above_all(
    history: History, outcomes: list[Outcome], rule: str | None, said: str
) -> None:
    page = Page(report_html(history, outcomes[:1], rule=rule))
    first = next(i for i, (tag, _text) in enumerate(page.said) if tag == "h2")
    assert [text for _tag, text in page.said[:first] if said in text and text.startswith("Rule ")]


def test_the_same_release_by_another_rule(history: History, outcomes: list[Outcome]) -> None:
    safe = outcomes[3]  # classes of six: proved for a partner, not for everybody
    assert "◆ proved" in report_html(history, [safe])
    everybody = Page(report_html(history, [safe], rule="public"))
    assert everybody.inside("h1") == [f"{safe.label}: {judge(safe, 'public').sentence}"]
    assert "a probability of up to 16.7%" in everybody.inside("h1")[0]


def test_the_numbers_are_the_scores(page: Page, outcomes: list[Outcome], history: History) -> None:
    expected = []
    verdicts = [judge(outcome) for outcome in outcomes]
    for outcome, verdict in zip(outcomes, verdicts, strict=True):
        expected += [verdict.risk, outcome.scores["cell-error"].value, outcome.release.deleted_rows]
    for outcome, verdict in zip(outcomes, verdicts, strict=True):
        hits, error = outcome.scores["effective"].parts, outcome.scores["cell-error"]
        (shown,) = verdict.evidence
        named, right = (int(hits[f"unique-rows.{part}"]) for part in ("named", "right"))
        expected += [named, right, right / named if named else 0.0, 1 / 30, outcome.scores["reid-rate"].value]
        expected += [shown.best_right, shown.needed, verdict.risk, error.value, *error.parts.values()]
    assert [value for value, _text in page.numbers] == [str(value) for value in expected]
    assert page.numbers[:3] == [("1.0", "100%"), ("0.0", "0.000"), ("0", "0")]
    assert outcomes[0].scores["effective"].value == 1.0
    assert page.numbers[4] == (str(u2 := outcomes[1].scores["cell-error"].value), f"{u2:.3f}")


def test_every_number_has_a_sentence(page: Page) -> None:
    told = [given for tag, given in page.tags if tag == "data"]
    assert len(told) == 4 * (3 + 7 + 2 + 4)
    assert all(len(given["title"].split()) > 4 for given in told)


def test_headings_link_to_their_meaning(page: Page) -> None:
    links = {given["href"] for tag, given in page.tags if tag == "a"}
    ids = [given["id"] for _tag, given in page.tags if "id" in given]
    assert {"#word-error", "#word-named", "#word-needed", "#release-4"} <= links
    assert {"word-proved", "word-withstands", "word-broken", "word-untried"} <= {g.get("id") for _t, g in page.tags}
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_steward_is_warned_and_the_seed_is_kept(history: History) -> None:
    seed = 7_261_534_908_112
    outcome = run_outcome(history, "pseudonymize", seed=seed, **FEW)
    said = report_html(history, [outcome])
    assert "Confidential: this page contains original rows." in said
    assert str(seed) not in said
    assert outcome.release.secret.digest is not None
    assert outcome.release.secret.digest[:12] not in said


def test_nothing_is_loaded_and_nothing_runs(text: str, page: Page) -> None:
    tags = {tag for tag, _given in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert not re.search(r"url\(|@import|expression\(", text)
    assert set(re.findall(r"https?://[^\"' <]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not [name for _tag, given in page.tags for name in given if name.startswith("on")]
    policy = next(g["content"] for t, g in page.tags if t == "meta" and g.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_page_is_small_and_the_same_each_time(text: str, history: History, outcomes: list[Outcome]) -> None:
    assert len(text.encode()) < 400_000
    assert report_html(history, outcomes) == text


def test_each_release_has_its_pairs_of_panels(page: Page) -> None:
    panels = [given["aria-label"] for tag, given in page.tags if given.get("role") == "img"]
    assert len(panels) == 2 + 4 * (4 * 2 + 1)
    assert panels[2].startswith("4 known purchases single out")
    assert panels[3:5] == ["date, Original", "date, Release: net shift 0%, suppressed 0%"]
    assert "quantity, Original" in panels


def test_one_release_needs_no_map(history: History, outcomes: list[Outcome]) -> None:
    said = report_html(history, outcomes[:1])
    assert 'id="map"' not in said
    assert Page(said).inside("h1") == [f"{outcomes[0].label}: {judge(outcomes[0]).sentence}"]


def test_deleted_and_generalised_rows_are_marked(text: str, page: Page, outcomes: list[Outcome]) -> None:
    marks = [given["class"] for tag, given in page.tags if tag == "mark"]
    assert {"generalised", "pseudonym"} <= set(marks)
    assert ";<wbr>" in text


def test_whose_pseudonym_is_whose_can_be_left_out(history: History, outcomes: list[Outcome]) -> None:
    pages = (report_html(history, outcomes, pseudonyms=each) for each in (True, False))
    shown, hidden = (re.findall(r'class="pseudonym"[^>]*>([^<]*)<', page) for page in pages)
    assert len(shown) == len(hidden) > 0
    assert all(re.fullmatch(r"\d+", said) for said in shown)
    assert set(hidden) == {"–"}


def test_statement_and_commands(page: Page) -> None:
    commands = " ".join(page.inside("span"))
    assert "--method generalize-by-count --k 3 --suppress-cells --seed SEED --out release/" in commands
    assert "noren attack ORIGINAL release/ --schema pwscup2018 --attacks unique-rows" in commands
    assert "k = 3, suppress_cells = true" in page.inside("dd")
    assert "each public history is shared by at least k customers" in page.inside("dd")


# --- what a hostile file could do --------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def hostile() -> tuple[History, Outcome]:
    rows = {
        "customer": [f"c{i % 4}{HOSTILE}" for i in range(16)],
        "date": ["2010/12/1"] * 16,
        "item": [HOSTILE, "\"'>&lt;b onload=x", "\x00\x1b[31m\u202e", "{{ 7 * 7 }}"] * 4,
        "price": [1.0 + i % 3 for i in range(16)],
        "quantity": [1, 2] * 8,
    }
    history = History.of(rows, Schema.preset("pwscup2018"))
    made = run_outcome(history, "generalize-by-count", k=2, seed=1, label=f'"{HOSTILE}', **FEW)
    statement = replace(
        made.release.statement, method=HOSTILE, promise=HOSTILE, noren=HOSTILE, parameters={HOSTILE: HOSTILE, "x'": [1]}
    )
    scores = {**made.scores, HOSTILE: Score(1.5, {HOSTILE: 2.0})}
    guesses = {HOSTILE: made.guesses["unique-rows"]}
    return history, Outcome(made.label, replace(made.release, statement=statement), guesses, scores)


def test_every_text_from_outside_is_escaped(hostile: tuple[History, Outcome]) -> None:
    history, outcome = hostile
    for outcomes in ([outcome], [outcome, outcome]):
        page = Page(report_html(history, outcomes, title=HOSTILE))
        assert page.open == []
        assert "script" not in {tag for tag, _given in page.tags}
        assert not [name for _tag, given in page.tags for name in given if name.startswith("on")]
        said = " ".join(text for _tag, text in page.said)
        assert said.count(HOSTILE) > 10
        assert "{{ 7 * 7 }}" in said
        assert not re.search("[\x00\x1b\u202e]", said)


# --- languages ---------------------------------------------------------------------------------------------


def unmarked(text: str) -> str:
    """Return what stands outside the brackets that a looked-up message has."""
    depth, left = 0, []
    for letter in text:
        depth += (letter == "⟦") - (letter == "⟧")
        left.append(letter if depth == 0 and letter != "⟧" else " ")
    return "".join(left)


@pytest.mark.usefixtures("marked")
def test_every_word_is_looked_up(history: History, outcomes: list[Outcome]) -> None:
    page = Page(report_html(history, [*outcomes, replace(outcomes[0], guesses={}, scores={}, label="raw")]))
    assert ("html", {"lang": "ja"}) in page.tags
    names = {"customer", "date", "item", "price", "quantity", "raw"}  # of columns and labels
    names |= {"pseudonymize", "generalize-by-count", "unique-rows", "suppress-cells", "suppress_cells", "true", "k"}
    names |= {"U", "Noren", "暖簾"}
    texts = [text for tag, text in page.said if tag != "span"] + page.spoken
    data = {cell for row in history.texts().iter_rows() for cell in row}
    left = {word for text in texts for word in re.findall(r"[^\W\d_][\w-]*", unmarked(text)) if word not in data}
    assert {word for word in left if not re.fullmatch(r"\d*[A-Z]{1,2}", word)} <= names


def test_japanese_is_spoken(history: History, outcomes: list[Outcome], speak: Callable[[str], None]) -> None:
    speak("ja")
    page = Page(report_html(history, outcomes[:2]))
    assert ("html", {"lang": "ja"}) in page.tags
    assert re.search("[ぁ-ん]", page.inside("h1")[0])


# --- parts -------------------------------------------------------------------------------------------------


def test_a_published_release_is_shown_as_far_as_it_is_known(history: History, outcomes: list[Outcome]) -> None:
    release = outcomes[0].release
    gone = Secret(release.secret.pseudonyms.clear(), release.secret.origin.clear(), 0)
    page = Page(report_html(history, [examine(history, replace(release, secret=gone), attacks=FEW["attacks"])]))
    said = " ".join(text for _tag, text in page.said)
    assert "no attack was judged" in said  # untried
    assert said.count("Not available without the secret part of the release.") == 2  # U, and the rows
    assert ("30", "30") in page.numbers


def test_tables_and_other_measures_are_shown() -> None:
    columns: dict[str, dict[str, Any]] = {"age": {"role": "quasi", "type": "integer"}, "town": {"role": "quasi"}}
    columns["gone"] = {"role": "quasi", "optional": True}
    schema = Schema.of({"kind": "table", "columns": columns})
    rows = {"age": [31, 45, 45], "town": ["x", "y", "y"], "gone": [None, None, None]}
    people = Table.of(rows, schema)
    release = Release.of_aligned(people, people, Statement("copy"))
    page = Page(report_html(people, [Outcome("copy", release, {}, {"beauty": Score(0.25, {"left": 4.0})})]))
    said = [text for _tag, text in page.said]
    assert {"beauty", "0.250", "left", "4", "age", "town"} <= set(said)
    assert [g["aria-label"] for t, g in page.tags if g.get("role") == "img"][::2] == ["age, Original", "town, Original"]


def test_a_column_that_was_dropped_has_no_pair(history: History) -> None:
    schema = history.schema.without(["price"])
    thin = History(history.frame.drop("price"), schema)
    release = Release.of_aligned(history, thin, Statement("drop"))
    page = Page(report_html(history, [Outcome("drop", release)]))
    labels = [g["aria-label"] for _t, g in page.tags if g.get("role") == "img"]
    assert len(labels) == 6 + 1
    assert not [label for label in labels if label.startswith("price")]


def test_points_are_labelled_by_what_tells_them_apart(history: History, outcomes: list[Outcome]) -> None:
    assert point_labels(outcomes) == ["pseudonymize", "k = 2", "k = 3", "k = 6"]
    named = [
        replace(o, label=label) for o, label in zip(outcomes, ["a", "generalize-by-count k=2", "x", "y"], strict=True)
    ]
    assert point_labels(named) == ["a", "k=2", "x", "y"]
    mixed = [replace(outcomes[0], label="pseudonymize twice"), outcomes[1]]
    assert point_labels(mixed) == [o.label for o in mixed]


def test_commands_quote_what_a_shell_would_read(history: History, outcomes: list[Outcome]) -> None:
    statement = Statement("m", {"on": True, "off": False, "many": ["a", "b c"], "word": "$(rm)", "none": None})
    release = replace(outcomes[0].release, statement=statement)
    mine = replace(history, schema=history.schema.model_copy(update={"name": "mine"}))
    made = commands(ScriptOrder.of(mine, Outcome("x", release)))
    assert made == [
        "noren protect ORIGINAL --schema schema.toml --method m --on --no-off --many 'a,b c' --word '$(rm)' "
        "--seed SEED --out release/"
    ]


def test_nothing_to_report_is_an_error(history: History) -> None:
    with pytest.raises(ParameterError, match="there is no release to report on"):
        report_html(history, [])


def test_a_report_is_written_whole(history: History, outcomes: list[Outcome], tmp_path: Path) -> None:
    path = write_report(history, outcomes[:1], tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == report_html(history, outcomes[:1])
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
    with pytest.raises(OutputError):
        write_report(history, outcomes[:1], tmp_path)


def test_a_title_stands_above_the_finding(history: History, outcomes: list[Outcome]) -> None:
    page = Page(report_html(history, outcomes[:1], title="Spring release"))
    assert page.inside("title") == ["Spring release"]
    assert "Spring release" in page.inside("p")
    assert page.inside("h1") == [f"{outcomes[0].label}: {judge(outcomes[0]).sentence}"]


def test_an_empty_original_has_a_report_too() -> None:
    schema = Schema.preset("pwscup2018")
    empty = History(pl.DataFrame(schema={c.name: c.dtype for c in schema.columns}), schema)
    release = Release(empty, Secret(pl.DataFrame(), pl.Series("row", [], dtype=pl.UInt32), 0), Statement("copy"))
    assert "no attack was judged" in report_html(empty, [Outcome("copy", release)])


def test_the_style_sheet_knows_every_colour_of_a_chart(text: str) -> None:
    css = STYLES.read_text(encoding="utf-8")
    dark = css[css.index("prefers-color-scheme: dark") :]
    for name, value in COLOURS.items():
        assert f"--{name}: {value};" in css
        assert re.search(rf"--{name}: #[0-9a-f]{{6}};", dark[:400])
    drawn = set(re.findall(r'(fill|stroke)="(#[0-9a-f]{6})"', text))
    assert len(drawn) >= 7
    assert [pair for pair in drawn if f'svg [{pair[0]}="{pair[1]}"]' not in css] == []


def test_the_analysts_check_is_said_in_sentences(small: History) -> None:
    outcome = run_outcome(small, "generalize-by-count", k=3, seed=1, attacks=[], measures=["analyst"])
    said = [text for tag, text in Page(report_html(small, [outcome])).said if tag == "li"]
    sentences = measures["analyst"].in_words(outcome.scores["analyst"].notes)
    assert sentences == [text for text in said if text in sentences]
    assert sentences[0].startswith("Monthly sales: ")
