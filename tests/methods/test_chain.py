"""Several methods in turn are one method."""

from pathlib import Path

import pytest
from tests.methods.histories import Stuffed, history, known, owners

import noren
from noren.api import protect
from noren.data.frames import History, Table
from noren.data.periods import periods_of
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import CheckFailedError, FileError, ParameterError
from noren.methods import methods
from noren.methods.chain import Chain, read_chain
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms
from noren.methods.perturb import Perturb
from noren.methods.pseudonymize import Pseudonymize
from noren.methods.thin import Thin
from noren.protocols import Method

TEXT = """
[[step]]
method = "thin"
share = 0.25
allow-vanish = true

[[step]]
method = "perturb"
days = 3

[[step]]
method = "monthly-pseudonyms"
period = "custom"
starts = [2010-12-01, 2011-03-01]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "chain.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_steps(tmp_path: Path) -> None:
    chain = read_chain(written(tmp_path, TEXT))
    assert [step.name for step in chain.steps] == ["thin", "perturb", "monthly-pseudonyms"]
    assert chain.parameters()["steps"][0] == {"method": "thin", "share": 0.25, "rarest": False, "allow_vanish": True}
    assert chain.parameters()["steps"][2]["starts"] == ["2010-12-01", "2011-03-01"]
    assert methods.create("chain", **chain.parameters()) == chain
    assert hash(chain) == hash(read_chain(tmp_path / "chain.toml"))


def test_names_tables_and_methods_are_steps() -> None:
    mixed = Chain(steps=["swap", {"method": "thin", "share": 0.5}, MonthlyPseudonyms()])
    assert [step.name for step in mixed.steps] == ["swap", "thin", "monthly-pseudonyms"]
    assert Chain(steps=[Chain(steps=["swap", "thin"]), "perturb"]) == Chain(steps=["swap", "thin", "perturb"])
    assert Chain(steps="swap") == Chain(steps=["swap"])


def test_a_chain_is_the_steps_one_after_another(small: History) -> None:
    chain = Chain(steps=[Thin(share=0.1), "swap", "perturb", "monthly-pseudonyms"])
    release = chain.protect(small, seed=3)
    stages = list(chain.stages(small, seed=3))
    assert release.public.lines().to_list() == stages[-1].public.lines().to_list()
    assert release.deleted_rows == stages[0].deleted_rows == 60
    assert release.inserted_rows == 0
    assert (release.secret.seed, release.secret.digest) == (3, small.digest())
    assert len({stage.secret.seed for stage in stages}) == 4
    assert release.statement.promise == "each step keeps its promise for the output of the previous step"
    assert [step.method for step in release.statement.steps] == ["thin", "swap", "perturb", "monthly-pseudonyms"]
    # perturb keeps months and swap exchanges within them: the month of a pseudonym is that of the original's date
    of_row = dict(zip(release.aligned()["customer"], periods_of(small["date"]), strict=True))
    assert dict(release.secret.pseudonyms.select("pseudonym", "period").rows()) == {
        name: period for name, period in of_row.items() if name is not None
    }


def test_a_chain_of_one_step_is_that_step(small: History) -> None:
    one = Chain(steps=["pseudonymize"]).protect(small, seed=3)
    assert one.statement.parameters == {"steps": [{"method": "pseudonymize"}]}
    assert owners(one) == small["customer"].to_list()


def test_added_rows_go_through_later_steps(small: History) -> None:
    release = Chain(steps=[Stuffed(), Perturb(), MonthlyPseudonyms(), Pseudonymize()]).protect(small, seed=1)
    assert release.inserted_rows == len(small.customers)
    assert release.deleted_rows == 0
    assert owners(release) == small["customer"].to_list()
    assert set(known(release)) == set(release.public["customer"])


def test_same_seed_same_bytes(small: History, tmp_path: Path) -> None:
    chain = Chain(steps=[Thin(share=0.1), "swap", "perturb", "monthly-pseudonyms"])
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        chain.protect(small, seed=seed).save(tmp_path / folder)
    same = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert len(same) == 5
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in same)
    assert (tmp_path / "one/public.parquet").read_bytes() != (tmp_path / "other/public.parquet").read_bytes()
    back = Release.load(tmp_path / "one")
    assert back.statement == chain.protect(small, seed=5).statement
    assert "seed" not in (tmp_path / "one/statement.json").read_text(encoding="utf-8")


def test_progress_never_falls(small: History) -> None:
    told: list[tuple[float, str]] = []
    Chain(steps=["thin", "swap", "perturb"]).protect(
        small, seed=1, progress=lambda done, words="", best=None: told.append((done, words))
    )
    done = [part for part, _words in told]
    assert done == sorted(done)
    assert done[-1] <= 1
    assert any(words.startswith("swap: ") for _part, words in told)


class TestFromPython:
    def test_a_list_is_a_chain(self, small: History) -> None:
        by_list = protect(small, ["thin", {"method": "perturb", "days": 2}], seed=4)
        assert by_list.public.lines().equals(
            Chain(steps=["thin", Perturb(days=2)]).protect(small, seed=4).public.lines()
        )
        assert noren.protect(small, "chain", steps=["thin"], seed=4).deleted_rows == 60

    def test_parameters_beside_a_ready_method(self, small: History) -> None:
        with pytest.raises(ParameterError, match="share belongs to no method; give parameters together with"):
            protect(small, ["thin"], share=0.5)

    def test_the_last_claim_is_audited(self, small: History) -> None:
        # noise first: the original's own values fit nothing, but the data that were generalised do
        shared = protect(small, [Perturb(), GeneralizeByCount(k=3)], seed=1)
        assert "k" not in shared.statement.parameters
        twice = protect(small, [Thin(share=0.2), "swap", GeneralizeByCount(k=3)], seed=1)
        assert twice.statement.steps[-1].parameters["k"] == 3

    def test_customers_are_counted_not_pseudonyms(self) -> None:
        # one customer a month: groups of two pseudonyms are the same person twice
        rows = history(
            *(f"ann 2010/12/{day} a 1 1" for day in range(1, 4)), *(f"ann 2011/1/{day} a 1 1" for day in range(1, 4))
        )
        chain: list[str | Method] = ["monthly-pseudonyms", GeneralizeByCount(k=2)]
        with pytest.raises(CheckFailedError, match="claims k=2, but one pseudonym fits only 1 of the customers"):
            protect(rows, chain, seed=1)
        assert len(protect(rows, chain, seed=1, audit=False).public) == 6

    def test_a_false_claim_of_the_last_step_is_found_out(self, small: History) -> None:
        class Boast(Pseudonymize):
            """Names hidden, k claimed."""

            k: int = 5

        with pytest.raises(CheckFailedError, match="claims k=5"):
            protect(small, ["thin", Boast()], seed=1)
        # the last step claims nothing, so there is nothing to audit
        assert protect(small, [Boast(), "thin"], seed=1).deleted_rows == 60

    def test_categories_stay_known(self, small: History, tmp_path: Path) -> None:
        mapping = tmp_path / "categories.csv"
        mapping.write_text("".join(f"{item},c{item[-1]}\n" for item in small["item"].unique()), encoding="utf-8")
        release = protect(small, [GeneralizeByCount(k=3, categories=mapping), Thin(share=0.1)], seed=1)
        assert set(release.statement.notes["categories"]) == {f"c{item[-1]}" for item in small["item"].unique()}
        assert noren.measure(small, release, "cell-error").value < 1
        assert release.statement.parameters["steps"][0]["categories"] == "categories.csv"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "the chain has no steps; write at least one"),
        (["thinn"], r"step 1, thinn: there is no 'thinn' in noren\.methods \(did you mean thin\?\)"),
        (["thin", {"method": "thin", "share": 2}], "step 2, thin: share = 2 is not valid for thin: .*; Share of rows"),
        ([{"method": "thin", "shar": 0.2}], r"step 1, thin: thin has no parameter shar \(did you mean share\?\)"),
        ([{"method": "generalize-by-count"}], "step 1, generalize-by-count: generalize-by-count needs the parameter k"),
        ([{"method": "perturb", "days": -1}], "step 1, perturb: days = -1 is not valid for perturb"),
        ([{"share": 0.1}], 'step 1 names no method; write method = "…", one of chain, generalize'),
        ([{"method": 3}], "step 1 names no method"),
        (7, "step 1 names no method"),
        ([{"method": "chain", "steps": []}], "step 1, chain: the chain has no steps"),
    ],
)
def test_steps_that_are_none(steps, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        methods.create("chain", steps=steps)


def test_a_step_that_cannot_work_on_what_it_gets(small: History) -> None:
    with pytest.raises(ParameterError, match="step 2, monthly-pseudonyms: column date: the original is already gener"):
        Chain(steps=[GeneralizeByCount(k=2), "monthly-pseudonyms"]).protect(small, seed=1)
    with pytest.raises(ParameterError, match="step 1, generalize-by-count: k = 500 needs at least 500 customers, but"):
        Chain(steps=[GeneralizeByCount(k=500)]).protect(small, seed=1)
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    with pytest.raises(ParameterError, match="step 1, thin: thin works on a history, and this is a table; choose"):
        protect(Table.of({"age": ["3"]}, schema), ["thin"])
    with pytest.raises(ParameterError, match="seed = -1 is out of range; use seed >= 0"):
        Chain(steps=["thin"]).protect(small, seed=-1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'the chain has no steps; write at least one \\[\\[step\\]\\] table with method = "…"'),
        ("step = 3", "the chain has no steps"),
        ("[[step]]\nmethod =", "the chain cannot be read"),
        ('[[step]]\nmethod = "thin"\n[[stop]]\nmethod = "thin"', "stop is not part of a chain"),
        ("x = " + "[" * 100_000, "the chain cannot be read"),
        ("x = " + "9" * 5000, "the chain cannot be read"),
    ],
)
def test_a_damaged_file(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError, match=said) as caught:
        read_chain(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).isprintable()


def test_a_file_that_is_not_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_bytes(b"\xff\xfe[[step]]")
    for path, said in (
        (tmp_path / "chain.toml", "the chain cannot be read"),
        (tmp_path / "absent.toml", "there is no such file"),
        (tmp_path, "this is a folder"),
    ):
        with pytest.raises(FileError, match=said):
            read_chain(path)


def test_a_wrong_step_names_file_and_step(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.replace("days = 3", "days = -3"))
    with pytest.raises(ParameterError, match="step 2, perturb: days = -3 is not valid for perturb") as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}: ")
