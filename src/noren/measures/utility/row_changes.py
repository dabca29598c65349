"""How far released rows moved from the original ones: E4, E5 and E6 of PWS Cup 2017."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from noren.data.arrays import exact_values, numbers
from noren.data.formats.render import Spelling
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real
from noren.kernels.linkage.row_layout import likeness
from noren.measures.evidence import original_history, public_history, reject_another_original
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score

MONTH = 31.0
"""The days over which E4 divides."""


class RowChange(Measure):
    """Tell how far one column's values moved, row by row, on average over all rows of the original.

    Deleted rows add nothing, being counted by E6. A suppressed cell in a row that stayed, which the contest does not
    have, costs 1, and so does a value where the original was blank; a blank that stayed blank costs nothing. Where no
    row is left to compare there is no score.
    """

    source = "S3 (PWS Cup 2017)"
    goal = "lower"
    needs = frozenset({"original", "secret", "exact"})
    side = "utility"
    role: ClassVar[Role]
    """The column that is compared."""

    @abstractmethod
    def errors(self, values: Real, released: Real) -> Real:
        """Return what each row costs."""

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the mean over all rows of the original."""
        original = original_history(evidence)
        reject_another_original(evidence)
        # the released rows beside the original's, deleted ones as rows of nulls; the customer and the column alone
        public = public_history(evidence.release)
        left = [c.name for c in public.schema.columns if c.role not in (Role.CUSTOMER, self.role)]
        slim = replace(public, frame=public.frame.drop(left), schema=public.schema.without(left), spelling=Spelling())
        aligned = replace(evidence.release, public=slim).aligned()
        still_there = aligned[Role.CUSTOMER].is_not_null()
        column = original.schema.role(self.role)
        values, released = (numbers(exact_values(side, column).filter(still_there)) for side in (original, aligned))
        errors = self.row_errors(values, released)
        compared = int(np.count_nonzero(~np.isnan(values)))
        return self.score_of(float(errors.sum()), int(np.count_nonzero(errors)), compared, len(original))

    def row_errors(self, values: Real, released: Real) -> Real:
        """Return what each row costs, blank and suppressed cells included."""
        blank, unsaid = np.isnan(values), np.isnan(released)
        return np.where(blank | unsaid, np.where(blank & unsaid, 0.0, 1.0), self.errors(values, released))

    def score_of(self, total: float, moved: int, compared: int, rows: int) -> Score:
        """Return the score, given what all rows cost, how many cost anything, and how many have a value to compare."""
        if not compared:
            message = _("no row has a {role} in both the original and the release; use e6, which counts deleted rows")
            raise ParameterError(message.format(role=self.role))
        return Score(total / max(rows, 1), notes={"rows_changed": moved})


class E4(RowChange):
    """Tell how far dates moved: the mean of |days| over 31.

    References
    ----------
    PWS Cup 2017, ``E4-diff-date``, whose values it gives (they are rounded to ten decimals there).

    Examples
    --------
    One of two dates moved by three days: 3/(31·2).

    >>> from noren.data.frames import History
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["1", "2"], "date": "2010/12/1", "item": ["a", "b"], "price": [1.0, 2.0],
    ...         "quantity": [1, 1]}
    >>> original = History.of(rows, Schema.preset("pwscup2018"))
    >>> moved = History.of(rows | {"date": ["2010/12/4", "2010/12/1"]}, Schema.preset("pwscup2018"))
    >>> score = E4().measure(Evidence(original, Release.of_aligned(original, moved, Statement("hand"))))
    >>> score.value == 3 / 62
    True
    """

    name = "e4"
    summary = N_("How far dates moved, as a share of a month (E4 of PWS Cup 2017).")
    unit = N_("mean number of days over 31")
    role = Role.DATE
    roles = (Role.DATE,)

    def errors(self, values: Real, released: Real) -> Real:
        """Return the days between, over 31."""
        return np.abs(values - released) / MONTH


class E5(RowChange):
    """Tell how far unit prices moved: the mean of 1 - min/max.

    References
    ----------
    PWS Cup 2017, ``E5-diff-price``, whose values it gives (they are rounded to ten decimals there).
    """

    name = "e5"
    summary = N_("How far unit prices moved, in proportion (E5 of PWS Cup 2017).")
    bounds = (0.0, 1.0)
    unit = N_("mean of 1 - min/max")
    role = Role.PRICE
    roles = (Role.PRICE,)

    def errors(self, values: Real, released: Real) -> Real:
        """Return 1 less the smaller price over the larger."""
        return 1.0 - likeness(values, released)


class E6(Measure):
    """Tell which share of the rows was deleted.

    The value is rounded to four decimals, as the judges' program does; the part ``share`` is not. Their program looks
    for the text ``DEL,`` and so takes rows of a pseudonym that ends in DEL for deleted; here a row is deleted if it is.

    References
    ----------
    PWS Cup 2017, ``E6-nrow``, whose values it gives.

    Examples
    --------
    >>> import polars as pl
    >>> from noren.data.frames import History
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["1", "2"], "date": "2010/12/1", "item": ["a", "b"], "price": [1.0, 2.0],
    ...         "quantity": [1, 1]}
    >>> original = History.of(rows, Schema.preset("pwscup2018"))
    >>> kept = original.frame.select(pl.when(pl.col("item") == "a").then(pl.all()))
    >>> release = Release.of_aligned(original, History(kept, original.schema), Statement("hand"))
    >>> E6().measure(Evidence(original, release)).value
    0.5
    """

    name = "e6"
    summary = N_("The share of rows that were deleted (E6 of PWS Cup 2017).")
    source = "S3 (PWS Cup 2017)"
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("share of rows deleted")
    needs = frozenset({"original", "secret"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {"share": N_("Share")}

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return deleted rows over the original's rows."""
        return self.score_of(evidence.release.deleted_rows, len(original_history(evidence)))

    def score_of(self, deleted: int, rows: int) -> Score:
        """Return the score, given how many rows of how many are gone."""
        share = deleted / max(rows, 1)
        return Score(round(share, 4), {"share": share}, {"deleted_rows": deleted})
