"""The data card: made from what is public alone, and its loader reads the file as it is."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import NO_PUBLISHED_DATA
from tests.papers.conftest import SHARED, few_members

import noren
from noren.data.reading import read
from noren.data.release import Release
from noren.i18n import LANGUAGES, use_language
from noren.papers.card import card_files, data_card, read_grades
from noren.papers.document import Code, plain
from noren.papers.writers import as_markdown
from noren.tabulations.questions import questions


def published(release: Release, folder: Path) -> Path:
    return release.publish(folder, card=card_files(release))


def loaded(folder: Path) -> dict[str, list]:
    return runpy.run_path(str(folder / "load_public.py"))["load"]()


def expected(release: Release) -> dict[str, list]:
    """Return the public part as the loader should give it, read by another library."""
    columns: dict[str, list] = {}
    for series in release.public.frame.select(release.public.schema.names):
        cells = series.to_list()
        if isinstance(series.dtype, pl.Struct):
            for end in ("lo", "hi"):
                columns[f"{series.name}_{end}"] = [None if cell is None else cell[end] for cell in cells]
        elif isinstance(series.dtype, pl.List):
            columns[series.name] = [None if cell is None else tuple(cell) for cell in cells]
        else:
            columns[series.name] = cells
    return columns


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("generalize-by-count", {"k": 3}),
        ("generalize-by-count", {"k": 3, "suppress_cells": True}),
        ("pseudonymize", {}),
    ],
)
def test_the_loader_gives_the_values_of_the_file(shop, tmp_path, method: str, parameters: dict) -> None:
    release = noren.protect(shop, method, seed=1, **parameters)
    folder = published(release, tmp_path / "public")
    assert loaded(folder) == expected(release)
    frame = runpy.run_path(str(folder / "load_public.py"))["frame"]()
    assert list(frame.columns) == list(expected(release))
    assert len(frame) == len(release.public)


def test_the_loader_runs_by_itself(shop, tmp_path) -> None:
    folder = published(noren.protect(shop, "pseudonymize", seed=1), tmp_path / "public")
    done = subprocess.run([sys.executable, "load_public.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == f"customer {len(shop)}"


def test_the_loader_reads_tables_and_other_shops(adult, tmp_path) -> None:
    _table, release = adult
    assert loaded(published(release, tmp_path / "adult")) == expected(release)
    if not SHARED.is_dir():
        pytest.skip(NO_PUBLISHED_DATA)
    few_members("cdnow.parquet", "customer_id", 12).write_parquet(tmp_path / "few.parquet")
    data = read(tmp_path / "few.parquet", None, customer="customer_id").data
    release = noren.protect(data, "generalize-by-count", k=3, seed=1)
    assert loaded(published(release, tmp_path / "cdnow")) == expected(release)


def test_the_lines_for_pandas_run_and_count_what_is_possible(shop, tmp_path, monkeypatch) -> None:
    release = noren.protect(shop, "generalize-by-count", k=3, seed=1)
    folder = published(release, tmp_path / "public")
    with use_language("en"):
        card = data_card(release.public, release.statement, {})
    lines = next(block.lines for block in card.sections[-1].blocks if isinstance(block, Code))
    monkeypatch.chdir(folder)
    said: dict = {}
    exec(lines, said)
    column = release.public.frame["date"].struct
    low, high = column.field("lo"), column.field("hi")
    assert int(said["possible"].sum()) == int(((low <= low[0]) & (low[0] <= high)).sum())
    assert said["estimate"].sum() == pytest.approx(len(release.public))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_card_tells_columns_and_how_they_were_generalised(shop, language: str) -> None:
    release = noren.protect(shop, "generalize-by-count", k=3, seed=1)
    with use_language(language):
        card = data_card(release.public, release.statement, {})
    text = "\n".join(plain(one) for one in card.texts())
    for name in release.public.schema.names:
        assert name in text
    assert ("No measure was published" if language == "en" else "公表された指標はありません") in text
    assert ("are ranges (median width" if language == "en" else "は区間（幅の中央値") in text


def test_what_the_method_says_of_its_own_error_is_told() -> None:
    history = noren.sample(customers=8, rows=40, items=10, seed=1, schema="pwscup2018")
    release = noren.protect(history, "generalize", k=2, effort="quick", seed=1)
    card = card_files(release)["card.en.md"].decode()
    assert f"| U | {release.statement.notes['U']:.3f} | lower |" in card


@pytest.mark.parametrize(
    ("method", "parameters", "is_true"),
    [
        ("generalize-by-count", {"k": 3}, True),
        ("pseudonymize", {}, True),
        ("perturb", {}, False),
        ("swap", {}, False),
        ("microaggregate", {"k": 3}, False),
    ],
)
def test_cells_that_may_be_untrue_are_said_to_be(shop, method: str, parameters: dict, is_true: bool) -> None:
    card = card_files(noren.protect(shop, method, seed=1, **parameters))["card.en.md"].decode()
    assert ("need not be true" in card) is not is_true


def test_nothing_secret_is_in_the_card(shop, tmp_path) -> None:
    release = noren.protect(shop, "generalize-by-count", k=3, seed=2**50 + 12345)
    made = card_files(release)
    alone = card_files(Release.load(release.publish(tmp_path / "public", card={})))
    assert made == alone  # who holds the public part alone can make the same card
    text = b"\n".join(made.values()).decode()
    for secret in (str(release.secret.seed), str(release.secret.digest)):
        assert secret not in text
    for customer in shop.customers.to_list():
        assert not re.search(rf"(?<![\w.]){re.escape(customer)}(?![\w.])", text.split("<style>")[0])


def test_paths_of_the_steward_stay_at_home(tmp_path) -> None:
    history = noren.sample(customers=8, rows=40, items=10, seed=1, schema="pwscup2018")
    release = noren.protect(history, "pseudonymize", seed=1)
    said = release.statement.as_dict() | {"method": "hierarchy", "parameters": {"hierarchies": "/home/ann/ladders"}}
    made = card_files(Release(release.public, release.secret, type(release.statement)(**said)))
    assert b"/home/ann" not in b"".join(made.values())
    assert json.dumps(said)  # it is a statement like any other


def test_odd_names_of_columns_are_quoted() -> None:
    odd = 'da"te | <b>{x}'
    columns = {"who": {"role": "customer"}, odd: {"role": "date"}, "it": {"role": "item"}}
    schema = noren.Schema.of({"kind": "history", "columns": columns})
    rows = {"who": ["a", "a", "b", "b"], odd: ["2020-01-01", "2020-01-02"] * 2, "it": ["x", "y"] * 2}
    release = noren.protect(noren.History.of(rows, schema), "generalize-by-count", k=2, seed=1)
    made = card_files(release)
    assert "&lt;b&gt;{x}" in made["card.en.html"].decode()
    assert "<b>" not in made["card.en.html"].decode()
    assert '"da""te | <b>{x}".lo' in made["card.en.md"].decode()


def test_grades_of_an_analysts_questions_and_no_figure_of_the_original(shop, tmp_path) -> None:
    release = noren.protect(shop, "generalize-by-count", k=3, seed=1)
    score = release.measure("analyst", original=shop, draws=2)
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps({"results": {"analyst": score.as_dict()}}), encoding="utf-8")
    grades = read_grades(scores)
    assert grades == {name: result["grade"] for name, result in score.notes["questions"].items()}
    with use_language("en"):
        text = as_markdown(data_card(release.public, release.statement, {}, grades=grades), "en").decode()
    for name, grade in grades.items():
        assert re.search(rf"\| {questions()[name].title} \| {grade} \|", text), name
        for value in score.notes["questions"][name]["original"].values():
            assert f"{value:.0f}" not in text or value < 100
    scores.write_text(json.dumps({"results": {"rfm": {"value": 0.1}}}), encoding="utf-8")
    assert read_grades(scores) == {}


def test_the_loader_estimates_answers(shop, tmp_path) -> None:
    release = noren.protect(shop, "generalize-by-count", k=3, seed=1)
    folder = published(release, tmp_path / "public")
    frame = runpy.run_path(str(folder / "load_public.py"))["estimate"]("top items")
    assert frame.equals(release.estimate("top items").frame)
    assert 0 < len(frame) <= 20
