"""The tables of the arena, as the code has them; a second step must first write out here what this one makes."""

from alembic import op

from noren.contest.store.tables import about, tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    tables.create_all(op.get_bind())
    op.execute(about.insert().values(one=1, clock_offset=0.0, key_check=""))
