"""Background work: it outlives what happens to servers, workers and people's browsers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE
from tests.studio.conftest import Running, ready_project, small_project, until, wait_for
from tests.studio.in_process import Program, Server

from noren.studio import worker
from noren.studio.store import State, Store

FEW: dict[str, Any] = {"attacks": ["unique-rows"], "measures": ["cell-error"]}


def order(method: str = "generalize", *, seed: int = 5, **parameters: Any) -> dict[str, Any]:
    return {"steps": [{"method": method, "parameters": parameters}], "seed": seed} | FEW


LONG = order(k=3, effort=3600.0)
"""It searches for an hour: whoever starts it ends it."""


def workers(folder: Path) -> list[int]:
    """Return the processes that work for a studio."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:  # it ended meanwhile
            continue
        if b"noren.studio.worker" in words and any(word.startswith(str(folder).encode()) for word in words):
            found.append(int(entry.name))
    return found


def started(client: Program, project: str, asked: dict[str, Any]) -> str:
    """Order a run and wait until its worker is at work."""
    job: str = client.post(f"/api/v1/projects/{project}/runs", json=asked).json()["id"]
    until(lambda: client.get(f"/api/v1/jobs/{job}").json()["done"] > 0, "the job begins")
    return job


def released(folder: Path, project: str, job: str) -> dict[str, bytes]:
    """Return the release of a run, byte for byte."""
    place = folder / "projects" / project / "jobs" / job / "release"
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio of this module alone, that may be stopped and killed."""
    running = Running(tmp_path_factory.mktemp("durable"), "--no-samples", "--workers", "2").start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def project(own: Running, tmp_path_factory: pytest.TempPathFactory) -> str:
    with closing(own.client()) as client:
        return small_project(client, tmp_path_factory.mktemp("small"), customers=160, rows=4000)


@pytest.fixture(scope="module")
def sample(own: Running) -> str:
    with closing(own.client()) as client:
        return ready_project(client)


@pytest.fixture(params=["here", pytest.param("process", marks=pytest.mark.slow)])
def either(request: pytest.FixtureRequest) -> Server:
    """A studio in this process, and one in a process of its own with workers of its own."""
    found: Server = request.getfixturevalue({"here": "server", "process": "own"}[request.param])
    return found


# --- the server ends ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_server_goes_on_and_gives_the_same_bytes(own: Running, project: str) -> None:
    asked = order(k=3, effort="quick")
    with closing(own.client()) as client:
        job = started(client, project, asked)
    assert len(workers(own.folder)) == 1
    own.kill()
    until(lambda: not workers(own.folder), "the worker ends with its server")
    own.start()
    with closing(own.client()) as client:
        assert wait_for(client, job)["state"] == "done"
        other = client.post(f"/api/v1/projects/{project}/runs", json=asked).json()["id"]
        assert wait_for(client, other)["state"] == "done"
    first, second = released(own.folder, project, job), released(own.folder, project, other)
    assert first == second
    assert first
    store = Store(f"sqlite:///{own.folder / 'studio.sqlite'}")
    assert [(found.attempts, found.done) for name in (job, other) if (found := store.job(name))] == [(2, 1.0), (1, 1.0)]
    store.close()


@pytest.mark.slow
def test_a_kind_stop_keeps_what_was_under_way(own: Running, project: str) -> None:
    with closing(own.client()) as client:
        job = started(client, project, order(k=3, effort="quick", seed=6))
        waiting = client.post(f"/api/v1/projects/{project}/runs", json=order("thin")).json()["id"]
    assert own.process is not None
    assert own.process.stderr is not None
    own.process.send_signal(signal.SIGINT)
    assert own.process.wait(PATIENCE) == 0
    assert own.process.stderr.read() == ""  # no warnings, no words of libraries
    own._close()
    assert workers(own.folder) == []
    own.start()
    with closing(own.client()) as client:
        assert [wait_for(client, name)["state"] for name in (job, waiting)] == ["done", "done"]
    store = Store(f"sqlite:///{own.folder / 'studio.sqlite'}")
    found = store.job(job)
    assert found is not None
    assert found.attempts == 1  # a stop is nobody's fault
    store.close()


@pytest.mark.slow
def test_a_job_that_brings_the_server_down_is_left_alone_at_last(own: Running, sample: str) -> None:
    with closing(own.client()) as client:
        job = started(client, sample, LONG)
    own.kill()
    store = Store(f"sqlite:///{own.folder / 'studio.sqlite'}")
    store.change_job(job, attempts=3)
    store.close()
    own.start()
    with closing(own.client()) as client:
        said = wait_for(client, job)
        assert said["state"] == "interrupted"
        assert said["error"]["message"] == "the studio was stopped 3 times while this ran; start it again"
        again = client.post(f"/api/v1/jobs/{job}/again").json()
        assert again["id"] != job
        assert client.post(f"/api/v1/jobs/{again['id']}/cancel").json()["state"] == "cancelled"
    assert workers(own.folder) == []


@pytest.mark.slow
def test_one_folder_has_one_studio(own: Running) -> None:
    command = [sys.executable, "-m", "noren", "studio", "--no-open", "--port", "0", "--data-dir", str(own.folder)]
    other = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert other.returncode == 2
    assert "another studio works with this folder" in other.stderr


def test_a_worker_whose_server_is_gone_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HELD.format(folder=str(tmp_path))]
    alone = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert alone.stdout is not None
    assert alone.stdin is not None
    alone.stdin.write(json.dumps({"kind": "nothing", "language": "en"}) + "\n")
    alone.stdin.flush()
    assert alone.stdout.readline() == "working\n"
    alone.stdin.close()
    assert alone.wait(PATIENCE) == 3
    alone.stdout.close()


HELD = """
import sys, threading
from pathlib import Path
import noren.studio.work
from noren.studio import worker
from noren.work.child_processes import Parent
def forever(order, folder, progress):
    print("working", flush=True)
    threading.Event().wait()
