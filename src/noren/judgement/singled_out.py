"""What is said of who is singled out: by a few known purchases, or in a population. Never that anything is safe."""

from __future__ import annotations

from noren.i18n import _, ngettext
from noren.inference.curve import Step
from noren.inference.population import PopulationRisk
from noren.judgement.numbers import percent

__all__ = ["estimates_differ", "left_in_release", "singled_out", "step_range"]


def step_range(low: float | None, high: float | None) -> str:
    """Write an interval of shares; nothing where there is none."""
    return "" if low is None or high is None else f"{percent(low)} – {percent(high)}"


def singled_out(step: Step, sampled: int) -> str:
    """Return which share of customers known purchases single out, and of which customers that is a share.

    >>> singled_out(Step(known=4, tried=10, unique=0.9, low=0.55, high=0.99, candidates=1.2, median=1.0), sampled=10)
    '4 known purchases single out 90.0% of customers (55.0% – 99.0%)'
    """
    said = ngettext(
        "{known} known purchase singles out {share} of customers ({range})",
        "{known} known purchases single out {share} of customers ({range})",
        step.known,
    )
    if step.tried < sampled:
        said = ngettext(
            "{known} known purchase singles out {share} of the customers who have as many ({range}); {has} have",
            "{known} known purchases single out {share} of the customers who have as many ({range}); {has} have",
            step.known,
        )
    return said.format(
        known=step.known,
        share=percent(step.unique),
        range=step_range(step.low, step.high),
        has=percent(step.tried / max(sampled, 1)),
    )


def left_in_release(step: Step) -> str:
    """Return for which share of them one pseudonym of a release is left, and whether it is the right one."""
    said = ngettext(
        "In the release {known} known purchase leaves one pseudonym for {share} ({range})",
        "In the release {known} known purchases leave one pseudonym for {share} ({range})",
        step.known,
    ).format(known=step.known, share=percent(step.unique), range=step_range(step.low, step.high))
    if step.right is not None:
        said += _(", the right one for {right} ({range})").format(
            right=percent(step.right), range=step_range(step.right_low, step.right_high)
        )
    if step.none and step.forgiving is not None:
        said += _(
            "; for {none} none fits all of them, and an attacker who tolerates mismatches finds {share} ({range})"
        )
    elif step.none:
        said += _(
            "; for {none} none fits all of them, which does not hide them from an attacker who tolerates mismatches"
        )
    return said.format(
        none=percent(step.none or 0.0),
        share=percent(step.forgiving or 0.0),
        range=step_range(step.forgiving_low, step.forgiving_high),
    )


def estimates_differ(found: PopulationRisk) -> str:
    """Return how far the estimators of population uniqueness are apart, and whom to trust; nothing of a single one."""
    shares = sorted(value / found.population for value in found.estimates.values())
    if len(shares) < 2:
        return ""
    return _(
        "The estimators range from {low} to {high} of the population. The rule that chose one is about the mean "
        "over many tables: where they are far apart, rely on the highest."
    ).format(low=percent(shares[0]), high=percent(shares[-1]))
