"""Methods, attacks and measures are listed with what they need."""

import pytest


@pytest.mark.parametrize("room", ["methods", "attacks", "measures"])
def test_components_are_listed(noren, room) -> None:
    listed = noren(room, "--json").json[room]
    assert [c["name"] for c in listed] == sorted(c["name"] for c in listed)
    assert all({"name", "summary", "source", "accepts", "schema"} <= set(c) for c in listed)
    shown = noren(room)
    assert all(c["name"] in shown.out for c in listed)
    one = noren(room, listed[0]["name"])
    assert one.out.startswith(listed[0]["name"])
    wrong = noren(room, "nonsense")
    assert (wrong.code, wrong.out) == (2, "")


def test_a_component_says_which_columns_it_needs(noren) -> None:
    assert "Required roles: date, price." in noren("attacks", "s7").out
    assert "Required roles" not in noren("attacks", "consistency").out
