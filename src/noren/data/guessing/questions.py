"""What could go either way about a file: a question with its evidence and the answers there are.

A guess is never silent. Whoever guesses a schema says what he took and asks what the file does not tell; the command
line prints a question as one line, the studio as a question with a button for each answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Answer", "Question"]


@dataclass(frozen=True)
class Answer:
    """One answer: its value for machines, and what it means in the reader's language."""

    value: str
    label: str


@dataclass(frozen=True)
class Question:
    """What could go either way.

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
