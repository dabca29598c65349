"""The tables of the arena.

The log (``contests``, ``entries``) is the truth of a contest; what else is here is not of a contest alone: who may do
something (accounts, sessions, tokens), what is to be done (jobs), and what several servers must agree on
(rates, the moved clock). A change here needs a step in ``migrations/versions``; a test compares them.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from noren.web.accounts import account_tables, token_tables
from noren.work.queue import queue_columns

tables = sa.MetaData()


def _contest(**more: Any) -> sa.Column[Any]:
    return sa.Column("contest", sa.String(40), sa.ForeignKey("contests.id"), nullable=False, **more)


contests = sa.Table(
    "contests",
    tables,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("head_position", sa.Integer, nullable=False),
    sa.Column("head_digest", sa.String(64), nullable=False),
)
entries = sa.Table(
    "entries",
    tables,
    _contest(primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.UniqueConstraint("contest", "digest", name="uq_entries_digest"),
)
accounts, sessions = account_tables(tables)
tokens, rates = token_tables(tables)
jobs = sa.Table(
    "jobs",
    tables,
    *queue_columns(),
    _contest(index=True),
    sa.Column("submission", sa.String(12), index=True),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("done", sa.Double, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("notice", sa.Text, nullable=False, server_default=""),
    sa.Column("stages", sa.Text, nullable=False, server_default=""),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Index("ix_jobs_turn", "queue", "state", "enqueued"),
    sa.Index("ix_jobs_ended", "kind", "ended"),
)
about = sa.Table(
    "about",
    tables,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("clock_offset", sa.Double, nullable=False),
    sa.Column("key_check", sa.String(64), nullable=False),
)
sealed = sa.Table(
    "sealed",
    tables,
    _contest(primary_key=True),
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
hooks = sa.Table(
    "hooks",
    tables,
    sa.Column("id", sa.String(12), primary_key=True),
    _contest(index=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("disabled", sa.String(32)),
)
