"""Read a project's file: guess its columns, keep answers to questions, write it as Parquet with all that pages show."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from noren.data.formats.files import writing_file
from noren.data.formats.source import Source, SourceLike, explain_damage
from noren.data.formats.text_files import column_names, reject_other_columns
from noren.data.formats.text_layout import DELIMITERS
from noren.data.formats.workbooks import excel_sheet
from noren.data.frames import History, Records, Table
from noren.data.guessing.column_types import understanding
from noren.data.guessing.schema_guess import SchemaGuess, guess_schema
from noren.data.reading import read, write
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import FormatError
from noren.i18n import _, in_every_language, retranslate
from noren.progress import Progress
from noren.reports.profile import profile
from noren.studio.folders import DATA_FILE, SOURCE_FILE, Folders, write_json
from noren.studio.forms.columns import LEAVE_OUT, OF_THE_FILE, TABLE_ROLES, Answers, content_of, left_out, schema_of
from noren.studio.hierarchies import FACTS, FOLDER, forget_categories, make_hierarchies, refresh_categories
from noren.tables import Texts

say = Texts(__name__)

MOST_COLUMNS: Final = 1_000
"""Columns of a file that a page can ask a person about."""
_FIRST_LINE: Final = 1 << 20
_OF_A_COLUMN: Final = frozenset({"format", "number", "role"})
ENDINGS: Final = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".xlsx", ".xlsm", ".xls", ".ods")
"""How files are named that can be read; a file is known by its content, and by its name where that does not tell."""
_GUESSED, _READ, _WRITTEN, _PROFILED = 0.1, 0.6, 0.75, 0.9
_NO_PLAIN_VALUES: Final = (
    pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_duration,
    pa.types.is_fixed_size_binary,
)  # fmt: skip


@dataclass
class _Draft:
    """What is known before rows are read.

    ``names`` are the columns of the file, in its order. Of those that are ``open`` nothing says what they are for;
    those that are ``unreadable`` hold no plain values (lists, bytes) and are left out. ``questions`` are what the guess
    could not decide, in each language, ``answers`` what a person answered so far, to which the guess keeps.
    ``examples`` are of each column a cell as it stands in the file, and the value it means.
    """

    schema: Schema
    names: list[str]
    form: dict[str, Any]
    leave_out: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    guessed: bool = False
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def toml(self) -> str:
        """The schema, without a role where nobody said one."""
        content = tomllib.loads(self.schema.to_toml())
        for name in self.open:
            del content["columns"][name]["role"]
        return tomli_w.dumps(content)

    def facts(self) -> dict[str, Any]:
        left_out = [name for name in self.names if name not in self.schema.names]
        same = ("unreadable", "open", "questions", "answers", "guessed", "examples")
        about = {"form": self.form, "file_columns": self.names, "left_out": left_out}
        return about | {name: getattr(self, name) for name in same}


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Read the project's source by its schema, or by a guessed one."""
    files = Folders(Path(order["root"]))
    place = files.project(order["project"])
    progress(0.02, _("looking at the file"))
    records, draft = _known(order, folder) if "file_name" not in order else _file(order, files, folder, progress)
    progress(_READ, _("writing the data"))
    write(records, folder / DATA_FILE)
    (folder / "schema.toml").write_text(draft.toml, encoding="utf-8")
    progress(_WRITTEN, _("counting values"))
    profiled = profile(records)
    write_json(folder / "profile.json", profiled)
    for name in (DATA_FILE, "schema.toml", "profile.json"):
        (folder / name).replace(place / name)
    progress(_PROFILED, _("building hierarchies"))
    lost: list[str] = []  # what a person gave beside the data and does not fit any more
    if isinstance(records, Table):
        forget_categories(place)
        lost = make_hierarchies(records, place)
    else:
        shutil.rmtree(place / FOLDER, ignore_errors=True)
        (place / FACTS).unlink(missing_ok=True)
        if isinstance(records, History):
            lost = refresh_categories(records, place)
    progress(1.0)
    return draft.facts() | {
        "rows": len(records),
        "kind": str(records.schema.kind),
        "schema": records.schema.name,
        "columns": list(records.schema.names),
        "people": profiled["history"]["customers"] if profiled["history"] else len(records),
        "missing": sum(column["missing"] for column in profiled["columns"]),
        "replaced": lost,
    }


