"""Protect: promises to choose from, forms out of parameter models, errors next to their fields."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from pydantic import Field
from tests.studio.conftest import Running, ready_project, wait_for, watched

from noren.attacks import attacks as every_attack
from noren.data.schema import Schema
from noren.kernels.retention import keep_probabilities
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.methods.generalize import Generalize
from noren.methods.retention import Retention
from noren.methods.thin import Thin
from noren.protocols import Method
from noren.studio.forms import Column, check, columns_of, controls, fresh, typed_of, understood
from noren.studio.planning import early_problem
from noren.studio.promises import GROUPS, by_promise, words_of
from noren.studio.work.project_files import path_fields

COLUMNS = [
    Column("name", "identifier", 100),
    Column("age", "quasi", 40, begins=True),
    Column("sex", "quasi", 2, begins=True),
    Column("region", "quasi", 12),
    Column("illness", "sensitive", 6),
]


@pytest.fixture(scope="module")
def history(server: Running) -> str:
    client = server.client()
    try:
        return ready_project(client, name="To protect")
    finally:
        client.close()


@pytest.fixture(scope="module")
def people(server: Running) -> str:
    client = server.client()
    try:
        return ready_project(client, sample="people", name="People to protect")
    finally:
        client.close()


# --- promises -------------------------------------------------------------------------------------------------


def test_every_method_stands_under_one_promise_and_says_when_it_is_wrong() -> None:
    told = [name for group in GROUPS for name in group.methods]
    assert sorted([*told, "chain"]) == list(every_method)
    for name in told:
        words = words_of(name)
        assert words.good.endswith(".")
        assert words.wrong.endswith(".")


def test_a_method_nobody_told_about_stands_last() -> None:
    class Strange(Method):
        """Somebody else's."""

        name = "strange"
        summary = "Does something."

        def protect(self, original: Any, *, seed: int, progress: Any = None) -> Any:
            """Do nothing."""

    found = by_promise([Strange, Thin])
    assert [(group.key, [m.name for m in some]) for group, some in found] == [
        ("harder", ["thin"]),
        ("other", ["strange"]),
    ]


# --- forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in every_method if name != "chain"])
def test_every_parameter_has_one_control_and_no_file_has_any(name: str) -> None:
    method = every_method[name]
    made = controls(method, fresh(method, COLUMNS), COLUMNS)
    assert {c.field for c in made} == set(method.model_fields) - set(path_fields(method))
    assert all(c.label and c.help for c in made)
    assert not any("--" in c.help for c in made)


@pytest.mark.parametrize("name", [name for name in every_method if name not in ("chain", "hierarchy")])
def test_a_fresh_form_is_right_and_says_nothing_needless(name: str) -> None:
    method = every_method[name]
    made, errors = check(method, fresh(method, COLUMNS), COLUMNS)
    assert errors == {}
    assert made is not None
    typed = typed_of(method, made.parameters(), COLUMNS)
    assert check(method, typed, COLUMNS) == (made, {})  # what was ordered can be typed again


