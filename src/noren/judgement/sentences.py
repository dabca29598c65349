"""Verdicts in words: what every page, report and command says of them, made when somebody reads, in their language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from noren.attacks import attacks
from noren.data.schema import Kind
from noren.descriptions import Recoding
from noren.i18n import _, ngettext
from noren.inference.findings import JUDGED_FPR, Inferred
from noren.judgement.evidence import TableFacts
from noren.judgement.judging import beyond, not_inferred
from noren.judgement.numbers import count, number, percent
from noren.judgement.place import Place, worth_a_choice
from noren.judgement.rule import RECIPIENTS, Rule
from noren.judgement.verdict import Exhibit, Reason, Verdict, Word
from noren.kernels.judging.composition import class_tail, k_per_person, once_per_person, periods_per_person
from noren.measures.safety.table_classes import LIKELY
from noren.naming import listing

__all__ = [
    "allowed",
    "bare_word",
    "besides",
    "cautions",
    "far_sentence",
    "finding",
    "frontier_sentence",
    "guessed_sentences",
    "headline_sentence",
    "inferred_sentences",
    "outcome_words",
    "public_sentence",
    "rule_sentence",
    "told_sentences",
    "verdict_sentence",
    "word_meaning",
    "word_text",
]

_MARKS = {Word.PROVED: "◆", Word.WITHSTANDS: "●", Word.BROKEN: "▲", Word.UNTRIED: "■"}


def word_text(word: Word) -> str:
    """Return a verdict as a word with a mark, so that colour is not its only carrier."""
    return f"{_MARKS[word]} {bare_word(word)}"


def bare_word(word: Word) -> str:
    """Return a verdict as a word without its mark."""
    return {
        Word.PROVED: _("proved"),
        Word.WITHSTANDS: _("withstands"),
        Word.BROKEN: _("broken"),
        Word.UNTRIED: _("untried"),
    }[word]


def word_meaning(word: Word) -> str:
    """Return what a verdict means, whatever the release."""
    return {
        Word.PROVED: _("A guarantee within the tolerance holds, whatever an attacker does."),
        Word.WITHSTANDS: _("Nothing is proved within the tolerance, but no attack that was tried exceeds it."),
        Word.BROKEN: _("Somebody is re-identified, or something disclosed, beyond the tolerance."),
        Word.UNTRIED: _("Nothing was tried that decides, so nothing is known."),
    }[word]


def allowed(rule: Rule) -> str:
    """Return the tolerance of a rule as it is written: 20.0%, 9.1%, 33.3%."""
    return percent(float(rule.tolerance))


def rule_sentence(rule: Rule) -> str:
    """Return a rule in a sentence."""
    whom = _(RECIPIENTS[rule.name]) if rule.name in RECIPIENTS else _("a rule of your own")
    test = (
        _(
            "each attack is judged by its most confident guesses, as many as count most against the release, under "
            "the {bound} bound"
        )
        if rule.answers == "best"
        else _("each attack is judged by all of its guesses, under the {bound} bound")
    ).format(bound=rule.bound)
    said = _(
        "Rule {name} ({whom}): nobody may be re-identified with a probability above {allowed} (k = {k}). Where no "
        "proof is within that, an attack breaks a release if it names more than {allowed} of the people correctly, a "
        "count of what happened that has no error level; or if chance does not explain its hits: {test}, with a "
        "false-alarm probability of {alpha} shared by {attackers} attackers for this second test."
    ).format(
        name=rule.name or allowed(rule),
        whom=whom,
        allowed=allowed(rule),
        k=rule.least_k,
        test=test,
        alpha=percent(float(rule.alpha)),
        attackers=count(rule.attackers),
    )
    if rule.per == "person":
        said = _("{sentence} {more}").format(
            sentence=said, more=_("Over several releases it holds for naming a person at least once.")
        )
    if rule.membership is None and rule.attributes is None:
        return said
    return _(
        "{sentence} Beyond the control group, membership may be inferred by at most {membership}, and a secret "
        "attribute by {attributes}."
    ).format(
        sentence=said,
        membership=percent(float(1 if rule.membership is None else rule.membership)),
        attributes=percent(float(1 if rule.attributes is None else rule.attributes)),
    )


# --- one release -----------------------------------------------------------------------------------------------------


def verdict_sentence(verdict: Verdict) -> str:
    """Return what a verdict says of its release, what luck let attacks hit, and what broke down."""
    said = headline_sentence(verdict)
    for more in besides(verdict):
        said = _("{sentence} {more}").format(sentence=said, more=more)
    return said


def headline_sentence(verdict: Verdict) -> str:
    """Return what a page says first of a release: its verdict, without what is only to be known beside it."""
    return _SAID[verdict.reason](verdict)


def besides(verdict: Verdict, *, public: bool = False) -> list[str]:
    """Return what is to be known beside the headline and changes no verdict: conditions, chance, what is not covered.

    ``public`` leaves out what tells an attacker about this draw of names: what attacks hit, how the seed was chosen.
    """
    said = ["" if public else _draw(verdict), *_conditions(verdict, public=public)]
    return [one for one in (*said, "" if public else _not_ended(verdict)) if one]


def public_sentence(verdict: Verdict) -> str:
    """Return a verdict as a data card tells it: what is proved, or what the word means; never what attacks hit."""
    counted = (Reason.GUARANTEE, Reason.CLASSES_LARGE_ENOUGH)
    said = headline_sentence(verdict) if verdict.reason in counted else word_meaning(verdict.word)
    for more in besides(verdict, public=True):
        said = _("{sentence} {more}").format(sentence=said, more=more)
    return said


def _draw(verdict: Verdict) -> str:
    """Return that attacks hit more of a history than is expected of the guarantee; nothing where they did not."""
    guarantee, facts = verdict.guarantee, verdict.facts
    best = max(verdict.evidence, key=lambda one: one.customers, default=None)
    if verdict.reason != Reason.GUARANTEE or guarantee is None or best is None or best.customers <= guarantee.bound:
        return ""
    if facts.kind == Kind.TABLE or facts.periods > 1:
        return ""
    words = {
        "tried": count(len(verdict.evidence)),
        "customers": percent(best.customers),
        "bound": percent(guarantee.bound),
    }
    if by_chance(best, verdict):
        return ngettext(
            "At most {bound} is expected; in this draw the attack tried named {customers}, within what chance "
            "explains.",
            "At most {bound} is expected; in this draw the best of {tried} attacks tried named {customers}, within "
            "what chance explains.",
            len(verdict.evidence),
        ).format(**words)
    tail = class_tail(best.named, best.right, guarantee.k)
    return _(
        "At most {bound} is expected; in this draw {customers} were named, which chance does with a probability of at "
        "most {tail}: rare, but one of {tried} attacks may be so lucky."
    ).format(tail=percent(tail), **words)


def by_chance(one: Exhibit, verdict: Verdict) -> bool:
    """Tell whether chance explains what an attack hit in classes: with at least the rule's probability of error."""
    guarantee = verdict.guarantee
    return guarantee is None or class_tail(one.named, one.right, guarantee.k) >= verdict.rule.alpha


