"""The rows that a cluster deletes are those that one machine deletes."""

from pathlib import Path

import numpy as np
import polars as pl
from tests.execution.histories import uneven
from tests.execution.sameness import same_release

from noren.execution.edits import key_of_row
from noren.execution.frames import on_cluster
from noren.methods.thin import Thin


def test_the_most_telling_rows_first(spark, tmp_path: Path) -> None:
    release = same_release(Thin(share=0.4, rarest=True), uneven(), spark, tmp_path)
    assert release.deleted_rows == int(0.4 * 693) + 7


def test_nobody_vanishes_unless_that_is_allowed(spark, tmp_path: Path) -> None:
    release = same_release(Thin(share=0.97), uneven(), spark, tmp_path / "kept")
    assert release.statement.notes["rows_kept_so_that_nobody_vanishes"] == int(0.97 * 693) - (693 - 41)
    gone = same_release(Thin(share=0.97, allow_vanish=True), uneven(), spark, tmp_path / "gone")
    assert len(gone.secret.pseudonyms) < 41


def test_the_key_of_a_row_by_cuts(spark) -> None:
    places = np.arange(300)
    first = np.where(places < 200, 2.5, places % 7).astype(float)  # most rows are equal in the first key
    frame = pl.DataFrame({"first": first, "second": (places * 37) % 300})
    rows = sorted(frame.rows())
    lying = on_cluster(spark, frame)
    for number in (1, 150):
        assert key_of_row(lying, ["first", "second"], number, few=3) == rows[number - 1]
