"""The most similar set of items by products of matrices on a GPU: every pair looked at, exactly.

python benchmarks/bench_jaccard_gpu.py [--sizes 200000,500000] [--out results.md]

Needs NumPy and Torch alone, and makes its data itself. 1,000 random answers are compared with counting in plain NumPy.
Two floors are measured on the same machine in the same run: multiplying blocks of the same shape and nothing else, and
moving memory; a run is told as a share of what both take together. ``--library numpy`` tries the script without a GPU.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from noren.kernels.item_sets import ItemSets, item_sets
from noren.kernels.jaccard_blocks import NOBODY, arrays_of, most_similar_blocks

CHECKED = 1_000
# Memory that goes to and from the GPU for each pair: overlaps written (2) and read (2), sums of sizes written (4) and
# read (4), shares written (4) and read (4).
BYTES_PER_PAIR = 20


@dataclass(frozen=True)
class Machine:
    """Where the work is done: the library, its name for the device, and how to wait for it."""

    library: Any
    device: str
    words: str
    wait: Callable[[], None]

    @property
    def gpu(self) -> bool:
        return self.device != "cpu"


def machine(library: str) -> Machine | None:
    if library == "numpy":
        return Machine(np, "cpu", "NumPy on the processor", lambda: None)
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return Machine(torch, "cpu", f"Torch {torch.__version__} on the processor", lambda: None)
    name = torch.cuda.get_device_name(0)
    return Machine(torch, "cuda", f"{name}, Torch {torch.__version__}", torch.cuda.synchronize)


def made_up(people: int, items: int, seed: int, noise: float = 0.2) -> tuple[ItemSets, ItemSets]:
    """Return sets of 65 items in the mean, of skewed sizes and popularity, and a release with a fifth exchanged."""
    draw = np.random.Generator(np.random.PCG64(seed))
    sizes = np.minimum(draw.lognormal(np.log(72) - 0.6, 1.1, people) + 1, 0.5 * items).astype(np.int64)
    popular = np.cumsum(1 / (np.arange(items) + 60.0) ** 0.8)
    owner = np.repeat(np.arange(people), sizes)
    drawn = np.searchsorted(popular, draw.random(len(owner)) * popular[-1])
    known = item_sets(owner, draw.permutation(items)[np.minimum(drawn, items - 1)], people, items)
    owner = np.repeat(np.arange(people), known.sizes)
    kept, added = draw.random(len(owner)) >= noise, draw.random(len(owner)) < noise
    others = known.item[draw.integers(0, len(owner), int(added.sum()))]
    what = np.concatenate([known.item[kept], others]).astype(np.int64)
    return known, item_sets(np.concatenate([owner[kept], owner[added]]), what, people, items)


def counted(known: ItemSets, released: ItemSets, items: int, which: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Return the most similar customers of some released sets by counting, in 64 bits, one set after another."""
    order = np.argsort(known.item, kind="stable")
    buyer = np.repeat(np.arange(len(known.total)), known.sizes)[order]
    first = np.concatenate(([0], np.cumsum(np.bincount(known.item, minlength=items))))
    found = np.full(len(which), NOBODY)
    for at, asked in enumerate(which):
        mine = released.item[released.first[asked] : released.first[asked + 1]]
        met = np.concatenate([np.zeros(0, dtype=np.int64), *(buyer[first[i] : first[i + 1]] for i in mine)])
        overlap = np.bincount(met, minlength=len(known.total))
        likeness = overlap / np.maximum(released.total[asked] + known.total - overlap, 1)
        found[at] = likeness.argmax() if likeness.max(initial=0) > 0 else NOBODY
    return found


def seconds_of(work: Callable[[], object], where: Machine, repeats: int = 3) -> float:
    """Return the least time of some runs; nobody else is on the GPU, and a floor is the least."""
    spent = []
    for _ in range(repeats):
        where.wait()
        start = time.perf_counter()
        work()
        where.wait()
        spent.append(time.perf_counter() - start)
    return min(spent)


