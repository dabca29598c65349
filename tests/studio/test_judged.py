"""Runs are judged when they are shown: by the rule of today, from what was found, however old the files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.studio.finished_runs import history_file, people_file
from tests.studio.quiet import PEOPLE, Quiet

from noren.data.schema import Schema
from noren.judgement.judging import judge
from noren.judgement.rule import RULES
from noren.judgement.verdict import Reason, Word
from noren.progress import silent
from noren.studio.folders import Folders, read_json, write_json
from noren.studio.judged import Result, judged, place_by, result_in, summary_of
from noren.studio.store import Job, State
from noren.studio.work import outcome_files, running

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


def as_older_studios_kept_it(folder: Path) -> None:
    """Rewrite a result as it was before facts were kept: attacks under both bounds, and a verdict taken for truth."""
    kept = read_json(folder / "result.json")
    claimed = kept.pop("facts")["claimed"]
    kept["statement"]["claimed"] = claimed
    old: dict[str, Any] = {"attacks": [], "most_damaging": None, "table_risk": None, "map": {}, "verdict_all": {}}
    write_json(folder / "result.json", kept | old | {"verdict": {"paper": "withstands", "sharp": "withstands"}})


@pytest.mark.parametrize("kind", ["history", "table"])
def test_an_older_run_is_judged_from_its_release_and_its_guesses(kind: str, tmp_path: Path) -> None:
    folder, _summary = done(kind, tmp_path)
    new = result_in(folder)
    assert new is not None
    as_older_studios_kept_it(folder)
    old = result_in(folder)
    assert old == new
    assert read_json(folder / "result.json")["facts"]["people"] == new.people  # reckoned once
    for rule in RULES.values():
        assert judge(old.facts, rule) == judge(new.facts, rule)


@pytest.mark.parametrize("kind", ["history", "table"])
def test_an_older_run_whose_files_are_gone_does_not_crash(kind: str, tmp_path: Path) -> None:
    folder, _summary = done(kind, tmp_path)
    new = result_in(folder)
    as_older_studios_kept_it(folder)
    (folder / "outcome.json").unlink()
    (folder / "release" / "statement.json").write_text("{")
    old = result_in(folder)
    assert old is not None
    assert new is not None
    verdict = judge(old.facts)
    if kind == "history":  # what attacks got is lost, and that is not safe
        assert (verdict.word, verdict.reason) == (Word.UNTRIED, Reason.NOT_TRIED)
    else:
        assert verdict == judge(new.facts)
        assert verdict.word == Word.PROVED


def test_lists_take_the_copy_only_for_the_rule_it_was_given_by(tmp_path: Path) -> None:
    folder, summary = done("history", tmp_path)
    assert summary["judged"]["rule"] == RULES["partner"].as_dict()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    job = Job("b" * 12, "a" * 12, "run", "x", None, {}, State.DONE, summary=summary, ended="now")
    result = result_in(folder)
    assert result is not None
    for rule in RULES.values():
        assert place_by(job, folder, rule) == result.place(judge(result.facts, rule))
    lied = summary | {"judged": summary["judged"] | {"place": {"label": "copy", "word": "proved"}}}
    copied = Job("b" * 12, "a" * 12, "run", "x", None, {}, State.DONE, summary=lied, ended="now")
    assert place_by(copied, folder, RULES["partner"]).label == "copy"
    assert place_by(copied, folder, RULES["public"]).label != "copy"
    nothing = Job("c" * 12, "a" * 12, "run", "gone", None, {}, State.DONE, summary={})
    assert place_by(nothing, tmp_path / "nowhere", RULES["public"]).word == Word.UNTRIED
    assert judged(tmp_path / "nowhere", None, RULES["public"]) is None


def test_an_audit_that_was_killed_is_in_the_facts(tmp_path: Path) -> None:
    folder, _summary = done("table", tmp_path)
    kept = read_json(folder / "outcome.json")
    failure = {"component": "mondrian", "kind": "audit", "reason": {"en": "killed", "ja": "終了"}}
    write_json(folder / "outcome.json", kept | {"audited": False, "failed": [failure]})
    outcome = outcome_files.load_outcome(folder)
    verdict = judge(outcome)
    assert (verdict.word, verdict.reason) == (Word.UNTRIED, Reason.NOT_AUDITED)
    assert verdict.facts.failed == ()  # the audit is no attack
    told = {"failed": [failure], "audited": False, "facts": verdict.facts.model_dump(mode="json")}
    view = read_json(folder / "result.json") | told
    assert summary_of(view, None)["judged"]["place"]["word"] == "untried"
    assert Result.model_validate(view).told["audited"] is False


def test_a_copy_of_a_project_keeps_its_rule(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    quiet.studio.set_rule(project, " 1/8 ")
    assert quiet.studio.copy(project).id != project
    assert [one.rule for one in quiet.studio.store.projects()] == ["1/8", "1/8"]
    assert quiet.studio.rule(project).least_k == 8
    changed = quiet.client.patch(f"/api/v1/projects/{project}", json={"name": "Shop B", "rule": "inside"}).json()
    assert (changed["name"], changed["rule"]) == ("Shop B", "inside")
