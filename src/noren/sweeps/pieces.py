"""Work of a sweep in each process: make a release, attack it, measure it; each piece once, cached.

A release is a folder with its secret part, a guess a file of pairs; both stay in the cache, which only its owner can
read. The result that is returned is small and plain: numbers, and why something could not be done.
"""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from noren import api
from noren.data.formats.files import writing_folder
from noren.data.frames import Records
from noren.data.release import Release
from noren.errors import AuditUnfinishedError, CheckFailedError, InputError, NorenError, reason_of
from noren.i18n import LANGUAGES, _, active_language, use_language
from noren.judgement.evidence import attack_result
from noren.judgement.page_text import plain
from noren.judgement.release_facts import release_facts
from noren.protocols import Attack, Component, Guess, Score
from noren.registry import build
from noren.work.run import Run, RunStore, raise_on_failure

Answer = TypeVar("Answer")
PieceKind = Literal["release", "guess", "score"]
_held: dict[str, tuple[Records, Path]] = {}


def hold(data: str, original: Records, folder: Path) -> None:
    """Keep the original under its digest, and the cache folder, for the work of this process."""
    _held.clear()
    _held[data] = original, folder
    _release.cache_clear()
    load_guess.cache_clear()


def place_of(component: Component) -> str:
    """Return the import path of the class of a component: ``noren.methods.thin:Thin``."""
    return f"{type(component).__module__}:{type(component).__qualname__}"


def piece_folder(folder: Path, kind: PieceKind, key: str) -> Path:
    """Return the folder of a release or a guess in the cache."""
    return folder / ("releases" if kind == "release" else "guesses") / key[:2] / key


# --- the three pieces ------------------------------------------------------------------------------------------------


class PieceOrder(BaseModel):
    """The input of a piece, the same in any process: it is passed as text, and is part of the piece's address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str
    """The digest of the original."""
    place: str
    parameters: str
    """``place``, ``parameters``: the import path of the component's class, and its parameters as JSON."""
    key: str
    """The key of the release or guess that the piece makes."""
    seed: int = 0
    """The seed of the method."""
    release: str = ""
    """The key of the release that is attacked or measured."""
    other_guesses: tuple[tuple[str, str], ...] = ()
    """The guesses that an attack or a measure uses, with their keys; their results follow in this order."""

    @property
    def component(self) -> Any:
        """The method, attack or measure."""
        module, _colon, name = self.place.partition(":")
        target: Any = importlib.import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
        return build(target, json.loads(self.parameters))


def make_release(text: str) -> dict[str, Any]:
    """Protect the original and cache the release; return its statement and facts, or why it was refused or failed."""
    order, begin = PieceOrder.model_validate_json(text), time.perf_counter()
    original, folder = _held[order.data]
    made, result = _tried(lambda: api.protect(original, order.component, seed=order.seed))
    if made is not None:
        # this also replaces a damaged release in the cache
        with writing_folder(piece_folder(folder, "release", order.key), replace=True) as aside:
            made.write_into(aside)
        result = release_result(made, original)
    return result | {"seconds": round(time.perf_counter() - begin, 3)}


def examine(text: str, made: Mapping[str, Any], *other_guesses: Mapping[str, Any]) -> dict[str, Any]:
    """Attack a release and cache the guess, or measure it; return the result.

    Skipped where there is no release, or where the measure does not apply to it.
    """
    skipped = {"skipped": True, "seconds": 0.0}
    if "refused" in made or "failed" in made:
        return skipped
    order, begin = PieceOrder.model_validate_json(text), time.perf_counter()
    original, folder = _held[order.data]
    release, component = _release(str(piece_folder(folder, "release", order.release))), order.component
    guesses = {
        name: load_guess(name, str(piece_folder(folder, "guess", key)))
        for (name, key), result in zip(order.other_guesses, other_guesses, strict=True)
        if "tried" in result
    }
    store = RunStore(guesses, on_failure=raise_on_failure)
    run = Run.in_memory(original, release, store)
    if isinstance(component, Attack):
        _done, result = _tried(lambda: run.attack([component]))
        result = result or keep_guess(folder, order.key, store.guesses[component.name], release)
    elif component.needs <= run.release.available_evidence(store.guesses):
        _done, result = _tried(lambda: run.measure([component]))
        result = result or score_result(store.scores[component.name])
    else:
        return skipped
    return result | {"seconds": round(time.perf_counter() - begin, 3)}


# --- results of the pieces -------------------------------------------------------------------------------------------


def release_result(made: Release, original: Records) -> dict[str, Any]:
    """Return the statement and facts of a release as plain data."""
    return {
        "statement": json.loads(json.dumps(made.statement.as_dict(), default=str)),
        "facts": release_facts(made, original).model_dump(mode="json"),
        "public": len(made.public),
        "deleted": made.deleted_rows,
        "added": made.inserted_rows,
    }


def keep_guess(folder: Path, key: str, guess: Guess, release: Release) -> dict[str, Any]:
    """Cache a guess about a release and return its result."""
    with writing_folder(piece_folder(folder, "guess", key), replace=True) as aside:
        guess.pairs.write_parquet(aside / "pairs.parquet")
        (aside / "notes.json").write_text(json.dumps(guess.notes, default=str), encoding="utf-8")
    return {"tried": attack_result(guess.attack, guess, release.secret).model_dump(mode="json")}


def score_result(score: Score) -> dict[str, Any]:
    """Return a score as plain data."""
    parts = {str(name): _finite(value) for name, value in score.parts.items()}
    return {"score": {"value": _finite(score.value), "parts": parts, "notes": plain(score.notes)}}


def score_of(result: Mapping[str, Any]) -> Score | None:
    """Return the score of a result; None where it has none, or one that is not a number."""
    score = result.get("score")
    return None if score is None or score["value"] is None else Score(**score)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# --- shared by the pieces --------------------------------------------------------------------------------------------


def _tried(work: Callable[[], Answer]) -> tuple[Answer | None, dict[str, Any]]:
    """Do the work; where it is refused, return why in each language, since the cache is read in any.

    A failure (a bug, no memory, an unfinished audit) says nothing about a method: it is not cached, and is tried again
    when the sweep continues. Of a failure only ``kind`` can be shown: the text of an unexpected error may contain a
    value of the data.
    """
    try:
        return work(), {}
    except Exception as error:
        is_unfinished = isinstance(error, AuditUnfinishedError)
        if is_unfinished or not isinstance(error, InputError | CheckFailedError):
            why = (error.__cause__ or error) if is_unfinished else error
            return None, {"failed": dict.fromkeys(LANGUAGES, reason_of(why)) | {"kind": type(why).__name__}}
        reasons = {active_language(): str(error)}
    for language in LANGUAGES:
        if language in reasons:
            continue
        try:
            with use_language(language):
                work()
        except (InputError, CheckFailedError) as error:
            reasons[language] = str(error)
        except FileNotFoundError:  # the catalogue of that language is not compiled
            pass
    return None, {"refused": reasons}


@lru_cache(maxsize=4)
def _release(folder: str) -> Release:
    try:
        return Release.load(folder)
    except InputError:
        raise _damaged(folder) from None


@lru_cache(maxsize=64)
def load_guess(name: str, folder: str) -> Guess:
    """Return a cached guess."""
    try:
        pairs = pl.read_parquet(Path(folder) / "pairs.parquet")
        return Guess(name, pairs, json.loads((Path(folder) / "notes.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, pl.exceptions.PolarsError):
        raise _damaged(folder) from None


def _damaged(folder: str) -> NorenError:
    return NorenError(_("{folder} in the cache is damaged; run again with --no-cache").format(folder=folder))
