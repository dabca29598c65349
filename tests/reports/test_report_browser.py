"""The page in a real browser: nothing loaded, nothing cut or overlapping, legible in light, dark and print."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from noren.data.frames import History
from noren.data.schema import Schema
from noren.judgement.frontier import finding, risk_utility_point
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, run_outcome
from noren.reports.report import write_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PICTURES = Path(__file__).resolve().parents[2] / "screenshots"
DEVICES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
A4 = {"width": 688, "height": 1017}  # what the margins leave of the paper, in CSS pixels
HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Open a file; a message on the console, an error, or a request for anything but the file itself fails the test."""
    contexts, said, asked = [], [], []

    def opened(path: Path, *, device: dict[str, int] = DEVICES["desktop"], scheme: str = "light") -> Page:
        context = browser.new_context(viewport=device, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert (said, asked) == ([], [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture
def report(
    folder: Path, history: History, outcomes: list[Outcome], speak: Callable[[str], None]
) -> Callable[[str], Path]:
    """Write the report in a language, once."""

    def written(language: str) -> Path:
        path = folder / f"{language}.html"
        if not path.exists():
            speak(language)
            write_report(history, outcomes, path)
        return path

    return written


# Boxes that reach beyond the window, other than inside a region that scrolls on its own.
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
  .filter(e => !e.closest('.scroll') && e.getClientRects().length)
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.outerHTML.slice(0, 90))"""

# Texts of charts that are cut by the edge of their picture.
CUT = """() => [...document.querySelectorAll('svg')].filter(s => s.getClientRects().length).flatMap(svg => {
  const b = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => t.textContent).filter(t => {
    const r = t.getBoundingClientRect();
    return r.left < b.left - 2 || r.right > b.right + 2 || r.top < b.top - 2 || r.bottom > b.bottom + 2;
  }).map(t => t.textContent);
})"""

# Pairs of texts of one chart that lie on each other; a label and its own rim are one.
OVERLAPS = """() => [...document.querySelectorAll('svg')].filter(s => s.getClientRects().length).flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent && t.getAttribute('stroke') === null);
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(0, i).filter(([b, q]) =>
    p.left < q.right - 1 && p.right > q.left + 1 && p.top < q.bottom - 3 && p.bottom > q.top + 3
  ).map(([b, q]) => a + ' / ' + b));
})"""

# Texts whose contrast with what lies behind them is below 4.5 : 1 (WCAG 2).
FAINT = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const v = c[i] / 255; return sum + share * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c;
  } return [255, 255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  let seen = 0;
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.getClientRects().length || e.getAttribute('stroke')) continue;
    const style = getComputedStyle(e), inside = e.closest('svg');
    const [a, b] = [light(rgb(inside ? style.fill : style.color)), light(behind(inside ? inside.parentElement : e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen += 1;
    if (ratio < 4.5) found.push(ratio.toFixed(2) + ' ' + walker.currentNode.data.trim().slice(0, 40));
  }
  return [seen, found];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_fits_and_can_be_read(
    report: Callable[[str], Path], open_page: Opener, language: str, device: str, scheme: str
) -> None:
    page = open_page(report(language), device=DEVICES[device], scheme=scheme)
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"report-{device}-{language}-{scheme}.png", full_page=True)
    assert page.locator("html").get_attribute("lang") == language
    assert page.evaluate("document.documentElement.scrollWidth") == DEVICES[device]["width"]
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(CUT) == []
    assert page.evaluate(OVERLAPS) == []
    seen, faint = page.evaluate(FAINT)
    assert seen > 400
    assert faint == []


def test_the_heading_is_the_finding(report: Callable[[str], Path], open_page: Opener, outcomes: list[Outcome]) -> None:
    page = open_page(report("en"))
    places = [risk_utility_point(one.label, judge(one), one.scores) for one in outcomes]
    assert page.locator("h1").inner_text() == page.title() == finding(places)
    assert page.locator("main > aside").inner_text().startswith("Confidential: this page contains original rows.")


def test_the_tables_show_the_scores(report: Callable[[str], Path], open_page: Opener, outcomes: list[Outcome]) -> None:
    page = open_page(report("en"))
    for number, outcome in enumerate(outcomes, start=1):
        error, hits = outcome.scores["cell-error"], outcome.scores["effective"].parts
        row = page.locator(".summary tbody tr").nth(number - 1)
        assert row.locator("th").inner_text() == outcome.label
        assert row.locator("td").nth(2).inner_text() == f"{error.value:.3f}"
        part = page.locator(f"#release-{number}")
        cells = part.locator(".attackers tbody td").all_inner_texts()
        assert cells[:2] == [f"{hits[f'unique-rows.{name}']:,.0f}" for name in ("named", "right")]
        assert cells[3] == "3.3%"  # one customer of thirty
        assert part.locator(".useful tbody th").all_inner_texts() == list(error.parts)
        assert part.locator(".useful tbody .figure").all_inner_texts() == [f"{e:.3f}" for e in error.parts.values()]
        widths = part.locator(".bar i").evaluate_all("all => all.map(e => e.offsetWidth / e.parentElement.clientWidth)")
        assert widths == pytest.approx([1 - min(1, e) for e in error.parts.values()], abs=0.02)


def test_each_screen_has_its_map(report: Callable[[str], Path], open_page: Opener) -> None:
    for device, shown, hidden in (("desktop", "wide", "narrow"), ("phone", "narrow", "wide")):
        page = open_page(report("en"), device=DEVICES[device])
        assert page.locator(f".map .{shown} svg").is_visible()
        assert not page.locator(f".map .{hidden} svg").is_visible()
        labels = page.locator(f".map .{shown} svg text").all_text_contents()
        assert {"pseudonymize", "k = 2", "k = 3", "k = 6"} <= set(labels)


def test_the_original_stands_left_of_the_release_or_above_it(report: Callable[[str], Path], open_page: Opener) -> None:
    for device in DEVICES:
        page = open_page(report("en"), device=DEVICES[device])
        before, after = (page.locator(f".pair .{side} svg").first.bounding_box() for side in ("before", "after"))
        assert before is not None
        assert after is not None
        assert (before["width"], before["height"]) == (after["width"], after["height"])
        if device == "desktop":
            assert before["x"] + before["width"] <= after["x"]
            assert before["y"] == after["y"]
        else:
            assert before["y"] + before["height"] <= after["y"]


def test_it_prints_on_paper_even_from_a_dark_screen(report: Callable[[str], Path], open_page: Opener) -> None:
    page = open_page(report("en"), device=A4, scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print", color_scheme="dark")
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / "report-print.png", full_page=True)
    assert (dark, page.evaluate("getComputedStyle(document.body).backgroundColor")) == (
        "rgb(20, 23, 28)",
        "rgb(251, 250, 247)",
    )
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth + 1)")
    assert page.evaluate(CUT) == []
    assert page.evaluate(FAINT)[1] == []
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Type /Page\n") >= 5


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Path:
    """A report on data whose every name is an attack, with a wide schema, long names and a crowd of releases."""
    rows: dict[str, list[Any]] = {
        "customer": [f"{HOSTILE}{i % 6}" for i in range(48)],
        "date": ["2010/12/1"] * 48,
        "item": [f"{HOSTILE} item {i % 12}" for i in range(24)] + ["W" * 200, "商品名" * 30] * 12,
        "price": [1.0 + i for i in range(48)],
        "quantity": [10 ** (i % 9) for i in range(48)],
    }
    history = History.of(rows, Schema.preset("pwscup2018"))
    few = {"attacks": ["unique-rows"], "measures": ["cell-error", "effective", "reid-rate"]}
    judges: list[dict[str, Any]] = [{}, *[few] * 4]  # the first by everything
    made = [
        run_outcome(history, "generalize-by-count", k=k, seed=1, **j) for k, j in zip(range(2, 7), judges, strict=True)
    ]
    labels = [HOSTILE, "W" * 200, "とても長い名前" * 20, "k", ""]
    crowd = [Outcome(label, o.release, o.guesses, o.scores) for label, o in zip(labels, made, strict=True)]
    return write_report(history, crowd, folder / "hostile.html", title=HOSTILE)


@pytest.mark.parametrize("device", DEVICES)
def test_hostile_names_neither_run_nor_break_the_page(hostile: Path, open_page: Opener, device: str) -> None:
    page = open_page(hostile, device=DEVICES[device])
    assert page.title().startswith("<script>document.title")
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    assert HOSTILE in page.locator(".name").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == DEVICES[device]["width"]
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(CUT) == []
