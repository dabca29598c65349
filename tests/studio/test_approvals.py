"""Publishing is an act: approvals by somebody else, records that stay, and a trail that shows every change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from sqlalchemy.exc import IntegrityError
from starlette.testclient import TestClient
from tests.conftest import Command
from tests.studio.staffed import PASSWORD, SEED, Staffed, quickly_hashed, run_by

from noren.data.release import public_digest
from noren.i18n import use_language
from noren.judgement.verdict import VerdictStatus
from noren.studio import approvals
from noren.studio.actions.projects import change_project
from noren.studio.actions.runs import start_run
from noren.studio.approvals import Publication, release_of_run
from noren.studio.audit_trail import acting_as, check_file
from noren.studio.users import UserRole
from noren.work.hash_chain import BrokenChainError, LogEntry, verify

OWN = "someone other than its maker must approve this release first"
NONE_YET = "this release has no record yet; choose a recipient and a purpose on its page Release first"
TO = {"to": "Example University, laboratory A", "purpose": "forecasting of sales", "until": "2099-03-31"}
WHY = {"reason": "the partner signed a contract for it"}


class Stage:
    """A studio that wants four eyes, with its users and a project of Ann's."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.staffed = Staffed(folder / "studio", **{"four_eyes": True} | settings)
        self.staff = self.staffed.hire()
        self.studio = self.staffed.studio
        self.project = self.staffed.shop(folder)
        self.folder = folder

    def run(self, maker: str = "ann", **parameters: Any) -> str:
        """Return a new run."""
        return run_by(self.staff[maker], self.project, **parameters or {"k": 6})

    def post(self, who: str, path: str, **body: Any) -> tuple[int, Any]:
        """Ask for something, and return status and answer, or the message."""
        answer = self.staff[who].post(f"/api/v1/{path}", json=body)
        said = answer.json()
        return answer.status_code, said["error"]["message"] if "error" in said else said

    def request(self, run: str, who: str = "ann", **more: Any) -> str:
        """Have somebody request a release, and return the record."""
        code, said = self.post(who, f"runs/{run}/publications", **TO | more)
        assert (code, said["state"]) == (201, "waiting"), said
        entry: str = said["entry"]
        return entry

    def approve(self, record: str, who: str = "ben") -> tuple[int, Any]:
        return self.post(who, f"publications/{record}/approval")

    def zip_for(self, who: str, run: str) -> tuple[int, str]:
        """Ask for the public part; return the status, and the message where there is no file."""
        answer = self.staff[who].get(f"/api/v1/runs/{run}/public")
        return answer.status_code, "" if answer.status_code == 200 else answer.json()["error"]["message"]

    def acts(self, *kinds: str) -> list[LogEntry]:
        return self.studio.store.trail.entries(kinds=kinds)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("stage"))
    yield made
    made.studio.close()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A studio with users that does not want four eyes."""
    made = Stage(tmp_path_factory.mktemp("alone"), four_eyes=False)
    yield made
    made.studio.close()


@pytest.fixture(scope="module")
def run(stage: Stage) -> str:
    """A run of Ann's that she requested and Ben approved."""
    made = stage.run()
    assert stage.approve(stage.request(made))[0] == 201
    return made


# --- four eyes -----------------------------------------------------------------------------------------------


def test_nothing_leaves_before_it_was_requested_and_another_approved_it(stage: Stage) -> None:
    made = stage.run()
    page = f"/projects/{stage.project}/results/{made}/publish"
    stage.studio.store.share(stage.project, ["cora"])
    assert stage.zip_for("ann", made) == (409, NONE_YET)
    for form in ("parquet", "csv"):
        assert stage.staff["ann"].get(f"{page}/public.zip", params={"form": form}).status_code == 409
    record = stage.request(made)
    assert stage.zip_for("ann", made) == (409, OWN)
    assert "public.zip" not in stage.staff["ann"].get(page).text
    assert stage.approve(record, "ann") == (403, OWN)
    for nobody in ("cora", "ada"):
        assert stage.approve(record, nobody)[0] == 403
    code, said = stage.approve(record)
    assert (code, said["state"], said["decided_by"], said["who"]) == (201, "released", "ben", "ann")
    assert stage.zip_for("cora", made) == (200, "")
    assert f"{page}/public.zip" in stage.staff["ann"].get(page).text


