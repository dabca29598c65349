"""From folder to folder, on any engine: what does not fit into memory is protected, attacked and measured so.

On this machine these are :mod:`noren.api`'s functions with reading and writing around them; on a Spark cluster they
are its plans (:mod:`noren.execution.working`). The same seed gives the same public rows on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noren import api
from noren.attacks import attacks
from noren.data.formats.files import making_folder, must_be_free
from noren.data.inputs import checked_seed
from noren.data.reading import read
from noren.data.release import RELEASE, Release
from noren.data.schema import Schema
from noren.engines.choice import parse_engine, using
from noren.execution import working
from noren.execution.working import Protected
from noren.measures import measures
from noren.progress import Progress, silent
from noren.protocols import Guess, Score

__all__ = ["attack_folder", "measure_folder", "protect_folder"]


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
    where = parse_engine(engine)
    seed = api.draw_seed() if seed is None else checked_seed(seed)
    chosen = api.method_of(method, parameters)
    if where.address is not None:
        known, _questions = working.schema_for(original, schema)
        return working.protect(
            original, chosen, engine=where.address, out=out, schema=known, seed=seed, audit=audit, force=force,
            progress=progress,
        )  # fmt: skip
    must_be_free(out, replace=force and RELEASE)
    data = read(original, schema).data
    with using(where):
        release = api.protect(data, chosen, seed=seed, audit=audit, progress=progress)
    release.save(out, replace_existing=force)
    rows = (len(data), len(release.public), release.deleted_rows, release.inserted_rows)
    return Protected(release.statement, *rows, audit and release.statement.claims_k)


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
    where = parse_engine(engine)
    names = [attack] if isinstance(attack, str) else list(attack)
    ready = [attacks.create(name, **parameters) for name in names]
    if where.address is not None:
        known, _questions = working.schema_for(original, schema)
        found = working.attack(
            original, release, ready, engine=where.address, schema=known, out=out, seed=seed, progress=progress
        )
        return {name: int(about["named"]) for name, about in found.items()}
    data, target, folder = read(original, schema).data, Release.load(release), making_folder(out)
    named = {}
    for one in ready:
        with using(where):
            guess = api.attack(data, target, one, seed=seed, progress=progress)
        guess.pairs.write_parquet(folder / f"{one.name}.parquet")
        named[one.name] = len(guess)
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
    import polars as pl

    where = parse_engine(engine)
    names = [measure] if isinstance(measure, str) else list(measure)
    ready = [measures.create(name, **parameters) for name in names]
    if where.address is not None:
        known, _questions = working.schema_for(original, schema)
        return working.measure(
            original, release, ready, engine=where.address, schema=known, guesses=guesses, progress=progress
        )
    data, target = read(original, schema).data, Release.load(release)
    files = [] if guesses is None else sorted(Path(guesses).glob("*.parquet"))
    heard = {file.stem: Guess(file.stem, pl.read_parquet(file)) for file in files}
    with using(where):
        return {one.name: api.measure(data, target, one, guesses=heard, progress=progress) for one in ready}
