"""``noren correlate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.commands import Note, Output, Table
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Original, Reading, chosen
from noren.cli.parts.screen import number, progress_bar
from noren.i18n import _


@app.command(
    "correlate",
    help=_("Correlate measures of usefulness with U over many releases of one original."),
    epilog=_("Example: noren correlate T.csv release-k2/ release-k3/ release-k6/ --schema pwscup2018"),
)
def correlate(
    original: Original,
    releases: Annotated[
        list[Path],
        typer.Argument(metavar="RELEASE…", help=_("Release folders, or released files in the original's row order.")),
    ],
    names: Annotated[
        str, typer.Option("--with", help=_("Measures, separated by commas, or all measures of usefulness."))
    ] = "all",
    draws: Annotated[int, typer.Option("--draws", min=1, help=_("How many data sets to draw from each release."))] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same draws; it is no secret."))] = 1,
    alpha: Annotated[
        float, typer.Option("--alpha", help=_("The level of the test that there is no correlation."))
    ] = 0.05,
    *,
    reading: Reading,
) -> Output:
    """Correlate."""
    from noren.data.reading import read_release
    from noren.kernels.judging.correlation import rejection_limit
    from noren.measures import measures
    from noren.registry import build
    from noren.reports.correlate import correlate as run
    from noren.reports.correlate import usefulness_measures

    rejection_limit(len(releases), alpha)
    wanted = ",".join(usefulness_measures()) if names == "all" else names
    data = reading.load(original)
    given = {"draws": draws, "seed": seed}
    picked = [build(m, {k: v for k, v in given.items() if k in m.model_fields}) for m in chosen(measures, wanted, data)]
    loaded = [(str(path), read_release(path, data)) for path in releases]
    with progress_bar(_("Correlating")) as progress:
        found = run(data, loaded, picked, alpha=alpha, progress=progress)
    rows = []
    for name in found.values:
        r, beyond = found.correlation(name), found.beyond_chance(name)
        verdict = {None: _("the same everywhere"), True: _("correlated"), False: _("may be chance")}[beyond]
        rows.append((name, "" if r is None else f"{r:.3f}", verdict))
    count = _(
        "{count} releases, U from {least} to {most}; beyond ±{limit:.3f} it is no chance (level {alpha:g})"
    ).format(
        count=len(found.releases),
        least=number(min(found.error)),
        most=number(max(found.error)),
        limit=found.limit,
        alpha=found.alpha,
    )
    return Output(found.as_dict(), [Table((_("measure"), _("correlation with U"), ""), rows), Note(count)])
