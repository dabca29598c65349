"""Servers, tokens and receipts of a user, stored in files that only their owner can read."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from noren.data.formats.files import writing_file
from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.tables import Texts
from noren.web.settings import default_folder

say = Texts(__name__)

SERVER, TOKEN = "NOREN_CONTEST_SERVER", "NOREN_CONTEST_TOKEN"
"""Environment variables with the default server and token."""


@dataclass(frozen=True)
class Login:
    """A server and a token; without a token, only public data are visible."""

    server: str
    token: str | None = None


def credentials_file() -> Path:
    """Return the file of the tokens."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "noren" / "contest.json"


def server_address(address: str) -> str:
    """Return the normalised address of a server: scheme, host and port.

    >>> server_address("https://Cup.example/"), server_address("127.0.0.1:8322")
    ('https://cup.example', 'http://127.0.0.1:8322')
    """
    text = address.strip()
    parts = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.username or parts.query:
        raise ParameterError(say("no_address", address=address[:80]))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def login_for(server: str | None, token: str | None = None) -> Login:
    """Return the login from options, environment variables or the last one used."""
    stored = _read()
    address = server or os.environ.get(SERVER) or stored.get("last")
    if not address:
        raise ParameterError(say("no_server"))
    address = server_address(address)
    return Login(address, token or os.environ.get(TOKEN) or stored.get("tokens", {}).get(address))


def remember(login: Login) -> Path:
    """Store the token of a server, readable only by its owner; return the file."""
    path = credentials_file()
    tokens = dict(_read().get("tokens", {}))
    if login.token is not None:
        tokens[login.server] = login.token
    _write(path, {"last": login.server, "tokens": tokens})
    return path


def forget(server: str) -> bool:
    """Forget the token of a server; tell whether there was one."""
    stored = _read()
    tokens = dict(stored.get("tokens", {}))
    if tokens.pop(server, None) is None:
        return False
    _write(credentials_file(), {"last": stored.get("last"), "tokens": tokens})
    return True


def _write(path: Path, content: dict[str, Any]) -> None:
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True, mode=0o700)
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _read() -> dict[str, Any]:
    path = credentials_file()
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        stored = None
    if not isinstance(stored, dict) or not isinstance(stored.get("tokens", {}), dict):
        raise FileError(_("the file with your logins is damaged; delete it and log in again"), file=path)
    return stored


_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def receipts_folder(server: str, contest: str) -> Path:
    """Return the folder of the receipts of a contest."""
    return default_folder("receipts") / _ODD.sub("_", server) / _ODD.sub("_", contest)


def save_receipt(server: str, contest: str, submission: str, receipt: Mapping[str, Any], out: Path | None) -> Path:
    """Write a receipt to the user's folder and optionally to ``out``; return the last file."""
    files = [receipts_folder(server, contest) / f"{_ODD.sub('_', submission)}.json", *([] if out is None else [out])]
    for file in files:
        with writing_file(file, private=True) as aside:
            aside.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return files[-1]
