"""The people of the arena, and who organises which contest."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from noren.contest.store.tables import organisers
from noren.web.accounts import Account as AnyAccount
from noren.web.accounts import Accounts as AnyAccounts

SCOPES: Final = ("read", "team", "organiser")
"""What a token may be for: to look, to play in one's team, to organise."""
_PERSON, _ORGANISER = "person", "organiser"


class Account(AnyAccount):
    """A person of the arena."""

    @property
    def is_organiser(self) -> bool:
        """Whether she may create contests."""
        return self.role == _ORGANISER


class Accounts(AnyAccounts[Account]):
    """The people that the arena knows."""

    kind = Account

    def add(self, login: str, name: str, password: str, *, is_organiser: bool = False) -> Account:
        """Add a person."""
        return self.add_account(login, name, password, _ORGANISER if is_organiser else _PERSON)


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
