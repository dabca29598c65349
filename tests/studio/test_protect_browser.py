"""The page Protect in a browser: judged while it is typed, by keyboard alone, on a phone, without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import watched, without_axe_violations, without_overflow
from tests.studio.conftest import laid_project
from tests.studio.in_process import InProcess, Server

from noren.kernels.reconstruction.retention import keep_probabilities

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def history(server: Server) -> str:
    return laid_project(server, "To protect", sample="history")


@pytest.fixture(scope="module")
def people(server: Server) -> str:
    return laid_project(server, "People to protect", sample="people")


def test_choose_fill_run_and_see_the_result(server: InProcess, browser: Any, history: str) -> None:
    with watched(browser, server.address) as page:
        page.goto(f"/projects/{history}/protect")
        without_axe_violations(page)
        page.get_by_text("Or choose yourself").click()
        page.get_by_role("link", name="Choose: generalize-by-count").click()
        k = page.get_by_label("Minimum size of a group (k)")
        k.fill("1")  # also before the script is there
        page.get_by_text("k = 1 is out of range").wait_for()
        expect(k).to_have_attribute("aria-invalid", "true")
        k.fill("4")
        page.get_by_text("at least 4 of 400 customers").wait_for()
        page.get_by_text("is out of range").wait_for(state="detached")
        page.get_by_text("The slowest part is ensemble").wait_for()
        page.locator("#judges").click()
        for name in ("attack", "measure"):
            for box in page.locator(f'input[name="{name}"]').all()[1:]:
                box.uncheck()
        page.get_by_text("Attacks: 1, ").wait_for()
        without_axe_violations(page)
        with server.holding():
            page.get_by_role("button", name="Protect", exact=True).click()
            page.wait_for_url("**/runs/*")
            run = page.url.rsplit("/", 1)[1]
        page.wait_for_url(f"**/results/{run}*")


def test_what_is_typed_before_the_script_comes_is_judged(server: Server, browser: Any, history: str) -> None:
    held: list[Any] = []
    with watched(browser, server.address) as page:
        page.route("**/static/protect.js*", lambda route: held.append(route))
        with page.expect_request("**/static/protect.js*"):
            page.goto(f"/projects/{history}/protect?method=generalize-by-count", wait_until="commit")
        page.get_by_label("Minimum size of a group (k)").fill("1")
        held[0].continue_()
        page.get_by_text("k = 1 is out of range").wait_for()


NAMED = """() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") || at.labels?.[0]?.innerText || at.innerText;
}"""


def test_by_keyboard_alone(server: Server, browser: Any, people: str) -> None:
    with watched(browser, server.address) as page:
        page.goto(f"/projects/{people}/protect")

        def reach(name: str, most: int = 80) -> None:
            for _ in range(most):
                page.keyboard.press("Tab")
                focused = page.evaluate(NAMED)
                if focused and focused.strip().startswith(name):
                    return
            raise AssertionError(f"{name} cannot be reached")

        reach("Or choose yourself")
        page.keyboard.press("Enter")
        reach("Choose: retention")
        page.keyboard.press("Enter")
        page.wait_for_url("**method=retention")
        reach("age")
        page.keyboard.press("Space")
        reach("No row can be linked to a person with a probability above 1/k")
        page.keyboard.press("Control+a")
        page.keyboard.type("2")
        page.get_by_text("with a probability above 50%").wait_for()
        line = page.locator('.plan tr[aria-current="true"]')
        expect(line.locator("th, td")).to_have_text(["2", f"{keep_probabilities(2, [2, 12], 4000)[0]:.4f}"])
        page.keyboard.press("Enter")  # in a field it runs
        page.wait_for_url("**/results/**")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(server: Server, browser: Any, people: str, scheme: str) -> None:
    with watched(browser, server.address, viewport={"width": 390, "height": 800}, color_scheme=scheme) as page:
        for address in ("protect", "protect?method=mondrian&method=retention"):
            page.goto(f"/projects/{people}/{address}")
            without_overflow(page)
            without_axe_violations(page)


def test_the_form_works_without_scripts(server: Server, browser: Any, history: str) -> None:
    tab = watched(browser, server.address, java_script_enabled=False)
    with tab as page:
        page.goto(f"/projects/{history}/protect?method=thin")
        page.select_option("#then", "swap")
        page.get_by_role("button", name="Add this method").click()
        page.locator("#s1-share").fill("5")
        page.get_by_role("button", name="Protect", exact=True).click()
        expect(page.locator("#s1-share-error")).to_have_text("use 1 or less")
        expect(page.locator("#s1-share")).to_have_value("5")
        assert [said for said in tab.wrong if "422" not in said] == []
        tab.wrong.clear()  # the browser tells of every answer that is not a success
