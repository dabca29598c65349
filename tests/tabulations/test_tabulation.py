"""Tables of counts and sums: written into a folder whole, read back as they were."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from noren.errors import FileError, OutputError
from noren.tabulations.tabulation import Tabulation, read_tables, write_tables


def test_tables_are_read_back_as_they_were_written(tmp_path):
    months = pl.DataFrame({"month": ["2011-01", "2011-02"], "code": ["=1+1", None], "rows": [7, None]})
    written = Tabulation("month-code", ("month", "code"), ("rows",), months, {"k": 5})
    write_tables(tmp_path / "totals", [written])

    (read,) = read_tables(tmp_path / "totals")

    assert (read.name, read.keys, read.values, read.notes) == (written.name, written.keys, written.values, {"k": 5})
    assert_frame_equal(read.frame, months)


def test_values_are_numbers_where_the_first_cells_or_all_are_suppressed(tmp_path):
    keys = [f"{at:03}" for at in range(151)]
    frame = pl.DataFrame({"item": keys, "rows": [None] * 151, "revenue": [None] * 149 + [3.0, 2.5]})
    write_tables(tmp_path / "totals", [Tabulation("item", ("item",), ("rows", "revenue"), frame, {"k": 5})])
    (read,) = read_tables(tmp_path / "totals")
    assert_frame_equal(read.frame, frame.with_columns(pl.col("rows").cast(pl.Float64)))
    (tmp_path / "totals" / "item.csv").write_text("item,rows,revenue\n000,many,1\n")
    with pytest.raises(FileError, match=r"tables\.json"):
        read_tables(tmp_path / "totals")


def test_only_a_folder_of_tables_is_replaced(tmp_path):
    table = Tabulation("months", ("month",), ("rows",), pl.DataFrame({"month": ["2011-01"], "rows": [7]}))
    folder = write_tables(tmp_path / "totals", [table])
    write_tables(folder, [table], replace=True)
    (folder / "mine.csv").write_text("a\n1\n")
    with pytest.raises(OutputError):
        write_tables(folder, [table], replace=True)


def test_another_folder_is_not_read(tmp_path):
    with pytest.raises(FileError, match=r"give the folder that holds tables\.json"):
        read_tables(tmp_path)
