"""What a graphics processor does for Noren: whole tables, sets of items, costs of pairs; each beside its floor.

python benchmarks/bench_gpu.py [--part em,jaccard,pairs] [--data adult.data] [--people 1000000] [--out folder]

Needs NumPy and PyTorch for CUDA (with Triton), and for the comparison of pair costs Numba; nothing else of what Noren
needs. Data are made up where none are given. Floors are measured in the same run: a plain copy of memory, a plain
product of matrices. Times are of the device (events), but for sets of items: there the clock, from sets in the host's
memory to answers there. Writes gpu-<part>.md to the folder.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from noren.engines.accelerated import sets
from noren.engines.accelerated.device import Accelerator
from noren.engines.accelerated.tables import ObservedTable
from noren.kernels.items.packed_sets import ItemSets, item_sets
from noren.kernels.reconstruction.retention import keep_probabilities

DOMAINS = [15, 9, 16, 7, 15, 6, 5, 2, 42]
"""Age in classes of five years, work class, education, marital status, occupation, relationship, race, sex, country."""
ADULT = (0, 1, 3, 5, 6, 7, 8, 9, 13)
ITEMS = 2_800
CHECKED = 1_000


def milliseconds(work: Callable[[], object], repeats: int = 20, warm: int = 3) -> float:
    """Return the median time of the device."""
    for _ in range(warm):
        work()
    spent = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        spent.append(begin.elapsed_time(end))
    return float(np.median(spent))


def table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


# --- whole tables ------------------------------------------------------------------------------------------


def adult_codes(path: str) -> list[np.ndarray]:
    lines = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    columns = []
    for place in ADULT:
        texts = np.array([row[place].strip() for row in lines])
        if place == 0:
            columns.append(np.clip((texts.astype(np.int64) - 16) // 5, 0, 14))
        else:
            columns.append(np.unique(texts, return_inverse=True)[1])
    return columns


def drawn_codes(rows: int, draws: np.random.Generator) -> list[np.ndarray]:
    kind = draws.integers(0, 3, rows)
    columns = []
    for size in DOMAINS:
        conditional = draws.dirichlet(np.full(size, 0.4), 3).cumsum(axis=1)
        columns.append((draws.random((rows, 1)) > conditional[kind]).sum(axis=1).clip(0, size - 1))
    return columns


def axis_by_axis(x: Any, cells: Any, counts: Any, rhos: list[float]) -> Any:
    """Take one step in Torch's own operations, along one axis after the other: what was done before."""

    def mix(whole: Any) -> Any:
        for axis, rho in enumerate(rhos):
            rest = whole.sum(axis, keepdim=True).mul_((1 - rho) / whole.shape[axis])
            whole.mul_(rho).add_(rest)
        return whole

    expected = mix(x.clone()).view(-1)
    odds = counts / expected[cells].clamp_min(1e-30)
    expected.zero_()
    expected[cells] = odds
    return x.mul_(mix(expected.view(x.shape)))


def stepping_before(x: Any, places: Any, counts: Any, rhos: list[float]) -> float:
    return milliseconds(lambda: axis_by_axis(x, places, counts, rhos), 5)


def copying(cells: int) -> float:
    source, other = (torch.zeros(cells, device="cuda") for _ in range(2))
    return milliseconds(lambda: other.copy_(source))


