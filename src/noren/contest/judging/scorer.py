"""The process that judges: ``python -m noren.contest.judging.scorer``.

It reads orders as lines of JSON on its standard input, and answers each by its number with how far it is and what came
of it. It lives for many orders: to load the libraries takes a second, and what was read last is at hand. When its
standard input closes, whoever ordered is gone and so is it. What is the team's fault is in the result; all else is a
fault of ours, told in one short sentence, and in full on the standard error, which goes to a log.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.contest.judging.bench import CLUSTER_LOST, DISK_FULL, TOO_LARGE, UNEXPECTED, UNREADABLE
from noren.work.children import Line, Parent, become_child

if TYPE_CHECKING:
    from noren.contest.rulebook import Rulebook
    from noren.execution.session import Step

_EVERY = 0.2
Say = Callable[[Mapping[str, Any]], None]


def main(judge: Parent) -> None:
    """Do orders for as long as somebody gives them."""
    orders: queue.SimpleQueue[Line] = queue.SimpleQueue()
    judge.listen(orders.put)
    while True:
        order = orders.get()
        number = order["number"]

        def say(line: Mapping[str, Any], number: int = number) -> None:
            judge.say({"number": number, **line}, allow_nan=False)

        say(_answer(order, say))


def _answer(order: Mapping[str, Any], say: Say) -> dict[str, Any]:
    from noren.contest.judging.scoring_engine import ClusterLostError
    from noren.errors import InputError
    from noren.web.refusals import is_disk_full

    try:
        return {"result": do(order, say)}
    except ClusterLostError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        return {"fault": CLUSTER_LOST}
    except MemoryError:
        return {"fault": TOO_LARGE}
    except InputError as error:  # of a team's file it would be in the result
        sys.stderr.write(f"{error}\n")
        return {"fault": DISK_FULL if is_disk_full(error) else UNREADABLE}
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        return {"fault": DISK_FULL if is_disk_full(error) else UNEXPECTED}


def do(order: Mapping[str, Any], say: Say = lambda line: None) -> dict[str, Any]:
    """Do one order: ``release`` and ``guess`` are scored, of ``target`` the file is written to ``out``.

    A release whose order names an ``engine`` and a ``folder`` is judged by that cluster, as far as it has plans.
    """
    from noren.contest.judging.prepared import make_target
    from noren.contest.judging.scoring import score_guess, score_release

    book = _rulebook(order["rulebook"])
    original, submitted = Path(order["original"]), Path(order["submitted"])
    master = Path(order["master"]) if order.get("master") else None
    if order["kind"] == "release":
        teller = _Teller(say)
        score = partial(score_release, book, original, submitted, master=master, progress=teller)
        if not order.get("engine"):
            return score()
        from noren.contest.judging.scoring_engine import on_cluster
        from noren.execution.session import hearing_stages

        with on_cluster(order["engine"], Path(order["folder"])) as engine, hearing_stages(teller.hear):
            return score(engine=engine)
    lots = bytes.fromhex(order["salt"]), str(order["label"])
    if order["kind"] == "guess":
        return score_guess(book, original, submitted, *lots, Path(order["guess"]), master=master)
    if order["kind"] == "target":
        content = make_target(book, original, submitted, *lots, master=master)
        Path(order["out"]).write_bytes(content)
        return {"bytes": len(content)}
    raise ValueError(order["kind"])


@lru_cache(maxsize=32)
def _rulebook(text: str) -> Rulebook:
    from noren.contest.rulebook import read_rulebook

    return read_rulebook(text)


class _Teller:
    """Progress as lines, a few a second; the stages of a cluster whenever they changed."""

    def __init__(self, say: Say) -> None:
        self._say, self._last = say, 0.0
        self._done, self._words = 0.0, ""
        self._lock = threading.Lock()  # stages are heard by a thread of their own

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        with self._lock:
            self._done, self._words = round(min(1.0, max(0.0, done, self._done)), 4), words
            if time.monotonic() - self._last >= _EVERY:
                self._last = time.monotonic()
                self._say({"done": self._done, "words": words})

    def hear(self, steps: Sequence[Step]) -> None:
        """Say the steps of a cluster."""
        with self._lock:
            told = [asdict(step) for step in steps]
            self._say({"done": self._done, "words": self._words, "stages": told})


if __name__ == "__main__":
    # where memory runs out the system ends this process before any other: the worker and the server are not to
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    main(become_child())
