"""Statement of a release or of a chain of methods: method, parameters, promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from noren.i18n import N_
from noren.version import __version__


@dataclass(frozen=True)
class Statement:
    """What was done and what it promises; safe to publish."""

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    promise: str = ""
    noren: str = __version__
    notes: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return dict(vars(self))

    @classmethod
    def of_chain(cls, statements: Iterable[Statement]) -> Statement:
        """Return what a chain says: the parameters, the promise and the notes of each step, in order.

        A promise is about the data that the step was given, so a chain has none of its own, and a k of a step is not
        the chain's. What the released cells mean (categories) is the chain's.
        """
        steps = [step for statement in statements for step in statement.steps]
        notes: dict[str, Any] = {"steps": [{"promise": s.promise, "notes": s.notes} for s in steps]}
        categories = [step.notes["categories"] for step in steps if "categories" in step.notes]
        notes |= {"categories": categories[-1]} if categories else {}
        parameters = {"steps": [{"method": s.method} | s.parameters for s in steps]}
        promise = N_("each step keeps its promise for the output of the previous step")
        return cls("chain", parameters, promise, notes=notes)

    @property
    def is_truthful(self) -> bool:
        """Whether the last step does not say that its cells may be untrue of those behind them."""
        return self.steps[-1].notes.get("truthful") is not False

    @property
    def claims_k(self) -> bool:
        """Whether the last step claims a k, which is then audited.

        >>> Statement.of_chain([Statement("generalize", {"k": 3}), Statement("thin", {"share": 0.1})]).claims_k
        False
        """
        return bool({"k", "min_class"} & self.steps[-1].parameters.keys())

    @property
    def steps(self) -> list[Statement]:
        """What each step of a chain says; of a single method, what it says itself."""
        done, results = self.parameters.get("steps"), self.notes.get("steps")
        if self.method != "chain" or not (
            isinstance(done, list) and isinstance(results, list) and len(done) == len(results)
        ):
            return [self]
        steps: list[Statement] = []
        for own, result in zip(done, results, strict=True):
            match own, result:  # perhaps read from a file, which may say anything
                case {"method": str(method), **others}, {"promise": str(promise), "notes": dict(notes)}:
                    parameters = {str(name): value for name, value in others.items()}
                    steps.append(Statement(method, parameters, promise, self.noren, notes))
                case _other:
                    return [self]
        return steps
