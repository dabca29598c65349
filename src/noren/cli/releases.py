"""Commands on releases: ``protect``, ``report``, ``correlate``, ``draw``, ``check``, ``papers``, ``publish``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from noren.cli.parts.commands import (
    Failures,
    Note,
    Output,
    Part,
    TextTable,
    app,
    number,
    progress_bar,
    refusal,
    say,
    situation,
    stoppable_bar,
    wording,
)
from noren.cli.parts.inputs import Control, EngineName, Force, Keep, Original, Reading, RuleName, Seed, chosen
from noren.errors import CheckFailedError, OutputError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.checks.report import Report
    from noren.data.release import Statement
    from noren.errors import Problem
    from noren.measures.losses import Losses

_SAMPLE_COLUMNS = 8


@app.command("protect", component_flags=True)
def protect(
    context: typer.Context,
    original: Original,
    out: Path,
    method: str | None = None,
    chain: Path | None = None,
    *,
    reading: Reading,
    keep: Keep = None,
    seed: Seed = None,
    official: Annotated[bool, Option("--official")] = False,
    no_audit: Annotated[bool, Option("--no-audit")] = False,
    stream: Annotated[bool, Option("--stream")] = False,
    engine: EngineName = "local",
    force: Force = False,
) -> Output:
    """Protect and write a release."""
    from noren.api import draw_seed
    from noren.data.formats.files import require_free_path
    from noren.data.release import RELEASE
    from noren.execution.engine import get_engine
    from noren.execution.files import is_local, local_path
    from noren.methods import methods
    from noren.methods.chain import read_chain
    from noren.registry import from_flags

    if (method is None) == (chain is None):
        raise refusal("method_or_chain")
    if chain is not None and context.args:
        raise refusal("unexpected", word=context.args[0], command="protect", file=chain)
    ready = from_flags(methods[method or ""], context.args) if chain is None else read_chain(chain)
    where = get_engine(engine)
    if is_local(out):
        require_free_path(local_path(out), replace=force and RELEASE)
    used = draw_seed() if seed is None else seed
    if stream:
        known = reading.schema_of(original)
        with progress_bar() as progress:
            statement = where.stream(original, ready, out, known, seed=used, replace=force, progress=progress)
        rows = [*_statement_rows(statement), (_("Original rows"), number(statement.notes["rows"]))]
        return Output({"release": str(out)} | statement.as_dict(), [TextTable(("", ""), rows)])
    options: dict[str, Any] = {"official": True} if official else {}
    options |= {"keep": tuple(keep)} if keep else {}
    data = reading.open(where, original)
    options |= {"seed": used, "audit": not no_audit, "force": force}
    try:
        with stoppable_bar() as progress:
            done = where.protect(data, ready, out, progress=progress, **options)
    except (CheckFailedError, OutputError):  # a false claim or a full disk must not lose the work of a long search
        if seed is None:
            say(wording("repeatable", seed=used))
        raise
    counts = (done.original_rows, done.public_rows, done.deleted_rows, done.inserted_rows)
    keys = ("original_rows", "public_rows", "deleted_rows", "added_rows")
    answer: dict[str, Any] = {"release": str(out), "method": ready.name, "parameters": ready.parameters()}
    answer |= {**dict(zip(keys, counts, strict=True)), **done.more, "promise": done.statement.promise}
    answer |= {"left_out": list(done.left_out), "notes": done.statement.notes}
    answer |= {"losses": done.losses.to_dict()} if done.losses else {}
    answer |= {"failed": {"audit": str(done.failure)}} if done.failure else {}
    labels = (_("Original rows"), _("Released rows"), _("Deleted rows"), _("Added rows"))
    facts = _statement_rows(done.statement)
    facts += [(_("Removed identifying columns"), ", ".join(done.left_out))] if done.left_out else []
    facts += [(label, number(count)) for label, count in zip(labels, counts, strict=True)]
    again = (
        f"noren measure {original} {out}{reading.flags}{where.flag} --measures {'classes' if done.failure else 'all'}"
    )
    parts: list[Part] = [TextTable(("", ""), [*facts, (_("Release"), str(out))])]
    parts += _losses_parts(done.losses) if done.losses else []
    parts += [Note(str(done.failure))] if done.failure else []
    parts.append(Note(wording("added_next", command=again)))
    if done.failure and situation.json:
        say(str(done.failure))
    # the release is written, and must not be published yet
    return Output(answer, parts, 1 if done.failure else 0)


def _statement_rows(statement: Statement) -> list[tuple[str, str]]:
    """Return the method and the promise of each step as rows of a table."""
    several = len(statement.steps) > 1
    facts = []
    for position, step in enumerate(statement.steps, start=1):
        label = f"{_('Method')} {position}" if several else _("Method")
        parameters = [f"{name}={value}" for name, value in step.parameters.items() if value not in (None, [])]
        facts += [(label, " ".join([step.method, *parameters])), (_("Promise"), _(step.promise))]
        if step.notes.get("stopped"):
            facts.append((_("Search stopped at"), f"{step.notes['searched']:.0%}"))
        if without_customer := step.notes.get("rows_without_customer"):
            facts.append((_("Removed rows without a customer"), number(without_customer)))
        if step.notes.get("missing_columns"):
            facts.append((_("Missing columns"), ", ".join(step.notes["missing_columns"])))
    return facts


def _losses_parts(losses: Losses) -> Iterator[Part]:
    """Yield what was lost: sentences, the customers that cost most rows, a few rows before and after, a proposal."""
    yield str(losses)
    yield from losses.sentences()
    if dearest := losses.secret.customers:
        headings = (_("Customer"), _("Rows"), _("Deleted rows"), _("Reason"))
        rows = [(loss.customer[:40], number(loss.rows), number(loss.lost), loss.why) for loss in dearest]
        yield TextTable(headings, rows, _("Customers with the most deleted rows (secret)"))
    if losses.secret.sample:
        names = losses.secret.sample[0].before
        title = _("Rows before and after (secret)")
        yield f"{title}: {_first_cells(names, dict(zip(names, names, strict=True)))}"
    for sample in losses.secret.sample:
        yield f"{number(sample.row):>9}  {_first_cells(sample.before, sample.before)}"
        yield f"{'→':>9}  {_('Deleted') if sample.after is None else _first_cells(sample.before, sample.after)}"
    if losses.proposal:
        yield str(losses.proposal)


def _first_cells(names: Iterable[str], row: Mapping[str, str]) -> str:
    from noren.data.frames import brief

    cells = [brief(row.get(name, ""), 30) or "–" for name in names]
    return ", ".join([*cells[:_SAMPLE_COLUMNS], *(["…"] if len(cells) > _SAMPLE_COLUMNS else [])])


# --- what is done with a release -------------------------------------------------------------------------------------


@app.command("report")
def report(
    original: Original,
    releases: Annotated[list[Path], Argument(metavar="RELEASE…")],
    out: Path,
    rule: RuleName = None,
    *,
    reading: Reading,
) -> None:
    """Write a report."""
    from noren.data.reading import read_release
    from noren.judgement.outcome import examine
    from noren.judgement.rule import get_rule
    from noren.reports.report import write_report

    by = get_rule(rule)
    data = reading.load(original)
    loaded = {path: read_release(path, data) for path in releases}
    outcomes, failures = [], Failures()
    for path, release in loaded.items():
        with progress_bar(path.name) as progress:
            outcomes.append(examine(data, release, label=path.name, progress=progress))
        for name, reason in outcomes[-1].failed.items():
            failures.add(f"{path.name}, {name}", reason)
    write_report(data, outcomes, out, rule=by)
    print(wording("written", out=out))
    if failures.reasons:
        raise typer.Exit(1)


@app.command("correlate")
def correlate(
    original: Original,
    releases: Annotated[list[Path], Argument(metavar="RELEASE…")],
    names: Annotated[str, Option("--measures")] = "all",
    draws: Annotated[int, Option(min=1)] = 20,
    seed: Annotated[int, Option(min=0)] = 1,
    alpha: float = 0.05,
    *,
    reading: Reading,
) -> Output:
    """Correlate."""
    from noren.data.reading import read_release
    from noren.kernels.judging.statistics import rejection_limit
    from noren.measures import measures
    from noren.registry import build
    from noren.reports.correlate import correlate as run
    from noren.reports.correlate import usefulness_measures

    rejection_limit(len(releases), alpha)
    wanted = ",".join(usefulness_measures()) if names == "all" else names
    data = reading.load(original)
    options = {"draws": draws, "seed": seed}
    picked = [
        build(m, {k: v for k, v in options.items() if k in m.model_fields})
        for m in chosen(measures, wanted, data.schema)
    ]
    loaded = [(str(path), read_release(path, data)) for path in releases]
    with progress_bar() as progress:
        result = run(data, loaded, picked, alpha=alpha, progress=progress)
    rows = []
    for name in result.values:
        r, beyond = result.correlation(name), result.beyond_chance(name)
        verdict = {None: _("constant"), True: _("significant"), False: _("not significant")}[beyond]
        rows.append((name, "" if r is None else f"{r:.3f}", verdict))
    least, most = number(min(result.error)), number(max(result.error))
    significance = {"limit": result.limit, "alpha": result.alpha}
    count = wording("correlated", count=len(result.releases), least=least, most=most, **significance)
    return Output(result.as_dict(), [TextTable((_("Measure"), _("Correlation with U"), ""), rows), Note(count)])


@app.command("draw")
def draw(
    original: Original,
    release: Annotated[Path, Argument(metavar="RELEASE")],
    out: Path,
    draws: Annotated[int, Option(min=1, max=100_000)] = 100,
    seed: Annotated[int, Option(min=0)] = 1,
    totals: Path | None = None,
    *,
    uniform: Annotated[bool, Option("--uniform")] = False,
    reading: Reading,
) -> Output:
    """Draw data sets."""
    from noren.data.categories import release_categories
    from noren.data.draws import DataSets, Draws, write_draws
    from noren.data.frames import History
    from noren.data.reading import read_public
    from noren.data.release import Release
    from noren.errors import SchemaError
    from noren.tabulations.estimates import ImpliedDraws
    from noren.tabulations.tabulation import read_tables

    data = reading.load(original)
    public = read_public(release, data)
    if not (isinstance(data, History) and isinstance(public, History)):
        raise SchemaError(_("data sets can be drawn only for purchase histories; give a history and its release"))
    statement = Release.load(release).statement if release.is_dir() else None
    if uniform and totals is not None:
        raise refusal("excludes", flag="--uniform", others="--totals")
    if uniform:
        groups = None if statement is None else release_categories(statement)
        sets: DataSets = Draws(data, public, seed=seed, categories=groups)
    else:
        sets = ImpliedDraws(public, statement, totals=() if totals is None else read_tables(totals), seed=seed)
    with progress_bar() as progress:
        write_draws(sets, draws, out, progress=progress)
    answer = {"out": str(out), "draws": draws, "rows": draws * len(public), "seed": seed}
    return Output(answer, [wording("rows_written", rows=draws * len(public), out=out)])


@app.command("check")
def check(
    original: Original,
    release: Annotated[Path | None, Argument(metavar="RELEASE")] = None,
    schema: str = "pwscup2018",
    guess: Path | None = None,
    limit: Annotated[int, Option(min=1)] = 20,
) -> Output:
    """Check a file; exit code 0 when it is valid, 2 when it is not."""
    from noren.api import check as run

    report = run(original, release, schema=schema, guess=guess, limit=limit)
    parts = report_parts(report, (guess or release or original).name)
    return Output(report.as_dict(), parts, exit_code=0 if report.valid else 2)


def report_parts(report: Report, file: str) -> Iterator[Part]:
    """Return the problems and warnings of a checked file."""
    notes = [warning.sentence(file) for warning in report.warnings]
    return checked_parts(file, report.problems, report.total, notes, [_("{file} is valid").format(file=file)])


def checked_parts(
    file: str, problems: Sequence[Problem], total: int, notes: Sequence[str], valid: Sequence[str]
) -> Iterator[Part]:
    """Yield the listed problems of a file, its notes, and whether it is valid."""
    for problem in problems:
        yield problem.sentence(file)
    if total > len(problems):
        yield "…"
    for note in notes:
        yield Note(_("note: {sentence}").format(sentence=note))
    if not total:
        yield from valid
    else:
        yield _("{file} is not valid. Problems: {count:,}").format(file=file, count=total)


@app.command("digest")
def digest(release: Annotated[Path, Argument(metavar="RELEASE")], engine: EngineName = "local") -> Output:
    """Print the digest."""
    from noren.execution.engine import get_engine

    with progress_bar() as progress:
        digest, rows = get_engine(engine).digest(release, progress=progress)
    return Output({"digest": digest, "rows": rows}, [digest])


@app.command("papers")
def papers(
    release: Annotated[Path, Argument(metavar="RELEASE")],
    law: Literal["appi", "gdpr"],
    out: Path,
    original: Path | None = None,
    facts: list[Path] | None = None,
    kind: Literal["auto", "anonymised", "pseudonymised"] = "auto",
    rule: RuleName = None,
    control: Control = None,
    *,
    reading: Reading,
    force: Force = False,
) -> Output:
    """Write papers."""
    from noren.data.reading import read, read_release
    from noren.data.release import Release
    from noren.judgement.rule import get_rule
    from noren.judgement.sentences import verdict_label
    from noren.papers.case import case_in_ledger, case_of
    from noren.papers.pack import pack_as_data, pack_of, write_pack
    from noren.papers.wording import read_facts

    # those of the house, of the project, of the release: the last counts
    known = {name: text for path in facts or () for name, text in read_facts(path).items()}
    by = get_rule(rule)
    if original is not None:  # attack now
        data = reading.load(original, release=release)
        there = read_release(release, data)
        others = None if control is None else read(control, data.schema).data
        with progress_bar(release.name) as progress:
            case = case_of(there, data, rule=by, control=others, progress=progress)
    elif control is not None:
        raise refusal("missing", flag="--original", example="--original orders.csv")
    else:
        case = case_in_ledger(release, None if rule is None else by) or case_of(Release.load(release), rule=by)
    pack = pack_of(case, law, known=known, about=kind)
    write_pack(pack, case, out, replace_existing=force)
    parts: list[Part] = []
    if not case.verdict.status.is_safe:
        parts.append(Note(wording("documents_warn", verdict=verdict_label(case.verdict.status))))
    parts += [f"{document.name}  {document.title}" for document in pack.documents]
    parts.append(wording("documents_written", out=out, count=len(pack.fields()), file=pack.documents[-1].name))
    return Output(pack_as_data(pack, case) | {"papers": str(out)}, parts)


@app.command("publish")
def publish(
    release: Annotated[Path, Argument(metavar="RELEASE")],
    out: Path,
    original: Path | None = None,
    rule: RuleName = None,
    override: Annotated[str, Option(metavar="REASON")] = "",
    keep: Keep = None,
    *,
    reading: Reading,
    official: Annotated[bool, Option("--official")] = False,
    scores: Path | None = None,
    totals: Path | None = None,
    force: Force = False,
) -> Output:
    """Publish a release."""
    from noren.data.formats.files import require_free_path
    from noren.data.release import PUBLISHED
    from noren.judgement.sentences import verdict_label
    from noren.papers.card import publish as run
    from noren.papers.card import read_grades, read_scores
    from noren.tabulations.tabulation import read_tables

    if out.resolve() == release.resolve() or release.resolve() in out.resolve().parents:
        raise refusal("inside_release", out=out)
    require_free_path(out, replace=force and PUBLISHED)
    measured = None if scores is None else read_scores(scores)
    graded = None if scores is None else read_grades(scores)
    data = None if original is None else reading.load(original)
    with progress_bar() as progress:
        verdict = run(
            release, out, data, rule=rule, override=override, keep=keep or (), official=official, force=force,
            scores=measured, grades=graded, totals=() if totals is None else read_tables(totals), progress=progress,
        )  # fmt: skip
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    parts: list[Part] = [verdict_label(verdict.status), verdict.sentence]
    if override:
        parts.append(Note(_("Published despite the verdict: {reason}").format(reason=override)))
    parts.append(f"{wording('written', out=out)}: {', '.join(files)}")
    return Output({"published": str(out), "files": files, "override": override, **verdict.as_dict()}, parts)
