"""The page of a run: the finding first, every number that of the command line, everything reached by everybody."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from playwright.sync_api import expect
from tests.conftest import Command
from tests.studio.browsing import at_rest, watched, without_axe_violations, without_overflow
from tests.studio.finished_runs import MEASURES, SEED, Finished, finished_runs, history_file, people_file
from tests.studio.in_process import Server

from noren.data.release import Release
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.glossary import chapters
from noren.judgement.judging import judge
from noren.judgement.numbers import number, percent
from noren.judgement.release_facts import release_facts
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import AttackEvidence, VerdictStatus
from noren.measures import measures
from noren.reports.run_view import ColumnCells, MeasureView, RowCounts
from noren.studio.pages import result as words
from noren.studio.pages.result import dwarfing, untried_sentence
from noren.studio.result_figures import counted_columns


@pytest.fixture(scope="module")
def runs(server: Server) -> Finished:
    return finished_runs(server)


class _Numbers(HTMLParser):
    """Every number of a page by its name, with its exact value."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, float] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "data":
            name, value = str(told["data-of"]), float(str(told["value"]))
            assert self.found.setdefault(name, value) == value, name


# --- numbers -------------------------------------------------------------------------------------------------


def said(answer: Any) -> Any:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def measured(result: dict[str, Any]) -> dict[str, float]:
    """Return every number of measures, named as the page names them."""
    numbers = {}
    for name, score in result["results"].items():
        numbers[f"measures.{name}"] = score["value"]
        numbers |= {f"measures.{name}.{part}": value for part, value in score["parts"].items()}
        for column, told in score.get("notes", {}).get("sensitive", {}).items():
            numbers |= {f"measures.{name}.sensitive.{column}.{what}": value for what, value in told.items()}
    return numbers


def counted(result: dict[str, Any]) -> dict[str, float]:
    names = {"original_rows": "original", "public_rows": "public", "deleted_rows": "deleted", "added_rows": "added"}
    return {f"rows.{what}": result[name] for name, what in names.items()}


@pytest.mark.parametrize("name", ["pseudonymize", "by-count"])
def test_a_history_shows_the_numbers_of_the_command_line(
    client: httpx.Client, runs: Finished, noren: Command, tmp_path: Path, name: str
) -> None:
    original, release, guesses = history_file(tmp_path), tmp_path / "release", tmp_path / "guesses"
    method = ["--method", "pseudonymize"] if name == "pseudonymize" else ["--method", "generalize-by-count", "--k", 4]
    schema = ["--schema", "pwscup2018"]
    protected = said(noren("protect", original, *schema, *method, "--seed", SEED, "--out", release, "--json"))
    attacked = said(noren("attack", original, release, *schema, "--out", guesses, "--json"))
    result = said(noren("measure", original, release, *schema, "--guess", guesses, "--json"))
    tried = [got(attack, told["hits"], result) for attack, told in sorted(attacked["results"].items())]
    claims = {} if name == "pseudonymize" else {"claimed": {"k": 4}, "smallest_class": smallest(release)}
    verdict = judge(Facts(kind="history", people=120, tried=tuple(tried), **claims))
    expected = measured(result) | counted(protected)
    for one in verdict.evidence:
        assert (one.right, one.named) == (attacked["results"][one.attack]["right"], len(tried_hits(attacked, one)))
        shown_of = ("named", "right", "rate", "chance", "best_named", "best_right", "needed")
        expected |= {f"attacks.{one.attack}.{what}": getattr(one, what) for what in shown_of}
        expected[f"attacks.{one.attack}.share"] = result["results"]["reid-rate"]["parts"][one.attack]

    page = client.get(runs.page(name)).text
    shown = _Numbers(page).found
    assert shown == {what: expected[what] for what in shown}
    assert {what for what in expected if not what.startswith("measures.")} <= set(shown)
    assert set(measured(result)) <= set(shown)
    assert f"{verdict.evidence[0].attack} " in page
    assert html.unescape(re.search(r"<h1>(.*?)</h1>", page)[1]) == verdict.sentence  # type: ignore[index]
    assert verdict_label(verdict.status) in page
    assert client.get(f"/api/v1/runs/{runs.runs[name]}/result").json()["verdict"] == json.loads(
        json.dumps(verdict.as_dict())
    )


