"""UM can be gamed: one well protected month per customer hides eleven bare ones from it. MM and EMM see them (S3).

The release that does it is a chain: one month of every customer is exchanged as a whole with another customer's, and
then names change every month. Everything else stays as it was.
"""

import datetime as dt
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl
import pytest

from noren.api import attack, measure, protect
from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.release import Release, Statement
from noren.data.schema import Role, Schema
from noren.methods.chain import Chain
from noren.methods.pseudonymize import edited, pseudonymous
from noren.progress import Progress, silent
from noren.protocols import Method

ATTACKS = [f"s{number}" for number in range(1, 9)]


class OneStrongMonth(Method):
    """Let customers exchange one whole month with somebody who buys in it, too; hide names."""

    name: ClassVar[str] = "one-strong-month"
    summary: ClassVar[str] = "Protects one month of each customer."
    which: Literal["first", "last"] = "last"

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        names = pseudonymous(original[Role.CUSTOMER], seed)
        months = periods_of(original[Role.DATE])
        rows = pl.DataFrame({"name": names, "month": months, "date": original[Role.DATE]})
        # of each customer's months the last (or first); in each month, those who chose it stand in a ring
        chosen = rows.sort("date", maintain_order=True).unique("name", keep=self.which, maintain_order=True)
        ring = chosen.sort("name").with_columns(next=pl.col("name").shift(-1).over("month"))
        ring = ring.with_columns(pl.col("next").fill_null(pl.col("name").first().over("month")))
        moved = rows.join(ring.select("name", "month", "next"), on=["name", "month"], how="left", maintain_order="left")
        owner = moved.select(pl.coalesce("next", "name").alias(names.name)).to_series()
        behind = pl.DataFrame({"pseudonym": names, "customer": original[Role.CUSTOMER]}).unique(maintain_order=True)
        statement = Statement(self.name, self.parameters(), "one month of each customer is another's")
        return Release.of_aligned(original, edited(original, [owner]), statement, seed=seed, pseudonyms=behind)


def risks(original: History, release: Release) -> dict[str, float]:
    guesses = [attack(original, release, name) for name in ATTACKS]
    return {name: measure(original, release, name, guesses=guesses).value for name in ("um", "mm", "emm")}


@pytest.fixture(scope="module")
def year() -> History:
    """Forty customers who buy five things every month, at prices of their own."""
    draw = np.random.Generator(np.random.PCG64(1))
    who, month, _row = (index.ravel() for index in np.indices((40, 12, 5)))
    day = draw.integers(1, 28, len(who))
    rows = {
        "customer": [f"c{at:02}" for at in who],
        "date": [
            dt.date(2010 + at // 12, 1 + at % 12, on)
            for at, on in zip((11 + month).tolist(), day.tolist(), strict=True)
        ],
        "item": [f"{at:04}" for at in draw.integers(0, 9999, len(who))],
        "price": (draw.integers(1, 10_000, len(who)) / 100).tolist(),
        "quantity": draw.integers(1, 50, len(who)).tolist(),
    }
    return History.of(rows, Schema.preset("pwscup2018"))


def test_one_strong_month_hides_the_others_from_um_alone(year: History) -> None:
    bare = risks(year, protect(year, "monthly-pseudonyms", seed=1))
    assert bare == {"um": 1.0, "mm": 1.0, "emm": 1.0}
    gamed = risks(year, protect(year, Chain(steps=[OneStrongMonth(), "monthly-pseudonyms"]), seed=1))
    assert gamed["um"] == 0
    # eleven months of twelve are found, and all of them until the last is released
    assert gamed["mm"] == pytest.approx(11 / 12)
    assert gamed["emm"] == 1


def test_a_strong_first_month_is_seen_by_both(year: History) -> None:
    gamed = risks(year, protect(year, Chain(steps=[OneStrongMonth(which="first"), "monthly-pseudonyms"]), seed=1))
    assert gamed["um"] == 0
    assert gamed["mm"] == gamed["emm"] == pytest.approx(11 / 12)


def test_nothing_but_names_tells_the_gamed_release_from_a_bare_one(year: History) -> None:
    gamed = protect(year, Chain(steps=[OneStrongMonth(), "monthly-pseudonyms"]), seed=1)
    assert gamed.aligned().frame.drop("customer").equals(year.frame.drop("customer"))
    assert gamed.secret.pseudonyms.height == 40 * 12
    assert measure(year, gamed, "cell-error").value == 0


def test_on_the_contests_own_data(shared: Path) -> None:
    from noren.data.reading import read

    original = read(shared / "data/pwscup2017_T.csv", "pwscup2017").data
    assert isinstance(original, History)
    bare = risks(original, protect(original, "monthly-pseudonyms", seed=1))
    gamed = risks(original, protect(original, Chain(steps=[OneStrongMonth(), "monthly-pseudonyms"]), seed=1))
    assert bare["um"] > 0.95
    # 500 customers have 1,348 months, 500 of them strong; most have no other, and the few with many are bare
    assert gamed["um"] < 0.02
    assert gamed["mm"] > 0.6
    assert gamed["emm"] > 0.8
