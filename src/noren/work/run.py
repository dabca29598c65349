"""A run: protect, audit, attack and measure, with cached results and recorded failures.

The caller chooses the engine and the store. A result is stored as soon as it is there, a stored result is not computed
again, and a failure is recorded while the others continue: an interrupted run continues where it stopped, and a failed
attack does not affect the others.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from noren import api
from noren.attacks import attacks as every_attack
from noren.data.formats.files import create_folder
from noren.data.frames import Records
from noren.data.reading import SchemaLike, checked_seed
from noren.data.release import Release
from noren.data.schema import Schema
from noren.engines.choice import chosen_engine
from noren.errors import AuditUnfinishedError, InputError, ParameterError, reason_of
from noren.execution.engine import Engine, OriginalInput, ProtectResult, ReleaseInput, get_engine
from noren.execution.files import is_local, local_path
from noren.measures import measures as every_measure
from noren.progress import Enough, Progress, check_time, part_of, silent, time_is_over, time_limit
from noren.protocols import Attack, Guess, Measure, Method, Score
from noren.registry import Kind, Registry

Stage = Literal["attack", "measure"]
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass
class RunStore:
    """What a run has so far, in memory; others keep it in files as well.

    ``left_out`` names attacks for which there was no time. ``named`` are the stages whose components somebody asked for
    by name: what these refuse is raised. ``on_guess`` is called with the name of each attack and its guess,
    ``on_failure`` instead of noting a failure here.
    """

    guesses: dict[str, Guess] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    named: frozenset[Stage] = frozenset()
    on_guess: Callable[[str, Guess], None] | None = None
    on_failure: Callable[[str, Exception], None] | None = None

    def was_tried(self, stage: Stage, name: str) -> bool:
        """Tell whether a component came to its end, or failed and is not to be tried again."""
        return name in (self.guesses if stage == "attack" else self.scores) or name in self.failures

    def doing(self, stage: Stage | Literal["audit"], name: str) -> AbstractContextManager[None]:
        """Say what is under way."""
        return nullcontext()

    def find_release(self, out: Path) -> bool:
        """Tell whether the release is in the folder ``out``; one that is found elsewhere is put there."""
        return False

    def add_release(self, made: ProtectResult, seconds: float) -> None:
        """Keep what is known of a release that was made, and how long it took."""

    def find_guess(self, name: str) -> Guess | None:
        """Return what an attack guessed elsewhere."""
        return None

    def find_score(self, name: str) -> Score | None:
        """Return what a measure said elsewhere."""
        return None

    def add_guess(self, name: str, guess: Guess, seconds: float | None) -> None:
        """Keep what an attack guessed, and how long it took; None where it was found elsewhere."""
        if self.on_guess is not None:
            self.on_guess(name, guess)
        self.guesses[name] = guess

    def add_score(self, name: str, score: Score, seconds: float | None) -> None:
        """Keep what a measure said."""
        self.scores[name] = score

    def fail(self, stage: Stage, name: str, error: Exception) -> None:
        """Keep why a component failed; raise what somebody must hear.

        A measure that cannot judge this release, and was not requested by name, is left out.
        """
        if self.on_failure is not None:
            self.on_failure(name, error)
            return
        if isinstance(error, InputError) and stage in self.named:
            raise error
        if not (isinstance(error, InputError) and stage == "measure"):
            self.failures[name] = reason_of(error)


def raise_on_failure(name: str, error: Exception) -> None:
    """End a run at the first failure: for :attr:`RunStore.on_failure`."""
    raise error


@dataclass(frozen=True)
class Run:
    """A release of an original, an engine that looks at it, and a store that keeps what is found."""

    engine: Engine
    original: OriginalInput
    release: ReleaseInput
    store: RunStore = field(default_factory=RunStore)

    @classmethod
    def protect(
        cls,
        engine: Engine,
        original: OriginalInput,
        method: Method,
        out: Path,
        store: RunStore,
        *,
        seed: int,
        progress: Progress = silent,
    ) -> Run:
        """Make and audit the release in ``out``, unless the store has it, and return the run that looks at it.

        What is judged is what was written. A release is written before its audit; one whose claim is false is removed.
        """
        if not store.find_release(out):
            begin = time.perf_counter()
            how: dict[str, Any] = {"seed": seed, "force": True, "progress": progress}
            auditing = partial(store.doing, "audit", method.name)
            made = engine.protect(replace(original), method, out, auditing=auditing, **how)
            store.add_release(made, time.perf_counter() - begin)
        return cls(engine, original, ReleaseInput.of(Release.load(out), out), store)

    @classmethod
    def in_memory(cls, original: Records, release: Release, store: RunStore) -> Run:
        """Return a run on this machine of what is in memory."""
        data = OriginalInput(original.schema, None, original)
        return cls(Engine(chosen_engine()), data, ReleaseInput.of(release), store)

    def attack(
        self,
        attacks: Sequence[Attack] | Mapping[str, Attack],
        *,
        seconds: float = math.inf,
        progress: Progress = silent,
        **knowledge: Any,
    ) -> None:
        """Attack the release, the cheapest attack first; who listens to others comes last.

        What has not ended after so many ``seconds`` is left out: the attack under way, and those behind it. The same
        attack may be tried several times under names of its own. ``knowledge`` is as in :func:`noren.api.attack`.
        """
        named = attacks if isinstance(attacks, Mapping) else {attack.name: attack for attack in attacks}
        in_turn = sorted(named.items(), key=lambda item: (item[1].listens, item[1].cost))

        def report(done: float, words: str = "", best: float | None = None) -> None:
            check_time()
            progress(done, words, best)

        with time_limit(seconds):
            self._each("attack", in_turn, report, **{"other_guesses": self.store.guesses} | knowledge)

    def measure(self, measures: Sequence[Measure], *, progress: Progress = silent) -> None:
        """Measure the release, and the guesses that there are."""
        in_turn = [(measure.name, measure) for measure in measures]
        self._each("measure", in_turn, progress, guesses=self.store.guesses)

    def examine(
        self,
        attacks: Sequence[Attack | str] | None = None,
        measures: Sequence[Measure | str] | None = None,
        *,
        attacked: float = 0.6,
        seconds: float = math.inf,
        progress: Progress = silent,
        **knowledge: Any,
    ) -> None:
        """Attack and measure the release; ``attacked`` is the part of the progress that attacks take.

        Attacks end after so many ``seconds``.

        Left out, every attack and measure is taken that fits the data and needs no parameter; measures whose needs
        (a guess, the secret part, exact values) are not there are left out then.
        """
        schema = self.original.schema
        names = fitting(every_attack, schema) if attacks is None else attacks
        part = part_of(progress, 0.0, attacked)
        self.attack(_ready(every_attack, names), seconds=seconds, progress=part, **knowledge)
        if measures is None:
            there = self.release.available_evidence(self.store.guesses)
            measures = [name for name in fitting(every_measure, schema) if every_measure[name].needs <= there]
        self.measure(_ready(every_measure, measures), progress=part_of(progress, attacked, 1.0))

    def _each(
        self, stage: Stage, judges: Sequence[tuple[str, Attack | Measure]], progress: Progress, **how: Any
    ) -> None:
        """Do the work of each that was not tried yet, with its part of the progress; keep why one fails."""
        store = self.store
        find: Callable[[str], Any] = store.find_guess if stage == "attack" else store.find_score
        add: Callable[..., None] = store.add_guess if stage == "attack" else store.add_score
        work: Callable[..., Any] = self.engine.attack if stage == "attack" else self.engine.measure
        for at, (name, judge) in enumerate(judges):
            part = part_of(progress, at / len(judges), (at + 1) / len(judges), name)
            if self.store.was_tried(stage, name):
                continue
            with self.store.doing(stage, name):
                try:
                    part(0.0)
                    begin, answer = time.perf_counter(), find(name)
                    if answer is not None:
                        add(name, answer, None)
                        continue
                    answer = work(self.original, self.release, judge, progress=part, **how)
                    add(name, answer, time.perf_counter() - begin)
                except Enough:
                    if not time_is_over():
                        raise
                    store.left_out.append(name)
                except Exception as error:
                    self.store.fail(stage, name, error)


def fitting(registry: Registry[Kind], schema: Schema) -> list[str]:
    """Return the components that work on data of this schema and need no parameter.

    >>> "jaccard" in fitting(every_attack, Schema.preset("pwscup2018")), fitting(every_attack, Schema.preset("adult"))
    (True, ['row-linkage'])
    """
    return [
        name
        for name in registry
        if registry[name].fits(schema)
        and not any(about.is_required() for about in registry[name].model_fields.values())
    ]


def seconds_of(duration: str | float | None) -> float:
    """Return the seconds of a duration such as ``90s``, ``10m``, ``2h`` or ``0``; without one no end.

    >>> seconds_of("10m"), seconds_of(0), seconds_of(None)
    (600.0, 0.0, inf)
    """
    if duration is None:
        return math.inf
    parts = re.fullmatch(r"(\d+\.?\d*)([smh]?)", str(duration).strip())
    if parts is None:
        raise ParameterError.out_of_range("budget", duration, "90s, 10m, 2h")
    return float(parts[1]) * _UNITS[parts[2]]


def _ready(registry: Registry[Kind], components: Sequence[Kind | str]) -> list[Kind]:
    return [registry.create(component) if isinstance(component, str) else component for component in components]


# --- from folder to folder, for what does not fit into memory --------------------------------------------------------


def protect_folder(
    original: str | Path,
    method: Any,
    out: str | Path,
    *,
    engine: str = "local",
    schema: SchemaLike | None = None,
    seed: int | None = None,
    audit: bool = True,
    force: bool = False,
    progress: Progress = silent,
    **parameters: Any,
) -> ProtectResult:
    """Protect a file or a folder of Parquet files by ``method`` and write the release to the folder ``out``.

    ``engine`` is ``local``, ``gpu``, ``auto``, ``local[n]`` or ``spark://host:port``. The answer tells the statement
    and how many rows there were, are, are gone and are new.
    """
    where = get_engine(engine)
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
    schema: SchemaLike | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> dict[str, int]:
    """Attack a release folder, write each guess to ``out`` as Parquet, and return how many each attack names."""
    where = get_engine(engine)
    ready = [every_attack.create(name, **parameters) for name in ([attack] if isinstance(attack, str) else attack)]
    data = where.read(original, schema)
    target = where.load(release, data)
    if is_local(out):
        create_folder(local_path(out))

    def write(_name: str, guess: Guess) -> None:
        where.write_guess(guess, out, data, target, parquet=True)

    store = RunStore(on_guess=write, on_failure=raise_on_failure)
    Run(where, data, target, store).attack(ready, seed=seed, progress=progress)
    return {name: len(guess) for name, guess in store.guesses.items()}


def measure_folder(
    original: str | Path,
    release: str | Path,
    measure: str | Sequence[str],
    *,
    engine: str = "local",
    schema: SchemaLike | None = None,
    guesses: str | Path | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> dict[str, Score]:
    """Measure a release folder; measures of attacks look at the guesses that :func:`attack_folder` wrote."""
    where = get_engine(engine)
    ready = [every_measure.create(name, **parameters) for name in ([measure] if isinstance(measure, str) else measure)]
    data = where.read(original, schema)
    target = where.load(release, data)
    cached = {} if guesses is None else where.guesses(guesses, data, parquet=True)
    store = RunStore(dict(cached), on_failure=raise_on_failure)
    Run(where, data, target, store).measure(ready, progress=progress)
    return store.scores
