"""Shared parts of methods that make classes of a table: k, quasi and sensitive columns, the public part."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field, ValidationInfo

from noren.data.arrays import exact_values
from noren.data.formats.render import Spelling
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale, Schema, ValueType, reject_unclassified
from noren.errors import ParameterError, listing
from noren.i18n import N_
from noren.kernels.arrays import Whole
from noren.kernels.lattice.scores import DISTINCT, EACH, ENTROPY, NO_DIVERSITY, RECURSIVE, ClassRule
from noren.methods.pseudonymize import pseudonymous
from noren.methods.shared_values import AT_LEAST_2, SHARING, not_below, out_of_range
from noren.protocols import ALIKE, Method, Strength, in_form
from noren.tables import Texts

say = Texts(__name__)


def _is_share(value: float, info: ValidationInfo) -> float:
    if not 0 <= value <= 1:
        name = str(info.field_name)
        raise out_of_range(name, f"{value:g}", f"{value / 100:g}" if 1 < value <= 100 else f"0 <= {name} <= 1")
    return value


TableK = Annotated[
    int,
    AT_LEAST_2,
    Field(
        title=SHARING,
        description=N_("minimum number of rows with the same quasi-identifiers"),
        json_schema_extra=in_form(main=True, start="5", minimum=2),
    ),
]
Share = Annotated[float, AfterValidator(_is_share), Field(json_schema_extra={"minimum": 0, "maximum": 1})]
Ell = Annotated[
    int | None,
    not_below(2),
    Field(
        title=N_("Different sensitive values in each group (l)"),
        description=N_("minimum number of sensitive values per class; a class with one discloses it"),
    ),
]
Diversity = Literal["distinct", "entropy", "recursive"]
Identifiers = Annotated[
    Literal["drop", "pseudonyms"],
    Field(
        title=N_("Columns that identify people"),
        json_schema_extra=in_form(words={"drop": N_("leave out"), "pseudonyms": N_("replace by pseudonyms")}),
    ),
]
Quasi = Annotated[
    tuple[str, ...],
    Field(
        title=N_("Quasi-identifiers"),
        description=N_("columns that others may know about a person (default: those with the role quasi)"),
        json_schema_extra=in_form(main=True, pick="columns"),
    ),
]
Suppression = Annotated[Share, Field(title=N_("Share of rows that may be deleted, from 0 to 1"))]
_KINDS = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


@dataclass(frozen=True)
class SensitiveCodes:
    """The sensitive values of a table as codes.

    Attributes
    ----------
    of_rows
        The code of each row's value, in the values' order; of its combination of values where several columns count.
    parts
        Of several columns ``parts[column, code]``, the code of the value that a combination has; empty of one.
    """

    of_rows: Whole
    parts: Whole


def sensitive_codes(table: Table, known: Sequence[Column]) -> SensitiveCodes | None:
    """Return the code of each row's value in the sensitive columns, where there are any."""
    if not known:
        return None
    each = []
    for column in known:
        values = exact_values(table, column)
        ordered = values.unique().sort()
        if column.domain is not None:
            place = {value: i for i, value in enumerate(column.domain)}
            ordered = ordered.gather(np.argsort([place.get(value, -1) for value in ordered], kind="stable"))
        each.append(codes_in_order(values, ordered))
    if len(each) == 1:
        return SensitiveCodes(each[0], np.zeros((0, 0), dtype=np.int64))
    parts, combined = np.unique(np.stack(each), axis=1, return_inverse=True)
    return SensitiveCodes(combined.astype(np.int64), np.ascontiguousarray(parts))


def codes_in_order(values: pl.Series, ordered: pl.Series) -> Whole:
    """Return the place of each value among ``ordered``, which has every one once."""
    codes = pl.DataFrame({"value": ordered, "code": pl.int_range(len(ordered), eager=True)})
    both = values.to_frame("value").join(codes, on="value", how="left", maintain_order="left", nulls_equal=True)
    return both["code"].cast(pl.Int64).to_numpy()


def require_enough_rows(k: int, rows: int) -> None:
    """Raise where there are fewer than k rows."""
    if k > rows:
        raise ParameterError(say("too_few_rows", k=k, count=rows))


