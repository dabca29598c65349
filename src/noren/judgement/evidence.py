"""The facts about a release before it is judged; no rule affects them.

They are the one form in which cached work, results of the studio and reports keep what attacks and classes told, so
that a verdict can be given again, by another rule, without a second attack.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import exp
from typing import Final, Literal

from noren.attacks import attacks
from noren.data.release import Secret
from noren.data.schema import Kind
from noren.data.statement import Statement
from noren.execution.engine import ReleaseCounts
from noren.inference.findings import JUDGED_FPR, THREATS, Frozen, Inferred, Threat
from noren.judgement.outcome import Outcome
from noren.judgement.page_text import printable
from noren.judgement.release_facts import ReleaseFacts, claimed_by, release_facts
from noren.judgement.rule import Rule
from noren.kernels.reconstruction.privacy import true_rate_ceiling
from noren.measures.safety.hits import hits, hits_by_rank
from noren.methods import methods
from noren.protocols import Guess, Score

_LEAST_OPEN: Final = 0.01
"""The least share of people outside the data about whom guesses are wrong."""


class AttackResult(Frozen):
    """What one attack got.

    Attributes
    ----------
    named, right
        How many pseudonyms it names, and how many rightly.
    customers
        How many different customers it names rightly at least once.
    right_at
        The places of its right answers, 1 being the surest.
    """

    attack: str
    named: int
    right: int
    customers: int
    right_at: tuple[int, ...] = ()

    @property
    def hits(self) -> list[int]:
        """How many of its first 0, 1, 2, … answers are right.

        >>> AttackResult(attack="a", named=4, right=2, customers=2, right_at=(1, 3)).hits
        [0, 1, 1, 2, 2]
        """
        return [bisect_right(self.right_at, place) for place in range(self.named + 1)]


class SensitiveDisclosure(Frozen):
    """What the classes of a table tell of one sensitive column.

    Attributes
    ----------
    certain
        How many people's value is told, for everybody in their class has the same; None where nobody counted them.
    likely
        How many people's value is told or nearly so.
    least
        The fewest different values in a class.
    """

    column: str
    certain: int | None
    likely: int | None
    least: int


class TableFacts(Frozen):
    """What the classes of a released table come to.

    Attributes
    ----------
    least
        The size of the smallest class; None where no row says anything by which a person could be looked up.
    holds
        Whether the classes keep what the method claims; None where it claims nothing.
    """

    rows: int
    rows_in_classes: int
    classes: int | None
    least: int | None
    below: float | None
    prosecutor: float
    journalist: float | None
    marketer: float | None
    holds: bool | None
    disclosures: tuple[SensitiveDisclosure, ...] = ()


class OrderLeak(Frozen):
    """An order that follows the original's, by standard ``errors``: of rows, or of numbers in a column."""

    columns: tuple[str, ...] = ()
    errors: float


class CandidateCounts(Frozen):
    """Of how many rows or pseudonyms it was counted who fits, and how many fit somebody, or a single person.

    ``rate`` is how often an attacker who guesses among those who fit is right, with its interval of 95 %.
    """

    tested: int
    fitted: int
    single: int
    rate: float
    low: float
    high: float


class Undone(Frozen):
    """A change that was undone, or of columns that need not be known: so many pseudonyms match one customer."""

    what: Literal["dates", "items", "values"]
    columns: tuple[str, ...] = ()
    constant: bool = False
    named: int
    of: int


class CopyCounts(Frozen):
    """Released rows that equal the row of one person, or are ``near`` it; how many are expected of unseen rows."""

    near: bool = False
    rows: int
    copied: int
    expected: float
    beyond: bool
    by: Literal["control", "original"]


class ForeignFacts(Frozen):
    """What was found of a file from elsewhere, of which nobody says how it was made.

    Attributes
    ----------
    columns, by_values
        The original's column of each column of the file, None where it has none; and those matched by their cells.
    truth
        Whether the file says whose row each is: by a column, by the order of rows, or not.
    people
        Whether each row is about a person of the original, not drawn by a synthesiser.
    known, least, least_wild
        The columns that an attacker is taken to know, and the smallest class in them: as blanks stand, and as if a
        blank were every value.
    alone
        By columns the share of rows, or of pseudonyms, with a value that no other has.
    tried, not_tried
        The checks that were made; those that were not, each with what it concerns.
    """

    columns: Mapping[str, str | None] = {}
    by_values: tuple[str, ...] = ()
    truth: Literal["column", "rows", "none"] = "none"
    people: bool = True
    known: tuple[str, ...] = ()
    least: int | None = None
    least_wild: int | None = None
    alone: Mapping[str, float] = {}
    hashed: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()
    order: OrderLeak | None = None
    ids: tuple[OrderLeak, ...] = ()
    candidates: CandidateCounts | None = None
    undone: tuple[Undone, ...] = ()
    copies: CopyCounts | None = None
    again: int | None = None
    tried: tuple[str, ...] = ()
    not_tried: tuple[tuple[str, str], ...] = ()


