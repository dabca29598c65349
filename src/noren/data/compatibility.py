"""Knowledge of an attacker, and known and public rows as arrays that can be compared.

The attacker of maximum knowledge holds everything. PWS Cup 2017 also handed out partial knowledge (:func:`partial`): a
random quarter, half or three quarters of the rows, items cut to their first two characters.

Every column becomes numbers: dates and amounts their value, texts a code. A public cell becomes the range it allows,
and, where it is a set, the codes in it; a suppressed cell allows everything. Nothing but the original and the public
part is read, so what is found with it owes nothing to what a method says of itself.

Columns that a history may lack are stood in for, so that all rows can be worked with alike.

A blank cell of the original fits a suppressed cell and no other: whoever knows that nothing stands there knows that no
value does. A suppressed public cell fits blanks and values alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import exact_values, numbers, people
from noren.data.cells import cell_ends, is_set
from noren.data.formats.render import Spelling, same_rows, text_numbers
from noren.data.frames import History, Table
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.linkage.feasibility import Candidates, KnownRows, PublicRows, candidate_blocks, joined
from noren.progress import Progress, silent

_THE_ITEM = "one"


def with_item_column(*histories: History) -> tuple[History, ...]:
    """Return histories with a column of items where the first has none: every row is of one item.

    What looks rows up by item then looks at all of them, and what weighs items finds that they tell nothing.

    >>> from noren.data.schema import Schema
    >>> paid = Schema.of({"columns": {"customer": {"role": "customer"}, "price": {"role": "price"}}})
    >>> (history,) = with_item_column(History.of({"customer": ["ann", "bob"], "price": [1.0, 2.0]}, paid))
    >>> history["item"].to_list()
    ['one', 'one']
    """
    if histories[0].schema.with_role(Role.ITEM):
        return histories
    name = "item"
    while any(name in history.frame.columns for history in histories):
        name += "_"
    with_items = []
    for history in histories:
        columns = (*history.schema.columns, Column(name=name, role=Role.ITEM))
        frame = history.frame.with_columns(pl.lit(_THE_ITEM).alias(name))
        with_items.append(replace(history, frame=frame, schema=history.schema.model_copy(update={"columns": columns})))
    return tuple(with_items)


def missing_columns(history: History, roles: Iterable[Role]) -> dict[str, Any]:
    """Return the note of a statement or a score about columns that the history lacks.

    >>> from noren.data.schema import Schema
    >>> paid = Schema.of({"columns": {"customer": {"role": "customer"}, "price": {"role": "price"}}})
    >>> missing_columns(History.of({"customer": ["ann"], "price": [1.0]}, paid), [Role.PRICE, Role.ITEM])
    {'missing_columns': ['item']}
    """
    absent = [str(role) for role in roles if not history.schema.with_role(role)]
    return {"missing_columns": absent} if absent else {}


def rows_without_customer(history: History) -> dict[str, Any]:
    """Return the note of a statement about rows without a customer, which a release leaves out."""
    count = history[Role.CUSTOMER].null_count()
    return {"rows_without_customer": count} if count else {}


_PUBLIC_ROWS = 1 << 19
"""Public rows that are laid out as arrays at a time, whole histories."""


@dataclass(frozen=True)
class ComparisonArrays:
    """Known and public rows as arrays, with the customers and pseudonyms of their numbers.

    Of pseudonyms with equal public histories only the first has rows here (``once``); ``history`` says which one each
    shares. ``domains`` has every text of a column of names, in the original or in the release, sorted.
    """

    columns: tuple[Column, ...]
    known: KnownRows
    customers: pl.Series
    pseudonyms: pl.Series
    history: NDArray[np.int64]
    once: History
    domains: dict[str, pl.Series]

    @cached_property
    def public(self) -> PublicRows:
        """What the public rows allow, pseudonyms by order of appearance."""
        return self.rows_of(self.once)

    def rows_of(self, public: History) -> PublicRows:
        """Return what some of the public rows allow, pseudonyms by order of appearance."""
        who, pseudonyms = people(public[Role.CUSTOMER])
        shape = (len(public), len(self.columns))
        lo, hi = np.full(shape, -np.inf), np.full(shape, np.inf)
        first, stop = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        members: list[NDArray[np.float64]] = []
        used = 0
        for at, column in enumerate(self.columns):
            cells = public.frame[column.name]
            there = ~cells.is_null().to_numpy()
            if column.scale != Scale.NOMINAL:
                lo[there, at], hi[there, at] = (numbers(end)[there] for end in cell_ends(cells))
                continue
            domain = self.domains[column.name]
            several = is_set(cells.dtype)
            size = cells.list.len().fill_null(0) if several else cells.is_not_null().cast(pl.UInt32)
            listed = cells.drop_nulls().explode(empty_as_null=False) if several else cells.drop_nulls()
            # the codes that cells list, sorted by row, then code, and the row of each
            row, code = np.repeat(np.arange(len(cells)), size.to_numpy()), _codes(listed, domain)
            known = ~np.isnan(code)
            if not known.all():
                row, code = row[known], code[known]
            place = row * len(domain) + code.astype(np.int64)
            if (np.diff(place) <= 0).any():
                place = np.unique(place)
                row, code = place // len(domain), (place % len(domain)).astype(np.float64)
            count = np.bincount(row, minlength=len(public))
            stop[:, at] = used + np.cumsum(count)
            first[:, at] = stop[:, at] - count
            # a set that lists nothing allows nothing
            lo[there, at], hi[there, at] = np.inf, -np.inf
            some = count > 0
            lo[some, at] = code[np.cumsum(count)[some] - count[some]]
            hi[some, at] = code[np.cumsum(count)[some] - 1]
            members.append(code)
            used += len(code)
        every = np.concatenate(members) if members else np.zeros(0)
        return PublicRows.of(lo, hi, first, stop, every, who, len(pseudonyms), self.known)


@dataclass(frozen=True)
class ConsistentCandidates:
    """Who may be behind each pseudonym, by numbers that stand for ``pseudonyms`` and ``customers``.

    ``history`` says which pseudonyms share a public history, ``of_history`` who may be behind each of these,
    ``rows`` how many public rows each pseudonym has, and ``known`` how many original rows each customer has.
    """

    of_history: Candidates
    pseudonyms: pl.Series
    customers: pl.Series
    history: NDArray[np.int64]
    rows: NDArray[np.int64]
    known: NDArray[np.int64]

    @cached_property
    def candidates(self) -> Candidates:
        """Who may be behind each pseudonym: as many pairs as there are, so many times over as histories are shared."""
        return self.of_history.take(self.history)

    @property
    def sharing(self) -> NDArray[np.int64]:
        """How many pseudonyms share each public history."""
        return np.bincount(self.history, minlength=len(self.of_history.counts))


def consistent_customers(
    original: History,
    public: History,
    progress: Progress = silent,
    *,
    enough: int | None = None,
    classes: pl.DataFrame | None = None,
) -> ConsistentCandidates:
    """Find the customers of the original that every public row of a pseudonym fits, each row its own.

    With ``enough`` no more than so many are found for a pseudonym. ``classes`` are the public ones, where they are
    known already (:func:`history_classes`).

    >>> from noren.data.schema import Schema
    >>> def history(customers, prices):
    ...     rows = {"customer": customers, "date": ["2010/12/1"] * 3, "item": ["a"] * 3, "price": prices,
    ...             "quantity": [1] * 3}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> found = consistent_customers(history(["ann", "bob", "bob"], [1, 1, 2]), history(["7", "8", "8"], [1, 2, 1]))
    >>> found.candidates.counts.tolist()
    [2, 1]
    """
    progress(0.0, _("preparing rows"))
    # everything fits columns that are suppressed throughout
    needed = (Role.CUSTOMER, Role.ITEM)
    others = [c.name for c in public.schema.columns if c.role not in needed]
    empty = [name for name in others if public.frame[name].null_count() == len(public)]
    arrays = comparison_arrays(original, public.without(empty), classes)
    _sorted = arrays.known.by_column  # before public rows take memory
    blocks, rows = list[Candidates](), list[NDArray[np.int64]]()
    # some public histories after another: all at once would take several times the memory of the public rows
    who, pseudonyms = people(arrays.once[Role.CUSTOMER])
    last_rows = np.cumsum(np.bincount(who, minlength=len(pseudonyms)))
    cuts = np.searchsorted(last_rows, np.arange(_PUBLIC_ROWS, len(who), _PUBLIC_ROWS))
    for start, stop in pairwise(np.unique(np.concatenate(([0], cuts, [len(pseudonyms)])))):
        some = np.flatnonzero((who >= start) & (who < stop))
        part = arrays.once if len(some) == len(arrays.once) else arrays.once.take(pl.Series(some))
        public_rows = arrays.rows_of(part)
        for done, block in candidate_blocks(arrays.known, public_rows, enough):
            share = (start + (stop - start) * done) / len(pseudonyms)
            progress(0.2 + 0.8 * share, _("finding consistent customers"))
            blocks.append(block)
        rows.append(public_rows.counts)
    candidates = joined(blocks, len(arrays.customers))
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *rows])[arrays.history]
    names = arrays.pseudonyms, arrays.customers
    return ConsistentCandidates(candidates, *names, arrays.history, counts, arrays.known.counts)


def comparison_arrays(original: History, public: History, classes: pl.DataFrame | None = None) -> ComparisonArrays:
    """Lay out both sides as arrays; the original must hold exact values. Without items all rows are of one."""
    original, public = with_item_column(original, public)
    columns = compared_columns(original, public)
    classes = history_classes(public) if classes is None else classes
    representatives = classes.unique("class", keep="first", maintain_order=True)["pseudonym"]
    once = public.take(public[Role.CUSTOMER].is_in(representatives.implode()).fill_null(value=False).arg_true())
    domains, values = dict[str, pl.Series](), np.empty((len(original), len(columns)))
    for at, column in enumerate(columns):
        exact = exact_values(original, column)
        if column.scale == Scale.NOMINAL:
            cells = once.frame[column.name]
            cell_texts = (cells.explode() if is_set(cells.dtype) else cells).cast(pl.String)
            domain = pl.concat([exact.cast(pl.String), cell_texts]).drop_nulls().unique().sort()
            domains[column.name] = domain
            values[:, at] = _codes(exact, domain)
        else:
            values[:, at] = numbers(exact)
    who, customers = people(original[Role.CUSTOMER])
    known = KnownRows.of(values, who, len(customers), len(domains[columns[0].name]))
    history = classes["class"].cast(pl.Int64).to_numpy()
    return ComparisonArrays(tuple(columns), known, customers, classes["pseudonym"], history, once, domains)


def history_classes(public: History) -> pl.DataFrame:
    """Return the pseudonyms in order of appearance and the class of each: equal numbers, equal public histories.

    Two histories are equal when they hold the same rows the same number of times; the order of rows, the order inside a
    set and the spelling of a value say nothing.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["1", "2", "3", "2", "1"], "date": ["2010/12/1"] * 5, "item": ["a", "b", "a", "a", "b"],
    ...         "price": [1.0] * 5, "quantity": [1] * 5}
    >>> history_classes(History.of(rows, Schema.preset("pwscup2018"))).rows()
    [('1', 0), ('2', 0), ('3', 1)]
    """
    column = public.schema.role(Role.CUSTOMER)
    others = [c for c in public.schema.columns if c != column]
    row = same_rows([text_numbers(public.frame[c.name], c) for c in others], len(public))
    rows = public.frame.select(pl.col(column.name).alias("pseudonym"), row).drop_nulls("pseudonym")
    whole = rows.group_by("pseudonym", maintain_order=True).agg(pl.col("row").sort())
    kinds = whole.select(pl.col("row").unique(maintain_order=True)).with_row_index("class")
    return whole.join(kinds, on="row", how="left", maintain_order="left").select("pseudonym", "class")


def row_texts(public: History) -> pl.DataFrame:
    """Return the texts of all columns but the customer's; rows that allow the same have the same texts."""
    frame = public.frame
    for name, dtype in public.frame.schema.items():
        in_order = pl.col(name).list.unique().list.sort()
        if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Enum):
            # sorting lists is slow, so equal ones are sorted once; they are told by numbers of the domain, for texts
            # could hold whatever is put between them
            key = frame[name].to_physical().cast(pl.List(pl.String)).list.join(" ").alias("key")
            known = pl.DataFrame([frame[name], key]).unique("key", keep="first").with_columns(in_order)
            sets = key.to_frame().join(known, on="key", how="left", maintain_order="left")[name]
            frame = frame.with_columns(sets)
        elif is_set(dtype):
            frame = frame.with_columns(in_order)
    return replace(public, frame=frame, spelling=Spelling()).texts().drop(public.schema.role(Role.CUSTOMER).name)


