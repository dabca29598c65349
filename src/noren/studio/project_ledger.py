"""The ledger of a project: what was released period by period, and what the next release would add."""

from __future__ import annotations

from typing import Any

import polars as pl

from noren.data.periods import in_order, period_key, periods_of
from noren.data.schema import Role
from noren.studio import handing_out
from noren.studio.exports import Download, file_name, packed
from noren.studio.service import Studio
from noren.studio.work.writing import curve_of


def told(studio: Studio, project: str) -> dict[str, Any]:
    """Return the ledger of a project as plain data."""
    book = handing_out.ledger_of(studio, project)
    handed_out = [one.as_dict() for one in handing_out.publications(studio, project)]
    more = {"curve": curve_of(book), "to_come": periods_to_come(studio, project), "handed_out": handed_out}
    return book.as_dict() | more


def periods_to_come(studio: Studio, project: str) -> list[str]:
    """Return the periods of the data that were not released yet, in order."""
    book = handing_out.ledger_of(studio, project)
    dates = studio.schema(project).role(Role.DATE).name
    held = pl.scan_parquet(studio.folders.data(project)).select(pl.col(dates).unique()).collect()[dates]
    last = max((entry.period for entry in book.entries), key=period_key, default=None)
    found = in_order(periods_of(held.drop_nulls(), book.settings.period))
    return [name for name in found if last is None or period_key(name) > period_key(last)]


def public_part(studio: Studio, project: str, number: int) -> Download:
    """Return the public part and the statement of a release of the ledger, and nothing else."""
    handout = handing_out.ledger_release(studio, project, number)
    handing_out.must_be_approved(studio, handout)
    files = [(name, handout.folder / name) for name in ("public.parquet", "statement.json")]
    name = file_name(studio.project(project).name, handout.label, ending="public.zip")
    return Download(name, "application/zip", packed(files))
