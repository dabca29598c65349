"""What the first visitor of a page would wait for, done before anybody comes."""

from __future__ import annotations

import gc
import threading

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods
from noren.registry import Registry
from noren.studio.pages.frame import FRAME

__all__ = ["start_warming", "warm"]


def start_warming() -> None:
    """Warm up aside; pages answer meanwhile, the first of each kind more slowly."""
    threading.Thread(target=warm, name="noren-warming", daemon=True).start()


def warm() -> None:
    """Compile the templates and load every component.

    What is there then stays for good: the garbage collector need not look at it again, which takes it a fifth of a
    second each time, in the middle of somebody's page.
    """
    FRAME.load_templates()
    registries: tuple[Registry, ...] = (methods, attacks, measures)  # type: ignore[type-arg]
    for registry in registries:
        for name in registry:
            registry[name]
    gc.collect()
    gc.freeze()
