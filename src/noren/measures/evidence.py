"""Checks of the evidence that a measure needs, so that a missing part never counts as a good result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noren.data.frames import History, Table
from noren.data.release import Release, Secret
from noren.errors import ParameterError, SchemaError
from noren.protocols import Evidence, Guess, Measure, Need
from noren.tables import Texts

say = Texts(__name__)


def available_evidence(release: Any, guesses: Mapping[str, Any]) -> set[Need]:
    """Return what measures of this release, here or on a cluster, may ask for; a measure fits whose needs it has."""
    there: set[Need] = {"original", "public"}
    if release.has_secret:
        there.add("secret")
    if guesses:
        there.add("guess")
    if not release.public.generalised:
        there.add("exact")
    return there


def require_evidence(measure: Measure, there: set[Need], *, made_of: int, rows: int) -> None:
    """Stop where a measure lacks what it looks at, by what is ``there`` of a release of ``made_of`` rows."""
    for need in ("guess", "secret", "exact"):
        if need in measure.needs - there:
            raise ParameterError(say(f"needs_{need}", measure=measure.name))
    if "secret" in measure.needs and made_of != rows:
        raise ParameterError(say("another_original", released=made_of, original=rows))


def original_history(evidence: Evidence) -> History:
    """Return the original, which must be a history."""
    if not isinstance(evidence.original, History):
        raise SchemaError(say("original_is_table"))
    return evidence.original


def secret_of(evidence: Evidence) -> Secret:
    """Return the secret part of the release, which must be at hand."""
    if not evidence.release.has_secret:
        raise ParameterError(say("no_secret"))
    return evidence.release.secret


def guesses_of(evidence: Evidence) -> Mapping[str, Guess]:
    """Return the guesses, at least one: without an attack there is nothing to say about safety."""
    if not evidence.guesses:
        raise ParameterError(say("no_guess"))
    return evidence.guesses


def public_history(release: Release) -> History:
    """Return the public part, which must be a history."""
    if not isinstance(release.public, History):
        raise SchemaError(say("release_is_table"))
    return release.public


def public_table(release: Release) -> Table:
    """Return the public part, which must be a table."""
    if not isinstance(release.public, Table):
        raise SchemaError(say("release_is_history"))
    return release.public


def both_tables(evidence: Evidence) -> tuple[Table, Table]:
    """Return the original and the public part, which must be tables."""
    original, public = evidence.original, evidence.release.public
    if not (isinstance(original, Table) and isinstance(public, Table)):
        raise SchemaError(say("data_are_history"))
    return original, public


def reject_another_original(evidence: Evidence) -> None:
    """Stop where the release was not made of as many rows as the original has."""
    rows, made_of = len(evidence.original), secret_of(evidence).original_rows
    if made_of != rows:
        raise ParameterError(say("another_original", released=made_of, original=rows))
