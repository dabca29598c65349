"""What an organiser does: create, pause, extend, score again, invite, disqualify; and what is to be looked at."""

from __future__ import annotations

import contextlib
import datetime as dt
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from noren.api import sample
from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.dependencies import ArenaService, name_broken_rule
from noren.contest.judging import SCORER
from noren.contest.kinds import PhaseKind
from noren.contest.pages.frame import Asker, Person, VisitedByPerson, page, round_words, status_of, to_page
from noren.contest.phases import Phase, get_time_zone, moment, opened_now, planned_phases
from noren.contest.rulebook import PRESETS, Rulebook, read_rulebook
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService, NewContest
from noren.contest.state import Contest, ContestSettings
from noren.data.reading import write
from noren.data.samples.people import sample_people
from noren.data.schema import Kind
from noren.errors import NorenError, ParameterError
from noren.i18n import _, ngettext
from noren.judgement.numbers import count
from noren.tables import table_of
from noren.web.actions import Action
from noren.web.uploads import declared_length, display_name
from noren.work.hash_chain import EntryContent
from noren.work.queue import State

router = APIRouter()

_MOST_JOBS = 50
_LONGEST_URL = 500
_PLAIN: dict[str, Action[..., list[EntryContent]]] = {
    one.name: one
    for one in (actions.pause, actions.resume, actions.rescore, actions.invite, actions.disqualify, actions.reinstate)
}
"""What is done as its form says it."""
_TIMES = ("opens", "closes", "frozen_from")
_ACTS = (*_PLAIN, "hook", "unhook", "open", "phases", "settings", "retry", "clock")


@router.get("/contests/{contest}/organise")
def show_organise(request: Request, visit: VisitedByPerson) -> Response:
    """Show how the contest goes and what may be done."""
    return _organise_page(request, visit)


async def _typed(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.form()).items()}


Fields = Annotated[dict[str, str], Depends(_typed)]


@router.post("/contests/{contest}/organise/{act}")
def organise(request: Request, act: str, visit: VisitedByPerson, form: Fields) -> Response:
    """Do one of the organiser's acts; what cannot be is said on the page, which keeps what was typed."""
    try:
        shown = _done(visit.organised(), act, form)
    except NorenError as error:
        return _organise_page(request, visit, status_of(error), wrong={act: str(error)}, typed=form)
    if shown:
        return _organise_page(request, visit.service.visit(visit.who, visit.contest.id), **shown)
    return to_page(visit.contest, "organise")


