"""Steps one after another on a cluster see the rows that one machine's steps see."""

from pathlib import Path

import polars as pl
import pytest
from tests.cluster.histories import bare, uneven
from tests.cluster.sameness import on_cluster, same_release

from noren.cluster.order_of_text import BEFORE, in_order_of_text
from noren.cluster.plans import plan_of
from noren.errors import ParameterError
from noren.methods.chain import Chain


def test_thin_perturb_and_names_by_month(spark, tmp_path: Path) -> None:
    steps = [{"method": "thin", "share": 0.2}, {"method": "perturb", "days": 4}, "monthly-pseudonyms"]
    release = same_release(Chain(steps=steps), uneven(), spark, tmp_path)
    assert "period" in release.secret.pseudonyms.columns


def test_rows_stand_in_the_order_of_their_text_however_they_are_cut(spark, tmp_path: Path) -> None:
    history = bare()
    lying = in_order_of_text(on_cluster(history, spark, tmp_path / "original"), rows_of_a_part=60)
    found = pl.DataFrame(pl.from_arrow(lying.frame.select("noren_row", BEFORE).toArrow())).sort("noren_row")
    order = pl.DataFrame({"line": history.lines()}).with_row_index().sort("line", maintain_order=True)["index"]
    assert found["noren_row"].to_list() == list(range(700))
    assert found[BEFORE].to_list() == order.to_list()


def test_a_step_without_anything_to_work_on(spark, tmp_path: Path) -> None:
    method = Chain(steps=["thin", "monthly-pseudonyms"])
    lying = on_cluster(bare(), spark, tmp_path / "original")
    with pytest.raises(ParameterError, match="step 2, monthly-pseudonyms: it needs a column with the role date"):
        plan_of(method).run(method, lying, seed=1)