def tried_hits(attacked: dict[str, Any], one: AttackEvidence) -> list[int]:
    hits: list[int] = attacked["results"][one.attack]["hits"]
    return hits


def got(attack: str, hits: list[int], result: dict[str, Any]) -> AttackResult:
    """Return what the command line says that an attack got."""
    places = tuple(at for at, now in enumerate(hits, start=1) if now > (hits[at - 2] if at > 1 else 0))
    customers = round(result["results"]["reid-rate"]["parts"][attack] * 120)
    return AttackResult(attack=attack, named=len(hits), right=len(places), customers=customers, right_at=places)


def smallest(release: Path) -> int:
    found = release_facts(Release.load(release)).smallest_class
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["hierarchy", "retention"])
def test_a_table_shows_the_numbers_of_the_command_line(
    client: httpx.Client, runs: Finished, noren: Command, tmp_path: Path, name: str
) -> None:
    original, release = people_file(tmp_path), tmp_path / "release"
    if name == "hierarchy":
        folder = tmp_path / "hierarchies"
        folder.mkdir()
        for column in ("age", "sex", "region", "education", "marital-status", "occupation", "weekly-hours"):
            told = client.get(f"/api/v1/projects/{runs.people}/hierarchy", params={"column": column})
            (folder / f"{column}.csv").write_bytes(told.content)
        method = ["--method", "hierarchy", "--k", 5, "--hierarchies", folder]
    else:
        method = ["--method", "retention", "--k", 2, "--attributes", "sex,education,income", "--reconstruct", "em"]
    schema = ["--schema", "people"]
    protected = said(noren("protect", original, *schema, *method, "--seed", SEED, "--out", release, "--json"))
    result = said(noren("measure", original, release, *schema, "--measures", ",".join(MEASURES[name]), "--json"))
    expected = measured(result) | counted(protected)
    if name == "hierarchy":
        parts = result["results"]["classes"]["parts"]
        expected |= {f"risk.{what}": parts[what] for what in ("prosecutor", "journalist", "marketer", "below")}
        expected["risk.k"] = result["results"]["classes"]["value"]
        for column, told in result["results"]["classes"]["notes"]["sensitive"].items():
            name_of = f"risk.disclosed.{column}"
            expected |= {name_of: told["disclosed_rows"], f"{name_of}.likely": told["likely_rows"]}
    else:
        expected |= {"risk.k": 2.0, "risk.bound": 0.5}
    got = said(noren("attack", original, release, *schema, "--json"))["results"]["row-linkage"]
    numbers = ("named", "right", "rate", "chance", "best_right", "best_named", "needed")
    expected |= {f"attacks.row-linkage.{what}": got[what] for what in numbers}
    expected["attacks.row-linkage.share"] = got["customers"]

    page = client.get(runs.page(name)).text
    shown = _Numbers(page).found
    assert shown == pytest.approx({what: expected[what] for what in shown}, abs=1e-12)
    assert {what for what in expected if ".sensitive." not in what} <= set(shown)
    others = f"{expected['risk.k'] - 1:.0f}"
    begins = {
        "hierarchy": f"Proved: every row is indistinguishable from at least {others} others",
        "retention": "Withstands the attack tried, though only 50.0% is proved: row-linkage names",
    }
    assert f"<h1>{begins[name]}" in page
    assert ("<h3>L1 precision</h3>" in page) == (name == "retention")