def reject_if_too_many_fail(lost: int, rows: int, limit: float) -> None:
    """Raise if classes with too many rows fail k, l or t.

    Classes are made without a look at how their members' values differ; those that fail ℓ or t are deleted whole. So
    permuting values inside a class changes neither the classes nor which of them are deleted, and anyone who knows all
    but which member of a class has which value finds, for each member of a released class, exactly the class's share of
    each value (proof: ``docs/theory/lattice.md``). Of people in a deleted class it says that their class failed. To go
    on to other classes because too many of these fail would end that: the release would say that finer ones failed, and
    so whose values are alike (Wong et al. 2007). Hence an error.
    """
    if lost > math.floor(limit * rows + 1e-9):
        raise ParameterError(say("too_many_fail", share=lost / rows, limit=limit))


def released(
    original: Table,
    cells: Mapping[str, pl.Series],
    deleted: pl.Series,
    statement: Statement,
    *,
    seed: int,
    identifiers: Identifiers,
) -> Release:
    """Return the release of a table: new quasi cells, identifiers dropped or replaced, the rest as it is.

    Parameters
    ----------
    cells
        The quasi columns' cells, in the original's row order; texts may be numbered (:class:`polars.Enum`).
    deleted
        Which rows are not released: all of their cells go, the sensitive ones too. Kept apart they would be a class of
        their own, and perhaps of one.
    """
    schema = released_schema(original.schema, {name: its.dtype for name, its in cells.items()}, identifiers)
    frame, columns, pseudonyms = original.frame, [], []
    for column in schema.columns:
        if column.name in cells:
            columns.append(cells[column.name].alias(column.name))
        elif column.role == Role.IDENTIFIER:
            texts = exact_values(original, column).cast(pl.String).alias(column.name)
            hidden = pseudonymous(texts, seed)
            pseudonyms.append(pl.DataFrame({"pseudonym": hidden, "customer": texts}).filter(~deleted))
            columns.append(hidden)
        else:
            columns.append(frame[column.name])
    frame_of_cells = pl.DataFrame(columns)
    aligned = replace(original, frame=frame_of_cells, schema=schema, spelling=Spelling())
    known = pl.concat(pseudonyms).drop_nulls().unique(maintain_order=True) if pseudonyms else None
    return Release.of_aligned(original, aligned, statement, seed=seed, pseudonyms=known, deleted=deleted)


def released_schema(schema: Schema, cell_types: Mapping[str, pl.DataType], identifiers: Identifiers) -> Schema:
    """Return the schema of a released table, of what type its quasi cells are and what becomes of identifiers."""
    columns = []
    for column in schema.columns:
        if column.name in cell_types:  # quasi; text where it holds labels of values that were none
            update: dict[str, Any] = {"role": Role.QUASI}
            dtype = cell_types[column.name]
            if dtype == pl.String or isinstance(dtype, pl.Enum):
                # labels are no values: a domain, bounds or a grid of the values do not hold of them
                update |= dict.fromkeys(("domain", "minimum", "maximum", "width", "format")) | {"type": ValueType.TEXT}
            elif column.scale == Scale.NOMINAL:
                update |= {"domain": None}
            elif column.type == ValueType.INTEGER and dtype.is_float():  # means
                update |= {"type": ValueType.DECIMAL, "width": None}
            columns.append(column.model_copy(update=update))
        elif column.role == Role.IDENTIFIER and identifiers == "pseudonyms":
            columns.append(Column(name=column.name, role=Role.IDENTIFIER))
        elif column.role not in (Role.IDENTIFIER, Role.QUASI):
            columns.append(column)
    return schema.model_copy(update={"columns": tuple(columns)})


