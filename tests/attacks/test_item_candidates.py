"""Item-candidates replayed against the official runs, step by step, and against a walk in plain Python."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.attacks import attacks
from noren.attacks.assignment import uniform
from noren.attacks.item_candidates import ItemCandidates, item_walk
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.schema import Schema
from noren.kernels.items.item_walk import Walk, _narrow, walk

SCHEMA = Schema.preset("pwscup2018")
VECTORS = ["random_final", "delete_final", "pair_final", "copy_final", "edge_final", "pair_preliminary", "edge_small"]


def narrowed(about: Walk, customer: int, free: np.ndarray) -> np.ndarray:
    """The free pseudonyms that a customer may have."""
    room, stamp = np.empty((2, len(about.rows)), dtype=np.int64)
    stamp[:] = 0
    return room[: _narrow(about, customer, free, stamp, room, 0)[0]]


def history(who: list[str], items: list[Any]) -> History:
    rows = {"customer": who, "date": ["2010/12/1"] * len(who), "price": [1.0] * len(who), "quantity": [1] * len(who)}
    exact = History.of({**rows, "item": ["x"] * len(who)}, SCHEMA)
    if any(isinstance(item, list) for item in items):
        domain = sorted({one for item in items for one in (item or [])})
        return History(exact.frame.with_columns(item=pl.Series(items, dtype=pl.List(pl.Enum(domain)))), SCHEMA)
    return History(exact.frame.with_columns(item=pl.Series(items, dtype=pl.String)), SCHEMA)


@pytest.fixture(scope="module")
def index(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))["pwscup2018"])


@pytest.fixture(scope="module")
def originals(shared: Path, index: dict[str, Any]) -> dict[str, History]:
    places = {name: index["inputs"][name] for name in ("final", "preliminary", "small")}
    return {
        name: read_rows(shared / "data" / at["data"] if "data" in at else shared / "oracles" / at["file"], SCHEMA)
        for name, at in places.items()
    }


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_run_step_by_step(
    name: str, shared: Path, index: dict[str, Any], originals: dict[str, History]
) -> None:
    vector = next(v for v in index["vectors"] if v["id"] == f"pwscup2018/{name}")
    original = originals[vector["T"]]
    release = read_release(shared / "oracles" / vector["files"]["A"], original)
    assert isinstance(release.public, History)
    about, customers, pseudonyms = item_walk(original, release.public)
    place = {text: at for at, text in enumerate(customers.to_list())}
    number = {text: at for at, text in enumerate(pseudonyms.to_list())}
    official = vector["expected"]["attacks"]["re_item"]
    said = {c: p for p, c in (line.split(",") for line in lines(shared / "oracles" / official["file"]))}
    order = lines(shared / "oracles" / official["order_file"])
    assert sorted(order) == sorted(place)
    free = np.ones(len(pseudonyms), dtype=bool)
    for customer in order:
        left = narrowed(about, place[customer], free)
        if customer in said:
            assert number[said[customer]] in left
            free[number[said[customer]]] = False
        else:
            assert len(left) == 0
    assert (~free).sum() == len(said) == official["tried"]
    # the official runs share this order; drawing as they do, we come out where they did
    steps = np.array([place[customer] for customer in order])
    owner = {p: place[c] for p, c in release.secret.pseudonyms.select("pseudonym", "customer").rows()}
    true = np.array([owner[p] for p in pseudonyms])
    ours = []
    for seed in range(60):
        chosen, _among = walk(about, steps, uniform(len(steps), seed=seed))
        ours.append((int((chosen >= 0).sum()), int((true[chosen[chosen >= 0]] == steps[chosen >= 0]).sum())))
    named, right = zip(*ours, strict=True)
    for run in [official, *official["other_runs"]]:
        assert run["tried"] in named
        assert abs(run["correct"] - np.mean(right)) <= 4 * np.std(right)


def test_sets_stars_and_row_counts() -> None:
    original = history(["ann", "ann", "bob", "bob", "bob", "cem"], ["a", "b", "a", "b", "c", "a"])
    public = history(["7", "7", "8", "8", "8", "9"], [["a", "z"], ["b"], ["a"], None, ["b", "c"], None])
    about, customers, pseudonyms = item_walk(original, public)
    assert (customers.to_list(), pseudonyms.to_list()) == (["ann", "bob", "cem"], ["7", "8", "9"])
    free = np.ones(3, dtype=bool)
    # 8 has too many rows for Ann; 9 shows nothing, and a suppressed item is no match
    assert narrowed(about, 0, free).tolist() == [0]
    assert narrowed(about, 1, free).tolist() == [1]
    # one candidate by rows alone: nothing more is asked, though 9 shows no a
    assert narrowed(about, 2, free).tolist() == [2]
    free[0] = False
    assert narrowed(about, 0, free).tolist() == [2]
    assert narrowed(about, 2, np.zeros(3, dtype=bool)).tolist() == []


def test_same_seed_same_guess_and_each_pseudonym_once() -> None:
    who = [str(at % 8) for at in range(40)]
    data = history(who, [str(at % 3) for at in range(40)])
    one, again, other = (ItemCandidates().attack(data, data, seed=seed) for seed in (1, 1, 2))
    assert one.pairs.equals(again.pairs)
    assert not one.pairs.equals(other.pairs)
    assert one.pairs["pseudonym"].is_unique().all()
    assert one.pairs["customer"].is_unique().all()
    assert one.pairs["score"].is_sorted(descending=True)
    assert isinstance(attacks.create("item-candidates"), ItemCandidates)


ROWS = st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("abc")), min_size=1, max_size=10)


@given(known=ROWS, seen=ROWS, free=st.lists(st.booleans(), min_size=3, max_size=3))
def test_against_plain_python(known: list[tuple[str, str]], seen: list[tuple[str, str]], free: list[bool]) -> None:
    original = history([who for who, _ in known], [item for _, item in known])
    public = history([who for who, _ in seen], [item for _, item in seen])
    about, customers, pseudonyms = item_walk(original, public)
    for at, customer in enumerate(customers):
        bought = [item for who, item in known if who == customer]
        left = [
            p for number, p in enumerate(pseudonyms) if free[number] and sum(who == p for who, _ in seen) <= len(bought)
        ]
        for item in bought:
            if len(left) > 1:
                left = [p for p in left if (p, item) in seen]
        found = narrowed(about, at, np.array(free[: len(pseudonyms)]))
        assert [pseudonyms[int(number)] for number in found] == left