def test_three_numbers_tell_risk_use_and_what_was_lost(client: httpx.Client, runs: Finished) -> None:
    def tiles(name: str) -> list[tuple[str, str]]:
        page = client.get(runs.page(name)).text
        found = re.findall(r'figure-label">(.*?) <span.*?figure-value">(.*?)</p>', page, re.DOTALL)[:3]
        return [(html.unescape(label), html.unescape(value)) for label, value in found]

    risk, use, lost = tiles("pseudonymize")
    assert (risk[0], use) == ("Risk (20.0% allowed)", ("utility kept, 1 − U", "100%"))
    assert risk[1].startswith("▲ ")
    assert lost == ("Values lost", "0%")
    result = json.loads((runs.job_folder("by-count") / "result.json").read_text())
    shares = [cells["empty"] for cells in result["cells"]]
    assert tiles("by-count")[2] == ("Values lost", percent(sum(shares) / len(shares)))
    assert max(shares) < 1
    assert f"{900 - result['rows']['deleted']} of 900 rows are left" in client.get(runs.page("by-count")).text


def test_the_use_says_which_columns_it_counts() -> None:
    cells = {"is_date": False, "exact": 0.0, "changed": 0.0, "range": 0.0, "set": 1.0, "empty": 0.0}
    columns = [("what", "item", {}), ("shelf", "other", {"set": 0.0, "empty": 1.0}), ("shop", "other", {})]
    error = MeasureView(
        name="cell-error", group="utility", value=0.3, unit="", summary="", goal="lower", bounds=(0, 1),
        parts={"item": 0.3}, notes={},
    )  # fmt: skip
    every = tuple(ColumnCells(column=name, role=role, **cells | more) for name, role, more in columns)
    view: Any = SimpleNamespace(cells=every, measure=lambda name: error if name == "cell-error" else None)
    assert counted_columns(view, "cell-error") == "Counts what; empty and not counted: shelf"
    assert counted_columns(SimpleNamespace(cells=every[:1], measure=view.measure), "cell-error") == ""  # type: ignore[arg-type]
    assert counted_columns(view, None) == ""


@pytest.mark.parametrize("tab", ["attacks", "utility", "change", "columns", "details"])
def test_one_tab_is_open_without_scripts(client: httpx.Client, runs: Finished, tab: str) -> None:
    page = client.get(runs.page("by-count"), params={"tab": tab}).text
    panels = dict(re.findall(r'<div class="panel" id="panel-(\w+)"( hidden)?>', page))
    assert {name for name, hidden in panels.items() if not hidden} == {tab}
    assert re.findall(r'data-tab="(\w+)" aria-current="page"', page) == [tab]
    assert client.get(runs.page("by-count"), params={"tab": "nonsense"}).status_code == 422


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (VerdictStatus.PROVED, "Not tried here: s1. What is proved holds against them too."),
        (VerdictStatus.WITHSTANDS, "Not tried here: s1. The verdict says nothing about them."),
    ],
)
def test_what_was_not_tried_is_no_doubt_about_a_proof(
    monkeypatch: pytest.MonkeyPatch, word: VerdictStatus, said: str
) -> None:
    monkeypatch.setattr("noren.studio.pages.result.fitting", lambda *_: ["jaccard", "s1"])
    tried = SimpleNamespace(facts=SimpleNamespace(tried=[SimpleNamespace(attack="jaccard")]), outcome={})
    studio: Any = SimpleNamespace(schema=lambda project: None)
    visit = SimpleNamespace(studio=studio, project=SimpleNamespace(id="p"))
    asked = (cast("Any", value) for value in (visit, tried, SimpleNamespace(status=word)))
    assert untried_sentence(*asked) == said


def test_a_verdict_says_no_more_than_it_decides(client: httpx.Client, runs: Finished) -> None:
    """A green box holds no sentence that alarms: what luck did stands with the evidence."""
    client.patch(f"/api/v1/projects/{runs.history}", json={"rule": "1/4"})
    try:
        page = html.unescape(client.get(runs.page("by-count")).text)
    finally:
        client.patch(f"/api/v1/projects/{runs.history}", json={"rule": "partner"})
    box = page[
        page.index('<header class="verdict is-proved') : page.index("</header>", page.index('<header class="verdict'))
    ]
    assert "chance explains" not in box
    assert "Not tried here" not in box
    for outcome in re.findall(r'class="outcome">(.*?)</td>', page):
        assert re.fullmatch(
            r"re-identified \d+ of 120(: withstood|, which chance explains: the proof holds)|re-identified nobody",
            outcome,
        )


