"""S0's Tables 6 to 10 for the one release that is published, and what all measures on draws have in common."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from noren.api import measure, protect
from noren.data.draws import Draws
from noren.data.frames import History, Table
from noren.data.reading import read
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import NorenError
from noren.measures import measures
from noren.measures.utility.purchases import OnDraws, Purchases, purchases
from noren.protocols import Evidence, Score

NAMES = ["frequent-itemsets", "item-similarity", "rfm", "statistics"]


@pytest.fixture(scope="module")
def team01(shared: Path) -> tuple[Purchases, list[Purchases]]:
    """The final round's original, and the five published draws of team 01, suppressed cells filled by S0's rule."""
    original = read(shared / "data" / "pwscup2018_final_T.csv", "pwscup2018").data
    assert isinstance(original, History)
    published = pl.read_parquet(shared / "data" / "pwscup2018_team01_draws.parquet")
    bought = purchases(original)
    drawn = []
    for i in range(5):
        frame = published.filter(draw=i).select(
            pl.col("pseudonym").cast(pl.String).alias("customer"),
            "date",
            "item",
            "price",
            pl.col("quantity").cast(pl.Int64),
        )
        filled = Draws(original, History(frame, original.schema), seed=1)[i]
        drawn.append(purchases(filled, bought.items))
    return bought, drawn


def compared(name: str, team01: tuple[Purchases, list[Purchases]]) -> tuple[list[Mapping[str, float]], Score]:
    judge = measures.create(name)
    assert isinstance(judge, OnDraws)
    compare = judge.against(team01[0])
    found = [compare(drawn) for drawn in team01[1]]
    return found, judge.score_of(found)


def assert_within(found: list[Mapping[str, float]], printed: Mapping[str, float]) -> None:
    """S0 prints the mean of 100 draws: it lies among these five, to the digits printed."""
    for part, value in printed.items():
        draws = [one[part] for one in found]
        assert min(draws) - 0.0005 <= value <= max(draws) + 0.0005, (part, draws)


def test_table_6_frequent_itemsets(team01: tuple[Purchases, list[Purchases]]) -> None:
    found, score = compared("frequent-itemsets", team01)
    assert_within(found, {"kept": 1 - 0.216, "frequent": 179})
    assert score.value == pytest.approx(0.216, abs=0.012)


def test_table_6_rfm(team01: tuple[Purchases, list[Purchases]]) -> None:
    found, score = compared("rfm", team01)
    assert_within(found, {"value": 0.085})
    assert score.value == pytest.approx(0.085, abs=0.005)


def test_table_6_item_similarity(team01: tuple[Purchases, list[Purchases]]) -> None:
    found, _score = compared("item-similarity", team01)
    assert_within(found, {"wholesale": 0.726, "retail": 0.785, "top": 0.221})


def test_tables_7_to_10(team01: tuple[Purchases, list[Purchases]]) -> None:
    found, _score = compared("statistics", team01)
    table_7 = {"rows": 2622, "items": 0.108}
    table_8 = {"date.variance": 680.608, "date.sd": 3.104, "date.max": 0, "date.min": 0}
    table_9 = {
        "price.sum": 21044240.330, "price.mean": 251.547, "price.variance": 14818988.610, "price.sd": 3354.846,
        "price.max": 159.860, "price.min": 0,
    }  # fmt: skip
    table_10 = {
        "quantity.sum": 2022186.970, "quantity.mean": 23.707, "quantity.variance": 66921.960, "quantity.sd": 217.424,
        "quantity.max": 3.200, "quantity.min": 0,
    }  # fmt: skip
    assert_within(found, table_7 | table_8 | table_9 | table_10)


def test_where_s0_prints_something_else(team01: tuple[Purchases, list[Purchases]]) -> None:
    """Table 8's mean and sum are those of later dates, and its medians are no medians; the page tells what is known."""
    found, score = compared("statistics", team01)
    assert max(one["date.mean"] for one in found) < 0.5  # printed: 0.896
    # the printed sum follows from the printed mean: both are off by the same half day
    mean = team01[0].day.mean()
    assert 2622 * mean - 86656 * 0.896 == pytest.approx(1343419.130, abs=100)
    assert 2622 * mean - 86656 * score.parts["date.mean"] == pytest.approx(score.parts["date.sum"], abs=100)
    medians = {c: score.parts[f"{c}.median"] for c in ("date", "price", "quantity")}  # printed: 42.170, 582.695, 13.035
    assert medians == {"date": 0, "price": pytest.approx(6.2, abs=1), "quantity": 1}


