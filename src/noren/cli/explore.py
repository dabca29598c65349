"""``noren explore``: compare methods and parameters, with a live table of results."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Failures, Note, Output, Part, TextTable, app, refusal, say, situation, wording
from noren.cli.parts.inputs import Force, Reading, RuleName, comma_separated
from noren.i18n import _, use_language

if TYPE_CHECKING:
    from noren.data.frames import Records
    from noren.sweeps.files import SweepFile
    from noren.sweeps.plan import SweepRequest
    from noren.sweeps.study import SweepStudy
    from noren.sweeps.sweep import PointProgress, SweepForecast, SweepProgress

_LONGEST_LABEL = 44


@app.command("explore", component_flags=True)
def explore(
    context: typer.Context,
    original: Annotated[Path | None, Argument(metavar="ORIGINAL")] = None,
    methods: str | None = None,
    sweep: Path | None = None,
    attacks: str | None = None,
    measures: str | None = None,
    seeds: str | None = None,
    out: Path | None = None,
    rule: RuleName = None,
    purpose: Annotated[str | None, Option("--for", metavar="QUESTIONS")] = None,
    *,
    reading: Reading,
    language: Literal["en", "ja"] | None = None,
    cache: Path | None = None,
    fresh: Annotated[bool, Option("--no-cache")] = False,
    workers: Annotated[int | None, Option(min=1)] = None,
    force: Force = False,
) -> Output:
    """Run a sweep and recommend a setting."""
    from noren.data.formats.files import require_free_path
    from noren.sweeps.files import STUDY, SweepFile, as_plain, holds_study
    from noren.sweeps.study import in_language
    from noren.sweeps.sweep import run

    if sweep is not None and (methods is not None or context.args):
        raise refusal("excludes", flag="--sweep", others="--methods" if methods is not None else context.args[0])
    file = None if sweep is None else SweepFile(sweep)
    path = original or (None if file is None else file.file("data"))
    if path is None:
        raise refusal("missing", flag="ORIGINAL", example="noren explore orders.csv")
    if out is not None:
        require_free_path(out, replace=(force or holds_study(out)) and STUDY)
    if file is not None and reading.master is None:
        reading = replace(reading, master=file.file("master"))
    data = reading.load(path, schema=None if file is None else file.schema())
    if file is not None and file.differs(data):
        say(_("{file}: this sweep was made from other data").format(file=sweep))
    options = {"attacks": attacks, "measures": measures, "seeds": seeds, "rule": rule, "purpose": purpose}
    request = _sweep_request(data, file, methods=methods or "all", flags=context.args, cache=cache, **options)
    how: dict[str, Any] = {"cache": cache, "fresh": fresh, "workers": workers}
    try:
        with watching(quiet=situation.json) as watch:
            study = run(data, request, file=path, master=reading.master, watch=watch, **how)
    except KeyboardInterrupt:
        say(_("interrupted; run the same command again to continue from the cached results"))
        raise
    if out is not None:
        with use_language(language) if language else contextlib.nullcontext():
            study.save(out, replace_existing=force)
    failures = Failures()
    for setting in study.settings:
        for name, why in setting.failed.items():
            failures.add(f"{setting.label}, {name}", in_language(why))
    done = {"out": None if out is None else str(out), "computed": study.computed, "cached": study.cached}
    answer = as_plain(study) | {"answer": study.answer, "failed": failures.reasons} | done
    return Output(answer, _parts(study, out), failures.exit_code)


def _sweep_request(
    data: Records, file: SweepFile | None, *, methods: str, flags: list[str], **options: Any
) -> SweepRequest:
    """Return the sweep that the flags describe, else the file's; a parameter goes to every method that has it."""
    from noren.methods import methods as every_method
    from noren.registry import spread, sweep_flags
    from noren.sweeps.sweep import build_request

    if (text := options["seeds"]) is not None:  # as people write them: 1..3,7
        options["seeds"] = []
        for seed in (seed for part in text.replace("…", "..").split(",") for seed in spread(part.strip())):
            if not str(seed).isdigit():
                raise refusal("invalid", flag="--seeds", value=text, example="1..3")
            options["seeds"].append(int(seed))
    if file is not None:
        defaults: dict[str, Any] = {key: file.components(key) for key in ("attacks", "measures")}
        defaults |= {"seeds": file.seeds(), "rule": file.rule(), "purpose": file.purpose()}
        options |= {name: value for name, value in defaults.items() if options[name] is None}
    options |= {name: "all" for name in ("attacks", "measures") if options[name] is None}
    options["purpose"] = options["purpose"] or ()
    if file is not None:
        return build_request(data, [setting.method for setting in file.settings()], **options)[0]
    if methods == "all":
        kinds = [every_method[name] for name in every_method if every_method[name].fits(data.schema)]
    else:
        kinds = [every_method[name] for name in comma_separated(methods)]
    values = {name: value for parameters in sweep_flags(kinds, flags) for name, value in parameters.items()}
    request, left_out = build_request(data, methods, values, **options)
    say(*(wording("left_out", reason=line) for line in left_out))
    return request


