"""Errors, their messages and their exit codes.

::

    NorenError                     every error Noren raises on purpose; one line, with its remedy
    ├── InputError                 the input is wrong: exit code 2
    │   ├── FileError              a file that is missing, unreadable, a folder, empty, damaged, too large
    │   ├── FormatError            text that does not follow its format (encoding, ragged rows, NUL bytes)
    │   ├── ValueInCellError       a cell whose value breaks a rule of its column
    │   ├── SchemaError            a schema that contradicts itself or does not fit the data
    │   └── ParameterError         a parameter outside its range, unknown or missing
    │       └── ClusterError       a cluster that is not there, or was lost in the middle of the work
    ├── UnknownNameError           no method, attack, measure, schema or data set of that name: exit code 2
    ├── DuplicateNameError         two components claim one name: exit code 2
    ├── PluginError                a component of another package that cannot be imported: exit code 2
    ├── OutputError                a result that could not be written; nothing is left half-written: exit code 2
    ├── ComponentError             a method, attack or measure that broke down, which it should not: exit code 2
    └── CheckFailedError           a check failed: exit code 1
        └── AuditUnfinishedError   a check that broke down; the release it was about is not lost: exit code 1

A message names file, row, column, value and rule as far as they apply, and ends with the remedy. It is one line: values
are cut to :data:`LONGEST_VALUE` characters, and control characters in values, column names and paths are escaped, so a
hostile file cannot write to the terminal. All cells that break a rule are reported together: one line for each kind of
problem (column and rule), in the order in which they were met, with the number of cells.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren.i18n import _, split_remedy

LONGEST_VALUE = 80
MOST_KINDS = 20
"""How many kinds of problems one message lists."""


def _printable(text: str) -> str:
    """Escape line ends, terminal controls and lone surrogates; the ideographic space stays, Japanese text has it."""
    return "".join(c if c.isprintable() or c == "\u3000" else repr(c)[1:-1] for c in text)


def quoted(value: object) -> str:
    """Return ``value`` as a short, quoted, printable text.

    >>> quoted("a\\x00b")
    "'a\\\\x00b'"
    """
    text = str(value)
    start = f"'{_printable(text[:LONGEST_VALUE])}'"
    if len(text) <= LONGEST_VALUE:
        return start
    return _("{start}… ({length:,} characters)").format(start=start, length=len(text))


def reason_of(error: BaseException) -> str:
    """Return why something failed, in one line: our own message, or the type and the text of the error.

    >>> reason_of(ZeroDivisionError("division\\nby zero"))
    'ZeroDivisionError: division by zero'
    """
    if isinstance(error, NorenError):
        return str(error).partition("\n")[0]
    text = _printable(" ".join(str(error).split())[:200])
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a file: where it is, what it is, the rule it breaks and the cure.

    ``row`` counts from 1, as a text editor does (a header line is row 1); ``None`` where the whole file is meant. Where
    more cells of the column break the rule, this is the first, ``cells`` counts them all, and ``others`` shows some.
    A ``rule`` without a ``cure`` may hold both, as in ``the value is too small; correct it``.
    """

    row: int | None
    column: str | None
    value: str | None
    rule: str
    cure: str = ""
    cells: int = 1
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.cure:
            rule, cure = split_remedy(self.rule)
            object.__setattr__(self, "rule", rule)
            object.__setattr__(self, "cure", cure)

    def sentence(self, file: str | Path | None = None) -> str:
        """Return the problem as one line."""
        where = [] if file is None else [str(file)]
        where += [] if self.row is None else [_("row {row}").format(row=self.row)]
        where += [] if self.column is None else [_("column {column}").format(column=self.column)]
        where += [] if self.value is None else [quoted(self.value)]
        place = ", ".join(where)
        line = f"{place}: {self.rule}" if place else self.rule
        line = f"{line}; {self.cure}" if self.cure else line
        if self.cells == 1:
            return line
        count = _("{count:,} cells").format(count=self.cells)
        if self.others:
            count = _("{cells}, also {values}").format(cells=count, values=", ".join(map(quoted, self.others)))
        return f"{line}; {count}"

    def as_dict(self) -> dict[str, object]:
        """Return the problem as plain data, for ``--json``."""
        return {"row": self.row, "column": self.column, "value": self.value, "rule": self.rule, "cure": self.cure}


