"""Jobs keep the stages of a cluster that did them, and what the organiser should know."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("jobs", sa.Column("notice", sa.Text(), nullable=False, server_default=""))
    op.add_column("jobs", sa.Column("stages", sa.Text(), nullable=False, server_default=""))
