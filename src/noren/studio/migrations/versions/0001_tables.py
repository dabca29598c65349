"""The tables of a studio, as the code has them; whoever adds a second step writes out here what this one makes."""

from alembic import op

from noren.studio.store import tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    tables.create_all(op.get_bind())