def _known(order: dict[str, Any], folder: Path) -> tuple[Records, _Draft]:
    """Return a sample or a public data set, its columns by another schema where one was given."""
    records: Records
    if "sample" in order:
        from noren.api import sample
        from noren.data.samples.people import sample_people

        form = {"kind": "sample", "name": order["sample"]}
        if order["sample"] == "people":
            records = sample_people(rows=4_000, seed=1)
        else:
            records = sample(customers=400, rows=12_000, items=900, seed=1)
    else:
        from noren.data.catalog import open_dataset

        records, form = open_dataset(order["dataset"]).data, {"kind": "catalog", "name": order["dataset"]}
    names = list(records.schema.names)
    if "schema" not in order:
        return records, _Draft(records.schema, names, form)
    schema, out = Schema.from_toml(order["schema"]), order["leave_out"]
    draft = _Draft(schema, names, form, out)
    _keep(draft, folder)
    reject_other_columns(form["name"], [name for name in names if name not in out], schema)
    if schema.kind == Kind.TABLE:
        return Table.of(records.frame, schema), draft
    made = History.of(records.frame, schema)
    return replace(made, master=records.master) if isinstance(records, History) else made, draft


@contextlib.contextmanager
def named_by_ending(uploaded: Path, folder: Path, file_name: str) -> Iterator[Path]:
    """Yield an upload under a name of ours with its own ending: readers look at that too, as on the command line."""
    path = folder / f"source{next((e for e in ENDINGS if file_name.lower().endswith(e)), '.bin')}"
    path.unlink(missing_ok=True)
    try:
        os.link(uploaded, path)
    except OSError:  # a disk without links
        path.symlink_to(uploaded)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _file(order: dict[str, Any], files: Folders, folder: Path, progress: Progress) -> tuple[Records, _Draft]:
    with named_by_ending(files.project(order["project"]) / SOURCE_FILE, folder, order["file_name"]) as path:
        source = Source.open(path)
        schema = Schema.from_toml(order["schema"]) if "schema" in order else None
        form: dict[str, Any] = {"kind": source.kind}
        if source.kind == "parquet":
            with explain_damage(source.path, "Parquet"):
                names = list(pq.read_schema(source.path).names)
        elif source.kind == "excel":
            sheet = excel_sheet(source) if schema is None else excel_sheet(source, schema.text.sheet, schema.names)
            names = list(sheet.frame.columns)
        else:
            with source.unpacked() as file:  # before anything is made of a line that is no header
                line = file.read(_FIRST_LINE).split(b"\n", 1)[0]
            _reject_too_many(1 + max(line.count(sign.encode()) for sign in DELIMITERS), source.path)
            text = source.text_form() if schema is None else source.text_form(schema.text, schema.names)
            form = {"kind": "text", "encoding": text.encoding, "delimiter": text.delimiter, "header": text.header}
            names = column_names(text)
        _reject_too_many(len(names), path)
        draft = _draft(order, source, names, form)
        _keep(draft, folder)
        progress(_GUESSED, _("reading rows"))
        schema = draft.schema
        omitted = [name for name in draft.leave_out if name in names and name not in schema.names]
        if omitted and set(schema.names) <= set(names):
            # with the columns left out in their places, as texts: a file without a header needs them all
            own = {column.name: column for column in schema.columns}
            own |= {name: Column(name=name, role=Role.OTHER, optional=True) for name in omitted}
            schema = schema.model_copy(update={"columns": tuple(own[name] for name in names if name in own)})
        records = read(source, schema).data
        left = [name for name in records.schema.names if name not in draft.schema.names]
        if left:
            records = replace(records, frame=records.frame.drop(left), schema=records.schema.without(left))
        return records, replace(draft, schema=records.schema)


def _keep(draft: _Draft, folder: Path) -> None:
    write_json(folder / "draft.json", draft.facts() | {"toml": draft.toml, "leave_out": draft.leave_out})


def _draft(order: dict[str, Any], source: Source, names: Sequence[str], form: dict[str, Any]) -> _Draft:
    """Return what the columns mean: as told, or as guessed and answered."""
    answers = order.get("answers", [])
    if "schema" in order:
        schema, questions = Schema.from_toml(order["schema"]), order.get("questions", [])
        # cells that were shown before, with the values that they mean by this schema
        examples = order.get("examples", {})
        cells = {name: example[0] for name, example in examples.items() if example[0] and name in schema.names}
        read_as = [understanding(pl.Series(name, [cell]), schema[name]) for name, cell in cells.items()]
        return _Draft(
            schema,
            list(names),
            form,
            leave_out=order["leave_out"],
            questions=questions,
            answers=answers,
            examples={reading.column: (reading.example, reading.value) for reading in read_as},
        )
    guess = guessed_with(source, answers)
    # columns of a Parquet file that hold lists or bytes, and no plain values
    odd = [
        field.name
        for field in (pq.read_schema(source.path) if source.kind == "parquet" else ())
        if any(is_one(field.type) for is_one in _NO_PLAIN_VALUES)
    ]
    out = [name for name in (*odd, *left_out(answers)) if name in guess.schema.names]
    schema = guess.schema.model_copy(update={"name": "custom"}).without(out)
    answered = {answer["column"] for answer in answers if answer["about"] == "role"}
    return _Draft(
        schema,
        list(names),
        form,
        leave_out=[*odd, *left_out(answers)],
        open=[c.name for c in schema.columns if c.role == Role.OTHER and c.name not in answered],
        questions=questions_in_every_language(guess),
        answers=answers,
        unreadable=odd,
        guessed=True,
        examples={reading.column: (reading.example, reading.value) for reading in guess.understood},
    )


