"""What a measure asks for before it answers, so that a missing part is never read as a good result."""

from __future__ import annotations

from collections.abc import Mapping

from noren.data.frames import History
from noren.data.release import Secret
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.protocols import Evidence, Guess

__all__ = ["aligned_history", "guesses_of", "original_history", "secret_of"]


def original_history(evidence: Evidence) -> History:
    """Return the original, which must be a history."""
    if not isinstance(evidence.original, History):
        raise SchemaError(_("the original is a table"), _("this measure judges purchase histories"))
    return evidence.original


def secret_of(evidence: Evidence) -> Secret:
    """Return the secret part of the release, which must be at hand."""
    if not evidence.release.has_secret:
        raise ParameterError(
            _("the release has no secret part"),
            _("measure the folder that was protected into, not its published copy"),
        )
    return evidence.release.secret


def guesses_of(evidence: Evidence) -> Mapping[str, Guess]:
    """Return the guesses, at least one: without an attack there is nothing to say about safety."""
    if not evidence.guesses:
        raise ParameterError(_("there is no guess to judge"), _("run an attack first, such as unique-rows"))
    return evidence.guesses


def aligned_history(evidence: Evidence) -> History:
    """Return the released rows beside the original's, deleted ones as rows of nulls."""
    original = original_history(evidence)
    secret = secret_of(evidence)
    aligned = evidence.release.aligned()
    if secret.original_rows != len(original) or len(aligned) != len(original):
        raise ParameterError(
            _("the release was made of {released:,} rows, the original has {original:,}").format(
                released=secret.original_rows, original=len(original)
            ),
            _("give the original that was protected"),
        )
    if not isinstance(aligned, History):
        raise SchemaError(_("the release is a table"), _("this measure judges purchase histories"))
    return aligned
