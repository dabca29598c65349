"""Options and arguments that several commands share, and how they are read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from noren.cli.parts.commands import refusal, say, situation, wording
from noren.errors import OutputError, SchemaError
from noren.i18n import _
from noren.tables import Texts

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from noren.data.frames import Records
    from noren.data.guessing import Question
    from noren.data.guessing.schema_guess import SchemaGuess
    from noren.data.schema import Schema
    from noren.execution.engine import Engine, OriginalInput
    from noren.registry import Kind, Registry

text = Texts(__name__)

Original = Annotated[Path, Argument(metavar="ORIGINAL", help=text("original"))]
ReleasePath = Annotated[Path, Argument(metavar="RELEASE", help=text("release_path"))]
SchemaName = Annotated[str | None, Option("--schema", help=text("schema_name"))]
Rows = Annotated[Literal["purchases", "people"] | None, Option("--rows", help=text("rows"))]
CustomerColumn = Annotated[str | None, Option("--customer", metavar="COLUMN", help=text("customer_column"))]
Master = Annotated[Path | None, Option("--master", help=text("master"))]
Keep = Annotated[list[str] | None, Option("--keep", metavar="COLUMN", help=text("keep"))]
Seed = Annotated[int | None, Option("--seed", min=0, help=text("seed"))]
Control = Annotated[Path | None, Option("--control", help=text("control"))]
RuleName = Annotated[str | None, Option("--rule", metavar="RULE", help=text("rule_name"))]
EngineName = Annotated[str, Option("--engine", metavar="ENGINE", help=text("engine_name"))]
Force = Annotated[bool, Option("--force", help=text("force"))]

_KINDS = {"purchases": "history", "people": "table"}


@dataclass(frozen=True)
class Reading:
    """How the original is read: ``--schema``, ``--rows``, ``--customer`` and ``--master``, as one parameter."""

    schema: SchemaName = None
    rows_are: Rows = None
    customer: CustomerColumn = None
    master: Master = None

    def open(
        self,
        engine: Engine,
        path: Path,
        *,
        schema: str | Schema | None = None,
        release: Path | None = None,
        quiet: bool = False,
    ) -> OriginalInput:
        """Open the original and print how it was read; fail if a wrong guess would count the wrong people.

        Without ``--schema``, it is read by ``schema``, or by the preset of its ``release``.
        """
        from noren.data.release import public_schema
        from noren.data.schema import PRESETS, Kind, Schema

        known = schema if self.schema is None else self.schema
        if not known and release is not None:
            known = None
            # --rows and --customer are answers to questions about a guessed schema
            if release.is_dir() and self.rows_are is None and self.customer is None:
                public = public_schema(release / "public.parquet")
                is_preset = public.kind == Kind.TABLE and public.name in PRESETS
                # a guessed schema is called after its file: people.csv need not be the people of the preset
                if is_preset and set(public.names) <= set(Schema.preset(public.name).names):
                    known = public.name
        data = engine.read(
            path,
            known,
            master=self.master,
            **self._row_answers(known),
            stop_at=lambda questions: _stop_at(questions, path),
        )
        if not (quiet or situation.json):
            say(*(f"{path.name}: {line}" for line in data.remarks))
        say(*(f"{path.name}: {line}" for line in data.questions))
        return data

    def load(self, path: Path, **how: Any) -> Records:
        """Read the original into memory, as :meth:`open` does."""
        from noren.execution.engine import Engine

        return self.open(Engine(), path, **how).rows

    def guess(self, path: Path) -> SchemaGuess:
        """Guess the schema of a file, ignoring ``--schema``."""
        from noren.data.guessing.schema_guess import guess_schema

        return guess_schema(path, **self._row_answers(None))

    def schema_of(self, path: Path) -> Schema:
        """Return the schema of a file: as named, else guessed; fail if a wrong guess would count the wrong people."""
        from noren.data.schema import Schema

        self._row_answers(self.schema)
        if self.schema is not None:
            return Schema.load(self.schema)
        guess = self.guess(path)
        _stop_at(guess.questions, path)
        return guess.schema

    def _row_answers(self, schema: str | Schema | None) -> dict[str, Any]:
        """Return ``--rows`` and ``--customer`` as arguments of a guess; fail if a schema is named too."""
        from noren.data.schema import Kind

        for flag, value in (("--rows", self.rows_are), ("--customer", self.customer)):
            if schema is not None and value is not None:
                raise refusal("excludes", flag=flag, others="--schema")
        return {"kind": None if self.rows_are is None else Kind(_KINDS[self.rows_are]), "customer": self.customer}

    @property
    def flags(self) -> str:
        """These options as flags, for the command that comes next."""
        flags = {"--schema": self.schema, "--rows": self.rows_are, "--customer": self.customer}
        return "".join(f" {flag} {shlex.quote(value)}" for flag, value in flags.items() if value)


@dataclass(frozen=True)
class Knowledge:
    """The attacker's knowledge: ``--known``, ``--knowledge`` and ``--item-prefix``, as one parameter."""

    known: Path | None = None
    knowledge: float = 1.0
    item_prefix: int | None = None


