"""The table of a sweep: one row for each release, as a frame, and as plain data that hold no seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from noren.data.schema import Kind
from noren.study.sweep_results import PointResult, SettingResult, in_language

__all__ = ["frame_of", "rows_of", "without_seeds"]

_COLUMNS: dict[str, Any] = {
    "label": pl.String,
    "method": pl.String,
    "parameters": pl.String,
    "k": pl.Float64,
    "run": pl.Int64,
    "seed": pl.Int64,
    "state": pl.String,
    "reason": pl.String,
    "use": pl.Float64,
    "use_of": pl.String,
    "risk": pl.Float64,
    "risk_of": pl.String,
    "verdict_paper": pl.String,
    "verdict_sharp": pl.String,
    "survival_sharp": pl.Float64,
    "withstands": pl.Boolean,
    "on_frontier": pl.Boolean,
    "recommended": pl.Boolean,
    "rows_deleted": pl.Int64,
    "rows_added": pl.Int64,
}


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
    place = point.place
    return (
        {
            "label": point.label,
            "method": point.setting.method.name,
            "parameters": json.dumps(point.setting.parameters, ensure_ascii=False),
            "k": place.get("k"),
            "run": point.run,
            "seed": point.seed,
            "state": point.state,
            "reason": point.reason("en") or None,
            "use": place.get("use"),
            "use_of": place.get("use_of"),
            "risk": place.get("risk"),
            "risk_of": place.get("risk_of"),
            "verdict_paper": point.verdict.get("paper"),
            "verdict_sharp": point.verdict.get("sharp"),
            "survival_sharp": point.survival,
            "withstands": None if point.refused or point.undecided else point.withstands,
            "on_frontier": setting.on_frontier,
            "recommended": setting.recommended,
            "rows_deleted": point.rows.get("deleted"),
            "rows_added": point.rows.get("added"),
        }
        | {name: point.scores[name].value if name in point.scores else None for name in measures}
        | {f"{one['attack']}.right": one["right"] for one in point.attacks}
    )


def without_seeds(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame that may be shown: runs are counted, no seed is told, nor the words of an unforeseen error."""
    shown = pl.when(pl.col("state") != "failed").then("reason").alias("reason")
    return frame.drop("seed").with_columns(shown)


def rows_of(points: Sequence[PointResult], settings: Sequence[SettingResult]) -> list[dict[str, Any]]:
    """Return each point as plain data, without its seed: the row of the table, what attacks did, parts of scores."""
    marked = {id(one.setting): one for one in settings}
    rows = []
    for point in points:
        row = _row(point, marked[id(point.setting)], [])
        row = {name: row[name] for name in _COLUMNS if name not in ("seed", "parameters")}
        row["parameters"] = point.setting.parameters
        row["attacks"] = list(point.attacks)
        row["table_risk"] = point.table_risk
        row["scores"] = {
            name: {"value": score.value, "parts": dict(score.parts)} for name, score in sorted(point.scores.items())
        }
        row["reason"] = None if point.state == "failed" else row["reason"]
        row["failed"] = {name: said["kind"] for name, said in sorted(point.failed.items())}
        row["left_out"] = {name: in_language(said, "en") for name, said in sorted(point.left_out.items())}
        rows.append(row)
    return rows