@pytest.mark.parametrize(
    ("method", "typed", "errors"),
    [
        (Thin, {"share": ["2"]}, {"share": "use 1 or less"}),
        (Thin, {"share": ["-0.1"]}, {"share": "use 0 or more"}),
        (Thin, {"share": ["many"]}, {"share": "write a number"}),
        (Thin, {"share": ["nan"]}, {"share": "write a number"}),
        (Generalize, {"k": ["1"]}, {"k": "k=1 protects nobody; use k >= 2"}),
        (Generalize, {"k": ["2.5"]}, {"k": "write a whole number"}),
        (Generalize, {"k": []}, {"k": "give k, or survival in its place: one of the two"}),
        (Generalize, {"k": ["3"], "survival": ["0.9"]}, {"k": "give k, or survival in its place: one of the two"}),
        (Generalize, {"k": ["3"], "effort": ["other"], "effort.other": [""]}, {"effort": "write a number"}),
        (Generalize, {"k": ["3"], "effort": ["slow"]}, {"effort": "choose one of these"}),
        (Generalize, {"k": ["x"], "attackers": ["0"]}, {"k": "write a whole number", "attackers": "use 1 or more"}),
        (Retention, {"k": ["2"], "attributes": []}, {"attributes": "choose at least one column"}),
        (
            Retention,
            {"k": ["2"], "attributes": ["age"], "classes": ["age=a..b"]},
            {
                "classes": "classes 'age=a..b' are not understood; write age=20..90:5 for classes up to 20, 25, … 90; "
                "the last end must be reached"
            },
        ),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    method: type[Method], typed: dict[str, list[str]], errors: dict[str, str]
) -> None:
    assert check(method, typed, COLUMNS) == (None, errors)


def test_full_width_digits_are_digits() -> None:
    assert check(Generalize, {"k": ["３"]}, COLUMNS)[0] == Generalize(k=3, suppress_cells=False)


def test_what_is_typed_becomes_parameters() -> None:
    typed = {
        "attributes": ["age", "region"],
        "k": [" 4 "],
        "weights": ["1, 2"],
        "classes": ["age=20..40:5\nincome=1..3:1"],
        "missing": ["category"],
    }
    assert understood(Retention, typed, COLUMNS) == {
        "attributes": ["age", "region"],
        "k": "4",
        "weights": ["1", "2"],
        "classes": ["age=20..40:5", "income=1..3:1"],
        "missing": "category",
    }
    made, _errors = check(Retention, typed | {"classes": []}, COLUMNS)
    assert made == Retention(attributes=("age", "region"), k=4, weights=(1.0, 2.0), missing="category")


def test_all_quasi_columns_are_the_default_and_left_out() -> None:
    method = every_method["mondrian"]
    assert fresh(method, COLUMNS)["quasi"] == ["age", "sex", "region"]
    assert "quasi" not in understood(method, fresh(method, COLUMNS), COLUMNS)
    assert understood(method, {"quasi": ["age"]}, COLUMNS)["quasi"] == ["age"]
    offered = next(c for c in controls(method, {}, COLUMNS) if c.field == "quasi")
    assert [c.name for c in offered.columns] == ["age", "sex", "region", "illness"]  # never what identifies
    assert next(c for c in controls(method, {}, COLUMNS) if c.field == "sensitive").choices == (
        ("", "the only one"),
        ("illness", "illness"),
    )


def test_a_cross_tabulation_begins_with_columns_that_rows_can_fill() -> None:
    schema = Schema.of({"kind": "table", "columns": {c.name: {"role": c.role} for c in COLUMNS}})
    profile = {"rows": 100, "columns": [{"name": c.name, "domain": None, "distinct": c.values} for c in COLUMNS]}
    assert [c.name for c in columns_of(schema, profile) if c.begins] == ["age", "sex"]  # 80 combinations, not 960


def test_a_strange_component_gets_a_form_too() -> None:
    class Strange(Method):
        """Somebody else's, with every kind of parameter."""

        name = "strange-form"
        summary = "Does something."
        colour: Literal["red", "blue"] = "red"
        noise_level: float = Field(default=0.5, gt=0, description="how loud")
        words: tuple[str, ...] = ()
        title: str = ""
        turned: bool = True

        def protect(self, original: Any, *, seed: int, progress: Any = None) -> Any:
            """Do nothing."""

    made = {c.field: c for c in controls(Strange, fresh(Strange, []), [])}
    assert {name: c.kind for name, c in made.items()} == {
        "colour": "choice",
        "noise_level": "number",
        "words": "lines",
        "title": "text",
        "turned": "switch",
    }
    assert made["noise_level"].label == "Noise level"
    assert check(Strange, {"noise_level": ["0"]}, [])[1] == {"noise_level": "use more than 0"}


@pytest.mark.parametrize(
    ("column", "parameters", "errors"),
    [
        ({"domain": ["f", "m"]}, {}, {}),
        ({}, {}, {"domains": "x has no list of values: declare one on the page of the data, or take those that occur"}),
        ({}, {"domains": "data"}, {}),
        (
            {"type": "integer"},
            {},
            {"classes": "x has no least and greatest value: declare them on the page of the data, or use classes"},
        ),
        ({"type": "integer"}, {"classes": ["x=1..3:1"]}, {}),
        ({"domain": ["f", "m"]}, {"k": 11}, {"k": "k=11 cannot hold for 10 rows; use 1 <= k <= the number of rows"}),
    ],
)
def test_what_retention_needs_is_said_where_it_can_be_cured(
    column: dict[str, Any], parameters: dict[str, Any], errors: dict[str, str]
) -> None:
    schema = Schema.of({"kind": "table", "columns": {"x": {"role": "quasi"} | column}})
    profile = {"rows": 10, "columns": [{"name": "x", "domain": None, "distinct": 3}]}
    method = Retention(**{"k": 2} | parameters)
    assert early_problem(method, schema, profile, 10) == errors


# --- pages ----------------------------------------------------------------------------------------------------


def form_of(page: str) -> dict[str, list[str]]:
    """Return what a browser would send of the form as it stands."""
    sent: dict[str, list[str]] = {}
    form = page[page.index('id="order"') : page.index("</form>", page.index('id="order"'))]
    for tag in re.findall(r"<(?:input|select|textarea|option)\b[^>]*>", form):
        said = dict(re.findall(r'([\w.-]+)="([^"]*)"', tag))
        if tag.startswith("<select"):
            name = said["name"]
        elif tag.startswith("<option"):
            if " selected" in tag:
                sent.setdefault(name, []).append(said["value"])
        elif said.get("type") != "checkbox" or " checked" in tag:
            sent.setdefault(said["name"], []).append(said.get("value", ""))
    return sent


def test_only_what_fits_is_offered(client: httpx.Client, history: str, people: str) -> None:
    for project, names in (
        (history, "generalize generalize-by-count perturb swap thin pseudo-records monthly-pseudonyms pseudonymize"),
        (people, "mondrian hierarchy retention"),
    ):
        page = client.get(f"/projects/{project}/protect")
        assert page.status_code == 200
        chosen = re.findall(rf'href="/projects/{project}/protect\?method=([\w-]+)"', page.text)
        assert chosen == names.split()


def test_a_form_without_scripts_runs(client: httpx.Client, history: str) -> None:
    page = client.get(f"/projects/{history}/protect", params={"method": "thin"}).text
    sent = form_of(page)
    assert sent["method.0"] == ["thin"]
    assert sent["attack"] == [name for name in every_attack if every_attack[name].accepts]
    sent |= {"0.share": ["0.25"], "attack": ["unique-rows"], "measure": ["cell-error", "e6"], "seed": ["9"]}
    answer = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert answer.status_code == 303
    job = answer.headers["location"].rsplit("/", 1)[1]
    said = wait_for(client, job)
    assert said["state"] == "done"
    assert said["label"] == "thin, share = 0.25"
    result = client.get(f"/api/v1/runs/{job}/result").json()
    assert result["rows"]["deleted"] == 3000
    assert [m["name"] for m in result["measures"]] == ["cell-error", "e6"]
    # prefilled with what was ordered; the seed is a secret
    again = form_of(client.get(f"/projects/{history}/protect", params={"from": job}).text)
    assert again["0.share"] == ["0.25"]
    assert again["attack"] == ["unique-rows"]
    assert again["seed"] == [""]


def test_what_is_wrong_is_said_and_what_was_typed_is_kept(client: httpx.Client, history: str) -> None:
    sent = {"method.0": "generalize", "0.k": "1", "0.effort": "other", "0.effort.other": "soon", "seed": "x"}
    answer = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert answer.status_code == 422
    page = answer.text
    assert 'value="1"' in page
    assert 'value="soon"' in page
    assert "k=1 protects nobody" in page
    assert "write a number" in page
    assert "3 things are not right yet" in page
    invalid = re.findall(r'<(?:input|select)[^>]*id="([\w-]+)"[^>]*aria-invalid="true"', page)
    assert invalid == ["s0-k", "s0-effort", "seed"]
    assert client.get(f"/api/v1/projects/{history}/runs").json() == [
        run for run in client.get(f"/api/v1/projects/{history}/runs").json() if run["label"] != "generalize, k = 1"
    ]


def test_more_people_than_there_are_is_said_before_it_runs(client: httpx.Client, history: str, people: str) -> None:
    sent = {"method.0": "generalize-by-count", "0.k": "401"}
    page = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert page.status_code == 422
    assert "there are only 400 people; use 400 or less" in page.text
    sent = {"method.0": "retention", "0.k": "5000", "0.attributes": "sex"}
    page = client.post(f"/projects/{people}/protect", data=sent | {"act": "run"})
    assert page.status_code == 422
    assert "k=5000 cannot hold for 4,000 rows" in page.text
    several = {"method.0": ["mondrian"], "0.k": ["5"], "0.quasi": ["age", "sex"], "0.l": ["2"], "act": ["run"]}
    page = client.post(f"/projects/{people}/protect", data=several)
    assert page.status_code == 422
    assert "choose one of income, illness" in page.text


def test_steps_are_added_and_taken_away(client: httpx.Client, history: str) -> None:
    sent = {"method.0": "thin", "0.share": "0.3", "then": "monthly-pseudonyms", "act": "add"}
    page = client.post(f"/projects/{history}/protect", data=sent).text
    assert "2 methods, one after another: thin → monthly-pseudonyms" in page
    longer = form_of(page) | {"act": ["remove-0"]}
    assert longer["0.share"] == ["0.3"]
    fewer = form_of(client.post(f"/projects/{history}/protect", data=longer).text)
    assert fewer["method.0"] == ["monthly-pseudonyms"]
    assert "method.1" not in fewer
    none = client.post(f"/projects/{history}/protect", data={"method.0": "thin", "act": "remove-0"})
    assert none.status_code == 303
    sent = {
        "method.0": "thin",
        "0.share": "0.3",
        "method.1": "swap",
        "1.share": "0.2",
        "1.period": "month",
        "act": "run",
    }
    job = client.post(f"/projects/{history}/protect", data=sent).headers["location"].rsplit("/", 1)[1]
    said = client.get(f"/api/v1/jobs/{job}").json()
    assert said["label"] == "thin, share = 0.3 → swap, share = 0.2"
    assert client.post(f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"


def test_the_form_is_judged_while_it_is_typed(client: httpx.Client, history: str, people: str) -> None:
    address = f"/projects/{history}/protect/check"
    said = client.post(address, data={"method.0": "generalize", "0.k": "4", "0.effort": "quick"}).json()
    assert said["errors"] == {}
    assert "at least 4 of 400 customers, in 100 groups or fewer" in said["meanings"]["0"]
    assert said["cost"]["parts"][0]["name"] == "protect: generalize"
    wrong = client.post(address, data={"method.0": "generalize", "0.k": "0"}).json()
    assert list(wrong["errors"]) == ["0.k"]
    assert wrong["cost"] is None
    sent = {"method.0": "retention", "0.k": "5", "0.attributes": ["sex", "region"]}
    plan = client.post(f"/projects/{people}/protect/check", data=sent).json()["plans"]["0"]
    known = {f"{k:g}": f"{keep_probabilities(k, [2, 12], 4000)[0]:.4f}" for k in (2, 3, 5, 10, 20, 50)}
    assert {line["k"]: line["rho"][0] for line in plan["lines"]} == known
    assert [line["k"] for line in plan["lines"] if line["own"]] == ["5"]
    assert "24 combinations of values for 4,000 rows" in plan["said"]


def test_the_interface_says_the_same(client: httpx.Client, history: str, people: str) -> None:
    plan = client.get(f"/api/v1/projects/{people}/plan", params={"attributes": ["sex", "region"], "k": [2, 5]}).json()
    assert plan["attributes"] == [{"name": "sex", "values": 2}, {"name": "region", "values": 12}]
    assert [line["rho"] for line in plan["plans"]] == [keep_probabilities(k, [2, 12], 4000) for k in (2, 5)]
    fitting = client.get(f"/api/v1/projects/{people}/attacks/fitting").json()
    assert fitting == []
    asked = {"steps": [{"method": "thin"}], "attacks": ["jaccard"], "measures": ["cell-error"]}
    cost = client.post(f"/api/v1/projects/{history}/estimate", json=asked).json()
    assert list(cost["parts"]) == ["protect: thin", "attack: jaccard", "measure: cell-error"]
    assert 0 < cost["low"] <= cost["seconds"] <= cost["high"]
    bad = client.post(
        f"/api/v1/projects/{history}/estimate", json={"steps": [{"method": "thin", "parameters": {"k": 2}}]}
    )
    assert bad.status_code == 422


def test_no_form_and_no_order_names_a_file(client: httpx.Client, history: str, tmp_path: Path) -> None:
    (tmp_path / "categories.csv").write_text("item,category\n")
    file = str(tmp_path / "categories.csv")
    sent = {"method.0": "generalize-by-count", "0.k": "3", "0.categories": file}
    said = client.post(f"/projects/{history}/protect/check", data=sent).json()
    assert said["errors"] == {}  # there is no such field, so nobody reads it
    for steps in (
        [{"method": "generalize", "parameters": {"k": 3, "categories": file}}],
        [{"method": "chain", "parameters": {"steps": [{"method": "generalize", "k": 3, "categories": file}]}}],
    ):
        assert client.post(f"/api/v1/projects/{history}/runs", json={"steps": steps}).status_code == 422


def test_an_empty_project_says_what_to_do_first(client: httpx.Client) -> None:
    project = client.post("/api/v1/projects", json={"name": "Empty"}).json()["id"]
    page = client.get(f"/projects/{project}/protect")
    assert page.status_code == 200
    assert f'href="/projects/{project}/data"' in page.text
    assert client.post(f"/projects/{project}/protect", data={"method.0": "thin"}).status_code == 409


def test_a_method_whose_file_is_not_there_says_so(server: Running, client: httpx.Client) -> None:
    project = ready_project(client, sample="people", name="Without hierarchies")
    shutil.rmtree(server.folder / "projects" / project / "hierarchies")
    page = client.get(f"/projects/{project}/protect")
    assert "It needs hierarchies" in page.text
    assert "method=hierarchy" not in page.text
    page = client.post(f"/projects/{project}/protect", data={"method.0": "hierarchy", "0.k": "2", "act": "run"})
    assert page.status_code == 422
    assert "this method needs hierarchies" in page.text


def test_a_measure_that_cannot_judge_is_left_out(client: httpx.Client, history: str) -> None:
    order = {"steps": [{"method": "generalize-by-count", "parameters": {"k": 4}}], "attacks": []}
    measures = ["cell-error", "e1", "reid-rate"]  # the second wants exact values, the third attacks
    assert all(name in every_measure for name in measures)
    job = client.post(f"/api/v1/projects/{history}/runs", json=order | {"measures": measures}).json()
    assert wait_for(client, job["id"])["state"] == "done"
    result = client.get(f"/api/v1/runs/{job['id']}/result").json()
    assert [m["name"] for m in result["measures"]] == ["cell-error"]
    assert result["verdict"] == {"paper": "untried", "sharp": "untried"}


# --- in a browser ---------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_choose_fill_run_and_see_the_result(server: Running, browser: Any, history: str) -> None:
    with watched(browser, server.address) as page:
        page.goto(f"/projects/{history}/protect")
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("link", name="Choose generalize-by-count").click()
        page.get_by_label("How many look alike (k)").fill("1")
        page.get_by_text("k=1 protects nobody").wait_for()
        assert page.get_by_label("How many look alike (k)").get_attribute("aria-invalid") == "true"
        page.get_by_label("How many look alike (k)").fill("4")
        page.get_by_text("at least 4 of 400 customers").wait_for()
        page.get_by_text("protects nobody").wait_for(state="detached")
        page.locator("#cost-time").wait_for()
        page.locator("#judges").click()
        for box in page.locator('input[name="attack"]').all()[1:]:
            box.uncheck()
        page.get_by_text("1 attack tries it").wait_for()
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("button", name="Protect", exact=True).click()
        page.wait_for_url("**/runs/**")
        page.locator("#job").wait_for()
        page.wait_for_url("**/results/**", timeout=60_000)


NAMED = """() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") || at.labels?.[0]?.innerText || at.innerText;
}"""


@pytest.mark.browser
def test_by_keyboard_alone(server: Running, browser: Any, people: str) -> None:
    with watched(browser, server.address) as page:
        page.goto(f"/projects/{people}/protect")

        def reach(name: str, most: int = 80) -> None:
            for _ in range(most):
                page.keyboard.press("Tab")
                focused = page.evaluate(NAMED)
                if focused and focused.strip().startswith(name):
                    return
            raise AssertionError(f"{name} cannot be reached")

        reach("Choose retention")
        page.keyboard.press("Enter")
        page.wait_for_url("**method=retention")
        reach("age")
        page.keyboard.press("Space")
        reach("Nobody found more surely")
        page.keyboard.press("Control+a")
        page.keyboard.type("2")
        page.get_by_text("with a probability above 50%").wait_for()
        line = page.locator('.plan tr[aria-current="true"]')
        assert line.inner_text().split() == ["2", f"{keep_probabilities(2, [2, 12], 4000)[0]:.4f}"]
        page.keyboard.press("Enter")  # in a field it runs
        page.wait_for_url("**/runs/**")
        page.wait_for_url("**/results/**", timeout=60_000)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(server: Running, browser: Any, people: str, scheme: str) -> None:
    with watched(browser, server.address, viewport={"width": 390, "height": 800}, color_scheme=scheme) as page:
        for address in ("protect", "protect?method=mondrian&method=retention"):
            page.goto(f"/projects/{people}/{address}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert Axe().run(page).response["violations"] == []


@pytest.mark.browser
def test_the_form_works_without_scripts(server: Running, browser: Any, history: str) -> None:
    tab = watched(browser, server.address, java_script_enabled=False)
    with tab as page:
        page.goto(f"/projects/{history}/protect?method=thin")
        page.select_option("#then", "swap")
        page.get_by_role("button", name="Add this method").click()
        page.locator("#s1-share").fill("5")
        page.get_by_role("button", name="Protect", exact=True).click()
        assert page.locator("#s1-share").input_value() == "5"
        assert page.locator("#s1-share-error").inner_text() == "use 1 or less"
        assert [said for said in tab.wrong if "422" not in said] == []
        tab.wrong.clear()  # the browser tells of every answer that is not a success
