"""Originals and releases prepared for scoring, targets, and sketches of files.

The same original is read for every file and the same release for every guess about it, so they are cached by the
digests of file and rulebook, up to a memory limit.

Attackers get the rows of a release in random order with random pseudonyms. The submitted file is in the original's row
order, which would disclose everything, and a team could hide information in its pseudonyms. Both are replaced by random
draws (:mod:`noren.contest.receipts`) that are unknown before the salt is published.
Rows and pseudonyms are numbered by their position in the submitted file, so two files that differ only in the names of
pseudonyms give the same target, byte for byte.

Each pseudonym gets one new name: if a release uses a pseudonym again, for example in another month, so does its target.

The similarity of two teams' files is estimated from sketches that are small enough for the log (bottom-k MinHash).
Every row is a number drawn by its text; a sketch keeps the 256 smallest. Of the smallest of two files together, those
that both have estimate the overlap (Jaccard), off by 0.03 at most in nineteen cases of twenty, and without error where
neither file has more rows than a sketch. Pseudonyms are left out, because copies are usually renamed.

References
----------
A. Broder, On the resemblance and containment of documents, 1997; E. Cohen, H. Kaplan, Summarizing data using bottom-k
sketches, 2007.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.api import attack as run
from noren.contest.judging.submissions import read_texts, row_numbers
from noren.contest.receipts import permutation
from noren.contest.rulebook import Rulebook
from noren.data.checks.report import read_sheet
from noren.data.contest_files import SUPPRESSED, spelled_as_original, text_file, write_guess, write_lines
from noren.data.formats.files import file_digest
from noren.data.formats.render import Spelling
from noren.data.formats.source import limit_decoded_size
from noren.data.frames import History, Records, Table
from noren.data.guessing import Question
from noren.data.periods import periods_of
from noren.data.reading import read, read_public
from noren.data.release import Release, Statement
from noren.data.schema import PRESETS, Kind, Role, Schema
from noren.errors import FileError, SchemaError
from noren.i18n import _
from noren.progress import Progress, silent
from noren.tables import Texts

say = Texts(__name__)
LARGEST = 256 * 2**20
"""Bytes of a submitted file: the final data of 2018 take 3 MB, and 20 MB with sets of 50 items in every row."""
_MOST_KEPT = 2**29
_UNKNOWN = Statement(method="unknown")
Cached = TypeVar("Cached")


@dataclass(frozen=True)
class Prepared:
    """A release that was read.

    Its pseudonyms are renamed at random, the same way in all contests, because attacks choose the first of equals by
    name and the names of a team must not affect scores.

    Attributes
    ----------
    rows
        The rows of the submitted file in its order: those of the original, deleted ones being rows of nulls, and then
        those that were inserted.
    live
        The places of the rows that are not deleted.
    names
        ``own``, the pseudonyms of the submitted file in order of first appearance, and ``pseudonym``, what they are
        called here.
    release
        The rows as a release: public rows, and the secret that follows from their order.
    """

    original: Records
    rows: Records
    live: NDArray[np.int64]
    names: pl.DataFrame
    release: Release


class _BoundedCache(Generic[Cached]):
    """A cache of recent values, up to a number of bytes; threads wait for each other."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.RLock()
        self._entries = OrderedDict[tuple[str, ...], tuple[Cached, int]]()

    def get(self, key: tuple[str, ...], make: Callable[[], tuple[Cached, int]]) -> Cached:
        with self._lock:
            entry = self._entries.get(key) or make()
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > 1 and sum(size for _made, size in self._entries.values()) > self._most:
                self._entries.popitem(last=False)
            return entry[0]


_originals: _BoundedCache[Records] = _BoundedCache(_MOST_KEPT)
_releases: _BoundedCache[Prepared] = _BoundedCache(_MOST_KEPT)


