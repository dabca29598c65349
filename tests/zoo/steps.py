"""The way of one file through the command line: guess, protect, attack, measure, report, publish."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from tests.zoo.animal import Animal, Reading
from tests.zoo.outcome import CommandResult, Outcome, judged, noren

from noren.data.frames import Records
from noren.data.reading import read
from noren.data.schema import Schema
from noren.errors import NorenError
from noren.methods import methods

__all__ = ["CHEAP", "METHODS", "STEPS", "Visit", "leaked"]

STEPS = ("protect", "attack", "measure", "report", "publish")
METHODS: dict[str, tuple[str, ...]] = {
    "pseudonymize": (),
    "generalize-by-count": ("--k", "2"),
    "generalize": ("--k", "2", "--effort", "quick"),
    "microaggregate": ("--k", "2", "--effort", "quick"),
    "monthly-pseudonyms": (),
    "perturb": (),
    "pseudo-records": ("--clusters", "2", "--effort", "quick"),
    "swap": (),
    "thin": (),
    "mondrian": ("--k", "2"),
    "hierarchy": ("--k", "2", "--suppression", "0.5"),
    "retention": ("--rho", "0.8"),
}
"""Every method with parameters under which small files are quick; ``chain`` is tried with two of them."""
CHAIN = {
    "history": '[[step]]\nmethod = "thin"\n\n[[step]]\nmethod = "pseudonymize"\n',
    "table": '[[step]]\nmethod = "retention"\nrho = 0.8\nattributes = {attributes}\n\n'
    '[[step]]\nmethod = "mondrian"\nk = 2\n',
}
CHEAP = {"history": "pseudonymize", "table": "mondrian"}
_ASKED_ALOUD = {"kind", "customer", "format", "number"}
_LONG_ENOUGH = 5
_SEED = 731_046_582_904_117


@dataclass
class Visit:
    """One animal on its way: its file, what is known of it, and what came of each step."""

    animal: Animal
    folder: Path
    file: Path = field(init=False)
    schema: Path = field(init=False)
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        home = self.folder / "file"
        home.mkdir(parents=True)
        self.file = self.animal.write(home)
        self.schema = self.folder / "schema.toml"

    # --- reading -----------------------------------------------------------------------------------------------------

    def guess(self) -> Outcome:
        """Guess the schema, answer as the file's owner would, and hold what was read against the right reading."""
        first = noren("schema", "guess", self.file, "--json", "--out", self.schema)
        outcome = judged("guess", first)
        if outcome.verdict != "ok":
            return outcome if outcome.verdict == "BROKEN" else Outcome("guess", "WRONG", f"refused: {outcome.detail}")
        questions = first.json["questions"]
        about = {question["about"] for question in questions}
        needless = (about & _ASKED_ALOUD) - self.animal.asks - self.animal.may_ask
        if needless:
            text = next(question["text"] for question in questions if question["about"] in needless)
            return Outcome("guess", "WRONG", f"asked without need: {text}")
        if self.animal.asks and not about & self.animal.asks:
            return Outcome("guess", "WRONG", f"nobody asked about {' or '.join(sorted(self.animal.asks))}")
        answer = first
        needs_answer = bool(about & self.animal.asks) or any(question["stops"] for question in questions)
        if needs_answer and self.animal.flags:
            self.flags = self.animal.flags
            answer = noren("schema", "guess", self.file, "--json", "--out", self.schema, *self.flags)
            if answer.code:
                return Outcome("guess", "BROKEN", f"the answer {' '.join(self.flags)} is not taken: {answer.sentence}")
        if needs_answer:
            self._answer_formats()
        wrong = self._wrong(answer)
        if wrong:
            return Outcome("guess", "WRONG", wrong)
        return Outcome("guess", "asked" if needs_answer else "ok")

    def _answer_formats(self) -> None:
        """Write into the schema how the owner writes dates."""
        schema = Schema.load(self.schema)
        columns = tuple(
            column.model_copy(update={"format": self.animal.formats.get(column.name, column.format)})
            for column in schema.columns
        )
        self.schema.write_text(schema.model_copy(update={"columns": columns}).to_toml(), encoding="utf-8")

    def _wrong(self, answer: CommandResult) -> str:
        """Say where the reading differs from the right one, or nothing."""
        right, guessed = self.animal.reading, answer.json["schema"]
        if guessed["kind"] != right.kind:
            return f"taken for a {guessed['kind']}, and is a {right.kind}"
        found = {column["name"]: column for column in guessed["columns"]}
        if set(found) != set(right.columns):
            return f"columns {', '.join(map(str, list(found)[:6]))} in place of {', '.join(list(right.columns)[:6])}"
        for name, column in found.items():
            if column["role"] not in right.roles(name):
                return f"{name} taken for {column['role']}, and is {right.columns[name].split()[0]}"
        for name, column in found.items():
            types = right.types(name)
            if types and column["type"] not in types:
                return f"{name} read as {column['type']}, and is {'|'.join(sorted(types))}"
        try:
            records = self.records()
        except NorenError as error:
            return f"the guessed schema does not read its own file: {error}"
        return _wrong_values(records, right)

    def records(self) -> Records:
        """Read the file as the pipeline does."""
        return read(self.file, self.schema).data

    def ids(self) -> set[str]:
        """Return what names a person in this file, as far as it is too long to occur by chance."""
        wanted = {"customer"} if self.animal.reading.kind == "history" else {"identifier"}
        names = [name for name in self.animal.reading.columns if self.animal.reading.roles(name) == wanted]
        frame = self.records().frame
        found: set[str] = set()
        for name in names:
            if name in frame.columns:
                found |= set(frame[name].cast(pl.String).drop_nulls())
        return {one for one in found if len(one) >= _LONG_ENOUGH}

    # --- the way -----------------------------------------------------------------------------------------------------

    def methods(self) -> list[str]:
        """Return the methods for data of this kind, whether or not they will find the columns they need."""
        kind = self.animal.reading.kind
        return [name for name in methods if kind in {str(one) for one in methods[name].accepts}]

    def way(self, method: str) -> Iterator[Outcome]:
        """Yield what comes of protect, attack, measure, report and publish, one after another."""
        place = self.folder / method
        place.mkdir()
        # whoever was asked about dates has the answer in a schema; all others type the file, and the flags that answer
        known = ("--schema", str(self.schema)) if self.animal.formats else self.flags
        release, guesses, out = place / "release", place / "guesses", place / "public"
        protect = noren(
            "protect", self.file, *known, *self._parameters(method, place), "--seed", _SEED, "--out", release, "--json"
        )
        outcome = judged("protect", protect)
        yield outcome
        if outcome.verdict != "ok":
            yield from (Outcome(step, "–") for step in STEPS[1:])
            return
        attack = noren("attack", self.file, release, *known, "--attacks", "all", "--out", guesses, "--json")
        yield _with_json(judged("attack", attack), attack)
        more = ("--guess", guesses) if guesses.is_dir() else ()
        measure = noren("measure", self.file, release, *known, "--measures", "all", *more, "--json")
        yield _with_json(judged("measure", measure), measure)
        page = place / "report.html"
        report = judged("report", noren("report", self.file, release, *known, "--out", page))
        if report.verdict == "ok" and "</html>" not in page.read_text(encoding="utf-8"):
            report = Outcome("report", "BROKEN", "the page is not whole")
        yield report
        publish = judged("publish", noren("publish", release, "--out", out, "--override", "for the zoo", "--json"))
        if publish.verdict == "ok":
            names = leaked(self.ids(), sorted(out.rglob("*")))
            publish = Outcome("publish", "BROKEN", f"published: {names}") if names else publish
        yield publish

    def _parameters(self, method: str, place: Path) -> Sequence[object]:
        if method == "chain":
            steps = place / "chain.toml"
            attributes = json.dumps(self._categories(), ensure_ascii=False)
            text = CHAIN[self.animal.reading.kind].replace("{attributes}", attributes)
            steps.write_text(text, encoding="utf-8")
            return ("--chain", steps)
        if method == "retention":
            categories = self._categories()
            return (
                "--method",
                method,
                *METHODS[method],
                *(("--attributes", ",".join(categories)) if categories else ()),
            )
        if method == "hierarchy":
            return ("--method", method, *METHODS[method], "--hierarchies", self._hierarchies(place))
        return ("--method", method, *METHODS[method])

    def _categories(self) -> list[str]:
        """Return some columns of a table with few values: what noise that keeps some values is for."""
        if not self.schema.exists():
            return []
        columns = Schema.load(self.schema).with_role("quasi", "sensitive")
        return [column.name for column in columns if column.domain and "," not in column.name][:3]

    def _hierarchies(self, place: Path) -> Path:
        """Write the first hierarchies that the studio would make."""
        from noren.data.frames import Table
        from noren.studio.hierarchies import FOLDER, make_hierarchies

        records = self.records()
        if isinstance(records, Table):
            make_hierarchies(records, place)
        (place / FOLDER).mkdir(exist_ok=True)
        return place / FOLDER


