"""Costs of pairs side by side against the kernel: the same to the last bit, bounds of pairs given up included."""

import numpy as np
import pytest
import torch
from tests.kernels.sharing.laid_examples import histories

from noren.engines.accelerated import alignments
from noren.engines.accelerated.alignments import pair_costs_by, pair_costs_on
from noren.engines.accelerated.device import Accelerator, processor
from noren.engines.choice import LOCAL, EngineChoice
from noren.kernels.sharing.alignment import AlignmentCosts, RowArrays, pair_costs
from noren.kernels.sharing.pairing import PairTable, costs_elsewhere, pair_tariff

COUNTS = [0, 0, 1, 1, 2, 3, 4, 6, 7, 9, 12]
PAIRS = np.array([(u, v) for u in range(len(COUNTS)) for v in range(len(COUNTS)) if u != v])


def by_kernel(rows: RowArrays, tariff: AlignmentCosts, limits: np.ndarray) -> np.ndarray:
    return pair_costs(rows, tariff, PAIRS, limits)


@pytest.mark.parametrize("limit", [1e290, 12.0, 3.0])
@pytest.mark.parametrize(("k", "suppress"), [(2, True), (3, True), (4, False)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_same_bits(device: Accelerator, missing: float, k: int, suppress: bool, limit: float) -> None:
    rows = histories(COUNTS, seed=k, missing=missing)
    tariff, limits = pair_tariff(k, suppress=suppress or missing > 0), np.full(len(PAIRS), limit)
    values, long = pair_costs_on(device, rows, tariff, PAIRS, limits)
    assert values.tolist() == by_kernel(rows, tariff, limits).tolist()
    assert not len(long)


def test_blocks_of_little_memory(device: Accelerator) -> None:
    rows, tariff, limits = histories(COUNTS, seed=8), pair_tariff(3, suppress=True), np.full(len(PAIRS), 1e290)
    values, _long = pair_costs_on(processor(memory=1), rows, tariff, PAIRS, limits)
    assert values.tolist() == by_kernel(rows, tariff, limits).tolist()


def test_blocks_shrink_when_memory_is_short(device: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    real, tried = alignments._DeviceRows.costs, []

    def costs(laid: alignments._DeviceRows, few: np.ndarray, *more: np.ndarray) -> np.ndarray:
        tried.append(len(few))
        if len(few) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(laid, few, *more)

    monkeypatch.setattr(alignments._DeviceRows, "costs", costs)
    rows, tariff, limits = histories(COUNTS, seed=8), pair_tariff(3, suppress=True), np.full(len(PAIRS), 1e290)
    values, _long = pair_costs_on(device, rows, tariff, PAIRS, limits)
    assert values.tolist() == by_kernel(rows, tariff, limits).tolist()
    assert max(tried) > 5 >= tried[-1]


def test_nobody_has_rows(device: Accelerator) -> None:
    rows = histories([0, 0], seed=1)
    values, _long = pair_costs_on(device, rows, pair_tariff(2, suppress=True), np.array([[0, 1]]), np.array([9.0]))
    assert values.tolist() == [0.0]


def test_a_table_of_pairs_asks_the_engine(as_gpu: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignments, "_PAYS", 10)
    monkeypatch.setattr(alignments, "LONGEST", 8)  # the histories of 9 and 12 rows stay with the kernel
    rows, tariff, limits = histories(COUNTS, seed=5), pair_tariff(3, suppress=True), np.full(len(PAIRS), 9.0)
    plain = PairTable(rows, tariff)
    plain.ask(PAIRS, limits)
    asked: list[int] = []
    real = alignments.pair_costs_on

    def counting(*given: object) -> tuple[np.ndarray, np.ndarray]:
        found = real(*given)  # type: ignore[arg-type]
        asked.append(len(found[1]))
        return found

    monkeypatch.setattr(alignments, "pair_costs_on", counting)
    with pair_costs_by(EngineChoice("gpu")):
        table = PairTable(rows, tariff)
        table.ask(PAIRS, limits)
        table.ask(PAIRS[:3], limits[:3])  # too few to be worth it
    assert asked == [2 * (len(COUNTS) - 1) + 2 * (len(COUNTS) - 2)]
    assert table.bound.tolist() == plain.bound.tolist()
    assert table.exact.tolist() == plain.exact.tolist()
    kept_apart = rows._replace(stratum=np.arange(len(rows.item)) % 2)  # the kernel alone knows strata
    alone = PairTable(kept_apart, tariff)
    alone.ask(PAIRS, limits)
    with pair_costs_by(EngineChoice("gpu")):
        table = PairTable(kept_apart, tariff)
        table.ask(PAIRS, limits)
    assert len(asked) == 1
    assert table.bound.tolist() == alone.bound.tolist() != plain.bound.tolist()
    with pair_costs_by(LOCAL):
        assert costs_elsewhere.get() is None
