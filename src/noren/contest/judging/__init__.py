"""Judging: is a file what the rules ask for, and what is it worth?

Pure functions of files and rulebook: the server, ``noren contest check`` and a replay years later call the same ones
and get the same bytes. They are :func:`~noren.contest.judging.checking.check_release` and ``check_guess``,
:func:`~noren.contest.judging.scoring.score_release` and ``score_guess``, and
:func:`~noren.contest.judging.targets.make_target`. A :class:`~noren.contest.judging.bench.ScorerProcess` runs them
where they can do no harm.
"""

from noren.contest.judging.pinned import SCORER, VERSIONS

__all__ = ["SCORER", "VERSIONS"]
