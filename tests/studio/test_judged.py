"""Runs are judged when they are shown: by the rule of today, from what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.studio.finished_runs import history_file, people_file
from tests.studio.quiet import PEOPLE, Quiet

from noren.data.schema import Schema
from noren.errors import FileError
from noren.judgement.judging import judge
from noren.judgement.rule import RULES
from noren.judgement.verdict import Reason, VerdictStatus
from noren.progress import silent
from noren.studio.actions.projects import change_project, copy_project
from noren.studio.folders import Folders, read_json, write_json
from noren.studio.store import Job, State
from noren.studio.work import running
from noren.studio.work.results import Result, judged, load_outcome, place_by, result_in, summary_of

STEPS = {
    "history": {"method": "generalize-by-count", "parameters": {"k": 4}},
    "table": {"method": "mondrian", "parameters": {"k": 6, "l": 2}},
}


def done(kind: str, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """Do a run by hand, and return the folder of its job and its summary."""
    files, project = Folders(tmp_path), "a" * 12
    files.project(project).mkdir(parents=True)
    file = history_file(tmp_path) if kind == "history" else people_file(tmp_path)
    schema = Schema.preset("pwscup2018" if kind == "history" else "people")
    from noren.data.reading import read, write

    write(read(file, schema).data, files.data(project))
    files.schema(project).write_text(schema.to_toml(), encoding="utf-8")
    folder = files.job(project, "b" * 12)
    folder.mkdir(parents=True)
    order = {"root": str(tmp_path), "project": project, "steps": [STEPS[kind]], "seed": 1, "rule": "partner"}
    judges = {"attacks": ["unique-rows", "jaccard"], "measures": ["cell-error"]}
    judges = judges if kind == "history" else {"attacks": [], "measures": ["classes", "table-loss"]}
    return folder, running.do(order | judges, folder, silent)


def test_a_result_in_another_form_is_one_error(tmp_path: Path) -> None:
    folder, _summary = done("history", tmp_path)
    kept = read_json(folder / "result.json")
    del kept["facts"]
    write_json(folder / "result.json", kept)
    with pytest.raises(FileError, match="this version of Noren cannot read the result; remove the run"):
        result_in(folder)


def test_lists_take_the_copy_only_for_the_rule_it_was_given_by(tmp_path: Path) -> None:
    folder, summary = done("history", tmp_path)
    assert summary["judged"]["rule"] == RULES["partner"].as_dict()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    job = Job("b" * 12, "a" * 12, "run", "x", None, {}, State.DONE, summary=summary, ended="now")
    result = result_in(folder)
    assert result is not None
    for rule in RULES.values():
        assert place_by(job, folder, rule) == result.place(judge(result.facts, rule))
    lied = summary | {"judged": summary["judged"] | {"place": {"label": "copy", "status": "proved"}}}
    copied = Job("b" * 12, "a" * 12, "run", "x", None, {}, State.DONE, summary=lied, ended="now")
    assert place_by(copied, folder, RULES["partner"]).label == "copy"
    assert place_by(copied, folder, RULES["public"]).label != "copy"
    nothing = Job("c" * 12, "a" * 12, "run", "gone", None, {}, State.DONE, summary={})
    assert place_by(nothing, tmp_path / "nowhere", RULES["public"]).status == VerdictStatus.UNTRIED
    assert judged(tmp_path / "nowhere", None, RULES["public"]) is None


def test_an_audit_that_was_killed_is_in_the_facts(tmp_path: Path) -> None:
    folder, _summary = done("table", tmp_path)
    kept = read_json(folder / "outcome.json")
    failure = {"component": "mondrian", "kind": "audit", "reason": {"en": "killed", "ja": "終了"}}
    write_json(folder / "outcome.json", kept | {"audited": False, "failed": [failure]})
    outcome = load_outcome(folder)
    verdict = judge(outcome)
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNTRIED, Reason.NOT_AUDITED)
    assert verdict.facts.failed == ()  # the audit is no attack
    told = {"failed": [failure], "audited": False, "facts": verdict.facts.model_dump(mode="json")}
    view = read_json(folder / "result.json") | told
    assert summary_of(view, None)["judged"]["place"]["status"] == "untried"
    assert Result.model_validate(view).outcome["audited"] is False


def test_a_copy_of_a_project_keeps_its_rule(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    change_project(quiet.studio, project=project, rule=" 1/8 ")
    assert copy_project(quiet.studio, project=project).id != project
    assert [one.rule for one in quiet.studio.store.projects()] == ["1/8", "1/8"]
    assert quiet.studio.rule(project).least_k == 8
    changed = quiet.client.patch(f"/api/v1/projects/{project}", json={"name": "Shop B", "rule": "inside"}).json()
    assert (changed["name"], changed["rule"]) == ("Shop B", "inside")
