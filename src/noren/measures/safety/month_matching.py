"""MM: the share of pseudonyms, customer by customer and month by month, that are found (S3)."""

from __future__ import annotations

from noren.i18n import N_
from noren.kernels.judging.composition import curve_of
from noren.measures.safety.matching import MatchingMeasure, matched
from noren.progress import Progress, silent
from noren.protocols import Evidence, Score


class MonthMatching(MatchingMeasure):
    """Tell which share of the pseudonyms, one per customer and period, an attacker finds; the best attack counts.

    A cell counts where the customer has a pseudonym in the period and is given it. Naming somebody who has none costs
    as much as a hit gains, so MM = max((match - del)/(d·n - del), 0), d periods, n customers, del the cells without a
    pseudonym, match the cells that agree, empty with empty. Anyone who uses a part of the months only is exposed at
    about this rate, which UM does not tell.

    References
    ----------
    S3, equation (2); the first rule of PWS Cup 2017.

    Examples
    --------
    Three of four pseudonyms are found.

    >>> from noren.measures.safety.matching import two_months
    >>> MonthMatching().measure(two_months()).value
    0.75
    """

    name = "mm"
    summary = N_("The share of pseudonyms, one per customer and period, that the best attack finds.")
    unit = N_("share of pseudonyms found, all periods together")

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the largest rate of all guesses; the parts are each attack's, the notes those of single periods."""
        by_period = matched(evidence).by_period()
        curves = {name: curve_of(gain, by_period.live) for name, gain in by_period.gain.items()}
        parts = {name: float(curve[-1]) if len(curve) else 0.0 for name, curve in curves.items()}
        best = max(parts, key=lambda attack: parts[attack])
        single = {
            name: [float(curve_of(gain[[i]], by_period.live[[i]])[0]) for i in range(len(by_period.periods))]
            for name, gain in by_period.gain.items()
        }
        notes = {
            "best": best,
            "customers": by_period.customers,
            "periods": list(by_period.periods),
            "pseudonyms": int(by_period.live.sum()),
            "by_period": single,
            "chance": (by_period.chance_curve() or [0.0])[-1],
        }
        return Score(parts[best], parts, notes)