def _conditions(verdict: Verdict, *, public: bool) -> Iterator[str]:
    """Yield what a verdict that sounds safe rests on and does not cover; and the columns that somebody kept."""
    facts, guarantee, is_safe = verdict.facts, verdict.guarantee, verdict.word.is_safe
    if facts.chosen_seed and is_safe and not public:
        yield _(
            "The seed was chosen by hand (below 2³²), and whoever holds the original can try such seeds out. Protect "
            "again without a seed of your own before publishing."
        )
    if facts.names_random is None and verdict.word == Word.PROVED and facts.kind == Kind.HISTORY and not public:
        yield _("Whether names were drawn at random cannot be checked without the secret part.")
    if not public:
        yield _recodings(verdict)
    if is_safe and facts.kind == Kind.TABLE and not facts.sensitive and facts.proven_k is None:
        yield _("No column is marked sensitive: what all members of a class share was not judged.")
    if is_safe and facts.chosen_by_sensitive:
        yield _(
            "The generalisation was chosen by looking at sensitive values, and the choice itself can tell them "
            "(minimality): their probabilities may exceed what classes show."
        )
    if is_safe and facts.exposed and facts.exposed > verdict.rule.tolerance:
        yield _("Somebody who also knew {columns} would name {share} of the rows.").format(
            columns=listing(list(facts.unknown)), share=percent(facts.exposed)
        )
    if facts.kept:
        yield _("Published although it identifies people: {columns}.").format(columns=listing(list(facts.kept)))
    if verdict.word == Word.PROVED and guarantee is not None:
        yield (
            _("Not covered: whether somebody is in the data, and what the table tells about people in general.")
            if guarantee.by == "noise"
            else _(
                "Not covered: whether somebody is in the data, what all members of a class have in common, and the "
                "ends of ranges, which can be true values."
            )
        )