class Facts(ReleaseFacts):
    """All that a verdict is made of: what the release tells by itself, and the following.

    Attributes
    ----------
    people
        How many people the original is about.
    claimed
        What the last step of the method claims: k, l, t or rho.
    audited
        False where the audit of the claim broke down, so that nobody checked it.
    perturbed
        Whether the method adds noise to values, so that no cell is sure.
    periods, once
        Of how many periods it is, each under pseudonyms of its own; and, of several in classes, the share of customers
        whom the best attacker names rightly in one of them at least, in the mean.
    table
        What the classes of a table come to; None where nobody counted them.
    tried, failed
        What attacks got; and the attacks, or the count of classes, that broke down, of which nothing is known.
    left_out
        The attacks for which there was no time.
    inferred
        What was inferred of people in the data and of people who are not, where there was a control group.
    foreign
        Of a file from elsewhere, what was found beside that.
    """

    kind: Kind
    people: int
    claimed: Mapping[str, float] = {}
    audited: bool = True
    perturbed: bool = False
    periods: int = 1
    once: float | None = None
    table: TableFacts | None = None
    tried: tuple[AttackResult, ...] = ()
    failed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    inferred: tuple[Inferred, ...] = ()
    foreign: ForeignFacts | None = None

    @property
    def least(self) -> int | None:
        """The fewest people who are alike in all that an attacker is taken to know; None where nobody counted."""
        counted = [self.smallest_class, None if self.table is None else self.table.least, self.known_least]
        counted += [] if self.foreign is None else [self.foreign.least]
        return min((size for size in counted if size is not None), default=None)

    def inferred_beyond(self, rule: Rule, *, surely: bool = True) -> list[Inferred]:
        """Return the inferences that tell more than the rule allows, the worst first: surely, or as far as it seems.

        What only seems so does not count against a proof.
        """
        error = float(rule.level(len(self.tried) + len(self.inferred)))
        counted = THREATS if surely else self.not_bounded(rule)
        beyond = [
            result
            for result in self.inferred
            if result.threat in counted
            and (limit := rule.limit(result.threat))
            and (result.surely(error) if surely else result.excess) > limit
        ]
        return sorted(beyond, key=lambda result: -result.excess)

    def not_inferred(self, rule: Rule) -> list[Threat]:
        """Return the threats that the rule limits and nobody tried, except those that a proof keeps within it."""
        tried = {inference.threat for inference in self.inferred}
        return [threat for threat in self.not_bounded(rule) if threat not in tried]

    def not_bounded(self, rule: Rule) -> list[Threat]:
        """Return the threats that the rule limits and differential privacy does not keep within its limits."""
        return [
            threat
            for threat in THREATS
            if (limit := rule.limit(threat)) is not None and self.ceiling(threat) > float(limit)
        ]

    def ceiling(self, threat: Threat) -> float:
        """Return what the excess of an inference (:attr:`Inferred.excess`) is at most, in the mean.

        Of attributes δ is divided by the share that controls leave open, which is taken to be at least a hundredth.
        """
        if self.privacy is None:
            return 1.0
        epsilon, delta = self.privacy.epsilon, self.privacy.delta
        if threat == "membership":
            return true_rate_ceiling(epsilon, delta, JUDGED_FPR) - JUDGED_FPR
        return 1 - exp(-epsilon) * (1 - delta / _LEAST_OPEN)


def facts_of(outcome: Outcome, release: ReleaseFacts | None = None) -> Facts:
    """Return what was found of a release; what attacks got is known where its secret part is at hand.

    ``release`` is what the release tells by itself, where that was counted before.
    """
    counts = ReleaseCounts(outcome.release, outcome.original)
    people = counts.people() if outcome.people is None else outcome.people
    results = outcome.guesses, outcome.scores, outcome.failed
    facts = facts_counted(counts, *results, people=people, inferred=outcome.inferred, release=release)
    return facts.model_copy(update={"left_out": outcome.left_out})


