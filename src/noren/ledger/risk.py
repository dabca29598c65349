"""Risk of everything released so far: UM, MM and EMM of all attacks (S3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from scipy.special import stdtrit

from noren.api import attack as run_attack
from noren.data.compatibility import history_classes
from noren.data.frames import History
from noren.data.release import Release
from noren.errors import NorenError, reason_of
from noren.i18n import _
from noren.kernels.judging.composition import matching_curve, user_matching
from noren.ledger.joined import joined, joined_rows
from noren.measures.safety.matching import matched
from noren.progress import Progress, silent
from noren.protocols import Attack, Evidence, Guess
from noren.work.run import Run, RunStore

GuessRates = Mapping[str, Mapping[str, float]]
"""UM, MM and EMM of each guess."""

MEASURES = ("um", "mm", "emm")
"""What a ledger watches, and what a budget may limit."""
_ALONE = " alone"
"""Ends the name of a guess that takes each release by itself."""


class Risk(BaseModel):
    """The risk after a release, of the best attack and of each: means over draws of the pseudonyms.

    What this one draw gave away is a secret, and who refuses a release by it tells some of it. So the figures are means
    over draws that are not the one released.

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
    redraws: int
    """How many other draws the means are taken of; 0 where they are exact."""
    interval: Mapping[str, tuple[float, float]]
    """Of the best attack's UM, MM and EMM the interval of 95 % about the mean, where it is not exact."""
    alone: bool = False
    """Whether it is of the last period by itself, for the ledger attacks nothing that is out: of everything released
    together nothing is known from attacks."""

    def value(self, measure: str) -> float:
        """Return UM, MM or EMM by name."""
        return {"um": self.um, "mm": self.mm, "emm": self.emm}[measure]

    def best(self, measure: str) -> str:
        """Return the attack that finds most."""
        return max(self.attacks, key=lambda attack: self.attacks[attack][measure])

    def beyond(self, budget: Mapping[str, float]) -> dict[str, float]:
        """Return the measures that are above their budget, with their values.

        >>> risk = Risk(um=0.1, mm=0.3, emm=0.4, attacks={}, chance={}, redraws=0, interval={})
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
    guesses: dict[str, Guess] = {}
    by_name = {attack.name: attack for attack in attacks}

    def add(name: str, guess: Guess) -> None:
        own = {name: guess}
        if len(releases) > 1 and "period" in type(by_name[name]).model_fields:
            pairs = [run_attack(o, r, by_name[name]).pairs for o, r in zip(originals, releases, strict=True)]
            own[name + _ALONE] = Guess(name, pl.concat(pairs, how="diagonal_relaxed"))
        guesses.update(own)

    def fail(name: str, error: Exception) -> None:
        if failed is None or len(attacks) == 1:
            raise error
        failed[name] = reason_of(error)

    def report(done: float, words: str = "", best: float | None = None) -> None:
        progress(done, _("attacking everything released: {attack}").format(attack=words))

    run = Run.in_memory(joined_rows(originals), joined(releases), RunStore(on_guess=add, on_failure=fail))
    run.attack(by_name, other_guesses={}, progress=report)
    if attacks and not guesses:
        first, reason = next(iter((failed or {}).items()))
        raise NorenError(_("every attack failed; {name}: {reason}").format(name=first, reason=reason))
    return guesses


def guess_rates(
    original: History, releases: Sequence[Release], guesses: Mapping[str, Guess], *, exactly: bool = False
) -> GuessRates:
    """Return UM, MM and EMM of each guess on this draw of the pseudonyms.

    Exactly: in the mean over all draws, each period being in classes. Members of a class are exchangeable, so a
    pseudonym of a class of c customers is each of them with the chance 1/c.
    """
    tables = matched(Evidence(original, joined(releases), guesses))
    if not exactly:
        return {guess: _rates(match, tables.live) for guess, match in tables.match.items()}
    class_tables = [history_classes(release.public) for release in releases if isinstance(release.public, History)]
    tops = np.cumsum([0, *(table["class"].n_unique() for table in class_tables)])
    classes = pl.concat(
        table.select(pl.col("pseudonym").cast(pl.String), pl.col("class").cast(pl.Int64) + int(top))
        for table, top in zip(class_tables, tops[:-1], strict=True)
    )
    of = pl.DataFrame({"pseudonym": tables.names}).join(classes, on="pseudonym", how="left", maintain_order="left")
    chances = tables.hit_chances(of["class"].to_numpy())
    return {guess: _rates(match, tables.live) for guess, match in chances.items()}


def assess(
    original: History, release: Release, draws: Sequence[GuessRates], before: Risk | None, *, exact: bool = False
) -> Risk:
    """Return the risk of a release that holds all periods so far, ``before`` being that of those before the last.

    ``draws`` has what guesses found in each of some draws that were not released; or, ``exact``, their mean over all.
    """
    attacks: dict[str, dict[str, float]] = {}
    interval: dict[str, tuple[float, float]] = {}
    best = dict.fromkeys(MEASURES, -1.0)
    for guess in draws[0]:
        so_far = attacks.setdefault(guess.removesuffix(_ALONE), dict.fromkeys(MEASURES, 0.0))
        for name in MEASURES:
            values = [draw[guess][name] for draw in draws if guess in draw]
            mean = fmean(values)
            so_far[name] = max(so_far[name], mean)
            if mean > best[name]:
                # the interval of 95 % about a mean by Student's distribution, inside 0 and 1
                many = len(values)
                half = float(stdtrit(many - 1, 0.975)) * stdev(values) / many**0.5 if many > 1 else 0.0
                best[name], interval[name] = mean, (max(mean - half, 0.0), min(mean + half, 1.0))
    if before is not None:
        for attack in attacks.keys() & before.attacks.keys():
            attacks[attack]["emm"] = max(attacks[attack]["emm"], before.attacks[attack]["emm"])
        best["emm"] = max(best["emm"], before.emm)
    tables = matched(Evidence(original, release, {"": Guess("", release.secret.pseudonyms[:0])}))
    curve = tables.by_period().chance_curve() or [0.0]
    return Risk(
        **{name: max(value, 0.0) for name, value in best.items()},
        attacks=attacks,
        chance={"um": tables.chance_of_users(), "mm": curve[-1], "emm": max(curve)},
        redraws=0 if exact else len(draws),
        interval={} if exact or len(draws) < 2 else interval,
    )


def _rates(match: NDArray[np.bool_] | NDArray[np.float64], live: NDArray[np.bool_]) -> dict[str, float]:
    curve = matching_curve(match, live).tolist()
    return {"um": user_matching(match), "mm": curve[-1] if curve else 0.0, "emm": max(curve, default=0.0)}


def exposed_customers(original: History, release: Release, guesses: Mapping[str, Guess]) -> pl.DataFrame:
    """Return the customers whom some attack finds, the most exposed first; for the steward alone.

    ``periods_found`` counts the periods in which some attack finds the customer, ``periods`` those in which there was
    something to find, and ``attacks`` the attacks that find the customer in the last period.
    """
    tables = matched(Evidence(original, release, guesses))
    hits: dict[str, NDArray[np.bool_]] = {}
    for guess, match in tables.match.items():
        attack = guess.removesuffix(_ALONE)
        hits[attack] = (match & tables.live) | hits.get(attack, np.zeros_like(match))
    every = np.stack(list(hits.values()))
    frame = pl.DataFrame(
        {
            "customer": tables.customers,
            "periods_found": every.any(axis=0).sum(axis=1),
            "periods": tables.live.sum(axis=1),
            "attacks": every[:, :, -1].sum(axis=0),
        }
    )
    exposed = frame.filter(pl.col("periods_found") > 0).with_columns(share=pl.col("periods_found") / pl.col("periods"))
    order = ["periods_found", "share", "attacks", "customer"]
    return exposed.sort(order, descending=[True, True, True, False]).drop("share")
