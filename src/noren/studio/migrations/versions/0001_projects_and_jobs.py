"""The first tables: projects, jobs, sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table("studio", sa.Column("version", sa.Integer, nullable=False))
    op.execute("INSERT INTO studio (version) VALUES (1)")
    op.create_table(
        "projects",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),  # 12 in the first studios
        sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("sweep", sa.String(12)),
        sa.Column("order", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("done", sa.Float, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("best", sa.Float),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("started", sa.String(32)),
        sa.Column("ended", sa.String(32)),
    )
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index("ix_jobs_project", "jobs", ["project"])
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("until", sa.String(32), nullable=False),
    )
