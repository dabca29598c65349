"""``noren explore``: a sweep over methods and strengths, with a table that fills while it runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Failures, Note, Output, Part, TextTable, app, refusal, say, situation
from noren.cli.parts.inputs import Force, Reading, RuleName, comma_separated
from noren.i18n import _, ngettext, use_language

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
    *,
    reading: Reading,
    language: Literal["en", "ja"] | None = None,
    cache: Path | None = None,
    fresh: Annotated[bool, Option("--no-cache")] = False,
    workers: Annotated[int | None, Option(min=1)] = None,
    force: Force = False,
) -> Output:
    """Run a sweep and say which setting to take."""
    from noren.data.formats.files import require_free_path
    from noren.sweeps.files import STUDY, SweepFile, as_plain, holds_study
    from noren.sweeps.study import in_language
    from noren.sweeps.sweep import run

    if sweep is not None and (methods is not None or context.args):
        raise refusal("methods_of_sweep", word="--methods" if methods is not None else context.args[0])
    file = None if sweep is None else SweepFile(sweep)
    path = original or (None if file is None else file.file("data"))
    if path is None:
        raise refusal("no_original")
    if out is not None:
        require_free_path(out, replace=(force or holds_study(out)) and STUDY)
    if file is not None and reading.master is None:
        reading = replace(reading, master=file.file("master"))
    data = reading.load(path, schema=None if file is None else file.schema())
    if file is not None and file.differs(data):
        say(_("{file}: the data are not those that it was written about").format(file=sweep))
    words = {"attacks": attacks, "measures": measures, "seeds": seeds, "cache": cache, "rule": rule}
    asked = _order(data, file, methods=methods or "all", flags=context.args, **words)
    how: dict[str, Any] = {"cache": cache, "fresh": fresh, "workers": workers}
    try:
        with watching(quiet=situation.json) as watch:
            study = run(data, asked, file=path, master=reading.master, watch=watch, **how)
    except KeyboardInterrupt:
        say(_("stopped; what is done is kept, and the same command goes on from here"))
        raise
    if out is not None:
        with use_language(language) if language else contextlib.nullcontext():
            study.save(out, replace_existing=force)
    failures = Failures()
    for one in study.settings:
        for name, why in one.failed.items():
            failures.add(f"{one.label}, {name}", in_language(why))
    done = {"out": None if out is None else str(out), "computed": study.computed, "kept": study.kept}
    answer = as_plain(study) | {"answer": study.answer, "failed": failures.reasons} | done
    return Output(answer, _parts(study, out, failed=bool(failures.reasons)), failures.exit_code)


def _order(data: Records, file: SweepFile | None, *, methods: str, flags: list[str], **words: Any) -> SweepRequest:
    """Return what the flags ask for, or the file where no flag does; a flag goes to every method that has it."""
    from noren.methods import methods as every_method
    from noren.registry import spread, sweep_flags
    from noren.sweeps.sweep import build_request

    if (text := words["seeds"]) is not None:  # as people write them: 1..3,7
        words["seeds"] = []
        for one in (one for part in text.replace("…", "..").split(",") for one in spread(part.strip())):
            if not str(one).isdigit():
                raise refusal("no_seeds", text=text)
            words["seeds"].append(int(one))
    if file is not None:
        said: dict[str, Any] = {key: file.components(key) for key in ("attacks", "measures")}
        said |= {"seeds": file.seeds(), "rule": file.rule()}
        words |= {name: value for name, value in said.items() if words[name] is None}
    words |= {name: "all" for name in ("attacks", "measures") if words[name] is None}
    if file is not None:
        return build_request(data, [one.method for one in file.settings()], **words)[0]
    if methods == "all":
        kinds = [every_method[name] for name in every_method if every_method[name].fits(data.schema)]
    else:
        kinds = [every_method[name] for name in comma_separated(methods)]
    values = {name: value for given in sweep_flags(kinds, flags) for name, value in given.items()}
    asked, left_out = build_request(data, methods, values, **words)
    say(*(_("left out: {what}").format(what=line) for line in left_out))
    return asked


def _parts(study: SweepStudy, out: Path | None, *, failed: bool) -> Iterator[Part]:
    from noren.judgement.numbers import decimal, percent
    from noren.judgement.page_text import printable
    from noren.judgement.sentences import rule_sentence

    survival = any("survival" in one.scores for one in study.settings)
    rows = []
    for one in study.settings:
        numbers = [(one.place.use, decimal), (one.place.risk, percent)]
        numbers += [(one.scores.get("survival"), decimal)] if survival else []
        rows.append(
            (
                printable(one.label, _LONGEST_LABEL) + (" ←" if one.recommended else ""),
                one.verdict_words,
                *("–" if value is None else written(value) for value, written in numbers),
            )
        )
    headings = [_("setting"), _("verdict"), _("utility kept"), _("risk"), *([_("survival")] if survival else [])]
    yield TextTable(headings, rows)
    for one in study.settings:
        if not one.done and not one.failed:
            yield _("{label} was refused: {reason}").format(label=one.label, reason=one.runs[0].reason())
    yield from (*study.answer, rule_sentence(study.asked.rule))
    if out is not None:
        yield _("written to {out}").format(out=out)
        yield _("report: {page}").format(page=(out / "report.html").resolve().as_uri())
    counts = ngettext(
        "{computed} piece of work computed, {kept} kept from before.",
        "{computed} pieces of work computed, {kept} kept from before.",
        study.computed,
    )
    yield Note(counts.format(computed=study.computed, kept=study.kept))
    if failed:
        yield Note(_("what failed is not kept; the same command tries it again"))


_OTHER_LINES = 8
"""Lines of a terminal that are not for points: headings, rules, the bar."""


@contextlib.contextmanager
def watching(*, quiet: bool = False) -> Iterator[SweepProgress]:
    """Yield who is told how a sweep gets on: a table in a terminal, elsewhere a line for each finished point."""
    from noren.sweeps.sweep import SweepProgress

    class ProgressLines(SweepProgress):
        total = over = 0

        def begin(self, prospect: SweepForecast) -> None:
            self.total = len(prospect.lines)
            say(prospect_words(prospect))

        def changed(self, at: int, line: PointProgress) -> None:
            if line.result is None:
                return
            self.over += 1
            label, state, use, risk, verdict, time = cells(line)
            facts = [state, _("use {use}, risk {risk}").format(use=use, risk=risk) if use else "", verdict, time]
            say(f"[{self.over}/{self.total}] {label}: {', '.join(fact for fact in facts if fact)}")

    if not quiet and sys.stderr.isatty():
        with _live() as watch:
            yield watch
    else:
        yield SweepProgress() if quiet else ProgressLines()


def prospect_words(prospect: SweepForecast) -> str:
    """Return what is ahead, as a sentence."""
    points = ngettext("{count} release to look at", "{count} releases to look at", len(prospect.lines)).format(
        count=len(prospect.lines)
    )
    if not prospect.left:
        return _("{points}; all of it is kept from before").format(points=points)
    words = _("{points}: {left:,} pieces of work, {kept:,} kept from before, on {workers}")
    if prospect.slow:
        words = _(
            "{points}: {left:,} pieces of work, {kept:,} kept from before, on {workers}; slow on large data: {names}"
        )
    workers = ngettext("{count} process", "{count} processes", prospect.workers).format(count=prospect.workers)
    return words.format(
        points=points, left=prospect.left, kept=prospect.kept, workers=workers, names=", ".join(prospect.slow)
    )


def cells(line: PointProgress) -> tuple[str, ...]:
    """Return what a line says: release, state, use, risk, verdict, time."""
    from noren.judgement.numbers import decimal, percent
    from noren.judgement.sentences import verdict_label

    states = {
        "waiting": _("waiting"),
        "refused": _("refused"),
        "failed": _("failed"),
        "done": _("kept") if line.kept else _("done"),
    }
    state = states.get(line.state) or _("{done} of {pieces}").format(done=line.done, pieces=line.pieces)
    result, label = line.result, f"{line.label} ({line.run})" if line.run > 1 else line.label
    if result is None:
        return label, state, "", "", "", ""
    time = "" if line.kept else f"{result.seconds:.1f} s"
    if result.place is None:
        return label, state, "", "", result.reason(), time
    use, risk = result.place.use, result.place.risk
    return (
        label,
        state,
        "–" if use is None else decimal(use),
        "–" if risk is None else percent(risk),
        verdict_label(result.status),
        time,
    )


@contextlib.contextmanager
def _live() -> Iterator[SweepProgress]:
    """Yield who keeps a table up to date in the terminal."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Table
    from rich.text import Text

    from noren.sweeps.sweep import SweepProgress

    console = Console(stderr=True)
    bar = Bar(
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    task = bar.add_task("", total=1.0)
    lines: list[PointProgress] = []

    def table() -> Any:
        shown = Table(header_style="bold")
        for heading in (_("release"), _("state"), _("use"), _("risk"), _("verdict"), _("time")):
            is_number = heading in (_("use"), _("risk"), _("time"))
            shown.add_column(heading, justify="right" if is_number else "left", overflow="ellipsis", no_wrap=True)
        for line in window(lines, max(console.height - _OTHER_LINES, 3)):
            shown.add_row(*(Text(cell) for cell in cells(line)))
        return Group(shown, bar)

    with Live(console=console, get_renderable=table, refresh_per_second=4, transient=True):

        class ProgressTable(SweepProgress):
            def begin(self, prospect: SweepForecast) -> None:
                console.print(Text(prospect_words(prospect)))
                lines[:] = prospect.lines

            def changed(self, at: int, line: PointProgress) -> None:
                lines[at] = line
                done = sum(one.done for one in lines) / max(sum(one.pieces for one in lines), 1)
                bar.update(task, completed=done)

        yield ProgressTable()


def window(lines: Sequence[PointProgress], most: int) -> Sequence[PointProgress]:
    """Return as many lines as there is room for, from shortly before the first that is not over."""
    first = next((at for at, line in enumerate(lines) if line.result is None), len(lines))
    start = max(min(first - 2, len(lines) - most), 0)
    return lines[start : start + most]
