"""What each method, attack and measure takes on data of a few sizes, and the constants of ``noren.sweeps.cost``.

    python benchmarks/bench_cost.py

Everything runs in this process on generated data, after a first run that loads compiled code; of short runs the
fastest of three counts. Seconds are those of the processor, which tell less of what else the machine does than those of
the clock; what other threads than the first spend counts as work that runs on all cores. Constants are fitted so that
no term costs less than nothing and relative errors are small; those of memory so that no run needs more. It writes
``src/noren/sweeps/cost_constants.toml`` and ``benchmarks/results/cost.md``; about five minutes of a processor.
"""

from __future__ import annotations

import ctypes
import gc
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from machine import facts, report, table
from scipy.optimize import nnls

from noren import api
from noren.attacks import attacks
from noren.cost_law import MEMORY, CostLaw, Shape
from noren.data.frames import Records, Table
from noren.data.hierarchies import interval_hierarchy, write_hierarchy
from noren.data.release import Release
from noren.data.schema import Schema
from noren.engines.blocks import cores
from noren.errors import InputError
from noren.measures import measures
from noren.methods import methods
from noren.protocols import Guess
from noren.registry import Registry
from noren.sweeps import cost
from noren.sweeps.cost import pace

CONSTANTS = Path(cost.__file__).with_name("cost_constants.toml")
HISTORIES = [(60, 1_200, 150), (250, 6_000, 700)]
LARGE_HISTORIES = [(120, 12_000, 1_000), (1_000, 20_000, 1_500), (1_000, 60_000, 2_800), (4_000, 200_000, 4_000)]
TABLES = [(1_000, 4), (10_000, 4)]
LARGE_TABLES = [(10_000, 8), (60_000, 8), (400_000, 8)]
MOST_SECONDS = 6.0
"""A run on large data that would take longer, by what was measured on small ones, is left out."""
SHORT, ENOUGH = 0.25, 1.0
"""A run under the first is made three times, one under the second twice: the first of all may have to compile."""
ENDS = {"minimum": 0, "maximum": 59}
LIBC = ctypes.CDLL(None)


