"""``noren reproduce``: what it prints, where it writes, how it ends."""

from pathlib import Path

import pytest
from tests.reproduce import toy

from noren.reproduce import DOCUMENT_MODULES


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    return tmp_path / "cache" / "noren" / "reproduce"


@pytest.fixture
def toy_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "DOCUMENT", toy.document(tmp_path), raising=False)
    monkeypatch.setitem(DOCUMENT_MODULES, "S9", "tests.reproduce.toy")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["S44"], "there is no 'S44' in noren reproduce (did you mean S4?)"),
        (["S4", "--table", "99"], "there is no 'table-99' in S4 (did you mean table-9?); there are rho, exam"),
        (["S4", "--figure", "1"], "there is no 'figure-1' in S4 (did you mean figure-5?); there are rho, exam"),
        (["S4", "--part", "roh"], "there is no 'roh' in S4 (did you mean rho?)"),
        (["S4", "--seeds", "0"], "--seeds"),
        ([], "Missing argument"),
    ],
)
def test_wrong_words(noren, cache, words, said) -> None:
    answer = noren("reproduce", *words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not cache.exists()


def test_an_existing_folder_is_not_replaced_before_any_work(noren, cache, toy_document, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    assert noren("reproduce", "S9", "--out", tmp_path / "out").code == 2
    assert toy.runs(tmp_path) == []
    answer = noren("reproduce", "S9", "--quick", "--out", tmp_path / "out", "--force")
    assert (answer.code, (tmp_path / "out" / "mine").read_text()) == (2, "x")
    assert "out contains mine, which this command did not write; name another folder" in answer.err
    assert toy.runs(tmp_path) == []
    (tmp_path / "out" / "mine").unlink()
    for force in ((), ("--force",)):
        assert noren("reproduce", "S9", "--quick", "--out", tmp_path / "out", *force).code == 0
        assert (tmp_path / "out" / "index.html").exists()


def test_rho_as_json(noren, cache) -> None:
    answer = noren("reproduce", "s4", "--part", "rho", "--table", "4", "--json")
    assert answer.code == 0
    (document,) = answer.json["documents"]
    rho, table_4 = document["parts"]
    assert (rho["key"], len(rho["cells"]), table_4["key"]) == ("rho", 18, "table-4")
    first = rho["cells"][0]
    assert (first["what"], first["column"], first["paper"], first["kind"]) == ("t1", "k = 2", 0.35, "exact")
    assert first["ok"] is True
    assert first["difference"] == pytest.approx(first["ours"] - 0.35)
    assert document["errata"] == []
    assert answer.json["units"] == {"computed": 0, "cached": 0}


def test_on_the_screen(noren, cache, toy_document, tmp_path) -> None:
    answer = noren("reproduce", "S9", "--quick")
    assert answer.code == 0
    for words in ("Table 1. Squares", "4 of 6 numbers were not run", "sign: <script>", "† explained", "0.000 ✓"):
        assert (words in answer.out) == (words != "† explained")
    assert "Not run: the data set adult is not in" in answer.out
    assert "3 units of work computed, 0 from the cache." in answer.out
    assert "0 units of work computed, 3 from the cache." in noren("reproduce", "S9", "--quick").out
    elsewhere = noren("reproduce", "S9", "--quick", "--cache", tmp_path / "there", "--workers", 1)
    assert "3 units of work computed" in elsewhere.out
    assert len(list(cache.rglob("*.json"))) == len(list((tmp_path / "there").rglob("*.json"))) == 3


def test_a_narrow_terminal_gets_a_line_for_each_cell(noren, cache, monkeypatch) -> None:
    wide = noren("reproduce", "S4", "--part", "rho").out
    monkeypatch.setenv("COLUMNS", "60")
    narrow = noren("reproduce", "S4", "--part", "rho").out
    assert "t1, k = 10" not in wide
    assert "t1, k = 10" in narrow
    assert max(map(len, narrow.splitlines()[:25])) <= 60


def test_an_exact_number_that_differs_is_exit_1(noren, cache, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(toy, "DOCUMENT", toy.document(tmp_path, paper=1), raising=False)
    monkeypatch.setitem(DOCUMENT_MODULES, "S9", "tests.reproduce.toy")
    answer = noren("reproduce", "S9", "--quick", "--table", 1)
    assert answer.code == 1
    assert "Exact numbers that differ from the paper without an erratum: 2" in answer.out
    assert "S9 table-1, 0² : 1.0 in the paper, 0.0 in Noren" in answer.err
    assert noren("reproduce", "S9", "--quick", "--table", 1, "--json").json["ok"] is False


def test_s4_without_any_data_is_exit_0(noren, cache) -> None:
    answer = noren("reproduce", "S4", "--table", 3, "--table", 4, "--part", "examples")
    assert answer.code == 0
    assert "Not run: the data set adult is not in" in answer.out
    assert "run noren datasets fetch adult, or unpack" in answer.out
