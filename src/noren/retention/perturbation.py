"""How a table was perturbed: attributes and channels. Drawn up before, published with the release, read back after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.data.formats.render import Spelling, order_by_text
from noren.data.frames import Records, reject_missing
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.errors import FileError, ParameterError, SchemaError
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import uniforms, uniforms_at
from noren.kernels.reconstruction.privacy import shuffled_epsilon
from noren.kernels.reconstruction.retention import Channel, decay_of, k_of_ratios, laplace, least_ratio, moved, replaced
from noren.retention.attributes import Attribute
from noren.tables import Texts

say = Texts(__name__)

LARGEST_TABLE = 1 << 24
"""Cells up to which a cross tabulation is held whole."""
_LONGEST_MATRIX = 4_000
EASY_SEED: Final = 2**32
"""Seeds below can be tried out one by one by anyone who holds the original."""
USUAL_DELTA: Final = 1e-6


class Privacy(BaseModel):
    """Differential privacy of a release: how little the public rows depend on one row of the original.

    ``local`` is ε of one perturbed row, with δ = 0; ``epsilon`` and ``delta`` are those of all ``rows``, whose order
    tells nothing. ``adjacency`` says what may differ between two tables: one row is another one instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    local: float
    epsilon: float
    delta: float
    rows: int
    adjacency: Literal["row"] = "row"

    def at(self, delta: float) -> float:
        """Return ε at another δ."""
        return self.epsilon if delta == self.delta else shuffled_epsilon(self.local, self.rows, delta)


