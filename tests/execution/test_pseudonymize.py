"""Names hidden on a cluster are those of one machine."""

from pathlib import Path

from tests.execution.sameness import same_release, with_blanks

import noren
from noren.methods.pseudonymize import Pseudonymize


def test_the_same_names_and_rows(spark, tmp_path: Path) -> None:
    history = with_blanks(noren.sample(customers=40, rows=700, items=60, seed=3))
    release = same_release(Pseudonymize(), history, spark, tmp_path, seed=2**100 + 7)
    assert release.deleted_rows == 8
