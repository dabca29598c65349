"""What a run finished is never lost: what fails is told with its reason, and what is missing can be done again."""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from tests.studio.conftest import Running, small_project, until, wait_for
from tests.studio.quiet import Quiet

from noren import api
from noren.errors import CheckFailedError, OutputError, ParameterError
from noren.i18n import _, ngettext, track_messages, use_language
from noren.measures.safety import classes
from noren.progress import silent
from noren.studio import exports, jobs, worker
from noren.studio.actions.projects import add_project, upload
from noren.studio.actions.runs import act_on_job
from noren.studio.failure_reasons import GONE, error_details, in_all_languages, reason_of
from noren.studio.folders import Folders, read_json, write_json
from noren.studio.service import Studio
from noren.studio.store import HEAVY, Job, State, Store
from noren.studio.work import running
from noren.studio.work.results import RunFolder, forget_failures, load_outcome, set_aside
from noren.web.errors import DISK_FULL, ConflictError, TooLargeError, is_disk_full
from noren.web.settings import ServerSettings
from noren.work.child_processes import Child, Parent
from noren.work.queue import Claim

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def place(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """The order of a run and the folder of its job."""
    history = api.sample(customers=20, rows=300, items=50, seed=1)
    project, job = "p" * 12, "j" * 12
    folders = Folders(tmp_path)
    folder = folders.job(project, job)
    folder.mkdir(parents=True)
    history.frame.select(history.schema.names).write_parquet(folders.data(project))
    folders.schema(project).write_text(history.schema.to_toml(), encoding="utf-8")
    order = {
        "kind": "run", "project": project, "root": str(tmp_path), "language": "en", "seed": 5,
        "steps": [{"method": "generalize-by-count", "parameters": {"k": 3}}],
        "attacks": ["unique-rows", "jaccard"], "measures": ["cell-error", "reid-rate", "classes"],
    }  # fmt: skip
    return order, folder


def failing(monkeypatch: pytest.MonkeyPatch, what: str, name: str, error: BaseException) -> list[str]:
    """Let one attack or measure fail; return the list of all that are tried."""
    real, tried = getattr(api, what), []

    def may_fail(original: Any, release: Any, component: Any, **how: Any) -> Any:
        tried.append(component.name)
        if component.name == name:
            raise error
        return real(original, release, component, **how)

    monkeypatch.setattr(api, what, may_fail)
    return tried


def test_a_run_without_failures_says_so(place: tuple[dict[str, Any], Path]) -> None:
    order, folder = place
    summary = running.do(order, folder, silent)
    assert (summary["failed"], summary["audited"]) == ([], True)
    view = read_json(folder / "result.json")
    assert (view["failed"], view["audited"]) == ([], True)
    assert [m["name"] for m in view["measures"]] == ["cell-error", "reid-rate", "classes"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ValueError("odd"),
            "{name}: unexpected error; see the server log, or the error log of the job in the data folder",
        ),
        (MemoryError(), "the process ended, probably because memory ran out; try fewer rows or another method"),
        (OutputError("a rule; a cure"), "a rule; a cure"),
    ],
)
@pytest.mark.parametrize(("what", "name"), [("attack", "jaccard"), ("measure", "cell-error")])
def test_one_that_fails_leaves_the_others(
    place: tuple[dict[str, Any], Path],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    name: str,
    error: Exception,
    said: str,
) -> None:
    order, folder = place
    failing(monkeypatch, what, name, error)
    summary = running.do(order, folder, silent)
    (failure,) = summary["failed"]
    assert (failure["component"], failure["kind"]) == (name, what)
    assert set(failure["reason"]) == {"en", "ja"}
    assert failure["reason"]["en"] == said.format(name=name)
    view = read_json(folder / "result.json")
    assert view["failed"] == summary["failed"]
    attacks, measures = {"unique-rows", "jaccard"}, {"cell-error", "reid-rate", "classes"}
    assert {a["attack"] for a in view["facts"]["tried"]} == attacks - {name}
    assert {m["name"] for m in view["measures"]} == measures - {name}
    assert (folder / "release" / "secret" / "run.json").exists()
    assert not (folder / "doing.json").exists()


