"""Pk-anonymity by retention–replacement: each value is kept with a probability, otherwise redrawn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, field_validator, model_validator

from noren.data.formats.files import writing_folder
from noren.data.formats.parquet import parquet_blocks
from noren.data.formats.source import Source, require_readable
from noren.data.frames import Table
from noren.data.guessing.people import PeopleSeen
from noren.data.public_part import published_schema, published_statement, scanned
from noren.data.reading import fit_schema, read_blocks
from noren.data.release import RELEASE, Release
from noren.data.schema import Kind, Role, Schema, reject_unclassified
from noren.data.statement import Statement
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError, SchemaError
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.kernels.reconstruction.retention import keep_probabilities
from noren.progress import Progress, silent
from noren.protocols import CHANCE, Method, Strength, in_form
from noren.retention.attributes import attribute_of, class_ends
from noren.retention.perturbation import LARGEST_TABLE, Perturbation
from noren.retention.reconstruction import Model
from noren.tables import Texts

say = Texts(__name__)


class Retention(Method):
    """Keep each value with probability ρ, else draw one from its domain; numbers and days move by bounded noise.

    Anyone who knows the whole original, but not which row is whose, and sees the perturbed rows, can say of no row with
    a probability above 1/k whose it is (Pk-anonymity). ρ follows from k, the number of rows and the domains. What the
    table was like before can be estimated from the perturbed rows and ρ alone: ``noren reconstruct``.

    Only attributes are released, no other column: those named, else all quasi-identifiers. Where none are named, a
    column without a role stops the run with a question.

    References
    ----------
    S4; for bounded Laplace noise, Ikarashi, Chida, Takahashi (2011). Proofs: docs/theory/retention.md.

    Examples
    --------
    Five people, two values, k = 2: b² must be 1/4, so ρ is 1/3.

    >>> from noren.data.schema import Column
    >>> schema = Schema(kind="table", columns=[Column(name="sex", role="quasi", domain=("f", "m"))])
    >>> table = Table.of({"sex": ["f", "f", "m", "f", "m"]}, schema)
    >>> release = Retention(k=2).protect(table, seed=1)
    >>> release.statement.notes["attributes"][0]["rho"].__round__(4), release.statement.notes["k"]
    (0.3333, 2.0)
    """

    name = "retention"
    summary = N_(
        "Keeps each value with a fixed probability, else redraws it: no row is linked to a person with a "
        "probability above 1/k."
    )
    source = "S4"
    accepts = frozenset({Kind.TABLE})
    strength = Strength("k", "2, 5, 10, 20", instead=("rho",))
    promises = CHANCE
    good_for = N_("Tables and cross tabulations of many rows, whatever an attacker knows.")
    wrong_for = N_("Single rows matter, or there are few rows and many values.")
    perturbs = True

    attributes: tuple[str, ...] = Field(
        default=(),
        title=N_("Columns to release"),
        description=N_("columns to release (default: all quasi-identifiers); the fewer, the more of each is kept"),
        json_schema_extra=in_form(main=True, pick="columns"),
    )
    k: float | None = Field(
        default=None,
        gt=1,
        title=N_("No row can be linked to a person with a probability above 1/k"),
        json_schema_extra=in_form(main=True, start="5"),
    )
    rho: float | None = Field(
        default=None, ge=0, lt=1, title=N_("Instead of k: the probability that a value is kept (ρ)")
    )
    weights: tuple[float, ...] = Field(
        default=(), title=N_("Weights of the released columns, in order: a higher one keeps more (default: equal)")
    )
    classes: tuple[str, ...] = Field(
        default=(), title=N_("Put numbers into classes: age=20..90:5 for up to 20, 25, … 90")
    )
    missing: Literal["error", "category"] = Field(
        default="error",
        title=N_("Empty cells"),
        json_schema_extra=in_form(words={"error": N_("stop with an error"), "category": N_("a separate category")}),
    )
    domains: Literal["declared", "data"] = Field(
        default="declared",
        title=N_("Domains of texts"),
        json_schema_extra=in_form(
            words={"declared": N_("from the schema"), "data": N_("from the data, which discloses the values")}
        ),
    )
    reconstruct: Model = Field(
        default="auto",
        title=N_("How to reconstruct the table"),
        json_schema_extra=in_form(
            words={
                "none": N_("none"),
                "em": N_("iterative Bayes (EM)"),
                "independence": N_("independent columns"),
                "loglinear": N_("log-linear model"),
                "ml": N_("maximum likelihood"),
                "auto": N_("automatic"),
            }
        ),
    )

    @field_validator("classes")
    @classmethod
    def _understood(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        for text in classes:
            class_ends(text)
        return classes

    @model_validator(mode="after")
    def _one_of_both(self) -> Retention:
        if (self.k is None) == (self.rho is None):
            raise ValueError(_("give either {one} or {other}").format(one="k", other="rho"))
        if self.weights and self.rho is not None:
            raise ValueError(_("weights need k; give k instead of rho"))
        return self

    def protect(self, original: Table, *, seed: int, progress: Progress = silent) -> Release:
        """Perturb the chosen columns of ``original``; the others are left out."""
        plan = self.plan(original.schema, len(original), original.frame)
        progress(0.1, _("perturbing"))
        aligned = Table(plan.classed(original.frame, seed=seed), plan.released_schema(original.schema))
        progress(0.6, _("sorting rows"))
        statement = self.statement(plan, len(original), original.schema, seed)
        return Release.of_aligned(original, aligned, statement, seed=seed)

    def plan(self, schema: Schema, rows: int, frame: pl.DataFrame | None = None) -> Perturbation:
        """Return the attributes and their ρ for a table of so many rows.

        Parameters
        ----------
        frame
            The data, looked at only where domains are to be taken from them.
        """
        if rows < 2:
            raise ParameterError(say("too_few_rows", rows=rows))
        names = self.released_names(schema)
        ends = dict(class_ends(text) for text in self.classes)
        for name in ends:
            if name not in names:
                raise ParameterError(say("classes_of_another", name=name))
        attributes = []
        for name in names:
            seen = frame[name] if frame is not None and self.domains == "data" else None
            missing = self.missing == "category"
            column = schema[name]
            if "role" not in column.model_fields_set:
                column = column.model_copy(update={"role": Role.QUASI})  # naming it was the answer
            attributes.append(attribute_of(column, ends=ends.get(name, ()), missing=missing, seen=seen))
        sizes = [a.size for a in attributes]
        rhos = (
            keep_probabilities(self.k, sizes, rows, self.weights or None)
            if self.k is not None
            else [self.rho or 0.0] * len(sizes)
        )
        return Perturbation(tuple(attributes), tuple(rhos))

    def released_names(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns to release: those named, else all quasi-identifiers; stop where somebody must decide.

        Left to the roles, a column without one would be left out unasked, so it stops the run. Anyone who names the
        columns has decided about all of them: no other is released.
        """
        if not self.attributes:
            reject_unclassified(schema)
        names = self.attributes or tuple(c.name for c in schema.with_role(Role.QUASI))
        if not names:
            raise ParameterError(say("no_attribute"))
        if twice := [name for name in names if names.count(name) > 1]:
            raise ParameterError(say("named_twice", name=twice[0]))
        for name in names:
            if schema[name].role == Role.IDENTIFIER:
                raise ParameterError(say("identifies", column=name))
        return names

    def statement(self, plan: Perturbation, rows: int, schema: Schema, seed: int) -> Statement:
        """Return the statement of a release: enough to reconstruct, and nothing about the data."""
        notes: dict[str, Any] = {"rows": rows, "k": round(plan.k(rows), 9), "cells": plan.cells} | plan.notes()
        if (privacy := plan.privacy(rows, schema, self.parameters(), seed)) is not None:
            notes["privacy"] = privacy.model_dump(exclude={"rows"})
        return Statement(
            method=self.name,
            parameters=self.parameters(),
            promise=N_("nobody's row can be told with a probability above 1/k, whatever is known of the original"),
            notes=notes,
        )


