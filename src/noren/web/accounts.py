"""Who people are: accounts with a role, sessions of browsers, tokens of programs, and how often somebody may ask.

Both servers keep accounts in tables of the same shape (:func:`account_tables`, :func:`token_tables`). A server gives
its own kind of account with its roles, and what else is to be done when one changes. Passwords are kept as argon2
hashes and compared in the same time whether or not somebody of that name is known, sessions and tokens are kept as
digests. Guesses are counted for each address apart, so that nobody can lock others out.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
import time
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar

import argon2
import sqlalchemy as sa
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError, OperationalError

from noren.errors import DuplicateNameError, ParameterError
from noren.i18n import _
from noren.work.queue import clock_of, new_id, now

DAYS: Final = 14
"""How long a session lasts."""
_TOKEN, _LETTERS = "noren_", "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_ONCE = "once:"
_USED = dt.timedelta(minutes=1)
"""How exactly it is known when a token was used last."""
_FORGOTTEN = 100
"""So many windows that are over are forgotten at a time."""


def account_tables(tables: sa.MetaData, *more: sa.Column[Any]) -> tuple[sa.Table, sa.Table]:
    """Add the tables of accounts and of sessions; a session without an account was opened by a server's one password.

    ``more`` are columns that a server's accounts have besides; ``ended`` says why somebody else ended a session.
    """
    accounts = sa.Table(
        "accounts",
        tables,
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("login", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32)),
        sa.Column("password_hash", sa.Text, nullable=False),
        *more,
    )
    sessions = sa.Table(
        "sessions",
        tables,
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("account", sa.String(12), sa.ForeignKey("accounts.id"), index=True),
        sa.Column("until", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(16)),
    )
    return accounts, sessions


def token_tables(tables: sa.MetaData) -> tuple[sa.Table, sa.Table]:
    """Add the tables of tokens and of rates."""
    tokens = sa.Table(
        "tokens",
        tables,
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("account", sa.String(12), sa.ForeignKey("accounts.id"), nullable=False, index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("last_used", sa.String(32)),
        sa.Column("revoked", sa.String(32)),
    )
    rates = sa.Table(
        "rates",
        tables,
        sa.Column("key", sa.String(128), primary_key=True),
        sa.Column("until", sa.Double, nullable=False, index=True),
        sa.Column("count", sa.Integer, nullable=False),
    )
    return tokens, rates


@dataclass(frozen=True)
class Account:
    """A person; ``revoked`` says since when she is let in no more."""

    id: str
    login: str
    name: str
    role: str
    created: str
    revoked: str | None = None


_Kind = TypeVar("_Kind", bound=Account)


class Accounts(Generic[_Kind]):
    """The people that a server knows, and who of them is logged in.

    A server's own class says what an account is (``kind``) and may write a trail (:meth:`changing`, :meth:`note`).
    """

    kind: type[_Kind]

    def __init__(self, engine: sa.Engine, tables: sa.MetaData) -> None:
        self.engine = engine
        self.accounts, self.sessions = tables.tables["accounts"], tables.tables["sessions"]

    def changing(self) -> contextlib.AbstractContextManager[sa.Connection]:
        """Return a transaction in which something is changed."""
        return self.engine.begin()

    def note(self, database: sa.Connection, kind: str, account: _Kind, **body: Any) -> None:
        """Write down, in the same transaction, what was done with an account."""

    def _rows(self, query: sa.Select[Any]) -> list[_Kind]:
        with self.engine.connect() as database:
            return [self._account(row) for row in database.execute(query)]

    def _account(self, row: Any) -> _Kind:
        return self.kind(row.id, row.login, row.name, row.role, row.created, row.revoked)

    def all(self) -> list[_Kind]:
        """Return everybody, the oldest first."""
        return self._rows(self.accounts.select().order_by(self.accounts.c.created, self.accounts.c.login))

    def by_login(self, login: str) -> _Kind | None:
        """Return the person of a login."""
        return next(iter(self._rows(self.accounts.select().where(self.accounts.c.login == folded(login)))), None)

    def enter(self, login: str, password: str, *, once: bool = False) -> _Kind | None:
        """Return whose login and password these are; to say no takes as long for unknown logins.

        A password for ``once`` opens nothing but the form in which another is set, and that form takes no other.
        """
        with self.engine.connect() as database:
            row = database.execute(self.accounts.select().where(self.accounts.c.login == folded(login))).first()
        known = "" if row is None else row.password_hash
        right = is_right(known.removeprefix(_ONCE) if known.startswith(_ONCE) == once else None, password)
        return self._account(row) if row is not None and right and row.revoked is None else None

    def add_account(self, login: str, name: str, password: str, role: str, **more: Any) -> _Kind:
        """Add a person; ``more`` is what a server's accounts have besides."""
        known, name = checked_login(login), " ".join(name.split())
        if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
            message = _("a name or reason needs 1 to {most} characters; change it")
            raise ParameterError(message.format(most=LONGEST_NAME))
        account = self.kind(new_id(), known, name, role, now(), **more)
        password_hash = hashed(password)
        try:
            with self.changing() as database:
                database.execute(self.accounts.insert().values(**account.__dict__, password_hash=password_hash))
                self.note(database, "user-added", account, role=str(role))
        except IntegrityError:
            raise DuplicateNameError(_("the login {login} is taken; choose another").format(login=known)) from None
        return account

    def change_password(self, account: _Kind, password: str, *, once: bool = False) -> None:
        """Change the password of an account, to one for ``once`` if it is to set another; its open sessions end."""
        password_hash = _ONCE * once + hashed(password)
        with self.changing() as database:
            self.change(database, account, "password", password_hash=password_hash)
            self.note(database, "user-password", account)

    def change(self, database: sa.Connection, account: _Kind, why: str, **values: Any) -> None:
        """Change something of an account, and end its sessions; why is kept, so that open tabs can be told."""
        at = self.sessions.c
        database.execute(self.accounts.update().where(self.accounts.c.id == account.id).values(**values))
        database.execute(self.sessions.update().where(at.account == account.id, at.ended.is_(None)).values(ended=why))

    # --- sessions ----------------------------------------------------------------------------------------------------

    def open_session(self, account: _Kind | None, password_hash: str = "") -> str:
        """Return a new session of a person, or of a server's one password; what is over is forgotten."""
        session = secrets.token_urlsafe(32)
        until = (dt.datetime.now(dt.UTC) + dt.timedelta(days=DAYS)).isoformat(timespec="microseconds")
        values = {"digest": digest_of(session, password_hash), "account": account and account.id, "until": until}
        with self.changing() if account else self.engine.begin() as database:
            database.execute(self.sessions.delete().where(self.sessions.c.until < now()))
            database.execute(self.sessions.insert().values(**values))
            if account is not None:
                self.note(database, "entered", account)
        return session

    def of_session(self, session: str) -> _Kind | None:
        """Return who is logged in."""
        query = sa.select(self.accounts).join(self.sessions, self.sessions.c.account == self.accounts.c.id)
        return next(iter(self._rows(query.where(*self._is_open(session), self.accounts.c.revoked.is_(None)))), None)

    def has_session(self, session: str, password_hash: str) -> bool:
        """Tell whether somebody is logged in by the one password of which this is the hash."""
        query = self.sessions.select().where(*self._is_open(session, password_hash))
        with self.engine.connect() as database:
            return database.execute(query).first() is not None

    def _is_open(self, session: str, password_hash: str = "") -> tuple[sa.ColumnElement[bool], ...]:
        at = self.sessions.c
        return at.digest == digest_of(session, password_hash), at.until >= now(), at.ended.is_(None)

    def why_ended(self, session: str) -> str | None:
        """Return why a session was ended by somebody else."""
        query = sa.select(self.sessions.c.ended).where(self.sessions.c.digest == digest_of(session))
        with self.engine.connect() as database:
            ended: str | None = database.execute(query).scalar()
        return ended

    def end_session(self, session: str, password_hash: str = "") -> None:
        """Log a browser out."""
        with self.engine.begin() as database:
            digest = digest_of(session, password_hash)
            database.execute(self.sessions.delete().where(self.sessions.c.digest == digest))


