"""How far associations between columns are from the original's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.judging.statistics import cramers_v
from noren.measures.utility.table_rows import OfTables, rows_of
from noren.progress import Progress, silent
from noren.protocols import Evidence, Headline, KeptShare, Score

_BINS = 10


class Association(OfTables):
    """The mean difference between the associations of column pairs before and after protection.

    Two columns of texts, or of a text and a number, are measured by Cramér's V (numbers in tenths of the original);
    two numbers by the size of their correlation. Both lie between 0 and 1. The value is the mean absolute difference
    over all pairs; the parts are each pair's V after less V before.

    References
    ----------
    S4 §5 asks how useful its output is for analysis.

    Examples
    --------
    Sex and town go together in the original, and not at all after: a difference of 1.

    >>> from noren.data.frames import Table
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"sex": {"role": "quasi"}, "town": {"role": "quasi"}}})
    >>> original = Table.of({"sex": list("ffmm"), "town": list("aabb")}, schema)
    >>> after = Table.of({"sex": list("ffmm"), "town": list("abab")}, schema)
    >>> release = Release.of_aligned(original, after, Statement("hand"))
    >>> score = Association().measure(Evidence(original, release))
    >>> score.value, score.parts
    (1.0, {'sex × town': -1.0})
    """

    name = "association"
    summary = N_("How far associations between columns are from the original's; 0 is exact.")
    source = "S4"
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("mean absolute difference of Cramér's V or correlation")
    headlines = (Headline(N_("association error"), summary, of="perturbed", rank=3),)
    keeps = KeptShare(N_("associations of columns"), rank=1)
    needs = frozenset({"original", "public", "exact"})

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Compare every pair of columns."""
        rows = rows_of(self, evidence)
        known = [name for name in rows.names if rows.original[name].count()]
        pairs = list(combinations(known, 2))
        if not pairs or not len(rows.released):
            raise ParameterError(
                _(
                    "the release has fewer than two columns of the original to compare; release more columns, "
                    "or generalise fewer"
                )
            )
        cuts = {
            name: np.unique(np.quantile(rows.original[name].drop_nulls().to_numpy(), np.arange(1, _BINS) / _BINS))
            for name in known
            if not isinstance(rows.original[name].dtype, pl.Enum)
        }
        parts = {}
        for done, (first, second) in enumerate(pairs):
            progress(done / len(pairs), f"{first} × {second}")
            before, after = (_strength(frame, first, second, cuts) for frame in (rows.original, rows.released))
            parts[f"{first} × {second}"] = after - before
        return Score(sum(abs(d) for d in parts.values()) / len(pairs), parts)


def _strength(frame: pl.DataFrame, first: str, second: str, cuts: dict[str, np.ndarray]) -> float:
    if first in cuts and second in cuts:
        both = frame.select(first, second).drop_nulls().to_numpy()
        spread = both.std(axis=0) if len(both) else np.zeros(2)
        return float(abs(np.corrcoef(both.T)[0, 1])) if (spread > 0).all() else 0.0
    codes = []
    for name in (first, second):
        column = frame[name]
        if name in cuts:
            bins = np.searchsorted(cuts[name], column.fill_null(0.0).to_numpy(), side="right")
            # a blank is a value of its own
            codes.append(np.where(column.is_null().to_numpy(), len(cuts[name]) + 1, bins))
        else:
            codes.append(column.to_physical().to_numpy())
    return cramers_v(np.asarray(codes[0]), np.asarray(codes[1]))