@dataclass(frozen=True)
class PeopleReading:
    """How a table is read: ``--schema`` and ``--rows``, as one parameter; by default, each row is a person."""

    schema: SchemaName = None
    rows_are: Rows = None

    def load(self, path: Path, *, quiet: bool = False) -> Records:
        """Read a file into memory."""
        rows = self.rows_are or ("people" if self.schema is None else None)
        return Reading(self.schema, rows).load(path, quiet=quiet)


def _stop_at(questions: Sequence[Question], path: Path) -> None:
    for question in questions:
        if question.stops:
            raise SchemaError(str(question), wording("to_answer", flags=answers(question)), file=path)


def answers(question: Question) -> str:
    """Return the flags that answer a question; empty if none does.

    What a row is and who the customer is belong together: a question about one can be answered with the other.
    """
    flags = {"kind": "--rows", "customer": "--customer"}
    others = {"kind": "--customer COLUMN", "customer": "--rows people"}
    if question.about not in flags:
        return ""
    words = {kind: rows for rows, kind in _KINDS.items()}
    values = [shlex.quote(words.get(answer.value, answer.value)) for answer in question.answers]
    return _(" or ").join([*(f"{flags[question.about]} {value}" for value in values), others[question.about]])


def comma_separated(text: str) -> list[str]:
    """Return the words of a list separated by commas.

    >>> comma_separated("race, sex,")
    ['race', 'sex']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def chosen(
    registry: Registry[Kind], names: str, schema: Schema, runs: Callable[[type[Kind]], bool] = lambda kind: True
) -> list[type[Kind]]:
    """Return the components that ``names`` lists (separated by commas); for ``all``, those that fit and can run."""
    if names == "all":
        every = [registry[name] for name in registry]
        return [kind for kind in every if kind.fits(schema) and runs(kind)]
    picked = [registry[name] for name in comma_separated(names)]
    if not picked:
        raise refusal("no_names", names=", ".join(registry))
    return picked


@dataclass(frozen=True)
class ServerOptions:
    """Where a server listens and how it is reached; each server sets its own port."""

    host: str = "127.0.0.1"
    port: Annotated[int, Option(min=0, max=65_535)] = 0
    open_page: Annotated[bool, Option("--open/--no-open")] = False
    name: Annotated[list[str] | None, Option("--allow-host")] = None
    proxy: list[str] | None = None
    https: Annotated[bool, Option("--https")] = False

    def listening(self) -> socket.socket:
        """Bind the port now, so that a port in use is reported before anything starts."""
        import socket

        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # TCP by name: only then does asyncio send small answers at once, instead of waiting 40 ms
        taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((self.host, self.port))
            taken.listen()  # a client that connects at once waits instead of being refused
        except OSError as error:
            taken.close()
            message = wording("port_taken", port=self.port, host=self.host, reason=error.strerror)
            raise OutputError(message) from None
        return taken

    def settings(self, taken: socket.socket) -> dict[str, Any]:
        """Return these options as settings of a server, with the bound port."""
        names, proxies = tuple(self.name or ()), tuple(self.proxy or ())
        port = taken.getsockname()[1]
        return {"host": self.host, "port": port, "names": names, "proxies": proxies, "https": self.https}

    def announce(self, message: str, addresses: Sequence[str]) -> str | None:
        """Print the addresses of the server, and return the one to open in the browser, if any."""
        address, *others = addresses
        say(message.format(address=address))
        if others:
            say(wording("other_machines", addresses=", ".join(others)))
        return address if self.open_page else None
