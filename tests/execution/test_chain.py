"""Steps one after another on a cluster see the rows that one machine's steps see."""

from pathlib import Path

import polars as pl
import pytest
from tests.execution.histories import bare, uneven
from tests.execution.sameness import on_cluster, same_release

from noren.data.frames import Table
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.execution.plans import plan_of
from noren.execution.plans.tables import BEFORE, in_order_of_text
from noren.methods.chain import Chain
from noren.work.run import protect_folder


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
    with pytest.raises(ParameterError, match=r"step 2, .*: monthly-pseudonyms needs a column with the role date"):
        plan_of(method).run(method, lying, seed=1)


def test_what_a_chain_claims_is_audited(master, spark, tmp_path: Path) -> None:
    """The last step groups what thinning left, under names of its own: who fits is asked of those rows."""
    history = uneven()
    on_cluster(history, spark, tmp_path / "original")
    steps = ["pseudonymize", {"method": "thin", "share": 0.2}, {"method": "generalize-by-count", "k": 3}]
    done = protect_folder(
        *(tmp_path / "original", Chain(steps=steps), tmp_path / "out"), engine=master, schema=history.schema, seed=1
    )
    assert done.audited is True
    assert "audit" not in Release.load(tmp_path / "out").statement.notes


def test_a_chain_of_a_table_says_that_it_was_not_audited(master, spark, tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {name: {"role": "quasi", "type": "text"} for name in "ab"}})
    table = Table(pl.DataFrame({"a": list("abcd") * 10, "b": list("vwxyz") * 8}), schema)
    on_cluster(table, spark, tmp_path / "original")
    steps = [{"method": "retention", "k": 2, "domains": "data"}, {"method": "mondrian", "k": 3}]
    done = protect_folder(
        *(tmp_path / "original", Chain(steps=steps), tmp_path / "out"), engine=master, schema=schema, seed=1
    )
    assert done.audited is False
    assert Release.load(tmp_path / "out").statement.notes["audit"] == "not run"