def digest_of(session: str, password_hash: str = "") -> str:
    """Return what is kept of a session or a token; with another password, or the same set again, it is another."""
    return hashlib.sha256(f"{password_hash}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Token:
    """What a program may do in a person's name."""

    id: str
    account: str
    name: str
    scopes: frozenset[str]
    created: str
    last_used: str | None
    revoked: str | None


class Tokens(Generic[_Kind]):
    """What programs show in place of a password; ``scopes`` are what they may be for."""

    def __init__(self, people: Accounts[_Kind], tables: sa.MetaData, scopes: Collection[str]) -> None:
        self._people, self._engine, self._tokens = people, people.engine, tables.tables["tokens"]
        self._scopes = scopes

    def make(self, account: str, name: str, scopes: Collection[str]) -> tuple[Token, str]:
        """Return a new token and its text, which nobody can be told again."""
        if not scopes or not {*scopes} <= {*self._scopes}:
            raise ParameterError(_("use one of {names}").format(names=", ".join(self._scopes)))
        text = _TOKEN + "".join(secrets.choice(_LETTERS) for _ in range(40))
        token = Token(new_id(), account, name[:LONGEST_NAME], frozenset(scopes), now(), None, None)
        values = token.__dict__ | {"scopes": " ".join(sorted(scopes)), "digest": digest_of(text)}
        with self._engine.begin() as database:
            database.execute(self._tokens.insert().values(**values))
        return token, text

    def owner(self, text: str) -> tuple[Token, _Kind] | None:
        """Return the token of a text and whose it is, unless it or the person is revoked."""
        digest, people = digest_of(text), self._people.accounts
        with self._engine.connect() as database:
            row = database.execute(self._tokens.select().where(self._tokens.c.digest == digest)).first()
            if row is None or not hmac.compare_digest(row.digest, digest) or row.revoked is not None:
                return None
            person = database.execute(people.select().where(people.c.id == row.account)).one()
        if person.revoked is not None:
            return None
        long_ago = (dt.datetime.now(dt.UTC) - _USED).isoformat(timespec="microseconds")
        if row.last_used is None or row.last_used < long_ago:
            # a full disk keeps nobody from looking
            with contextlib.suppress(OperationalError), self._engine.begin() as database:
                database.execute(self._tokens.update().where(self._tokens.c.id == row.id).values(last_used=now()))
        return _token(row), self._people._account(person)

    def of(self, account: str) -> list[Token]:
        """Return a person's tokens, the oldest first."""
        query = self._tokens.select().where(self._tokens.c.account == account).order_by(self._tokens.c.created)
        with self._engine.connect() as database:
            return [_token(row) for row in database.execute(query)]

    def revoke(self, token: str, account: str) -> bool:
        """Let a person's token open nothing any more; tell whether there was such a one."""
        at = self._tokens.c
        update = self._tokens.update().where(at.id == token, at.account == account, at.revoked.is_(None))
        with self._engine.begin() as database:
            return database.execute(update.values(revoked=now())).rowcount == 1


def _token(row: Any) -> Token:
    scopes = frozenset(row.scopes.split())
    return Token(row.id, row.account, row.name, scopes, row.created, row.last_used, row.revoked)


class Rates:
    """How often somebody may ask, told alike by all servers of one database.

    Requests are counted in windows; a window begins with the first request in it.
    """

    def __init__(self, engine: sa.Engine, tables: sa.MetaData) -> None:
        self._engine, self._rates = engine, tables.tables["rates"]
        self._insert: Any = (postgresql if engine.dialect.name == "postgresql" else sqlite).insert

    def allow(self, key: str, most: int, seconds: float) -> bool:
        """Count a request; tell whether it is one of the first ``most`` in its window. One statement does it all."""
        time, at = clock_of(self._engine), self._rates.c
        is_over = at.until <= time
        statement = self._insert(self._rates).values(key=key[:128], until=time + seconds, count=1)
        statement = statement.on_conflict_do_update(
            index_elements=[at.key],
            set_={
                "count": sa.case((is_over, 1), else_=at.count + 1),
                "until": sa.case((is_over, time + seconds), else_=at.until),
            },
        ).returning(at.count)
        with self._engine.begin() as database:
            count: int = database.execute(statement).scalar_one()
        if count == 1:
            over = sa.select(at.key).where(at.until <= time).limit(_FORGOTTEN).with_for_update(skip_locked=True)
            with self._engine.begin() as database:
                database.execute(self._rates.delete().where(at.key.in_(over)))
        return count <= most

    def reset(self, key: str) -> None:
        """Begin anew for somebody who proved who they are."""
        with self._engine.begin() as database:
            database.execute(self._rates.delete().where(self._rates.c.key == key[:128]))


# --- logins and passwords: what they may be, how they are kept and compared, how often they may be guessed -----------

_LOGIN = re.compile(r"[\w.@+-]{2,64}")
LONGEST_NAME = 80
_SHORTEST, _LONGEST = 10, 1000
_hashing: Final = threading.BoundedSemaphore(2)
"""Each hash takes 64 MB: so many are made at once, however many people log in."""
_MINUTE, _MOST_WRONG = 60.0, 10
_MANY_WRONG, _DELAY, _LONGEST_DELAY = 30, 0.05, 3.0


def folded(login: str) -> str:
    """Return a login as it is compared: however somebody writes it.

    >>> folded(" Ａｎｎ "), folded("ANN")
    ('ann', 'ann')
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", login).casefold()).strip()


def checked_login(login: str, reserved: Collection[str] = ()) -> str:
    """Return a login as it is kept, or say what is wrong with it; nobody gets one that is ``reserved``."""
    known = folded(login)
    if not _LOGIN.fullmatch(known) or known in reserved:
        raise ParameterError(
            _("{login!r} is no login; use 2 to 64 letters, digits, or any of . _ - + @").format(login=login)
        )
    return known


def hashed(password: str) -> str:
    """Return what is kept of a password."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise ParameterError(_("the password needs 10 to 1,000 characters"))
    with _hashing:
        return argon2.PasswordHasher().hash(password)


def is_right(hashed: str | None, password: str) -> bool:
    """Tell whether a password is that of a hash; without one it is wrong, and takes as long to say."""
    try:
        with _hashing:
            return argon2.PasswordHasher().verify(hashed or _nobodys(), password[: _LONGEST + 1]) and hashed is not None
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _nobodys() -> str:
    return argon2.PasswordHasher().hash("nobody's password")


class Tries:
    """How often passwords were guessed.

    An address may be wrong ten times a minute. When many addresses guess together, every answer comes later the more
    they guess, but the right password always opens: guesses from elsewhere lock nobody out.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong: dict[str, list[float]] = {}

    def may_try(self, address: str) -> bool:
        """Count a try of an address; tell whether it was not wrong too often in the last minute."""
        with self._lock:
            now = time.monotonic()
            self._wrong = {
                who: recent
                for who, tries in self._wrong.items()
                if (recent := [t for t in tries if t > now - _MINUTE][-_MOST_WRONG:])
            }
            tries = self._wrong.setdefault(guesser(address), [])
            if len(tries) >= _MOST_WRONG:
                return False
            tries.append(now)
            return True

    def delay(self) -> float:
        """Return the seconds to wait before an answer: none, unless many addresses guess together."""
        with self._lock:
            wrong = sum(map(len, self._wrong.values()))
        return min(_LONGEST_DELAY, max(0, wrong - _MANY_WRONG) * _DELAY)

    def forget(self, address: str) -> None:
        """Count nothing against an address that knew the password."""
        with self._lock:
            self._wrong.pop(guesser(address), None)


def guesser(address: str) -> str:
    """Return who counts as one: an address, and of IPv6 the network that one household is given."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
