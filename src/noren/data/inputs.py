"""What somebody hands to a function: data, a release or public rows, of any make.

Records stay as they are. Data frames of any make, Arrow tables and columns by name are typed by a schema; a path is
read as ``noren`` reads it on the command line.

:func:`check_contest` brings any of these to the contests' checkers, which read files.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from noren.data.checks import check_guess, check_release
from noren.data.checks.report import Report
from noren.data.contest_files import published, write_guess, write_rows
from noren.data.frames import History, Records, Table, frame_of, index_names, missing_column
from noren.data.guessing import Question
from noren.data.guessing.schema_guess import guess_columns
from noren.data.reading import read, read_public, read_release
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Schema
from noren.errors import ParameterError, SchemaError, shown
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

_SEEDS = 2**64


def checked_seed(seed: Any) -> int:
    """Return ``seed`` as a plain whole number; anything else is said in one line.

    >>> checked_seed(7)
    7
    """
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is not None and number < 0:
        raise ParameterError(*say.problem("seed_negative", seed=shown(seed)[1:-1]))
    if number is None or number >= _SEEDS:
        raise ParameterError(*say.problem("no_seed", seed=shown(seed)))
    return number


def as_records(data: Any, schema: Schema | str | Path | None = None) -> Records:
    """Return ``data`` as records, typed by ``schema``: a schema, a preset's name or a TOML file.

    Left out, the schema is guessed. A guess that could go either way (3/4/2011, or purchases of which no column looks
    like the customer) is not taken: :class:`~noren.errors.SchemaError` says what is asked.

    >>> as_records({"age": [31, 44], "city": ["Kyoto", "Nara"]})
    Table(rows=2, schema='custom', columns='age, city')
    """
    if isinstance(data, Records):
        return data
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.load(schema)
    if isinstance(data, str | PathLike):
        path = Path(data)
        return read(path, schema, stop_at=lambda questions: _stop_at_questions(questions, path)).data
    frame = frame_of(data)
    if schema is None:
        guess = guess_columns(frame)
        _stop_at_questions(guess.questions)
        schema = guess.schema
    _stop_at_other_columns(frame.columns, schema, index_names(data))
    return History.of(frame, schema) if schema.kind == Kind.HISTORY else Table.of(frame, schema)


def _stop_at_questions(questions: Sequence[Question], file: Path | None = None) -> None:
    """Stop where a guess could go either way: on the command line the question is said, and here nobody hears it."""
    # a column that may identify people is left out, asked about or not
    asked = [question for question in questions if question.about != "role"]
    if asked:
        raise SchemaError(
            str(asked[0]), _("give a schema that says it (schema=…); noren schema guess writes a first one"), file=file
        )


def _stop_at_other_columns(names: Sequence[str], schema: Schema, index: Sequence[str]) -> None:
    """Stop where data lack a column, or a table has one that nobody described, as files do."""
    for name in schema.names:
        if name not in names:
            raise missing_column(name, names, index)
    if schema.kind == Kind.TABLE:
        for name in names:
            if name not in schema.names:
                raise SchemaError(*say.problem("column_not_in_schema", schema=schema.name), column=name)


def opened(release: Any) -> Any:
    """Return the release in a folder, and anything else as it is."""
    if isinstance(release, str | PathLike) and Path(release).is_dir():
        return Release.load(Path(release))
    return release


def as_public(release: Any, original: Records) -> Records:
    """Return what an attacker sees: a release's public part, public rows, or what a folder, file or frame shows."""
    if isinstance(release, Release):
        return release.public
    if isinstance(release, Records):
        return release
    if isinstance(release, str | PathLike):
        return read_public(Path(release), original)
    return _released_rows(release, original)


def as_release(release: Any, original: Records) -> Release:
    """Return a release; rows in the original's order are one that says nothing of how it was made."""
    if isinstance(release, Release):
        return release
    if isinstance(release, str | PathLike):
        return read_release(Path(release), original)
    aligned = release if isinstance(release, Records) else _released_rows(release, original)
    return Release.of_aligned(original, aligned, Statement(method="unknown"), scan=False)


def _released_rows(data: Any, original: Records) -> Records:
    """Return a frame of released rows; a table may lack columns of the original, as identifiers are dropped."""
    frame, schema = frame_of(data), original.schema
    if isinstance(original, History):
        _stop_at_other_columns(frame.columns, schema, index_names(data))
        return History.of_release(frame, schema)
    kept = schema.without([name for name in schema.names if name not in frame.columns])
    _stop_at_other_columns(frame.columns, kept, ())
    return Table.of_release(frame, kept)


def check_contest(original: Any, release: Any, guess: Any, schema: str, limit: int) -> Report:
    """Check a guess (a path or a frame of pairs) where there is one, else a release in the original's order.

    Paths are checked as they are; the rest is written to a folder that goes away with the check.
    """
    if all(one is None or isinstance(one, str | PathLike) for one in (original, release, guess)):
        file = None if release is None else Path(release)
        if guess is not None:
            return check_guess(schema, Path(original), Path(guess), published=file, limit=limit)
        if file is None:
            raise ParameterError(*say.problem("nothing_to_check"))
        return check_release(schema, Path(original), file, limit=limit)
    rows = as_records(original, schema)

    def written(given: Any, made: Callable[[], Records], name: str) -> Any:
        if given is None or isinstance(given, str | PathLike):
            return given
        history = made()
        if not isinstance(history, History):
            raise ParameterError(*say.problem("table_no_official_text"))
        write_rows(history, Path(folder, name))
        return Path(folder, name)

    def public() -> Records:
        seen = as_public(release, rows)
        return published(seen) if isinstance(seen, History) else seen

    if not isinstance(rows, History):
        raise ParameterError(*say.problem("table_no_official_text"))
    with TemporaryDirectory(prefix="noren-") as folder:
        first = written(original, lambda: rows, "T.csv")
        if guess is None:
            return check_contest(
                first, written(release, lambda: as_release(release, rows).aligned(), "A.csv"), None, schema, limit
            )
        second = written(release, public, "public.csv")
        if not isinstance(guess, str | PathLike):
            seen = rows if release is None else as_public(release, rows)
            guess = write_guess(guess, Path(folder, "guess.csv"), rows, seen)
        return check_contest(first, second, guess, schema, limit)