def whole_tables(device: Accelerator, data: str | None) -> str:
    draws = np.random.default_rng(1)
    codes = adult_codes(data) if data else drawn_codes(32_561, draws)
    rows, cells = len(codes[0]), int(np.prod(DOMAINS))
    rhos = keep_probabilities(2, DOMAINS, rows)
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows))
        for c, m, rho in zip(codes, DOMAINS, rhos, strict=True)
    ]
    flat, counted = np.unique(np.ravel_multi_index(tuple(seen), DOMAINS), return_counts=True)
    at = np.unravel_index(flat, DOMAINS)
    copy = copying(cells)
    places, counts = torch.from_numpy(flat).cuda(), torch.from_numpy(counted.astype(np.float32)).cuda()
    before = stepping_before(torch.full(DOMAINS, rows / cells, device="cuda"), places, counts, rhos)
    torch.cuda.empty_cache()
    exact = ObservedTable(device, DOMAINS, rhos, at, counted, double=True)
    fast = ObservedTable(device, DOMAINS, rhos, at, counted)
    for _ in range(10):
        exact.step()
        fast.step()
    off = float(torch.linalg.vector_norm(fast.x.double() - exact.x) / torch.linalg.vector_norm(exact.x))
    worst = float(((fast.x.double() - exact.x).abs() / exact.x).max())
    del exact
    torch.cuda.empty_cache()
    likely = fast.likelihood()
    took = milliseconds(fast.step)
    passes = {"rows (2 reads, 2 writes)": fast._rows, "sums (1 read)": fast._sums}
    parts = [[name, f"{milliseconds(work):.2f}"] for name, work in passes.items()]
    _ab, c, d, _length = fast._shape
    floor = copy * 3 / 2
    # six times all cells; the small sums are written and read, twice
    moved = copy / 2 * (6 + 4 * (1 / c + 1 / d))
    lines = [
        ["axis by axis, Torch's own operations", f"{before:.1f}", f"{before / floor:.1f}"],
        ["**this step**", f"**{took:.2f}**", f"{took / floor:.1f}"],
        ["its own passes at the speed of a copy", f"{moved:.2f}", f"{moved / floor:.1f}"],
        ["floor: read x and y, write x", f"{floor:.2f}", "1.0"],
    ]
    return "\n\n".join(
        [
            f"One step of expectation-maximisation on {cells:,} cells ({4 * cells / 1e9:.2f} GB), nine attributes of "
            f"{'Adult' if data else 'made-up people'}, {rows:,} records, {len(flat):,} cells seen, k = 2, rho = "
            f"{rhos[0]:.4f}; axes {fast.plan}. A copy moves {8 * cells / copy / 1e9:.2f} TB/s.",
            table(["step", "ms", "times the floor"], lines),
            table(["pass", "ms"], parts),
            f"After 10 steps the table is off that of double precision by {off:.1e} in norm, its worst cell by "
            f"{worst:.1e} of itself. Log-likelihood {likely:,.1f}.",
        ]
    )


# --- sets of items -----------------------------------------------------------------------------------------


def made_up_sets(people: int, seed: int, noise: float = 0.2) -> tuple[ItemSets, ItemSets]:
    """Return sets of 67 items in the mean, of skewed sizes and popularity, and a release with a fifth exchanged."""
    draw = np.random.Generator(np.random.PCG64(seed))
    sizes = np.minimum(draw.lognormal(np.log(72) - 0.6, 1.1, people) + 1, 0.5 * ITEMS).astype(np.int64)
    popular = np.cumsum(1 / (np.arange(ITEMS) + 60.0) ** 0.8)
    owner = np.repeat(np.arange(people), sizes)
    drawn = np.searchsorted(popular, draw.random(len(owner)) * popular[-1])
    known = item_sets(owner, draw.permutation(ITEMS)[np.minimum(drawn, ITEMS - 1)], people, ITEMS)
    owner = np.repeat(np.arange(people), known.sizes)
    stays, added = draw.random(len(owner)) >= noise, draw.random(len(owner)) < noise
    others = known.item[draw.integers(0, len(owner), int(added.sum()))]
    what = np.concatenate([known.item[stays], others]).astype(np.int64)
    return known, item_sets(np.concatenate([owner[stays], owner[added]]), what, people, ITEMS)


def counted_answers(known: ItemSets, released: ItemSets, which: np.ndarray) -> np.ndarray:
    """Return the most similar customers of some released sets by counting, in 64 bits, one set after another."""
    order = np.argsort(known.item, kind="stable")
    buyer = np.repeat(np.arange(len(known.total)), known.sizes)[order]
    first = np.concatenate(([0], np.cumsum(np.bincount(known.item, minlength=ITEMS))))
    answers = np.full(len(which), sets.NOBODY)
    for at, released_set in enumerate(which):
        mine = released.item[released.first[released_set] : released.first[released_set + 1]]
        met = np.concatenate([np.zeros(0, dtype=np.int64), *(buyer[first[i] : first[i + 1]] for i in mine)])
        overlap = np.bincount(met, minlength=len(known.total))
        likeness = overlap / np.maximum(released.total[released_set] + known.total - overlap, 1)
        answers[at] = likeness.argmax() if likeness.max(initial=0) > 0 else sets.NOBODY
    return answers


