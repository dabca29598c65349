"""``--engine gpu`` from the outside: the same answers as ``local``, on tensors of the processor."""

import numpy as np
import pytest
import torch
from tests.retention.test_wide_reconstruction import people

from noren.api import attack, protect, reconstruct, sample
from noren.engines.accelerated.device import Accelerator
from noren.engines.choice import EngineChoice, using
from noren.errors import ParameterError
from noren.retention.reconstructed import WideReconstruction
from noren.retention.reconstruction import estimated

GPU = EngineChoice("gpu")


@pytest.mark.parametrize("name", ["jaccard", "profile"])
def test_attacks_name_the_same_people(as_gpu: Accelerator, name: str) -> None:
    original = sample(customers=30, rows=600, items=50, seed=1)
    release = protect(original, "monthly-pseudonyms", seed=1)
    local = attack(original, release, name).pairs
    with using(GPU):
        there = attack(original, release, name).pairs
    assert there.drop("score").equals(local.drop("score"))
    np.testing.assert_allclose(there["score"], local["score"], rtol=1e-9)


def test_generalize_makes_the_same_release(as_gpu: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.engines.accelerated.alignments._PAYS", 20)
    original = sample(customers=12, rows=100, items=20, seed=2)
    local = protect(original, "generalize", k=2, seed=3, effort="quick")
    with using(GPU):
        there = protect(original, "generalize", k=2, seed=3, effort="quick")
    assert there.public.frame.equals(local.public.frame)
    assert there.statement == local.statement


@pytest.mark.parametrize("model", ["em", "ml", "loglinear", "auto"])
def test_models_give_the_same_table(device: Accelerator, model: str) -> None:
    draws = np.random.default_rng(1)
    y = draws.multinomial(60, draws.dirichlet(np.ones(9))).reshape(3, 3).astype(float)
    channels = [0.5, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])]
    local, made_of = estimated(y, channels, model, np.random.default_rng(0))  # type: ignore[arg-type]
    there, made_of_there = estimated(y, channels, model, np.random.default_rng(0), place=device.tensor)  # type: ignore[arg-type]
    assert isinstance(there, np.ndarray)
    np.testing.assert_allclose(there, local, rtol=1e-8, atol=1e-8)
    assert list(made_of) == list(made_of_there)


def test_a_whole_table_with_its_intervals(as_gpu: Accelerator) -> None:
    release = protect(people(300), "retention", k=2, seed=1)
    given = {"attributes": ["sex", "town"], "bootstrap": 2}
    local = reconstruct(release, "em", **given)  # type: ignore[arg-type]
    with using(GPU):
        there = reconstruct(release, "em", **given)  # type: ignore[arg-type]
    np.testing.assert_allclose(there.table, local.table, rtol=1e-9)
    assert there.intervals is not None
    assert local.intervals is not None
    np.testing.assert_allclose(there.intervals.high, local.intervals.high, rtol=1e-4)


def test_a_table_too_large_for_the_processor(as_gpu: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    release = protect(people(2_000), "retention", rho=0.5, seed=1)
    nominal = ["sex", "town", "job"]
    whole = reconstruct(release, "ml", attributes=nominal)
    monkeypatch.setattr("noren.retention.reconstruction.LARGEST_TABLE", 10)
    with using(GPU):
        found = reconstruct(release, "ml", attributes=nominal)
        with pytest.raises(ParameterError, match="ml needs the whole table, which would have 240 cells"):
            reconstruct(release, "ml")  # the noise of age is no retention
        monkeypatch.setattr(Accelerator, "room", lambda _self: 200)
        with pytest.raises(ParameterError, match=r"a table of 24 cells needs 0\.0 GB"):
            reconstruct(release, "ml", attributes=nominal)
    assert isinstance(found, WideReconstruction)
    for names in (["job"], ["town", "sex"]):
        np.testing.assert_allclose(found.margin(names), whole.margin(names), atol=8)
    assert len(found.records()) == 2_000


def test_out_of_memory_is_one_line(as_gpu: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object, **_named: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("noren.retention.reconstruction.expectation_maximisation", full)
    release = protect(people(100), "retention", k=2, seed=1)
    with using(GPU), pytest.raises(ParameterError, match="too little free memory"):
        reconstruct(release, "em", attributes=["sex", "town"])


@pytest.mark.parametrize("command", ["attack", "protect", "measure", "reconstruct"])
def test_commands_stop_before_any_work_without_a_device(noren, small_csv, tmp_path, monkeypatch, command: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    out = tmp_path / "out"
    given = {
        "attack": (small_csv, tmp_path, "--schema", "pwscup2018"),
        "protect": (small_csv, "--schema", "pwscup2018", "--method", "generalize-by-count", "--k", 3, "--out", out),
        "measure": (small_csv, tmp_path, "--schema", "pwscup2018"),
        "reconstruct": (tmp_path, "--out", out),
    }[command]
    answer = noren(command, *given, "--engine", "gpu")
    assert answer.code == 2
    assert "found no graphics processor" in answer.err
    assert not out.exists()
