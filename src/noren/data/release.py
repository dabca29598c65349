"""A release: what a method returns.

Three parts that never mix. The *public* part is the data to publish. The *secret* part lets the steward judge and
undo: the pseudonym map, where each public row came from, the seed and the digest of the input. The *statement* says
what was done and promised. On disk a release is a folder::

    public.parquet        the data, rows in an order that says nothing about the original's
    statement.json        method, parameters, promise, version; no seed
    secret/               pseudonyms.parquet, origin.parquet, run.json (seed, digest); readable by you alone

The seed is secret: who holds the original and the seed can run the method again and read off the pseudonym map.
:meth:`Release.publish` copies the public part and the statement, and nothing else but a data card made from them.

:class:`RowDigest` is one digest of rows, whatever their order and however they lie in files. Each row's text is hashed
to eight 64-bit numbers, and these are added up, each lane modulo 2⁶⁴. Sums do not depend on the order, rows that come
twice count twice, and sums of parts are the sum of the whole. The digest is the SHA-256 of the columns' names, the
number of rows and the sums.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from noren.data.cells import in_texts, is_interval, with_occurring_domain
from noren.data.contest_files import (
    DELETED,
    SUPPRESSED,
    published,
    spelled_as_original,
    text_file,
    write_rows,
    write_truth,
)
from noren.data.formats.files import FolderKind, writing_folder
from noren.data.formats.parquet import checked_frame, parquet_blocks, parquet_parts, parquet_rows
from noren.data.formats.parse import in_calendar
from noren.data.formats.render import order_by_text
from noren.data.frames import Card, Cells, History, Records, brief, records_of
from noren.data.public_part import published_schema, published_statement, scanned
from noren.data.schema import Column, Role, Scale, Schema
from noren.data.statement import Statement as Statement
from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.progress import Progress, silent
from noren.tables import Texts

say = Texts(__name__)

_DELETED = np.iinfo(np.uint32).max

_SCHEMA_KEY = b"noren.schema"
SCHEMA_FILE = "_schema.toml"
"""Where a public part of many files keeps its schema; one file carries it in its own notes."""
_BLOCK_ROWS = 1 << 20
TOTALS = "totals"
"""The folder of public tables beside a public part."""


def _unsigned(folder: Path) -> str | None:
    """Return the public part or the statement where Noren did not write it; the public part carries its schema."""
    try:
        if schema_in(folder / "public.parquet") is None:
            return "public.parquet"
        _read_json(folder / "statement.json", {"method": str, "noren": str}, {})
    except (OSError, pa.ArrowException):
        return "public.parquet"
    except FileError:
        return "statement.json"
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        totals = folder / TOTALS
        listed = json.loads((totals / "tables.json").read_text(encoding="utf-8")) if totals.exists() else {}
        if {path.stem for path in totals.glob("*.csv")} == set(listed):
            return None
    return TOTALS


def schema_in(path: Path) -> str | None:
    """Return the schema that the public part of a release carries, as text; None where it carries none."""
    if path.is_dir():
        beside = path / SCHEMA_FILE
        return beside.read_text(encoding="utf-8") if beside.is_file() else None
    with pq.ParquetFile(path) as file, contextlib.suppress(UnicodeDecodeError):
        text = (file.schema_arrow.metadata or {}).get(_SCHEMA_KEY)
        return None if text is None else text.decode()
    return None


# a cluster writes folders of parts where one machine writes a file
_PUBLIC_FILES = ("public.parquet", "public.parquet/*", "statement.json", "public.csv")
_CARD_FILES = ("card.*.html", "card.*.md", "load_public.py")
_SECRET_FILES = (
    *("pseudonyms.parquet", "pseudonyms.parquet/*", "origin.parquet", "origin.parquet/*"),
    *("run.json", "A.csv", "F.csv"),
)
PUBLISHED = FolderKind((*_PUBLIC_FILES, *_CARD_FILES, "totals/tables.json", "totals/*.csv"), _unsigned)
"""A folder that was published; another release may replace it."""
RELEASE = FolderKind((*_PUBLIC_FILES, *(f"secret/{name}" for name in _SECRET_FILES)), _unsigned)
"""A folder with a release, whose secret part may be there or not."""


@dataclass(frozen=True)
class Secret:
    """The secret part of a release, which must not be published.

    Attributes
    ----------
    pseudonyms
        ``pseudonym``, ``customer`` (and ``period`` where pseudonyms change with time).
    origin
        For each public row the position (from 0) of the original row it stands for; null for an inserted row.
    original_rows
        How many rows the original has.
    seed, digest
        What the run started from, and the SHA-256 of the original's rows.
    """

    pseudonyms: pl.DataFrame
    origin: pl.Series
    original_rows: int
    seed: int | None = None
    digest: str | None = None

    @classmethod
    def empty(cls) -> Secret:
        """Return the empty secret of a release whose secret part is not available."""
        nobody = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})
        return cls(nobody, pl.Series("row", [], dtype=pl.UInt32), 0)

    def people_of_rows(self) -> pl.DataFrame:
        """Return whose row of a table each is, people being rows of the original: texts that count from 1."""
        rows = pl.int_range(1, len(self.origin) + 1, eager=True)
        both = pl.DataFrame({"pseudonym": rows, "customer": self.origin.cast(pl.Int64) + 1})
        return both.drop_nulls().cast(pl.String)

    def __repr__(self) -> str:
        return f"Secret({self.original_rows} original rows; contents withheld)"


@dataclass(frozen=True, repr=False)
class Release:
    """Public data, the secret that explains them, and a statement.

    Printed, or shown in a notebook, it tells the public part and the statement, never the secret.
    """

    public: Records
    secret: Secret
    statement: Statement

    def __repr__(self) -> str:
        chosen = " (default method)" if self.statement.notes.get("method") == "default" else ""
        by = ", ".join(filter(None, (f"{self.statement.method}{chosen}", self._parameters())))
        people = f" of {len(self.public.customers):,} pseudonyms" if isinstance(self.public, History) else ""
        return f"Release by {brief(by, 200)}: {len(self.public):,} rows{people}; secret withheld"

    def _parameters(self) -> str:
        return ", ".join(
            f"{name} = {' + '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
            for name, value in self.statement.parameters.items()
            if value not in (None, (), [], {}, "")
        )

    def _repr_html_(self) -> str:
        """Return how a notebook shows the release: method, promise, the first rows of the public part."""
        statement, public = self.statement, self.public
        facts = [(_("parameters"), parameters)] if (parameters := self._parameters()) else []
        facts += [(_("promise"), _(statement.promise))] if statement.promise else []
        facts.append((_("rows"), f"{len(public):,}"))
        if isinstance(public, History):
            facts.append((_("pseudonyms"), f"{len(public.customers):,}"))
        facts.append((_("secret part"), _("withheld") if self.has_secret else _("not here")))
        return Card(_("release"), statement.method, facts, public.first_rows(missing="*")).html()

    def to_polars(self, *, cells: Cells = "text") -> pl.DataFrame:
        """Return the public part as a Polars frame; ``cells`` is as in :meth:`Records.to_polars`.

        >>> from noren.data.frames import Table
        >>> from noren.data.schema import Schema
        >>> ages = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
        >>> public = Table.of_release({"age": ["[20;29]", "31"]}, ages)
        >>> release = Release.of_aligned(Table.of({"age": [25, 31]}, ages), public, Statement("by hand"))
        >>> release.to_polars()["age"].to_list()
        ['31', '[20;29]']
        """
        return self.public.to_polars(cells=cells)

    def to_pandas(self, *, cells: Cells = "text") -> Any:
        """Return the public part as a pandas data frame; see :meth:`Records.to_pandas`."""
        return self.public.to_pandas(cells=cells)

    @classmethod
    def of_aligned(
        cls,
        original: Records,
        aligned: Records,
        statement: Statement,
        *,
        seed: int | None = None,
        periods: pl.Series | None = None,
        inserted: Records | None = None,
        pseudonyms: pl.DataFrame | None = None,
        deleted: pl.Series | None = None,
        scan: bool = True,
    ) -> Release:
        """Make a release of rows that stand in the original's order, deleted rows being rows of nulls.

        The public part drops deleted rows and is sorted by its own text, so its order tells nothing. Texts of
        ``aligned`` may be numbered (:class:`polars.Enum`), which takes less memory; those of the public part are not.

        Parameters
        ----------
        periods
            The period of every original row, where pseudonyms change with time.
        inserted
            Rows without an original, under pseudonyms of ``aligned``; the secret part alone tells them from others.
        pseudonyms
            Who is behind each pseudonym (``pseudonym``, ``customer`` and, where they change, ``period``), where rows
            changed hands: left out, a pseudonym is that of the customers whose rows stand under it.
        deleted
            Rows of a table that are not released although their cells still stand in ``aligned``.
        scan
            Whether to refuse a public part that identifies people (:mod:`noren.data.public_part`); False for rows that
            somebody else released, on which a verdict is asked.
        """
        if len(original) != len(aligned):
            raise ParameterError(say("other_row_count", rows=len(aligned), original=len(original)))
        if pseudonyms is None and not isinstance(aligned, History):
            pseudonyms = Secret.empty().pseudonyms
        elif pseudonyms is None:
            both = pl.DataFrame({"pseudonym": aligned[Role.CUSTOMER], "customer": original[Role.CUSTOMER]})
            both = both if periods is None else both.with_columns(periods.alias("period"))
            # block by block, for pairs are far fewer than rows
            blocks = (both[start : start + _BLOCK_ROWS] for start in range(0, max(len(both), 1), _BLOCK_ROWS))
            pairs = [block.drop_nulls("pseudonym").unique(maintain_order=True) for block in blocks]
            pseudonyms = pl.concat(pairs).unique(maintain_order=True)
        if scan and isinstance(aligned, History):  # of a table methods drop identifiers, or put pseudonyms there
            aligned = aligned.without([c.name for c in aligned.schema.with_role(Role.IDENTIFIER)])
        every = aligned
        if inserted is not None:  # the spelling of the first rows stays
            names = aligned.schema.names
            every = replace(aligned, frame=pl.concat(rows.frame.select(names) for rows in (aligned, inserted)))
        gone = every.frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        gone = gone if deleted is None else gone | deleted
        order = order_by_text(every.frame, every.schema.columns, every.spelling)
        order = order.filter(~gone.gather(order)) if gone.any() else order
        origin = order.set(order >= len(original), None).alias("row")
        secret = Secret(pseudonyms, origin, len(original), seed, original.digest())
        ordered = every.take(order)
        frame = ordered.frame.with_columns(in_texts(values) for values in ordered.frame)
        unspelled = replace(ordered, frame=frame, spelling=replace(ordered.spelling, newline="\n", final_newline=True))
        return cls(unspelled, secret, scanned(unspelled, statement, original, origin) if scan else statement)

    def then(self, second: Release) -> Release:
        """Return the release of this one's original that ``second`` makes of it, ``second`` being of our public part.

        A pseudonym stands for whomever its customer, a pseudonym of ours, stood for: ``F = F₂ ∘ F₁``. A row stands for
        the original row that its row stood for, or for none where either was inserted: ``origin = origin₁[origin₂]``.
        The period of a pseudonym is the one that ``second`` knows, else ours. Chaining is associative, so a chain is
        the same however its steps are grouped.
        """
        if len(self.secret.origin) != len(self.public) or second.secret.digest != self.public.digest():
            raise ParameterError(say("other_first_release"))
        ours, theirs = self._one_customer_each(), second.secret.pseudonyms
        known = ours.select(
            pl.col("pseudonym").cast(pl.String).alias("customer"),
            pl.col("customer").alias("person"),
            *(name for name in ours.columns if name == "period" and name not in theirs.columns),
        )
        theirs = theirs.with_columns(pl.col("customer").cast(pl.String))
        both = theirs.join(known.unique(maintain_order=True), on="customer", how="inner", maintain_order="left_right")
        pseudonyms = both.with_columns(customer="person").drop("person").unique(maintain_order=True)
        origin = self.secret.origin.gather(second.secret.origin).alias("row")
        secret = replace(self.secret, pseudonyms=pseudonyms, origin=origin)
        return Release(second.public, secret, Statement.of_chain([self.statement, second.statement]))

    def _one_customer_each(self) -> pl.DataFrame:
        """Return the pseudonyms; stop where one stands for several customers, as it may in different periods."""
        known = self.secret.pseudonyms
        if known.n_unique(["pseudonym", "customer"]) > known["pseudonym"].n_unique():
            raise ParameterError(say("shared_pseudonym"))
        return known

    def by_name(self) -> Records:
        """Return the public rows under their customers' own names; for the steward alone."""
        if not isinstance(self.public, History):
            return self.public
        column = self.public.schema.role(Role.CUSTOMER).name
        known = self._one_customer_each().select(pl.col("pseudonym").cast(pl.String).alias(column), person="customer")
        pseudonyms = self.public.frame.select(column).with_columns(pl.col(column).cast(pl.String))
        names = pseudonyms.join(known.unique(), on=column, how="left", maintain_order="left")["person"]
        return self.public.with_values(names.alias(column))

    @property
    def deleted_rows(self) -> int:
        """How many original rows have no public row."""
        return self.secret.original_rows - self.secret.origin.drop_nulls().n_unique()

    @property
    def inserted_rows(self) -> int:
        """How many public rows stand for no original row."""
        return self.secret.origin.null_count()

    def aligned(self) -> Records:
        """Return the released rows in the original's order, deleted rows as rows of nulls; for the steward alone."""
        order = self.row_positions()
        frame = self.public.frame.select(pl.all().gather(order))
        back = self.public.spelling.take(order.fill_null(len(self.public)))
        return replace(self.public, frame=frame, spelling=back)

    def row_positions(self) -> pl.Series:
        """Return for each original row the position of its public row, null where it was deleted."""
        origin = self.secret.origin
        places = np.full(self.secret.original_rows, _DELETED, dtype=np.uint32)
        places[origin.drop_nulls().to_numpy()] = origin.is_not_null().arg_true().to_numpy()
        public_rows = pl.Series("public", places)
        return public_rows.set(public_rows == _DELETED, None)

    # --- on disk -----------------------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, official: bool = False, replace_existing: bool = False) -> Path:
        """Write the release as a folder, whole or not at all.

        With ``replace_existing`` a release that stands there is replaced, and nothing else is: a folder that holds a
        file of yours is left as it is (:class:`~noren.errors.OutputError`).
        """
        with writing_folder(folder, replace=replace_existing and RELEASE) as aside:
            self.write_into(aside, official=official)
        return Path(folder)

    def write_into(self, folder: Path, *, official: bool = False) -> None:
        """Write the files of the release into a folder there is."""
        self._write_public(folder, official=official)
        hidden = folder / "secret"
        hidden.mkdir(mode=0o700)
        self.secret.pseudonyms.write_parquet(hidden / "pseudonyms.parquet")
        self.secret.origin.cast(pl.UInt32).to_frame("row").write_parquet(hidden / "origin.parquet")
        run = {"seed": self.secret.seed, "digest": self.secret.digest, "rows": self.secret.original_rows}
        _write_json(hidden / "run.json", run)
        if official:
            public, aligned = self.public, self.aligned()
            if isinstance(public, History) and isinstance(aligned, History) and public.schema.official:
                write_rows(aligned, hidden / "A.csv")
                write_truth(self.secret.pseudonyms, hidden / "F.csv", public)
            else:
                (hidden / "A.csv").write_bytes(submission_of(self))

    def publish(
        self,
        folder: str | Path,
        *,
        official: bool = False,
        replace_existing: bool = False,
        card: Mapping[str, bytes] | None = None,
    ) -> Path:
        """Write the public part and the statement, and the data card that is passed in.

        The public part is looked through once more, and refused where a column identifies people that nobody kept.
        With ``replace_existing`` a published folder is replaced; never one with a secret part or with a file of yours.
        """
        if official and not (isinstance(self.public, History) and self.public.schema.official):
            raise ParameterError(say("no_official_format", schema=self.public.schema.name))
        looked_through = replace(self, statement=scanned(self.public, self.statement))
        with writing_folder(folder, replace=replace_existing and PUBLISHED) as aside:
            looked_through._write_public(aside, official=official)
            for name, content in (card or {}).items():
                (aside / name).parent.mkdir(exist_ok=True)
                (aside / name).write_bytes(content)
        return Path(folder)

    def _write_public(self, folder: Path, *, official: bool) -> None:
        rows = self.public.frame.select(with_occurring_domain(self.public.frame[n]) for n in self.public.schema.names)
        toml = published_schema(self.public.schema, self.statement, rows).to_toml()
        schema = rows[:0].to_arrow().schema.with_metadata({_SCHEMA_KEY: toml.encode()})
        with pq.ParquetWriter(folder / "public.parquet", schema, compression="zstd") as file:
            for start in range(0, max(len(rows), 1), _BLOCK_ROWS):
                file.write_table(rows[start : start + _BLOCK_ROWS].to_arrow().cast(schema))
        _write_json(folder / "statement.json", published_statement(self.statement))
        if official and isinstance(self.public, History) and self.public.schema.official:
            as_published = self.public.schema.official == "pwscup2018"
            write_rows(published(self.public) if as_published else self.public, folder / "public.csv")

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a release folder back; a published one has an empty secret."""
        folder = Path(folder)
        path, hidden = folder / "public.parquet", folder / "secret"
        frame, schema = _read_frame(path), public_schema(path)
        if not set(schema.names) <= set(frame.columns):
            raise _not_a_release(path)
        public = public_block(frame, schema)
        for column in schema.columns:
            if not _holds(public.frame[column.name], column):
                words = say("values_of_other_type", type=column.type)
                raise FileError(words, file=path, column=column.name)
        optional = {"parameters": dict, "promise": str, "noren": str, "notes": dict}
        statement = Statement(**_read_json(folder / "statement.json", {"method": str}, optional))
        if not hidden.exists():
            return cls(public, Secret.empty(), statement)
        run = _read_json(hidden / "run.json", {"rows": int}, {"seed": int | None, "digest": str | None})
        pseudonyms, origin = (_read_frame(hidden / name) for name in ("pseudonyms.parquet", "origin.parquet"))
        rows = range(run["rows"])
        fits = (
            {"pseudonym", "customer"} <= set(pseudonyms.columns)
            and origin.columns == ["row"]
            and origin["row"].dtype.is_integer()
            and len(origin) == len(public)
            and 0 <= run["rows"] < 2**32
            and all(end in rows for end in (origin["row"].min(), origin["row"].max()) if isinstance(end, int))
        )
        if not fits:
            raise FileError(say("secret_mismatch"), file=hidden)
        secret = Secret(pseudonyms, origin["row"], run["rows"], run.get("seed"), run.get("digest"))
        return cls(public, secret, statement)

    @property
    def has_secret(self) -> bool:
        """Whether the secret part is available."""
        return self.secret.original_rows > 0


def submission_of(release: Release) -> bytes:
    """Return a release as a file for submission: all rows in the original's order, then inserted rows.

    A pseudonym that is a customer's name would be rejected, except in the format of 2018; then all get a prefix. Their
    names have no other effect, because targets are renamed at random.
    """
    every = [release.aligned()]
    inserted = release.secret.origin.is_null().arg_true()
    if len(inserted):
        every.append(release.public.take(inserted))
    schema = release.public.schema
    if schema.official in ("pwscup2016", "pwscup2017"):
        customer = pl.col(schema.role(Role.CUSTOMER).name)
        texts = pl.concat(rows.texts("") for rows in every).with_columns(customer.replace("", DELETED))
    else:
        texts = pl.concat(spelled_as_original(rows, SUPPRESSED) for rows in every)
    if isinstance(release.public, History) and schema.official != "pwscup2018":
        name, pseudonyms = schema.role(Role.CUSTOMER).name, release.secret.pseudonyms.cast(pl.String)
        customers, names, letters = pseudonyms["customer"].unique().implode(), pseudonyms["pseudonym"].unique(), ""
        while (letters + names).is_in(customers).any():
            letters += "p"
        marked = texts[name].is_in([DELETED, SUPPRESSED])
        texts = texts.with_columns(pl.when(marked).then(pl.col(name)).otherwise(pl.lit(letters) + pl.col(name)))
    return text_file(texts, schema)


def public_schema(path: Path) -> Schema:
    """Return the schema of a release's public part."""
    try:
        text = schema_in(path)
    except (OSError, pa.ArrowException):
        text = None
    if text is None:
        raise _not_a_release(path)
    return Schema.from_toml(text, file=path)