noren.studio.work.do = forever
worker.main(Path({folder!r}), Parent(sys.stdin, sys.stdout))
"""


# --- a worker ends --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_killed_by_the_system_is_told(own: Running, sample: str) -> None:
    with closing(own.client()) as client:
        job = started(client, sample, LONG)
        for process in workers(own.folder):
            os.kill(process, signal.SIGKILL)
        said = wait_for(client, job)
        assert said["state"] == "failed"
        assert "the process ended, probably because memory ran out" in said["error"]["message"]


@pytest.mark.slow
def test_cancel_ends_the_worker_and_leaves_nothing_behind(own: Running, sample: str) -> None:
    with closing(own.client()) as client:
        job = started(client, sample, LONG)
        assert len(workers(own.folder)) == 1
        assert client.post(f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
        assert workers(own.folder) == []  # it is gone when the answer comes
        assert client.get(f"/api/v1/jobs/{job}").json()["state"] == "cancelled"
        left = {path.name for path in (own.folder / "projects" / sample / "jobs" / job).iterdir()}
        assert left <= {"error.log"}
        refused = client.post(f"/api/v1/jobs/{job}/enough")
        assert refused.status_code == 409


@pytest.mark.slow
def test_what_waits_is_cancelled_before_it_begins(own: Running, sample: str) -> None:
    with closing(own.client()) as client:
        posted = [client.post(f"/api/v1/projects/{sample}/runs", json=LONG).json()["id"] for _ in range(3)]
        *jobs, third = posted  # there are two workers
        assert client.post(f"/api/v1/jobs/{third}/cancel").json()["state"] == "cancelled"
        for job in jobs:
            client.post(f"/api/v1/jobs/{job}/cancel")
        # what waited before it had its turn when this one is done
        last = client.post(f"/api/v1/projects/{sample}/runs", json=order("thin")).json()["id"]
        assert wait_for(client, last)["state"] == "done"
        assert client.get(f"/api/v1/jobs/{third}").json()["state"] == "cancelled"
    store = Store(f"sqlite:///{own.folder / 'studio.sqlite'}")
    assert [found.attempts for name in (third, last) if (found := store.job(name))] == [0, 1]
    store.close()
    assert workers(own.folder) == []


# --- several at once ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_several_jobs_share_the_workers(own: Running, project: str) -> None:
    most, ended = 0, threading.Event()

    def look() -> None:
        nonlocal most
        while not ended.is_set():
            most = max(most, len(workers(own.folder)))
            ended.wait(0.1)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        with closing(own.client()) as client:
            asked = [order("generalize-by-count", k=k) for k in (2, 3, 4, 5)]
            jobs = [client.post(f"/api/v1/projects/{project}/runs", json=one).json()["id"] for one in asked]
            assert [wait_for(client, job)["state"] for job in jobs] == ["done"] * 4
            error = [1 - client.get(f"/api/v1/jobs/{job}").json()["summary"]["judged"]["place"]["use"] for job in jobs]
    finally:
        ended.set()
        watcher.join()
    assert most == 2  # as many as there are workers, and never more
    assert error == sorted(error)  # a larger k costs more


def test_enough_keeps_the_best_so_far(either: Server) -> None:
    with closing(either.client()) as client:
        job = started(client, ready_project(client), LONG)
        before = until(
            lambda: said if (said := client.get(f"/api/v1/jobs/{job}").json())["can_stop"] else None, "a first best"
        )
        assert 0 < before["best"] < 1
        assert before["done"] < 0.4
        assert client.post(f"/api/v1/jobs/{job}/enough").status_code == 200
        after = wait_for(client, job)
        assert after["state"] == "done"
        assert not after["can_stop"]
        result = client.get(f"/api/v1/runs/{job}/result").json()
        notes = result["statement"]["steps"][0]["notes"]
        assert notes["stopped"] is True
        assert notes["searched"] < 0.9
        u = next(m["value"] for m in result["measures"] if m["name"] == "cell-error")
        assert u == pytest.approx(notes["U"], abs=1e-9)
        assert after["best"] == pytest.approx(u, abs=1e-6)
        assert min(result["class_sizes"]["from"]) >= 3  # the promise stands


def test_a_method_without_a_search_cannot_be_stopped_early(server: Server) -> None:
    with closing(server.client()) as client:
        project = ready_project(client)
        job = client.post(f"/api/v1/projects/{project}/runs", json=order("thin")).json()["id"]
        assert client.post(f"/api/v1/jobs/{job}/enough").status_code == 409
        assert wait_for(client, job)["state"] == "done"


def test_two_tabs_see_the_same(server: Server) -> None:
    def heard(address: str, told: list[dict[str, Any]]) -> None:
        with closing(server.client()) as tab, tab.stream("GET", address) as events:
            told.extend(json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: {"))

    def shares(told: list[dict[str, Any]]) -> list[float]:
        return [said["done"] for said in told if "done" in said]

    with closing(server.client()) as client:
        project = ready_project(client)
        job = client.post(f"/api/v1/projects/{project}/runs", json=LONG).json()["id"]
        tabs: list[list[dict[str, Any]]] = [[], []]
        threads = [threading.Thread(target=heard, args=(f"/api/v1/jobs/{job}/events", told)) for told in tabs]
        for thread in threads:
            thread.start()
        until(lambda: all(len(shares(told)) > 3 for told in tabs), "both tabs hear how far it is")
        until(lambda: client.get(f"/api/v1/jobs/{job}").json()["can_stop"], "a first best")
        assert client.post(f"/api/v1/jobs/{job}/enough").status_code == 200
        for thread in threads:
            thread.join(PATIENCE)
        late: list[dict[str, Any]] = []
        heard(f"/api/v1/jobs/{job}/events", late)
    for told in tabs:
        assert shares(told) == sorted(shares(told))
        assert [said["state"] for said in told if "state" in said][-1] == "done"
    assert [said["state"] for said in late if "state" in said] == ["done"]


@pytest.mark.slow
def test_a_project_is_removed_with_all_that_runs_in_it(own: Running, tmp_path: Path) -> None:
    with closing(own.client()) as client:
        name = ready_project(client, name="Short-lived")
        jobs = [started(client, name, LONG)]
        third = client.post(f"/api/v1/projects/{name}/runs", json=LONG).json()["id"]
        assert client.delete(f"/api/v1/projects/{name}").status_code == 204
        assert workers(own.folder) == []
        assert [client.get(f"/api/v1/jobs/{job}").status_code for job in (*jobs, third)] == [404] * 2
        until(lambda: not (own.folder / "projects" / name).exists(), "the folder is gone")


def test_the_last_best_is_told_however_soon_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[dict[str, Any]] = []
    monkeypatch.setattr(worker, "_EVERY", 3600.0)
    teller = worker.ProgressReporter(said.append)
    for best in (0.5, 0.4, 0.3):
        teller(0.2, "searching", best)
    teller(0.9, "measuring")
    assert [line["best"] for line in said] == [0.5, 0.3, None]


def test_states_that_are_over() -> None:
    assert {state for state in State if not state.is_over} == {State.WAITING, State.RUNNING}
