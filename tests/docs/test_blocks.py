"""Every code block and command of the documentation does what the page says (CONTRIBUTING.md has the conventions)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import markdown
import pytest
from tests.docs.blocks import LANGUAGES, REASONS, ROOT, WrongPageError, pages, parse_page, read_page
from tests.docs.commands import quoted_complaints
from tests.docs.stories import Story, look_up

from noren.i18n import active_language

PUBLISHED = (ROOT.parent / "shared" / "data").is_dir()
PAGES = pages()
_TO_RUN = re.compile(r"^\s*```(sh|console|python)\b", re.MULTILINE)
RUN = [place for place in PAGES if _TO_RUN.search((ROOT / place).read_text(encoding="utf-8"))]
"""The pages with something to run."""
SLOW = {
    "README.md",
    "docs/api.md",
    "docs/concepts.md",
    "docs/data/card.md",
    "docs/data/categories.md",
    "docs/data/draws.md",
    "docs/explore.md",
    "docs/guide/researcher.md",
    "docs/guide/steward.md",
    "docs/report.md",
    "docs/start.md",
    "docs/studio.md",
}
"""The pages that take more than two seconds of a processor; so are those in Japanese, which repeat commands."""
FATES = {"run", "compared", "parsed", "parsed and written", "shown", "shown after a block that is not run"} | {
    f"looked up: {reason}" for reason in (*REASONS, "no published data here")
}
# what decides where a block begins and ends; see mkdocs.yml
MARKDOWN = ["admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"]
MARKDOWN += ["pymdownx.details", "pymdownx.highlight", "pymdownx.superfences"]


def play(folder: Path, text: str, *, place: str = "page.md", published: bool = False) -> Story:
    folder = folder / "story"
    folder.mkdir(exist_ok=True)
    story = Story(parse_page(place, text), folder, published=published)
    story.run()
    return story


def block(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


# --- the pages -------------------------------------------------------------------------------------------------------


def test_every_page_is_read() -> None:
    everything = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    stand_ins = {"docs/contributing.md": "CONTRIBUTING.md", "docs/changelog.md": "CHANGELOG.md"}
    assert {stand_ins.get(place, place) for place in everything} | {"README.md"} <= set(PAGES)
    assert len(PAGES) == len(set(PAGES))


def check(place: str, folder: Path) -> None:
    page = read_page(place)
    story = Story(page, folder, published=PUBLISHED)
    story.run()
    assert story.fates.total() == len(page.blocks)
    assert set(story.fates) <= FATES


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=pytest.mark.slow if place in SLOW or place.startswith("docs/ja/") else ())
        for place in RUN
    ],
)
def test_a_page_does_what_it_says(place: str, tmp_path: Path) -> None:
    (tmp_path / "story").mkdir()
    check(place, tmp_path / "story")


def test_pages_with_nothing_to_run_keep_to_the_conventions(tmp_path: Path) -> None:
    for place in set(PAGES) - set(RUN):
        check(place, tmp_path)


def test_what_pages_name_exists() -> None:
    """Also where nothing is run, or in the slow tier alone: commands and flags in blocks, and what sentences quote."""
    wrong = []
    for place in PAGES:
        page = read_page(place)
        for line, span in page.spans:
            wrong += [f"{place}:{line}: `{span}`: {said}" for said in quoted_complaints(span, page.made_up)]
        for one in page.blocks:
            try:
                look_up(one, page.made_up)
            except WrongPageError as error:
                wrong.append(f"{one.where}: {error}")
    assert wrong == []


def test_no_block_is_overlooked() -> None:
    """An indented block, or a fence that we read otherwise than the site does, would never be run."""
    overlooked = []
    for place in PAGES:
        text = (ROOT / place).read_text(encoding="utf-8")
        shown = markdown.markdown(text, extensions=MARKDOWN).count("<pre>")
        if shown != len(parse_page(place, text).blocks):
            overlooked.append(place)
    assert overlooked == []


def test_the_conventions_are_told() -> None:
    told = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    section = next(part for part in told if part.startswith("Blocks in the documentation\n"))
    rows = re.findall(r"^\| (`[^|]+) \|", section, flags=re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} == LANGUAGES
    assert [reason for reason in REASONS if f"`{reason}`" not in section] == []


# --- what a story is -------------------------------------------------------------------------------------------------


def test_a_story_goes_on_from_block_to_block(tmp_path: Path) -> None:
    text = (
        "<!-- before: noren sample --customers 5 --rows 40 --items 20 --seed 1 --schema pwscup2018 --out T.csv -->\n\n"
        + block("python", "from pathlib import Path", "", "rows = Path('T.csv').read_text().splitlines()")
        + block("python", "print(len(rows), 'rows')")
        + block("text", "40 rows")
        + block("python", ">>> len(rows) + len(rows)", "80", ">>> most = max(rows)", ">>> 'a…'", "'a…'")
        + block("python", "print(most == max(rows))")
        + block("text", "True")
        + block("sh", "wc -l < T.csv && printf '%s' done | tr d D", "", "# told", "for i in 1 2; do echo $i; done")
        + block("text", "40", "Done1", "2")
        + block("toml", "# a/chain.toml", "[[step]]", 'method = "thin"')
        + block("sh", "cat a/chain.toml \\", "  | head -n 1")
        + block("text", "# a/chain.toml")
    )
    story = play(tmp_path, text)
    assert dict(story.fates) == {"run": 6, "compared": 4, "parsed and written": 1}


def test_a_console_shows_what_each_command_prints(tmp_path: Path) -> None:
    shown = ["$ noren threshold \\", "    --n 13", "…", "$ echo one; echo two", "one", "t…", "$ echo three"]
    assert play(tmp_path, block("console", *shown)).fates == {"run": 1}


def test_a_command_may_say_no(tmp_path: Path) -> None:
    text = (
        "<!-- exits 2 -->\n\n"
        + block("sh", "echo before", "noren methods nobody")
        + block("text", "before", "…nobody…")
    )
    assert play(tmp_path, text).fates == {"run": 1, "compared": 1}


def test_a_page_in_japanese_is_run_in_japanese(tmp_path: Path) -> None:
    text = "<!-- exits 2 -->\n\n" + block("sh", "noren methods nobody") + block("text", "noren: …は…")
    play(tmp_path, text, place="docs/ja/page.md")
    with pytest.raises(WrongPageError, match="the page shows"):
        play(tmp_path, text)


def test_data_that_were_printed(tmp_path: Path) -> None:
    text = block("sh", "echo '{\"k\": 3}'") + "<!-- printed -->\n\n"
    assert play(tmp_path, text + block("json", '{"k": 3}')).fates == {"run": 1, "compared": 1}
    with pytest.raises(WrongPageError, match="the page shows"):
        play(tmp_path, text + block("json", '{"k": 4}'))


def test_what_is_not_run_is_looked_up(tmp_path: Path) -> None:
    text = (
        "<!-- not run: takes minutes -->\n\n"
        + block("sh", "noren --lang ja reproduce all --quick  # long", "make test && git push > log")
        + block("text", "nobody knows")
        + "<!-- not run: needs the network -->\n\n"
        + block("console", "$ noren datasets fetch adult", "done")
        + "<!-- not run: a part of a file -->\n\n"
        + block("python", '"name": "place",')
        + "<!-- with published data -->\n\n"
        + block("python", "from noren.data.catalog import open_dataset", "open_dataset('adult')")
        + "<!-- made up: forget --months -->\n<!-- not run: takes minutes -->\n\n"
        + block("sh", "noren protect T.csv --method forget --months 3 --out r/")
    )
    assert dict(play(tmp_path, text).fates) == {
        "looked up: takes minutes": 2,
        "shown after a block that is not run": 1,
        "looked up: needs the network": 1,
        "looked up: a part of a file": 1,
        "looked up: no published data here": 1,
    }


def test_a_story_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    before = Path.cwd(), dict(os.environ), active_language()
    play(tmp_path, block("python", "import os", "os.environ['STORY'] = 'told'"), place="docs/ja/page.md")
    with pytest.raises(WrongPageError):
        play(tmp_path, block("python", "import os", "os.environ['STORY'] = 'told'", "raise ValueError"))
    assert (Path.cwd(), dict(os.environ), active_language()) == before


# --- what a page may not say -----------------------------------------------------------------------------------------

LIES = {
    "a command that fails": (block("sh", "noren methods nobody"), "left with 2, not 0"),
    "a command that does not exist": (block("sh", "noren protekt T.csv"), "left with 2, not 0"),
    "a flag that does not exist": (block("sh", "noren sample --seeds 1 --out T.csv"), "left with 2, not 0"),
    "an early command that fails": (block("sh", "false", "true"), "left with 1, not 0"),
    "a pipe that fails": (block("sh", "false | true"), "left with 1, not 0"),
    "a loop that fails": (block("sh", "for i in 1 2; do", "  test $i = 1", "done"), "left with 1, not 0"),
    "a command that does not fail": ("<!-- exits 1 -->\n\n" + block("sh", "true"), "left with 0, not 1"),
    "no command": (block("sh", "# nothing"), "no command"),
    "another output": (block("sh", "echo 0.25") + block("text", "0.26"), "the page shows"),
    "less than the output": (block("sh", "echo a; echo b") + block("text", "a"), "the page shows"),
    "more than the output": (block("sh", "echo a") + block("text", "a", "b"), "the page shows"),
    "another output of a console": (block("console", "$ echo a", "b", "$ echo c"), "the page shows"),
    "a console without a prompt": (block("console", "noren methods"), "prompt"),
    "another output of Python": (block("python", "print(1)") + block("text", "2"), "the page shows"),
    "Python that raises": (block("python", "import noren", "noren.protekt"), "page.md:1: the block raised Attrib"),
    "Python that is none": (block("python", "def"), "SyntaxError"),
    "another answer of a doctest": (block("python", ">>> 1 + 1", "3"), "Expected:\n    3"),
    "output of nothing": (block("text", "a"), "there is none before it"),
    "output of data": (block("toml", "a = 1") + block("text", "a"), "there is none before it"),
    "a command as a drawing": (block("plain", "noren protect T.csv"), "looks like a command"),
    "a doctest as a drawing": (block("plain", ">>> 1"), "looks like a command"),
    "TOML that is none": (block("toml", "a ="), "this is no toml"),
    "JSON that is none": (block("json", "{'a': 1}"), "this is no json"),
    "CSV of uneven rows": (block("csv", "a;b", "c;d;e"), "rows of"),
    "no language": (block("", "noren methods"), "a block of no language"),
    "another language": (block("cobol", "STOP RUN."), "a block of cobol"),
    "a block without an end": ("```sh\nnoren methods\n", "never closed"),
    "a comment without an end": ("<!-- not run: takes minutes\n\n" + block("sh", "true"), "never closed"),
    "another reason": ("<!-- not run: I am tired -->\n\n" + block("sh", "true"), "is no reason"),
    "another comment": ("<!-- no run: takes minutes -->\n\n" + block("sh", "true"), "is not one that a block knows"),
    "a comment said twice": ("<!-- exits 1 -->\n<!-- exits 2 -->\n" + block("sh", "true"), "is not one that"),
    "a comment above a sentence": ("<!-- exits 1 -->\n\nSo:\n\n" + block("sh", "true"), "stands above no block"),
    "an exit of Python": ("<!-- exits 1 -->\n\n" + block("python", "1"), "commands alone exit"),
    "printed text": (block("sh", "true") + "<!-- printed -->\n\n" + block("text", "a"), "'printed' is for"),
    "a story's start that fails": ("<!-- before: false -->\n\n" + block("sh", "true"), "left with 1, not 0"),
}  # fmt: skip
UNRUN = {
    "noren protekt T.csv": "noren has no command protekt",
    "noren ledger ad book/": "noren ledger has no command ad",
    "noren sample --seeds 1 --out T.csv": "noren sample has no flag --seeds",
    "noren protect T.csv --method thin --k 3 --out r/": "noren protect has no flag --k",
    "noren protect T.csv --method thinn --out r/": "there is no thinn among the methods",
    "noren attack T.csv r/ --attacks s1,s99 --out g/": "there is no s99 among the attacks",
    "noren measure T.csv r/ --measures=nothing": "there is no nothing among the measures",
    "noren explore T.csv --methods=thin --k 2..6": "noren explore has no flag --k",
    "noren measures nothing": "there is no nothing among the measures",
    "true && noren sampel | head": "noren has no command sampel",
    "make everything": "make has no target everything",
    ".venv/bin/pytest tests/nowhere": "there is no tests/nowhere",
}


@pytest.mark.parametrize(("text", "said"), LIES.values(), ids=LIES)
def test_a_page_that_is_wrong_fails(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPageError, match=re.escape(said)):
        play(tmp_path, text)


@pytest.mark.parametrize("command", UNRUN)
def test_a_wrong_command_that_is_not_run_fails(command: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPageError, match=re.escape(UNRUN[command])):
        play(tmp_path, "<!-- not run: takes minutes -->\n\n" + block("sh", command))
    with pytest.raises(WrongPageError, match=re.escape(UNRUN[command])):
        play(tmp_path, "<!-- not run: takes minutes -->\n\n" + block("console", f"$ {command}", "as you like"))


def test_an_import_that_is_not_run_fails(tmp_path: Path) -> None:
    with pytest.raises(WrongPageError, match=r"noren\.api has no protekt"):
        play(tmp_path, "<!-- not run: takes minutes -->\n\n" + block("python", "from noren.api import protekt"))


def test_a_wrong_command_in_a_sentence_is_told() -> None:
    page = parse_page("page.md", "Use `noren\nprotekt`, `noren report …`, `--seed 1 --kk 2` or `k`.")
    quoted = {said: quoted_complaints(said) for _line, said in page.spans}
    assert quoted == {
        "noren protekt": ["noren has no command protekt"],
        "noren report …": [],
        "--seed 1 --kk 2": ["no command has the flag --kk"],
        "k": [],
    }


def test_a_block_in_a_list_is_read_without_its_margin() -> None:
    page = parse_page("page.md", '1. First:\n\n    ```toml title="a.toml"\n    [a]\n      b = 1\n    ```\n')
    assert [(b.line, b.language, b.text, b.file) for b in page.blocks] == [(3, "toml", "[a]\n  b = 1\n", "a.toml")]
