"""Pk-anonymity: every value is kept by chance, else drawn anew."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Role, Schema, stop_at_unclassified
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.reconstruction.retention import keep_probabilities
from noren.progress import Progress, silent
from noren.protocols import CHANCE, Method, Strength, in_form
from noren.retention.attributes import attribute_of, class_ends
from noren.retention.perturbation import Perturbation
from noren.retention.reconstruction import Model


class Retention(Method):
    """Keep each value with probability ρ, else draw one from its domain; numbers and days move by bounded noise.

    Whoever knows the whole original, but not which row is whose, and sees the perturbed rows, can say of no row with a
    probability above 1/k whose it is (Pk-anonymity). ρ follows from k, the number of rows and the domains. What the
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
    wrong_for = N_("Rows are read one by one, or there are few rows and many values.")
    perturbs = True

    attributes: tuple[str, ...] = Field(
        default=(),
        title=N_("Columns to release"),
        description=N_("the columns to release; all quasi-identifiers where left out"),
        json_schema_extra=in_form(
            help=N_("the others are left out; the fewer columns, the more of each is kept"), main=True, pick="columns"
        ),
    )
    k: float | None = Field(
        default=None,
        gt=1,
        title=N_("Probability of re-identification at most 1 in k"),
        description=N_("no row can be linked to a person with a probability above 1/k; or give rho"),
        json_schema_extra=in_form(help=N_("a larger k is safer, and more values are drawn anew"), main=True, start="5"),
    )
    rho: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        title=N_("In place of k: the chance that a value stays (ρ)"),
        description=N_("the probability that a value is kept"),
        json_schema_extra=in_form(help=N_("a probability below 1; leave k empty then")),
    )
    weights: tuple[float, ...] = Field(
        default=(),
        title=N_("Weights of the columns"),
        description=N_("how much of what k allows each attribute gets; the same rho for all where left out"),
        json_schema_extra=in_form(
            help=N_("which columns are kept better: a number for each released column, in their order")
        ),
    )
    classes: tuple[str, ...] = Field(
        default=(),
        title=N_("Put numbers into classes"),
        description=N_("put numbers into classes first: age=20..90:5 for up to 20, 25, … 90"),
        json_schema_extra=in_form(help=N_("one on a line: age=20..90:5 for up to 20, 25, … 90")),
    )
    missing: Literal["error", "category"] = Field(
        default="error",
        title=N_("Empty cells"),
        description=N_("a missing value in an optional column: an error, or a category of its own"),
        json_schema_extra=in_form(
            help=N_("what becomes of empty cells"),
            words={"error": N_("stop and say where"), "category": N_("a value of its own")},
        ),
    )
    domains: Literal["declared", "data"] = Field(
        default="declared",
        title=N_("Where lists of values come from"),
        description=N_("where texts without a declared domain get one: nowhere, or from the data, which tells it"),
        json_schema_extra=in_form(
            words={"declared": N_("from the schema alone"), "data": N_("from the data, which tells them")}
        ),
    )
    reconstruct: Model = Field(
        default="auto",
        title=N_("How the true table is estimated afterwards"),
        description=N_("how to estimate the table before perturbation"),
        json_schema_extra=in_form(
            words={
                "none": N_("not at all"),
                "em": N_("iterative Bayes (EM)"),
                "independence": N_("columns as independent"),
                "loglinear": N_("log-linear model"),
                "ml": N_("maximum likelihood"),
                "auto": N_("whichever suits"),
            }
        ),
    )

    @field_validator("classes")
    @classmethod
    def _understood(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        for said in classes:
            class_ends(said)
        return classes

    @model_validator(mode="after")
    def _one_of_both(self) -> Retention:
        if (self.k is None) == (self.rho is None):
            raise ValueError(_("give one of k and rho"))
        if self.weights and self.rho is not None:
            raise ValueError(_("weights share out what k allows; give k in place of rho"))
        return self

    def protect(self, original: Table, *, seed: int, progress: Progress = silent) -> Release:
        """Perturb the chosen columns of ``original``; the others are left out."""
        plan = self.plan(original.schema, len(original), original.frame)
        progress(0.1, _("perturbing"))
        aligned = Table(plan.perturbed_frame(original.frame, seed=seed), plan.released_schema(original.schema))
        progress(0.6, _("putting the rows in an order that tells nothing"))
        return Release.of_aligned(original, aligned, self.statement(plan, len(original)), seed=seed)

    def plan(self, schema: Schema, rows: int, frame: pl.DataFrame | None = None) -> Perturbation:
        """Return the attributes and their ρ for a table of so many rows.

        Parameters
        ----------
        frame
            The data, looked at only where domains are to be taken from them.
        """
        if rows < 2:
            raise ParameterError(
                _("a table of {rows} rows hides nobody").format(rows=rows), _("give a table of at least 2 rows")
            )
        names = self.released_names(schema)
        ends = dict(class_ends(said) for said in self.classes)
        for name in ends:
            if name not in names:
                raise ParameterError(
                    _("there are classes for {name!r}, which is not released").format(name=name),
                    _("leave them out, or add it to --attributes"),
                )
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

        Left to the roles, a column without one would be left out unasked, so it stops the run. Whoever names the
        columns has decided about all of them: no other is released.
        """
        if not self.attributes:
            stop_at_unclassified(schema)
        names = self.attributes or tuple(c.name for c in schema.with_role(Role.QUASI))
        if not names:
            raise ParameterError(
                _("there is no attribute to release"), _("name some (--attributes), or give columns the role quasi")
            )
        if len(set(names)) < len(names):
            raise ParameterError(_("an attribute is named twice"), _("name each once"))
        for name in names:
            if schema[name].role == Role.IDENTIFIER:
                raise ParameterError(
                    _("{column} identifies people, and is not released").format(column=name),
                    _("leave it out of --attributes, or give it another role in the schema"),
                )
        return names

    def statement(self, plan: Perturbation, rows: int) -> Statement:
        """Return what a release says of itself: enough to reconstruct, and nothing of the data."""
        notes: dict[str, Any] = {"rows": rows, "k": round(plan.k(rows), 9), "cells": plan.cells} | plan.notes()
        return Statement(
            method=self.name,
            parameters=self.parameters(),
            promise=N_("nobody's row can be told with a probability above 1/k, whatever is known of the original"),
            notes=notes,
        )
