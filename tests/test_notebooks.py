"""The notebooks in ``examples/notebooks`` run from top to bottom and show what their text says.

Cells are executed in this process, in order, as a kernel does it: the value of a cell's last expression is asked how it
wants to be shown. No outputs are kept in the files, so none can be out of date.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
from mkdocs.exceptions import PluginError

from noren.data.release import Release
from noren.protocols import Score

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "notebooks"
NAMES = ("attacks", "histories", "tables")


def content(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@dataclass
class Run:
    """What a notebook left: its names, and by cell the value it showed and how that looks."""

    space: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    values: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)


def look(value: Any) -> str:
    """Return what a notebook shows of a value."""
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_(include=None, exclude=None)
        return json.dumps(bundle[0] if isinstance(bundle, tuple) else bundle)
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def execute(name: str) -> Run:
    run = Run()
    for cell in content(name)["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse(source(cell))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        file = f"{name}.ipynb, cell {cell['id']}"
        exec(compile(tree, file, "exec"), run.space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), file, "eval"), run.space)
            if value is not None:  # a kernel shows nothing then
                run.values[cell["id"]] = value
                run.shown[cell["id"]] = look(value)
    return run


class Runs(dict[str, Run]):
    """Every notebook, executed when it is first asked for, once, in a folder of its own."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        super().__init__()
        self.folders = folders

    def __missing__(self, name: str) -> Run:
        folder = self.folders.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(tempfile, "tempdir", str(folder))
            self[name] = execute(name)
        left = {path.name for path in folder.iterdir() if not path.name.startswith("tmp")}
        assert left == set(), "a notebook writes to temporary folders alone"
        return self[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory)


def test_these_are_the_notebooks() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_a_notebook_of_format_4_5_without_outputs(name: str) -> None:
    notebook = content(name)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"] == {"display_name": "Python 3", "language": "python", "name": "python3"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    for cell in notebook["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert cell["metadata"] == {}
        lines = cell["source"]
        assert all(line.endswith("\n") for line in lines[:-1])
        assert lines[-1].strip()
        if cell["cell_type"] == "code":
            assert set(cell) == {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
        else:
            assert set(cell) == {"cell_type", "id", "metadata", "source"}
            assert cell["cell_type"] == "markdown"
    # as Jupyter writes it, so that opening and saving one changes no line
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert text == json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_is_led_by_text(name: str) -> None:
    cells = content(name)["cells"]
    assert source(cells[0]).startswith("# ")
    assert sum(cell["cell_type"] == "markdown" for cell in cells) >= 7
    told = "\n".join(source(cell) for cell in cells)
    assert "http" not in told, "nothing is fetched, and no link can break"
    assert len(told) < 12_000


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_cell_runs_and_shows_something(name: str, runs: Runs) -> None:
    run = runs[name]
    code = [cell for cell in content(name)["cells"] if cell["cell_type"] == "code"]
    silent = [cell["id"] for cell in code if cell["id"] not in run.shown and "print(" not in source(cell)]
    assert silent == []
    assert sum("noren-card" in shown for shown in run.shown.values()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nothing_secret_is_shown(name: str, runs: Runs) -> None:
    released = [value for value in runs[name].space.values() if isinstance(value, Release)]
    assert released
    shown = "".join(runs[name].shown.values())
    for release in released:
        assert release.secret.digest
        assert release.secret.digest not in shown


@pytest.mark.slow
def test_histories_show_what_the_text_says(runs: Runs) -> None:
    values = runs["histories"].values
    assert values["names-alone"].value == 1.0, "hiding the names is not enough"
    assert values["hits"].value == pytest.approx(1 / 3, abs=0.12), "about one in k is found"
    choice: pl.DataFrame = values["sweep"]
    assert choice["k"].to_list() == [2, 3, 4, 6, 10]
    assert choice["cell error"].is_sorted(), "larger groups say less"
    assert (choice["people found"] - choice["by chance"]).abs().max() < 0.15  # type: ignore[operator]
    assert "vega" in runs["histories"].shown["chart"]
    assert values["save"][-2:] == ["to-hand-out/public.parquet", "to-hand-out/statement.json"]


@pytest.mark.slow
def test_tables_show_what_the_text_says(runs: Runs) -> None:
    values = runs["tables"].values
    assert values["classes"].value >= 5
    assert re.fullmatch(r"[\d,]+ of [\d,]+ people share age, sex, region and education with nobody", values["alone"])
    counts: pl.DataFrame = values["counts"]
    off = {name: (counts[name] - counts["original"]).abs().sum() for name in ("perturbed", "reconstructed")}
    assert off["reconstructed"] < off["perturbed"], "the counts can be worked out"
    prices: pl.DataFrame = values["prices"]
    assert prices["rho"].is_sorted(descending=True), "more protection leaves less"
    assert (prices["reconstructed"] > prices["perturbed"]).all()


@pytest.mark.slow
def test_attacks_show_what_the_text_says(runs: Runs) -> None:
    values = runs["attacks"].values
    bounds: pl.DataFrame = values["bounds"]
    assert bounds.row(by_predicate=pl.col("named") == 99) == (99, 64, 52)
    assert (bounds["hits needed (sharp)"] <= bounds["hits needed (paper)"]).all()
    effective: Score = values["effective"]
    assert effective.value == 0.0
    matched = {row["measure"]: row["value"] for row in values["matched"].to_dicts()}
    assert matched["um"] <= matched["mm"] <= matched["emm"]
    book: pl.DataFrame = values["book"]
    assert book["period"].to_list() == ["2010/12", "2011/1"]
    assert (book["EMM"] <= 0.2).all()
    assert values["refused"].startswith("2011/2 was not released: EMM would be 0.2"), "the budget stops the third"
    assert 0 <= values["left-over"]["emm"] < 0.2


# --- in the documentation --------------------------------------------------------------------------------------------


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_notebooks", FOLDER.parents[1] / "tools" / "site_notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documentation_shows_every_cell() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="notebooks.md"))
    text = (FOLDER.parents[1] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    shown = hook().on_page_markdown(text, page=page)
    for name in NAMES:
        assert f"[{name}.ipynb](notebooks/{name}.ipynb)" in shown
        for cell in content(name)["cells"]:
            if cell["cell_type"] == "code":
                assert f"```python\n{source(cell)}\n```" in shown
            else:
                assert source(cell).lstrip("# ").split("\n")[0] in shown
    assert re.findall(r"^# .*", shown, re.MULTILINE)[0] == "# Notebooks and data frames"
    titles = [line for line in re.sub(r"```.*?```", "", shown, flags=re.DOTALL).splitlines() if line.startswith("# ")]
    assert len(titles) == 1, "headings of notebooks stand below the page's own"


def test_a_notebook_that_is_not_there_stops_the_build() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guide/x.md"))
    with pytest.raises(PluginError, match=r"guide/x.md: there is no notebook 'nothing'"):
        hook().on_page_markdown("<!-- notebook: nothing -->", page=page)
    assert "(../notebooks/tables.ipynb)" in hook().on_page_markdown("<!-- notebook: tables -->", page=page)