def original_of(rulebook: Rulebook, path: Path, master: Path | None = None) -> Records:
    """Return the data of a round; errors in them are the organiser's and are raised."""

    def make() -> tuple[Records, int]:
        text = rulebook.data_schema  # if empty, the format is guessed from the data
        schema = None if not text else Schema.preset(text) if text in PRESETS else Schema.from_toml(text)
        kind = None if text else rulebook.kind
        data = read(path, schema, master=master, kind=kind, stop_at=_reject_open_questions).data
        if data.schema.kind != rulebook.kind:
            raise SchemaError(say("kind_of_data", wanted=rulebook.kind, kind=data.schema.kind))
        return data, int(data.frame.estimated_size())

    keys = (rulebook.digest, file_digest(path), "" if master is None else file_digest(master))
    return _originals.get(keys, make)


def prepare(rulebook: Rulebook, original: Path, submitted: Path, master: Path | None = None) -> Prepared:
    """Return a release prepared for scoring; errors in it are the team's and are raised."""
    limit_decoded_size(submitted, LARGEST)
    data = original_of(rulebook, original, master)

    def make() -> tuple[Prepared, int]:
        schema = data.schema.model_copy(update={"guessed": False})
        if schema.official == "pwscup2017":
            records = _read_at(submitted, schema, len(data))
        else:
            records = read(submitted, schema).data if schema.official else records_of(submitted, schema)
        if len(records) < len(data):
            raise FileError(say("row_count", rows=len(records), expected=len(data)))
        rows, names = records, pl.DataFrame(schema={"own": pl.String, "pseudonym": pl.String})
        if isinstance(records, History):  # under pseudonyms that do not depend on what they were called
            column = schema.role(Role.CUSTOMER).name
            own = records.frame[column].drop_nulls().unique(maintain_order=True)
            drawn = pl.Series(permutation(b"", "noren pseudonyms", len(own)) + 1).cast(pl.String)
            rows = replace(records, frame=records.frame.with_columns(pl.col(column).replace_strict(own, drawn)))
            names = pl.DataFrame({"own": own, "pseudonym": drawn})
        aligned = rows.take(pl.Series(np.arange(len(data))))
        inserted = rows.take(pl.Series(np.arange(len(data), len(rows)))) if len(rows) > len(data) else None
        # the contest of 2017 gives a pseudonym for each month, the month being the original's
        monthly = data.schema.official == "pwscup2017"
        periods = periods_of(data[Role.DATE]) if monthly else None
        release = Release.of_aligned(data, aligned, _UNKNOWN, periods=periods, inserted=inserted)
        gone = rows.frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        made = Prepared(data, rows, np.flatnonzero(~gone.to_numpy()), names, release)
        return made, 2 * int(records.frame.estimated_size())

    return _releases.get((rulebook.digest, file_digest(original), file_digest(submitted)), make)


def _reject_open_questions(questions: Sequence[Question]) -> None:
    if questions:
        raise SchemaError(str(questions[0]), _("write the schema of the data into the rulebook"))


def _read_at(path: Path, schema: Schema, count: int) -> Records:
    """Read AT as the official checker does: blank lines are skipped, missing rows are deleted rows.

    A price or quantity of 0 is accepted, so the schema's minimum does not hold here.
    """
    cells = read_sheet(path, schema.names).rows.select(schema.names).head(count)
    customer = schema.role(Role.CUSTOMER).name
    gone = pl.when(pl.col(customer) != "DEL")
    cells = cells.with_columns(gone.then(pl.col(n)).otherwise(pl.lit("")) for n in schema.names if n != customer)
    missing = {name: "DEL" if name == customer else "" for name in schema.names}
    cells = pl.concat([cells, pl.DataFrame([missing] * (count - len(cells)), schema=cells.schema)])
    loose = tuple(column.model_copy(update={"minimum": None}) for column in schema.columns)
    with TemporaryDirectory(prefix="noren-") as folder:
        write_lines(cells, Path(folder) / "AT.csv")
        rows = read(Path(folder) / "AT.csv", schema.model_copy(update={"columns": loose})).data
    return replace(rows, schema=schema)