def _done(visit: ContestAccess, act: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Do an act; return what is to be shown once, if anything."""
    contest, reason = visit.contest, form.get("reason", "")
    do = partial(visit.service.do, visit.who, contest.id)
    if act in _PLAIN:
        _after, given = do(_PLAIN[act], **_PLAIN[act].of_form(form))
        return {"invitation": given["code"]} if "code" in given else {}
    if act == "hook":
        return {"hook_secret": visit.add_hook(form.get("url", "")[:_LONGEST_URL])[1]}
    if act == "unhook":
        visit.remove_hook(form.get("hook", ""))
    elif act == "open":
        do(actions.reschedule, phases=opened_now(contest.phases, visit.now), reason=reason or _("opened by hand"))
    elif act == "phases":
        do(actions.reschedule, phases=_phases(contest, form), reason=reason)
    elif act == "settings":
        # what the form does not name stays
        said: dict[str, Any] = {
            name: form[name] for name in ("team_size", "registration", "visibility", "counting") if name in form
        }
        if (largest := form.get("largest")) is not None:
            said["largest_file"] = int(float(largest) * 2**20) if largest.replace(".", "", 1).isdigit() else 0
        with name_broken_rule():
            settings = ContestSettings.model_validate(contest.settings.model_dump() | said)
        do(actions.change_settings, settings=settings, reason=reason)
    elif act == "retry":
        visit.retry(form.get("job", ""))
    elif act == "clock":
        visit.service.move_clock(visit.who, moment(form.get("to", ""), contest.settings.zone))
    else:
        raise RefusedError(_("there is no such page"), status=404)
    return {}


def _phases(contest: Contest, form: Mapping[str, str]) -> list[Phase]:
    """Return the phases with the times of a form, which are of the contest's time zone."""
    zone = contest.settings.zone
    made = []
    for phase in contest.phases:
        given = {name: form.get(f"{name}-{phase.id}", "").strip() for name in _TIMES}
        if not given["opens"]:
            raise ParameterError(_("the phase {phase} has no beginning; write one").format(phase=phase.id))
        before = _local_times(phase, zone)
        times = {  # a moment that nobody changed keeps its seconds
            name: None if not text else getattr(phase, name) if before[name] == text else moment(text, zone)
            for name, text in given.items()
        }
        made.append(phase.model_copy(update=times))
    return made


def local_time(moment_: str | None, zone: str) -> str:
    """Return a moment as a field of a form holds it.

    >>> local_time("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026-04-01T09:00'
    """
    if moment_ is None:
        return ""
    return f"{dt.datetime.fromisoformat(moment_).astimezone(get_time_zone(zone)):%Y-%m-%dT%H:%M}"


def _local_times(phase: Phase, zone: str) -> dict[str, str]:
    return {name: local_time(getattr(phase, name), zone) for name in _TIMES}


def _organise_page(request: Request, visit: ContestAccess, status: int = 200, **told: Any) -> Response:
    found, store = visit.organised().contest, visit.arena.store
    jobs = store.jobs.of(found.id)
    active = [one for one in jobs if not one.state.is_over]
    stuck = [one for one in jobs if one.state in (State.FAILED, State.INTERRUPTED) or (one.error and one in active)]
    noticed = [one for one in jobs if one.notice and one not in stuck and one not in active]
    told = {"invitation": "", "hook_secret": "", "typed": {}} | told
    now, zone = visit.now, found.settings.zone
    told["wrong"] = dict.fromkeys(_ACTS, "") | told.get("wrong", {})
    flags = []
    for flag in found.flags:
        both = [found.submissions[one] for one in flag["submissions"]]
        flags.append({"share": flag["share"], "files": both, "teams": [found.teams[one.team] for one in both]})
    fields = [
        (
            phase,
            {name: told["typed"].get(f"{name}-{phase.id}", text) for name, text in _local_times(phase, zone).items()},
        )
        for phase in found.phases
    ]
    teams = []
    for team in found.teams.values():
        kinds = Counter(one.kind for one in found.of_team(team.id))
        refunded = sum(one.refunded is not None for one in found.of_team(team.id))
        teams.append({"team": team, "releases": kinds["release"], "guesses": kinds["guess"], "refunded": refunded})
    title = ngettext(
        "{teams} team, {files} files handed in, {active} with the judge",
        "{teams} teams, {files} files handed in, {active} with the judge",
        len(teams),
    ).format(teams=count(len(teams)), files=count(len(found.submissions)), active=count(len(active)))
    if found.paused is not None:
        title = _("Paused. {said}").format(said=title)
    if stuck:
        title += "; " + ngettext("{count} job is stuck", "{count} jobs are stuck", len(stuck)).format(
            count=count(len(stuck))
        )
    return page(
        request,
        "organise.html.jinja",
        title=title,
        place="organise",
        visit=visit,
        status=status,
        jobs=[*stuck, *[one for one in active if one not in stuck], *noticed[::-1]][:_MOST_JOBS],
        stuck={one.id for one in stuck},
        flags=flags,
        fields=fields,
        installed=SCORER,
        teams=teams,
        hooks=[one for one in store.hooks.of(found.id) if one.disabled is None],
        coming=next((one for one in found.phases if one.opens > now), None),
        clock=local_time(now, zone),
        **told,
    )


_WHOLE = 2 * 2**30
_ROUNDS = {"one": ("final",), "two": ("preliminary", "final")}
_NEW = table_of(__name__)
_USUAL: Mapping[str, str] = _NEW["usual"]
"""What the form of a new contest says before anybody typed."""
_BOOKS: Mapping[str, str] = _NEW["books"]
_LASTING = (
    PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK, PhaseKind.BREAK, PhaseKind.EVALUATION
)  # fmt: skip
"""The kinds of phases for which the form asks how many days they take."""


@dataclass(frozen=True)
class FormInput:
    """What a person typed, with what is usual where nothing was."""

    said: Mapping[str, str]
    files: Mapping[str, UploadFile] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.said.get(name, _USUAL.get(name, "")).strip()

    @property
    def rounds(self) -> tuple[str, ...]:
        """The rounds that are played."""
        return _ROUNDS.get(self["rounds"], _ROUNDS["two"])

    def number(self, name: str, label: str) -> float:
        """Return a number that was typed."""
        try:
            return float(self[name])
        except ValueError:
            raise ParameterError(
                _("{label}: {text!r} is no number; write one like 7").format(label=label, text=self[name][:20])
            ) from None

    def book(self) -> tuple[str, dict[str, Any]]:
        """Return the rulebook and what is changed of it."""
        if self["toml"]:
            return self["toml"] + "\n", {}
        name = self["book"] if self["book"] in PRESETS else "pwscup2018"
        changes = {"pwscup2018": {"bound": self["bound"]}, "pwscup2017": {"risk": self["risk"]}}
        made: dict[str, Any] = {key: value for key, value in changes.get(name, {}).items() if value}
        usual = read_rulebook(name).quota.model_dump()
        quota = {key: int(self.number(key, key)) for key in usual if self[key]}
        return name, made | ({"quota": usual | quota} if quota else {})

    def times(self, phase: Phase) -> dict[str, str]:
        """Return the times of a phase as they were typed; none where the form has no times."""
        has_times = any(name.startswith("opens-") for name in self.said)
        return {name: self[f"{name}-{phase.id}"] for name in _TIMES} if has_times else {}

    def planned(self) -> list[Phase]:
        """Return the phases that a beginning and lengths make."""
        zone = get_time_zone(self["zone"])
        start = self["start"] or f"{dt.datetime.now(zone) + dt.timedelta(hours=1):%Y-%m-%dT%H:00}"
        days = [max(0.0, min(self.number(f"days_{kind}", kind.words), 3650.0)) for kind in _LASTING]
        return planned_phases(moment(start, self["zone"]), days, self.rounds)

    def contest(self) -> NewContest:
        """Return the contest that is asked for, with the phases of the form, or as planned where it has none."""
        rulebook, changes = self.book()
        with name_broken_rule():
            settings = ContestSettings(
                zone=self["zone"],
                team_size=int(self.number("team_size", _("Team size"))),
                registration=self["registration"],
                visibility=self["visibility"],
                counting=self["counting"],
                largest_file=int(self.number("largest", _("Largest file")) * 2**20),
            )
            phases = []
            for phase in self.planned():
                typed = self.times(phase)
                times = {name: moment(at, settings.zone) if at else None for name, at in typed.items()}
                if not typed or times["opens"]:  # without a beginning it is left out
                    phases.append(phase.model_copy(update=times))
            about = {"id": self["id"], "title": self["title"], "rulebook": rulebook, "changes": changes}
            return NewContest(**about, settings=settings, phases=phases)


@router.get("/new")
def show_new(request: Request, who: Person) -> Response:
    """Ask for all that a contest needs; everything has a sensible beginning."""
    return _new_page(request, who, FormInput({}))


@router.post("/new")
def plan(request: Request, who: Asker, form: Fields) -> Response:
    """Plan the phases anew from a beginning and lengths; what else was typed is kept."""
    times = tuple(f"{name}-" for name in _TIMES)
    return _new_page(request, who, FormInput({name: text for name, text in form.items() if not name.startswith(times)}))


@router.post("/contests")
async def create(request: Request, who: Person, service: ArenaService) -> Response:
    """Create a contest; what cannot be is said above the form, which keeps what was typed."""
    await run_in_threadpool(service.may_create, who)  # before anything is read
    is_files = request.headers.get("content-type", "").startswith("multipart/")
    if is_files and not 0 < declared_length(request) <= _WHOLE:
        raise RefusedError(_("the files are larger than this server takes; send less"), status=413)
    async with request.form(max_fields=300, max_part_size=2**20) as form:
        said = {name: value for name, value in form.items() if isinstance(value, str)}
        files = {
            name.removeprefix("file-"): value
            for name, value in form.items()
            if isinstance(value, UploadFile) and value.filename
        }
        return await run_in_threadpool(_created, request, who, service, FormInput(said, files))


def _created(request: Request, who: ArenaIdentity, service: ContestService, typed: FormInput) -> Response:
    try:
        asked = typed.contest()
        with _data(typed, read_rulebook(asked.rulebook, **asked.changes)) as data:
            made = service.create(who, asked, data)
    except NorenError as error:
        return _new_page(request, who, typed, str(error), status_of(error))
    return to_page(made, "organise")


# --- data ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _data(typed: FormInput, book: Rulebook) -> Iterator[dict[str, tuple[str, BinaryIO]]]:
    """Yield a name and a file for each round: what was sent, or made-up data."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data: dict[str, tuple[str, BinaryIO]] = {}
        for place, name in enumerate(typed.rounds):
            sent = typed.files.get(name)
            if typed["data"] == "files":
                if sent is None:
                    raise ParameterError(
                        _("the {round} has no data; choose a file, or made-up data").format(round=round_words(name)),
                    )
                data[name] = display_name(sent.filename or name), sent.file
                continue
            seed = int(typed.number("seed", _("Seed"))) + place  # each round has other made-up data
            rows, customers = int(typed.number("rows", _("Rows"))), int(typed.number("customers", _("Customers")))
            if not (1 <= rows <= 1_000_000 and 2 <= customers <= 100_000 and 0 <= seed < 2**31):
                raise ParameterError(
                    _("made-up data have up to 1,000,000 rows of 2 to 100,000 customers; choose other numbers")
                )
            path = folder / f"{name}.csv"
            if book.kind == Kind.TABLE:
                write(sample_people(rows=rows, seed=seed), path)
            else:
                items = max(20, min(2_800, rows // 10))
                schema = book.data_schema if book.data_schema and "\n" not in book.data_schema else "sample"
                write(sample(customers=customers, rows=rows, items=items, seed=seed, schema=schema), path)
            data[name] = path.name, stack.enter_context(path.open("rb"))
        yield data


# --- the page --------------------------------------------------------------------------------------------------------


def _new_page(request: Request, who: ArenaIdentity, typed: FormInput, wrong: str = "", status: int = 200) -> Response:
    if who.account is None or not who.account.is_organiser:
        raise RefusedError(_("only organisers create contests; ask who runs this server"), status=403)
    try:
        times = [(phase, typed.times(phase) or _local_times(phase, typed["zone"])) for phase in typed.planned()]
    except NorenError as error:
        wrong, status, times = wrong or str(error), 422, []
    example = ""  # the rulebook that is chosen, to begin one's own with
    with contextlib.suppress(NorenError):
        name, changes = typed.book()
        example = read_rulebook(name, **changes).to_toml()
    return page(
        request,
        "new.html.jinja",
        title=_("A new contest: a rulebook, data, and times"),
        place="contests",
        status=status,
        typed={name: typed[name] for name in _USUAL},
        wrong=wrong,
        books=[(name, _(_BOOKS[name])) for name in PRESETS],
        zones=[(zone, zone) for zone in dict.fromkeys((typed["zone"], *_NEW["zones"])) if zone],
        times=times,
        played=typed.rounds,
        example=example,
    )
