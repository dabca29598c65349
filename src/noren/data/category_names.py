"""Categories from product names: what an item *is* stands at the end of its name.

``CERAMIC STRAWBERRY DESIGN MUG`` is a mug; ``SET OF 6 T-LIGHTS IN BOX`` is t-lights. The head noun is the last word
before a preposition that is not a colour, a size or a count. Names become vectors (TF-IDF of their words in the
singular without colours and sizes, the head noun counted once more as such), vectors are reduced to the
:data:`DIMENSIONS` that tell most (latent semantic analysis) and grouped by k-means, and a group is called by its
commonest head nouns. What has little in common with anything ends in one large group, as in S1, whose "general goods"
hold 38 % of the items. How large it is depends on the dimensions and on where k-means starts; the page on categories
gives the range.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.categories import UNKNOWN, Categories
from noren.data.frames import History
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read
from noren.data.schema import Kind, Role, Schema
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DEFAULT_COUNT", "DIMENSIONS", "derive_categories", "head_noun", "item_names", "read_item_names"]

DEFAULT_COUNT = 19
"""How many categories S1 made of 3,253 items."""
DIMENSIONS = 100
"""Of 25, 50, 75, 100, 150 and 200 the one whose largest group (34 % of the items, median of five seeds, on the shop of
PWS Cup 2018) is nearest to S1's 38 %. It is a choice of how coarse categories are, not of what they gain."""
_RARE = 100
"""Among more names than this, a word that one name alone has tells nothing of groups."""

