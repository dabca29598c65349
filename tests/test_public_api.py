"""The names people import are the names we say we export."""

import importlib.util
import inspect
import pkgutil

import pytest

import noren

MODULES = {m.name for m in pkgutil.walk_packages(noren.__path__, "noren.") if m.name != "noren.__main__"}
NEED_TRITON = {f"noren.engines.accelerated.{kind}_kernels" for kind in ("alignment", "set", "table")}
"""Triton comes with a PyTorch for graphics processors alone."""


def test_exported_names() -> None:
    assert noren.__all__ == sorted(noren.__all__)
    assert set(noren.__all__) == {
        "Attack", "Guess", "History", "Measure", "Method", "NorenError", "Release", "Rule", "Schema", "Score",
        "Table", "__version__", "attack", "attack_folder", "attacks", "check", "dp_counts", "explore",
        "identifiers", "infer", "judge", "losses",
        "measure", "measure_folder", "measures", "methods", "population", "protect", "protect_folder", "read",
        "reconstruct", "sample", "totals",
        "unicity", "verdict",
    }  # fmt: skip
    assert dir(noren) == noren.__all__


def test_every_exported_name_is_there_and_documented() -> None:
    assert [name for name in noren.__all__ if not inspect.getdoc(getattr(noren, name))] == []


@pytest.mark.parametrize(("name", "first"), [("methods", "chain"), ("attacks", "consistency"), ("measures", "analyst")])
def test_packages_of_components_list_them(name: str, first: str) -> None:
    package = getattr(noren, name)
    assert package is importlib.import_module(f"noren.{name}")
    listed = getattr(noren, name)()
    registry = getattr(package, name)
    assert list(listed) == list(registry)
    assert listed[first] is registry[first]
    assert listed.to_polars()["name"][0] == first
    assert first in repr(listed)
    assert listed[first].summary[:40] in listed._repr_html_()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = noren.nothing


def test_every_module_exports_what_it_says() -> None:
    names = MODULES if importlib.util.find_spec("triton") else MODULES - NEED_TRITON
    modules = {name: importlib.import_module(name) for name in sorted(names)}
    assert [name for name, module in modules.items() if not inspect.getdoc(module)] == []
    missing = {name: set(getattr(module, "__all__", ())) - set(dir(module)) for name, module in modules.items()}
    assert {name: exported for name, exported in missing.items() if exported} == {}
