"""One parameter model gives flags, forms, sweeps and reference facts."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from noren.attacks.monthly_profile import S7
from noren.errors import FileError, ParameterError
from noren.progress import silent
from noren.protocols import Component, Measure, Method, Score
from noren.registry import describe, expand, flags, from_flags, reference_facts, share_flags
from noren.sweeps.files import SweepFile


class Blur(Method):
    """A method with one parameter of each kind."""

    name = "blur"
    summary = "Blurs."
    source = "S9"
    k: int = Field(ge=2, description="Class size.")
    share: float = Field(default=0.5, description="How much.")
    keep_order: bool = Field(default=False, description="Keep the order.")
    columns: tuple[str, ...] = Field(default=(), description="Which columns.")
    bound: Literal["paper", "sharp"] = Field(default="paper", description="Which bound.")
    limit: Annotated[int, Field(ge=1)] | None = Field(default=None, description="At most.")
    effort: Literal["quick", "slow"] | float = Field(default="quick", description="How long.")

    def protect(self, original, *, seed, progress=silent):
        raise NotImplementedError


class Sharpness(Measure):
    """A measure that shares a parameter with the method."""

    name = "sharpness"
    summary = "Tells how sharp."
    goal = "higher"
    bounds = (0.0, 1.0)
    unit = "share of rows"
    needs = frozenset({"public"})
    side = "utility"
    k: int = Field(default=3, description="Class size.")

    def measure(self, evidence, *, progress=silent):
        return Score(1.0)


def test_flags_mirror_the_model() -> None:
    assert [(f.flag, f.required, f.default) for f in flags(Blur)] == [
        ("--k", True, None),
        ("--share", False, 0.5),
        ("--keep-order", False, False),
        ("--columns", False, ()),
        ("--bound", False, "paper"),
        ("--limit", False, None),
        ("--effort", False, "quick"),
    ]
    assert [f.type for f in flags(Blur)] == [
        "whole number", "number", "yes or no", "list, separated by commas", "paper | sharp", "whole number | none",
        "quick | slow | number",
    ]  # fmt: skip


def test_flags_are_read() -> None:
    words = ["--k", "3", "--share=0.25", "--keep-order", "--columns", "date,item", "--bound", "sharp", "--limit", "7"]
    assert from_flags(Blur, words) == Blur(
        k=3, share=0.25, keep_order=True, columns=("date", "item"), bound="sharp", limit=7
    )
    assert from_flags(Blur, ["--k", "3", "--no-keep-order"]).keep_order is False
    assert from_flags(Blur, ["--k", "3", "--keep-order=yes"]).keep_order is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kk", "3"], r"blur has no parameter --kk \(did you mean --k\?\)"),
        (["3"], "'3' was not expected; parameters look like --k 3"),
        (["--k"], "--k needs a value"),
        (["--k", "3", "--k", "4"], "--k is given twice"),
        (["--k", "three"], "k = three is not valid for blur"),
        (["--k", "1"], "k = 1 is not valid for blur"),
        (["--no-k"], "no parameter --no-k"),
        ([], "blur needs the parameter k; add --k"),
        (["--k", "3", "--bound", "loose"], "bound = loose"),
    ],
)
def test_wrong_flags_are_answered(words: list[str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        from_flags(Blur, words)


def test_a_shared_flag_goes_to_every_component_that_has_it() -> None:
    both: list[type[Component]] = [Blur, Sharpness]
    blur, sharpness = share_flags(both, ["--k", "4", "--share", "0.1"])
    assert (blur, sharpness) == (Blur(k=4, share=0.1), Sharpness(k=4))


def test_a_sweep_is_every_combination() -> None:
    swept = expand(Blur, {"k": ["2..4", 9], "keep-order": [True, False], "columns": ["date", "item"]})
    assert [(b.k, b.keep_order) for b in swept] == [
        (2, True), (2, False), (3, True), (3, False), (4, True), (4, False), (9, True), (9, False),
    ]  # fmt: skip
    assert {b.columns for b in swept} == {("date", "item")}
    assert expand(Blur, {"k": 5}) == [Blur(k=5)]
    with pytest.raises(ParameterError, match=r"the range 9\.\.2 is empty"):
        expand(Blur, {"k": "9..2"})


def test_a_sweep_file(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('[[run]]\nmethod = "thin"\nshare = [0.2, 0.3]\n[[run]]\nmethod = "mondrian"\nk = "2..3"\n')
    labels = [one.full for one in SweepFile(file).settings()]
    assert labels == ["thin, share = 0.2", "thin, share = 0.3", "mondrian, k = 2", "mondrian, k = 3"]
    for content, said in (("x =", "cannot be read"), ("", "lists no runs"), ("[[run]]\nk = 3\n", "lists no runs")):
        file.write_text(content)
        with pytest.raises(FileError, match=said):
            SweepFile(file).settings()
    with pytest.raises(FileError, match="cannot be read"):
        SweepFile(tmp_path / "absent.toml")


def test_description_holds_the_form() -> None:
    said = describe(Blur)
    assert (said["name"], said["summary"], said["source"], said["accepts"]) == ("blur", "Blurs.", "S9", ["history"])
    assert said["schema"]["properties"]["k"] == {
        "description": "Class size.", "minimum": 2, "title": "K", "type": "integer",
    }  # fmt: skip
    assert said["schema"]["required"] == ["k"]
    told = describe(Sharpness)
    assert (told["goal"], told["bounds"], told["unit"], told["needs"]) == (
        "higher",
        [0.0, 1.0],
        "share of rows",
        ["public"],
    )


def test_reference_facts() -> None:
    facts = reference_facts(Blur)
    assert "| `--k` | whole number | required | Class size. |" in facts
    assert "| `--bound` | paper \\| sharp | `paper` | Which bound. |" in facts
    assert "**Value**: share of rows; [0, 1]; higher is better" in reference_facts(Sharpness)
    assert "- **Kind**: utility" in reference_facts(Sharpness)
    assert "**Needs columns" not in facts
    assert "- **Required roles**: date, price" in reference_facts(S7)
    assert describe(S7)["roles"] == ["date", "price"]