def facts_counted(
    counts: ReleaseCounts,
    guesses: Mapping[str, Guess],
    scores: Mapping[str, Score],
    failed: Iterable[str] = (),
    *,
    people: int | None = None,
    inferred: tuple[Inferred, ...] = (),
    release: ReleaseFacts | None = None,
) -> Facts:
    """Return what was found of a release that lies wherever an engine counts."""
    results = (attack_result(name, guess, counts.secret) for name, guess in sorted(guesses.items()))
    tried, people = tuple(results) if counts.has_secret else (), counts.people() if people is None else people
    broken = tuple(sorted(name for name in failed if name in attacks or name == "classes"))
    release = release_facts(counts) if release is None else release
    about = counts.schema.kind, people, counts.statement, scores, tried, release
    return facts_from(*about, failed=broken, inferred=inferred)


def facts_from(
    kind: Kind,
    people: int,
    statement: Statement,
    scores: Mapping[str, Score],
    tried: tuple[AttackResult, ...],
    release: ReleaseFacts,
    *,
    failed: tuple[str, ...] = (),
    inferred: tuple[Inferred, ...] = (),
) -> Facts:
    """Return what was found of a release whose parts were looked at one by one, perhaps long ago."""
    claimed = claimed_by(statement)
    return Facts(
        **release.model_dump(include={*ReleaseFacts.model_fields}),
        kind=kind,
        people=people,
        claimed=claimed,
        audited="audit" not in statement.notes,
        perturbed=statement.method in methods and methods[statement.method].perturbs,
        table=None if kind != Kind.TABLE else table_facts(scores.get("classes"), claimed.get("k")),
        tried=tried,
        failed=failed,
        inferred=inferred,
    )


def attack_result(name: str, guess: Guess, secret: Secret) -> AttackResult:
    """Return the result of an attack.

    >>> import polars as pl
    >>> pairs = pl.DataFrame({"pseudonym": ["7", "8", "9"], "customer": ["ann", "bob", "eve"]})
    >>> secret = Secret(pairs.with_columns(customer=pl.Series(["ann", "eve", "eve"])), pl.Series([0]), 1)
    >>> attack_result("hand", Guess("hand", pairs), secret)
    AttackResult(attack='hand', named=3, right=2, customers=2, right_at=(1, 3))
    """
    ranked = hits_by_rank(guess, secret)
    places = tuple(at for at, count in enumerate(ranked, start=1) if count > (ranked[at - 2] if at > 1 else 0))
    customers = hits(guess, secret).customers
    return AttackResult(attack=name, named=len(ranked), right=len(places), customers=customers, right_at=places)


def table_facts(score: Score | None, claimed_k: float | None) -> TableFacts | None:
    """Return what the measure ``classes`` tells of a table."""
    if score is None:
        return None
    notes, parts = score.notes, score.parts
    rows, silent = int(notes.get("rows", 0)), int(notes.get("unlinked_rows", 0))
    holds = notes.get("holds")
    if holds is None and claimed_k is not None:  # of a chain the measure knows no claim, but the last step makes one
        holds = not parts or score.value >= claimed_k
    disclosures = [
        SensitiveDisclosure(
            column=printable(name),
            certain=values.get("disclosed_rows", None if values["l_distinct"] < 2 else 0),
            likely=values.get("likely_rows"),
            least=values["l_distinct"],
        )
        for name, values in (notes.get("sensitive") or {}).items()
    ]
    return TableFacts(
        rows=rows,
        rows_in_classes=rows - silent,
        classes=notes.get("classes"),
        least=int(score.value) if parts else None,
        below=parts.get("below", 0.0),
        prosecutor=parts.get("prosecutor", 0.0),
        journalist=parts.get("journalist", 0.0),
        marketer=parts.get("marketer", 0.0),
        holds=holds,
        disclosures=tuple(sorted(disclosures, key=lambda d: -(d.certain or 0))),
    )


# --- what a verdict may say, and what it shows ------------------------------------------------------------------------


