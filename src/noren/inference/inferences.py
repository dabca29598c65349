"""Membership and attribute inference from the likelihood of each public history or row.

Let A(t, h) be the chance that a person t is shown as h. Of retention it is the product of its channels. Of any other
release h is one of the histories that fit t, each of whose rows fits a row of t's own, and the likelier the more
pseudonyms show it. If s pseudonyms show h, ``s·A(t, h) / Σ_u A(u, h)`` of them are t, as far as the pool knows.
Summed over all h this is t's likelihood ratio of being in the data against somebody drawn from the pool, up to a
factor: ``P(data | t in) / P(data) = 1/R · Σ_rows A(t, row) / mean_u A(u, row)``.

**Membership inference: is this person in the data?** Each person of a pool gets a score; a higher one is likelier. The
attacker knows a person's whole record, a list of people that includes the members, the public part and the statement.
By *likelihood*, the score is the expected number of public histories that are this person's, as above. By *nearness*,
for values that were moved so that nothing fits, it is the distance to the nearest public history, as in ``nearest``.

**Attribute inference: what does a release disclose about a person?** One guess for each person of a pool. In a *table*
the attacker knows a person's quasi columns and guesses a secret one: the public rows vote, each with the share of it
that is expected to be this person's. In a *history* he knows half of the different items that somebody bought and
guesses one more: the surest item of the public history most similar to that half, where rare items weigh most; ties go
to the item that most public histories have. Many guesses are right about anybody, so controls are guessed as well, and
only the success beyond theirs is a leak (Giomi et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from noren.attacks.nearest import Nearest
from noren.data.arrays import exact_values, numbers, people
from noren.data.cells import is_generalised, is_set
from noren.data.compatibility import comparison_arrays, consistent_customers, history_classes
from noren.data.frames import History, Records, Table
from noren.data.schema import Role, Scale, Schema
from noren.data.statement import Statement
from noren.errors import ParameterError, SchemaError, suggestion
from noren.i18n import _
from noren.inference.people import PeoplePool, as_history
from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.reconstruction.retention import Channel
from noren.progress import Progress, silent
from noren.retention.perturbation import perturbation_of
from noren.tables import Texts

say = Texts(__name__)

_CELLS = 1 << 24


@dataclass(frozen=True)
class PublicVariants:
    """Some different public histories or rows, and how likely each person makes them."""

    chance: Any
    """A(t, h): a row for each person of the pool, dense or sparse."""
    place: Whole
    """For each public row or pseudonym the h that it shows, counted from the first; below 0 or beyond: none."""

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


def public_variants(
    pool: PeoplePool,
    public: Records,
    statement: Statement,
    columns: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Iterator[PublicVariants]:
    """Yield the different public histories or rows, by some ``columns`` of a table alone where they are named."""
    if statement.method == "retention" and isinstance(public, Table):  # it says how likely values became others
        noise = perturbation_of(public.schema, statement)
        noise = noise.only([i for i, name in enumerate(noise.names) if columns is None or name in columns])
        codes, released = noise.codes(pool.people.frame), noise.places(public.frame)
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
            for channel, mine, theirs, points in zip(noise.channels, codes, block, noise.sizes, strict=True):
                chance *= _chances(channel, mine, theirs, points)
            yield PublicVariants(chance, np.where(place < start + size, place - start, -1))
        return
    people, history = as_history(only(pool.people, columns)), as_history(only(public, columns))
    consistent = consistent_customers(people, history, progress)
    pairs, sharing = consistent.of_history, consistent.sharing.astype(np.float64)
    fits = csr_array(
        (np.repeat(sharing, pairs.counts), pairs.customer.astype(np.int64), pairs.first),
        shape=(len(sharing), len(pool)),
    ).T.tocsr()
    whole = np.asarray(fits.sum(axis=1)).ravel()
    yield PublicVariants(fits.multiply((1 / np.where(whole > 0, whole, 1.0))[:, None]).tocsr(), consistent.history)


def only(data: Records, columns: Sequence[str] | None = None) -> Records:
    """Return a table with some of its columns alone; left out, those that people may know of each other.

    They are the quasi and sensitive ones: names were taken out or drawn anew, and columns of role other are not used.
    """
    if isinstance(data, History):
        return data
    schema = data.schema
    if columns is None:
        known_roles = schema.with_role(Role.QUASI, Role.SENSITIVE) or schema.with_role(Role.OTHER)
        columns = [column.name for column in known_roles]
    columns_kept = tuple(column for column in schema.columns if column.name in columns)
    if not columns_kept:
        raise SchemaError(say("no_known_column"))
    frame = data.frame.select(column.name for column in columns_kept)
    return replace(data, frame=frame, schema=schema.model_copy(update={"columns": columns_kept}))


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


def by_likelihood(pool: PeoplePool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return the likelihood ratio of each person to be in the data, up to a common factor.

    It is how many of the public histories or rows are each person's, if all are as likely as they make them.
    """
    total = np.zeros(len(pool))
    for part in public_variants(pool, public, statement, progress=progress):
        there = part.place[(part.place >= 0) & (part.place < part.chance.shape[1])]
        total += part.shared(np.bincount(there, minlength=part.chance.shape[1]).astype(np.float64))
    return total


