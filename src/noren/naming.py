"""Names people mistype."""

import difflib
from collections.abc import Iterable, Sequence

from noren.i18n import _


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` for the nearest known name, or nothing.

    >>> suggestion("jacard", ["jaccard", "s1"])
    ' (did you mean jaccard?)'
    """
    near = difflib.get_close_matches(name[:200], list(known), n=1, cutoff=0.5)
    return _(" (did you mean {name}?)").format(name=near[0]) if near else ""


def listing(names: Sequence[str], most: int = 20) -> str:
    """Return the first names, comma-separated, and how many more there are.

    >>> listing(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else _("{names} and {count:,} more").format(names=shown, count=len(names) - most)
