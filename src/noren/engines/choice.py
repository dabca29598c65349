"""Which engine does the work, by the name that a person gives: ``--engine``.

``local`` is this machine's processors, ``gpu`` its graphics processor, ``auto`` the better of the two, by the size of
the work. ``spark://host:port`` is a cluster's master, ``local[n]`` a cluster of n threads on this machine, ``local[*]``
of as many as there are cores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal

from noren.errors import ParameterError, suggestion
from noren.tables import Texts

say = Texts(__name__)

Kind = Literal["local", "auto", "gpu", "spark"]
_NAMED: Final[dict[str, Kind]] = {"local": "local", "auto": "auto", "gpu": "gpu"}
_HOST = r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]"
_MASTER = re.compile(rf"spark://(?:{_HOST}):(\d{{1,5}})(?:,(?:{_HOST}):(\d{{1,5}}))*")
_THREADS = re.compile(r"local\[(?:\*|[1-9]\d{0,3})\]")


@dataclass(frozen=True)
class EngineChoice:
    """An engine as it was asked for; ``address`` is Spark's master, and no other engine has one."""

    kind: Kind
    address: str | None = None

    def __str__(self) -> str:
        return self.address or self.kind


LOCAL = EngineChoice("local")
_chosen: ContextVar[EngineChoice] = ContextVar("engine", default=LOCAL)
"""The engine of this piece of work alone: components do not hold it, as it is no parameter of theirs."""


def chosen_engine() -> EngineChoice:
    """Return the engine that was chosen for what is being done."""
    return _chosen.get()


@contextmanager
def using(engine: EngineChoice) -> Iterator[None]:
    """Choose an engine for what is done within.

    >>> with using(EngineChoice("gpu")):
    ...     str(chosen_engine())
    'gpu'
    """
    before = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(before)


def parse_engine(text: str) -> EngineChoice:
    """Return the engine of that name.

    >>> parse_engine("gpu"), parse_engine("local[2]")
    (EngineChoice(kind='gpu', address=None), EngineChoice(kind='spark', address='local[2]'))
    """
    name = text.strip()
    if name.lower() in _NAMED:
        return EngineChoice(_NAMED[name.lower()])
    if _THREADS.fullmatch(name):
        return EngineChoice("spark", name)
    master = _MASTER.fullmatch(name)
    if master and all(0 < int(port) < 65536 for port in re.findall(r":(\d{1,5})(?=,|$)", name)):
        return EngineChoice("spark", name)
    raise ParameterError(say("no_engine", engine=name, suggestion=suggestion(name, _NAMED)))