def _recodings(verdict: Verdict) -> str:
    """Return which ways of recoding a history the attacks that failed see through, and which none does."""
    if verdict.reason not in (Reason.ATTACKS_FAILED, Reason.NOBODY_NAMED) or verdict.facts.kind == Kind.TABLE:
        return ""
    tried = [attacks[one.attack].sees_through for one in verdict.evidence if one.attack in attacks]
    seen = frozenset[Recoding]().union(*tried)
    through, left = ([_(one) for one in Recoding if (one in seen) is there] for there in (True, False))
    said = _("The attacks tried see through: {recodings}.").format(recodings=listing(through) or _("none"))
    more = _("None of them sees through: {recodings}.").format(recodings=listing(left))
    return _("{sentence} {more}").format(sentence=said, more=more) if left else said


def _not_ended(verdict: Verdict) -> str:
    failed = verdict.facts.failed
    if not failed or verdict.word == Word.BROKEN:
        return ""
    return ngettext(
        "One thing was not tried to its end: {names}.",
        "{count} things were not tried to their end: {names}.",
        len(failed),
    ).format(count=count(len(failed)), names=listing(list(failed)))


def _guarantee(verdict: Verdict) -> str:
    guarantee, facts = verdict.guarantee, verdict.facts
    if guarantee is None:
        raise ValueError(verdict.reason)
    words = {"bound": percent(guarantee.bound), "k": number(guarantee.k), "allowed": allowed(verdict.rule)}
    if guarantee.by == "noise":
        return _(
            "Proved: no row can be linked to a person with a probability above {bound} (k = {k}), whatever an "
            "attacker knows; {allowed} is allowed."
        ).format(**words)
    if facts.kind == Kind.TABLE:
        return _(
            "Proved: every row is indistinguishable from at least {others} others, so whoever looks a person up "
            "is right with a probability of {bound} at most{assuming}; {allowed} is allowed."
        ).format(others=number(guarantee.k - 1), assuming=_assuming(verdict), **words)
    if facts.periods > 1:
        return _(
            "Proved: at least {k} customers share each history in each of the {periods} periods, so no single guess "
            "re-identifies a pseudonym with a probability above {bound}, whoever holds them all; {allowed} is allowed "
            "per guess. Over all releases up to {once} of the customers are named correctly at least once; an attacker "
            "does not learn which."
        ).format(periods=count(facts.periods), once=percent(facts.once or 0.0), **words)
    return _(
        "Proved: at least {k} customers share each released history, so nobody is re-identified with a "
        "probability above {bound}, whatever an attacker does; {allowed} is allowed."
    ).format(**words)


def _assuming(verdict: Verdict) -> str:
    """Return the columns that an attacker is assumed not to know, as a part of a sentence."""
    unknown = verdict.facts.unknown
    if not unknown:
        return ""
    return _(", assuming an attacker does not know: {columns}").format(columns=listing(list(unknown), most=12))


def _identified(verdict: Verdict) -> str:
    return _(
        "Broken: {columns} would be published and identifies people. Give it the role identifier, so that it is left "
        "out."
    ).format(columns=listing(list(verdict.facts.identifying)))


def _singled_out(verdict: Verdict) -> str:
    column, share = max(verdict.facts.alone.items(), key=lambda one: one[1])
    return _(
        "Broken: {share} of the pseudonyms have a value of {column} that nobody else has; {allowed} is allowed. Give "
        "the column the role identifier, or declare it unknown (known = false)."
    ).format(share=percent(share), column=column, allowed=allowed(verdict.rule))


