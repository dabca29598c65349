"""The rules that the templates of every server keep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noren
from noren.judgement.glossary import chapters

ROOT = Path(noren.__file__).parent
SERVED = ("web", "contest", "studio")
TEMPLATES = {
    f"{room}/{path.name}": path.read_text(encoding="utf-8")
    for room in SERVED
    for path in sorted((ROOT / room / "templates").glob("*.jinja"))
}
BLOCKED = {
    "a style attribute": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an event handler": r"\son[a-z]+\s*=\s*[\"']",
    "an address elsewhere": r"(?:href|src|action)=[\"'](?:https?:|//|javascript:)",
    "a script in the page": r"<script\b(?![^>]*(?:src=|type=\"application/json\"))[^>]*>",
}
"""What the Content-Security-Policy keeps from working, by a pattern that finds it."""


def test_templates_hold_nothing_that_the_policy_blocks() -> None:
    found = []
    for name, source in TEMPLATES.items():
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.DOTALL)
        found += [f"{name}: {what}" for what, pattern in BLOCKED.items() if re.search(pattern, text)]
    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a style attribute", '<p style="color: red">'),
        ("a style element", "<style>"),
        ("an event handler", '<p onclick="go()">'),
        ("an address elsewhere", '<img src="https://example.org/a.png">'),
        ("a script in the page", '<script src="/a.js"></script><script type="module">'),
    ],
)
def test_what_the_policy_blocks_is_found(what: str, text: str) -> None:
    assert [name for name, pattern in BLOCKED.items() if re.search(pattern, text)] == [what]


def test_forms_carry_the_token() -> None:
    without = []
    for name, source in TEMPLATES.items():
        text = re.sub(r"\{#.*?#\}", "", source, flags=re.DOTALL)
        forms = re.findall(r"<form\b[^>]*method=\"post\".*?</form>", text, flags=re.DOTALL)
        without += [f"{name}: {form[:200]}" for form in forms if not ("secured(" in form or 'name="csrf"' in form)]
    assert without == []


def test_links_to_words_find_them() -> None:
    anchors = {entry.anchor for chapter in chapters() for entry in chapter.entries}
    linked = {
        (name, anchor)
        for name, text in TEMPLATES.items()
        for anchor in re.findall(r"/about#([\w-]+)", text) + re.findall(r"more=\"([\w-]+)\"", text)
    }
    assert {(name, anchor) for name, anchor in linked if anchor not in anchors} == set()
