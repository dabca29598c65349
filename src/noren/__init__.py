"""Noren protects purchase histories and personal tables, attacks what it protected, and measures both.

>>> import noren
>>> history = noren.sample(customers=20, rows=300, items=50, seed=1)
>>> release = noren.protect(history, "generalize-by-count", k=4, seed=1)
>>> 0 < noren.measure(history, release, "cell-error").value < 1
True
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.api import attack, check, measure, protect, reconstruct, sample
    from noren.data.frames import History, Table
    from noren.data.reading import read
    from noren.data.release import Release
    from noren.data.schema import Schema
    from noren.errors import NorenError
    from noren.inference.identifiers import identifiers
    from noren.inference.population import population
    from noren.inference.study import infer
    from noren.inference.unicity import unicity
    from noren.judgement.judging import verdict
    from noren.judgement.rule import Rule
    from noren.protocols import Attack, Guess, Measure, Method, Score
    from noren.sweeps.sweep import explore
    from noren.version import __version__
    from noren.work.run import attack_folder, measure_folder, protect_folder

__all__ = [
    "Attack",
    "Guess",
    "History",
    "Measure",
    "Method",
    "NorenError",
    "Release",
    "Rule",
    "Schema",
    "Score",
    "Table",
    "__version__",
    "attack",
    "attack_folder",
    "check",
    "explore",
    "identifiers",
    "infer",
    "measure",
    "measure_folder",
    "population",
    "protect",
    "protect_folder",
    "read",
    "reconstruct",
    "sample",
    "unicity",
    "verdict",
]

_PLACES = {
    "Attack": "noren.protocols",
    "Guess": "noren.protocols",
    "History": "noren.data.frames",
    "Measure": "noren.protocols",
    "Method": "noren.protocols",
    "NorenError": "noren.errors",
    "Release": "noren.data.release",
    "Rule": "noren.judgement.rule",
    "Schema": "noren.data.schema",
    "Score": "noren.protocols",
    "Table": "noren.data.frames",
    "__version__": "noren.version",
    "attack": "noren.api",
    "attack_folder": "noren.work.run",
    "check": "noren.api",
    "explore": "noren.sweeps.sweep",
    "identifiers": "noren.inference.identifiers",
    "infer": "noren.inference.study",
    "measure": "noren.api",
    "measure_folder": "noren.work.run",
    "population": "noren.inference.population",
    "protect": "noren.api",
    "protect_folder": "noren.work.run",
    "read": "noren.data.reading",
    "reconstruct": "noren.api",
    "sample": "noren.api",
    "unicity": "noren.inference.unicity",
    "verdict": "noren.judgement.judging",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that ``import noren`` costs next to nothing."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'noren' has no attribute {name!r}")
    value = getattr(importlib.import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
