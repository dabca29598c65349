"""The wheel takes along kernels compiled ahead (``python -m noren.compile_ahead``), where they fit the sources.

It is then one for this Python and this kind of machine. Without them, or with NOREN_PURE=1, it is one for all.
"""

import importlib.util
import json
import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """Adds ``noren/kernels/objects``, which is not under version control."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look whether there are objects, made of these sources for this Python."""
        kernels = Path(self.root) / "src" / "noren" / "kernels"
        if version == "editable" or os.environ.get("NOREN_PURE") or not _are_current(kernels):
            return
        build_data["force_include"][str(kernels / "objects")] = "noren/kernels/objects"
        build_data |= {"pure_python": False, "infer_tag": True}


def _are_current(kernels: Path) -> bool:
    try:
        made_of = json.loads((kernels / "objects" / "made_of.json").read_text(encoding="utf-8"))
    except OSError:
        return False
    module = importlib.util.spec_from_file_location("caching", kernels / "caching.py")
    caching = importlib.util.module_from_spec(module)
    module.loader.exec_module(caching)
    return made_of["sources"] == caching.all_sources() and made_of["makers"][0] == sysconfig.get_config_var("SOABI")
