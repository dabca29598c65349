"""The ledger of a project: what was released period by period, and what the next release would add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

from noren.api import draw_seed
from noren.data.periods import in_order, period_key, periods_of
from noren.data.schema import Kind, Role
from noren.errors import ParameterError
from noren.i18n import _
from noren.ledger import Ledger
from noren.studio import handing_out
from noren.studio.exports import Download, file_name, packed
from noren.studio.project_files import method_of
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.work.writing import curve_of
from noren.web.refusals import NotNowError


def usual_steps() -> list[dict[str, Any]]:
    """Return how a period is protected unless somebody says otherwise: noise, and fresh names."""
    return [{"method": "perturb", "parameters": {}}, {"method": "monthly-pseudonyms", "parameters": {}}]


def make(
    studio: Studio,
    project: str,
    *,
    steps: Sequence[Mapping[str, Any]],
    period: str = "month",
    budget: Mapping[str, float] | None = None,
    attacks: Sequence[str] | None = None,
    rule: str | None = None,
) -> dict[str, Any]:
    """Make the empty ledger of a project."""
    found = studio.ready_project(project)
    if found.facts["kind"] != Kind.HISTORY:
        raise ParameterError(_("a ledger keeps purchase histories"), _("give a purchase history"))
    if studio.folders.ledger(project).exists():
        raise NotNowError(_("this project has a ledger already"))
    # a step goes by the ledger's periods, whatever the run it is taken from went by
    ways = []
    for step in steps:
        given = {name: value for name, value in step.get("parameters", {}).items() if name not in ("period", "starts")}
        ways.append(method_of([{"method": step["method"], "parameters": given}], studio.folders.project(project)))
    Ledger.create(
        studio.folders.ledger(project),
        schema=studio.schema(project),
        chain=ways,
        period=period,
        budget=budget,
        attacks=attacks,
        rule=rule,
    )
    return told(studio, project)


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


def start(studio: Studio, project: str, act: Literal["weigh", "add"], period: str | None = None) -> Job:
    """See what the release of a period would add to the risk, or release it unless the budget would be broken."""
    to_come = periods_to_come(studio, project)
    if not to_come:
        raise NotNowError(_("every period of the data was released"))
    if period is not None and period not in to_come:
        raise ParameterError(
            _("{period} cannot be released").format(period=period),
            _("choose one of {names}").format(names=", ".join(to_come)),
        )
    if studio.store.jobs(project, kind="ledger", states=(State.WAITING, State.RUNNING)):
        raise NotNowError(_("the ledger is at work; wait until it is done"))
    order = {"act": act, "period": period or to_come[0], "seed": draw_seed()}
    return studio.submit(project, "ledger", period or to_come[0], order)
