"""What of a run did not come to its end, and what may still be said of it: nothing that sounds safer than it is.

A finished run keeps what failed as ``failed: [{"component": …, "kind": "attack" | "measure" | "audit", "reason":
{"en": …, "ja": …}}]`` and whether its claim was checked as ``audited``, both in its result and in its summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from noren.errors import listing
from noren.i18n import _, active_language, ngettext
from noren.measures import placing

Kept = Mapping[str, Any]


def is_unaudited(kept: Kept) -> bool:
    """Tell whether the audit of a release failed, so that nobody checked what it claims."""
    return kept.get("audited") is False


def failures(kept: Kept) -> list[dict[str, str]]:
    """Return what failed, in the reader's language: the component, what it is, and why."""
    kinds = {"attack": _("attack"), "measure": _("measure"), "audit": _("audit of the claim")}
    language = active_language()
    return [
        {
            "component": one["component"],
            "kind": one["kind"],
            "what": kinds[one["kind"]],
            "reason": one["reason"].get(language) or one["reason"]["en"],
        }
        for one in kept.get("failed", [])
    ]


def engine_sentences(engines: Mapping[str, str]) -> list[str]:
    """Return where the components of a run ran, the cluster first; nothing where no cluster was asked for.

    >>> engine_sentences({"pseudonymize": "local[2]", "nearest": "local"})[0]
    'On the cluster local[2]: pseudonymize.'
    """
    clusters = sorted(set(engines.values()) - {"local"})
    here = [name for name, engine in engines.items() if engine == "local"]
    told = [
        _("On the cluster {engine}: {names}.").format(
            engine=engine, names=listing([name for name, where in engines.items() if where == engine])
        )
        for engine in clusters
    ]
    if here:
        told.append(_("On this machine, as they have no plan for a cluster: {names}.").format(names=listing(here)))
    return told


def missing_sentence(kept: Kept) -> str:
    """Return what the verdict leaves out because it failed, as one sentence; nothing where nothing failed."""
    failed = failures(kept)
    if not failed:
        return ""
    if is_unaudited(kept):
        return _("Nobody checked whether this release keeps what it claims, for the audit failed: do not hand it out.")
    attacks = [one["component"] for one in failed if one["kind"] == "attack"]
    if attacks:
        return ngettext(
            "One attack was not tried to its end, {names}: the verdict speaks of the others alone.",
            "{count} attacks were not tried to their end, {names}: the verdict speaks of the others alone.",
            len(attacks),
        ).format(count=len(attacks), names=listing(attacks))
    return ngettext(
        "One measure failed, {names}: its number is missing below, and is not 0.",
        "{count} measures failed, {names}: their numbers are missing below, and are not 0.",
        len(failed),
    ).format(count=len(failed), names=listing([one["component"] for one in failed]))


def measures_of(axis: Literal["use", "risk"]) -> list[str]:
    """Return the measures without which nothing may be known of the use or of the risk.

    >>> measures_of("use")[0]
    'cell-error'
    """
    return sorted(one.name for one in placing()) if axis == "use" else ["reid-rate", "classes"]


def unmeasured_reason(kept: Kept, *measures: str) -> str:
    """Return why a number is not there: the measure failed, or nobody asked for it."""
    failed = {one["component"]: one["reason"] for one in failures(kept)}
    reason = next((failed[name] for name in measures if name in failed), None)
    return _("not measured") if reason is None else _("failed: {reason}").format(reason=reason)
