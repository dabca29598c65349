"""Two servers of one studio, on one PostgreSQL and one folder: each does a part, and either may die."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.studio.conftest import Running, until, wait_for
from tests.studio.in_process import Program
from tests.studio.test_jobs import LONG, order, workers

from noren.studio.store import Store


@pytest.fixture
def pair(address: str, tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    options = ("--no-samples", "--workers", "1", "--database", address)
    servers = [Running(tmp_path / "studio", *options).start() for _ in range(2)]
    yield servers[0], servers[1]
    for server in servers:
        server.stop() if server.process and server.process.poll() is None else None


def holders(store: Store) -> dict[str, str]:
    """Return who is at work, by job."""
    at = store.queue.table.c
    with store.engine.connect() as database:
        found = database.execute(sa.select(at.id, at.claimed_by).where(at.claimed_by.is_not(None)))
        return {row.id: row.claimed_by for row in found}


def ordered(client: Program, project: str) -> str:
    job: str = client.post(f"/api/v1/projects/{project}/runs", json=LONG).json()["id"]
    return job


@pytest.mark.slow
@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_two_servers_share_the_work(pair: tuple[Running, Running], address: str) -> None:
    one, other = pair
    with closing(one.client()) as client, closing(other.client()) as second, closing(Store(address)) as store:
        project = client.post("/api/v1/projects", json={"name": "Shop", "sample": "history"}).json()["id"]
        read = store.jobs(project, kind="read")[0].id
        assert wait_for(second, read)["state"] == "done"

        # each has one place: two runs are at two servers, and a third waits
        jobs = [ordered(client, project) for _ in range(3)]
        until(lambda: len(holders(store)) == 2, "both servers are at work")
        assert set(holders(store)) == set(jobs[:2])
        assert len({holder.split("-")[-2] for holder in holders(store).values()}) == 2
        until(lambda: len(workers(one.folder)) == 2, "two workers")

        # whoever is asked, the process is gone when the answer comes
        for job in (jobs[2], *jobs[:2]):
            assert client.post(f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
        assert workers(one.folder) == []
        assert [found.attempts for job in jobs if (found := store.job(job))] == [1, 1, 0]

        # one is killed: the other takes up what it did, when the lease is over
        long = [ordered(client, project) for _ in range(2)]
        until(lambda: len(holders(store)) == 2, "both are at work again")
        assert other.process is not None
        lost = next(job for job, holder in holders(store).items() if f"-{other.process.pid}-" in holder)
        kept = next(job for job in long if job != lost)
        other.kill()
        assert client.post(f"/api/v1/jobs/{kept}/cancel").json()["state"] == "cancelled"  # it has its place free
        taken = until(lambda: (found := store.job(lost)) and found.attempts == 2 and found, "it is taken up")
        assert taken.state == "running"
        assert client.post(f"/api/v1/jobs/{lost}/cancel").json()["state"] == "cancelled"
        quick = client.post(f"/api/v1/projects/{project}/runs", json=order("thin")).json()["id"]
        assert wait_for(client, quick)["state"] == "done"
    assert workers(one.folder) == []
