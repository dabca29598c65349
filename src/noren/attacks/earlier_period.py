"""Recognise customers by habits learned from another period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import minimize

from noren.attacks.assignment import assigned, counted, guess_of, middles, product
from noren.data.arrays import require_exact
from noren.data.cells import is_set
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale, ValueType
from noren.i18n import N_, _
from noren.kernels.arrays import Real
from noren.progress import Progress, silent
from noren.protocols import NOISE, OTHER_ROWS, Attack, Guess, Recoding

Kinds = Mapping[str, tuple[Any, Any]]
"""By kind of habit: what each pseudonym does, and what doing so says for each customer."""

_LEARNERS, _FEWEST = 400, 10
_PRIOR = 1e-3
_SMALL = 256
"""Habits with fewer different values are compared as full tables, which is faster."""
_NO_HABIT = {Role.CUSTOMER, Role.INVOICE, Role.IDENTIFIER}


class EarlierPeriod(Attack):
    """Recognise customers by what they bought in another period than the one that is released.

    No purchase need be in both: what is compared are habits. For items and all other columns of texts, levels of prices
    and quantities, weekday, hour, size of a basket and days since the one before, the attack asks how much likelier the
    public rows are for a customer with these known rows than for anybody; rare habits count most. What each kind of
    habit counts is learnt from the known rows alone: the later half of a customer's days, taken for a pseudonym, must
    be recognised by the earlier half. Then all pseudonyms are assigned at once.

    Knowledge of another period is given as ``known`` (``--known``): rows of the same customers, earlier or later ones.
    Without it the original itself is compared. The score is the log-likelihood by which the named customer beats the
    next. Of a set each value counts, of an interval the middle.

    References
    ----------
    Tournier and de Montjoye 2022 (Science Advances): 65.2 % of 85,000 shoppers recognised in another period; Jelinek
    and Mercer 1980 (smoothing); McFadden 1974 (conditional logit).

    Examples
    --------
    In January 7 buys jam, as Ann did in December; both buy tea.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items, month):
    ...     rows = {"customer": customers, "date": f"{month}/1", "item": items, "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob", "bob"], ["tea", "jam", "tea", "egg"], "2010/12")
    >>> shown = history(["8", "8", "7", "7"], ["tea", "egg", "jam", "tea"], "2011/1")
    >>> sorted(EarlierPeriod().attack(known, shown, seed=1).pairs.select("pseudonym", "customer").rows())
    [('7', 'ann'), ('8', 'bob')]
    """

    name = "earlier-period"
    summary = N_("Recognises customers by habits, known from another period than the released one.")
    source = "Tournier and de Montjoye 2022"
    cost = 30.0
    sees_through = OTHER_ROWS | NOISE | {Recoding.SHIFTED_DATES, Recoding.OTHER_PERIOD}

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name one customer for each pseudonym; the seed decides between equals."""
        progress(0.0, _("preparing rows"))
        columns = [c for c in original.schema.columns if c.role not in _NO_HABIT and c.known]
        columns = [c for c in columns if c.name in public.frame.columns]
        require_exact(original, columns)
        kinds, pseudonyms, customers = _compared(original, public, columns)
        shape = len(pseudonyms), len(customers)
        progress(0.3, _("learning"))
        weight = dict.fromkeys(kinds, 1.0) | _learnt(original, columns)
        progress(0.5, _("comparing rows"))

        def scores(rows: slice) -> Real:
            weighted = (weight[name] * product(released[rows], own) for name, (released, own) in kinds.items())
            return sum(weighted, np.zeros((rows.stop - rows.start, shape[1])))

        guess = guess_of(self.name, assigned(self.name, shape, scores, seed), pseudonyms, customers)
        return replace(guess, notes={"weights": {name: round(value, 3) for name, value in weight.items()}})


def _compared(known: History, public: History, columns: Sequence[Column]) -> tuple[Kinds, pl.Series, pl.Series]:
    """Return the habits of both sides, the pseudonyms and the customers.

    If half of what a customer does is own habit and half is as anybody, what is a share p of the known rows and u of
    all is (1 + p/u)/2 times as likely as by anybody (Jelinek and Mercer); a second time says less than the first.
    """
    people = [history[Role.CUSTOMER].cast(pl.String).drop_nulls().unique().sort() for history in (public, known)]
    seen, held = (_habits(history, columns) for history in (public, known))
    kinds: dict[str, tuple[Any, Any]] = {}
    for name in held:
        acts = pl.concat([seen[name]["act"], held[name]["act"]]).unique().sort()
        released, own = (
            counted(did[name]["who"], did[name]["act"], who, acts, np.ones(len(did[name])))
            for did, who in zip((seen, held), people, strict=True)
        )
        usual = (released.sum(axis=0) + own.sum(axis=0)) / max(released.sum() + own.sum(), 1.0)
        own.data = np.log1p(own.data / np.repeat(own.sum(axis=1), np.diff(own.indptr)) / usual[own.indices])
        released.data = np.log1p(released.data)
        kinds[name] = (released.toarray(), own.toarray()) if len(acts) < _SMALL else (released, own)
    return kinds, people[0], people[1]


