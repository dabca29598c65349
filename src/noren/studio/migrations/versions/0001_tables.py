"""The tables of a studio, as the code has them; later steps add to older databases what these lack."""

from alembic import op

from noren.studio.store import tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    tables.create_all(op.get_bind())
