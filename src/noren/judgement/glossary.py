"""What the words of pages and reports mean: one plain paragraph each, for whoever never read a paper."""

from __future__ import annotations

from dataclasses import dataclass

from noren.attacks import attacks
from noren.i18n import _
from noren.judgement.sentences import bare_word, word_meaning
from noren.judgement.verdict import Word
from noren.measures import measures
from noren.methods import methods

__all__ = ["Chapter", "GlossaryEntry", "Term", "chapters", "terms"]


@dataclass(frozen=True)
class Term:
    """A number's name, which way is better, and one plain sentence."""

    name: str
    meaning: str
    direction: str = ""


@dataclass(frozen=True)
class GlossaryEntry:
    """A word with its meaning. ``anchor`` is where a link finds it; components are found by their names."""

    anchor: str
    name: str
    meaning: str
    direction: str = ""


@dataclass(frozen=True)
class Chapter:
    """Words that belong together."""

    anchor: str
    title: str
    entries: list[GlossaryEntry]


def terms(*anchors: str) -> dict[str, GlossaryEntry]:
    """Return words by their anchors, in the language now spoken.

    >>> terms("named")["named"].meaning
    'How many pseudonyms the attack assigns to a customer.'
    """
    known = {one.anchor: one for one in (*_about_verdicts(), *_about_risk(), *_about_use())}
    return {anchor: known[anchor] for anchor in anchors}


def chapters() -> list[Chapter]:
    """Return all words, in the language now spoken."""
    return [
        Chapter("release", _("A release and its parts"), _about_releases()),
        Chapter("field", _("Terms of the field"), _about_the_field()),
        Chapter("verdicts", _("How safe a release is"), _about_verdicts()),
        Chapter("attackers", _("What an attacker achieves"), _about_risk()),
        Chapter("tables", _("Risk in tables"), _about_tables()),
        Chapter("use", _("What stays useful"), _about_use()),
        Chapter("series", _("Several releases of the same people"), _about_series()),
        Chapter("methods", _("Ways to protect"), [GlossaryEntry(n, n, _(methods[n].summary)) for n in methods]),
        Chapter("attacks", _("Attacks"), [GlossaryEntry(n, n, _(attacks[n].summary)) for n in attacks]),
        Chapter("measures", _("Measures"), _measures()),
    ]


def _about_releases() -> list[GlossaryEntry]:
    return [
        GlossaryEntry(
            "original",
            _("original"),
            _("The data before protection. They stay on this machine and are part of no release."),
        ),
        GlossaryEntry(
            "public-part",
            _("public part"),
            _("What may be handed out: the protected rows and a statement of how they were protected."),
        ),
        GlossaryEntry(
            "secret-part",
            _("secret part"),
            _(
                "The lookup table from pseudonyms to customers, where each row came from, and the seed that rebuilds "
                "both. Attacks are scored against it; it must never leave the steward."
            ),
        ),
        GlossaryEntry(
            "pseudonym",
            _("pseudonym"),
            _(
                "A made-up identifier in place of a customer’s. It hides a name, not a person: purchases give people "
                "away."
            ),
        ),
        GlossaryEntry(
            "generalised",
            _("generalised"),
            _("Replaced by something less precise but true: a range in place of a number, a set in place of an item."),
        ),
        GlossaryEntry("suppressed", _("suppressed"), _("Removed: the cell holds no information any more.")),
        GlossaryEntry(
            "k",
            _("k"),
            _(
                "How many people at least share what is released about each of them. With k = 3 whoever recognises a "
                "history still has to choose among three people. A larger k is safer and less precise."
            ),
            _("higher is safer"),
        ),
        GlossaryEntry(
            "seed",
            _("seed"),
            _(
                "The number that fixes every random choice. The same data, method and seed give the same release, "
                "byte for byte."
            ),
        ),
    ]


