"""Categories of items, and releases whose items are categories (S1).

A mapping gives every item one category. Where a method takes one, the item column of its release holds sets of category
codes in place of sets of items: ``{291D; G402; B20}`` becomes ``{furniture; stationery}``. The mapping is public, and
the release carries it in the notes of its statement, so that whoever reads the release knows what a category means.

Categories can be derived from product names (:func:`derive_categories`): what an item *is* stands at the end of its
name. ``CERAMIC STRAWBERRY DESIGN MUG`` is a mug; ``SET OF 6 T-LIGHTS IN BOX`` is t-lights. The head noun is the last
word before a preposition that is not a colour, a size or a count. Names become vectors (TF-IDF of their words in the
singular without colours and sizes, the head noun counted once more as such), vectors are reduced to the
:data:`DIMENSIONS` that tell most (latent semantic analysis) and grouped by k-means, and a group is called by its
commonest head nouns. What has little in common with anything ends in one large group, as in S1, whose "general goods"
hold 38 % of the items. How large it is depends on the dimensions and on where k-means starts; the page on categories
gives the range.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.formats.files import writing_file
from noren.data.formats.render import Spelling
from noren.data.formats.source import read_all_bytes
from noren.data.formats.text_layout import neutral_cells, plain_cells
from noren.data.frames import History
from noren.data.guessing.roles import coordinates
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read
from noren.data.release import Statement
from noren.data.schema import Kind, Role, Schema
from noren.data.value_formats import grid_cell
from noren.errors import FileError, ParameterError
from noren.tables import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

say = Texts(__name__)

UNKNOWN = "unknown"
"""The category of items whose category nobody gave."""

_FORBIDDEN = set(",;{}[]*\"'\n\r\t")


@dataclass(frozen=True)
class Categories:
    """Every item's category, and a readable name for each category.

    >>> shelf = Categories({"22059": "c1", "84050": "c1", "47566": "c2"}, {"c1": "kitchen", "c2": "party"})
    >>> shelf.groups()
    {'c1': ['22059', '84050'], 'c2': ['47566']}
    >>> shelf.name("c2")
    'party'
    """

    of_item: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(set(self.of_item.values()))

    def name(self, category: str) -> str:
        """Return the category's readable name, its code where it has none."""
        return self.names.get(category, category)

    def groups_of(self, items: pl.Series) -> dict[str, list[str]]:
        """Return the items of each category as far as they occur in a column; one without a category is an error."""
        occurring = items.cast(pl.String).drop_nulls().unique()
        in_categories(occurring, self.of_item)
        return self.groups(occurring.to_list())

    def groups(self, items: Iterable[str] | None = None) -> dict[str, list[str]]:
        """Return the items of each category, both in order of their text; of ``items`` alone where given."""
        wanted = sorted(self.of_item if items is None else items)
        groups: dict[str, list[str]] = {}
        for item in wanted:
            groups.setdefault(self.of_item[item], []).append(item)
        return dict(sorted(groups.items()))


def in_categories(items: pl.Series, of_item: Mapping[str, str]) -> pl.Series:
    """Return each item's category; an item without one is an error, never a guess.

    >>> in_categories(pl.Series("item", ["a", "b", None]), {"a": "red", "b": "red"}).to_list()
    ['red', 'red', None]
    """
    text = items.cast(pl.String)
    missing = sorted(set(text.drop_nulls().unique().to_list()) - of_item.keys())
    if missing:
        raise ParameterError(say("items_without_category", count=len(missing), item=missing[0], unknown=UNKNOWN))
    return text.replace_strict(dict(of_item), default=None, return_dtype=pl.String)


def public_name(path: Path | None) -> dict[str, str | None]:
    """Return the parameter ``categories`` as a statement may say it: the file's name without its place."""
    return {"categories": None if path is None else path.name}


