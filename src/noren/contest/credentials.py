"""Which server one plays on, and by which token: kept in the user's configuration, for its owner alone.

Receipts as a team keeps them: one file for each, never written over.
"""

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
from noren.web.settings import default_folder

SERVER, TOKEN = "NOREN_CONTEST_SERVER", "NOREN_CONTEST_TOKEN"
"""Variables that say server and token where no flag does."""


@dataclass(frozen=True)
class Login:
    """A server, and the token that opens it; without one only what everybody may see is shown."""

    server: str
    token: str | None = None


def credentials_file() -> Path:
    """Return where tokens are kept."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "noren" / "contest.json"


def server_address(given: str) -> str:
    """Return the address of a server as it is kept: scheme, host and port alone.

    >>> server_address("https://Cup.example/"), server_address("127.0.0.1:8322")
    ('https://cup.example', 'http://127.0.0.1:8322')
    """
    text = given.strip()
    found = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = found.port
    except ValueError:
        port = -1
    if found.scheme not in ("http", "https") or not found.hostname or port == -1 or found.username or found.query:
        raise ParameterError(
            _("{given!r} is no address of a server; write it like https://cup.example or 127.0.0.1:8322").format(
                given=given[:80]
            ),
        )
    host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
    return f"{found.scheme}://{host}{'' if port is None else f':{port}'}{found.path.rstrip('/')}"


def login_for(server: str | None, token: str | None = None) -> Login:
    """Return the login that is meant: by flag, by variable, or the one that was used last."""
    kept = _kept()
    address = server or os.environ.get(SERVER) or kept.get("last")
    if not address:
        raise ParameterError(
            _("which server?; name it with --server ADDRESS, or log in with noren contest login ADDRESS")
        )
    address = server_address(address)
    return Login(address, token or os.environ.get(TOKEN) or kept.get("tokens", {}).get(address))


def remember(login: Login) -> Path:
    """Keep a token for its server, readable by its owner alone; return the file."""
    kept, path = _kept(), credentials_file()
    tokens = dict(kept.get("tokens", {}))
    if login.token is not None:
        tokens[login.server] = login.token
    _write(path, {"last": login.server, "tokens": tokens})
    return path


def forget(server: str) -> bool:
    """Forget the token of a server; tell whether there was one."""
    kept = _kept()
    tokens = dict(kept.get("tokens", {}))
    if tokens.pop(server, None) is None:
        return False
    _write(credentials_file(), {"last": kept.get("last"), "tokens": tokens})
    return True


def _write(path: Path, content: dict[str, Any]) -> None:
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True, mode=0o700)
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _kept() -> dict[str, Any]:
    path = credentials_file()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("tokens", {}), dict):
        raise FileError(_("the file of logins is damaged; delete it and log in again"), file=path)
    return found


_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def receipts_folder(server: str, contest: str) -> Path:
    """Return where the receipts of a contest are kept."""
    return default_folder("receipts") / _ODD.sub("_", server) / _ODD.sub("_", contest)


def keep_receipt(server: str, contest: str, submission: str, receipt: Mapping[str, Any], out: Path | None) -> Path:
    """Write a receipt to the user's own folder and, where asked, to a file; return the last."""
    places = [receipts_folder(server, contest) / f"{_ODD.sub('_', submission)}.json", *([] if out is None else [out])]
    for place in places:
        with writing_file(place, private=True) as aside:
            aside.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return places[-1]
