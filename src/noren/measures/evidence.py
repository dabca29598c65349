"""What a measure asks for before it answers, so that a missing part is never read as a good result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.release import Release, Secret
from noren.data.schema import Role
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.protocols import Evidence, Guess, Measure, Need


def at_hand(release: Release, guesses: Mapping[str, Guess]) -> set[Need]:
    """Return what measures of this release may ask for; a measure fits whose needs are among them."""
    there: set[Need] = {"original", "public"}
    if release.has_secret:
        there.add("secret")
    if guesses:
        there.add("guess")
    if not release.public.generalised:
        there.add("exact")
    return there


def must_have(measure: Measure, *, guesses: bool, secret: bool, generalised: bool, made_of: int, rows: int) -> None:
    """Stop where a measure lacks what it looks at, by what is there of a release of ``made_of`` rows."""
    if "guess" in measure.needs and not guesses:
        raise ParameterError(
            _("{measure} judges attacks, and there is no guess").format(measure=measure.name),
            _("run an attack first and hand its guess over (--guess)"),
        )
    if "secret" in measure.needs and not secret:
        raise ParameterError(
            _("{measure} needs the secret part of the release").format(measure=measure.name),
            _("name the folder that noren protect wrote, not the published one"),
        )
    if "exact" in measure.needs and generalised:
        raise ParameterError(
            _("{measure} compares exact values, and the release has sets or intervals").format(measure=measure.name),
            _("use cell-error or item-similarity, or draw exact data from it (noren draw)"),
        )
    if "secret" in measure.needs and made_of != rows:
        raise ParameterError(
            _("the release was made of {made:,} rows, the original has {rows:,}").format(made=made_of, rows=rows),
            _("name the original that was protected"),
        )


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


def aligned_history(evidence: Evidence, only: Collection[Role]) -> History:
    """Return the released rows beside the original's, deleted ones as rows of nulls; the customer and some columns."""
    _stop_at_another_original(evidence)
    release, public = evidence.release, evidence.release.public
    left = [c.name for c in public.schema.columns if c.role not in (Role.CUSTOMER, *only)]
    shown = replace(public, frame=public.frame.drop(left), schema=public.schema.without(left), spelling=Spelling())
    aligned = replace(release, public=shown).aligned()
    if not isinstance(aligned, History):
        raise SchemaError(_("the release is a table"), _("this measure judges purchase histories"))
    return aligned


class Sourced(NamedTuple):
    """Public rows that have an original, and which original row each stands for."""

    frame: pl.DataFrame
    origin: pl.Series


def sourced_rows(evidence: Evidence) -> Sourced:
    """Return the public rows that stand for original rows; cheaper than :func:`aligned_history`, which moves cells."""
    _stop_at_another_original(evidence)
    public, origin = evidence.release.public, secret_of(evidence).origin
    if not isinstance(public, History):
        raise SchemaError(_("the release is a table"), _("this measure judges purchase histories"))
    if origin.null_count():
        return Sourced(public.frame.filter(origin.is_not_null()), origin.drop_nulls())
    return Sourced(public.frame, origin)


def _stop_at_another_original(evidence: Evidence) -> None:
    rows, made_of = len(original_history(evidence)), secret_of(evidence).original_rows
    if made_of != rows:
        raise ParameterError(
            _("the release was made of {released:,} rows, the original has {original:,}").format(
                released=made_of, original=rows
            ),
            _("give the original that was protected"),
        )
