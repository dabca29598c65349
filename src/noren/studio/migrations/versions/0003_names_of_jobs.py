"""Names of jobs are as wide as those of any queue. SQLite holds no text to its width: nothing is to be done there."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Widen the column."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("jobs", "id", existing_type=sa.String(12), type_=sa.String(32), existing_nullable=False)
