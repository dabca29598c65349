"""The table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from noren.cli import attack as attack_command
from noren.cli import categorize as categorize_command
from noren.cli import chart as chart_command
from noren.cli import check, components, convert, datasets, measure, protect, publish, sample, schema, threshold
from noren.cli import contest as contest_command
from noren.cli import correlate as correlate_command
from noren.cli import demo as demo_command
from noren.cli import digest as digest_command
from noren.cli import draw as draw_command
from noren.cli import explore as explore_command
from noren.cli import hierarchy as hierarchy_command
from noren.cli import identifiers as identifiers_command
from noren.cli import infer as infer_command
from noren.cli import judge as judge_command
from noren.cli import ledger as ledger_command
from noren.cli import papers as papers_command
from noren.cli import plan as plan_command
from noren.cli import population as population_command
from noren.cli import reconstruct as reconstruct_command
from noren.cli import report as report_command
from noren.cli import reproduce as reproduce_command
from noren.cli import studio as studio_command
from noren.cli import unicity as unicity_command
from noren.cli.parts.help_pages import App, speak
from noren.i18n import _

__all__ = ["app"]

speak()

PARAMETERS = {"allow_extra_args": True, "ignore_unknown_options": True}

app = App(
    name="noren",
    help=_("Protect purchase histories and personal tables, attack what was protected, and measure both."),
    epilog=_("Start with: noren demo --out demo/"),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from noren.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help=_("Show the version and leave."), callback=_version, is_eager=True)
    ] = False,
    lang: Annotated[
        str, typer.Option("--lang", metavar="en|ja", help=_("The language of messages: English or Japanese."))
    ] = "",
    debug: Annotated[bool, typer.Option("--debug", help=_("Show the whole traceback of an error."))] = False,
) -> None:
    """Hold the flags that stand before a command; --lang and --debug are read earlier, wherever they stand."""


app.command("protect", help=protect.HELP, epilog=protect.EXAMPLE, context_settings=PARAMETERS)(protect.protect)
app.command("attack", help=attack_command.HELP, epilog=attack_command.EXAMPLE, context_settings=PARAMETERS)(
    attack_command.attack
)
app.command("measure", help=measure.HELP, epilog=measure.EXAMPLE, context_settings=PARAMETERS)(measure.measure)
app.command("judge", help=judge_command.HELP, epilog=judge_command.EXAMPLE, context_settings=PARAMETERS)(
    judge_command.judge
)
app.command("infer", help=infer_command.HELP, epilog=infer_command.EXAMPLE, context_settings=PARAMETERS)(
    infer_command.infer
)
app.command("explore", help=explore_command.HELP, epilog=explore_command.EXAMPLE, context_settings=PARAMETERS)(
    explore_command.explore
)
app.command("report", help=report_command.HELP, epilog=report_command.EXAMPLE)(report_command.report)
app.command("correlate", help=correlate_command.HELP, epilog=correlate_command.EXAMPLE)(correlate_command.correlate)
app.command("unicity", help=unicity_command.HELP, epilog=unicity_command.EXAMPLE)(unicity_command.unicity)
app.command("draw", help=draw_command.HELP, epilog=draw_command.EXAMPLE)(draw_command.draw)
app.command("categorize", help=categorize_command.HELP, epilog=categorize_command.EXAMPLE)(
    categorize_command.categorize
)
app.command("check", help=check.HELP, epilog=check.EXAMPLE)(check.check)
app.command("digest", help=digest_command.HELP, epilog=digest_command.EXAMPLE)(digest_command.digest)
app.command("papers", help=papers_command.HELP, epilog=papers_command.EXAMPLE)(papers_command.papers)
app.command("publish", help=publish.HELP, epilog=publish.EXAMPLE)(publish.publish)
app.command("sample", help=sample.HELP, epilog=sample.EXAMPLE)(sample.sample)
app.command("convert", help=convert.HELP, epilog=convert.EXAMPLE)(convert.convert)
app.add_typer(hierarchy_command.app, name="hierarchy", help=hierarchy_command.HELP)
app.add_typer(plan_command.app, name="plan", help=plan_command.HELP)
app.command("identifiers", help=identifiers_command.HELP, epilog=identifiers_command.EXAMPLE)(
    identifiers_command.identifiers
)
app.command("population", help=population_command.HELP, epilog=population_command.EXAMPLE)(
    population_command.population
)
app.command("reconstruct", help=reconstruct_command.HELP, epilog=reconstruct_command.EXAMPLE)(
    reconstruct_command.reconstruct
)
app.command("reproduce", help=reproduce_command.HELP, epilog=reproduce_command.EXAMPLE)(reproduce_command.reproduce)
app.command("threshold", help=threshold.HELP, epilog=threshold.EXAMPLE)(threshold.threshold)
app.add_typer(chart_command.app, name="chart", help=chart_command.HELP)
app.add_typer(ledger_command.app, name="ledger", help=ledger_command.HELP)
app.add_typer(contest_command.app, name="contest", help=contest_command.HELP)
app.add_typer(schema.app, name="schema", help=schema.HELP)
app.add_typer(datasets.app, name="datasets", help=datasets.HELP)
app.command("methods", help=components.METHODS_HELP, epilog=components.METHODS_EXAMPLE)(components.methods)
app.command("attacks", help=components.ATTACKS_HELP, epilog=components.ATTACKS_EXAMPLE)(components.attacks)
app.command("measures", help=components.MEASURES_HELP, epilog=components.MEASURES_EXAMPLE)(components.measures)
app.add_typer(studio_command.app, name="studio", help=studio_command.HELP)
app.command("demo", help=demo_command.HELP, epilog=demo_command.EXAMPLE)(demo_command.demo)
