"""Find me a release: a small sweep of sensible settings by the rule of whoever gets it, and more seeds to be surer.

What is tried is what ``noren explore`` would try of these methods, and the answer is on the page Compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from noren.api import draw_seed
from noren.attacks import attacks as every_attack
from noren.descriptions import Runtime
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.judgement.outcome import fitting
from noren.judgement.rule import Rule, rule_named
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.protocols import Method
from noren.studio.acts.projects import change_project
from noren.studio.forms.run_form import quick_judges
from noren.studio.project_files import with_project_files
from noren.studio.service import Studio
from noren.studio.store import Job
from noren.sweeps.plan import placing_measures
from noren.sweeps.usual import sensible_methods, sensible_values, usual_parameters
from noren.work.ids import new_id

FOR_WHOM: Final = ("partner", "public", "inside")
"""The rules that a release is found for, the usual one first."""
MORE_SEEDS: Final = 4
"""With how many further seeds the setting to take runs, to be surer of it."""
_MANY_ROWS: Final = 100_000
"""With more rows than these, only quick attacks and measures judge."""
_TOO_MANY_ROWS: Final = 500_000
"""With more rows than these, a slow method is left to whoever asks for it by name, where another fits."""


@dataclass(frozen=True)
class Search:
    """What is tried to find a release by a rule.

    Attributes
    ----------
    wanted
        The methods with the values to try, as a sweep takes them.
    attacks, measures
        Who judges; None for everybody, else those who are quick.
    """

    rule: Rule
    wanted: Sequence[dict[str, Any]]
    attacks: Sequence[str] | None
    measures: Sequence[str] | None

    @property
    def methods(self) -> list[str]:
        """The names of the methods."""
        return [str(one["method"]) for one in self.wanted]

    @property
    def ks(self) -> list[int]:
        """The k that each of them is tried with."""
        return list(self.wanted[0]["parameters"]["k"])


def search_for(studio: Studio, project: str, rule: str) -> Search:
    """Return what would be tried by a rule; an error says why nothing can be found."""
    found, schema, by = studio.ready_project(project), studio.schema(project), rule_named(rule)
    values = sensible_values(by, int(found.facts["people"]))
    folder = studio.folders.project(project)
    there = [kind for kind in studio.fitting(project, every_method) if kind.name != "chain"]
    kinds = sensible_methods([kind for kind in there if _has_files(kind, folder)])
    if not kinds:
        raise ParameterError(
            _("no method that fits these data makes people alike"), _("say on the page Data what the columns are for")
        )
    rows = int(found.facts["rows"])
    slowest = Runtime.SECONDS if rows > _TOO_MANY_ROWS else Runtime.MINUTES
    quick = [kind for kind in kinds if kind.runtime <= slowest] or kinds[-1:]
    attacks: list[str] | None = None
    measures: list[str] | None = None
    if rows > _MANY_ROWS:
        attacks, measures = quick_judges(fitting(every_attack, schema), fitting(every_measure, schema))
        measures += [name for name in placing_measures(schema) if name not in measures]
        # what is not proved must withstand every attack that fits, and not the quick ones alone
        values = [k for k in values if k >= by.least_k]
    wanted = [{"method": kind.name, "parameters": usual_parameters(kind, schema, values)} for kind in quick]
    return Search(by, wanted, attacks, measures)


def find(studio: Studio, project: str, rule: str) -> list[Job]:
    """Judge a project by a rule, and start the runs among which a release by it is found; none are run twice."""
    asked, before = search_for(studio, project, rule), studio.project(project).rule
    change_project(studio, project=project, rule=rule)
    try:
        return studio.sweep(project, asked.wanted, attacks=asked.attacks, measures=asked.measures, again=False)
    except NorenError:
        change_project(studio, project=project, rule=before)
        raise


def more_seeds(studio: Studio, run: str) -> list[Job]:
    """Run the setting of a finished run with further seeds, judged by the same attacks and measures."""
    found = studio.finished(run)
    name, order = new_id(), found.order
    return [
        studio.run(
            found.project,
            order["steps"],
            attacks=order.get("attacks"),
            measures=order.get("measures"),
            seed=draw_seed(),
            sweep=name,
        )
        for _time in range(MORE_SEEDS)
    ]


def _has_files(kind: type[Method], folder: Any) -> bool:
    """Tell whether the project has the files that a method cannot do without."""
    there = with_project_files(kind, {}, folder)
    return all(name in there or name == "k" for name, about in kind.model_fields.items() if about.is_required())