def test_every_download_is_on_the_trail_with_its_record(stage: Stage, run: str) -> None:
    before = len(stage.acts("downloaded"))
    page = f"/projects/{stage.project}/results/{run}/publish"
    assert stage.zip_for("dan", run)[0] == 200
    assert stage.staff["ben"].get(f"{page}/public.zip", params={"form": "csv"}).status_code == 200
    [record, *_others] = [one for one in approvals.records(stage.studio, stage.project) if one.what == run]
    assert [
        (entry.actor, *(entry.body[name] for name in ("what", "record", "digest", "part", "to")))
        for entry in stage.acts("downloaded")[before:]
    ] == [
        ("dan", run, record.entry, record.digest, "parquet", TO["to"]),
        ("ben", run, record.entry, record.digest, "csv", TO["to"]),
    ]


def test_a_steward_may_approve_what_another_steward_made_and_requested(stage: Stage) -> None:
    made = stage.run("dan")
    record = stage.request(made, "dan")
    assert stage.approve(record, "dan") == (403, OWN)
    assert stage.approve(record, "ann")[0] == 201
    assert stage.zip_for("dan", made)[0] == 200


def test_who_requested_a_release_does_not_approve_it_though_another_made_it(stage: Stage) -> None:
    record = stage.request(stage.run("dan"), "ann")
    assert stage.approve(record, "ann") == (403, OWN)
    assert stage.approve(record, "dan") == (403, OWN)
    assert stage.approve(record)[0] == 201


def test_nobody_approves_for_who_added_her_account(stage: Stage) -> None:
    users = stage.studio.store.users
    with mock.patch("noren.web.accounts.hashed", return_value=quickly_hashed()), acting_as("dan"):
        users.add("puppet", "", PASSWORD, UserRole.REVIEWER)
    stage.staff["puppet"] = stage.staffed.logged_in("puppet")
    record = stage.request(stage.run("dan"), "ann")
    refused = "dan added your account and made or requested this release; another user must approve it"
    assert stage.approve(record, "puppet") == (403, refused)
    assert record not in stage.staff["puppet"].get("/inbox").text
    assert stage.approve(stage.request(stage.run("ann"), "ann"), "puppet")[0] == 201


def test_a_refusal_has_a_reason_and_counts(stage: Stage) -> None:
    made = stage.run()
    record = stage.request(made)
    stage.approve(record)
    without = stage.post("ben", f"publications/{record}/refusal", reason="  ")
    assert without == (422, "a name or reason needs 1 to 500 characters; change it")
    assert stage.post("ben", f"publications/{record}/refusal", reason="k is too small")[0] == 201
    assert stage.zip_for("ann", made) == (409, "ben refused this release: k is too small")
    again = stage.request(made)  # the same terms after a refusal are another request
    assert again != record
    assert stage.approve(again, "dan")[0] == 201
    assert stage.zip_for("ann", made)[0] == 200


def test_a_record_is_of_the_run_as_it_is(stage: Stage) -> None:
    made = stage.run()
    stage.approve(stage.request(made))
    stage.studio.store.trail.add("resumed", project=stage.project, job=made)
    void = f"the record for {TO['to']} is void (the release has changed since); release it again"
    assert stage.zip_for("ann", made) == (409, void)
    assert void in stage.staff["ann"].get(f"/projects/{stage.project}/results/{made}/publish").text.replace(
        "The ", "the "
    )
    assert stage.approve(stage.request(made))[0] == 201
    assert stage.zip_for("ann", made)[0] == 200
    release = stage.studio.job_folder(stage.studio.job(made)) / "release"
    public = release / "public.parquet"
    before = public.read_bytes()
    import pyarrow.parquet as pq

    table = pq.read_table(public)
    pq.write_table(table.slice(1), public)
    assert stage.zip_for("ann", made) == (409, void)
    public.write_bytes(before)
    assert stage.zip_for("ann", made)[0] == 200


def test_a_record_is_of_the_verdict_by_its_rule(stage: Stage) -> None:
    made = stage.run()
    stage.approve(stage.request(made))
    waiting = stage.request(made, purpose="teaching")
    change_project(stage.studio, project=stage.project, rule="inside")
    try:
        void = f"the record for {TO['to']} is void (its verdict has changed since); release it again"
        assert stage.zip_for("ann", made) == (409, OWN)  # the newest one still waits
        assert stage.approve(waiting) == (409, void)
        assert stage.staff["ben"].get("/api/v1/inbox").json() == []
    finally:
        change_project(stage.studio, project=stage.project, rule="partner")
    assert stage.zip_for("ann", made)[0] == 200
    assert stage.approve(waiting)[0] == 201


