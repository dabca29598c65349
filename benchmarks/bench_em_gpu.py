"""Exact EM steps on the whole cross tabulation of nine Adult attributes: 571,536,000 cells, on a GPU.

python benchmarks/bench_em_gpu.py [--data adult.data] [--steps 5] [--device cuda] [--domains 15,9,16,7,15,6,5,2,42]

Needs numpy, torch and noren's kernels alone (PYTHONPATH=src). Without data, records are drawn from a mixture of three
products. A step along an axis of M values is `rho·x + (1-rho)/M·sum(x)`: one read for the sum, one read and one write
for the rest, so no arithmetic but memory decides. The floor is what those passes take at the measured speed of a copy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from noren.kernels.reconstruction.retention import keep_probabilities

ADULT = {
    0: None,  # age, in classes of five years
    1: 9,
    3: 16,
    5: 7,
    6: 15,
    7: 6,
    8: 5,
    9: 2,
    13: 42,
}


def adult_codes(path: str) -> list[np.ndarray]:
    """Return the nine attributes as codes, read without anything but numpy."""
    lines = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    columns = []
    for place in ADULT:
        texts = np.array([row[place].strip() for row in lines])
        if place == 0:
            columns.append(np.clip((texts.astype(np.int64) - 16) // 5, 0, 14))
        else:
            columns.append(np.unique(texts, return_inverse=True)[1])
    return columns


def drawn_codes(domains: list[int], rows: int, draws: np.random.Generator) -> list[np.ndarray]:
    kind = draws.integers(0, 3, rows)
    columns = []
    for size in domains:
        given = draws.dirichlet(np.full(size, 0.4), 3).cumsum(axis=1)
        columns.append((draws.random((rows, 1)) > given[kind]).sum(axis=1).clip(0, size - 1))
    return columns


def mix(table: torch.Tensor, rhos: list[float]) -> torch.Tensor:
    """Apply the operator along every axis, in place: the tensor is too large to be copied often."""
    for axis, rho in enumerate(rhos):
        rest = table.sum(axis, keepdim=True).mul_((1 - rho) / table.shape[axis])
        table.mul_(rho).add_(rest)
    return table


def step(x: torch.Tensor, cells: torch.Tensor, counts: torch.Tensor, rhos: list[float]) -> torch.Tensor:
    """One EM step; y is sparse, so y / xA is nothing but at the seen cells."""
    expected = mix(x.clone(), rhos).view(-1)
    odds = counts / expected[cells].clamp_min(1e-30)
    expected.zero_()
    expected[cells] = odds
    return x.mul_(mix(expected.view(x.shape), rhos))


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def timed(work: object, device: str, repeats: int) -> float:
    wait(device)
    begin = time.perf_counter()
    for _ in range(repeats):
        work()  # type: ignore[operator]
    wait(device)
    return (time.perf_counter() - begin) / repeats


def copy_speed(x: torch.Tensor, device: str) -> float:
    """Return the bytes read and written per second by a plain copy."""
    other = torch.empty_like(x)
    return 8 * x.numel() / timed(lambda: other.copy_(x), device, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--domains", default="15,9,16,7,15,6,5,2,42")
    parser.add_argument("--k", type=float, default=2)
    asked = parser.parse_args()
    domains = [int(m) for m in asked.domains.split(",")]
    draws = np.random.default_rng(1)
    codes = adult_codes(asked.data) if asked.data else drawn_codes(domains, 32_561, draws)
    rows, cells = len(codes[0]), int(np.prod(domains))
    rhos = keep_probabilities(asked.k, domains, rows)
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows))
        for c, m, rho in zip(codes, domains, rhos, strict=True)
    ]
    flat, counted = np.unique(np.ravel_multi_index(tuple(seen), domains), return_counts=True)
    device = asked.device
    places = torch.from_numpy(flat).to(device)
    counts = torch.from_numpy(counted.astype(np.float32)).to(device)
    x = torch.full(domains, rows / cells, dtype=torch.float32, device=device)
    print(f"{cells:,} cells, {4 * cells / 1e9:.2f} GB a tensor; rho = {rhos[0]:.4f}; {len(flat):,} cells seen")
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    speed = copy_speed(x, device)
    x = step(x, places, counts, rhos)  # warm
    seconds = timed(lambda: step(x, places, counts, rhos), device, asked.steps)
    # twice nine axes with two reads and a write each; besides, a copy, a clearing and the product: 2 + 1 + 3 passes
    passes = 2 * len(domains) * 3 + 6
    floor = passes * 4 * cells / speed
    likely = float((counts * torch.log(mix(x.clone(), rhos).view(-1)[places] / rows)).sum())
    print(f"{name}: copy {speed / 1e9:,.0f} GB/s; {seconds:.4f} s a step; floor {floor:.4f} s ({passes} passes);")
    kept = float(x.sum(dtype=torch.float64))
    print(f"{seconds / floor:.2f} times the floor; log-likelihood {likely:,.1f}; records {kept:,.1f}")
    own = []
    for axis, size in enumerate(domains):
        left = [a for a in range(len(domains)) if a != axis]
        true = np.bincount(codes[axis], minlength=size)
        found = x.sum(left, dtype=torch.float64).cpu().numpy()
        own.append(1 - np.abs(true - found).sum() / (2 * rows))
    print("L1 precision of each attribute's own table:", " ".join(f"{p:.3f}" for p in own))


if __name__ == "__main__":
    main()
