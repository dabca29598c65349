"""What a study comes to, in sentences: the answer, why, and what the settings beside it would give or cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noren.data.schema import Kind
from noren.i18n import _, ngettext
from noren.measures import measures
from noren.study.findings import Verdict, count, decimal, percent
from noren.study.recommend import Choice
from noren.study.sweep_results import SettingResult
from noren.study.table_risk import told_sentences

if TYPE_CHECKING:
    from noren.study.sweep_study import Study

__all__ = [
    "answer",
    "beside",
    "chance",
    "failure_words",
    "frontier_words",
    "headline",
    "kept_by",
    "reasons",
    "rule",
    "setting_sentence",
]

_TELLING = {
    Kind.HISTORY: ("rfm", "frequent-itemsets", "item-similarity"),
    Kind.TABLE: ("prediction", "association", "entropy-loss"),
}
"""The measures of use that a recommendation names, the first few there are."""
_MOST_NAMED = 3


def answer(study: Study) -> list[str]:
    """Return the recommendation in sentences: what to take, why, and what lies beside it."""
    said = [_("{sentence}.").format(sentence=headline(study))]
    said += [
        _("{sentence}.").format(sentence=f"{one.setting.label}: {failure_words(name, why)}")
        for one in study.settings
        for name, why in one.failed.items()
    ]
    for choice in study.choices:
        chosen = choice.chosen if choice.chosen is not None else choice.safest
        if chosen is None:
            continue
        if len(study.choices) > 1 and choice.chosen is not None:
            said.append(_take(study.settings[chosen]))
        said += reasons(study, study.settings[chosen])
        said += beside(study, choice)
    return said


def headline(study: Study) -> str:
    """Return the finding as one sentence without its full stop."""
    done = [one for one in study.settings if one.done and not one.undecided]
    safe = [one for one in done if one.point["withstands"]]
    taken = [one for one in study.settings if one.recommended]
    if len(taken) > 1:
        return _("Of {count} settings, {safe} withstand; take one of {labels}").format(
            count=count(len(done)), safe=count(len(safe)), labels=", ".join(one.setting.label for one in taken)
        )
    if taken and len(done) == 1:
        return _("The only setting withstands: take {label}, which keeps {use} of the use").format(
            label=taken[0].setting.label, use=percent(taken[0].point["use"])
        )
    if taken:
        return ngettext(
            "Of {count} settings, {safe} withstands: take {label}, which keeps {use} of the use",
            "Of {count} settings, {safe} withstand; take {label}, which keeps the most use of them, {use}",
            len(safe),
        ).format(
            count=count(len(done)),
            safe=count(len(safe)),
            label=taken[0].setting.label,
            use=percent(taken[0].point["use"]),
        )
    least = [study.settings[choice.safest] for choice in study.choices if choice.safest is not None]
    if not least:
        return _("No setting was judged, so none can be recommended")
    if len(done) == 1:
        return _("The only setting, {label}, does not withstand; its risk is {risk}").format(
            label=least[0].setting.label, risk=percent(least[0].point["risk"])
        )
    return _("None of the {count} settings withstands; the safest of them is {label}, at a risk of {risk}").format(
        count=count(len(done)),
        label=", ".join(one.setting.label for one in least),
        risk=", ".join(percent(one.point["risk"]) for one in least),
    )


def _take(setting: SettingResult) -> str:
    point = setting.point
    words = _("{label} keeps the most of the settings whose use is told by {measure}: {use}.")
    return words.format(label=setting.setting.label, measure=point["use_of"], use=percent(point["use"]))


# --- why -------------------------------------------------------------------------------------------------------------


def reasons(study: Study, setting: SettingResult) -> list[str]:
    """Return what speaks for or against a setting, with its numbers: what attackers achieve, what stays useful."""
    found = _table_risk(study, setting) if study.source.kind == Kind.TABLE else _attacks(study, setting)
    return [*found, *_use(study, setting)]


def _attacks(study: Study, setting: SettingResult) -> list[str]:
    worst, point = setting.worst, setting.point
    if worst is None:
        return []
    said = []
    tried = len(worst.attacks)
    strongest = next(iter(worst.attacks), None)
    if strongest is None:
        said.append(_("No attack was tried."))
    elif point["verdict"] == Verdict.BROKEN:
        said.append(_broken(strongest))
    elif not strongest["right"]:
        said.append(
            ngettext(
                "The attack tried names nobody rightly.",
                "None of the {count} attacks tried names anybody rightly.",
                tried,
            ).format(count=count(tried))
        )
    else:
        best = strongest["best"]["sharp"]
        said.append(
            ngettext(
                "The attack tried, {attack}, is not effective under the sharp test: at its best it names {named} "
                "people, {right} rightly, and needs {needed}.",
                "None of the {count} attacks tried is effective under the sharp test: the strongest, {attack}, names "
                "{named} people at its best, {right} rightly, and needs {needed}.",
                tried,
            ).format(count=count(tried), attack=strongest["attack"], **_try(best))
        )
    if point["survival"] is not None:
        words = (
            _(
                "It survives {attackers} attackers who do the best one can with {chance} under the sharp test; {asked} "
                "was asked for."
            )
            if point["survival"] >= study.asked.require
            else _(
                "It survives {attackers} attackers who do the best one can with only {chance} under the sharp test, "
                "where {asked} was asked for."
            )
        )
        said.append(
            words.format(
                attackers=count(study.asked.attackers),
                chance=chance(point["survival"]),
                asked=f"{study.asked.require:g}",
            )
        )
    return said


def _broken(facts: Mapping[str, Any]) -> str:
    words = _(
        "{attack} is effective under the sharp test: it names {named} people, {right} rightly, and needs {needed}."
    )
    return words.format(attack=facts["attack"], **_try(facts["best"]["sharp"]))


def _try(best: Mapping[str, Any]) -> dict[str, str]:
    return {name: count(best[name]) for name in ("named", "right", "needed")}


def _table_risk(study: Study, setting: SettingResult) -> list[str]:
    worst = setting.worst
    risk = None if worst is None else worst.table_risk
    if worst is None or risk is None:
        return []
    said = []
    if risk["basis"] == "proof":
        words = _("It is proven that nobody's row can be told with a chance above {bound}, whatever is known.")
        said.append(words.format(bound=percent(risk["bound"])))
    elif risk["basis"] == "classes" and risk["least"] is not None:
        words = (
            _(
                "The smallest class has {least} rows, as claimed or more: the most exposed person is found with a "
                "chance of {risk}."
            )
            if risk["verdict"] == Verdict.WITHSTANDS
            else _("The smallest class has {least} rows: the most exposed person is found with a chance of {risk}.")
        )
        said.append(words.format(least=count(risk["least"]), risk=percent(risk["prosecutor"])))
        said += told_sentences(risk)
    if study.asked.most_risk is not None:
        words = _("A risk of {asked} was accepted at most.")
        said.append(words.format(asked=percent(study.asked.most_risk)))
    return said


def _use(study: Study, setting: SettingResult) -> list[str]:
    point = setting.point
    if point["use"] is None:
        return []
    lost = {
        "cell-error": _("The error per cell (U) is {lost}").format(lost=decimal(1 - point["use"])),
        "table-loss": _("The loss of the table is {lost}").format(lost=decimal(1 - point["use"])),
        "l1-precision": _("The share of records in the right cell is {use}").format(use=percent(point["use"])),
    }
    said = [lost.get(str(point["use_of"]), _("The use kept is {use}").format(use=decimal(point["use"])))]
    for name in _TELLING[study.source.kind]:
        kept = kept_by(setting, name)
        if name == "entropy-loss" and point["use_of"] == "l1-precision":
            continue  # of perturbed values no cell is sure, whatever their table still tells
        if kept is not None and len(said) <= _MOST_NAMED:
            said.append(_("{what} kept at {share}").format(what=_what(name), share=decimal(kept)))
    return [_("{sentence}.").format(sentence="; ".join(said))]


def kept_by(setting: SettingResult, name: str) -> float | None:
    """Return what a measure of a share or of an error leaves, 1 for all; None where it is no such or was not taken."""
    value = setting.score(name)
    if value is None or name not in measures or measures[name].bounds[0] != 0.0:
        return None
    return max(0.0, 1 - value) if measures[name].goal == "lower" else value


def _what(name: str) -> str:
    known = {
        "rfm": _("RFM table"),
        "frequent-itemsets": _("frequent itemsets"),
        "item-similarity": _("similarities of items"),
        "prediction": _("prediction"),
        "association": _("associations of columns"),
        "entropy-loss": _("bits that tell values apart"),
    }
    return known.get(name, name)


# --- what lies beside ------------------------------------------------------------------------------------------------


def beside(study: Study, choice: Choice) -> list[str]:
    """Return what the next more useful setting would give, and why not; and what the next safer one would cost."""
    if choice.chosen is None:
        return []
    own = study.settings[choice.chosen].point
    said = []
    if choice.more_useful is not None:
        other = study.settings[choice.more_useful]
        words = _("{label} would keep {more} more of the use, but {why}.")
        more = decimal(other.point["use"] - own["use"])
        said.append(words.format(label=other.setting.label, more=more, why=_why_not(study, other)))
    if choice.safer is not None:
        other = study.settings[choice.safer]
        point = other.point
        words = _("{label} would be safer ({how}), and costs {less} of the use.")
        changes = []
        if point["risk"] < own["risk"]:
            changes.append(
                _("risk {after} in place of {before}").format(after=percent(point["risk"]), before=percent(own["risk"]))
            )
        if (point["survival"] or 0.0) > (own["survival"] or 0.0):
            changes.append(
                _("survival {after} in place of {before}").format(
                    after=chance(point["survival"]), before=chance(own["survival"])
                )
            )
        less = decimal(own["use"] - point["use"])
        said.append(words.format(label=other.setting.label, how=", ".join(changes), less=less))
    return said


def failure_words(name: str, why: Mapping[str, str]) -> str:
    """Return that something could not be computed, with what may be shown of the reason, as a part of a sentence."""
    return _("{name} could not be computed ({kind})").format(name=name, kind=why["kind"])


def _why_not(study: Study, setting: SettingResult) -> str:
    """Return why a setting is not safe, or not known to be, as a part of a sentence."""
    point, worst = setting.point, setting.worst
    if worst is None:
        return _("it failed") if setting.failed else _("it was refused")
    if setting.undecided:
        return "; ".join(failure_words(name, why) for name, why in setting.failed.items())
    if study.source.kind == Kind.HISTORY:
        if point["verdict"] == Verdict.BROKEN and worst.attacks:
            best = worst.attacks[0]["best"]["sharp"]
            words = _("{attack} breaks it: {right} of {named} right where {needed} are needed")
            return words.format(attack=worst.attacks[0]["attack"], **_try(best))
        if point["survival"] is not None and point["survival"] < study.asked.require:
            words = _("it survives {attackers} attackers with only {chance}")
            return words.format(attackers=count(study.asked.attackers), chance=chance(point["survival"]))
    if study.asked.most_risk is not None and point["risk"] is not None and point["risk"] > study.asked.most_risk:
        return _("its risk, {risk}, is above the accepted {asked}").format(
            risk=percent(point["risk"]), asked=percent(study.asked.most_risk)
        )
    if point["verdict"] == Verdict.UNTRIED:
        return _("it was not judged")
    if study.source.kind == Kind.HISTORY and point["survival"] is None:
        return _("its survival is not known")
    return _("it does not keep what it claims")


def setting_sentence(study: Study, setting: SettingResult) -> str:
    """Return in a few words how a setting fared, for a line of a table."""
    if not setting.done and setting.failed:
        return "; ".join(failure_words(name, why) for name, why in setting.failed.items())
    if not setting.done:
        return setting.runs[0].reason()
    return "" if setting.point["withstands"] else _why_not(study, setting)


def chance(value: float) -> str:
    """Write a chance with two decimals; only what is sure is 0 or 1.

    >>> chance(0.9412), chance(0.0), chance(0.0001), chance(0.9999), chance(1.0)
    ('0.94', '0.00', '<0.01', '>0.99', '1.00')
    """
    if 0 < value < 0.005:
        return "<0.01"
    return ">0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def rule(study: Study) -> list[str]:
    """Return the rule by which the answer was found, in sentences."""
    asked = study.asked
    if study.source.kind == Kind.HISTORY:
        safe = _(
            "A setting withstands if, with every seed, none of the attacks tried is effective under the sharp test and "
            "the release survives {attackers} attackers, each doing the best one can, with a chance of {asked} at "
            "least."
        ).format(attackers=count(asked.attackers), asked=f"{asked.require:g}")
    else:
        safe = _(
            "A setting withstands if, with every seed, the classes of the released table keep what the method claims, "
            "or its promise is proven."
        )
    said = [safe]
    if asked.most_risk is not None:
        said.append(_("Its risk must not be above {asked}.").format(asked=percent(asked.most_risk)))
    said.append(
        _(
            "Of the settings that withstand, the one that keeps the most use is recommended; of equals the one with "
            "less risk."
        )
    )
    if len({choice.use_of for choice in study.choices}) > 1:
        said.append(_("Uses that different measures tell are not compared: each measure has an answer of its own."))
    return said


def frontier_words(best: int, of: int) -> str:
    """Return how many settings the map's line joins."""
    return ngettext(
        "{count} of {of} settings is beaten by no other in safety and use",
        "{count} of {of} settings are beaten by no other in safety and use",
        best,
    ).format(count=count(best), of=count(of))