def _named_once(verdict: Verdict) -> str:
    facts, tolerance = verdict.facts, float(verdict.rule.tolerance)
    k = 1.0 if verdict.guarantee is None else verdict.guarantee.k
    return _(
        "Broken: over {periods} releases a person is named correctly at least once with a probability of up to {once}; "
        "{allowed} is allowed per person. Classes of {k} would keep it, or at most {fewer} releases with these classes."
    ).format(
        periods=count(facts.periods),
        once=percent(once_per_person(k, facts.periods)),
        allowed=allowed(verdict.rule),
        k=count(k_per_person(tolerance, facts.periods)),
        fewer=count(periods_per_person(tolerance, k)),
    )


def _unknown_method(verdict: Verdict) -> str:
    return _(
        "Untried: the release claims k = {k}, but no method known here made it, so nothing shows that names were drawn "
        "without looking at the data."
    ).format(k=number(verdict.facts.claimed.get("k", 0)))


def _names_not_random(verdict: Verdict) -> str:
    return _(
        "Untried: at least {k} customers share each history, but pseudonyms follow the order of customers, rows or "
        "amounts: names that are not drawn at random tell who is who."
    ).format(k=count(verdict.facts.least or 0))


def _nothing_said(verdict: Verdict) -> str:
    return _("No released row says anything by which a person could be looked up.")


def _weak(verdict: Verdict) -> str:
    """Return what is proved though it is not enough, as the end of a sentence."""
    guarantee = verdict.guarantee
    if guarantee is None:
        return _("nothing is proved")
    return _("only {bound} is proved").format(bound=percent(guarantee.bound))


def _attacks_failed(verdict: Verdict) -> str:
    best = verdict.evidence[0]
    if verdict.facts.kind == Kind.TABLE:
        return _(
            "Withstands the attack tried, though {weak}: {attack} names {named} rows, {right} correctly, which "
            "is {customers} of the people; {allowed} is allowed."
        ).format(weak=_weak(verdict), allowed=allowed(verdict.rule), **_shown(best))
    return ngettext(
        "Withstands the attack tried, though {weak}: {attack} names {named} people, {right} correctly, which is "
        "{customers} of the customers; {allowed} is allowed.",
        "Withstands the {tried} attacks tried, though {weak}: the best, {attack}, names {named} people, {right} "
        "correctly, which is {customers} of the customers; {allowed} is allowed.",
        len(verdict.evidence),
    ).format(tried=count(len(verdict.evidence)), weak=_weak(verdict), allowed=allowed(verdict.rule), **_shown(best))


def _nobody_named(verdict: Verdict) -> str:
    return ngettext(
        "Withstands the attack tried, though {weak}: it re-identifies nobody.",
        "Withstands the {tried} attacks tried, though {weak}: none of them re-identifies anybody.",
        len(verdict.evidence),
    ).format(tried=count(len(verdict.evidence)), weak=_weak(verdict))


def _classes_large_enough(verdict: Verdict) -> str:
    least = verdict.facts.least or 1
    return _(
        "Withstands looking people up, though the method promises nothing: the smallest class has {least}, so "
        "whoever looks a person up is right with a probability of {chance} at most{assuming}; {allowed} is allowed."
    ).format(least=_rows(least), chance=percent(1 / least), assuming=_assuming(verdict), allowed=allowed(verdict.rule))


def _too_many_named(verdict: Verdict) -> str:
    worst = max(verdict.evidence, key=lambda one: one.customers)
    if verdict.facts.kind == Kind.TABLE:
        return _("Broken: {attack} re-identifies {customers} of the {people} people; {allowed} is allowed.").format(
            people=count(verdict.facts.people), allowed=allowed(verdict.rule), **_shown(worst)
        )
    return _("Broken: {attack} re-identifies {customers} of the {people} customers; {allowed} is allowed.").format(
        people=count(verdict.facts.people), allowed=allowed(verdict.rule), **_shown(worst)
    )


def _beyond_chance(verdict: Verdict) -> str:
    worst = next(one for one in verdict.evidence if one.beyond_chance)
    return _(
        "Broken: of the {best_named} people that {attack} is most confident about, {best_right} are right; "
        "{needed} are more than luck explains where {allowed} is allowed."
    ).format(allowed=allowed(verdict.rule), **_shown(worst))


