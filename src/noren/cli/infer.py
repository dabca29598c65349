"""``noren infer``: what a release tells of people without naming them, beside what it tells of people outside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from noren.cli.parts.commands import COMPONENT_FLAGS
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import (
    Control,
    CustomerColumn,
    Json,
    Master,
    Original,
    Rows,
    RuleName,
    SchemaName,
    load_original,
)
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noren.inference.findings import Inferred


@app.command(
    "infer",
    help=_(
        "Membership and attribute inference, against a control group of people who are not in the data: those of a "
        "file, or people held out of the original before a method protects the others."
    ),
    epilog=_(
        "Example: noren infer T.csv --schema pwscup2018 --method generalize-by-count --k 5 --hold-out 0.2 --seeds 5"
    ),
    context_settings=COMPONENT_FLAGS,
)
def infer(
    context: typer.Context,
    original: Original,
    release: Annotated[
        Path | None, typer.Option("--release", help=_("A release of the original; left out, --method makes some."))
    ] = None,
    control: Control = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help=_("Which method to study; noren methods lists them and their parameters.")),
    ] = None,
    hold_out: Annotated[
        float, typer.Option("--hold-out", help=_("The share of people who are left out of the data, as controls."))
    ] = 0.2,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help=_("How many times people are held out and the others protected."))
    ] = 5,
    threat: Annotated[
        Literal["membership", "attribute", "all"],
        typer.Option("--threat", help=_("Which inference to try; all is both, as far as the data allow.")),
    ] = "all",
    secret: Annotated[
        str | None,
        typer.Option(
            "--secret", metavar="COLUMN", help=_("The column of a table to guess; the sensitive ones if not said.")
        ),
    ] = None,
    targets: Annotated[
        int, typer.Option("--targets", min=1, help=_("How many members, and controls, are asked about at most."))
    ] = 1000,
    rule: RuleName = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same people and releases."))] = 0,
    as_json: Json = False,
) -> None:
    """Infer membership and attributes."""
    from noren.data.reading import read
    from noren.inference.study import infer as run
    from noren.judgement.rule import rule_named
    from noren.judgement.sentences import inferred_sentences, rule_sentence
    from noren.methods import methods
    from noren.parameters import from_flags

    by = rule_named(rule)
    if method is None and context.args:
        raise ParameterError(
            _("{word!r} was not expected").format(word=context.args[0]), _("noren infer --help lists the flags")
        )
    ready = None if method is None else from_flags(methods[method], context.args)
    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    others = None if control is None else read(control, data.schema).data
    with progress_bar(_("Inferring"), quiet=as_json) as progress:
        study = run(
            data,
            release,
            control=others,
            method=ready,
            hold_out=hold_out,
            seeds=seeds,
            seed=seed,
            targets=targets,
            threats=None if threat == "all" else [threat],
            secret=secret,
            progress=progress,
        )
    told = inferred_sentences(study.inferred, by)
    if as_json:
        show_json(study.as_dict() | {"sentences": told, "rule": by.as_dict()})
        return
    show_inferred(study.inferred)
    for name, reason in study.not_tried.items():
        say(_("{name} was not tried: {reason}").format(name=name, reason=reason))
    for line in told:
        print(line)
    say(rule_sentence(by))


def show_inferred(inferred: Iterable[Inferred]) -> None:
    """Print what inferences got, each number with its interval."""
    threats = {"membership": _("membership"), "attribute": _("attribute")}
    for one in inferred:
        what = f"{threats[one.threat]}, {one.about}" if one.about else threats[one.threat]
        title = _("{what}, by {by}: {members:,} members, {controls:,} controls").format(
            what=what, by=one.by, members=one.members, controls=one.controls
        )
        rows = [(name, f"{said.value:.3f}", f"{said.low:.3f} … {said.high:.3f}") for name, said in one.numbers.items()]
        print(title)
        show_table("", (_("number"), _("value"), "95 %"), rows)
