"""Write ``requirements.lock`` from what is installed: ``make lock``.

The lock holds the closure of the project's own dependencies and its ``dev`` extra, one ``name==version`` a line,
sorted; nothing else that happens to lie in the environment gets in. A dependency that only some of the supported
Python versions want carries its marker. A comment names what is not needed by everybody: ``# servers`` by the studio
and the arena, ``# dev`` for development alone, so that ``make demo`` and ``make studio`` install no more than they use.
Two things stop the run: a package that is wanted but not installed, and one that refuses a Python the project supports
(the first of each series, for Debian's are rarely the last).
"""

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LEFT_OUT = frozenset({"setuptools"})
"""What torch asks for to build extensions, which nothing here does; an environment's own tools are not pinned."""
HEAD = """\
# Everything `make setup` installs: the project's dependencies and its development tools, with theirs.
# Written by `make lock`; edit pyproject.toml instead.
"""


LEVELS = {"": [], "servers": ["arena"], "dev": ["dev"]}
"""Who needs a package, by the extras that ask for it; the first that needs it counts."""


def roots_of(pyproject: dict[str, Any], extras: Iterable[str]) -> list[Requirement]:
    """Return what the project needs to be built and to run, and for ``extras`` and those they name."""
    project = pyproject["project"]
    roots = [Requirement(line) for line in (*pyproject["build-system"]["requires"], *project["dependencies"])]
    waiting = list(extras)
    while waiting:
        for requirement in map(Requirement, project["optional-dependencies"][waiting.pop()]):
            if requirement.name == project["name"]:
                waiting += requirement.extras
            else:
                roots.append(requirement)
    return roots


def wanted_by(requirement: Requirement, extras: Iterable[str], python: str) -> bool:
    """Tell whether ``requirement`` counts on Linux under ``python``, for a package asked for with ``extras``."""
    if requirement.marker is None:
        return True
    place = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    place |= {"platform_system": "Linux", "os_name": "posix"}
    return any(requirement.marker.evaluate(place | {"extra": extra}) for extra in ("", *extras))


def closure(roots: Iterable[Requirement], python: str) -> set[str]:
    """Return the names of everything ``roots`` pull in under ``python``, by what the installed packages declare."""
    waiting: list[tuple[Requirement, tuple[str, ...]]] = [(root, ()) for root in roots]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, extras = waiting.pop()
        if not wanted_by(requirement, extras, python):
            continue
        name = canonicalize_name(requirement.name)
        key = (name, frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            declared = distribution(name).requires or []
        except PackageNotFoundError:
            sys.exit(f"lock: {name} is needed on Python {python} but not installed here; install it and run again")
        waiting += [(Requirement(line), tuple(requirement.extras)) for line in declared]
    return {name for name, _ in seen} - LEFT_OUT


def refused(name: str, pythons: Iterable[str]) -> list[str]:
    """Return those of ``pythons`` that the installed version of ``name`` does not run on."""
    accepted = SpecifierSet(distribution(name).metadata["Requires-Python"] or "")
    return [python for python in pythons if not accepted.contains(f"{python}.0")]


def main() -> None:
    """Write the lock beside ``pyproject.toml``."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {
        level: {python: closure(roots_of(pyproject, extras), python) for python in PYTHONS}
        for level, extras in LEVELS.items()
    }
    by_python = needed["dev"]
    lines = []
    for name in sorted(set().union(*by_python.values())):
        pythons = [python for python in PYTHONS if name in by_python[python]]
        if bad := refused(name, pythons):
            message = f"{name} {distribution(name).version} does not run on Python {bad[0]}.0"
            sys.exit(f"lock: {message}; bound it in pyproject.toml and run again")
        marker = "" if len(pythons) == len(PYTHONS) else "; " + " or ".join(f'python_version == "{p}"' for p in pythons)
        level = next(level for level, names in needed.items() if name in set().union(*names.values()))
        # a build for processors alone calls itself 2.13.0+cpu; the index knows it by its public version
        lines.append(f"{name}=={distribution(name).version.partition('+')[0]}{marker}{level and f'  # {level}'}\n")
    LOCK.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{LOCK.name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