def _claim_refuted(verdict: Verdict) -> str:
    worst = max(verdict.evidence, key=lambda one: one.rate)
    if verdict.facts.kind == Kind.TABLE:
        return _(
            "Broken: every row is indistinguishable from at least {others} others, but {attack} names {named} "
            "rows, {right} correctly, which luck does not explain."
        ).format(others=count((_table(verdict).least or 1) - 1), **_shown(worst))
    return _(
        "Broken: at least {k} customers are said to share each history, but {attack} names {named} people, "
        "{right} correctly, which luck does not explain."
    ).format(k=number(0 if verdict.guarantee is None else verdict.guarantee.k), **_shown(worst))


def _claim_not_kept(verdict: Verdict) -> str:
    facts, claimed = verdict.facts, verdict.facts.claimed.get("k", 0)
    if facts.proven_k is not None:
        return _("Broken: the k that follows from the noise is {k}, below the {claimed} that was asked for.").format(
            k=number(facts.proven_k), claimed=number(claimed)
        )
    if facts.kind == Kind.HISTORY:
        return _(
            "Broken: the promise of k = {claimed} is not kept, for some history is shared by {least} customers only."
        ).format(claimed=number(claimed), least=count(facts.smallest_class or 0))
    table = _table(verdict)
    if table.least is not None and table.least < claimed:
        return _(
            "Broken: the promise of k = {claimed} is not kept; the smallest class has {least}, so whoever looks "
            "a person up is right with a probability of up to {chance}."
        ).format(claimed=number(claimed), least=_rows(table.least), chance=percent(table.prosecutor))
    told = told_sentences(table)
    if told:
        return _("Broken: {sentence}").format(sentence=told[0])
    return _(
        "Broken: a promise about the sensitive values is not kept, though every row is indistinguishable from at "
        "least {others} others."
    ).format(others=count((table.least or 1) - 1))


def _class_too_small(verdict: Verdict) -> str:
    facts, least = verdict.facts, verdict.facts.least or 1
    words = {"least": count(least), "chance": percent(1 / least), "allowed": allowed(verdict.rule)}
    if facts.kind == Kind.HISTORY:
        return ngettext(
            "Broken: some history is shared by {least} customer only, who is re-identified with a probability of up "
            "to {chance}; {allowed} is allowed.",
            "Broken: some history is shared by {least} customers only, each of whom is re-identified with a "
            "probability of up to {chance}; {allowed} is allowed.",
            least,
        ).format(**words)
    if facts.known_others and (facts.table is None or facts.table.least != least):
        return _(
            "Broken: published as they are and counted as known: {columns}. Counting these, the smallest class has "
            "{rows}, so whoever looks a person up is right with a probability of up to {chance}; {allowed} is allowed. "
            "Make each of them quasi or sensitive, leave it out, or declare it unknown (known = false)."
        ).format(columns=listing(list(facts.known_others)), rows=_rows(least), **words)
    return _(
        "Broken: the smallest class has {rows}, so whoever looks a person up is right with a probability of up "
        "to {chance}; {allowed} is allowed."
    ).format(rows=_rows(least), **words)


def _sensitive_told(verdict: Verdict) -> str:
    told = [] if verdict.facts.table is None else told_sentences(verdict.facts.table)
    if not told:
        words = _("a class of rows that are alike in all known columns tells {columns}")
        told = [words.format(columns=listing(list(verdict.facts.known_told)))]
    return _("Broken: {sentence}").format(sentence=told[0])


def _not_tried(verdict: Verdict) -> str:
    if verdict.guarantee is None:
        return _("Untried: no attack was judged, so nothing is known about the risk of this release.")
    return _("Untried: {weak} where {allowed} is allowed, and no attack was judged.").format(
        weak=_weak(verdict), allowed=allowed(verdict.rule)
    )


def _not_counted(verdict: Verdict) -> str:
    return _("Untried: the classes of this release were not counted, so nothing is known about its risk.")


def _not_audited(verdict: Verdict) -> str:
    return _(
        "Untried: nobody checked whether this release keeps what it claims, for the audit failed: do not hand it out."
    )


