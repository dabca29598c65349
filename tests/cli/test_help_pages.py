"""Help pages and usage errors speak the reader's language and lose nothing at the edge of the screen."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rich._wrap
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Command

from noren import cli, i18n
from noren.cli.parts.help_pages import line_words as words
from noren.cli.parts.help_pages import usage_sentence
from noren.tables import table_of

JAPANESE = re.compile(r"[぀-ヿ一-鿿]")


@pytest.fixture
def japanese() -> Iterator[None]:
    import noren.cli.app  # noqa: F401 - its texts are said once in a process: in English, as other tests expect

    i18n.activate("ja")
    yield
    i18n.activate("en")


def page(*command: str, width: int, language: str = "ja") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "noren", "--lang", language, *command, "--help"],
        env=os.environ | {"COLUMNS": str(width)},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return done.stdout


class TestPage:
    def test_nothing_of_typer_is_left_in_english(self) -> None:
        said = page(width=100) + page("sample", width=100)
        for english in ("Usage", "Show this", "Install completion", "required", "default", "Options", "Commands"):
            assert english not in said
        for own in ("使い方: noren sample", "このヘルプを表示して終了します。", "[必須]", "[既定値: 400]"):
            assert own in said

    def test_the_type_of_a_value_is_shown_and_a_flag_has_none(self) -> None:
        text = page("judge", width=100, language="en")
        assert "<path>" in text
        assert "bool" not in text
        assert "list[" not in text

    def test_english_is_as_typer_says_it(self) -> None:
        said = page("sample", width=100, language="en")
        for own in ("Usage: noren sample", "Show this message and exit.", "[required]", "[default: 400]"):
            assert own in said

    def test_the_name_of_a_table_in_a_file_is_no_markup(self, noren: Command) -> None:
        for _again in range(2):
            said = noren("protect", "--help").out
            assert "A TOML file of [[step]] tables" in said
            assert "local[n]" in said

    @pytest.mark.parametrize(
        "width", [pytest.param(60, marks=pytest.mark.slow), 80, pytest.param(81, marks=pytest.mark.slow)]
    )
    def test_no_sentence_is_cut_off(self, width: int) -> None:
        said = page("attack", width=width)
        assert "…" not in said
        column = "".join(re.findall(r"^│.{20,}?([^ ].*?) *│$", page("protect", width=width), flags=re.MULTILINE))
        assert "…" not in column
        assert column.count("書き出します。") == 1  # the end of a sentence of three lines

    @pytest.mark.slow
    def test_closing_signs_do_not_begin_a_line(self) -> None:
        for width in range(60, 90, 7):
            assert re.findall(r"^[│ ]*[、。）」]", page("protect", width=width), flags=re.MULTILINE) == []


class TestTexts:
    def test_every_command_and_option_is_explained(self) -> None:
        from noren.cli.app import app

        def unexplained(command: Any, name: str) -> Iterator[str]:
            if not command.help:
                yield name
            yield from (f"{name} {option.name}" for option in command.params if not option.help)
            for below, one in getattr(command, "commands", {}).items():
                yield from unexplained(one, f"{name} {below}")

        assert list(unexplained(typer.main.get_command(app), "noren")) == []

    @pytest.mark.parametrize("file", sorted(Path(cli.__file__).parent.glob("*.toml")), ids=lambda file: file.stem)
    def test_every_text_belongs_to_a_parameter(self, file: Path) -> None:
        module = importlib.import_module(f"noren.cli.{file.stem}")
        for name, texts in table_of(module.__name__).items():
            parameters = inspect.signature(getattr(module, name)).parameters
            assert set(texts) - {"help", "example"} <= set(parameters), name

    @pytest.mark.parametrize(("called", "file"), [("refusal", "messages"), ("wording", "sentences")])
    def test_every_message_that_is_asked_for_is_worded(self, called: str, file: str) -> None:
        sources = [path.read_text(encoding="utf-8") for path in Path(cli.__file__).parent.rglob("*.py")]
        asked = {name for source in sources for name in re.findall(rf"{called}\([\"'](\w+)", source)}
        assert asked == set(table_of(f"noren.cli.parts.{file}"))


# What typer says of wrong words; the second is what our catalogue must know it by.
WRONG = [
    (["chek"], "コマンド 'chek' はありません（もしかして"),
    (["zzz"], "コマンド 'zzz' はありません。"),
    (["protect"], "引数 'ORIGINAL' を指定してください。"),
    (["sample"], "オプション '--out' を指定してください。"),
    (["sample", "--ouch", "T.csv"], "オプション --ouch はありません"),
    (["sample", "--out"], "オプション '--out' には値が必要です。"),
    (["schema", "list", "--json=3"], "オプション '--json' に値は指定できません。"),
    (["schema", "list", "extra"], "余分な引数があります（extra）。"),
    (["sample", "--out", "T.csv", "--rows", "many"], "'--rows' の値が正しくありません: 整数を指定してください。"),
    (["sample", "--out", "T.csv", "--seed", "-1"], "0 以上の値を指定してください。"),
    (["threshold", "--n", "2000000"], "1000000 以下の値を指定してください。"),
    (["threshold", "--n", "3", "--bound", "x"], "'x' は使えません。'paper', 'sharp' のいずれかを指定してください。"),
]


class TestUsageErrors:
    @pytest.mark.parametrize(("wrong", "said"), WRONG)
    def test_speak_japanese(self, noren, japanese, wrong, said) -> None:
        answer = noren("--lang", "ja", *wrong)
        assert answer.code == 2
        assert said in answer.err
        assert answer.err.count("\n") == 1

    @pytest.mark.parametrize("wrong", [wrong for wrong, _said in WRONG])
    def test_speak_english(self, noren, wrong) -> None:
        answer = noren(*wrong)
        assert answer.code == 2
        assert not JAPANESE.search(answer.err)
        assert re.search(r"[.?)] Try noren.* --help\.\n$", answer.err)

    def test_unknown_words_stay_as_they_are(self, japanese) -> None:
        assert usage_sentence("Something new happened.") == "Something new happened."

    def test_a_group_without_a_command_shows_its_help_alone(self, noren) -> None:
        answer = noren("schema")
        assert answer.code == 2
        assert "Guess the schema of a file" in answer.out
        assert "noren:" not in answer.err


class TestWords:
    @pytest.mark.parametrize(
        ("text", "pieces"),
        [
            ("列（CSV）です。", ["列", "（CSV）", "で", "す。"]),
            ("区間 [a;b] を", ["区", "間 ", "[a;b] ", "を"]),
            ("「ファイル」", ["「ファ", "イ", "ル」"]),
            ("（.csv、.parquet）", ["（.csv、", ".parquet）"]),
            ("予備戦: 顧客", ["予", "備", "戦: ", "顧", "客"]),
            ("（ ）", ["（ ", "）"]),
        ],
    )
    def test_by_hand(self, text: str, pieces: list[str]) -> None:
        assert [word for _start, _end, word in words(text)] == pieces

    @given(st.text("ab .,:（）「」、。ーっ漢かカ\u3000…'", min_size=1))
    def test_nothing_is_lost(self, text: str) -> None:
        found = list(words(text))
        assert "".join(word for _start, _end, word in found) == (text if text.strip() else "")
        assert all(text[start:end] == word for start, end, word in found)

    @given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
    def test_latin_breaks_as_rich_does(self, text: str) -> None:
        latin = re.compile(r"\s*\S+\s*")
        assert [word for _start, _end, word in words(text)] == latin.findall(text)

    def test_rich_asks_for_words_where_we_answer(self) -> None:
        # a private name of Rich: this fails when it moves
        assert list(rich._wrap.words("a b")) == [(0, 2, "a "), (2, 3, "b")]
        assert "words" in rich._wrap.divide_line.__code__.co_names


@pytest.mark.parametrize("command", ["draw", "correlate", "categorize"])
def test_every_command_helps_with_an_example(noren, command) -> None:
    answer = noren(command, "--help")
    assert answer.code == 0
    assert "Example: noren " + command in " ".join(answer.out.split())