def class_sizes(public: History) -> list[int]:
    """Return how many pseudonyms share each public history, in order of first appearance."""
    classes = history_classes(public)["class"]
    return np.bincount(classes.to_numpy()).tolist() if len(classes) else []


def compared_columns(original: History, public: History) -> list[Column]:
    """Return the columns on which rows are compared, the item first: all that both have but the customer."""
    customer = original.schema.role(Role.CUSTOMER).name
    shared = [c for c in original.schema.columns if c.name != customer and c.name in public.frame.columns]
    item = original.schema.role(Role.ITEM).name
    if item not in [c.name for c in shared]:
        raise SchemaError(_("the release has no column {name!r}; give a release of this original").format(name=item))
    return sorted(shared, key=lambda column: column.name != item)


def _codes(texts: pl.Series, domain: pl.Series) -> NDArray[np.float64]:
    if isinstance(texts.dtype, pl.Enum):  # few texts, of which each has its number already
        own = texts.dtype.categories.cast(pl.Enum(domain), strict=False).to_physical().cast(pl.Float64)
        codes = own.gather(texts.to_physical())
    else:
        codes = texts.cast(pl.String).cast(pl.Enum(domain)).to_physical().cast(pl.Float64)
    return codes.fill_null(np.nan).to_numpy()


