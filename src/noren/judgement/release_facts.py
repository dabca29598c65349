"""What a release tells by itself: counted from its public part and its secret part, and believed of no statement.

A statement may claim anything. So class sizes are counted, the k of retention is computed anew from its noise, columns
are looked through for what identifies people, and names are tested for being drawn without a look at the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.data.fits import history_classes
from noren.data.frames import History, Records, Table
from noren.data.public_part import identifying_in, kept_columns
from noren.data.release import Release
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import InputError
from noren.judgement.page_text import printable
from noren.measures.safety.table_classes import table_classes
from noren.methods import methods
from noren.retention.perturbation import stated_perturbation

__all__ = ["ReleaseFacts", "claimed_by", "release_facts"]

_EASY_SEED: Final = 2**32
"""Seeds below can be tried out one by one by whoever holds the original."""
_CLAIMS: Final = ("k", "l", "t", "rho")
_FAR: Final = 4.0
"""Standard errors: names drawn at random correlate so far with one order about once in 16,000 releases."""


class ReleaseFacts(BaseModel):
    """What a release tells by itself, whatever rule it is judged by.

    Attributes
    ----------
    smallest_class
        Of a history that claims k, the fewest pseudonyms that share one public history, counted from the release.
    proven_k
        Of a release by retention, the k that follows from its noise, domains and rows.
    registered
        Whether a method that this program knows made it; nothing but such a method's claim counts.
    names_random
        Whether pseudonyms look drawn without a look at the data; None where the secret part is not at hand.
    chosen_seed
        Whether its seed is one that could be tried out.
    chosen_by_sensitive
        Whether the method looked at sensitive values when it chose how to generalise.
    sensitive
        The published columns that are marked sensitive.
    unknown
        The published columns that an attacker is assumed not to know: sensitive ones and those declared unknown.
    identifying, kept
        Published columns that identify people: those that nobody decided to keep, and those that somebody did.
    alone
        Of a history, by columns of role other, the share of pseudonyms with a value that no other pseudonym has.
    known_others, known_least, known_told
        Of a table, the columns of role other that count as known; the smallest class where they are counted, too; and
        the sensitive columns that such a class tells.
    exposed
        Of a table, the share of rows that somebody would name who also knew the columns assumed to be unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    smallest_class: int | None = None
    proven_k: float | None = None
    registered: bool = True
    names_random: bool | None = True
    chosen_seed: bool = False
    chosen_by_sensitive: bool = False
    sensitive: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    alone: Mapping[str, float] = {}
    known_others: tuple[str, ...] = ()
    known_least: int | None = None
    known_told: tuple[str, ...] = ()
    exposed: float | None = None


def release_facts(release: Release, original: Records | None = None) -> ReleaseFacts:
    """Return what a release tells by itself; with the original, names are also held against what people spent.

    >>> from noren import api
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> facts = release_facts(api.protect(history, "generalize-by-count", k=5, seed=1))
    >>> facts.smallest_class, facts.registered, facts.names_random, facts.chosen_seed
    (5, True, True, True)
    """
    public, statement = release.public, release.statement
    found, keep = identifying_in(public), kept_columns(statement)
    shown = [c for c in public.schema.columns if public.frame[c.name].null_count() < len(public)]
    sensitive = [c.name for c in shown if c.role == Role.SENSITIVE]
    unknown = [c.name for c in shown if c.role == Role.SENSITIVE or not c.known]
    facts: dict[str, Any] = {
        "registered": all(step.method in methods for step in statement.steps),
        "chosen_seed": release.secret.seed is not None and release.secret.seed < _EASY_SEED,
        "chosen_by_sensitive": any(step.notes.get("chosen_by_sensitive_values") is True for step in statement.steps),
        "sensitive": _printable(sensitive),
        "unknown": _printable(unknown),
        "identifying": _printable(name for name in found if name not in keep and found[name].sure),
        "kept": _printable(name for name in public.schema.names if name in keep),
        "proven_k": _proven_k(release),
    }
    if isinstance(public, History):
        facts |= _history_facts(release, public, original)
    elif isinstance(public, Table) and facts["proven_k"] is None:
        facts |= _table_facts(public, sensitive, unknown)
    return ReleaseFacts(**facts)


def claimed_by(statement: Statement) -> dict[str, float]:
    """Return what the last step of a method claims: k and, where it says so, l, t or rho.

    >>> claimed_by(Statement("generalize", {"min_class": 3, "l": None}))
    {'k': 3}
    """
    said = dict(statement.steps[-1].parameters)
    if said.get("k") is None:
        said["k"] = said.get("min_class")
    return {
        name: said[name]
        for name in _CLAIMS
        if isinstance(said.get(name), int | float) and not isinstance(said[name], bool)
    }


def _printable(names: Any) -> tuple[str, ...]:
    return tuple(printable(name) for name in names)


def _proven_k(release: Release) -> float | None:
    """Return the k that follows from the noise of a retention; 1 where its statement contradicts the public part."""
    if release.statement.method != "retention":
        return None
    try:
        return stated_perturbation(release.public.schema, release.statement).k(len(release.public))
    except InputError:
        return 1.0


# --- histories -------------------------------------------------------------------------------------------------------


def _history_facts(release: Release, public: History, original: Records | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"alone": _alone(public)}
    if "k" not in claimed_by(release.statement) or _has_several_pseudonyms(release):
        return facts  # where a customer has several, five that are alike may all be one person's
    classes = history_classes(public).with_columns(pl.col("pseudonym").cast(pl.String))
    facts["smallest_class"] = int(np.bincount(classes["class"].to_numpy()).min()) if len(classes) else None
    facts["names_random"] = _names_look_random(release, classes, original)
    return facts