def searched_otherwise(known: ItemSets, released: ItemSets, which: np.ndarray, answers: Any) -> int:
    """Return how many answers of the search on a processor are others, in the customer or in any digit."""
    from noren.kernels.linkage.jaccard import index_of, most_similar

    who, how = most_similar(index_of(known, ITEMS), released, which)
    return int(((who != answers[0][which]) | (how != answers[1][which])).sum())


def product_speed(kind: Any) -> float:
    """Return the operations a second of a plain product of 0/1 matrices of the same width."""
    rows, columns, width = 16_384, 32_768, 2_816
    left, right = ((torch.rand(n, width, device="cuda") < 0.024).to(kind) for n in (rows, columns))
    scale = torch.ones((), device="cuda")
    if kind == torch.float8_e4m3fn:
        spent = milliseconds(
            lambda: torch._scaled_mm(left, right.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16), 5
        )
    else:
        spent = milliseconds(lambda: left @ right.t(), 5)
    return 2e3 * rows * columns * width / spent


def sets_of_items(device: Accelerator, people: int, out: Path | None) -> str:
    small = made_up_sets(4_000, 3)
    for pruned in (True, False):  # what is compiled once, is compiled here
        sets._fused(device, *small, ITEMS, lambda _done: None, pruned=pruned)
    known, released = made_up_sets(people, 1)
    operations = 2.0 * people * people * 2_816
    lines, answers = [], {}
    for name, pruned in (("every pair", False), ("by size first", True)):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        answers[pruned] = sets._fused(device, known, released, ITEMS, lambda _done: None, pruned=pruned)
        took = time.perf_counter() - begin
        throughput = f"{operations / took / 1e12:,.0f}" if not pruned else ""
        lines.append([f"**{name}**", f"**{took:.2f}**", f"{people**2 / took / 1e9:,.0f}", throughput])
        print(name, took, flush=True)
    same = all(np.array_equal(a, b) for a, b in zip(answers[True], answers[False], strict=True))
    which = np.random.Generator(np.random.PCG64(2)).choice(people, min(CHECKED, people), replace=False)
    wrong = int((answers[False][0][which, 0] != counted_answers(known, released, which)).sum())
    wrong += searched_otherwise(known, released, which, answers[False])
    if wrong or not same:
        raise SystemExit(f"{wrong} of {len(which)} answers are wrong; both ways alike: {same}")
    if out is not None:
        np.savez_compressed(out / "jaccard-answers.npz", which=which, who=answers[False][0][which, 0])
    for name, kind in (
        ("floor: products alone, 8 bits", torch.float8_e4m3fn),
        ("products alone, 16 bits", torch.bfloat16),
    ):
        speed = product_speed(kind)
        lines.append(
            [name, f"{operations / speed:.2f}", f"{people**2 * speed / operations / 1e9:,.0f}", f"{speed / 1e12:,.0f}"]
        )
    right = float((answers[False][0][:, 0] == np.arange(people)).mean())
    return "\n\n".join(
        [
            f"The most similar of {people:,} customers for each of {people:,} pseudonyms: sets of "
            f"{len(known.item) / people:.1f} of {ITEMS:,} items, a fifth of each exchanged. From sets in the host's "
            "memory to answers there. `by size first` looks at customers of about the same size, then at those who "
            "could still be as similar.",
            table(["way", "seconds", "billion pairs/s", "TFLOP/s"], lines),
            f"Both ways give the same answers and similarities; {len(which):,} of them, drawn, are those of counting "
            f"in 64 bits, and to the last digit those of the search on a processor. {right:.1%} name the right one.",
        ]
    )


# --- costs of pairs ----------------------------------------------------------------------------------------


def made_up_histories(people: int, seed: int) -> Any:
    from noren.kernels.sharing.alignment import row_arrays

    draw = np.random.default_rng(seed)
    counts = np.clip(draw.lognormal(np.log(60) - 0.32, 0.8, people), 1, 400).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(counts)])
    rows = int(start[-1])
    day, quantity = draw.integers(0, 365, rows).astype(float), np.ceil(draw.lognormal(1.5, 1.0, rows))
    price = np.round(draw.lognormal(0.8, 0.8, rows), 2)
    popular = np.cumsum(1 / (np.arange(ITEMS) + 60.0) ** 0.8)
    item = np.searchsorted(popular, draw.random(rows) * popular[-1]).clip(max=ITEMS - 1)
    columns = [day, price, quantity]
    return row_arrays(start, columns, [float(c.std()) for c in columns], [1.0, 0.01, 1.0], item)


