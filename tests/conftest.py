"""Where the tests find the published data, and how they call the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from noren.data.frames import History

# Properties are tried on the same examples everywhere; `--hypothesis-profile default` looks for new ones.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("ci")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data and official judges' outputs beside the checkout; skips where it is absent."""
    if not (SHARED / "oracles" / "INDEX.json").exists():
        pytest.skip("the published data are not beside this checkout")
    return SHARED


class Answer(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON: one object and nothing else."""
        return json.loads(self.out)


Command = Callable[..., Answer]


@pytest.fixture
def noren(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run ``noren`` in this process: ``noren("check", T, A).code``."""
    from noren.cli import run

    monkeypatch.setenv("NOREN_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Answer:
        capsys.readouterr()
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def small() -> History:
    """A generated history of 30 customers in the columns of PWS Cup 2018."""
    from noren.api import sample

    return sample(customers=30, rows=600, items=80, seed=7, schema="pwscup2018")


@pytest.fixture
def small_csv(small: History, tmp_path: Path) -> Path:
    """The small history as an official file."""
    from noren.data.formats.official import write_rows

    write_rows(small, tmp_path / "T.csv")
    return tmp_path / "T.csv"
