"""Certificates of everything released, computed before the pseudonyms of the next period are drawn.

Each period is released in classes of equal histories, and its pseudonyms are drawn uniformly and independently. Then no
attacker with all periods can be expected to find more than the certificate says, whatever is known and tried (the
composition theorem, ``docs/theory/repeated-releases.md``). It is computed from the sizes of the classes, so it reveals
nothing about this draw of pseudonyms, and a release can be refused by it without revealing anything about the secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.api import protect
from noren.data.compatibility import history_classes
from noren.data.frames import History
from noren.data.periods import Calendar, period_key
from noren.data.release import Release
from noren.i18n import _
from noren.judgement.numbers import count, percent
from noren.judgement.release_facts import claimed_by
from noren.kernels.arrays import Whole
from noren.kernels.judging.composition import (
    customers_found,
    customers_log_mgf,
    found_once,
    most_hits,
    pseudonyms_found,
    pseudonyms_log_mgf,
)
from noren.ledger.joined import of_period, pseudonyms_of
from noren.ledger.risk import Risk
from noren.ledger.settings import chain_of
from noren.tables import Texts

say = Texts(__name__)
SURE = 0.999
"""How sure the tail is."""


class Certificate(BaseModel):
    """The most that any attacker who holds all periods can be expected to find."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    k: int
    """The smallest class of all periods: no pseudonym is re-identified with a probability above 1/k."""
    claimed: float
    """The smallest k that the methods claim."""
    periods: int
    classes: int
    live: int
    """``periods``, ``classes``, ``live``: how many periods, classes in all of them, and pseudonyms there are."""
    rate: Mapping[str, float]
    """The most that UM and MM can be in the mean over draws; ``emm`` is the highest rate of MM after any release."""
    tail: Mapping[str, float]
    """What UM, MM and EMM stay at or below, with the probability ``sure``: each of them, for any one attacker."""
    once: float
    """The share of customers who are named rightly in one of their periods at least, at most, in the mean. Every period
    is another draw, so it grows with their number.
    """
    sure: float = SURE

    def beyond(self, budget: Mapping[str, float]) -> dict[str, float]:
        """Return the measures whose certified rate is above their budget, with the rate."""
        return {name: self.rate[name] for name, limit in budget.items() if self.rate[name] > limit + 1e-12}


def why_uncertified(release: Release, period: str) -> str:
    """Return why a period's release can have no certificate; nothing where it can."""
    claimed = claimed_by(release.statement).get("k")
    pairs = release.secret.pseudonyms.select("pseudonym", "customer").unique()
    if claimed is None or not isinstance(release.public, History):
        return _("the release of {period} does not claim classes of k identical histories").format(period=period)
    if "audit" in release.statement.notes:
        return _("the claim of the release of {period} was not audited").format(period=period)
    if pairs["customer"].is_duplicated().any() or pairs["pseudonym"].is_duplicated().any():
        return say("several_pseudonyms", period=period)
    least = _class_of(release)["size"].min()
    if isinstance(least, int) and least < max(claimed, 2):
        return _("a history of {period} is shared by only {least} customers").format(period=period, least=least)
    return ""


def certified(releases: Sequence[Release], customers: pl.Series) -> Certificate:
    """Return the certificate of releases of single periods that :func:`why_uncertified` finds nothing against."""
    sizes = sizes_of(releases, customers)
    live, people = int((sizes > 0).sum()), max(len(sizes), 1)
    tails = [_tail(sizes[:, : at + 1], (1 - SURE) / ((at + 1) * (at + 2))) for at in range(sizes.shape[1])]
    return Certificate(
        k=int(sizes[sizes > 0].min()) if live else people,
        claimed=min(claimed_by(release.statement)["k"] for release in releases),
        periods=len(releases),
        classes=round(float(pseudonyms_found(sizes).sum())),
        live=live,
        rate=_rates(sizes),
        tail={
            "um": most_hits(customers_log_mgf(sizes), 1 - SURE, len(sizes)) / people,
            "mm": _tail(sizes, 1 - SURE),
            "emm": max(tails),
        },
        once=found_once(sizes) / people,
    )


def least_possible(releases: Sequence[Release], customers: pl.Series) -> dict[str, float]:
    """Return the least that could be certified whatever is done with the last period: one class of all its customers.

    Those of the periods before stay as they are.
    """
    sizes = sizes_of(releases, customers)
    last = sizes[:, -1]
    sizes[:, -1] = np.where(last > 0, (last > 0).sum(), 0)
    return _rates(sizes)