# --- the page by itself --------------------------------------------------------------------------------------


def test_columns_are_chosen_by_the_address(client: httpx.Client, runs: Finished) -> None:
    page = client.get(runs.page("by-count"), params={"a": "price", "b": "date"}).text
    assert '<option value="price" selected>' in page
    assert '<option value="date" selected>' in page
    assert "price, date: " in page
    wrong = client.get(runs.page("by-count"), params={"a": "nonsense", "b": "nonsense"})
    assert wrong.status_code == 200
    assert "date, item: " in wrong.text


def test_the_crosstab_is_that_of_the_interface(client: httpx.Client, runs: Finished) -> None:
    pair = client.get(f"/api/v1/runs/{runs.runs['by-count']}/crosstab", params={"a": "price", "b": "quantity"}).json()
    page = client.get(runs.page("by-count"), params={"a": "price", "b": "quantity"}).text
    spec = next(
        chart
        for text in re.findall(r'<script type="application/json" class="spec">(.*?)</script>', page)
        if "a" in (chart := json.loads(text))["panels"][0]["data"]["values"][0]
    )
    drawn = {(one["a"], one["b"]): one["value"] for one in spec["panels"][0]["data"]["values"]}
    told = {
        (a, b): pair["original"][i][j] for i, a in enumerate(pair["labels_a"]) for j, b in enumerate(pair["labels_b"])
    }
    assert drawn == pytest.approx(told, rel=1e-5)
    assert [panel["title"].split(" (")[0].split(":")[0] for panel in spec["panels"]] == [
        "original",
        "released",
        "change",
    ]


def test_rows_are_paged_on_the_server(client: httpx.Client, runs: Finished) -> None:
    first = client.get(runs.page("by-count")).text
    assert first.count('<tr class="was">') == 20
    assert "1 to 20 of 900" in first
    last = client.get(runs.page("by-count"), params={"start": 890}).text
    assert last.count('<tr class="was">') == 10
    assert '<th scope="rowgroup" rowspan="2">900</th>' in last
    fragment = client.get(runs.page("by-count") + "/rows", params={"start": 890}).text
    assert "<html" not in fragment
    assert fragment.count('<tr class="was">') == 10


def test_only_rows_that_changed(client: httpx.Client, runs: Finished) -> None:
    """A history under pseudonyms has no changed row, though every row has another name."""
    page = client.get(runs.page("pseudonymize"), params={"only_changed": "true"}).text
    assert "There is no row to show." in page
    api = f"/api/v1/runs/{runs.runs['by-count']}/rows"
    every = client.get(api, params={"count": 500}).json()
    changed = client.get(api, params={"count": 500, "only_changed": True}).json()
    names = every["columns"]
    marks = [i for i, name in enumerate(names) if name.startswith("change:")]
    kept = [row for row in every["rows"] if all(row[i] in ("same", "pseudonym", "dropped") for i in marks)]
    rest = client.get(api, params={"count": 500, "start": 500}).json()["rows"]
    kept += [row for row in rest if all(row[i] in ("same", "pseudonym", "dropped") for i in marks)]
    assert changed["total"] == 900 - len(kept) > 0
    released = names.index("released:customer")
    assert {row[released] for row in every["rows"]} == {None}


def test_every_word_is_explained(client: httpx.Client, runs: Finished) -> None:
    known = {entry.anchor for chapter in chapters() for entry in chapter.entries}
    for name in runs.runs:
        asked = set(re.findall(r'href="/about#([^"]+)"', client.get(runs.page(name)).text))
        assert asked
        assert asked <= known


