"""What failed while the rest went on: named with its reason, and told by the exit code.

A measure that breaks down must not take the others' results with it. A component that was named alone is another
matter: there is no rest, so its error is the answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import typer

from noren.cli.parts.screen import say, situation
from noren.errors import ComponentError, NorenError, reason_of
from noren.i18n import _

__all__ = ["Failures", "situation"]


class Failures:
    """Components that failed, by name, with the reason.

    Parameters
    ----------
    alone
        Whether the only component there is was asked for by its name: then its error is raised.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self._alone = alone
        self.reasons: dict[str, str] = {}

    @contextlib.contextmanager
    def noting(self, name: str, refused: Callable[[Exception], bool] = lambda error: False) -> Iterator[None]:
        """Do work of the component ``name``; note why it failed. What it refuses on purpose is raised."""
        try:
            yield
        except Exception as error:
            # --debug is for whoever wants the traceback; after Ctrl-C a library's own error is no failure
            if situation.debug or situation.interrupts or refused(error):
                raise
            if self._alone:
                raise error if isinstance(error, NorenError) else ComponentError(name, error) from error
            self.add(name, reason_of(error))

    def add(self, name: str, reason: str) -> None:
        """Note a failure and say it."""
        self.reasons[name] = reason
        say(_("{name} failed: {reason}").format(name=name, reason=reason))

    @property
    def exit_code(self) -> int:
        """1 where something failed."""
        return 1 if self.reasons else 0

    def leave(self) -> None:
        """End the command with exit code 1 where something failed."""
        if self.reasons:
            raise typer.Exit(1)