# --- Files of any size: block by block, in memory that does not grow with the rows ------------------------------------
#
# Row i is perturbed by the i-th numbers of counting generators, so the answer is the same for blocks of any size and on
# any number of cores. Perturbed rows must not stand in the original's order, which would tell whose they are. They are
# therefore sorted by their own values: counted, where the cross tabulation fits memory, else sorted in pieces on disk.


_PIECES = 256
_ROWS_AT_ONCE = 1 << 18


def protect_file(
    source: str | Path,
    target: str | Path,
    method: Retention,
    schema: Schema,
    *,
    seed: int,
    replace: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Statement:
    """Perturb a file into a published release: the public part and the statement; no secret part is kept.

    The file is read twice, first to count its rows, on which ρ depends. The released rows are those that
    :meth:`Retention.protect` releases under the same seed.
    """
    if schema.kind != Kind.TABLE:
        raise SchemaError(say("not_a_table"))
    if method.domains == "data":
        raise ParameterError(say("domains_of_a_stream"))
    method.released_names(schema)  # a question is asked before the rows are counted
    file = Source.open(require_readable(source))
    schema = fit_schema(file, schema)
    known = schema.model_copy(update={"guessed": False})  # what holds for every row needs no second look
    people = PeopleSeen(schema)
    rows = _rows(file, known, progress, people)
    people.reject_repeated_people()
    plan = method.plan(schema, rows)
    if plan.cells >= 1 << 62:
        raise ParameterError(say("too_many_values"))
    needed = schema.without([name for name in schema.names if name not in plan.names])
    some = next(iter(read_blocks(file, known)))
    statement = scanned(Table(some.select(needed.names), needed), method.statement(plan, rows, schema, seed))

    def kernel(numbered: tuple[int, pl.DataFrame]) -> Whole:
        first, block = numbered
        codes = plan.perturbed(plan.codes(block, first + 1), seed=seed, first=first)
        return np.ravel_multi_index(tuple(codes), plan.sizes).astype(np.int64)

    def keys() -> Iterator[Whole]:
        done = 0
        for cell_numbers in map_blocks(kernel, _numbered(read_blocks(file, known), needed.names), workers=workers):
            done += len(cell_numbers)
            progress(0.1 + 0.8 * done / rows, _("perturbing"))
            yield cell_numbers

    with writing_folder(target, replace=replace and RELEASE) as aside, TemporaryDirectory(dir=aside) as scratch:
        ordered = _counted(keys(), plan) if plan.cells <= LARGEST_TABLE else _sorted(keys(), plan, Path(scratch))
        released = published_schema(plan.released_schema(schema), statement)
        empty = pl.DataFrame(schema={c.name: c.dtype for c in released.columns}).to_arrow().schema
        arrow_schema = empty.with_metadata({b"noren.schema": released.to_toml().encode()})
        with pq.ParquetWriter(aside / "public.parquet", arrow_schema, compression="zstd") as writer:
            for cell_numbers in ordered:
                codes = [np.asarray(c, dtype=np.int64) for c in np.unravel_index(cell_numbers, plan.sizes)]
                block: pa.Table = plan.frame(codes).to_arrow().cast(empty)
                writer.write_table(block.replace_schema_metadata(arrow_schema.metadata))
        statement_text = json.dumps(published_statement(statement), ensure_ascii=False, indent=2, sort_keys=True)
        (aside / "statement.json").write_text(statement_text + "\n", encoding="utf-8")
    return statement


def _rows(source: Source, schema: Schema, progress: Progress, people: PeopleSeen) -> int:
    """Count the rows, and the people that they say they are about."""
    progress(0.0, _("preparing rows"))
    if source.kind == "parquet":
        if people.names and set(schema.names) <= set(pq.read_schema(source.path).names):
            for block in parquet_blocks(source, columns=people.names):
                people.add(block)
        return int(pq.ParquetFile(source.path).metadata.num_rows)
    rows = 0
    for block in read_blocks(source, schema):
        people.add(block)
        rows += len(block)
    return rows


def _numbered(blocks: Iterable[pl.DataFrame], names: Iterable[str]) -> Iterator[tuple[int, pl.DataFrame]]:
    first, columns = 0, list(names)
    for block in blocks:
        yield first, block.select(columns)
        first += len(block)


def _counted(keys: Iterable[Whole], plan: Perturbation) -> Iterator[Whole]:
    """Yield all keys in order, from how often each occurs."""
    counts = np.zeros(plan.cells, dtype=np.int64)
    for block in keys:
        counts += np.bincount(block, minlength=plan.cells)
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), _ROWS_AT_ONCE):
        places = np.arange(start, min(start + _ROWS_AT_ONCE, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right")


def _sorted(keys: Iterable[Whole], plan: Perturbation, scratch: Path) -> Iterator[Whole]:
    """Yield all keys in order: put aside by their range, then each range sorted by itself."""
    width = -(-plan.cells // _PIECES)
    paths = [scratch / f"{piece}" for piece in range(_PIECES)]
    for block in keys:
        ordered = np.sort(block)
        cuts = np.searchsorted(ordered, width * np.arange(1, _PIECES))
        for path, part in zip(paths, np.split(ordered, cuts), strict=True):
            if len(part):
                with path.open("ab") as file:
                    file.write(part.tobytes())
    for path in paths:
        if path.exists():
            ordered = np.sort(np.fromfile(path, dtype=np.int64))
            path.unlink()
            yield from np.array_split(ordered, max(1, len(ordered) // _ROWS_AT_ONCE))
