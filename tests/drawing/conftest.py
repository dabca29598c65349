"""The small history, and what became of it, for these tests too."""

from tests.outcome_fixtures import history, marked, outcomes, speak

__all__ = ["history", "marked", "outcomes", "speak"]
