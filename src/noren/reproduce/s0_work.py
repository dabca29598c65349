"""Work of S0's experiments: errors of analyses on data sets drawn from a release; the final played again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.attacks import attacks
from noren.attacks.consistency import Consistency
from noren.contest.rulebook import Rulebook, preset
from noren.data.arrays import exact_values, numbers
from noren.data.catalog import find
from noren.data.compatibility import class_sizes, history_classes
from noren.data.draws import Draws
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role, Scale
from noren.data.statement import Statement
from noren.kernels.judging.cell_error import population_sd
from noren.kernels.judging.survival import AttackPlan, best_plan
from noren.kernels.judging.threshold import Bound
from noren.measures.utility.cell_error import CellError, cell_errors
from noren.measures.utility.frequent_itemsets import FrequentItemsets
from noren.measures.utility.item_similarity import ItemSimilarity
from noren.measures.utility.purchases import Compare, Purchases, purchases
from noren.measures.utility.rfm import Rfm
from noren.measures.utility.statistics import Statistics
from noren.methods import methods
from noren.protocols import Evidence, Guess
from noren.reproduce.inputs import customers_of, the_history
from noren.tables import table_of
from noren.work.store import cached_folder

DATA = "pwscup2018-final"
SEED = 1
ATTACKERS = 13
"""Attackers of each release, as S0 computes."""

_TABLES = table_of(__name__)
RELEASES: Mapping[str, tuple[str, Mapping[str, Any]]] = _TABLES["releases"]
"""Our releases in place of the teams': a method and its parameters."""


def useful(name: str, draws: int) -> dict[str, Any]:
    """Return U of a release, its deleted rows, and the mean of every error over so many data sets drawn from it."""
    original = customers_of(DATA)
    method, parameters = RELEASES[name]
    release = methods.create(method, **parameters).protect(original, seed=SEED)
    drawn = Draws(original, the_history(release.public), seed=SEED).first(draws)
    notes = release.statement.notes
    return {
        "U": CellError().measure(Evidence(original, release)).value,
        "deleted": release.deleted_rows,
        "lower_bound": notes.get("lower_bound"),
        "optimal": notes.get("proved_optimal", False),
    } | _errors(drawn)


def team_01() -> dict[str, Any]:
    """Return the same of the five published draws of team 01, suppressed cells filled by S0's rule."""
    original = customers_of(DATA)
    published = pl.read_parquet(find(DATA).path("team01-draws"))

    def filled() -> Iterable[History]:
        for i in range(5):
            columns = (pl.col("pseudonym").cast(pl.String).alias("customer"), "date", "item", "price")
            frame = published.filter(draw=i).select(*columns, pl.col("quantity").cast(pl.Int64))
            yield Draws(original, History(frame, original.schema), seed=SEED)[i]

    return _errors(filled())


