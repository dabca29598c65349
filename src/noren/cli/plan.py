"""``noren plan``."""

from __future__ import annotations

from typing import Annotated

import typer

from noren.cli.inputs import Json
from noren.cli.screen import number, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

HELP = _("What retention can keep: rho for a wanted k, k for a wanted rho, the rows that both need.")
EXAMPLE = _("Example: noren plan --domains 5,2,42 --rows 32561 --k 2,5,10")

_USUAL = "2,3,5,10,20,50"


def plan(
    domains: Annotated[
        str, typer.Option("--domains", help=_("How many values each attribute has, separated by commas."))
    ],
    rows: Annotated[int | None, typer.Option("--rows", min=2, help=_("How many rows the table has."))] = None,
    k: Annotated[str, typer.Option("--k", help=_("The k to look at, separated by commas."))] = "",
    rho: Annotated[
        float | None, typer.Option("--rho", help=_("The probability to keep a value; asks for k, or for rows."))
    ] = None,
    weights: Annotated[
        str, typer.Option("--weights", help=_("How much of what k allows each attribute gets, separated by commas."))
    ] = "",
    as_json: Json = False,
) -> None:
    """Plan a release by retention."""
    from noren.kernels.retention import k_of, keep_probabilities, rows_needed

    sizes = [round(n) for n in _numbers(domains, "--domains", least=2)]
    ks = _numbers(k or _USUAL, "--k", least=1)
    shares = _numbers(weights, "--weights", least=0) if weights else None
    if rows is None and rho is None:
        raise ParameterError(_("there is nothing to work out from"), _("give --rows, --rho or both"))
    if rho is not None and not 0 <= rho < 1:
        raise ParameterError(_("rho={rho:g} is no probability below 1").format(rho=rho), _("use 0 <= rho < 1"))
    found = []
    if rho is not None and rows is not None:
        found.append({"k": k_of([rho] * len(sizes), sizes, rows), "rho": [rho] * len(sizes), "rows": rows})
    elif rho is not None:
        found = [{"k": one, "rho": [rho] * len(sizes), "rows": rows_needed(one, rho, sizes)} for one in ks]
    elif rows is not None:
        found = [{"k": one, "rho": keep_probabilities(one, sizes, rows, shares), "rows": rows} for one in ks]
    if as_json:
        show_json({"domains": sizes, "plans": found})
        return
    lines = [
        (number(float(str(one["k"]))), _few(one["rho"]), number(float(str(one["rows"]))))  # type: ignore[arg-type]
        for one in found
    ]
    show_table("", ("k", "rho", _("rows")), lines)


def _few(rhos: list[float]) -> str:
    """Return ρ once where it is common, else one for each attribute."""
    return f"{rhos[0]:.4f}" if len(set(rhos)) == 1 else " ".join(f"{rho:.4f}" for rho in rhos)


def _numbers(said: str, flag: str, *, least: float) -> list[float]:
    try:
        found = [float(word) for word in said.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(least <= one < 1e15 for one in found):
        raise ParameterError(
            _("{flag} {said!r} is not understood").format(flag=flag, said=said),
            _("give numbers from {least:g} on, separated by commas").format(least=least),
        )
    return found
