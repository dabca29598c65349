"""The people of an inference study: members and controls, mixed and without names.

An inference sees the pool, never who in it is a member. The order of the pool is drawn, so that nothing that breaks
ties by order can know it either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import binom

from noren.data.arrays import exact_values
from noren.data.compatibility import history_classes
from noren.data.formats.render import Spelling
from noren.data.frames import History, Records
from noren.data.schema import Column, Kind, Role
from noren.errors import ParameterError, SchemaError
from noren.kernels.arrays import Flags, Whole
from noren.tables import Texts

say = Texts(__name__)

FEWEST = 20
"""The minimum number of members and of controls; fewer cannot be distinguished from chance."""
_RARE = 0.9
_MOST_RARE = 0.3
_SURELY = 1e-6
_PERSON = "\0person"


@dataclass(frozen=True)
class PeoplePool:
    """People to be inferred about."""

    people: Records
    """Their records, person by person; of a history the customer is the person's number."""
    member: Flags
    """Who of them is in the data. No inference looks at it."""
    rare: Flags
    """Who of them belongs to the rarest tenth."""

    def __len__(self) -> int:
        return len(self.member)


def split(original: Records, hold_out: float, seed: int) -> tuple[Records, Records]:
    """Return the members, who are to be protected, and a share of people held out as controls, drawn by the seed.

    >>> from noren.data.frames import Table
    >>> from noren.data.schema import Schema
    >>> ages = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> members, controls = split(Table.of({"age": list(range(100))}, ages), 0.3, seed=1)
    >>> len(members), len(controls), set(members.frame["age"]) & set(controls.frame["age"])
    (70, 30, set())
    """
    if not 0 < hold_out < 1:
        raise ParameterError.out_of_range("hold-out", hold_out, "0 < hold-out < 1")
    known = _numbered(original)
    count = _people(known)
    held = round(hold_out * count)
    _reject_few(count - held, held)
    out = np.zeros(count, dtype=np.bool_)
    out[_order(count, seed, 0)[:held]] = True
    is_out = pl.Series(out).gather(known[_PERSON].fill_null(0)).set(known[_PERSON].is_null(), value=None)
    return original.take((~is_out).arg_true()), original.take(is_out.arg_true())


def pool_of(members: Records, controls: Records, targets: int, seed: int) -> PeoplePool:
    """Return at most ``targets`` members and as many controls, mixed; the seed draws who and in what order."""
    sides = [_numbered(members), _numbered(controls)]
    counts = [_people(side) for side in sides]
    _reject_few(*counts)
    taken = [np.sort(_order(count, seed, 1 + at)[:targets]) for at, count in enumerate(counts)]
    size = len(taken[0]) + len(taken[1])
    place = np.empty(size, dtype=np.int64)
    place[_order(size, seed, 3)] = np.arange(size)
    names = members.schema.names
    rows = []
    for side, chosen, where in zip(sides, taken, np.split(place, [len(taken[0])]), strict=True):
        known = pl.DataFrame({_PERSON: chosen, "\0place": where})
        rows.append(side.select(*names, _PERSON).join(known, on=_PERSON, how="inner", maintain_order="left"))
    frame = pl.concat(rows, how="vertical_relaxed").sort("\0place", maintain_order=True)
    rare = _rare(members, controls, sides, counts)
    among = np.concatenate([rare[taken[0]], rare[counts[0] :][taken[1]]])
    member, is_rare = np.empty(size, dtype=np.bool_), np.empty(size, dtype=np.bool_)
    member[place] = np.arange(size) < len(taken[0])
    is_rare[place] = among
    if isinstance(members, History):
        name = members.schema.role(Role.CUSTOMER).name
        frame = frame.with_columns(pl.col("\0place").cast(pl.String).alias(name))
    people = replace(members, frame=frame.select(names), spelling=Spelling())
    return PeoplePool(people, member, is_rare)


def as_history(data: Records) -> History:
    """Return a table as a history in which everybody has one row: what compares histories then compares people.

    >>> from noren.data.frames import Table
    >>> from noren.data.schema import Schema
    >>> ages = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> as_history(Table.of({"age": [31, 44]}, ages)).customers.to_list()
    ['0', '1']
    """
    if isinstance(data, History):
        return data
    who = "person"
    while who in data.frame.columns:
        who += "_"
    columns = (
        Column(name=who, role=Role.CUSTOMER),
        *(c.model_copy(update={"role": Role.OTHER}) for c in data.schema.columns),
    )
    schema = data.schema.model_copy(update={"kind": Kind.HISTORY, "columns": columns, "official": None})
    return History(data.frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias(who)), schema)