def _has_several_pseudonyms(release: Release) -> bool:
    """Tell whether a customer may have several pseudonyms: by the secret part, or without it by what was done."""
    if release.has_secret:
        pairs = release.secret.pseudonyms.select("pseudonym", "customer").unique()
        return bool(pairs["customer"].is_duplicated().any())
    return any(step.method == "monthly-pseudonyms" for step in release.statement.steps)


def _alone(public: History) -> dict[str, float]:
    """Return by each known column of role other the share of pseudonyms that have a value nobody else has."""
    customer, alone = public.schema.role(Role.CUSTOMER).name, {}
    people = public.frame[customer].n_unique()
    for column in public.schema.with_role(Role.OTHER):
        if column.known and not public.frame[column.name].dtype.is_nested():
            pairs = public.frame.select(customer, value=pl.col(column.name)).drop_nulls().unique()
            own = pairs.filter(pl.len().over("value") == 1)
            if len(own) and people > 1:
                alone[printable(column.name)] = own[customer].n_unique() / people
    return alone


def _names_look_random(release: Release, classes: pl.DataFrame, original: Records | None = None) -> bool | None:
    """Tell whether pseudonyms were given out inside classes without regard to names, rows or amounts.

    Inside a class of equal histories nothing but the pseudonym is left, so the proof of 1/k needs it to be drawn at
    random: dealt in alphabetical order, sorting both lists names everybody. Inside classes the ranks of pseudonyms are
    correlated with those of customers' own names, of their first rows and, with the original, of what they spent. Under
    random names each sum over classes of Σ(a-ā)(b-b̄) has mean 0 and the variance Σ SSa·SSb/(n-1) of permutations. An
    order of which none of this tells passes the test: it refutes names and proves none.
    """
    if not release.has_secret:
        return None
    pairs = release.secret.pseudonyms.select(pl.col("pseudonym", "customer").cast(pl.String)).unique(
        maintain_order=True
    )
    pairs = pairs.with_row_index("first").join(classes, on="pseudonym", how="inner")
    keys = {"customer": _in_order(pairs["customer"]), "first": pairs["first"]}
    if isinstance(original, History):
        keys |= _amounts(pairs["customer"], original)
    ours = _in_order(pairs["pseudonym"])
    table = pl.DataFrame({"class": pairs["class"], "name": ours} | keys)
    ranks = table.select("class", *(pl.col(key).rank().over("class").alias(key) for key in ("name", *keys)))
    return all(abs(_standard_errors(ranks, key)) < _FAR for key in keys)


def _in_order(texts: pl.Series) -> pl.Series:
    """Return the places of texts in their order: that of numbers where all are."""
    numbers = texts.cast(pl.Float64, strict=False)
    return numbers if not numbers.null_count() else texts.rank("dense")


def _amounts(customers: pl.Series, original: History) -> dict[str, pl.Series]:
    name = original.schema.role(Role.CUSTOMER).name
    numbers = [c.name for c in original.schema.with_role(Role.PRICE, Role.QUANTITY)]
    sums = original.frame.group_by(pl.col(name).cast(pl.String).alias("customer")).agg(
        pl.len().alias("rows"), *(pl.col(n).cast(pl.Float64, strict=False).sum().alias(f"sum of {n}") for n in numbers)
    )
    found = customers.to_frame("customer").join(sums, on="customer", how="left", maintain_order="left")
    return {key: found[key].fill_null(0) for key in found.columns if key != "customer"}


def _standard_errors(ranks: pl.DataFrame, key: str) -> float:
    """Return how many standard errors the ranks of names and those by a key are from independence.

    >>> ranks = pl.DataFrame({"class": [0, 0, 0, 1, 1, 1], "name": [1, 2, 3, 1, 2, 3], "key": [1, 2, 3, 3, 2, 1]})
    >>> _standard_errors(ranks, "key")
    0.0
    """
    a, b = (pl.col(name) - pl.col(name).mean() for name in ("name", key))
    sums = ranks.group_by("class").agg(
        both=(a * b).sum(), spread=(a * a).sum() * (b * b).sum() / pl.max_horizontal(pl.len() - 1, 1)
    )
    spread = float(sums["spread"].sum())
    return float(sums["both"].sum()) / spread**0.5 if spread > 0 else 0.0


# --- tables ----------------------------------------------------------------------------------------------------------


def _table_facts(public: Table, sensitive: list[str], unknown: list[str]) -> dict[str, Any]:
    """Return what follows where columns of role other are known, and where everything published is."""
    known = [c.name for c in public.schema.columns if c.role == Role.QUASI or (c.role == Role.OTHER and c.known)]
    others = [name for name in known if public.schema[name].role == Role.OTHER]
    facts: dict[str, Any] = {"known_others": _printable(others)}
    if others:
        found = table_classes(public, known)
        facts["known_least"] = None if found.sizes.is_empty() else int(found.sizes.min())  # type: ignore[arg-type]
        rows = public.frame.select(sensitive).with_columns(found.class_of.alias("\0class")).drop_nulls("\0class")
        told = rows.group_by("\0class").agg((pl.all().n_unique() == 1) & (pl.all().null_count() == 0))
        facts["known_told"] = _printable(name for name in sensitive if told[name].any())
    if unknown:
        found = table_classes(public, [*known, *unknown])
        facts["exposed"] = len(found.sizes) / len(public) if len(public) else None
    return facts