def _reject_too_many(count: int, source: Path) -> None:
    if count > MOST_COLUMNS:
        raise FormatError(say("too_many_columns", count=count, most=MOST_COLUMNS), file=source, row=1)


def give_role(
    place: Path, facts: Mapping[str, Any], answers: Answers, column: str, value: str
) -> dict[str, Any] | None:
    """Give a column another role in the data as they were read, or leave it out; return what is known of them now.

    None where values would be read in another way, or other purchases be counted: then the file tells.
    """
    schema = before = Schema.from_toml((place / "schema.toml").read_text(encoding="utf-8"))
    # roles that tell nothing of purchases
    roles = {*TABLE_ROLES, LEAVE_OUT} if schema.kind == Kind.TABLE else {Role.IDENTIFIER, Role.OTHER, LEAVE_OUT}
    if column not in schema.names or not {schema[column].role, value} <= roles:
        return None
    profiled = json.loads((place / "profile.json").read_text(encoding="utf-8"))
    about = dict(zip(schema.names, profiled["columns"], strict=True))
    if value == LEAVE_OUT:
        schema = schema.without([column])
        del about[column]
        records = read(place / DATA_FILE, before).data
        write(replace(records, frame=records.frame.drop(column), schema=schema), place / DATA_FILE)
    else:
        own = schema[column].model_copy(update={"role": Role(value)})
        schema = schema.model_copy(update={"columns": tuple(own if c.name == column else c for c in schema.columns)})
        about[column]["role"] = value
    open_ = [name for name in facts["open"] if name != column]
    draft = _Draft(
        schema, list(facts["file_columns"]), dict(facts["form"]), open=open_, answers=[dict(entry) for entry in answers]
    )
    with writing_file(place / "schema.toml", private=True) as aside:
        aside.write_text(draft.toml, encoding="utf-8")
    write_json(place / "profile.json", profiled | {"columns": list(about.values())})
    table = read(place / DATA_FILE, schema).data if Role.QUASI in (before[column].role, value) else None
    if isinstance(table, Table):
        make_hierarchies(table, place)
    missing = sum(one["missing"] for one in about.values())
    same = {name: facts[name] for name in ("unreadable", "questions", "guessed", "examples")}
    return dict(facts) | draft.facts() | same | {"columns": list(schema.names), "missing": missing}


def guessed_with(source: SourceLike, answers: Answers) -> SchemaGuess:
    """Return what the columns of a file mean, guessed where nobody answered."""
    of_file = {entry["about"]: entry["value"] for entry in answers if entry["about"] in OF_THE_FILE}
    kind = Kind(of_file["kind"]) if "kind" in of_file else None
    guess = guess_schema(source, kind=kind, customer=of_file.get("customer"))
    of_columns = [entry for entry in answers if entry["about"] in _OF_A_COLUMN and entry["value"] != LEAVE_OUT]
    own = [entry for entry in of_columns if entry["column"] in guess.schema.names]
    if not own:
        return guess
    content = content_of(guess.schema)
    columns = {about["name"]: about for about in content["columns"]}
    for entry in own:
        columns[entry["column"]][entry["about"]] = entry["value"]
    return replace(guess, schema=schema_of(content))


def questions_in_every_language(guess: SchemaGuess) -> list[dict[str, Any]]:
    """Return the questions of a guess as plain data, each text in every language.

    Texts remember what they say (:func:`~noren.i18n.track_messages`), so nothing is guessed twice.
    """
    return [
        {
            "about": asks.about,
            "column": asks.column,
            "chosen": asks.chosen,
            "stops": asks.stops,
            "text": in_every_language(partial(retranslate, asks.text)),
            "answers": [
                {"value": answer.value, "label": in_every_language(partial(retranslate, answer.label))}
                for answer in asks.answers
            ],
        }
        for asks in guess.questions
    ]
