"""One page about a release."""

SCHEMA = ("--schema", "pwscup2018")


def test_report(noren, small_csv, release, tmp_path) -> None:
    answer = noren("report", small_csv, release, *SCHEMA, "--out", tmp_path / "report.html")
    assert answer.code == 0, answer.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "generalize-by-count" in page
