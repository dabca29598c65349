"""What S3 gets wrong, with what follows from its own table."""

from __future__ import annotations

from noren.i18n import _
from noren.reproduce.frame import Erratum

__all__ = ["errata"]


def errata() -> list[Erratum]:
    """Return the errata."""
    return [_index(), _start(), _figure_4()]


def _index() -> Erratum:
    return Erratum(
        "index",
        _("Formula (4)"),
        "match^(l) = |{(i, l) | l ∈ {1, …, d}, …}|",
        "match^(l) = |{(i, m) | m ∈ {1, …, l}, …}|",
        _(
            "One letter stands for the release and for the months that are counted. As printed every match^(l) would "
            "count all d months, and MM^(l) could exceed 1 for l below d. Counted are the months up to the release, as "
            "MM^(d) = MM asks."
        ),
    )


def _start() -> Erratum:
    return Erratum(
        "start",
        _("Section 6.1"),
        _("EMM judges from the release of October 2010 on"),
        _("from the release of December 2010 on"),
        _("The data start in December 2010, and 12 months later is November 2011: section 2 and figure 1 say so."),
    )


def _figure_4() -> Erratum:
    return Erratum(
        "figure-4",
        _("Section 6.2.3"),
        _("figure 4 shows the attack by mean price"),
        _("figure 4 shows the attack by number of records, S8"),
        _("The sentence is that of figure 3, repeated; the heading, the caption and the next sentence say records."),
    )
