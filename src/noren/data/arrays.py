"""Typed columns as the plain arrays that kernels work on."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.cells import is_generalised
from noren.data.frames import Records
from noren.data.schema import Column
from noren.errors import SchemaError
from noren.i18n import _

__all__ = ["NOBODY", "exact_values", "numbers", "people"]

NOBODY = -1
_MICROSECONDS_PER_DAY = 86_400_000_000
_NANOSECONDS_PER_MINUTE = 60_000_000_000


def numbers(values: pl.Series) -> NDArray[np.float64]:
    """Return ordered values as numbers, NaN where missing: dates and times of day in days, clock times in minutes.

    >>> import datetime as dt
    >>> numbers(pl.Series([dt.datetime(1970, 1, 2, 12), None])).tolist()
    [1.5, nan]
    """
    counted = values.to_physical().cast(pl.Float64)
    if isinstance(values.dtype, pl.Datetime):
        counted = values.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / _MICROSECONDS_PER_DAY
    elif values.dtype == pl.Time:
        counted = counted / _NANOSECONDS_PER_MINUTE
    return counted.fill_null(float("nan")).to_numpy()


def people(customer: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """Return each row's customer as a code, and the customers the codes stand for, in order of first appearance.

    A row without a customer has the code :data:`NOBODY`.

    >>> codes, customers = people(pl.Series(["b", "a", None, "b"]))
    >>> codes.tolist(), customers.to_list()
    ([0, 1, -1, 0], ['b', 'a'])
    """
    customers = customer.drop_nulls().unique(maintain_order=True)
    known = pl.DataFrame({"customer": customers, "code": pl.int_range(len(customers), eager=True)})
    coded = pl.DataFrame({"customer": customer}).join(known, on="customer", how="left", maintain_order="left")
    return coded["code"].fill_null(NOBODY).to_numpy(), customers


def exact_values(records: Records, column: Column) -> pl.Series:
    """Return a column of an original, which must hold exact values."""
    values = records.frame[column.name]
    if is_generalised(values.dtype):
        raise SchemaError(
            _("the original is generalised already"),
            _("give the data as they were before any protection"),
            column=column.name,
        )
    return values