def _proof_too_weak(verdict: Verdict) -> str:
    return _("Untried: {weak} (k = {k}) where {allowed} is allowed, and no attack tells more.").format(
        weak=_weak(verdict), k=number(verdict.facts.proven_k or 0), allowed=allowed(verdict.rule)
    )


def _too_much_inferred(verdict: Verdict) -> str:
    worst = beyond(verdict.facts, verdict.rule)[0]
    return _("Broken: {sentence}").format(sentence=_inferred(worst, verdict.rule))


def _not_inferred(verdict: Verdict) -> str:
    threats = listing([_THREATS[threat]() for threat in not_inferred(verdict.facts, verdict.rule)])
    return _(
        "Untried: this rule limits {threats}, which nobody tried; a control group of people who are not in the "
        "data is needed."
    ).format(threats=threats)


def _inference_unsure(verdict: Verdict) -> str:
    worst = beyond(verdict.facts, verdict.rule, surely=False)[0]
    return _("Untried: too few people were asked about to be sure. {sentence}").format(
        sentence=_inferred(worst, verdict.rule)
    )


def _not_inferred_beyond(verdict: Verdict) -> str:
    bound = 0.0 if verdict.guarantee is None else verdict.guarantee.bound
    return _(
        "Withstands the inference that was tried, beyond which nothing is proved but that nobody is "
        "re-identified with a probability above {bound}; {allowed} is allowed."
    ).format(bound=percent(bound), allowed=allowed(verdict.rule))


_THREATS = {
    "membership": lambda: _("membership inference"),
    "attribute": lambda: _("attribute inference"),
}


_SAID = {
    Reason.TOO_MUCH_INFERRED: _too_much_inferred,
    Reason.NOT_INFERRED: _not_inferred,
    Reason.INFERENCE_UNSURE: _inference_unsure,
    Reason.NOT_INFERRED_BEYOND: _not_inferred_beyond,
    Reason.GUARANTEE: _guarantee,
    Reason.NOTHING_SAID: _nothing_said,
    Reason.ATTACKS_FAILED: _attacks_failed,
    Reason.NOBODY_NAMED: _nobody_named,
    Reason.CLASSES_LARGE_ENOUGH: _classes_large_enough,
    Reason.TOO_MANY_NAMED: _too_many_named,
    Reason.BEYOND_CHANCE: _beyond_chance,
    Reason.CLAIM_REFUTED: _claim_refuted,
    Reason.CLAIM_NOT_KEPT: _claim_not_kept,
    Reason.CLASS_TOO_SMALL: _class_too_small,
    Reason.SENSITIVE_TOLD: _sensitive_told,
    Reason.NOT_TRIED: _not_tried,
    Reason.NOT_COUNTED: _not_counted,
    Reason.NOT_AUDITED: _not_audited,
    Reason.PROOF_TOO_WEAK: _proof_too_weak,
    Reason.IDENTIFIED: _identified,
    Reason.SINGLED_OUT: _singled_out,
    Reason.NAMED_ONCE: _named_once,
    Reason.UNKNOWN_METHOD: _unknown_method,
    Reason.NAMES_NOT_RANDOM: _names_not_random,
}


def _shown(one: Exhibit) -> dict[str, str]:
    return {
        "attack": one.attack,
        "named": count(one.named),
        "right": count(one.right),
        "customers": percent(one.customers),
        "best_named": count(one.best_named),
        "best_right": count(one.best_right),
        "needed": count(one.needed),
    }


def _table(verdict: Verdict) -> TableFacts:
    if verdict.facts.table is None:
        raise ValueError(verdict.reason)
    return verdict.facts.table


def _rows(rows: int) -> str:
    return ngettext("{rows} row", "{rows} rows", rows).format(rows=count(rows))


# --- sensitive values of tables --------------------------------------------------------------------------------------


def cautions(verdict: Verdict) -> list[str]:
    """Return what was inferred; and what a released table tells or lets guess of sensitive values, and the cure."""
    inferred = inferred_sentences(verdict.facts.inferred, verdict.rule)
    table = verdict.facts.table
    if table is None:
        return inferred
    told = told_sentences(table)
    cure = _(
        "Protect again and ask that each group has at least 2 sensitive values (ℓ = 2), or leave the sensitive column "
        "out."
    )
    return [*inferred, *told, *guessed_sentences(table), *([cure] if told else [])]