def records_of(path: Path, schema: Schema) -> Records:
    """Return the rows of a file without an official format; a table may lack identifying columns."""
    cells, _first_row = read_texts(path, schema)
    present = schema.without([name for name in schema.names if name not in cells.columns])
    build = History if schema.kind == Kind.HISTORY else Table
    return build.of_release(cells, present)


_FIRST_NAME = 100_001
_NOBODY = "\0"
"""Prefix of names that the target does not have: no pseudonym of a release begins with it."""


def make_target(rulebook: Rulebook, original: Path, submitted: Path, salt: bytes, label: str) -> bytes:
    """Return the target of a valid release, the file for attackers.

    Parameters
    ----------
    salt, label
        The seed of the random draws: the contest's salt, and ``contest/round/submission``.
    """
    release = prepare(rulebook, original, submitted)
    places = release.live[permutation(salt, f"{label}/rows", len(release.live))]
    rows, schema = release.rows.take(pl.Series(places)), release.rows.schema
    texts = spelled_as_original(rows, "" if schema.official in ("pwscup2016", "pwscup2017") else SUPPRESSED)
    if isinstance(rows, History):
        names = target_names(release, salt, label)
        column = schema.role(Role.CUSTOMER).name
        texts = texts.with_columns(pl.col(column).replace_strict(names["pseudonym"], names["target"]))
    return text_file(texts.select(schema.names), schema)


def target_names(release: Prepared, salt: bytes, label: str) -> pl.DataFrame:
    """Return each pseudonym of a release, by its ``own`` name and that of the prepared release, and of the target.

    Names are whole numbers that are no customer's, which every format allows.
    """
    count = len(release.names)
    drawn = permutation(salt, f"{label}/pseudonyms", count)
    customers = release.original[Role.CUSTOMER].cast(pl.String).drop_nulls().unique()
    some = pl.int_range(_FIRST_NAME, _FIRST_NAME + count + len(customers), eager=True).cast(pl.String)
    free = some.filter(~some.is_in(customers.implode()))
    return release.names.with_columns(target=free.gather(drawn))


def guess_about_release(pairs: pl.DataFrame, release: Prepared, salt: bytes, label: str) -> pl.DataFrame:
    """Translate a guess about a target to the names, or row numbers, of the release."""
    if release.rows.schema.kind == Kind.TABLE:
        # of each row of the target, its row of the original
        places = release.live[permutation(salt, f"{label}/rows", len(release.live))]
        public = pl.DataFrame({"place": release.release.secret.origin.cast(pl.Int64)}).with_row_index("public")
        back = pl.DataFrame({"row": row_numbers(len(places)), "place": places}).join(public, on="place", how="left")
        both = pairs.join(back, on="row", how="left", maintain_order="left")
        inserted = pl.lit("-") + pl.col("row")  # matches nobody, but stays a separate row
        return both.select(row=pl.coalesce((pl.col("public") + 1).cast(pl.String), inserted), person="person")
    names = target_names(release, salt, label)
    unknown = pl.lit(_NOBODY) + pl.col("pseudonym")
    known = pl.col("pseudonym").replace_strict(names["target"], names["pseudonym"], default=None)
    return pairs.with_columns(pseudonym=pl.coalesce(known, unknown))


