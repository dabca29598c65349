"""Where a judge's work is done: on this machine, or on a Spark cluster for what has a plan there. The log is the same.

A cluster does what looks at every row: the house's attacks and the measures of a release. A guess has one line for each
pseudonym and lies in memory already, so its measures are done here. Numbers of a cluster are sums in another order;
where that could move a digit of the log, the number is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from noren.attacks.signatures import Signature
from noren.attacks.unique_rows import UniqueRows
from noren.contest.judging.prepared import Prepared
from noren.errors import ClusterError, NorenError, OutputError
from noren.execution.engine import Dataset, Engine, Released, engine_named
from noren.progress import Progress, silent
from noren.protocols import Attack, Guess, Measure, Score
from noren.work.chain import rounded

_UNSURE = 1e-11
"""By what share sums of the same numbers in another order may differ."""
Answer = TypeVar("Answer", Guess, Score)


class ClusterLostError(Exception):
    """A cluster was lost in the middle: nothing of the judgement counts, and it is done again elsewhere."""


class ScoringEngine(Engine):
    """This machine, and perhaps a cluster; the files of one release then lie in ``folder``, which its workers see."""

    def __init__(self, cluster: Engine | None = None, folder: Path | None = None) -> None:
        super().__init__()
        self._cluster, self._folder = cluster, folder

    def attack(
        self, original: Dataset, release: Released, attack: Attack, *, progress: Progress = silent, **how: Any
    ) -> Guess:
        """Attack a release with what the house is said to know: on the cluster where that is all."""
        whole = how["knowledge"] == 1 and how["item_prefix"] is None and not attack.listens
        # texts of which some are spelled in a way that Parquet does not keep (2.10) are compared here
        compares = isinstance(attack, Signature) or (isinstance(attack, UniqueRows) and attack.spelling)
        is_spelled = any(one.spelling.exceptions for one in (original.rows, release.whole.public))
        if whole and self._runs(attack) and not (compares and is_spelled):
            # a team reads the name of the attack alone
            report: Progress = lambda done, words="", best=None: progress(done)  # noqa: E731
            found: Guess | None = self._on_cluster(
                original,
                release,
                lambda cluster, *files: cluster.attack(*files, attack, seed=how["seed"], progress=report),
            )
            if found is not None:
                return found
        return super().attack(original, release, attack, **how)

    def measure(
        self,
        original: Dataset,
        release: Released,
        measure: Measure,
        *,
        guesses: Mapping[str, Any] | None = None,
        progress: Progress = silent,
    ) -> Score:
        """Measure a release, or a guess about it: on the cluster where no guess is needed."""
        found = None
        if "guess" not in measure.needs and self._runs(measure):
            found = self._on_cluster(original, release, lambda cluster, *files: cluster.measure(*files, measure))
        return super().measure(original, release, measure, guesses=guesses) if found is None else found

    def is_sure(self, value: float) -> bool:
        """Tell whether another machine finds the same digits as the log keeps: no sum in another order has others."""
        if self._cluster is None:
            return True
        return value == int(value) or rounded(value * (1 - _UNSURE)) == rounded(value * (1 + _UNSURE))

    def _runs(self, component: Attack | Measure) -> bool:
        return self._cluster is not None and self._cluster.runs(component)

    def _on_cluster(
        self, original: Dataset, release: Released, work: Callable[[Engine, Dataset, Released], Answer]
    ) -> Answer | None:
        """Do work on the cluster; None where it is refused: a fault of the release is told in one machine's words."""
        if self._cluster is None or self._folder is None:
            return None
        data, made = self._folder / "original.parquet", self._folder / "release"
        if not made.exists():  # the first who asks writes the files
            original.rows.frame.select(original.schema.names).write_parquet(data)
            release.whole.save(made)
        try:
            return work(self._cluster, Dataset(original.schema, data), Released.of(release.whole, made))
        except (ClusterError, OutputError) as error:
            raise ClusterLostError(str(error)) from error
        except NorenError:
            return None


@contextmanager
def on_cluster(engine: str, folder: Path) -> Iterator[ScoringEngine]:
    """Give what judges one release on a cluster; its files lie in a folder of their own until all is done.

    Whatever keeps the session from being made is a cluster that is lost.
    """
    from noren.execution.session import session

    try:
        session(engine)
    except ClusterError as error:
        raise ClusterLostError(str(error)) from error
    folder.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix="judged-") as place:
        yield ScoringEngine(engine_named(engine), Path(place))


def in_memory(release: Prepared) -> tuple[Dataset, Released]:
    """Return the original and the release as engines take them."""
    return Dataset(release.original.schema, None, release.original), Released.of(release.release)