@pytest.mark.parametrize("name", NAMES)
def test_an_exact_copy_loses_nothing(name: str, small: History) -> None:
    score = measure(small, protect(small, "pseudonymize", seed=1), name, draws=2)
    # the public rows stand in another order, so sums are rounded otherwise
    assert score.value == pytest.approx(0, abs=1e-12)
    assert score.notes["draws"] == 2
    lost = {p: v for p, v in score.parts.items() if p not in ("kept", "frequent")}
    assert lost == pytest.approx(dict.fromkeys(lost, 0), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_the_mean_of_the_draws(name: str, small: History) -> None:
    release = protect(small, "generalize-by-count", k=3, seed=1)
    kind = measures[name]
    assert issubclass(kind, OnDraws)
    two = measure(small, release, kind(draws=2, seed=9))
    bought = purchases(small)
    compare = kind().against(bought)
    assert isinstance(release.public, History)
    found = [compare(purchases(d, bought.items)) for d in Draws(small, release.public, seed=9).first(2)]
    values = [kind().value_of(one) for one in found]
    assert two.value == pytest.approx(sum(values) / 2, abs=1e-12)
    assert two.parts["spread"] == pytest.approx(abs(values[0] - values[1]) / 2, abs=1e-12)
    assert measure(small, release, kind(draws=2, seed=9)) == two
    assert measure(small, release, kind(draws=2, seed=10)).value > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_secret_part_is_not_needed(name: str, small: History, tmp_path: Path) -> None:
    release = protect(small, "generalize-by-count", k=2, seed=1)
    published = Release.load(release.publish(tmp_path / "public"))
    assert not published.has_secret
    assert measure(small, published, name, draws=1) == measure(small, release, name, draws=1)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_with_nothing_in_it(name: str, small: History) -> None:
    nobody = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})
    empty = Release(
        History(small.frame.clear(), small.schema),
        Secret(nobody, pl.Series("row", [], pl.UInt32), len(small)),
        Statement("none"),
    )
    score = measure(small, empty, name, draws=1)
    if name == "rfm":
        assert score.value > 0
    else:
        assert score.value == 1


def test_a_table_is_refused(small: History) -> None:
    people = Table(
        pl.DataFrame({"age": [1]}), Schema.of({"name": "t", "kind": "table", "columns": {"age": {"role": "quasi"}}})
    )
    release = Release(people, protect(small, "pseudonymize", seed=1).secret, Statement("x"))
    for evidence in (Evidence(small, release), Evidence(people, release)):
        with pytest.raises(NorenError, match="this measure judges purchase histories"):
            measures.create("rfm").measure(evidence)


def test_incomplete_rows_are_counted_as_rows_alone() -> None:
    schema = Schema.preset("online-retail")
    frame = pl.DataFrame({c.name: pl.Series([None, None], dtype=c.dtype) for c in schema.columns}).with_columns(
        StockCode=pl.Series(["a", "b"])
    )
    bought = purchases(History(frame, schema))
    assert (bought.rows, len(bought.customer), bought.customers) == (2, 0, 0)
    assert measures.create("statistics").against(bought)(bought)["rows"] == 0  # type: ignore[attr-defined]


def test_items_the_original_does_not_have_are_coded_behind(small: History) -> None:
    known = purchases(small)
    other = History(small.frame.with_columns(item=pl.lit("0 new")), small.schema)
    coded = purchases(other, known.items)
    assert set(coded.item.tolist()) == {len(known.items)}
    assert coded.items[-1] == "0 new"
