"""Schema and statement of the public part, which reveal no more of the original than its rows, and the last scan.

A schema is the steward's. Its title, its name (often that of a file), its domains and its bounds may tell who is in the
data and which values there were before some were taken out. A preset ships with Noren, so what it says is public.

:func:`scanned` is the last look at what is about to leave: does a public column still identify people? Whatever the
method, ours or another's, identifiers of a history are dropped here, and a public part with a column that identifies
people is refused. A steward may keep such a column by its name; the statement then says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.cells import is_interval, is_set
from noren.data.frames import History, Records
from noren.data.guessing.identifying import Identifying, identifying_columns
from noren.data.schema import PRESETS, Role, Schema
from noren.data.statement import Statement
from noren.errors import SchemaError
from noren.tables import Texts

say = Texts(__name__)

_NAMING = (Role.CUSTOMER, Role.IDENTIFIER)
_FILES = ("categories", "hierarchies")


def published_schema(schema: Schema, statement: Statement, rows: pl.DataFrame | None = None) -> Schema:
    """Return the schema to publish with ``rows``; the attributes of a retention keep what its promise rests on.

    >>> columns = {"customer": {"role": "customer", "domain": ["ann", "bob"]},
    ...            "item": {"role": "item", "domain": ["x", "y"]}}
    >>> own = Schema.of({"name": "acme", "title": "ours", "columns": columns})
    >>> rows = pl.DataFrame({"customer": ["p1"], "item": ["x"]})
    >>> public = published_schema(own, Statement("by hand"), rows)
    >>> public.name, public.title, public["customer"].domain, public["item"].domain
    ('custom', '', None, ('x',))
    """
    preset = Schema.preset(schema.name) if schema.name in PRESETS else None
    public = [] if preset is None else list(preset.columns)
    # the attributes whose domains the statement rests on
    attributes = [step.notes.get("attributes") for step in statement.steps if step.method == "retention"]
    listed = [about for some in attributes if isinstance(some, list) for about in some]
    stated = {str(about.get("name")) for about in listed if isinstance(about, dict)}
    columns = []
    for column in schema.columns:
        if column.name not in stated and column not in public:
            domain = None
            if column.domain and column.role not in _NAMING and rows is not None and column.name in rows.columns:
                cells = rows[column.name].drop_nulls()
                cells = cells.explode(empty_as_null=False) if is_set(cells.dtype) else cells
                published = set(cells.cast(pl.String).unique())
                domain = tuple(value for value in column.domain if value in published) or None
            column = column.model_copy(update={"domain": domain, "minimum": None, "maximum": None})
        columns.append(column)
    title = schema.title if preset is not None and schema.title == preset.title else ""
    told = {"name": "custom" if preset is None else schema.name, "title": title}
    return schema.model_copy(update={**told, "guessed": False, "columns": tuple(columns)})


def published_statement(statement: Statement) -> dict[str, Any]:
    """Return what a statement says, as plain data: of the steward's files their names, not where they lie.

    >>> published_statement(Statement("hierarchy", {"k": 5, "hierarchies": "/home/ann/ladders"}))["parameters"]
    {'k': 5, 'hierarchies': 'ladders'}
    """
    plain = statement.as_dict()
    parameters = _named(plain["parameters"])
    if isinstance(parameters.get("steps"), list):
        parameters["steps"] = [_named(step) if isinstance(step, dict) else step for step in parameters["steps"]]
    return plain | {"parameters": parameters}


def _named(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Path(value).name
        if isinstance(value, str) and value and (name in _FILES or Path(value).is_absolute())
        else value
        for name, value in parameters.items()
    }


_BY_STRUCTURE = ("number", "per-customer", "free-text")
_LOOKED_AT = 200_000
_SHORTEST = 4
_FEW = 0.01


def with_kept_columns(records: Records, names: Iterable[str]) -> Records:
    """Return records whose columns of these names are released although they may identify people."""
    keep = {records.schema[name].name for name in names}
    columns = (
        c.model_copy(update={"keep": True} | ({"role": Role.OTHER} if c.role == Role.IDENTIFIER else {}))
        if c.name in keep
        else c
        for c in records.schema.columns
    )
    return replace(records, schema=records.schema.model_copy(update={"columns": tuple(columns)})) if keep else records


def kept_columns(statement: Statement) -> set[str]:
    """Return the columns that a steward decided to release although they identify people."""
    lists = [step.notes.get("kept") for step in (statement, *statement.steps)]
    return {str(name) for names in lists if isinstance(names, list) for name in names}


def identifying_in(public: Records) -> dict[str, Identifying]:
    """Return the public columns that identify people; of pseudonyms those whose values are names or the like."""
    customer = public.schema.role(Role.CUSTOMER).name if isinstance(public, History) else None
    findings = identifying_columns(public.schema.columns, public.frame, customer=customer)
    # pseudonyms are everybody's own, and of a column declared unknown somebody said that nobody knows its values
    own = {c.name for c in public.schema.columns if c.role in _NAMING or not c.known}
    return {n: finding for n, finding in findings.items() if not (n in own and finding.kind in _BY_STRUCTURE)}


def scanned(
    public: Records, statement: Statement, original: Records | None = None, origin: pl.Series | None = None
) -> Statement:
    """Return the statement of a public part that can be released, with the columns kept by name; stop where it cannot.

    Parameters
    ----------
    original, origin
        What it was made of, and the original row of each public row: cells are then also searched for the identifiers
        of the person they are about.
    """
    findings = identifying_in(public)
    if isinstance(original, History):  # under a name for each month no value is a pseudonym's own, and yet a customer's
        others = (c.name for c in public.schema.with_role(Role.OTHER) if c.known and c.name in original.schema.names)
        same = [original.schema[name] for name in others if not public.frame[name].is_null().all()]
        findings |= identifying_columns(same, original.frame, customer=original.schema.role(Role.CUSTOMER).name)
    evidence = {name: finding.evidence for name, finding in findings.items() if finding.sure}
    if original is not None and origin is not None:
        evidence |= _own_identifiers(public, original, origin)
    # where a release is made, only the steward's schema keeps a column, and no method by what its statement says
    keep = kept_columns(statement) if original is None else {c.name for c in original.schema.columns if c.keep}
    for name in (name for name in evidence if name not in keep):  # the evidence counts values and tells none
        raise SchemaError(say("would_identify", evidence=evidence[name], column=name), column=name)
    kept_names = sorted(set(evidence) & keep)
    return replace(statement, notes={**statement.notes, "kept": kept_names}) if kept_names else statement


def _own_identifiers(public: Records, original: Records, origin: pl.Series) -> dict[str, str]:
    """Return the public columns whose cells hold an identifier of the person whom their row is about."""
    step = max(len(public) // _LOOKED_AT, 1)
    rows, evidence = origin.gather_every(step), dict[str, str]()
    if not len(rows):
        return evidence
    owners = original.frame.select(
        pl.col(c.name).cast(pl.String).gather(rows) for c in original.schema.with_role(*_NAMING) if not c.keep
    )
    for column in public.schema.columns:
        cells = public.frame[column.name].gather_every(step)
        if column.role in (Role.CUSTOMER, Role.QUANTITY) or is_interval(cells.dtype) or cells.dtype.is_temporal():
            continue
        texts = cells.cast(pl.List(pl.String)).list.join("\0") if is_set(cells.dtype) else cells.cast(pl.String)
        for owner in owners.columns:
            long_enough = pl.col(owner).str.len_chars() >= _SHORTEST  # short numbers are alike by chance
            both = owners.select(owner).with_columns(cell=texts).drop_nulls().filter(long_enough)
            count = int(both.select(pl.col("cell").str.contains(pl.col(owner), literal=True).sum()).item() or 0)
            if count >= 2 and count > _FEW * len(both) and both[owner].n_unique() > 1:
                evidence[column.name] = say("own_identifiers", count=count, rows=len(both), owner=owner)
    return evidence