def test_a_run_of_another_project_is_not_there(client: httpx.Client, runs: Finished) -> None:
    for rest in ("", "/crosstab", "/rows", "/publish", "/publish/public.zip", "/publish/script"):
        assert client.get(f"/projects/{runs.people}/results/{runs.runs['by-count']}{rest}").status_code == 404


def test_a_run_under_way_has_its_own_page(client: httpx.Client, runs: Finished) -> None:
    step = {"method": "pseudonymize"}
    job = client.post(f"/api/v1/projects/{runs.history}/runs", json={"steps": [step]}).json()["id"]
    client.post(f"/api/v1/jobs/{job}/cancel")
    answer = client.get(f"/projects/{runs.history}/results/{job}")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/projects/{runs.history}/runs/{job}"
    client.delete(f"/api/v1/jobs/{job}")


# --- the rule ------------------------------------------------------------------------------------------------


def test_another_rule_judges_the_runs_at_once(client: httpx.Client, runs: Finished) -> None:
    address, run = f"/api/v1/projects/{runs.people}", runs.runs["retention"]
    assert client.get(address).json()["rule"] == "partner"
    before = client.get(f"/api/v1/runs/{run}/result").json()
    assert before["verdict"]["verdict"] == "withstands"
    page = client.get(runs.page("retention")).text
    assert "Rule partner (a partner bound by a contract)" in page
    csrf = client.headers["X-CSRF-Token"]
    sent = client.post(f"{runs.page('retention')}/rule", data={"csrf": csrf, "rule": "public", "tolerance": "1/2"})
    assert (sent.status_code, sent.headers["location"]) == (303, f"{runs.page('retention')}#rule")
    try:
        after = client.get(f"/api/v1/runs/{run}/result").json()
        assert after["verdict"]["verdict"] == "proved"
        assert after["verdict"]["rule"]["tolerance"] == 0.5
        assert after["facts"] == before["facts"]
        assert "verdict" not in json.loads((runs.job_folder("retention") / "result.json").read_text())
        for page in (runs.page("retention"), f"/projects/{runs.people}/results", "/?search=People"):
            assert "◆ proved" in client.get(page).text
        title = client.get(f"{runs.page('retention')}/publish").text
        assert "This release is proved to meet your rule. The public part can be released." in title
        point = next(p for p in client.get(f"{address}/map").json()["points"] if p["run"] == run)
        assert (point["status"], point["risk"]) == ("proved", pytest.approx(0.5))
        for tolerance in ("2", "x", "rule.toml", "/etc/passwd"):
            wrong = client.post(f"{runs.page('retention')}/rule", data={"csrf": csrf, "tolerance": tolerance})
            assert wrong.status_code == 422
            assert 'role="alert"' in wrong.text
            assert f'value="{tolerance}"' in wrong.text
            assert client.patch(address, json={"rule": tolerance}).status_code == 422
        assert client.get(address).json()["rule"] == "1/2"
    finally:
        assert client.patch(address, json={"rule": "partner"}).json()["rule"] == "partner"


# --- findings ------------------------------------------------------------------------------------------------


