"""A guess against the secret: who counts as named, and who as right."""

import polars as pl

from noren.data.release import Secret
from noren.measures.safety.hits import Hits, hits, hits_by_rank
from noren.protocols import Guess


def secret(*pairs: tuple[str, ...]) -> Secret:
    names = ["pseudonym", "customer", "period"][: len(pairs[0])]
    return Secret(pl.DataFrame(pairs, schema=names, orient="row"), pl.Series([0], dtype=pl.UInt32), 1)


def guess(*pairs: tuple[str | None, ...], width: int = 2) -> Guess:
    names = ["pseudonym", "customer", "period"][:width]
    return Guess("hand", pl.DataFrame(pairs, schema=dict.fromkeys(names, pl.String), orient="row"))


def test_right_wrong_unknown_and_unnamed() -> None:
    true = secret(("7", "ann"), ("8", "bob"), ("9", "cem"))
    # 7 right, 8 wrong, 5 is nobody's pseudonym, 9 left open
    assert hits(guess(("7", "ann"), ("8", "ann"), ("5", "cem"), ("9", None)), true) == Hits(3, 1, 1)


def test_the_first_answer_for_a_pseudonym_counts() -> None:
    true = secret(("7", "ann"), ("8", "bob"))
    assert hits(guess(("7", "bob"), ("7", "ann"), ("8", "bob")), true) == Hits(2, 1, 1)


def test_nobody_named() -> None:
    assert hits(guess(), secret(("7", "ann"))) == Hits(0, 0, 0)


def test_one_customer_for_many_pseudonyms() -> None:
    true = secret(("7", "ann"), ("8", "bob"), ("9", "cem"))
    assert hits(guess(("7", "bob"), ("8", "bob"), ("9", "bob")), true) == Hits(3, 1, 1)


def test_pseudonyms_that_change_with_time() -> None:
    true = secret(("7", "ann", "1"), ("8", "ann", "2"), ("7", "bob", "2"))
    found = guess(("7", "ann", "1"), ("8", "ann", "2"), ("7", "ann", "2"), width=3)
    # two of three right, both ann
    assert hits(found, true) == Hits(3, 2, 1)
    # a guess that knows no periods is right where the pair ever held
    assert hits(guess(("7", "bob"), ("8", "bob")), true) == Hits(2, 1, 1)


def test_pseudonyms_that_stay_are_counted_once_however_many_periods_name_them() -> None:
    true = secret(("7", "ann"), ("8", "bob"))
    found = guess(("7", "ann", "1"), ("8", "ann", "1"), ("7", "bob", "2"), ("8", "bob", "2"), width=3)
    # the surest answer for 7 is right, that for 8 is not
    assert hits(found, true) == Hits(2, 1, 1)
    assert hits_by_rank(found, true) == [1, 1]


def test_months_against_pseudonyms_that_change_every_week() -> None:
    true = secret(("7", "ann", "2010/W48"), ("8", "ann", "2010/W49"))
    assert hits(guess(("7", "ann", "2010/12"), ("8", "bob", "2010/12"), width=3), true) == Hits(2, 1, 1)


def test_hits_in_the_order_of_the_answers() -> None:
    true = secret(("7", "ann"), ("8", "bob"), ("9", "cem"))
    found = guess(("9", "bob"), ("7", "ann"), ("7", "bob"), ("8", "bob"), ("1", "ann"))
    # the second answer for 7 does not count; 1 is no pseudonym
    assert hits_by_rank(found, true) == [0, 1, 2, 2]
    assert hits_by_rank(guess(), true) == []