def by_nearness(pool: PeoplePool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return how near the nearest public history is to each person: 0 as it is, -1 nothing of it fits."""
    people, released = (as_history(only(side)) for side in (pool.people, public))
    sides = comparison_arrays(people, released)
    # a row alone is compared with everybody: the short list is for histories, whose first rows choose it
    attack = Nearest() if isinstance(public, History) else Nearest(shortlist=len(pool))
    best, done = np.full(len(pool), np.inf), 0
    columns, rows = len(sides.columns), sides.known.counts
    for block in attack.distance_blocks(people, sides, progress):
        counts = sides.public.counts[done : done + len(block), None]
        best = np.minimum(best, (block / (columns * np.maximum(np.maximum(counts, rows[None, :]), 1))).min(axis=0))
        done += len(block)
    return -best


Way = Callable[[PeoplePool, Records, Statement, Progress], Real]
MEMBERSHIP: Final[Mapping[str, Way]] = {"likelihood": by_likelihood, "nearness": by_nearness}


def ways(statement: Statement) -> list[str]:
    """Return the ways that tell something of a release: where its noise is known, the likelihood knows all there is."""
    return ["likelihood"] if statement.method == "retention" else list(MEMBERSHIP)


# --- Attribute inference: what does a release tell of a person that was not known? One guess for each person of a pool


_NEAR = 0.05
_BLOCK = 256


class Guesses(NamedTuple):
    """Of whom the secret was guessed rightly, and who had one to guess."""

    right: Flags
    has_secret: Flags


def secrets_of(original: Schema, public: Records, named: str | None = None) -> list[str]:
    """Return the columns to guess: the one that is named, else the sensitive ones; of a history the item."""
    if isinstance(public, History):
        if not public.schema.with_role(Role.ITEM):
            raise SchemaError(say("no_items"))
        return [public.schema.role(Role.ITEM).name]
    there = [name for name in public.schema.names if name in original.names]
    if named is not None and named not in there:
        raise SchemaError(say("unknown_secret", name=named, hint=suggestion(named, there)))
    secret = [named] if named else [c.name for c in original.with_role(Role.SENSITIVE) if c.name in there]
    if not secret:
        raise SchemaError(say("no_secret"))
    return secret


# --- tables ----------------------------------------------------------------------------------------------------------


def vote(pool: PeoplePool, public: Table, statement: Statement, secret: str, progress: Progress = silent) -> Guesses:
    """Guess a secret column of each person from the public rows that may be theirs; see the text above."""
    column = public.schema[secret]
    if is_generalised(public.frame[secret].dtype):
        raise SchemaError(say("secret_generalised"), column=secret)
    known = [
        c.name for c in pool.people.schema.with_role(Role.QUASI) if c.name in public.schema.names and c.name != secret
    ]
    if not known:
        raise SchemaError(say("no_known_column"))
    rows = public.frame[secret].cast(pl.String) if column.scale == Scale.NOMINAL else public.frame[secret]
    values, own = rows.drop_nulls().unique().sort(), pool.people.frame[secret]
    # true values as codes (-1: no public row has it, -2: missing), and the public ones
    places = pl.DataFrame({"value": values, "code": pl.int_range(len(values), eager=True)})
    ours, theirs = (
        pl.DataFrame({"value": cells}).join(places, on="value", how="left", maintain_order="left")["code"].fill_null(-1)
        for cells in (own.cast(values.dtype, strict=False), rows)
    )
    truth, value = ours.set(own.is_null(), -2).to_numpy(), theirs.to_numpy()
    total = np.bincount(value[value >= 0], minlength=len(values)).astype(np.float64)
    votes = np.zeros((len(pool), len(values)))
    for part in public_variants(pool, public, statement, known, progress):
        size = part.chance.shape[1]
        here = (part.place >= 0) & (part.place < size) & (value >= 0)
        cell = part.place[here] * len(values) + value[here]
        counts = np.bincount(cell, minlength=size * len(values)).reshape(size, len(values))
        votes += part.shared(counts.astype(np.float64))
    votes[votes.sum(axis=1) == 0] = total  # whom nothing fits is guessed to be like most
    if column.scale == Scale.NOMINAL:
        guess = (votes + total / max(total.sum(), 1) * 1e-9).argmax(axis=1)
        right = truth == guess
    else:
        guess = (np.cumsum(votes, axis=1) >= votes.sum(axis=1, keepdims=True) / 2).argmax(axis=1)
        guessed, true = numbers(values)[guess], numbers(exact_values(pool.people, pool.people.schema[secret]))
        right = np.abs(guessed - true) <= _NEAR * np.abs(true)
    return Guesses(right, truth >= -1)


# --- histories -------------------------------------------------------------------------------------------------------


def unseen_item(pool: PeoplePool, public: History, seed: int, progress: Progress = silent) -> Guesses:
    """Name one item that each person bought, beyond the half of them that is known; the seed draws the half."""
    if not isinstance(pool.people, History):
        raise ParameterError(say("no_purchases"))
    released, sharing, items = _released(public)
    # the different items of each person
    who, _people = people(pool.people[Role.CUSTOMER])
    item = exact_values(pool.people, pool.people.schema.role(Role.ITEM)).cast(pl.String)
    bought = pl.DataFrame({"who": who, "item": item}).drop_nulls().unique().sort("who", "item")
    # the half of the items that is known of each person, and the other half; the larger one is known
    drawn = pl.Series(np.random.Philox(key=[seed, 4]).random_raw(len(bought)))
    rank = pl.col("drawn").rank("ordinal").over("who")
    halves = bought.with_columns(drawn.alias("drawn")).with_columns(known=rank * 2 <= pl.len().over("who") + 1)
    places = pl.DataFrame({"item": items, "place": pl.int_range(len(items), eager=True)})
    coded = halves.join(places, on="item", how="inner", maintain_order="left")
    known, hidden = (
        csr_array((np.ones(len(half)), (half["who"].to_numpy(), half["place"].to_numpy())), (len(pool), len(items)))
        for half in (coded.filter("known"), coded.filter(~pl.col("known")))
    )
    popular = sharing @ released / max(sharing.sum(), 1)
    weight = -np.log(np.clip(popular, 1 / (2 * max(sharing.sum(), 1)), 1.0)) + 1e-9
    weighted = (known.multiply(weight[None, :])).tocsr()
    whole_known, whole_released = np.asarray(weighted.sum(axis=1)).ravel(), released @ weight
    right = np.zeros(len(pool), dtype=np.bool_)
    for start in range(0, len(pool), _BLOCK):
        progress(start / len(pool), _("comparing rows"))
        mine = slice(start, min(start + _BLOCK, len(pool)))
        overlap = (weighted[mine] @ released.T).toarray()
        either = whole_known[mine][:, None] + whole_released[None, :] - overlap
        best = (overlap / np.maximum(either, 1e-9)).argmax(axis=1)
        sure = released[best].toarray() + popular[None, :]
        sure[known[mine].toarray() > 0] = -1.0
        right[mine] = hidden[mine].toarray()[np.arange(len(best)), sure.argmax(axis=1)] > 0
    # who has two items at least: one to be known, one to be guessed
    return Guesses(right, np.bincount(bought["who"].to_numpy(), minlength=len(pool)) >= 2)


def _released(public: History) -> tuple[csr_array, Real, pl.Series]:
    """Return how sure each item is in each different public history, how many share it, and the items."""
    classes = history_classes(public)
    item, customer = (public.schema.role(role).name for role in (Role.ITEM, Role.CUSTOMER))
    first = classes.unique("class", keep="first", maintain_order=True)
    cells = public.frame.select(pl.col(customer).alias("pseudonym"), pl.col(item).alias("item"))
    cells = cells.join(first, on="pseudonym", how="inner", maintain_order="left").drop_nulls("item")
    if is_set(public.frame[item].dtype):
        sure = 1 / pl.col("item").list.n_unique()
        cells = cells.with_columns(sure=sure).explode("item").drop_nulls("item")
    else:
        cells = cells.with_columns(sure=pl.lit(1.0))
    once = cells.with_columns(pl.col("item").cast(pl.String)).group_by("class", "item").agg(pl.col("sure").max())
    items = once["item"].unique().sort()
    place = once["item"].cast(pl.Enum(items)).to_physical().cast(pl.Int64).to_numpy()
    shape = (len(first), len(items))
    sets = csr_array((once["sure"].to_numpy(), (once["class"].cast(pl.Int64).to_numpy(), place)), shape=shape)
    return sets, np.bincount(classes["class"].to_numpy(), minlength=len(first)).astype(np.float64), items
