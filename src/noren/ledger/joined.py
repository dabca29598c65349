"""Releases of single periods joined into one: what an attacker with all of them has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from noren.data.categories import category_of_item, release_categories
from noren.data.cells import is_generalised, lift, set_dtype
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.release import Release, Secret
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import ParameterError, SchemaError
from noren.kernels.random_draws import pseudonyms
from noren.tables import Texts

say = Texts(__name__)

_OWN_STREAM = tuple(b"the names of a ledger")
_LONGEST_PSEUDONYM = 10**9
"""Pseudonyms of the contests' formats have nine digits at most."""


def of_period(release: Release, period: str, taken: Iterable[str], seed: int) -> Release:
    """Return a release of one period under pseudonyms that no earlier release has.

    Methods count pseudonyms from the same number on every time, so the 1023 of two releases would be taken for one
    person. Here all pseudonyms are drawn anew, from the numbers above every one ``taken``; those of a release are
    equally long, and their order says nothing. They are drawn uniformly and apart from all that the method drew with
    the same seed, names among it: a permutation applied to its own places would not be uniform.

    >>> from noren.data.schema import Schema
    >>> from noren.methods.pseudonymize import Pseudonymize
    >>> rows = {"customer": ["ann", "bob"], "date": "2011/1/1", "item": ["a", "b"], "price": 1.0, "quantity": 1}
    >>> release = Pseudonymize().protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> renamed = of_period(release, "2011/1", ["10", "11", "12"], seed=1)
    >>> sorted(pseudonyms_of(renamed)), renamed.secret.pseudonyms["period"].unique().to_list()
    (['13', '14'], ['2011/1'])
    """
    public = _history(release)
    column = public.schema.role(Role.CUSTOMER).name
    known = release.secret.pseudonyms.with_columns(pl.col("pseudonym").cast(pl.String))
    released_names = public.frame[column].cast(pl.String)
    old = pl.concat([released_names, known["pseudonym"]]).drop_nulls().unique().sort()
    # a seed for the names of a ledger, of which no method draws
    high, low = np.random.SeedSequence([seed, *_OWN_STREAM]).generate_state(2, np.uint64)
    fresh = _fresh(len(old), taken, (int(high) << 64) | int(low))
    frame = public.frame.with_columns(released_names.replace_strict(old, fresh, return_dtype=pl.String).alias(column))
    renamed = replace(public, frame=frame, spelling=Spelling())
    order = renamed.lines().arg_sort()  # rows stand in the order of their own text, which has changed
    pairs = known.select(
        pl.col("pseudonym").replace_strict(old, fresh, return_dtype=pl.String),
        pl.col("customer").cast(pl.String),
        period=pl.lit(period),
    )
    secret = replace(
        release.secret, pseudonyms=pairs.unique(maintain_order=True), origin=release.secret.origin.gather(order)
    )
    statement = replace(release.statement, notes=release.statement.notes | {"period": period})
    return Release(renamed.take(order), secret, statement)


def pseudonyms_of(release: Release) -> set[str]:
    """Return the pseudonyms that a release uses, rows of theirs left or not."""
    return set(_history(release)[Role.CUSTOMER].cast(pl.String).drop_nulls()) | set(
        release.secret.pseudonyms["pseudonym"].cast(pl.String)
    )


def joined(releases: Sequence[Release]) -> Release:
    """Return releases of single periods, in order of time, as one release of all their rows.

    Public rows stand one release after another, pseudonyms keep their periods, and a row's origin counts through the
    originals in the same order.
    """
    parts = [_history(release) for release in releases]
    schema = parts[-1].schema
    columns = []  # cells where any release has cells, over the values of all
    for column in schema.columns:
        each = [part.frame[column.name] for part in parts]
        if any(is_generalised(series.dtype) for series in each):
            each = [lift(series, column) for series in each]
        else:
            each = [
                series.cast(pl.String) if isinstance(series.dtype, pl.Enum | pl.Categorical) else series
                for series in each
            ]
        if isinstance(each[0].dtype, pl.List):
            texts = pl.concat([series.cast(pl.List(pl.String)) for series in each])
            columns.append(texts.cast(set_dtype(texts.drop_nulls().explode(empty_as_null=False).unique().sort())))
        else:
            columns.append(pl.concat([series.to_frame() for series in each], how="vertical_relaxed").to_series())
    origins, rows = [], 0
    for release in releases:
        origins.append(release.secret.origin.cast(pl.UInt32) + rows)
        rows += release.secret.original_rows
    secret = Secret(pl.concat([r.secret.pseudonyms for r in releases]), pl.concat(origins).alias("row"), rows)
    categories = _joined_categories([r.statement for r in releases])
    statement = Statement("ledger", notes={} if categories is None else {"categories": categories})
    return Release(History(pl.DataFrame(columns), schema), secret, statement)


def joined_rows(originals: Sequence[History]) -> History:
    """Return the rows of single periods as one history, with the last master that is known."""
    last = originals[-1]
    frame = pl.concat([history.frame.select(last.schema.names) for history in originals], how="vertical_relaxed")
    masters = [history.master for history in originals if history.master is not None]
    return History(frame, last.schema, master=masters[-1] if masters else None)


def _history(release: Release) -> History:
    if not isinstance(release.public, History):
        raise SchemaError(say("not_a_history"))
    return release.public


def _fresh(count: int, taken: Iterable[str], seed: int) -> pl.Series:
    """Return ``count`` numbers above all ``taken``, equally long, in random order."""
    top = max((int(name) for name in taken if name.isdecimal()), default=0)
    drawn = pseudonyms(count, seed)
    least = int(drawn.min(initial=_LONGEST_PSEUDONYM))
    first = max(least, top + 1)
    if len(str(first)) < len(str(first + count - 1)):
        first = 10 ** len(str(first))
    if first + count > _LONGEST_PSEUDONYM:
        raise ParameterError(say("no_pseudonyms_left"))
    return pl.Series("pseudonym", drawn - least + first).cast(pl.String)


def _joined_categories(statements: Sequence[Statement]) -> dict[str, Any] | None:
    """Return the items of each category; raise where releases use different ones."""
    all_categories = [release_categories(statement) for statement in statements]
    used = [groups for groups in all_categories if groups is not None]
    if not used:
        return None
    of_item: dict[str, str] = {}
    for groups in used:
        for item, category in category_of_item(groups).items():
            if of_item.setdefault(item, category) != category:
                raise ParameterError(say("other_category", item=item, old=of_item[item], new=category))
    if len(used) < len(all_categories):
        raise ParameterError(say("some_in_categories"))
    return {
        category: sorted(item for item, its in of_item.items() if its == category)
        for category in sorted(set(of_item.values()))
    }
