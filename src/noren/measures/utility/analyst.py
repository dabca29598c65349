"""The analyst's check: which standard questions a release answers as the original does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import Field

from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.measures.evidence import original_history, public_history
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score
from noren.tabulations.estimates import ImpliedDraws
from noren.tabulations.questions import Grade, mean_answer, questions, rows_to_ask

_POINTS: Final = {Grade.USABLE: 1.0, Grade.WITH_CARE: 0.5, Grade.NOT_USABLE: 0.0}
"""What a grade is in the parts of the score."""


class Analyst(Measure):
    """Ask original and release an analyst's standard questions, and grade the answers by stated limits.

    The release is asked by whoever holds the public part alone: ranges and sets are drawn from the distribution that
    they imply (:mod:`noren.tabulations.estimates`), and the answer is the mean over the draws. A part of the score is 1
    for a usable answer, 0.5 for one to use with care, else 0; the value is the share of usable ones. The notes have
    grade, errors and sums of each question. Questions, errors and limits are in ``tabulations/questions.toml``.

    Examples
    --------
    >>> from noren import api
    >>> history = api.sample(customers=60, rows=900, items=40, seed=1)
    >>> score = api.measure(history, api.protect(history, "pseudonymize", seed=1), "analyst")
    >>> score.value, score.parts["rfm"]
    (1.0, 1.0)
    """

    name = "analyst"
    summary = N_("The share of standard questions that the release answers well enough for an analyst.")
    source = "Noren"
    goal = "higher"
    bounds = (0.0, 1.0)
    unit = N_("share of questions whose answer is usable")
    needs = frozenset({"original", "public"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {name: question.title for name, question in questions().items()}

    draws: int = Field(default=5, ge=1, le=1_000, description=N_("data sets drawn from the release"))
    seed: int = Field(default=1, ge=0, description=N_("the same seed gives the same result"))

    @classmethod
    def in_words(cls, notes: Mapping[str, Any]) -> list[str]:
        """Return a sentence for each question."""
        results = notes.get("questions", {})
        return [question.sentence(results[name]) for name, question in questions().items() if name in results]

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Compare the answers to all questions that the original's columns allow."""
        original, public = original_history(evidence), public_history(evidence.release)
        rows = rows_to_ask(original)
        pairs = [
            (question, question.table(rows)) for question in questions().values() if question.fits(original.schema)
        ]
        tables = {q.name: (q, t) for q, t in pairs if len(t.frame) and not any(t.frame.null_count().row(0))}
        if not tables:
            message = _(
                "these purchases answer none of the analyst's questions; give a column the role date, item or price"
            )
            raise ParameterError(message)
        # a column that was not released answers nothing
        asked = [question for question, _table in tables.values() if question.fits(public.schema)]
        draws = ImpliedDraws(public, evidence.release.statement, seed=self.seed)
        drawn = draws.tables(asked, self.draws, progress=progress)
        parts, results = {}, {}
        for name, (question, table) in tables.items():
            answers = drawn.get(name, [replace(table, frame=table.frame.clear())])
            comparison = question.compare(question.best(table), mean_answer(question, answers))
            parts[name], results[name] = _POINTS[comparison.grade], comparison.as_dict()
        value = sum(part == 1.0 for part in parts.values()) / len(parts)
        return Score(value, parts, {"questions": results, "draws": self.draws})
