"""What releases tell of who is in the data, as units of work: one method, one seed, people held out."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from noren.api import protect
from noren.data.catalog import open_dataset
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.inference.attribute import unseen_item, vote
from noren.inference.findings import Inferred, told_attribute, told_membership
from noren.inference.membership import by_likelihood
from noren.inference.people import Pool, pool_of, split

__all__ = ["HISTORIES", "HOLD_OUT", "TABLE", "held_out_histories", "held_out_people"]

HISTORIES = "pwscup2018-final"
TABLE = "adult"
HOLD_OUT = 0.3
_TARGETS = 1000
_GROUPS: Final = "generalize-by-count"
_GUESSED = "salary-class"
_ATTRIBUTES: Final = ["education", "marital-status", "sex", _GUESSED]


def held_out_histories(k: int, seed: int) -> dict[str, float]:
    """Return what is inferred from groups of k customers of the final data of 2018; k = 1: pseudonyms alone."""
    release, pool = _released(
        HISTORIES, seed, **({"method": "pseudonymize"} if k == 1 else {"method": _GROUPS, "k": k})
    )
    if not isinstance(release.public, History):
        raise TypeError(HISTORIES)
    guesses = unseen_item(pool, release.public, seed)
    secret = told_attribute("", "item", guesses.right, guesses.asked, pool.member, pool.rare)
    return _numbers(_membership(release, pool)) | _numbers(secret)


def held_out_people(rho: float, seed: int) -> dict[str, float]:
    """Return what is inferred from four attributes of Adult, each value of which is kept with probability ρ."""
    noise = {"rho": rho, "attributes": _ATTRIBUTES, "domains": "data", "reconstruct": "none"}
    release, pool = _released(TABLE, seed, method="retention", **noise)
    if not isinstance(release.public, Table):
        raise TypeError(TABLE)
    guesses = vote(pool, release.public, release.statement, _GUESSED)
    secret = told_attribute("", _GUESSED, guesses.right, guesses.asked, pool.member, pool.rare)
    return _numbers(_membership(release, pool)) | _numbers(secret)


def _released(data: str, seed: int, **asked: Any) -> tuple[Release, Pool]:
    members, controls = split(_data(data), HOLD_OUT, seed)
    return protect(members, seed=seed, audit=False, **asked), pool_of(members, controls, _TARGETS, seed)


def _membership(release: Release, pool: Pool) -> Inferred:
    return told_membership("", by_likelihood(pool, release.public, release.statement), pool.member, pool.rare)


def _numbers(one: Inferred) -> dict[str, float]:
    return {name: said.value for name, said in one.numbers.items()}


@cache
def _data(name: str) -> Records:
    return open_dataset(name).data