def public_block(frame: pl.DataFrame, schema: Schema) -> Records:
    """Return public rows as they lie in a file; Spark has no clock times, and writes them as whole numbers."""
    clocks = [c.name for c in schema.columns if c.dtype == pl.Time and frame.schema.get(c.name) == pl.Int64]
    frame = frame.with_columns(pl.col(clocks).cast(pl.Time)) if clocks else frame
    return records_of(frame, schema)


def _holds(values: pl.Series, column: Column) -> bool:
    """Tell whether values or cells are of the column's own type, and their days of the calendar."""
    if is_interval(values.dtype) and column.scale != Scale.NOMINAL:
        return all(_holds(values.struct.field(end), column) for end in ("lo", "hi"))
    if column.scale == Scale.NOMINAL:
        dtype = values.dtype.inner if isinstance(values.dtype, pl.List) else values.dtype
        return isinstance(dtype, pl.String | pl.Enum | pl.Categorical)
    if column.scale == Scale.RATIO:
        return values.dtype.is_numeric()
    return values.dtype == column.dtype and in_calendar(values).null_count() == values.null_count()


def _read_frame(path: Path) -> pl.DataFrame:
    """Read a part of a release, block by block: texts that come again are held once."""
    try:
        if blocks := list(parquet_blocks(path)):
            return pl.concat(blocks)
        return checked_frame(pq.read_schema(parquet_parts(path)[0].path).empty_table())
    except FileError:
        raise _not_a_release(path) from None


