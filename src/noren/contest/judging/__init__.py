"""Scoring: checking submitted files and measuring them.

Pure functions of files and rulebook: the server, ``noren contest check`` and a replay years later call the same ones
and get the same bytes. They are :func:`~noren.contest.judging.checking.check_release` and ``check_guess``,
:func:`~noren.contest.judging.scoring.score_release` and ``score_guess``, and
:func:`~noren.contest.judging.prepared.make_target`. A :class:`~noren.contest.judging.scorer.ScorerProcess` runs them
in a separate process.

The scorer's name contains the versions of all libraries that can affect a digit. A contest is pinned to a scorer until
its organiser names another. A worker with other libraries is another scorer and does not score for that contest, so
that scoring never changes unnoticed during a contest.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Final

from noren.version import __version__

__all__ = ["SCORER", "VERSIONS"]

_SCORING: Final = 1
"""Incremented when the scores of the same file change."""
VERSIONS: Final = {"noren": __version__} | {name: version(name) for name in ("numba", "numpy", "polars", "scipy")}
_TEXT: Final = " ".join(f"{name} {number}" for name, number in sorted(VERSIONS.items()))
SCORER: Final = f"noren-{__version__}-scorer-{_SCORING}-{hashlib.sha256(_TEXT.encode()).hexdigest()[:8]}"