def costs_of_pairs(device: Accelerator, people: int, pairs: int) -> str:
    from noren.engines.accelerated.alignments import pair_costs_on
    from noren.kernels.sharing.alignment import pair_costs
    from noren.kernels.sharing.pairing import pair_tariff

    rows, tariff = made_up_histories(people, 1), pair_tariff(3, suppress=True)
    draw = np.random.default_rng(2)
    # who is paired with whom: neighbours by number of rows, as blocks of generalize have them
    by_count = np.argsort(rows.counts, kind="stable")
    place = draw.integers(0, people, pairs)
    near = (place + draw.integers(1, 1_000, pairs)) % people
    compared = np.stack([by_count[place], by_count[near]], axis=1)
    far = np.full(pairs, 1e290)
    some = slice(0, 4_000)
    pair_costs_on(device, rows, tariff, compared[:64], far[:64])
    pair_costs(rows, tariff, compared[:4], far[:4])
    begin = time.process_time()
    by_kernel = pair_costs(rows, tariff, compared[some], far[some])
    core = (time.process_time() - begin) / 4_000
    pair_costs_on(device, rows, tariff, compared, far)  # every size compiled
    torch.cuda.synchronize()
    begin = time.perf_counter()
    costs, _long = pair_costs_on(device, rows, tariff, compared, far)
    took = (time.perf_counter() - begin) / pairs
    limits = np.full(pairs, float(np.quantile(by_kernel, 0.05)))
    begin = time.perf_counter()
    limited, _long = pair_costs_on(device, rows, tariff, compared, limits)
    took_limited = (time.perf_counter() - begin) / pairs
    begin = time.process_time()
    by_kernel_limited = pair_costs(rows, tariff, compared[some], limits[some])
    core_limited = (time.process_time() - begin) / 4_000
    if not (np.array_equal(costs[some], by_kernel) and np.array_equal(limited[some], by_kernel_limited)):
        off = np.abs(costs[some] - by_kernel).max(), np.abs(limited[some] - by_kernel_limited).max()
        raise SystemExit(f"costs differ from the kernel's by {off}")
    all_pairs = people * (people - 1) / 2
    lines = [
        [
            name,
            f"{1e6 * a:.1f}",
            f"{1e6 * b:.2f}",
            f"{a / b:,.0f}",
            f"{all_pairs * b:,.0f}",
            f"{all_pairs * a / 3600:,.1f}",
        ]
        for name, a, b in (("whole", core, took), ("up to the cheapest twentieth", core_limited, took_limited))
    ]
    head = ["costs", "one core, µs a pair", "device, µs a pair", "ratio", "all pairs, s", "all pairs, one core, h"]
    return "\n\n".join(
        [
            f"Exact costs of pairs for `generalize`, k = 3: {people:,} customers of {len(rows.item) / people:.0f} "
            f"rows, {pairs:,} pairs of neighbours by number of rows, in one call; {all_pairs:,.0f} pairs there are in "
            "all. From pairs in the host's memory to costs there.",
            table(head, lines),
            "4,000 of them, drawn, are those of the kernel to the last bit, both ways.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="em,jaccard,pairs")
    parser.add_argument("--data", help="adult.data")
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no graphics processor here; nothing was measured")
    device = Accelerator(torch, "cuda")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    work = {
        "em": ("Whole tables", lambda: whole_tables(device, options.data)),
        "jaccard": ("Sets of items", lambda: sets_of_items(device, options.people, options.out)),
        "pairs": ("Costs of pairs", lambda: costs_of_pairs(device, 20_000, options.pairs)),
    }
    versions = f"Torch {torch.__version__}, NumPy {np.__version__}"
    name = torch.cuda.get_device_name()
    when = f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d}: {name}, {versions}."
    for part in options.part.split(","):
        title, run = work[part]
        text = f"## {title}\n\n{run()}\n\n{when}\n"
        print(text, flush=True)
        if options.out is not None:
            (options.out / f"gpu-{part}.md").write_text(text, encoding="utf-8")
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
