"""What everything released so far tells together: UM, MM and EMM of all attacks (S3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from noren.api import attack as run_attack
from noren.api import measure as run_measure
from noren.data.frames import History
from noren.data.release import Release
from noren.errors import NorenError, reason_of
from noren.i18n import _
from noren.ledger.joined import joined, joined_rows
from noren.measures.safety.matching import matched
from noren.progress import Progress, silent
from noren.protocols import Attack, Evidence, Guess

__all__ = ["MEASURES", "Risk", "assess", "attack_all", "exposed_customers"]

MEASURES = ("um", "mm", "emm")
"""What a ledger watches, and what a budget may limit."""
_ALONE = " alone"
"""Ends the name of a guess that takes each release by itself."""


class Risk(BaseModel):
    """The risk after a release, of the best attack and of each.

    ``emm`` remembers: what was found once stays found, so it never falls. It is the highest MM over the first releases,
    for any number of them, that an attack reached at the time or reaches now that it sees more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    um: float
    mm: float
    emm: float
    attacks: Mapping[str, Mapping[str, float]]
    """UM, MM and EMM of each attack."""
    chance: Mapping[str, float]
    """What one would find who draws pseudonyms at random."""

    def value(self, measure: str) -> float:
        """Return UM, MM or EMM by name."""
        return {"um": self.um, "mm": self.mm, "emm": self.emm}[measure]

    def best(self, measure: str) -> str:
        """Return the attack that finds most."""
        return max(self.attacks, key=lambda attack: self.attacks[attack][measure])

    def beyond(self, budget: Mapping[str, float]) -> dict[str, float]:
        """Return the measures that are above their budget, with their values.

        >>> risk = Risk(um=0.1, mm=0.3, emm=0.4, attacks={}, chance={})
        >>> risk.beyond({"um": 0.1, "emm": 0.2})
        {'emm': 0.4}
        """
        return {name: self.value(name) for name, limit in budget.items() if self.value(name) > limit}


def attack_all(
    originals: Sequence[History],
    releases: Sequence[Release],
    attacks: Sequence[Attack],
    *,
    failed: dict[str, str] | None = None,
    progress: Progress = silent,
) -> dict[str, Guess]:
    """Attack everything released, knowing every original row: all at once, and each release by itself.

    Who kept the releases apart knows which row came with which. An attack that compares keys loses that once all rows
    lie in one heap, where a key of January leads to July, so what it finds would seem to shrink as more is released.
    Attacks that do not know of periods are tried on everything at once alone.

    Where ``failed`` is handed over, an attack that breaks down is noted there with the reason, and the others go on.
    """
    known, released = joined_rows(originals), joined(releases)
    guesses: dict[str, Guess] = {}
    for at, one in enumerate(attacks):
        progress(at / len(attacks), _("attacking everything released: {attack}").format(attack=one.name))
        try:
            own = {one.name: run_attack(known, released, one)}
            if len(releases) > 1 and "period" in type(one).model_fields:
                found = [run_attack(o, r, one).pairs for o, r in zip(originals, releases, strict=True)]
                own[one.name + _ALONE] = Guess(one.name, pl.concat(found, how="diagonal_relaxed"))
        except Exception as error:
            if failed is None or len(attacks) == 1:
                raise
            failed[one.name] = reason_of(error)
        else:
            guesses |= own
    if attacks and not guesses:
        first, reason = next(iter((failed or {}).items()))
        raise NorenError(_("every attack failed; {name}: {reason}").format(name=first, reason=reason))
    return guesses


def assess(original: History, release: Release, guesses: Mapping[str, Guess], before: Risk | None) -> Risk:
    """Return the risk of a release that holds all periods so far, ``before`` being that of those before the last."""
    scores = {name: run_measure(original, release, name, guesses=guesses) for name in MEASURES}
    found: dict[str, dict[str, float]] = {}
    for guess in guesses:
        so_far = found.setdefault(_attack_of(guess), dict.fromkeys(MEASURES, 0.0))
        for name, score in scores.items():
            so_far[name] = max(so_far[name], score.parts[guess])
    if before is not None:
        for attack in found.keys() & before.attacks.keys():
            found[attack]["emm"] = max(found[attack]["emm"], before.attacks[attack]["emm"])
    return Risk(
        um=scores["um"].value,
        mm=scores["mm"].value,
        emm=max(scores["emm"].value, before.emm if before is not None else 0.0),
        attacks=found,
        chance={name: float(score.notes["chance"]) for name, score in scores.items()},
    )


def exposed_customers(original: History, release: Release, guesses: Mapping[str, Guess]) -> pl.DataFrame:
    """Return the customers whom some attack finds, the most exposed first; for the steward alone.

    ``found`` counts the periods in which some attack finds the customer, ``periods`` those in which there was something
    to find, and ``attacks`` the attacks that find the customer in the last period.
    """
    tables = matched(Evidence(original, release, guesses))
    hits: dict[str, NDArray[np.bool_]] = {}
    for guess, match in tables.match.items():
        attack = _attack_of(guess)
        hits[attack] = (match & tables.live) | hits.get(attack, np.zeros_like(match))
    every = np.stack(list(hits.values()))
    frame = pl.DataFrame(
        {
            "customer": tables.customers,
            "found": every.any(axis=0).sum(axis=1),
            "periods": tables.live.sum(axis=1),
            "attacks": every[:, :, -1].sum(axis=0),
        }
    )
    exposed = frame.filter(pl.col("found") > 0).with_columns(share=pl.col("found") / pl.col("periods"))
    order = ["found", "share", "attacks", "customer"]
    return exposed.sort(order, descending=[True, True, True, False]).drop("share")


def _attack_of(guess: str) -> str:
    return guess.removesuffix(_ALONE)
