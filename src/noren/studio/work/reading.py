"""Read a file (or make a sample): the data, what their columns mean, a profile of them, and first hierarchies.

What is known of the file before its rows are read (form, columns, guessed schema) is written to ``draft.json`` in the
job's folder at once: where a row is wrong, a person mends the schema instead of starting again. The project's own files
change together, at the end, when everything went well.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from noren.data.formats.binary_files import excel_frame, is_excel, is_parquet, parquet_blocks, saying_damage
from noren.data.formats.files import open_bytes
from noren.data.formats.parse import Place, parse_values
from noren.data.formats.scan import DELIMITERS, scan_text
from noren.data.formats.text_files import BLOCK_BYTES, column_names, stop_at_other_columns
from noren.data.frames import History, Records, Table
from noren.data.guess import SAMPLE_ROWS, Guess, guess_columns, guess_schema
from noren.data.reading import read, read_blocks, write
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import FormatError
from noren.i18n import LANGUAGES, _, speaking
from noren.progress import Progress
from noren.studio.folders import Folders, write_json
from noren.studio.hierarchies import forget_hierarchies, make_hierarchies
from noren.studio.small_files import forget_categories, refresh_categories
from noren.study.profile import profile

__all__ = ["MOST_COLUMNS", "do"]

MOST_COLUMNS: Final = 1_000
"""Columns of a file that a page can ask a person about."""
_FIRST_LINE: Final = 1 << 20
_ENDINGS: Final = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xlsm")
_GUESSED, _READ, _WRITTEN, _PROFILED = 0.1, 0.6, 0.75, 0.9


@dataclass
class _Draft:
    """What is known before rows are read.

    Attributes
    ----------
    names
        The columns of the file, in its order.
    open
        The columns of which nothing says what they are for.
    questions
        What the guess could not decide, in each language.
    unreadable
        Columns that hold no plain values (lists, bytes); they are left out.
    """

    schema: Schema
    names: list[str]
    form: dict[str, Any]
    leave_out: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    questions: list[dict[str, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    guessed: bool = False

    @property
    def toml(self) -> str:
        """The schema, without a role where nobody said one."""
        content = tomllib.loads(self.schema.to_toml())
        for name in self.open:
            del content["columns"][name]["role"]
        return tomli_w.dumps(content)

    def facts(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "file_columns": self.names,
            "left_out": [name for name in self.names if name not in self.schema.names],
            "unreadable": self.unreadable,
            "open": self.open,
            "questions": self.questions,
            "guessed": self.guessed,
        }


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Read the project's source by its schema, or by a guessed one."""
    files, project = Folders(Path(order["root"])), order["project"]
    progress(0.02, _("looking at the file"))
    records, draft = _known(order, folder) if "file_name" not in order else _file(order, files, folder, progress)
    progress(_READ, _("writing the data"))
    write(records, folder / "data.parquet")
    (folder / "schema.toml").write_text(draft.toml, encoding="utf-8")
    progress(_WRITTEN, _("counting values"))
    found = profile(records)
    write_json(folder / "profile.json", found)
    for name, target in (("data.parquet", files.data), ("schema.toml", files.schema), ("profile.json", files.profile)):
        (folder / name).replace(target(project))
    progress(_PROFILED, _("building hierarchies"))
    lost = _beside(records, files.project(project))
    progress(1.0)
    return draft.facts() | {
        "rows": len(records),
        "kind": str(records.schema.kind),
        "schema": records.schema.name,
        "columns": list(records.schema.names),
        "people": found["history"]["customers"] if found["history"] else len(records),
        "missing": sum(column["missing"] for column in found["columns"]),
        "replaced": lost,
    }


def _beside(records: Records, project: Path) -> list[str]:
    """Make what methods read beside the data; return what of it a person gave and does not fit any more."""
    if isinstance(records, Table):
        forget_categories(project)
        return make_hierarchies(records, project)
    forget_hierarchies(project)
    return refresh_categories(records, project) if isinstance(records, History) else []


# --- data that are known ---------------------------------------------------------------------------------------------


