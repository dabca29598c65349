"""Accuracy of a model trained on the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.schema import Role, Scale
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.measures.utility.table_rows import OfTables, encoded, rows_of
from noren.progress import Progress, silent
from noren.protocols import Evidence, Headline, KeptShare, Score


class Prediction(OfTables):
    """How often a model that learnt from the release is right about original people whom it has not seen.

    A part of the original's rows is held back. A logistic regression learns one column from the others: once of the
    other original rows, once of the released rows that stand for those. A release by retention is reconstructed of
    these rows alone. Both are then asked about the rows held back. The value is the share that the second gets right;
    beside it stand the first one's, and that of always naming the commonest value.

    References
    ----------
    S4 §5 (data mining on the output).
    """

    name = "prediction"
    summary = N_("Accuracy of a model trained on the release, for people held out.")
    source = "S4"
    goal = "higher"
    bounds = (0.0, 1.0)
    unit = N_("predicted correctly")
    headlines = (Headline(N_("predicted correctly"), summary, of="perturbed", rank=2),)
    part_names: ClassVar[Mapping[str, str]] = {
        "original": N_("trained on the original"),
        "release": N_("trained on the release"),
        "commonest": N_("most common value"),
    }
    keeps = KeptShare(N_("prediction"), rank=0)
    needs = frozenset({"original", "public", "secret", "exact"})

    target: str = Field(
        default="", description=N_("column to predict (default: the sensitive column, otherwise the last text column)")
    )
    held_back: float = Field(default=0.3, gt=0, lt=1, description=N_("share of rows to test on"))

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Learn twice, ask once."""
        from sklearn.linear_model import LogisticRegression

        count = len(evidence.original)
        draws = np.random.Generator(np.random.Philox(key=self.seed))
        order = draws.permutation(count)
        test = np.sort(order[: round(self.held_back * count)])
        train = np.sort(order[round(self.held_back * count) :])
        rows = rows_of(self, evidence, only=train)
        # the column to predict, one of those that hold the same kind of values on both sides
        there = evidence.release.public.schema
        texts = [c.name for c in there.columns if c.scale == Scale.NOMINAL and c.name in rows.names]
        sensitive = [c.name for c in there.with_role(Role.SENSITIVE) if c.name in texts]
        if self.target and there[self.target].name not in rows.names:
            message = _("{column} is generalised in the release; use one of {names}")
            raise ParameterError(message.format(column=self.target, names=", ".join(texts) or _("none")))
        if not self.target and not texts:
            raise ParameterError(_("the release has no text column to predict; put a column into classes"))
        target = self.target or (sensitive or texts[::-1])[0]
        if not isinstance(rows.original[target].dtype, pl.Enum):
            raise ParameterError(_("the column to predict holds numbers; choose a text column, or use classes"))
        features = [name for name in rows.names if name != target]
        if not len(test) or not len(rows.released):
            raise ParameterError(_("there are no rows to learn from; give more rows, or hold out a different share"))
        original_features, released_features = (
            encoded(rows, features) if features else (np.zeros((count, 1)), np.zeros((len(rows.released), 1)))
        )
        right = rows.original[target].cast(pl.String).to_numpy()
        learnt = rows.released[target].cast(pl.String).to_numpy()
        values, often = np.unique(right[train], return_counts=True)
        parts = {"commonest": float((right[test] == values[often.argmax()]).mean())}
        for done, (name, data, answers) in enumerate(
            (("original", original_features[train], right[train]), ("release", released_features, learnt))
        ):
            progress(done / 2, _("learning"))
            answered, often = np.unique(answers, return_counts=True)
            if len(answered) < 2 or not features:
                guessed = np.full(len(test), answered[often.argmax()], dtype=object)
            else:
                guessed = LogisticRegression(max_iter=1000).fit(data, answers).predict(original_features[test])
            parts[name] = float((guessed == right[test]).mean())
        return Score(parts["release"], parts, {"target": target, "held_back": len(test)})
