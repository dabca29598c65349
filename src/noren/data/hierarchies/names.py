"""Hierarchies of names: by custom groups, by frequency, by similar spelling, by another column.

Names that are written alike are joined to the commonest of them; the same names give the same groups.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from noren.data.hierarchies.builder import Builder, ColumnValues, parts_of
from noren.data.hierarchies.levels import SAYS_NOTHING, Hierarchy, checked_rows, rows_of_text, texts_of
from noren.errors import ParameterError, ValueInCellError, quoted
from noren.i18n import _
from noren.kernels.arrays import Whole
from noren.progress import Progress, silent
from noren.tables import Texts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

say = Texts(__name__)

MOST_NAMES: Final = 20_000
_BLOCK: Final = 500


def alike(
    names: pl.Series, thresholds: Sequence[float], column: str = "", *, progress: Progress = silent
) -> list[Whole]:
    """Return for each threshold the place of each name's leader; names come in the order in which they may lead.

    >>> [leader.tolist() for leader in alike(pl.Series(["UHT-Milk", "milk", "butter", "Ｂｕｔｔｅｒ!"]), [0.9, 0.5])]
    [[0, 1, 2, 2], [0, 0, 2, 2]]
    """
    if len(names) > MOST_NAMES:
        raise ParameterError(say("too_many_names", count=len(names), most=MOST_NAMES), column=column or None)
    if not len(names):
        return [np.zeros(0, dtype=np.int64) for _threshold in thresholds]
    # without case, width and punctuation; names that are nothing else stay as they are
    plain = names.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    plain = pl.select(pl.when(plain == "").then(names).otherwise(plain)).to_series()
    likeness = _likeness(plain, min(thresholds), progress)
    leader = np.arange(len(names))
    levels = []
    for threshold in thresholds:
        leads = np.unique(leader)
        joined = leads[_joined(likeness[leads][:, leads], threshold)]
        to = np.arange(len(names))
        to[leads] = joined
        leader = to[leader]
        levels.append(leader)
    return levels


def _likeness(plain: pl.Series, least: float, progress: Progress) -> csr_matrix:
    """Return Dice's coefficient of the pairs of characters of every two names that are alike enough."""
    from scipy.sparse import csr_matrix, vstack
    from sklearn.feature_extraction.text import CountVectorizer

    pairs: Any = CountVectorizer(analyzer="char_wb", ngram_range=(2, 2), binary=True, lowercase=False, dtype=np.int32)
    has = pairs.fit_transform(plain.to_list())
    sizes = np.asarray(has.sum(axis=1)).ravel().astype(np.float64)
    turned = has.T.tocsr()
    blocks = []
    for start in range(0, has.shape[0], _BLOCK):
        progress(start / has.shape[0], _("comparing names"))
        common = (has[start : start + _BLOCK] @ turned).tocoo()
        dice = 2 * common.data / (sizes[start + common.row] + sizes[common.col])
        near = dice >= least - 1e-12
        shape = (min(_BLOCK, has.shape[0] - start), has.shape[0])
        blocks.append(csr_matrix((dice[near], (common.row[near], common.col[near])), shape=shape))
    return vstack(blocks).tocsr()


def _joined(likeness: csr_matrix, threshold: float) -> Whole:
    """Return each name's leader: in rounds, a name leads if none before it that is like it is still free."""
    edges = likeness.tocoo()
    keep = edges.data >= threshold - 1e-12
    name, other, dice = edges.row[keep].astype(np.int64), edges.col[keep].astype(np.int64), edges.data[keep]
    count = likeness.shape[0]
    free, leads = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    while free.any():
        alive = free[name] & free[other]
        first = np.full(count, count, dtype=np.int64)
        np.minimum.at(first, name[alive], other[alive])
        new = free & (first >= np.arange(count))  # a name is like itself, so that the first like it may be itself
        leads |= new
        free[new] = False
        free[other[new[name]]] = False
    led = leads[other] & ~leads[name]
    order = np.lexsort((other[led], -dice[led], name[led]))
    followers, leaders = name[led][order], other[led][order]
    own, at = np.unique(followers, return_index=True)
    leader = np.arange(count)
    leader[own] = leaders[at]
    return leader


_OTHER: Final = "other"
_MOST_LEVELS: Final = 20
_MOST_LISTED: Final = 10
ALIKE_MARK: Final = "≈ "
"""What the label of names that are written alike begins with; the commonest of them follows."""


class KeepOrSuppress(Builder, by="values"):
    """Each value as it is, or nothing."""

    def _build(self, values: ColumnValues) -> Hierarchy:
        return values.hierarchy([])


