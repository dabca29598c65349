"""Recognise customers by unique purchases (PWS Cup 2018, ``re-uniq``)."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from pydantic import Field

from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.progress import Progress, silent
from noren.protocols import OTHER_ROWS, Attack, Guess, Recoding


class UniqueRows(Attack):
    """Recognise customers by purchases that nobody else made.

    The attacker holds the whole original. A row that occurs there once, all columns but the customer compared as text,
    belongs to one person; if the same text stands in the release, its pseudonym is that person. A text that occurs
    twice is unusable, even when both rows are one customer's. If a pseudonym shows unique rows of several customers,
    the last one in the release's order decides, and the first places the pseudonym in the answer: both as the official
    script does. Every answer rests on a row that fits one person alone, so all are equally sure.

    References
    ----------
    PWS Cup 2018, sample attack ``re-uniq``; the report is S0.

    Examples
    --------
    ``b`` on 12/1 was bought twice and tells nothing; ``a`` and ``d`` were bought once each.

    >>> from noren.data.schema import Schema
    >>> def history(customers):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": ["a", "b", "b", "d"],
    ...             "price": [1.0, 2.0, 2.0, 4.0], "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> guess = UniqueRows().attack(history(["ann", "ann", "bob", "cem"]), history(["7", "7", "8", "9"]), seed=1)
    >>> guess.pairs.select("pseudonym", "customer").rows()
    [('7', 'ann'), ('9', 'cem')]
    """

    name = "unique-rows"
    summary = N_("Re-identifies customers by unique purchases that are published unchanged.")
    source = "S0 (PWS Cup 2018, re-uniq)"
    sees_through = OTHER_ROWS | {Recoding.CHANGING_PSEUDONYMS}

    spelling: bool = Field(
        default=True,
        description=N_("compare spellings, as the official attack does (2.1 differs from 2.10), instead of values"),
    )

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name the customers whose unique rows stand in ``public``; nothing is drawn at random."""
        progress(0.0, _("preparing rows"))
        known, seen = self.texts(original), self.texts(public)
        row = [name for name in known.columns if name != "customer" and name in seen.columns]
        unique = known.filter(pl.struct(row).is_unique()).drop_nulls("customer")
        progress(0.5, _("comparing rows"))
        released = seen.rename({"customer": "pseudonym"}).drop_nulls("pseudonym")
        matches = released.join(unique, on=row, how="inner", maintain_order="left")
        pairs = matches.group_by("pseudonym", maintain_order=True).agg(pl.col("customer").last())
        pairs = pairs.with_columns(score=pl.lit(1.0))
        return Guess(self.name, pairs, {"unique_rows": len(unique), "found_rows": len(matches)})

    def texts(self, history: History) -> pl.DataFrame:
        """Return the rows as text, the customer's column called ``customer``, null where there is none."""
        column = history.schema.role(Role.CUSTOMER).name
        records = history if self.spelling else replace(history, spelling=Spelling())
        texts = records.texts().rename(lambda name: "customer" if name == column else f"said {name}")
        return texts.with_columns(history[Role.CUSTOMER].alias("customer"))
