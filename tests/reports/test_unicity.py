"""Unicity in a report: what is said, and when nothing is."""

import noren
from noren.data.samples.people import sample_people
from noren.reports.unicity import unicity_facts, unicity_part


def test_a_report_has_both_curves_and_never_says_safe() -> None:
    data = noren.sample(customers=30, rows=600, items=40, seed=1, schema="pwscup2018")
    part = unicity_part(data, noren.protect(data, "pseudonymize", seed=1))
    assert part is not None
    assert part["sentences"][0].startswith("4 known purchases single out ")
    assert part["sentences"][1].startswith("In the release 4 known purchases leave one pseudonym for ")
    (_heads, original), (_more, released) = part["tables"]
    assert [row[0] for row in original] == [row[0] for row in released] == [str(p) for p in range(1, 11)]
    # bare pseudonyms hide nothing: singled out, one left, the right one
    assert all(own[2] == left[1] == left[3] for own, left in zip(original, released, strict=True))
    assert all(len(row) == len(headings) for headings, rows in part["tables"] for row in rows)
    assert part["chart"].startswith("<svg")
    assert not any("safe" in text for text in (*part["sentences"], part["chart"]))


def test_where_nothing_can_be_asked_nothing_is_shown() -> None:
    people = sample_people(50, seed=1)
    assert unicity_facts(people) is None
    data = noren.sample(customers=20, rows=300, items=40, seed=1, schema="pwscup2018")
    assert unicity_part(data, noren.protect(data, "monthly-pseudonyms", seed=1)) is None
