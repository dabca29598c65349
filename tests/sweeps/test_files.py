"""A study on disk: what may be shown, the secret file that repeats it, the page and its words."""

import csv
import json
import re
import stat
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.reports.test_report import unmarked

from noren import api
from noren.attacks import attacks
from noren.data.frames import History, Table
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.errors import FileError, InputError, OutputError
from noren.i18n import use_language
from noren.judgement.rule import get_rule
from noren.judgement.sentences import rule_sentence
from noren.methods import methods
from noren.methods.chain import Chain
from noren.sweeps.advice import headline
from noren.sweeps.files import NAMES, SweepFile, holds_study, sweep_toml
from noren.sweeps.page import page_html, short_html
from noren.sweeps.study import SweepStudy
from noren.sweeps.sweep import build_request, run, sweep

SEED = 918273645546372819
PERSON = "person-0x5f-"


@pytest.fixture(scope="module")
def history() -> History:
    """A small history whose customers cannot be taken for anything else."""
    made = api.sample(customers=24, rows=240, items=40, seed=2, schema="pwscup2018")
    return History(made.frame.with_columns(customer=PERSON + pl.col("customer")), made.schema)


@pytest.fixture(scope="module")
def study(history: History, tmp_path_factory: pytest.TempPathFactory) -> SweepStudy:
    return sweep(
        history,
        "pseudonymize,generalize-by-count,thin",
        k=["2..4", 99],
        share=0.3,
        attacks=["unique-rows", "jaccard"],
        measures=["rfm", "frequent-itemsets", "um"],
        seeds=[SEED, SEED + 1],
        cache=tmp_path_factory.mktemp("cache"),
        workers=1,
        rule="inside",
    )


