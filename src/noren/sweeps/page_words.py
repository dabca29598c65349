"""The fixed words of a study's page: headings, what every number means, and what the page does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noren.data.schema import Kind
from noren.drawing.risk_map import use_title
from noren.i18n import _
from noren.judgement.glossary import GlossaryEntry, terms
from noren.judgement.verdict import Word

if TYPE_CHECKING:
    from noren.sweeps.study import Study

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
        "map_taken": _("◯ a ring around it: recommended"),
        "map_hollow": _("hollow: may not be handed out"),
        "map_frontier": _(
            "dashed line: the Pareto frontier of what may be handed out, no setting beaten in both safety and utility"
        ),
        "map_reading": _(
            "The farther right a setting lies the more use it keeps, the lower the fewer people are found."
        ),
        "table": _("All settings"),
        "setting": _("setting"),
        "verdict": _("verdict"),
        "why": _("why"),
        "recommended": _("recommended"),
        "no_other": _("no other is better in both"),
        "attackers": _("What each attack gets"),
        "attack": _("attack"),
        "effective": _("breaks the rule"),
        "no_attack": _("No attack was tried."),
        "in_vain": _("These re-identify nobody: {names}."),
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


def glossary(study: Study) -> dict[str, GlossaryEntry]:
    """Return every number of the page with its meaning, and the verdicts; as all pages say them."""
    history = study.source.kind == Kind.HISTORY
    attacks = ("named", "right", "rate", "chance", "share", "best", "needed") if history else ()
    told = {
        "use": GlossaryEntry(
            "use",
            use_title([one.place for one in study.settings]),
            _("What the release still says: 1 for an exact copy; the mean over the runs."),
            _("higher is more useful"),
        )
    }
    if history:
        told["survival"] = GlossaryEntry(
            "survival",
            _("chance to survive"),
            _("How likely none of many independent attackers, all at their best, is effective; the rule does not ask."),
            _("higher is safer"),
        )
    return told | terms("risk", *attacks, *Word, "frontier")


def caveats(study: Study) -> list[str]:
    """Return what a reader must not take from the page."""
    said = []
    if study.source.kind == Kind.HISTORY:
        said += [
            _(
                "The attacks tried are those that Noren knows, and “withstands” speaks of them alone: a better one may "
                "come. “Proved” does not rest on them, but on how many customers share each released history."
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
                    "The utility of generalised and of perturbed tables is measured differently; the numbers "
                    "cannot be compared with each other."
                )
            )
    said += [
        _(
            "Utility is measured in general terms. Whether the release serves your purpose, try with the "
            "analysis you need it for."
        ),
        _(
            "The best of many settings looks a little better than it is. A release made with another seed has its own "
            "numbers, close to these: measure what you publish."
        ),
        _("A release is one of a series if you publish again: the risk adds up, and noren ledger accounts for it."),
        _("Whether the law lets you publish is not decided here."),
    ]
    return said
