"""The tables of the arena: logs, accounts, jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "about",
        sa.Column("one", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("clock_offset", sa.Double(), nullable=False),
        sa.Column("key_check", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("one"),
    )
    op.execute("INSERT INTO about (one, clock_offset, key_check) VALUES (1, 0, '')")
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("login", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("is_organiser", sa.Boolean(), nullable=False),
        sa.Column("created", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("login"),
    )
    op.create_table(
        "contests",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("created", sa.String(length=32), nullable=False),
        sa.Column("head_position", sa.Integer(), nullable=False),
        sa.Column("head_digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "rates",
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_rates_until", "rates", ["until"])
    op.create_table(
        "entries",
        sa.Column("contest", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("time", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("actor", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["contest"], ["contests.id"]),
        sa.PrimaryKeyConstraint("contest", "position"),
        sa.UniqueConstraint("contest", "digest", name="uq_entries_digest"),
    )
    op.create_table(
        "hooks",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("contest", sa.String(length=40), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.String(length=32), nullable=False),
        sa.Column("disabled", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["contest"], ["contests.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_hooks_contest", "hooks", ["contest"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("queue", sa.String(length=16), server_default="", nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("most_attempts", sa.Integer(), server_default="3", nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("lease_until", sa.Double(), server_default="0", nullable=False),
        sa.Column("enqueued", sa.Double(), server_default="0", nullable=False),
        sa.Column("started", sa.String(length=32), nullable=True),
        sa.Column("ended", sa.String(length=32), nullable=True),
        sa.Column("contest", sa.String(length=40), nullable=False),
        sa.Column("submission", sa.String(length=12), nullable=True),
        sa.Column("order", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("done", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("notice", sa.Text(), server_default="", nullable=False),
        sa.Column("stages", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["contest"], ["contests.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_jobs_contest", "jobs", ["contest"])
    op.create_index("ix_jobs_ended", "jobs", ["kind", "ended"])
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index("ix_jobs_submission", "jobs", ["submission"])
    op.create_index("ix_jobs_turn", "jobs", ["queue", "state", "enqueued"])
    op.create_table(
        "organisers",
        sa.Column("contest", sa.String(length=40), nullable=False),
        sa.Column("account", sa.String(length=12), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["contest"], ["contests.id"]),
        sa.PrimaryKeyConstraint("contest", "account"),
    )
    op.create_index("ix_organisers_account", "organisers", ["account"])
    op.create_table(
        "sealed",
        sa.Column("contest", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["contest"], ["contests.id"]),
        sa.PrimaryKeyConstraint("contest", "name"),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account", sa.String(length=12), nullable=False),
        sa.Column("until", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index("ix_sessions_account", "sessions", ["account"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account", sa.String(length=12), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.String(length=32), nullable=False),
        sa.Column("last_used", sa.String(length=32), nullable=True),
        sa.Column("revoked", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("ix_tokens_account", "tokens", ["account"])
