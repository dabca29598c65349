"""A year of a ledger: what each month adds to what can be found."""

from __future__ import annotations

from typing import Any

from noren.i18n import N_, _
from noren.reproduce.beyond import work
from noren.reproduce.charts import ChartLine, Look, lines
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit

__all__ = ["BUDGET", "year", "year_units"]

BUDGET = 0.265
CHAINS: dict[str, tuple[str, Look | None]] = {
    "pseudonyms alone": (N_("pseudonyms alone"), None),  # all are found at once: nothing to draw
    "thin 10 %, light noise": (N_("thin 10 %, light noise"), "paper"),
    "groups of 3": (N_("groups of 3"), "ours"),
    "groups of 5": (N_("groups of 5, cells suppressed"), "better"),
}
STORY = "thin 10 %, light noise"
SHOWN = (0, 1, 2, 5, 8, 11)


def _unit(name: str, attack: str) -> Unit:
    return Unit(work.kept_books, (name, attack), data=(work.MONTHS,))


def year_units(asked: Extent) -> list[Unit]:
    """Return the work for a year; quick looks at one way to protect it, by S1 to S8 alone."""
    if asked.quick:
        return [_unit(STORY, "s1-s8")]
    return [_unit(name, attack) for name in CHAINS for attack in ("s1-s8", "linkage")]


def year(found: Findings) -> Comparison:
    """Say EMM after every month for each way to protect one, and when the budget of the story would be spent."""
    cells, says = [], []
    for name, (words, _look) in CHAINS.items():
        for attack in ("s1-s8", "linkage"):
            book = _book(found, name, attack)
            row = _("{chain}, by {attack}").format(chain=_(words), attack="S1–S8" if attack == "s1-s8" else attack)
            cells += [Datum(row, _after(at + 1), ours=book["emm"][at] if book else None) for at in SHOWN]
            if book:
                over = [month for month, emm in zip(book["months"], book["emm"], strict=True) if emm > BUDGET]
                told = (
                    _("{case}: with a budget of {budget} the ledger says no in {month}.")
                    if over
                    else _("{case}: a budget of {budget} is enough for the whole year.")
                )
                says.append(told.format(case=row, budget=BUDGET, month=over[0] if over else ""))
    return Comparison(cells, says, [Chart(_("EMM after each month"), lambda: _curves(found))])


def _book(found: Findings, name: str, attack: str) -> dict[str, Any] | None:
    return next(iter(found.of([_unit(name, attack)])), None)


def _after(months: int) -> str:
    return _("after {count} months").format(count=months) if months > 1 else _("after a month")


def _curves(found: Findings) -> str:
    """Return EMM over the months, a panel for each attacker, a line for each way to protect them, and the budget."""
    panels = {}
    for attack, title in (("s1-s8", _("S1 to S8")), ("linkage", "linkage")):
        books = {name: book for name in CHAINS if (book := _book(found, name, attack))}
        if books:
            months = next(iter(books.values()))["months"]
            looks = {name: look for name, (_words, look) in CHAINS.items() if look}
            drawn = [ChartLine(_(CHAINS[name][0]), books[name]["emm"], looks[name]) for name in looks if name in books]
            panels[title] = [*drawn, ChartLine(_("the budget of the story"), [BUDGET] * len(months), "chance")]
    return lines(months, panels, across_title="", up_title="EMM", up=(0.0, 1.0), columns=2, width=340, height=240)