def _known(order: dict[str, Any], folder: Path) -> tuple[Records, _Draft]:
    """Return a sample or a public data set, its columns by another schema where one was given."""
    if "sample" in order:
        records, form = _sample(order["sample"]), {"kind": "sample", "name": order["sample"]}
    else:
        from noren.data.catalog import open_dataset

        records, form = open_dataset(order["dataset"]).data, {"kind": "catalog", "name": order["dataset"]}
    names = list(records.schema.names)
    draft = _Draft(records.schema, names, form)
    if "schema" in order:
        draft = replace(draft, schema=Schema.from_toml(order["schema"]), leave_out=order["leave_out"])
        _keep(draft, folder)
        records = _typed_anew(records, draft)
    return records, draft


def _typed_anew(records: Records, draft: _Draft) -> Records:
    schema = draft.schema
    stop_at_other_columns(draft.form["name"], [n for n in draft.names if n not in draft.leave_out], schema)
    if schema.kind == Kind.TABLE:
        return Table.of(records.frame, schema)
    made = History.of(records.frame, schema)
    return replace(made, master=records.master) if isinstance(records, History) else made


def _sample(kind: str) -> Records:
    from noren.api import sample

    if kind == "people":
        from noren.data.samples.people import sample_people

        return sample_people(rows=4_000, seed=1)
    return sample(customers=400, rows=12_000, items=900, seed=1)


# --- files -----------------------------------------------------------------------------------------------------------


def _file(order: dict[str, Any], files: Folders, folder: Path, progress: Progress) -> tuple[Records, _Draft]:
    source = _with_ending(files.source(order["project"]), order["file_name"], folder)
    try:
        if is_parquet(source):
            return _parquet(source, order, folder, progress)
        if is_excel(source):
            return _excel(source, order, folder)
        return _text(source, order, folder, progress)
    finally:
        source.unlink(missing_ok=True)


def _with_ending(source: Path, name: str, folder: Path) -> Path:
    """Return the upload under a name of ours with its own ending: readers look at that too, as on the command line."""
    ending = next((e for e in _ENDINGS if name.lower().endswith(e)), ".bin")
    there = folder / f"source{ending}"
    there.unlink(missing_ok=True)
    try:
        os.link(source, there)
    except OSError:  # a disk without links
        there.symlink_to(source)
    return there


def _keep(draft: _Draft, folder: Path) -> None:
    write_json(folder / "draft.json", draft.facts() | {"toml": draft.toml, "leave_out": draft.leave_out})


def _draft(order: dict[str, Any], names: Sequence[str], form: dict[str, Any], guess: Guess | None) -> _Draft:
    """Return what the columns mean: as told, or as guessed."""
    if guess is None:
        return _Draft(Schema.from_toml(order["schema"]), list(names), form, leave_out=order["leave_out"])
    schema = guess.schema.model_copy(update={"name": "custom"})
    unsaid = [column.name for column in schema.columns if column.role == Role.OTHER]
    return _Draft(schema, list(names), form, open=unsaid, guessed=True)


def _parquet(source: Path, order: dict[str, Any], folder: Path, progress: Progress) -> tuple[Records, _Draft]:
    with saying_damage(source, "Parquet"):
        own, rows = pq.read_schema(source), pq.read_metadata(source).num_rows
    _stop_at_too_many(len(own.names), source)
    readable = [f.name for f in own if not _is_unreadable(f.type)]
    guess = None if "schema" in order else _guessed_parquet(source, readable)
    draft = _draft(order, own.names, {"kind": "parquet"}, guess)
    if guess is not None:
        draft.unreadable = draft.leave_out = [name for name in own.names if name not in readable]
    _keep(draft, folder)
    stop_at_other_columns(source, [n for n in own.names if n not in draft.leave_out], draft.schema)
    blocks, row = [], 1
    for block in parquet_blocks(source, columns=list(draft.schema.names)):
        blocks.append(parse_values(block, draft.schema, Place(source, row)))
        row += len(block)
        _tell(progress, row / max(rows, 1))
    if not blocks:
        return read(source, draft.schema).data, draft  # which says why
    return _records(pl.concat(blocks), draft.schema), draft


