"""The command line ``noren``.

:func:`main` chooses the language, runs the command and turns every error into one line and an exit code: 0 success,
1 a check or a part failed, 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from noren.i18n import LANGUAGES, _, activate, active_language, preferred_language

__all__ = ["interrupts_to", "main", "run"]

_OF_SERVERS = frozenset(
    {"alembic", "argon2", "cryptography", "fastapi", "fsspec", "httpx", "multipart", "psycopg", "sqlalchemy", "uvicorn"}
)
"""Packages that come with the extras ``studio`` and ``arena``."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    code = run(sys.argv[1:] if arguments is None else arguments)
    blocks = sys.modules.get("noren.engines.blocks")
    if blocks is not None and blocks.abandoned():  # compiled work still goes on, and an orderly end would wait for it
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line on ``arguments`` and return its exit code."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    with interrupts_to(note):
        try:
            code = _answer(arguments, seen)
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                _print_nowhere()
            except OSError as error:  # a result that could not be printed is a failure
                _print_error(_system_error_message(error))
                code = 2
        except BaseException as error:
            # a library may turn Ctrl-C into an error of its own, so the recorded signal decides
            if not (seen or isinstance(error, KeyboardInterrupt)):
                raise
            code = 130
    if code == 130:
        _print_error(_("interrupted; no partial file was left"))
    return code


def _print_nowhere() -> None:
    """Redirect stdout to the null device, so that closing it raises no error."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def interrupts_to(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Send Ctrl-C to ``handler`` within; in the main thread, the only one that gets it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _answer(arguments: Sequence[str], interrupts: Sequence[int]) -> int:
    words, language, debug = _global_flags(arguments)
    if language is not None and language not in LANGUAGES:
        activate(preferred_language())
        _print_error(_("--lang {language} is not supported; use en or ja").format(language=language))
        return 2
    activate(preferred_language(language))

    import typer

    from noren.cli.parts.commands import situation, wording
    from noren.cli.parts.help_pages import usage_sentence
    from noren.errors import NorenError

    situation.debug, situation.json, situation.interrupts = debug, False, interrupts
    usage_error = typer.BadParameter.__mro__[1]  # click's UsageError, wherever typer keeps click
    commands = _commands(active_language())

    try:
        answer = commands.main(args=words, prog_name="noren", standalone_mode=False)
    except NorenError as error:
        if debug or interrupts:
            raise
        _print_error(str(error))
        return error.exit_code
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.Abort:
        return 130
    except BrokenPipeError:
        _print_nowhere()  # the reader of our output closed the pipe
        return 0
    except Exception as error:
        if isinstance(error, usage_error):
            context = getattr(error, "ctx", None)
            place = context.command_path if context else "noren"
            message = usage_sentence(error.format_message())  # type: ignore[attr-defined]
            if message:  # empty if the help page was printed
                _print_error(_("{message} Try {command} --help.").format(message=message, command=place))
            return 2
        if debug or interrupts:
            raise
        if isinstance(error, OSError | MemoryError):
            _print_error(_system_error_message(error))
            return 2
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _OF_SERVERS:
            extra = "arena" if words[:1] == ["contest"] else "studio"
            _print_error(wording("not_installed", package=error.name, extra=extra))
            return 2
        message = " ".join(str(error).split())[:200]
        _print_error(wording("internal_error", kind=type(error).__name__, message=message))
        return 70
    # typer answers Ctrl-C with 130
    return answer if isinstance(answer, int) else 0


@functools.cache
def _commands(language: str) -> Any:
    """Return all commands with their help in the active language; cached, because building them is slow."""
    import typer

    from noren.cli.app import app

    return typer.main.get_command(app)


def _system_error_message(error: OSError | MemoryError) -> str:
    """Return a one-line message for an error of the system: disk, device, permission, memory."""
    if isinstance(error, MemoryError):
        return _("not enough memory; use fewer rows or a larger machine")
    reason = error.strerror or type(error).__name__
    if error.filename is None:
        _print_nowhere()
        return _("the result could not be printed ({reason}); redirect it elsewhere").format(reason=reason)
    message = _("{path}: {reason}; check the path, the disk and your permissions")
    return message.format(path=error.filename, reason=reason)


def _global_flags(arguments: Sequence[str]) -> tuple[list[str], str | None, bool]:
    """Return the arguments without ``--lang`` and ``--debug``, which can be anywhere, and their values."""
    words: list[str] = []
    language: str | None = None
    debug = False
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            words += [word, *rest]
        elif word == "--debug":
            debug = True
        elif word == "--lang":
            language = next(rest, "")
        elif word.startswith("--lang="):
            language = word.removeprefix("--lang=")
        else:
            words.append(word)
    return words, language, debug


def _print_error(message: str) -> None:
    with contextlib.suppress(OSError):  # a full or closed stderr; the exit code remains
        print(f"noren: {message}", file=sys.stderr)
