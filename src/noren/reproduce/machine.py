"""Description of the machine of a run: date, processor, memory, versions; no names, no paths."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
import re
from pathlib import Path

from noren.engines.blocks import cores


def facts(*packages: str) -> str:
    """Return the line that goes under every table: date, processor, memory, system, versions."""
    about = Path("/proc/cpuinfo")
    model = (
        re.search(r"^model name.*?:(.*)", about.read_text(encoding="utf-8"), re.MULTILINE) if about.exists() else None
    )
    processor = " ".join(model[1].split()) if model else platform.machine()
    try:
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB memory, "
    except (AttributeError, ValueError, OSError):
        memory = ""
    versions = [f"{package} {importlib.metadata.version(package)}" for package in packages]
    run_by = ", ".join((platform.system(), f"Python {platform.python_version()}", *versions))
    return f"{dt.datetime.now(dt.UTC):%Y-%m-%d}: {processor}, {cores()} cores, {memory}{run_by}"
