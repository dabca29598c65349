"""Categories of items: which item is in which, and what a release says when it speaks of categories (S1).

A mapping gives every item one category. Where a method takes one, the item column of its release holds sets of category
codes in place of sets of items: ``{291D; G402; B20}`` becomes ``{furniture; stationery}``. The mapping is public, and
the release carries it in the notes of its statement, so that whoever reads the release knows what a category means.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from noren.data.formats.files import writing_file
from noren.data.formats.render import Spelling
from noren.data.formats.source import read_all_bytes
from noren.data.frames import History
from noren.data.release import Statement
from noren.data.schema import Role
from noren.errors import FileError, ParameterError
from noren.i18n import _

__all__ = [
    "UNKNOWN",
    "Categories",
    "as_released",
    "category_of_item",
    "complete",
    "in_categories",
    "public_name",
    "read_categories",
    "release_categories",
    "write_categories",
]

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
        found: dict[str, list[str]] = {}
        for item in wanted:
            found.setdefault(self.of_item[item], []).append(item)
        return dict(sorted(found.items()))


def in_categories(items: pl.Series, of_item: Mapping[str, str]) -> pl.Series:
    """Return each item's category; an item without one is an error, never a guess.

    >>> in_categories(pl.Series("item", ["a", "b", None]), {"a": "red", "b": "red"}).to_list()
    ['red', 'red', None]
    """
    text = items.cast(pl.String)
    missing = sorted(set(text.drop_nulls().unique().to_list()) - of_item.keys())
    if missing:
        raise ParameterError(
            _("{count:,} items have no category, {item} for one").format(count=len(missing), item=missing[0]),
            _("give each a category; noren categorize --file FILE puts those left out into '{unknown}'").format(
                unknown=UNKNOWN
            ),
        )
    return text.replace_strict(dict(of_item), default=None, return_dtype=pl.String)


def public_name(path: Path | None) -> dict[str, str | None]:
    """Return the parameter ``categories`` as a statement may say it: the file's name without its place."""
    return {"categories": None if path is None else path.name}


def category_of_item(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return each item's category, given the items of each category."""
    return {item: category for category, items in groups.items() for item in items}


def release_categories(statement: Statement) -> dict[str, list[str]] | None:
    """Return the items of each category, where the release speaks of categories."""
    said = statement.notes.get("categories")
    if not isinstance(said, dict):
        return None
    fits = all(
        isinstance(c, str) and isinstance(items, list) and items and all(isinstance(i, str) for i in items)
        for c, items in said.items()
    )
    if not fits:
        raise ParameterError(
            _("the statement's categories are not lists of items"), _("protect again, or restore the folder")
        )
    return {str(category): list(items) for category, items in said.items()}


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
        frame = pl.read_csv(
            io.BytesIO(content.removeprefix(b"\xef\xbb\xbf")),
            has_header=False,
            infer_schema=False,
            raise_if_empty=False,
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise FileError(
            _("the categories cannot be read ({reason})").format(reason=str(error).splitlines()[0][:160]),
            _("give a CSV file with the columns item,category or item,category,name"),
            file=path,
        ) from None
    if frame.width not in (2, 3) or frame.is_empty():
        raise FileError(
            _("the file has {count} columns").format(count=frame.width),
            _("give a CSV file with the columns item,category or item,category,name"),
            file=path,
        )
    columns = ["item", "category", "name"][: frame.width]
    frame = frame.rename(dict(zip(frame.columns, columns, strict=True))).with_columns(pl.all().str.strip_chars())
    header = [str(cell).lower() for cell in frame.row(0)] == columns
    return _checked(frame.slice(1) if header else frame, path, first_row=2 if header else 1)


def _checked(frame: pl.DataFrame, path: Path, *, first_row: int) -> Categories:
    numbered = frame.with_row_index("row", offset=first_row)
    unsaid = numbered.filter(pl.col("item").fill_null("").eq("") | pl.col("category").fill_null("").eq(""))
    if len(unsaid):
        raise FileError(
            _("an item or its category is missing"), _("fill in both"), file=path, row=int(unsaid["row"][0])
        )
    again = numbered.filter(pl.col("item").is_duplicated()).filter(pl.col("category").n_unique().over("item") > 1)
    if len(again):
        raise FileError(
            _("the item has two categories"),
            _("give it one"),
            file=path,
            row=int(again["row"][-1]),
            value=again["item"][-1],
        )
    for category in frame["category"].unique(maintain_order=True):
        if _FORBIDDEN & set(category):
            raise FileError(
                _("a category's code may not hold , ; braces, brackets, quotes or *"),
                _("use a short code, and a third column for its name"),
                file=path,
                value=category,
            )
    named = frame.drop_nulls().unique("category", keep="first", maintain_order=True)
    names = dict(zip(named["category"], named["name"], strict=True)) if "name" in frame.columns else {}
    return Categories(dict(zip(frame["item"], frame["category"], strict=True)), names)


def write_categories(categories: Categories, path: str | Path) -> Path:
    """Write the mapping as CSV, one line per item, by category and item."""
    rows = [(item, c, categories.name(c)) for c, items in categories.groups().items() for item in items]
    frame = pl.DataFrame(rows, schema=["item", "category", "name"], orient="row")
    with writing_file(path) as aside:
        frame.write_csv(aside)
    return Path(path)
