"""The actual k of a release, counted without trusting its statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from noren.data.categories import as_released
from noren.data.compatibility import class_sizes, consistent_customers, history_classes
from noren.data.frames import Records, Table
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Role
from noren.engines.blocks import run_interruptibly
from noren.errors import CheckFailedError
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.kernels.judging.statistics import weighted_median
from noren.kernels.linkage.feasibility import one_to_one_counts
from noren.measures.evidence import original_history, public_history
from noren.measures.safety.table_classes import claims_of, judge_table, reject_false_claims
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score


class Classes(Measure):
    """Tell how many people may be behind a pseudonym, or a row of a table, for the one with the fewest: the real k.

    A customer may be behind a pseudonym when each of its public rows fits a row of theirs, every one another row:
    values lie in the intervals, items in the sets, suppressed cells fit everything. Rows that the release deleted are
    no obstacle. This is computed from the original and the public part alone, never from what the method notes about
    itself, so a claimed k that is not real is found out.

    An attacker also knows that different pseudonyms are different people, and so rules out customers whom no assignment
    of all pseudonyms leaves free for this one. The part ``one_to_one`` counts after that; a claimed k holds when both
    numbers reach it. Where there is no such assignment (a release that adds noise), it says the same as ``min``.

    A release whose statement says that it is not truthful fits nobody, and who fits tells nothing. What is counted then
    is how many pseudonyms share a public history: between those nothing is left to choose by, whatever the cells say.

    Rows of a table are in one class when their quasi cells are equal. The value is the smallest class; the parts tell
    how many sensitive values each class has (ℓ), how far they are from everybody's (t), and how often a prosecutor, a
    journalist and a marketer are right. A suppressed or missing cell equals other such cells; rows all of whose quasi
    cells are so are no class, and are counted apart.

    References
    ----------
    S0 §4 (the attacker of maximum knowledge), S1 (k-anonymous histories). Tables: Samarati (2001); Machanavajjhala et
    al. (2006), ℓ-diversity; Li et al. (2007), t-closeness; El Emam and Dankar (2008), three risks.

    Examples
    --------
    Bob's rows fit Ann's pseudonym too, but not the other way round: only Bob has a row at 2.

    >>> from noren.data.frames import History
    >>> from noren.data.release import Secret
    >>> from noren.data.schema import Schema
    >>> def history(customers):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": "a", "price": [1.0, 1.0, 2.0], "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> original, public = history(["ann", "bob", "bob"]), history(["7", "8", "8"])
    >>> release = Release.of_aligned(original, public, Statement("hand", {"k": 2}))
    >>> score = Classes().measure(Evidence(original, release))
    >>> score.value, score.parts["median"], score.notes["holds"]
    (1.0, 1.5, False)
    """

    name = "classes"
    summary = N_("The smallest number of people who fit a pseudonym or a row: the actual k.")
    source = "S0, S1"
    goal = "higher"
    unit = N_("people")
    side = "safety"
    part_names: ClassVar[Mapping[str, str]] = {
        "min": N_("smallest"),
        "median": N_("median"),
        "mean": N_("mean"),
        "one_to_one": N_("smallest if each pseudonym is a different person"),
        "below": N_("share below the promised k"),
        "prosecutor": N_("Prosecutor risk"),
        "journalist": N_("Journalist risk"),
        "marketer": N_("Marketer risk"),
        "l_distinct": N_("ℓ, distinct sensitive values"),
        "l_entropy": N_("ℓ, by entropy"),
        "recursive_c": N_("c, recursive diversity"),
        "t_equal": N_("t, equal distances"),
        "t_ordered": N_("t, by order"),
    }
    needs = frozenset({"original", "public"})
    accepts = frozenset({Kind.HISTORY, Kind.TABLE})

    sensitive: str | None = Field(default=None, title=N_("Sensitive column that l and t apply to (default: each)"))
    population_share: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description=N_("tables: the share of a known population in the original, for the journalist risk"),
    )

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the least number of consistent people; see the class for the parts."""
        if isinstance(evidence.release.public, Table):
            return judge_table(evidence, self.sensitive, self.population_share)
        public = public_history(evidence.release)
        if not evidence.release.statement.is_truthful:
            sizes, times = np.unique(np.array(class_sizes(public), dtype=np.int64), return_counts=True)
            customers = original_history(evidence)[Role.CUSTOMER].drop_nulls().n_unique()
            return shared(sizes, times, customers=customers, claimed=claimed_k(evidence.release.statement))
        original = as_released(original_history(evidence), evidence.release.statement)
        consistent = consistent_customers(original, public, progress)
        claimed = claimed_k(evidence.release.statement)
        counts = consistent.of_history.counts
        # how many customers each public history keeps if no two pseudonyms are one person
        one_to_one = run_interruptibly(one_to_one_counts, consistent.of_history, consistent.sharing)
        strict = counts if one_to_one is None else one_to_one
        return counted(counts, strict, consistent.sharing, customers=len(consistent.customers), claimed=claimed)


