"""``noren methods``, ``noren attacks``, ``noren measures``: what there is, with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.registry import Registry


Name = Annotated[str | None, typer.Argument(metavar="NAME", help=_("Show this one alone, with its parameters."))]


@app.command(
    "methods",
    help=_("List the methods that protect, or show one with its parameters."),
    epilog=_("Example: noren methods generalize-by-count"),
)
def methods(name: Name = None, as_json: Json = False) -> None:
    """List methods."""
    from noren.methods import methods as registry

    _show(registry, name, as_json=as_json)


@app.command(
    "attacks",
    help=_("List the attacks, or show one with its parameters."),
    epilog=_("Example: noren attacks unique-rows"),
)
def attacks(name: Name = None, as_json: Json = False) -> None:
    """List attacks."""
    from noren.attacks import attacks as registry

    _show(registry, name, as_json=as_json)


@app.command(
    "measures",
    help=_("List the measures, or show one with its parameters."),
    epilog=_("Example: noren measures cell-error"),
)
def measures(name: Name = None, as_json: Json = False) -> None:
    """List measures."""
    from noren.measures import measures as registry

    _show(registry, name, as_json=as_json)


def _show(registry: Registry[Any], name: str | None, *, as_json: bool) -> None:
    from noren.parameters import describe, flags

    picked = [registry[n] for n in registry] if name is None else [registry[name]]
    kind = registry.group.partition(".")[2]
    broken = registry.broken() if name is None else {}
    say(*(_("left out: {what}").format(what=reason) for reason in broken.values()))
    if as_json:
        show_json({kind: [describe(c) for c in picked]} | ({"broken": broken} if broken else {}))
        return
    if name is None:
        rows = [(c.name, _(c.summary), " ".join(f.flag for f in flags(c)), c.source) for c in picked]
        show_table("", (_("name"), _("what it does"), _("parameters"), _("source")), rows)
        return
    print(f"{picked[0].name}: {_(picked[0].summary)}")
    if picked[0].roles:
        print(_("It needs columns with the roles: {roles}.").format(roles=", ".join(picked[0].roles)))
    print(_("It takes {time}.").format(time=picked[0].runtime.words))
    rows = [(f.flag, f.type, _("required") if f.required else str(f.default), f.help) for f in flags(picked[0])]
    if rows:
        show_table("", (_("flag"), _("type"), _("default"), _("meaning")), rows)