def test_findings_of_charts() -> None:
    bars = {"column": "age", "shift": 0.0, "unsaid": 0.0, "reconstructed": None}
    assert words.histogram_finding(bars) == "age: the counts are unchanged"
    assert words.histogram_finding(bars | {"shift": 0.125}) == "age: 12.5% of the rows moved to other values"
    assert "to other values, 1.5% are suppressed" in words.histogram_finding(bars | {"shift": 0.125, "unsaid": 0.015})
    pair: dict[str, Any] = {
        "a": "age",
        "b": "sex",
        "original": [[2, 2], [4, 0]],
        "released": [[3, 1], [3, 1]],
        "reconstructed": None,
    }
    shares: dict[str, Any] = {"exact": 0.0, "changed": 0.0, "range": 0.0, "set": 0.9, "empty": 0.1}
    sets = ColumnCells(column="age", role="quasi", is_date=False, size=5, **shares)
    assert words.histogram_finding(bars | {"shift": 0.0055}, sets) == (
        "age: 90.0% sets, 10.0% empty. Spread over the values they may mean, 0.55% of the rows moved to other values"
    )
    assert words.how_wide(sets) == "5 values in a set (median)"
    days = ColumnCells(column="day", role="date", is_date=True, width=14, span=0.25, **shares)
    assert words.how_wide(days) == "14 days (median), 25.0% of the whole range"
    pair["unsaid"] = {"original": 0.0, "released": 0.0}
    assert words.crosstab_finding(pair) == "age, sex: 25.0% of the rows moved to other values"
    assert "; 0% after reconstruction" in words.crosstab_finding(pair | {"reconstructed": pair["original"]})
    sizes = {"of": "rows", "total": 4, "alone": 0, "minimum": 3}
    assert words.class_size_finding(sizes) == "Every row is the same as others: the smallest of 4 classes has 3 rows"
    rows = RowCounts(original=9, public=8, deleted=2, added=1)
    assert words.rows_finding(rows) == "7 of 9 rows are released; deleted: 2, added: 1"


def test_numbers_and_names_for_people() -> None:
    assert [number(x) for x in (2.0, 0.0, 0.1234, 1e-9, -1e-9, 99.5, 1234.56)] == [
        "2", "0", "0.123", "<0.001", ">-0.001", "99.500", "1,234.6",
    ]  # fmt: skip
    assert measures["effective"].part_name("s1.named") == "s1: Named"
    assert measures["l1-precision"].part_name("age × sex, perturbed") == "age × sex: With noise"
    assert measures["classes"].part_name("min") == "smallest"
    assert measures["table-loss"].part_name("my-column") == "my-column"
    assert dwarfing([[1.0, 2.0, 30.0]])
    assert not dwarfing([[1.0, 20.0, 30.0]])


# --- in a browser --------------------------------------------------------------------------------------------


def drawn(page: Any) -> None:
    """Scroll through what is open of the page, so that every chart is drawn."""
    for figure in page.locator("figure.chart").all():
        if figure.is_visible():
            figure.scroll_into_view_if_needed()
            figure.locator(".plot svg").first.wait_for()
    at_rest(page)


def every_tab(page: Any) -> Iterator[str]:
    """Open one tab after another, with its charts drawn."""
    for tab in page.locator(".tabs a").all():
        tab.click()
        drawn(page)
        yield tab.inner_text()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "scheme", "width"), [("by-count", "dark", 1366), ("hierarchy", "light", 1366), ("retention", "dark", 390)]
)
def test_the_page_can_be_used_by_everybody(
    server: Server, browser: Any, runs: Finished, name: str, scheme: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    with watched(browser, server.address, **options) as page:
        page.goto(runs.page(name))
        for _tab in every_tab(page):
            page.evaluate("for (const d of document.querySelectorAll('main details')) d.open = true")
            without_axe_violations(page)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["pseudonymize", "by-count", "hierarchy", "retention"])
def test_every_tab_is_short(server: Server, browser: Any, runs: Finished, name: str) -> None:
    with watched(browser, server.address, viewport={"width": 1280, "height": 800}) as page:
        page.goto(runs.page(name))
        heights = {tab: page.evaluate("document.documentElement.scrollHeight") for tab in every_tab(page)}
        assert len(heights) == 5
        assert max(heights.values()) <= 2_500, heights
        page.goto(runs.page(name) + "#rule")  # an address into a tab that is not open
        expect(page.locator("#rule")).to_be_visible()
        expect(page.locator(".tabs [aria-current]")).to_have_text("Details")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["pseudonymize", "by-count", "hierarchy", "retention"])
