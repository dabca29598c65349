"""Who may ask: every request passes here first.

- ``Host`` must be a name of ours, so that no other site's name can be pointed at this machine (DNS rebinding).
- What changes something must come from our own pages (``Origin``, ``Sec-Fetch-Site``) and carry a token that only they
  know, in the header ``X-CSRF-Token`` or the form field ``csrf``.
- A program may bring an API token of its own (``Authorization: Bearer …``) below ``/api/``, where a server knows such.
  No browser adds it by itself, so such a request has no cookie and needs no token of a page.
- Who is not let in by the server's :class:`Authenticator` sees what is open to everybody, and nothing else.
- What proxies say of a client is believed where the steward named them, and of nobody else.
- Bodies are bounded in size and time (:mod:`noren.web.uploads`).
- Answers forbid scripts, styles and requests from anywhere else, framing, and guessing of types.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlsplit

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noren.i18n import LANGUAGES, _, use_language
from noren.web.accounts import DAYS
from noren.web.errors import DATABASE_AWAY, is_database_away
from noren.web.settings import ServerSettings
from noren.web.uploads import BodyError, UploadLimits, UploadTimeouts, bounded

SESSION: Final = "noren_session"
LANGUAGE: Final = "noren_language"
THEME: Final = "noren_theme"

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN_TO_ALL: Final = ("/static/", "/login", "/healthz", "/preferences")
"""What everybody may see of a server that lets in only some."""
_LARGEST_FORM = 2**20
_LONGEST_NAME = 253
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


def token_of(settings: ServerSettings, session: str) -> str:
    """Return the token that requests of a session carry."""
    return hmac.new(settings.key, b"csrf:" + session.encode(), hashlib.sha256).hexdigest()


class Authenticator(Protocol):
    """Who may come in: the studio's users (:class:`noren.studio.users.StudioAuthentication`), the arena's accounts."""

    def is_in(self, session: str) -> bool:
        """Tell whether a session may see more than what is open to all."""


Bearer = Callable[[str], Any | None]
"""Returns whose an API token is, or nothing; asked in a thread."""


class Guard:
    """The middleware: refuses, or lets through with session, language and theme in ``request.state``.

    Parameters
    ----------
    door
        Who may come in.
    bounds
        What a request may bring.
    bearer
        Whose an API token is; ``request.state.account`` has the answer, and is ``None`` on requests without one.
    open_to_all
        What paths begin with that everybody may see.
    why_out
        Returns in one line why somebody who was let in is so no longer; a program that asks is told, and a browser on
        the page where it logs in.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        door: Authenticator,
        patience: UploadTimeouts | None = None,
        bounds: UploadLimits | None = None,
        bearer: Bearer | None = None,
        open_to_all: tuple[str, ...] = OPEN_TO_ALL,
        why_out: Callable[[str], str] = lambda session: "",
    ) -> None:
        self._app, self._settings, self._door = app, settings, door
        self._patience, self._bounds = patience or UploadTimeouts(), bounds or UploadLimits()
        self._bearer, self._open, self._why_out = bearer, open_to_all, why_out

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
        wishes = [wish.strip()[:2].lower() for wish in headers.get("accept-language", "").split(",")]
        if LANGUAGE in cookies:
            wishes.insert(0, cookies[LANGUAGE].value)
        language = next((wish for wish in wishes if wish in LANGUAGES), "en")
        theme = cookies[THEME].value if THEME in cookies else ""
        kind, _blank, bearer = headers.get("authorization", "").partition(" ")
        is_bearer = self._bearer is not None and kind.lower() == "bearer" and scope["path"].startswith("/api/")
        token = bearer.strip() if is_bearer else None
        fresh = fresh and token is None
        scope.setdefault("state", {})
        scope["state"] |= {
            "session": session,
            "csrf": token_of(self._settings, session),
            "language": language,
            "theme": theme if theme in ("light", "dark") else "auto",
            "client": client,
            "secure": secure,
            "account": None,
        }

        only_https = "; Secure" if secure else ""
        keeping = "no-store"
        if scope["path"].startswith("/static/"):  # under their digest for good, the others while they are the same
            keeping = "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    fields.setdefault(name, value)
                fields.setdefault("Cache-Control", keeping)
                if fresh and "set-cookie" not in fields:
                    fields.append("Set-Cookie", f"{SESSION}={session}; Path=/; HttpOnly; SameSite=Strict{only_https}")
            await send(message)

        with use_language(language):
            try:
                receive = bounded(scope, receive, self._patience, self._bounds)
                refusal, receive = await self._refusal(scope, headers, session, receive, token, fresh)
            except BodyError as error:
                refusal = _refused(error.detail, scope["path"].startswith("/api/"), error.status_code)
                refusal.headers["Connection"] = "close"
            except (DBAPIError, NoConnectionError) as error:
                if not is_database_away(error):
                    raise
                refusal = _refused(_(DATABASE_AWAY), scope["path"].startswith("/api/"), 503)
            await (refusal or self._app)(scope, receive, answer)

    async def _refusal(
        self, scope: Scope, headers: Headers, session: str, receive: Receive, token: str | None, fresh: bool
    ) -> tuple[Response | None, Receive]:
        """Return why a request is refused, if it is, and its body; keep whose its API token is."""
        path, is_api = scope["path"], scope["path"].startswith("/api/")
        host, reached = headers.get("host", ""), scope.get("server")
        if not self._settings.answers_to(host, reached[0] if reached else None):
            is_name = re.fullmatch(r"[\w.-]+(:\d+)?", host) and len(host) <= _LONGEST_NAME
            name = host.rsplit(":", 1)[0] if is_name else "?"
            text = _("this server is not known as {name}; open {address}, or start it with --allow-host {name}")
            text = text.format(name=name, address=self._settings.addresses[0])
            return PlainTextResponse(text, 421), receive
        if token is not None and self._bearer is not None:
            scope["state"]["account"] = account = await run_in_threadpool(self._bearer, token)
            if account is not None:
                return None, receive
            refusal = _refused(_("this API token is not known; make another on your account's page"), True, 401)
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal, receive
        if scope["method"] not in _SAFE:
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
            is_ours = site in ("same-origin", "none") and (origin is None or urlsplit(origin).netloc == host)
            if not is_ours:
                return _refused(_("this request comes from another site"), is_api), receive
            csrf = headers.get("x-csrf-token", "")
            if not csrf and headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
                body, receive = await _form(receive)
                if len(body) > _LARGEST_FORM:
                    return _refused(_("the request is too large"), is_api, 413), receive
                csrf = parse_qs(body.decode("utf-8", "replace")).get("csrf", [""])[0]
            if fresh or not hmac.compare_digest(csrf.encode(), token_of(self._settings, session).encode()):
                return _refused(_("the page is out of date; load it again"), is_api), receive
        if not path.startswith(self._open) and not self._door.is_in(session):
            if is_api:
                reason = self._why_out(session) or _("you are not logged in; log in first")
                return _refused(reason, is_api, 401), receive
            return RedirectResponse("/login", 303), receive
        return None, receive


