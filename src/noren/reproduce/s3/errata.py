"""What S3 gets wrong, with what follows from its own table."""

from __future__ import annotations

from noren.reproduce.frame import Erratum

__all__ = ["errata"]


def errata() -> list[Erratum]:
    """Return the errata."""
    return [Erratum.of(__name__, "index"), Erratum.of(__name__, "start"), Erratum.of(__name__, "figure-4")]
