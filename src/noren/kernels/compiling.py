"""Kernels compiled ahead: machine code that comes with the package, so that a first use does not wait for a compiler.

Numba keeps what it compiled on this machine, for this machine. What :mod:`noren.compile_ahead` compiles is for others
too: for the baseline ``x86-64-v3``, which Intel's and AMD's processors with AVX2 have (since 2013). A kernel looks
there first, then where Numba keeps its own, and is compiled where neither has it. What is kept counts only for the same
sources, versions, settings and types: all of them make its name.

**How kernels are compiled: those that Python calls, and parts that only kernels call.**
Numba gives each function a way in from Python and one from C, which take longer to compile than a small function. A
kernel has the first alone, a part neither: called outside of kernels it is plain Python. A function is optimised with
all that it calls, again at each level of calls, and once for each combination of types: so kernels call few levels,
sort and search with a few shared parts, copy in loops, and take arrays that they only read as :func:`read_only`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Set
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import llvmlite
import numba
from llvmlite import binding
from numba import njit
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps
from numba.extending import register_jitable
from numpy.typing import NDArray

from noren.kernels.caching import source_stamp

OBJECTS: Final = Path(__file__).parent / "objects"
"""What comes with the package. It may be missing: then kernels compile on first use."""

ELSEWHERE: Final = "NOREN_KERNELS"
"""Environment: a folder to read from and write to instead of :data:`OBJECTS`, which is only read."""

_V3: Final = (
    *("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt"),
    *("sahf", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave"),
)
_SETTINGS: Final = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML")


@cache
def baseline() -> tuple[str, str] | None:
    """Return the processor that kernels are compiled ahead for and its features; None where this one is not like it.

    Objects are then made for this very processor, and serve those of its kind.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return None
    has = binding.get_host_cpu_features()
    return ("x86-64-v3", ",".join(f"+{name}" for name in _V3)) if all(has.get(name) for name in _V3) else None


@cache
def makers() -> tuple[str, ...]:
    """Return the versions and settings that machine code depends on."""
    python = sysconfig.get_config_var("SOABI") or sys.version
    versions = str(python), numba.__version__, llvmlite.__version__
    return *versions, *(f"{name}={getattr(config, name, None)}" for name in _SETTINGS)


class KernelCache(FunctionCache):
    """Numba's cache of a kernel, behind what was compiled ahead; it also forgets when an imported kernel changes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._source = source_stamp(Path(function.__code__.co_filename))
        self._name_of = f"{function.__module__.removeprefix('noren.kernels.')}.{function.__qualname__}"
        self._cache_file._source_stamp = self._source

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these types, or None."""
        target_context.refresh()
        triple, *host = target_context.codegen().magic_tuple()
        for processor in filter(None, (baseline(), tuple(host))):
            try:
                file = self._file(sig, triple, *processor)
                compiled = pickle.loads(file.read_bytes())  # noqa: S301 (as trusted as the package it lies in)
            except (OSError, EOFError, pickle.UnpicklingError):  # not there, or not whole
                continue
            return self._impl.rebuild(target_context, compiled)
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):  # its index names a type that was renamed or moved since
            self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was just compiled: with Numba's own, or where objects are being made."""
        if not os.environ.get(ELSEWHERE):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        elif self._impl.check_cachable(data):
            reduced: bytes = dumps(self._impl.reduce(data))  # type: ignore[no-untyped-call]
            file = self._file(sig, *data.codegen.magic_tuple())
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=file.parent)  # written in one step: others may be reading
            with os.fdopen(handle, "wb") as open_file:
                open_file.write(reduced)
            Path(draft).chmod(0o644)
            Path(draft).replace(file)

    def _file(self, sig: Any, *machine: str) -> Path:
        means = repr((self._source, makers(), str(sig), machine))
        name = f"{self._name_of}-{hashlib.sha256(means.encode()).hexdigest()[:32]}.bin"
        return Path(os.environ.get(ELSEWHERE) or OBJECTS) / name


# --- How kernels are compiled: those that Python calls, and parts that only kernels call ------------------------------


_Function = TypeVar("_Function", bound=Callable[..., Any])
_Array = TypeVar("_Array", bound=NDArray[Any])


_ONE_WAY_IN: dict[str, Any] = {"no_cfunc_wrapper": True}
"""What Numba's own types do not name."""


def kernel(*, fastmath: Set[str] = frozenset()) -> Callable[[_Function], _Function]:
    """Compile a function that Python calls on its first call, keep it, and run it without the interpreter's lock.

    Where it was compiled ahead, that is taken.
    """
    compiled: Any = njit(nogil=True, fastmath=set(fastmath) or False, **_ONE_WAY_IN)

    def keeping(function: _Function) -> _Function:
        dispatcher = compiled(function)
        if dispatcher is not function:  # which it is where Numba is told not to compile
            dispatcher._cache = KernelCache(function)
        return dispatcher  # type: ignore[no-any-return]

    return keeping


def part(*, fastmath: Set[str] = frozenset()) -> Callable[[_Function], _Function]:
    """Compile a function with each kernel that calls it."""
    compiled: Any = register_jitable(fastmath=set(fastmath) or False, **_ONE_WAY_IN)
    return lambda function: compiled(function)


def read_only(array: _Array) -> _Array:
    """Return a view that cannot be written: what files hold comes so, and another type would be compiled again."""
    view = array.view()
    view.flags.writeable = False
    return view
