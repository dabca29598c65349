"""Small cups' files: originals, releases in their order, and what is behind the pseudonyms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import noren.api as api
from noren.contest.rulebook import Rulebook, preset, read_rulebook
from noren.data.contest_files import write_rows
from noren.data.frames import Records, Table
from noren.data.reading import write
from noren.data.release import Release, submission_of
from noren.data.schema import Role, Schema

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "pwscup2018": ("generalize-by-count", {"k": 3}),
    "pwscup2017": ("monthly-pseudonyms", {}),
    "pwscup2016": ("pseudo-records", {"clusters": 3}),
    "custom": ("generalize-by-count", {"k": 2}),
    "table": ("mondrian", {"k": 3}),
}
SALT, LABEL = bytes(range(32)), "cup/final/abcdefabcdef"

TABLE_BOOK = """
name = "people"
kind = "table"
schema = '''
kind = "table"
[columns]
name = { role = "identifier" }
age = { role = "quasi", type = "integer" }
city = { role = "quasi" }
illness = { role = "sensitive" }
'''
[[terms]]
measure = "table-loss"
[baseline]
attacks = [{ attack = "row-linkage" }]
"""


@dataclass(frozen=True)
class Case:
    rulebook: Rulebook
    original: Path
    submitted: Path
    data: Records
    release: Release

    def with_lines(self, lines: list[str], name: str = "other.csv") -> Path:
        """A file beside the submitted one."""
        path = self.submitted.parent / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    @property
    def lines(self) -> list[str]:
        return self.submitted.read_text(encoding="utf-8").splitlines()


def called_otherwise(case: Case) -> Path:
    """The submitted file with other names for the same pseudonyms."""
    place = case.data.schema.names.index(case.data.schema.role(Role.CUSTOMER).name)
    others = {"DEL": "DEL", "*": "*"}
    lines = []
    for number, line in enumerate(case.lines):
        cells = line.split(",")
        if number or case.data.schema.official:  # not of the header
            cells[place] = others.setdefault(cells[place], str(900_000 - len(others)))
        lines.append(",".join(cells))
    return case.with_lines(lines, "called otherwise.csv")


def rulebook(name: str) -> Rulebook:
    if name == "table":
        return read_rulebook(TABLE_BOOK)
    if name == "custom":
        return read_rulebook(preset("custom").to_toml().replace('schema = ""', 'schema = "sample"'))
    return preset(name)


def made(name: str, folder: Path, *, seed: int = 3) -> Case:
    """Write an original and a release of it as a team submits them."""
    folder.mkdir(parents=True, exist_ok=True)
    data, release = _protected(name, seed)
    original, submitted = folder / "T.csv", folder / "A.csv"
    write_rows(data, original) if data.schema.official else write(data, original)
    submitted.write_bytes(submission_of(release))
    return Case(rulebook(name), original, submitted, data, release)


@cache
def _protected(name: str, seed: int) -> tuple[Any, Release]:
    method, parameters = METHODS[name]
    data = _people() if name == "table" else _purchases("sample" if name == "custom" else name)
    return data, api.protect(data, method, seed=seed, **parameters)


def _purchases(schema: str) -> Records:
    return api.sample(customers=12, rows=200, items=20, seed=1, schema=schema)


def _people() -> Records:
    people = range(20)
    columns = {
        "name": [f"p{i}" for i in people],
        "age": [20 + 7 * i % 31 for i in people],
        "city": [("Nara", "Kobe", "Otsu")[i % 3] for i in people],
        "illness": [("flu", "cold")[i % 2] for i in people],
    }
    return Table.of(columns, Schema.from_toml(rulebook("table").data_schema))
