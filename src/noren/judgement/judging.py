"""Verdicts: how safe a release is under a rule. Nothing else decides this; ``docs/theory/judgement.md`` has the proofs.

**What identifies people goes first.** A published column of names or e-mail addresses breaks a release, whatever else
holds of it; so does a column of role other by which more people than the tolerance are singled out.

**Then a guarantee.** Where at least 1/tolerance people are alike in everything released, and names were drawn without a
look at the data, nobody can be named rightly with a higher chance than the tolerance, whatever is tried: *proved*. An
attack may hit more; only hits that the guarantee makes all but impossible refute it
(:func:`noren.kernels.judging.composition.class_tail`). Where somebody is alike with fewer people than 1/tolerance the
release is broken, without an attack: the classes show it.

**Then what was tried.** An attack breaks a release in two ways. As a count: it names more than ``tolerance`` of all
customers rightly; this is what happened to this release and has no error level. Or by inference: so many of its answers
are right that a release within the tolerance would show this with a chance of at most alpha. The surest n answers are
chosen with the truth at hand, so half of the chance goes to all answers and half to the choice
(:mod:`noren.kernels.judging.survival`), and all attackers share alpha.

**Tables** are looked up: a person is found among the rows of a class with the chance 1/size, and a class that has one
sensitive value tells it. Where classes are large enough, only hits that they make all but impossible count against
them; where noise protects rows and its proof is too weak, attacks decide as they do of histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from noren.data.reading import SchemaLike, as_release, open_release, original_of, read_any_release
from noren.data.schema import Kind, Role, Schema
from noren.judgement.evidence import AttackResult, Facts, Flaw, ForeignFacts, facts_of
from noren.judgement.outcome import Outcome, examine
from noren.judgement.rule import Rule, get_rule
from noren.judgement.verdict import AttackEvidence, Guarantee, Reason, Verdict, VerdictStatus
from noren.kernels.judging.composition import class_tail, once_per_person
from noren.kernels.judging.shares import share_interval
from noren.kernels.judging.survival import prefix_thresholds
from noren.kernels.judging.threshold import threshold
from noren.progress import Progress, silent
from noren.protocols import Attack

_ROUNDING = 1e-6
_line = lru_cache(maxsize=64)(prefix_thresholds)


def judge(outcome: Outcome | Facts, rule: Rule | str | None = None) -> Verdict:
    """Return how safe a release is by a rule.

    >>> from noren.judgement.evidence import AttackResult
    >>> lucky = AttackResult(attack="a", named=100, right=54, customers=54, right_at=tuple(range(1, 55)))
    >>> judge(Facts(kind="history", people=100, tried=[lucky]), "inside").status
    <VerdictStatus.BROKEN: 'broken'>
    """
    facts = outcome if isinstance(outcome, Facts) else facts_of(outcome)
    by = get_rule(rule)
    level = by.level(len(facts.tried))
    exhibits = [_exhibit(attempt, facts.people, by, level) for attempt in facts.tried]
    exhibits.sort(key=lambda e: (e.exceeds, e.customers, Fraction(e.best_right, e.needed), e.right), reverse=True)
    guarantee, k = None, facts.least  # what is guaranteed, at any tolerance
    if facts.proven_k is not None:
        guarantee = Guarantee(k=facts.proven_k, by="noise")
    elif k is not None and "k" in facts.claimed and k >= facts.claimed["k"] and facts.audited and not _unproved(facts):
        guarantee = Guarantee(k=k, by="classes")
    decide = _judge_table if facts.kind == Kind.TABLE else _judge_history
    if facts.identifying:
        status, reason = VerdictStatus.BROKEN, Reason.IDENTIFIED
    else:
        status, reason = decide(facts, by, exhibits, guarantee)
    if status == VerdictStatus.PROVED or reason == Reason.CLASSES_LARGE_ENOUGH:  # hits by chance break nothing
        exhibits = [attempt.model_copy(update={"exceeds": False}) for attempt in exhibits]
    flaws: tuple[Flaw, ...] = ()
    if facts.foreign is not None:
        status, reason, flaws = _judge_foreign(facts, facts.foreign, by, status, reason)
    status, reason = _with_inferences(facts, by, status, reason)
    if by.epsilon is not None and status.is_safe:
        if facts.privacy is None:
            status, reason = VerdictStatus.UNTRIED, Reason.EPSILON_UNKNOWN
        elif facts.privacy.at(by.delta) > by.epsilon:
            status, reason = VerdictStatus.UNTRIED, Reason.EPSILON_TOO_HIGH
    verdict = {"status": status, "reason": reason, "rule": by, "evidence": tuple(exhibits), "flaws": flaws}
    return Verdict(**verdict, guarantee=guarantee, facts=facts)


def verdict(
    original: Any,
    release: Any,
    rule: Rule | str | float | None = None,
    *,
    schema: SchemaLike | None = None,
    attacks: str | Sequence[Attack | str] | None = None,
    budget: str | float | None = None,
    progress: Progress = silent,
    **knowledge: Any,
) -> Verdict:
    """Attack a release and return how safe it is by a rule.

    Parameters
    ----------
    original
        What was protected: records, a data frame or a file.
    release
        A release, its folder, a published file, or rows in the original's order.
    rule
        A name (sensitive, public, partner, inside, pwscup2018), a tolerance such as 0.2, a TOML file or a
        :class:`Rule`; partner where left out.
    attacks
        Ready ones or names; ``"all"``, or left out: every one that fits the data and needs no parameter.
    budget
        The time for attacks, the cheapest of which run first: ``"90s"``, ``"10m"``, ``"2h"``, or 0 for none. The
        verdict's ``facts.left_out`` names those left out; by default there are none.
    knowledge
        What limits the attackers' knowledge (see :func:`noren.attack`).

    Examples
    --------
    >>> import noren
    >>> history = noren.sample(customers=20, rows=300, items=50, seed=1)
    >>> release = noren.protect(history, "generalize-by-count", k=5, seed=1)
    >>> str(noren.verdict(history, release, "partner").status)
    'proved'
    """
    by = get_rule(rule)
    release = open_release(release)
    data = original_of(original, release, schema)
    there = read_any_release(Path(release), data) if isinstance(release, str | PathLike) else as_release(release, data)
    measures = deciding_measures(data.schema)
    attacks = None if attacks == "all" else [attacks] if isinstance(attacks, str) else attacks
    how: dict[str, Any] = {"measures": measures, "budget": budget, "progress": progress} | knowledge
    return judge(examine(data, there, attacks=attacks, **how), by)


def deciding_measures(schema: Schema) -> list[str]:
    """Return the measures that a verdict on such data needs: of a table its classes, where it can have any."""
    return ["classes"] if schema.kind == Kind.TABLE and schema.with_role(Role.QUASI) else []


# --- what attacks got ------------------------------------------------------------------------------------------------


def _exhibit(tried: AttackResult, people: int, rule: Rule, level: Fraction) -> AttackEvidence:
    named, right, p = tried.named, tried.right, rule.tolerance
    if rule.answers == "all":
        best_named, best_right, needed = named, right, threshold(named, rule.bound, p, level)
    else:  # the number of answers that tells most: all of them, or some of the surest
        every = named, right, threshold(named, rule.bound, p, level / 2)
        line = _line(named, rule.bound, p, level / 2)
        # between two right answers hits stay and the line never falls: only right answers, or all, can be the best
        tries = [(0, 0, line[0]), (named, right, line[named])]
        tries += [(n, hits, line[n]) for hits, n in enumerate(tried.right_at, start=1)]
        some = max(tries, key=lambda counts: (Fraction(counts[1], counts[2]), -counts[0]))
        best_named, best_right, needed = max(every, some, key=lambda counts: Fraction(counts[1], counts[2]))
    low, high = share_interval(right, named)
    return AttackEvidence(
        attack=tried.attack,
        named=named,
        right=right,
        rate=right / named if named else 0.0,
        low=low,
        high=high,
        chance=1 / max(people, 1),
        customers=tried.customers / max(people, 1),
        best_named=best_named,
        best_right=best_right,
        needed=needed,
        beyond_chance=best_right >= needed,
        exceeds=best_right >= needed or Fraction(tried.customers, max(people, 1)) > rule.tolerance,
    )


# --- histories -------------------------------------------------------------------------------------------------------


def _unproved(facts: Facts) -> Reason | None:
    """Return why a claim of k does not count: nobody knows the method, or names follow the data."""
    if "k" not in facts.claimed:
        return None
    if not facts.registered:
        return Reason.UNKNOWN_METHOD
    return Reason.NAMES_NOT_RANDOM if facts.names_random is False else None


def _judge_history(
    facts: Facts, rule: Rule, exhibits: list[AttackEvidence], guarantee: Guarantee | None
) -> tuple[VerdictStatus, Reason]:
    claimed = facts.claimed.get("k")
    if claimed is not None and facts.smallest_class is not None and facts.smallest_class < claimed:
        return VerdictStatus.BROKEN, Reason.CLAIM_NOT_KEPT
    if guarantee is not None and any(_refutes(exhibit, int(guarantee.k), rule, len(exhibits)) for exhibit in exhibits):
        return VerdictStatus.BROKEN, Reason.CLAIM_REFUTED
    if any(share > rule.tolerance + _ROUNDING for share in facts.alone.values()):
        return VerdictStatus.BROKEN, Reason.SINGLED_OUT
    if facts.least is not None and facts.least < rule.least_k:
        return VerdictStatus.BROKEN, Reason.CLASS_TOO_SMALL
    if guarantee is not None:
        once = once_per_person(guarantee.k, facts.periods) if rule.per == "person" else 0.0
        too_likely = once > rule.tolerance + _ROUNDING
        return (VerdictStatus.BROKEN, Reason.NAMED_ONCE) if too_likely else (VerdictStatus.PROVED, Reason.GUARANTEE)
    broken = _broken_by_attacks(facts, rule, exhibits)
    if broken is not None:
        return VerdictStatus.BROKEN, broken
    if not facts.audited:
        return VerdictStatus.UNTRIED, Reason.NOT_AUDITED
    if unproved := _unproved(facts):
        return VerdictStatus.UNTRIED, unproved
    if not exhibits:
        return VerdictStatus.UNTRIED, Reason.NOT_TRIED
    return _withstood(exhibits)


def _broken_by_attacks(facts: Facts, rule: Rule, exhibits: list[AttackEvidence]) -> Reason | None:
    """Return how an attack breaks the release, as a fact or by inference; None where none does."""
    if any(Fraction(attempt.customers, max(facts.people, 1)) > rule.tolerance for attempt in facts.tried):
        return Reason.TOO_MANY_NAMED
    return Reason.BEYOND_CHANCE if any(attempt.exceeds for attempt in exhibits) else None


def _withstood(exhibits: list[AttackEvidence]) -> tuple[VerdictStatus, Reason]:
    named = any(exhibit.right for exhibit in exhibits)
    return VerdictStatus.WITHSTANDS, Reason.ATTACKS_FAILED if named else Reason.NOBODY_NAMED


def _refutes(exhibit: AttackEvidence, k: int, rule: Rule, tried: int) -> bool:
    """Tell whether an attack has more correct answers than chance explains with classes of k people."""
    return k > 1 and class_tail(exhibit.named, exhibit.right, k) < rule.level(tried)


# --- inferences ------------------------------------------------------------------------------------------------------


def _with_inferences(facts: Facts, rule: Rule, status: VerdictStatus, reason: Reason) -> tuple[VerdictStatus, Reason]:
    """Return the verdict where the rule limits inferences, too; whatever is broken without them stays so.

    Differential privacy alone limits what is inferred: where it is too weak and they only failed, nothing is proved.
    """
    if status == VerdictStatus.BROKEN:
        return status, reason
    if facts.inferred_beyond(rule):
        return VerdictStatus.BROKEN, Reason.TOO_MUCH_INFERRED
    if status == VerdictStatus.UNTRIED:
        return status, reason
    if facts.not_inferred(rule):
        return VerdictStatus.UNTRIED, Reason.NOT_INFERRED
    if facts.inferred_beyond(rule, surely=False):  # no safe word beside a number that is not
        return VerdictStatus.UNTRIED, Reason.INFERENCE_UNSURE
    if status == VerdictStatus.PROVED and facts.not_bounded(rule):
        return VerdictStatus.WITHSTANDS, Reason.NOT_INFERRED_BEYOND
    return status, reason


# --- files from elsewhere ---------------------------------------------------------------------------------------------


def _judge_foreign(
    facts: Facts, foreign: ForeignFacts, rule: Rule, status: VerdictStatus, reason: Reason
) -> tuple[VerdictStatus, Reason, tuple[Flaw, ...]]:
    """Return the verdict on a file from elsewhere: never *proved*, for nobody says how it was made.

    Its flaws come in this order: what needs least work to use first.
    """
    beyond, least, found, copies = rule.tolerance + _ROUNDING, foreign.least, foreign.candidates, foreign.copies
    history = facts.kind == Kind.HISTORY
    small = least is not None and least < rule.least_k
    own = tuple(name for name, share in foreign.alone.items() if share > beyond)
    few = found is not None and 2 * found.fitted > found.tested and found.rate > beyond
    undone = {undone.what for undone in foreign.undone if undone.named > beyond * undone.of}
    copied = copies is not None and copies.beyond and copies.copied * (1 - beyond) > copies.expected
    near = copies is not None and copies.near
    looked_at: list[tuple[Reason, object, tuple[str, ...]]] = [
        (Reason.IDENTIFIED, facts.identifying, facts.identifying),
        (Reason.HASHED_IDENTIFIERS, foreign.hashed, foreign.hashed),
        (Reason.ORDER_LEAK, foreign.order, ()),
        *((Reason.IDS_IN_ORDER, leak, leak.columns) for leak in foreign.ids),
        (Reason.CLASS_TOO_SMALL, small, foreign.known),
        (Reason.BLANKS_COUNTED, small and (foreign.least_wild or 0) > (least or 0), foreign.known),
        (Reason.SINGLED_OUT, own, own),
        (Reason.SENSITIVE_DISCLOSED, foreign.disclosed, foreign.disclosed),
        (Reason.DATES_SHIFTED, "dates" in undone, ()),
        (Reason.ITEMS_RECODED, "items" in undone, ()),
        (Reason.TOO_FEW_CANDIDATES, history and few, ()),
        *((Reason.VALUES_CHANGED, there.named, there.columns) for there in foreign.undone if "values" in undone),
        (Reason.NEAR_COPIES if near else Reason.COPIED_ROWS, copied, ()),
        (Reason.TOO_MUCH_INFERRED, facts.inferred_beyond(rule), ()),
    ]
    flaws = [Flaw(code=code, columns=columns) for code, there, columns in looked_at if there]
    if status == VerdictStatus.BROKEN and reason not in {flaw.code for flaw in flaws}:
        flaws.append(Flaw(code=reason))
    if flaws:
        return VerdictStatus.BROKEN, flaws[0].code, tuple(flaws)
    if least is not None:
        return VerdictStatus.WITHSTANDS, Reason.CLASSES_LARGE_ENOUGH, ()
    if foreign.people and not history:
        return VerdictStatus.WITHSTANDS, Reason.NOTHING_SAID, ()
    if not history and copies is not None and facts.inferred:
        return VerdictStatus.WITHSTANDS, Reason.NO_FLAW_FOUND, ()
    if history and foreign.truth != "none":
        return status, reason, ()
    return VerdictStatus.UNTRIED, Reason.TRUTH_UNKNOWN, ()


# --- tables ----------------------------------------------------------------------------------------------------------


def _judge_table(
    facts: Facts, rule: Rule, exhibits: list[AttackEvidence], guarantee: Guarantee | None
) -> tuple[VerdictStatus, Reason]:
    claimed, table = facts.claimed.get("k"), facts.table
    broken = _broken_by_attacks(facts, rule, exhibits)
    if facts.proven_k is not None:
        if claimed is not None and facts.proven_k < claimed * (1 - _ROUNDING):
            return VerdictStatus.BROKEN, Reason.CLAIM_NOT_KEPT
        if facts.proven_k >= (1 - _ROUNDING) / rule.tolerance:
            return VerdictStatus.PROVED, Reason.GUARANTEE
        if broken is not None:
            return VerdictStatus.BROKEN, broken
        return _withstood(exhibits) if exhibits else (VerdictStatus.UNTRIED, Reason.PROOF_TOO_WEAK)
    least = facts.least
    if table is not None and table.holds is False:
        return VerdictStatus.BROKEN, Reason.CLAIM_NOT_KEPT
    if table is not None and any(item.certain != 0 for item in table.disclosures):
        return VerdictStatus.BROKEN, Reason.SENSITIVE_DISCLOSED
    if least is not None and least < rule.least_k:
        return VerdictStatus.BROKEN, Reason.CLASS_TOO_SMALL
    if facts.known_disclosed:
        return VerdictStatus.BROKEN, Reason.SENSITIVE_DISCLOSED
    if table is None:
        return (VerdictStatus.UNTRIED, Reason.NOT_COUNTED) if broken is None else (VerdictStatus.BROKEN, broken)
    if least is None:
        proved = claimed is not None and facts.audited
        return VerdictStatus.PROVED if proved else VerdictStatus.WITHSTANDS, Reason.NOTHING_SAID
    if any(_refutes(item, least, rule, len(exhibits)) for item in exhibits):
        return VerdictStatus.BROKEN, Reason.CLAIM_REFUTED
    if guarantee is not None:
        return VerdictStatus.PROVED, Reason.GUARANTEE
    if facts.audited:
        return VerdictStatus.WITHSTANDS, Reason.CLASSES_LARGE_ENOUGH
    return VerdictStatus.UNTRIED, Reason.NOT_AUDITED
