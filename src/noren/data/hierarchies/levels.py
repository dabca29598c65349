"""A hierarchy: what each value of a column becomes, level by level, and all ways in which it can contradict itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import polars as pl

from noren.errors import FormatError, Problem
from noren.i18n import _

__all__ = ["DELIMITER", "MISSING_MARK", "MOST_PROBLEMS", "SAYS_NOTHING", "CheckedRows", "Hierarchy", "checked_rows"]

SAYS_NOTHING: Final = "*"
MISSING_MARK: Final = "?"
"""A text that says a value is missing, as in UCI's files, unless a hierarchy lists it; so does an empty cell."""
DELIMITER: Final = ";"
MOST_PROBLEMS: Final = 1_000
"""Problems of one kind that are told of one file."""


@dataclass(frozen=True)
class Hierarchy:
    """The labels of a column's values: one row per value, one column per level.

    >>> sizes = Hierarchy.of("shoe", [("37", "small", "*"), ("38", "small", "*"), ("45", "large", "*")])
    >>> sizes.depth, sizes.labels["1"].to_list()
    (3, ['small', 'small', 'large'])
    """

    name: str
    labels: pl.DataFrame

    @classmethod
    def of(cls, name: str, rows: Iterable[Sequence[str]], *, file: Path | None = None) -> Hierarchy:
        """Make a hierarchy of rows ``value, label, …``; stop at the first row that contradicts another."""
        found = checked_rows([tuple(row) for row in rows])
        return found.hierarchy(name, file)

    @classmethod
    def of_labels(cls, name: str, texts: pl.Series, levels: Sequence[pl.Series]) -> Hierarchy:
        """Make a hierarchy of the labels of each level, and of the top that says nothing.

        >>> Hierarchy.of_labels("shoe", pl.Series(["37", "45"]), [pl.Series(["small", "large"])]).labels.row(1)
        ('45', 'large', '*')
        """
        top = pl.repeat(SAYS_NOTHING, len(texts), eager=True)
        columns = {str(level): labels for level, labels in enumerate([texts, *levels, top])}
        return checked_labels(pl.DataFrame(columns).with_row_index("row", offset=1)).hierarchy(name, None)

    @classmethod
    def of_values(cls, name: str, values: Iterable[str]) -> Hierarchy:
        """Return the hierarchy of a column for which nobody wrote one: each value as it is, or nothing."""
        return cls.of(name, [(value, SAYS_NOTHING) for value in sorted(set(values))])

    @property
    def depth(self) -> int:
        """How many levels there are, the values included."""
        return self.labels.width

    @property
    def values(self) -> pl.Series:
        """The values, in the file's order."""
        return self.labels["0"]


# --- what contradicts itself -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckedRows:
    """The rows of a hierarchy that can be used, and every problem of the others."""

    labels: pl.DataFrame
    problems: tuple[Problem, ...]

    def hierarchy(self, name: str, file: Path | None) -> Hierarchy:
        """Return the hierarchy; stop at the first problem."""
        for said in self.problems:
            raise FormatError(said.rule, said.cure, file=file, row=said.row, value=said.value)
        return Hierarchy(name, self.labels)


def checked_rows(listed: Sequence[Sequence[str]]) -> CheckedRows:
    """Look at rows ``value, label, …``: of one length, without holes, one per value, no contradiction, no circle.

    >>> for problem in checked_rows([("a", "x", "*"), ("b", "*"), ("a", "y", "*")]).problems:
    ...     print(problem.row, problem.value, problem.rule)
    2 b;* this row has 2 levels, the first one 3
    3 a the value is listed twice, with other labels
    """
    if not listed:
        said = Problem(None, None, None, _("the hierarchy lists no values"), _("give one row per value"))
        return CheckedRows(pl.DataFrame(schema={"0": pl.String}), (said,))
    depth = len(listed[0])
    whole = [len(row) == depth and "" not in row for row in listed]
    cure = _("give every value a label on every level")
    wrong = [number for number, is_whole in enumerate(whole, start=1) if not is_whole][:MOST_PROBLEMS]
    problems = [
        Problem(number, None, DELIMITER.join(listed[number - 1]), _row_problem(listed[number - 1], depth), cure)
        for number in wrong
    ]
    labels = pl.DataFrame(
        [row for row, is_whole in zip(listed, whole, strict=True) if is_whole],
        schema={str(level): pl.String for level in range(depth)},
        orient="row",
    )
    numbers = pl.Series("row", [i for i, is_whole in enumerate(whole, start=1) if is_whole], dtype=pl.UInt32)
    found = checked_labels(labels.select(numbers, pl.all()))
    return CheckedRows(found.labels, (*problems, *found.problems))


