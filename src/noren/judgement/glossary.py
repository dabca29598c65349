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
    'How many pseudonyms the attacker puts a customer’s name to.'
    """
    known = {one.anchor: one for one in (*_about_verdicts(), *_about_risk(), *_about_use())}
    return {anchor: known[anchor] for anchor in anchors}


def chapters() -> list[Chapter]:
    """Return all words, in the language now spoken."""
    return [
        Chapter("release", _("A release and its parts"), _about_releases()),
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
            _("The data as they were uploaded. They stay on this machine and are part of no release."),
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
                "Who is behind which pseudonym, and the seed that rebuilds it. It judges attacks and must never "
                "leave the steward."
            ),
        ),
        GlossaryEntry(
            "pseudonym",
            _("pseudonym"),
            _("A made-up name in place of a customer’s. It hides a name, not a person: purchases give people away."),
        ),
        GlossaryEntry(
            "generalised",
            _("generalised"),
            _("A cell that says less than it did, but nothing false: a range in place of a number, a set of items."),
        ),
        GlossaryEntry("suppressed", _("suppressed"), _("A cell that says nothing any more.")),
        GlossaryEntry(
            "k",
            _("k"),
            _(
                "How many people share what is released about each of them. With k = 3 whoever recognises the history "
                "still has to choose among three people. A larger k is safer and less exact."
            ),
            _("higher is safer"),
        ),
        GlossaryEntry(
            "seed",
            _("seed"),
            _(
                "The number that chance starts from. The same data, method and seed give the same release, byte for "
                "byte."
            ),
        ),
    ]


def _about_verdicts() -> list[GlossaryEntry]:
    return [
        GlossaryEntry(
            "membership-inference",
            _("membership inference"),
            _(
                "Telling that somebody is in the data, without telling which record is theirs. It is judged beside "
                "people who are not in the data: how many people in them are found where one in ten of others is "
                "taken for one."
            ),
            _("lower is safer"),
        ),
        GlossaryEntry(
            "attribute-inference",
            _("attribute inference"),
            _(
                "Guessing what was not known of somebody, such as an illness or an unseen purchase. Only what is "
                "guessed rightly of people in the data beyond people outside is the release’s doing."
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
                "What the recipient may be able to do: the highest chance of naming a person rightly that is "
                "tolerated, and how it is tested whether more is possible. It is chosen before anything is tried."
            ),
        ),
        GlossaryEntry(
            "risk",
            _("risk"),
            _(
                "The highest chance of being named: what is proved, where that is enough for the rule; else what the "
                "smallest class of a table tells, or the share of customers that the best attack names rightly."
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
                "A program that knows the original purchases and tries to put customers’ names to pseudonyms. We "
                "attack every release with all that we have, because others will."
            ),
        ),
        GlossaryEntry("named", _("named"), _("How many pseudonyms the attacker puts a customer’s name to.")),
        GlossaryEntry("right", _("right"), _("How many of these names are right."), safer),
        GlossaryEntry(
            "rate",
            _("rate"),
            _(
                "The share of the names that is right, and the interval of 95 % about it (Clopper and Pearson), as if "
                "answers were independent of each other."
            ),
            safer,
        ),
        GlossaryEntry(
            "chance",
            _("rate by chance"),
            _("The share of names that would be right in the mean if each were drawn at random from all customers."),
        ),
        GlossaryEntry(
            "share",
            _("customers named rightly"),
            _("The share of all customers whom an attack names rightly at least once."),
            safer,
        ),
        GlossaryEntry(
            "best",
            _("surest names"),
            _("Of the names that the attack is surest of, as many as tell most, how many are right."),
            safer,
        ),
        GlossaryEntry(
            "needed",
            _("needed"),
            _("How many right ones among these surest names refute by the rule that the tolerance is kept."),
        ),
        GlossaryEntry(
            "frontier",
            _("frontier"),
            _("The releases that no other one beats: none is safer and as useful, or as safe and more useful."),
        ),
    ]


def _about_tables() -> list[GlossaryEntry]:
    safer = _("lower is safer")
    return [
        GlossaryEntry(
            "class",
            _("class"),
            _("Rows or pseudonyms that cannot be told apart. Who is in a class of one can be found."),
            _("larger is safer"),
        ),
        GlossaryEntry(
            "prosecutor",
            _("risk of the most exposed person"),
            _(
                "Somebody knows that a certain person is in the table and looks the person up: the chance to pick the "
                "right row where it is highest, one in the smallest class."
            ),
            safer,
        ),
        GlossaryEntry(
            "journalist",
            _("risk against anybody"),
            _("Somebody wants to expose anybody at all: the chance to be right about one row in a larger population."),
            safer,
        ),
        GlossaryEntry(
            "marketer",
            _("risk on average"),
            _("Somebody links every row: the share of rows that would be linked rightly."),
            safer,
        ),
        GlossaryEntry(
            "pk",
            _("Pk-anonymity"),
            _(
                "A proof rather than a count: whoever knows all original rows and sees all released ones cannot say "
                "with a probability above 1/k which row is whose. Values are redrawn by chance to make it so."
            ),
            _("higher k is safer"),
        ),
        GlossaryEntry(
            "rho",
            _("ρ, the share that is kept"),
            _("The probability with which a value is left as it is. What is not kept is drawn anew from all values."),
            _("higher is more useful, lower is safer"),
        ),
        GlossaryEntry(
            "reconstruction",
            _("reconstructed"),
            _(
                "The noise that was added is known, so its effect on whole tables can be reckoned back: no person’s "
                "row, but how many rows each cell had."
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
                "The error to expect when a value is drawn from each released cell: 0 for an exact copy, 1 for a "
                "release that says nothing."
            ),
            less,
        ),
        GlossaryEntry("use-kept", _("use kept"), _("What the error leaves: 1 − U."), more),
        GlossaryEntry(
            "precision",
            _("L1 precision"),
            _(
                "The share of records that stand in the right cell of a cross tabulation: 1 when every cell has as "
                "many as in the original, 0 when no record is where one was."
            ),
            more,
        ),
        GlossaryEntry(
            "shift",
            _("net shift"),
            _("The share of rows by which bars of the release are taller than the original’s."),
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
                "The book of everything that was released about the same people. Each month may look safe by itself "
                "and not be so on top of the others; the ledger tells before the next one goes out."
            ),
        ),
        GlossaryEntry(
            "budget",
            _("budget"),
            _("How much may be found at most, decided beforehand. The ledger warns of a release that would break it."),
        ),
    ]


def _measures() -> list[GlossaryEntry]:
    ways = {"lower": _("lower is better"), "higher": _("higher is better")}
    return [
        GlossaryEntry(n, n, f"{_(measures[n].summary)} {_('In:')} {_(measures[n].unit)}.", ways[str(measures[n].goal)])
        for n in measures
    ]