def _client(scope: Scope, headers: Headers, settings: ServerSettings) -> tuple[str, bool]:
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


def _refused(message: str, is_api: bool, status: int = 403) -> Response:
    if is_api:
        return JSONResponse({"error": {"message": message}}, status)
    return PlainTextResponse(message, status)


async def _form(receive: Receive) -> tuple[bytes, Receive]:
    """Return a body, read until it is too large for a form, and a stream that gives it, and what else the client does.

    An answer that is sent piece by piece asks whether the client is still there, and stops where it is told otherwise.
    """
    body, whole, sent = b"", False, False
    while not whole and len(body) <= _LARGEST_FORM:
        message = await receive()
        body, whole = body + bytes(message.get("body", b"")), not message.get("more_body", False)

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return body, again


# --- cookies: for the server alone, out of reach of scripts, and never in the clear where it has HTTPS ----------------


def keep_cookie(answer: Response, request: Request, name: str, value: str, seconds: int) -> None:
    """Have the browser keep a cookie."""
    answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", secure=request.state.secure)


def keep_session(answer: Response, request: Request, session: str) -> None:
    """Have the browser keep a session that was opened for it."""
    keep_cookie(answer, request, SESSION, session, DAYS * 86_400)


def drop_session(answer: Response, request: Request) -> None:
    """Have the browser forget its session."""
    answer.delete_cookie(SESSION, httponly=True, samesite="strict", secure=request.state.secure)


def redirect_in(request: Request, session: str, address: str = "/") -> Response:
    """Return the way inside for somebody who logged in."""
    answer = RedirectResponse(address, 303)
    keep_session(answer, request, session)
    return answer
