"""What a run was made on: date, processor, memory, versions; no names, no paths. Nothing heavy is imported."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
from pathlib import Path

from noren.engines.blocks import cores


def facts(*packages: str) -> str:
    """Return the line that goes under every table: date, processor, memory, system, versions."""
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    return (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}: {_processor()}, {cores()} cores, {_memory()}"
        f"{platform.system()}, Python {platform.python_version()}" + (f", {versions}" if versions else "")
    )


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    if about.exists():
        for line in about.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB memory, "
    except (AttributeError, ValueError, OSError):
        return ""
