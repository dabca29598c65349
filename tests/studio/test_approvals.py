"""Publishing is an act: approvals by somebody else, records that stay, and a trail that shows every change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.conftest import Command
from tests.studio.staffed import PASSWORD, SEED, Staffed, run_by

from noren.data.release import public_digest
from noren.i18n import use_language
from noren.studio import approvals
from noren.studio.actions.projects import change_project
from noren.studio.actions.runs import act_on_job, start_run
from noren.studio.approvals import Publication, release_of_run
from noren.studio.audit_trail import check_file
from noren.studio.users import StudioIdentity, UserRole
from noren.work.hash_chain import BrokenChainError, verify

OWN = "someone other than its maker must approve this release first"
TO = {"to": "Example University, laboratory A", "until": "2099-03-31"}
BEN = StudioIdentity("ben", "Ben", UserRole.REVIEWER)


class Stage:
    """A studio that wants four eyes, with its users and a project of Ann's."""

    def __init__(self, folder: Path) -> None:
        self.staffed = Staffed(folder / "studio", four_eyes=True)
        self.staff = self.staffed.hire()
        self.studio = self.staffed.studio
        self.project = self.staffed.shop(folder)
        self.folder = folder

    def run(self, maker: str = "ann", **parameters: Any) -> str:
        """Return a new run."""
        return run_by(self.staff[maker], self.project, **parameters or {"k": 6})

    def ask(self, who: str, run: str, what: str, **body: Any) -> tuple[int, Any]:
        """Ask something about a run, and return status and answer, or the message."""
        answer = self.staff[who].post(f"/api/v1/runs/{run}/{what}", json=body)
        said = answer.json()
        return answer.status_code, said["error"]["message"] if "error" in said else said

    def zip_for(self, who: str, run: str) -> tuple[int, str]:
        """Ask for the public part; return the status, and the message where there is no file."""
        answer = self.staff[who].get(f"/api/v1/runs/{run}/public")
        return answer.status_code, "" if answer.status_code == 200 else answer.json()["error"]["message"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("stage"))
    yield made
    made.studio.close()


@pytest.fixture(scope="module")
def run(stage: Stage) -> str:
    """A run of Ann's that Ben approved."""
    made = stage.run()
    assert stage.ask("ben", made, "approval")[0] == 201
    return made


# --- four eyes -----------------------------------------------------------------------------------------------


def test_nothing_leaves_before_another_approved_it(stage: Stage) -> None:
    made = stage.run()
    wanting = "someone other than its maker must approve this release first"
    assert stage.zip_for("ann", made) == (409, wanting)
    page = f"/projects/{stage.project}/results/{made}/publish"
    assert stage.staff["ann"].get(f"{page}/public.zip").status_code == 409
    assert f"{page}/public.zip" not in stage.staff["ann"].get(page).text
    assert stage.ask("ann", made, "publications", **TO) == (409, wanting)
    assert stage.ask("ann", made, "approval") == (403, OWN)
    assert stage.ask("cora", made, "approval")[0] == 403
    code, said = stage.ask("ben", made, "approval")
    assert (code, said["decision"], said["who"], said["void"]) == (201, "approved", "ben", "")
    assert stage.zip_for("cora", made) == (200, "")
    assert f"{page}/public.zip" in stage.staff["ann"].get(page).text


def test_a_steward_may_approve_what_another_steward_made(stage: Stage) -> None:
    made = stage.run("dan")
    assert stage.ask("dan", made, "approval") == (403, OWN)
    assert stage.ask("ann", made, "approval")[0] == 201
    assert stage.zip_for("dan", made)[0] == 200


def test_a_refusal_has_a_reason_and_counts(stage: Stage) -> None:
    made = stage.run()
    stage.ask("ben", made, "approval")
    without = stage.ask("ben", made, "refusal", reason="  ")
    assert without == (422, "a name or reason needs 1 to 500 characters; change it")
    assert stage.ask("ben", made, "refusal", reason="k is too small")[0] == 201
    assert stage.zip_for("ann", made) == (409, "ben refused this release: k is too small")
    assert stage.ask("dan", made, "approval")[0] == 201  # the last word counts
    assert stage.zip_for("ann", made)[0] == 200


