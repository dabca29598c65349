"""EMM, extended month matching: MM at the worst moment of a series of releases (S3)."""

from __future__ import annotations

from typing import Any

from noren.i18n import N_
from noren.kernels.judging.composition import curve_of, windows_of
from noren.measures.safety.matching import MatchingMeasure, matched
from noren.progress import Progress, silent
from noren.protocols import Evidence, Score


class ExtendedMonthMatching(MatchingMeasure):
    """Tell how much an attacker finds at the worst moment of a series of releases; the best attack counts.

    A shop that hands out a month at a time is not judged once at the end but after every month: MM^(l) is MM over the
    first l periods, and EMM the largest of them. EMM is never below MM, which is MM^(d). S3 does not say whose number
    n^(l) is; here it is that of all customers, at every l. Those who did not buy yet add as much to l·n as to del, so
    counting only those who did would divide by the same number.

    The notes hold the curve MM^(1), …, MM^(d) of every attack, the worst run of consecutive releases of every length
    (``windows``: a recipient may throw the first months away, or use two months only) and the worst of all.

    References
    ----------
    S3, equations (4) and (5).

    Examples
    --------
    Both pseudonyms of December are found and one of January's: 2/2 after the first release, 3/4 after the second.

    >>> from noren.measures.safety.matching import two_months
    >>> score = ExtendedMonthMatching().measure(two_months())
    >>> score.value, score.notes["at"], score.notes["curve"]["hand"]
    (1.0, '2010/12', [1.0, 0.75])
    """

    name = "emm"
    summary = N_("The share of pseudonyms that the best attack finds at the worst moment of the series.")
    unit = N_("share of pseudonyms found, at the worst moment")

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the largest rate of all guesses and moments; the parts are each attack's."""
        by_period = matched(evidence).by_period()
        periods = by_period.periods
        curves = {name: curve_of(gain, by_period.live).tolist() for name, gain in by_period.gain.items()}
        parts = {name: max(curve, default=0.0) for name, curve in curves.items()}
        best = max(parts, key=lambda attack: parts[attack])
        windows: dict[str, list[dict[str, Any]]] = {
            name: [
                {"from": periods[run.first], "to": periods[run.last], "value": run.value}
                for run in windows_of(gain, by_period.live)
            ]
            for name, gain in by_period.gain.items()
        }
        notes = {
            "best": best,
            "at": periods[curves[best].index(parts[best])] if periods else None,
            "customers": by_period.customers,
            "periods": list(periods),
            "curve": curves,
            "worst_window": {  # of equals the longest
                name: max(reversed(runs), key=lambda run: float(run["value"]), default=None)
                for name, runs in windows.items()
            },
            "windows": windows,
            "chance": max(by_period.chance_curve(), default=0.0),
        }
        return Score(parts[best], parts, notes)