def surviving(alone: int, size: int, bound: Bound) -> dict[str, float]:
    """Return the best attacker's success probability if ``alone`` customers are unique, the others in classes."""
    chance = best_plan([1] * alone + [size] * ((1_000 - alone) // size), bound).chance
    return {"chance": chance, "survival": (1 - chance) ** ATTACKERS}


def _errors(drawn: Iterable[History]) -> dict[str, Any]:
    known, compare = _comparing()
    table: dict[str, list[float]] = {}
    for data in drawn:
        for part, value in compare(purchases(data, known.items)).items():
            table.setdefault(part, []).append(value)
    return {
        "draws": len(table["rows"]),
        "errors": {part: float(np.mean(values)) for part, values in table.items()},
        "spread": {part: float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for part, values in table.items()},
    }


@cache
def _comparing() -> tuple[Purchases, Compare]:
    """Return the original's purchases, and a function that compares a data set with them, under S0's names."""
    known = purchases(customers_of(DATA))
    itemsets, similar = FrequentItemsets(), ItemSimilarity()
    frequent, alike, ranks, plain = (m.against(known) for m in (itemsets, similar, Rfm(), Statistics()))

    def compare(data: Purchases) -> Mapping[str, float]:
        return {
            "itemsets": itemsets.value_of(frequent(data)),
            "rfm": ranks(data)["value"],
            **alike(data),
            **plain(data),
        }

    return known, compare


# --- The final of 2018 played again: the teams' releases --------------------------------------------------------------


RECIPES: Mapping[str, tuple[str, Mapping[str, Any]]] = _TABLES["recipes"]
"""Releases of the teams, or what they are made of."""


@dataclass(frozen=True)
class CupEntry:
    """A team's release: its kind in Table 5, the recipe, and how many customers are left unprotected."""

    kind: str
    recipe: str
    unprotected: int = 0


ENTRIES: dict[str, CupEntry] = {team: CupEntry(**fields) for team, fields in _TABLES["entries"].items()}
"""The 13 teams. Three have the best pairs, as three had in 2018; what was *based on triples* S0 does not say."""


@cache
def _release(team: str) -> Release:
    """Return the release of a team."""
    entry = ENTRIES[team]
    release = Release.load(cached_folder(make_release, entry.recipe, data=(DATA,)))
    return leave_unprotected(customers_of(DATA), release, entry.unprotected) if entry.unprotected else release


def make_release(folder: Path, recipe: str) -> None:
    """Write the release of a recipe into an existing folder."""
    method, parameters = RECIPES[recipe]
    methods.create(method, **parameters).protect(customers_of(DATA), seed=SEED).write_into(folder)


def leave_unprotected(original: History, release: Release, count: int) -> Release:
    """Return a release in which at least ``count`` customers have their original rows, under their pseudonyms.

    Whole classes are left unprotected, those with the largest error first, so that no other class loses a member.
    """
    columns, origin = original.measured(), release.secret.origin
    # the error of each original row: of its cells, or all its cells where it was deleted
    cost = np.full(len(original), float(len(columns)))
    cost[origin.to_numpy()] = 0.0
    for column in columns:
        values = exact_values(original, column)
        sd = 0.0 if column.scale == Scale.NOMINAL else population_sd(numbers(values))
        cost[origin.to_numpy()] += cell_errors(values.gather(origin), release.public.frame[column.name], column, sd)
    lost = pl.DataFrame({"customer": original[Role.CUSTOMER].cast(pl.String), "loss": cost})
    known = release.secret.pseudonyms.cast(pl.String).join(history_classes(the_history(release.public)), on="pseudonym")
    classes = (
        lost.group_by("customer")
        .agg(pl.col("loss").sum())
        .join(known, on="customer")
        .group_by("class")
        .agg(pl.col("loss").mean(), pl.len().alias("members"))
        .sort("loss", "class", descending=[True, False])
    )
    opened = classes.filter(pl.col("members").cum_sum().shift(1, fill_value=0) < count)["class"]
    theirs = known.filter(pl.col("class").is_in(opened.implode())).select("customer", name="pseudonym")
    names = lost.join(theirs, on="customer", how="left", maintain_order="left")["name"]
    texts = original.texts().with_columns(names.alias(original.schema.role(Role.CUSTOMER).name))
    plain = [pl.when(names.is_null()).then(pl.col(c)).otherwise(texts[c]) for c in original.schema.names]
    statement = Statement("by hand", {"unprotected": count, "of": release.statement.method})
    aligned = History.of_release(release.aligned().texts().select(plain), original.schema)
    return Release.of_aligned(original, aligned, statement, seed=SEED)


# --- The best attacker of a release made of classes: knows who is in a class, and guesses at random within it ---------


Whole = NDArray[np.int64]


@dataclass(frozen=True)
class ClassMembers:
    """Pseudonyms class by class, the smallest and surest classes first, with the customers of each class."""

    pseudonym: pl.Series
    customer: pl.Series
    """``pseudonym``, ``customer``: row by row; within a class, nothing tells which customer has which pseudonym."""
    size: Whole
    number: Whole
    place: Whole
    """``number``, ``place``: which class a row is of, counted among the classes of its size; and which member of it."""
    start: Whole
    """The first row of its class."""


def class_members(original: History, public: History) -> ClassMembers:
    """Find the customers of each class of equal public histories; a class with an unknown member is left out."""
    named = Consistency().attack(original, public, seed=0).pairs
    rows = (
        history_classes(public)
        .with_columns(size=pl.len().over("class"))
        .join(named, on="pseudonym", how="inner")
        .with_columns(sure=pl.col("score").min().over("class"), candidates=pl.len().over("class"))
        .filter(pl.col("candidates") == pl.col("size"))
        .sort("size", "sure", "class", "pseudonym", descending=[False, True, False, False])
    )
    size = rows["size"].cast(pl.Int64).to_numpy()
    first = np.flatnonzero(np.diff(rows["class"].cast(pl.Int64).to_numpy(), prepend=-1))
    start = np.repeat(first, size[first])
    of_size = np.searchsorted(size, size)  # the first row of this size
    return ClassMembers(
        rows["pseudonym"],
        rows["customer"],
        size,
        (start - of_size) // np.maximum(size, 1),
        np.arange(len(size)) - start,
        start,
    )


def random_guess(classes: ClassMembers, plan: AttackPlan, draws: np.random.Generator) -> pl.DataFrame:
    """Return a guess by a plan: so many members of so many classes of each size, matched at random.

    A sure plan names the same customer for all pseudonyms of a class.
    """
    order = np.lexsort((draws.random(len(classes.size)), classes.start))
    assigned = order[classes.start] if plan.sure else order
    named = np.zeros(len(classes.size), dtype=np.bool_)
    used: dict[int, int] = {}
    for size, members, count in sorted(plan.depths, reverse=True):
        first = used.get(size, 0)
        turn = (classes.number >= first) & (classes.number < first + count)
        named |= (classes.size == size) & turn & (classes.place < members)
        used[size] = first + count
    rows = np.flatnonzero(named)
    return pl.DataFrame(
        {"pseudonym": classes.pseudonym.gather(rows), "customer": classes.customer.gather(assigned[rows])}
    )


# --- The final of 2018 played again: work of the teams' releases and of each attacker --------------------------------


BOUNDS: tuple[Bound, ...] = ("paper", "sharp")
OTHERS = len(ENTRIES) - 1
"""Attackers of each team: all others, with one guess each."""
CUPS = 100
"""Cups played with each seed."""


@cache
def rules(bound: Bound) -> Rulebook:
    """Return the rulebook of 2018 with one of the two bounds."""
    return preset("pwscup2018", bound=bound)


def made(recipe: str) -> dict[str, Any]:
    """Make the release of a recipe, for all units that need it."""
    return {"folder": cached_folder(make_release, recipe, data=(DATA,)).name}


def entered(team: str, _made: Any) -> dict[str, Any]:
    """Return the rulebook's measures of a release, the sizes of its classes, and the best plan against it."""
    release = _release(team)
    evidence = Evidence(customers_of(DATA), release)
    values = {
        key: round(measure.measure(evidence).value, 10) for key, (measure, _part) in rules("paper").of_release().items()
    }
    sizes = class_sizes(the_history(release.public))
    return {
        "values": values,
        "deleted": release.deleted_rows,
        "classes": {str(size): count for size, count in sorted(Counter(sizes).items())},
        "plans": {bound: asdict(best_plan(sizes, bound)) for bound in BOUNDS},
    }


def registered(team: str, attack: str, seed: int, _made: Any) -> dict[str, Any]:
    """Return the result of one of our attacks, with all its names, and whether either rulebook calls it effective."""
    release = _release(team)
    guess = attacks.create(attack).attack(customers_of(DATA), the_history(release.public), seed=seed)
    evidence = Evidence(customers_of(DATA), release, {attack: guess})
    scores = {bound: _effective(bound).measure(evidence) for bound in BOUNDS}
    parts = scores["paper"].parts
    return {
        "named": parts[f"{attack}.named"],
        "right": parts[f"{attack}.right"],
        "effective": {bound: score.value > 0 for bound, score in scores.items()},
    }


def played(team: str, bound: Bound, seed: int, entry: Any) -> list[int]:
    """Return how many attackers were effective against a team, cup by cup, each guessing by the best plan."""
    release, classes = _release(team), _class_members(team)
    plan_fields = entry["plans"][bound]
    plan = AttackPlan(**plan_fields | {"depths": tuple(map(tuple, plan_fields["depths"]))})
    draws = np.random.Generator(np.random.Philox([seed, list(ENTRIES).index(team), BOUNDS.index(bound)]))
    counts = []
    for _cup in range(CUPS):
        guesses = {str(i): Guess("random", random_guess(classes, plan, draws)) for i in range(OTHERS)}
        score = _effective(bound).measure(Evidence(customers_of(DATA), release, guesses))
        counts.append(len(score.notes["effective"]))
    return counts


def _effective(bound: Bound) -> Any:
    """Return the one measure of the rulebook that judges attacks."""
    ((measure, _part),) = rules(bound).of_guess().values()
    return measure


@cache
def _class_members(team: str) -> ClassMembers:
    return class_members(customers_of(DATA), the_history(_release(team).public))