def test_the_page_fits_a_phone(server: Server, browser: Any, runs: Finished, name: str) -> None:
    with watched(browser, server.address, viewport={"width": 390, "height": 844}) as page:
        page.goto(runs.page(name))
        for _tab in every_tab(page):
            without_overflow(page)
            page.evaluate("for (const d of document.querySelectorAll('main details')) d.open = true")
            without_overflow(page)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "width", "height", "language"), [("by-count", 1200, 800, "en-GB"), ("hierarchy", 390, 844, "ja-JP")]
)
def test_the_first_screen_has_the_verdict_and_three_numbers(
    server: Server, browser: Any, runs: Finished, name: str, width: int, height: int, language: str
) -> None:
    with watched(browser, server.address, viewport={"width": width, "height": height}, locale=language) as page:
        page.goto(runs.page(name))
        at_rest(page)
        rail = page.locator("nav.rail").bounding_box()
        bottom = rail["y"] if rail["y"] > 0 else height  # on a phone it lies below
        expect(page.locator("#key .figure")).to_have_count(3)
        for part in (page.locator("h1"), *page.locator("#key .figure").all()):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= bottom
        page.evaluate("for (const d of document.querySelectorAll('main details')) d.open = true")
        outcome = page.locator(".attacks .outcome").first.bounding_box()
        assert outcome["x"] + outcome["width"] <= width


@pytest.mark.slow
@pytest.mark.browser
def test_two_columns_and_rows_without_loading_the_page(browser_page: Any, runs: Finished) -> None:
    page = browser_page
    page.goto(runs.page("by-count"))
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="Columns").click()
    across = page.get_by_label("Across")
    across.focus()
    page.keyboard.press("p")  # price, by keyboard alone
    page.get_by_text("date, price: ").first.wait_for()
    page.wait_for_url("**b=price**")
    across.select_option("date")  # the other column takes the place that was left
    page.get_by_text("price, date: ").first.wait_for()
    expect(page.get_by_label("Downwards")).to_have_value("price")
    page.locator("#crosstab .plot svg").first.wait_for()
    page.get_by_role("link", name="Before and after").click()
    page.get_by_role("link", name="Next").click()
    page.locator("#rows .pager-place", has_text="21 to 40 of 900").wait_for()
    expect(page.get_by_role("link", name="Next")).to_be_focused()
    page.get_by_label("Only rows that changed").check()
    page.locator("#rows .pager-place", has_text="1 to 20 of").wait_for()
    page.wait_for_url(lambda url: {"a=price", "b=date", "only_changed=true"} <= set(url.partition("?")[2].split("&")))
    assert page.evaluate("window.stayed")
    page.reload()
    expect(page.get_by_label("Only rows that changed")).to_be_checked()


@pytest.mark.slow
@pytest.mark.browser
def test_numbers_explain_themselves_on_focus(browser_page: Any, runs: Finished) -> None:
    page = browser_page
    page.goto(runs.page("by-count"))
    told = page.locator(".attacks thead th", has_text="needed").first.locator(".tip")
    expect(told.locator(".tip-text")).to_be_hidden()
    told.get_by_role("button").focus()
    expect(told.locator(".tip-text")).to_be_visible()
    box = told.locator(".tip-text").bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= page.viewport_size["width"]
    page.keyboard.press("Escape")
    expect(told.locator(".tip-text")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_prints(server: Server, browser: Any, runs: Finished) -> None:
    """As wide as A4 between its margins: nothing is cut off, nothing is there to be pressed."""
    with watched(browser, server.address, viewport={"width": 703, "height": 1000}) as page:
        page.emulate_media(media="print")
        page.goto(runs.page("by-count"))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        drawn(page)
        without_overflow(page)
        expect(page.locator("nav.rail")).to_be_hidden()
        expect(page.locator("button:visible, a.button:visible")).to_have_count(0)
        expect(page.locator("h1")).to_be_visible()


def test_the_analysts_check_is_on_the_page_of_purchases(client: httpx.Client, runs: Finished) -> None:
    page = client.get(runs.page("by-count"), params={"tab": "utility"}).text
    check = page.partition('id="analyst"')[2].partition("</ul>")[0]
    assert re.search(r"<li>Monthly sales: (usable|with care|not usable) \(", check)
    assert 'id="analyst"' not in client.get(runs.page("retention")).text
