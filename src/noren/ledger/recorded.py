"""Releases beside the periods of a ledger: folders of tables and of retention, with their ε, in ``recorded.jsonl``.

What is recorded is about the same people, and draws its noise apart from pseudonyms, so certificates of the periods
stay as they are. By basic composition ε and δ of all that is recorded add up, whatever an attacker can link. They add
up for one adjacency alone: that nobody notices another row says nothing about a customer of many rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from noren.data.formats.files import writing_file
from noren.data.release import Release
from noren.errors import CheckFailedError, FileError, InputError
from noren.judgement.page_text import printable
from noren.judgement.release_facts import release_facts
from noren.ledger.entries import recorded_head
from noren.tables import Texts
from noren.tabulations.tabulation import read_tables
from noren.work.hash_chain import EntryContent, LogEntry, digest_of, entry_of, next_entry, verify

say = Texts(__name__)
Adjacency = Literal["row", "customer"]
_FILE: Final = "recorded.jsonl"


class Spent(BaseModel):
    """ε and δ of one or several releases together."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    epsilon: float = Field(ge=0)
    delta: float = Field(default=0.0, ge=0, le=1)


class RecordedRelease(BaseModel):
    """A release that a ledger counts beside its periods.

    Attributes
    ----------
    k
        Of retention, the k that follows from its noise.
    spent
        ε and δ by adjacency; empty where nothing is differentially private, as exact tables are not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    kind: Literal["tables", "retention"]
    rows: int
    k: float | None = None
    spent: Mapping[Adjacency, Spent] = {}
    digest: str


class _TableNotes(Spent):
    """What a table of noisy counts says of its noise."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, strict=True)

    adjacency: Adjacency


def weighed(folder: str | Path) -> RecordedRelease:
    """Return what a folder of tables, or of a release by retention, adds; nothing is written."""
    folder = Path(folder)
    name = printable(folder.resolve().name)
    if not (folder / "tables.json").exists():
        if not (folder / "statement.json").exists():
            raise FileError(say("not_recordable"), file=folder)
        release = Release.load(folder)
        facts = release_facts(release)
        if facts.proven_k is None:
            raise FileError(say("not_recordable"), file=folder)
        own = facts.privacy
        spent = {} if own is None else {own.adjacency: Spent(epsilon=own.epsilon, delta=own.delta)}
        rows, digest = len(release.public), digest_of(release.public.frame.write_csv().encode())
        return RecordedRelease(name=name, kind="retention", rows=rows, k=facts.proven_k, spent=spent, digest=digest)
    tables = read_tables(folder)
    each = []
    for table in tables:
        if table.notes.get("kind") == "exact":
            continue
        try:
            notes = _TableNotes.model_validate(table.notes)
        except ValidationError:
            raise FileError(say("no_epsilon", table=table.name), file=folder / "tables.json") from None
        each.append({notes.adjacency: Spent(epsilon=notes.epsilon, delta=notes.delta)})
    files = [folder / "tables.json", *(folder / f"{table.name}.csv" for table in tables)]
    digest = digest_of(b"".join(digest_of(path.read_bytes()).encode() for path in files))
    rows = sum(len(table.frame) for table in tables)
    return RecordedRelease(name=name, kind="tables", rows=rows, spent=together(each), digest=digest)


def together(each: Iterable[Mapping[Adjacency, Spent]]) -> dict[Adjacency, Spent]:
    """Return the sums of ε and δ, those of different adjacency apart.

    >>> together([{"row": Spent(epsilon=0.5)}, {"customer": Spent(epsilon=1)}, {"row": Spent(epsilon=0.25)}])["row"]
    Spent(epsilon=0.75, delta=0.0)
    """
    sums: dict[Adjacency, Spent] = {}
    for spent in each:
        for adjacency, one in spent.items():
            other = sums.get(adjacency, Spent(epsilon=0))
            delta = min(round(other.delta + one.delta, 15), 1.0)
            sums[adjacency] = Spent(epsilon=round(other.epsilon + one.epsilon, 12), delta=delta)
    return sums


def joint_k(records: Iterable[RecordedRelease]) -> float | None:
    """Return the k of all releases by retention for somebody who can link their rows; None unless of equal length."""
    parts = [(record.rows, record.k) for record in records if record.k is not None]
    if len({rows for rows, _k in parts}) != 1 or parts[0][0] < 2:
        return None
    odds, others = 1.0, parts[0][0] - 1
    for _rows, k in parts:
        odds *= (k - 1) / others
    return 1 + others * odds


def spent_sentences(spent: Mapping[Adjacency, Spent]) -> list[str]:
    """Return what is spent of ε, a sentence for each adjacency."""
    return [
        say(f"together.{adjacency}", epsilon=f"{sums.epsilon:g}", delta=f"{sums.delta:g}")
        for adjacency, sums in spent.items()
    ]


# --- on disk ---------------------------------------------------------------------------------------------------------


def read_recorded(ledger: Path) -> list[RecordedRelease]:
    """Return what was recorded, in order; stop where it was changed."""
    return [record for _entry, record in _read(ledger)]


def add_recorded(ledger: Path, record: RecordedRelease, limit: float | None) -> None:
    """Record a release unless ε would exceed its limit; whole or not at all."""
    known = _read(ledger)
    for _entry, other in known:
        if other.digest == record.digest:
            raise InputError(say("recorded_already", name=other.name))
    if limit is not None:
        after = together([*(other.spent for _entry, other in known), record.spent])
        for adjacency in record.spent:
            if (epsilon := after[adjacency].epsilon) > limit + 1e-12:
                values: dict[str, Any] = {"name": record.name, "epsilon": f"{epsilon:g}", "limit": f"{limit:g}"}
                raise CheckFailedError(say("over_budget", **values))
    last = known[-1][0] if known else None
    content = EntryContent("recorded", "ledger", record.model_dump(mode="json"))
    entry = next_entry(last, datetime.now(UTC).isoformat(timespec="microseconds"), content)
    with writing_file(ledger / _FILE) as aside:
        aside.write_bytes(b"".join(one.line() for one in [*(entry for entry, _record in known), entry]))
    recorded_head(ledger, entry.digest)


def _read(ledger: Path) -> list[tuple[LogEntry, RecordedRelease]]:
    path, head = ledger / _FILE, recorded_head(ledger)
    if head is None and not path.exists():
        return []
    try:
        found = [entry_of(json.loads(line)) for line in path.read_bytes().splitlines()]
        entries = [entry for entry in found if entry is not None]
        verify(entries)
        # a process ended in between leaves the head one behind
        if len(entries) < len(found) or head not in (entries[-1].digest, entries[-1].previous if entries[1:] else None):
            raise ValueError(path)
        records = TypeAdapter(list[RecordedRelease]).validate_python([entry.body for entry in entries])
    except (OSError, ValueError, IndexError, InputError):
        raise FileError(say("damaged"), file=path) from None
    return list(zip(entries, records, strict=True))