@dataclass(frozen=True)
class Perturbation:
    """Attributes, and ρ of each.

    A nominal attribute keeps its value with probability ρ, else draws one from its domain. A number or a day moves on
    its grid by bounded Laplace noise that gives as much evidence at most as ρ would on as many values: the same b.
    """

    attributes: tuple[Attribute, ...]
    rhos: tuple[float, ...]

    @property
    def names(self) -> list[str]:
        """The attributes' names."""
        return [a.name for a in self.attributes]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(a.size for a in self.attributes)

    @property
    def cells(self) -> int:
        """How many cells the cross tabulation has."""
        return prod(self.sizes)

    @property
    def ratios(self) -> list[float]:
        """The least ratio b of each attribute."""
        return [least_ratio(rho, size) for rho, size in zip(self.rhos, self.sizes, strict=True)]

    def k(self, rows: int) -> float:
        """Return the k that a table of so many rows has."""
        return k_of_ratios(self.ratios, rows)

    def privacy(
        self, rows: int, schema: Schema, parameters: Mapping[str, Any], seed: int | None = None
    ) -> Privacy | None:
        """Return the differential privacy of so many rows; None where domains come from the data or a seed is easy."""
        ratios, is_easy = np.array(self.ratios), seed is not None and seed < EASY_SEED
        if is_easy or parameters.get("domains") != "declared" or schema.guessed or min(ratios) <= 0 or rows < 1:
            return None
        local = float(np.ceil(abs(np.log(ratios).sum()) * 1e4) / 1e4)
        epsilon = shuffled_epsilon(local, rows, USUAL_DELTA)
        return Privacy(local=local, epsilon=epsilon, delta=USUAL_DELTA, rows=rows)

    def decay(self, at: int) -> float:
        """Return how much rarer each further step of the grid is, for a number."""
        return decay_of(self.ratios[at], self.sizes[at])

    @cached_property
    def channels(self) -> list[Channel]:
        """What kernels need to know of each attribute's perturbation."""
        channels: list[Channel] = []
        for at, (attribute, rho) in enumerate(zip(self.attributes, self.rhos, strict=True)):
            if not attribute.numeric:
                channels.append(rho)
                continue
            if attribute.size > _LONGEST_MATRIX:
                raise ParameterError(
                    say("grid_too_long", size=attribute.size, most=_LONGEST_MATRIX), column=attribute.name
                )
            channels.append(laplace(attribute.size, self.decay(at)))
        return channels

    def only(self, places: Sequence[int]) -> Perturbation:
        """Return what was done to some of the attributes."""
        return Perturbation(tuple(self.attributes[a] for a in places), tuple(self.rhos[a] for a in places))

    # --- rows and cells ----------------------------------------------------------------------------------------

    def codes(self, original: pl.DataFrame, first_row: int = 1) -> list[Whole]:
        """Return the attributes of original rows as codes."""
        reject_missing(self.names, original.columns)
        return [a.codes(original[a.name], first_row) for a in self.attributes]

    def places(self, released: pl.DataFrame) -> list[Whole]:
        """Return the attributes of released rows as codes."""
        return [a.places(released[a.name]) for a in self.attributes]

    def frame(self, codes: Sequence[Whole]) -> pl.DataFrame:
        """Return rows of released values."""
        return pl.DataFrame([a.values(c) for a, c in zip(self.attributes, codes, strict=True)])

    def fits(self, released: Records) -> bool:
        """Tell whether rows have released values and are sorted, by text or as domains are.

        Sorted rows tell nothing by their order. A value outside its domain is an error.
        """
        codes = pl.DataFrame(self.places(released.frame), schema=self.names).select(released.schema.names)
        by_text = order_by_text(released.frame, released.schema.columns, Spelling())
        is_sorted = codes.equals(codes.sort(codes.columns)) or codes.equals(codes.select(pl.all().gather(by_text)))
        return is_sorted and released.frame.equals(
            self.frame([codes[name].to_numpy() for name in self.names]).select(codes.columns)
        )

    def classed(self, original: pl.DataFrame, *, seed: int | None = None) -> pl.DataFrame:
        """Return original rows in the values that are released, texts numbered; with a seed, perturbed."""
        reject_missing(self.names, original.columns)
        uniform = None if seed is None else self._uniform(len(original), seed)
        columns = []
        for at, attribute in enumerate(self.attributes):  # a column at a time, to save memory
            codes = attribute.codes(original[attribute.name])
            codes = codes if uniform is None else self._moved(at, codes, uniform)
            columns.append(attribute.values(codes, numbered=True))
        return pl.DataFrame(columns)

    def perturbed(
        self, codes: Sequence[Whole], *, seed: int, first: int = 0, places: Whole | None = None
    ) -> list[Whole]:
        """Perturb the rows that start at position ``first``, or stand at ``places``: the same in blocks of any size."""
        uniform = self._uniform(len(codes[0]), seed, first, places)
        return [self._moved(at, column, uniform) for at, column in enumerate(codes)]

    def _moved(self, at: int, codes: Whole, uniform: Callable[[int], Real]) -> Whole:
        attribute, draws = self.attributes[at], uniform(2 * at)
        if attribute.numeric:
            return moved(codes, attribute.size, self.decay(at), draws)
        return replaced(codes, attribute.size, self.rhos[at], draws, uniform(2 * at + 1))

    def _uniform(self, rows: int, seed: int, first: int = 0, places: Whole | None = None) -> Callable[[int], Real]:
        """Return what draws the numbers of each stream for so many rows, or for those at ``places``."""
        # a number of this perturbation's own, so that another one under the same seed draws other noise
        attributes_text = json.dumps(self.notes()["attributes"], sort_keys=True).encode()
        draw = int.from_bytes(hashlib.blake2b(attributes_text, digest_size=8).digest(), "little")
        if places is None:
            return lambda stream: uniforms(rows, seed=seed, draw=draw, stream=stream, first=first)
        return lambda stream: uniforms_at(places, seed=seed, draw=draw, stream=stream)

    def table(self, codes: Sequence[Whole]) -> Real:
        """Return the cross tabulation of coded rows."""
        if self.cells > LARGEST_TABLE:
            raise ParameterError(say("too_many_cells", cells=self.cells, most=LARGEST_TABLE))
        flat = np.ravel_multi_index(tuple(codes), self.sizes)
        return np.bincount(flat, minlength=self.cells).reshape(self.sizes).astype(np.float64)

    def released_schema(self, schema: Schema) -> Schema:
        """Return the schema of the perturbed table: the attributes alone."""
        columns = tuple(a.column for a in self.attributes)
        return schema.model_copy(update={"name": schema.name, "columns": columns, "official": None})

    # --- saying it ---------------------------------------------------------------------------------------------

    def notes(self) -> dict[str, Any]:
        """Return what a statement says: enough to reconstruct, with the schema of the public part."""
        attribute_notes = []
        for at, (attribute, rho) in enumerate(zip(self.attributes, self.rhos, strict=True)):
            about: dict[str, Any] = {"name": attribute.name, "values": attribute.size, "rho": rho}
            if attribute.numeric:
                about["decay"] = self.decay(at)
            if attribute.ends:
                about["ends"] = list(attribute.ends)
            attribute_notes.append(about)
        return {"attributes": attribute_notes}


def perturbation_of(schema: Schema, statement: Statement) -> Perturbation:
    """Return how a release was perturbed, from what its statement and the schema of its public part say."""
    attribute_notes = statement.notes.get("attributes")
    if statement.method != "retention" or not isinstance(attribute_notes, list) or not attribute_notes:
        raise ParameterError(say("not_retention"))
    attributes, rhos = [], []
    for about in attribute_notes:
        match about:  # perhaps read from a file, which may say anything
            case {"name": str(name), "rho": float() | int() as rho} if 0 <= rho <= 1:
                ends = about.get("ends", [])
            case _:
                ends = None
        if not isinstance(ends, list) or not all(isinstance(end, float | int) for end in ends):
            raise FileError(say("not_said"))
        attribute = Attribute(schema[name], tuple(map(float, ends)))
        if about.get("values") != attribute.size or attribute.size < 2:
            raise SchemaError(say("domains_disagree"), column=attribute.name)
        attributes.append(attribute)
        rhos.append(float(rho))
    if sorted(schema.names) != sorted(a.name for a in attributes):  # a column beside them is not perturbed
        raise SchemaError(say("domains_disagree"))
    return Perturbation(tuple(attributes), tuple(rhos))
