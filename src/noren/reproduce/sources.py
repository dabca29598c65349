"""Which code a result depends on: a digest of a module and of everything of Noren that it imports, directly or not.

Text of imports is followed wherever it stands, also inside functions, and so are the names in the registers
(``"noren.methods.generalize:Generalize"``). Translations and templates change no number and are left out.
"""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import noren

__all__ = ["code_digest", "modules_used"]

_ROOT = Path(noren.__file__).parent
_NAME = re.compile(r"(noren(?:\.\w+)+)(?::\w+)?")
_WORDS_ALONE = ("noren.i18n", "noren.errors", "noren.naming", "noren.progress", "noren.foreign_words")
# what numbers come out of; a new release of one of them is a reason to compute again
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba", "rustworkx")


@cache
def code_digest(module: str) -> str:
    """Return the SHA-256 of the code that ``module`` uses, the schemas that come with it, and the libraries' versions.

    >>> code_digest("noren.kernels.retention") == code_digest("noren.kernels.retention")
    True
    """
    digest = hashlib.sha256()
    for name in sorted(modules_used(module)):
        digest.update(f"{name}\0".encode() + _file(name).read_bytes() + b"\0")
    for preset in sorted((_ROOT / "data" / "presets").glob("*.toml")):
        digest.update(f"{preset.name}\0".encode() + preset.read_bytes() + b"\0")
    for library in _LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\0".encode())
    return digest.hexdigest()


def modules_used(module: str) -> frozenset[str]:
    """Return the module and every module of Noren that it imports, directly or not.

    >>> sorted(modules_used("noren.kernels.retention"))
    ['noren.kernels.retention']
    """
    seen: set[str] = set()
    ahead = [module]
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        ahead += _imported(name) - seen
    return frozenset(seen)


@cache
def _imported(module: str) -> set[str]:
    named: set[str] = set()
    for node in ast.walk(ast.parse(_file(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (place := _NAME.fullmatch(node.value)):
            named.add(place[1])
    return {name for name in named if _is_module(name)}


def _is_module(name: str) -> bool:
    if not name.startswith("noren.") or name.startswith(_WORDS_ALONE):
        return False
    path = _ROOT.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _file(name: str) -> Path:
    """Return a module's file; a module of another package, such as a test, is found where Python finds it."""
    if name.startswith("noren."):
        path = _ROOT.joinpath(*name.split(".")[1:])
        return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return Path(spec.origin)
