"""The table of a sweep: one row for each release, as a frame, and as plain data that hold no seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from noren.data.schema import Kind
from noren.i18n import speaking
from noren.judgement.place import Place
from noren.judgement.verdict import Verdict
from noren.sweeps.results import PointResult, SettingResult, in_language

__all__ = ["frame_of", "rows_of", "without_seeds"]

_COLUMNS: dict[str, Any] = {
    "label": pl.String,
    "method": pl.String,
    "parameters": pl.String,
    "k": pl.Float64,
    "run": pl.Int64,
    "seed": pl.Int64,
    "state": pl.String,
    "refused": pl.String,
    "verdict": pl.String,
    "reason": pl.String,
    "sentence": pl.String,
    "rule": pl.String,
    "use": pl.Float64,
    "use_of": pl.String,
    "risk": pl.Float64,
    "risk_of": pl.String,
    "attack": pl.String,
    "named": pl.Int64,
    "right": pl.Int64,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "on_frontier": pl.Boolean,
    "recommended": pl.Boolean,
    "rows_deleted": pl.Int64,
    "rows_added": pl.Int64,
}
_BEST = ("attack", "named", "right", "rate", "low", "high")


def frame_of(
    points: Sequence[PointResult], settings: Sequence[SettingResult], attacks: Sequence[str], kind: Kind
) -> pl.DataFrame:
    """Return one row for each point; measures in alphabetical order, then what each attack hit."""
    marked = {id(one.setting): one for one in settings}
    measures = sorted({name for point in points for name in point.scores})
    hits = [f"{name}.right" for name in attacks] if kind == Kind.HISTORY else []
    rows = [_row(point, marked[id(point.setting)], measures) for point in points]
    schema = _COLUMNS | dict.fromkeys(measures, pl.Float64) | dict.fromkeys(hits, pl.Int64)
    return pl.DataFrame(rows, schema=schema)


def _row(point: PointResult, setting: SettingResult, measures: Sequence[str]) -> dict[str, Any]:
    place = point.place or Place(label=point.label)
    return (
        {
            "label": point.label,
            "method": point.setting.method.name,
            "parameters": json.dumps(point.setting.parameters, ensure_ascii=False),
            "k": place.k,
            "run": point.run,
            "seed": point.seed,
            "state": point.state,
            "refused": point.reason("en") or None,
            "use": place.use,
            "use_of": place.use_of,
            "risk": place.risk,
            "risk_of": place.risk_of,
            "on_frontier": setting.on_frontier,
            "recommended": setting.recommended,
            "rows_deleted": point.rows.get("deleted"),
            "rows_added": point.rows.get("added"),
        }
        | _judged(point.verdict)
        | {name: point.scores[name].value if name in point.scores else None for name in measures}
    )


def _judged(verdict: Verdict | None) -> dict[str, Any]:
    """Return what a verdict says, in English, and what the attacks got; all of it missing where there is none."""
    if verdict is None:
        return {}
    best = verdict.evidence[0].model_dump(include=set(_BEST)) if verdict.evidence else {}
    with speaking("en"):
        sentence = verdict.sentence
    return {
        "verdict": str(verdict.word),
        "reason": str(verdict.reason),
        "sentence": sentence,
        "rule": verdict.rule.name or str(verdict.rule.tolerance),
        **best,
        **{f"{one.attack}.right": one.right for one in verdict.evidence},
    }


def without_seeds(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame that may be shown: runs are counted, no seed is told, nor the words of an unforeseen error."""
    shown = pl.when(pl.col("state") != "failed").then("refused").alias("refused")
    return frame.drop("seed").with_columns(shown)


def rows_of(points: Sequence[PointResult], settings: Sequence[SettingResult]) -> list[dict[str, Any]]:
    """Return each point as plain data, without its seed: the row of the table, what attacks did, parts of scores."""
    marked = {id(one.setting): one for one in settings}
    rows = []
    for point in points:
        row = _row(point, marked[id(point.setting)], [])
        row = {name: row.get(name) for name in _COLUMNS if name not in ("seed", "parameters")}
        row["parameters"] = point.setting.parameters
        row["evidence"] = [] if point.verdict is None else [one.model_dump() for one in point.verdict.evidence]
        table = None if point.verdict is None else point.verdict.facts.table
        row["table"] = None if table is None else table.model_dump()
        row["scores"] = {
            name: {"value": score.value, "parts": dict(score.parts)} for name, score in sorted(point.scores.items())
        }
        row["refused"] = None if point.state == "failed" else row["refused"]
        row["failed"] = {name: said["kind"] for name, said in sorted(point.failed.items())}
        row["left_out"] = {name: in_language(said, "en") for name, said in sorted(point.left_out.items())}
        rows.append(row)
    return rows
