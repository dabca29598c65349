"""Methods under what they promise: how a person chooses one."""

from __future__ import annotations

from collections.abc import Sequence

from noren.descriptions import OWN, PROMISES, PromiseKind
from noren.i18n import _
from noren.protocols import Method

__all__ = ["by_promise"]


def by_promise(methods: Sequence[type[Method]]) -> list[tuple[PromiseKind, list[type[Method]]]]:
    """Return methods under what they promise, in the order to show; the chain is made by adding steps, not chosen."""
    there = sorted((one for one in methods if one.name != "chain"), key=lambda one: (-one.prominence, one.name))
    kinds = dict.fromkeys([*PROMISES, *(one.promises for one in there if one.promises != OWN), OWN])
    found = [(kind, [one for one in there if one.promises == kind]) for kind in kinds]
    return [(PromiseKind(kind.key, _(kind.promise), _(kind.meaning)), some) for kind, some in found if some]
