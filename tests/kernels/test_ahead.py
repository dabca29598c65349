"""Kernels compiled ahead: taken where they fit, left where they do not, and never needed."""

from __future__ import annotations

import ast
import pickle
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import binding

from noren.kernels import caching, compiling
from noren.kernels.caching import all_sources, source_stamp
from noren.kernels.compiling import ELSEWHERE, baseline, kernel

KERNELS = sorted(Path(caching.__file__).parent.rglob("*.py"))


def largest(values: np.ndarray) -> Any:
    return values.max()


@pytest.fixture
def objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for objects."""
    monkeypatch.setenv(ELSEWHERE, str(tmp_path / "objects"))
    return tmp_path / "objects"


def loaded(values: np.ndarray) -> tuple[float, int]:
    """What the kernel returns in a process that has not called it, and whether it was loaded (1) or compiled (0)."""
    fresh: Any = kernel()(largest)
    return float(fresh(values)), sum(fresh.stats.cache_hits.values())


def test_what_is_compiled_once_is_loaded_for_the_same_types_alone(objects: Path) -> None:
    assert loaded(np.array([2, 7, 1])) == (7, 0)
    (kept,) = objects.iterdir()
    assert kept.name.startswith(f"{__name__}.largest-")
    assert loaded(np.array([5, 3])) == (5, 1)
    kept.write_bytes(kept.read_bytes()[:100])  # torn: compiled anew, and put right
    assert loaded(np.array([5, 3])) == (5, 0)
    assert loaded(np.array([5, 3])) == (5, 1)
    assert loaded(np.array([0.5, 0.25])) == (0.5, 0)
    assert len(list(objects.iterdir())) == 2


def test_without_objects_numba_keeps_it_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    monkeypatch.delenv(ELSEWHERE, raising=False)
    monkeypatch.setattr(compiling, "OBJECTS", tmp_path / "missing")
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert [loaded(np.array([1, 4])) for _ in range(2)] == [(4, 0), (4, 1)]
    assert not (tmp_path / "missing").exists()
    (index,) = (tmp_path / "numba").rglob("*.nbi")
    index.write_bytes(pickle.dumps(numba.__version__) + b"cnoren.kernels.compiling\nRenamedType\n.")
    assert [loaded(np.array([1, 4])) for _ in range(2)] == [(4, 0), (4, 1)], "an index that names a renamed type"


# --- what they are made of -------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three modules: ``one`` imports ``deep.two``; nothing imports ``three``."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.py").write_text("from noren.kernels.deep.two import x\n")
    (tmp_path / "deep" / "two.py").write_text("x = 1\n")
    (tmp_path / "three.py").write_text("x = 3\n")
    monkeypatch.setattr(caching, "_PACKAGE", tmp_path)
    yield tmp_path
    forget()


def forget() -> None:
    source_stamp.cache_clear()
    caching._text.cache_clear()


@pytest.mark.parametrize(("changed", "stale"), [("one.py", True), ("deep/two.py", True), ("three.py", False)])
def test_a_kernel_is_stale_when_its_module_or_one_it_imports_changes(package: Path, changed: str, stale: bool) -> None:
    forget()
    before, all_before = source_stamp(package / "one.py"), all_sources()
    forget()
    assert source_stamp(package / "one.py") == before
    (package / changed).write_text((package / changed).read_text() + "y = 2\n")
    forget()
    assert (source_stamp(package / "one.py") != before) == stale
    assert all_sources() != all_before


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_import_of_a_kernel_is_seen(path: Path) -> None:
    """One inside a function, or ``import noren.kernels.x``, would not be."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    named = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    named += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    wanted = {name.removeprefix("noren.kernels") for name in named if name.startswith("noren.kernels")}
    seen = {file.relative_to(KERNELS[0].parent).with_suffix("") for file in caching._imported(path)}
    assert {"." + ".".join(place.parts) for place in seen} == wanted
    assert all(file.is_file() for file in caching._imported(path))


def test_the_baseline_is_for_processors_that_have_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    has = dict.fromkeys(compiling._V3, True)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: has)
    found = baseline.__wrapped__()
    assert found is not None
    assert found[0] == "x86-64-v3"
    assert found[1].startswith("+avx,+avx2,+bmi")
    has["avx2"] = False
    assert baseline.__wrapped__() is None
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    has["avx2"] = True
    assert baseline.__wrapped__() is None
