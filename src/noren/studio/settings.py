"""Where the studio keeps its data, and whom it lets in."""

from __future__ import annotations

import ipaddress
import os
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from noren.data.formats.files import writing_file
from noren.errors import FileError, ParameterError
from noren.i18n import _

__all__ = ["LARGEST_UPLOAD", "Settings", "default_folder"]

LARGEST_UPLOAD = 4 * 2**30
"""Bytes of one upload, unless told otherwise."""


def default_folder() -> Path:
    """Return where the studio of this person keeps its data."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "noren" / "studio"


@dataclass(frozen=True)
class Settings:
    """How one studio is set up.

    Attributes
    ----------
    folder
        Everything the studio knows: database, uploads, releases. Backed up by copying it.
    host, port
        Where it listens. Beyond this machine only with a password.
    names
        Further names that people may reach it by (``Host``), such as that of a proxy.
    database
        The address of a PostgreSQL database; SQLite in the folder where left out.
    workers
        How many heavy jobs run at once.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8321
    names: tuple[str, ...] = ()
    database: str | None = None
    workers: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    largest_upload: int = LARGEST_UPLOAD
    samples: bool = True

    def __post_init__(self) -> None:
        if not self.is_local and self.password_hash is None:
            raise ParameterError(
                _("{host} can be reached from other machines, and the studio has no password").format(host=self.host),
                _("set one with noren studio --set-password, or listen on 127.0.0.1"),
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def database_url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{(self.folder / 'studio.sqlite').resolve()}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a browser may say it asks for (``Host``), so that no other site can speak for it."""
        own = {"127.0.0.1", "localhost", "[::1]"} if self.is_local else {self.host}
        shown = {f"{name}:{self.port}" for name in own} | (own if self.port == 80 else set())
        return frozenset(shown | set(self.names))

    @cached_property
    def key(self) -> bytes:
        """What tokens are signed with; made once, readable by its owner alone."""
        path = self.folder / "secret.key"
        if not path.exists():
            with writing_file(path, private=True) as aside:
                aside.write_bytes(secrets.token_bytes(32))
        key = path.read_bytes()
        if len(key) < 32:
            raise FileError(
                _("the studio's key is damaged"), _("delete it; open pages must be loaded again"), file=path
            )
        return key

    @property
    def password_file(self) -> Path:
        """Where the hash of the password is kept."""
        return self.folder / "password.hash"

    @property
    def password_hash(self) -> str | None:
        """The hash of the password, if one was set."""
        try:
            return self.password_file.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def make_folder(self) -> None:
        """Create the folder, for its owner alone."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise FileError(
                _("the studio cannot keep its data here ({reason})").format(reason=error.strerror),
                _("name another folder with --data-dir"),
                file=self.folder,
            ) from None
