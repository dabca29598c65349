"""``noren ledger``: record the releases of each period, and weigh the risk that the next one adds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.parts.commands import (
    Note,
    Output,
    Part,
    TextTable,
    app,
    number,
    progress_bar,
    refusal,
    say,
    show,
    situation,
    wording,
)
from noren.cli.parts.inputs import Master, RuleName, Seed, comma_separated
from noren.i18n import _

if TYPE_CHECKING:
    from noren.ledger import Ledger, LedgerEntry, Proposal

ledger_commands = app.group(
    "ledger", help=_("Release data period by period and control the joint risk of all releases."), no_args_is_help=True
)

Folder = Annotated[Path, Argument(metavar="LEDGER", help=_("A folder created by noren ledger init."))]

_EASY_TO_TRY = 2**40
_MOST_NAMED = 20
_share = "{:.4f}".format


@ledger_commands.command("init")
def init(
    ledger: Annotated[Path, Argument(metavar="LEDGER")],
    schema: str,
    chain: Path,
    period: Annotated[str, Option(metavar="month|week|quarter")] = "month",
    budget: Annotated[list[str] | None, Option(metavar="NAME=SHARE")] = None,
    attacks: str | None = None,
    only_before_release: Annotated[bool, Option("--only-before-release")] = False,
    rule: RuleName = None,
) -> Output:
    """Make a ledger."""
    from noren.judgement.rule import get_rule
    from noren.judgement.sentences import rule_sentence
    from noren.ledger import Ledger

    limits: dict[str, float] = {}
    for part in (part for word in budget or [] for part in word.split(",")):
        name, _sign, limit = (text.strip() for text in part.partition("="))
        if name in limits:
            raise refusal("named_twice", name=f"--budget {name}")
        try:
            limits[name] = float(limit)
        except ValueError:
            raise refusal("invalid", flag="--budget", value=part, example="emm=0.2") from None
    made = Ledger.create(
        ledger,
        schema=schema,
        chain=chain,
        period=period,
        budget=limits,
        attacks=None if attacks is None else comma_separated(attacks),
        rule=get_rule(rule),
        attack_released=not only_before_release,
    )
    rows = [
        (_("Period"), made.settings.period),
        (_("Methods"), ", ".join(step.name for step in made.settings.chain.steps)),
        (_("Attacks"), ", ".join(made.settings.attacks)),
        *([("", _("Each period is attacked only before its release."))] if only_before_release else []),
        *((f"{_('Budget')} {name.upper()}", number(limit)) for name, limit in made.settings.budget.items()),
        *([] if made.settings.epsilon is None else [(f"{_('Budget')} ε", number(made.settings.epsilon))]),
        (_("Folder"), str(ledger)),
    ]
    following = wording("added_next", command=f"noren ledger add {ledger} T.csv --dry-run")
    return Output(_about(made), [TextTable(("", ""), rows), rule_sentence(made.settings.rule), Note(following)])


@ledger_commands.command("add")
def add(
    ledger: Folder,
    original: Annotated[Path, Argument(metavar="ORIGINAL")],
    period_name: str | None = None,
    every: Annotated[bool, Option("--all")] = False,
    dry_run: Annotated[bool, Option("--dry-run")] = False,
    explain: Annotated[bool, Option("--explain")] = False,
    chart: Path | None = None,
    chain: Path | None = None,
    allow_gap: Annotated[bool, Option("--allow-gap")] = False,
    master: Master = None,
    seed: Seed = None,
) -> Output:
    """Release a period, or only weigh its risk."""
    from noren.data.reading import read
    from noren.errors import NorenError
    from noren.ledger import BudgetError, Ledger, UnknownRiskError

    if every and (period_name is not None or dry_run):
        raise refusal("excludes", flag="--all", others="--period-name, --dry-run")
    if chart is not None:
        from noren.drawing.base import chart_ending

        chart_ending(chart)  # before long work
    book = Ledger.open(ledger)
    data = read(original, book.settings.schema, master=master).data
    if seed is not None and seed < _EASY_TO_TRY:
        say(_("note: with the original, small seeds can be guessed and the pseudonyms rebuilt; omit --seed."))
    names: list[str | None] = [*book.to_come(data)] if every else [period_name]
    done: list[dict[str, Any]] = []
    try:
        for name in names or [None]:
            how: dict[str, Any] = {"period": name, "chain": chain, "seed": seed, "allow_gap": allow_gap}
            how |= {"source": original, "tell": say}
            entry: LedgerEntry | None = None
            with progress_bar() as progress:
                try:
                    if dry_run:
                        proposal = book.weigh(data, **how, progress=progress)
                    else:
                        entry, proposal = book.add_with_proposal(data, **how, progress=progress)
                except (BudgetError, UnknownRiskError) as refused:
                    proposal = refused.proposal
            done.append(_addition(book, proposal, entry))
            if explain:
                done[-1]["exposed"] = proposal.exposed.head(_MOST_NAMED).to_dicts()
            if not situation.json:  # at once: the next period may take long
                show(_addition_parts(book, proposal, entry, explain=explain))
            if chart is not None:
                drawn = _draw(book, chart, None if entry else proposal)
                show([] if situation.json else [drawn])
            if proposal.broken:
                raise BudgetError(proposal)
            if proposal.failed:
                raise UnknownRiskError(proposal)
    except NorenError:
        if situation.json and done:
            Output({"additions": done}).show()
        raise
    return Output({"additions": done})


def _addition(book: Ledger, proposal: Proposal, entry: LedgerEntry | None) -> dict[str, Any]:
    """Return the outcome of one period as plain data, without anything about single customers."""
    periods, curves = book.curves(None if entry else proposal)
    return {
        "period": proposal.period,
        "released": entry is not None,
        "release": None if entry is None else str(book.release_folder(entry.period)),
        "original_rows": len(proposal.rows),
        "public_rows": len(proposal.release.public),
        "before": None if proposal.before is None else proposal.before.model_dump(mode="json"),
        "after": proposal.after.model_dump(mode="json"),
        "certificate": None if proposal.certificate is None else proposal.certificate.model_dump(mode="json"),
        "uncertified": proposal.uncertified or None,
        "verdict": proposal.verdict.as_dict(),
        "budget": dict(proposal.budget),
        "broken": proposal.broken,
        "failed": dict(proposal.failed),
        "curve": {"periods": periods, "mm": curves},
    }


def _addition_parts(book: Ledger, proposal: Proposal, entry: LedgerEntry | None, *, explain: bool) -> Iterator[Part]:
    from noren.judgement.sentences import rule_sentence
    from noren.ledger.certificate import attacks_sentence, certificate_sentence
    from noren.ledger.risk import MEASURES

    after, before, budget, certificate = proposal.after, proposal.before, proposal.budget, proposal.certificate
    rows = [
        (
            name.upper(),
            *(() if certificate is None else (_share(certificate.rate[name]), _share(certificate.tail[name]))),
            _share(budget[name]) if name in budget else "",
            "" if before is None else _share(before.value(name)),
            _share(after.value(name)),
            after.best(name),
            _share(after.chance[name]),
        )
        for name in MEASURES
    ]
    certified = () if certificate is None else (_("Certified"), _("Upper bound"))
    attacked = (_("Before"), _("Attacks"), _("Best attack"), _("By chance"))
    heading = _("Risk of {period} alone") if after.alone else _("Risk of all releases up to {period}")
    yield heading.format(period=proposal.period)
    yield TextTable((_("Measure"), *certified, _("Budget"), *attacked), rows)
    yield certificate_sentence(certificate, proposal.uncertified, attacked=not after.alone)
    yield attacks_sentence(after)
    if budget and not proposal.broken:
        yield _("The joint risk is within the budget.")
    yield wording("all_releases", period=proposal.period, sentence=proposal.verdict.sentence)
    yield rule_sentence(book.settings.rule)
    yield from _curves_parts(book, None if entry else proposal)
    if explain:
        yield Note(_("warning: this table names customers; keep it confidential."))
        people = [tuple(str(cell) for cell in row) for row in proposal.exposed.head(_MOST_NAMED).iter_rows()]
        headings = (_("Customer"), _("Periods re-identified"), _("Periods with purchases"), _("Attacks"))
        yield TextTable(headings, people)
    if entry is not None:
        folder = book.release_folder(entry.period)
        yield wording("period_released", period=entry.period, rows=entry.public_rows, folder=folder)
        yield Note(wording("added_next", command=f"noren publish {folder} --out public/"))
    elif not proposal.broken and not proposal.failed:
        yield Note(wording("not_written", period=proposal.period))


def _curves_parts(book: Ledger, proposal: Proposal | None = None) -> tuple[str, TextTable]:
    """Return the risk by each attack after each release: a heading and a table of the last twelve."""
    periods, curves = book.curves(proposal)
    latest = slice(-12, None)
    rows = [(name, *("" if v is None else _share(v) for v in curve[latest])) for name, curve in curves.items()]
    return _("MM of each attack after each release"), TextTable((_("Attack"), *periods[latest]), rows)


@ledger_commands.command("record")
def record(ledger: Folder, folder: Annotated[Path, Argument(metavar="RELEASE")]) -> Output:
    """Record tables, or a release by retention, beside the periods."""
    from noren.ledger import Ledger

    book = Ledger.open(ledger)
    recorded = book.record(folder, say)
    done = _("{name} recorded").format(name=recorded.name)
    return Output({"record": recorded.model_dump(mode="json")} | _about(book), [done, *_recorded_parts(book)])


def _recorded_parts(book: Ledger) -> Iterator[Part]:
    """Yield what was recorded beside the periods: its k and ε, and those of all together."""
    recorded = book.recorded
    rows: list[tuple[str, ...]] = []
    for release in recorded.releases:
        first = release.name, "–" if release.k is None else number(release.k)
        spent = [(*first, str(name), f"{s.epsilon:g}", f"{s.delta:g}") for name, s in release.spent.items()]
        rows += spent or [(*first, "–", "–", "–")]
    if rows:
        yield TextTable((_("Release"), "k", _("Adjacency"), "ε", "δ"), rows)
    yield from recorded.sentences()
    if (k := recorded.joint_k) is not None:
        yield wording("remaining", k=number(k))
    if (limit := book.settings.epsilon) is not None:
        used = max((spent.epsilon for spent in recorded.spent.values()), default=0.0)
        yield f"{_('Budget')} ε: {limit:g}; {_('Remaining')}: {max(limit - used, 0.0):g}"


@ledger_commands.command("show")
def overview(ledger: Folder) -> Output:
    """Show a ledger."""
    from noren.judgement.sentences import rule_sentence, verdict_label
    from noren.ledger import Ledger
    from noren.ledger.certificate import attacks_sentence, certificate_sentence

    book = Ledger.open(ledger)
    entries = book.entries
    if not entries:
        following = wording("nothing_released", command=f"noren ledger add {book.folder} T.csv --dry-run")
        return Output(_about(book), [*_recorded_parts(book), Note(following)])
    verdicts = book.verdicts()
    limited = list(book.settings.budget) or ["mm"]
    rows = [
        (
            e.period,
            number(e.original_rows),
            number(e.public_rows),
            *("–" if e.certificate is None else _share(e.certificate.rate[name]) for name in limited),
            *("–" if e.risk.alone else _share(share) for share in (e.risk.um, e.risk.mm, e.risk.emm)),
            verdict_label(verdicts[e.period].status),
            e.added[:10],
        )
        for e in entries
    ]
    certified = [f"{_('Certified')} {name.upper()}" for name in limited]
    headings = (_("Period"), _("Original rows"), _("Released rows"), *certified, "UM", "MM", "EMM", _("Verdict"))
    last = entries[-1].period
    parts: list[Part] = [
        TextTable((*headings, _("Added")), rows),
        certificate_sentence(book.certificate(), attacked=not entries[-1].risk.alone),
        attacks_sentence(entries[-1].risk),
        wording("all_releases", period=last, sentence=verdicts[last].sentence),
        rule_sentence(book.settings.rule),
        *_curves_parts(book),
    ]
    left = book.left()
    for name, limit in book.settings.budget.items():
        rest = f"{max(left[name], 0.0):.4f}" if name in left else "–"
        parts.append(f"{_('Budget')} {name.upper()}: {limit:g}; {_('Remaining')}: {rest}")
    return Output(_about(book), [*parts, *_recorded_parts(book)])


def _about(book: Ledger) -> dict[str, Any]:
    """Return a ledger as plain data."""
    periods, curves = book.curves()
    return {"ledger": str(book.folder)} | book.as_dict() | {"curve": {"periods": periods, "mm": curves}}


@ledger_commands.command("check")
def check(ledger: Folder) -> Output:
    """Check a ledger; leave with 2 where something is wrong."""
    from noren.ledger import Ledger

    book = Ledger.open(ledger)
    wrong = book.check()
    problems = [{"file": str(error.file)} | error.problem.as_dict() for error in wrong]
    parts = [str(error) for error in wrong] or [wording("no_file_changed", count=len(book.entries))]
    return Output({"ok": not wrong, "problems": problems}, parts, exit_code=2 if wrong else 0)


@ledger_commands.command("chart")
def chart(ledger: Folder, out: Path) -> Output:
    """Draw a ledger."""
    from noren.ledger import Ledger

    return Output({"out": str(out)}, [_draw(Ledger.open(ledger), out, None)])


def _draw(book: Ledger, out: Path, proposal: Proposal | None) -> str:
    """Draw the risk over releases, and return the sentence for the output."""
    from noren.drawing.ledger_chart import Curves, write_ledger_chart

    write_ledger_chart(Curves.of(book, proposal), out)
    return wording("written", out=out)
