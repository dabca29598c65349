"""One piece of work, the same in any process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Unit:
    """One piece of work, the same in any process: a function at the top of a module, and its arguments.

    Attributes
    ----------
    work
        Called with the arguments, then with the results of ``needs``; returns plain JSON.
    data
        Data sets of the catalog that it reads; where one is not on this machine, the unit is not run.
    wide
        Whether it uses all cores by itself; it is then run alone, in this process.
    code
        A digest of the code that the result depends on; left out, all that the module of ``work`` imports. A function
        that runs any of many components says which one by it.
    """

    work: Callable[..., Any]
    arguments: tuple[Scalar, ...] = ()
    data: tuple[str, ...] = ()
    needs: tuple[Unit, ...] = ()
    wide: bool = False
    code: str = ""

    @property
    def name(self) -> str:
        """What the progress bar calls it."""
        return " ".join((self.work.__name__.replace("_", " "), *map(str, self.arguments)))

    def all_data(self) -> tuple[str, ...]:
        """Return the data sets that it or what it needs reads."""
        return tuple(dict.fromkeys((*self.data, *(name for unit in self.needs for name in unit.all_data()))))