def inferred_sentences(inferred: Iterable[Inferred], rule: Rule) -> list[str]:
    """Return what was inferred of people, one sentence for each threat and secret: the way that tells most."""
    worst: dict[tuple[str, str], Inferred] = {}
    for one in inferred:
        key = one.threat, one.about
        if key not in worst or one.excess > worst[key].excess:
            worst[key] = one
    return [_inferred(one, rule) for one in worst.values()]


def _inferred(one: Inferred, rule: Rule) -> str:
    limit = rule.limit(one.threat)
    by_rule = (
        _("this rule does not limit it")
        if limit is None
        else _("this rule allows {limit} beyond that").format(limit=percent(float(limit)))
    )
    if one.threat == "membership":
        rate, area = one.numbers[f"tpr at {JUDGED_FPR}"], one.numbers["auc"]
        words = (
            _(
                "Membership can be inferred: the true positive rate is {rate} ({low} to {high}) at a false "
                "positive rate of {chance}, by {by} (AUC {area}); {by_rule}."
            )
            if rate.low > JUDGED_FPR
            else _(
                "It is not certain that membership can be inferred: the true positive rate is {rate} ({low} to "
                "{high}) at a false positive rate of {chance}, by {by} (AUC {area}); {by_rule}."
            )
        )
        return words.format(
            rate=percent(rate.value),
            low=percent(rate.low),
            high=percent(rate.high),
            chance=percent(JUDGED_FPR),
            by=one.by,
            area=f"{area.value:.2f}",
            by_rule=by_rule,
        )
    success, control, risk = (one.numbers[name] for name in ("success", "control", "risk"))
    words = (
        _(
            "Attributes can be inferred beyond the control group: {column} is guessed correctly for {success} of "
            "the people in the data and for {control} of the control group, a risk of {risk} ({low} to {high}); "
            "{by_rule}."
        )
        if risk.low > 0
        else _(
            "It is not certain that attributes can be inferred beyond the control group: {column} is guessed "
            "correctly for {success} of the people in the data and for {control} of the control group, a risk of "
            "{risk} ({low} to {high}); {by_rule}."
        )
    )
    return words.format(
        column=one.about,
        success=percent(success.value),
        control=percent(control.value),
        risk=percent(risk.value),
        low=percent(risk.low),
        high=percent(risk.high),
        by_rule=by_rule,
    )


def told_sentences(table: TableFacts) -> list[str]:
    """Return whose sensitive values the classes tell for certain, one sentence for each column; none where nobody's."""
    said = []
    for one in table.told:
        if one.certain is None:
            words = _(
                "Some class discloses {columns} of everybody in it, for all of its rows have the same value (ℓ = 1)."
            )
            said.append(words.format(columns=one.column))
        elif one.certain:
            words = ngettext(
                "{told} of {people} people stands in a class where everybody has the same {column}: "
                "who finds the class knows it.",
                "{told} of {people} people stand in classes where everybody has the same {column}: "
                "who finds the class knows it.",
                one.certain,
            )
            said.append(words.format(told=count(one.certain), people=count(table.rows), column=one.column))
    return said


def guessed_sentences(table: TableFacts) -> list[str]:
    """Return whose sensitive values can be guessed though not told, one sentence for each column."""
    said = _(
        "The {column} of {guessed} of {people} people can be guessed: at least {share} of their class have the same."
    )
    return [
        said.format(
            column=one.column,
            guessed=count(one.likely - one.certain),
            people=count(table.rows),
            share=percent(LIKELY),
        )
        for one in table.told
        if one.certain is not None and one.likely is not None and one.likely > one.certain
    ]


# --- several releases ------------------------------------------------------------------------------------------------


