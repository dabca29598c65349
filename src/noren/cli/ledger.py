"""``noren ledger``: what was released period by period, and what the next release would add."""

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
)
from noren.cli.parts.inputs import Master, RuleName, Seed, comma_separated
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.ledger import Ledger, LedgerEntry, Proposal

ledger_commands = app.group(
    "ledger",
    help=_("Record what was released period by period, and see how much risk the next release adds."),
    no_args_is_help=True,
)

Folder = Annotated[Path, Argument(metavar="LEDGER", help=_("A folder that noren ledger init made."))]

_EASY_TO_TRY = 2**40
_MOST_NAMED = 20
_share = "{:.4f}".format


# --- making ------------------------------------------------------------------------------------------------


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
        name, sign, limit = (text.strip() for text in part.partition("="))
        try:
            if not sign or name in limits:
                raise ValueError(part)
            limits[name] = float(limit)
        except ValueError:
            raise refusal("no_limit", part=part) from None
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
        (_("period"), made.settings.period),
        (_("steps"), ", ".join(step.name for step in made.settings.chain.steps)),
        (_("attacks"), ", ".join(made.settings.attacks)),
        *([(_("attacked"), _("each period before its release alone"))] if only_before_release else []),
        *((_("budget {name}").format(name=name.upper()), number(v)) for name, v in made.settings.budget.items()),
        (_("ledger"), str(ledger)),
    ]
    following = _("next: {command}").format(command=f"noren ledger add {ledger} T.csv --dry-run")
    return Output(_about(made), [TextTable((_("what"), ""), rows), rule_sentence(made.settings.rule), Note(following)])


# --- adding ------------------------------------------------------------------------------------------------


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
    """Add a period, or weigh it."""
    from noren.data.reading import read
    from noren.errors import NorenError
    from noren.ledger import BudgetError, Ledger, UnknownRiskError

    if every and (period_name is not None or dry_run):
        raise refusal("all_and_one_period")
    if chart is not None:
        from noren.drawing.base import chart_ending

        chart_ending(chart)  # before long work
    book = Ledger.open(ledger)
    data = read(original, book.settings.schema, master=master).data
    if seed is not None and seed < _EASY_TO_TRY:
        say(_("note: anyone who has the original could try small seeds and rebuild the pseudonyms; omit --seed."))
    names: list[str | None] = [*book.to_come(data)] if every else [period_name]
    done: list[dict[str, Any]] = []
    try:
        for name in names or [None]:
            how: dict[str, Any] = {"period": name, "chain": chain, "seed": seed, "allow_gap": allow_gap}
            how |= {"source": original, "tell": say}
            entry: LedgerEntry | None = None
            with progress_bar(_("Weighing")) as progress:
                try:
                    if dry_run:
                        proposal = book.weigh(data, **how, progress=progress)
                    else:
                        entry, proposal = book.keep_weighed(data, **how, progress=progress)
                except (BudgetError, UnknownRiskError) as refused:
                    proposal = refused.proposal
            done.append(_told(book, proposal, entry))
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


def _told(book: Ledger, proposal: Proposal, entry: LedgerEntry | None) -> dict[str, Any]:
    """Return what was done as plain data, without a word about single customers."""
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
    sure = () if certificate is None else (_("certified"), _("at most"))
    found = (_("before"), _("attacks"), _("best attack"), _("by chance"))
    heading = (
        _("What attacks find in {period} by itself")
        if after.alone
        else _("The risk of everything released, with {period}")
    )
    yield heading.format(period=proposal.period)
    yield TextTable((_("measure"), *sure, _("budget"), *found), rows)
    yield certificate_sentence(certificate, proposal.uncertified, attacked=not after.alone)
    yield attacks_sentence(after)
    if budget and not proposal.broken:
        yield _("within the budget")
    yield _("Everything released, with {period}: {sentence}").format(
        period=proposal.period, sentence=proposal.verdict.sentence
    )
    yield rule_sentence(book.settings.rule)
    yield from _curves_parts(book, None if entry else proposal)
    if explain:
        yield Note(_("warning: these are customers' names; do not hand this on."))
        people = [tuple(str(cell) for cell in row) for row in proposal.exposed.head(_MOST_NAMED).iter_rows()]
        told = (_("customer"), _("periods found"), _("periods with purchases"), _("attacks that find them now"))
        yield TextTable(told, people)
    if entry is not None:
        folder = book.release_folder(entry.period)
        yield _("{period} released: {rows:,} rows in {folder}").format(
            period=entry.period, rows=entry.public_rows, folder=folder
        )
        yield Note(_("next: {command}").format(command=f"noren publish {folder} --out to-hand-out/"))
    elif not proposal.broken and not proposal.failed:
        yield Note(_("nothing was written; without --dry-run {period} is released").format(period=proposal.period))