def test_who_took_a_run_up_made_it_too(stage: Stage) -> None:
    made = stage.run()
    with acting_as("dan"):
        stage.studio.store.trail.add("resumed", project=stage.project, job=made)
    assert approvals.makers_of(stage.studio, release_of_run(stage.studio, made)) == {"ann", "dan"}
    assert stage.approve(stage.request(made), "dan") == (403, OWN)


def test_where_the_maker_is_not_known_approver_and_publisher_are_two(stage: Stage) -> None:
    steps = [{"method": "generalize-by-count", "parameters": {"k": 6}}]
    made = start_run(stage.studio, project=stage.project, steps=steps, attacks=["s1"], measures=["rfm"], seed=SEED).id
    record = stage.request(made, "dan")
    assert stage.approve(record, "dan") == (403, OWN)
    assert stage.approve(record, "ann")[0] == 201


def test_the_inbox_of_a_reviewer_shows_what_waits_for_her(stage: Stage) -> None:
    ben, ann = stage.staff["ben"], stage.staff["ann"]
    before = len(ben.get("/api/v1/inbox").json())
    record = stage.request(stage.run(), purpose="<b>teaching</b>")
    assert [one["entry"] for one in ben.get("/api/v1/inbox").json()][before:] == [record]
    assert record not in {one["entry"] for one in ann.get("/api/v1/inbox").json()}  # it is her own
    assert f"Inbox ({before + 1})" in ben.get("/").text
    shown = ben.get("/inbox").text
    assert f"/inbox/{record}/approve" in shown
    assert "&lt;b&gt;teaching&lt;/b&gt;" in shown
    assert ben.post(f"/inbox/{record}/refuse", data={"reason": " "}).status_code == 422
    assert ben.post(f"/inbox/{record}/approve", data={"back": "/inbox"}).headers["location"] == "/inbox"
    assert len(ben.get("/api/v1/inbox").json()) == before
    assert ann.post(f"/inbox/{stage.request(stage.run())}/approve").status_code == 403


def test_an_approval_pressed_twice_is_one(stage: Stage) -> None:
    record, before = stage.request(stage.run()), len(stage.acts("approved"))
    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(lambda _: stage.approve(record)[0], range(8)))
    assert set(codes) == {201}
    assert len(stage.acts("approved")) == before + 1
    assert approvals.record_of(stage.studio, record).state == "released"