def _parts(study: SweepStudy, out: Path | None) -> Iterator[Part]:
    from noren.judgement.numbers import decimal, percent
    from noren.judgement.page_text import printable
    from noren.judgement.sentences import rule_sentence

    survival = any("survival" in setting.scores for setting in study.settings)
    rows = []
    for setting in study.settings:
        numbers = [(setting.place.use, decimal), (setting.place.risk, percent)]
        numbers += [(setting.scores.get("survival"), decimal)] if survival else []
        rows.append(
            (
                printable(setting.label, _LONGEST_LABEL) + (" ←" if setting.recommended else ""),
                setting.verdict_label,
                *("–" if value is None else written(value) for value, written in numbers),
            )
        )
    headings = [_("Setting"), _("Verdict"), _("Utility"), _("Risk"), *(["survival"] if survival else [])]
    yield TextTable(headings, rows)
    for setting in study.settings:
        if not setting.done and not setting.failed:
            yield _("{label} was refused: {reason}").format(label=setting.label, reason=setting.runs[0].reason())
    yield from (*study.answer, rule_sentence(study.request.rule))
    if out is not None:
        yield wording("written", out=out)
        yield _("Report: {page}").format(page=(out / "report.html").resolve().as_uri())
    yield Note(wording("units", computed=study.computed, cached=study.cached))


_OTHER_LINES = 8
"""Lines of a terminal that are not for points: headings, rules, the bar."""


@contextlib.contextmanager
def watching(*, quiet: bool = False) -> Iterator[SweepProgress]:
    """Yield an object that reports progress: a live table in a terminal, elsewhere one line per finished point."""
    from noren.sweeps.sweep import SweepProgress

    class ProgressLines(SweepProgress):
        total = over = 0

        def begin(self, prospect: SweepForecast) -> None:
            self.total = len(prospect.lines)
            say(forecast_sentence(prospect))

        def changed(self, at: int, line: PointProgress) -> None:
            if line.result is None:
                return
            self.over += 1
            label, state, use, risk, verdict, time = cells(line)
            place = _("utility {utility}, risk {risk}").format(utility=use, risk=risk) if use else ""
            say(f"[{self.over}/{self.total}] {label}: {', '.join(filter(None, (state, place, verdict, time)))}")

    if not quiet and sys.stderr.isatty():
        with _live() as watch:
            yield watch
    else:
        yield SweepProgress() if quiet else ProgressLines()


def forecast_sentence(prospect: SweepForecast) -> str:
    """Return how much work a sweep has to do, and what of it may be slow."""
    counts = {"releases": len(prospect.lines), "left": prospect.left, "cached": prospect.cached}
    sentence = wording("sweep_counts", **counts, workers=prospect.workers)
    if prospect.slow:
        sentence += _("; slow on large data: {names}").format(names=", ".join(prospect.slow))
    return sentence


def cells(line: PointProgress) -> tuple[str, ...]:
    """Return the cells of a line: release, state, utility, risk, verdict, time."""
    from noren.judgement.numbers import decimal, percent
    from noren.judgement.sentences import verdict_label

    states = {
        "waiting": _("waiting"),
        "refused": _("refused"),
        "failed": _("failed"),
        "done": _("cached") if line.cached else _("done"),
    }
    state = states.get(line.state) or f"{line.done} / {line.pieces}"
    result, label = line.result, f"{line.label} ({line.run})" if line.run > 1 else line.label
    if result is None:
        return label, state, "", "", "", ""
    time = "" if line.cached else f"{result.seconds:.1f} s"
    if result.place is None:
        return label, state, "", "", result.reason(), time
    use, risk = result.place.use, result.place.risk
    numbers = "–" if use is None else decimal(use), "–" if risk is None else percent(risk)
    return label, state, *numbers, verdict_label(result.status), time


@contextlib.contextmanager
def _live() -> Iterator[SweepProgress]:
    """Yield an object that keeps a table up to date in the terminal."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Table
    from rich.text import Text

    from noren.sweeps.sweep import SweepProgress

    console = Console(stderr=True)
    columns = BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TimeRemainingColumn()
    bar = Bar(*columns, console=console)
    task = bar.add_task("", total=1.0)
    lines: list[PointProgress] = []

    def table() -> Any:
        rendered = Table(header_style="bold")
        for heading in (_("Release"), _("State"), _("Utility"), _("Risk"), _("Verdict"), _("Duration")):
            is_number = heading in (_("Utility"), _("Risk"), _("Duration"))
            rendered.add_column(heading, justify="right" if is_number else "left", overflow="ellipsis", no_wrap=True)
        for line in window(lines, max(console.height - _OTHER_LINES, 3)):
            rendered.add_row(*(Text(cell) for cell in cells(line)))
        return Group(rendered, bar)

    with Live(console=console, get_renderable=table, refresh_per_second=4, transient=True):

        class ProgressTable(SweepProgress):
            def begin(self, prospect: SweepForecast) -> None:
                console.print(Text(forecast_sentence(prospect)))
                lines[:] = prospect.lines

            def changed(self, at: int, line: PointProgress) -> None:
                lines[at] = line
                done = sum(row.done for row in lines) / max(sum(row.pieces for row in lines), 1)
                bar.update(task, completed=done)

        yield ProgressTable()


def window(lines: Sequence[PointProgress], most: int) -> Sequence[PointProgress]:
    """Return as many lines as there is room for, from shortly before the first that is not over."""
    first = next((at for at, line in enumerate(lines) if line.result is None), len(lines))
    start = max(min(first - 2, len(lines) - most), 0)
    return lines[start : start + most]
