"""What a release lost: columns, customers and rows, and what caused it.

All of it is for the steward. Names of customers and rows of the original stand in :attr:`Losses.secret`, which neither
``str`` nor ``repr`` shows; nothing public may hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from noren.data.arrays import NOBODY, people
from noren.data.frames import History, Records, Table
from noren.data.reading import as_records, as_release
from noren.data.release import Release
from noren.data.schema import Role, Schema
from noren.data.statement import Statement
from noren.errors import listing
from noren.kernels.arrays import Whole
from noren.kernels.sharing.rows import groups_by_count
from noren.measures.evidence import reject_another_original
from noren.protocols import Evidence
from noren.tables import Texts

say = Texts(__name__)

_MOST, _ROWS_EACH = 5, 100
"""Customers and sample rows at most; rows of each customer among which a released one is looked for."""
_APART, _LEVELS, _NOT_RELEASED = "suppressed_columns", "levels", "columns_not_released"
"""Notes of statements that name columns."""
_GROUPING = ("generalize", "generalize-by-count", "microaggregate")
"""Methods that delete rows for which others of a group have no counterpart."""


@dataclass(frozen=True)
class ColumnLoss:
    """A column that lost values: ``share`` of those in released rows are gone; all of them where it was dropped."""

    name: str
    state: Literal["dropped", "emptied", "partly"]
    reason: str
    share: float


@dataclass(frozen=True)
class CustomerLoss:
    """A customer, how many rows it has, how many of them are not released, and why."""

    customer: str
    rows: int
    lost: int
    reason: str

    @property
    def why(self) -> str:
        """The reason in words."""
        return say(f"customer.{self.reason}")


@dataclass(frozen=True)
class SampleRow:
    """A row of the original (counted from 1) and what was released of it, without identifiers.

    ``after`` is None if it was deleted.
    """

    row: int
    before: dict[str, str]
    after: dict[str, str] | None


@dataclass(frozen=True)
class SecretLosses:
    """What names people: the customers that cost most rows, and a few rows before and after."""

    customers: tuple[CustomerLoss, ...] = ()
    sample: tuple[SampleRow, ...] = ()


@dataclass(frozen=True)
class OutlierProposal:
    """Leave out the ``customers`` with more than ``most_rows`` rows: what they have, and what the others lose then.

    ``bound``: of one customer no more rows can be released, whatever the groups, for a group of k customers has no more
    rows than its shortest member, and so no more than the k-th longest history. ``others_lost_then`` is ``exact`` for
    groups by row count, which follow from the counts; else estimated, by how much it changes for such groups.
    """

    most_rows: int
    customers: int
    rows: int
    released: int
    bound: int
    others: int
    others_lost: int
    others_lost_then: int
    exact: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is proposed, what that changes, and what else can be done."""
        plain = asdict(self)
        how = say("outliers.exact" if self.exact else "outliers.estimate", **plain)
        return say("outliers.long", self.customers, **plain), how, say("outliers.split")

    def __str__(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True)