def test_an_approval_is_of_the_run_as_it_is(stage: Stage) -> None:
    made = stage.run()
    stage.ask("ben", made, "approval")
    stage.studio.store.trail.add("resumed", project=stage.project, job=made)
    void = "the approval by ben is void (the release has changed since); request a new one"
    assert stage.zip_for("ann", made) == (409, void)
    assert stage.ask("ben", made, "approval")[0] == 201
    assert stage.zip_for("ann", made)[0] == 200
    release = stage.studio.job_folder(stage.studio.job(made)) / "release"
    public = release / "public.parquet"
    before = public.read_bytes()
    import pyarrow.parquet as pq

    table = pq.read_table(public)
    pq.write_table(table.slice(1), public)
    assert stage.zip_for("ann", made) == (
        409, "the approval by ben is void (the release has changed since); request a new one",
    )  # fmt: skip
    public.write_bytes(before)
    assert stage.zip_for("ann", made)[0] == 200


def test_an_approval_is_of_the_verdict_by_its_rule(stage: Stage) -> None:
    made = stage.run()
    stage.ask("ben", made, "approval")
    change_project(stage.studio, project=stage.project, rule="inside")
    try:
        assert stage.zip_for("ann", made) == (
            409, "the approval by ben is void (its verdict has changed since); request a new one",
        )  # fmt: skip
    finally:
        change_project(stage.studio, project=stage.project, rule="partner")
    assert stage.zip_for("ann", made)[0] == 200


