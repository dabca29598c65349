"""Migrations of a database's tables (Alembic), each step in a file of its own in the package.

All missing steps are one transaction, in SQLite too, and one process at a time runs them: an interrupted process has
changed nothing, and a second one finds the tables up to date. A database at a step that this version of Noren does not
know is left unchanged.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from noren.errors import FileError, reason_of
from noren.tables import Texts
from noren.work.queue import exclusive

say = Texts(__name__)
_OPENING: Final = 7_266_736
"""The number of PostgreSQL's lock under which tables are made and changed."""
_one_at_a_time: Final = threading.Lock()
"""Steps speak to Alembic's ``op``, of which a process has one."""


def migrate(engine: sa.Engine, tables: sa.MetaData, folder: Path, *, version_table: str) -> None:
    """Do the steps that a database lacks.

    ``tables`` are what the steps make, all of them together; the steps lie in ``folder`` as ``versions/0001_….py`` and
    on, and ``version_table`` says which were done.
    """
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    def wrong(message: str, /, **values: object) -> FileError:
        return FileError(say(message, **values), file=str(engine.url))

    try:
        try:
            engine.connect().close()
        except (DBAPIError, sqlite3.Error) as error:
            raise wrong("no_answer", reason=reason_of(getattr(error, "orig", error))) from None
        with _one_at_a_time, exclusive(engine) as database:
            if database.dialect.name == "postgresql":
                database.execute(sa.select(sa.func.pg_advisory_xact_lock(_OPENING)))
            steps = ScriptDirectory(folder)
            context = MigrationContext.configure(database, opts={"version_table": version_table})
            done = context.get_current_revision()
            # tables of ours never take the place of somebody else's
            taken = sorted({*sa.inspect(database).get_table_names()} & {*tables.tables}) if done is None else []
            if taken:
                raise wrong("table_of_others", name=taken[0])
            if done not in {None, *(step.revision for step in steps.walk_revisions())}:
                raise wrong("later_step", step=done)
            with Operations.context(context):
                for step in reversed([*steps.iterate_revisions("head", done or "base")]):
                    step.module.upgrade()
                    context.stamp(steps, step.revision)
    except BaseException:
        engine.dispose()  # a failed open leaves nothing to close
        raise
