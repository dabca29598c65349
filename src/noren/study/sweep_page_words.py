"""The fixed words of a study's page: headings, what every number means, and what the page does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noren.data.schema import Kind
from noren.i18n import _
from noren.study.findings import count
from noren.study.report_words import Term
from noren.study.risk_map import risk_title, use_title

if TYPE_CHECKING:
    from noren.study.sweep_study import Study

__all__ = ["caveats", "glossary", "words"]


def words() -> dict[str, str]:
    """Return the headings and labels of the page."""
    return {
        "report": _("Noren study"),
        "shown": _("This page may be shown."),
        "shown_note": _(
            "It tells numbers alone: no row, no person and no seed. The file sweep.toml beside it holds the seeds and "
            "is secret."
        ),
        "asked": _("What was asked"),
        "rule": _("How the answer is found"),
        "answer": _("The answer"),
        "map_safe": _("● withstands"),
        "map_broken": _("▲ does not withstand"),
        "map_untried": _("■ not judged"),
        "map_taken": _("◯ a ring around it: recommended"),
        "map_frontier": _("dashed line: the settings that no other one beats in both safety and use"),
        "map_reading": _(
            "The farther right a setting lies the more use it keeps, the lower the fewer people are found."
        ),
        "table": _("All settings"),
        "setting": _("setting"),
        "verdict": _("verdict"),
        "why": _("why"),
        "recommended": _("recommended"),
        "no_other": _("no other is better in both"),
        "attackers": _("What each attacker achieves at best, under the sharp test"),
        "attack": _("attack"),
        "effective": _("effective"),
        "no_attack": _("No attack was tried."),
        "in_vain": _("These name nobody rightly: {names}."),
        "classes": _("How well a person can be found"),
        "useful": _("What stays useful"),
        "measure": _("measure"),
        "value": _("value"),
        "left_out": _("Left out:"),
        "not_told": _("What this does not tell"),
        "repeat": _("How to repeat it"),
        "glossary": _("What the numbers mean"),
        "footer": _("Made by Noren {version}."),
    }


def glossary(study: Study) -> dict[str, Term]:
    """Return every number of the page with its meaning."""
    safer, useful = _("lower is safer"), _("higher is more useful")
    points = [one.point for one in study.settings]
    terms = {
        "use": Term(
            use_title(points), _("What the release still says: 1 for an exact copy; the mean over the runs."), useful
        ),
        "risk": Term(risk_title(points), _("Of the worst run."), safer),
    }
    if study.source.kind == Kind.HISTORY:
        terms["risk"] = Term(
            risk_title(points),
            _("The share of all customers whom the best attack names rightly, in the worst run."),
            safer,
        )
        terms |= {
            "survival": Term(
                _("chance to survive"),
                _(
                    "How likely none of {attackers} attackers, each doing the best one can, proves the release unsafe."
                ).format(attackers=count(study.asked.attackers)),
                _("higher is safer"),
            ),
            "sharp": Term(
                _("sharp test"),
                _(
                    "An attack is effective if it names so many people rightly that a safe release would hardly ever "
                    "allow it: with a chance below 1 in 2,000, reckoned exactly."
                ),
            ),
            "named": Term(
                _("named"), _("How many pseudonyms the attacker puts a customer’s name to, its surest alone.")
            ),
            "right": Term(_("right"), _("How many of these names are right."), safer),
            "needed": Term(_("needed"), _("How many right names would prove the release unsafe.")),
            "share": Term(
                _("customers found"),
                _("The share of all customers whom the attack names rightly, all its names counted."),
                safer,
            ),
        }
    terms["frontier"] = Term(
        _("frontier"),
        _(
            "The settings that no other one beats: none is safer and as useful, or as safe and more useful. One that "
            "does not withstand beats none that does."
        ),
    )
    return terms


def caveats(study: Study) -> list[str]:
    """Return what a reader must not take from the page."""
    said = []
    if study.source.kind == Kind.HISTORY:
        said += [
            _(
                "The attacks tried are those that Noren knows. A better one may come; the chance to survive does not "
                "rest on them, but on how many customers share each released history."
            ),
            _(
                "That chance supposes attackers who guess independently and know which customers stand behind which "
                "released histories. Methods that make no histories alike do not pass it, even where the attacks tried "
                "fail."
            ),
        ]
    else:
        said.append(
            _(
                "Classes tell how well a person can be singled out by the columns called quasi-identifiers in the "
                "schema. Columns that were not called so are not protected."
            )
        )
        if len({choice.use_of for choice in study.choices}) > 1:
            said.append(
                _(
                    "The use of generalised and of perturbed tables is told by different measures; the numbers cannot "
                    "be held against each other."
                )
            )
    said += [
        _(
            "Use is told by general measures. Whether the release serves your purpose, try with the analysis you need "
            "it for."
        ),
        _(
            "The best of many settings looks a little better than it is. A release made with another seed has its own "
            "numbers, close to these: measure what you publish."
        ),
        _("A release is one of a series if you publish again: the risk adds up, and noren ledger reckons with it."),
        _("Whether the law lets you publish is not decided here."),
    ]
    return said
