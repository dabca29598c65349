"""Help pages and usage errors in the reader's language, also where typer itself speaks (see ``foreign_words``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import typer
from typer import rich_utils
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from noren.cli.parts.commands import printing
from noren.cli.parts.line_breaks import break_between_characters
from noren.foreign_words import VALIDATION, translated
from noren.i18n import N_, _, active_language

__all__ = ["App", "app", "speak", "usage_sentence"]

_HELP = frozenset(
    {
        N_("Show this message and exit."),
        N_("Install completion for the current shell."),
        N_("Show completion for the current shell, to copy it or customize the installation."),
    }
)

# the longer of two that begin alike stands first
_ERRORS = (
    N_("No such command {name}. Did you mean {names}?"),
    N_("No such command {name}."),
    N_("Missing command."),
    N_("No such option: {name} (Possible options: {names})"),
    N_("No such option: {name}"),
    N_("Missing option {name}."),
    N_("Missing argument {name}."),
    N_("Option {name} requires an argument."),
    N_("Option {name} does not take a value."),
    N_("Got unexpected extra argument(s) ({words})"),
    N_("Invalid value for {name}: {said}"),
    N_("Value error, {value} is not one of {choices}."),
    *VALIDATION,
)


_MARK_UP: Final = re.compile(r"(?<!\\)(\[[a-z#/@][^[]*?\])")
"""What a page would take for mark-up: local[2], a table's name in TOML."""


class _Spoken:
    """A command whose page is in the reader's language."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            said = getattr(param, "help", None) or ""
            param.help = _MARK_UP.sub(r"\\\1", _(said) if said in _HELP else said)
        return params

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        pieces = self.collect_usage_pieces(ctx)  # type: ignore[attr-defined]
        formatter.write_usage(ctx.command_path, " ".join(pieces), prefix=_("Usage: "))


class _Command(_Spoken, TyperCommand):
    def invoke(self, ctx: Any) -> Any:
        from noren.cli.parts.paths import guarded

        with guarded(ctx.command_path.partition(" ")[2], ctx.params, ctx.args):
            return super().invoke(ctx)


class _Group(_Spoken, TyperGroup):
    pass


class App(typer.Typer):
    """A table of commands whose help pages are in the reader's language."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, **settings)

    def command(self, *args: Any, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command, as typer does; what its function returns is printed."""
        return self._printing(super().command(*args, cls=_Command, **settings))

    def callback(self, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Set the command that stands for the table, as typer does; what its function returns is printed."""
        return self._printing(super().callback(cls=_Group, **settings))

    def group(self, name: str, *, help: str, **settings: Any) -> App:  # noqa: A002 - typer's word
        """Add a table of commands below this one."""
        commands = App(**settings)
        self.add_typer(commands, name=name, help=help)
        return commands

    @staticmethod
    def _printing(register: Callable[..., Any]) -> Callable[[CommandFunctionType], CommandFunctionType]:
        def add(function: CommandFunctionType) -> CommandFunctionType:
            register(printing(function))
            return function

        return add


app = App(
    name="noren",
    help=_("Protect purchase histories and personal tables, attack what was protected, and measure both."),
    epilog=_("Start with: noren demo --out demo/"),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""All of ``noren``: each module adds its commands, and :mod:`noren.cli.app` imports the modules."""


def speak() -> None:
    """Set the words that typer keeps in constants, and break lines as the language does."""
    rich_utils.OPTIONS_PANEL_TITLE = _("Options")
    rich_utils.ARGUMENTS_PANEL_TITLE = _("Arguments")
    rich_utils.COMMANDS_PANEL_TITLE = _("Commands")
    rich_utils.DEFAULT_STRING = _("[default: {}]")
    rich_utils.REQUIRED_LONG_STRING = _("[required]")
    if active_language() == "ja":
        break_between_characters()


def usage_sentence(said: str) -> str:
    """Return what typer says of wrong words in the reader's language, ending as a sentence does.

    >>> usage_sentence("Missing option '--out'.")
    "Missing option '--out'."
    """
    told = translated(said, _ERRORS)
    return told if not told or told.endswith((".", "。", "?", "？", ")", "）")) else f"{told}."