_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['-](?=[^\W\d_]))*")
_TAIL = re.compile(r"\b(?:WITH|W|IN|ON|FOR|FROM|BY|AND|TO|AT)\b|[(,/+]")
_LEAD = re.compile(r"^(?:(?:BOX|PACK|SET|S|ROLL|BAG|CARD|PAIR|TUBE|TIN|SHEET)\s*(?:OF\b|/)\s*\d*\s*|\d+\s+)+")
_ADJECTIVES = frozenset(
    _WORD.findall(
        "RED PINK BLUE GREEN IVORY WHITE BLACK CREAM YELLOW PURPLE SILVER GOLD TURQUOISE ORANGE GREY GRAY LILAC BROWN "
        "CLEAR NATURAL MULTICOLOUR COLOURED LARGE SMALL MEDIUM MINI BIG GIANT LITTLE TALL LONG SHORT ASSORTED ASST ASS "
        "COL COLOUR COLOURS DESIGN DESIGNS PIECE PIECES SET PACK PCS CM OF THE A S LGE SML MED EACH SIZE SIZES VINTAGE"
    )
)
_PLURAL = re.compile(r"(?:(?<=CH)|(?<=SH)|(?<=X)|(?<=SS))ES$|(?<=[^SUIA])S$")
_MIXED = 0.2
"""A group whose three commonest head nouns hold less than this share is called various."""


def head_noun(name: str) -> str:
    """Return what an item is, in the singular; the empty text for a name without words.

    >>> [head_noun(n) for n in ("CERAMIC STRAWBERRY DESIGN MUG", "SET OF 6 T-LIGHTS IN BOX", "LUNCH BAG RED RETROSPOT")]
    ['MUG', 'T-LIGHT', 'RETROSPOT']
    """
    whole = name.upper().strip()
    body = _LEAD.sub("", whole) or whole
    cut = _TAIL.search(body)
    words = _words(body[: cut.start()] if cut and _words(body[: cut.start()]) else body)
    kept = [w for w in words if w not in _ADJECTIVES] or words
    return _PLURAL.sub("", kept[-1]) if kept else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def item_names(history: History) -> dict[str, str]:
    """Return the commonest name of each item of a history that has names; ties go to the first by text.

    Where there is no column of names, items that are words (``whole milk``, not ``85123A``) are their own.

    >>> bought = Schema.of({"columns": {"customer": {"role": "customer"}, "item": {"role": "item"}}})
    >>> item_names(History.of({"customer": ["ann", "bob"], "item": ["whole milk", "rolls/buns"]}, bought))
    {'rolls/buns': 'rolls/buns', 'whole milk': 'whole milk'}
    """
    columns = history.schema.with_role(Role.DESCRIPTION)
    if not columns:
        items = history[Role.ITEM].cast(pl.String).drop_nulls().unique().sort().to_list()
        if items and 2 * sum(map(_reads_as_name, items)) >= len(items):
            return {item: item for item in items}
        raise ParameterError(
            _("the data have no product names, and item codes are not words"),
            _("give a file that has them (--names), or your own categories (--file)"),
        )
    item = pl.col(history.schema.role(Role.ITEM).name).cast(pl.String).alias("item")
    name = pl.col(columns[0].name).cast(pl.String).str.strip_chars().alias("name")
    counted = history.frame.select(item, name).drop_nulls().filter(pl.col("name") != "").group_by("item", "name").len()
    best = counted.sort("len", "name", descending=[True, False]).unique("item", keep="first", maintain_order=True)
    return dict(sorted(zip(best["item"].to_list(), best["name"].to_list(), strict=True)))


def _reads_as_name(item: str) -> bool:
    """Tell whether an item's text is words: one of three letters at least, without digits; two beyond ASCII.

    >>> [_reads_as_name(item) for item in ("whole milk", "SET OF 6 MUGS", "牛乳", "85123A", "DCGS0058", "c7")]
    [True, True, True, False, False, False]
    """
    parts = re.split(r"[\s/,&()+.]+", item)
    return any(_WORD.fullmatch(part) and len(part) >= (3 if part.isascii() else 2) for part in parts)


def read_item_names(path: str | Path, schema: Schema | str | None = None) -> dict[str, str]:
    """Read what items are called: from a history with names, or a file with the columns ``item`` and ``description``.

    Nothing else of the file is looked at, so prices and customers may be what they like.
    """
    schema = guess_schema(path).schema if schema is None else schema
    full = schema if isinstance(schema, Schema) else Schema.load(schema)
    if not full.with_role(Role.DESCRIPTION) and {"item", "description"} <= set(full.names):
        full = Schema.preset("sample")
    wanted = [c.model_copy(update={"optional": True}) for c in full.with_role(Role.ITEM, Role.DESCRIPTION)]
    if len({c.role for c in wanted}) < 2:
        raise ParameterError(
            _("the file has no product names"), _("give one with the columns item and description"), file=path
        )
    slim = full.model_copy(update={"columns": tuple(wanted), "kind": Kind.HISTORY, "official": None})
    data = read(path, slim).data
    return item_names(History(data.frame, slim))


def derive_categories(
    names: dict[str, str], items: Sequence[str] | None = None, *, count: int = DEFAULT_COUNT, seed: int = 0
) -> Categories:
    """Group items by their names.

    Parameters
    ----------
    names
        Each item's name.
    items
        The items to group, all named ones where left out; those without a name become :data:`UNKNOWN`.
    count
        How many categories there are to be, :data:`UNKNOWN` included where it is needed.
    seed
        Where k-means starts; the same names, count and seed give the same categories.

    Returns
    -------
    Categories
        Codes ``c01``, ``c02`` … by size, the largest first, each called by its commonest head nouns.
    """
    wanted = sorted(set(names if items is None else items))
    named = [item for item in wanted if names.get(item) and head_noun(names[item])]
    nameless = len(named) < len(wanted)
    groups = count - nameless
    if groups < 1 or groups > len(named):
        raise ParameterError(
            _("{named:,} named items cannot make {count} categories").format(named=len(named), count=count),
            _("use a count from {least} to {most}").format(least=1 + nameless, most=len(named) + nameless),
        )
    heads = [head_noun(names[item]) for item in named]
    label = _grouped([names[item] for item in named], heads, groups, seed)
    sizes = Counter(label.tolist())
    words = {g: Counter(h for h, own in zip(heads, label, strict=True) if own == g) for g in sizes}
    order = sorted(sizes, key=lambda g: (-sizes[g], _called(words[g])))
    width = max(2, len(str(len(order))))
    codes = {group: f"c{place:0{width}}" for place, group in enumerate(order, start=1)}
    of_item = dict.fromkeys(wanted, UNKNOWN) | {i: codes[g] for i, g in zip(named, label.tolist(), strict=True)}
    called = {codes[g]: _called(words[g]) for g in order}
    return Categories(of_item, called | ({UNKNOWN: UNKNOWN} if nameless else {}))


def _called(heads: Counter[str]) -> str:
    """Name a group by its commonest head nouns: one that holds most of it, else up to three."""
    ranked = sorted(heads.items(), key=lambda pair: (-pair[1], pair[0]))
    total = sum(heads.values())
    most = 1 if ranked[0][1] * 3 > total * 2 else 3
    said = " / ".join(word.lower() for word, _count in ranked[:most])
    mixed = sum(number for _word, number in ranked[:3]) < _MIXED * total
    return f"various: {said}" if mixed else said


def _grouped(names: list[str], heads: list[str], groups: int, seed: int) -> NDArray[np.int64]:
    """Return the group of each name, any numbers; fewer groups where there are fewer different names."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    texts = [" ".join([*_telling(name), f"{head}_"]) for name, head in zip(names, heads, strict=True)]
    distinct = len(set(texts))
    if groups >= distinct:
        return np.unique(texts, return_inverse=True)[1].astype(np.int64)
    words = TfidfVectorizer(analyzer=str.split, min_df=2 if len(names) > _RARE else 1)
    vectors = words.fit_transform(texts)
    if min(vectors.shape) > DIMENSIONS:
        vectors = normalize(TruncatedSVD(DIMENSIONS, algorithm="arpack", random_state=seed).fit_transform(vectors))
    else:
        vectors = vectors.toarray()
    # one thread: several would add up in another order, and so might end in other groups on another machine
    with threadpool_limits(1):
        found = KMeans(groups, n_init=10, random_state=seed).fit_predict(vectors)
    return np.asarray(found, dtype=np.int64)


def _telling(name: str) -> list[str]:
    return [_PLURAL.sub("", word) for word in _words(name.upper()) if word not in _ADJECTIVES]
