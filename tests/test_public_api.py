"""The names people import are the names we say we export."""

import importlib
import inspect
import pkgutil

import pytest

import noren

MODULES = sorted(m.name for m in pkgutil.walk_packages(noren.__path__, "noren.") if m.name != "noren.__main__")

NEED_TRITON = {f"noren.engines.accelerated.{kind}_kernels" for kind in ("alignment", "set", "table")}


def test_exported_names() -> None:
    assert noren.__all__ == sorted(noren.__all__)
    assert set(noren.__all__) == {
        "Attack", "Guess", "History", "Measure", "Method", "NorenError", "Release", "Rule", "Schema", "Score",
        "Table", "__version__", "attack", "attack_folder", "check", "explore", "identifiers", "infer", "measure",
        "measure_folder", "population", "protect", "protect_folder", "read", "reconstruct", "sample",
        "unicity", "verdict",
    }  # fmt: skip
    assert dir(noren) == noren.__all__


@pytest.mark.parametrize("name", noren.__all__)
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    value = getattr(noren, name)
    assert name == "__version__" or inspect.getdoc(value)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = noren.nothing


@pytest.mark.parametrize("name", MODULES)
def test_every_module_exports_what_it_says(name: str) -> None:
    if name in NEED_TRITON:
        pytest.importorskip("triton")  # it comes with a PyTorch for graphics processors alone
    module = importlib.import_module(name)
    assert inspect.getdoc(module), "a module says what is in it"
    for exported in getattr(module, "__all__", ()):
        assert hasattr(module, exported), exported