def finding(places: Sequence[Place]) -> str:
    """Return what several releases come to, in a sentence without its full stop.

    >>> finding([Place(label="k = 2", word="broken", use=0.8, risk=0.5), Place(label="k = 5", word="proved", use=0.7)])
    'Of 2 releases, 1 may be handed out: k = 5 (proved) keeps 70.0% of the utility'
    """
    if not places:
        return _("There is nothing to compare yet")
    safe = [one for one in places if one.word.is_safe]
    known = [one for one in safe if one.use is not None]
    if known:
        best = max(known, key=lambda one: one.use or 0.0)
        return ngettext(
            "Of {count} releases, {safe} may be handed out: {label} ({word}) keeps {use} of the utility",
            "Of {count} releases, {safe} may be handed out; {label} ({word}) keeps the most utility of them, {use}",
            len(safe),
        ).format(
            count=count(len(places)),
            safe=count(len(safe)),
            label=best.label,
            word=bare_word(best.word),
            use=percent(best.use or 0.0),
        )
    if safe:
        return ngettext(
            "Of {count} releases, {safe} may be handed out",
            "Of {count} releases, {safe} may be handed out",
            len(safe),
        ).format(count=count(len(places)), safe=count(len(safe)))
    tried = [one for one in places if one.word == Word.BROKEN and one.risk is not None]
    if not tried:
        return ngettext(
            "The one release was not judged yet", "None of the {count} releases was judged yet", len(places)
        ).format(count=count(len(places)))
    least = min(tried, key=lambda one: one.risk or 0.0)
    return ngettext(
        "The one release, {label}, may not be handed out: it gives away {risk}",
        "None of the {count} releases may be handed out; {label} gives least away, {risk}",
        len(places),
    ).format(count=count(len(places)), label=least.label, risk=percent(least.risk or 0.0))


def frontier_sentence(places: Sequence[Place]) -> str:
    """Return which releases are on the Pareto frontier of use and risk; of what may not be handed out only that."""
    safe = [one for one in places if one.word.is_safe]
    if not safe:
        return _("None of them may be handed out, so there is none to choose from.")
    best = [places[i] for i in worth_a_choice(places)]
    if len(safe) < len(places):
        return ngettext(
            "Of the {safe} that may be handed out one is at least as safe and as useful as every other: {labels}.",
            "Of the {safe} that may be handed out {count} are on the Pareto frontier, for none is beaten in both "
            "safety and utility: {labels}.",
            len(best),
        ).format(safe=count(len(safe)), count=count(len(best)), labels=", ".join(one.label for one in best))
    if len(best) == len(places):
        return _("Each release has its place: none is beaten by another in both safety and utility.")
    return ngettext(
        "One release is at least as safe and as useful as every other: {labels}.",
        "{count} of {of} releases are on the Pareto frontier, for none is beaten in both safety and utility: {labels}.",
        len(best),
    ).format(count=count(len(best)), of=count(len(places)), labels=", ".join(one.label for one in best))


def far_sentence(places: Sequence[Place], rule: Rule) -> str:
    """Return that a map leaves out what is broken far beyond the rule, and at which risks; nothing where nothing is."""
    if not places:
        return ""
    low, high = (percent(end(one.risk or 0.0 for one in places)) for end in (min, max))
    return ngettext(
        "Not drawn: {labels}. It may not be handed out, at a risk of {risk} where {allowed} is allowed.",
        "Not drawn: {labels}. None of these {count} may be handed out, at a risk of {risk} where {allowed} is allowed.",
        len(places),
    ).format(
        labels="; ".join(one.label for one in places),
        count=count(len(places)),
        risk=low if low == high else _("{low} to {high}").format(low=low, high=high),
        allowed=allowed(rule),
    )


def outcome_words(one: Exhibit, verdict: Verdict) -> str:
    """Return what came of an attack, in words that cannot be read both ways."""
    people = verdict.facts.people
    words = {"hit": count(round(one.customers * people)), "people": count(people)}
    if one.exceeds:
        return _("named {hit} of {people}: more than is allowed").format(**words)
    if not one.right:
        return _("re-identified nobody")
    if one.customers > float(verdict.rule.tolerance):
        if by_chance(one, verdict):
            return _("named {hit} of {people}, which chance explains: the proof holds").format(**words)
        return _("named {hit} of {people}: rare, but not enough to refute the proof").format(**words)
    return _("named {hit} of {people}: withstood").format(**words)
