"""Encryption of secrets (AES-256-GCM) with a key outside the database.

A copy of the database or the files alone discloses nothing. The key is the environment's ``NOREN_CONTEST_KEY`` (64
hexadecimal digits: the way for several machines), else the file ``secret.key`` in the data folder, made once and
readable by its owner alone. Every use has a key of its own, derived from it (HKDF). Sealed in the database are
the salts of lots and the keys of webhooks.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from noren.contest.store.tables import hooks
from noren.data.formats.files import explain_write_errors
from noren.data.formats.source import require_readable
from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.tables import Texts
from noren.work.queue import new_id, now

say = Texts(__name__)

ENVIRONMENT: Final = "NOREN_CONTEST_KEY"
KEY_FILE: Final = "secret.key"
_BYTES, _NONCE = 32, 12


def server_key(folder: Path) -> bytes:
    """Return the key of the environment, or of a folder, where it is created if missing.

    Processes that start at the same time agree on one key.
    """
    text = os.environ.get(ENVIRONMENT)
    if text is not None:
        if not re.fullmatch(r"[0-9a-fA-F]{64}", text.strip()):
            raise ParameterError(say("not_a_key", name=ENVIRONMENT))
        return bytes.fromhex(text.strip())
    path = folder / KEY_FILE
    if not path.exists():
        aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        with explain_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(secrets.token_bytes(_BYTES))
                    file.flush()
                    os.fsync(file.fileno())
                with contextlib.suppress(FileExistsError):
                    path.hardlink_to(aside)
            finally:
                aside.unlink(missing_ok=True)
    key = require_readable(path).read_bytes()
    if len(key) < _BYTES:
        raise FileError(_("the key is damaged; restore it from a backup"), file=path)
    return key


def derive_key(key: bytes, use: str, salt: bytes = b"") -> bytes:
    """Derive the key of one use."""
    return HKDF(algorithm=SHA256(), length=_BYTES, salt=salt or None, info=f"noren contest: {use}".encode()).derive(key)


class Seal:
    """Encrypts short contents; each is bound to the name of its place.

    Examples
    --------
    >>> seal = Seal(bytes(32), "hooks")
    >>> sealed = seal.close(b"salt", "spring-cup/lots")
    >>> b"salt" in sealed, seal.open(sealed, "spring-cup/lots")
    (False, b'salt')
    """

    def __init__(self, key: bytes, use: str) -> None:
        self._cipher = AESGCM(derive_key(key, use))

    def close(self, content: bytes, place: str) -> bytes:
        """Encrypt a content for a place."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, content, place.encode())

    def open(self, sealed_content: bytes, place: str) -> bytes:
        """Decrypt the content of a place."""
        try:
            return self._cipher.decrypt(sealed_content[:_NONCE], sealed_content[_NONCE:], place.encode())
        except InvalidTag:
            raise FileError(say("damaged"), file=place) from None


@dataclass(frozen=True)
class Hook:
    """A webhook: an address and the secret that signs its messages."""

    id: str
    contest: str
    url: str
    secret: bytes = field(repr=False)
    created: str
    disabled: str | None


class Hooks:
    """The webhooks of contests."""

    def __init__(self, engine: sa.Engine, key: bytes) -> None:
        self._engine, self._seal = engine, Seal(key, "hooks")

    def add(self, contest: str, url: str, secret: bytes) -> Hook:
        """Add a webhook."""
        hook = Hook(new_id(), contest, url, secret, now(), None)
        with self._engine.begin() as database:
            sealed_secret = self._seal.close(secret, hook.id)
            database.execute(hooks.insert().values(**hook.__dict__ | {"secret": sealed_secret}))
        return hook

    def of(self, contest: str) -> list[Hook]:
        """Return the webhooks of a contest, the oldest first, including disabled ones."""
        with self._engine.connect() as database:
            rows = database.execute(hooks.select().where(hooks.c.contest == contest).order_by(hooks.c.created)).all()
        return [Hook(**{**row._mapping, "secret": self._seal.open(row.secret, row.id)}) for row in rows]

    def disable(self, contest: str, hook: str) -> bool:
        """Disable a webhook; tell whether the contest had it."""
        query = hooks.update().where(hooks.c.id == hook, hooks.c.contest == contest, hooks.c.disabled.is_(None))
        with self._engine.begin() as database:
            return database.execute(query.values(disabled=now())).rowcount == 1
