"""How commands are declared, and how their results are printed.

A command is a function that returns an :class:`Output`: plain data for ``--json``, and lines, tables and notes for
people. :class:`App` registers it in a wrapper, which declares ``--json``, prints one of the two and sets the exit code.
The texts of its help page are in the TOML file beside its module, under the name of the function: ``help`` and
``example`` (not translated) of the command, and the help of each option under its parameter's name.
While the command runs, its inputs cannot be overwritten (:func:`guarded`). Components that fail while the others go on
are recorded (:class:`Failures`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from noren.cli import interrupts_to
from noren.cli.parts.help_pages import LocalizedCommand
from noren.errors import ComponentError, InputError, NorenError, OutputError, ParameterError, reason_of
from noren.i18n import _
from noren.progress import Progress, Stoppable, silent
from noren.progress import progress_bar as visible_bar
from noren.tables import Texts, table_of

_messages = Texts("noren.cli.parts.messages")
wording = Texts("noren.cli.parts.sentences")
"""What commands print, by name."""
SECONDS_BETWEEN_LINES = 10.0
"""Between two lines of progress, where standard error is no terminal."""
Json = Annotated[bool, typer.Option("--json", help=_("Print one JSON object and nothing else."))]


class _Situation:
    """Global flags of this run of the command line, and whether Ctrl-C was pressed."""

    debug = False
    json = False
    """Whether one JSON object is printed and nothing else: no progress, no notes."""
    interrupts: Sequence[int] = ()


situation = _Situation()


@dataclass(frozen=True)
class TextTable:
    """A table on standard output; columns of numbers are aligned right."""

    headings: Sequence[str]
    rows: Iterable[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Note:
    """A line that is not part of the result: it goes to standard error."""

    text: str


Part = str | TextTable | Note
"""A line on standard output, a table there, or a note."""


@dataclass(frozen=True)
class Output:
    """The result of a command.

    Attributes
    ----------
    data
        The result as plain data, for ``--json``.
    parts
        The result for people, in order. A generator runs only if its parts are printed.
    exit_code
        0 success, 1 a check or a part failed, 2 bad input.
    remarks
        Lines for standard error after the result, with ``--json`` too: the reasons for the exit code.
    """

    data: Any
    parts: Iterable[Part] = ()
    exit_code: int = 0
    remarks: Sequence[str] = ()

    def show(self) -> None:
        """Print the data with ``--json``, else the parts."""
        if situation.json:
            sys.stdout.write(json.dumps(_finite(self.data), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
        else:
            show(self.parts)
        say(*self.remarks)


def show(parts: Iterable[Part]) -> None:
    """Print lines, tables and notes in order."""
    for part in parts:
        match part:
            case TextTable():
                _show_table(part)
            case Note(text):
                say(text)
            case _:
                sys.stdout.write(f"{part}\n")  # in one piece: a reader may leave after it


def _show_table(content: TextTable) -> None:
    """Print a table; columns of numbers are aligned right."""
    from rich import table as rich_table
    from rich.console import Console
    from rich.text import Text

    title, rows = content.title, [list(row) for row in content.rows]
    table = rich_table.Table(title=Text(title) if title else None, title_justify="left", header_style="bold")
    for i, heading in enumerate(content.headings):
        cells = [row[i].replace(",", "").replace(".", "", 1).removeprefix("-") for row in rows if row[i]]
        numeric = bool(rows) and all(cell.isdigit() for cell in cells)
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _finite(content: Any) -> Any:
    """Return plain data with null for numbers that JSON cannot express.

    >>> _finite({"a": [1.5, float("nan")], "b": {"c": float("inf")}})
    {'a': [1.5, None], 'b': {'c': None}}
    """
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content


def refusal(
    name: str, kind: type[InputError] = ParameterError, /, *, file: Path | None = None, **values: object
) -> InputError:
    """Return the error whose message is in ``messages.toml`` under this name."""
    return kind(_messages(name, **values), file=file)


def say(*lines: str) -> None:
    """Print lines that are not part of the result to standard error."""
    with contextlib.suppress(OSError):  # a full or closed stderr is no reason to lose the result
        for line in lines:
            print(line, file=sys.stderr)


@contextlib.contextmanager
def progress_bar(title: str = "") -> Iterator[Progress]:
    """Show the progress of long work: a bar in a terminal, elsewhere a line about every ten seconds."""
    shown = visible_bar if sys.stderr.isatty() else _progress_lines
    with contextlib.nullcontext(silent) if situation.json else shown(title) as progress:
        yield progress


@contextlib.contextmanager
def _progress_lines(title: str) -> Iterator[Progress]:
    """Print how far the work is to standard error, also while it reports nothing; work of a few seconds prints none."""
    reached, begin, ended = [(0.0, "")], time.monotonic(), threading.Event()

    def report(done: float, words: str = "", best: float | None = None) -> None:
        reached[0] = done, words

    def print_lines() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            done, words = reached[0]
            elapsed = timedelta(seconds=round(time.monotonic() - begin))
            say("  ".join(filter(None, (title, f"{done:.0%}", str(elapsed), words))))

    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def stoppable_bar() -> Iterator[Progress]:
    """Show the progress of a search; Ctrl-C ends it with the best result so far, a second Ctrl-C aborts it."""
    before = signal.getsignal(signal.SIGINT)
    with progress_bar() as update_bar:

        def report(done: float, words: str = "", best: float | None = None) -> None:
            update_bar(done, words, best)
            if search.stop_requested and not search.raised and best is not None:
                say(_("stopping with the best so far ({best}); Ctrl-C again aborts").format(best=number(best)))

        def pressed(which: int, frame: FrameType | None) -> None:
            if search.best is not None and not search.stop_requested:
                search.stop()  # takes effect at the next report, between two units of work
                return
            try:
                before(which, frame) if callable(before) else signal.default_int_handler(which, frame)
            except KeyboardInterrupt:  # a search would take it as a request to stop with the best
                raise SystemExit(130) from None

        search = Stoppable(report)
        with interrupts_to(pressed):
            yield search


def number(value: float) -> str:
    """Format a number: at most four decimals, none for whole numbers."""
    if not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4f}"


# --- commands for typer ----------------------------------------------------------------------------------------------


def _help_texts(declared: Callable[..., Any]) -> Mapping[str, str]:
    """Return the help texts of a command or a class of options, from the TOML file beside its module."""
    try:
        texts: Mapping[str, str] = table_of(declared.__module__).get(declared.__name__, {})
    except FileNotFoundError:
        return {}
    return texts


@functools.cache  # several commands have the options of one class, and annotations take long to evaluate
def _signature_with_help(declared: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a command or of a class of options, its parameters with their help."""
    texts = _help_texts(declared)
    signature = inspect.signature(declared, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name in texts:
            plain = get_origin(parameter.annotation) is not Annotated
            kind, details = (parameter.annotation, typer.Option()) if plain else get_args(parameter.annotation)
            details.help = _(texts[parameter.name])
            parameter = parameter.replace(annotation=Annotated[kind, details])
        parameters.append(parameter)
    return signature.replace(parameters=parameters)


def _printing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command for typer: it prints the :class:`Output` of ``function`` and leaves with its exit code.

    ``--json`` is added where the function returns an output. A parameter whose type is a dataclass stands for the
    options that are the fields of that class.
    """
    signature = _signature_with_help(function)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in signature.parameters.values():
        if inspect.isclass(parameter.annotation) and dataclasses.is_dataclass(parameter.annotation):
            fields = _signature_with_help(parameter.annotation).parameters
            groups[parameter.name] = (parameter.annotation, list(fields))
            parameters += fields.values()
        else:
            parameters.append(parameter)
    if signature.return_annotation in (Output, Output | None):
        parameters.append(inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))

    @functools.wraps(function)
    def command(**values: Any) -> None:
        if "as_json" not in signature.parameters:
            situation.json = values.pop("as_json", False)
        for name, (options, fields) in groups.items():
            values[name] = options(**{field: values.pop(field) for field in fields})
        output = function(**values)
        if isinstance(output, Output):
            output.show()
            if output.exit_code:
                raise typer.Exit(output.exit_code)

    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = signature.replace(parameters=keyword)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in keyword}
    return command


# --- registering -----------------------------------------------------------------------------------------------------


class _Command(LocalizedCommand, TyperCommand):
    def invoke(self, ctx: Any) -> Any:
        with guarded(ctx.command_path.partition(" ")[2], ctx.params, ctx.args):
            return super().invoke(ctx)


class _Group(LocalizedCommand, TyperGroup):
    pass


class App(typer.Typer):
    """A group of commands whose help pages are in the user's language."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, **settings)

    def command(
        self, *args: Any, component_flags: bool = False, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command, as typer does; what its function returns is printed.

        With ``component_flags`` it takes the parameters of methods, attacks or measures as flags.
        """
        if component_flags:
            settings["context_settings"] = {"allow_extra_args": True, "ignore_unknown_options": True}
        return _adding(functools.partial(super().command, *args, cls=_Command), settings)

    def callback(self, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Set the command of the group itself, as typer does; what its function returns is printed."""
        return _adding(functools.partial(super().callback, cls=_Group), settings)

    def group(self, name: str, *, help: str, **settings: Any) -> App:  # noqa: A002 - typer's word
        """Add a group of commands below this one."""
        commands = App(**settings)
        self.add_typer(commands, name=name, help=help)
        return commands


def _adding(
    register: Callable[..., Any], settings: dict[str, Any]
) -> Callable[[CommandFunctionType], CommandFunctionType]:
    def add(function: CommandFunctionType) -> CommandFunctionType:
        texts = _help_texts(function)
        summary, example = texts.get("help"), texts.get("example")
        page = {"help": _(summary)} if summary else {}
        page |= {"epilog": wording("example", command=example)} if example else {}
        register(**page | settings)(_printing(function))
        return function

    return add


app = App(
    name="noren",
    help=_("Protect purchase histories and personal data, attack the result, and measure its safety and utility."),
    epilog=_("Start with: noren demo --out demo/"),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""All of ``noren``: each module adds its commands, and :mod:`noren.cli.app` imports the modules."""


# --- paths -----------------------------------------------------------------------------------------------------------
#
# A path option is an input unless it is listed here, so a forgotten one is protected rather than overwritten. A test
# checks that every path option of every command is in one of these lists.

WRITTEN = frozenset({"out", "target", "page", "cells", "chart"})
"""Names of options and arguments that a command writes to."""
WORKED_IN = frozenset({"ledger", "cache", "data_dir"})
"""Folders that Noren manages: it reads them and adds to them."""
READ = frozenset(
    {
        *("original", "release", "releases", "source", "file", "names", "known", "guess", "sweep", "chain", "master"),
        *("control", "table", "categories", "against", "phases", "files", "data", "facts", "scores"),
        *("totals", "folder"),
    }
)
"""Inputs, which are never overwritten."""
_ALSO_WRITTEN = frozenset({("sample", "master")})


def is_written(command: str, name: str) -> bool:
    """Tell whether a command, such as ``ledger add``, writes to the path of this name."""
    return name in WRITTEN or (command, name) in _ALSO_WRITTEN


@contextlib.contextmanager
def guarded(command: str, options: Mapping[str, Any], words: Sequence[str] = ()) -> Iterator[None]:
    """Protect the inputs of a command while it runs; fail if it would overwrite one or write through a link.

    Parameters
    ----------
    options
        Its options and arguments by name.
    words
        Parameters of methods, which may name files.
    """
    from noren.data.formats.files import protect_inputs, require_writable

    read: list[Path] = []
    written: dict[Path, str] = {}
    for name, value in options.items():
        for path in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(path, Path):
                continue
            if is_written(command, name):
                if path in written:
                    twice = [flag.upper() if flag == "target" else f"--{flag}" for flag in (written[path], name)]
                    raise OutputError(wording("twice", path=path, flags=", ".join(twice)))
                written[path] = name
            elif name not in WORKED_IN:
                read.append(path)
    texts = [value for value in (*options.values(), *words) if isinstance(value, str)]
    parts = [part for text in texts for word in (text, text.rpartition("=")[2]) for part in (word, *word.split(","))]
    for part in parts:
        with contextlib.suppress(OSError, ValueError):
            read += [Path(part)] if Path(part).is_file() else []
    with protect_inputs(read):
        for path in written:
            if path.is_symlink() or not path.is_dir():
                require_writable(path)
        yield


class Failures:
    """Components that failed while the others went on, by name, with the reason; they set the exit code to 1.

    One failing measure must not cost the results of the others. If only one component was requested, there are no
    others, so its error is raised.

    Parameters
    ----------
    alone
        Whether only one component was requested, by its name.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self._alone = alone
        self.reasons: dict[str, str] = {}

    def note(self, name: str, error: Exception) -> None:
        """Record why the component ``name`` failed."""
        # --debug shows the traceback; after Ctrl-C a library's own error is no failure
        if situation.debug or situation.interrupts:
            raise error
        if self._alone:
            raise error if isinstance(error, NorenError) else ComponentError(name, error) from error
        self.add(name, reason_of(error))

    def add(self, name: str, reason: str) -> None:
        """Record a failure and print it."""
        self.reasons[name] = reason
        say(_("{name} failed: {reason}").format(name=name, reason=reason))

    @property
    def exit_code(self) -> int:
        """1 if something failed, else 0."""
        return 1 if self.reasons else 0