def _about_the_field() -> list[GlossaryEntry]:
    safer = _("higher is safer")
    return [
        GlossaryEntry(
            "re-identification",
            _("re-identification"),
            _("Finding out which person a record or a pseudonym of a release belongs to."),
        ),
        GlossaryEntry(
            "pseudonymisation",
            _("pseudonymisation"),
            _(
                "Replacing names and numbers of people by pseudonyms. By itself it does not anonymise: whoever knows "
                "some of a person’s records finds the others."
            ),
        ),
        GlossaryEntry(
            "lookup-table",
            _("lookup table"),
            _("Which pseudonym stands for whom. It is a part of the secret part."),
        ),
        GlossaryEntry(
            "identifier",
            _("identifier"),
            _(
                "A column that identifies a person by itself, such as a name or a member’s number. Its values are "
                "not released."
            ),
        ),
        GlossaryEntry(
            "quasi-identifier",
            _("quasi-identifier"),
            _(
                "A column that others may know of a person and that identifies people together with others, such as "
                "age, sex and post code."
            ),
        ),
        GlossaryEntry(
            "sensitive-attribute",
            _("sensitive attribute"),
            _("A column whose value nobody should learn of a person, such as an illness or an income."),
        ),
        GlossaryEntry(
            "k-anonymity",
            _("k-anonymity"),
            _("Every released record is shared by at least k people, so none of them can be told from k − 1 others."),
            safer,
        ),
        GlossaryEntry(
            "l-diversity",
            _("ℓ-diversity"),
            _(
                "Every class has at least ℓ different sensitive values. With ℓ = 1 a class gives its members’ value "
                "away, however large k is."
            ),
            safer,
        ),
        GlossaryEntry(
            "t-closeness",
            _("t-closeness"),
            _("The sensitive values of every class are distributed as in the whole table, up to a distance of t."),
            _("lower is safer"),
        ),
        GlossaryEntry(
            "linkage-attack",
            _("linkage attack"),
            _("Matching records of a release with records that carry names, by the values that both have."),
        ),
        GlossaryEntry(
            "singling-out",
            _("singling out"),
            _("Isolating the records of one person in the data, even before anybody knows who that is."),
        ),
        GlossaryEntry(
            "control-group",
            _("control group"),
            _(
                "People like those in the data who are not in them. What an attack infers about them cannot come from "
                "the release."
            ),
        ),
        GlossaryEntry(
            "perturbation",
            _("perturbation"),
            _("Changing values at random, by a distribution that is known, so that counts can still be estimated."),
        ),
        GlossaryEntry(
            "utility",
            _("utility"),
            _("How well analyses of a release agree with analyses of the original."),
            _("higher is more useful"),
        ),
    ]


def _about_verdicts() -> list[GlossaryEntry]:
    return [
        GlossaryEntry(
            "membership-inference",
            _("membership inference"),
            _(
                "Inferring that a person is in the data, without linking a record to them. It is measured against a "
                "control group of people who are not in the data: the true positive rate at a false positive rate of "
                "10 %."
            ),
            _("lower is safer"),
        ),
        GlossaryEntry(
            "attribute-inference",
            _("attribute inference"),
            _(
                "Inferring an unknown attribute of a person, such as an illness or an unseen purchase. Only the "
                "success beyond that on the control group, people who are not in the data, comes from the release."
            ),
            _("lower is safer"),
        ),
        GlossaryEntry(
            "verdict",
            _("verdict"),
            _(
                "How safe a release is by a rule, in one of four words: proved, withstands, broken, untried. What was "
                "proved or withstands may be handed out."
            ),
        ),
        *(GlossaryEntry(str(word), bare_word(word), word_meaning(word)) for word in Word),
        GlossaryEntry(
            "rule",
            _("rule"),
            _(
                "What the recipient may be able to do: the highest tolerated probability of re-identifying a person, "
                "and the test of whether an attack exceeds it. It is chosen before anything is tried."
            ),
        ),
        GlossaryEntry(
            "risk",
            _("risk"),
            _(
                "The highest probability of being re-identified: what is proved, where that is enough for the rule; "
                "else what the smallest class of a table implies, or the share of customers that the best attack "
                "re-identifies."
            ),
            _("lower is safer"),
        ),
    ]


def _about_risk() -> list[GlossaryEntry]:
    safer = _("lower is safer")
    return [
        GlossaryEntry(
            "attack",
            _("attack"),
            _(
                "A program that knows the original purchases and tries to re-identify the customers behind "
                "pseudonyms. Every release is attacked with all that we have, because others will attack it, too."
            ),
        ),
        GlossaryEntry("named", _("named"), _("How many pseudonyms the attack assigns to a customer.")),
        GlossaryEntry("right", _("right"), _("How many of these guesses are right."), safer),
        GlossaryEntry(
            "rate",
            _("rate"),
            _(
                "The share of guesses that are right, with its 95 per cent interval (Clopper–Pearson), as if guesses "
                "were independent of each other."
            ),
            safer,
        ),
        GlossaryEntry(
            "chance",
            _("rate by chance"),
            _("The expected share of right guesses if each were drawn at random from all customers."),
        ),
        GlossaryEntry(
            "share",
            _("customers re-identified"),
            _("The share of all customers whom an attack re-identifies at least once."),
            safer,
        ),
        GlossaryEntry(
            "best",
            _("most confident guesses"),
            _(
                "Of the attack’s most confident guesses, as many of them as count most against the release, how many "
                "are right."
            ),
            safer,
        ),
        GlossaryEntry(
            "needed",
            _("needed"),
            _("How many right ones among its most confident guesses refute, by the rule, that the tolerance is kept."),
        ),
        GlossaryEntry(
            "frontier",
            _("frontier"),
            _(
                "The Pareto frontier, the releases that no other one beats: none is safer and as useful, or as safe "
                "and more useful."
            ),
        ),
    ]