def test_a_studio_of_one_person_cannot_have_four_eyes(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio", four_eyes=True)
    made = run_by(staffed.client, staffed.shop(tmp_path), k=6)
    answer = staffed.client.post(f"/api/v1/runs/{made}/publications", json=TO)
    assert answer.status_code == 409
    assert "approval needs users; add them with noren studio user add" in answer.text
    assert staffed.client.get(f"/api/v1/runs/{made}/public").status_code == 409
    staffed.studio.close()


def test_one_person_releases_with_one_form(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio")
    project = staffed.shop(tmp_path)
    made = run_by(staffed.client, project, k=6)
    page = f"/projects/{project}/results/{made}/publish"
    assert staffed.client.get(f"{page}/public.zip").status_code == 409
    [key] = re.findall(r'name="key" value="([0-9a-f]{32})"', staffed.client.get(page).text)
    for _again in range(2):
        assert staffed.client.post(f"{page}/share", data=TO | {"key": key}).status_code == 303
    [record] = approvals.publications(staffed.studio, project)
    assert (record.who, record.decided_by, record.purpose) == ("owner", None, TO["purpose"])
    assert staffed.client.get(f"{page}/public.zip").status_code == 200
    shown = staffed.client.get(page).text
    assert "Approve this release" not in shown
    assert "Inbox" not in staffed.client.get("/").text
    staffed.studio.close()


# --- the record ----------------------------------------------------------------------------------------------


def test_a_record_says_who_when_what_to_whom_for_what_and_how_it_was_judged(stage: Stage, run: str) -> None:
    code, said = stage.post("ann", f"runs/{run}/publications", **TO | {"purpose": "teaching"})
    assert code == 201
    folder = stage.studio.job_folder(stage.studio.job(run)) / "release"
    digest, rows = public_digest(folder)
    names = ("what", "who", "to", "purpose", "until", "digest", "rows", "decided_by", "over", "reason", "state")
    assert {key: said[key] for key in names} == {
        "what": run, "who": "ann", "to": TO["to"], "purpose": "teaching", "until": TO["until"], "digest": digest,
        "rows": rows, "decided_by": None, "over": False, "reason": "", "state": "waiting",
    }  # fmt: skip
    verdict = stage.studio.verdict(run)
    assert said["judged"]["verdict"] == str(verdict.status)
    assert said["judged"]["rule"] == verdict.rule.as_dict()
    assert said["judged"]["facts"]["people"] == 24
    assert said["judged"]["sentence"] == verdict.sentence
    [record, *_others] = approvals.records(stage.studio, stage.project)
    with use_language("ja"):
        assert record.sentence == verdict.sentence
    head = stage.studio.store.trail.head()
    assert head is not None
    assert (said["entry"], head.kind, head.actor) == (head.digest, "requested", "ann")


@pytest.mark.parametrize("key", ["", "0123456789abcdef"])
def test_twenty_posts_at_once_are_one_record(alone: Stage, key: str) -> None:
    made = alone.run()
    terms = TO | {"key": key}
    with ThreadPoolExecutor(20) as threads:
        said = list(threads.map(lambda _: alone.post("ann", f"runs/{made}/publications", **terms), range(20)))
    assert {code for code, _body in said} == {201}
    assert len({body["entry"] for _code, body in said}) == 1
    assert sum(entry.body["what"] == made for entry in alone.acts("published")) == 1
    another = alone.post("ann", f"runs/{made}/publications", **terms | {"to": "Another university"})
    if key:
        assert another == (409, "this key was used with another recipient, purpose or reason; load the page again")
    else:
        assert another[0] == 201
    assert sum(entry.body["what"] == made for entry in alone.acts("published")) == (1 if key else 2)


def test_the_database_itself_refuses_a_second_entry_of_a_key(alone: Stage) -> None:
    trail = alone.studio.store.trail
    with trail.changing() as database:
        trail.note(database, "test", key="k" * 64)
    with pytest.raises(IntegrityError), trail.changing() as database:
        trail.note(database, "test", key="k" * 64)


def test_the_words_of_that_day_stay_when_the_rule_changes(stage: Stage, run: str) -> None:
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
        ({"purpose": " "}, 422, "a name or reason needs 1 to 500 characters; change it"),
        ({"until": "2001-01-01"}, 422, "'2001-01-01': choose a date from today on, like 2027-03-31"),
        ({"until": "2027-3-1"}, 422, "'2027-3-1': choose a date from today on, like 2027-03-31"),
        ({"to": "A\u202e"}, 422, "a name or reason needs 1 to 500 characters; change it"),
    ],
)
def test_what_is_no_record(stage: Stage, run: str, given: dict[str, str], code: int, message: str) -> None:
    before = stage.studio.store.trail.head()
    assert stage.post("ann", f"runs/{run}/publications", **TO | given) == (code, message)
    assert stage.studio.store.trail.head() == before


def test_only_stewards_release(stage: Stage, run: str) -> None:
    assert stage.post("ben", f"runs/{run}/publications", **TO)[0] == 403
    page = f"/projects/{stage.project}/results/{run}/publish"
    answer = stage.staff["ben"].post(f"{page}/share", data=TO)
    assert answer.status_code == 403
    assert "our role is reviewer; this needs the role steward" in answer.text
    assert f"{page}/share" not in stage.staff["ben"].get(page).text
    assert f"{page}/share" in stage.staff["ann"].get(page).text


@pytest.mark.parametrize("reason", ["", "because", "x" * 40, " a  b "])
def test_what_the_rule_does_not_call_safe_needs_a_reason(alone: Stage, reason: str) -> None:
    made = run_by(alone.staff["ann"], alone.project, "pseudonymize")
    assert alone.studio.verdict(made).status == VerdictStatus.BROKEN
    terms = TO | {"reason": reason}
    assert alone.post("ann", f"runs/{made}/publications", **terms) == (
        409,
        "this release is broken; write in at least 10 characters why it is released nevertheless, or protect it better",
    )
    page = f"/projects/{alone.project}/results/{made}/publish"
    again = alone.staff["ann"].post(f"{page}/share", data=terms)
    assert again.status_code == 409
    assert alone.staff["ann"].get(f"{page}/public.zip").status_code == 409


