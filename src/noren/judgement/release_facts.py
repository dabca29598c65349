"""Facts counted from the public and the secret part of a release, without trusting its statement.

A statement may claim anything. So class sizes are counted, the k of retention is computed anew from its noise, columns
are looked through for what identifies people, and names are tested for being drawn without a look at the data.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from noren.data.frames import Records
from noren.data.public_part import kept_columns
from noren.data.release import Release
from noren.data.schema import Kind, Role
from noren.data.statement import Statement
from noren.errors import InputError
from noren.execution.engine import ReleaseCounts
from noren.inference.findings import Frozen
from noren.judgement.page_text import printable
from noren.methods import methods
from noren.retention.perturbation import EASY_SEED, Privacy, perturbation_of

_CLAIMS: Final = ("k", "l", "t", "rho")
_FAR: Final = 4.0
"""Standard errors: names drawn at random correlate so far with one order about once in 16,000 releases."""


class ReleaseFacts(Frozen):
    """Facts counted from a release itself, independent of any rule.

    Attributes
    ----------
    smallest_class
        Of a history that claims k, the fewest pseudonyms that share one public history, counted from the release.
    proven_k
        Of a release by retention, the k that follows from its noise, domains and rows.
    privacy
        Of a release by retention, the differential privacy that follows, where its conditions hold.
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
    identifying, kept_identifiers
        Published columns that identify people: those that nobody decided to keep, and those that somebody did.
    alone
        Of a history, by columns of role other, the share of pseudonyms with a value that no other pseudonym has.
    known_others, known_least, known_disclosed
        Of a table, the columns of role other that count as known; the smallest class where they are counted, too; and
        the sensitive columns that such a class tells.
    exposed
        Of a table, the share of rows that somebody would name who also knew the columns assumed to be unknown.
    """

    smallest_class: int | None = None
    proven_k: float | None = None
    privacy: Privacy | None = None
    registered: bool = True
    names_random: bool | None = True
    chosen_seed: bool = False
    chosen_by_sensitive: bool = False
    sensitive: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()
    kept_identifiers: tuple[str, ...] = ()
    alone: Mapping[str, float] = {}
    known_others: tuple[str, ...] = ()
    known_least: int | None = None
    known_disclosed: tuple[str, ...] = ()
    exposed: float | None = None


def release_facts(release: Release | ReleaseCounts, original: Records | None = None) -> ReleaseFacts:
    """Return what a release tells by itself; with the original, names are also held against what people spent.

    >>> from noren import api
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> facts = release_facts(api.protect(history, "generalize-by-count", k=5, seed=1))
    >>> facts.smallest_class, facts.registered, facts.names_random, facts.chosen_seed
    (5, True, True, True)
    """
    counts = ReleaseCounts(release, original) if isinstance(release, Release) else release
    statement, released_columns = counts.statement, counts.nonempty_columns()
    identifying, keep = counts.identifying(), kept_columns(statement)
    sensitive = [c.name for c in released_columns if c.role == Role.SENSITIVE]
    unknown = [c.name for c in released_columns if c.role == Role.SENSITIVE or not c.known]
    facts: dict[str, Any] = {
        "registered": all(step.method in methods for step in statement.steps),
        "chosen_seed": counts.secret.seed is not None and counts.secret.seed < EASY_SEED,
        "chosen_by_sensitive": any(step.notes.get("chosen_by_sensitive_values") is True for step in statement.steps),
        "sensitive": _printable(sensitive),
        "unknown": _printable(unknown),
        "identifying": _printable(name for name in identifying if name not in keep and identifying[name].sure),
        "kept_identifiers": _printable(name for name in counts.schema.names if name in keep),
    }
    if statement.method == "retention":
        # what follows from the noise; 1 where the statement contradicts the public part
        facts["proven_k"] = 1.0
        with contextlib.suppress(InputError):
            noise = perturbation_of(counts.schema, statement)
            if statement.notes.get("rows") == counts.rows and counts.are_drawn_by(noise):
                facts["proven_k"] = noise.k(counts.rows)
                if "privacy" in statement.notes:  # its figures are not trusted, only that domains were declared
                    seed = counts.secret.seed
                    facts["privacy"] = noise.privacy(counts.rows, counts.schema, statement.parameters, seed)
    if counts.schema.kind == Kind.HISTORY:
        shares = {c.name: counts.alone(c) for c in counts.schema.with_role(Role.OTHER) if c.known}
        facts["alone"] = {printable(name): share for name, share in shares.items() if share}
        # whether a customer may have several pseudonyms: by the secret part, or without it by what was done
        several = any(step.method == "monthly-pseudonyms" for step in statement.steps)
        if counts.has_secret:
            pairs = counts.secret.pseudonyms.select("pseudonym", "customer").unique()
            several = bool(pairs["customer"].is_duplicated().any())
        # where a customer has several, five that are alike may all be one person's
        if "k" in claimed_by(statement) and not several:
            classes = counts.history_classes()
            facts["smallest_class"] = int(np.bincount(classes["class"].to_numpy()).min()) if len(classes) else None
            facts["names_random"] = _names_look_random(counts, classes)
    elif "proven_k" not in facts:  # where columns of role other are known, and where everything published is
        known = [c.name for c in counts.schema.columns if c.role == Role.QUASI or (c.role == Role.OTHER and c.known)]
        others = [name for name in known if counts.schema[name].role == Role.OTHER]
        facts["known_others"] = _printable(others)
        if others:
            facts["known_least"], disclosed = counts.smallest_class(known, sensitive)
            facts["known_disclosed"] = _printable(disclosed)
        if unknown:
            facts["exposed"] = counts.different([*known, *unknown]) / counts.rows if counts.rows else None
    return ReleaseFacts(**facts)


def claimed_by(statement: Statement) -> dict[str, float]:
    """Return what the last step of a method claims: k and, where it says so, l, t or rho.

    >>> claimed_by(Statement("generalize", {"min_class": 3, "l": None}))
    {'k': 3}
    """
    parameters = dict(statement.steps[-1].parameters)
    if parameters.get("k") is None:
        parameters["k"] = parameters.get("min_class")
    return {
        name: parameters[name]
        for name in _CLAIMS
        if isinstance(parameters.get(name), int | float) and not isinstance(parameters[name], bool)
    }


def _printable(names: Any) -> tuple[str, ...]:
    return tuple(printable(name) for name in names)


def _names_look_random(counts: ReleaseCounts, classes: pl.DataFrame) -> bool | None:
    """Tell whether pseudonyms were given out inside classes without regard to names, rows or amounts.

    Inside a class of equal histories nothing but the pseudonym is left, so the proof of 1/k needs it to be drawn at
    random: dealt in alphabetical order, sorting both lists names everybody. Inside classes the ranks of pseudonyms are
    correlated with those of customers' own names, of their first rows and, with the original, of what they spent. Under
    random names each sum over classes of Σ(a-ā)(b-b̄) has mean 0 and the variance Σ SSa·SSb/(n-1) of permutations. An
    order of which none of this tells passes the test: it refutes names and proves none.
    """
    if not counts.has_secret:
        return None
    pairs = counts.secret.pseudonyms.select(pl.col("pseudonym", "customer").cast(pl.String)).unique(maintain_order=True)
    pairs = pairs.with_row_index("first").join(classes, on="pseudonym", how="inner")
    keys = {"customer": in_order(pairs["customer"]), "first": pairs["first"]}
    spent = counts.spent()
    if spent is not None:
        beside = pairs.select("customer").join(spent, on="customer", how="left", maintain_order="left")
        keys |= {key: beside[key].fill_null(0) for key in beside.columns if key != "customer"}
    ours = in_order(pairs["pseudonym"])
    table = pl.DataFrame({"class": pairs["class"], "name": ours} | keys)
    ranks = table.select("class", *(pl.col(key).rank().over("class").alias(key) for key in ("name", *keys)))
    return all(abs(standard_errors(ranks, key)) < _FAR for key in keys)


def in_order(texts: pl.Series) -> pl.Series:
    """Return the places of texts in their order: that of numbers where all are."""
    numbers = texts.cast(pl.Float64, strict=False)
    return numbers if not numbers.null_count() else texts.rank("dense")


def standard_errors(ranks: pl.DataFrame, key: str) -> float:
    """Return how many standard errors the ranks of names and those by a key are from independence.

    >>> ranks = pl.DataFrame({"class": [0, 0, 0, 1, 1, 1], "name": [1, 2, 3, 1, 2, 3], "key": [1, 2, 3, 3, 2, 1]})
    >>> standard_errors(ranks, "key")
    0.0
    """
    a, b = (pl.col(name) - pl.col(name).mean() for name in ("name", key))
    sums = ranks.group_by("class").agg(
        both=(a * b).sum(), spread=(a * a).sum() * (b * b).sum() / pl.max_horizontal(pl.len() - 1, 1)
    )
    spread = float(sums["spread"].sum())
    return float(sums["both"].sum()) / spread**0.5 if spread > 0 else 0.0