class TableClassMethod(Method):
    """Base of methods that make classes of identical rows: their parameters and what they promise of each class."""

    strength = Strength("k", "2, 5, 10, 20", beside=("l",))
    promises = ALIKE
    only_with_l_or_t: ClassVar[frozenset[str]] = frozenset()
    """Parameters that make no difference without l and t."""

    k: TableK
    quasi: Quasi = ()
    l: Ell = None  # noqa: E741 - the name it has everywhere
    diversity: Diversity = Field(
        default="distinct",
        title=N_("How sensitive values count for l"),
        json_schema_extra=in_form(
            words={"distinct": N_("number of values"), "entropy": N_("entropy"), "recursive": N_("recursive, with c")}
        ),
    )
    c: float = Field(
        default=3.0,
        gt=0,
        title=N_("Recursive diversity: the commonest value has fewer than c times the rows of the l-th and rarer"),
    )
    t: Share | None = Field(
        default=None, title=N_("Maximum distance of a class's sensitive values from the whole table's, from 0 to 1 (t)")
    )
    distance: Literal["equal", "ordered"] = Field(
        default="equal",
        title=N_("Distance between values for t"),
        json_schema_extra=in_form(words={"equal": N_("the same for all values"), "ordered": N_("by order")}),
    )
    sensitive: str | None = Field(
        default=None,
        title=N_("Sensitive column that l and t apply to (default: each)"),
        json_schema_extra=in_form(pick="column"),
    )
    identifiers: Identifiers = "drop"

    @property
    def looks_at_sensitive(self) -> bool:
        """Whether sensitive values matter."""
        return self.l is not None or self.t is not None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that make a difference, as plain data."""
        idle = frozenset() if self.looks_at_sensitive else self.only_with_l_or_t
        return {name: value for name, value in super().parameters().items() if name not in idle}

    def looked_at(self, schema: Schema) -> tuple[list[Column], list[Column]]:
        """Return the quasi columns, and the sensitive columns that the promise looks at; none where k is all.

        Quasi are those named, else those of the schema; every column must have been given a role. Where several columns
        are sensitive and none is named, a number of distinct values is asked of each of them.
        """
        reject_unclassified(schema)
        quasi = [schema[name] for name in self.quasi] if self.quasi else list(schema.with_role(Role.QUASI))
        twice = {name for name in self.quasi if self.quasi.count(name) > 1}
        if twice:
            raise ParameterError(say("named_twice", name=min(twice)))
        for column in quasi:
            if column.role == Role.IDENTIFIER:
                raise ParameterError(say("identifies", column=column.name))
        if not quasi:
            raise ParameterError(say("no_quasi", option="--quasi"))
        if not self.looks_at_sensitive:
            return quasi, []
        own = {column.name for column in quasi}
        known = [c for c in schema.with_role(Role.SENSITIVE) if c.name not in own]
        if self.sensitive is not None:
            known = [schema[self.sensitive]]
            if self.sensitive in own:
                raise ParameterError(say("quasi_and_sensitive", column=self.sensitive))
        # a number of distinct values can be asked of several columns at once
        if not known or (len(known) > 1 and not (self.t is None and self.diversity == "distinct")):
            raise ParameterError(say("which_sensitive", columns=listing([c.name for c in known or schema.columns])))
        return quasi, known

    def rule(self, most_suppressed: int, values: SensitiveCodes | None = None) -> ClassRule:
        """Return what classes must keep, as kernels take it."""
        kind = NO_DIVERSITY if self.l is None else _KINDS[self.diversity]
        t = -1.0 if self.t is None else float(self.t)
        rule = ClassRule(self.k, most_suppressed, kind, self.l or 1, float(self.c), t, self.distance == "ordered")
        return rule if values is None or not len(values.parts) else rule._replace(diversity=EACH, parts=values.parts)

    def _stated(self, notes: dict[str, Any], hierarchies: Path | None) -> Statement:
        """Return the statement of a release; of the folder of hierarchies only its name."""
        promise = N_("each row is alike in all quasi columns to at least k - 1 others")
        if self.looks_at_sensitive:
            promise = N_(
                "each row is alike in all quasi columns to k - 1 others, whose sensitive values differ as stated"
            )
        parameters = self.parameters() | {"hierarchies": hierarchies and hierarchies.name}
        return Statement(self.name, parameters, promise, notes=notes)

    def not_released(self, schema: Schema, quasi: Collection[str]) -> list[str]:
        """Return the columns that the public part lacks: identifiers left out, and other quasi columns."""
        left = [c.name for c in schema.with_role(Role.QUASI) if c.name not in quasi]
        dropped = [c.name for c in schema.with_role(Role.IDENTIFIER)] if self.identifiers == "drop" else []
        return left + dropped
