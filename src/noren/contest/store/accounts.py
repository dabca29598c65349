"""Who people are: accounts with passwords, sessions of browsers, tokens of programs, and who organises what.

Of sessions and tokens only digests are kept.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from noren.contest.store.tables import accounts, organisers, sessions, tokens
from noren.errors import DuplicateNameError, ParameterError
from noren.i18n import _
from noren.web.logins import LONGEST_NAME, checked_login, checked_name, folded
from noren.web.passwords import hashed, is_right
from noren.work.ids import new_id
from noren.work.queue import now

__all__ = ["SCOPES", "Account", "Accounts", "Organisers", "Sessions", "Token", "Tokens"]

SCOPES: Final = ("read", "team", "organiser")
"""What a token may be for: to look, to play in one's team, to organise."""
_TOKEN, _LETTERS = "noren_", "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_USED = dt.timedelta(minutes=1)
"""How exactly it is known when a token was used last."""


@dataclass(frozen=True)
class Account:
    """A person. ``is_organiser``: may create contests."""

    id: str
    login: str
    name: str
    is_organiser: bool
    created: str


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


class Accounts:
    """The people that the arena knows."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, login: str, name: str, password: str, *, is_organiser: bool = False) -> Account:
        """Add a person."""
        known, name = checked_login(login), checked_name(name)
        account = Account(new_id(), known, name, is_organiser, now())
        try:
            with self._engine.begin() as database:
                database.execute(accounts.insert().values(**account.__dict__, password_hash=hashed(password)))
        except IntegrityError:
            raise DuplicateNameError(_("the login {login} is taken; choose another").format(login=known)) from None
        return account

    def by_login(self, login: str) -> Account | None:
        """Return the person of a login."""
        return self._one(accounts.c.login == folded(login))

    def all(self) -> list[Account]:
        """Return everybody, the oldest first."""
        with self._engine.connect() as database:
            return [_account(row) for row in database.execute(accounts.select().order_by(accounts.c.created))]

    def enter(self, login: str, password: str) -> Account | None:
        """Return the person whose login and password these are; to say no takes as long for unknown logins."""
        with self._engine.connect() as database:
            row = database.execute(accounts.select().where(accounts.c.login == folded(login))).first()
        right = is_right(None if row is None else row.password_hash, password)
        return _account(row) if row is not None and right else None

    def change_password(self, account: str, password: str) -> None:
        """Set another password; whoever was logged in by the old one is so no longer."""
        kept = hashed(password)
        with self._engine.begin() as database:
            database.execute(accounts.update().where(accounts.c.id == account).values(password_hash=kept))
            database.execute(sessions.delete().where(sessions.c.account == account))

    def _one(self, condition: sa.ColumnElement[bool]) -> Account | None:
        with self._engine.connect() as database:
            row = database.execute(accounts.select().where(condition)).first()
        return None if row is None else _account(row)


class Sessions:
    """Who is logged in, by the digest of what their browser holds."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, digest: str, account: str, until: str) -> None:
        """Remember that somebody logged in, until a time; what is over is forgotten."""
        with self._engine.begin() as database:
            database.execute(sessions.delete().where(sessions.c.until < now()))
            database.execute(sessions.insert().values(digest=digest, account=account, until=until))

    def account(self, digest: str) -> Account | None:
        """Return who is logged in."""
        asked = (
            sa.select(accounts)
            .join(sessions, sessions.c.account == accounts.c.id)
            .where(sessions.c.digest == digest, sessions.c.until >= now())
        )
        with self._engine.connect() as database:
            row = database.execute(asked).first()
        return None if row is None else _account(row)

    def remove(self, digest: str) -> None:
        """Log somebody out."""
        with self._engine.begin() as database:
            database.execute(sessions.delete().where(sessions.c.digest == digest))


class Tokens:
    """What programs show in place of a password."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def make(self, account: str, name: str, scopes: Collection[str]) -> tuple[Token, str]:
        """Return a new token and its text, which nobody can be told again."""
        wrong = sorted({*scopes} - {*SCOPES})
        if wrong or not scopes:
            raise ParameterError(
                _("a token is for some of {scopes}").format(scopes=", ".join(SCOPES)), _("name what it is for")
            )
        text = _TOKEN + "".join(secrets.choice(_LETTERS) for _ in range(40))
        token = Token(new_id(), account, name[:LONGEST_NAME], frozenset(scopes), now(), None, None)
        values = token.__dict__ | {"scopes": " ".join(sorted(scopes)), "digest": _digest(text)}
        with self._engine.begin() as database:
            database.execute(tokens.insert().values(**values))
        return token, text

    def owner(self, text: str) -> tuple[Token, Account] | None:
        """Return the token of a text and whose it is, unless it is revoked."""
        digest = _digest(text)
        with self._engine.connect() as database:
            row = database.execute(tokens.select().where(tokens.c.digest == digest)).first()
            if row is None or not hmac.compare_digest(row.digest, digest) or row.revoked is not None:
                return None
            person = database.execute(accounts.select().where(accounts.c.id == row.account)).one()
        self._note_use(row)
        return _token(row), _account(person)

    def of(self, account: str) -> list[Token]:
        """Return a person's tokens, the oldest first."""
        asked = tokens.select().where(tokens.c.account == account).order_by(tokens.c.created)
        with self._engine.connect() as database:
            return [_token(row) for row in database.execute(asked)]

    def revoke(self, token: str, account: str) -> bool:
        """Let a person's token open nothing any more; tell whether there was such a one."""
        asked = tokens.update().where(tokens.c.id == token, tokens.c.account == account, tokens.c.revoked.is_(None))
        with self._engine.begin() as database:
            return database.execute(asked.values(revoked=now())).rowcount == 1

    def _note_use(self, row: Any) -> None:
        long_ago = (dt.datetime.now(dt.UTC) - _USED).isoformat(timespec="microseconds")
        if row.last_used is None or row.last_used < long_ago:
            # a full disk keeps nobody from looking
            with contextlib.suppress(OperationalError), self._engine.begin() as database:
                database.execute(tokens.update().where(tokens.c.id == row.id).values(last_used=now()))


class Organisers:
    """Who organises which contest."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, contest: str, account: str) -> None:
        """Let a person organise a contest; who does already goes on."""
        if not self.has(contest, account):
            with self._engine.begin() as database:
                database.execute(organisers.insert().values(contest=contest, account=account))

    def has(self, contest: str, account: str) -> bool:
        """Tell whether a person organises a contest."""
        at = organisers.c
        with self._engine.connect() as database:
            asked = organisers.select().where(at.contest == contest, at.account == account)
            return database.execute(asked).first() is not None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _account(row: Any) -> Account:
    return Account(row.id, row.login, row.name, row.is_organiser, row.created)


def _token(row: Any) -> Token:
    scopes = frozenset(row.scopes.split())
    return Token(row.id, row.account, row.name, scopes, row.created, row.last_used, row.revoked)
