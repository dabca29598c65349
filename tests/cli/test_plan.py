"""What retention keeps at which k, before anything is protected."""

import json
from pathlib import Path

import pytest

from noren.cli import run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_plan(capsys: pytest.CaptureFixture[str]) -> None:
    plans = said(capsys, "plan", "--domains", "5,2,42", "--rows", "32561", "--k", "2,5,10")["plans"]
    assert [round(p["rho"][0], 2) for p in plans] == [0.35, 0.28, 0.24]  # type: ignore[attr-defined]
    found = said(capsys, "plan", "--domains", "5,2,42", "--rows", "32561", "--rho", "0.35")["plans"]
    assert found[0]["k"] == pytest.approx(2, abs=0.01)  # type: ignore[index]
    needed = said(capsys, "plan", "--domains", "5,2,42", "--rho", "0.5", "--k", "2")["plans"]
    assert needed[0]["rows"] == 599_077  # type: ignore[index]
    assert run(["plan", "--domains", "4,12", "--rows", "1000"]) == 0
    assert "0.3936" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--domains is missing; add it, such as --domains 5,2,42"),
        (["--domains", "5,2"], "--rows / --rho is missing; add it, such as --rows 32561"),
        (["--domains", "5,x", "--rows", "9"], "--domains '5,x' is not a list of numbers"),
        (["--domains", "1", "--rows", "9"], "give numbers from 2 on"),
        (["--domains", "5", "--rows", "9", "--k", "10"], "k = 10 is out of range; use 1 <= k <= 9"),
        (["--domains", "5", "--rho", "1"], "rho = 1.0 is out of range; use 0 <= rho < 1"),
    ],
)
def test_plans_that_cannot_be(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *words]) == 2
    assert message in capsys.readouterr().err


def test_plan_joint(files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    common = ["protect", "t.csv", "--schema", "t.toml", "--method", "retention", "--seed", "1"]
    for names, k, out in (("sex,town", "100", "r1"), ("sex,age", "50", "r2")):
        said(capsys, *common, "--attributes", names, "--k", k, "--out", out)
    answer = said(capsys, "plan", "joint", "r1", "r2", "--keep", "2")
    assert [r["k"] for r in answer["releases"]] == pytest.approx([100, 50])  # type: ignore[attr-defined]
    assert answer["k"] == pytest.approx(1 + 99 * 49 / 499)
    assert answer["attributes"] == ["sex", "town", "age"]
    assert answer["repeated"] == ["sex"]
    assert answer["same_table"] is True
    assert answer["one_more_needs_k"] == pytest.approx(1 + 499**2 / (99 * 49))
    more = said(capsys, "plan", "joint", "r1/statement.json", "--planned", "town:60", "--schema", "t.toml")
    assert more["k"] == pytest.approx(1 + 99 * 59 / 499)
    planned = more["releases"][1]  # type: ignore[index]
    alone = said(capsys, "plan", "--domains", "3", "--rows", "500", "--k", "60")["plans"]
    assert planned["rho"] == pytest.approx(alone[0]["rho"])  # type: ignore[index]
    sizes = said(capsys, "plan", "joint", "--planned", "3:60", "--planned", "2,4:70", "--rows", "500")
    assert sizes["releases"][0]["rho"] == pytest.approx(planned["rho"])  # type: ignore[index]
    assert run(["plan", "joint", "r1", "r2", "--keep", "2"]) == 0
    shown = capsys.readouterr()
    assert "Total" in shown.out
    assert "Attributes released more than once: sex" in shown.err
    assert "if its own k is at least 52.33" in shown.err
    assert run(["plan", "joint", "r1", "r2", "--keep", "20"]) == 0
    assert "The joint k is 10.72, already below 20." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "there is no release; name releases of one table, or plans (--planned)"),
        (["absent"], "absent: this is not the statement of a release"),
        (["r", "r/"], "is named twice"),
        (["--planned", "3:60"], "--rows is missing; add it, such as --rows 32561"),
        (["--planned", "3:many", "--rows", "9"], "--planned 3:many is not valid; write it like race,sex:500"),
        (["--planned", ":5", "--rows", "9"], "--planned :5 is not valid; write it like race,sex:500"),
        (["--planned", "a:10", "--rows", "9"], "k = 10 is out of range; use 1 < k <= 9"),
        (["r", "--rows", "9"], "the releases have 500 rows, but --rows is 9; omit --rows"),
        (["r", "h"], "h was made by hand, whose k means something else"),
    ],
)
def test_what_cannot_be_joined(
    words: list[str], message: str, files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    (files / "h").mkdir()
    (files / "h" / "statement.json").write_text('{"method": "hand"}')
    said(
        capsys, "protect", "t.csv", "--schema", "t.toml", "--method", "retention", "--k", "2", "--seed", "1",
        "--out", "r",
    )  # fmt: skip
    assert run(["plan", "joint", *words]) == 2
    assert message in capsys.readouterr().err