def sentences(problems: Sequence[Problem], file: str | Path | None = None) -> str:
    """Return every kind of problem in a file, a line for each."""
    lines = [problems[0].sentence(file), *(problem.sentence() for problem in problems[1:MOST_KINDS])]
    if len(problems) > MOST_KINDS:
        lines.append(_("and {count:,} more kinds of problems").format(count=len(problems) - MOST_KINDS))
    return "\n  ".join(map(_printable, lines))


class NorenError(Exception):
    """Any error that Noren raises on purpose."""

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        self.message = message
        """The message before escaping; it may be translated again (:func:`noren.i18n.retranslate`)."""
        super().__init__(_printable(message))


class InputError(NorenError):
    """The input is wrong; built from the place and a :class:`Problem`."""

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
        self.problems: tuple[Problem, ...] = (self.problem,)
        super().__init__(self.problem.sentence(file))


class FileError(InputError):
    """A file that is missing, unreadable, a folder, empty, damaged or too large."""


class FormatError(InputError):
    """Text that does not follow its format."""


class ValueInCellError(InputError):
    """A cell whose value breaks a rule of its column; :attr:`problems` are all kinds that were found, in order."""

    @classmethod
    def of(cls, problems: Sequence[Problem], file: str | Path | None = None) -> "ValueInCellError":
        """Return one error that tells of every kind of problem in a file, a line for each."""
        first = problems[0]
        error = cls(first.rule, first.cure, file=file, row=first.row, column=first.column, value=first.value)
        error.problem, error.problems = first, tuple(problems)
        error.args = (sentences(problems, file),)
        return error


class SchemaError(InputError):
    """A schema that contradicts itself or does not fit the data."""


class ParameterError(InputError):
    """A parameter outside its range, unknown or missing."""

    @classmethod
    def out_of_range(cls, name: str, value: object, allowed: str) -> "ParameterError":
        """Return the error for a value outside the range ``allowed``.

        >>> str(ParameterError.out_of_range("alpha", 2, "0 < alpha < 1"))
        'alpha = 2 is out of range; use 0 < alpha < 1'
        """
        return cls(_("{name} = {value} is out of range; use {range}").format(name=name, value=value, range=allowed))


class ClusterError(ParameterError):
    """A cluster that is not there, or was lost in the middle of the work; the same work may be done elsewhere."""


class UnknownNameError(NorenError):
    """No component, schema or data set has that name."""


class DuplicateNameError(NorenError):
    """Two components claim one name."""


class PluginError(NorenError):
    """A component of another package that cannot be imported."""


class OutputError(NorenError):
    """A result that could not be written."""


class CheckFailedError(NorenError):
    """A check failed."""

    exit_code = 1


class ComponentError(NorenError):
    """A method, attack or measure that broke down.

    >>> str(ComponentError("rfm", ZeroDivisionError()))
    'rfm failed (ZeroDivisionError); leave it out, or run again with --debug and report it'
    """

    def __init__(self, name: str, error: BaseException) -> None:
        message = _("{name} failed ({reason}); leave it out, or run again with --debug and report it")
        super().__init__(message.format(name=name, reason=reason_of(error)))


class AuditUnfinishedError(CheckFailedError):
    """An audit that broke down; ``release`` is the audited release, whose statement says that the audit did not finish.

    The release is complete and may be kept, but must not be published before ``classes`` has judged it.
    """

    def __init__(self, release: Any, error: BaseException) -> None:
        self.release = release
        super().__init__(
            _(
                "the audit of the release did not finish ({reason}); do not publish the release before noren measure "
                "--measures classes confirms its claim"
            ).format(reason=reason_of(error))
        )


# --- names in messages -----------------------------------------------------------------------------------------------


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` for the nearest known name, or nothing.

    >>> suggestion("jacard", ["jaccard", "s1"])
    ' (did you mean jaccard?)'
    """
    near = difflib.get_close_matches(name[:200], list(known), n=1, cutoff=0.5)
    return _(" (did you mean {name}?)").format(name=near[0]) if near else ""


def listing(names: Sequence[str], most: int = 20) -> str:
    """Return the first names, comma-separated, and how many more there are.

    >>> listing(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    first, more = ", ".join(names[:most]), len(names) - most
    return _("{names} and {count:,} more").format(names=first, count=more) if more > 0 else first
