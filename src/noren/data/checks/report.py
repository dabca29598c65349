"""What a format check answers, and how many findings become a short list.

A checker finds broken rules column by column, each over the whole table at once: a :class:`Finding` holds the rows
where one rule is broken and how to tell one of them. :func:`gather` counts all, and words only those that are shown.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from noren.errors import LONGEST_VALUE, ParameterError, Problem, shown
from noren.i18n import _

__all__ = ["LONGEST_KEPT", "WHOLE_FILE", "Finding", "Report", "broken_rows", "gather", "inline"]

LONGEST_KEPT = 8_000
"""Characters of an offending value that a report keeps: the longest row of the 2018 format."""

WHOLE_FILE = 0
"""The row number of a finding that no single row stands for."""


@dataclass(frozen=True)
class Report:
    """The verdict on one file: broken rules in ``problems``, things worth a look in ``warnings``.

    ``problems`` are the first by row, then column; ``total`` counts all of them. Warnings leave the verdict alone: they
    tell what the contest's own checker accepts only because it does not look.

    >>> Report(valid=True, problems=(), total=0, warnings=()).as_dict()
    {'valid': True, 'problems': [], 'total': 0, 'warnings': []}
    """

    valid: bool
    problems: tuple[Problem, ...]
    total: int
    warnings: tuple[Problem, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the report as plain data, for ``--json``."""
        return {
            "valid": self.valid,
            "problems": [problem.as_dict() for problem in self.problems],
            "total": self.total,
            "warnings": [problem.as_dict() for problem in self.warnings],
        }


@dataclass(frozen=True)
class Finding:
    """One rule, the rows that break it, and how to tell it of one row.

    Parameters
    ----------
    rows
        Row numbers in ascending order, from 1; :data:`WHOLE_FILE` where the whole file is meant.
    rank
        The place of the column in its row, from 1; 0 for the row itself.
    tell
        Words the problem of one of ``rows``.
    """

    rows: npt.NDArray[np.int64]
    rank: int
    tell: Callable[[int], Problem]

    @classmethod
    def once(cls, problem: Problem) -> Finding:
        """Return the finding of a rule broken once."""
        rows = np.array([problem.row or WHOLE_FILE], dtype=np.int64)
        return cls(rows, 0, lambda _row: problem)


def broken_rows(rows: pl.DataFrame, broken: pl.Expr) -> npt.NDArray[np.int64]:
    """Return the ``row`` numbers of ``rows`` where ``broken`` holds; where it is null it does not."""
    return rows.filter(broken)["row"].cast(pl.Int64).to_numpy()


def inline(value: str) -> str:
    """Return a value as it stands for use inside a sentence; quoted and escaped where that could mislead.

    >>> inline("85123A"), inline(" 85123A"), inline("\\x1b[2J")
    ('85123A', "' 85123A'", "'\\\\x1b[2J'")
    """
    plain = value.isprintable() and value.strip() == value != "" and len(value) <= LONGEST_VALUE
    return value if plain else shown(value)


def gather(problems: Iterable[Finding], warnings: Iterable[Finding] = (), *, limit: int = 20) -> Report:
    """Return the report on all findings, with at most ``limit`` problems and ``limit`` warnings told.

    >>> at = lambda row: Problem(row, "item", "x", "no item", "name one")
    >>> report = gather([Finding(np.array([4, 7]), 3, at), Finding(np.array([2]), 3, at)], limit=2)
    >>> report.valid, report.total, [problem.row for problem in report.problems]
    (False, 3, [2, 4])
    """
    if limit < 0:
        raise ParameterError(
            _("a report cannot show fewer than 0 problems"), _("use limit >= 0"), column="limit", value=limit
        )
    problems = list(problems)
    total = sum(len(finding.rows) for finding in problems)
    return Report(valid=total == 0, problems=_first(problems, limit), total=total, warnings=_first(warnings, limit))


def _first(findings: Iterable[Finding], limit: int) -> tuple[Problem, ...]:
    # No finding can give more than `limit` of the first `limit`, so its own first ones are enough.
    candidates = [
        (int(row), finding.rank, order, finding)
        for order, finding in enumerate(findings)
        for row in finding.rows[:limit]
    ]
    chosen = heapq.nsmallest(limit, candidates, key=lambda candidate: candidate[:3])
    return tuple(_shortened(finding.tell(row)) for row, _rank, _order, finding in chosen)


def _shortened(problem: Problem) -> Problem:
    if problem.value is None or len(problem.value) <= LONGEST_KEPT:
        return problem
    return Problem(problem.row, problem.column, problem.value[:LONGEST_KEPT], problem.rule, problem.cure)