def test_again_does_what_is_missing_and_what_counts_on_it(
    place: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    order, folder = place
    with monkeypatch.context() as broken:
        failing(broken, "attack", "jaccard", ValueError("odd"))
        running.do(order, folder, silent)
    before = (folder / "release" / "public.parquet").stat().st_mtime_ns
    forget_failures(folder)
    monkeypatch.setattr(api, "protect_unaudited", None)  # it would be an error to call it
    attacked = failing(monkeypatch, "attack", "", ValueError())
    measured = failing(monkeypatch, "measure", "", ValueError())
    summary = running.do(order, folder, silent)
    assert summary["failed"] == []
    assert attacked == ["jaccard"]
    assert measured == ["reid-rate"]  # it counts what attacks found; the others stand
    assert (folder / "release" / "public.parquet").stat().st_mtime_ns == before


def test_taken_up_again_it_is_what_it_would_have_been(
    place: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    order, folder = place
    whole = running.do(order, folder, silent)
    kept = {name: (folder / name).read_bytes() for name in ("result.json", "crosstabs.json", "release/public.parquet")}
    shutil.rmtree(folder.parent.parent / "explore")  # where it would find all of it
    other = folder.with_name("k" * 12)
    other.mkdir()
    with monkeypatch.context() as broken:
        failing(broken, "measure", "cell-error", FULL)  # it ends the run
        with pytest.raises(OSError, match="No space"):
            running.do(order, other, silent)
    assert list(load_outcome(other).guesses) == ["unique-rows", "jaccard"]
    assert running.do(order, other, silent) == whole
    for name, content in kept.items():
        assert (other / name).read_bytes() == content, name


# --- the audit --------------------------------------------------------------------------------------------------------


def test_an_audit_that_crashes_keeps_the_release_and_says_so(
    place: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    order, folder = place
    with monkeypatch.context() as broken:
        broken.setattr(classes, "audit", lambda *_: 1 / 0)
        summary = running.do(order, folder, silent)
    assert summary["audited"] is False
    assert [(one["component"], one["kind"]) for one in summary["failed"]] == [("generalize-by-count", "audit")]
    assert (folder / "release" / "public.parquet").exists()
    assert read_json(folder / "result.json")["audited"] is False
    forget_failures(folder)
    again = running.do(order, folder, silent)
    assert (again["audited"], again["failed"]) == (True, [])


def test_a_false_claim_keeps_nothing(place: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    order, folder = place

    def false(*_: Any) -> None:
        raise CheckFailedError("the release claims k=3, but")

    monkeypatch.setattr(classes, "audit", false)
    with pytest.raises(CheckFailedError):
        running.do(order, folder, silent)
    assert not (folder / "release").exists()


def test_what_claims_nothing_needs_no_audit(place: tuple[dict[str, Any], Path]) -> None:
    order, folder = place
    order["steps"] = [{"method": "thin", "parameters": {}}]
    assert running.do(order, folder, silent)["audited"] is None


def test_a_release_that_is_not_audited_is_not_handed_out(tmp_path: Path) -> None:
    studio = Studio(ServerSettings(tmp_path, samples=False))
    project = add_project(studio, name="x").id
    job = studio.store.add_job(project, "run", "r", {"steps": []})
    studio.store.change_job(job.id, state=State.DONE, summary={"audited": False, "failed": []})
    with pytest.raises(ConflictError, match="the audit of this release failed"):
        exports.public_part(studio, job.id)
    studio.close()


# --- a worker that dies -----------------------------------------------------------------------------------------------


def test_what_a_worker_died_of_is_set_aside(place: tuple[dict[str, Any], Path]) -> None:
    order, folder = place
    assert not set_aside(folder, in_all_languages(GONE))
    for kind, name in (("attack", "jaccard"), ("measure", "classes")):
        write_json(folder / "doing.json", {"kind": kind, "component": name})
        assert set_aside(folder, in_all_languages(GONE))
    summary = running.do(order, folder, silent)
    assert [one["component"] for one in summary["failed"]] == ["jaccard", "classes"]
    assert summary["failed"][0]["reason"]["en"].startswith("the process ended")


def test_a_worker_that_died_in_the_audit_leaves_a_release_that_says_so(place: tuple[dict[str, Any], Path]) -> None:
    order, folder = place
    running.do(order, folder, silent)
    (folder / "outcome.json").unlink()
    write_json(folder / "doing.json", {"kind": "audit", "component": "generalize-by-count"})
    assert set_aside(folder, in_all_languages(GONE))
    assert (RunFolder(folder).find_release(folder / "release"), RunFolder(folder).audited) == (True, False)


class Scripted(jobs.JobRunner):
    """Jobs whose workers are told what to do; the queue is looked at by hand."""

    def __init__(self, store: Store, folder: Path, ends: list[tuple[int, dict[str, Any]]]) -> None:
        super().__init__(ServerSettings(folder), store)
        self.ends = ends

    def _watch(self, job: Job, folder: Path, claim: Claim) -> tuple[int, dict[str, Any]]:
        return self.ends.pop(0)

    def perform(self, job: str) -> State | None:
        """Do the job whose turn it is, which is this one."""
        claim = self.store.queue.claim([HEAVY], self.runner.holder)
        assert claim is not None
        assert claim.id == job
        return self.runner.do(claim)

    def close(self) -> None:
        self._presence.close()


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Callable[..., tuple[Scripted, Job]]]:
    made: list[Scripted] = []

    def make(*ends: tuple[int, dict[str, Any]], **values: Any) -> tuple[Scripted, Job]:
        store = Store(f"sqlite:///{tmp_path / 'studio.sqlite'}")
        job = store.add_job(store.add_project("a", {}).id, "run", "r", {"seed": 1})
        store.change_job(job.id, **values) if values else None
        made.append(Scripted(store, tmp_path, list(ends)))
        made[-1].submit(job)
        return made[-1], job

    yield make
    for one in made:
        one.close()
        one.store.close()


def ended(at: Scripted, job: Job) -> tuple[State, str]:
    found = at.store.job(job.id)
    assert found is not None
    return found.state, found.error.get("message", "")


def test_every_death_has_its_reason(scripted: Callable[..., tuple[Scripted, Job]]) -> None:
    for code, told, said in (
        (-9, {}, "the process ended, probably because memory ran out"),
        (1, {}, "unexpected error; see the server log"),
        (
            2,
            {"error": {"message": in_all_languages(DISK_FULL)}},
            "the disk that holds the server's data is full; free some",
        ),
    ):
        at, job = scripted((code, told))
        assert at.perform(job.id) == State.FAILED
        state, message = ended(at, job)
        assert state == State.FAILED
        assert message.startswith(said)
        at.close()


def test_a_killed_worker_is_followed_by_one_that_goes_on(scripted: Callable[..., tuple[Scripted, Job]]) -> None:
    at, job = scripted((-9, {}), (0, {"summary": {"failed": [1]}}))
    write_json(at.folders.job(job.project, job.id) / "doing.json", {"kind": "attack", "component": "jaccard"})
    assert at.perform(job.id) == State.DONE
    assert ended(at, job) == (State.DONE, "")
    assert at.ends == []


def test_a_result_stays_when_doing_the_rest_fails(scripted: Callable[..., tuple[Scripted, Job]]) -> None:
    at, job = scripted((-9, {}), summary={"failed": [1]})
    assert at.perform(job.id) == State.DONE
    state, message = ended(at, job)
    assert state == State.DONE
    assert message.startswith("the process ended")


def full_disk(*_: Any) -> Any:
    raise sa.exc.OperationalError("UPDATE", {}, Exception("database or disk is full"))


def test_a_full_disk_ends_a_run_though_nothing_can_be_written(
    scripted: Callable[..., tuple[Scripted, Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, job = scripted((2, {"error": {"message": in_all_languages(DISK_FULL)}}))
    with monkeypatch.context() as full:
        full.setattr(at.store.queue, "_write", full_disk)
        assert at.perform(job.id) == State.FAILED
        assert ended(at, job)[0] == State.FAILED  # it is known at once
        assert [one.id for one in at.store.jobs(states=(State.FAILED,))] == [job.id]
        assert at.store.jobs(states=(State.RUNNING, State.WAITING)) == []
        assert not at.store.queue.write_down()
        at.store.queue.end_leases()
        assert at.store.queue.claim([HEAVY], "another") is None  # nobody here begins it anew
    assert at.store.queue.write_down()
    again = Store(str(at.store.engine.url)).job(job.id)
    assert again is not None
    assert (again.state, again.error["message"][:8]) == (State.FAILED, "the disk")


def test_a_job_that_is_cancelled_on_a_full_disk_does_not_begin(
    scripted: Callable[..., tuple[Scripted, Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, job = scripted()
    with monkeypatch.context() as full:
        full.setattr(at.store.queue, "_write", full_disk)
        assert at.cancel(job.id)
        assert not at.cancel(job.id)  # once is enough
        assert ended(at, job)[0] == State.CANCELLED
        assert at.store.queue.claim([HEAVY], "another") is None
    assert at.store.queue.write_down()
    assert at.store.jobs(states=(State.CANCELLED,))[0].id == job.id


def test_a_full_disk_hides_progress_and_nothing_else(
    scripted: Callable[..., tuple[Scripted, Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, job = scripted((0, {"summary": {"rows": 1}}))
    monkeypatch.setattr(at.store, "change_job", full_disk_keywords)
    at._save(job.id, done=0.5, words="w", best=None)  # it is told, and that is all
    assert at.perform(job.id) == State.DONE


def full_disk_keywords(*_: Any, **_values: Any) -> Any:
    full_disk()


def test_a_fault_of_ours_ends_the_job_and_is_logged(
    scripted: Callable[..., tuple[Scripted, Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, job = scripted((0, {"summary": {"rows": 1}}))
    monkeypatch.setattr(at, "_watch", lambda *_: 1 / 0)
    assert at.perform(job.id) == State.FAILED
    assert ended(at, job)[1].startswith("unexpected error; see the server log")
    log = at.folders.job(job.project, job.id) / "error.log"
    assert "ZeroDivisionError" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "script", ["print('{\"a\": 1}'); print('{\"cut'); sys.exit(3)", "subprocess.Popen(['sleep', '600'])"]
)
def test_a_dead_worker_is_noticed_whoever_holds_its_line(script: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import subprocess, sys\n{script}"]
    one = Child(command, tmp_path / "error.log")
    heard = list(one.lines(threading.Event()))
    one.end()
    assert heard == ([{"a": 1}] if "cut" in script else [])


# --- in every language ------------------------------------------------------------------------------------------------


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.i18n._remembering", False)
    track_messages()


def test_an_error_is_kept_in_every_language(remembering: None) -> None:
    with use_language("ja"):
        error = ParameterError(
            _("{text!r} is no share").format(text="x"), _("write 0.3 or 30%"), file="/var/data/source.bin", row=3,
        )  # fmt: skip
    told = error_details(error, "mine.csv")
    assert told["message"]["en"] == "mine.csv, row 3: 'x' is no share; write 0.3 or 30%"
    assert told["message"]["ja"] != told["message"]["en"]
    assert "x" in told["message"]["ja"]
    assert told["cure"]["en"] == "write 0.3 or 30%"
    assert told["row"] == 3


def test_counts_and_messages_within_messages_are_said_again(remembering: None) -> None:
    with use_language("ja"):
        inner = ngettext("{count} period is still to come.", "{count} periods are still to come.", 2).format(count=2)
        error = CheckFailedError(_("{told}; the budget is {limit}").format(told=inner, limit=1))
    assert error_details(error)["message"]["en"] == "2 periods are still to come.; the budget is 1"


def test_a_job_tells_its_error_as_the_reader_speaks(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    job = store.add_job(store.add_project("a", {}).id, "run", "r", {})
    store.change_job(job.id, state=State.FAILED, error={"message": in_all_languages(GONE), "row": 4})
    told = {}
    for language in ("en", "ja"):
        with use_language(language):
            found = store.job(job.id)
            assert found is not None
            told[language] = found.error
    assert told["en"]["message"] == GONE
    assert told["ja"]["message"] == in_all_languages(GONE)["ja"] != GONE
    assert told["ja"]["row"] == 4


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (FULL, True),
        (OSError(errno.EDQUOT, "x"), True),
        (OSError(errno.EACCES, "x"), False),
        (RuntimeError("IO error: No space left on device (os error 28)"), True),
        (sa.exc.OperationalError("UPDATE", {"e": "disk is full"}, Exception("database is locked")), False),
        (sa.exc.OperationalError("UPDATE", {}, Exception("database or disk is full")), True),
        (OutputError("the disk is full"), False),
        (MemoryError(), False),
    ],
)
def test_a_full_disk_is_known_whoever_met_it(error: Exception, full: bool) -> None:
    assert is_disk_full(error) is full
    wrapped = OutputError("it was not written")
    wrapped.__context__ = error  # as where another error is raised while it is handled
    assert is_disk_full(wrapped) is full


def test_a_worker_says_that_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[dict[str, Any]] = []

    def full(*_: Any) -> None:
        raise FULL

    monkeypatch.setattr("noren.i18n._remembering", False)
    monkeypatch.setattr("noren.i18n._language", "en")
    monkeypatch.setattr("noren.studio.work.do", full)
    server = Parent(io.StringIO(), io.StringIO())
    monkeypatch.setattr(server, "say", said.append)
    monkeypatch.setattr(server, "listen", lambda hear: hear({"kind": "run", "language": "ja"}))
    assert worker.main(tmp_path, server) == 2
    assert said == [{"error": {"message": in_all_languages(DISK_FULL)}}]
    assert reason_of(FULL, "x") == in_all_languages(DISK_FULL)


# --- uploads ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(ServerSettings(tmp_path / "studio", samples=False, largest_upload=1_000_000))
    yield made
    made.close()


def test_a_small_file_of_many_rows_is_too_large(studio: Studio) -> None:
    content = io.BytesIO()
    pl.DataFrame({"n": [7] * 200_000}).write_parquet(content)
    assert len(content.getvalue()) < 10_000
    project = add_project(studio, name="x").id
    with pytest.raises(TooLargeError, match=r"many\.parquet: the file decodes to more than .* bytes"):
        upload(studio, project=project, name="many.parquet", chunks=iter([content.getvalue()]))
    assert list(studio.folders.project(project).iterdir()) == []
    assert studio.project(project).source == {}


def test_a_job_that_cannot_be_started_does_not_wait(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(job: Job) -> None:
        raise FULL

    monkeypatch.setattr(studio.jobs, "submit", full)
    with pytest.raises(OSError, match="No space"):
        add_project(studio, name="x", sample="people")
    assert studio.store.jobs() == []


LIMITED = 8_000_000


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio that can write no file beyond a few megabytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    made = Running(tmp_path_factory.mktemp("limited"), "--no-samples", measured_workers=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMITED, before[1]))
    try:
        made.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    yield made
    made.stop()


@pytest.mark.slow
def test_an_upload_without_room_is_said_and_leaves_nothing(limited: Running) -> None:
    with closing(limited.client("ja")) as client:
        project = client.post("/api/v1/projects", json={"name": "x"}).json()["id"]
        answer = client.put(f"/api/v1/projects/{project}/file?name=a.csv", content=b"a,b\n" * (LIMITED // 2))
        assert answer.status_code == 507
        assert answer.json()["error"]["message"] == in_all_languages(DISK_FULL)["ja"]
        assert client.get(f"/api/v1/projects/{project}").json()["source"] == {}
        assert list((limited.folder / "projects" / project).iterdir()) == []
        told = client.put(f"/api/v1/projects/{project}/file?name=a.csv", content=b"name,age\nAnn,20\nBob,31\n")
        assert wait_for(client, told.json()["id"])["state"] == "done"  # there is room for this


def test_a_body_without_a_length_is_bounded(quiet: Quiet) -> None:
    sent = quiet.client.post(
        "/api/v1/projects", content=(b" " * 2**18 for _ in range(8)), headers={"Content-Type": "application/json"}
    )
    assert "content-length" not in sent.request.headers
    assert sent.status_code == 413
    assert sent.json()["error"]["message"].startswith("the request is too large")


@pytest.mark.slow
def test_a_run_whose_worker_is_killed_at_an_attack_ends_with_the_others(limited: Running, tmp_path: Path) -> None:
    with closing(limited.client()) as client:
        project = small_project(client, tmp_path)
        order = {"steps": [{"method": "thin"}], "attacks": ["linkage", "unique-rows"], "measures": ["cell-error"]}
        job = client.post(f"/api/v1/projects/{project}/runs", json=order).json()["id"]
        doing = limited.folder / "projects" / project / "jobs" / job / "doing.json"

        def caught() -> bool:
            said = read_json(doing)
            if said is None or said["component"] != "linkage":
                return False
            for entry in Path("/proc").iterdir():
                words = (entry / "cmdline").read_bytes() if entry.name.isdigit() and entry.exists() else b""
                if job.encode() in words and b"noren.studio.worker" in words:
                    os.kill(int(entry.name), signal.SIGKILL)
                    return True
            return False

        until(caught, "the attack begins", every=0.001)
        said = wait_for(client, job)
        assert said["state"] == "done"
        assert [one["component"] for one in said["summary"]["failed"]] == ["linkage"]
        result = client.get(f"/api/v1/runs/{job}/result").json()
        assert [one["attack"] for one in result["verdict"]["evidence"]] == ["unique-rows"]
        assert result["facts"]["failed"] == ["linkage"]
        assert [m["name"] for m in result["measures"]] == ["cell-error"]
        again = client.post(f"/api/v1/jobs/{job}/again")
        assert again.json()["id"] == job
        assert wait_for(client, job)["summary"]["failed"] == []


# --- again ------------------------------------------------------------------------------------------------------------


def ended_run(studio: Studio, state: State, *, released: bool, **values: Any) -> str:
    job = studio.store.add_job(add_project(studio, name="x").id, "run", "r", {"kind": "run", "steps": [], "seed": 1})
    studio.store.change_job(job.id, state=state, attempts=3, **values)
    folder = studio.job_folder(job)
    (folder / "release" if released else folder).mkdir(parents=True)
    return job.id


def queued(studio: Studio) -> list[str]:
    """Return the jobs that would be worked on."""
    waiting = [job.id for job in studio.store.jobs(states=(State.WAITING,))]
    return waiting if studio.store.queue.has_open([HEAVY]) else []


def test_a_run_with_failures_goes_on_as_itself(studio: Studio) -> None:
    failed = [{"component": "jaccard", "kind": "attack", "reason": {"en": "x", "ja": "x"}}]
    job = ended_run(studio, State.DONE, released=True, summary={"failed": failed})
    write_json(studio.job_folder(studio.job(job)) / "outcome.json", {"notes": {}, "scores": {}, "failed": failed})
    again = act_on_job(studio, job=job, act="again")
    assert (again.id, again.state, again.attempts, queued(studio)) == (job, State.WAITING, 0, [job])
    assert RunFolder(studio.job_folder(again)).failed == []
    # whoever stops it meanwhile keeps the result it had
    assert act_on_job(studio, job=job, act="cancel").state == State.DONE
    assert (studio.job_folder(again) / "release").is_dir()


@pytest.mark.parametrize(
    ("state", "released", "same"),
    [
        (State.FAILED, True, True),
        (State.INTERRUPTED, True, True),
        (State.FAILED, False, False),
        (State.CANCELLED, True, False),
    ],
)
def test_what_made_its_release_goes_on_and_the_rest_begins_anew(
    studio: Studio, state: State, released: bool, same: bool
) -> None:
    job = ended_run(studio, state, released=released)
    again = act_on_job(studio, job=job, act="again")
    assert (again.id == job) is same
    assert again.state == State.WAITING
    assert queued(studio) == [again.id]


def test_a_run_that_is_whole_is_not_done_again(studio: Studio) -> None:
    job = ended_run(studio, State.DONE, released=True, summary={"failed": []})
    with pytest.raises(ConflictError, match="not possible while the job is done"):
        act_on_job(studio, job=job, act="again")
    assert queued(studio) == []


def test_a_job_whose_server_died_before_it_was_queued_is_queued_by_the_next(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = studio.store.add_job(add_project(studio, name="x").id, "run", "r", {"kind": "run", "seed": 1})
    assert not studio.store.queue.has_open([HEAVY])
    monkeypatch.setattr(studio.jobs.runner, "start", lambda: None)
    studio.jobs.start()
    assert queued(studio) == [job.id]
