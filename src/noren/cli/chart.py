"""``noren chart``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Json, Rows, SchemaName, load_original, schema_of_release
from noren.cli.parts.screen import show_json
from noren.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable

    from noren.data.frames import Records

chart_commands = app.group(
    "chart",
    help=_("Draw a perturbed table beside its original: histograms and cross tabulations."),
    no_args_is_help=True,
)

Released = Annotated[
    Path, typer.Argument(metavar="RELEASE", help=_("A folder that noren protect --method retention wrote."))
]
Out = Annotated[Path | None, typer.Option("--out", help=_("The picture to write: .html, .svg or .png."))]
Against = Annotated[
    Path | None, typer.Option("--original", help=_("The original, to draw beside it; left out, it is not needed."))
]
ModelName = Annotated[
    Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"],
    typer.Option("--model", help=_("How to reconstruct; stated: as the release says.")),
]


@chart_commands.command(
    "histogram",
    help=_("One attribute as bars: original, perturbed, reconstructed."),
    epilog=_("Example: noren chart histogram release/ --attribute race --original T.csv --out race.html"),
)
def histogram(
    release: Released,
    attribute: Annotated[str, typer.Option("--attribute", help=_("Which attribute."))],
    out: Out = None,
    original: Against = None,
    model: ModelName = "stated",
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    as_json: Json = False,
) -> None:
    """Draw a histogram."""
    known = _known(original, release, schema, rows_are, customer)
    _draw([attribute], release, out, known, model, as_json=as_json)


@chart_commands.command(
    "crosstab",
    help=_("Two attributes as shaded tables: original, perturbed, reconstructed."),
    epilog=_("Example: noren chart crosstab release/ --attributes race,sex --original T.csv --out race-sex.html"),
)
def crosstab(
    release: Released,
    attributes: Annotated[str, typer.Option("--attributes", help=_("Two attributes, separated by a comma."))],
    out: Out = None,
    original: Against = None,
    model: ModelName = "stated",
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    as_json: Json = False,
) -> None:
    """Draw a cross tabulation."""
    names = [name.strip() for name in attributes.split(",") if name.strip()]
    known = _known(original, release, schema, rows_are, customer)
    _draw(names, release, out, known, model, as_json=as_json)


def _known(
    original: Path | None, release: Path, schema: str | None, rows_are: str | None, customer: str | None
) -> Callable[[], Records | None]:
    """Return what reads the original, once it is needed."""

    def read() -> Records | None:
        if original is None:
            return None
        known = schema or schema_of_release(release, rows_are, customer)
        return load_original(original, known, rows=rows_are, customer=customer, quiet=True)

    return read


def _draw(
    names: list[str],
    release: Path,
    out: Path | None,
    original: Callable[[], Records | None],
    model: Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"],
    *,
    as_json: bool,
) -> None:
    from noren.data.release import Release
    from noren.drawing import table_charts as charts
    from noren.errors import ParameterError

    if out is None and not as_json:
        raise ParameterError(_("there is nowhere to draw to"), _("name a picture with --out, or take --json"))
    if out is not None:
        charts.chart_ending(out)
    shown = charts.view(Release.load(release), names, original=original(), model=None if model == "stated" else model)
    if out is not None:
        charts.write_chart(charts.histogram(shown) if len(names) == 1 else charts.crosstab(shown), out)
    if as_json:
        show_json(shown.as_dict() | ({"out": str(out)} if out else {}))
    else:
        print(_("chart written to {out}").format(out=out))
