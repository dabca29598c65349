"""``methods``, ``attacks``, ``measures``, ``reproduce`` and ``demo``."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from noren.cli.parts.commands import Failures, Note, Output, Part, TextTable, app, progress_bar, say, situation, wording
from noren.cli.parts.inputs import Force, RuleName
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.judgement.frontier import RiskUtilityPoint
    from noren.judgement.outcome import Outcome
    from noren.judgement.verdict import Verdict
    from noren.reproduce.run import Reproduction

Name = Annotated[str | None, Argument(metavar="NAME", help=_("Show only this one, with its parameters."))]


def _listing(kind: str, name: str | None) -> Output:
    """List all methods, attacks or measures, or describe one."""
    from noren.registry import describe, flags

    registry = getattr(importlib.import_module(f"noren.{kind}"), kind)
    picked = [registry[n] for n in registry] if name is None else [registry[name]]
    broken = registry.broken() if name is None else {}
    say(*(wording("left_out", reason=reason) for reason in broken.values()))
    parts: list[Part] = []
    if name is None:
        rows = [(c.name, _(c.summary), " ".join(f.flag for f in flags(c)), c.source) for c in picked]
        parts.append(TextTable((_("Name"), _("Meaning"), _("Parameters"), _("Source")), rows))
    else:
        parts.append(f"{picked[0].name}: {_(picked[0].summary)}")
        if picked[0].roles:
            parts.append(_("Required roles: {roles}.").format(roles=", ".join(picked[0].roles)))
        parts.append(_("Runtime: {time}.").format(time=picked[0].runtime.words))
        rows = [(f.flag, f.type, _("required") if f.required else str(f.default), f.help) for f in flags(picked[0])]
        if rows:
            parts.append(TextTable(("", _("Type"), _("Default"), _("Meaning")), rows))
    return Output({kind: [describe(c) for c in picked]} | ({"broken": broken} if broken else {}), parts)


@app.command("methods")
def methods(name: Name = None) -> Output:
    """List methods."""
    return _listing("methods", name)


@app.command("attacks")
def attacks(name: Name = None) -> Output:
    """List attacks."""
    return _listing("attacks", name)


@app.command("measures")
def measures(name: Name = None) -> Output:
    """List measures."""
    return _listing("measures", name)


@app.command("reproduce")
def reproduce(
    documents: Annotated[str, Argument(metavar="S0|S1|S2|S3|S4|beyond|all")],
    table: list[str] | None = None,
    figure: list[str] | None = None,
    part: list[str] | None = None,
    quick: Annotated[bool, Option("--quick")] = False,
    seeds: Annotated[int | None, Option(min=1)] = None,
    out: Path | None = None,
    force: Force = False,
    cache: Path | None = None,
    fresh: Annotated[bool, Option("--no-cache")] = False,
    workers: Annotated[int | None, Option(min=1)] = None,
) -> Output:
    """Reproduce documents."""
    from noren.data.formats.files import require_free_path
    from noren.reproduce import get_documents
    from noren.reproduce.frame import Extent
    from noren.reproduce.run import DocumentChoice
    from noren.reproduce.run import reproduce as run
    from noren.reproduce.writing import REPRODUCTION, write

    chosen = get_documents(documents)
    choice = DocumentChoice(tuple(table or ()), tuple(figure or ()), tuple(part or ()))
    choice.check(chosen)
    if out is not None:
        require_free_path(out, replace=force and REPRODUCTION)
    with progress_bar() as progress:
        report = run(
            chosen, Extent(quick, seeds), choice, folder=cache, fresh=fresh, workers=workers, progress=progress
        )
    if out is not None:
        write(report, out, replace=force)
    shown = ("row", "column", "paper", "ours")
    failed = [
        wording("differs_from_paper", document=document, part=key, **{field: getattr(cell, field) for field in shown})
        for document, key, cell in report.failed
    ]
    return Output(report.as_dict(), _reproduction_parts(report, out), exit_code=1 if failed else 0, remarks=failed)


def _reproduction_parts(report: Reproduction, out: Path | None) -> Iterator[Part]:
    import textwrap

    from rich.cells import cell_len
    from rich.console import Console

    from noren.reproduce.writing import grid, headline, long_grid, part_title, remarks_of

    width = Console().width
    for result in report.documents:
        yield f"{result.document.key}: {_(result.document.title)}\n"
        for part in result.parts:
            if cells := part.comparison.cells:  # as wide as the paper's table, or one below the other
                table = grid(cells)
                headings = _two_lines(table.headings)
                lines = ([heading.split("\n")[i] for heading in headings] for i in (0, -1))
                if sum(max(map(cell_len, column)) + 3 for column in zip(*table.rows, *lines, strict=True)) + 1 > width:
                    table = long_grid(cells)
                    headings = _two_lines(table.headings)
                yield TextTable(headings, table.rows, part_title(part))
            else:
                yield part_title(part)
            yield from (*remarks_of(part), "")
        if result.errata:
            yield _("Errata")
        for erratum in result.errata:
            mark = f" ({_('unexplained')})" if erratum.unexplained else ""
            yield textwrap.fill(f"{erratum.key}{mark}: {erratum.text}", width, subsequent_indent="  ")
        yield ""
    yield headline(report) + "."
    yield wording("units", computed=report.computed, cached=report.cached)
    if out is not None:
        yield wording("written", out=out)


def _two_lines(headings: Sequence[tuple[str, str]]) -> list[str]:
    """Return headings whose first line names the paper's column once."""
    if not any(column for column, _whose in headings):
        return [whose for _column, whose in headings]
    columns = ["", *(column for column, _whose in headings)]
    pairs = zip(columns, headings, strict=False)
    return [f"{column if column != before else ''}\n{whose}" for before, (column, whose) in pairs]