class VerdictStatus(StrEnum):
    """The four verdicts on a release."""

    PROVED = "proved"
    """A guarantee within the tolerance holds, whatever an attacker does."""
    WITHSTANDS = "withstands"
    """Nothing is proved within the tolerance, but no attack that was tried exceeds it."""
    BROKEN = "broken"
    "Somebody is re-identified, or something disclosed, beyond the tolerance."
    UNTRIED = "untried"
    """Nothing was tried, or nothing that decides."""

    @property
    def is_safe(self) -> bool:
        """Whether a release meets the rule."""
        return self in (VerdictStatus.PROVED, VerdictStatus.WITHSTANDS)

    @property
    def order(self) -> int:
        """The words from worst to best; of several runs the worst counts."""
        return (VerdictStatus.BROKEN, VerdictStatus.UNTRIED, VerdictStatus.WITHSTANDS, VerdictStatus.PROVED).index(self)


class Reason(StrEnum):
    """Why a verdict is what it is, in a word that programs can read."""

    GUARANTEE = "guarantee"
    NOTHING_SAID = "nothing-said"
    ATTACKS_FAILED = "attacks-failed"
    NOBODY_NAMED = "nobody-named"
    CLASSES_LARGE_ENOUGH = "classes-large-enough"
    TOO_MANY_NAMED = "too-many-named"
    BEYOND_CHANCE = "beyond-chance"
    CLAIM_REFUTED = "claim-refuted"
    CLAIM_NOT_KEPT = "claim-not-kept"
    CLASS_TOO_SMALL = "class-too-small"
    SENSITIVE_DISCLOSED = "sensitive-disclosed"
    NOT_TRIED = "not-tried"
    NOT_COUNTED = "not-counted"
    NOT_AUDITED = "not-audited"
    PROOF_TOO_WEAK = "proof-too-weak"
    EPSILON_UNKNOWN = "epsilon-unknown"
    EPSILON_TOO_HIGH = "epsilon-too-high"
    TOO_MUCH_INFERRED = "too-much-inferred"
    NOT_INFERRED = "not-inferred"
    INFERENCE_UNSURE = "inference-unsure"
    NOT_INFERRED_BEYOND = "not-inferred-beyond"
    IDENTIFIED = "identified"
    SINGLED_OUT = "singled-out"
    NAMED_ONCE = "named-once"
    UNKNOWN_METHOD = "unknown-method"
    NAMES_NOT_RANDOM = "names-not-random"
    HASHED_IDENTIFIERS = "hashed-identifiers"
    ORDER_LEAK = "order-leak"
    IDS_IN_ORDER = "ids-in-order"
    BLANKS_COUNTED = "blanks-counted"
    TOO_FEW_CANDIDATES = "too-few-candidates"
    DATES_SHIFTED = "dates-shifted"
    ITEMS_RECODED = "items-recoded"
    VALUES_CHANGED = "values-changed"
    COPIED_ROWS = "copied-rows"
    NEAR_COPIES = "near-copies"
    TRUTH_UNKNOWN = "truth-unknown"
    NO_FLAW_FOUND = "no-flaw-found"


class Flaw(Frozen):
    """What is wrong with a file from elsewhere, by the word that programs read; and the columns it is in."""

    code: Reason
    columns: tuple[str, ...] = ()


class Guarantee(Frozen):
    """What holds whatever an attacker does: nobody is re-identified with a probability above 1/k.

    Attributes
    ----------
    k
        The fewest people among whom nothing tells one from another, counted; or the k that follows from the noise.
    by
        ``classes``: released histories or rows that are alike, counted. ``noise``: the proof of retention.
    """

    k: float
    by: Literal["classes", "noise"]

    @property
    def bound(self) -> float:
        "The highest probability of re-identifying a person."
        return 1 / max(self.k, 1.0)


class AttackEvidence(Frozen):
    """What one attack got, and what that means by the rule.

    Attributes
    ----------
    named, right, rate
        How many pseudonyms it names, how many rightly, and the share of them that is right.
    low, high
        The interval of 95 % about the rate (Clopper and Pearson), as if answers were independent of each other.
    chance
        The rate of somebody who draws a customer at random for each name.
    customers
        The share of all customers that is named rightly at least once.
    best_named, best_right, needed
        The number of surest answers that tells most against the release; and how many right ones among so many refute
        by the rule that the tolerance is kept.
    beyond_chance
        Whether they are reached.
    exceeds
        Whether this attack breaks the release.
    """

    attack: str
    named: int
    right: int
    rate: float
    low: float
    high: float
    chance: float
    customers: float
    best_named: int
    best_right: int
    needed: int
    beyond_chance: bool
    exceeds: bool
