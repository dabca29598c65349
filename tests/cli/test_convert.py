"""Files from one format to another."""

import polars as pl

from noren.data.schema import Schema


def test_convert(noren, tmp_path, small_csv) -> None:
    answer = noren("convert", small_csv, tmp_path / "T.parquet", "--schema", "pwscup2018", "--json")
    assert answer.json["rows"] == 600
    assert pl.read_parquet(tmp_path / "T.parquet").columns == list(Schema.preset("pwscup2018").names)
    assert noren("convert", tmp_path / "T.parquet", tmp_path / "back.csv", "--schema", "pwscup2018").code == 0
    assert (tmp_path / "back.csv").read_bytes() == small_csv.read_bytes()
    assert noren("convert", small_csv, tmp_path / "T.xlsx", "--schema", "pwscup2018").code == 0
    assert noren("convert", tmp_path / "T.xlsx", tmp_path / "excel.csv", "--schema", "pwscup2018").code == 0
    assert (tmp_path / "excel.csv").read_bytes() == small_csv.read_bytes()