def sizes_of(releases: Sequence[Release], customers: pl.Series) -> Whole:
    """Return how many customers share each customer's (row) public history in each period (column); 0 where none."""
    columns = []
    for release in releases:
        pairs = release.secret.pseudonyms.select(pl.col("pseudonym", "customer").cast(pl.String)).unique()
        known = pairs.join(_class_of(release), on="pseudonym", how="inner").select("customer", "size")
        row = pl.DataFrame({"customer": customers.cast(pl.String)})
        columns.append(row.join(known, on="customer", how="left", maintain_order="left")["size"].fill_null(0))
    return np.column_stack([column.to_numpy() for column in columns]).astype(np.int64)


def _class_of(release: Release) -> pl.DataFrame:
    """Return the pseudonyms of a release, the class of each and its size."""
    if not isinstance(release.public, History):
        raise TypeError(type(release.public))
    classes = history_classes(release.public)
    return classes.select(pl.col("pseudonym").cast(pl.String), "class", size=pl.len().over("class").cast(pl.Int64))


def _rates(sizes: Whole) -> dict[str, float]:
    """Return what is certified of UM, MM and EMM."""
    found_pseudonyms, live = np.cumsum(pseudonyms_found(sizes)), np.cumsum((sizes > 0).sum(axis=0))
    curve = found_pseudonyms / np.maximum(live, 1)  # of MM over the first 1, 2, … periods
    return {"um": customers_found(sizes) / max(len(sizes), 1), "mm": float(curve[-1]), "emm": float(curve.max())}


def _tail(sizes: Whole, chance: float) -> float:
    live = int((sizes > 0).sum())
    return most_hits(pseudonyms_log_mgf(sizes), chance, live) / max(live, 1)


# --- without a certificate -------------------------------------------------------------------------------------------

REDRAWS = 4
"""How many other draws the mean is taken of."""
_STREAM = tuple(b"draws that nobody sees")


def redrawn(
    originals: Sequence[History], releases: Sequence[Release], periods: Sequence[str], by: Calendar, number: int
) -> list[Release]:
    """Return the releases of single periods as another draw would have made them, ``number`` telling which.

    Of a release in classes the pseudonyms alone are drawn anew; any other is protected again, by the steps that its
    statement tells.

    Whether a period is released must not depend on what this draw gives away: among those accepted, attackers would
    know that the usual answers are wrong more often than not. So the budget is compared with the mean over draws
    that are never released. Their seeds are fixed, so the answer depends only on the data.
    """
    taken: set[str] = set()
    drawn = []
    for rows, release, period in zip(originals, releases, periods, strict=True):
        state = np.random.SeedSequence([*_STREAM, number, *period_key(period)]).generate_state(1, np.uint64)
        seed = int(state[0]) >> 1
        made = release
        if why_uncertified(release, period):
            steps = [
                {"method": step.method} | {n: v for n, v in step.parameters.items() if v not in (None, [])}
                for step in release.statement.steps
            ]
            made = protect(rows, chain_of(steps, by), seed=seed)
        drawn.append(of_period(made, period, taken, seed))
        taken |= pseudonyms_of(drawn[-1])
    return drawn


# --- sentences -------------------------------------------------------------------------------------------------------


def certificate_sentence(certificate: Certificate | None, why: str = "", *, attacked: bool = True) -> str:
    """Return what is certified, and how sure the tail is; or that nothing is.

    ``attacked`` tells whether everything released was attacked, so that a budget can be held against that.
    """
    if certificate is None:
        name = "certificate.none_attacked" if attacked else "certificate.none"
        return say(name, why=f": {why}" if why else "")
    return say(
        "certificate.certified",
        classes=count(certificate.classes),
        live=count(certificate.live),
        periods=count(certificate.periods),
        rate=percent(certificate.rate["mm"]),
        sure=percent(certificate.sure),
        tail=percent(certificate.tail["mm"]),
    )


def attacks_sentence(risk: Risk) -> str:
    """Return what the attacks' figures are means of, and what they are not about."""
    if risk.alone:
        return say("attacks.alone")
    if risk.redraws == 0:
        return say("attacks.exact")
    sentence = say("attacks.means", count=count(risk.redraws))
    if "mm" not in risk.interval:
        return sentence
    low, high = risk.interval["mm"]
    return say("attacks.interval", sentence=sentence, mean=percent(risk.mm), low=percent(low), high=percent(high))
