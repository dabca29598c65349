"""The REST interface against its own description: whatever is sent, the answer is one that was promised."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.conftest import PATIENCE
from tests.studio.conftest import until, wait_for
from tests.studio.in_process import Server

from noren.studio.api import router
from noren.studio.app import make_app
from noren.web.settings import ServerSettings


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Somebody in a studio of its own, where nothing is done: projects are added and removed as they like."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        app = make_app(ServerSettings(tmp_path_factory.mktemp("strangers"), port=port, samples=False))
        app.state.studio.jobs.submit = lambda job: None
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        serving.start()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/", timeout=PATIENCE) as client:
            client.headers["X-CSRF-Token"] = client.get("/api/v1/session").json()["csrf"]
            client.post("/api/v1/projects", json={"name": "Try"})
            yield client
        server.should_exit = True
        serving.join(PATIENCE)
        app.state.studio.close()


def described() -> dict[str, Any]:
    """Return the description that ``/api/docs.json`` gives."""
    app = FastAPI(title="Noren studio", version="1")
    app.include_router(router)
    return app.openapi()


interface = schemathesis.openapi.from_dict(described())


@interface.parametrize()
@settings(max_examples=settings().max_examples // 5, suppress_health_check=list(HealthCheck), database=None)
def test_every_answer_is_promised(case: Any, stranger: httpx.Client) -> None:
    answer = case.call(
        base_url=str(stranger.base_url).rstrip("/"),
        timeout=PATIENCE,
        headers={"X-CSRF-Token": stranger.headers["X-CSRF-Token"], "Origin": str(stranger.base_url).rstrip("/")},
        cookies=dict(stranger.cookies),
    )
    case.validate_response(
        answer,
        checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance],
    )


class TestByHand:
    def test_a_run_from_the_first_call_to_its_result(self, client: httpx.Client) -> None:
        project = client.post("/api/v1/projects", json={"name": "Try", "sample": "history"}).json()["id"]
        until(lambda: client.get(f"/api/v1/projects/{project}").json()["ready"], "the sample is read")
        order = {
            "steps": [{"method": "generalize-by-count", "parameters": {"k": 3}}],
            "attacks": ["unique-rows"],
            "measures": ["cell-error", "classes"],
            "seed": 5,
        }
        started = client.post(f"/api/v1/projects/{project}/runs", json=order)
        assert started.status_code == 202
        job = wait_for(client, started.json()["id"])
        assert (job["state"], job["error"], job["label"]) == ("done", None, "generalize-by-count, k = 3")
        result = client.get(f"/api/v1/runs/{job['id']}/result").json()
        assert {m["name"] for m in result["measures"]} == {"cell-error", "classes"}
        assert [a["attack"] for a in result["facts"]["tried"]] == ["unique-rows"]
        verdict = result["verdict"]
        told = {"verdict", "reason", "sentence", "remarks", "assumed_unknown", "kept_identifiers", "rule", "evidence"}
        assert set(verdict) == told | {"guarantee", "inferred", "left_out", "privacy"}
        assert verdict["rule"]["name"] == client.get(f"/api/v1/projects/{project}").json()["rule"] == "partner"
        on_map = client.get(f"/api/v1/projects/{project}/map").json()
        assert [point["run"] for point in on_map["points"]] == [job["id"]]
        assert "seed" not in started.text
        assert '"seed"' not in client.get(f"/api/v1/jobs/{job['id']}").text

    @pytest.mark.parametrize(
        ("order", "said"),
        [
            ({"steps": [{"method": "generalise"}]}, "did you mean"),
            ({"steps": [{"method": "generalize-by-count", "parameters": {"k": 1}}]}, "k"),
            ({"steps": [{"method": "hierarchy", "parameters": {"k": 2}}]}, "hierarch"),
            ({"steps": [{"method": "generalize", "parameters": {"categories": "/etc/passwd", "k": 2}}]}, "categories"),
            ({"steps": [{"method": "pseudonymize"}], "attacks": ["nobody"]}, "nobody"),
            ({"steps": []}, "steps"),
            ({"steps": [{"method": "pseudonymize"}], "seed": -1}, "seed"),
        ],
    )
    def test_a_wrong_order_is_refused_with_its_reason(
        self, client: httpx.Client, shop: str, order: dict[str, Any], said: str
    ) -> None:
        answer = client.post(f"/api/v1/projects/{shop}/runs", json=order)
        assert answer.status_code == 422
        assert said in answer.json()["error"]["message"]

    def test_what_is_not_there_is_404(self, client: httpx.Client) -> None:
        for address in ("projects/nothere23456", "jobs/nothere23456", "runs/nothere23456/result", "nowhere"):
            answer = client.get(f"/api/v1/{address}")
            assert answer.status_code == 404, address
            assert set(answer.json()) == {"error"}

    def test_errors_tell_nothing_of_the_machine(self, client: httpx.Client, server: Server) -> None:
        project = client.post("/api/v1/projects", json={"name": "Bad"}).json()["id"]
        sent = client.put(f"/api/v1/projects/{project}/file?name=bad.csv", content=b"a,b\n1,2\n3\n")
        job = wait_for(client, sent.json()["id"])
        assert job["state"] == "failed"
        assert job["error"]["message"].startswith("bad.csv")
        assert str(server.folder) not in client.get(f"/api/v1/jobs/{job['id']}").text
        assert "Traceback" not in job["error"]["message"]