def test_what_is_taken_up_again_is_resumed_on_the_trail(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    made = stage.run()
    stage.ask("ben", made, "approval")
    job = stage.studio.job(made)
    monkeypatch.setattr(stage.studio.jobs, "submit", lambda _job, **_values: None)
    failed = {"component": "rfm", "kind": "measure", "reason": {"en": "x", "ja": "x"}}
    stage.studio.store.change_job(made, summary=job.summary | {"failed": [failed]})
    act_on_job(stage.studio, job=made, act="again")
    decision = approvals.decision_on(stage.studio, release_of_run(stage.studio, made))
    assert decision is not None
    assert (decision.stands, decision.void) == (False, "the release has changed since")


def test_who_took_a_run_up_made_it_too(stage: Stage) -> None:
    from noren.studio.audit_trail import acting_as

    made = stage.run()
    with acting_as("dan"):
        stage.studio.store.trail.add("resumed", project=stage.project, job=made)
    assert approvals.makers_of(stage.studio, release_of_run(stage.studio, made)) == {"ann", "dan"}
    assert stage.ask("dan", made, "approval") == (403, OWN)


def test_where_the_maker_is_not_known_approver_and_publisher_are_two(stage: Stage) -> None:
    steps = [{"method": "generalize-by-count", "parameters": {"k": 6}}]
    made = start_run(stage.studio, project=stage.project, steps=steps, attacks=["s1"], measures=["rfm"], seed=SEED).id
    assert stage.ask("dan", made, "approval")[0] == 201
    code, said = stage.ask("dan", made, "publications", **TO)
    assert (code, said) == (
        403, "you approved this release and its maker is unknown; another user must share it",
    )  # fmt: skip
    assert stage.ask("ann", made, "publications", **TO)[0] == 201


def test_a_studio_of_one_person_cannot_have_four_eyes(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio", four_eyes=True)
    made = run_by(staffed.client, staffed.shop(tmp_path), k=6)
    answer = staffed.client.post(f"/api/v1/runs/{made}/approval")
    assert answer.status_code == 409
    assert "approval needs users; add them with noren studio user add" in answer.text
    assert staffed.client.get(f"/api/v1/runs/{made}/public").status_code == 409
    staffed.studio.close()


def test_without_four_eyes_nothing_changes_for_one_person(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio")
    project = staffed.shop(tmp_path)
    made = run_by(staffed.client, project, k=6)
    assert staffed.client.get(f"/api/v1/runs/{made}/public").status_code == 200
    answer = staffed.client.post(f"/projects/{project}/results/{made}/publish/share", data=TO)
    assert answer.status_code == 303
    [record] = approvals.publications(staffed.studio, project)
    assert (record.who, record.approved_by) == ("owner", None)
    assert "Approval (four eyes)" not in staffed.client.get(f"/projects/{project}/results/{made}/publish").text
    staffed.studio.close()


# --- the record ----------------------------------------------------------------------------------------------


def test_a_record_says_who_when_what_to_whom_and_how_it_was_judged(stage: Stage, run: str) -> None:
    code, said = stage.ask("ann", run, "publications", **TO)
    assert code == 201
    folder = stage.studio.job_folder(stage.studio.job(run)) / "release"
    digest, rows = public_digest(folder)
    assert {key: said[key] for key in ("what", "who", "to", "until", "digest", "rows", "approved_by", "over")} == {
        "what": run, "who": "ann", "to": TO["to"], "until": TO["until"], "digest": digest, "rows": rows,
        "approved_by": "ben", "over": False,
    }  # fmt: skip
    verdict = stage.studio.verdict(run)
    assert said["judged"]["verdict"] == str(verdict.status)
    assert said["judged"]["rule"] == verdict.rule.as_dict()
    assert said["judged"]["facts"]["people"] == 24
    assert said["judged"]["sentence"] == verdict.sentence
    [record, *_others] = approvals.publications(stage.studio, stage.project)
    with use_language("ja"):
        assert record.sentence == verdict.sentence
    head = stage.studio.store.trail.head()
    assert head is not None
    assert (said["entry"], head.kind, head.actor) == (head.digest, "published", "ann")


def test_the_words_of_that_day_stay_when_the_rule_changes(stage: Stage, run: str) -> None:
    stage.ask("ann", run, "publications", **TO)
    [before, *_others] = approvals.publications(stage.studio, stage.project)
    change_project(stage.studio, project=stage.project, rule="public")
    try:
        [after, *_others] = approvals.publications(stage.studio, stage.project)
        assert stage.studio.verdict(run).rule.name == "public"
        assert (after.sentence, after.rule) == (before.sentence, "partner")
    finally:
        change_project(stage.studio, project=stage.project, rule="partner")


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({"to": " "}, 422, "a name or reason needs 1 to 500 characters; change it"),
        ({"to": "A", "until": "2001-01-01"}, 422, "'2001-01-01': choose a date from today on, like 2027-03-31"),
        ({"to": "A", "until": "2027-3-1"}, 422, "'2027-3-1': choose a date from today on, like 2027-03-31"),
        ({"to": "A\u202e"}, 422, "a name or reason needs 1 to 500 characters; change it"),
    ],
)
def test_what_is_no_record(stage: Stage, run: str, given: dict[str, str], code: int, message: str) -> None:
    before = stage.studio.store.trail.head()
    assert stage.ask("ann", run, "publications", **given) == (code, message)
    assert stage.studio.store.trail.head() == before


def test_only_stewards_hand_out(stage: Stage, run: str) -> None:
    assert stage.ask("ben", run, "publications", **TO)[0] == 403
    page = f"/projects/{stage.project}/results/{run}/publish"
    answer = stage.staff["ben"].post(f"{page}/share", data=TO)
    assert answer.status_code == 403
    assert "your role is reviewer; this needs the role steward" in answer.text
    assert "Record that it is shared" not in stage.staff["ben"].get(page).text


def test_what_the_rule_does_not_call_safe_is_handed_out_only_on_ones_word(stage: Stage) -> None:
    made = run_by(stage.staff["ann"], stage.project, "pseudonymize")
    assert not stage.studio.verdict(made).status.is_safe
    stage.ask("ben", made, "approval")
    code, said = stage.ask("ann", made, "publications", **TO)
    assert (code, said.split(";")[0]) == (409, "this release does not meet the rule")
    code, said = stage.ask("ann", made, "publications", despite=True, **TO)
    assert (code, said["despite"], said["judged"]["verdict"]) == (201, True, str(stage.studio.verdict(made).status))


def test_what_was_not_audited_is_neither_approved_nor_handed_out(stage: Stage) -> None:
    made = stage.run()
    job = stage.studio.job(made)
    stage.studio.store.change_job(made, summary=dict(job.summary) | {"audited": False})
    for who, what, body in (("ben", "approval", {}), ("ann", "publications", TO)):
        code, said = stage.ask(who, made, what, **body)
        assert (code, said.split(",")[0]) == (409, "the audit of this release failed")


def test_a_day_that_passed_is_over() -> None:
    kept: dict[str, Any] = {
        "what": "r", "label": "k", "who": "ann", "when": "2020-01-01", "to": "A", "digest": "", "rows": 1,
        "approved_by": None, "despite": False, "judged": {}, "entry": "",
    }  # fmt: skip
    assert Publication(until="2020-02-01", **kept).is_over
    assert not Publication(until="2999-02-01", **kept).is_over
    assert not Publication(until=None, **kept).is_over


# --- later runs see it ---------------------------------------------------------------------------------------


def test_later_runs_and_the_ledger_tell_of_it(stage: Stage, run: str) -> None:
    stage.ask("ann", run, "publications", **TO)
    later = stage.run("dan", k=7)
    ann = stage.staff["ann"]
    for place in ("protect", "compare", f"results/{later}", f"results/{later}/publish"):
        shown = ann.get(f"/projects/{stage.project}/{place}").text
        assert 'id="already"' in shown, place
        assert TO["to"] in shown
        assert TO["until"] in shown
    shown = ann.get(f"/projects/{stage.project}/ledger").text
    assert "Recipients" in shown
    assert TO["to"] in shown
    listed = ann.get(f"/api/v1/projects/{stage.project}/publications").json()
    assert TO["to"] in {one["to"] for one in listed}
    assert [one["when"] for one in listed] == sorted((one["when"] for one in listed), reverse=True)


def test_a_project_without_records_says_nothing(stage: Stage) -> None:
    other = stage.staffed.shop(stage.folder)
    assert 'id="already"' not in stage.staff["ann"].get(f"/projects/{other}/protect").text
    assert stage.staff["ann"].get(f"/api/v1/projects/{other}/publications").json() == []


# --- releases of the ledger ----------------------------------------------------------------------------------


def test_a_release_of_the_ledger_is_approved_and_handed_out_alike(stage: Stage) -> None:
    ann, project = stage.staff["ann"], stage.staffed.shop(stage.folder)
    way = {"steps": [{"method": "monthly-pseudonyms"}], "attacks": ["s1"]}
    assert ann.post(f"/api/v1/projects/{project}/ledger", json=way).status_code == 201
    assert ann.post(f"/api/v1/projects/{project}/ledger/releases", json={}).status_code == 202
    there = f"/projects/{project}/ledger/releases/1"
    assert ann.get(f"/api/v1{there}/public").status_code == 409
    own = ann.post(f"/api/v1{there}/approval")
    assert (own.status_code, own.json()["error"]["message"]) == (403, OWN)
    assert ann.get(there).status_code == 200
    assert stage.staff["ben"].post(f"{there}/refuse", data={"reason": ""}).status_code == 422
    assert stage.staff["ben"].post(f"{there}/approve").status_code == 303
    assert ann.get(f"/api/v1{there}/public").status_code == 200
    given = TO | {"despite": "yes"}
    assert ann.post(f"{there}/share", data=given).status_code == 303
    told = ann.get(f"/api/v1/projects/{project}/ledger").json()
    [record] = told["publications"]
    assert (record["what"], record["to"], record["label"]) == ("ledger-1", TO["to"], told["entries"][0]["period"])
    assert stage.staff["ben"].post(f"/api/v1{there}/refusal", json={"reason": "no"}).status_code == 201
    assert ann.post(f"/api/v1{there}/publications", json=TO).status_code == 409
    assert ann.get(f"/projects/{project}/ledger/releases/2").status_code == 404


# --- the trail -----------------------------------------------------------------------------------------------


def test_the_trail_holds_no_secret_and_no_value(stage: Stage, run: str) -> None:
    stage.ask("ann", run, "publications", **TO)
    stage.staff["ann"].post(f"/api/v1/runs/{run}/secret", json={"confirmed": True})
    everything = b"".join(stage.studio.store.trail.lines()).decode()
    assert '"kind":"secret-taken"' in everything
    release = stage.studio.job_folder(stage.studio.job(run)) / "release"
    pairs = pl.read_parquet(release / "secret" / "pseudonyms.parquet").rows()
    hidden = {
        str(SEED),
        PASSWORD,
        "argon2",
        "right_at",
        json.loads((release / "secret" / "run.json").read_text())["digest"],
    }
    hidden |= {f'"{name}"' for pair in pairs for name in pair}
    assert [word for word in hidden if word in everything] == []


def test_the_trail_is_shown_and_sent(stage: Stage, run: str) -> None:
    shown = stage.staff["ben"].get("/trail").text
    assert "approved a release" in shown
    head = stage.studio.store.trail.head()
    assert head is not None
    assert head.digest in shown
    further = stage.staff["ben"].get("/trail", params={"before": 3}).text
    assert further.count("<tr>") == 4
    assert stage.staff["cora"].get("/trail").status_code == 403
    assert stage.staff["ben"].get("/trail.jsonl").content == stage.staff["ben"].get("/api/v1/trail").content
    assert run in stage.staff["ben"].get("/trail.jsonl").text


def test_every_change_of_a_trail_is_found(stage: Stage, run: str, tmp_path: Path) -> None:
    assert run
    lines = stage.staff["ben"].get("/trail.jsonl").content.splitlines(keepends=True)
    path = tmp_path / "trail.jsonl"
    path.write_bytes(b"".join(lines))
    digest = json.loads(lines[-1])["digest"]
    assert check_file(path, digest) == (len(lines), digest)
    assert len(lines) > 8
    for place, changed in (
        (4, [*lines[:4], lines[4].replace(b'"actor":"', b'"actor":"x'), *lines[5:]]),
        (6, [*lines[:6], *lines[7:]]),
        (2, [*lines[:2], lines[3], lines[2], *lines[4:]]),
        (0, lines[1:]),
    ):
        path.write_bytes(b"".join(changed))
        with pytest.raises(BrokenChainError) as broken:
            check_file(path)
        assert broken.value.place == place
        assert f"entry {place} of the log does not fit" in str(broken.value)
    path.write_bytes(b"".join(lines[:-1]))  # cut off: only who wrote the last digest down can tell
    assert check_file(path)[0] == len(lines) - 1
    with pytest.raises(BrokenChainError, match="no entry of the trail has the digest"):
        check_file(path, digest)


def test_the_command_line_writes_and_verifies_a_trail(stage: Stage, run: str, noren: Command, tmp_path: Path) -> None:
    assert run
    out = tmp_path / "trail.jsonl"
    written = noren("studio", "trail", "--data-dir", stage.staffed.folder, "--out", out, "--json")
    assert (written.code, written.json["entries"]) == (0, len(stage.studio.store.trail.entries()))
    assert out.stat().st_mode & 0o077 == 0
    holds = noren("studio", "verify", out, "--json")
    assert (holds.code, holds.json["holds"], holds.json["last"]) == (0, True, written.json["last"])
    out.write_bytes(out.read_bytes().replace(b'"kind":"approved"', b'"kind":"refused"', 1))
    broken = noren("studio", "verify", out, "--json")
    entries = stage.studio.store.trail.entries()
    first = next(entry.position for entry in entries if entry.kind == "approved")
    assert (broken.code, broken.json["holds"], broken.json["entry"]) == (1, False, first)
    out.write_text("nothing\n")
    assert noren("studio", "verify", out).code == 2
    verify(entries)


def test_pages_tell_what_is_wrong_and_keep_what_was_typed(stage: Stage, run: str) -> None:
    ann: TestClient = stage.staff["ann"]
    page = f"/projects/{stage.project}/results/{run}/publish"
    own = ann.post(f"{page}/approve")
    assert own.status_code == 403
    assert own.text.count(OWN) == 1
    late = ann.post(f"{page}/share", data={"to": "A", "until": "2001-01-01"})
    assert late.status_code == 422
    assert "choose a date from today on, like 2027-03-31" in late.text
    assert 'value="A"' in late.text
    with use_language("ja"):
        assert approvals.decide(stage.studio, release_of_run(stage.studio, run), BEN).stands
