"""Which code a result depends on: a digest of a module and of everything of Noren that it imports, directly or not.

Text of imports is followed wherever it stands, also inside functions, and so are the names in the registers
(``noren.methods.generalize:Generalize``). Translations and templates change no number and are left out.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import noren

_ROOT = Path(noren.__file__).parent
_NAME = re.compile(r"""["'](noren(?:\.\w+)+)(?::\w+)?["']""")
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)*)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_WORDS_ALONE = ("noren.i18n", "noren.errors", "noren.naming", "noren.progress")
# what numbers come out of; a new release of one of them is a reason to compute again
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba", "rustworkx")


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
        path = _ROOT.joinpath(*name.split(".")[1:])
        there = path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
        return there and not name.startswith(_WORDS_ALONE)
    package = user.partition(".")[0]
    if package == "noren" or name.partition(".")[0] != package:
        return False
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return False
    return found is not None and found.origin is not None and found.origin.endswith(".py")


def _file(name: str) -> Path:
    """Return a module's file; a module of another package, such as a test, is found where Python finds it."""
    if name.startswith("noren."):
        path = _ROOT.joinpath(*name.split(".")[1:])
        return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return Path(spec.origin)
