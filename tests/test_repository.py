"""What a stranger relies on when they clone the repository: licence, lock, targets, no trace of a machine."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = [
    requirement
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for requirement in map(Requirement, lines)
    if requirement.name != "noren"
]
PIN = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[0-9][a-z0-9.]*)(?P<marker>; [^#]+)?"
    r"(?P<level>  # (?:servers|dev))?"
)
TARGETS = {"help", "setup", "demo", "test", "test-slow", "test-all", "studio", "bench", "bench-peers", "zoo"} | {
    "docs", "reproduce", "pictures", "translations", "format", "lint", "types", "lock", "clean"
}  # fmt: skip
MACHINE = re.compile(rb"(?<![A-Za-z0-9])/(?:work|root)/")
INDEX = re.compile(rb"https?://[^ \"]*(/simple|registry)")


def lock_lines() -> list[str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A make that runs these tests hands its own flags down; this one starts afresh.
    surroundings = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    return subprocess.run(["make", *arguments], cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert text.split()[:5] == ["Apache", "License", "Version", "2.0,", "January"]
    for part in ("9. Accepting Warranty or Additional Liability.", "END OF TERMS AND CONDITIONS", "The Noren authors"):
        assert part in text


def test_supported_pythons() -> None:
    supported = SpecifierSet(PROJECT["requires-python"])
    assert supported == SpecifierSet(">=3.11,<3.15")
    named = {line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert named == {"3.11", "3.12", "3.13", "3.14"}


def test_the_lock_is_plain_pins_sorted_by_name() -> None:
    matches = [PIN.fullmatch(line) for line in lock_lines()]
    assert [line for line, match in zip(lock_lines(), matches, strict=True) if match is None] == []
    names = [match["name"] for match in matches if match]
    assert names == sorted(set(names))
    assert {"noren", "pip", "setuptools"}.isdisjoint(names)
    for match in matches:
        if match and match["marker"]:
            Requirement(match.group())


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda requirement: requirement.name)
def test_the_lock_satisfies_the_project(requirement: Requirement) -> None:
    locked = {match["name"]: Version(match["version"]) for line in lock_lines() if (match := PIN.fullmatch(line))}
    name = canonicalize_name(requirement.name)
    assert name in locked, "run `make lock`"
    assert requirement.specifier.contains(locked[name]), "run `make lock`"


def test_continuous_integration_runs_both_tiers() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert lines[-2:] == ["make test", "make test-slow"]


def test_help_lists_every_target() -> None:
    done = make()
    assert done.returncode == 0, done.stderr
    assert {line.split()[1] for line in done.stdout.splitlines()} == TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_the_target_exists(target: str) -> None:
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr


def tracked() -> list[Path]:
    # Files that are not committed yet count too, so that the mistake is told before it is history.
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_names_a_machine_or_a_package_index() -> None:
    assert ROOT / "LICENSE" in tracked()
    found = [
        f"{path.relative_to(ROOT)}: {match.group().decode(errors='replace')}"
        for path in tracked()
        for pattern in (MACHINE, INDEX)
        for match in pattern.finditer(path.read_bytes())
    ]
    assert found == []


def test_the_patterns_find_what_they_are_for() -> None:
    index = b"https" + b"://example.org/pypi" + b"/simple"
    assert MACHINE.search(b'path = "/' + b'work/main"')
    assert not MACHINE.search(b"src/network/graph and src/framework/")
    assert INDEX.search(index)
    assert not INDEX.search(b"https" + b"://example.org/a-simple-page")
