"""Secrets in the database, encrypted: the salts of lots and signing keys of contests, and the keys of webhooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from noren.contest.store.sealing import Seal
from noren.contest.store.tables import hooks, sealed
from noren.work.ids import new_id
from noren.work.queue import now

__all__ = ["Hook", "Hooks", "Secrets"]


class Secrets:
    """What a contest knows and tells nobody, by name."""

    def __init__(self, engine: sa.Engine, key: bytes) -> None:
        self._engine, self._seal = engine, Seal(key, "secrets")

    def put_within(self, database: sa.Connection, contest: str, name: str, content: bytes) -> None:
        """Keep a secret as a part of a transaction; it is never changed."""
        kept = self._seal.close(content, f"{contest}/{name}")
        database.execute(sealed.insert().values(contest=contest, name=name, content=kept))

    def get(self, contest: str, name: str, database: sa.Connection | None = None) -> bytes | None:
        """Return a secret, as a part of a transaction where one is given."""
        if database is None:
            with self._engine.connect() as opened:
                return self.get(contest, name, opened)
        at = sealed.c
        asked = sa.select(at.content).where(at.contest == contest, at.name == name)
        kept: bytes | None = database.execute(asked).scalar()
        return None if kept is None else self._seal.open(kept, f"{contest}/{name}")


@dataclass(frozen=True)
class Hook:
    """An address that is told of news, and the secret by which it knows that they are ours."""

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
        """Add an address."""
        hook = Hook(new_id(), contest, url, secret, now(), None)
        with self._engine.begin() as database:
            kept = self._seal.close(secret, hook.id)
            database.execute(hooks.insert().values(**hook.__dict__ | {"secret": kept}))
        return hook

    def of(self, contest: str) -> list[Hook]:
        """Return the addresses of a contest, the oldest first, those that are disabled too."""
        asked = hooks.select().where(hooks.c.contest == contest).order_by(hooks.c.created)
        with self._engine.connect() as database:
            return [self._hook(row) for row in database.execute(asked)]

    def hook(self, hook: str) -> Hook | None:
        """Return an address."""
        with self._engine.connect() as database:
            row = database.execute(hooks.select().where(hooks.c.id == hook)).first()
        return None if row is None else self._hook(row)

    def disable(self, contest: str, hook: str) -> bool:
        """Tell an address no more; tell whether the contest had such a one."""
        asked = hooks.update().where(hooks.c.id == hook, hooks.c.contest == contest, hooks.c.disabled.is_(None))
        with self._engine.begin() as database:
            return database.execute(asked.values(disabled=now())).rowcount == 1

    def _hook(self, row: Any) -> Hook:
        return Hook(row.id, row.contest, row.url, self._seal.open(row.secret, row.id), row.created, row.disabled)
