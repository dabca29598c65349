"""The page of a run: the finding first, every number that of the command line, everything reached by everybody."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.conftest import Command
from tests.studio.browsing import at_rest, watched, without_axe_violations, without_overflow
from tests.studio.conftest import Running
from tests.studio.finished_runs import MEASURES, SEED, Finished, finished_runs, history_file, people_file

from noren.studio import words
from noren.studio.facts import part_words
from noren.studio.glossary import chapters
from noren.studio.pages.result_parts import dwarfing
from noren.study.numbers import number
from noren.study.table_risk import with_told


@pytest.fixture(scope="module")
def runs(server: Running) -> Finished:
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
    sharply = ["--with", "effective", "--bound", "sharp"]
    sharp = noren("measure", original, release, *schema, "--guess", guesses, *sharply, "--json")
    judged = {"paper": result, "sharp": said(sharp)}
    needed = {bound: told["results"]["effective"]["parts"] for bound, told in judged.items()}
    expected = measured(result) | counted(protected)
    for attack, told in attacked["results"].items():
        expected |= {f"attacks.{attack}.right": told["right"], f"attacks.{attack}.named": len(told["hits"])}
        expected |= {f"attacks.{attack}.needed_{bound}": parts[f"{attack}.needed"] for bound, parts in needed.items()}
        expected[f"attacks.{attack}.share"] = result["results"]["reid-rate"]["parts"][attack]
        expected[f"attacks.{attack}.chance"] = len(told["hits"]) / 120
    best = attacked["results"][attacked["most_damaging"]]["best"]
    expected |= {
        f"bounds.{bound}.{what}": told[what] for bound, told in best.items() for what in ("named", "right", "needed")
    }

    page = client.get(runs.page(name)).text
    shown = _Numbers(page).found
    assert shown == {what: expected[what] for what in shown}
    assert {what for what in expected if not what.startswith("measures.")} <= set(shown)
    assert set(measured(result)) <= set(shown)
    assert f"{attacked['most_damaging']} " in page
    verdict = (
        "Broken" if any(told["best"]["sharp"]["effective"] for told in attacked["results"].values()) else "Withstands"
    )
    assert re.search(r"<h1>(\w+)", page)[1] == verdict  # type: ignore[index]
    assert verdict == {"pseudonymize": "Broken", "by-count": "Withstands"}[name]


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
    result = said(noren("measure", original, release, *schema, "--with", ",".join(MEASURES[name]), "--json"))
    expected = measured(result) | counted(protected)
    if name == "hierarchy":
        parts = result["results"]["classes"]["parts"]
        expected |= {f"risk.{what}": parts[what] for what in ("prosecutor", "journalist", "marketer", "below")}
        expected["risk.k"] = result["results"]["classes"]["value"]
        for column, told in result["results"]["classes"]["notes"]["sensitive"].items():
            expected |= {f"risk.told.{column}": told["told_rows"], f"risk.told.{column}.likely": told["likely_rows"]}
    else:
        expected |= {"risk.k": 2.0, "risk.bound": 0.5}

    page = client.get(runs.page(name)).text
    shown = _Numbers(page).found
    assert shown == pytest.approx({what: expected[what] for what in shown}, abs=1e-12)
    assert {what for what in expected if ".sensitive." not in what} <= set(shown)
    others = f"{expected['risk.k'] - 1:.0f}"
    begins = {
        "hierarchy": f"Nobody can be singled out: every row is alike to at least {others} others",
        "retention": "Proven: ",
    }
    assert f"<h1>{begins[name]}" in page
    assert ("L1 precision of each marginal" in page) == (name == "retention")


# --- the page by itself --------------------------------------------------------------------------------------


def test_columns_are_chosen_by_the_address(client: httpx.Client, runs: Finished) -> None:
    page = client.get(runs.page("by-count"), params={"a": "price", "b": "date"}).text
    assert '<option value="price" selected>' in page
    assert '<option value="date" selected>' in page
    assert "price and date: " in page
    wrong = client.get(runs.page("by-count"), params={"a": "nonsense", "b": "nonsense"})
    assert wrong.status_code == 200
    assert "date and item: " in wrong.text


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
    assert "No row changed." in page
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


# --- sentences -----------------------------------------------------------------------------------------------


def attack(name: str, paper: tuple[int, int, int], sharp: tuple[int, int, int]) -> dict[str, Any]:
    def best(named: int, right: int, needed: int) -> dict[str, Any]:
        return {"named": named, "right": right, "needed": needed, "effective": right >= needed}

    return {"attack": name, "best": {"paper": best(*paper), "sharp": best(*sharp)}}


def history_view(
    paper: str, sharp: str, *attacks: dict[str, Any], most_damaging: str | None = "near"
) -> dict[str, Any]:
    return {
        "table_risk": None,
        "attacks": list(attacks),
        "most_damaging": most_damaging,
        "verdict": {"paper": paper, "sharp": sharp},
    }


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (
            history_view("untried", "untried"),
            "No attack was judged, so nothing is known about the risk of this release.",
        ),
        (
            history_view("withstands", "withstands", attack("near", (9, 3, 9), (9, 3, 8))),
            "Withstands the attack tried: of the 9 people that near is surest of, 3 are right; 8 would be needed.",
        ),
        (
            history_view("withstands", "withstands", *[attack("near", (0, 0, 1), (0, 0, 1))] * 2, most_damaging=None),
            "Withstands all 2 attacks tried: none of them names anybody rightly.",
        ),
        (
            history_view("withstands", "broken", attack("near", (20, 12, 15), (20, 12, 11))),
            "Broken by the sharp test, though not by the paper’s: of the 20 people that near is surest of, 12 are "
            "right, and 11 are enough.",
        ),
        (
            history_view("broken", "broken", attack("near", (20, 16, 15), (1200, 1100, 700))),
            "Broken: of the 1,200 people that near is surest of, 1,100 are right, and 700 are enough.",
        ),
    ],
)
def test_what_attackers_achieve_in_a_sentence(view: dict[str, Any], sentence: str) -> None:
    assert words.verdict_sentence(view) == sentence


def table_view(**risk: Any) -> dict[str, Any]:
    every = {
        "basis": "classes",
        "verdict": "withstands",
        "claimed": 5,
        "least": 5,
        "prosecutor": 0.2,
        "bound": None,
        "k": 5.0,
        "rows": 4_000,
        "told": [],
    }
    return {"table_risk": every | risk, "measures": []}


@pytest.mark.parametrize(
    ("view", "part"),
    [
        (
            table_view(),
            "is alike to at least 4 others, so whoever looks a person up is right with a probability of 20.0%",
        ),
        (
            table_view(verdict="broken", least=1, prosecutor=1.0),
            "The promise of k = 5 is not kept: the smallest class has 1 row, ",
        ),
        (table_view(verdict="broken"), "A promise about the sensitive values is not kept"),
        (
            table_view(verdict="untried", claimed=None, least=2, prosecutor=0.5),
            "Nothing was promised: the smallest class has 2 rows",
        ),
        (table_view(least=None), "No released row says anything"),
        (table_view(basis=None), "were not counted"),
        (
            table_view(basis="proof", bound=1 / 3, k=3.0),
            "nobody’s row can be told with a probability above 33.3% (k = 3)",
        ),
        (table_view(basis="proof", verdict="broken", bound=0.5, k=2.0, claimed=3), "is 2, below the 3"),
    ],
)
def test_what_a_table_leaks_in_a_sentence(view: dict[str, Any], part: str) -> None:
    assert part in words.verdict_sentence(view)


def test_a_class_of_one_sensitive_value_is_a_warning() -> None:
    def view(**told: tuple[int, int]) -> dict[str, Any]:
        notes = {
            "rows": 4_000,
            "sensitive": {
                column: {"l_distinct": 1.0 if certain else 2.0, "told_rows": certain, "likely_rows": likely}
                for column, (certain, likely) in told.items()
            },
        }
        return {"table_risk": with_told(table_view()["table_risk"], notes), "measures": []}

    harmless = view(income=(0, 0), illness=(0, 700))
    assert harmless["table_risk"]["verdict"] == "withstands"
    assert words.told_by_class(harmless) == []
    assert words.guessed_by_class(harmless) == [
        "The illness of 700 of 4,000 people can be guessed: at least 80.0% of their class have the same."
    ]
    leaking = view(income=(1, 1), illness=(649, 1_000))
    assert leaking["table_risk"]["verdict"] == "broken"
    worst, other, cure = words.told_by_class(leaking)
    assert worst == words.verdict_sentence(leaking)
    assert worst.startswith("649 of 4,000 people stand in classes where everybody has the same illness: ")
    assert other.startswith("1 of 4,000 people stands in a class where everybody has the same income: ")
    assert "(ℓ = 2)" in cure


def test_a_result_kept_before_classes_were_counted_is_not_called_safe() -> None:
    kept = {name: value for name, value in table_view()["table_risk"].items() if name not in ("told", "rows")}
    notes = {"rows": 4_000, "sensitive": {"illness": {"l_distinct": 1.0}}}
    told = with_told(kept, notes)
    assert told["verdict"] == "broken"
    assert "tells illness of everybody" in words.verdict_sentence({"table_risk": told})


def test_findings_of_charts() -> None:
    bars = {"column": "age", "shift": 0.0, "unsaid": 0.0, "reconstructed": None}
    assert words.histogram_finding(bars) == "age: every bar keeps its height"
    assert words.histogram_finding(bars | {"shift": 0.125}) == "age: 12.5% of the rows lie in another bar"
    assert "12.5% of the rows lie in another bar, 1.5% are not said" in words.histogram_finding(
        bars | {"shift": 0.125, "unsaid": 0.015}
    )
    pair = {"a": "age", "b": "sex", "original": [[2, 2], [4, 0]], "released": [[3, 1], [3, 1]], "reconstructed": None}
    pair["unsaid"] = {"original": 0.0, "released": 0.0}
    assert words.crosstab_finding(pair) == "age and sex: 25.0% of the rows lie in another cell"
    assert words.crosstab_finding(pair | {"reconstructed": pair["original"]}).endswith("reconstruction leaves 0%")
    sizes = {"class_sizes": {"of": "rows", "total": 4, "alone": 0, "minimum": 3}}
    assert words.class_size_finding(sizes) == "Every row is alike to others: the smallest of 4 classes has 3 rows"
    rows = {"rows": {"original": 9, "public": 8, "deleted": 2, "added": 1}}
    assert words.rows_finding(rows) == "7 of 9 rows are released, 2 are deleted and 1 were made up"


def test_numbers_and_names_for_people() -> None:
    assert [number(x) for x in (2.0, 0.0, 0.1234, 1e-9, -1e-9, 99.5, 1234.56)] == [
        "2", "0", "0.123", "<0.001", ">-0.001", "99.500", "1,234.6",
    ]  # fmt: skip
    assert part_words("s1.named") == "s1: named"
    assert part_words("age × sex, perturbed") == "age × sex: with the noise"
    assert part_words("min") == "smallest"
    assert part_words("my-column") == "my-column"
    assert dwarfing([[1.0, 2.0, 30.0]])
    assert not dwarfing([[1.0, 20.0, 30.0]])


# --- in a browser --------------------------------------------------------------------------------------------


def drawn(page: Any) -> None:
    """Scroll through the page, so that every chart is drawn."""
    for figure in page.locator("figure.chart").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".plot svg").first.wait_for()
    at_rest(page)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "scheme", "width"), [("by-count", "dark", 1366), ("hierarchy", "light", 1366), ("retention", "dark", 390)]
)
def test_the_page_can_be_used_by_everybody(
    server: Running, browser: Any, runs: Finished, name: str, scheme: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    with watched(browser, server.address, **options) as page:
        page.goto(runs.page(name))
        drawn(page)
        page.evaluate("for (const d of document.querySelectorAll('main details')) d.open = true")
        without_axe_violations(page)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["pseudonymize", "by-count", "hierarchy", "retention"])
def test_the_page_fits_a_phone(server: Running, browser: Any, runs: Finished, name: str) -> None:
    with watched(browser, server.address, viewport={"width": 390, "height": 844}) as page:
        page.goto(runs.page(name))
        drawn(page)
        without_overflow(page)
        page.evaluate("for (const d of document.querySelectorAll('main details')) d.open = true")
        without_overflow(page)


@pytest.mark.browser
def test_two_columns_and_rows_without_loading_the_page(browser_page: Any, runs: Finished) -> None:
    page = browser_page
    page.goto(runs.page("by-count"))
    page.evaluate("window.stayed = true")
    across = page.get_by_label("across")
    across.focus()
    page.keyboard.press("p")  # price, by keyboard alone
    page.get_by_text("date and price: ").first.wait_for()
    page.wait_for_url("**b=price**")
    across.select_option("date")  # the other column takes the place that was left
    page.get_by_text("price and date: ").first.wait_for()
    expect(page.get_by_label("downwards")).to_have_value("price")
    page.locator("#crosstab .plot svg").first.wait_for()
    page.get_by_role("link", name="Later").click()
    page.locator("#rows .pager-place", has_text="21 to 40 of 900").wait_for()
    expect(page.get_by_role("link", name="Later")).to_be_focused()
    page.get_by_label("Only rows that changed").check()
    page.locator("#rows .pager-place", has_text="1 to 20 of").wait_for()
    page.wait_for_url(lambda url: {"a=price", "b=date", "only_changed=true"} <= set(url.partition("?")[2].split("&")))
    assert page.evaluate("window.stayed")
    page.reload()
    expect(page.get_by_label("Only rows that changed")).to_be_checked()


@pytest.mark.browser
def test_numbers_explain_themselves_on_focus(browser_page: Any, runs: Finished) -> None:
    page = browser_page
    page.goto(runs.page("by-count"))
    told = page.locator(".attacks thead th", has_text="by chance").locator(".tip")
    expect(told.locator(".tip-text")).to_be_hidden()
    told.get_by_role("button").focus()
    expect(told.locator(".tip-text")).to_be_visible()
    box = told.locator(".tip-text").bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= page.viewport_size["width"]
    page.keyboard.press("Escape")
    expect(told.locator(".tip-text")).to_be_hidden()


@pytest.mark.browser
def test_the_page_prints(server: Running, browser: Any, runs: Finished) -> None:
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


@pytest.mark.parametrize(
    ("share", "verdict", "said"),
    [
        (0.312, "withstands", "names 31.2% of the customers rightly"),
        (0.09, "withstands", ""),
        (0.9, "broken", ""),
    ],
)
def test_many_right_names_are_told_even_where_the_tests_are_withstood(share: float, verdict: str, said: str) -> None:
    view = {"table_risk": None, "verdict": {"sharp": verdict}, "attacks": [{"share": 0.01}, {"share": share}]}
    caution = words.named_caution(view)
    assert said in caution
    assert bool(caution) == bool(said)
