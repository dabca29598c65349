"""``noren threshold``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import show_json
from noren.i18n import _


@app.command(
    "threshold",
    help=_("How many of n named customers must be right for a re-identification to count as effective."),
    epilog=_("Example: noren threshold --n 999 --bound paper"),
)
def threshold(
    n: Annotated[int, typer.Option("--n", min=0, max=1_000_000, help=_("How many customers the attacker names."))],
    bound: Annotated[
        Literal["paper", "sharp"], typer.Option("--bound", help=_("The contest's bound, or the sharp one."))
    ] = "paper",
    p: Annotated[
        str, typer.Option("--p", help=_("The probability of re-identifying one customer that still counts as safe."))
    ] = "1/3",
    alpha: Annotated[str, typer.Option("--alpha", help=_("The risk of calling a safe release unsafe."))] = "1/2000",
    as_json: Json = False,
) -> None:
    """Print r(n)."""
    from fractions import Fraction

    from noren.kernels.judging.threshold import threshold as run
    from noren.measures.safety.effective import Effective
    from noren.registry import build

    test = build(Effective, {"bound": bound, "p": p, "alpha": alpha})
    r = run(n, bound=bound, p=Fraction(test.p), alpha=Fraction(test.alpha))
    if as_json:
        show_json({"n": n, "r": r})
        return
    print(
        _("{r} of {n} must be right").format(r=r, n=n)
        if r <= n
        else _("no number of hits among {n} is effective").format(n=n)
    )
