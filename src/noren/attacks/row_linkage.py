"""Whose row of a table it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field, PrivateAttr

from noren.attacks.draws import uniform
from noren.attacks.row_sides import RowSides, noisy_sides, sides_of_rows
from noren.data.frames import Table
from noren.data.hierarchies import read_hierarchies
from noren.data.schema import Kind, Role
from noren.data.statement import Statement
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.lattice.keys import distinct
from noren.kernels.linkage.assignment import greedy_pairs
from noren.kernels.linkage.person_tree import Found, Noise, likeliest, person_tree
from noren.progress import Progress, part_of, silent
from noren.protocols import Attack, Guess
from noren.retention.perturbation import Perturbation, perturbation_of

__all__ = ["RowLinkage"]

_ROUNDS = 4
_MOST_VISITS = 3 * 10**9
_BLOCK = 256


class RowLinkage(Attack):
    """Name the person behind each row of a table, by all columns that are known of people.

    The attacker holds the original and knows of everybody the quasi-identifiers and all columns of role other, except
    those that the schema declares unknown (``known = false``); or just the columns named. A public row is given to the
    person it is likeliest to be of. A cell fits a person whose value it says, contains or covers; of a release by
    retention, whose noise is public, each cell is as likely as that noise makes it. Where nobody fits, those are named
    who fit in most columns and are nearest in the others.

    Nobody gets two rows: among people who are equally likely lots are drawn, and whoever is named for two rows keeps
    the surer one. The score is the chance that the model gives to the name: 1/5 in a class of five. A row that says
    nothing is left out.

    Parameters
    ----------
    hierarchies
        What labels mean: with it ``Undergraduate`` is known to cover ``Bachelors``. Labels such as ``20-29``, ``80**``
        or ``1990-Q2`` speak for themselves; others say nothing without it.

    References
    ----------
    Fellegi and Sunter (1969); Domingo-Ferrer and Torra (2003), Disclosure risk assessment in statistical data
    protection.

    Examples
    --------
    Ann is the only one of 20 to 29 and Bob of 30 to 39; Cem and Dot cannot be told apart.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> people = Table.of({"age": [23, 34, 41, 48]}, schema)
    >>> labels = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    >>> public = Table.of({"age": ["30-39", "40-49", "40-49", "20-29"]}, labels)
    >>> guess = RowLinkage().attack(people, public, seed=1)
    >>> guess.pairs.head(2).rows()
    [(1, 2, 1.0), (4, 1, 1.0)]
    >>> guess.pairs["score"].to_list()
    [1.0, 1.0, 0.5, 0.5]
    """

    name = "row-linkage"
    summary = N_("Links each row of a table to the person whom it fits best, by all columns that are known.")
    source = "Fellegi and Sunter 1969"
    accepts = frozenset({Kind.TABLE})

    columns: tuple[str, ...] = Field(
        default=(),
        title=N_("Columns that the attacker knows"),
        description=N_(
            "the columns that are known of everybody; default: quasi-identifiers and others not declared unknown"
        ),
    )
    hierarchies: Path | None = Field(
        default=None, description=N_("a folder of hierarchies, as for the method hierarchy, that tell what labels mean")
    )

    _noise: Statement | None = PrivateAttr(default=None)

    def told(self, statement: Statement) -> RowLinkage:
        """Return the attack that knows the public noise of a release by retention."""
        if statement.method != "retention":
            return self
        told = self.model_copy()
        told._noise = statement
        return told

    def attack(self, original: Table, public: Table, *, seed: int, progress: Progress = silent) -> Guess:
        """Name a person for each public row that says something; the seed decides between equals."""
        progress(0.0, _("laying out the columns"))
        noise = None if self._noise is None else perturbation_of(public, self._noise)
        names = self._known(original, public, noise)
        ladders = {} if self.hierarchies is None else read_hierarchies(self.hierarchies, names)
        if noise is None:
            sides = sides_of_rows(original, public, names, ladders)
        else:
            sides = noisy_sides(original, public, names, noise)
        naming = _Naming(sides, seed)
        if sides.told:
            naming.name(naming.rows, sides.noise, part_of(progress, 0.1, 1.0))
        else:
            misfits = naming.name(naming.rows, sides.strict(), part_of(progress, 0.1, 0.6))
            naming.name(misfits, sides.noise, part_of(progress, 0.6, 1.0))
        progress(1.0)
        notes: dict[str, Any] = {"columns": names, "silent_rows": len(public) - len(sides.speaking)}
        return Guess(self.name, naming.pairs(), notes | {"rows_not_tried": naming.not_tried})

    def _known(self, original: Table, public: Table, noise: Perturbation | None) -> list[str]:
        """Return the columns that are known and released: those named, else all that an attacker is taken to know.

        Where the noise is public, so are all columns that have it: its promise holds whatever is known.
        """
        both = [name for name in public.schema.names if name in original.schema.names]
        for name in self.columns:
            if name not in both:
                raise ParameterError(
                    _("{column} is not a column of both the original and the release").format(column=name),
                    _("name some of {columns}").format(columns=", ".join(both) or _("none")),
                )
        if self.columns:
            return list(dict.fromkeys(self.columns))
        if noise is not None:
            return [name for name in noise.names if name in both]
        linking = {column.name for one in (original, public) for column in one.schema.with_role(Role.QUASI)}
        linking |= {column.name for column in original.schema.with_role(Role.OTHER) if column.known}
        return [name for name in both if name in linking]


class _Naming:
    """Rows and people who have no part yet, and the names given so far."""

    def __init__(self, sides: RowSides, seed: int) -> None:
        self.sides, self.rows, self.people = sides, sides.speaking, sides.known
        self._seed = seed
        self._draw = 0
        self._visits = 0
        self._named: list[tuple[Whole, Whole, Real]] = []
        self.not_tried = 0

    def _shuffled(self, values: Whole) -> Whole:
        return values[np.argsort(self._uniform(len(values)), kind="stable")]

    def _uniform(self, count: int) -> Real:
        self._draw += 1
        return uniform(count, self._seed * 1024 + self._draw)

    def name(self, rows: Whole, noise: Noise, progress: Progress) -> Whole:
        """Name people for rows, round by round; return the rows that fit nobody."""
        misfits, everybody = rows[:0], np.zeros(len(self.sides.cell_of))
        for turn in range(_ROUNDS):
            if not len(rows) or not len(self.people) or not len(self.sides.codes):
                break
            part = part_of(progress, 1 - 0.5**turn, 1 - 0.5 ** (turn + 1))
            rows, person, best, weight = self._likeliest(self._shuffled(rows), noise, part)
            fits = np.isfinite(best)
            if turn == 0:
                misfits = rows[~fits]
                everybody[rows] = np.where(fits, best, 0.0) + np.log(np.maximum(weight, 1.0))
            there = person >= 0
            score = np.exp(np.where(fits, best, 0.0) - everybody[rows])
            shape = len(self.sides.cell_of), self.sides.codes.shape[1]
            row, who = greedy_pairs(rows[there], person[there], score[there], shape)
            if not len(row):
                break
            sure = np.zeros(shape[0])
            sure[rows] = score
            self._named.append((row, who, sure[row]))
            self.people = np.setdiff1d(self.people, who, assume_unique=True)
            rows = np.setdiff1d(rows[fits], row, assume_unique=True)
        return misfits

    def _likeliest(self, rows: Whole, noise: Noise, progress: Progress) -> tuple[Whole, Whole, Real, Real]:
        """Return rows in an order of their own, a person for each and how likely the likeliest is and everybody."""
        codes, cells = self.sides.codes, self.sides.cells
        people = self._shuffled(self.people)
        tree = person_tree(codes[:, people], people)
        shown = self.sides.cell_of[rows]
        which, first = distinct(list(shown.T), [len(cells.kind)] * shown.shape[1])
        order = np.argsort(which, kind="stable")
        counts = np.bincount(which, minlength=len(first))
        luck = self._uniform(len(first))
        kinds = [slice(at, at + _BLOCK) for at in range(0, len(first), _BLOCK)]

        def work(block: slice) -> Found:
            shows = np.ascontiguousarray(shown[first[block]])
            return likeliest(tree, shows, counts[block], luck[block], cells, noise)

        found: list[Found] = []
        for at, one in enumerate(map_blocks(work, kinds)):
            found.append(one)
            self._visits += one.visits
            progress((at + 1) / len(kinds), _("looking for people"))
            if self._visits > _MOST_VISITS:
                break
        tried = sum(len(one.best) for one in found)
        done = int(counts[:tried].sum())
        self.not_tried += len(rows) - done
        of_row = which[order][:done]
        best, weight = (np.concatenate([getattr(one, part) for one in found])[of_row] for part in ("best", "weight"))
        return rows[order][:done], np.concatenate([one.person for one in found]), best, weight

    def pairs(self) -> pl.DataFrame:
        """Return the names given, surest first; rows and people are counted from 1."""
        nobody = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        row, person, score = (np.concatenate(parts) for parts in zip(nobody, *self._named, strict=True))
        order = np.lexsort((row, -score.round(12)))
        return pl.DataFrame(
            {
                "row": row[order] + 1,
                "person": person[order] + 1,
                "score": score[order],
            }
        )
