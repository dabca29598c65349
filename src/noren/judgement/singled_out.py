"""What is said of who is singled out: by a few known purchases, or in a population. Never that anything is safe."""

from __future__ import annotations

from noren.inference.population import PopulationRisk
from noren.inference.unicity import Step
from noren.judgement.numbers import percent
from noren.tables import Texts

say = Texts(__name__)


def step_range(low: float | None, high: float | None) -> str:
    """Write an interval of shares; nothing where there is none."""
    return "" if low is None or high is None else f"{percent(low)} – {percent(high)}"


def singled_out(step: Step, sampled: int) -> str:
    """Return which share of customers known purchases single out, and of which customers that is a share.

    >>> singled_out(Step(known=4, tried=10, unique=0.9, low=0.55, high=0.99, candidates=1.2, median=1.0), sampled=10)
    '4 known purchases single out 90.0% of customers (55.0% – 99.0%)'
    """
    return say(
        "singled_out.some" if step.tried < sampled else "singled_out.all",
        step.known,
        known=step.known,
        share=percent(step.unique),
        range=step_range(step.low, step.high),
        has=percent(step.tried / max(sampled, 1)),
    )


def left_in_release(step: Step) -> str:
    """Return for which share of them one pseudonym of a release is left, and whether it is the right one."""
    said = say(
        "left.left", step.known, known=step.known, share=percent(step.unique), range=step_range(step.low, step.high)
    )
    if step.right is not None:
        said += say("left.right", right=percent(step.right), range=step_range(step.right_low, step.right_high))
    if step.none and step.forgiving is not None:
        interval = step_range(step.forgiving_low, step.forgiving_high)
        said += say("left.forgiving", none=percent(step.none), share=percent(step.forgiving), range=interval)
    elif step.none:
        said += say("left.none", none=percent(step.none))
    return said


def estimates_differ(found: PopulationRisk) -> str:
    """Return how far the estimators of population uniqueness are apart, and whom to trust; nothing of a single one."""
    shares = sorted(value / found.population for value in found.estimates.values())
    if len(shares) < 2:
        return ""
    return say("estimates", low=percent(shares[0]), high=percent(shares[-1]))
