"""How kernels are compiled: those that Python calls, and parts that only kernels call.

Numba gives each function a way in from Python and one from C, which take longer to compile than a small function. A
kernel has the first alone, a part neither: called outside of kernels it is plain Python. A function is optimised with
all that it calls, again at each level of calls, and once for each combination of types: so kernels call few levels,
sort and search with a few shared parts, copy in loops, and take arrays that they only read as :func:`read_only`.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, TypeVar

from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from noren.kernels.ahead import KernelCache

__all__ = ["kernel", "part", "read_only"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Array = TypeVar("_Array", bound=NDArray[Any])


_ONE_WAY_IN: dict[str, Any] = {"no_cfunc_wrapper": True}
"""What Numba's own types do not name."""


def kernel(*, fastmath: Set[str] = frozenset()) -> Callable[[_Function], _Function]:
    """Compile a function that Python calls on its first call, keep it, and run it without the interpreter's lock.

    Where it was compiled ahead, that is taken (:mod:`noren.kernels.ahead`).
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