def _with_json(outcome: Outcome, answer: CommandResult) -> Outcome:
    """Look whether what was printed is one JSON object with results."""
    if outcome.verdict != "ok":
        return outcome
    try:
        results = answer.json["results"]
    except (json.JSONDecodeError, KeyError) as error:
        return Outcome(outcome.step, "BROKEN", f"no results: {error}")
    return outcome if results else Outcome(outcome.step, "BROKEN", "done, and nothing to show for it")


# --- values ----------------------------------------------------------------------------------------------------------


def _wrong_values(records: Records, right: Reading) -> str:
    if len(records) != right.rows:
        return f"{len(records)} rows in place of {right.rows}"
    if right.kind == "history":
        name = next(name for name in right.columns if right.roles(name) == {"customer"})
        people = records.frame[name].drop_nulls().n_unique()
        if people != right.people:
            return f"{people} people in place of {right.people}"
    for row, column, value in right.cells:
        found = records.frame[column][row - 1]
        if not _same(found, value):
            return f"row {row}, {column}: {found!r} in place of {value!r}"
    return ""


def _same(found: object, right: object) -> bool:
    """Tell whether a cell holds the right value; a moment counts as its day, a number as its text."""
    if right is None or found is None:
        return found is right
    if isinstance(found, dt.datetime) and not isinstance(right, dt.datetime):
        return found.date() == right
    if isinstance(right, int | float):
        return isinstance(found, int | float | str) and math.isclose(float(found), right, rel_tol=1e-9)
    if isinstance(right, str) and isinstance(found, int):
        return str(found) == right.lstrip("0")
    return found == right


def leaked(ids: set[str], files: Iterable[Path]) -> str:
    """Return a name of a person that published files hold, or nothing."""
    texts = []
    for file in files:
        if file.suffix == ".parquet":
            texts += _cells(pl.read_parquet(file))
        if file.is_file():
            texts.append(file.read_bytes().decode("latin-1"))
    text = "\n".join(texts)
    words = set(re.findall(r"\w+", text))
    for one in sorted(ids):
        if one in words or (not one.isalnum() and one in text):
            return one
    return ""


def _cells(frame: pl.DataFrame) -> list[str]:
    """Return every value of a frame as text, also those inside sets and intervals."""
    texts: list[str] = []
    for name in frame.columns:
        column: Any = frame.select(name)
        while isinstance(column.dtypes[0], pl.List):
            column = column.explode(name)
        if isinstance(column.dtypes[0], pl.Struct):
            column = column.unnest(name)
        for part in column.iter_columns():
            texts += part.cast(pl.String).drop_nulls().to_list()
    return texts
