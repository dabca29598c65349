"""What attackers are given of a release: its rows in an order drawn by lot, under pseudonyms drawn by lot.

The submitted file stands in the original's row order, so the order is the whole truth; and a team could hide the truth
in how it calls its pseudonyms. Both are replaced by lots (:mod:`noren.contest.lots`) that nobody knows before the salt
is revealed. Rows and pseudonyms are numbered as they stand in the submitted file, never by what they are called, so
two files that differ in the names of pseudonyms alone give the same target, byte for byte.

One name stands for one name: what a release tells by using a pseudonym again, in another month say, its target tells
as well.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.contest.judging.checking import numbered
from noren.contest.judging.prepared import Prepared, prepare
from noren.contest.judging.texts import SUPPRESSED, spelled_as_original, text_file
from noren.contest.lots import order
from noren.contest.rulebook import Rulebook
from noren.data.frames import History
from noren.data.schema import Kind, Role

__all__ = ["as_released", "make_target", "named_in_target", "renamed", "target_of"]

_FIRST_NAME = 100_001
_NOBODY = "\0"
"""Stands before a name that the target does not have: no pseudonym of a release begins so."""


def make_target(
    rulebook: Rulebook, original: Path, submitted: Path, salt: bytes, label: str, *, master: Path | None = None
) -> bytes:
    """Return the file that attackers are given of a valid release.

    Parameters
    ----------
    salt, label
        What the lots are drawn from: the contest's salt, and ``contest/round/submission``.
    """
    return target_of(prepare(rulebook, original, submitted, master), salt, label)


def target_of(release: Prepared, salt: bytes, label: str) -> bytes:
    """Return the file that attackers are given of a release that was read."""
    rows, schema = release.rows.take(pl.Series(_row_order(release, salt, label))), release.rows.schema
    texts = spelled_as_original(rows, "" if schema.official in ("pwscup2016", "pwscup2017") else SUPPRESSED)
    if isinstance(rows, History):
        names = renamed(release, salt, label)
        column = schema.role(Role.CUSTOMER).name
        texts = texts.with_columns(pl.col(column).replace_strict(names["pseudonym"], names["target"]))
    return text_file(texts.select(schema.names), schema)


def _row_order(release: Prepared, salt: bytes, label: str) -> NDArray[np.int64]:
    return release.live[order(salt, f"{label}/rows", len(release.live))]


def renamed(release: Prepared, salt: bytes, label: str) -> pl.DataFrame:
    """Return each pseudonym of a release, by its ``own`` name and that of the prepared release, and of the target.

    Names are whole numbers that are no customer's, which every format allows.
    """
    count = len(release.names)
    drawn = order(salt, f"{label}/pseudonyms", count)
    customers = release.original[Role.CUSTOMER].cast(pl.String).drop_nulls().unique()
    some = pl.int_range(_FIRST_NAME, _FIRST_NAME + count + len(customers), eager=True).cast(pl.String)
    free = some.filter(~some.is_in(customers.implode()))
    return release.names.with_columns(target=free.gather(drawn))


def named_in_target(release: Prepared, salt: bytes, label: str) -> pl.Series:
    """Return what a guess may name: the pseudonyms of the target, or the numbers of its rows."""
    if release.rows.schema.kind == Kind.TABLE:
        return numbered(len(release.live))
    return renamed(release, salt, label)["target"]


def as_released(pairs: pl.DataFrame, release: Prepared, salt: bytes, label: str) -> pl.DataFrame:
    """Return a guess about a target as one about the release: under the names, or row numbers, of the release."""
    if release.rows.schema.kind == Kind.TABLE:
        places = _row_order(release, salt, label)  # of each row of the target, its row of the original
        public = pl.DataFrame({"place": release.release.secret.origin.cast(pl.Int64)}).with_row_index("public")
        back = pl.DataFrame({"row": numbered(len(places)), "place": places}).join(public, on="place", how="left")
        both = pairs.join(back, on="row", how="left", maintain_order="left")
        inserted = pl.lit("-") + pl.col("row")  # nobody's, and a row of its own all the same
        return both.select(row=pl.coalesce((pl.col("public") + 1).cast(pl.String), inserted), person="person")
    names = renamed(release, salt, label)
    unknown = pl.lit(_NOBODY) + pl.col("pseudonym")
    known = pl.col("pseudonym").replace_strict(names["target"], names["pseudonym"], default=None)
    return pairs.with_columns(pseudonym=pl.coalesce(known, unknown))