class Groups(Builder, by="groups"):
    """Custom groups: lines ``value;group;wider group``, or JSON ``{"group": ["value", …]}``, nested or not.

    A value in two groups is an error; so is one of the data in no group, unless ``other`` names one for them.

    >>> Groups.of_text('{"Europe": {"West": ["France"]}, "Asia": ["Japan"]}').parameters
    (('France', 'West', 'Europe'), ('Japan', 'Asia', 'Asia'))
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        if text.lstrip().startswith("{"):
            try:
                listed = list(_rows_in(json.loads(text), ()))
            except (ValueError, RecursionError) as error:
                raise ParameterError(say("groups_no_json", reason=error, example=cls.example)) from None
        else:
            lines = [[cell.strip() for cell in row] for row in rows_of_text(text.lstrip("\ufeff"))]
            for row in lines:  # one without a group says nothing, and the top is added to all
                while len(row) > 1 and row[-1] in ("", SAYS_NOTHING):
                    row.pop()
            listed = [tuple(row) for row in lines if len(row) > 1]
        if not listed or not all(listed):
            raise cls._misread(text)
        depth = max(map(len, listed))
        return tuple((*row, *row[-1:] * (depth - len(row))) for row in listed)

    def _build(self, values: ColumnValues) -> Hierarchy:
        checked = checked_rows([(*row, SAYS_NOTHING) for row in self.parameters])
        if checked.problems:
            raise ValueInCellError.of(checked.problems)
        grouped = checked.labels
        left = values.texts.filter(~values.texts.is_in(grouped["0"].implode()))
        self._reject_misfits(values.name, left)
        rest = left.to_frame("0").with_columns(pl.lit(self.other).alias(name) for name in grouped.columns[1:-1])
        all_rows = pl.concat([grouped, rest.with_columns(pl.lit(SAYS_NOTHING).alias(grouped.columns[-1]))]).sort("0")
        return Hierarchy.of_labels(values.name, all_rows["0"], [all_rows[name] for name in grouped.columns[1:-1]])


def _rows_in(groups: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield each value with its groups, the narrowest first; an empty tuple for anything but groups and lists."""
    if isinstance(groups, Mapping) and len(above) < _MOST_LEVELS:
        for label, inner in groups.items():
            yield from _rows_in(inner, (str(label), *above))
    elif isinstance(groups, list) and above and all(isinstance(value, str | int | float) for value in groups):
        yield from ((str(value), *above) for value in groups)
    else:
        yield ()


class Rare(Builder, by="frequency"):
    """Values of few rows become *other*: ``10, 100`` first those of fewer than 10 rows, then those of fewer than 100.

    Look at the smallest class: all rare values together may still be few.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        least = cls._numbers(text)
        grows = all(after > before for before, after in itertools.pairwise(least))
        if not least or len(least) > _MOST_LEVELS or not grows or not all(n >= 2 and n.is_integer() for n in least):
            raise cls._misread(text)
        return tuple(map(int, least))

    def _build(self, values: ColumnValues) -> Hierarchy:
        other = self.other or _OTHER
        other = f"({other})" if other in values.texts else other
        return values.hierarchy([values.texts.set(values.rows < least, other) for least in self.parameters])


class Similar(Builder, by="similarity"):
    """Names that are written alike together, called by the commonest: ``≈ whole milk``. Always look at them yourself.

    Likeness is Dice's coefficient of the pairs of characters of two names, without case, width and punctuation: 1 for
    the same, 0 for nothing in common. The commonest name is a leader; each name joins the leader it is most like, if
    it is like enough, and leads a group of its own if not. A wider level joins leaders in the same way.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        thresholds = cls._numbers(text or "0.5")
        falls = all(after < before for before, after in itertools.pairwise(thresholds))
        inside = all(0.2 <= threshold <= 1 for threshold in thresholds)
        if not (falls and inside and 0 < len(thresholds) <= _MOST_LEVELS):
            raise cls._misread(text)
        return tuple(thresholds)

    def _build(self, values: ColumnValues) -> Hierarchy:
        order = pl.DataFrame({"text": values.texts, "rows": values.rows}).with_row_index("place")
        order = order.sort("rows", "text", descending=[True, False])
        leaders = alike(order["text"], self.parameters, values.name, progress=values.progress)
        back = np.empty(len(order), dtype=np.int64)
        back[order["place"].to_numpy()] = np.arange(len(order))
        levels = []
        for leader in leaders:
            sizes = np.bincount(leader, minlength=len(order))
            label = pl.when(pl.Series(sizes > 1)).then(ALIKE_MARK + pl.col("text")).otherwise("text").alias("x")
            levels.append(order.select(label)["x"].gather(leader[back]))
        return values.hierarchy(levels)


class FromColumn(Builder, by="column"):
    """Values by another column of the same data, as cities by prefecture. Contradictions are errors with their rows.

    A value whose other column is empty in some rows has what the other rows say. One that is empty in all stops the
    work, unless ``other`` names a label.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        columns = tuple(parts_of(text))
        if not columns or len(columns) > _MOST_LEVELS:
            raise cls._misread(text)
        return columns

    def _build(self, values: ColumnValues) -> Hierarchy:
        below, name = texts_of(values.records, values.column), values.name
        texts = values.texts
        levels: list[pl.Series] = []
        for column in self.parameters:
            above = texts_of(values.records, values.records.schema[column])
            pairs = pl.DataFrame({"below": below, "above": above}).drop_nulls().group_by("below", "above").len("rows")
            pairs = pairs.filter(pl.col("above") != "")
            pairs = pairs.sort(["below", "rows", "above"], descending=[False, True, False])
            split = pairs.filter(pl.col("below").is_duplicated()).group_by("below", maintain_order=True).agg(pl.all())
            if len(split):  # more than one lies above a text: every such text is told, with its rows
                examples = []
                for text, labels, counts in split.head(_MOST_LISTED).iter_rows():
                    some = [f"{label} {rows:,}" for label, rows in zip(labels, counts, strict=True)][:4]
                    examples.append(f"{quoted(text)} ({', '.join(some)})")
                listed = ", ".join(examples) + (", …" if len(split) > _MOST_LISTED else "")
                about = {"count": len(split), "name": name, "column": column, "values": listed}
                raise ParameterError(say("several_above", **about), column=name)
            one_above = pairs.select("below", "above")
            joined = texts.to_frame("below").join(one_above, on="below", how="left", maintain_order="left")
            empty = texts.filter(joined["above"].is_null()).unique().sort()
            self._reject_misfits(name, empty, f"{self.by} {column}")
            texts = joined["above"].fill_null(self.other)
            levels.append(texts)
            below, name = above, column
        return values.hierarchy(levels)
