"""What the studio's words mean: one plain paragraph each, for whoever never read a paper."""

from __future__ import annotations

from dataclasses import dataclass

from noren.attacks import attacks
from noren.i18n import _
from noren.measures import measures
from noren.methods import methods
from noren.study.report_words import glossary as report_glossary

__all__ = ["Chapter", "Entry", "chapters"]


@dataclass(frozen=True)
class Entry:
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
    entries: list[Entry]


def chapters() -> list[Chapter]:
    """Return all words, in the language now spoken."""
    return [
        Chapter("release", _("A release and its parts"), _about_releases()),
        Chapter("risk", _("What an attacker achieves"), _about_risk()),
        Chapter("tables", _("Risk in tables"), _about_tables()),
        Chapter("use", _("What stays useful"), _about_use()),
        Chapter("series", _("Several releases of the same people"), _about_series()),
        Chapter("methods", _("Ways to protect"), [Entry(n, n, _(methods[n].summary)) for n in methods]),
        Chapter("attacks", _("Attacks"), [Entry(n, n, _(attacks[n].summary)) for n in attacks]),
        Chapter("measures", _("Measures"), _measures()),
    ]


def _about_releases() -> list[Entry]:
    return [
        Entry(
            "original",
            _("original"),
            _("The data as they were uploaded. They stay on this machine and are part of no release."),
        ),
        Entry(
            "public-part",
            _("public part"),
            _("What may be handed out: the protected rows and a statement of how they were protected."),
        ),
        Entry(
            "secret-part",
            _("secret part"),
            _(
                "Who is behind which pseudonym, and the seed that rebuilds it. It judges attacks and must never "
                "leave the steward."
            ),
        ),
        Entry(
            "pseudonym",
            _("pseudonym"),
            _("A made-up name in place of a customer’s. It hides a name, not a person: purchases give people away."),
        ),
        Entry(
            "generalised",
            _("generalised"),
            _("A cell that says less than it did, but nothing false: a range in place of a number, a set of items."),
        ),
        Entry("suppressed", _("suppressed"), _("A cell that says nothing any more.")),
        Entry(
            "k",
            _("k"),
            _(
                "How many people share what is released about each of them. With k = 3 whoever recognises the history "
                "still has to choose among three people. A larger k is safer and less exact."
            ),
            _("higher is safer"),
        ),
        Entry(
            "seed",
            _("seed"),
            _(
                "The number that chance starts from. The same data, method and seed give the same release, byte for "
                "byte."
            ),
        ),
    ]


def _about_risk() -> list[Entry]:
    said = report_glossary()
    return [
        Entry(
            "attack",
            _("attack"),
            _(
                "A program that knows the original purchases and tries to put customers’ names to pseudonyms. We "
                "attack every release with all that we have, because others will."
            ),
        ),
        *(Entry(key, said[key].name, said[key].meaning, said[key].direction) for key in ("named", "right")),
        Entry("chance", said["chance"].name, said["chance"].meaning),
        Entry("needed", said["needed"].name, said["needed"].meaning),
        Entry(
            "paper-bound",
            _("the paper’s bound"),
            _(
                "The contest’s rule for how many right names are needed. It supposes that a safe release lets each "
                "name be right with chance 1/3, and adds up chances generously, so it forgives some attacks."
            ),
        ),
        Entry(
            "sharp-bound",
            _("the sharp bound"),
            _(
                "The same question reckoned exactly: the fewest right names that a safe release would hardly ever "
                "allow. It is the stricter of the two, and the map uses it."
            ),
        ),
        Entry(
            "verdict",
            _("verdict"),
            _(
                "Whether any attack had more right names than luck explains. “Withstands” speaks of the attacks tried "
                "here and of no other: a better attack may still come."
            ),
        ),
        Entry("share", said["share"].name, said["share"].meaning, said["share"].direction),
        Entry("frontier", said["frontier"].name, said["frontier"].meaning),
    ]


def _about_tables() -> list[Entry]:
    safer = _("lower is safer")
    return [
        Entry(
            "class",
            _("class"),
            _("Rows or pseudonyms that cannot be told apart. Who is in a class of one can be found."),
            _("larger is safer"),
        ),
        Entry(
            "prosecutor",
            _("risk of the most exposed person"),
            _(
                "Somebody knows that a certain person is in the table and looks the person up: the chance to pick the "
                "right row where it is highest, one in the smallest class."
            ),
            safer,
        ),
        Entry(
            "journalist",
            _("risk against anybody"),
            _("Somebody wants to expose anybody at all: the chance to be right about one row in a larger population."),
            safer,
        ),
        Entry(
            "marketer",
            _("risk on average"),
            _("Somebody links every row: the share of rows that would be linked rightly."),
            safer,
        ),
        Entry(
            "pk",
            _("Pk-anonymity"),
            _(
                "A proof rather than a count: whoever knows all original rows and sees all released ones cannot say "
                "with a probability above 1/k which row is whose. Values are redrawn by chance to make it so."
            ),
            _("higher k is safer"),
        ),
        Entry(
            "rho",
            _("ρ, the share that is kept"),
            _("The probability with which a value is left as it is. What is not kept is drawn anew from all values."),
            _("higher is more useful, lower is safer"),
        ),
        Entry(
            "reconstruction",
            _("reconstructed"),
            _(
                "The noise that was added is known, so its effect on whole tables can be reckoned back: no person’s "
                "row, but how many rows each cell had."
            ),
        ),
    ]


def _about_use() -> list[Entry]:
    said = report_glossary()
    return [
        Entry("error", said["error"].name, said["error"].meaning, said["error"].direction),
        Entry("use-kept", said["use"].name, said["use"].meaning, said["use"].direction),
        Entry(
            "precision",
            _("L1 precision"),
            _(
                "The share of records that stand in the right cell of a cross tabulation: 1 when every cell has as "
                "many as in the original, 0 when no record is where one was."
            ),
            _("higher is more useful"),
        ),
        *(Entry(key, said[key].name, said[key].meaning, said[key].direction) for key in ("shift", "unsaid", "deleted")),
    ]


def _about_series() -> list[Entry]:
    return [
        Entry(
            "ledger",
            _("ledger"),
            _(
                "The book of everything that was released about the same people. Each month may look safe by itself "
                "and not be so on top of the others; the ledger tells before the next one goes out."
            ),
        ),
        Entry(
            "budget",
            _("budget"),
            _("How much may be found at most, decided beforehand. The ledger warns of a release that would break it."),
        ),
    ]


def _measures() -> list[Entry]:
    ways = {"lower": _("lower is better"), "higher": _("higher is better")}
    return [
        Entry(n, n, f"{_(measures[n].summary)} {_('In:')} {_(measures[n].unit)}.", ways[str(measures[n].goal)])
        for n in measures
    ]
