"""Verdicts as sentences in the reader's language, for pages, reports and commands.

The texts are in ``sentences.toml``; what is chosen, and the numbers in it, are decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING

from noren.attacks import attacks
from noren.data.schema import Kind
from noren.errors import listing
from noren.i18n import _
from noren.inference.findings import JUDGED_FPR, Inferred
from noren.judgement.evidence import AttackEvidence, Facts, Flaw, Reason, TableFacts, VerdictStatus
from noren.judgement.numbers import count, number, percent
from noren.judgement.rule import RECIPIENTS, Rule
from noren.kernels.judging.composition import class_tail, k_per_person, once_per_person, periods_per_person
from noren.measures.safety.table_classes import LIKELY
from noren.protocols import Recoding
from noren.tables import Texts, table_of

if TYPE_CHECKING:
    from noren.inference.singling_out import PopulationRisk
    from noren.inference.unicity import UnicityStep
    from noren.judgement.verdict import Verdict

_MARKS = dict(zip(VerdictStatus, "◆●▲■", strict=True))
"""From proved to untried."""
say = Texts(__name__)
_UNDONE = {Reason.DATES_SHIFTED: "dates", Reason.ITEMS_RECODED: "items", Reason.VALUES_CHANGED: "values"}
FLAWS = tuple(table_of(__name__)["flaw"])
"""The flaws of files from elsewhere that have a sentence; others have that of their reason."""


def verdict_label(status: VerdictStatus) -> str:
    """Return the name of a verdict with its mark, so that colour is not the only carrier."""
    return f"{_MARKS[status]} {verdict_name(status)}"


def verdict_name(status: VerdictStatus) -> str:
    """Return the name of a verdict without its mark."""
    return say(f"status.{status}")


def verdict_meaning(status: VerdictStatus) -> str:
    """Return what a verdict means in general."""
    return say(f"meaning.{status}")


def allowed(rule: Rule) -> str:
    """Format the tolerance of a rule: 20.0%, 9.1%, 33.3%."""
    return percent(float(rule.tolerance))


def rule_sentence(rule: Rule) -> str:
    """Describe a rule in a sentence."""
    sentence = say(
        "rule.rule",
        name=rule.name or allowed(rule),
        whom=_(RECIPIENTS[rule.name]) if rule.name in RECIPIENTS else say("rule.own"),
        allowed=allowed(rule),
        k=rule.least_k,
        test=say(f"rule.{rule.answers}", bound=rule.bound),
        alpha=percent(float(rule.alpha)),
        attackers=count(rule.attackers),
    )
    if rule.per == "person":
        sentence = joined(sentence, say("rule.per_person"))
    if rule.epsilon is not None:
        sentence = joined(sentence, say("rule.epsilon", epsilon=f"{rule.epsilon:g}", delta=f"{rule.delta:g}"))
    if rule.membership is None and rule.attributes is None:
        return sentence
    limits = {"membership": rule.membership, "attributes": rule.attributes}
    texts = {name: percent(float(1 if limit is None else limit)) for name, limit in limits.items()}
    return say("rule.inferences", sentence=sentence, **texts)


def joined(first: str, *others: str) -> str:
    """Join sentences."""
    for more in others:
        first = say("joined", sentence=first, more=more)
    return first


# --- one release -----------------------------------------------------------------------------------------------------


def public_sentence(verdict: Verdict) -> str:
    """Return the verdict for a data card: what is proved, or what the verdict means; never what attacks hit."""
    counted = (Reason.GUARANTEE, Reason.CLASSES_LARGE_ENOUGH)
    first = headline_sentence(verdict) if verdict.reason in counted else verdict_meaning(verdict.status)
    return joined(first, *remarks(verdict, public=True))


def headline_sentence(verdict: Verdict) -> str:
    """Return the first sentence of a page about a release: its verdict, without remarks.

    The text is named after the reason and, where tables and histories differ, the kind of data.
    """
    facts, rule, reason, guarantee = verdict.facts, verdict.rule, verdict.reason, verdict.guarantee
    if verdict.flaws and verdict.flaws[0].code in FLAWS:
        return say("verdict.broken", sentence=flaw_sentence(verdict.flaws[0], verdict))
    table = facts.table
    name, kind, least = f"verdict.{reason}", "table" if facts.kind == Kind.TABLE else "history", facts.least or 1
    values = {
        "allowed": allowed(rule),
        "assuming": say("assuming", columns=listing(list(facts.unknown), most=12)) if facts.unknown else "",
        "bound": percent(0.0 if guarantee is None else guarantee.bound),
        "chance": percent(1 / least),
        "claimed": number(facts.claimed.get("k", 0)),
        "k": number(0 if guarantee is None else guarantee.k),
        "least": count(least),
        "others": count(least - 1),
        "people": count(facts.people),
        "periods": count(facts.periods),
        "rows": _rows(least),
        "tried": count(len(verdict.evidence)),
        "weak": say("weak.nothing") if guarantee is None else say("weak.bound", bound=percent(guarantee.bound)),
    }
    match reason:
        case Reason.GUARANTEE:
            if guarantee is None:
                raise ValueError(reason)
            several = kind == "history" and facts.periods > 1
            values |= {"others": number(guarantee.k - 1), "once": percent(facts.once or 0.0)}
            return say(f"{name}.{'noise' if guarantee.by == 'noise' else 'periods' if several else kind}", **values)
        case Reason.ATTACKS_FAILED:
            tried = None if kind == "table" else len(verdict.evidence)
            return say(f"{name}.{kind}", tried, **values | _numbers(verdict.evidence[0]))
        case Reason.NOBODY_NAMED:
            return say(name, len(verdict.evidence), **values)
        case Reason.CLASSES_LARGE_ENOUGH:
            return say(name, **values | {"least": _rows(least)})
        case Reason.TOO_MANY_NAMED:
            worst = max(verdict.evidence, key=lambda attempt: attempt.customers)
            return say(name, **values | _numbers(worst))
        case Reason.BEYOND_CHANCE:
            worst = next(attempt for attempt in verdict.evidence if attempt.beyond_chance)
            return say(name, **values | _numbers(worst))
        case Reason.CLAIM_REFUTED:
            worst = max(verdict.evidence, key=lambda attempt: attempt.rate)
            values["others"] = count((table.least or 1) - 1) if table is not None else ""
            return say(f"{name}.{kind}", **values | _numbers(worst))
        case Reason.CLAIM_NOT_KEPT:
            if facts.proven_k is not None:
                return say(f"{name}.noise", **values | {"k": number(facts.proven_k)})
            if table is None:
                return say(f"{name}.history", **values | {"least": count(facts.smallest_class or 0)})
            if table.least is not None and table.least < facts.claimed.get("k", 0):
                return say(
                    f"{name}.table", **values | {"least": _rows(table.least), "chance": percent(table.prosecutor)}
                )
            if disclosed := disclosure_sentences(table):
                return say("verdict.broken", sentence=disclosed[0])
            return say(f"{name}.sensitive", others=count((table.least or 1) - 1))
        case Reason.CLASS_TOO_SMALL:
            if kind == "history":
                return say(f"{name}.history", least, **values)
            known = facts.known_others and (table is None or table.least != least)
            return say(f"{name}.{'known' if known else 'table'}", columns=listing(list(facts.known_others)), **values)
        case Reason.SENSITIVE_DISCLOSED:
            disclosed = [] if table is None else disclosure_sentences(table)
            disclosed = disclosed or [say("known_disclosed", columns=listing(list(facts.known_disclosed)))]
            return say("verdict.broken", sentence=disclosed[0])
        case Reason.NOT_TRIED:
            return say(f"{name}.{'unproved' if guarantee is None else 'weak'}", **values)
        case Reason.IDENTIFIED:
            return say(name, columns=listing(list(facts.identifying)))
        case Reason.SINGLED_OUT:
            column, share = max(facts.alone.items(), key=lambda attempt: attempt[1])
            return say(name, share=percent(share), column=column, **values)
        case Reason.NAMED_ONCE:
            k, tolerance = 1.0 if guarantee is None else guarantee.k, float(rule.tolerance)
            values |= {
                "once": percent(once_per_person(k, facts.periods)),
                "k": count(k_per_person(tolerance, facts.periods)),
                "fewer": count(periods_per_person(tolerance, k)),
            }
        case Reason.UNKNOWN_METHOD:
            values["k"] = values["claimed"]
        case Reason.NAMES_NOT_RANDOM:
            values["k"] = count(facts.least or 0)
        case Reason.EPSILON_TOO_HIGH if facts.privacy is not None and rule.epsilon is not None:
            proved = facts.privacy.at(rule.delta)
            values |= {"epsilon": f"{proved:g}", "delta": f"{rule.delta:g}", "limit": f"{rule.epsilon:g}"}
        case Reason.TOO_MUCH_INFERRED:
            return say("verdict.broken", sentence=_inferred(facts.inferred_beyond(rule)[0], rule))
        case Reason.INFERENCE_UNSURE:
            values["sentence"] = _inferred(facts.inferred_beyond(rule, surely=False)[0], rule)
        case Reason.NOT_INFERRED:
            values["threats"] = listing([say(f"threat.{threat}") for threat in facts.not_inferred(rule)])
    return say(name, **values)


def flaw_sentence(flaw: Flaw, verdict: Verdict) -> str:
    """Return what is wrong with a file from elsewhere, and what to do about it."""
    foreign = verdict.facts.foreign
    if foreign is None or flaw.code not in FLAWS:
        return headline_sentence(verdict.model_copy(update={"reason": flaw.code, "flaws": ()}))
    least, found, copies = foreign.least or 1, foreign.candidates, foreign.copies
    share = max((foreign.alone.get(name, 0.0) for name in flaw.columns), default=0.0)
    values: dict[str, object] = {
        "columns": listing(list(flaw.columns)), "allowed": allowed(verdict.rule), "share": percent(share),
        "least": count(least), "rows": _rows(least), "chance": percent(1 / least),
        "wild": _rows(foreign.least_wild or least),
        "errors": "" if foreign.order is None else f"{abs(foreign.order.errors):.1f}",
    }  # fmt: skip
    if found is not None:
        values |= {name: percent(getattr(found, name)) for name in ("rate", "low", "high")}
        values |= {"single": count(found.single), "tested": count(found.tested)}
    if copies is not None and flaw.code in (Reason.COPIED_ROWS, Reason.NEAR_COPIES):
        values |= {name: count(round(getattr(copies, name))) for name in ("copied", "rows", "expected")}
    for undone in foreign.undone:
        if undone.what == _UNDONE.get(flaw.code):
            values |= {"named": count(undone.named), "of": count(undone.of)}
            values["how"] = say(f"shift.{'constant' if undone.constant else 'each'}")
    return say(f"flaw.{flaw.code}", **values)


def foreign_sentences(facts: Facts) -> list[str]:
    """Return what was tried of a file from elsewhere, what was not, and what that leaves open."""
    foreign = facts.foreign
    if foreign is None:
        return []
    lists = {
        "by_values": [f"{name} = {foreign.columns[name]}" for name in foreign.by_values],
        "unmatched": [name for name, mine in foreign.columns.items() if mine is None],
        "tried": [say(f"check.{name}") for name in foreign.tried],
    }
    notes = [say(f"foreign.{what}", columns=listing(x), names=listing(x)) for what, x in lists.items() if x]
    if (found := foreign.candidates) is not None:
        numbers = {name: count(getattr(found, name)) for name in ("tested", "fitted", "single")}
        notes.append(say("foreign.candidates", **numbers))
    notes += [say("foreign.again", again=count(foreign.again))] if foreign.again else []
    for name, lacking in foreign.not_tried:
        what, _colon, columns = name.partition(":")
        about = say(f"check.{what}", columns=columns)
        notes.append(say("foreign.not_tried", what=about, reason=say(f"missing.{lacking}")))
    notes += [] if foreign.people else [say("foreign.synthetic")]
    return [*notes, *([say("foreign.no_truth")] if foreign.truth == "none" else [])]


def _numbers(attempt: AttackEvidence) -> dict[str, str]:
    counts = ("named", "right", "best_named", "best_right", "needed")
    texts = {name: count(getattr(attempt, name)) for name in counts}
    return texts | {"attack": attempt.attack, "customers": percent(attempt.customers)}


def _rows(rows: int) -> str:
    return say("rows", rows, rows=count(rows))


def remarks(verdict: Verdict, *, public: bool = False) -> list[str]:
    """Return remarks that do not change the verdict: expected rate and this draw, conditions, what is not covered.

    ``public`` leaves out what helps an attacker: what attacks hit in this draw, how the seed was chosen.
    """
    facts, guarantee, is_safe, failed = verdict.facts, verdict.guarantee, verdict.status.is_safe, verdict.facts.failed
    notes = []
    if not public:
        best = max(verdict.evidence, key=lambda item: item.customers, default=None)
        proved = guarantee if verdict.reason == Reason.GUARANTEE and facts.kind == Kind.HISTORY else None
        # attacks may hit more of one period than is expected of its guarantee
        if proved is not None and best is not None and best.customers > proved.bound and facts.periods <= 1:
            values = {"tried": count(len(verdict.evidence)), "customers": percent(best.customers)}
            values["bound"] = percent(proved.bound)
            if by_chance(best, verdict):
                notes.append(say("remark.by_chance", len(verdict.evidence), **values))
            else:
                notes.append(say("remark.rare", tail=percent(class_tail(best.named, best.right, proved.k)), **values))
        if facts.chosen_seed and is_safe:
            notes.append(say("remark.chosen_seed"))
        if facts.names_random is None and verdict.status == VerdictStatus.PROVED and facts.kind == Kind.HISTORY:
            notes.append(say("remark.names_unchecked"))
        if verdict.reason in (Reason.ATTACKS_FAILED, Reason.NOBODY_NAMED) and facts.kind != Kind.TABLE:
            # which ways of recoding a history the attacks that failed see through, and which none does
            tried = [attacks[item.attack].sees_through for item in verdict.evidence if item.attack in attacks]
            seen = frozenset[Recoding]().union(*tried)
            through, left = ([_(item) for item in Recoding if (item in seen) is there] for there in (True, False))
            sentence = say("remark.seen_through", recodings=listing(through) or say("remark.none"))
            more = [say("remark.not_seen_through", recodings=listing(left))] if left else []
            notes.append(joined(sentence, *more))
    if is_safe and facts.kind == Kind.TABLE and not facts.sensitive and facts.proven_k is None:
        notes.append(say("remark.no_sensitive"))
    if is_safe and facts.chosen_by_sensitive:
        notes.append(say("remark.minimality"))
    if is_safe and facts.exposed and facts.exposed > verdict.rule.tolerance:
        notes.append(say("remark.exposed", columns=listing(list(facts.unknown)), share=percent(facts.exposed)))
    if facts.kept_identifiers:
        notes.append(say("remark.kept_identifiers", columns=listing(list(facts.kept_identifiers))))
    if facts.privacy is not None:
        numbers = {name: f"{value:g}" for name, value in facts.privacy.model_dump(exclude={"adjacency"}).items()}
        highest = percent(min(ceil(1000 * (facts.ceiling("membership") + JUDGED_FPR)) / 1000, 1.0))
        notes.append(say("remark.privacy", **numbers, rate=highest, chance=percent(JUDGED_FPR)))
    if verdict.status == VerdictStatus.PROVED and guarantee is not None:
        by = "classes" if guarantee.by != "noise" else "noise" if facts.privacy is None else "privacy"
        notes.append(say(f"remark.not_covered.{by}"))
    if not public:
        notes += foreign_sentences(facts)
    if facts.left_out and not public:
        notes.append(not_tried_sentence(facts.left_out, verdict))
    if failed and verdict.status != VerdictStatus.BROKEN and not public:
        notes.append(say("remark.not_ended", len(failed), count=count(len(failed)), names=listing(list(failed))))
    return notes


def not_tried_sentence(names: Sequence[str], verdict: Verdict) -> str:
    """Return that these attacks were not tried, and what that means; a proof holds against them, too."""
    message = _("Not tried here: {names}. The verdict says nothing about them.")
    if verdict.status == VerdictStatus.PROVED:
        message = _("Not tried here: {names}. What is proved holds against them too.")
    return message.format(names=listing(list(names), most=len(names)))


def by_chance(attempt: AttackEvidence, verdict: Verdict) -> bool:
    """Tell whether chance explains the hits of an attack, at the error level of the rule."""
    guarantee = verdict.guarantee
    return guarantee is None or class_tail(attempt.named, attempt.right, guarantee.k) >= verdict.rule.alpha


def attack_outcome_text(attempt: AttackEvidence, verdict: Verdict) -> str:
    """Return what came of an attack, in values that cannot be read both ways."""
    people = verdict.facts.people
    values = {"hit": count(round(attempt.customers * people)), "people": count(people)}
    if attempt.exceeds:
        return say("outcome.exceeds", **values)
    if not attempt.right:
        return say("outcome.nobody")
    if attempt.customers > float(verdict.rule.tolerance):
        return say(f"outcome.{'by_chance' if by_chance(attempt, verdict) else 'rare'}", **values)
    return say("outcome.withstood", **values)


# --- sensitive values of tables --------------------------------------------------------------------------------------


def cautions(verdict: Verdict) -> list[str]:
    """Return warnings: what was inferred, which sensitive values a table discloses or lets guess, and the remedy."""
    inferred = inferred_sentences(verdict.facts.inferred, verdict.rule)
    table = verdict.facts.table
    if table is None:
        return inferred
    disclosed = disclosure_sentences(table)
    return [*inferred, *disclosed, *guessed_sentences(table), *([say("sensitive.cure")] if disclosed else [])]


def inferred_sentences(inferred: Iterable[Inferred], rule: Rule) -> list[str]:
    """Return one sentence per threat and secret, for the inference that reveals most."""
    worst: dict[tuple[str, str], Inferred] = {}
    for inference in inferred:
        key = inference.threat, inference.about
        if key not in worst or inference.excess > worst[key].excess:
            worst[key] = inference
    return [_inferred(inference, rule) for inference in worst.values()]


def _inferred(inference: Inferred, rule: Rule) -> str:
    limit, values = rule.limit(inference.threat), {"by": inference.by, "column": inference.about}
    if inference.threat == "membership":
        judged, chance = inference.numbers[f"tpr at {JUDGED_FPR}"], JUDGED_FPR
        values |= {"rate": percent(judged.value), "area": f"{inference.numbers['auc'].value:.2f}"}
    else:
        judged, chance = inference.numbers["risk"], 0.0
        values |= {name: percent(inference.numbers[name].value) for name in ("success", "control", "risk")}
    return say(
        f"inferred.{inference.threat}.{'sure' if judged.low > chance else 'unsure'}",
        low=percent(judged.low),
        high=percent(judged.high),
        chance=percent(chance),
        by_rule=say("inferred.unlimited") if limit is None else say("inferred.limit", limit=percent(float(limit))),
        **values,
    )


def disclosure_sentences(table: TableFacts) -> list[str]:
    """Return one sentence per sensitive column whose values some classes disclose with certainty."""
    people = count(table.rows)
    return [
        say("sensitive.some_class", columns=item.column)
        if item.certain is None
        else say("sensitive.certain", item.certain, disclosed=count(item.certain), people=people, column=item.column)
        for item in table.disclosures
        if item.certain != 0
    ]


def guessed_sentences(table: TableFacts) -> list[str]:
    """Return one sentence per sensitive column whose values can be guessed without certainty."""
    values = {"people": count(table.rows), "share": percent(LIKELY)}
    return [
        say("sensitive.likely", column=item.column, guessed=count(item.likely - item.certain), **values)
        for item in table.disclosures
        if item.certain is not None and item.likely is not None and item.likely > item.certain
    ]


# --- who is singled out: by a few known purchases, or in a population; never that anything is safe --------------------


def step_range(low: float | None, high: float | None) -> str:
    """Format an interval of shares; empty if there is none."""
    return "" if low is None or high is None else f"{percent(low)} – {percent(high)}"


def singled_out(step: UnicityStep, sampled: int) -> str:
    """State which share of customers a number of known purchases singles out.

    >>> from noren.inference.unicity import UnicityStep
    >>> step = UnicityStep(known=4, tried=10, unique=0.9, low=0.55, high=0.99, candidates=1.2, median=1.0)
    >>> singled_out(step, sampled=10)
    '4 known purchases single out 90.0% of customers (55.0% – 99.0%)'
    """
    name = "singled_out.some" if step.tried < sampled else "singled_out.all"
    share, interval, has = percent(step.unique), step_range(step.low, step.high), percent(step.tried / max(sampled, 1))
    return say(name, step.known, known=step.known, share=share, range=interval, has=has)


def left_in_release(step: UnicityStep) -> str:
    """State for which share of customers one pseudonym of a release remains, and whether it is the right one."""
    share, interval = percent(step.unique), step_range(step.low, step.high)
    sentence = say("left.left", step.known, known=step.known, share=share, range=interval)
    if step.right is not None:
        sentence += say("left.right", right=percent(step.right), range=step_range(step.right_low, step.right_high))
    if step.none and step.forgiving is not None:
        interval = step_range(step.forgiving_low, step.forgiving_high)
        sentence += say("left.forgiving", none=percent(step.none), share=percent(step.forgiving), range=interval)
    elif step.none:
        sentence += say("left.none", none=percent(step.none))
    return sentence


def estimates_differ(risk: PopulationRisk) -> str:
    """State how far the estimators of population uniqueness differ; empty for a single estimator."""
    shares = sorted(value / risk.population for value in risk.estimates.values())
    if len(shares) < 2:
        return ""
    return say("estimates", low=percent(shares[0]), high=percent(shares[-1]))
