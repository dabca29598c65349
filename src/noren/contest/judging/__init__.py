"""Judging: is a file what the rules ask for, and what is it worth?

Pure functions of files and rulebook: the server, ``noren contest check`` and a replay years later call the same ones
and get the same bytes. They are :func:`~noren.contest.judging.checking.check_release` and ``check_guess``,
:func:`~noren.contest.judging.scoring.score_release` and ``score_guess``, and
:func:`~noren.contest.judging.prepared.make_target`. A :class:`~noren.contest.judging.scorer.ScorerProcess` runs them
where they can do no harm.

By what scores are made here is in the scorer's name, which a contest pins until its organiser names another. The name
holds the versions of all that may move a last digit. A worker with other libraries is another scorer: it does not judge
for a contest that is pinned to this one, so that scoring never changes unseen in the middle of a cup.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Final

from noren.version import __version__

__all__ = ["SCORER", "VERSIONS"]

_SCORING: Final = 1
"""Grows when what is scored of the same file changes."""
VERSIONS: Final = {"noren": __version__} | {name: version(name) for name in ("numba", "numpy", "polars", "scipy")}
_TEXT: Final = " ".join(f"{name} {number}" for name, number in sorted(VERSIONS.items()))
SCORER: Final = f"noren-{__version__}-scorer-{_SCORING}-{hashlib.sha256(_TEXT.encode()).hexdigest()[:8]}"
