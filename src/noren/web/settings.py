"""Where a server keeps its data, and whom it lets in."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import secrets
import socket
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from noren.data.formats.files import writing_file
from noren.engines.choice import parse_engine
from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

LARGEST_UPLOAD = 4 * 2**30
"""Bytes of one upload, and of what it holds when it is unpacked, unless told otherwise."""
_HOST = re.compile(r"(?:[\w.-]{1,253}|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?")


def default_folder(server: str = "studio") -> Path:
    """Return where a server of this person keeps its data."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "noren" / server


@dataclass(frozen=True)
class ServerSettings:
    """How one server is set up.

    Attributes
    ----------
    folder
        Everything the server knows: database, uploads, releases. Backed up by copying it.
    host, port
        Where it listens. Beyond this machine only where people log in.
    names
        Further names that people may reach it by (``Host``), such as that of a proxy: with a port that port alone,
        without one any.
    proxies
        Addresses or networks of proxies in front of it. What they say of a client (``X-Forwarded-For``,
        ``X-Forwarded-Proto``) is believed, what anybody else says is not.
    https
        Whether people reach it over HTTPS alone, so that cookies never travel in the clear.
    database
        The address of a PostgreSQL database; SQLite in the folder where left out.
    workers
        How many heavy jobs run at once.
    server
        What kind of server it is, which names its database.
    accounts
        Whether people have accounts of their own, in place of one password for all.
    engine
        Where heavy jobs run: ``local``, ``auto``, ``gpu``, or Spark (``spark://host:port``, ``local[n]``).
    four_eyes
        Whether a public part leaves only when somebody else than its maker approved it.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8321
    names: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    https: bool = False
    database: str | None = None
    workers: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    largest_upload: int = LARGEST_UPLOAD
    samples: bool = True
    server: str = "studio"
    accounts: bool = False
    engine: str = "local"
    four_eyes: bool = False

    def __post_init__(self) -> None:
        for name in self.names:
            if not _HOST.fullmatch(name):
                raise ParameterError(say("no_host_name", name=name, example="studio.example:8321"))
        self.is_proxy("")  # a wrong address is said now
        parse_engine(self.engine)
        reached = self.host if not self.is_local else ", ".join(self.proxies)
        if reached and not self.accounts and self.password_hash is None:
            raise ParameterError(say("open_to_others", address=reached))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.host == "localhost" or self._listens_on("is_loopback")

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on every address of this machine."""
        return self._listens_on("is_unspecified")

    def _listens_on(self, kind: str) -> bool:
        with contextlib.suppress(ValueError):
            return bool(getattr(ipaddress.ip_address(self.host), kind))
        return False

    @property
    def database_url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{(self.folder / f'{self.server}.sqlite').resolve()}"

    @cached_property
    def machine_names(self) -> frozenset[str]:
        """What this machine calls itself; nobody is asked for it."""
        name = socket.gethostname().lower()
        return frozenset({name, name.split(".")[0]}) if _HOST.fullmatch(name) else frozenset()

    def answers_to(self, host: str, reached: str | None = None) -> bool:
        """Tell whether a request that names ``host`` is meant for us; ``reached`` is our address that it came in on.

        A site can make its own name lead to this machine, but not make a browser write our address where it stands for
        another: on a server that listens everywhere, the address that the connection was made to is right.

        >>> studio = ServerSettings(Path("studio"), names=("studio.example",))
        >>> studio.answers_to("studio.example:443"), studio.answers_to("evil.example:8321")
        (True, False)
        """
        host = host.lower()
        parts = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?", host)
        name, port = (parts[1], int(parts[2] or 80)) if parts else (host, 0)
        own = {"127.0.0.1", "localhost", "[::1]"} if self.is_local or self.is_everywhere else {in_address(self.host)}
        own |= self.machine_names if self.is_everywhere else frozenset()
        own_hosts = {f"{name_or_address}:{self.port}" for name_or_address in own} | (own if self.port == 80 else set())
        if host in own_hosts or {host, name} & {known.lower() for known in self.names}:
            return True
        try:
            return self.is_everywhere and port == self.port and _plain(name.strip("[]")) == _plain(reached or "")
        except ValueError:
            return False

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """Where people find it, the way from this machine first; each is answered."""
        port = f":{self.port}"
        if not self.is_everywhere:
            return (f"http://{in_address(self.host)}{port}/",)
        names = ["[::1]" if ":" in self.host else "127.0.0.1"]
        far = {socket.AF_INET: "192.0.2.1"} | ({socket.AF_INET6: "2001:db8::1"} if ":" in self.host else {})
        for family, address in far.items():  # what this machine shows to others: a socket points there, nothing is sent
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as pointed:
                pointed.connect((address, 9))
                names.append(in_address(str(pointed.getsockname()[0])))
        names += sorted(self.machine_names)
        return tuple(f"http://{name}{port}/" for name in dict.fromkeys(names) if name != "localhost")

    def is_proxy(self, address: str) -> bool:
        """Tell whether an address is that of a proxy whose word is taken."""
        networks = self._proxy_networks
        try:
            parsed = _plain(address)
        except ValueError:
            return False
        return any(parsed in network for network in networks if network.version == parsed.version)

    @cached_property
    def _proxy_networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        try:
            return tuple(ipaddress.ip_network(network, strict=False) for network in self.proxies)
        except ValueError as error:
            raise ParameterError(say("wrong_proxy", reason=error)) from None

    @cached_property
    def key(self) -> bytes:
        """What tokens are signed with; made once, readable by its owner alone."""
        path = self.folder / "secret.key"
        if not path.exists():
            with writing_file(path, private=True) as aside:
                aside.write_bytes(secrets.token_bytes(32))
        key = path.read_bytes()
        if len(key) < 32:
            raise FileError(_("the server's key is damaged; delete it, then reload open pages"), file=path)
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
            raise FileError(say("cannot_keep_data", reason=error.strerror), file=self.folder) from None


def in_address(host: str) -> str:
    """Return a host as it stands in an address.

    >>> in_address("::1"), in_address("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; one of IPv4 that came in over IPv6 as what it is."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    return parsed.ipv4_mapped or parsed if isinstance(parsed, ipaddress.IPv6Address) else parsed
