"""Compiled kernels are kept where they can be, and nobody else's code is loaded."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from noren.kernels.caching import keep_compiled


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which neither the package nor the home can be written: a file stands in the way of both."""
    import numba

    blocked = tmp_path / "file"
    blocked.touch()
    # set before it is taken away, so that what the function sets is taken away after the test
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    return blocked / "__pycache__"


def test_a_writable_place_is_left_to_numba(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_compiled(tmp_path / "package" / "__pycache__")  # not there yet, and can be made
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    keep_compiled(nowhere)
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_what_the_user_chose_stays(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "chosen")
    keep_compiled(nowhere)
    assert os.environ["NUMBA_CACHE_DIR"] == "chosen"


def test_else_a_closed_folder_of_the_users_own_which_is_found_again(nowhere: Path, tmp_path: Path) -> None:
    import numba

    keep_compiled(nowhere)
    chosen = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    assert chosen.parent == tmp_path
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o700
    assert str(chosen) == numba.config.CACHE_DIR  # type: ignore[attr-defined]
    keep_compiled(nowhere)
    assert os.environ["NUMBA_CACHE_DIR"] == str(chosen)


@pytest.mark.parametrize("trap", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_write_is_not_used(nowhere: Path, tmp_path: Path, trap: str) -> None:
    mine = tmp_path / f"noren-kernels-{os.getuid()}"
    if trap == "open to others":
        mine.mkdir()
        mine.chmod(0o777)
    elif trap == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        mine.symlink_to(tmp_path / "elsewhere")
    else:
        mine.touch()
    keep_compiled(nowhere)
    chosen = Path(os.environ["NUMBA_CACHE_DIR"])
    assert chosen != mine
    assert not chosen.is_symlink()
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o700
