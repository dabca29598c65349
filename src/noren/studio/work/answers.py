"""What a person answered to the questions about a file, and the guess that keeps to it.

An answer is ``{"about": …, "column": …, "value": …}``, about what :class:`~noren.data.guessing.questions.Question`
asks; of the kind of rows and of the customer there is one each, so their column is None. Of a column that nobody named,
``role`` may be :data:`LEAVE_OUT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from noren.data.formats.source import SourceLike
from noren.data.guessing.schema_guess import SchemaGuess, guess_schema
from noren.data.schema import Kind
from noren.i18n import in_every_language, said_again
from noren.studio.forms.columns import content_of, schema_of

__all__ = ["LEAVE_OUT", "answer_of", "asked_in_every_language", "guessed_with", "left_out", "open_stops", "with_answer"]

LEAVE_OUT: Final = "leave-out"
"""What is answered where a column shall not be read at all."""
_OF_THE_FILE: Final = frozenset({"kind", "customer"})
_OF_A_COLUMN: Final = frozenset({"format", "number", "role"})

Answers = Sequence[Mapping[str, Any]]


def with_answer(answers: Answers, about: str, column: str | None, value: str) -> list[dict[str, Any]]:
    """Return the answers with one more; the last answer to a question counts.

    Who says what rows are answers everything anew that was about roles: they are other roles.

    >>> given = with_answer([], "format", "day", "%d/%m/%Y")
    >>> with_answer(given, "format", "day", "%m/%d/%Y")
    [{'about': 'format', 'column': 'day', 'value': '%m/%d/%Y'}]
    """
    column = None if about in _OF_THE_FILE else column
    kept = [dict(one) for one in answers if (one["about"], one["column"]) != (about, column)]
    if about == "kind":
        kept = [one for one in kept if one["about"] not in ("role", "customer") or one["value"] == LEAVE_OUT]
    return [*kept, {"about": about, "column": column, "value": value}]


def answer_of(question: Mapping[str, Any], answers: Answers) -> str | None:
    """Return what was answered to a question, if anything was."""
    column = None if question["about"] in _OF_THE_FILE else question["column"]
    given = (one["value"] for one in answers if (one["about"], one["column"]) == (question["about"], column))
    return next(given, None)


def open_stops(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the questions that must be answered before anything is protected, and are not."""
    answers = facts.get("answers", [])
    return [one for one in facts.get("questions", []) if one["stops"] and answer_of(one, answers) is None]


def left_out(answers: Answers) -> list[str]:
    """Return the columns that somebody said to leave out."""
    return [str(one["column"]) for one in answers if one["about"] == "role" and one["value"] == LEAVE_OUT]


def guessed_with(source: SourceLike, answers: Answers) -> SchemaGuess:
    """Return what the columns of a file mean, guessed where nobody answered."""
    told = {one["about"]: one["value"] for one in answers if one["about"] in _OF_THE_FILE}
    kind = Kind(told["kind"]) if "kind" in told else None
    guess = guess_schema(source, kind=kind, customer=told.get("customer"))
    said = [one for one in answers if one["about"] in _OF_A_COLUMN and one["value"] != LEAVE_OUT]
    own = [one for one in said if one["column"] in guess.schema.names]
    if not own:
        return guess
    content = content_of(guess.schema)
    columns = {about["name"]: about for about in content["columns"]}
    for one in own:
        columns[one["column"]][one["about"]] = one["value"]
    return replace(guess, schema=schema_of(content))


def asked_in_every_language(guess: SchemaGuess) -> list[dict[str, Any]]:
    """Return the questions of a guess as plain data, each text in every language.

    Texts remember what they say (:func:`~noren.i18n.remember_messages`), so nothing is guessed twice.
    """
    return [
        {
            "about": one.about,
            "column": one.column,
            "chosen": one.chosen,
            "stops": one.stops,
            "text": _in_every_language(one.text),
            "answers": [{"value": answer.value, "label": _in_every_language(answer.label)} for answer in one.answers],
        }
        for one in guess.questions
    ]


def _in_every_language(text: str) -> dict[str, str]:
    return in_every_language(lambda: str(said_again(text)))
