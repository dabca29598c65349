"""The tables of a studio: projects, jobs, sessions, users, and the trail of what was done."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "projects",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False, server_default="partner"),
        sa.Column("archived", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("queue", sa.String(16), nullable=False, server_default=""),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("most_attempts", sa.Integer, nullable=False, server_default="3"),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("lease_until", sa.Double, nullable=False, server_default="0"),
        sa.Column("enqueued", sa.Double, nullable=False, server_default="0"),
        sa.Column("started", sa.String(32)),
        sa.Column("ended", sa.String(32)),
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("sweep", sa.String(12)),
        sa.Column("order", sa.Text, nullable=False),
        sa.Column("done", sa.Float, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("best", sa.Float),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index("ix_jobs_project", "jobs", ["project"])
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("until", sa.String(32), nullable=False),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("login", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32)),
    )
    op.create_table(
        "user_sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("user", sa.String(12), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("until", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(16)),
    )
    op.create_index("ix_user_sessions_user", "user_sessions", ["user"])
    op.create_table(
        "trail",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("actor", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("project", sa.String(12), nullable=False),
    )
    op.create_index("ix_trail_project", "trail", ["project"])
