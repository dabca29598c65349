"""Who added an account."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what a database of the first step lacks; one that was made just now lacks nothing."""
    accounts = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("accounts")}
    if "created_by" not in accounts:
        op.add_column("accounts", sa.Column("created_by", sa.String(64), nullable=False, server_default=""))
