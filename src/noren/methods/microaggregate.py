"""Replace the histories of a group by their medians and modes."""

from __future__ import annotations

from noren.i18n import N_
from noren.methods.generalize import Generalize


class Microaggregate(Generalize):
    """Give every customer the same history as at least k - 1 others: the medians and modes of theirs.

    Who shares a history is searched as :class:`~noren.methods.generalize.Generalize` does, and so is which rows become
    one; but a shared row says one exact value for all members, the median of dates, prices and quantities and the most
    frequent item, and groups are chosen for what that costs. For the same groups U, the mean error of a cell, is never
    higher than with intervals and sets: a value drawn from an interval is on average no nearer to the members than
    their median. For k = 2 both cost the same, and the pairs are the optimum, proved.

    **The rows are not true.** A cell says what some member of the group has, which for the others is wrong, and nothing
    marks it; a reader of intervals knows what he does not know, a reader of medians does not. Contests that ask for
    generalisation refuse it. What any program reads that reads the original, it reads.

    Anyone who knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. Values are real ones of somebody in the group. Rows without counterpart are deleted, names
    become pseudonyms, other columns are suppressed; a blank is a value of its own, and is said where that costs least.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control", 2002;
    S0 for U; ``docs/theory/microaggregation.md`` for the proofs.

    Examples
    --------
    Two of three bought a lamp, so all did. Of the prices 7, 8 and 9 the median is 8, of three days the middle one.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "eve"], "date": ["2010/12/1", "2010/12/2", "2010/12/4"],
    ...         "item": ["lamp", "rug", "lamp"], "price": [9.0, 7.0, 8.0], "quantity": [1, 1, 1]}
    >>> release = Microaggregate(k=3).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.public.lines(), sep="\\n")
    10,2010/12/2,lamp,8,1
    11,2010/12/2,lamp,8,1
    12,2010/12/2,lamp,8,1
    """

    name = "microaggregate"
    summary = N_("At least k customers share each public history of medians and modes; not truthful.")
    source = "Domingo-Ferrer and Mateo-Sanz 2002"
    offered_next = 0
    prominence = 2
    good_for = N_("Every cell must be one plain value, with a small mean error.")
    wrong_for = N_("Rows must be true of each customer: a cell is the median or mode of its group.")
    generalises = False
    medians = True
    promise_of_k = N_(
        "each public history is shared by at least k customers; its values are medians and modes of theirs, and "
        "not true of each"
    )
    promise_of_survival = N_(
        "each public history is shared by at least min_class customers, enough to outlive the attackers; its "
        "values are medians and modes of theirs, and not true of each"
    )