def category_of_item(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return each item's category, given the items of each category."""
    return {item: category for category, items in groups.items() for item in items}


def release_categories(statement: Statement) -> dict[str, list[str]] | None:
    """Return the items of each category, where the release speaks of categories."""
    stated = statement.notes.get("categories")
    if not isinstance(stated, dict):
        return None
    for category, items in stated.items():
        if not (items and isinstance(items, list) and all(isinstance(text, str) for text in (category, *items))):
            raise ParameterError(say("categories_not_lists"))
    return {str(category): list(items) for category, items in stated.items()}


def as_released(original: History, statement: Statement) -> History:
    """Return the original in the words of the release: its items as categories, where the release speaks of those.

    Whoever compares original values with released cells compares these.
    """
    groups = release_categories(statement)
    if groups is None:
        return original
    column = original.schema.role(Role.ITEM).name
    categories = in_categories(original.frame[column], category_of_item(groups))
    return replace(original, frame=original.frame.with_columns(categories.alias(column)), spelling=Spelling())


def complete(categories: Categories, items: Iterable[str]) -> Categories:
    """Return the categories of ``items`` alone, those that have none in :data:`UNKNOWN`."""
    of_item = {item: categories.of_item.get(item, UNKNOWN) for item in sorted(set(items))}
    used = set(of_item.values())
    return Categories(of_item, {c: n for c, n in categories.names.items() if c in used})


# --- files ---------------------------------------------------------------------------------------------------


def read_categories(path: str | Path) -> Categories:
    """Read a mapping from CSV: ``item,category`` and, if wanted, the category's ``name``; a header is not needed."""
    path = Path(path)
    content = read_all_bytes(path, largest=2**28)
    try:
        plain = io.BytesIO(content.removeprefix(b"\xef\xbb\xbf"))
        frame = pl.read_csv(plain, has_header=False, infer_schema=False, raise_if_empty=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise FileError(say("categories_cannot_read", reason=str(error).splitlines()[0][:160]), file=path) from None
    if frame.width not in (2, 3) or frame.is_empty():
        raise FileError(say("file_columns", count=frame.width), file=path)
    columns = ["item", "category", "name"][: frame.width]
    frame = frame.rename(dict(zip(frame.columns, columns, strict=True))).with_columns(pl.all().str.strip_chars())
    frame = plain_cells(frame)
    header = [str(cell).lower() for cell in frame.row(0)] == columns
    numbered = frame.with_row_index("row", offset=1).slice(int(header))
    frame = numbered.drop("row")
    unsaid = numbered.filter(pl.col("item").fill_null("").eq("") | pl.col("category").fill_null("").eq(""))
    if len(unsaid):
        raise FileError(say("item_category_missing"), file=path, row=int(unsaid["row"][0]))
    again = numbered.filter(pl.col("item").is_duplicated()).filter(pl.col("category").n_unique().over("item") > 1)
    if len(again):
        raise FileError(say("item_two_categories"), file=path, row=int(again["row"][-1]), value=again["item"][-1])
    for category in frame["category"].unique(maintain_order=True):
        if _FORBIDDEN & set(category):
            raise FileError(say("bad_category_code"), file=path, value=category)
    named = frame.drop_nulls().unique("category", keep="first", maintain_order=True)
    names = dict(zip(named["category"], named["name"], strict=True)) if "name" in frame.columns else {}
    return Categories(dict(zip(frame["item"], frame["category"], strict=True)), names)


def write_categories(categories: Categories, path: str | Path) -> Path:
    """Write the mapping as CSV, one line per item, by category and item."""
    rows = [(item, c, categories.name(c)) for c, items in categories.groups().items() for item in items]
    frame = pl.DataFrame(rows, schema=["item", "category", "name"], orient="row")
    with writing_file(path) as aside:
        neutral_cells(frame).write_csv(aside)
    return Path(path)


def grid_categories(history: History, degrees: float) -> Categories:
    """Group venues by the cell of latitude and longitude that they lie in; those without a place are :data:`UNKNOWN`.

    A venue lies where most of it does: at the median of its rows.

    >>> visited = Schema.of({"columns": {"user": {"role": "customer"}, "venue": {"role": "item"},
    ...     "lat": {"type": "decimal"}, "lon": {"type": "decimal"}}})
    >>> went = {"user": ["ann", "bob"], "venue": ["v1", "v2"], "lat": [35.6586, -33.8568], "lon": [139.7454, 151.2153]}
    >>> grid_categories(History.of(went, visited), 0.1).of_item
    {'v1': 'N35.6-35.7 E139.7-139.8', 'v2': 'S33.8-33.9 E151.2-151.3'}
    """
    place = coordinates(history.schema.columns, history.frame)
    if place is None:
        raise ParameterError(say("no_coordinates"))
    item = history.schema.role(Role.ITEM).name
    cells = history.frame.group_by(pl.col(item).cast(pl.String).alias("item")).agg(pl.col(place).median())
    parts = []
    for name, above, below in zip(place, "NE", "SW", strict=True):
        own = pl.col(name).cast(pl.Float64)
        parts += [pl.when(own < 0).then(pl.lit(below)).otherwise(pl.lit(above)), grid_cell(own.abs(), degrees)]
    cell = pl.concat_str(parts[0], parts[1], pl.lit(" "), *parts[2:]).fill_null(UNKNOWN)
    return Categories(dict(cells.drop_nulls("item").select("item", cell=cell).sort("item").iter_rows()))


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
    words = (_WORD.findall(body[: cut.start()]) if cut else []) or _WORD.findall(body)
    nouns = [w for w in words if w not in _ADJECTIVES] or words
    return _PLURAL.sub("", nouns[-1]) if nouns else ""


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
        raise ParameterError(say("data_no_product_names"))
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
    full = guess_schema(path).schema if schema is None else Schema.load(schema)
    if not full.with_role(Role.DESCRIPTION) and {"item", "description"} <= set(full.names):
        full = Schema.preset("sample")
    wanted = [c.model_copy(update={"optional": True}) for c in full.with_role(Role.ITEM, Role.DESCRIPTION)]
    if len({c.role for c in wanted}) < 2:
        raise ParameterError(say("file_no_product_names"), file=path)
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
        about = {"named": len(named), "count": count, "least": 1 + nameless, "most": len(named) + nameless}
        raise ParameterError(say("wrong_category_count", **about))
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
    name = " / ".join(word.lower() for word, _count in ranked[:most])
    mixed = sum(number for _word, number in ranked[:3]) < _MIXED * total
    return f"various: {name}" if mixed else name


def _grouped(names: list[str], heads: list[str], groups: int, seed: int) -> NDArray[np.int64]:
    """Return the group of each name, any numbers; fewer groups where there are fewer different names."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    telling = ([_PLURAL.sub("", w) for w in _WORD.findall(name.upper()) if w not in _ADJECTIVES] for name in names)
    texts = [" ".join([*words, f"{head}_"]) for words, head in zip(telling, heads, strict=True)]
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
        labels = KMeans(groups, n_init=10, random_state=seed).fit_predict(vectors)
    return np.asarray(labels, dtype=np.int64)