def write_attack(
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
    """Attack a target and write the guess; return its number of rows."""
    data = original_of(rulebook, original)
    public = target_rows(target, data)
    guess = run(data, public, attack, seed=seed, progress=progress, **parameters)
    return write_pairs_of(guess.answers, out, data, public)


def target_rows(target: Path, data: Records) -> Records:
    """Return the rows of a target, whose cells may be sets and ranges in any format."""
    if data.schema.official is not None:
        return read_public(target, data)
    return records_of(target, data.schema.model_copy(update={"guessed": False}))


def write_pairs_of(pairs: pl.DataFrame, out: Path, data: Records, public: Records) -> int:
    """Write a guess as a contest takes it: each pseudonym once, and periods only where the format has them."""
    if data.schema.official != "pwscup2017" and "pseudonym" in pairs.columns:
        pairs = pairs.select("pseudonym", "customer").drop_nulls()
        pairs = pairs.unique("pseudonym", keep="first", maintain_order=True)
    write_guess(pairs, out, data, public)
    return len(pairs)


# --- near duplicates --------------------------------------------------------------------------------------------------

_KEPT = 256
_BYTES = 6
_ODD = np.uint64(0x9E3779B97F4A7C15)
_STIR = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))

Sketch = dict[str, Any]


def sketch_of_release(release: Prepared) -> Sketch:
    """Return the sketch of a release: what became of each original row, and its inserted rows."""
    rows = replace(release.rows, spelling=Spelling())
    named = [column.name for column in rows.schema.with_role(Role.CUSTOMER)]
    cells = rows.texts().drop(named)[release.live]
    return sketch_of(cells, np.minimum(release.live, len(release.original)))


def sketch_of(cells: pl.DataFrame, places: NDArray[np.int64] | None = None) -> Sketch:
    """Return the sketch of rows of texts; two rows are equal if their cells are, and their places where given.

    The rows of a guess are its pairs: who is named for what.
    """
    drawn = np.zeros(len(cells), np.uint64) if places is None else places.astype(np.uint64)
    for name in cells.columns:
        texts = cells[name].fill_null("")
        values = texts.unique()  # each different text is looked at once; its number is the same on every machine
        numbers = b"".join(hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values)
        table = pl.Series(np.frombuffer(numbers, ">u8").astype(np.uint64))
        number = texts.replace_strict(values, table, return_dtype=pl.UInt64).to_numpy()
        # what differs in a few bits is spread over all of them (the finalizer of SplitMix64)
        drawn = drawn * _ODD + number
        drawn = (drawn ^ (drawn >> np.uint64(30))) * _STIR[0]
        drawn = (drawn ^ (drawn >> np.uint64(27))) * _STIR[1]
        drawn ^= drawn >> np.uint64(31)
    rows = np.unique(drawn >> np.uint64(64 - 8 * _BYTES))
    least = rows[:_KEPT].astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - _BYTES :]
    return {"rows": len(rows), "least": base64.b64encode(least.tobytes()).decode()}


def similarity(sketch: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> float:
    """Return the share of equal rows of two files, relative to the larger one; 0 if one has no rows.

    >>> ann = sketch_of(pl.DataFrame({"pseudonym": ["1", "2", "3", "4"], "customer": ["a", "b", "c", "d"]}))
    >>> bob = sketch_of(pl.DataFrame({"pseudonym": ["4", "1", "2"], "customer": ["d", "a", "c"]}))
    >>> similarity(ann, bob), similarity(ann, ann)
    (0.5, 1.0)
    """
    if not (sketch and other and sketch["rows"] and other["rows"]):
        return 0.0
    sizes = int(sketch["rows"]), int(other["rows"])
    first, second = _least(sketch), _least(other)
    together = np.union1d(first, second)
    if max(sizes) > _KEPT:
        together = together[:_KEPT]
    both = int((np.isin(together, first) & np.isin(together, second)).sum())
    # of n and m rows with a Jaccard overlap of J, J / (1 + J) · (n + m) are in both
    common = both * sum(sizes) / (len(together) + both)
    return min(1.0, common / max(sizes))


def _least(sketch: Mapping[str, Any]) -> NDArray[np.uint64]:
    packed = np.frombuffer(base64.b64decode(sketch["least"]), np.uint8).reshape(-1, _BYTES)
    whole = np.zeros((len(packed), 8), np.uint8)
    whole[:, 8 - _BYTES :] = packed
    return whole.view(">u8").ravel().astype(np.uint64)
