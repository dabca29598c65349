"""How likely each person of a pool makes each public history or row, and what follows from that.

Let A(t, h) be the chance that a person t is shown as h. Of retention it is the product of its channels. Of any other
release h is one of the histories that fit t, each of whose rows fits a row of t's own, and the likelier the more
pseudonyms show it. If s pseudonyms show h, ``s·A(t, h) / Σ_u A(u, h)`` of them are t, as far as the pool knows.
Summed over all h this is t's likelihood ratio of being in the data against somebody drawn from the pool, up to a
factor: ``P(data | t in) / P(data) = 1/R · Σ_rows A(t, row) / mean_u A(u, row)``.

**Membership inference: is this person in the data? A score for each person of a pool; higher, likelier.**
The attacker knows all of a person's record and holds a list of people among whom the members are; he sees the public
part and the statement. Two ways. By *likelihood*: how many of the public histories would be this person's, if all who
fit one were as likely to be behind it, as above. By *nearness*, where values were moved and nothing fits:
how near the nearest public history is, in the unit of U, by the distance of the attack ``nearest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from noren.attacks.nearest import Nearest
from noren.data.fits import consistent_customers, sides_of
from noren.data.frames import History, Records, Table
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import SchemaError
from noren.i18n import _
from noren.inference.people import Pool, as_history
from noren.kernels.arrays import Real, Whole
from noren.kernels.reconstruction.retention import Channel
from noren.progress import Progress, silent
from noren.retention.perturbation import Perturbation, perturbation_of

_CELLS = 1 << 24


@dataclass(frozen=True)
class Shown:
    """Some different public histories or rows, and how likely each person makes them.

    Attributes
    ----------
    chance
        A(t, h): a row for each person of the pool, dense or sparse.
    place
        For each public row or pseudonym the h that it shows, counted from the first of these; below 0 or beyond: none.
    """

    chance: Any
    place: Whole

    @property
    def each(self) -> Real:
        """Σ_u A(u, h), 1 where nobody makes it."""
        total = np.asarray(self.chance.sum(axis=0)).ravel().astype(np.float64)
        return np.where(total > 0, total, 1.0)

    def shared(self, counts: Real) -> Real:
        """Return what each person has of what is counted for each h (a number, or one in each of several columns)."""
        per = self.each if counts.ndim == 1 else self.each[:, None]
        answer: Real = self.chance @ (counts / per)
        return answer


def is_retention(statement: Statement) -> bool:
    """Tell whether a release says how likely every value became every other."""
    return statement.method == "retention"


def shown(
    pool: Pool, public: Records, statement: Statement, columns: Sequence[str] | None = None, progress: Progress = silent
) -> Iterator[Shown]:
    """Yield the different public histories or rows, by some ``columns`` of a table alone where they are named."""
    if is_retention(statement) and isinstance(public, Table):
        yield from _by_channels(pool, public, perturbation_of(public.schema, statement), columns, progress)
        return
    people, said = as_history(only(pool.people, columns)), as_history(only(public, columns))
    found = consistent_customers(people, said, progress)
    pairs, sharing = found.of_history, found.sharing.astype(np.float64)
    fits = csr_array(
        (np.repeat(sharing, pairs.counts), pairs.customer.astype(np.int64), pairs.first),
        shape=(len(sharing), len(pool)),
    ).T.tocsr()
    whole = np.asarray(fits.sum(axis=1)).ravel()
    yield Shown(fits.multiply((1 / np.where(whole > 0, whole, 1.0))[:, None]).tocsr(), found.history)


def only(data: Records, columns: Sequence[str] | None = None) -> Records:
    """Return a table with some of its columns alone; left out, those that people may know of each other.

    They are the quasi and sensitive ones: names were taken out or drawn anew, and columns of role other are not used.
    """
    if isinstance(data, History):
        return data
    schema = data.schema
    if columns is None:
        told = schema.with_role(Role.QUASI, Role.SENSITIVE) or schema.with_role(Role.OTHER)
        columns = [column.name for column in told]
    kept = tuple(column for column in schema.columns if column.name in columns)
    if not kept:
        raise SchemaError(_("the table has no column that anybody could know"), _('give columns role = "quasi"'))
    frame = data.frame.select(column.name for column in kept)
    return replace(data, frame=frame, schema=schema.model_copy(update={"columns": kept}))


def _by_channels(
    pool: Pool, public: Table, noise: Perturbation, columns: Sequence[str] | None, progress: Progress
) -> Iterator[Shown]:
    at = [i for i, name in enumerate(noise.names) if columns is None or name in columns]
    noise = noise.only(at)
    people, released = noise.codes(pool.people.frame), noise.places(public.frame)
    # the different public rows, and which of them each row is
    frame = pl.DataFrame({str(at): column for at, column in enumerate(released)})
    once = frame.unique(maintain_order=True).with_row_index("place")
    rows = [once[name].to_numpy() for name in frame.columns]
    place = frame.join(once, on=frame.columns, how="left", maintain_order="left")["place"].cast(pl.Int64).to_numpy()
    size = max(_CELLS // len(pool), 1)
    for start in range(0, len(rows[0]), size):
        progress(start / len(rows[0]))
        block = [column[start : start + size] for column in rows]
        chance = np.ones((len(pool), len(block[0])))
        for channel, mine, theirs, points in zip(noise.channels, people, block, noise.sizes, strict=True):
            chance *= _chances(channel, mine, theirs, points)
        yield Shown(chance, np.where(place < start + size, place - start, -1))


def _chances(channel: Channel, mine: Whole, theirs: Whole, points: int) -> Real:
    """Return the chance that each value of ours becomes each of theirs.

    >>> _chances(0.5, np.array([0, 1]), np.array([0]), 2).tolist()
    [[0.75], [0.25]]
    """
    if isinstance(channel, np.ndarray):
        return np.asarray(channel[np.ix_(mine, theirs)], dtype=np.float64)
    same = mine[:, None] == theirs[None, :]
    chance: Real = (1 - channel) / points + channel * same.astype(np.float64)
    return chance


# --- Membership inference: is this person in the data? A score for each person of a pool; higher, likelier ------------


def by_likelihood(pool: Pool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return the likelihood ratio of each person to be in the data, up to a common factor.

    It is how many of the public histories or rows are each person's, if all are as likely as they make them.
    """
    total = np.zeros(len(pool))
    for part in shown(pool, public, statement, progress=progress):
        there = part.place[(part.place >= 0) & (part.place < part.chance.shape[1])]
        total += part.shared(np.bincount(there, minlength=part.chance.shape[1]).astype(np.float64))
    return total


def by_nearness(pool: Pool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return how near the nearest public history is to each person: 0 as it is, -1 nothing of it fits."""
    people, said = (as_history(only(side)) for side in (pool.people, public))
    sides = sides_of(people, said)
    # a row alone is compared with everybody: the short list is for histories, whose first rows choose it
    attack = Nearest() if isinstance(public, History) else Nearest(shortlist=len(pool))
    best, done = np.full(len(pool), np.inf), 0
    columns, rows = len(sides.columns), sides.known.counts
    for block in attack.distance_blocks(people, sides, progress):
        shown = sides.public.counts[done : done + len(block), None]
        best = np.minimum(best, (block / (columns * np.maximum(np.maximum(shown, rows[None, :]), 1))).min(axis=0))
        done += len(block)
    return -best


Way = Callable[[Pool, Records, Statement, Progress], Real]
MEMBERSHIP: Final[Mapping[str, Way]] = {"likelihood": by_likelihood, "nearness": by_nearness}


def ways(statement: Statement) -> list[str]:
    """Return the ways that tell something of a release: where its noise is known, the likelihood knows all there is."""
    return ["likelihood"] if is_retention(statement) else list(MEMBERSHIP)