def speeds(where: Machine, rows: int, columns: int, items: int) -> tuple[float, float]:
    """Return how many operations a second products of such blocks reach, and how many bytes a second are moved."""
    if where.library is np:
        left, right = (np.ones((n, items), dtype=np.float32) for n in (rows, columns))
        moved = np.ones(1 << 25, dtype=np.float32)
        copy: Callable[[], object] = moved.copy
    else:
        torch = where.library
        kind = torch.float16 if where.gpu else torch.float32
        left, right = (torch.ones((n, items), dtype=kind, device=where.device) for n in (rows, columns))
        moved = torch.ones(1 << 29 if where.gpu else 1 << 25, dtype=torch.float32, device=where.device)
        copy = moved.clone
    operations = 2.0 * rows * columns * items
    size = 4 * (1 << 29 if where.gpu else 1 << 25)
    multiply = seconds_of(lambda: left @ right.T, where)
    return operations / multiply, 2 * size / seconds_of(copy, where)


def measured(where: Machine, people: int, items: int, rows: int, columns: int) -> list[str]:
    """Answer for one size, check it, and return a line of the table."""
    known, released = made_up(people, items, seed=1)
    arrays = arrays_of(where.library, where.device)

    def work() -> np.ndarray:  # type: ignore[type-arg]
        found = most_similar_blocks(known, released, items, arrays, rows=rows, columns=columns, resident=True)
        return np.concatenate([who for who, _how in found])

    where.wait()
    start = time.perf_counter()
    answer = work()
    where.wait()
    took = time.perf_counter() - start
    which = np.random.Generator(np.random.PCG64(2)).choice(people, min(CHECKED, people), replace=False)
    wrong = int((answer[which] != counted(known, released, items, which)).sum())
    if wrong:
        sys.exit(f"{wrong} of {len(which)} answers at {people:,} customers are not the most similar ones")
    operations, moved = 2.0 * people * people * items, BYTES_PER_PAIR * float(people) ** 2
    fastest, widest = speeds(where, min(rows, people), min(columns, people), items)
    multiplying, moving = operations / fastest, moved / widest
    right = float((answer == np.arange(people)).mean())
    print(f"{people:,}: {took:.2f} s, {len(which):,} answers checked", flush=True)
    return [
        f"{people:,}", f"{len(known.item) / people:.1f}", f"{took:.2f}", f"{people**2 / took / 1e9:,.1f}",
        f"{operations / took / 1e12:,.0f}", f"{fastest / 1e12:,.0f}", f"{multiplying:.2f}", f"{widest / 1e12:.2f}",
        f"{moving:.2f}", f"{(multiplying + moving) / took:.0%}", f"{right:.1%}", f"{len(which):,}",
    ]  # fmt: skip


HEAD = (
    "customers", "items each", "seconds", "billion pairs/s", "TFLOP/s", "product alone, TFLOP/s", "product alone, s",
    "memory, TB/s", "memory alone, s", "both floors ÷ seconds", "found", "answers checked",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="200000,500000", help="numbers of customers, separated by commas")
    parser.add_argument("--items", type=int, default=2_800)
    parser.add_argument("--rows", type=int, default=16_384, help="released sets in a block")
    parser.add_argument("--columns", type=int, default=32_768, help="customers in a block")
    parser.add_argument("--library", choices=("torch", "numpy"), default="torch")
    parser.add_argument("--out", type=Path, help="a Markdown file for the results")
    asked = parser.parse_args()
    where = machine(asked.library)
    if where is None or (asked.library == "torch" and not where.gpu):
        print("there is no Torch with a GPU here; nothing was measured (--library numpy tries the script)")
        return
    # what the library does once, it does on a small one
    few, fewer = made_up(2_000, asked.items, seed=3)
    list(most_similar_blocks(few, fewer, asked.items, arrays_of(where.library, where.device)))
    sizes = [int(size) for size in asked.sizes.split(",")]
    lines = [measured(where, people, asked.items, asked.rows, asked.columns) for people in sizes]
    text = "\n".join(
        [
            "# Naming the most similar set of items, on a GPU",
            "",
            f"Every pair of a released set and a customer's, of {asked.items:,} items, by products of 0/1 matrices in"
            f" blocks of {asked.rows:,} × {asked.columns:,}; a fifth of each set exchanged. From sets in the host's"
            " memory to answers there, once. The floors: products of such blocks and nothing else, and"
            f" {BYTES_PER_PAIR} bytes of memory traffic per pair, both at the speed measured in the same run.",
            "",
            "| " + " | ".join(HEAD) + " |",
            "|---" + "|---:" * (len(HEAD) - 1) + "|",
            *("| " + " | ".join(line) + " |" for line in lines),
            "",
            f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d}: {where.words}, NumPy {np.__version__},"
            f" Python {sys.version.split()[0]}.",
            "",
        ]
    )
    print(text)
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
