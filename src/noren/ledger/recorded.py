"""Releases beside the periods of a ledger: folders of tables and releases by retention, with their ε and δ.

What is recorded is about the same people, and draws its noise apart from pseudonyms, so certificates of the periods
stay as they are. By basic composition ε and δ of all that is recorded add up, however their noise was made. They add
up for one adjacency alone: that nobody notices another row says little about a customer of many rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from noren.data.release import Release, RowDigest
from noren.errors import CheckFailedError, FileError, InputError, ParameterError
from noren.judgement.page_text import printable
from noren.judgement.release_facts import release_facts
from noren.retention.joint_release import JointPart, joint
from noren.tables import Texts
from noren.tabulations.tabulation import read_tables
from noren.work.hash_chain import canonical, digest_of

say = Texts(__name__)
Adjacency = Literal["row", "customer"]


class Spent(BaseModel):
    """ε and δ of one or several releases together."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    epsilon: float = Field(ge=0)
    delta: float = Field(default=0.0, ge=0, le=1)


class _TableNotes(Spent):
    """What a table of noisy counts says of its noise."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, strict=True)

    adjacency: Adjacency


class RecordedRelease(BaseModel):
    """A release that a ledger counts beside its periods: its k, of retention, and its ε and δ by adjacency.

    Exact tables have neither.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    kind: Literal["tables", "retention"]
    rows: int
    k: float | None = None
    spent: Mapping[Adjacency, Spent] = {}
    digest: str
    noise: str | None = None
    """Of retention whose seed is at hand, the digest of it and of what else decides the noise."""


class RecordedReleases(BaseModel):
    """All that was recorded, in order, with a digest that tells accidental changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    releases: tuple[RecordedRelease, ...] = ()
    digest: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Whether the digest fits."""
        return self.digest == _digest(self.releases)

    @property
    def spent(self) -> dict[Adjacency, Spent]:
        """The sums of ε and δ, those of different adjacency apart."""
        sums: dict[Adjacency, Spent] = {}
        for adjacency, spent in ((name, spent) for release in self.releases for name, spent in release.spent.items()):
            before = sums.get(adjacency, Spent(epsilon=0))
            epsilon, delta = round(before.epsilon + spent.epsilon, 12), round(before.delta + spent.delta, 15)
            sums[adjacency] = Spent(epsilon=epsilon, delta=min(delta, 1.0))
        return sums

    @property
    def joint_k(self) -> float | None:
        """The k of several releases by retention for somebody who can link their rows; None where they have none."""
        parts = [JointPart(r.name, (), r.rows, (r.k - 1) / (r.rows - 1)) for r in self.releases if r.k is not None]
        with contextlib.suppress(ParameterError):  # of different tables
            return joint(parts).k if len(parts) > 1 else None
        return None

    def sentences(self) -> list[str]:
        """Return what is spent of ε, a sentence for each adjacency."""
        each = self.spent.items()
        return [say(f"together.{name}", epsilon=f"{s.epsilon:g}", delta=f"{s.delta:g}") for name, s in each]

    def plus(self, release: RecordedRelease, limit: float | None = None) -> RecordedReleases:
        """Return them with one more; stop where it is known already, or takes ε above a limit."""
        for other in self.releases:
            if other.digest == release.digest:
                raise InputError(say("recorded_already", name=other.name))
            if release.noise is not None and other.noise == release.noise:
                raise CheckFailedError(say("same_noise", name=release.name, other=other.name))
        if limit is not None and release.kind == "retention" and not release.spent:
            raise CheckFailedError(say("unknown_epsilon", name=release.name))
        releases = (*self.releases, release)
        more = RecordedReleases(releases=releases, digest=_digest(releases))
        epsilon = max((more.spent[adjacency].epsilon for adjacency in release.spent), default=0.0)
        if limit is not None and epsilon > limit + 1e-12:
            values = {"epsilon": f"{epsilon:g}", "limit": f"{limit:g}"}
            raise CheckFailedError(say("over_budget", name=release.name, **values))
        return more


def weighed(folder: str | Path) -> RecordedRelease:
    """Return what a folder of tables, or of a release by retention, adds; nothing is written."""
    folder, spent = Path(folder), dict[Adjacency, Spent]()
    name = printable(folder.resolve().name)
    if not (folder / "tables.json").exists():
        k = 1.0
        if (folder / "statement.json").exists():
            release = Release.load(folder)
            facts = release_facts(release)
            k = round(facts.proven_k or k, 6)  # 1 where statement and rows contradict each other
        if k <= 1:
            raise FileError(say("not_recordable"), file=folder)
        if facts.privacy is not None:
            spent[facts.privacy.adjacency] = Spent(epsilon=facts.privacy.epsilon, delta=facts.privacy.delta)
        rows, digest = len(release.public), RowDigest.of(release.public.lines()).text(release.public.schema.names)
        seed, attributes = release.secret.seed, release.statement.notes["attributes"]
        noise = None if seed is None else digest_of(canonical([seed, attributes]))
        return RecordedRelease(name=name, kind="retention", rows=rows, k=k, spent=spent, digest=digest, noise=noise)
    tables, each = read_tables(folder), []
    for table in tables:
        if table.notes.get("kind") == "exact":
            continue
        try:
            notes = _TableNotes.model_validate(table.notes)
        except ValidationError:
            raise FileError(say("no_epsilon", table=table.name), file=folder / "tables.json") from None
        spent = {notes.adjacency: Spent(epsilon=notes.epsilon, delta=notes.delta)}
        each.append(RecordedRelease(name=table.name, kind="tables", rows=len(table.frame), spent=spent, digest=""))
    files = [folder / "tables.json", *(folder / f"{table.name}.csv" for table in tables)]
    digest = digest_of(canonical([digest_of(path.read_bytes()) for path in files]))
    rows, spent = sum(len(table.frame) for table in tables), RecordedReleases(releases=tuple(each)).spent
    return RecordedRelease(name=name, kind="tables", rows=rows, spent=spent, digest=digest)


def _digest(releases: tuple[RecordedRelease, ...]) -> str:
    return digest_of(canonical([release.model_dump(mode="json") for release in releases])) if releases else ""
