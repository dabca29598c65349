"""New pseudonyms in every period."""

from __future__ import annotations

import polars as pl

from noren.data.compatibility import rows_without_customer
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.random_draws import pseudonyms
from noren.methods.by_period import MethodByPeriod
from noren.methods.pseudonymize import edited
from noren.progress import Progress, silent
from noren.protocols import MONTHS


class MonthlyPseudonyms(MethodByPeriod):
    """Give every customer a fresh pseudonym in each period, and change nothing else.

    Data that grow month by month are released again and again. Under one pseudonym a person found once is found in all
    months; with fresh ones each month must be attacked anew. No pseudonym is used twice, so names alone tell nothing
    across periods. Inside a period the history stays whole: anyone who knows some purchases of a month finds the
    pseudonym and the rest of that month, and habits that last (the same items every month) link the months again. Rows
    without a date are a period of their own; rows without a customer are left out.

    References
    ----------
    S3 (PWS Cup 2017: a pseudonym per customer and month, the table F).

    Examples
    --------
    Ann buys in December and January, Bob in December twice: three pseudonyms.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "ann", "bob"], "date": ["2010/12/1", "2010/12/1", "2011/1/7", "2010/12/9"],
    ...         "item": "a", "price": 1.0, "quantity": 1}
    >>> release = MonthlyPseudonyms().protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*(" ".join(row) for row in release.secret.pseudonyms.rows()), sep="\\n")
    12 ann 2010/12
    10 bob 2010/12
    11 ann 2011/1
    """

    name = "monthly-pseudonyms"
    summary = N_("Gives each customer a new pseudonym per period, so periods must be attacked one by one.")
    source = "S3"
    roles = (Role.DATE,)
    promises = MONTHS
    promise = N_(
        "names are hidden and change with each period; within a period histories are not hidden: an attacker who "
        "knows some purchases finds the pseudonym of that period"
    )
    good_for = N_("Analyses within a month, and releases month after month.")
    offered_next = 3
    wrong_for = N_("Analyses that follow a customer over months, or customers with strong habits.")

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Replace customers by pseudonyms of their own in each period; the same seed gives the same ones."""
        progress(0.0, _("choosing pseudonyms"))
        customer = original[Role.CUSTOMER]
        periods = self.periods(original)
        rows = pl.DataFrame({"customer": customer, "period": periods})
        known = rows.drop_nulls("customer").unique(maintain_order=True)
        known = known.with_columns(pl.Series("name", pseudonyms(len(known), seed)).cast(pl.String))
        names = rows.join(known, on=["customer", "period"], how="left", nulls_equal=True, maintain_order="left")["name"]
        statement = self.statement(rows_without_customer(original))
        progress(0.5, _("sorting rows"))
        aligned = edited(original, [names.alias(customer.name)])
        return Release.of_aligned(original, aligned, statement, seed=seed, periods=periods)
