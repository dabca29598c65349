"""What forms call parameters and their values: plain words; a parameter nobody gave words is called by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from noren.i18n import N_, _

__all__ = ["DIVERSE", "MAIN", "STARTS", "help_of", "label_of", "word_of"]

_LABELS: Final[Mapping[str, str]] = {
    "k": N_("How many look alike (k)"),
    "retention.k": N_("Nobody found more surely than 1 in k"),
    "effort": N_("How long to search"),
    "suppress_cells": N_("Leave out cells that would say almost nothing"),
    "block": N_("Customers searched together"),
    "survival": N_("In place of k: the chance to withstand all attackers"),
    "min_class": N_("Smallest group, with that chance"),
    "attackers": N_("Attackers, with that chance"),
    "bound": N_("Rule for an effective attack, with that chance"),
    "quasi": N_("Columns that must not tell anybody apart"),
    "l": N_("Different sensitive values in each group (l)"),
    "diversity": N_("How these values count"),
    "c": N_("How common the commonest may be (c)"),
    "t": N_("How far a group may be from everybody (t)"),
    "distance": N_("How that distance is measured"),
    "sensitive": N_("Sensitive column to look at"),
    "identifiers": N_("Columns that name people"),
    "suppression": N_("Share of rows that may be deleted"),
    "loss": N_("What to keep small"),
    "missing": N_("Empty cells"),
    "relaxed": N_("Also part rows of equal value"),
    "period": N_("Periods"),
    "starts": N_("First days of periods of your own"),
    "days": N_("Days a date may move"),
    "whole_baskets": N_("Move what was bought together by the same days"),
    "price": N_("How far prices may move"),
    "packs": N_("Packs a quantity may move"),
    "clusters": N_("How many groups of customers"),
    "min_size": N_("Smallest group of customers"),
    "variant": N_("How groups are made"),
    "share": N_("Share of the rows"),
    "rarest": N_("The most telling rows first"),
    "allow_vanish": N_("Customers may vanish altogether"),
    "attributes": N_("Columns to release"),
    "rho": N_("In place of k: the chance that a value stays (ρ)"),
    "weights": N_("Weights of the columns"),
    "classes": N_("Put numbers into classes"),
    "domains": N_("Where lists of values come from"),
    "reconstruct": N_("How the true table is estimated afterwards"),
}
_HELPS: Final[Mapping[str, str]] = {
    "generalize.k": N_("how many customers share each public history, at least; 3 or more are advised"),
    "generalize-by-count.k": N_("how many customers share each public history, at least; 3 or more are advised"),
    "mondrian.k": N_("how many rows look the same to somebody who knows these columns, at least"),
    "hierarchy.k": N_("how many rows look the same to somebody who knows these columns, at least"),
    "effort": N_("longer finds less error; quick, normal and thorough give the same bytes for the same seed"),
    "l": N_("how many sensitive values each group has, at least; a group with one tells it of everybody in it"),
    "period": N_("what is done stays within a period"),
    "starts": N_("for periods of your own: the first day of each, one on a line, like 2010-12-01"),
    "retention.k": N_("a larger k is safer, and more values are drawn anew"),
    "attributes": N_("the others are left out; the fewer columns, the more of each is kept"),
    "quasi": N_("what somebody may know of a person; columns that link to people"),
    "weights": N_("which columns are kept better: a number for each released column, in their order"),
    "classes": N_("one on a line: age=20..90:5 for up to 20, 25, … 90"),
    "missing": N_("what becomes of empty cells"),
    "survival": N_("a probability such as 0.9; leave k empty then"),
    "rho": N_("a probability below 1; leave k empty then"),
}
_VALUES: Final[Mapping[str, str]] = {
    "quick": N_("quick"),
    "normal": N_("normal"),
    "thorough": N_("thorough"),
    "paper": N_("the contest's rule"),
    "sharp": N_("the sharp rule, which is stricter"),
    "distinct": N_("by their number"),
    "entropy": N_("by their entropy"),
    "recursive": N_("recursively, with c"),
    "equal": N_("all values equally far"),
    "ordered": N_("by their order"),
    "drop": N_("leave them out"),
    "missing.drop": N_("delete the row"),
    "pseudonyms": N_("replace them by numbers"),
    "loss": N_("the share of values a cell may mean"),
    "discernibility": N_("how many rows each cannot be told from"),
    "class-size": N_("the mean size of groups"),
    "loss.entropy": N_("the bits that are lost"),
    "category": N_("a value of its own"),
    "error": N_("stop and say where"),
    "month": N_("calendar months"),
    "week": N_("weeks"),
    "quarter": N_("quarters"),
    "custom": N_("days of your own"),
    "clusters": N_("by likeness (k-means)"),
    "repaired": N_("by likeness, none too small"),
    "balanced": N_("with the fewest added rows"),
    "declared": N_("from the schema alone"),
    "data": N_("from the data, which tells them"),
    "none": N_("not at all"),
    "em": N_("iterative Bayes (EM)"),
    "independence": N_("columns as independent"),
    "loglinear": N_("log-linear model"),
    "ml": N_("maximum likelihood"),
    "auto": N_("whichever suits"),
}
MAIN: Final = frozenset(
    {"k", "attributes", "quasi", "effort", "share", "rarest", "days", "price", "packs", "period", "clusters"}
)
"""Parameters that are shown at once; the others, unless they are needed, lie under *More settings*."""
STARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "generalize": {"k": "3"},
    "generalize-by-count": {"k": "3"},
    "hierarchy": {"k": "5"},
    "mondrian": {"k": "5"},
    "retention": {"k": "5"},
    "pseudo-records": {"clusters": "20"},
}
"""What a fresh form holds where the parameter itself has no default: a sensible choice to begin with."""
DIVERSE: Final = "2"
"""The ℓ that a form begins with where there are sensitive values: with fewer, some class may tell everybody's."""


def label_of(method: str, field: str) -> str:
    """Return what a form calls a parameter.

    >>> label_of("thin", "share"), label_of("somebody-elses", "noise_level")
    ('Share of the rows', 'Noise level')
    """
    words = _LABELS.get(f"{method}.{field}") or _LABELS.get(field)
    return _(words) if words else field.replace("_", " ").capitalize()


def help_of(method: str, field: str, description: str) -> str:
    """Return what a form says of a parameter: its description, unless that speaks to a command line.

    >>> help_of("thin", "share", "which share of all rows to delete")
    'Which share of all rows to delete'
    """
    words = _(_HELPS.get(f"{method}.{field}") or _HELPS.get(field) or description)
    return words[:1].upper() + words[1:]


def word_of(field: str, value: str) -> str:
    """Return what a form calls a value that can be chosen.

    >>> word_of("missing", "drop"), word_of("identifiers", "drop"), word_of("colour", "blue")
    ('delete the row', 'leave them out', 'blue')
    """
    words = _VALUES.get(f"{field}.{value}") or _VALUES.get(value)
    return _(words) if words else value
