"""Item similarity equals the judges' E1, E2 and E3 of PWS Cup 2017 on every vector."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.data.frames import History
from noren.data.schema import Schema
from noren.measures.utility.item_similarity import ItemSimilarity
from noren.measures.utility.purchases import purchases
from noren.measures.utility.statistics import Statistics

NAMES = ["noise_light", "noise_strong", "at_sample", "micro"]
COLUMNS = ["customer", "invoice", "date", "time", "item", "price", "quantity"]


def rows_of(path: Path) -> History:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    frame = pl.read_csv(content, has_header=False, new_columns=COLUMNS, infer_schema=False)
    kept = frame.filter(pl.col("customer") != "DEL").select("customer", "date", "item", "price", "quantity")
    return History.of(kept, Schema.preset("pwscup2018"))


@pytest.fixture(scope="module")
def vectors(shared: Path) -> dict[str, Any]:
    index = json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))
    return {vector["id"].removeprefix("pwscup2017/"): vector for vector in index["pwscup2017"]["vectors"]}


def test_every_vector_is_tested(vectors: dict[str, Any]) -> None:
    assert set(vectors) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_official_values(name: str, vectors: dict[str, Any], shared: Path) -> None:
    vector = vectors[name]
    expected = vector["expected"]["E"]
    files = vector["files"]
    original = shared / "oracles" / files["T"] if "T" in files else shared / "data" / "pwscup2017_T.csv"
    one = purchases(rows_of(original))
    other = purchases(rows_of(shared / "oracles" / files["AT"]), one.items)
    error = ItemSimilarity().against(one)(other)
    for part, official in (("wholesale", "E1"), ("retail", "E2"), ("top", "E3b")):
        assert error[part] == pytest.approx(expected[official]["value"], abs=1e-9), part
    # the judges divide by 100, also where a shop has fewer items
    assert Statistics().against(one)(other)["items"] * min(len(one.items), 100) / 100 == pytest.approx(
        expected["E3a"]["value"], abs=1e-9
    )


def test_the_value_is_the_mean_of_the_three() -> None:
    assert ItemSimilarity().value_of({"wholesale": 0.1, "retail": 0.2, "top": 0.6}) == pytest.approx(0.3)
