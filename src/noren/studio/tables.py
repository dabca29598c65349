"""The tables of a studio that are about people: who they are, who is logged in, and the trail of what they did.

A change here needs a step in ``migrations/versions``; a test compares them.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["tables", "trail", "user_sessions", "users"]

tables = sa.MetaData()

users = sa.Table(
    "users",
    tables,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("login", sa.String(64), nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("revoked", sa.String(32)),
)
user_sessions = sa.Table(
    "user_sessions",
    tables,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user", sa.String(12), sa.ForeignKey("users.id"), nullable=False, index=True),
    sa.Column("until", sa.String(32), nullable=False),
    sa.Column("ended", sa.String(16)),
)
trail = sa.Table(
    "trail",
    tables,
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("project", sa.String(12), nullable=False, index=True),
)
"""``project`` repeats what the body says, to be found by; the digest is of the entry alone."""