def _guessed_parquet(source: Path, readable: Sequence[str]) -> Guess:
    head: list[pl.DataFrame] = []
    for block in parquet_blocks(source, columns=list(readable)):
        head.append(block)
        if sum(map(len, head)) >= SAMPLE_ROWS:
            break
    if not head or not readable:
        return guess_schema(source)  # which says why
    return guess_columns(pl.concat(head)[:SAMPLE_ROWS], file=source)


def _is_unreadable(kind: pa.DataType) -> bool:
    odd = (pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_duration)
    return any(is_one(kind) for is_one in odd) or pa.types.is_fixed_size_binary(kind)


def _excel(source: Path, order: dict[str, Any], folder: Path) -> tuple[Records, _Draft]:
    frame = excel_frame(source)
    _stop_at_too_many(frame.width, source)
    guess = None if "schema" in order else guess_columns(frame[:SAMPLE_ROWS], file=source)
    draft = _draft(order, frame.columns, {"kind": "excel"}, guess)
    _keep(draft, folder)
    stop_at_other_columns(source, [n for n in frame.columns if n not in draft.leave_out], draft.schema)
    return _records(parse_values(frame, draft.schema, Place(source, 2)), draft.schema), draft


def _text(source: Path, order: dict[str, Any], folder: Path, progress: Progress) -> tuple[Records, _Draft]:
    with open_bytes(source) as file:
        line = file.read(_FIRST_LINE).split(b"\n", 1)[0]
    _stop_at_too_many(1 + max(line.count(sign.encode()) for sign in DELIMITERS), source)
    guess = None if "schema" in order else guess_schema(source)
    schema = Schema.from_toml(order["schema"]) if guess is None else guess.schema
    form = scan_text(source, schema.text, schema.names)
    told = {"kind": "text", "encoding": form.encoding, "delimiter": form.delimiter, "header": form.header}
    draft = _draft(order, column_names(source, form), told, guess)
    if guess is not None and guess.questions:
        draft.questions = _in_every_language(source)
    _keep(draft, folder)
    progress(_GUESSED, _("reading rows"))
    if draft.schema.official:
        return read(source, draft.schema).data, draft
    whole = _with_left_out(draft)
    blocks, rows, size = [], 0, max(source.stat().st_size, 1)
    for block in read_blocks(source, whole):
        # a text block is BLOCK_BYTES long but for the last
        rows += BLOCK_BYTES
        blocks.append(block.select(draft.schema.names))
        _tell(progress, min(1.0, rows / size))
    if not blocks:
        return read(source, draft.schema).data, draft  # which says why
    return _records(pl.concat(blocks), draft.schema), draft


def _in_every_language(source: Path) -> list[dict[str, str]]:
    asked = []
    for language in LANGUAGES:
        with speaking(language):
            asked.append(guess_schema(source).questions)
    return [dict(zip(LANGUAGES, said, strict=True)) for said in zip(*asked, strict=True)]


def _with_left_out(draft: _Draft) -> Schema:
    """Return the schema with the columns left out in their places, as texts: a file without a header needs them all."""
    left_out = [name for name in draft.leave_out if name in draft.names and name not in draft.schema.names]
    if not left_out or not set(draft.schema.names) <= set(draft.names):
        return draft.schema
    own = {column.name: column for column in draft.schema.columns}
    others = {name: Column(name=name, role=Role.OTHER, optional=True) for name in left_out}
    columns = tuple((own | others)[name] for name in draft.names if name in own or name in others)
    return draft.schema.model_copy(update={"columns": columns})


def _stop_at_too_many(count: int, source: Path) -> None:
    if count > MOST_COLUMNS:
        raise FormatError(
            _("the file has {count:,} columns, more than {most:,}").format(count=count, most=MOST_COLUMNS),
            _("leave out those that nobody needs, or use the command line"),
            file=source,
            row=1,
        )


def _records(frame: pl.DataFrame, schema: Schema) -> Records:
    return History(frame, schema) if schema.kind == Kind.HISTORY else Table(frame, schema)


def _tell(progress: Progress, share: float) -> None:
    progress(_GUESSED + (_READ - _GUESSED) * min(1.0, share), _("reading rows"))
