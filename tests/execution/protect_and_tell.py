"""Protect on a cluster in a process of its own, and say on standard output when the first task is done.

Arguments: address, folder of the original, folder of the release, seconds without workers until work is given up.
"""

import sys

import noren.execution.session as faults
from noren.errors import NorenError
from noren.methods import methods
from noren.work.run import protect_folder

address, original, release, patience = sys.argv[1:]
faults.LOST_AFTER = float(patience)
told = False


def progress(done: float, words: str = "", best: float | None = None) -> None:
    global told
    if "task" in words and not told:
        told = True
        print("running", flush=True)


try:
    method = methods.create("generalize-by-count", k=3)
    protect_folder(original, method, release, engine=address, schema="sample", seed=1, progress=progress)
except NorenError as error:
    print(f"error: {error}", flush=True)
else:
    print("done", flush=True)
