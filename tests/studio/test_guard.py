"""Who may ask: other names, other sites, missing tokens and people who are not logged in stay out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from noren.errors import ParameterError
from noren.i18n import active_language
from noren.studio.guard import CONTENT_POLICY, Guard, Login
from noren.studio.settings import Settings
from noren.studio.store import Store

HOME = "http://127.0.0.1:8321"


async def tell(request: Request) -> JSONResponse:
    form = await request.form() if request.method == "POST" else {}
    state = request.state
    return JSONResponse(
        {"csrf": state.csrf, "language": active_language(), "theme": state.theme, "form": dict(form)},
    )


def made(folder: Path, password: str | None = None) -> tuple[Starlette, Login]:
    settings = Settings(folder)
    settings.make_folder()
    if password is not None:
        settings.password_file.write_text(PasswordHasher().hash(password), encoding="ascii")
    login = Login(settings, Store(settings.database_url))
    routes = [Route(path, tell, methods=["GET", "POST"]) for path in ("/", "/login", "/api/v1/x")]
    app = Starlette(routes=routes)
    app.add_middleware(Guard, settings=settings, login=login)
    return app, login


@pytest.fixture
def person(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(made(tmp_path)[0], base_url=HOME) as client:
        yield client


class TestName:
    @pytest.mark.parametrize("name", ["127.0.0.1:8321", "localhost:8321", "[::1]:8321"])
    def test_own_names_are_answered(self, person: TestClient, name: str) -> None:
        assert person.get("/", headers={"Host": name}).status_code == 200

    @pytest.mark.parametrize("name", ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8321", ""])
    def test_other_names_are_not(self, person: TestClient, name: str) -> None:
        assert person.get("/", headers={"Host": name}).status_code == 421

    def test_a_proxy_may_have_its_name(self, tmp_path: Path) -> None:
        assert "noren.example" in Settings(tmp_path, names=("noren.example",)).hosts


class TestToken:
    def test_a_change_needs_it(self, person: TestClient) -> None:
        token = person.get("/").json()["csrf"]
        assert person.post("/api/v1/x").status_code == 403
        assert person.post("/api/v1/x", headers={"X-CSRF-Token": "0" * 64}).status_code == 403
        assert person.post("/api/v1/x", headers={"X-CSRF-Token": token}).status_code == 200

    def test_a_form_carries_it_and_arrives_whole(self, person: TestClient) -> None:
        token = person.get("/").json()["csrf"]
        answer = person.post("/", data={"csrf": token, "name": "茶"})
        assert answer.json()["form"] == {"csrf": token, "name": "茶"}
        assert person.post("/", data={"name": "茶"}).status_code == 403

    def test_the_token_of_another_session_is_worth_nothing(self, person: TestClient, tmp_path: Path) -> None:
        token = person.get("/").json()["csrf"]
        person.cookies.clear()
        person.get("/")
        assert person.post("/api/v1/x", headers={"X-CSRF-Token": token}).status_code == 403

    def test_without_a_cookie_there_is_no_token(self, person: TestClient) -> None:
        token = person.get("/").json()["csrf"]
        person.cookies.clear()
        assert person.post("/api/v1/x", headers={"X-CSRF-Token": token}).status_code == 403

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "http://127.0.0.1:9999"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_another_site_is_refused_even_with_it(self, person: TestClient, headers: dict[str, str]) -> None:
        token = person.get("/").json()["csrf"]
        assert person.post("/api/v1/x", headers={"X-CSRF-Token": token} | headers).status_code == 403

    def test_our_own_site_is_not(self, person: TestClient) -> None:
        token = person.get("/").json()["csrf"]
        headers = {"X-CSRF-Token": token, "Origin": HOME, "Sec-Fetch-Site": "same-origin"}
        assert person.post("/api/v1/x", headers=headers).status_code == 200

    def test_a_form_of_more_than_a_megabyte_is_not_read(self, person: TestClient) -> None:
        person.get("/")
        assert person.post("/", data={"name": "x" * 2**20}).status_code == 413

    def test_the_key_is_for_its_owner_alone(self, person: TestClient, tmp_path: Path) -> None:
        person.get("/")
        assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


class TestHeaders:
    def test_every_answer_forbids_what_a_page_does_not_need(self, person: TestClient) -> None:
        for path in ("/", "/nowhere"):
            headers = person.get(path).headers
            assert headers["Content-Security-Policy"] == CONTENT_POLICY
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
        assert "unsafe" not in CONTENT_POLICY
        assert "http" not in CONTENT_POLICY

    def test_the_cookie_is_not_for_scripts_nor_other_sites(self, person: TestClient) -> None:
        cookie = person.get("/").headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie

    @pytest.mark.parametrize(
        ("wish", "cookie", "spoken"),
        [("ja,en;q=0.5", None, "ja"), ("de, ja", None, "ja"), ("fr", None, "en"), ("ja", "en", "en"), ("", "xx", "en")],
    )
    def test_the_language_is_the_chosen_one_else_the_browsers(
        self, person: TestClient, wish: str, cookie: str | None, spoken: str
    ) -> None:
        if cookie:
            person.cookies.set("noren_language", cookie)
        assert person.get("/", headers={"Accept-Language": wish}).json()["language"] == spoken


class TestLogin:
    def test_beyond_this_machine_a_password_is_needed(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="no password"):
            Settings(tmp_path, host="0.0.0.0")
        with pytest.raises(ParameterError, match="no password"):
            Settings(tmp_path, host="studio.example")
        (tmp_path / "password.hash").write_text("x", encoding="ascii")
        assert Settings(tmp_path, host="0.0.0.0").host == "0.0.0.0"

    def test_who_is_not_logged_in_sees_the_login_alone(self, tmp_path: Path) -> None:
        app, login = made(tmp_path, "correct horse battery")
        with TestClient(app, base_url=HOME, follow_redirects=False) as client:
            assert client.get("/").headers["location"] == "/login"
            assert client.get("/api/v1/x").status_code == 401
            assert client.get("/login").status_code == 200
            assert login.enter("wrong") is None
            session = login.enter("correct horse battery")
            assert session is not None
            client.cookies.clear()
            client.cookies.set("noren_session", session)
            assert client.get("/").status_code == 200
            login.leave(session)
            assert client.get("/").status_code == 303

    def test_a_made_up_session_is_none(self, tmp_path: Path) -> None:
        app, _login = made(tmp_path, "correct horse battery")
        with TestClient(app, base_url=HOME, follow_redirects=False) as client:
            client.cookies.set("noren_session", "made-up")
            assert client.get("/").status_code == 303

    def test_guessing_is_slow(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        assert [login.may_try() for _ in range(12)] == [True] * 10 + [False] * 2

    def test_a_damaged_hash_lets_nobody_in(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        (tmp_path / "password.hash").write_text("damaged", encoding="ascii")
        assert login.needed
        assert login.enter("damaged") is None
