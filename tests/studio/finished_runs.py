"""Finished runs to look at: a history broken and a history that withstands, a table by classes and one by noise.

They are made once for each studio, on small data, however many tests look at them.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import polars as pl
from tests.studio.conftest import laid_project, wait_for
from tests.studio.in_process import Server

SEED = 731_046_582_904_117
"""Too large to be tried, so that a page does not warn; easy to find in a text that tells it."""
STEPS: dict[str, dict[str, Any]] = {
    "pseudonymize": {"method": "pseudonymize"},
    "by-count": {"method": "generalize-by-count", "parameters": {"k": 4}},
    "hierarchy": {"method": "hierarchy", "parameters": {"k": 5}},
    "retention": {
        "method": "retention",
        "parameters": {"k": 2, "attributes": ["sex", "education", "income"], "reconstruct": "em"},
    },
}
MEASURES = {
    "hierarchy": ["class-size", "classes", "discernibility", "entropy-loss", "table-loss"],
    "retention": ["classes", "l1-precision"],
}
"""What tables are measured by: what is quick; histories are measured by everything."""


@dataclass(frozen=True)
class Finished:
    """The projects and runs of a studio: ``runs["by-count"]`` is the run, ``project_of`` knows whose it is."""

    folder: Path
    history: str
    people: str
    runs: dict[str, str]

    def project_of(self, name: str) -> str:
        return self.people if name in ("hierarchy", "retention") else self.history

    def page(self, name: str) -> str:
        return f"/projects/{self.project_of(name)}/results/{self.runs[name]}"

    def job_folder(self, name: str) -> Path:
        return self.folder / "projects" / self.project_of(name) / "jobs" / self.runs[name]

    def pseudonyms(self, name: str) -> list[tuple[str, str]]:
        """Return who is behind each pseudonym."""
        return pl.read_parquet(self.job_folder(name) / "release" / "secret" / "pseudonyms.parquet").rows()


def history_file(folder: Path) -> Path:
    """Write a small history in the official form."""
    from noren.api import sample
    from noren.data.contest_files import write_rows

    write_rows(sample(customers=120, rows=900, items=150, seed=7, schema="pwscup2018"), folder / "T.csv")
    return folder / "T.csv"


def people_file(folder: Path) -> Path:
    """Write a small table of people."""
    from noren.data.reading import write
    from noren.data.samples.people import sample_people

    write(sample_people(rows=400, seed=3), folder / "people.csv")
    return folder / "people.csv"


def finished_runs(server: Server) -> Finished:
    """Return the finished runs of a studio, made when first asked for."""
    return _made(server)


def released(client: httpx.Client, run: str, **terms: str) -> str:
    """Release a run to somebody, whatever its verdict; return the record."""
    to = {"to": "Example University", "purpose": "tests", "reason": "for tests of what is released"}
    answer = client.post(f"/api/v1/runs/{run}/publications", json=to | terms)
    assert answer.status_code == 201, answer.text
    entry: str = answer.json()["entry"]
    return entry


@cache
def _made(server: Server) -> Finished:
    with tempfile.TemporaryDirectory() as name, closing(server.client()) as client:
        history = laid_project(server, "Shop “A”: 2026/店", file=history_file(Path(name)), preset="pwscup2018")
        people = laid_project(server, "People", file=people_file(Path(name)), preset="people")
        started = {}
        for method, step in STEPS.items():
            project = people if method in ("hierarchy", "retention") else history
            order = {"steps": [step], "seed": SEED, "measures": MEASURES.get(method)}
            asked = client.post(f"/api/v1/projects/{project}/runs", json=order)
            assert asked.status_code == 202, asked.text
            started[method] = asked.json()["id"]
        for job in started.values():
            ended = wait_for(client, job)
            assert ended["state"] == "done", ended
    return Finished(server.folder, history, people, started)
