"""Commands for the method retention: ``plan``, ``chart`` and ``reconstruct``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, TextTable, app, number, progress_bar, refusal, situation, wording
from noren.cli.parts.inputs import CustomerColumn, EngineName, Reading, Rows, SchemaName, comma_separated
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.retention.joint_release import JointPart

plan_commands = app.group(
    "plan",
    help=_("Plan a release by retention: compute rho from k, k from rho, or the rows needed."),
    invoke_without_command=True,
)

_USUAL = "2,3,5,10,20,50"


@plan_commands.callback()
def plan(
    context: typer.Context,
    domains: str = "",
    rows: Annotated[int | None, Option(min=2)] = None,
    k: str = "",
    rho: float | None = None,
    weights: str = "",
) -> Output | None:
    """Plan a release by retention."""
    if context.invoked_subcommand is not None:
        return None
    from noren.kernels.reconstruction.retention import k_of, keep_probabilities, rows_needed

    if not domains:
        raise refusal("missing", flag="--domains", example="--domains 5,2,42")
    sizes = [round(n) for n in _numbers(domains, "--domains", least=2)]
    ks = _numbers(k or _USUAL, "--k", least=1)
    shares = _numbers(weights, "--weights", least=0) if weights else None
    if rows is None and rho is None:
        raise refusal("missing", flag="--rows / --rho", example="--rows 32561")
    if rho is not None and not 0 <= rho < 1:
        raise ParameterError.out_of_range("rho", rho, "0 <= rho < 1")
    plans: list[tuple[float, list[float], int]] = []
    if rho is not None and rows is not None:
        plans = [(k_of([rho] * len(sizes), sizes, rows), [rho] * len(sizes), rows)]
    elif rho is not None:
        plans = [(wanted, [rho] * len(sizes), rows_needed(wanted, rho, sizes)) for wanted in ks]
    elif rows is not None:
        plans = [(wanted, keep_probabilities(wanted, sizes, rows, shares), rows) for wanted in ks]
    answer = {"domains": sizes, "plans": [{"k": k, "rho": rhos, "rows": needed} for k, rhos, needed in plans]}
    lines = [(number(k), _rho_text(rhos), number(needed)) for k, rhos, needed in plans]
    return Output(answer, [TextTable(("k", "rho", _("Rows")), lines)])


@plan_commands.command("joint")
def joint(
    releases: Annotated[list[Path] | None, Argument(metavar="RELEASE…")] = None,
    planned: Annotated[list[str] | None, Option(metavar="ATTRIBUTES:K")] = None,
    rows: Annotated[int | None, Option(min=2)] = None,
    schema: str | None = None,
    keep: Annotated[float | None, Option(min=1)] = None,
) -> Output:
    """Compute the joint guarantee of several releases."""
    from noren.retention.joint_release import joint as together
    from noren.retention.joint_release import part_in

    paths = releases or []
    twice = [path for at, path in enumerate(paths) if path.resolve() in {p.resolve() for p in paths[:at]}]
    if twice:
        raise refusal("named_twice", name=twice[0])
    parts = [part_in(path) for path in paths]
    if rows is None and parts:
        rows = parts[0].rows
    if planned and rows is None:
        raise refusal("missing", flag="--rows", example="--rows 32561")
    parts += [_planned(text, rows or 0, schema) for text in planned or []]
    result = together(parts)
    if rows is not None and rows != result.rows:
        raise refusal("other_rows", made=result.rows, rows=rows)
    room = result.room(keep) if keep is not None else None
    notes = [wording("joint_k_means")]
    if result.repeated:
        notes.append(_("Attributes released more than once: {names}.").format(names=", ".join(result.repeated)))
    if result.same_table is None:
        notes.append(_("Assumption: all releases are of the same table. Only the number of rows can be checked."))
    listed = [
        {"release": part.name, "attributes": part.attributes, "rho": part.rhos, "k": part.k, "odds": part.odds}
        for part in result.parts
    ]
    answer = {"rows": result.rows, "releases": listed, "attributes": result.attributes, "repeated": result.repeated}
    answer |= {"k": result.k, "odds": result.odds, "same_table": result.same_table, "reasons": [*notes]}
    answer |= {} if keep is None else {"keep": keep, "one_more_needs_k": room}
    lines = [
        (part.name, ", ".join(part.attributes), _rho_text(part.rhos), number(round(part.k, 6)), f"{part.odds:.3g}")
        for part in result.parts
    ]
    total = (_("Total"), ", ".join(result.attributes), "", number(round(result.k, 6)), f"{result.odds:.3g}")
    table = TextTable((_("Release"), _("Attributes"), "rho", "k", "Π b²"), [*lines, total])
    if keep is not None and room is None:
        notes.append(wording("joint_k_broken", keep=keep, k=result.k))
    elif keep is not None:
        notes.append(wording("joint_k_kept", keep=keep, room=room))
    return Output(answer, [table, *map(Note, notes)])


def _planned(text: str, rows: int, schema: str | None) -> JointPart:
    """Return the planned release that a text such as ``race,sex:500`` describes."""
    from noren.kernels.reconstruction.retention import keep_probabilities
    from noren.retention.joint_release import planned_part

    words, _colon, k = text.rpartition(":")
    names = comma_separated(words)
    try:
        wanted = float(k)
    except ValueError:
        names = []
    if not names:
        raise refusal("invalid", flag="--planned", value=text, example="race,sex:500")
    name = f"--planned {text}"
    if all(word.isdigit() for word in names):
        sizes = [round(n) for n in _numbers(words, "--planned", least=2)]
        return planned_part(name, (), rows, wanted, keep_probabilities(wanted, sizes, rows))
    if schema is None:
        return planned_part(name, names, rows, wanted)
    from noren.data.schema import Schema
    from noren.methods.retention import Retention
    from noren.registry import build

    made = build(Retention, {"attributes": names, "k": wanted}).plan(Schema.load(schema), rows)
    return planned_part(name, made.names, rows, wanted, made.rhos)


def _rho_text(rhos: Sequence[float]) -> str:
    """Return ρ once if all attributes share it, else one per attribute."""
    if not rhos:
        return ""
    return f"{rhos[0]:.4f}" if len(set(rhos)) == 1 else " ".join(f"{rho:.4f}" for rho in rhos)


def _numbers(text: str, flag: str, *, least: float) -> list[float]:
    try:
        numbers = [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        numbers = []
    if not numbers or not all(least <= value < 1e15 for value in numbers):
        raise refusal("no_numbers", flag=flag, text=text, least=least)
    return numbers


chart_commands = app.group("chart", help=_("Draw a perturbed table beside its original."), no_args_is_help=True)

Model = Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"]
Released = Annotated[Path, Argument(metavar="RELEASE", help=_("The release folder."))]


@dataclass(frozen=True)
class Picture:
    """The options of both pictures."""

    out: Path | None = None
    original: Path | None = None
    model: Model = "stated"
    schema: SchemaName = None
    rows_are: Rows = None
    customer: CustomerColumn = None

    def draw(self, release: Path, names: list[str]) -> Output:
        """Draw one attribute of a release, or two."""
        from noren.data.release import Release
        from noren.drawing import table_charts as charts
        from noren.drawing.base import chart_ending, write_picture

        if self.out is None and not situation.json:
            raise refusal("missing", flag="--out / --json", example="--out chart.html")
        if self.out is not None:
            chart_ending(self.out)
        loaded, data = Release.load(release), None
        if self.original is not None:
            reading = Reading(self.schema, self.rows_are, self.customer)
            data = reading.load(self.original, release=release, quiet=True)
        view = charts.view(loaded, names, original=data, model=None if self.model == "stated" else self.model)
        answer = view.as_dict()
        if self.out is not None:
            write_picture(charts.histogram(view) if len(names) == 1 else charts.crosstab(view), self.out)
            answer |= {"out": str(self.out)}
        return Output(answer, [wording("written", out=self.out)])


@chart_commands.command("histogram")
def histogram(release: Released, attribute: str, picture: Picture) -> Output:
    """Draw a histogram."""
    return picture.draw(release, [attribute])


@chart_commands.command("crosstab")
def crosstab(release: Released, attributes: str, picture: Picture) -> Output:
    """Draw a cross tabulation."""
    return picture.draw(release, comma_separated(attributes))


@app.command("reconstruct")
def reconstruct(
    release: Released,
    out: Path,
    model: Model = "stated",
    attributes: str = "",
    interactions: str = "",
    bootstrap: Annotated[int, Option(min=0)] = 0,
    cells: Path | None = None,
    seed: Annotated[int, Option(min=0)] = 0,
    engine: EngineName = "local",
) -> Output:
    """Reconstruct a table."""
    import polars as pl

    from noren.data.frames import Table as Records
    from noren.data.reading import write
    from noren.data.schema import Column, Kind, Schema, ValueType
    from noren.execution.engine import get_engine
    from noren.retention.reconstructed import WideReconstruction

    options: dict[str, Any] = {
        "model": None if model == "stated" else model,
        "attributes": comma_separated(attributes),
        "interactions": [pair.split("+") for pair in comma_separated(interactions)],
        "bootstrap": bootstrap,
        "seed": seed,
    }
    with progress_bar() as progress:
        result, schema = get_engine(engine).reconstruct(release, progress=progress, **options)
    records = result.records(seed)
    write(Records(records, result.perturbation.released_schema(schema)), out)
    by_pairs = isinstance(result, WideReconstruction)
    if cells is not None:
        frame = result.cells()
        numbers = [name for name in ("records", "low", "high") if name in frame.columns]
        columns = [attribute.column for attribute in result.perturbation.attributes]
        if by_pairs:
            columns = [Column(name=name, optional=True) for name in frame.columns if frame[name].dtype == pl.String]
        columns += [Column(name=name, type=ValueType.DECIMAL, width=1e-9) for name in numbers]
        write(Records(frame, Schema(kind=Kind.TABLE, columns=tuple(columns))), cells)
    facts: dict[str, Any] = {
        "records": len(records),
        "cells": result.perturbation.cells,
        "model": result.model,
        "made_of": result.made_of,
        "tables": "pairs" if by_pairs else "whole",
    }
    if result.own_intervals:
        facts["intervals"] = {
            name: [[float(low), float(high)] for low, high in zip(bounds.low, bounds.high, strict=True)]
            for name, bounds in result.own_intervals.items()
        }
    rows = [
        (_("Records"), number(len(records))),
        (_("Cells"), number(result.perturbation.cells)),
        (_("Model"), result.model),
        *((f"  {name}", f"{share:.2f}") for name, share in list(result.made_of.items())[:5]),
        (_("File"), str(out)),
    ]
    if by_pairs:
        rows.insert(2, ("", _("Too many for one table: reconstructed by pairs of attributes.")))
    if result.intervals is not None:
        width = float((result.intervals.high - result.intervals.low).mean())
        rows.insert(2, (_("Mean width of a cell's 95% interval"), number(width)))
    return Output({"out": str(out)} | facts, [TextTable(("", ""), rows)])
