"""A studio may have users with roles, and keeps a trail of what was done."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the tables; what was done before them is on no trail."""
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
