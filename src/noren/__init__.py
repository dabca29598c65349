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
    from noren.api import check, reconstruct, sample
    from noren.data.frames import History, Table
    from noren.data.schema import Schema
    from noren.errors import NorenError
    from noren.inference.singling_out import identifiers, population
    from noren.inference.study import infer
    from noren.inference.unicity import unicity
    from noren.interactive import Release, attack, judge, measure, protect, read
    from noren.judgement.judging import verdict
    from noren.judgement.rule import Rule
    from noren.measures.losses import losses
    from noren.protocols import Attack, Guess, Measure, Method, Score
    from noren.sweeps.sweep import explore
    from noren.tabulations.dp_counts import dp_counts
    from noren.tabulations.totals import totals
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
    "attacks",
    "check",
    "dp_counts",
    "explore",
    "identifiers",
    "infer",
    "judge",
    "losses",
    "measure",
    "measure_folder",
    "measures",
    "methods",
    "population",
    "protect",
    "protect_folder",
    "read",
    "reconstruct",
    "sample",
    "totals",
    "unicity",
    "verdict",
]

_PLACES = {
    "noren.api": ("check", "reconstruct", "sample"),
    "noren.data.frames": ("History", "Table"),
    "noren.data.schema": ("Schema",),
    "noren.errors": ("NorenError",),
    "noren.inference.singling_out": ("identifiers", "population"),
    "noren.inference.study": ("infer",),
    "noren.inference.unicity": ("unicity",),
    "noren.interactive": ("Release", "attack", "judge", "measure", "protect", "read"),
    "noren.judgement.judging": ("verdict",),
    "noren.judgement.rule": ("Rule",),
    "noren.measures.losses": ("losses",),
    "noren.protocols": ("Attack", "Guess", "Measure", "Method", "Score"),
    "noren.sweeps.sweep": ("explore",),
    "noren.tabulations.dp_counts": ("dp_counts",),
    "noren.tabulations.totals": ("totals",),
    "noren.version": ("__version__",),
    "noren.work.run": ("attack_folder", "measure_folder", "protect_folder"),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that ``import noren`` costs next to nothing."""
    if name in ("attacks", "measures", "methods"):  # packages that list their components when they are called
        return importlib.import_module(f"noren.{name}")
    place = next((module for module, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module 'noren' has no attribute {name!r}")
    value = getattr(importlib.import_module(place), name)
    if "progress" in (getattr(value, "__kwdefaults__", None) or ()):
        from noren.progress import with_progress_bar

        value = with_progress_bar(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
