"""Work of S2's experiments: facts of the data, releases with pseudo records, and customers found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from noren.attacks import attacks
from noren.data.arrays import people
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role, Schema
from noren.measures.safety.jaccard_mean import JaccardMean
from noren.measures.safety.reid_rate import ReidRate
from noren.methods.chain import Chain
from noren.methods.pseudo_records import PseudoRecords
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of, without_times
from noren.tables import table_of

DATA = "pwscup2016"
ATTACKS = ("jaccard", "item-candidates", "unique-rows", "profile")


def facts() -> dict[str, float]:
    """Return what S2 states about its data: customers, rows, items of each, similarity and overlap of two."""
    data = customers_of(DATA)
    who, names = people(data[Role.CUSTOMER])
    what, items = people(data[Role.ITEM])
    bought = np.zeros((len(names), len(items)))
    bought[who, what] = 1
    pairs = np.triu_indices(len(names), 1)
    common = (bought @ bought.T)[pairs]
    sizes = bought.sum(axis=1)
    alike = common / (sizes[pairs[0]] + sizes[pairs[1]] - common)
    return {
        "n": len(names),
        "m": len(data),
        "b": float(sizes.mean()),
        "h": float(common.mean()),
        "µ": float(alike.mean()),
    }


def example() -> dict[str, Any]:
    """Return how many rows figure 1's three customers lack, and the items of each in the end."""
    rows = {
        "customer": ["u1", "u1", "u2", "u2", "u2", "u3", "u3"],
        "date": ["2010/12/1"] * 7,
        "item": ["g1", "g2", "g1", "g3", "g5", "g4", "g5"],
        "price": [1.0] * 7,
        "quantity": [1] * 7,
    }
    release = PseudoRecords(clusters=1).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    names = dict(release.secret.pseudonyms.select("pseudonym", "customer").iter_rows())
    by_pseudonym = release.public.frame.group_by("customer").agg("item").iter_rows()
    return {
        "added": release.inserted_rows,
        "items": {names[pseudonym]: ", ".join(sorted(set(items))) for pseudonym, items in by_pseudonym},
    }


def padded(
    clusters: int,
    least: int,
    variant: Literal["clusters", "repaired", "balanced"],
    effort: Literal["quick", "normal", "thorough"],
    seed: int,
) -> dict[str, float]:
    """Return the rows that were added, the mean similarity, and the share of customers that Algorithm 1 finds.

    ``least`` is the minimum size of a cluster; 0 for the variant's own.
    """
    method = PseudoRecords(clusters=clusters, min_size=least or None, variant=variant, effort=effort)
    original = customers_of(DATA)
    release = method.protect(original, seed=seed)
    return {
        "added": release.inserted_rows,
        "jaccard": JaccardMean().measure(Evidence(original, release)).value,
        "reid": _rate(original, release, "jaccard"),
    }


_WIDE = {"method": "perturb", "days": 31, "price": 1.0, "packs": 5}
RELEASES: Mapping[str, list[dict[str, Any]]] = table_of(__name__)["releases"]
"""Our releases in place of the contest's submissions; dates, prices and quantities are changed strongly in all."""


def attack_rates(name: str, seed: int) -> dict[str, float]:
    """Return the share of customers that each attack finds in a release; times of day and invoices are hidden."""
    original = customers_of(DATA)
    release = without_times(Chain(steps=[*RELEASES[name], _WIDE]).protect(original, seed=seed))
    return {attack: _rate(original, release, attack) for attack in ATTACKS}


def _rate(original: History, release: Release, attack: str) -> float:
    guess = attacks.create(attack).attack(original, release.public, seed=1)
    return ReidRate().measure(Evidence(original, release, guesses={attack: guess})).value
