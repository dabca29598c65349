"""Who may ask: every request passes here first.

- ``Host`` must be a name of ours, so that no other site's name can be pointed at this machine (DNS rebinding).
- What changes something must come from our own pages (``Origin``, ``Sec-Fetch-Site``) and carry a token that only they
  know, in the header ``X-CSRF-Token`` or the form field ``csrf``.
- A studio that other machines can reach asks for its password.
- Answers forbid scripts, styles and requests from anywhere else, framing, and guessing of types.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import secrets
import threading
import time
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noren.i18n import LANGUAGES, _, speaking
from noren.studio.settings import Settings
from noren.studio.store import Store

__all__ = ["CONTENT_POLICY", "Guard", "Login", "token_of"]

SESSION: Final = "noren_session"
LANGUAGE: Final = "noren_language"
THEME: Final = "noren_theme"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN_TO_ALL = ("/static/", "/login", "/healthy", "/preferences")
_LARGEST_FORM = 2**20
_DAYS = 14
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def token_of(settings: Settings, session: str) -> str:
    """Return the token that requests of a session carry."""
    return hmac.new(settings.key, b"csrf:" + session.encode(), hashlib.sha256).hexdigest()


class Login:
    """The password of a studio that other machines can reach; guessing it is slow."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self._lock = threading.Lock()
        self._tries: list[float] = []

    @property
    def needed(self) -> bool:
        """Whether people must log in: a password was set."""
        return self._settings.password_hash is not None

    def is_in(self, session: str) -> bool:
        """Tell whether a session is logged in."""
        return not self.needed or self._store.has_session(_digest(session))

    def may_try(self) -> bool:
        """Count a try; tell whether there were not too many in the last minute."""
        with self._lock:
            self._tries = [t for t in self._tries if t > time.monotonic() - 60]
            self._tries.append(time.monotonic())
            return len(self._tries) <= 10

    def enter(self, password: str) -> str | None:
        """Return a new session for the right password."""
        from argon2 import PasswordHasher
        from argon2.exceptions import Argon2Error, InvalidHashError

        kept = self._settings.password_hash
        try:
            if kept is None or not PasswordHasher().verify(kept, password):
                return None
        except (Argon2Error, InvalidHashError):
            return None
        session = secrets.token_urlsafe(32)
        until = dt.datetime.now(dt.UTC) + dt.timedelta(days=_DAYS)
        self._store.add_session(_digest(session), until.isoformat(timespec="microseconds"))
        return session

    def leave(self, session: str) -> None:
        """Log a session out."""
        self._store.remove_session(_digest(session))


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode()).hexdigest()


class Guard:
    """The middleware: refuses, or lets through with session, language and theme in ``request.state``."""

    def __init__(self, app: ASGIApp, settings: Settings, login: Login) -> None:
        self._app, self._settings, self._login = app, settings, login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except Exception:  # a cookie nobody can read is no cookie
            cookies = SimpleCookie()
        session = cookies[SESSION].value if SESSION in cookies else ""
        fresh = not session
        session = session or secrets.token_urlsafe(32)
        language = _language(cookies, headers)
        theme = cookies[THEME].value if THEME in cookies else ""
        scope.setdefault("state", {})
        scope["state"] |= {
            "session": session,
            "csrf": token_of(self._settings, session),
            "language": language,
            "theme": theme if theme in ("light", "dark") else "auto",
        }

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    given.setdefault(name, value)
                given.setdefault("Cache-Control", _keeping(scope))
                if fresh and "set-cookie" not in given:
                    given.append("Set-Cookie", f"{SESSION}={session}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        with speaking(language):
            refusal, receive = await self._refusal(scope, headers, session, receive, fresh)
            await (refusal or self._app)(scope, receive, answer)

    async def _refusal(
        self, scope: Scope, headers: Headers, session: str, receive: Receive, fresh: bool
    ) -> tuple[Response | None, Receive]:
        path, is_api = scope["path"], scope["path"].startswith("/api/")
        if headers.get("host", "") not in self._settings.hosts:
            return PlainTextResponse(_("this studio is not known under that name"), 421), receive
        if scope["method"] not in _SAFE:
            if not _from_our_pages(headers):
                return _refused(_("this request comes from another site"), is_api), receive
            given = headers.get("x-csrf-token", "")
            if not given and headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
                body = await _small_body(receive)
                if body is None:
                    return _refused(_("the form is too large"), is_api, 413), receive
                given = parse_qs(body.decode("utf-8", "replace")).get("csrf", [""])[0]
                receive = _again(body)
            if fresh or not hmac.compare_digest(given.encode(), token_of(self._settings, session).encode()):
                return _refused(_("the page is out of date; load it again"), is_api), receive
        if not path.startswith(_OPEN_TO_ALL) and not self._login.is_in(session):
            if is_api:
                return _refused(_("log in first"), is_api, 401), receive
            return RedirectResponse("/login", 303), receive
        return None, receive


def _keeping(scope: Scope) -> str:
    """Tell a browser what it may keep: static files under their digest for good, the others while they are the same."""
    if not scope["path"].startswith("/static/"):
        return "no-store"
    return "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"


def _language(cookies: SimpleCookie, headers: Headers) -> str:
    """Return the language chosen, else the first of the browser's that we speak."""
    if LANGUAGE in cookies and cookies[LANGUAGE].value in LANGUAGES:
        return cookies[LANGUAGE].value
    for wish in headers.get("accept-language", "").split(","):
        if wish.strip()[:2].lower() in LANGUAGES:
            return wish.strip()[:2].lower()
    return "en"


def _from_our_pages(headers: Headers) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")


def _refused(message: str, is_api: bool, status: int = 403) -> Response:
    if is_api:
        return JSONResponse({"error": {"message": message}}, status)
    return PlainTextResponse(message, status)


async def _small_body(receive: Receive) -> bytes | None:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > _LARGEST_FORM:
            return None
        if not message.get("more_body", False):
            return body


def _again(body: bytes) -> Receive:
    """Return a stream that gives a body that was read already."""
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
