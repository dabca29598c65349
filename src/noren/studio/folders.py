"""Where the files of projects and jobs lie; no other module makes a path out of an identifier."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from noren.data.formats.files import writing_file

__all__ = ["SOURCE_FILE", "STAGES_FILE", "Folders", "UnknownIdError", "read_json", "write_json"]

SOURCE_FILE = "source.bin"
"""The uploaded file; it is replaced by another, never written to."""
STAGES_FILE = "stages.json"
"""What a cluster did for a run, step by step, beside its other files."""
_ID = re.compile(r"[a-z0-9]{12}")


class UnknownIdError(LookupError):
    """What was given is no identifier of ours."""


class Folders:
    """The files below a studio's folder.

    Identifiers come from addresses, which anybody can type: what is not an identifier of ours has no folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def project(self, project: str) -> Path:
        """Return the folder of a project."""
        return self.root / "projects" / _checked(project)

    def job(self, project: str, job: str) -> Path:
        """Return the folder of a job."""
        return self.project(project) / "jobs" / _checked(job)

    def source(self, project: str) -> Path:
        """Return the uploaded file; its name is ours, whatever the person's file was called."""
        return self.project(project) / SOURCE_FILE

    def data(self, project: str) -> Path:
        """Return the data as they were read."""
        return self.project(project) / "data.parquet"

    def schema(self, project: str) -> Path:
        """Return what the columns mean."""
        return self.project(project) / "schema.toml"

    def profile(self, project: str) -> Path:
        """Return the profile of the data."""
        return self.project(project) / "profile.json"

    def ledger(self, project: str) -> Path:
        """Return the ledger of the project's releases."""
        return self.project(project) / "ledger"


def _checked(name: str) -> str:
    if not _ID.fullmatch(name):
        raise UnknownIdError(name)
    return name


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, or None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file, whole or not at all, for its owner alone."""
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
