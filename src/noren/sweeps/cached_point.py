"""Access of a single run to the cache of sweeps: it takes cached results, and adds its own.

So a sweep reuses what a run with the same seed computed, and vice versa. Failures are not cached, nor a release whose
search was stopped, nor anything based on a result that is not cached.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from noren.attacks import attacks as every_attack
from noren.data.formats.files import writing_folder
from noren.data.frames import Records
from noren.data.release import Release
from noren.errors import NorenError
from noren.measures import measures as every_measure
from noren.protocols import Guess, Method, Score
from noren.sweeps.pieces import keep_guess, load_guess, piece_folder, release_result, score_of, score_result
from noren.sweeps.plan import Piece, Setting, SweepRequest, chosen_components, data_key, plan, settled
from noren.sweeps.sweep import sweep_folder
from noren.work.store import PieceStore, WorkUnit, save

_COMPARED_FILES = ("public.parquet", "secret/pseudonyms.parquet")


class CachedPoint:
    """The pieces of a setting with one seed.

    ``cache`` is the folder that ``noren explore --cache`` names; ``attacks`` and ``measures`` are names, by default all
    that fit.
    """

    def __init__(
        self,
        cache: Path,
        original: Records,
        method: Method,
        seed: int,
        attacks: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
    ) -> None:
        self._folder = sweep_folder(cache)
        self._store = PieceStore(self._folder)
        request = SweepRequest(
            (Setting(settled(method)),),
            tuple(chosen_components(every_attack, "all" if attacks is None else attacks, original)),
            tuple(chosen_components(every_measure, "all" if measures is None else measures, original)),
            (seed,),
        )
        (self._point,) = plan(request, original, data_key(original))
        self._release = piece_folder(self._folder, "release", self._point.release.key)
        self._original = original

    @property
    def folders(self) -> list[Path]:
        """The folders of the release and the guesses; deleting a run for good deletes them too."""
        guesses = [*self._point.guesses.values(), *self._point.other_guesses]
        return [self._release, *(piece_folder(self._folder, "guess", piece.key) for piece in guesses)]

    def is_of(self, folder: Path) -> bool:
        """Tell whether the release in ``folder`` is the cached one: a stopped or timed search makes another."""
        cached_release = self._release
        return "statement" in self._load_result(self._point.release.unit) and all(
            (cached_release / name).is_file() and filecmp.cmp(cached_release / name, folder / name, shallow=False)
            for name in _COMPARED_FILES
        )

    def take_release(self, target: Path) -> bool:
        """Copy the release into ``target``, whole or not at all; tell whether there is one."""
        if "statement" not in self._load_result(self._point.release.unit) or not self._release.is_dir():
            return False
        try:
            Release.load(self._release)
            with writing_folder(target, replace=True) as aside:
                shutil.copytree(self._release, aside, copy_function=_link_or_copy, dirs_exist_ok=True)
        except (NorenError, OSError):  # damaged, or somebody is about to replace it: it is made again
            return False
        return True

    def add_release(self, folder: Path, seconds: float) -> None:
        """Cache the release in ``folder``, audited where it claims a guarantee."""
        release = Release.load(folder)
        if any("stopped" in step.notes for step in release.statement.steps):
            return  # another run with this seed would come to another release
        with writing_folder(self._release, replace=True) as aside:
            shutil.copytree(folder, aside, copy_function=_link_or_copy, dirs_exist_ok=True)
        self._save_result(self._point.release, lambda: release_result(release, self._original), seconds)

    def guess(self, attack: str) -> Guess | None:
        """Return the cached guess of an attack."""
        piece = self._point.guesses.get(attack)
        if piece is None or "tried" not in self._load_result(piece.unit):
            return None
        try:
            return load_guess(attack, str(piece_folder(self._folder, "guess", piece.key)))
        except NorenError:
            return None

    def add_guess(self, guess: Guess, release: Release, seconds: float) -> None:
        """Cache the guess of an attack."""
        if (piece := self._point.guesses.get(guess.attack)) is not None:
            self._save_result(piece, lambda: keep_guess(self._folder, piece.key, guess, release), seconds)

    def score(self, measure: str) -> Score | None:
        """Return the cached score of a measure."""
        piece = self._point.scores.get(measure)
        return None if piece is None else score_of(self._load_result(piece.unit))

    def add_score(self, measure: str, score: Score, seconds: float) -> None:
        """Cache the score of a measure."""
        if (piece := self._point.scores.get(measure)) is not None:
            self._save_result(piece, lambda: score_result(score), seconds)

    def _load_result(self, unit: WorkUnit) -> dict[str, Any]:
        try:
            return dict(self._store.load(unit))
        except KeyError:
            return {}

    def _save_result(self, piece: Piece, result: Callable[[], dict[str, Any]], seconds: float) -> None:
        """Cache a result if all results that it depends on are cached: its address is made of theirs."""
        if all(map(self._load_result, piece.unit.needs)):
            save(self._store.path(piece.unit), piece.unit, result() | {"seconds": round(seconds, 3)})


def _link_or_copy(source: str, target: str) -> str:
    """Link a file, which is never changed in place, into another folder; copy it if linking fails."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
