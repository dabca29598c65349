"""``noren protect --estimate`` tells what it would take and does nothing."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command

from noren.data.reading import read
from noren.methods.generalize import Generalize
from noren.sweeps.cost import Shape, estimate_run


def words(small_csv: Path, *more: str) -> tuple[object, ...]:
    method = ("--method", "generalize", "--k", 3, "--out", small_csv.parent / "r", "--estimate", *more)
    return ("protect", small_csv, "--schema", "pwscup2018", *method)


def test_an_estimate_writes_nothing(noren: Command, small_csv: Path) -> None:
    before = sorted(small_csv.parent.iterdir())
    answer = noren(*words(small_csv))
    assert answer.code == 0
    assert "seconds" in answer.out
    assert "memory, MB" in answer.out
    assert "how long counting the customers who fit takes depends on how many fit each history" in answer.err
    assert sorted(small_csv.parent.iterdir()) == before


def test_it_is_the_estimate_of_the_method_and_its_audit(noren: Command, small_csv: Path) -> None:
    data = read(small_csv, "pwscup2018").data
    cost = estimate_run(Generalize(k=3), Shape.of(data), data.schema, attacks=[], measures=[])
    answer = noren(*words(small_csv, "--json"))
    assert answer.json["seconds"] == cost.seconds
    assert answer.json["high"] == cost.high
    assert answer.json["confidence"] == "rough"  # for the audit is


def test_an_estimate_of_a_stream_writes_nothing_either(noren: Command, small_csv: Path) -> None:
    before = sorted(small_csv.parent.iterdir())
    assert noren(*words(small_csv, "--stream")).code == 0
    assert sorted(small_csv.parent.iterdir()) == before
