"""How one arena is set up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from noren.contest.engine import ENGINE_FROM, cluster_of
from noren.contest.store.sealing import derived, kept_key
from noren.web.settings import Settings

__all__ = ["ArenaSettings"]


@dataclass(frozen=True)
class ArenaSettings(Settings):
    """How one server of an arena is set up; several may share a database.

    Attributes
    ----------
    files
        The folder, or any address that fsspec knows, that files are kept at; beside the database where left out.
    rehearsal
        Whether organisers may move the clock.
    works
        Whether the server judges in its own process, too; else somebody runs ``noren contest work``.
    private_hooks
        Whether news may be sent to addresses inside this network.
    engine_from
        From how many rows on releases are judged on the cluster that ``engine`` names.
    """

    server: str = "arena"
    accounts: bool = True
    files: str | None = None
    rehearsal: bool = False
    works: bool = True
    private_hooks: bool = False
    engine_from: int = ENGINE_FROM

    def __post_init__(self) -> None:
        super().__post_init__()
        cluster_of(self.engine)

    @cached_property
    def key(self) -> bytes:
        """What tokens of pages are signed with: the same on every server that has the key of the contests."""
        return derived(kept_key(self.folder), "pages")
