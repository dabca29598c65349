"""One declaration of an action gives its route, request, command and form."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel
from typer.testing import CliRunner

from noren.web.actions import ActionParameter, action, add_route, command


@action(
    "owner", "POST /shops/{shop}/shelves/{shelf}/close", body="CloseIn", body_text="Why a shelf is closed.", status=201
)
def close(
    shop: str,
    *,
    account: str,
    shelf: Annotated[str, ActionParameter("Which shelf.", "SHELF", {"max_length": 5})],
    reason: Annotated[str, ActionParameter("Why.", rules={"max_length": 10})],
    days: Annotated[int, ActionParameter("For how long.")] = 1,
) -> str:
    """Close a shelf.

    It opens again by itself.
    """
    return f"{shop}/{shelf} closed by {account} for {days}: {reason}"


class Closed(BaseModel):
    """What was done."""

    text: str


def served() -> tuple[FastAPI, TestClient]:
    def run(shop: str, **asked: Any) -> Closed:
        return Closed(text=close(shop, account="mia", **asked))

    router = APIRouter()
    add_route(router, close, run, {"shop": str}, Closed)
    app = FastAPI()
    app.include_router(router)
    return app, TestClient(app)


def test_only_what_is_annotated_is_asked() -> None:
    assert list(close.inputs) == ["shelf", "reason", "days"]
    assert list(close.parameters) == ["account", "shelf", "reason", "days"]
    assert close.in_body() == ["reason", "days"]
    assert (close.name, close.text) == ("close", "Close a shelf.")
    assert close("a", account="b", shelf="c", reason="d") == "a/c closed by b for 1: d"


def test_the_route_takes_the_address_and_the_body() -> None:
    app, client = served()
    answer = client.post("/shops/a/shelves/b/close", json={"reason": "wet", "days": 3})
    assert (answer.status_code, answer.json()) == (201, {"text": "a/b closed by mia for 3: wet"})
    assert client.post("/shops/a/shelves/b/close", json={"days": 3}).status_code == 422
    assert client.post("/shops/a/shelves/b/close", json={"reason": "wet", "who": "me"}).status_code == 422
    assert client.post("/shops/a/shelves/farther/close", json={"reason": "wet"}).status_code == 422
    told = app.openapi()
    assert told["paths"]["/shops/{shop}/shelves/{shelf}/close"]["post"]["description"] == "Close a shelf."
    assert told["components"]["schemas"]["CloseIn"]["description"] == "Why a shelf is closed."


def test_the_request_is_what_the_route_takes() -> None:
    _app, client = served()
    method, parts, body = close.request(shop="a", shelf="b", reason="wet")
    assert (method, parts, body) == ("POST", ["shops", "a", "shelves", "b", "close"], {"reason": "wet"})
    assert client.request(method, "/" + "/".join(parts), json=body).status_code == 201


def test_the_command_has_arguments_and_options() -> None:
    app, said = typer.Typer(), []
    shop = Annotated[str, typer.Argument()]
    as_json = Annotated[bool, typer.Option("--json")]
    app.command()(command(close, lambda _act, **given: said.append(given), shop=shop, as_json=(as_json, False)))
    assert CliRunner().invoke(app, ["a", "b", "--reason", "wet", "--days", "2"]).exit_code == 0
    assert said == [{"shop": "a", "shelf": "b", "reason": "wet", "days": 2, "as_json": False}]
    assert CliRunner().invoke(app, ["a", "b"]).exit_code == 2


def test_a_form_says_what_is_asked() -> None:
    assert close.of_form({"shelf": "b", "csrf": "x"}) == {"shelf": "b", "reason": "", "days": ""}