def _about_tables() -> list[GlossaryEntry]:
    safer = _("lower is safer")
    return [
        GlossaryEntry(
            "class",
            _("class"),
            _(
                "An equivalence class: rows or pseudonyms that cannot be told apart. Whoever is in a class of one can "
                "be found."
            ),
            _("larger is safer"),
        ),
        GlossaryEntry(
            "prosecutor",
            _("prosecutor risk"),
            _(
                "The attacker knows that a certain person is in the table and looks for their row: the probability of "
                "picking the right one where it is highest, one in the smallest class."
            ),
            safer,
        ),
        GlossaryEntry(
            "journalist",
            _("journalist risk"),
            _(
                "The attacker wants to expose anybody at all: the probability of being right about one row in a "
                "larger population."
            ),
            safer,
        ),
        GlossaryEntry(
            "marketer",
            _("marketer risk"),
            _("The attacker links every row to a person: the share of rows that would be linked correctly."),
            safer,
        ),
        GlossaryEntry(
            "pk",
            _("Pk-anonymity"),
            _(
                "Probabilistic k-anonymity, a proof rather than a count: an attacker who knows all original rows and "
                "sees all released ones cannot say with a probability above 1/k which row is whose. Values are "
                "randomised to make it so."
            ),
            _("higher k is safer"),
        ),
        GlossaryEntry(
            "rho",
            _("ρ, the retention probability"),
            _("The probability with which a value is left as it is. What is not kept is drawn anew from all values."),
            _("higher is more useful, lower is safer"),
        ),
        GlossaryEntry(
            "reconstruction",
            _("reconstructed"),
            _(
                "The distribution of the noise is known, so its effect on whole tables can be estimated and removed: "
                "no person’s row, but how many rows each cell had."
            ),
        ),
    ]


def _about_use() -> list[GlossaryEntry]:
    less, more = _("lower is more useful"), _("higher is more useful")
    return [
        GlossaryEntry(
            "error",
            _("U, error per cell"),
            _(
                "The expected error when a value is drawn from each released cell: 0 for an exact copy, 1 for a "
                "release that says nothing."
            ),
            less,
        ),
        GlossaryEntry("use-kept", _("utility kept"), _("What the error leaves: 1 − U."), more),
        GlossaryEntry(
            "precision",
            _("L1 precision"),
            _(
                "The share of records in the right cell of a cross tabulation: 1 when every cell has as many as in "
                "the original, 0 when no record is where one was."
            ),
            more,
        ),
        GlossaryEntry(
            "shift",
            _("net shift"),
            _("By how much bars of the release are taller than the original’s, summed up, as a share of the rows."),
            less,
        ),
        GlossaryEntry(
            "unsaid", _("not said"), _("The share of rows whose cell is suppressed or whose row is deleted."), less
        ),
        GlossaryEntry("deleted", _("rows deleted"), _("How many original rows have no released row."), less),
    ]


def _about_series() -> list[GlossaryEntry]:
    return [
        GlossaryEntry(
            "ledger",
            _("ledger"),
            _(
                "The record of everything released about the same people. Each month may look safe by itself and not "
                "be so together with the others; the ledger tells before the next one goes out."
            ),
        ),
        GlossaryEntry(
            "budget",
            _("budget"),
            _(
                "The highest joint risk of all releases that is allowed, decided beforehand. The ledger warns of a "
                "release that would exceed it."
            ),
        ),
    ]


def _measures() -> list[GlossaryEntry]:
    ways = {"lower": _("lower is better"), "higher": _("higher is better")}
    return [
        GlossaryEntry(n, n, f"{_(measures[n].summary)} {_('In:')} {_(measures[n].unit)}.", ways[str(measures[n].goal)])
        for n in measures
    ]
