"""Add rows so that all customers of a cluster have the same items (S2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from noren.data.arrays import NOBODY, exact_values, numbers, people
from noren.data.compatibility import rows_without_customer
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale, Schema
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.items.packed_sets import ItemSets, item_sets
from noren.kernels.items.pseudo_records import cosine_clusters, filled_up, tf_idf, unit_rows
from noren.kernels.items.union_clusters import missing_items, union_clusters
from noren.kernels.random_draws import uniforms
from noren.kernels.sharing.rows import near_in_time, one_of_each
from noren.methods.pseudonymize import edited, pseudonymous
from noren.methods.shared_values import EFFORT, EFFORT_WORDS, not_below, too_large
from noren.progress import Progress, silent
from noren.protocols import HARDER, Method, Strength, in_form
from noren.tables import Texts

say = Texts(__name__)

STEPS = {"quick": 2_500, "normal": 25_000, "thorough": 250_000}
"""How many changes the search tries for each customer."""
_SIZES = (4, 8, 16)
"""How many customers share a cluster, in the mean, where nobody says how many clusters."""
_MOST_CELLS = 250_000_000
"""The largest table of clusters by items: 2 GB of centres for k-means, half a GB of counts for the search."""


class PseudoRecords(Method):
    """Give every customer of a cluster the same items, by adding rows; nothing is changed or deleted.

    Customers are put into c clusters, and each member gets a pseudo record for every item that some other member bought
    and it did not. An attacker who knows what everybody bought sees one item set for a whole cluster, so one guess in
    the cluster's size is right: he finds c of n customers by item sets, on average and at most. Members can still be
    told apart by what their true rows say (dates, prices, quantities, how often).

    Which customers go together decides how many rows are added. ``clusters`` and ``repaired`` are the paper's methods 1
    and 2 (k-means on TF-IDF weights, without and with a least size); ``balanced`` searches for the clusters of fewest
    added rows, no customer alone. An added row copies price and quantity of a real purchase of the item and stands on
    an invoice of the customer's own; only the secret part knows which rows were added.

    References
    ----------
    S2, Algorithm 2 and §3; ``docs/theory/pseudo-records.md`` for the number of rows to expect and the best c.

    Examples
    --------
    Ann has jam and tea, Bob tea, Cho and Dan rice. Two clusters: only Bob lacks something, jam.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "bob", "cho", "dan"], "date": [f"2010/12/{d}" for d in range(1, 6)],
    ...         "item": ["jam", "tea", "tea", "rice", "rice"], "price": [3.0, 2.0, 2.0, 7.0, 7.0], "quantity": 1}
    >>> release = PseudoRecords(clusters=2).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.public.lines(), sep="\\n")
    10,2010/12/4,rice,7,1
    11,2010/12/5,rice,7,1
    12,2010/12/3,jam,3,1
    12,2010/12/3,tea,2,1
    13,2010/12/1,jam,3,1
    13,2010/12/2,tea,2,1
    >>> release.inserted_rows, release.statement.notes["reid_by_items"]
    (1, 0.5)
    """

    name = "pseudo-records"
    summary = N_("Adds rows so that all customers of a cluster have bought the same items.")
    source = "S2"
    roles = (Role.ITEM,)
    strength = Strength("clusters", "50, 100", safer="lower")
    promises = HARDER
    prominence = 1
    good_for = N_("An attacker knows which items a customer bought, but not when or at what price.")
    wrong_for = N_("An attacker may know a date or a price, since all true rows remain; or sums must not grow.")
    best_so_far = N_("best so far (lower is more useful)")

    clusters: Annotated[int, not_below(1)] = Field(
        title=N_("Number of clusters; item sets may disclose one customer of each, so fewer are safer"),
        json_schema_extra=in_form(main=True, start="20", minimum=1),
    )
    min_size: Annotated[int | None, not_below(1)] = Field(
        default=None,
        title=N_("Minimum size of a cluster (default: 2 for balanced, as many as fit for repaired)"),
        json_schema_extra={"minimum": 1},
    )
    variant: Literal["clusters", "repaired", "balanced"] = Field(
        default="balanced",
        title=N_("How clusters are made"),
        json_schema_extra=in_form(
            words={
                "clusters": N_("by similarity (k-means)"),
                "repaired": N_("by similarity, with a minimum size"),
                "balanced": N_("with the fewest added rows"),
            }
        ),
    )
    effort: Literal["quick", "normal", "thorough"] = Field(
        default="normal", title=EFFORT, json_schema_extra=in_form(main=True, words=EFFORT_WORDS)
    )

    @classmethod
    def usual_values(cls, people: int | None = None) -> str:
        """Return numbers of clusters such that so many customers share one, in the mean.

        >>> PseudoRecords.usual_values(400)
        '100, 50, 25'
        """
        if people is None:
            return super().usual_values()
        return ", ".join(str(count) for count in dict.fromkeys(max(people // size, 1) for size in _SIZES))

    @model_validator(mode="after")
    def _sizes_that_are_kept(self) -> PseudoRecords:
        if self.variant == "clusters" and self.min_size is not None:
            raise ValueError(
                _("min_size={size} does not apply to the variant clusters; use repaired or balanced").format(
                    size=self.min_size
                )
            )
        return self

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Add rows to ``original`` until clusters have equal items; the seed decides names, clusters and rows."""
        progress(0.0, _("comparing rows"))
        customer = original[Role.CUSTOMER]
        for column in original.measured():
            exact_values(original, column)
        codes, customers = people(customer)
        least = self.least_size(len(customers))
        names = pseudonymous(customer, seed)
        item = original[Role.ITEM].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1  # below 0 for none
        items = int(item.max(initial=-1)) + 1
        sets = item_sets(np.where(item >= 0, codes, NOBODY), item, len(customers), items)
        cluster, searched = self.clusters_of(sets, items, least, seed, progress)
        progress = silent if searched < 1 else progress  # who said enough need not be told more

        progress(0.9, _("adding rows"))
        who, what = missing_items(sets, cluster)
        # a spelling of the file's own would tell its rows from added ones
        released = History(edited(original, [names]).frame, original.schema, Spelling())
        added = believable_rows(released, codes, item, who, what, seed=seed)
        sizes = np.bincount(cluster, minlength=self.clusters)
        statement = self.statement(sizes, len(added), searched, rows_without_customer(original))
        progress(0.95, _("sorting rows"))
        inserted = History(added, original.schema)
        return Release.of_aligned(original, released, statement, seed=seed, inserted=inserted)

    def least_size(self, customers: int) -> int:
        """Return the least size of a cluster; stop where there are not customers enough."""
        if self.clusters > customers:
            raise too_large("clusters", self.clusters, customers)
        default = {"clusters": 1, "repaired": customers // self.clusters, "balanced": 2}[self.variant]
        least = default if self.min_size is None else self.min_size
        if least * self.clusters > customers:
            most = max(customers // least, 1)
            raise ParameterError(
                say("too_few_customers", clusters=self.clusters, least=least, count=customers, most=most)
            )
        return least

    def statement(self, sizes: Whole, added: int, searched: float, notes: dict[str, Any]) -> Statement:
        """Return the statement of a release, given the sizes of its clusters."""
        stopped = {"stopped": True, "searched": searched} if searched < 1 else {}
        promise = N_("customers of a cluster have equal item sets: by items, one guess in the cluster's size is right")
        alone = int((sizes == 1).sum())
        own_notes: dict[str, Any] = {  # sizes and risks, and nothing of who is with whom
            "clusters": self.clusters,
            "added_rows": added,
            "smallest_cluster": int(sizes.min()),
            "largest_cluster": int(sizes.max()),
            "reid_by_items": self.clusters / int(sizes.sum()),
            "largest_risk": 1 / int(sizes.min()),
        } | ({"customers_alone": alone} if alone else {})
        return Statement(self.name, self.parameters(), promise, notes=own_notes | notes | stopped)

    def clusters_of(self, sets: ItemSets, items: int, least: int, seed: int, progress: Progress) -> tuple[Whole, float]:
        """Return the cluster of each customer, and how much of the search was done."""
        if self.clusters * items > _MOST_CELLS:
            raise ParameterError(say("too_many_cells", clusters=self.clusters, items=items))
        if self.variant == "balanced":

            def report_progress(done: float, added: int) -> None:
                progress(0.02 + 0.88 * done, _("searching"), float(added))

            result = union_clusters(
                sets, items, self.clusters, least, steps=STEPS[self.effort], seed=seed, report=report_progress
            )
            return result.cluster, result.searched
        generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
        rows = unit_rows(tf_idf(sets, items))
        cluster = cosine_clusters(rows, self.clusters, generator)
        if self.variant == "repaired":
            progress(0.5, _("searching"))
            cluster = filled_up(rows, cluster, least)
        return cluster, 1.0


# --- Rows that nobody bought but might have: a real purchase of the item, on an invoice of the customer's own ---------


OF_THE_ITEM = (Role.ITEM, Role.PRICE, Role.QUANTITY, Role.DESCRIPTION)
OF_THE_VISIT = (Role.CUSTOMER, Role.INVOICE, Role.DATE, Role.TIME)


def believable_rows(
    released: History, customer: Whole, item: Whole, who: Whole, what: Whole, *, seed: int
) -> pl.DataFrame:
    """Return a row for each customer ``who`` and item ``what``, all columns filled.

    A row of that item is drawn from the history, all alike, and gives the price, the quantity and the description: the
    added rows then have the prices and quantities that the item's own rows have, in the same proportions and together,
    so no value of theirs tells them. The rest (invoice, date, time, name) is that of one of the customer's rows, of the
    nearest moment to the drawn purchase: what was sold then, at what price, is likely there. A column of another role
    follows whichever it depends on, the item or the visit to the shop.

    Parameters
    ----------
    released
        The history as it is released, under pseudonyms.
    customer, item
        The customer and the item of each of its rows, as codes; below 0 where a row has none.

    Examples
    --------
    Bob never bought tea. Ann's tea of 2 goes on the invoice of his that is nearest in time to hers.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/3", "2010/12/9"],
    ...         "item": ["tea", "jam", "jam"], "price": [2.0, 5.0, 5.0], "quantity": [6, 1, 1]}
    >>> released = History.of(rows, Schema.preset("pwscup2018"))
    >>> codes = np.array([0, 1, 1]), np.array([1, 0, 0])
    >>> believable_rows(released, *codes, np.array([1]), np.array([1]), seed=1).row(0)
    ('bob', datetime.date(2010, 12, 3), 'tea', 2.0, 6)
    """
    like, place = draws_of_added(len(who), seed)
    bought = one_of_each(np.where(customer >= 0, item, -1), what, like)
    moment = np.zeros(len(released))  # when each row was bought, in days; 0 where that is not known
    for column, unit in parts_of_a_moment(released.schema):
        moment += np.nan_to_num(numbers(exact_values(released, column))) * unit
    visit = near_in_time(customer, moment, who, moment[bought], place)
    from_item = {
        c.name for c in released.schema.columns if c.role in OF_THE_ITEM or _follows_item(released, c.name, c.role)
    }
    return pl.DataFrame(
        [
            released.frame[name].gather(pl.Series(bought if name in from_item else visit))
            for name in released.schema.names
        ]
    )


def draws_of_added(rows: int, seed: int) -> tuple[Real, Real]:
    """Return the numbers that choose each added row's purchase and its visit; the pseudonyms use another stream."""
    like, place = (uniforms(rows, seed=seed, draw=1, stream=stream) for stream in (0, 1))
    return like, place


def parts_of_a_moment(schema: Schema) -> list[tuple[Column, float]]:
    """Return the columns that say when a row was bought, and what a step of each is in days."""
    parts = ((Role.DATE, 1.0), (Role.TIME, 1.0 / 1440))
    return [(c, unit) for role, unit in parts for c in schema.with_role(role) if c.scale != Scale.NOMINAL]


def _follows_item(history: History, name: str, role: Role) -> bool:
    """Tell whether a column has fewer values beside its first for an item than for a visit, as a category has."""
    if role in OF_THE_VISIT:
        return False

    def further(keys: list[str]) -> int:
        return history.frame.n_unique([*keys, name]) - history.frame.n_unique(keys)

    visit = [c.name for c in history.schema.with_role(*OF_THE_VISIT)]
    return further([history.schema.role(Role.ITEM).name]) < further(visit)