def test_a_broken_release_is_never_the_primary_button(alone: Stage) -> None:
    made = run_by(alone.staff["ann"], alone.project, "pseudonymize")
    page = f"/projects/{alone.project}/results/{made}/publish"

    def card() -> str:
        shown = alone.staff["ann"].get(page).text
        return shown[shown.index('id="release"') : shown.index("</main>")]

    assert "It does not contain pseudonym tables" not in card()
    assert "does not protect anyone: its verdict is broken" in card()
    assert 'name="reason"' in card()
    assert "primary" not in card()
    code, said = alone.post("ann", f"runs/{made}/publications", **TO | WHY)
    assert (code, said["reason"], said["judged"]["verdict"]) == (201, WHY["reason"], "broken")
    assert "primary" not in card()
    assert f"{page}/public.zip" in card()
    assert WHY["reason"] in card()
    assert WHY["reason"] in alone.staff["ben"].get("/trail").text
    safe = alone.staff["ann"].get(f"/projects/{alone.project}/results/{alone.run()}/publish").text
    assert 'name="reason"' not in safe
    assert 'class="primary"' in safe


def test_a_release_that_was_not_tried_needs_a_reason_too(alone: Stage) -> None:
    order = {"steps": [{"method": "perturb"}], "seed": SEED, "attacks": [], "measures": []}
    made = alone.staff["ann"].post(f"/api/v1/projects/{alone.project}/runs", json=order).json()["id"]
    assert alone.studio.verdict(made).status == VerdictStatus.UNTRIED
    assert alone.post("ann", f"runs/{made}/publications", **TO)[0] == 409
    assert alone.post("ann", f"runs/{made}/publications", **TO | WHY)[0] == 201


def test_what_was_not_audited_is_neither_requested_nor_downloaded(stage: Stage) -> None:
    made = stage.run()
    record = stage.request(made)
    job = stage.studio.job(made)
    stage.studio.store.change_job(made, summary=dict(job.summary) | {"audited": False})
    for code, said in (stage.approve(record), stage.post("ann", f"runs/{made}/publications", **TO)):
        assert (code, said.split(",")[0]) == (409, "the audit of this release failed")
    assert stage.zip_for("ann", made)[0] == 409
    assert stage.staff["ann"].get(f"/projects/{stage.project}/results/{made}/publish").status_code == 200


def test_a_day_that_passed_is_over() -> None:
    kept: dict[str, Any] = {
        "project": "p", "what": "r", "label": "k", "who": "ann", "when": "2020-01-01", "to": "A", "purpose": "B",
        "digest": "", "rows": 1, "reason": "", "judged": {}, "entry": "", "position": 0, "state": "released",
    }  # fmt: skip
    assert Publication(until="2020-02-01", **kept).is_over
    assert not Publication(until="2999-02-01", **kept).is_over
    assert not Publication(until=None, **kept).is_over


# --- later runs see it ---------------------------------------------------------------------------------------


def test_later_runs_and_the_ledger_tell_of_it(stage: Stage, run: str) -> None:
    assert run
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
    assert ann.post(f"{there}/share", data=TO | {"until": "x"} | WHY).status_code == 422
    assert ann.post(f"{there}/share", data=TO | WHY).status_code == 303
    [record] = approvals.records(stage.studio, project)
    assert stage.approve(record.entry, "ann") == (403, OWN)
    assert ann.get(f"/api/v1{there}/public").status_code == 409
    assert f"/inbox/{record.entry}/approve" in stage.staff["ben"].get(there).text
    assert stage.staff["ben"].post(f"/inbox/{record.entry}/approve", data={"back": there}).headers["location"] == there
    assert ann.get(f"/api/v1{there}/public").status_code == 200
    assert stage.acts("downloaded")[-1].body["record"] == record.entry
    told = ann.get(f"/api/v1/projects/{project}/ledger").json()
    [listed] = told["publications"]
    assert (listed["what"], listed["to"], listed["label"]) == ("ledger-1", TO["to"], told["entries"][0]["period"])
    assert stage.post("ben", f"publications/{record.entry}/refusal", reason="no")[0] == 201
    assert ann.get(f"/api/v1{there}/public").status_code == 409
    assert ann.post(f"/api/v1{there}/publications", json=TO | WHY).status_code == 201
    assert ann.get(f"/projects/{project}/ledger/releases/2").status_code == 404


# --- the trail -----------------------------------------------------------------------------------------------


def test_the_trail_holds_no_secret_and_no_value(stage: Stage, run: str) -> None:
    stage.zip_for("ann", run)
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
    late = ann.post(f"{page}/share", data={"to": "A", "purpose": "B", "until": "2001-01-01", "key": "c" * 32})
    assert late.status_code == 422
    assert "choose a date from today on, like 2027-03-31" in late.text
    for typed in ('value="A"', 'value="B"', f'value="{"c" * 32}"'):
        assert typed in late.text