class Losses:
    """What a release lost; ``causes`` says why rows are deleted that no customer's length explains, and how many."""

    rows: int
    rows_lost: int
    people: int
    people_lost: int
    kind: str
    columns_before: int
    columns: tuple[ColumnLoss, ...] = ()
    causes: dict[str, int] = field(default_factory=dict)
    proposal: OutlierProposal | None = None
    secret: SecretLosses = field(default_factory=SecretLosses, repr=False)

    def __str__(self) -> str:
        """Return one sentence; it names no customer."""
        gone = sum(column.state != "partly" for column in self.columns)
        parts = [say("rows", lost=self.rows_lost, rows=self.rows)] if self.rows_lost else []
        if self.people_lost and self.kind == "history":
            parts.append(say("customers", lost=self.people_lost, people=self.people))
        if gone:
            parts.append(say("columns", count=gone, columns=self.columns_before))
        return say("lost", parts=listing(parts)) if parts else say("nothing")

    def sentences(self) -> Iterator[str]:
        """Yield what became of columns and rows and why, one sentence for each reason; they name no customer."""
        names: dict[tuple[str, str], list[str]] = {}
        for c in sorted(self.columns, key=lambda column: column.state == "partly"):
            text = f"{c.name} ({c.share:.1%})" if c.state == "partly" else c.name
            names.setdefault((c.state, c.reason), []).append(text)
        for (state, reason), some in names.items():
            about = {"names": listing(some, 40), "count": len(some), "columns": self.columns_before}
            yield say(f"state.{state}", why=say(f"column.{reason}"), **about)
        for cause, count in self.causes.items():
            yield say(f"cause.{cause}", count=count)
        if dearest := self.secret.customers:
            lost = sum(loss.lost for loss in dearest)
            yield say("dearest", len(dearest), count=len(dearest), lost=lost, share=lost / max(self.rows_lost, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; under ``secret`` what names people."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class OriginalSummary:
    """What must be known of an original to say later what a release lost: far less than its rows.

    ``blank`` tells which cells were empty, ``codes`` whose row each is (of a table every row is a person); ``sample``
    has rows of a few people, which stand at ``places``.
    """

    schema: Schema
    blank: pl.DataFrame
    codes: Whole
    customers: pl.Series
    sample: Records
    places: pl.Series

    @classmethod
    def of(cls, original: Records) -> OriginalSummary:
        """Look at an original before it is protected."""
        if isinstance(original, History):
            codes, customers = people(original[Role.CUSTOMER])
        else:
            codes, customers = np.arange(len(original)), pl.int_range(len(original), eager=True)
        picked = np.unique(np.linspace(0, max(len(customers) - 1, 0), _MOST).round().astype(np.int64))
        rows = pl.Series(np.flatnonzero(np.isin(codes, picked)), dtype=pl.UInt32)
        owners = pl.DataFrame({"row": rows, "owner": codes[rows.to_numpy()]})
        places = owners.filter(pl.int_range(pl.len()).over("owner") < _ROWS_EACH)["row"]
        blank = original.frame.select(values.is_null() for values in original.frame if values.null_count())
        return cls(original.schema, blank, codes, customers, original.take(places), places)

    def losses(self, release: Release) -> Losses:
        """Say what ``release``, with its secret part, lost of the original."""
        deleted = release.row_positions().is_null().to_numpy()
        owned = self.codes != NOBODY
        rows = np.bincount(self.codes[owned], minlength=len(self.customers))
        lost = np.bincount(self.codes[owned & deleted], minlength=len(self.customers))
        steps, is_history = release.statement.steps, not isinstance(release.public, Table)
        dearest = [int(at) for at in np.argsort(-lost, kind="stable")[:_MOST] if lost[at]] if is_history else []
        most_rows = next((s.parameters["most_rows"] for s in steps if s.parameters.get("most_rows")), np.inf)
        grouped = any(step.method in _GROUPING for step in steps)
        causes = {"without_customer": int((~owned & deleted).sum())}
        for cause in ("suppressed_rows", "incomplete_rows"):
            causes[cause] = sum(int(step.notes.get(cause, 0)) for step in steps)

        def reason(at: int) -> str:
            if rows[at] > most_rows:
                return "left_out"
            return "method" if not grouped else "whole" if lost[at] == rows[at] else "counterpart"

        named = (CustomerLoss(str(self.customers[at]), int(rows[at]), int(lost[at]), reason(at)) for at in dearest)
        return Losses(
            rows=len(self.codes),
            rows_lost=int(deleted.sum()),
            people=len(self.customers),
            people_lost=int(((lost == rows) & (rows > 0)).sum()),
            kind=str(self.schema.kind),
            columns_before=len(self.schema.columns),
            columns=tuple(self._columns(release)),
            causes={cause: count for cause, count in causes.items() if count},
            proposal=_proposal(rows, lost, steps[0]) if is_history and len(steps) == 1 else None,
            secret=SecretLosses(tuple(named), tuple(self._sample(release))),
        )

    def _columns(self, release: Release) -> Iterator[ColumnLoss]:
        """Yield the columns that were dropped, emptied or partly emptied; those that were empty before lost nothing."""
        steps, public, origin = release.statement.steps, release.public.frame, release.secret.origin
        listed = {key: {n for s in steps for n in s.notes.get(key, ())} for key in (_APART, _LEVELS, _NOT_RELEASED)}
        attributes = any(step.parameters.get("attributes") for step in steps)
        for column in self.schema.columns:
            name = column.name
            if name not in public.columns:
                reason = "attributes" if attributes else "quasi" if name in listed[_NOT_RELEASED] else "method"
                yield ColumnLoss(name, "dropped", "identifier" if column.role == Role.IDENTIFIER else reason, 1.0)
                continue
            if column.role == Role.CUSTOMER or not public[name].null_count():
                continue
            had = origin.is_not_null()
            if name in self.blank.columns:
                had &= ~self.blank[name].gather(origin).fill_null(value=True)
            before = int(had.sum())
            share = int((had & public[name].is_null()).sum()) / before if before else 0.0
            if share:
                reason = "apart" if name in listed[_APART] else "cells"
                reason = "top" if name in listed[_LEVELS] and share == 1.0 else reason
                yield ColumnLoss(name, "emptied" if share == 1.0 else "partly", reason, share)

    def _sample(self, release: Release) -> Iterator[SampleRow]:
        """Yield a row of each person of the sample, one that is released where there is any, before and after."""
        found = self.places.to_frame("row").with_columns(
            owner=pl.Series(self.codes[self.places.to_numpy()]), public=release.row_positions().gather(self.places)
        )
        in_turn = found.with_row_index("at").sort("owner", pl.col("public").is_null(), "at")
        first = in_turn.unique("owner", keep="first", maintain_order=True)
        identifying = [column.name for column in self.schema.with_role(Role.IDENTIFIER)]
        before = self.sample.take(first["at"]).texts("").drop(identifying).rows(named=True)
        public = release.public.take(first["public"].drop_nulls())
        naming = [column.name for column in public.schema.with_role(Role.CUSTOMER, Role.IDENTIFIER)]
        released = iter(public.texts().drop(naming).rows(named=True))
        for cells, (row, place) in zip(before, first.select("row", "public").iter_rows(), strict=True):
            yield SampleRow(row + 1, cells, None if place is None else next(released))


def _proposal(rows: Whole, lost: Whole, step: Statement) -> OutlierProposal | None:
    """Propose to leave out the few longest histories where they cost most of the deleted rows; None where none do."""
    k, longest = step.parameters.get("k"), np.argsort(-rows, kind="stable")
    if step.method not in _GROUPING or not isinstance(k, int) or step.parameters.get("most_rows"):
        return None
    few = next((n for n in range(1, _MOST + 1) if 2 * lost[longest[:n]].sum() >= lost.sum()), None)
    if few is None or 10 * lost.sum() < rows.sum() or len(rows) - few < k:
        return None
    out, rest = longest[:few], longest[few:]
    shortest, longest_left = int(rows[out[-1]]), int(rows[rest[0]])
    if shortest <= 2 * longest_left:
        return None
    # a round number: it will be public, and the exact length of somebody's history need not be
    round_numbers = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
    limit = next(number for number in round_numbers if number >= longest_left)

    def deleted(counts: Whole) -> Whole:
        group = groups_by_count(counts, k)
        fewest = np.full(int(group.max()) + 1, counts.max())
        np.minimum.at(fewest, group, counts)
        return np.asarray(counts - fewest[group])

    now = int(lost[rest].sum())
    then = now + int(deleted(rows[rest]).sum()) - int(deleted(rows)[rest].sum())
    return OutlierProposal(
        most_rows=limit if limit < shortest else longest_left,
        customers=few,
        rows=int(rows[out].sum()),
        released=int((rows - lost)[out].sum()),
        bound=int(rows[longest[k - 1]]),
        others=int(rows[rest].sum()),
        others_lost=now,
        others_lost_then=max(then, 0),
        exact=step.method == "generalize-by-count",
    )


def losses(original: Any, release: Any, *, schema: Schema | str | Path | None = None) -> Losses:
    """Say what ``release`` lost of ``original``: columns, customers and rows, and why. For the steward alone.

    ``release`` is as in :func:`noren.measure`, with its secret part.

    >>> import noren
    >>> history = noren.sample(customers=20, rows=300, items=50, seed=1)
    >>> print(noren.losses(history, noren.protect(history, "generalize-by-count", k=4, seed=1)))
    Not released: 104 of 300 rows, 4 of 9 columns.
    """
    data = as_records(original, schema)
    made = as_release(release, data)
    reject_another_original(Evidence(data, made, {}))
    return OriginalSummary.of(data).losses(made)
