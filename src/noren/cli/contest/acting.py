"""``noren contest pause, resume, extend, disqualify, reinstate, rescore, invite``: the organiser's acts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from noren.cli.contest.options import Contest, Server, Token, client, shown_time
from noren.cli.parts.help_pages import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["add_to"]

Reason = Annotated[str, typer.Option("--reason", help=_("Why; everybody reads it in the log."))]
Team = Annotated[str, typer.Argument(metavar="TEAM", help=_("The name or the identifier of a team."))]


def pause(contest: Contest, reason: Reason, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Pause a contest."""
    with client(server, token) as asked:
        asked.pause(contest, reason)
    _done(_("the contest is paused"), as_json=as_json, contest=contest, paused=reason)


def resume(contest: Contest, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Let a contest go on."""
    with client(server, token) as asked:
        asked.resume(contest)
    _done(_("the contest goes on"), as_json=as_json, contest=contest, paused=None)


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
        asked.reschedule(contest, list(known.values()), reason)
    told = _("{phase} closes {moment} ({zone})").format(phase=phase, moment=shown_time(closes, zone), zone=zone)
    _done(told, as_json=as_json, contest=contest, phases=list(known.values()))


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


def disqualify(
    contest: Contest, team: Team, reason: Reason, server: Server = None, token: Token = None, as_json: Json = False
) -> None:
    """Take a team out of the ranking."""
    with client(server, token) as asked:
        found = _team(asked.teams(contest), team)
        asked.disqualify(contest, found["id"], reason)
    _done(_("{name} has no rank any more").format(name=found["name"]), as_json=as_json, team=found["id"], out=reason)


def reinstate(
    contest: Contest, team: Team, reason: Reason, server: Server = None, token: Token = None, as_json: Json = False
) -> None:
    """Let a team back in."""
    with client(server, token) as asked:
        found = _team(asked.teams(contest), team)
        asked.reinstate(contest, found["id"], reason)
    _done(_("{name} is ranked again").format(name=found["name"]), as_json=as_json, team=found["id"], out=None)


def _team(teams: list[dict[str, Any]], given: str) -> dict[str, Any]:
    for one in teams:
        if given in (one["id"], one["name"]):
            return one
    raise ParameterError(
        _("there is no team {name!r}").format(name=given[:60]),
        _("teams are {names}").format(names=", ".join(one["name"] for one in teams[:50])),
    )


def rescore(
    contest: Contest,
    scorer: Annotated[str, typer.Argument(metavar="SCORER", help=_("The scorer that the server has, by its name."))],
    reason: Reason,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Judge everything again."""
    with client(server, token) as asked:
        asked.rescore(contest, scorer, reason)
    _done(_("everything is judged again by {scorer}").format(scorer=scorer), as_json=as_json, scorer=scorer)


def invite(contest: Contest, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Make a code that lets one team in."""
    with client(server, token) as asked:
        code = asked.invite(contest)
    _done(code, as_json=as_json, contest=contest, code=code)


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


def _done(told: str, *, as_json: bool, **about: Any) -> None:
    show_json(about) if as_json else print(told)


def add_to(app: App) -> None:
    """Add the commands."""
    app.command(
        "pause",
        help=_("Let nothing be handed in until the contest is resumed; for its organiser."),
        epilog=_("Example: noren contest pause cup-2026 --reason 'the data are wrong'"),
    )(pause)
    app.command("resume", help=_("Let a paused contest go on."), epilog=_("Example: noren contest resume cup-2026"))(
        resume
    )
    app.command(
        "extend",
        help=_("Let a phase close later; what follows it moves with it."),
        epilog=_("Example: noren contest extend cup-2026 final-protect --until '2026-05-01 18:00' --reason storm"),
    )(extend)
    app.command(
        "disqualify",
        help=_("Take a team out of the ranking, with a reason that everybody reads."),
        epilog=_("Example: noren contest disqualify cup-2026 Fujiwara --reason 'two accounts of one person'"),
    )(disqualify)
    app.command(
        "reinstate",
        help=_("Let a disqualified team back into the ranking."),
        epilog=_("Example: noren contest reinstate cup-2026 Fujiwara --reason 'it was a mistake'"),
    )(reinstate)
    app.command(
        "rescore",
        help=_("Judge everything again by the scorer that is installed now."),
        epilog=_("Example: noren contest rescore cup-2026 noren-scorer-2 --reason 'a fault in E3'"),
    )(rescore)
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
    app.command(
        "invite",
        help=_("Make a code that lets one team into a contest by invitation."),
        epilog=_("Example: noren contest invite cup-2026"),
    )(invite)