_SCHEMA = "pwscup2018"
_RUNS: dict[str, tuple[str, str, dict[str, object]]] = {
    "pseudonymize": ("pseudonymize", "pseudonymize", {}),
    "generalize-by-count-k2": ("generalize-by-count k=2", "generalize-by-count", {"k": 2, "suppress_cells": True}),
    "generalize-by-count-k3": ("generalize-by-count k=3", "generalize-by-count", {"k": 3, "suppress_cells": True}),
    "generalize-by-count-k5": ("generalize-by-count k=5", "generalize-by-count", {"k": 5, "suppress_cells": True}),
    "generalize-k5": ("generalize k=5", "generalize", {"k": 5, "effort": "quick"}),
}
"""What the demo makes, by the folder of the release."""
_SMALL = 5_000
"""Rows up to which starting processes takes longer than the work."""


@app.command("demo")
def demo(
    out: Path = Path("demo"),
    customers: int = 200,
    rows: int = 12_000,
    rule: RuleName = None,
    seed: Annotated[int, Option(min=0)] = 1,
    force: Force = False,
) -> Output:
    """Run the demo."""
    from noren.api import sample
    from noren.data.contest_files import write_rows
    from noren.data.formats.files import FolderKind, file_digest, writing_folder
    from noren.data.release import RELEASE
    from noren.judgement.frontier import risk_utility_point
    from noren.judgement.judging import judge
    from noren.judgement.rule import get_rule
    from noren.reports.report import write_report
    from noren.work.workers import child_processes

    by = get_rule(rule)
    releases = [f"{place}/{file}" for place in _RUNS for file in RELEASE.names]
    kind = FolderKind((_SIGN, *_SIGNED, *releases), _unsigned)
    earlier = out.is_dir() and any(out.iterdir()) and kind.foreign(out) is None  # a demo, and nothing else
    with writing_folder(out, replace=(force or earlier) and kind) as folder:
        if not situation.json:
            say(_("generating {rows:,} purchases of {customers:,} customers").format(rows=rows, customers=customers))
        original = sample(customers=customers, rows=rows, seed=seed, schema=_SCHEMA)
        write_rows(original, folder / "T.csv")
        outcomes: list[Outcome] = []
        failures = Failures()
        with progress_bar() as progress:
            examined = partial(_examined, original, folder, seed)
            with child_processes(2) if rows > _SMALL else nullcontext() as pool:
                # the last first: at a first run its kernels are compiled while others compile those of the attacks
                done = (pool.map if pool else map)(examined, reversed(_RUNS))
                for i, outcome in enumerate(done):
                    progress((i + 1) / len(_RUNS), outcome.label)
                    outcomes.insert(0, outcome)
            for outcome in outcomes:
                for failing, reason in outcome.failed.items():
                    failures.add(f"{outcome.label}, {failing}", reason)
        write_report(original, outcomes, folder / "report.html", rule=by)
        # an original and a report, whose names anybody may use, are told from yours by their digests
        files = {name: file_digest(folder / name) for name in _SIGNED}
        (folder / _SIGN).write_text(json.dumps({"folder": "demo", "files": files}, indent=1) + "\n", encoding="utf-8")
    verdicts = [judge(outcome, by) for outcome in outcomes]
    places = [risk_utility_point(o.label, verdict, o.scores) for o, verdict in zip(outcomes, verdicts, strict=True)]
    page = (out / "report.html").resolve()
    summary = [
        {
            "release": o.label,
            "deleted_rows": o.release.deleted_rows,
            "place": place.model_dump(mode="json"),
            "scores": {name: score.value for name, score in o.scores.items()},
        }
        | verdict.as_dict()
        for o, verdict, place in zip(outcomes, verdicts, places, strict=True)
    ]
    answer = {"out": str(out), "report": str(page), "releases": summary, "failed": failures.reasons}
    return Output(answer, _story(verdicts, places, page), failures.exit_code)


