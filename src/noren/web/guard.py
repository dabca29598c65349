"""Who may ask: every request passes here first.

- ``Host`` must be a name of ours, so that no other site's name can be pointed at this machine (DNS rebinding).
- What changes something must come from our own pages (``Origin``, ``Sec-Fetch-Site``) and carry a token that only they
  know, in the header ``X-CSRF-Token`` or the form field ``csrf``.
- A studio that other machines can reach asks for its password. Wrong ones are counted for each address apart, so that
  nobody can lock others out; a session ends with the password it was opened by.
- What proxies say of a client is believed where the steward named them, and of nobody else.
- Bodies are bounded in size and time (:mod:`noren.web.bodies`).
- Answers forbid scripts, styles and requests from anywhere else, framing, and guessing of types.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
import time
from http.cookies import SimpleCookie
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noren.i18n import LANGUAGES, _, speaking
from noren.web.bodies import BodyError, Patience, bounded
from noren.web.settings import Settings

__all__ = ["CONTENT_POLICY", "DAYS", "Guard", "Login", "Sessions", "token_of"]

SESSION: Final = "noren_session"
LANGUAGE: Final = "noren_language"
THEME: Final = "noren_theme"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN_TO_ALL = ("/static/", "/login", "/healthy", "/preferences")
_LARGEST_FORM = 2**20
_LONGEST_NAME = 253
DAYS: Final = 14
"""How long a session lasts."""
_MINUTE, _MOST_WRONG = 60.0, 10
_MANY_WRONG, _DELAY, _LONGEST_DELAY = 30, 0.05, 3.0
_hashing = threading.BoundedSemaphore(2)
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


class Sessions(Protocol):
    """Where sessions are kept, by their digests: the studio's store."""

    def has_session(self, digest: str) -> bool:
        """Tell whether a session is open."""

    def add_session(self, digest: str, until: str) -> None:
        """Keep a session until a moment."""

    def remove_session(self, digest: str) -> None:
        """End a session."""


class Login:
    """The password of a studio that other machines can reach; guessing it is slow.

    An address may be wrong ten times a minute. When many addresses guess together, every answer comes later the more
    they guess, but the right password always opens: whoever guesses from elsewhere locks nobody out.
    """

    def __init__(self, settings: Settings, store: Sessions) -> None:
        self._settings, self._store = settings, store
        self._lock = threading.Lock()
        self._wrong: dict[str, list[float]] = {}

    @property
    def needed(self) -> bool:
        """Whether people must log in: a password was set."""
        return self._settings.password_hash is not None

    def is_in(self, session: str) -> bool:
        """Tell whether a session is logged in."""
        kept = self._settings.password_hash
        return kept is None or self._store.has_session(_digest(session, kept))

    def may_try(self, address: str) -> bool:
        """Count a try of an address; tell whether it was not wrong too often in the last minute."""
        with self._lock:
            now = time.monotonic()
            self._wrong = {
                who: recent
                for who, tries in self._wrong.items()
                if (recent := [t for t in tries if t > now - _MINUTE][-_MOST_WRONG:])
            }
            tries = self._wrong.setdefault(_guesser(address), [])
            if len(tries) >= _MOST_WRONG:
                return False
            tries.append(now)
            return True

    def delay(self) -> float:
        """Return the seconds to wait before an answer: none, unless many addresses guess together."""
        with self._lock:
            wrong = sum(map(len, self._wrong.values()))
        return min(_LONGEST_DELAY, max(0, wrong - _MANY_WRONG) * _DELAY)

    def enter(self, password: str, address: str = "") -> str | None:
        """Return a new session for the right password."""
        from argon2 import PasswordHasher
        from argon2.exceptions import Argon2Error, InvalidHashError

        kept = self._settings.password_hash
        try:
            with _hashing:  # each takes 64 MB
                if kept is None or not PasswordHasher().verify(kept, password):
                    return None
        except (Argon2Error, InvalidHashError):
            return None
        with self._lock:
            self._wrong.pop(_guesser(address), None)
        session = secrets.token_urlsafe(32)
        until = dt.datetime.now(dt.UTC) + dt.timedelta(days=DAYS)
        self._store.add_session(_digest(session, kept), until.isoformat(timespec="microseconds"))
        return session

    def leave(self, session: str) -> None:
        """Log a session out."""
        kept = self._settings.password_hash
        if kept is not None:
            self._store.remove_session(_digest(session, kept))


def _digest(session: str, password_hash: str) -> str:
    """Return what is kept of a session; another password, or the same one set again, makes it another."""
    return hashlib.sha256(f"{password_hash}\0{session}".encode()).hexdigest()


def _guesser(address: str) -> str:
    """Return who counts as one: an address, and of IPv6 the network that one household is given."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class Guard:
    """The middleware: refuses, or lets through with session, language and theme in ``request.state``."""

    def __init__(self, app: ASGIApp, settings: Settings, login: Login, patience: Patience | None = None) -> None:
        self._app, self._settings, self._login = app, settings, login
        self._patience = patience or Patience()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        client, secure = _client(scope, headers, self._settings)
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
            "client": client,
            "secure": secure,
        }

        only_https = "; Secure" if secure else ""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    given.setdefault(name, value)
                given.setdefault("Cache-Control", _keeping(scope))
                if fresh and "set-cookie" not in given:
                    given.append("Set-Cookie", f"{SESSION}={session}; Path=/; HttpOnly; SameSite=Strict{only_https}")
            await send(message)

        with speaking(language):
            try:
                receive = bounded(scope, receive, self._patience)
                refusal, receive = await self._refusal(scope, headers, session, receive, fresh)
            except BodyError as error:
                refusal = _refused(error.detail, scope["path"].startswith("/api/"), error.status_code)
                refusal.headers["Connection"] = "close"
            await (refusal or self._app)(scope, receive, answer)

    async def _refusal(
        self, scope: Scope, headers: Headers, session: str, receive: Receive, fresh: bool
    ) -> tuple[Response | None, Receive]:
        path, is_api = scope["path"], scope["path"].startswith("/api/")
        asked, reached = headers.get("host", ""), scope.get("server")
        if not self._settings.answers_to(asked, reached[0] if reached else None):
            return PlainTextResponse(self._other_name(asked), 421), receive
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

    def _other_name(self, asked: str) -> str:
        name = asked.rsplit(":", 1)[0] if re.fullmatch(r"[\w.-]+(:\d+)?", asked) else ""
        if not name or len(name) > _LONGEST_NAME:
            return _("this studio is not known under that name")
        return _("this studio is not known as {name}; open {address}, or start it with --allow-host {name}").format(
            name=name, address=self._settings.addresses[0]
        )


def _client(scope: Scope, headers: Headers, settings: Settings) -> tuple[str, bool]:
    """Return the address a request comes from and whether it came over HTTPS, as far as it can be believed."""
    client = scope["client"][0] if scope.get("client") else ""
    secure = settings.https or scope.get("scheme") == "https"
    if not settings.is_proxy(client):
        return client, secure
    secure = secure or headers.get("x-forwarded-proto", "").split(",")[-1].strip().lower() == "https"
    # each proxy writes whom it heard behind those before it: the last that is no proxy of ours is the client
    chain = [part.strip() for line in headers.getlist("x-forwarded-for") for part in line.split(",")]
    for address in reversed(chain):
        try:
            client = str(ipaddress.ip_address(address.strip("[]")))
        except ValueError:
            break  # what stands before it may be made up
        if not settings.is_proxy(client):
            break
    return client, secure


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
