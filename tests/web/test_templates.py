"""The rules that the templates of every server keep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noren
from noren.judgement.glossary import chapters

ROOT = Path(noren.__file__).parent
SERVED = ("web", "contest", "studio")
TEMPLATES = sorted(path for room in SERVED for path in (ROOT / room / "templates").glob("*.jinja"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_templates_hold_nothing_that_the_policy_blocks(path: Path) -> None:
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.search(r"\sstyle\s*=", text), "a style attribute"
    assert not re.search(r"<style\b", text), "a style element"
    assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text), "an event handler"
    assert not re.search(r"(?:href|src|action)=[\"'](?:https?:|//|javascript:)", text), "an address elsewhere"
    for tag in re.findall(r"<script\b[^>]*>", text):
        assert "src=" in tag or 'type="application/json"' in tag, tag


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_forms_carry_the_token(path: Path) -> None:
    text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for form in re.findall(r"<form\b[^>]*method=\"post\".*?</form>", text, flags=re.DOTALL):
        assert "secured(" in form or 'name="csrf"' in form, form[:200]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_links_to_words_find_them(path: Path) -> None:
    anchors = {entry.anchor for chapter in chapters() for entry in chapter.entries}
    text = path.read_text(encoding="utf-8")
    linked = re.findall(r"/about#([\w-]+)", text) + re.findall(r"more=\"([\w-]+)\"", text)
    assert set(linked) <= anchors
