"""Who may ask: other names, other sites, missing tokens and people who are not logged in stay out."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from noren.errors import ParameterError
from noren.i18n import active_language
from noren.studio.app import BOUNDS
from noren.studio.store import Store
from noren.studio.users import StudioAuthentication
from noren.web.guard import CONTENT_POLICY, Guard, keep_session
from noren.web.settings import ServerSettings
from noren.web.uploads import BodyError, UploadTimeouts, bounded

HOME = "http://127.0.0.1:8321"


async def tell(request: Request) -> JSONResponse:
    await request.body()
    form = await request.form() if request.method == "POST" else {}
    state = request.state
    return JSONResponse(
        {
            "csrf": state.csrf,
            "language": active_language(),
            "theme": state.theme,
            "form": dict(form),
            "client": state.client,
        }
    )


def made(
    folder: Path, password: str | None = None, patience: UploadTimeouts | None = None, **how: Any
) -> tuple[Starlette, StudioAuthentication]:
    folder.mkdir(exist_ok=True)
    if password is not None:
        (folder / "password.hash").write_text(PasswordHasher().hash(password), encoding="ascii")
    settings = ServerSettings(folder, **how)
    settings.make_folder()
    login = StudioAuthentication(settings, Store(settings.database_url).users)
    routes = [Route(path, tell, methods=["GET", "POST"]) for path in ("/", "/login", "/api/v1/x")]
    app = Starlette(routes=routes)
    app.add_middleware(Guard, settings=settings, door=login, patience=patience)
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

    def test_the_answer_tells_what_to_do(self, person: TestClient) -> None:
        told = person.get("/", headers={"Host": "tea.example:8321"}).text
        assert told == (
            "this server is not known as tea.example; open http://127.0.0.1:8321/,"
            " or start it with --allow-host tea.example"
        )
        assert "<" not in person.get("/", headers={"Host": "<b>:1"}).text

    def test_a_name_without_a_port_is_known_on_any(self, tmp_path: Path) -> None:
        app, _login = made(tmp_path, names=("Studio.example", "old.example:9000"))
        with TestClient(app, base_url=HOME) as client:
            asked = ["studio.example", "STUDIO.example:443", "old.example:9000", "old.example", "x.studio.example"]
            answers = [client.get("/", headers={"Host": host}).status_code for host in asked]
        assert answers == [200, 200, 200, 421, 421]

    @pytest.mark.parametrize("name", ["http://studio.example", "a b", "studio.example/", ""])
    def test_what_is_no_name_is_said(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(ParameterError, match="is not a host name"):
            ServerSettings(tmp_path, names=(name,))

    def test_everywhere_means_every_address_it_was_reached_by(self, tmp_path: Path) -> None:
        (tmp_path / "password.hash").write_text("x", encoding="ascii")
        studio = ServerSettings(tmp_path, host="0.0.0.0")
        assert studio.answers_to("192.168.7.5:8321", "192.168.7.5")
        assert studio.answers_to("127.0.0.1:8321", "127.0.0.1")
        assert not studio.answers_to("192.168.7.5", "192.168.7.5")  # another port
        assert not studio.answers_to("192.168.7.6:8321", "192.168.7.5")  # another machine's
        assert not studio.answers_to("evil.example:8321", "192.168.7.5")
        assert not ServerSettings(tmp_path).answers_to("192.168.7.5:8321", "192.168.7.5")  # listens here alone
        six = ServerSettings(tmp_path, host="::")
        assert six.answers_to("[fd00::5]:8321", "fd00::5")
        assert six.answers_to("192.168.7.5:8321", "::ffff:192.168.7.5")

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.0.0.1", "::1", "192.168.7.5", "fd00::5"])
    def test_every_address_it_names_is_answered(self, tmp_path: Path, host: str) -> None:
        (tmp_path / "password.hash").write_text("x", encoding="ascii")
        studio = ServerSettings(tmp_path, host=host)
        assert studio.addresses
        for address in studio.addresses:
            asked = urlsplit(address)
            assert studio.answers_to(asked.netloc, asked.hostname), address

    def test_a_proxy_may_have_its_name(self, tmp_path: Path) -> None:
        assert ServerSettings(tmp_path, names=("noren.example",)).answers_to("noren.example")


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

    @pytest.mark.parametrize("secure", [False, True])
    def test_nor_is_that_of_a_session_that_was_opened(self, secure: bool) -> None:
        answer, request = JSONResponse({}), Request({"type": "http", "state": {"secure": secure}})
        keep_session(answer, request, "s")
        kept = "noren_session=s; HttpOnly; Max-Age=1209600; Path=/; SameSite=strict"
        assert answer.headers["set-cookie"] == kept + ("; Secure" if secure else "")

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
        with pytest.raises(ParameterError, match="neither users nor a password"):
            ServerSettings(tmp_path, host="0.0.0.0")
        with pytest.raises(ParameterError, match="neither users nor a password"):
            ServerSettings(tmp_path, host="studio.example")
        (tmp_path / "password.hash").write_text("x", encoding="ascii")
        assert ServerSettings(tmp_path, host="0.0.0.0").host == "0.0.0.0"

    def test_who_is_not_logged_in_sees_the_login_alone(self, tmp_path: Path) -> None:
        app, login = made(tmp_path, "correct horse battery")
        with TestClient(app, base_url=HOME, follow_redirects=False) as client:
            assert client.get("/").headers["location"] == "/login"
            assert client.get("/api/v1/x").status_code == 401
            assert client.get("/login").status_code == 200
            assert login.enter("", "wrong") is None
            session = login.enter("", "correct horse battery")
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
        assert [login.tries.may_try("10.0.0.1") for _ in range(12)] == [True] * 10 + [False] * 2

    def test_who_guesses_locks_out_nobody_else(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        for _ in range(14):
            login.tries.may_try("10.0.0.1")
        assert login.tries.may_try("10.0.0.2")
        assert login.enter("", "correct horse battery", "10.0.0.2") is not None

    def test_one_household_counts_once(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        assert [login.tries.may_try(f"2001:db8:1:2::{n}") for n in range(12)] == [True] * 10 + [False] * 2
        assert login.tries.may_try("2001:db8:1:3::1")

    def test_the_right_password_is_no_guess(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        for _ in range(9):
            assert login.tries.may_try("10.0.0.1")
        assert login.tries.may_try("10.0.0.1")
        assert login.enter("", "correct horse battery", "10.0.0.1") is not None
        assert login.tries.may_try("10.0.0.1")

    def test_many_guessers_make_answers_late_and_never_refused(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        assert login.tries.delay() == 0
        late = []
        for n in range(200):
            assert login.tries.may_try(f"10.0.{n}.1")
            late.append(login.tries.delay())
        assert late[:30] == [0.0] * 30
        assert late == sorted(late)
        assert late[-1] == 3.0
        assert login.tries.may_try("192.168.0.1")
        assert login.enter("", "correct horse battery", "192.168.0.1") is not None

    def test_sessions_end_with_the_password(self, tmp_path: Path) -> None:
        app, login = made(tmp_path, "correct horse battery")
        session = login.enter("", "correct horse battery")
        assert session is not None
        assert login.is_in(session)
        for password in ("another horse battery", "correct horse battery"):  # also the same one, set again
            (tmp_path / "password.hash").write_text(PasswordHasher().hash(password), encoding="ascii")
            assert not login.is_in(session)
        with TestClient(app, base_url=HOME, follow_redirects=False) as client:
            client.cookies.set("noren_session", session)
            assert client.get("/").headers["location"] == "/login"

    def test_a_damaged_hash_lets_nobody_in(self, tmp_path: Path) -> None:
        _app, login = made(tmp_path, "correct horse battery")
        (tmp_path / "password.hash").write_text("damaged", encoding="ascii")
        assert login.needed
        assert login.enter("", "damaged") is None


SAID = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}


class TestProxy:
    def asked(self, folder: Path, said: dict[str, str], client: str = "127.0.0.1", **how: Any) -> tuple[str, bool]:
        app, _login = made(folder, accounts=True, **how)
        with TestClient(app, base_url=HOME, client=(client, 5)) as asking:
            answer = asking.get("/", headers=said)
        return answer.json()["client"], "; Secure" in answer.headers["set-cookie"]

    def test_nobody_is_believed_unless_named(self, tmp_path: Path) -> None:
        assert self.asked(tmp_path, SAID) == ("127.0.0.1", False)
        assert self.asked(tmp_path, SAID, proxies=("10.0.0.0/8",)) == ("127.0.0.1", False)

    def test_a_named_proxy_is(self, tmp_path: Path) -> None:
        assert self.asked(tmp_path, SAID, proxies=("127.0.0.1",)) == ("203.0.113.9", True)
        assert self.asked(tmp_path, SAID, "10.1.2.3", proxies=("10.0.0.0/8",)) == ("203.0.113.9", True)
        assert self.asked(tmp_path, {"X-Forwarded-Proto": "http"}, proxies=("127.0.0.1",)) == ("127.0.0.1", False)

    def test_what_a_client_made_up_before_the_proxy_is_not(self, tmp_path: Path) -> None:
        said = {"X-Forwarded-For": "1.2.3.4, 203.0.113.9, 10.0.0.7"}
        assert self.asked(tmp_path, said, proxies=("127.0.0.1", "10.0.0.0/8")) == ("203.0.113.9", False)
        said = {"X-Forwarded-For": "1.2.3.4, made-up"}
        assert self.asked(tmp_path, said, proxies=("127.0.0.1",)) == ("127.0.0.1", False)

    def test_https_alone(self, tmp_path: Path) -> None:
        assert self.asked(tmp_path, {}, https=True) == ("127.0.0.1", True)

    def test_a_wrong_address_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match=r"the proxy address is wrong .*; write it like 127\.0\.0\.1"):
            ServerSettings(tmp_path, proxies=("my-proxy",))

    def test_behind_a_proxy_people_log_in(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match=r"reach the studio \(127\.0\.0\.1\), and it has neither users nor a"):
            ServerSettings(tmp_path, proxies=("127.0.0.1",))
        assert ServerSettings(tmp_path, proxies=("127.0.0.1",), accounts=True).is_local


def awaited(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine in a thread of its own: a browser test before this one may have left its loop in ours."""

    async def whole() -> Any:
        return await work()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(whole())).result()