def _habits(history: History, columns: Sequence[Column]) -> dict[str, pl.DataFrame]:
    """Return by kind who did what, once for each row or, of what is of a visit, once for each day."""
    habits: dict[str, pl.DataFrame] = {}
    who = history[Role.CUSTOMER].cast(pl.String)
    when = {"day": np.full(len(who), np.nan), "hour": np.full(len(who), np.nan)}
    for column in columns:
        cells = history.frame[column.name]
        if column.scale == Scale.NOMINAL:
            acts = pl.DataFrame({"who": who, "act": cells})
            habits[column.name] = acts.explode("act") if is_set(cells.dtype) else acts
        elif column.scale == Scale.RATIO:
            level = np.round(4 * np.log(np.maximum(np.abs(middles(cells)), 1e-3)))
            habits[column.name] = pl.DataFrame({"who": who, "act": level}, nan_to_null=True)
        elif column.type == ValueType.TIME:
            when["hour"] = middles(cells) // 60
        elif column.role == Role.DATE:
            when["day"] = np.floor(middles(cells))
            if column.type == ValueType.DATETIME:
                when["hour"] = np.floor(middles(cells) % 1 * 24)
    visits = pl.DataFrame({"who": who, **when}, nan_to_null=True).drop_nulls(["who", "day"])
    visits = visits.group_by("who", "day").agg(pl.len().alias("rows"), pl.col("hour").min()).sort("who", "day")
    since = pl.col("day").diff().over("who")
    of_visit = {"weekday": pl.col("day") % 7, "hour": pl.col("hour"), "basket": (2 * pl.col("rows").log()).round()}
    of_visit["gap"] = (2 * since.log()).round()
    habits |= {f"visit: {name}": visits.select("who", act.alias("act")) for name, act in of_visit.items()}
    return {name: acts.with_columns(pl.col("act").cast(pl.String)).drop_nulls() for name, acts in habits.items()}


def _learnt(known: History, columns: Sequence[Column]) -> dict[str, float]:
    """Return the weights under which later halves are likeliest of their own earlier halves (a conditional logit).

    Halves are the earlier and the later days of some customers who have several; rows, where there are no dates.
    """
    dated = known.schema.with_role(Role.DATE)
    day = np.floor(middles(known[Role.DATE])) if dated else np.arange(len(known), dtype=np.float64)
    rows = pl.DataFrame({"who": known[Role.CUSTOMER], "day": day}, nan_to_null=True).with_row_index().drop_nulls()
    rows = rows.with_columns(at=pl.col("day").rank("dense").over("who"))
    rows = rows.with_columns(of=pl.col("at").max().over("who")).filter(pl.col("of") > 1)
    several = rows["who"].unique().sort()
    some = several.gather_every(max(len(several) // _LEARNERS, 1)).head(_LEARNERS)
    rows = rows.filter(pl.col("who").is_in(some.implode()))
    early = rows["at"] * 2 <= rows["of"]
    earlier, later = (known.take(rows.filter(half)["index"]) for half in (early, ~early))
    rehearsed = _compared(earlier, later, columns)[0]
    tables = np.stack([product(released, own) for released, own in rehearsed.values()], axis=-1)
    people = len(tables)
    if people < _FEWEST:
        return {}
    unit = tables.std(axis=(0, 1))
    unit[unit < 1e-9] = np.inf  # what tells nothing of these people counts nothing
    tables /= unit
    right = np.einsum("iik->k", tables) / people

    def loss(weight: Real) -> tuple[float, Real]:
        score = tables @ weight
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        cost = _PRIOR * weight @ weight - np.log(np.maximum(np.diag(chance), 1e-300)).mean()
        return float(cost), np.einsum("ij,ijk->k", chance, tables) / people - right + 2 * _PRIOR * weight

    fitted = minimize(loss, np.ones(len(unit)), jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(unit))
    return dict(zip(rehearsed, (fitted.x / unit).tolist(), strict=True))
