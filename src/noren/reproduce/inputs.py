"""Inputs of the experiments: histories of the catalogue, and releases that can be compared."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import polars as pl

from noren.data.catalog import open_dataset
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.data.schema import Role


@cache
def dataset(name: str) -> Records:
    """Return a data set of the catalogue, read once."""
    return open_dataset(name).data


def customers_of(name: str) -> History:
    """Return a data set of the catalogue that has purchases."""
    return the_history(dataset(name))


def the_history(data: Records) -> History:
    """Return the data as a history; a table is an internal error."""
    if not isinstance(data, History):
        raise TypeError(data.schema.kind)
    return data


def without_times(release: Release) -> Release:
    """Return the release with one time of day and one invoice for all rows, where it has such columns.

    They would give away whole baskets, whatever else was done to the rows. No method changes them, so an attack that
    looks at them would find nearly everybody and tell nothing of the methods.
    """
    public = release.public
    hidden = public.schema.with_role(Role.TIME, Role.INVOICE)
    columns = [pl.lit(public.frame[c.name].min(), dtype=public.frame[c.name].dtype).alias(c.name) for c in hidden]
    return replace(release, public=replace(public, frame=public.frame.with_columns(columns)))