class TestBodies:
    def test_json_is_bounded_with_and_without_its_length(self, person: TestClient) -> None:
        token = person.get("/").json()["csrf"]
        headers = {"X-CSRF-Token": token, "Content-Type": "application/json"}

        def chunks(count: int) -> Iterator[bytes]:
            for _ in range(count):
                yield b" " * 2**16

        assert person.post("/api/v1/x", headers=headers, content=b" " * 2**20).status_code == 200
        told = person.post("/api/v1/x", headers=headers, content=b" " * (2**20 + 1))
        assert (told.status_code, told.headers["connection"]) == (413, "close")
        assert person.post("/api/v1/x", headers=headers, content=chunks(16)).status_code == 200
        assert person.post("/api/v1/x", headers=headers, content=chunks(17)).status_code == 413

    def test_a_form_in_chunks_is_bounded_too(self, person: TestClient) -> None:
        person.get("/")
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        sent = person.post("/", headers=headers, content=(b"a" * 2**18 for _ in range(5)))
        assert sent.status_code == 413

    @pytest.mark.parametrize("path", ["/api/v1/x", f"/api/v1/projects/{'a' * 12}/file"])
    def test_a_body_that_does_not_come_is_given_up(self, path: str) -> None:
        async def nothing() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        scope = {"type": "http", "method": "PUT", "path": path, "headers": []}
        with pytest.raises(BodyError) as told:
            awaited(bounded(scope, nothing, UploadTimeouts(between=0.01), BOUNDS))
        assert told.value.status_code == 408

    @pytest.mark.parametrize(("pace", "given_up"), [(1e12, True), (0.0, False)])
    def test_an_upload_that_trickles_is_given_up(self, pace: float, given_up: bool) -> None:
        async def drop() -> Message:
            return {"type": "http.request", "body": b"x", "more_body": True}

        scope = {"type": "http", "method": "PUT", "path": f"/api/v1/projects/{'a' * 12}/file", "headers": []}
        receive = bounded(scope, drop, UploadTimeouts(usual=-1.0, pace=pace), BOUNDS)
        if given_up:
            with pytest.raises(BodyError):
                awaited(receive)
        else:
            assert awaited(receive)["body"] == b"x"

    def test_after_the_body_there_is_all_the_time_to_leave(self) -> None:
        told: Iterator[Message] = iter(
            [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]
        )

        async def receive() -> Message:
            return next(told)

        async def both() -> list[str]:
            careful = bounded(
                {"type": "http", "method": "GET", "path": "/", "headers": []}, receive, UploadTimeouts(), BOUNDS
            )
            return [(await careful())["type"] for _ in range(2)]

        assert awaited(both) == ["http.request", "http.disconnect"]


