"""UM: the share of customers whose pseudonyms are found in every period (S3)."""

from __future__ import annotations

from typing import Any

from noren.i18n import N_
from noren.kernels.judging.composition import user_matching
from noren.measures.safety.matching import UNLISTED, MatchingMeasure, matched
from noren.progress import Progress, silent
from noren.protocols import Evidence, Score


class UserMatching(MatchingMeasure):
    """Tell which share of the customers an attacker follows through all periods; the best attack counts.

    A customer counts who is given her pseudonym in every period and none where she has none: one slip in twelve months
    and she does not. A customer without any released row counts where nobody takes her for somebody. So UM is low as
    soon as one month is well protected, however bare the others are; MM and EMM see those.

    A guess file that leaves customers out is worth 0, as the judges of 2017 refuse it; the note ``refused`` tells how
    many are missing. Customers whom an attack does not name, it takes for having no pseudonym.

    References
    ----------
    S3, equation (3); the final rule of PWS Cup 2017, whose values it gives.

    Examples
    --------
    Ann is found in both months, Bob in one of two.

    >>> from noren.measures.safety.matching import two_months
    >>> UserMatching().measure(two_months()).value
    0.5
    """

    name = "um"
    summary = N_("The share of customers whose pseudonyms the best attack finds in every period.")
    unit = N_("share of customers found in every period")

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the largest share of all guesses; the parts are each attack's."""
        tables = matched(evidence)
        refused = {name: len(g.notes[UNLISTED]) for name, g in evidence.guesses.items() if g.notes.get(UNLISTED)}
        parts = {name: 0.0 if name in refused else user_matching(match) for name, match in tables.match.items()}
        best = max(parts, key=lambda attack: parts[attack])
        notes: dict[str, Any] = {"best": best, "customers": len(tables.customers), "periods": len(tables.periods)}
        notes |= {"chance": tables.chance_of_users()} | ({"refused": refused} if refused else {})
        return Score(parts[best], parts, notes)