def counted(counts: Whole, strict: Whole, sharing: Whole, *, customers: int, claimed: int | None) -> Score:
    """Return the score, given how many customers may be behind each public history.

    ``counts`` fit it, ``strict`` are left if no two pseudonyms are one person, and ``sharing`` pseudonyms have it.
    """
    pseudonyms = int(sharing.sum())
    notes: dict[str, Any] = {"pseudonyms": pseudonyms}
    if pseudonyms:
        notes["fitting_nobody"] = int(sharing[counts == 0].sum())
    return _score(counts, strict, sharing, customers, claimed, notes | {"claimed": claimed})


def _score(
    counts: Whole, strict: Whole, weights: Whole, customers: int, claimed: int | None, notes: dict[str, Any]
) -> Score:
    if not weights.sum():
        # nothing is published, and anybody may be behind it
        return Score(float(customers), {}, notes | {"holds": None if claimed is None else True})
    below = 0.0 if claimed is None else weights[np.minimum(counts, strict) < claimed].sum() / weights.sum()
    parts = {
        "min": float(counts.min()),
        "median": weighted_median(counts, weights),
        "one_to_one": float(strict.min()),
        "below": float(below),
    }
    holds = None if claimed is None else bool(min(counts.min(), strict.min()) >= claimed)
    return Score(parts["min"], parts, notes | {"holds": holds})


def audit(original: Records, release: Release, *, progress: Progress = silent) -> None:
    """Stop with :class:`CheckFailedError` if a release claims a k that is not real; one that claims none passes.

    The message tells how many customers are left behind the worst pseudonym, never who.
    """
    if isinstance(original, Table):
        if isinstance(release.public, Table) and claims_of(release.statement):
            sensitive = release.statement.parameters.get("sensitive")
            reject_false_claims(judge_table(Evidence(original, release), sensitive, 1.0))
        return
    claimed = claimed_k(release.statement)
    if claimed is None:
        return
    if release.statement.is_truthful and _plainly_holds(original, release, claimed, progress):
        return
    reject_false_k(Classes().measure(Evidence(original, release), progress=progress))


def reject_false_k(score: Score) -> None:
    """Raise if a score of :class:`Classes` shows that the claimed k is false."""
    if "one_to_one" not in score.parts:
        reject_false_claims(score)
        return
    claimed = score.notes.get("claimed")
    if claimed is None or score.notes["holds"]:
        return
    worst = int(min(score.parts["min"], score.parts["one_to_one"]))
    raise CheckFailedError(
        _(
            "the release claims k={claimed}, but one pseudonym fits only {count:,} of the customers, and {share:.1%} of"
            " all fit fewer than {claimed}; do not publish it, and report the method"
        ).format(claimed=claimed, count=worst, share=score.parts["below"])
    )


def shared(sizes: Whole, times: Whole, *, customers: int, claimed: int | None) -> Score:
    """Return how many pseudonyms share a public history; 1 each where customers have several: all may be one's.

    ``times[i]`` public histories are shared by ``sizes[i]`` pseudonyms each.
    """
    weights = sizes * times
    pseudonyms = int(weights.sum())
    counts = sizes if pseudonyms <= customers else np.ones_like(sizes)
    notes = {"pseudonyms": pseudonyms, "claimed": claimed, "truthful": False}
    return _score(counts, counts, weights, customers, claimed, notes)


def _plainly_holds(original: Records, release: Release, claimed: int, progress: Progress) -> bool:
    """Tell whether a claimed k shows without counting everybody: k pseudonyms to a history, k customers who fit it.

    Where an assignment of all pseudonyms to different people exists, those with one history can trade their customers,
    so each keeps as many candidates as there are pseudonyms with that history, k or more. Where there is none, nobody
    can be ruled out by it. Either way k customers are left for each, and looking for more of them is needless.
    """
    public = public_history(release)
    classes = history_classes(public)
    if not len(classes) or np.bincount(classes["class"].to_numpy()).min() < claimed:
        return False
    known = as_released(original_history(Evidence(original, release)), release.statement)
    consistent = consistent_customers(known, public, progress, enough=claimed, classes=classes)
    return int(consistent.of_history.counts.min()) >= claimed


def claimed_k(statement: Statement) -> int | None:
    """Return the k that a release claims, if any."""
    k = statement.parameters.get("k") or statement.parameters.get("min_class")
    return k if isinstance(k, int) and not isinstance(k, bool) and k > 0 else None
