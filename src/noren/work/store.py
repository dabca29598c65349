"""Units of work and the store of their results: one small JSON file each, written whole or not at all.

A file's name is the address of the unit: the SHA-256 of the function, its arguments, the code it uses, the data it
reads and the units it needs. So a result can never be taken for another, nothing has to be thrown away by hand when
code or data change, and a run that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import noren
from noren.data.catalog import cache_folder, find, verify
from noren.data.formats.files import writing_file, writing_folder
from noren.errors import OutputError

_ROOT = Path(noren.__file__).parent
_NAME = re.compile(r"""["'](noren(?:\.\w+)+)(?::\w+)?["']""")
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)*)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_WORDS_ALONE = ("noren.i18n", "noren.errors", "noren.progress")
# what numbers come out of; a new release of one of them is a reason to compute again
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba", "rustworkx")
_folder: Path | None = None
Scalar = str | int | float | bool


@dataclass(frozen=True)
class WorkUnit:
    """One piece of work, the same in any process: a function at the top of a module, and its arguments."""

    work: Callable[..., Any]
    """Called with the arguments, then with the results of ``needs``; returns plain JSON."""
    arguments: tuple[Scalar, ...] = ()
    data: tuple[str, ...] = ()
    """Data sets of the catalog that it reads; where one is not on this machine, the unit is not run."""
    needs: tuple[WorkUnit, ...] = ()
    wide: bool = False
    """Whether it uses all cores by itself; it is then run alone, in this process."""
    code: str = ""
    """A digest of the code that the result depends on; left out, all that the module of ``work`` imports. A function
    that runs any of many components says which one by it.
    """

    @property
    def name(self) -> str:
        """What the progress bar calls it."""
        return " ".join((self.work.__name__.replace("_", " "), *map(str, self.arguments)))

    def all_data(self) -> tuple[str, ...]:
        """Return the data sets that it or what it needs reads."""
        return tuple(dict.fromkeys((*self.data, *(name for unit in self.needs for name in unit.all_data()))))


def default_folder() -> Path:
    """Return the folder in the user's cache where results of the papers are kept."""
    return cache_folder() / "reproduce"


@dataclass(frozen=True)
class PieceStore:
    """The results under one folder; made for one run, in which neither code nor data change."""

    folder: Path
    _addresses: dict[WorkUnit, str] = field(default_factory=dict, repr=False, compare=False)

    def path(self, unit: WorkUnit) -> Path:
        """Return the file of a unit's result, whether it is there or not."""
        key = address(unit, self._addresses)
        return self.folder / key[:2] / f"{key}.json"

    def load(self, unit: WorkUnit) -> Any:
        """Return a unit's result; raises ``KeyError`` where it is not kept, or its file is damaged."""
        try:
            content = json.loads(self.path(unit).read_text(encoding="utf-8"))
            return content["result"]
        except (OSError, ValueError, TypeError, KeyError):
            raise KeyError(unit.name) from None


def passing(result: Any) -> bool:
    """Tell whether a result is no answer: what it says failed, or rests on what failed.

    >>> passing({"failed": {"en": "no memory"}}), passing({"passing": True}), passing({"value": 1}), passing(3)
    (True, True, False, False)
    """
    return isinstance(result, dict) and bool(result.get("failed") or result.get("passing"))


def save(path: Path, unit: WorkUnit, result: Any) -> Any:
    """Store a unit's result, with a readable description, and return it as it will be read again."""
    content = {"unit": unit.name, "data": list(unit.all_data()), "result": result}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with writing_file(path) as aside:
        aside.write_text(text + "\n", encoding="utf-8", newline="\n")
    return json.loads(text)["result"]


def address(unit: WorkUnit, known: dict[WorkUnit, str] | None = None) -> str:
    """Return what a unit's result is kept under; ``known`` holds addresses that were asked for before."""
    known = {} if known is None else known
    if unit not in known:
        work = unit.work
        content = {
            "work": f"{work.__module__}:{work.__qualname__}",
            "arguments": unit.arguments,
            "code": unit.code or code_digest(work.__module__),
            "data": {name: data_digest(name) for name in unit.data},
            "needs": [address(other, known) for other in unit.needs],
        }
        known[unit] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return known[unit]


def pending_units(
    units: Sequence[WorkUnit],
    store: PieceStore,
    done: dict[WorkUnit, Any],
    *,
    fresh: bool = False,
    whole: Callable[[WorkUnit, Any], bool] = lambda unit, result: True,
) -> list[WorkUnit]:
    """Put stored results into ``done`` and return the other units, with what they need, each unit once.

    With ``fresh`` nothing is taken from the store; ``whole`` tells whether the other files of a unit are there as well.
    """
    left: dict[WorkUnit, None] = {}

    def look(unit: WorkUnit) -> None:
        if unit in done or unit in left:
            return
        if not fresh:
            try:
                result = store.load(unit)
            except KeyError:
                pass
            else:
                if whole(unit, result):
                    done[unit] = result
                    return
        for other in unit.needs:
            look(other)
        left[unit] = None

    for unit in units:
        look(unit)
    return list(left)


