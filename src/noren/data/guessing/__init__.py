"""Guesses of what the columns of a file mean, with questions about what the file leaves open.

A guess is never silent: it reports what was chosen and asks what the file does not tell. The command line prints a
question as one line, the studio as a question with a button for each answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from noren.data.schema import Role
from noren.i18n import N_, _

_MEANINGS: Final = {
    Role.IDENTIFIER: N_("identifies the person; not released"),
    Role.QUASI: N_("others may know it; protected"),
    Role.SENSITIVE: N_("sensitive information about the person"),
    Role.OTHER: N_("none of these"),
}


@dataclass(frozen=True)
class Answer:
    """One answer: its value for machines, and what it means in the reader's language."""

    value: str
    label: str


@dataclass(frozen=True)
class Question:
    """A question to the user about something that the file leaves open.

    Parameters
    ----------
    about
        ``kind``: are rows purchases or people (answers: ``history``, ``table``). ``customer``: which column tells who
        bought (answers: names of columns). ``format``: how a column writes its dates (answers: formats). ``number``:
        how a column writes its numbers (answers: number formats). ``role``: what a column is for (answers: roles).
    text
        The question with its evidence, one line.
    chosen
        The answer that was taken for now.
    stops
        Whether a wrong answer would count the wrong people: then nothing is protected before somebody answers.
    """

    about: Literal["kind", "customer", "format", "number", "role"]
    text: str
    chosen: str
    answers: tuple[Answer, ...]
    column: str | None = None
    stops: bool = False

    def __str__(self) -> str:
        return self.text


def role_question(column: str, text: str, chosen: Role, roles: Sequence[Role]) -> Question:
    """Return the question about a column's role; ``chosen`` is the safe default."""
    stays = _("keep the role {role}")
    answers = [Answer(role, _(_MEANINGS[role]) if role in _MEANINGS else stays.format(role=role)) for role in roles]
    return Question("role", text, chosen=chosen, answers=tuple(answers), column=column)
