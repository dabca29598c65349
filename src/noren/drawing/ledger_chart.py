"""Risk over releases as a file: the picture with its finding, or a page with its numbers as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from noren.drawing.ground import ENDINGS, Spec, chart_ending, picture, write_picture
from noren.drawing.label_places import heading_lines
from noren.drawing.risk_lines import risk_lines
from noren.drawing.templating import house_styles, template
from noren.errors import ParameterError
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import percent
from noren.judgement.page_text import printable
from noren.judgement.sentences import rule_sentence
from noren.judgement.verdict import Verdict
from noren.ledger import Ledger, Proposal
from noren.version import __version__

__all__ = ["ENDINGS", "Curves", "about_measure", "chart_ending", "write_ledger_chart"]

_LONGEST_NAME = 24


@dataclass(frozen=True)
class Curves:
    """What there is to draw: a measure after each release, by attack; None where an attack was not tried.

    Attributes
    ----------
    measure
        Which measure the numbers are: ``um``, ``mm`` or ``emm``. Only its own budget is held against them.
    proposed
        Whether the last period is not released yet.
    verdict
        How safe everything released is, with what is proposed; None where nobody judged it.
    certified
        The most that anybody can be expected to find after each release; None where nothing is certified.
    """

    periods: Sequence[str]
    found: Mapping[str, Sequence[float | None]]
    budget: Mapping[str, float] = field(default_factory=dict)
    proposed: bool = False
    measure: str = "mm"
    verdict: Verdict | None = None
    certified: Sequence[float | None] = ()

    @classmethod
    def of(cls, ledger: Ledger, proposal: Proposal | None = None) -> Curves:
        """Return the curves of a ledger, with a release that is only proposed where there is one."""
        measure = ledger.tightest(proposal)
        periods, found = ledger.curves(proposal, measure)
        if not periods:
            raise ParameterError(
                _("nothing was released yet, so there is nothing to draw"), _("release a period: noren ledger add")
            )
        verdict = ledger.verdicts()[periods[-1]] if proposal is None else proposal.verdict
        certified = ledger.certified_curve(proposal, measure)
        return cls(periods, found, ledger.settings.budget, proposal is not None, measure, verdict, certified)

    @property
    def limits(self) -> dict[str, float]:
        """The budget that the numbers can be held against: that of their own measure."""
        return {name: limit for name, limit in self.budget.items() if name == self.measure}

    @property
    def worst(self) -> str:
        """The attack that finds most after the last release."""
        return max(self.found, key=lambda attack: _last(self.found[attack]))

    def finding(self) -> str:
        """Return the chart's heading: what the best attack finds now, and whether the budget is kept."""
        said = self._would_find() if self.proposed else self._finds()
        share = percent(round(_last(self.found[self.worst]), 4))
        if all(curve[-1] is None for curve in self.found.values()):
            said = _("What attacks find in everything released is not known after {period}")
        told = said.format(
            count=len(self.periods), attack=printable(self.worst, _LONGEST_NAME), share=share, period=self.periods[-1]
        )
        if self.certified and self.certified[-1] is not None:
            told = _("{told}; nobody can be expected to find more than {share}").format(
                told=told, share=percent(self.certified[-1])
            )
        if not self.limits:
            return told
        limit = min(self.limits.values())
        words = _("{told}; the budget of {limit} is broken") if self.beyond() else _("{told}; the budget is {limit}")
        return words.format(told=told, limit=percent(limit))

    def _finds(self) -> str:
        if self.measure == "emm":
            return ngettext(
                "After {count} release the best attack, {attack}, found {share} of the pseudonyms when it did best",
                "After {count} releases the best attack, {attack}, found {share} of the pseudonyms when it did best",
                len(self.periods),
            )
        if self.measure == "um":
            return ngettext(
                "After {count} release the best attack, {attack}, finds {share} of the customers in every period",
                "After {count} releases the best attack, {attack}, finds {share} of the customers in every period",
                len(self.periods),
            )
        return ngettext(
            "After {count} release the best attack, {attack}, finds {share} of the pseudonyms",
            "After {count} releases the best attack, {attack}, finds {share} of the pseudonyms",
            len(self.periods),
        )

    def _would_find(self) -> str:
        if self.measure == "emm":
            return _(
                "With the release of {period} the best attack, {attack}, would have found {share} of the pseudonyms"
                " when it did best"
            )
        if self.measure == "um":
            return _(
                "With the release of {period} the best attack, {attack}, would find {share} of the customers in every"
                " period"
            )
        return ngettext(
            "With the release of {period}, the first, the best attack, {attack}, would find {share} of the pseudonyms",
            "With the release of {period} the best attack, {attack}, would find {share} of the pseudonyms",
            len(self.periods),
        )

    def beyond(self) -> list[tuple[int, float]]:
        """Return the releases above the budget, by the certificate or else by the best attack, each with how much."""
        limit = min(self.limits.values(), default=1.0)
        tops = [max((c[at] or 0.0 for c in self.found.values()), default=0.0) for at in range(len(self.periods))]
        sure = [*self.certified, *[None] * (len(tops) - len(self.certified))]
        held = [top if certified is None else certified for top, certified in zip(tops, sure, strict=True)]
        return [(at, value) for at, value in enumerate(held) if value > limit + 1e-12]

    def chart(self, *, titled: bool = True) -> Spec:
        """Return the chart, under its heading where it stands alone."""
        heading = heading_lines(self.finding()) if titled else ()
        limits = dict(self.limits)
        return risk_lines(
            self.periods,
            self.found,
            limits,
            measure=self.measure,
            proposed=self.proposed,
            heading=heading,
            certified=self.certified,
        )