def _examined(original: Records, folder: Path, seed: int, place: str) -> Outcome:
    """Make one of the demo's releases, save it, and attack and measure it."""
    from noren.api import protect
    from noren.judgement.outcome import examine
    from noren.methods import methods

    label, name, parameters = _RUNS[place]
    release = protect(original, methods.create(name, **parameters), seed=seed)
    release.save(folder / place, official=True)
    return examine(original, release, label=label)


def _story(verdicts: Sequence[Verdict], places: Sequence[RiskUtilityPoint], page: Path) -> Iterator[Part]:
    """Yield a summary on one screen: the risk and utility of each release, and which one to choose."""
    from noren.judgement.frontier import finding
    from noren.judgement.numbers import percent
    from noren.judgement.sentences import rule_sentence, verdict_label

    headings = (_("Release"), _("Verdict"), _("Risk"), _("Utility"))
    rows = []
    for verdict, place in zip(verdicts, places, strict=True):
        most = "≤ " if verdict.risk_of == "guarantee" else ""  # at most so many, where that is proved
        named = "–" if verdict.risk is None else most + percent(verdict.risk)
        rows.append((place.label, verdict_label(place.status), named, percent(place.use or 0.0)))
    by = verdicts[0].rule
    yield TextTable(headings, rows)
    yield finding(places)
    chosen = [i for i, place in enumerate(places) if place.status.is_safe]
    if chosen:
        best = max(chosen, key=lambda i: places[i].use or 0.0)
        yield _("Recommended: {label}. {sentence}").format(label=places[best].label, sentence=verdicts[best].sentence)
    yield Note(rule_sentence(by))
    yield _("Report: {page}").format(page=page.as_uri())


# --- knowing an earlier demo again -----------------------------------------------------------------------------------

_SIGN = ".noren"
_SIGNED = ("T.csv", "report.html")


def _unsigned(folder: Path) -> str | None:
    """Return a file that is not the one an earlier demo wrote."""
    from noren.data.formats.files import file_digest

    try:
        files = json.loads((folder / _SIGN).read_text(encoding="utf-8"))["files"]
        return next((name for name in _SIGNED if file_digest(folder / name) != files[name]), None)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return next((name for name in _SIGNED if (folder / name).exists()), _SIGN)
