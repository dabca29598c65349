"""Known data sets, and where they are."""


def test_datasets(noren, tmp_path, monkeypatch) -> None:
    listed = noren("datasets", "--json").json["datasets"]
    assert [d["name"] for d in listed] == [
        "online-retail", "adult", "pwscup2016", "pwscup2017", "pwscup2018-preliminary", "pwscup2018-final",
    ]  # fmt: skip
    assert "online-retail" in noren("datasets").out
    wrong = noren("datasets", "fetch", "onlin-retail")
    assert wrong.code == 2
    assert "did you mean online-retail?" in wrong.err
