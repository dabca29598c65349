"""Where the files of a studio lie, who may read them, and what is removed of those that were left half written.

Methods that read files of their own (hierarchies, categories) read those of the project, and no others. A form cannot
name a file of this machine: parameters that are paths are not taken from anybody, they are filled in here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from noren.data.formats.files import writing_file
from noren.errors import ParameterError
from noren.i18n import _
from noren.methods import methods
from noren.methods.chain import Chain
from noren.protocols import Component, Method
from noren.registry import build

SOURCE_FILE = "source.bin"
"""The uploaded file, whatever the person's was called; it is replaced by another, never written to."""
JUDGED_FILE = "judged.bin"
"""A file from elsewhere in the folder of the job that judges it, after which it is removed."""
DATA_FILE = "data.parquet"
"""The data of a project as they were read."""
PAPER_FACTS_FILE = "papers.json"
"""Facts of the papers: the organisation's, a project's or a release's."""
STAGES_FILE = "stages.json"
"""What a cluster did for a run, step by step, beside its other files."""
LOSSES_FILE = "losses.json"
"""What the release of a run lost; it names customers."""
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

    def data(self, project: str) -> Path:
        """Return the data as they were read."""
        return self.project(project) / DATA_FILE

    def schema(self, project: str) -> Path:
        """Return what the columns mean."""
        return self.project(project) / "schema.toml"

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


_OTHERS: Final = 0o077
_OWN = re.compile(
    r"studio\.(sqlite(-wal|-shm|-journal)?|lock)|secret\.key|password\.hash|(machine|papers)\.json|bundle|projects"
    r"|\.(secret\.key|password\.hash|(machine|papers)\.json)\.\w+\.part"
)
HALF_WRITTEN = re.compile(r"upload-[a-z0-9]{12}\.part|\..+\.(part|old)|published-\w+\.part")
_LINKED_SOURCE = re.compile(r"source\.\w+")


def keep_private(root: Path) -> int:
    """Take from others what they may do with the files and folders of a studio; return how many it was.

    The folder itself is closed, too, where it holds nothing but ours.
    """
    there = list(os.scandir(root))
    ours = [entry for entry in there if _OWN.fullmatch(entry.name)]
    changed = sum(_closed(Path(entry.path)) for entry in ours)
    for entry in ours:
        if entry.is_dir(follow_symlinks=False):
            for place, folders, files in os.walk(entry.path, followlinks=False):
                changed += sum(_closed(Path(place, name)) for name in (*folders, *files))
    if len(ours) == len(there):
        changed += _closed(root)
    return changed


def _closed(path: Path) -> bool:
    """Close one file or folder to others; tell whether it was open. Links, pipes and what is not ours stay."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        if not status.st_mode & _OTHERS or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return False
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & ~_OTHERS)
        finally:
            os.close(handle)
        return True
    return False


def remove_leftovers(root: Path) -> int:
    """Remove what a studio or a worker that was killed left half-written; return how many it was.

    Nobody may be at work in the folder. Uploads and readers leave raw data: they must not outlive their process.
    """
    removed = 0
    for project in _folders(root / "projects"):
        if not _ID.fullmatch(project.name):
            continue
        removed += sum(_removed(path) for path in list(project.glob("*")) if HALF_WRITTEN.fullmatch(path.name))
        removed += sum(map(remove_half_written, _folders(project / "jobs")))
    return removed


def remove_half_written(job: Path) -> int:
    """Remove what a worker that is gone left half-written in the folder of its job; return how many it was."""
    left = [p for p in job.glob("*") if HALF_WRITTEN.fullmatch(p.name) or _LINKED_SOURCE.fullmatch(p.name)]
    return sum(map(_removed, left))


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.is_dir() and not path.is_symlink()]


def _removed(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return not path.exists()


StepData = Mapping[str, Any]
"""A method and its parameters: ``{"method": "thin", "parameters": {"share": 0.1}}``."""
PROJECT_FILES: Final = {"hierarchies": "hierarchies", "categories": "categories.csv"}
"""The parameters that are files, and where a project keeps them."""
_UPLOADED: Final = (*PROJECT_FILES.values(), "hierarchies.json", "categories.json", PAPER_FACTS_FILE)
"""What people gave beside the data, and what is known of it."""


def path_fields(component: type[Component]) -> list[str]:
    """Return the parameters of a component that are files."""
    return [
        name
        for name, about in component.model_fields.items()
        if about.annotation is Path or Path in get_args(about.annotation)
    ]


def with_project_files(component: type[Component], typed: Mapping[str, Any], project: Path) -> dict[str, Any]:
    """Return parameters with the project's own files in them."""
    if issubclass(component, Chain):  # its steps could name files
        raise ParameterError(_("list the methods of a chain one after another"))
    parameters = {name.replace("-", "_"): value for name, value in typed.items()}
    for name in path_fields(component):
        if parameters.pop(name, None) is not None:
            raise ParameterError(
                _("{name} cannot be chosen here; upload the file to the project instead").format(name=name)
            )
        there = project / PROJECT_FILES.get(name, "")
        if name in PROJECT_FILES and there.exists():
            parameters[name] = there
    return parameters


def without_paths(component: Component) -> dict[str, Any]:
    """Return the parameters of a component as plain data, without files."""
    hidden = path_fields(type(component))
    return {name: value for name, value in component.parameters().items() if name not in hidden}


def method_of(steps: Sequence[StepData], project: Path) -> Method:
    """Return the method that steps mean: one, or a chain of them."""
    ready = [
        (methods[step["method"]], with_project_files(methods[step["method"]], step.get("parameters", {}), project))
        for step in steps
    ]
    if len(ready) == 1:
        return build(*ready[0])
    return Chain(steps=[{"method": kind.name} | parameters for kind, parameters in ready])


def copy_files(project: Path, made: Path) -> None:
    """Give a new project the data of another, and what people gave beside them; only their owner may read the copy.

    An uploaded file is never written to, only replaced; so a second link to it is a copy that takes no room.
    """
    made.mkdir(parents=True, mode=0o700)
    source = project / SOURCE_FILE
    if source.exists():
        try:
            os.link(source, made / SOURCE_FILE)
        except OSError:  # a disk without links
            _copy_privately(source, made / SOURCE_FILE)
    for extra in (project / name for name in _UPLOADED):
        if extra.is_dir():
            (made / extra.name).mkdir(mode=0o700)
            for file in extra.iterdir():
                _copy_privately(file, made / extra.name / file.name)
        elif extra.exists():
            _copy_privately(extra, made / extra.name)


def _copy_privately(file: Path, target: Path) -> None:
    target.touch(mode=0o600, exist_ok=False)
    shutil.copyfile(file, target)
