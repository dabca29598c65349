"""What a library of C prints does not reach the standard output, and what we print does."""

import ctypes
import os
import sys

import pytest

from noren.kernels.sharing.partitioning import unheard


@pytest.mark.skipif(os.name == "nt", reason="the C library goes by another name")
def test_what_c_prints_is_kept_off(capfd: pytest.CaptureFixture[str]) -> None:
    libc = ctypes.CDLL(None)
    print("before")
    sys.stdout.flush()
    with unheard():
        libc.puts(b"a solver speaks")
        os.write(1, b"and again")
    libc.puts(b"after")
    libc.fflush(None)
    assert capfd.readouterr().out == "before\nafter\n"


def test_an_error_inside_leaves_the_output_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), unheard():
        raise ValueError("no")
    os.write(1, b"still here")
    assert capfd.readouterr().out == "still here"
