"""Java is found, or it is explained."""

from pathlib import Path

import pytest

from noren.errors import ParameterError
from noren.execution.session import java_home


def _java(folder: Path, version: str) -> Path:
    program = folder / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return folder / "jdk"


def test_found_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _java(tmp_path, "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home() == home


def test_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _java(tmp_path, "17")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
    assert java_home() == home


def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java(tmp_path, "1.8.0_402")))
    with pytest.raises(ParameterError, match="Spark needs Java 17 or newer, and this is Java 8; install it"):
        java_home()


def test_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ParameterError, match=r"^Spark needs Java 17 or newer, and none runs here; install it"):
        java_home()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ParameterError, match=r"bin/java': Spark needs Java 17 or newer, and none runs here"):
        java_home()
