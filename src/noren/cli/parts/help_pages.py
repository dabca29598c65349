"""Help pages and usage errors in the user's language, including typer's own messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from typer import rich_utils

from noren.i18n import VALIDATION, _, active_language, translated
from noren.tables import table_of

_TEXTS = table_of(__name__)
_HELP, _ERRORS = {*_TEXTS["help"].values()}, (*_TEXTS["errors"].values(), *VALIDATION)

_MARK_UP: Final = re.compile(r"(?<!\\)(\[[a-z#/@][^[]*?\])")
"""Text that Rich would read as markup: local[2], a table name in TOML."""

_LIST: Final = re.compile(r"list\[(.*)\]")


class LocalizedCommand:
    """A command whose help page is in the user's language."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments: typer's help translated, brackets as they are, the type only of a value."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if type_of := getattr(param, "display_type_rich", None):
                label = "" if getattr(param, "is_flag", False) else _LIST.sub(lambda m: m[1].lower(), type_of(ctx=ctx))
                param.display_type_rich = lambda ctx, label=label: label
            text = getattr(param, "help", None) or ""
            param.help = _MARK_UP.sub(r"\\\1", _(text) if text in _HELP else text)
        return params

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the line that begins the page."""
        pieces = self.collect_usage_pieces(ctx)  # type: ignore[attr-defined]
        formatter.write_usage(ctx.command_path, " ".join(pieces), prefix=_("Usage: "))


def localize_typer() -> None:
    """Translate typer's constants, and break lines by the rules of the language."""
    rich_utils.OPTIONS_PANEL_TITLE = _("Options")
    rich_utils.ARGUMENTS_PANEL_TITLE = _("Arguments")
    rich_utils.COMMANDS_PANEL_TITLE = _("Commands")
    rich_utils.DEFAULT_STRING = _("[default: {}]")
    rich_utils.REQUIRED_LONG_STRING = _("[required]")
    if active_language() == "ja":
        import rich._wrap

        rich._wrap.words = line_words  # text without Japanese breaks as before


def usage_sentence(message: str) -> str:
    """Return typer's usage error in the user's language, as a sentence.

    >>> usage_sentence("Missing option '--out'.")
    "Missing option '--out'."
    """
    sentence = translated(message, _ERRORS)
    if not sentence or sentence.endswith((".", "。", "?", "？", ")", "）")):
        return sentence
    return sentence + ("。" if active_language() == "ja" else ".")


# --- where a line of Japanese may break ------------------------------------------------------------------------------
#
# Rich breaks lines at spaces and cuts a longer word off. Japanese has no spaces, so a whole sentence would be one word
# and most of it would be lost at the edge of a help page. Here a line may break beside any Japanese character, except
# that closing signs do not begin a line and opening brackets do not end one (JIS X 4051, the basic rules).

_OPENING = "（「『【〔〈《［｛"
_CLOSING = "）」』】〕〉》］｝、。，．・：；？！ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョヵヶ"
_JAPANESE = r"\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
_MAIN = rf"(?![{_OPENING}{_CLOSING}])[{_JAPANESE}]|[^\s{_JAPANESE}]+"
# Latin signs close too, unless a word begins with them, as .csv does
_ENDING = rf"[{_CLOSING}]*(?:[:;,.!?)\]}}%]+(?=\s|$|[{_JAPANESE}]))?"
_WORD = re.compile(rf"\s*(?:[{_OPENING}]*(?:{_MAIN}){_ENDING}|[{_JAPANESE}])\s*")


class _UnbrokenWord(str):
    """A word whose trailing spaces take room: Rich drops those at a line's end by characters, not by their width."""

    __slots__ = ()

    def rstrip(self, chars: str | None = None, /) -> str:
        return self


def line_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the text of each piece that stays on one line, with the spaces after it.

    >>> [word for _start, _end, word in line_words("列（CSV）です。 k=2 で")]
    ['列', '（CSV）', 'で', 'す。 ', 'k=2 ', 'で']
    """
    keep = str if text.isascii() else _UnbrokenWord
    for match in _WORD.finditer(text):
        yield match.start(), match.end(), keep(match.group())
