"""A script makes the same release again, byte for byte, and does not tell the seed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren import api
from noren.data.contest_files import write_rows
from noren.data.frames import History
from noren.data.reading import read
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.judgement.outcome import Outcome, examine
from noren.methods import methods
from noren.methods.chain import read_chain
from noren.registry import from_flags
from noren.reports.scripts import ScriptOrder, as_commands, as_python, chain_toml, commands, needed_files

SEED = 9_006_001
SURVEY = """
name = "my-survey"
kind = "table"

[columns.age]
role = "quasi"
type = "integer"
minimum = 20
maximum = 29

[columns."home $(town)"]
role = "quasi"
domain = ["Kyoto", "the 'north'", "END"]

[columns.illness]
role = "sensitive"
"""


def survey(folder: Path) -> Path:
    random = np.random.default_rng(1)
    towns = np.array(["Kyoto", "the 'north'", "END"])
    content = {
        "age": random.integers(20, 30, 200),
        "home $(town)": towns[random.integers(0, 3, 200)],
        "illness": random.choice(["flu", "cold"], 200),
    }
    pl.DataFrame(content).write_csv(folder / "my survey.csv")
    return folder / "my survey.csv"


def made(
    folder: Path, data: Path, schema: Schema, method: Any, names: Sequence[Sequence[str]], **given: Any
) -> ScriptOrder:
    """Protect and judge as a person would, and return what was done."""
    original = read(data, schema).data
    release = api.protect(original, method, seed=SEED, **given)
    release.save(folder / "first")
    outcome = examine(original, release, attacks=names[0], measures=names[1])
    return ScriptOrder.of(original, outcome, original=data.name)


@pytest.fixture
def chained(history: History, tmp_path: Path) -> ScriptOrder:
    write_rows(history, tmp_path / "T.csv")
    steps = [
        {"method": "thin", "share": 0.1, "rarest": True},
        {"method": "perturb", "days": 2, "period": "custom", "starts": ["2010-12-01", "2011-06-01"]},
        {"method": "generalize", "k": 3, "effort": "quick"},
    ]
    names = (["unique-rows", "jaccard"], ["cell-error", "reid-rate"])
    return made(tmp_path, tmp_path / "T.csv", history.schema, steps, names)


@pytest.fixture
def perturbed(tmp_path: Path) -> ScriptOrder:
    given = {"k": 3.0, "attributes": ["age", "home $(town)"]}
    return made(tmp_path, survey(tmp_path), Schema.from_toml(SURVEY), "retention", ([], ["l1-precision"]), **given)


def same_bytes(folder: Path) -> bool:
    files = sorted(p.relative_to(folder / "first") for p in (folder / "first").rglob("*") if p.is_file())
    assert "public.parquet" in map(str, files)
    return all((folder / "first" / name).read_bytes() == (folder / "release" / name).read_bytes() for name in files)


@pytest.mark.parametrize("which", ["chained", "perturbed"])
@pytest.mark.parametrize("tell", [True, False])
def test_python_makes_the_same_release(
    which: str, tell: bool, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: ScriptOrder = request.getfixturevalue(which)
    script = as_python(order, seed=SEED if tell else None)
    assert (str(SEED) in script) is tell
    if not tell:
        monkeypatch.setenv("SEED", str(SEED))
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(compile(script, "script.py", "exec"), scope)
    assert same_bytes(tmp_path)
    assert list(scope["guesses"]) == list(order.attacks)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["chained", "perturbed"])
def test_commands_make_the_same_release(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    order: ScriptOrder = request.getfixturevalue(which)
    (tmp_path / "run.sh").write_text(as_commands(order), encoding="utf-8")
    assert str(SEED) not in (tmp_path / "run.sh").read_text(encoding="utf-8")
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "NOREN_LANG": "en"}
    surroundings = {name: value for name, value in os.environ.items() if name != "SEED"} | path

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        told = surroundings | more
        return subprocess.run(["bash", "run.sh"], cwd=tmp_path, env=told, capture_output=True, text=True, check=False)

    refused = run()
    assert refused.returncode != 0
    assert "set SEED to the seed of the release" in refused.stderr
    assert not (tmp_path / "release").exists()
    done = run(SEED=str(SEED))
    assert done.returncode == 0, done.stderr
    assert same_bytes(tmp_path)
    assert {p.stem for p in (tmp_path / "guesses").glob("*.csv")} == set(order.attacks)
    assert all(name in done.stdout for name in order.measures)


# --- details ---------------------------------------------------------------------------------------------------------


def test_the_seed_is_held_only_if_asked_for() -> None:
    order = ScriptOrder(Statement("pseudonymize"), Schema.preset("pwscup2018"))
    assert f"SEED={SEED}  #" in as_commands(order, seed=SEED)
    assert "SEED:?" in as_commands(order)
    assert f"seed = {SEED}  #" in as_python(order, seed=SEED)
    assert "import os" not in as_python(order, seed=SEED)


def test_a_report_is_written_where_one_is_asked_for() -> None:
    order = ScriptOrder(
        Statement("pseudonymize"), Schema.preset("pwscup2018"), original="my T.csv", report="a page.html"
    )
    assert commands(order)[-1] == "noren report 'my T.csv' release/ --schema pwscup2018 --out 'a page.html'"
    assert "write_report(original, [examine(original, release)], 'a page.html')" in as_python(order)
    compile(as_python(order), "script.py", "exec")


def test_a_schema_that_only_has_a_presets_name_is_written_out() -> None:
    known = Schema.preset("pwscup2018")
    changed = known.model_copy(update={"columns": known.columns[:-1]})
    order = ScriptOrder(Statement("pseudonymize"), changed)
    assert "--schema schema.toml" in commands(order)[0]
    assert "cat > schema.toml <<'END'" in as_commands(order)
    assert "noren.Schema.from_toml(" in as_python(order)


def test_a_search_that_was_stopped_is_said_to_be() -> None:
    schema = Schema.preset("pwscup2018")
    for notes in ({"stopped": True}, {"by_the_clock": True}):
        order = ScriptOrder(
            Statement.of_chain([Statement("thin"), Statement("generalize", {"k": 3}, notes=notes)]), schema
        )
        assert "the seed alone does not reproduce the release" in as_commands(order)
        assert "the seed alone does not reproduce the release" in as_python(order)
    assert "seed alone" not in as_python(ScriptOrder(Statement("generalize", {"k": 3}), schema))


def test_files_of_the_stewards_own_are_named() -> None:
    steps = [Statement("generalize", {"k": 3, "categories": "my\ncategories.csv"}), Statement("thin")]
    order = ScriptOrder(Statement.of_chain(steps), Schema.preset("pwscup2018"))
    assert needed_files(order) == ["my\ncategories.csv"]
    for script in (as_commands(order), as_python(order)):
        assert "# Required files: my categories.csv" in script.splitlines()


def test_a_chain_is_read_as_it_was_written(tmp_path: Path) -> None:
    steps = [
        Statement("thin", {"share": 0.25, "rarest": True}),
        Statement("perturb", {"starts": ["2010-12-01"], "period": "custom", "block": None}),
    ]
    (tmp_path / "chain.toml").write_text(chain_toml(Statement.of_chain(steps)), encoding="utf-8")
    assert [step.name for step in read_chain(tmp_path / "chain.toml").steps] == ["thin", "perturb"]
    assert read_chain(tmp_path / "chain.toml").steps[0].parameters()["share"] == 0.25


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("generalize", {"survival": 0.9, "min_class": 3, "suppress_cells": False, "effort": 2.5}),
        ("generalize", {"k": 4, "effort": "quick", "block": 50}),
        ("perturb", {"days": 3, "period": "custom", "starts": ["2010-12-01"], "whole_baskets": True}),
        ("retention", {"rho": 0.25, "attributes": ["age", "sex"], "classes": ["age=20..90:5"]}),
        ("hierarchy", {"k": 5, "hierarchies": "my ladders", "suppression": 0.02, "quasi": ["age", "sex"]}),
        ("pseudo-records", {"clusters": 20, "variant": "repaired"}),
    ],
)
def test_flags_mean_what_the_statement_says(name: str, given: dict[str, Any]) -> None:
    import shlex

    method = methods.create(name, **given)
    line = commands(ScriptOrder(Statement(name, method.parameters()), Schema.preset("pwscup2018")))[0]
    words = shlex.split(line)
    flags = words[words.index("--method") + 2 : words.index("--seed")]
    assert from_flags(methods[name], flags) == method


def test_no_outcome_needs_no_judges(history: History) -> None:
    release = api.protect(history, "pseudonymize", seed=1)
    order = ScriptOrder.of(history, Outcome("x", release))
    assert len(commands(order)) == 1
    assert "guesses" not in as_python(order)
