"""From folder to folder, on any engine: what does not fit into memory is protected, attacked and measured so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noren import api
from noren.attacks import attacks
from noren.data.formats.files import making_folder
from noren.data.inputs import checked_seed
from noren.data.schema import Schema
from noren.errors import AuditUnfinishedError
from noren.execution.engine import Protected, engine_named
from noren.execution.files import is_local, local_path
from noren.measures import measures
from noren.progress import Progress, silent
from noren.protocols import Guess, Score
from noren.work.run import Run, RunStore, stop_at_failure


def protect_folder(
    original: str | Path,
    method: Any,
    out: str | Path,
    *,
    engine: str = "local",
    schema: Schema | str | Path | None = None,
    seed: int | None = None,
    audit: bool = True,
    force: bool = False,
    progress: Progress = silent,
    **parameters: Any,
) -> Protected:
    """Protect a file or a folder of Parquet files by ``method`` and write the release to the folder ``out``.

    ``engine`` is ``local``, ``gpu``, ``auto``, ``local[n]`` or ``spark://host:port``. The answer tells the statement
    and how many rows there were, are, are gone and are new.
    """
    where = engine_named(engine)
    seed = api.draw_seed() if seed is None else checked_seed(seed)
    chosen = api.method_of(method, parameters)
    data = where.read(original, schema)
    done = where.protect(data, chosen, out, seed=seed, audit=audit, force=force, progress=progress)
    if isinstance(done.failure, AuditUnfinishedError):
        raise done.failure
    return done


def attack_folder(
    original: str | Path,
    release: str | Path,
    attack: str | Sequence[str],
    out: str | Path,
    *,
    engine: str = "local",
    schema: Schema | str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> dict[str, int]:
    """Attack a release folder, write each guess to ``out`` as Parquet, and return how many each attack names."""
    where = engine_named(engine)
    ready = [attacks.create(name, **parameters) for name in ([attack] if isinstance(attack, str) else attack)]
    data = where.read(original, schema)
    target = where.load(release, data)
    if is_local(out):
        making_folder(local_path(out))
    named: dict[str, int] = {}

    def write(name: str, guess: Guess) -> None:
        where.write_guess(guess, out, data, target, parquet=True)
        named[name] = len(guess)

    Run(where, data, target, RunStore(on_guess=write, on_failure=stop_at_failure)).attack(
        ready, seed=seed, progress=progress
    )
    return named


def measure_folder(
    original: str | Path,
    release: str | Path,
    measure: str | Sequence[str],
    *,
    engine: str = "local",
    schema: Schema | str | Path | None = None,
    guesses: str | Path | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> dict[str, Score]:
    """Measure a release folder; measures of attacks look at the guesses that :func:`attack_folder` wrote."""
    where = engine_named(engine)
    ready = [measures.create(name, **parameters) for name in ([measure] if isinstance(measure, str) else measure)]
    data = where.read(original, schema)
    target = where.load(release, data)
    heard = {} if guesses is None else where.guesses(guesses, data, parquet=True)
    store = RunStore(dict(heard), on_failure=stop_at_failure)
    Run(where, data, target, store).measure(ready, progress=progress)
    return store.scores
