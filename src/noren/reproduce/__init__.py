"""Tables and figures of the papers, reproduced: one module per document.

**To add a document**, write ``reproduce/s2.py`` with a constant ``DOCUMENT`` of
:class:`~noren.reproduce.frame.PaperDocument`, and name it in :data:`DOCUMENT_MODULES` below. Nothing else changes: the
command ``noren reproduce``, the page, the Markdown, the JSON and the tests read it from there. See ``s4.py``.

- A document is made of **parts**: ``Section("table", "5", N_("title"), units, compare)``. Its key is ``table-5``;
  figures are ``figure-2``, and what is neither has a kind of its own: ``Section("check", "rho", …)``.
- ``units(extent)`` returns the **units of work** that the part needs: ``Unit(work, (argument, …), data=("adult",))``;
  a tuple of them stands in its place where the same work is always needed.
  The function stands at the top of a module, takes these arguments alone (texts and numbers) and returns plain JSON.
  A unit runs in any process, in any order, and is stored once done, under an address made of the function, the
  arguments, the code it uses and the data it reads: another part, or a run after an interruption, does not
  compute it again. So the numbers and words of the paper stand in another module than the functions (``s2_work.py``),
  else editing a word would throw away results. One unit should take a second to a minute: usually one cell for one
  seed. ``Unit(…, needs=(other,))`` gets the results of other units after its own arguments. ``wide=True`` is for a
  unit that uses all cores by itself. A large intermediate result (a release) is kept by
  :func:`~noren.work.store.cached_folder`.
- ``extent.seeds(full=5, quick=1)`` are the seeds to run, ``extent.quick`` says whether to leave out cells. A quick
  run of all documents must take at most three minutes on two cores.
- ``compare(results)`` returns a ``Comparison`` of **cells**, remarks and charts. ``results[unit]`` is a unit's result,
  ``unit in results`` says whether it was run. A cell that was left out is returned with ``ours=None``, so that the
  reader sees it. ``Datum.over(row, column, values, …)`` makes one of the values of several seeds.
- A cell is *exact* (a difference beyond ``tolerance`` fails the run, exit code 1, unless it names an ``erratum``) or
  *statistical* (it is reported, never fatal). Without a tolerance nothing is claimed.
- ``errata`` returns what the document gets wrong, with the derivation and the numbers recomputed by code. One
  without a derivation is *unexplained*, and so are the cells that name it. A guess at what was meant is no
  erratum.
- Charts: ``Chart(title, draw)`` where ``draw()`` returns SVG text; :func:`~noren.reproduce.frame.lines` makes one.
- Titles in constants are marked with ``N_``, and remarks of ``compare`` with ``_``.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from noren.errors import UnknownNameError, suggestion
from noren.i18n import _

if TYPE_CHECKING:
    from noren.reproduce.frame import PaperDocument

__all__ = ["DOCUMENT_MODULES", "document", "get_documents", "unknown_name"]

DOCUMENT_MODULES = {key: f"noren.reproduce.{key.lower()}" for key in ("S0", "S1", "S2", "S3", "S4", "beyond")}


def unknown_name(name: str, group: str, names: Sequence[str]) -> UnknownNameError:
    """Return the error for a name that is none of ``names``."""
    hint, message = suggestion(name, names), _("there is no {name!r} in {group}{hint}; there are {names}")
    return UnknownNameError(message.format(name=name[:200], group=group, hint=hint, names=", ".join(names)))


def document(name: str) -> PaperDocument:
    """Return the document ``name``; upper or lower case."""
    module = {key.casefold(): path for key, path in DOCUMENT_MODULES.items()}.get(name.strip().casefold())
    if module is None:
        raise unknown_name(name, "noren reproduce", (*DOCUMENT_MODULES, "all"))
    chosen: PaperDocument = importlib.import_module(module).DOCUMENT
    return chosen


def get_documents(names: str) -> list[PaperDocument]:
    """Return the documents that ``names`` means: ``S4``, ``S2,S4``, ``beyond`` or ``all``."""
    wanted = DOCUMENT_MODULES if names.lower() == "all" else names.split(",")
    return list({chosen.key: chosen for chosen in map(document, wanted)}.values())
