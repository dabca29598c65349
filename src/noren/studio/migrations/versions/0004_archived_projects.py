"""Projects can be archived: kept, and out of the way."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; nothing that is there is archived."""
    op.add_column("projects", sa.Column("archived", sa.Boolean, nullable=False, server_default=sa.false()))