def _not_a_release(path: Path) -> FileError:
    return FileError(say("not_a_release"), file=path)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _read_json(path: Path, needed: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    """Read a JSON object whose entries are of the given types; others are left out."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise _not_a_release(path) from None
    known = needed | optional
    if not isinstance(content, dict) or not set(needed) <= set(content):
        raise _not_a_release(path)
    fields = {key: value for key, value in content.items() if key in known}
    for key, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, known[key]):
            printable = value if isinstance(value, str | int | float) else type(value).__name__
            raise FileError(say("unexpected_value", key=key), file=path, value=printable)
    return fields


# --- one digest of rows in any order ---------------------------------------------------------------------------------

LANES = 8


@dataclass(frozen=True)
class RowDigest:
    """The sum of some rows' hashes.

    >>> one = RowDigest.of(pl.Series(["a,1", "b,2"])) + RowDigest.of(pl.Series(["c,3"]))
    >>> one.text(["x", "y"]) == RowDigest.of(pl.Series(["c,3", "a,1", "b,2"])).text(["x", "y"])
    True
    >>> one.text(["x", "y"]) == RowDigest.of(pl.Series(["c,3", "a,1", "a,1"])).text(["x", "y"])
    False
    """

    rows: int = 0
    lanes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(LANES, dtype=np.uint64))

    @classmethod
    def of(cls, lines: pl.Series) -> RowDigest:
        """Return the digest of rows, each one line of text."""
        texts: Sequence[str] = lines.to_list()
        hashed = b"".join(hashlib.blake2b(text.encode(), digest_size=8 * LANES).digest() for text in texts)
        each = np.frombuffer(hashed, dtype="<u8").reshape(-1, LANES)
        return cls(len(texts), each.sum(axis=0, dtype=np.uint64))

    def __add__(self, other: RowDigest) -> RowDigest:
        with np.errstate(over="ignore"):
            return RowDigest(self.rows + other.rows, self.lanes + other.lanes)

    def text(self, names: Sequence[str]) -> str:
        """Return the digest as text, for rows with columns of these names."""
        digest = hashlib.sha256("\0".join([*names, str(self.rows)]).encode() + b"\0")
        digest.update(self.lanes.astype("<u8").tobytes())
        return digest.hexdigest()


def public_digest(folder: str | Path, *, progress: Progress = silent) -> tuple[str, int]:
    """Return the digest of a release's public rows, and how many they are; a block is held at a time."""
    path = Path(folder) / "public.parquet"
    schema = public_schema(path)
    rows, whole = parquet_rows(path), RowDigest()
    for block in parquet_blocks(path):
        whole += RowDigest.of(public_block(block, schema).lines())
        progress(whole.rows / rows)
    return whole.text(schema.names), whole.rows
