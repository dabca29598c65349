"""Protect on a cluster in a process of its own, where the Python process of one task dies in the middle, once.

Arguments: folder of the original, folder of the release, file that is made when the process dies.
"""

import os
import sys
from pathlib import Path
from typing import Any

from noren.data.schema import Schema
from noren.execution import release as cluster_release
from noren.execution.engine import OriginalInput
from noren.execution.frames import map_blocks
from noren.execution.spark import SparkEngine
from noren.methods import methods

original, release, died = sys.argv[1:]


def dying_once(frame: Any, kernel: Any, into: Any) -> Any:
    def run(block: Any) -> Any:
        try:
            Path(died).touch(exist_ok=False)
        except FileExistsError:
            return kernel(block)
        os._exit(1)

    return map_blocks(frame, run, into)


vars(cluster_release)["map_blocks"] = dying_once
data = OriginalInput(Schema.preset("sample"), original)
# two threads, four attempts for a task: a local master gives one by default
SparkEngine("local[2,4]").protect(data, methods.create("generalize-by-count", k=3), release, seed=1, audit=False)