@pytest.fixture(scope="module")
def folder(study: SweepStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study.save(tmp_path_factory.mktemp("study") / "study")


class Page(HTMLParser):
    """Tags, and texts with the tag they stand in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[tuple[str, str]] = []
        self._in: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "wbr", "rect", "path", "line"):
            self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and self._in and "style" not in self._in and "svg" not in self._in:
            self.said.append((self._in[-1], data.strip()))


# --- the folder ------------------------------------------------------------------------------------------------------


def test_the_folder_holds_five_files_and_one_is_secret(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == set(NAMES)
    assert stat.S_IMODE((folder / "sweep.toml").stat().st_mode) == 0o600
    assert (folder / "sweep.toml").read_text().startswith("# Made by Noren")
    assert "SECRET" in (folder / "sweep.toml").read_text()


def test_no_seed_and_no_person_is_told_but_in_the_secret_file(folder: Path, history: History) -> None:
    for name in NAMES:
        text = (folder / name).read_text(encoding="utf-8")
        assert PERSON not in text
        assert (str(SEED) in text) == (name == "sweep.toml")
        assert history.digest() not in text or name == "sweep.toml"
        assert "seed" not in json.loads(text)["points"][0] if name == "table.json" else True


def test_the_table_is_the_frame_less_its_seeds(folder: Path, study: SweepStudy) -> None:
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == study.frame["label"].to_list()
    assert [row["run"] for row in rows] == ["1", "2"] * 6
    assert [float(row["use"]) for row in rows if row["use"]] == study.frame["use"].drop_nulls().to_list()
    plain = json.loads((folder / "table.json").read_text(encoding="utf-8"))
    assert [point["use"] for point in plain["points"]] == study.frame["use"].to_list()
    assert plain["recommended"] == ["generalize-by-count, k = 3"]
    assert [one["label"] for one in plain["settings"] if one["refused"]] == ["generalize-by-count, k = 99"]
    assert plain["rule"] == get_rule("inside").as_dict()
    jaccard = next(one for one in plain["points"][0]["evidence"] if one["attack"] == "jaccard")
    assert jaccard["right"] == study.frame["jaccard.right"][0]


def test_another_study_may_take_its_place_and_nothing_else(folder: Path, study: SweepStudy, tmp_path: Path) -> None:
    target = tmp_path / "study"
    study.save(target)
    before = {name: (target / name).read_bytes() for name in NAMES}
    assert holds_study(target)
    study.save(target)
    assert {name: (target / name).read_bytes() for name in NAMES} == before
    (target / "mine.txt").write_text("keep me")
    with pytest.raises(OutputError, match="study is not empty; name another folder"):
        study.save(target)
    assert (target / "mine.txt").exists()


# --- the file that repeats it ----------------------------------------------------------------------------------------


def again(toml: Path, original: Any, cache: Path) -> SweepStudy:
    """Run what a file says, as the command does."""
    file = SweepFile(toml)
    words: dict[str, Any] = {key: file.components(key) for key in ("attacks", "measures")}
    asked, _left = build_request(
        original, [one.method for one in file.settings()], **words, seeds=file.seeds(), rule=file.rule()
    )
    return run(original, asked, cache=cache, workers=1)


def test_the_file_repeats_the_study(folder: Path, study: SweepStudy, history: History, tmp_path: Path) -> None:
    repeated = again(folder / "sweep.toml", history, study.cache.parent if study.cache else tmp_path)
    assert (repeated.computed, repeated.cached) == (0, study.computed)
    repeated.save(tmp_path / "again")
    for name in NAMES:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    assert not SweepFile(folder / "sweep.toml").differs(history)
    assert SweepFile(folder / "sweep.toml").differs(History(history.frame.head(9), history.schema))


def test_chains_parameters_schemas_and_files_come_back(history: History, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    own = Schema.from_toml(history.schema.to_toml().replace('name = "pwscup2018"', 'name = "mine"'))
    mine = History(history.frame, own)
    chain = Chain(steps=({"method": "thin", "share": 0.2}, "monthly-pseudonyms"))
    jaccard = attacks.create("jaccard", candidates=3)
    asked, _left = build_request(
        mine, [chain, "thin"], {"share": 0.25}, attacks=[jaccard], measures="none", seeds=[3], rule="1/7"
    )
    study = run(mine, asked, file=tmp_path / "in" / "T.csv", cache=tmp_path / "cache", workers=1)
    toml = study.save(tmp_path / "out" / "study") / "sweep.toml"
    file = SweepFile(toml)
    assert file.file("data") == tmp_path / "in" / "T.csv"
    assert file.file("master") is None
    assert file.schema() == own
    assert [one.method for one in file.settings()] == [one.method for one in asked.settings]
    assert file.components("attacks") == [jaccard]
    assert (file.components("measures"), file.seeds(), file.rule()) == ([], [3], get_rule("1/7"))
    assert again(toml, mine, tmp_path / "cache").computed == 0


def test_files_are_named_from_the_folder(people: Table, tmp_path: Path) -> None:
    hierarchy = methods.create("hierarchy", k=3, quasi=("sex",), hierarchies=tmp_path / "ladders")
    asked, _left = build_request(people, [hierarchy], attacks=[], measures=[], seeds=[1])
    text = sweep_toml(SweepStudy(api_source(people), asked, []), tmp_path / "a" / "study")
    assert 'hierarchies = "../../ladders"' in text
    (tmp_path / "a" / "study").mkdir(parents=True)
    (tmp_path / "a" / "study" / "sweep.toml").write_text(text)
    (setting,) = SweepFile(tmp_path / "a" / "study" / "sweep.toml").settings()
    assert setting.method.parameters()["hierarchies"] == str(tmp_path / "ladders")


def api_source(original: Any) -> Any:
    from noren.sweeps.study import StudyData

    return StudyData(original.schema, len(original), len(original), original.digest())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seeds = [1", "the sweep cannot be read"),
        ("seeds = [1]", "the sweep lists no runs"),
        ("run = 3", "the sweep lists no runs"),
        ('[[run]]\nmethod = "thin"\nshar = 1', "thin has no parameter shar"),
        ('seeds = "1"\n[[run]]\nmethod = "thin"', "seeds is not valid in a sweep"),
        ('seeds = [true]\n[[run]]\nmethod = "thin"', "seeds is not valid in a sweep"),
        ('attacks = [1]\n[[run]]\nmethod = "thin"', "attacks is not valid in a sweep"),
        ('rule = [1]\n[[run]]\nmethod = "thin"', "rule is not valid in a sweep"),
        ('rule = "partners"\n[[run]]\nmethod = "thin"', "did you mean partner"),
        ('rule = {alpha = 2}\n[[run]]\nmethod = "thin"', "rule is not valid in a sweep"),
        ('schema = 1\n[[run]]\nmethod = "thin"', "schema is not valid in a sweep"),
    ],
)
def test_a_wrong_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)

    def read() -> None:
        file = SweepFile(path)
        _all = file.settings(), file.seeds(), file.components("attacks"), file.rule(), file.schema()

    with pytest.raises(InputError, match=said) as caught:
        read()
    assert not isinstance(caught.value, FileError) or str(path) in str(caught.value)


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people() -> Table:
    people = sample_people(150, 3)
    # so many values that two of each per class cost nothing, and k alone decides
    values = (pl.int_range(pl.len()) % 50).cast(pl.String)
    return Table(people.frame.with_columns(income=values, illness=values), people.schema)


def test_the_answer_has_its_reasons_with_numbers(study: SweepStudy) -> None:
    frame = study.frame.filter("recommended")
    said = study.answer
    assert said[0] == (
        "Recommended: generalize-by-count, k = 3. "
        f"It keeps the most utility ({frame['use'].mean():.1%}) of the 2 settings that meet your rule."  # type: ignore[str-bytes-safe]
    )
    (taken,) = (one for one in study.settings if one.recommended)
    assert taken.verdict is not None
    assert said[1] == taken.verdict.sentence
    assert said[1].startswith("Proved: at least 3 customers share each released history")
    kept = [f"{1 - frame[name].mean():.3f}" for name in ("rfm", "frequent-itemsets")]  # type: ignore[operator]
    assert said[2] == (
        f"The error per cell (U) is {frame['cell-error'].mean():.3f}; RFM table kept at {kept[0]}; "  # type: ignore[str-bytes-safe]
        f"frequent itemsets kept at {kept[1]}."
    )
    assert re.match(r"generalize-by-count, k = 2 keeps 0\.\d+ more of the utility. (Broken|Un)", said[3])
    assert re.match(
        r"generalize-by-count, k = 4 is safer \(proved, risk 25.0% instead of 33.3%\), but keeps 0\.\d+ less", said[4]
    )


def test_where_nothing_may_be_handed_out_it_is_said_and_the_safest_named(history: History, study: SweepStudy) -> None:
    cache = study.cache.parent if study.cache else None
    poor = sweep(
        history, "pseudonymize,thin", share=0.3, attacks=["jaccard"], measures=[], seeds=[SEED], cache=cache, workers=1
    )
    assert not any(one.recommended for one in poor.settings)
    assert headline(poor.settings, poor.choices).startswith("No setting meets your rule. The safest is ")
    assert "Broken: jaccard re-identifies" in poor.recommendation
    page = page_html(poor)
    assert " (the safest): risk and utility" in page
    untried = sweep(history, "pseudonymize", attacks=[], measures=[], seeds=[SEED], cache=cache, workers=1)
    assert headline(untried.settings, untried.choices) == "No setting was judged, so none can be recommended."
    assert "noren protect" not in page_html(untried)


def test_the_page_tells_its_finding_and_loads_nothing(folder: Path, study: SweepStudy) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert ("h1", headline(study.settings, study.choices)) in page.said
    assert not [tag for tag, _given in page.tags if tag in ("script", "link", "img", "iframe", "object")]
    links = [given[name] or "" for _tag, given in page.tags for name in ("href", "src", "xlink:href") if name in given]
    assert all(link.startswith("#") for link in links)
    ids = {given["id"] for _tag, given in page.tags if "id" in given}
    assert {link[1:] for link in links} <= ids
    assert not re.findall(r"url\(|@import", text)
    said = " ".join(words for _tag, words in page.said)
    for heading in ("Request", "Recommendation", "All settings", "Limits of this study", "How to repeat it"):
        assert heading in said
    assert rule_sentence(study.request.rule) in said
    assert "k = 99 needs at least 99 customers, but there are 24" in said
    rows = [given for tag, given in page.tags if tag == "tr" and "taken" in (given.get("class") or "")]
    assert len(rows) == 1


def test_the_chart_stands_alone(folder: Path) -> None:
    text = (folder / "frontier.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert '<rect width="100%" height="100%" fill="#fbfaf7"/>' in text
    assert "highest risk of re-identification (down is safer)" in text
    assert not re.findall(r'(?:href|src)="http', text)


def test_a_table_has_a_page_of_its_own(people: Table, tmp_path: Path) -> None:
    quick: dict[str, Any] = {"measures": ["table-loss"], "seeds": [1], "cache": tmp_path, "workers": 1}
    study = sweep(people, "mondrian", k=[3, 6], l=2, rule="inside", **quick)
    said = " ".join(words for _tag, words in Page(page_html(study)).said)
    assert "rows in the smallest class" in said
    assert "looking a person up succeeds with a probability of at most 33.3%" in said
    assert "mondrian, k = 6, l = 2 is safer (proved, risk 16.7% instead of 33.3%), but keeps" in said
    assert "chance to survive" not in said


def test_a_notebook_sees_the_answer(study: SweepStudy) -> None:
    html = study._repr_html_()
    assert html == short_html(study)
    assert "Recommended: generalize-by-count, k = 3" in html
    assert html.count("<tr>") == 1 + len(study.settings)


@pytest.mark.usefixtures("marked")
def test_every_word_is_looked_up(study: SweepStudy) -> None:
    bare = SweepStudy(study.source, study.request, study.points)  # nothing drawn in another language is at hand
    page = Page(page_html(bare))
    assert ("html", {"lang": "ja"}) in page.tags
    texts = [text for tag, text in page.said if tag not in ("span", "pre")]
    # why a method refused is kept in each language, and stands there in Japanese
    left = {word for text in texts for word in re.findall(r"[A-Za-z][A-Za-z-]*", unmarked(text))}
    names = {"pseudonymize", "generalize-by-count", "thin", "k", "share", "unique-rows", "jaccard"}
    names |= {"rfm", "frequent-itemsets", "um", "cell-error"}
    assert left <= names


def test_japanese_is_spoken(study: SweepStudy, speak: Callable[[str], None]) -> None:
    speak("ja")
    text = page_html(study)
    assert '<html lang="ja">' in text
    assert re.search("[ぁ-ん]", text)
    refused = next(one for one in study.settings if not one.done).runs[0]
    assert re.search("[ぁ-んァ-ン一-龥]", refused.reason())
    with use_language("en"):
        assert refused.reason().startswith("k = 99 needs at least 99 customers")