def about_measure(measure: str) -> str:
    """Return what a measure of a ledger is, for a person."""
    return {
        "um": _(
            "UM is the share of customers who are found in every period they bought in, by an attacker who knows"
            " all purchases. It is taken after each release, over everything that was out then. Lower is safer."
        ),
        "mm": _(
            "MM is the share of pseudonyms, one for each customer and period, that are found by an attacker who"
            " knows all purchases. It is taken after each release, over everything that was out then. Lower is"
            " safer."
        ),
        "emm": _(
            "EMM is the largest share of pseudonyms, one for each customer and period, that an attacker who knows"
            " all purchases found after any release so far; it never falls. Lower is safer."
        ),
    }[measure]


def write_ledger_chart(curves: Curves, path: str | Path) -> Path:
    """Write the chart as a page, an SVG or a PNG picture, by the name's ending; whole or not at all."""
    page = _page(curves) if chart_ending(Path(path)) == ".html" else ""
    return write_picture(curves.chart(), path, page)


def _last(curve: Sequence[float | None]) -> float:
    return next((value for value in reversed(curve) if value is not None), 0.0)


# --- the page ----------------------------------------------------------------------------------------------


def _page(curves: Curves) -> str:
    """Return one HTML page that loads and runs nothing: the chart, and its numbers as a table."""
    rows = [
        (printable(name, _LONGEST_NAME), ["–" if value is None else f"{value:.3f}" for value in curve])
        for name, curve in [*sorted(curves.found.items()), *_certified(curves)]
    ]
    limits = [
        _("budget for {measure}: {limit:g}").format(measure=name.upper(), limit=limit)
        for name, limit in curves.budget.items()
    ]
    return template("noren.drawing", "ledger.html.jinja").render(
        language=active_language(),
        headline=curves.finding(),
        words={
            "title": _("Risk over releases"),
            "about": about_measure(curves.measure),
            "table": _("{measure} of each attack after each release").format(measure=curves.measure.upper()),
            "attack": _("attack"),
        },
        chart=Markup(picture(curves.chart(titled=False))),  # noqa: S704 - drawn by us, its texts escaped
        periods=[printable(period, _LONGEST_NAME) for period in curves.periods],
        rows=rows,
        limits=[*limits, *_judged(curves.verdict)],
        version=__version__,
        css=house_styles(),
    )


def _certified(curves: Curves) -> list[tuple[str, Sequence[float | None]]]:
    there = any(value is not None for value in curves.certified)
    return [(_("certified"), curves.certified)] if there else []


def _judged(verdict: Verdict | None) -> list[str]:
    return [] if verdict is None else [verdict.sentence, rule_sentence(verdict.rule)]