class TestBearer:
    """A server whose people have API tokens."""

    @pytest.fixture
    def program(self, tmp_path: Path) -> Iterator[TestClient]:
        async def whose(request: Request) -> JSONResponse:
            return JSONResponse({"account": request.state.account})

        settings = ServerSettings(tmp_path, accounts=True, host="0.0.0.0", server="arena")
        app = Starlette(routes=[Route(path, whose, methods=["GET", "POST"]) for path in ("/", "/api/v1/x")])
        app.add_middleware(Guard, settings=settings, door=Anybody(), bearer={"right": "ann"}.get)
        with TestClient(app, base_url=HOME) as client:
            yield client

    def test_a_token_is_enough_to_change_something(self, program: TestClient) -> None:
        answer = program.post("/api/v1/x", headers={"Authorization": "Bearer right"})
        assert (answer.status_code, answer.json()) == (200, {"account": "ann"})
        assert "set-cookie" not in answer.headers

    def test_a_token_of_nobody_is_refused(self, program: TestClient) -> None:
        answer = program.get("/api/v1/x", headers={"Authorization": "Bearer wrong"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")

    def test_a_cookie_still_needs_the_pages_token(self, program: TestClient) -> None:
        program.get("/")
        assert program.post("/api/v1/x").status_code == 403
        assert program.get("/api/v1/x").json() == {"account": None}

    def test_pages_know_no_tokens(self, program: TestClient) -> None:
        program.get("/")
        assert program.post("/", headers={"Authorization": "Bearer right"}).status_code == 403

    def test_other_names_are_refused_with_a_token_too(self, program: TestClient) -> None:
        headers = {"Authorization": "Bearer right", "Host": "evil.example"}
        assert program.get("/api/v1/x", headers=headers).status_code == 421

    def test_accounts_stand_in_place_of_a_password(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="neither users nor a password"):
            ServerSettings(tmp_path, host="0.0.0.0")
        assert ServerSettings(tmp_path, server="arena").database_url.endswith("/arena.sqlite")


class Anybody:
    """A door that is open; routes ask who comes."""

    def is_in(self, session: str) -> bool:
        return bool(session)