# --- partial knowledge ------------------------------------------------------------------------------------------------


def partial(original: History, share: float = 1.0, seed: int = 0, *, item_prefix: int | None = None) -> History:
    """Return a random ``share`` of the rows, in their order, items cut to their first ``item_prefix`` characters.

    The rows are ``share`` of all, rounded, drawn without replacement; with the same seed, who knows more knows all that
    one who knows less knows. What is not known is left out. The master, which is public, stays.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["a", "b", "c", "d"], "date": ["2010/12/1"] * 4, "item": ["22423", "85123A", "7", "22086"],
    ...         "price": [1.0] * 4, "quantity": [1] * 4}
    >>> known = partial(History.of(rows, Schema.preset("pwscup2018")), 0.5, seed=1, item_prefix=2)
    >>> len(known), sorted(set(known["item"]) - {"22", "85", "7"})
    (2, [])
    """
    there = original[Role.CUSTOMER].is_not_null()  # in the contest's files a row that is not known is DEL
    known = original if there.all() else original.take(there.arg_true())
    if share != 1:
        known = known.take(_drawn(len(known), share, seed))
    if item_prefix is None:
        return known
    if item_prefix < 1:
        raise ParameterError.out_of_range("item-prefix", item_prefix, "item-prefix >= 1")
    column = original.schema.role(Role.ITEM)
    cut = exact_values(known, column).cast(pl.String).str.slice(0, item_prefix)
    return known.with_values(cut.alias(column.name))


def partial_table(original: Table, share: float = 1.0, seed: int = 0, *, item_prefix: int | None = None) -> Table:
    """Return a table of which a random ``share`` of the people is known: the rows of the others are empty.

    A person is the place of a row, so rows that are not known stay where they are.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> partial_table(Table.of({"age": [20, 30, 40, 50]}, schema), 0.5, seed=1).frame["age"].null_count()
    2
    """
    unknown = np.ones(len(original), dtype=np.bool_)
    unknown[_drawn(len(original), share, seed).to_numpy()] = False
    if item_prefix is not None:
        raise ParameterError(_("a table has no use for {option}; omit it").format(option="--item-prefix"))
    known_rows = pl.when(~pl.Series(unknown)).then(pl.all()).name.keep()
    return replace(original, frame=original.frame.select(known_rows), spelling=Spelling())


def _drawn(rows: int, share: float, seed: int) -> pl.Series:
    if not 0 < share <= 1:
        raise ParameterError.out_of_range("knowledge", share, "0 < knowledge <= 1")
    # the raw stream is what numpy promises to keep
    order = np.argsort(np.random.Philox(key=seed).random_raw(rows), kind="stable")
    return pl.Series(np.sort(order[: round(share * rows)]))