def _row_problem(row: Sequence[str], depth: int) -> str:
    if len(row) != depth:
        return _("this row has {count} levels, the first one {depth}").format(count=len(row), depth=depth)
    return _("level {level} is empty: the hierarchy has a hole").format(level=list(row).index(""))


def checked_labels(numbered: pl.DataFrame) -> CheckedRows:
    """Look at whole rows with their numbers in the column ``row``."""
    # a line that is repeated as it is says nothing new; those after it keep their numbers in what is said of them
    names = numbered.columns[1:]
    once = numbered.unique(names, keep="first", maintain_order=True)
    problems = [*_listed_twice(once), *_split_labels(once), *_circles(once)]
    return CheckedRows(once.drop("row"), tuple(problems))


def _listed_twice(numbered: pl.DataFrame) -> Iterator[Problem]:
    """Yield the second row of each value that has rows with other labels."""
    twice = numbered.filter(pl.col("0").is_duplicated())
    second = twice.group_by("0", maintain_order=True).agg(pl.col("row").get(1))
    for value, row in second.head(MOST_PROBLEMS).iter_rows():
        rule = _("the value is listed twice, with other labels")
        yield Problem(row, None, value, rule, _("list each value once"))


def _split_labels(numbered: pl.DataFrame) -> Iterator[Problem]:
    """Yield the first row of each label that has another label above it than in a row before."""
    once = numbered.unique("0", keep="first", maintain_order=True)  # a value that is listed twice is told already
    for level in range(1, numbered.width - 2):
        here, above = str(level), str(level + 1)
        first = once.with_columns(
            pl.col(above).first().over(here).alias("first"), pl.col("row").first().over(here).alias("at")
        )
        wrong = first.filter(pl.col(above) != pl.col("first")).unique(here, keep="first", maintain_order=True)
        chosen = wrong.select("row", "0", here=here, above=above, first="first", at="at").head(MOST_PROBLEMS)
        for row, value, label, one, other, at in chosen.iter_rows():
            rule = _("{label!r} on level {level} is {one!r} above here, and {other!r} in row {row}").format(
                label=label, level=level, one=one, other=other, row=at
            )
            yield Problem(row, None, value, rule, _("give all values of a label the same labels above it"))


def _circles(numbered: pl.DataFrame) -> Iterator[Problem]:
    """Yield labels that lie above themselves, by whatever rows; a label that stays itself for some levels does not."""
    labels = numbered.drop("row")
    pairs = [labels.select(here=str(level), above=str(level + 1)) for level in range(labels.width - 1)]
    steps = pl.concat(pairs or [pl.DataFrame(schema={"here": pl.String, "above": pl.String})])
    # in the rows' order: the same file gets the same answer
    steps = steps.filter(pl.col("here") != pl.col("above")).unique(maintain_order=True)
    steps = steps.filter(pl.col("here").is_in(steps["above"].implode()))  # what lies above nothing is in no circle
    above: dict[str, list[str]] = {}
    for here, there in steps.iter_rows():
        above.setdefault(here, []).append(there)
    for _found in range(MOST_PROBLEMS):
        try:
            TopologicalSorter(above).prepare()
        except CycleError as error:
            way = list(reversed(error.args[1]))
        else:
            return
        above[way[0]].remove(way[1])
        row = numbered.filter(
            pl.any_horizontal(
                (pl.col(str(level)) == way[0]) & (pl.col(str(level + 1)) == way[1]) for level in range(labels.width - 1)
            )
        )
        yield Problem(
            int(row["row"][0]) if len(row) else None,
            None,
            way[0],
            _("the hierarchy runs in a circle: {way}").format(way=" → ".join(way)),
            _("let labels grow wider from level to level"),
        )
