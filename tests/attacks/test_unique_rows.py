"""Unique-rows against the official script's answers, line for line, and against a walk in plain Python."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.attacks import attacks
from noren.attacks.unique_rows import UniqueRows
from noren.data.contest_files import published, read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.schema import Schema
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Guess

SCHEMA = Schema.preset("pwscup2018")
VECTORS = ["random_final", "delete_final", "pair_final", "copy_final", "edge_final", "pair_preliminary", "edge_small"]


def of_lines(path: Path, lines: list[str]) -> History:
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return read_rows(path, SCHEMA)


def answer(guess: Guess) -> list[str]:
    return [f"{pseudonym},{customer}" for pseudonym, customer in guess.pairs.select("pseudonym", "customer").rows()]


# --- the official script ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))["pwscup2018"])


@pytest.fixture(scope="module")
def originals(shared: Path, index: dict[str, Any]) -> dict[str, History]:
    found = {}
    for name in ("final", "preliminary", "small"):
        about = index["inputs"][name]
        path = shared / "data" / about["data"] if "data" in about else shared / "oracles" / about["file"]
        found[name] = read_rows(path, SCHEMA)
    return found


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_answers(name: str, shared: Path, index: dict[str, Any], originals: dict[str, History]) -> None:
    vector = next(v for v in index["vectors"] if v["id"] == f"pwscup2018/{name}")
    original = originals[vector["T"]]
    release = read_release(shared / "oracles" / vector["files"]["A"], original)
    assert isinstance(release.public, History)
    guess = UniqueRows().attack(original, release.public, seed=1)
    file = vector["expected"]["attacks"]["re_uniq"]["file"]
    official = gzip.decompress((shared / "oracles" / file).read_bytes()).decode().splitlines() if file else []
    assert answer(guess) == official
    assert len(guess) == vector["expected"]["attacks"]["re_uniq"]["tried"]


def test_every_vector_is_tested(index: dict[str, Any]) -> None:
    assert [v["id"] for v in index["vectors"]] == [f"pwscup2018/{name}" for name in VECTORS]


def test_the_official_tiny_cases(index: dict[str, Any], tmp_path: Path) -> None:
    for case in index["re_uniq_tiny"]["cases"]:
        original = of_lines(tmp_path / "T.csv", case["T"])
        public = published(of_lines(tmp_path / "A.csv", case["A"]))
        assert public.lines().to_list() == case["Aprime"]
        assert answer(UniqueRows().attack(original, public, seed=1)) == case["re_uniq"]


def test_pseudonyms_alone_give_nearly_everybody_away(originals: dict[str, History]) -> None:
    release = Pseudonymize().protect(originals["final"], seed=1)
    assert isinstance(release.public, History)
    guess = UniqueRows().attack(originals["final"], release.public, seed=1)
    assert len(guess) == 998
    assert len(guess.pairs.join(release.secret.pseudonyms, on=["pseudonym", "customer"])) == 998


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_the_last_match_decides_and_the_first_places(tmp_path: Path) -> None:
    original = of_lines(tmp_path / "T.csv", ["1,2010/12/1,A,1,1", "2,2010/12/2,B,1,1", "3,2010/12/3,C,1,1"])
    public = of_lines(tmp_path / "A.csv", ["8,2010/12/1,A,1,1", "9,2010/12/3,C,1,1", "8,2010/12/2,B,1,1"])
    guess = UniqueRows().attack(original, public, seed=1)
    assert answer(guess) == ["8,2", "9,3"]
    assert guess.attack == "unique-rows"
    assert guess.pairs["score"].to_list() == [1.0, 1.0]
    assert guess.notes == {"unique_rows": 3, "found_rows": 3}


def test_spelling_counts_unless_values_are_asked_for(tmp_path: Path) -> None:
    original = of_lines(tmp_path / "T.csv", ["1,2010/12/1,A,2.10,1", "2,2010/12/02,B,1,1", "3,2010/12/3,C,1,1"])
    public = of_lines(tmp_path / "A.csv", ["7,2010/12/1,A,2.1,1", "8,2010/12/2,B,1,1", "9,2010/12/3,C,1,1"])
    assert answer(UniqueRows().attack(original, public, seed=1)) == ["9,3"]
    assert answer(UniqueRows(spelling=False).attack(original, public, seed=1)) == ["7,1", "8,2", "9,3"]


def test_a_row_that_occurs_twice_is_unusable_even_for_one_customer(tmp_path: Path) -> None:
    original = of_lines(tmp_path / "T.csv", ["1,2010/12/1,A,1,1", "1,2010/12/1,A,1,1"])
    public = of_lines(tmp_path / "A.csv", ["7,2010/12/1,A,1,1"])
    assert answer(UniqueRows().attack(original, public, seed=1)) == []


def test_other_schemas_commas_in_texts_and_rows_of_nobody() -> None:
    columns = {"what": {"role": "item"}, "note": {"role": "other"}, "who": {"role": "customer", "optional": True}}
    schema = Schema.of({"columns": {**columns, "when": {"role": "date"}}})

    def purchases(what: list[str], note: list[str], who: list[str | None]) -> History:
        return History.of({"what": what, "note": note, "who": who, "when": ["2011/1/1"] * 4}, schema)

    original = purchases(["a", "a,b", "c", "d"], ["b,c", "c", "c", "d"], ["p", "q", "r", None])
    public = purchases(["a", "c", "d", "a,b"], ["b,c", "c", "d", "c"], ["1", None, "3", "4"])
    # "c" has no pseudonym, "d" no customer; joined by commas "a" and "a,b" would be one row
    assert answer(UniqueRows().attack(original, public, seed=1)) == ["1,p", "4,q"]


ROW = st.tuples(st.sampled_from("123"), st.sampled_from(["A", "B", "C"]), st.sampled_from(["1", "1.0", "2"]))


@given(known=st.lists(ROW, min_size=1, max_size=12), seen=st.lists(ROW, min_size=1, max_size=12))
@examples(60)
def test_against_plain_python(
    known: list[tuple[str, str, str]], seen: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    text = ["{},2010/12/1,{},{},1".format(*row) for row in known]
    public_text = ["{},2010/12/1,{},{},1".format(*row) for row in seen]
    rests = [line.partition(",")[2] for line in text]
    expected: dict[str, str] = {}
    for line in public_text:
        pseudonym, _comma, rest = line.partition(",")
        if rests.count(rest) == 1:
            expected[pseudonym] = known[rests.index(rest)][0]
    guess = UniqueRows().attack(of_lines(folder / "T.csv", text), of_lines(folder / "A.csv", public_text), seed=1)
    assert answer(guess) == [f"{pseudonym},{customer}" for pseudonym, customer in expected.items()]


def test_the_register_knows_it() -> None:
    assert isinstance(attacks.create("unique-rows"), UniqueRows)
    guess = UniqueRows().attack(
        History(pl.DataFrame(schema={c.name: c.dtype for c in SCHEMA.columns}), SCHEMA),
        History(pl.DataFrame(schema={c.name: c.dtype for c in SCHEMA.columns}), SCHEMA),
        seed=1,
    )
    assert guess.pairs.schema == {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}
    assert len(guess) == 0
