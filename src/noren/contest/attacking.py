"""Attacking a target with an attack of ours, and writing the guess as a contest takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from noren.api import attack as run
from noren.contest.judging.prepared import original_of, records_of
from noren.contest.judging.texts import read_texts
from noren.contest.rulebook import Rulebook
from noren.data.formats.guess_files import write_guess
from noren.data.frames import Records
from noren.data.reading import read_public
from noren.progress import Progress, silent

__all__ = ["guess_on", "target_rows", "write_pairs_of"]


def guess_on(
    rulebook: Rulebook,
    original: Path,
    target: Path,
    attack: str,
    out: Path,
    *,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> int:
    """Attack a target and write the guess; return how many it names."""
    data = original_of(rulebook, original)
    public = target_rows(target, data)
    guess = run(data, public, attack, seed=seed, progress=progress, **parameters)
    return write_pairs_of(guess.answers, out, data, public)


def target_rows(target: Path, data: Records) -> Records:
    """Return the rows of a target, whose cells may be sets and ranges in any format."""
    if data.schema.official is not None:
        return read_public(target, data)
    schema = data.schema.model_copy(update={"guessed": False})
    return records_of(read_texts(target, schema), schema)


def write_pairs_of(pairs: pl.DataFrame, out: Path, data: Records, public: Records) -> int:
    """Write a guess as a contest takes it: each pseudonym once, and periods only where the format has them."""
    if data.schema.official != "pwscup2017" and "pseudonym" in pairs.columns:
        pairs = pairs.select("pseudonym", "customer").drop_nulls()
        pairs = pairs.unique("pseudonym", keep="first", maintain_order=True)
    write_guess(pairs, out, data, public)
    return len(pairs)
