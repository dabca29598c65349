"""Every text a person reads is translated, and no catalogue holds what nobody says any more."""

import io
import re
import subprocess
import sys
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po

from noren import i18n
from noren.errors import FileError, ParameterError

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "noren"
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}


def said() -> set[str | tuple[str, ...]]:
    """Everything the sources mark for translation."""
    with (ROOT / "tools" / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(SOURCE, method_map=methods, options_map=options, keywords=KEYWORDS)
    return {message for _file, _line, message, _comments, _context in found}


def catalogue(language: str) -> Catalog:
    with (SOURCE / "locale" / language / "LC_MESSAGES" / "noren.po").open("rb") as file:
        return read_po(file, locale=language)


def messages(language: str) -> list[Message]:
    return [message for message in catalogue(language) if message.id]


def placeholders(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", [one for one in i18n.LANGUAGES if one != "en"])
class TestCatalogue:
    def test_is_complete_and_not_stale(self, language: str) -> None:
        listed = {message.id for message in messages(language)}
        wanted = said()
        assert len(wanted) > 100
        assert wanted - listed == set(), "untranslated: run make translations and translate"
        assert listed - wanted == set(), "stale: run make translations"

    def test_every_entry_is_translated(self, language: str) -> None:
        empty = [m.id for m in messages(language) if not (m.string if isinstance(m.string, str) else all(m.string))]  # type: ignore[arg-type]
        assert empty == []
        assert [m.id for m in messages(language) if m.fuzzy] == []

    def test_placeholders_are_kept(self, language: str) -> None:
        wrong = []
        for message in messages(language):
            originals = [message.id] if isinstance(message.id, str) else list(message.id)
            translated = [message.string] if isinstance(message.string, str) else list(message.string)  # type: ignore[arg-type]
            expected = set().union(*(placeholders(text) for text in originals))
            wrong += [message.id for text in translated if placeholders(text) != expected]
        assert wrong == []

    def test_japanese_is_written_in_japanese(self, language: str) -> None:
        # words that stay as they are: names, examples, file names
        latin = [m.id for m in messages(language) if isinstance(m.string, str) and m.string == m.id]
        assert [text for text in latin if len(re.findall(r"[a-z]{3,}", str(text))) > 2] == []

    def test_compiled_catalogue_is_fresh(self, language: str) -> None:
        compiled = io.BytesIO()
        write_mo(compiled, catalogue(language))
        compiled.seek(0)
        with (SOURCE / "locale" / language / "LC_MESSAGES" / "noren.mo").open("rb") as file:
            stored = read_mo(file)
        fresh = read_mo(compiled)
        assert [(m.id, m.string) for m in stored if m.id] == [(m.id, m.string) for m in fresh if m.id]


def test_help_speaks_japanese() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "noren", "--lang", "ja", "protect", "--help"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert "オプション" in done.stdout
    assert "Options" not in done.stdout


def test_language_is_chosen_by_flag_then_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREN_LANG", "")
    monkeypatch.setenv("LC_ALL", "")
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    assert i18n.preferred_language() == "ja"
    assert i18n.preferred_language("en") == "en"
    monkeypatch.setenv("NOREN_LANG", "en")
    assert i18n.preferred_language() == "en"
    monkeypatch.setenv("NOREN_LANG", "fr")
    monkeypatch.setenv("LANG", "C")
    assert i18n.preferred_language() == "en"


def test_errors_speak_japanese() -> None:
    i18n.activate("ja")
    try:
        assert i18n.active_language() == "ja"
        message = str(FileError(i18n._("the file is empty; give a file with at least one row"), file="a.csv", row=3))
    finally:
        i18n.activate("en")
    assert "空" in message
    assert "3" in message


def test_a_language_is_spoken_for_a_while_alone() -> None:
    with i18n.use_language("ja"):
        with i18n.use_language("en"):
            assert i18n.active_language() == "en"
        assert i18n.active_language() == "ja"
    assert i18n.active_language() == "en"


def test_each_half_of_a_message_is_translated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_remembering", False)  # which is restored
    i18n.track_messages()
    with i18n.use_language("ja"):
        problem = ParameterError.out_of_range("k", 6, "1 <= k <= 5").problem
        assert (i18n.retranslate(problem.rule), i18n.retranslate(problem.cure)) == (problem.rule, problem.cure)
        whole, no_remedy = i18n.split_remedy(i18n._("done"))
    assert "範囲" in problem.rule
    assert [*map(i18n.retranslate, (problem.rule, problem.cure))] == ["k = 6 is out of range", "use 1 <= k <= 5"]
    assert (i18n.retranslate(whole), no_remedy) == ("done", "")
    monkeypatch.undo()
    assert type(ParameterError.out_of_range("k", 6, "1 <= k <= 5").problem.rule) is str
