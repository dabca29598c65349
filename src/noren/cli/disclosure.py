"""Commands on disclosure risk: ``infer``, ``unicity``, ``identifiers``, ``population``, ``threshold``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, Part, TextTable, app, progress_bar, refusal, wording
from noren.cli.parts.inputs import Control, Original, PeopleReading, Reading, RuleName, comma_separated
from noren.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noren.inference.unicity import Unicity


@app.command("infer", component_flags=True)
def infer(
    context: typer.Context,
    original: Original,
    release: Path | None = None,
    control: Control = None,
    method: str | None = None,
    hold_out: float = 0.2,
    seeds: Annotated[int, Option(min=1)] = 5,
    threat: Literal["membership", "attribute", "all"] = "all",
    secret: Annotated[str | None, Option(metavar="COLUMN")] = None,
    targets: Annotated[int, Option(min=1)] = 1000,
    rule: RuleName = None,
    *,
    reading: Reading,
    seed: Annotated[int, Option(min=0)] = 0,
) -> Output:
    """Infer membership and attributes."""
    from noren.data.reading import read
    from noren.inference.study import infer as run
    from noren.judgement.rule import get_rule
    from noren.judgement.sentences import inferred_sentences, rule_sentence
    from noren.methods import methods
    from noren.registry import from_flags

    by = get_rule(rule)
    if method is None and context.args:
        raise refusal("unexpected", word=context.args[0], command="infer")
    ready = None if method is None else from_flags(methods[method], context.args)
    data = reading.load(original)
    others = None if control is None else read(control, data.schema).data
    with progress_bar() as progress:
        study = run(
            data,
            release,
            control=others,
            method=ready,
            hold_out=hold_out,
            seeds=seeds,
            seed=seed,
            targets=targets,
            threats=None if threat == "all" else [threat],
            secret=secret,
            progress=progress,
        )
    sentences = inferred_sentences(study.inferred, by)
    threats = {"membership": _("Membership"), "attribute": _("Attribute")}
    parts: list[Part] = []
    for inferred in study.inferred:
        threat_label = " ".join(filter(None, (threats[inferred.threat], inferred.about)))
        sizes = {"members": inferred.members, "controls": inferred.controls}
        parts.append(wording("inferred", threat=threat_label, attack=inferred.by, **sizes))
        rows = [(name, f"{n.value:.3f}", f"{n.low:.3f} … {n.high:.3f}") for name, n in inferred.numbers.items()]
        parts.append(TextTable(("", _("Value"), "95 %"), rows))
    for name, reason in study.not_tried.items():
        parts.append(Note(_("{name} was not tried: {reason}").format(name=name, reason=reason)))
    parts += [*sentences, Note(rule_sentence(by))]
    return Output(study.as_dict() | {"sentences": sentences, "rule": by.as_dict()}, parts)


@app.command("unicity")
def unicity(
    original: Original,
    release: Annotated[Path | None, Argument(metavar="[RELEASE]")] = None,
    known: str = "1-20",
    columns: str | None = None,
    date: Annotated[str | None, Option(metavar="exact|hour|day|week|month|quarter|year|unknown")] = None,
    time: Annotated[str | None, Option(metavar="exact|hour|unknown")] = None,
    item: Annotated[str | None, Option(metavar="exact|category|prefix:2|unknown")] = None,
    price: Annotated[str | None, Option(metavar="exact|round:10|digits:2|unknown")] = None,
    quantity: Annotated[str | None, Option(metavar="exact|round:10|digits:2|unknown")] = None,
    categories: Path | None = None,
    sample: Annotated[int, Option(min=1)] = 2_000,
    everybody: Annotated[bool, Option("--all")] = False,
    seed: Annotated[int, Option(min=0)] = 0,
    chart: Path | None = None,
    *,
    reading: Reading,
) -> Output:
    """Count who is singled out."""
    from noren.data.reading import read_any_release
    from noren.drawing.base import chart_ending, heading_lines, write_picture
    from noren.inference.unicity import numbers_of
    from noren.inference.unicity import unicity as run
    from noren.judgement.sentences import left_in_release, singled_out
    from noren.reports.unicity import unicity_lines

    numbers_of(known)
    if chart is not None:
        chart_ending(chart)
    data = reading.load(original)
    there = None if release is None else read_any_release(release, data)
    with progress_bar() as progress:
        result = run(
            data, there, known=known, columns=None if columns is None else comma_separated(columns), date=date,
            time=time, item=item, price=price, quantity=quantity, categories=categories,
            sample=None if everybody else sample, seed=seed, progress=progress,
        )  # fmt: skip
    first = result.original.headline()
    sentences = [singled_out(first, result.sampled)]
    if result.release is not None:
        sentences += [left_in_release(step) for step in result.release.steps if step.known == first.known]
    if chart is not None:
        others = {} if result.release is None or release is None else {release.name: result.release.as_list()}
        heading = [line for sentence in sentences for line in heading_lines(sentence)]
        write_picture(unicity_lines(result.original.as_list(), others, heading=heading), chart)
    answer = result.as_dict() | {"sentences": sentences} | ({"chart": str(chart)} if chart else {})
    return Output(answer, _unicity_parts(result, sentences, chart))


def _unicity_parts(result: Unicity, sentences: list[str], chart: Path | None) -> Iterator[Part]:
    from noren.reports.unicity import release_table, unicity_table

    title = "" if result.release is None else _("Original")
    yield TextTable(*unicity_table(result.original.as_list()), title)
    if result.release is not None:
        yield TextTable(*release_table(result.release.as_list()), _("Release"))
    yield from map(Note, sentences)
    known = ", ".join(f"{name} ({word})" for name, word in result.columns.items())
    yield Note(wording("known_columns", known=known, sampled=result.sampled, customers=result.customers))
    if result.beyond is not None:
        yield Note(wording("beyond_most", count=result.beyond, most=result.most))
    if chart is not None:
        yield Note(wording("written", out=chart))


Columns = Annotated[str, Option("--columns", help=_("Columns separated by commas (default: all quasi-identifiers)."))]


@app.command("identifiers")
def identifiers(
    table: Original,
    columns: Columns = "",
    max_columns: int = 3,
    limit: Annotated[int, Option(min=1)] = 5,
    *,
    reading: PeopleReading,
    seed: Annotated[int, Option(min=0)] = 0,
) -> Output:
    """Find quasi-identifiers."""
    from noren.inference.singling_out import identifiers as search
    from noren.judgement.numbers import percent

    data = reading.load(table)
    with progress_bar() as progress:
        names = comma_separated(columns)
        result = search(data, columns=names, largest=max_columns, most_per_size=limit, seed=seed, progress=progress)
    rows = []
    for group in (*result.columns, *result.sets):
        interval = f" ({percent(group.low)}–{percent(group.high)})" if group.low < group.high else ""
        share = percent(group.separation) + interval
        rows.append((" + ".join(group.columns), percent(group.alone), share, percent(group.distinction)))
    headings = (_("Columns"), _("Unique"), _("Separation"), _("Distinction"))
    parts: list[Part] = [TextTable(headings, rows), Note(wording("separation"))]
    if result.searched < result.possible:
        parts.append(Note(wording("searched", searched=result.searched, possible=result.possible)))
    return Output(result.as_dict(), parts)


@app.command("population")
def population(
    table: Original,
    size: Annotated[float | None, Option("--population")] = None,
    fraction: float | None = None,
    columns: Columns = "",
    *,
    reading: PeopleReading,
) -> Output:
    """Estimate population uniqueness."""
    from noren.inference.singling_out import population as estimate
    from noren.judgement.numbers import percent
    from noren.judgement.sentences import estimates_differ

    data = reading.load(table)
    result = estimate(data, size, fraction=fraction, columns=comma_separated(columns))
    rows = []
    for name in ("pitman", "zayatz", "snb"):
        if (value := result.estimates.get(name)) is None:
            rows.append((name, "", "", result.failed[name]))
        else:
            mark = "←" if name == result.chosen else ""
            rows.append((name, f"{value:,.0f}", percent(value / result.population), mark))
    sizes = {"rows": result.rows, "fraction": percent(result.fraction), "population": result.population}
    notes = [wording("population", unique=result.alone, **sizes), estimates_differ(result)]
    estimates = TextTable((_("Estimator"), _("Unique people"), _("Share"), ""), rows)
    return Output(result.as_dict(), [estimates, *(Note(note) for note in notes if note)])


@app.command("threshold")
def threshold(
    n: Annotated[int, Option(min=0, max=1_000_000)],
    bound: Literal["paper", "sharp"] = "paper",
    p: str = "1/3",
    alpha: str = "1/2000",
) -> Output:
    """Print r(n)."""
    from fractions import Fraction

    from noren.kernels.judging.threshold import threshold as run
    from noren.measures.safety.effective import Effective
    from noren.registry import build

    test = build(Effective, {"bound": bound, "p": p, "alpha": alpha})
    r = run(n, bound=bound, p=Fraction(test.p), alpha=Fraction(test.alpha))
    return Output({"n": n, "r": r}, [wording("effective", r=r, n=n) if r <= n else wording("never_effective", n=n)])