def _curves_parts(book: Ledger, proposal: Proposal | None = None) -> tuple[str, TextTable]:
    """Return what each attack found after each release; the last ones where there are many."""
    periods, curves = book.curves(proposal)
    shown = slice(-12, None)
    rows = [(name, *("" if v is None else _share(v) for v in curve[shown])) for name, curve in curves.items()]
    return _("MM of each attack after each release"), TextTable((_("attack"), *periods[shown]), rows)


# --- looking -----------------------------------------------------------------------------------------------


@ledger_commands.command("show")
def overview(ledger: Folder) -> Output:
    """Show a ledger."""
    from noren.judgement.sentences import rule_sentence, verdict_label
    from noren.ledger import Ledger
    from noren.ledger.certificate import attacks_sentence, certificate_sentence

    book = Ledger.open(ledger)
    entries = book.entries
    if not entries:
        following = f"noren ledger add {book.folder} T.csv --dry-run"
        return Output(_about(book), [Note(_("nothing was released yet; next: {command}").format(command=following))])
    verdicts = book.verdicts()
    shown = list(book.settings.budget) or ["mm"]
    rows = [
        (
            e.period,
            number(e.original_rows),
            number(e.public_rows),
            *("–" if e.certificate is None else _share(e.certificate.rate[name]) for name in shown),
            *("–" if e.risk.alone else _share(share) for share in (e.risk.um, e.risk.mm, e.risk.emm)),
            verdict_label(verdicts[e.period].status),
            e.added[:10],
        )
        for e in entries
    ]
    certified = [_("{measure} certified").format(measure=name.upper()) for name in shown]
    headings = (_("period"), _("original rows"), _("released rows"), *certified, "UM", "MM", "EMM", _("verdict"))
    last = entries[-1].period
    together = _("Everything released, with {period}: {sentence}")
    parts: list[Part] = [
        TextTable((*headings, _("added")), rows),
        certificate_sentence(book.certificate(), attacked=not entries[-1].risk.alone),
        attacks_sentence(entries[-1].risk),
        together.format(period=last, sentence=verdicts[last].sentence),
        rule_sentence(book.settings.rule),
        *_curves_parts(book),
    ]
    left = book.left()
    for name, limit in book.settings.budget.items():
        words = _("budget for {measure}: {limit:g}, and what is left is not known")
        if name in left:
            words = _("budget for {measure}: {limit:g}, of which {left:.4f} is left")
        parts.append(words.format(measure=name.upper(), limit=limit, left=max(left.get(name, 0.0), 0.0)))
    return Output(_about(book), parts)


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
    words = ngettext(
        "{count} release, and every file is as it was written",
        "{count} releases, and every file is as it was written",
        len(book.entries),
    )
    parts = [str(error) for error in wrong] or [words.format(count=len(book.entries))]
    return Output({"ok": not wrong, "problems": problems}, parts, exit_code=2 if wrong else 0)


@ledger_commands.command("chart")
def chart(ledger: Folder, out: Path) -> Output:
    """Draw a ledger."""
    from noren.ledger import Ledger

    return Output({"out": str(out)}, [_draw(Ledger.open(ledger), out, None)])


def _draw(book: Ledger, out: Path, proposal: Proposal | None) -> str:
    """Draw the risk over releases, and return what to say of it."""
    from noren.drawing.ledger_chart import Curves, write_ledger_chart

    write_ledger_chart(Curves.of(book, proposal), out)
    return _("chart written to {out}").format(out=out)
