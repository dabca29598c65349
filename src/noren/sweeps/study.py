"""What came of a sweep: its points, the settings they belong to, the answer; as a frame, a folder, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from noren.data.schema import Kind, Schema
from noren.i18n import _
from noren.judgement.place import Choice, frontier, recommend
from noren.sweeps.plan import Asked
from noren.sweeps.results import PointResult, SettingResult, setting_results
from noren.sweeps.table import frame_of
from noren.version import __version__

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Source", "Study"]


@dataclass(frozen=True)
class Source:
    """What a study is about: its kind of data, how many rows and people, and the schema; not the data themselves.

    ``file`` and ``master`` are where the data were read from, where that is known.
    """

    schema: Schema
    rows: int
    people: int
    digest: str
    file: Path | None = None
    master: Path | None = None

    @property
    def kind(self) -> Kind:
        """Whether it is a history or a table."""
        return self.schema.kind


@dataclass(frozen=True)
class Study:
    """What came of a sweep.

    Attributes
    ----------
    source, asked
        What it is about, and what was asked.
    points
        Each release, setting by setting and seed by seed.
    computed, kept
        How many pieces of work were done now, and how many before.
    cache
        The folder where pieces are kept.

    Examples
    --------
    >>> import tempfile
    >>> from noren.api import sample
    >>> from noren.sweeps.sweep import sweep
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     study = sweep(history, "generalize-by-count", k=[2, 5], attacks=["jaccard"], measures=[], seeds=[1],
    ...                   cache=cache, workers=1)
    >>> study.frame["k"].to_list(), study.frame["verdict"].to_list()
    ([2.0, 5.0], ['broken', 'proved'])
    """

    source: Source
    asked: Asked
    points: Sequence[PointResult]
    computed: int = 0
    kept: int = 0
    cache: Path | None = field(default=None, repr=False)
    version: str = __version__

    @cached_property
    def choices(self) -> list[Choice]:
        """The answer, one for each measure of use there is among the points."""
        return recommend([one.place for one in setting_results(self.points)])

    @cached_property
    def settings(self) -> list[SettingResult]:
        """The settings, each over its runs."""
        bare = setting_results(self.points)
        best = frontier([one.place for one in bare])
        chosen = {choice.chosen for choice in self.choices}
        return [replace(one, on_frontier=i in best, recommended=i in chosen) for i, one in enumerate(bare)]

    @property
    def recommended(self) -> SettingResult | None:
        """The setting to take; the first where uses are told by different measures, none where nothing is safe."""
        return next((one for one in self.settings if one.recommended), None)

    @property
    def answer(self) -> list[str]:
        """What to take, why, and what lies beside it, in sentences; and what failed."""
        from noren.sweeps.words import answer, failure_words

        failed = [
            _("{sentence}.").format(sentence=f"{one.label}: {failure_words(name, why)}")
            for one in self.settings
            for name, why in one.failed.items()
        ]
        first, *rest = answer(self.settings, self.choices)
        return [first, *failed, *rest]

    @property
    def recommendation(self) -> str:
        """The answer with its reasons, in words."""
        return " ".join(self.answer)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row for each point: see :func:`explore`."""
        return frame_of(self.points, self.settings, [one.name for one in self.asked.attacks], self.source.kind)

    def save(self, folder: str | Path, *, replace_existing: bool = False) -> Path:
        """Write the study as a folder: page, chart, tables, and the file that repeats it; no secret but that file."""
        from noren.sweeps.files import write_study

        return write_study(self, folder, replace=replace_existing)

    def _repr_html_(self) -> str:
        """Show the answer and the table in a notebook."""
        from noren.sweeps.page import short_html

        return short_html(self)
