"""What a component says of its running time is true."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

import noren
from noren.attacks import attacks
from noren.data.frames import Records
from noren.data.samples.people import sample_people
from noren.descriptions import Runtime
from noren.errors import InputError
from noren.measures import measures
from noren.methods import methods

pytestmark = pytest.mark.slow
ROWS = 20_000
MOST_SECONDS = 60.0
"""Of a processor: twice what counts as seconds, for a machine of half the speed."""
PARAMETERS: dict[str, dict[str, Any]] = {"pseudo-records": {"clusters": 50}, "retention": {"k": 3, "domains": "data"}}


@pytest.mark.parametrize(
    ("kind", "judged"),
    [("history", ("generalize-by-count", "monthly-pseudonyms")), ("table", ("mondrian", "retention"))],
)
def test_what_takes_seconds_takes_seconds(kind: str, judged: tuple[str, ...]) -> None:
    original: Records = noren.sample(customers=400, rows=ROWS, items=2_000, seed=1)
    if kind == "table":
        original = sample_people(rows=ROWS, seed=1)
    seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def timed(label: str) -> Iterator[None]:
        begin = time.process_time()
        with contextlib.suppress(InputError):  # a measure of exact values, a release of sets
            yield
            seconds[label] = time.process_time() - begin

    def quick(registry: Any) -> list[str]:
        every = {name: registry[name] for name in registry}
        return [name for name, one in every.items() if one.fits(original.schema) and one.runtime == Runtime.SECONDS]

    releases = {}
    for name in quick(methods):
        if name != "hierarchy":  # it needs files
            usual = {"k": 3} if "k" in methods[name].model_fields else {}
            with timed(name):
                releases[name] = noren.protect(original, name, seed=1, **PARAMETERS.get(name, usual))
    for method in judged:
        guesses = []
        for name in quick(attacks):
            with timed(f"{name} on {method}"):
                guesses.append(noren.attack(original, releases[method], name))
        for name in quick(measures):
            with timed(f"{name} on {method}"):
                noren.measure(original, releases[method], name, guesses=guesses)
    assert len(seconds) > 15
    assert {name: spent for name, spent in seconds.items() if spent > MOST_SECONDS} == {}
