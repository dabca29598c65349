"""An attacker who knows how a release was made makes one like it, and sees which attack finds most there.

The statement of a release is public: methods and their parameters. Whoever knows them can protect purchases of their
own choice in the same way, with a seed of their own, and knows the truth about that release. What an attack finds in
the rehearsal foretells what it finds in the release itself; the truth about the release is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from noren.data.frames import History
from noren.data.knowledge import partial
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import InputError, UnknownNameError
from noren.progress import Progress, silent
from noren.protocols import Method

__all__ = ["Rehearsal", "rehearsal", "runs_again"]

_NEARLY_ALL = 0.95
_STREAM = 0x5EED
"""Keeps the seed of a rehearsal apart from the seed of the attack."""


@dataclass(frozen=True)
class Rehearsal:
    """A release like the one attacked, what is known of it, and the truth: ``pseudonym`` and ``customer``."""

    known: History
    public: History
    truth: pl.DataFrame


def rehearsal(
    known: History,
    public: History,
    statement: Statement,
    names: pl.DataFrame,
    *,
    seed: int,
    progress: Progress = silent,
) -> Rehearsal | None:
    """Protect purchases like the original's once more; None where the method cannot be run again.

    What is protected are the known rows, or the public ones if those are more: then each pseudonym stands for a
    customer. The same share of it is known as of the original. Methods that generalise by a long search are not run
    again.

    Parameters
    ----------
    names
        ``pseudonym`` and ``customer``: what to call pseudonyms, if they change with time, so that months hang
        together. It need not be right.
    """
    method = _method(statement)
    if method is None or not len(known) or not len(public):
        return None
    acted = known if len(known) > _NEARLY_ALL * len(public) or public.generalised else _named(public, names)
    own = int(np.random.SeedSequence([_STREAM, seed]).generate_state(1, np.uint64)[0]) >> 1
    try:
        release = method.protect(acted, seed=own, progress=progress)
    except InputError:
        return None
    if not isinstance(release.public, History) or not len(release.public):
        return None
    # the original has as many rows as it takes to release the public ones
    share = len(known) * len(release.public) / (len(public) * len(acted))
    knows = acted if share > _NEARLY_ALL else partial(acted, share, own, item_prefix=_letters(known, public))
    return Rehearsal(knows, release.public, release.secret.pseudonyms.select("pseudonym", "customer").unique())


def runs_again(step: Method | type[Method]) -> bool:
    """Tell whether a rehearsal runs this method: not one that generalises by a long search."""
    return not (step.generalises and step.best_so_far)


def _method(statement: Statement) -> Method | None:
    """Return the method that a statement tells of; None where it is not ours, says too little or searches for long."""
    from noren.methods import methods

    try:
        if not all(runs_again(methods[step.method]) for step in statement.steps):
            return None
        return methods.create("chain", steps=[{"method": s.method} | s.parameters for s in statement.steps])
    except (InputError, UnknownNameError):
        return None


def _named(public: History, names: pl.DataFrame) -> History:
    """Return public rows as an original: pseudonyms are customers, those of one customer under one name."""
    customer = public.schema.role(Role.CUSTOMER).name
    called = names.select("pseudonym", name=pl.col("customer")).unique("pseudonym", keep="first", maintain_order=True)
    rows = public.frame.select(pseudonym=pl.col(customer).cast(pl.String))
    name = rows.join(called, on="pseudonym", how="left", maintain_order="left").select(
        pl.when(pl.col("name").is_null()).then("? " + pl.col("pseudonym")).otherwise("name").alias(customer)
    )
    return replace(public, frame=public.frame.with_columns(name.to_series()), master=None)


def _letters(known: History, public: History) -> int | None:
    """Return how many characters of items are known, where they were cut."""
    column = public.schema.with_role(Role.ITEM)
    if not column or public.generalised:
        return None
    most = [
        side.frame.select(pl.col(column[0].name).cast(pl.String).str.len_chars().max()).item() or 0
        for side in (known, public)
    ]
    return most[0] if 0 < most[0] < most[1] else None
