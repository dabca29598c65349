"""Where a line of Japanese may break.

Rich breaks lines at spaces and cuts a longer word off. Japanese has no spaces, so a whole sentence would be one word
and most of it would be lost at the edge of a help page. Here a line may break beside any Japanese character, except
that closing signs do not begin a line and opening brackets do not end one (JIS X 4051, the basic rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["break_between_characters", "words"]

_OPENING = "（「『【〔〈《［｛"
_CLOSING = "）」』】〕〉》］｝、。，．・：；？！ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョヵヶ"
_JAPANESE = r"\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
_MAIN = rf"(?![{_OPENING}{_CLOSING}])[{_JAPANESE}]|[^\s{_JAPANESE}]+"
# Latin signs close too, unless a word begins with them, as .csv does
_ENDING = rf"[{_CLOSING}]*(?:[:;,.!?)\]}}%]+(?=\s|$|[{_JAPANESE}]))?"
_WORD = re.compile(rf"\s*(?:[{_OPENING}]*(?:{_MAIN}){_ENDING}|[{_JAPANESE}])\s*")


class _Whole(str):
    """A word whose trailing spaces take room: Rich drops those at a line's end by characters, not by their width."""

    __slots__ = ()

    def rstrip(self, chars: str | None = None, /) -> str:
        return self


def words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the text of each piece that stays on one line, with the spaces after it.

    >>> [word for _start, _end, word in words("列（CSV）です。 k=2 で")]
    ['列', '（CSV）', 'で', 'す。 ', 'k=2 ', 'で']
    """
    keep = str if text.isascii() else _Whole
    for found in _WORD.finditer(text):
        yield found.start(), found.end(), keep(found.group())


def break_between_characters() -> None:
    """Let Rich break lines at these words from now on; text without Japanese breaks as before."""
    import rich._wrap

    rich._wrap.words = words
