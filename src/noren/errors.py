"""Everything that can go wrong, in one tree.

::

    NorenError                     every error Noren raises on purpose; one line, with its cure
    ├── InputError                 what came in is wrong: exit code 2
    │   ├── FileError              a file that is missing, unreadable, a folder, empty, damaged, too large
    │   ├── FormatError            text that does not follow its format (encoding, ragged rows, NUL bytes)
    │   ├── ValueInCellError       a cell whose value breaks a rule of its column
    │   ├── SchemaError            a schema that contradicts itself or does not fit the data
    │   └── ParameterError         a parameter outside its range, unknown or missing
    ├── UnknownNameError           no method, attack, measure, schema or data set of that name: exit code 2
    ├── DuplicateNameError         two components claim one name: exit code 2
    ├── OutputError                a result that could not be written; nothing is left half-written: exit code 2
    └── CheckFailedError           a check said no: exit code 1

A message names file, row, column, value and rule as far as they apply, and ends with the cure. It is one line: values
are cut to :data:`LONGEST_VALUE` characters, and control characters in values, column names and paths are escaped, so a
hostile file cannot write to the terminal.
"""

from dataclasses import dataclass
from pathlib import Path

from noren.i18n import _

__all__ = [
    "LONGEST_VALUE",
    "CheckFailedError",
    "DuplicateNameError",
    "FileError",
    "FormatError",
    "InputError",
    "NorenError",
    "OutputError",
    "ParameterError",
    "Problem",
    "SchemaError",
    "UnknownNameError",
    "ValueInCellError",
    "shown",
]

LONGEST_VALUE = 80


def _printable(text: str) -> str:
    """Escape line ends, terminal controls and lone surrogates; the ideographic space stays, Japanese text has it."""
    return "".join(c if c.isprintable() or c == "\u3000" else repr(c)[1:-1] for c in text)


def shown(value: object) -> str:
    """Return ``value`` as a short, quoted, printable text.

    >>> shown("a\\x00b")
    "'a\\\\x00b'"
    """
    text = str(value)
    cut = text[:LONGEST_VALUE]
    quoted = f"'{_printable(cut)}'"
    return (
        quoted
        if len(text) <= LONGEST_VALUE
        else _("{start}… ({length:,} characters)").format(start=quoted, length=len(text))
    )


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a file: where it is, what it is, the rule it breaks and the cure.

    ``row`` counts from 1, as a text editor does (a header line is row 1); ``None`` where the whole file is meant.
    """

    row: int | None
    column: str | None
    value: str | None
    rule: str
    cure: str

    def sentence(self, file: str | Path | None = None) -> str:
        """Return the problem as one line."""
        where = []
        if file is not None:
            where.append(str(file))
        if self.row is not None:
            where.append(_("row {row}").format(row=self.row))
        if self.column is not None:
            where.append(_("column {column}").format(column=self.column))
        if self.value is not None:
            where.append(shown(self.value))
        place = ", ".join(where)
        said = f"{place}: {self.rule}" if place else self.rule
        return f"{said}; {self.cure}" if self.cure else said

    def as_dict(self) -> dict[str, object]:
        """Return the problem as plain data, for ``--json``."""
        return {"row": self.row, "column": self.column, "value": self.value, "rule": self.rule, "cure": self.cure}


class NorenError(Exception):
    """Any error that Noren raises on purpose."""

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        super().__init__(_printable(message))


class InputError(NorenError):
    """What came in is wrong; built from the place and a :class:`Problem`."""

    def __init__(
        self,
        rule: str,
        cure: str = "",
        *,
        file: str | Path | None = None,
        row: int | None = None,
        column: str | None = None,
        value: object | None = None,
    ) -> None:
        self.file = file
        self.problem = Problem(row, column, None if value is None else str(value), rule, cure)
        super().__init__(self.problem.sentence(file))


class FileError(InputError):
    """A file that is missing, unreadable, a folder, empty, damaged or too large."""


class FormatError(InputError):
    """Text that does not follow its format."""


class ValueInCellError(InputError):
    """A cell whose value breaks a rule of its column."""


class SchemaError(InputError):
    """A schema that contradicts itself or does not fit the data."""


class ParameterError(InputError):
    """A parameter outside its range, unknown or missing."""


class UnknownNameError(NorenError):
    """No component, schema or data set has that name."""


class DuplicateNameError(NorenError):
    """Two components claim one name."""


class OutputError(NorenError):
    """A result that could not be written."""


class CheckFailedError(NorenError):
    """A check said no."""

    exit_code = 1
