"""Who added an account; which readers see a project; keys by which an act done twice is one entry of the trail."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what a database of the first step lacks; one that was made just now lacks nothing."""
    there = sa.inspect(op.get_bind())
    accounts = {column["name"] for column in there.get_columns("accounts")}
    if "created_by" not in accounts:
        op.add_column("accounts", sa.Column("created_by", sa.String(64), nullable=False, server_default=""))
    if "key" not in {column["name"] for column in there.get_columns("trail")}:
        op.add_column("trail", sa.Column("key", sa.String(64)))
        op.create_index("trail_key", "trail", ["key"], unique=True)
    if not there.has_table("shares"):
        project = sa.Column(
            "project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
        )
        op.create_table("shares", project, sa.Column("login", sa.String(64), primary_key=True))
