"""Processor seconds of every component on 20,000 rows, beside the running time that it declares (`Runtime`).

python benchmarks/bench_runtime.py
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from machine import facts, report, table

import noren
from noren.attacks import attacks
from noren.data.samples.people import sample_people
from noren.errors import InputError
from noren.measures import measures
from noren.methods import methods

ROWS = 20_000
PARAMETERS: dict[str, dict[str, Any]] = {"pseudo-records": {"clusters": 50}, "retention": {"k": 3, "domains": "data"}}
ORIGINALS = {
    "history": (noren.sample(customers=400, rows=ROWS, items=2_000, seed=1), ("generalize-by-count", "swap")),
    "table": (sample_people(rows=ROWS, seed=1), ("mondrian", "retention")),
}


def main() -> None:
    rows: list[list[str]] = []

    @contextlib.contextmanager
    def timed(component: Any, label: str) -> Iterator[None]:
        begin = time.process_time()
        with contextlib.suppress(InputError):  # a measure of exact values, a release of sets
            yield
            rows.append([label, component.runtime.name.lower(), f"{time.process_time() - begin:.1f}"])

    def fitting(registry: Any) -> list[str]:
        return [name for name in registry if registry[name].fits(original.schema)]

    for original, judged in ORIGINALS.values():
        releases = {}
        for name in fitting(methods):
            usual = {"k": 3} if "k" in methods[name].model_fields else {}
            with timed(methods[name], name):
                releases[name] = noren.protect(original, name, seed=1, **PARAMETERS.get(name, usual))
        for method in judged:
            guesses = []
            for name in fitting(attacks):
                with timed(attacks[name], f"{name} on {method}"):
                    guesses.append(noren.attack(original, releases[method], name))
            for name in fitting(measures):
                with timed(measures[name], f"{name} on {method}"):
                    noren.measure(original, releases[method], name, guesses=guesses)
    report(
        "runtime",
        "Running time of every component",
        f"{ROWS:,} rows, default parameters, one run each.",
        table(["component", "declared", "processor seconds"], rows),
        facts("noren", "numpy", "polars"),
    )


if __name__ == "__main__":
    main()
