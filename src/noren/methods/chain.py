"""The chain: several methods applied in turn."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, InstanceOf, WithJsonSchema, field_serializer, field_validator

from noren.data.formats.source import require_readable
from noren.data.frames import Records
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Schema
from noren.errors import FileError, InputError, NorenError, ParameterError
from noren.i18n import N_, _
from noren.progress import Progress, part_of, silent
from noren.protocols import Method, Runtime, require_kind
from noren.registry import build
from noren.tables import Texts

say = Texts(__name__)

_Step = Annotated[
    InstanceOf[Method],
    WithJsonSchema({"type": "object", "required": ["method"], "properties": {"method": {"type": "string"}}}),
]


class Chain(Method):
    """Protect by several methods in turn, each applied to the public part of the previous release.

    Thin the data, move dates, then change names every month: each step is a method with its own parameters and its own
    share of the seed. The answer is one release of the original: its secret part knows for every last pseudonym the
    customer it began with, and for every row where it came from. Each step keeps its promise about the data it was
    given and none about the whole: histories that k customers shared need not be alike after a later step has touched
    them.

    References
    ----------
    S3 (teams of PWS Cup 2017 put deletion, noise and monthly pseudonyms together).

    Examples
    --------
    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "bob", "bob"], "date": ["2010/12/1", "2011/1/2", "2010/12/3", "2010/12/4"],
    ...         "item": ["a", "b", "a", "b"], "price": 1.0, "quantity": [1, 2, 3, 4]}
    >>> chain = Chain(steps=[{"method": "thin", "share": 0.25}, "monthly-pseudonyms"])
    >>> release = chain.protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> release.deleted_rows, release.statement.parameters["steps"][1]["method"]
    (1, 'monthly-pseudonyms')
    >>> sorted(release.secret.pseudonyms["customer"].unique())
    ['ann', 'bob']
    """

    name = "chain"
    summary = N_("Protects by several methods in turn; each promises something of the data it was given.")
    source = "S3"
    accepts = frozenset({Kind.HISTORY, Kind.TABLE})
    runtime = Runtime.MINUTES  # as its slowest step may

    steps: tuple[_Step, ...] = Field(
        description=N_("the methods in order, by name; with parameters in a file of [[step]] tables (protect --chain)"),
        examples=[["thin", "monthly-pseudonyms"]],
    )

    @field_validator("steps", mode="before")
    @classmethod
    def _ready(cls, steps: Any) -> tuple[Method, ...]:
        """Make methods of names and of tables of parameters; a chain in a chain is its steps."""
        if not isinstance(steps, Iterable) or isinstance(steps, str | bytes | Mapping):
            steps = (steps,)
        from noren.methods import methods

        ready: list[Method] = []
        for number, step in enumerate(steps, start=1):
            method = step
            if not isinstance(step, Method):
                table = {"method": step} if isinstance(step, str) else step
                if not isinstance(table, Mapping) or not isinstance(table.get("method"), str):
                    raise ParameterError(say("step_without_method", number=number, names=", ".join(methods)))
                own = {str(name).replace("-", "_"): value for name, value in table.items() if name != "method"}
                try:
                    method = build(methods[table["method"]], own)
                except NorenError as error:
                    raise _failed_step(number, table["method"], error) from None
            ready += method.steps if isinstance(method, Chain) else (method,)
        if not ready:
            raise ParameterError(say("no_steps"))
        return tuple(ready)

    @field_serializer("steps")
    def _plain(self, steps: Sequence[Method]) -> list[dict[str, Any]]:
        return [{"method": step.name} | step.parameters() for step in steps]

    def protect(self, original: Records, *, seed: int, progress: Progress = silent) -> Release:
        """Run all steps; the same seed gives the same bytes."""
        return self.whole(self.stages(original, seed=seed, progress=progress), seed=seed)

    def stages(self, original: Records, *, seed: int, progress: Progress = silent) -> Iterator[Release]:
        """Run all steps and yield the release of each."""
        data = original
        del original  # anyone who runs a chain may let go of it, too
        for at, (step, step_seed) in enumerate(zip(self.steps, self.seeds(seed), strict=True)):
            step_progress = part_of(progress, at / len(self.steps), (at + 1) / len(self.steps), step.name)
            with self.on_step(at, data.schema):
                made = step.protect(data, seed=step_seed, progress=step_progress)
            yield made
            data = made.public

    def seeds(self, seed: int) -> list[int]:
        """Return each step's own share of the seed."""
        if seed < 0:
            raise ParameterError.out_of_range("seed", seed, "seed >= 0")
        return [
            int(s.generate_state(1, np.uint64)[0]) >> 1 for s in np.random.SeedSequence(seed).spawn(len(self.steps))
        ]

    @contextmanager
    def on_step(self, at: int, schema: Schema) -> Iterator[None]:
        """Say at which step something is wrong; stop where a step has nothing to work on in data of ``schema``."""
        step = self.steps[at]
        try:
            require_kind(step, schema)
            yield
        except InputError as error:
            raise _failed_step(at + 1, step.name, error) from error

    @staticmethod
    def whole(stages: Iterable[Release], *, seed: int | None) -> Release:
        """Return the release of the first original that all stages together amount to."""
        last = reduce(Release.then, stages)
        return replace(last, secret=replace(last.secret, seed=seed), statement=Statement.of_chain(last.statement.steps))


def _failed_step(number: int, method: str, error: NorenError) -> ParameterError:
    return ParameterError(_("step {number}, {method}: {message}").format(number=number, method=method, message=error))


def read_chain(path: str | Path) -> Chain:
    """Read a chain: a TOML file of ``[[step]]`` tables, each a method's name and its parameters."""
    path = require_readable(path)
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(say("unreadable", reason=str(error)[:160]), file=path) from None
    steps = content.pop("step", None)
    if content or not isinstance(steps, list) or not steps:
        raise FileError(say("other_key", key=next(iter(content))) if content else say("no_steps"), file=path)
    try:
        return Chain(steps=steps)
    except ParameterError as error:
        raise ParameterError(str(error), file=path) from None