def reject_overlap(members: Records, controls: Records) -> None:
    """Stop where people of the control group are in the data.

    They are by name where customers or identifiers are the same. Without names, records that are the same tell: some
    people are alike, and as many controls may be like a member as members are like another; more are copies.
    """
    if members.schema.kind != controls.schema.kind or members.schema.names != controls.schema.names:
        raise SchemaError(say("other_columns"))
    for column in members.schema.with_role(Role.CUSTOMER, Role.IDENTIFIER):
        known, others = (side.frame[column.name].drop_nulls().unique() for side in (members, controls))
        common = len(others.filter(others.is_in(known.implode())))
        if common:
            raise ParameterError(say("overlap_by_name", count=common, people=len(others)), column=column.name)
    # which controls have the record of a member, and which members that of another member
    parts = []
    for mark, side in (("m", members), ("c", controls)):
        history = as_history(side)
        name = history.schema.role(Role.CUSTOMER).name
        own = (mark + pl.col(name).cast(pl.String)).alias(name)
        parts.append(history.frame.select(history.schema.names).with_columns(own))
    classes = history_classes(replace(history, frame=pl.concat(parts, how="vertical_relaxed"), spelling=Spelling()))
    kind, is_member = classes["class"].to_numpy(), classes["pseudonym"].str.starts_with("m").to_numpy()
    of_members = np.bincount(kind[is_member], minlength=int(kind.max()) + 1)
    alike, twins = of_members[kind[~is_member]] > 0, of_members[kind[is_member]] > 1
    if binom.sf(int(alike.sum()) - 1, len(alike), min(float(twins.mean()) + 1 / len(twins), 1.0)) < _SURELY:
        raise ParameterError(
            say("overlap_by_record", count=int(alike.sum()), people=len(alike), share=float(twins.mean()))
        )


def _rare(members: Records, controls: Records, sides: list[pl.DataFrame], counts: list[int]) -> Flags:
    """Return who belongs to the rarest tenth of all: those whose items or values the fewest others have.

    It goes by the mean self-information of each person's items, or values of quasi columns.
    """
    schema = members.schema
    columns = schema.with_role(Role.ITEM) if schema.kind == Kind.HISTORY else schema.with_role(Role.QUASI)
    total = np.zeros(sum(counts))
    person = pl.concat([sides[0][_PERSON].cast(pl.Int64), sides[1][_PERSON].cast(pl.Int64) + counts[0]])
    for column in columns:
        values = pl.concat(exact_values(side, column).cast(pl.String) for side in (members, controls))
        held = pl.DataFrame({"person": person, "value": values}).drop_nulls().unique()
        bits = held.select("person", bits=-(pl.len().over("value") / sum(counts)).log())
        mean = bits.group_by("person").agg(pl.col("bits").mean())
        total[mean["person"].to_numpy()] += mean["bits"].to_numpy()
    rare: Flags = total >= np.quantile(total, _RARE)
    return rare if rare.mean() <= _MOST_RARE else np.zeros(len(total), dtype=np.bool_)


def _numbered(data: Records) -> pl.DataFrame:
    """Return the rows with the number of their person, in order of first appearance; none where nobody owns the row."""
    if not isinstance(data, History):
        return data.frame.with_columns(pl.int_range(pl.len()).alias(_PERSON))
    who = data.customers
    name = data.schema.role(Role.CUSTOMER).name
    known = pl.DataFrame({name: who, _PERSON: pl.int_range(len(who), eager=True)})
    return data.frame.join(known, on=name, how="left", maintain_order="left")


def _people(numbered: pl.DataFrame) -> int:
    last: Any = numbered[_PERSON].max()
    return 0 if last is None else int(last) + 1


def _order(count: int, seed: int, draw: int) -> Whole:
    # the raw stream is what numpy promises to keep
    return np.argsort(np.random.Philox(key=[seed, draw]).random_raw(count), kind="stable")


def _reject_few(members: int, controls: int) -> None:
    if min(members, controls) < FEWEST:
        raise ParameterError(say("too_few", members=members, controls=controls, fewest=FEWEST))
