"""Everything a page says of one run, as plain data: what was done, what leaks, what stays, and where it stands.

Numbers and facts alone, so that a page can say them in any language. They are those that ``noren measure`` and
``noren attack`` print for the same run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from noren.data.fits import class_sizes
from noren.data.frames import History, Records, Table
from noren.data.reconstruction import reconstruct
from noren.data.release import Release, Statement
from noren.data.schema import Role
from noren.measures import measures
from noren.measures.safety.table_classes import table_classes
from noren.protocols import Score
from noren.study.beside import Bars, Beside, bars_of, perturbed_by, side_by_side
from noren.study.count_bars import count_bars
from noren.study.findings import people_in
from noren.study.histograms import Spread, net_shift, shares, spread
from noren.study.outcomes import Outcome
from noren.study.page_text import plain, printable
from noren.study.run_risk import attack_facts, verdicts_of
from noren.study.table_risk import claimed_by, risk_of_table

__all__ = ["class_size_bars", "column_bars", "measure_facts", "place_on_map", "run_view"]

_DIGITS = 6


def run_view(original: Records, outcome: Outcome) -> dict[str, Any]:
    """Return what the page of a run shows; see the parts for what each holds.

    >>> from noren import api
    >>> from noren.study.outcomes import run_outcome
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> shown = run_view(history, run_outcome(history, "generalize-by-count", k=4, seed=1, attacks=["unique-rows"]))
    >>> shown["verdict"], shown["map"]["risk"], shown["class_sizes"]["minimum"]
    ({'paper': 'withstands', 'sharp': 'withstands'}, 0.0, 4)
    """
    release, people = outcome.release, people_in(original)
    attacks, most_damaging = attack_facts(outcome, people)
    risk = risk_of_table(outcome) if isinstance(original, Table) else None
    best, every = verdicts_of(attacks) if risk is None else (_both(risk["verdict"]), _both(risk["verdict"]))
    return {
        "label": printable(outcome.label),
        "kind": str(original.schema.kind),
        "people": people,
        "statement": _statement(release.statement),
        "rows": {
            "original": len(original),
            "public": len(release.public),
            "deleted": release.deleted_rows if release.has_secret else None,
            "added": release.inserted_rows if release.has_secret else None,
        },
        "attacks": attacks,
        "most_damaging": most_damaging,
        "verdict": best,
        "verdict_all": every,
        "table_risk": risk,
        "measures": measure_facts(outcome),
        "histograms": column_bars(original, release),
        "class_sizes": class_size_bars(release),
        "map": place_on_map(outcome.label, release.statement, outcome.scores, risk, best["sharp"]),
    }


def _both(verdict: str) -> dict[str, str]:
    return {"paper": verdict, "sharp": verdict}


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "method": printable(statement.method),
        "noren": printable(statement.noren),
        "steps": [
            {
                "method": printable(step.method),
                "parameters": plain(step.parameters),
                "promise": printable(step.promise),
                "notes": plain({name: value for name, value in step.notes.items() if name != "categories"}),
            }
            for step in statement.steps
        ],
        "claimed": claimed_by(statement),
    }


def measure_facts(outcome: Outcome) -> list[dict[str, Any]]:
    """Return every score with what its measure says of itself; unit and summary are messages to be translated."""
    said = []
    for name, score in outcome.scores.items():
        known = measures[name] if name in measures else None  # noqa: SIM401 - a register has no get
        said.append(
            {
                "name": printable(name),
                "group": "safety" if known is not None and ".safety." in known.__module__ else "utility",
                "value": plain(float(score.value)),
                "parts": {printable(part): plain(float(value)) for part, value in score.parts.items()},
                "notes": plain(score.notes),
                "unit": "" if known is None else known.unit,
                "summary": "" if known is None else known.summary,
                "goal": None if known is None else known.goal,
                "bounds": None if known is None else list(known.bounds),
            }
        )
    return said


# --- histograms ----------------------------------------------------------------------------------------------


def column_bars(original: Records, release: Release) -> list[dict[str, Any]]:
    """Return the bars of every column worth a look, before and after; of retention also what was reconstructed."""
    found = []
    for beside in side_by_side(original, release):
        bars = bars_of(beside.original, beside.column, attribute=beside.attribute)
        if bars is not None:
            found.append(_pair(beside, bars, len(original), release))
    return found


def _pair(beside: Beside, bars: Bars, rows: int, release: Release) -> dict[str, Any]:
    before, after = (spread(cells, bars.axis, rows) for cells in (beside.original, beside.released))
    rebuilt = _reconstructed(beside, bars, rows, release)
    shown = [one for one in (before, after, rebuilt) if one is not None]
    others = bars.axis.nominal and any(_rest(one, bars) > 10**-_DIGITS for one in shown)
    return bars.facts(others=others) | {
        "original": _heights(before, bars, others=others),
        "released": _heights(after, bars, others=others),
        "reconstructed": None if rebuilt is None else _heights(rebuilt, bars, others=others),
        "shift": net_shift(before, after, rows),
        "shift_reconstructed": None if rebuilt is None else net_shift(before, rebuilt, rows),
        "unsaid": after.unsaid / max(rows, 1),
    }


def _rest(found: Spread, bars: Bars) -> float:
    return float(found.weights[bars.shown :].sum()) + found.elsewhere


def _heights(found: Spread, bars: Bars, *, others: bool) -> list[float]:
    heights = [float(weight) for weight in found.weights[: bars.shown]]
    return [round(height, _DIGITS) for height in ([*heights, _rest(found, bars)] if others else heights)]


def _reconstructed(beside: Beside, bars: Bars, rows: int, release: Release) -> Spread | None:
    """Return what was estimated of one attribute, as ``noren chart`` does, on the bars of its column."""
    if beside.attribute is None or perturbed_by(release) is None:
        return None
    found = reconstruct(release.public, release.statement, attributes=[beside.attribute.name])
    if found.model == "none":
        return None
    number, of_bars = shares(beside.attribute.values(np.arange(beside.attribute.size)), bars.axis)
    weights = found.table @ of_bars[number]
    elsewhere = float(weights[-1]) if bars.axis.nominal else 0.0
    kept = weights[: len(bars.axis.labels)]
    return Spread(kept, elsewhere, max(0.0, rows - float(kept.sum()) - elsewhere))


# --- classes -------------------------------------------------------------------------------------------------


def class_size_bars(release: Release) -> dict[str, Any] | None:
    """Return how large the classes are: pseudonyms of one public history, or rows alike in every quasi column."""
    public = release.public
    if isinstance(public, History):
        of, sizes = "pseudonyms", np.asarray(class_sizes(public), dtype=np.int64)
    elif isinstance(public, Table) and public.schema.with_role(Role.QUASI):
        of, sizes = "rows", table_classes(public).sizes.to_numpy().astype(np.int64)
    else:
        return None
    found = count_bars(sizes)
    bar = np.searchsorted(found["from"], sizes, side="right") - 1
    members = np.bincount(bar, weights=sizes, minlength=len(found["from"])) if len(sizes) else np.zeros(0)
    return found | {"of": of, "members": members.astype(int).tolist(), "alone": int((sizes == 1).sum())}


# --- the map -------------------------------------------------------------------------------------------------


def place_on_map(
    label: str, statement: Statement, scores: Mapping[str, Score], risk: Mapping[str, Any] | None, verdict: str
) -> dict[str, Any]:
    """Return where a run stands on the risk–utility map, and by which measures; ``risk`` is that of a table.

    Use kept is 1 - U for histories. For tables it is the share of records in the right cell (``l1-precision``) where
    values were perturbed, else 1 - ``table-loss``. Risk is the share of customers that the best attack names, and for
    tables the highest chance with which anybody's row is told: a prosecutor's, or the 1/k that is proven.
    """
    point: dict[str, Any] = {"label": printable(label), "verdict": verdict}
    point["k"] = claimed_by(statement).get("k")
    if risk is None:
        error, share = scores.get("cell-error"), scores.get("reid-rate")
        return point | {
            "use": None if error is None else 1 - error.value,
            "risk": None if share is None else share.value,
            "use_of": None if error is None else "cell-error",
            "risk_of": None if share is None else "reid-rate",
        }
    exact, loss = scores.get("l1-precision"), scores.get("table-loss")
    perturbed = statement.method == "retention"
    use, use_of = None, None
    if exact is not None and (perturbed or loss is None):
        use, use_of = exact.value, "l1-precision"
    elif loss is not None and not perturbed:
        use, use_of = 1 - loss.value, "table-loss"
    proven = risk["basis"] == "proof"
    chance = risk["bound"] if proven else risk["prosecutor"]
    return point | {
        "use": use,
        "risk": chance,
        "use_of": use_of,
        "risk_of": None if chance is None else "proof" if proven else "prosecutor",
    }
