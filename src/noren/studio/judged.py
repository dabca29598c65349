"""Finished runs, judged when they are shown, by the rule of their project.

A run keeps what was found of it (:class:`~noren.judgement.evidence.Facts`), untouched by any rule. So another rule
judges every run anew without work. Beside the facts lies a copy of where a run stood by the rule it was made under, for
lists are long and reckoning takes a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from noren.errors import FileError
from noren.i18n import _
from noren.judgement.judging import judge
from noren.judgement.place import Place
from noren.judgement.rule import Rule, rule_named
from noren.judgement.verdict import Verdict
from noren.reports.run_view import RunView
from noren.studio.folders import read_json
from noren.studio.store import Job


class Result(RunView):
    """What is kept of a finished run; ``audited`` tells whether its claim was checked, None where it claims nothing.

    ``engines`` says where each component ran, where a cluster was asked for.
    """

    failed: tuple[dict[str, Any], ...] = ()
    audited: bool | None = None
    engines: dict[str, str] = Field(default_factory=dict)

    @property
    def told(self) -> dict[str, Any]:
        """What failed and whether the claim was checked, as summaries of jobs hold it."""
        return {"failed": list(self.failed), "audited": self.audited}


def summary_of(view: Mapping[str, Any], rule: str | None) -> dict[str, Any]:
    """Return what lists of runs need of a kept result, with a copy of where it stands by a rule."""
    result, by = Result.model_validate(view), rule_named(rule)
    place = result.place(judge(result.facts, by))
    told = {"rows": result.rows, "judged": {"rule": by.as_dict(), "place": place}} | result.told
    return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def result_in(folder: Path) -> Result | None:
    """Return what is kept of a run in the folder of its job."""
    path = folder / "result.json"
    kept = read_json(path)
    if kept is None:
        return None
    try:
        return Result.model_validate(kept)
    except ValidationError:
        raise FileError(
            _("this version of Noren cannot read the result"), _("remove the run and start it again"), file=path
        ) from None


@lru_cache(maxsize=128)
def judged(folder: Path, ended: str | None, rule: Rule) -> Verdict | None:
    """Return how safe the release of a run is by a rule; None where nothing is kept of it."""
    result = result_in(folder)
    return None if result is None else judge(result.facts, rule)


def place_by(job: Job, folder: Path, rule: Rule) -> Place:
    """Return where a finished run stands on the map, by a rule."""
    kept = job.summary.get("judged")
    if kept is not None and kept["rule"] == rule.as_dict():
        return Place.model_validate(kept["place"])
    return _place(folder, job.ended, rule) or Place(label=job.label)


@lru_cache(maxsize=4096)
def _place(folder: Path, ended: str | None, rule: Rule) -> Place | None:
    result, verdict = result_in(folder), judged(folder, ended, rule)
    return None if result is None or verdict is None else result.place(verdict)