@dataclass
class Samples:
    """Runs of one component: shapes and parameters, seconds of all threads and of the first, and bytes."""

    shapes: list[tuple[Shape, dict[str, Any]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


ROOMS: dict[str, Registry[Any]] = {"methods": methods, "attacks": attacks, "measures": measures}
Key = tuple[str, str, str]
FOUND: dict[Key, Samples] = {}


def law_of(room: str, name: str) -> CostLaw:
    """Return how the time of a component grows, by its own word."""
    law: CostLaw = ROOMS[room][name].cost
    return law


def peak() -> int:
    """Return the most memory this process held since the last reset, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def measured(key: Key, shape: Shape, parameters: dict[str, Any], work: Callable[[], Any], *, large: bool) -> Any:
    """Run some work, and keep what it took; nothing where it does not fit the data or would take too long."""
    samples = FOUND.setdefault(key, Samples())
    if large and samples.seconds:
        law = law_of(*key[:2])
        terms, constants, spread = fitted(samples, law, law.terms, samples.seconds, 0.003)
        if spread * float(np.dot(law.sizes(terms, shape, parameters), constants)) > MOST_SECONDS:
            return None
    gc.collect()
    LIBC.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = peak()
    best = (math.inf, 0.0)
    answer = None
    for turn in range(3):
        begin, first = time.process_time(), time.thread_time()
        try:
            answer = work()
        except InputError:
            return None
        best = min(best, (time.process_time() - begin, time.thread_time() - first))
        if best[0] > (ENOUGH if turn == 0 else SHORT):
            break
    samples.shapes.append((shape, parameters))
    samples.seconds.append(best[0])
    samples.first.append(best[1])
    samples.memory.append(float(max(peak() - before, 0)))
    return answer


def fitted(
    samples: Samples, law: CostLaw, among: tuple[str, ...], values: list[float], least: float
) -> tuple[tuple[str, ...], list[float], float]:
    """Return the terms that count, what each costs, and by which factor values lie off at most."""
    sizes = np.array([law.sizes(among, shape, parameters) for shape, parameters in samples.shapes])
    values_ = np.array(values)
    weight = 1 / np.maximum(values_, least)
    scale = np.maximum((sizes * weight[:, None]).max(axis=0), 1e-300)
    costs = nnls(sizes * weight[:, None] / scale, values_ * weight)[0] / scale
    guessed = np.maximum(sizes @ costs, least)
    off = np.maximum(guessed / np.maximum(values_, least), np.maximum(values_, least) / guessed)
    kept = [at for at in range(len(among)) if costs[at] > 0]
    return tuple(among[at] for at in kept), [float(costs[at]) for at in kept], float(off.max(initial=1.0))


# --- data ------------------------------------------------------------------------------------------------------------


def history(customers: int, rows: int, items: int) -> Records:
    """Return a generated history."""
    return api.sample(customers, rows, items, seed=1, schema="pwscup2018")


def people(rows: int, columns: int, seed: int = 1) -> Table:
    """Return a table of numbers and words, half of each, that depend on one another a little."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=rows)
    content: dict[str, Any] = {}
    described: dict[str, Any] = {}
    for at in range(columns):
        value = np.clip((hidden + random.normal(size=rows)) * (3 + 2 * at) + 30, 0, 59).astype(int)
        if at % 2:
            content[f"q{at}"], described[f"q{at}"] = [f"v{x // 6}" for x in value], {"role": "quasi"}
        else:
            content[f"q{at}"], described[f"q{at}"] = value, {"role": "quasi", "type": "integer"} | ENDS
    content["illness"] = [f"i{x}" for x in np.clip(hidden * 2 + 4, 0, 8).astype(int)]
    described["illness"] = {"role": "sensitive"}
    return Table.of(content, Schema.of({"kind": "table", "columns": described}))


def ways(original: Records, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the methods that fit the data, each with parameters worth measuring."""
    for name in methods:
        if methods[name].cost is None or original.schema.kind not in methods[name].accepts:
            continue
        if name in ("generalize", "microaggregate"):
            yield from (
                (name, {"k": k, "effort": e}) for k, e in ((2, "quick"), (3, "quick"), (5, "quick"), (3, "normal"))
            )
        elif name == "pseudo-records":
            clusters = max(original.frame["customer"].n_unique() // 5, 2)
            yield from ((name, {"clusters": clusters, "effort": effort}) for effort in ("quick", "normal"))
            yield name, {"clusters": clusters, "variant": "repaired"}
        elif name == "hierarchy":
            yield name, {"k": 5, "hierarchies": folder, "suppression": 0.05}
        elif name == "retention":
            yield name, {"k": 2.0, "domains": "data"}
        else:
            yield name, {"k": 5} if "k" in methods[name].model_fields else {}


# --- runs ------------------------------------------------------------------------------------------------------------


def measure_all(original: Records, folder: Path, *, large: bool) -> None:
    shape, kind = Shape.of(original), str(original.schema.kind)
    exact: Release | None = None
    general: Release | None = None
    for name, parameters in ways(original, folder):

        def protect(name: str = name, parameters: dict[str, Any] = parameters) -> Release:
            return api.protect(original, name, seed=1, audit=False, **parameters)

        plain = methods.create(name, **parameters).parameters()
        made = measured(("methods", name, kind), shape, plain, protect, large=large)
        if made is not None:
            exact = made if name in ("pseudonymize", "retention") else exact
            general = made if name in ("generalize-by-count", "mondrian") else general
    for release, sort in ((exact, "exact"), (general, "generalised")):
        if release is not None:
            judge_all(original, release, shape, f"{kind}-{sort}", large=large)


def measure_sizes(
    make: Callable[..., Records], small: Sequence[tuple[int, ...]], large: Sequence[tuple[int, ...]], folder: Path
) -> None:
    first = make(*small[0])
    measure_all(first, folder, large=False)  # loads compiled code
    for key in [key for key in FOUND if key[2].startswith(str(first.schema.kind))]:
        FOUND[key] = Samples()
    for at, size in enumerate([*small, *large]):
        measure_all(make(*size), folder, large=at >= len(small))
        print(size, flush=True)


def judge_all(original: Records, release: Release, shape: Shape, kind: str, *, large: bool) -> None:
    guesses: dict[str, Guess] = {}
    fit = [name for name in attacks if attacks[name].fits(original.schema)]
    for name in sorted(fit, key=lambda name: attacks[name].listens):

        def attack(name: str = name) -> Guess:
            return api.attack(original, release, name, heard=guesses)

        if attacks[name].listens and set(fit) - set(guesses) - {name}:
            continue  # it would run those that were left out
        guess = measured(("attacks", name, kind), shape, attacks.create(name).parameters(), attack, large=large)
        if guess is not None:
            guesses[name] = guess
    for name in measures:
        if not measures[name].fits(original.schema):
            continue

        def judge(name: str = name) -> object:
            return api.measure(original, release, name, guesses=guesses)

        measured(("measures", name, kind), shape, measures.create(name).parameters(), judge, large=large)


# --- what is kept ----------------------------------------------------------------------------------------------------


def constants_text(here: float) -> str:
    """Return the constants as TOML."""
    lines = ["# Written by benchmarks/bench_cost.py.", "", "[machine]", f"pace = {here:.6f}", f"cores = {cores()}"]
    for (room, name, kind), samples in sorted(FOUND.items()):
        if not samples.seconds:
            continue
        law = law_of(room, name)
        terms, costs, spread = fitted(samples, law, law.terms, samples.seconds, 0.003)
        stored, bytes_ = most_memory(samples, law)
        lines += [
            "",
            f'[{room}."{name}"."{kind}"]',
            f"seconds = {inline(terms, costs)}",
            f"memory = {inline(stored, bytes_)}",
            f"spread = {max(spread, 1.25):.2f}",
            f"parallel = {parallel(samples):.2f}",
            f"rows = {max(shape.rows for shape, _ in samples.shapes)}",
            f"people = {max(shape.people for shape, _ in samples.shapes)}",
        ]
    return "\n".join(lines) + "\n"


def most_memory(samples: Samples, law: CostLaw) -> tuple[tuple[str, ...], list[float]]:
    """Return what each term of memory costs, so that no run needed more."""
    terms, costs, _off = fitted(samples, law, MEMORY[samples.shapes[0][0].kind], samples.memory, 2e6)
    guessed = [max(float(np.dot(law.sizes(terms, *about), costs)), 2e6) for about in samples.shapes]
    short = max(needed / said for needed, said in zip(samples.memory, guessed, strict=True))
    return terms, [cost * max(short, 1.0) for cost in costs]


def parallel(samples: Samples) -> float:
    """Return the share of the work that runs on all cores, that of the longest run."""
    at = int(np.argmax(samples.seconds))
    return min(max(1 - samples.first[at] / samples.seconds[at], 0.0), 1.0) if samples.seconds[at] > 0.02 else 0.0


def inline(terms: tuple[str, ...], costs: list[float]) -> str:
    """Return an inline table of TOML."""
    return "{ " + ", ".join(f'"{term}" = {cost:.3e}' for term, cost in zip(terms, costs, strict=True)) + " }"


def table_of_all() -> str:
    rows = []
    for (room, name, kind), samples in sorted(FOUND.items()):
        if samples.seconds:
            law = law_of(room, name)
            terms, costs, spread = fitted(samples, law, law.terms, samples.seconds, 0.003)
            at = int(np.argmax(samples.seconds))
            shape, parameters = samples.shapes[at]
            guessed = float(np.dot(law.sizes(terms, shape, parameters), costs))
            cells = (f"{name}, {kind}", str(len(samples.seconds)), f"{shape.rows:,}", f"{shape.people:,}")
            rows.append((*cells, f"{samples.seconds[at]:.3f}", f"{guessed:.3f}", f"{spread:.2f}", ", ".join(terms)))
    head = ("component", "runs", "rows", "people", "longest, s", "by its law, s", "off by at most", "terms that count")
    return table(head, rows)


def main() -> None:
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    here = min(pace() for _ in range(5))
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside)
        for at in range(0, 8, 2):
            write_hierarchy(interval_hierarchy(f"q{at}", range(60), [5, 15, 30]), folder / f"q{at}.csv")
        measure_sizes(history, HISTORIES, LARGE_HISTORIES, folder)
        measure_sizes(people, TABLES, LARGE_TABLES, folder)
    CONSTANTS.write_text(constants_text(here), encoding="utf-8")
    report(
        "cost",
        "What components take",
        "Generated data of a few sizes; `noren.sweeps.cost` guesses by the laws fitted here. The longest run of each, "
        "what its law says of it, both in seconds of the processor, and by which factor the law is off at most over "
        "all runs (times under 3 ms count as 3 ms).",
        table_of_all(),
        f"The whole took {time.perf_counter() - begin:.0f} s. " + facts("noren", "polars", "numpy", "numba"),
    )


if __name__ == "__main__":
    main()
