"""``noren contest pause, resume, extend, disqualify, reinstate, rescore, invite``: the organiser's acts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from noren.cli.contest.options import Contest, Server, Token, add_action, client, shown_time
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import show_json, show_table
from noren.contest import acts
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["add_to"]

Reason = Annotated[str, typer.Option("--reason", help=_("Why; everybody reads it in the log."))]


def extend(
    contest: Contest,
    phase: Annotated[str, typer.Argument(metavar="PHASE", help=_("The phase, such as final-protect."))],
    until: Annotated[str, typer.Option("--until", help=_("When it closes, in the contest's time zone."))],
    reason: Reason,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Let a phase close later; what follows it opens as much later."""
    from noren.contest.phases import moment

    fields = ("id", "kind", "round", "opens", "closes", "frozen_from", "title")
    with client(server, token) as asked:
        about = asked.contest(contest)
        zone, phases = about["settings"]["zone"], about["phases"]
        known = {one["id"]: {name: one[name] for name in fields if one.get(name)} for one in phases}
        if phase not in known or "closes" not in known[phase]:
            raise ParameterError(
                _("there is no phase {name!r} that closes").format(name=phase[:40]),
                _("phases are {names}").format(names=", ".join(known)),
            )
        closes = moment(until, zone)
        _push(list(known.values()), known[phase], closes)
        asked.do(acts.reschedule, contest, phases=list(known.values()), reason=reason)
    told = _("{phase} closes {moment} ({zone})").format(phase=phase, moment=shown_time(closes, zone), zone=zone)
    show_json({"contest": contest, "phases": list(known.values())}) if as_json else print(told)


def _push(phases: list[dict[str, Any]], extended: dict[str, Any], closes: str) -> None:
    """Let a phase close at another moment, and move all that opens when it did or later by as much."""
    import datetime as dt

    old = extended["closes"]
    by = dt.datetime.fromisoformat(closes) - dt.datetime.fromisoformat(old)
    for one in phases:
        if one is not extended and one["opens"] >= old:
            for name in ("opens", "closes", "frozen_from"):
                if name in one:
                    one[name] = (dt.datetime.fromisoformat(one[name]) + by).isoformat(timespec="microseconds")
    extended["closes"] = closes


def jobs(
    contest: Contest,
    retry: Annotated[
        str | None, typer.Option("--retry", metavar="JOB", help=_("Let a job that was given up be tried again."))
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show what waits, runs or failed."""
    with client(server, token) as asked:
        if retry is not None:
            asked.retry(contest, retry)
        listed = [one for one in asked.jobs(contest) if one["state"] != "done"]
    if as_json:
        show_json({"jobs": listed})
        return
    rows = [
        (one["id"], one["kind"], one["submission"] or "", one["state"], str(one["attempts"]), one["error"] or "")
        for one in listed
    ]
    show_table("", (_("job"), _("kind"), _("file"), _("state"), _("tries"), _("why")), rows)


def flags(contest: Contest, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Show files of different teams that are nearly the same."""
    with client(server, token) as asked:
        listed = asked.flags(contest)
    if as_json:
        show_json({"flags": listed})
        return
    rows = [(*(str(name) for name in one["teams"]), *one["submissions"], f"{one['share']:.1%}") for one in listed]
    show_table("", (_("team"), _("team"), _("file"), _("file"), _("alike")), rows)


def add_to(app: App) -> None:
    """Add the commands."""
    add_action(app, acts.pause, lambda said, _answer: {"contest": said["contest"], "paused": said["reason"]})
    add_action(app, acts.resume, lambda said, _answer: {"contest": said["contest"], "paused": None})
    app.command(
        "extend",
        help=_("Let a phase close later; what follows it moves with it."),
        epilog=_("Example: noren contest extend cup-2026 final-protect --until '2026-05-01 18:00' --reason storm"),
    )(extend)
    add_action(app, acts.disqualify, lambda said, _answer: {"team": said["team"], "out": said["reason"]})
    add_action(app, acts.reinstate, lambda said, _answer: {"team": said["team"], "out": None})
    add_action(app, acts.rescore, lambda said, _answer: {"scorer": said["scorer"]})
    app.command(
        "jobs",
        help=_("Show what waits for the judge, what is judged now and what failed and why; for the organiser."),
        epilog=_("Example: noren contest jobs cup-2026 --retry k7m2p9x4q3wa"),
    )(jobs)
    app.command(
        "flags",
        help=_("Show files of different teams that are nearly the same; for the organiser."),
        epilog=_("Example: noren contest flags cup-2026"),
    )(flags)
    add_action(app, acts.invite, lambda said, answer: {"contest": said["contest"], "code": answer["code"]})
