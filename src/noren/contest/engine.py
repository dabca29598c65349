"""Where releases are judged: on this machine, or the large ones on a Spark cluster."""

from __future__ import annotations

from noren.engines.choice import parse_engine
from noren.errors import ParameterError
from noren.i18n import _

ENGINE_FROM = 1_000_000
"""Rows from which a release is handed to a cluster; each attack and measure on Spark begins with seconds of its own."""


def cluster_of(engine: str) -> str | None:
    """Return the address of the cluster that somebody names to judge on; None for this machine alone.

    >>> cluster_of("local[2]"), cluster_of("local")
    ('local[2]', None)
    """
    found = parse_engine(engine)
    if found.kind not in ("local", "spark"):
        raise ParameterError(
            _("contests are not judged on {engine}: every worker must find the same digits").format(engine=engine),
            _("give local, spark://host:port or local[n]"),
        )
    return found.address
