"""A year of a ledger: what each month adds to what can be found; and which way to publish every month."""

from __future__ import annotations

from typing import Any

from noren.i18n import N_, _
from noren.reproduce.beyond import work
from noren.reproduce.charts import ChartLine, Look, lines
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit

__all__ = ["BUDGET", "monthly", "monthly_units", "year", "year_units"]

BUDGET = 0.265
CHAINS: dict[str, tuple[str, Look | None]] = {
    "pseudonyms alone": (N_("pseudonyms alone"), None),  # all are found at once: nothing to draw
    "thin 10 %, light noise": (N_("thin 10 %, light noise"), "paper"),
    "groups of 3": (N_("groups of 3"), "ours"),
    "groups of 5": (N_("groups of 5, cells suppressed"), "better"),
}
CERTIFIED = ("groups of 3", "groups of 5")
STORY = "thin 10 %, light noise"
ATTACKS = ("s1-s8", "linkage")
SHOWN = (0, 1, 2, 3, 5, 8, 11)
SEEDS = 3
WAYS = {
    "months": N_("groups anew each month, fresh names"),
    "year": N_("groups of the whole year, one name"),
    "cut": N_("groups of the whole year, cut by month, fresh names"),
}
K = 3


# --- a year of a ledger ----------------------------------------------------------------------------------------------


def _unit(name: str, attack: str) -> Unit:
    return Unit(work.kept_books, (name, attack), data=(work.MONTHS,))


def year_units(asked: Extent) -> list[Unit]:
    """Return the work for a year; quick looks at one way to protect it, by S1 to S8 alone."""
    if asked.quick:
        return [_unit(STORY, "s1-s8")]
    return [_unit(name, attack) for name in CHAINS for attack in ATTACKS]


def year(found: Findings) -> Comparison:
    """Say MM after months for each way to protect one, what is certified, and when a budget would be spent."""
    cells, says = [], []
    for name, (words, _look) in CHAINS.items():
        certified = None
        for attack in ATTACKS:
            book = _book(found, name, attack)
            row = _("{chain}, by {attack}").format(chain=_(words), attack="S1–S8" if attack == "s1-s8" else attack)
            cells += [Datum(row, _after(at + 1), ours=book["mm"][at] if book else None) for at in SHOWN]
            if book and name in CERTIFIED:
                certified = book
            elif book:
                says += [_refusal(row, book, book["emm"]), _interval(row, book)]
        if name in CERTIFIED:
            row = _("{chain}, certified").format(chain=_(words))
            cells += [
                Datum(row, _after(at + 1), ours=certified["certified"][at] if certified else None) for at in SHOWN
            ]
            says += [_refusal(row, certified, certified["certified"])] if certified else []
    return Comparison(cells, says, [Chart(_("MM after each month"), lambda: _curves(found))])


def _book(found: Findings, name: str, attack: str) -> dict[str, Any] | None:
    return next(iter(found.of([_unit(name, attack)])), None)


def _refusal(case: str, book: dict[str, Any], values: list[float]) -> str:
    over = [month for month, value in zip(book["months"], values, strict=True) if value > BUDGET]
    told = (
        _("{case}: with a budget of {budget} the ledger says no in {month}.")
        if over
        else _("{case}: a budget of {budget} is enough for the whole year.")
    )
    return told.format(case=case, budget=BUDGET, month=over[0] if over else "")


def _interval(case: str, book: dict[str, Any]) -> str:
    low, high = book["interval"][-1]
    return _(
        "{case}: MM after the year is {mean:.3f}, from {low:.3f} to {high:.3f} with 95 per cent over draws."
    ).format(case=case, mean=book["mm"][-1], low=low, high=high)


def _after(months: int) -> str:
    return _("after {count} months").format(count=months) if months > 1 else _("after a month")


def _curves(found: Findings) -> str:
    """Return MM over the months, a panel for each attacker, a line for each way to protect them, and the budget."""
    panels = {}
    for attack, title in (("s1-s8", _("S1 to S8")), ("linkage", "linkage")):
        books = {name: book for name in CHAINS if (book := _book(found, name, attack))}
        if books:
            months = next(iter(books.values()))["months"]
            looks = {name: look for name, (_words, look) in CHAINS.items() if look}
            drawn = [ChartLine(_(CHAINS[name][0]), books[name]["mm"], looks[name]) for name in looks if name in books]
            panels[title] = [*drawn, ChartLine(_("the budget of the story"), [BUDGET] * len(months), "chance")]
    return lines(months, panels, across_title="", up_title="MM", up=(0.0, 1.0), columns=2, width=340, height=240)


# --- which way to publish every month --------------------------------------------------------------------------------


def _published(way: str, seed: int) -> Unit:
    return Unit(work.published, (way, K, "quick", seed), data=(work.MONTHS,))


def monthly_units(asked: Extent) -> list[Unit]:
    """Return the work for three ways to publish a year; quick leaves the searches over the whole year out."""
    ways = ["months"] if asked.quick else list(WAYS)
    return [_published(way, seed) for way in ways for seed in asked.seeds(full=SEEDS)]


def monthly(found: Findings) -> Comparison:
    """Set U of monthly groups beside that of groups of the whole year, whole and cut by month."""
    cells = []
    for way, words in WAYS.items():
        books = found.of([_published(way, seed) for seed in found.asked.seeds(full=SEEDS)])
        cells += [
            Datum.over(_(words), "U", [book["U"] for book in books], digits=4),
            Datum.over(_(words), _("rows deleted"), [book["deleted"] for book in books], digits=0),
        ]
    return Comparison(
        cells,
        [
            _("generalize, k = {k}, quick search, on the data of 2017; U is the mean error of a cell.").format(k=K),
            _(
                "In each of them no pseudonym is re-identified with a probability above 1/{k}. Of one name for a "
                "year a right guess tells the whole year, of fresh names a month."
            ).format(k=K),
        ],
    )