def data_digest(name: str) -> str:
    """Return the SHA-256 of the files of a data set on this machine, which must be the ones the catalog knows."""
    files = [
        (role, file)
        for role, path in sorted(find(name).paths.items())
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    return _digest(name, tuple((role, file, file.stat().st_size, file.stat().st_mtime_ns) for role, file in files))


@cache
def _digest(name: str, files: tuple[tuple[str, Path, int, int], ...]) -> str:
    """Read files once; what tells them apart from others is their size and when they were changed."""
    verify(find(name))
    digest = hashlib.sha256()
    for role, file, _size, _changed in files:
        digest.update(f"{role}/{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


# --- folders that units share ----------------------------------------------------------------------------------------


def use(folder: Path) -> None:
    """Keep folders of :func:`cached_folder` under ``folder`` from now on; every process that runs units is told."""
    global _folder
    _folder = folder


def cached_folder(make: Callable[..., None], *arguments: Scalar, data: tuple[str, ...] = ()) -> Path:
    """Return a folder that ``make(folder, *arguments)`` filled, now or before: a release that several units look at.

    It is kept as results are, by the function, its arguments, its code and its data. Two processes that ask at the same
    time may both fill one; the first to be ready stays. To have it filled once, let a unit do it that the others need.
    """
    key = address(WorkUnit(make, arguments, data))
    target = (_folder or default_folder()) / "folders" / key[:2] / key
    if not target.is_dir():
        try:
            with writing_folder(target) as aside:
                make(aside, *arguments)
        except OutputError:
            if not target.is_dir():
                raise
    return target


# --- which code a result depends on -----------------------------------------------------------------------------------
#
# Text of imports is followed wherever it stands, also inside functions, and so are the names in the registers
# (``noren.methods.generalize:Generalize``). Translations and templates change no number and are left out.


@cache
def code_digest(module: str, *alone: str) -> str:
    """Return the SHA-256 of the code that ``module`` uses, its tables, our schemas, and the libraries' versions.

    Modules named ``alone`` count by their own text, whatever they import: a function that can run every component, of
    which ``module`` is the one that it runs.

    >>> len(code_digest("noren.version"))
    64
    """
    digest = hashlib.sha256()
    for name in sorted(modules_used(module) | set(alone)):
        table = _file(name).with_suffix(".toml")
        digest.update(f"{name}\0".encode() + _text(name) + (table.read_bytes() if table.is_file() else b"") + b"\0")
    digest.update(_surroundings())
    return digest.hexdigest()


@cache
def _surroundings() -> bytes:
    """Return the schemas that come with Noren, and the versions of the libraries."""
    presets = sorted((_ROOT / "data" / "presets").glob("*.toml"))
    schemas = b"".join(f"{preset.name}\0".encode() + preset.read_bytes() + b"\0" for preset in presets)
    return schemas + "".join(f"{library} {metadata.version(library)}\0" for library in _LIBRARIES).encode()


def modules_used(module: str) -> frozenset[str]:
    """Return the module and every module of Noren and of its own package that it imports, directly or not.

    >>> sorted(modules_used("noren.version"))
    ['noren.version']
    """
    seen: set[str] = set()
    ahead = [module]
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        ahead += {other for other in _imported(name) if _is_module(other, module)} - seen
    return frozenset(seen)


@cache
def _imported(module: str) -> set[str]:
    """Return every name that a module imports or keeps in a register, read off its text: parsing takes longer."""
    text = _text(module).decode()
    named = {place[1] for place in _NAME.finditer(text)}
    for whole in _IMPORT.finditer(text):
        named |= {name.split()[0] for name in whole[1].split(",") if name.strip()}
    for whole in _FROM.finditer(text):
        names = _COMMENT.sub("", whole[2]).strip("()").replace("\\", " ").split(",")
        named |= {whole[1], *(f"{whole[1]}.{name.split()[0]}" for name in names if name.strip())}
    return named


@cache
def _text(module: str) -> bytes:
    return _file(module).read_bytes()


@cache
def _is_module(name: str, user: str) -> bool:
    """Tell whether a name is a module whose code counts for ``user``: one of Noren, or of the user's own package."""
    if name.startswith("noren."):
        return _file(name).is_file() and not name.startswith(_WORDS_ALONE)
    package = user.partition(".")[0]
    if package == "noren" or name.partition(".")[0] != package:
        return False
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and spec.origin.endswith(".py")


def _file(name: str) -> Path:
    """Return a module's file; a module of another package, such as a test, is found where Python finds it."""
    if name.startswith("noren."):
        path = _ROOT.joinpath(*name.split(".")[1:])
        return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return Path(spec.origin)
