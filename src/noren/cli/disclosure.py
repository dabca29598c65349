"""Who can be recognised and what inferred: ``infer``, ``unicity``, ``identifiers``, ``population``, ``threshold``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import Note, Output, Part, TextTable, app, progress_bar, refusal
from noren.cli.parts.inputs import Control, Original, Reading, RuleName, SchemaName, comma_separated, load_people
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
        raise refusal("unexpected_by_infer", word=context.args[0])
    ready = None if method is None else from_flags(methods[method], context.args)
    data = reading.load(original)
    others = None if control is None else read(control, data.schema).data
    with progress_bar(_("Inferring")) as progress:
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
    threats = {"membership": _("membership"), "attribute": _("attribute")}
    parts: list[Part] = []
    for one in study.inferred:
        what = f"{threats[one.threat]}, {one.about}" if one.about else threats[one.threat]
        words = _("{what}, by {by}: {members:,} members, {controls:,} controls")
        parts.append(words.format(what=what, by=one.by, members=one.members, controls=one.controls))
        rows = [(name, f"{said.value:.3f}", f"{said.low:.3f} … {said.high:.3f}") for name, said in one.numbers.items()]
        parts.append(TextTable((_("number"), _("value"), "95 %"), rows))
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
    date: str | None = None,
    time: str | None = None,
    item: str | None = None,
    price: str | None = None,
    quantity: str | None = None,
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
    with progress_bar(_("Unicity")) as progress:
        found = run(
            data, there, known=known, columns=None if columns is None else comma_separated(columns), date=date,
            time=time, item=item, price=price, quantity=quantity, categories=categories,
            sample=None if everybody else sample, seed=seed, progress=progress,
        )  # fmt: skip
    first = found.original.headline()
    sentences = [singled_out(first, found.sampled)]
    if found.release is not None:
        sentences += [left_in_release(step) for step in found.release.steps if step.known == first.known]
    if chart is not None:
        others = {} if found.release is None or release is None else {release.name: found.release.as_list()}
        heading = [line for said in sentences for line in heading_lines(said)]
        write_picture(unicity_lines(found.original.as_list(), others, heading=heading), chart)
    answer = found.as_dict() | {"sentences": sentences} | ({"chart": str(chart)} if chart else {})
    return Output(answer, _unicity_parts(found, sentences, chart))


def _unicity_parts(found: Unicity, sentences: list[str], chart: Path | None) -> Iterator[Part]:
    from noren.reports.unicity import release_table, unicity_table

    title = "" if found.release is None else _("original")
    yield TextTable(*unicity_table(found.original.as_list()), title)
    if found.release is not None:
        yield TextTable(*release_table(found.release.as_list()), _("release"))
    yield from map(Note, sentences)
    known = ", ".join(f"{name} ({word})" for name, word in found.columns.items())
    yield Note(
        _("known of a purchase: {known}; {sampled:,} of {customers:,} customers asked about").format(
            known=known, sampled=found.sampled, customers=found.customers
        )
    )
    steps = found.original.steps
    if all(step.unique == 1 for step in steps):
        yield Note(_("every customer asked about is singled out, from {known} on").format(known=steps[0].known))
    if found.beyond is not None:
        beyond = _("nobody asked about has {count:,} different purchases; the most is {most:,}")
        yield Note(beyond.format(count=found.beyond, most=found.most))
    if chart is not None:
        yield Note(_("chart written to {out}").format(out=chart))


Columns = Annotated[str, Option("--columns", help=_("Columns to look at, separated by commas."))]


@app.command("identifiers")
def identifiers(
    table: Original,
    columns: Columns = "",
    largest: int = 3,
    shown: Annotated[int, Option(min=1)] = 5,
    schema: SchemaName = None,
    seed: Annotated[int, Option(min=0)] = 0,
) -> Output:
    """Find quasi-identifiers."""
    from noren.inference.singling_out import identifiers as search
    from noren.judgement.numbers import percent

    data = load_people(table, schema)
    with progress_bar(_("Searching")) as progress:
        found = search(
            data, columns=comma_separated(columns), largest=largest, shown=shown, seed=seed, progress=progress
        )
    rows = []
    for one in (*found.columns, *found.sets):
        interval = f" ({percent(one.low)}–{percent(one.high)})" if one.low < one.high else ""
        names, share = " + ".join(one.columns), percent(one.separation) + interval
        rows.append((names, percent(one.alone), share, percent(one.distinction)))
    headings = (_("columns"), _("alone"), _("separation"), _("distinction"))
    meaning = _(
        "alone: people whose combination nobody else has; separation: pairs of people that differ; "
        "distinction: different combinations, over people"
    )
    parts: list[Part] = [TextTable(headings, rows), Note(meaning)]
    if found.searched < found.possible:
        searched = _("{searched:,} of {possible:,} combinations were searched: those that add a column to a strong one")
        parts.append(Note(searched.format(searched=found.searched, possible=found.possible)))
    return Output(found.as_dict(), parts)


@app.command("population")
def population(
    table: Original,
    size: Annotated[float | None, Option("--population")] = None,
    fraction: float | None = None,
    columns: Columns = "",
    schema: SchemaName = None,
) -> Output:
    """Estimate population uniqueness."""
    from noren.inference.singling_out import population as estimate
    from noren.judgement.numbers import percent
    from noren.judgement.sentences import estimates_differ

    data = load_people(table, schema)
    found = estimate(data, size, fraction=fraction, columns=comma_separated(columns))
    rows = []
    for name in ("pitman", "zayatz", "snb"):
        if name in found.estimates:
            value = found.estimates[name]
            mark = _("chosen") if name == found.chosen else ""
            rows.append((name, f"{value:,.0f}", percent(value / found.population), mark))
        else:
            rows.append((name, "", "", found.failed[name]))
    alone = _("{alone:,} of {rows:,} people are unique in the table, which has {fraction} of {population:,} people")
    notes = [
        alone.format(alone=found.alone, rows=found.rows, fraction=percent(found.fraction), population=found.population),
        estimates_differ(found),
        _("an estimate holds where the table is a random sample of the population"),
    ]
    estimates = TextTable((_("estimator"), _("unique people"), _("share"), ""), rows)
    return Output(found.as_dict(), [estimates, *(Note(note) for note in notes if note)])


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
    words = _("{r} of {n} must be right") if r <= n else _("no number of hits among {n} is effective")
    return Output({"n": n, "r": r}, [words.format(r=r, n=n)])
