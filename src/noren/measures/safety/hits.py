"""How many people a guess names, and how many of them rightly: the one place where a guess meets the secret."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from noren.data.periods import of_one_kind
from noren.data.release import Secret
from noren.protocols import Guess


@dataclass(frozen=True)
class Hits:
    """The number of named and of correctly named people."""

    named: int
    """How many pseudonyms it names somebody for (per period, where pseudonyms change with time)."""
    right: int
    """How many of those it names rightly."""
    customers: int
    """How many different customers are named rightly at least once."""


def hits(guess: Guess, secret: Secret) -> Hits:
    """Compare a guess with the true pseudonyms.

    A pseudonym that is named twice counts once, by its first and surest answer; one that there is not is named wrongly.

    >>> secret = Secret(pl.DataFrame({"pseudonym": ["7", "8"], "customer": ["ann", "bob"]}), pl.Series([0, 1]), 2)
    >>> hits(Guess("hand", pl.DataFrame({"pseudonym": ["7", "8", "9"], "customer": ["ann", "ann", "bob"]})), secret)
    Hits(named=3, right=1, customers=1)

    Of a table, rows are named; the first public row is the second person's here.

    >>> secret = Secret(secret.pseudonyms.clear(), pl.Series("row", [1, 0], dtype=pl.UInt32), 2)
    >>> hits(Guess("hand", pl.DataFrame({"row": [1, 2], "person": [2, 2]})), secret)
    Hits(named=2, right=1, customers=1)
    """
    answers = _answers(guess, secret)
    right = answers.filter("right")
    return Hits(len(answers), len(right), right["customer"].n_unique())


def hits_by_rank(guess: Guess, secret: Secret) -> list[int]:
    """Return how many of the first 1, 2, … people a guess names are named rightly.

    >>> secret = Secret(pl.DataFrame({"pseudonym": ["7", "8"], "customer": ["ann", "bob"]}), pl.Series([0, 1]), 2)
    >>> hits_by_rank(Guess("hand", pl.DataFrame({"pseudonym": ["8", "7"], "customer": ["ann", "ann"]})), secret)
    [0, 1]
    """
    return _answers(guess, secret)["right"].cast(pl.Int64).cum_sum().to_list()


def hits_by_target(guess: Guess, secret: Secret) -> pl.DataFrame:
    """Return, for each person whose pseudonyms are named, how many of them are named and how many rightly.

    Names for pseudonyms that there are not are nobody's.

    >>> secret = Secret(pl.DataFrame({"pseudonym": ["7", "8"], "customer": ["ann", "bob"]}), pl.Series([0, 1]), 2)
    >>> guess = Guess("hand", pl.DataFrame({"pseudonym": ["7", "8", "9"], "customer": ["ann", "ann", "bob"]}))
    >>> hits_by_target(guess, secret).rows()
    [('ann', 1, 1), ('bob', 1, 0)]
    """
    _renamed, true, key = _side_by_side(guess, secret)
    owners = true.select(*key, target="customer").unique(key, keep="first", maintain_order=True)
    both = _answers(guess, secret).join(owners, on=key, how="inner", maintain_order="left")
    # a right name is its own target, also where a pseudonym stands for several people
    target = pl.when("right").then("customer").otherwise("target")
    counted = both.group_by(target.alias("target")).agg(named=pl.len().cast(pl.Int64), right=pl.col("right").sum())
    return counted.with_columns(pl.col("right").cast(pl.Int64)).sort("target")


def _answers(guess: Guess, secret: Secret) -> pl.DataFrame:
    """Return the answers that count, in the guess's order, and whether each is right."""
    guess, true, key = _side_by_side(guess, secret)
    # an attack that finds nobody may leave its columns without a type
    texts = guess.pairs.with_columns(pl.col("pseudonym", "customer").cast(pl.String))
    answers = texts.drop_nulls([*key, "customer"]).unique(key, keep="first", maintain_order=True)
    truth = true.select(*key, "customer").unique().with_columns(right=pl.lit(value=True))
    both = answers.join(truth, on=[*key, "customer"], how="left", maintain_order="left")
    return both.with_columns(pl.col("right").fill_null(value=False))


def _side_by_side(guess: Guess, secret: Secret) -> tuple[Guess, pl.DataFrame, list[str]]:
    """Return a guess, the truth, and the columns that tell a pseudonym in both."""
    if "row" in guess.pairs.columns:
        pairs = guess.pairs.rename({"row": "pseudonym", "person": "customer"})  # rows stand for pseudonyms
        guess, true = replace(guess, pairs=pairs), secret.people_of_rows()
    else:
        true = secret.pseudonyms
    key: list[str] = [name for name in ("pseudonym", "period") if name in guess.pairs.columns and name in true.columns]
    if "period" in key and not of_one_kind(*(frame["period"].drop_nulls().unique() for frame in (guess.pairs, true))):
        key = ["pseudonym"]  # months say nothing of weeks, but who is behind a pseudonym they say
    return guess, true, key
