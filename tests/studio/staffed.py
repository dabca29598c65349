"""A studio in this process with users of every role, which does its work at once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from argon2 import PasswordHasher
from starlette.testclient import TestClient
from tests.studio.conftest import laid_project
from tests.studio.quiet import Quiet

from noren.api import sample
from noren.data.reading import write
from noren.data.schema import Schema
from noren.studio.users import UserRole

PASSWORD = "correct horse battery"
SEED = 731_046_582_904_117
STAFF = {
    "ada": UserRole.ADMINISTRATOR, "ann": UserRole.STEWARD, "dan": UserRole.STEWARD, "ben": UserRole.REVIEWER,
    "cora": UserRole.READER,
}  # fmt: skip


@cache
def quickly_hashed() -> str:
    """Return a hash of the password that costs little to make and to compare."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


class Staffed(Quiet):
    """Ada is the administrator, Ann and Dan are stewards, Ben reviews, Cora reads; each has a browser."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, **settings)
        self.folder = folder

    def hire(self) -> dict[str, TestClient]:
        """Add the users, and return their browsers."""
        with mock.patch("noren.web.accounts.hashed", return_value=quickly_hashed()):
            for login, role in STAFF.items():
                self.studio.store.users.add(login, login.title(), PASSWORD, role)
        return {login: self.logged_in(login) for login in STAFF}

    def browser(self, language: str = "en") -> TestClient:
        """Return a browser of somebody who did not log in yet."""
        client = TestClient(
            self.app, base_url="http://127.0.0.1:8321", follow_redirects=False, headers={"Accept-Language": language}
        )
        shown = client.get("/login").text
        found = re.search(r'name="csrf" content="([0-9a-f]+)"', shown)
        assert found
        client.headers["X-CSRF-Token"] = found[1]
        return client

    def logged_in(self, login: str, password: str = PASSWORD) -> TestClient:
        """Return the browser of a user."""
        client = self.browser()
        answer = client.post("/login", data={"login": login, "password": password})
        assert answer.status_code == 303, answer.text
        client.headers["X-CSRF-Token"] = client.get("/api/v1/session").json()["csrf"]
        return client

    def shop(self, folder: Path) -> str:
        """Return a project of a small history."""
        columns = Schema.preset("sample").without(["country"])
        write(sample(customers=24, rows=240, items=30, seed=7, schema=columns), folder / "small.parquet")
        return laid_project(SimpleNamespace(folder=self.folder), "Small", file=folder / "small.parquet")  # type: ignore[arg-type]


def run_by(client: TestClient, project: str, method: str = "generalize-by-count", **parameters: Any) -> str:
    """Have a user make a release, and return the run."""
    step = {"method": method, "parameters": parameters}
    order = {"steps": [step], "seed": SEED, "attacks": ["s1"], "measures": ["rfm"]}
    asked = client.post(f"/api/v1/projects/{project}/runs", json=order)
    assert asked.status_code == 202, asked.text
    run: str = asked.json()["id"]
    return run
