"""Who does a judge's work: this machine, or a Spark cluster for what has a plan there. The log is the same.

Handed over is what looks at every row: the house's attacks and the measures of a release. A guess has one line for each
pseudonym and lies in memory already, so its measures are done here. Numbers of a cluster are sums in another order;
where that could move a digit of the log, the number is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from noren import api
from noren.attacks.signatures import Signature
from noren.attacks.unique_rows import UniqueRows
from noren.contest.judging.prepared import Prepared
from noren.contest.rulebook import HouseAttack
from noren.errors import ClusterError, NorenError, OutputError
from noren.execution.handing import Handed, has_plan
from noren.progress import Progress, silent
from noren.protocols import Attack, Guess, Measure, Score
from noren.work.canonical import rounded

__all__ = ["ClusterLostError", "Hands", "on_cluster"]

_UNSURE = 1e-11
"""By what share sums of the same numbers in another order may differ."""


class ClusterLostError(Exception):
    """A cluster was lost in the middle: nothing of the judgement counts, and it is done again elsewhere."""


class Hands:
    """This machine."""

    def attack(
        self,
        release: Prepared,
        attack: Attack,
        how: HouseAttack,
        *,
        heard: Mapping[str, Guess],
        progress: Progress = silent,
    ) -> Guess:
        """Attack a release with what the house is said to know."""
        return api.attack(
            release.original,
            release.release,
            attack,
            knowledge=how.knowledge,
            item_prefix=how.item_prefix,
            seed=how.seed,
            heard=heard,
        )

    def measure(self, release: Prepared, measure: Measure, guesses: Mapping[str, Guess]) -> Score:
        """Measure a release, or a guess about it."""
        return api.measure(release.original, release.release, measure, guesses=guesses)

    def is_sure(self, value: float) -> bool:
        """Tell whether another machine finds the same digits as the log keeps."""
        return True


@dataclass(frozen=True)
class _Cluster(Hands):
    """A cluster, for what has a plan there; the files of one release lie in ``folder``, which its workers see."""

    engine: str
    folder: Path

    def attack(
        self,
        release: Prepared,
        attack: Attack,
        how: HouseAttack,
        *,
        heard: Mapping[str, Guess],
        progress: Progress = silent,
    ) -> Guess:
        """Attack on the cluster where the attack has a plan and knows all; else here."""
        whole = how.knowledge == 1 and how.item_prefix is None
        if whole and not attack.listens and has_plan(attack) and not _reads_spellings(attack, release):
            try:
                return self._handed(release).attack(attack, seed=how.seed, progress=_wordless(progress))
            except (ClusterError, OutputError) as error:
                raise ClusterLostError(str(error)) from error
            except NorenError:
                pass  # a fault of the release is told in the words of one machine
        return super().attack(release, attack, how, heard=heard, progress=progress)

    def measure(self, release: Prepared, measure: Measure, guesses: Mapping[str, Guess]) -> Score:
        """Measure on the cluster where the measure has a plan and needs no guess; else here."""
        if "guess" not in measure.needs and has_plan(measure):
            try:
                return self._handed(release).measure(measure)
            except (ClusterError, OutputError) as error:
                raise ClusterLostError(str(error)) from error
            except NorenError:
                pass
        return super().measure(release, measure, guesses)

    def is_sure(self, value: float) -> bool:
        """Tell whether no sum in another order has other digits."""
        return value == int(value) or rounded(value * (1 - _UNSURE)) == rounded(value * (1 + _UNSURE))

    def _handed(self, release: Prepared) -> Handed:
        """Return the way to the cluster; the first who asks writes the files."""
        data, made = self.folder / "original.parquet", self.folder / "release"
        if not made.exists():
            release.original.frame.select(release.original.schema.names).write_parquet(data)
            release.release.save(made)
        return Handed(self.engine, data, release.original.schema, made)


@contextmanager
def on_cluster(engine: str, folder: Path) -> Iterator[Hands]:
    """Give hands that judge one release on a cluster; its files lie in a folder of their own until all is done.

    Whatever keeps the session from being made is a cluster that is lost.
    """
    from noren.execution.session import session

    try:
        session(engine)
    except ClusterError as error:
        raise ClusterLostError(str(error)) from error
    folder.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix="judged-") as place:
        yield _Cluster(engine, Path(place))


def _wordless(progress: Progress) -> Progress:
    """Return a progress that says how far it is and no more: a team reads the name of the attack alone."""
    return lambda done, words="", best=None: progress(done)


def _reads_spellings(attack: Attack, release: Prepared) -> bool:
    """Tell whether an attack compares texts of which some are spelled in a way that Parquet does not keep (2.10)."""
    compares = isinstance(attack, Signature) or (isinstance(attack, UniqueRows) and attack.spelling)
    both = (release.original, release.release.public)
    return compares and any(one.spelling.exceptions for one in both)
