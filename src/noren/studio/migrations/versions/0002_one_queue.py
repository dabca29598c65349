"""The table of jobs is a queue, and projects have a rule.

What waited waits on, and what ran is taken up with the attempts it had. The tables in which studios kept their jobs a
second time go; where a database is PostgreSQL's they are in a schema of their own, perhaps not for us alone.
"""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_OF_DBOS = (
    "application_versions", "dbos_migrations", "event_dispatch_kv", "notifications", "operation_outputs", "queues",
    "streams", "workflow_events", "workflow_events_history", "workflow_input", "workflow_output", "workflow_schedules",
    "workflow_status",
)  # fmt: skip
_jobs = sa.table("jobs", sa.column("id"), sa.column("created"), sa.column("enqueued"))


def upgrade() -> None:
    """Add the columns, and fill those of jobs that are there."""
    database = op.get_bind()
    # databases that a step of an earlier Noren was cut off in have some already
    _add("projects", sa.Column("rule", sa.Text, nullable=False, server_default="partner"))
    _add("jobs", sa.Column("queue", sa.String(16), nullable=False, server_default=""))
    _add("jobs", sa.Column("most_attempts", sa.Integer, nullable=False, server_default="3"))
    _add("jobs", sa.Column("claimed_by", sa.String(80)))
    _add("jobs", sa.Column("lease_until", sa.Double, nullable=False, server_default="0"))
    _add("jobs", sa.Column("enqueued", sa.Double, nullable=False, server_default="0"))
    op.execute("UPDATE jobs SET queue = CASE WHEN kind = 'run' THEN 'heavy' ELSE 'light' END")
    aged = _jobs.update().where(_jobs.c.id == sa.bindparam("job")).values(enqueued=sa.bindparam("age"))
    ages = [
        {"job": row.id, "age": dt.datetime.fromisoformat(row.created).timestamp()}
        for row in database.execute(sa.select(_jobs.c.id, _jobs.c.created))
    ]
    if ages:
        database.execute(aged, ages)
    if database.dialect.name == "sqlite":
        for name in _OF_DBOS:
            op.drop_table(name, if_exists=True)
    op.execute("UPDATE studio SET version = 2")


def _add(table: str, column: sa.Column[object]) -> None:
    if column.name not in {there["name"] for there in sa.inspect(op.get_bind()).get_columns(table)}:
        op.add_column(table, column)
