"""The share of customers an attacker names rightly."""

from __future__ import annotations

from collections.abc import Mapping

from noren.data.frames import Table
from noren.data.schema import Kind
from noren.i18n import N_
from noren.measures.evidence import guesses_of, original_history, secret_of
from noren.measures.safety.hits import hits
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score


class ReidRate(Measure):
    """Tell which share of the original's customers an attacker names rightly; the best attack counts.

    A customer counts once, however many pseudonyms of hers are found, and customers whose rows were all deleted stay in
    the number the share is taken of; of a table its rows are the people. Naming people blindly, one drawn at random for
    each pseudonym, finds one customer in the mean: compare with the chance 1/n that is given beside the value.

    References
    ----------
    S2 (re-identification rate of PWS Cup 2016).

    Examples
    --------
    Two of four customers found is a rate of 0.5; chance alone gives 0.25.

    >>> import polars as pl
    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> from noren.methods.pseudonymize import Pseudonymize
    >>> from noren.protocols import Guess
    >>> rows = {"customer": ["a", "b", "c", "d"], "date": "2010/12/1", "item": "x", "price": 1.0, "quantity": 1}
    >>> original = History.of(rows, Schema.preset("pwscup2018"))
    >>> release = Pseudonymize().protect(original, seed=1)
    >>> guess = Guess("hand", release.secret.pseudonyms[:2])
    >>> score = ReidRate().measure(Evidence(original, release, {"hand": guess}))
    >>> score.value, score.notes["chance"]
    (0.5, 0.25)
    """

    name = "reid-rate"
    summary = N_("The share of customers that the best attack re-identifies.")
    source = "S2"
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("share of customers")
    side = "safety"
    accepts = frozenset({Kind.HISTORY, Kind.TABLE})
    needs = frozenset({"original", "secret", "guess"})

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the largest rate of all guesses; the parts are each attack's rate."""
        guesses, secret = guesses_of(evidence), secret_of(evidence)
        table = isinstance(evidence.original, Table)
        people = max(len(evidence.original if table else original_history(evidence).customers), 1)
        parts: dict[str, float] = {}
        for done, (attack, guess) in enumerate(guesses.items()):
            progress(done / len(guesses), attack)
            parts[attack] = hits(guess, secret).customers / people
        return best_rate(parts, people)


def best_rate(parts: Mapping[str, float], people: int) -> Score:
    """Return the score, given each attack's rate."""
    best = max(parts, key=lambda attack: parts[attack])
    return Score(parts[best], parts, {"best": best, "customers": people, "chance": 1 / people})
