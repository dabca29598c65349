"""Pages of organisers: creating and managing contests."""

from __future__ import annotations

import contextlib
import datetime as dt
import tempfile
import zoneinfo
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from noren.api import sample
from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.dependencies import ArenaService, explain_invalid_input
from noren.contest.judging import SCORER
from noren.contest.kinds import PhaseKind
from noren.contest.pages.frame import (
    Fields,
    PageIdentity,
    Person,
    VisitedByPerson,
    current_phase,
    local_time,
    page,
    to_page,
)
from noren.contest.phases import PRACTICE, Phase, get_time_zone, moment, open_next_phase, planned_phases, round_label
from noren.contest.rulebook import PRESETS, Rulebook, read_rulebook
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService, NewContest, organisers_only
from noren.contest.state import Contest, ContestSettings
from noren.data.reading import write
from noren.data.samples.people import sample_people
from noren.data.schema import Kind
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.judgement.numbers import count
from noren.tables import Texts, table_of
from noren.web.errors import status_of
from noren.web.uploads import declared_length, display_name
from noren.work.queue import State

say = Texts("noren.contest.pages.messages")

router = APIRouter()

_MOST_JOBS = 50
_LONGEST_URL = 500
_PLAIN = {act.name: act for act in actions.ORGANISING if act.names is dict}
"""Actions whose form has exactly their parameters."""
_TIMES = ("opens", "closes", "frozen_from")
_ACTS = (*_PLAIN, "hook", "unhook", "open", "phases", "settings", "retry", "clock")


@router.get("/contests/{contest}/organise")
def show_organise(request: Request, visit: VisitedByPerson) -> Response:
    """Show the state of the contest and the actions of organisers."""
    return _organise_page(request, visit)


@router.post("/contests/{contest}/organise/{act}")
def organise(request: Request, act: str, visit: VisitedByPerson, form: Fields) -> Response:
    """Do an action of the organiser; show an error on the page, which keeps its input."""
    try:
        once = _done(visit.require_organiser(), act, form)
    except NorenError as error:
        return _organise_page(request, visit, status_of(error), wrong={act: str(error)}, typed=form)
    if once:
        return _organise_page(request, visit.service.visit(visit.who, visit.contest.id), **once)
    return to_page(visit.contest, "organise")


def _done(visit: ContestAccess, act: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Do an action; return what is shown only once."""
    contest, reason = visit.contest, form.get("reason", "")
    do = partial(visit.service.do, visit.who, contest.id)
    if act in _PLAIN:
        _after, generated = do(_PLAIN[act], **_PLAIN[act].of_form(form))
        return {"code": generated["code"], "act": act} if "code" in generated else {}
    if act == "hook":
        return {"hook_secret": visit.add_hook(form.get("url", "")[:_LONGEST_URL])[1]}
    if act == "unhook":
        visit.remove_hook(form.get("hook", ""))
    elif act == "open":
        do(actions.reschedule, phases=open_next_phase(contest.phases, visit.now), reason=reason or _("opened by hand"))
    elif act == "phases":
        do(actions.reschedule, phases=_phases(contest, form), reason=reason)
    elif act == "settings":
        # what the form does not name stays
        changes: dict[str, Any] = {
            name: form[name] or None
            for name in ("team_size", "most_teams", "registration", "visibility", "counting")
            if name in form
        }
        if (largest := form.get("largest")) is not None:
            changes["largest_file"] = int(float(largest) * 2**20) if largest.replace(".", "", 1).isdigit() else 0
        with explain_invalid_input():
            settings = ContestSettings.model_validate(contest.settings.model_dump() | changes)
        do(actions.change_settings, settings=settings, reason=reason)
    elif act == "retry":
        visit.retry(form.get("job", ""))
    elif act == "clock":
        visit.service.move_clock(visit.who, moment(form.get("to", ""), contest.settings.zone))
    else:
        raise actions.not_found(act)
    return {}


def _phases(contest: Contest, form: Mapping[str, str]) -> list[Phase]:
    """Return the phases with the times of a form, which are of the contest's time zone."""
    zone = contest.settings.zone
    made = []
    for phase in contest.phases:
        typed = {name: form.get(f"{name}-{phase.id}", "").strip() for name in _TIMES}
        if not typed["opens"]:
            raise ParameterError(_("the phase {phase} has no start; enter one").format(phase=phase.id))
        before = _local_times(phase, zone)
        times = {  # a moment that nobody changed keeps its seconds
            name: None if not text else getattr(phase, name) if before[name] == text else moment(text, zone)
            for name, text in typed.items()
        }
        made.append(phase.model_copy(update=times))
    return made


def _local_times(phase: Phase, zone: str) -> dict[str, str]:
    return {name: local_time(getattr(phase, name), zone) for name in _TIMES}


def _organise_page(request: Request, visit: ContestAccess, status: int = 200, **context: Any) -> Response:
    contest, store = visit.require_organiser().contest, visit.arena.store
    jobs = store.jobs.of(contest.id)
    active = [job for job in jobs if not job.state.is_over]
    stuck = [job for job in jobs if job.state in (State.FAILED, State.INTERRUPTED) or (job.error and job in active)]
    noticed = [job for job in jobs if job.notice and job not in stuck and job not in active]
    context = {"code": "", "act": "", "hook_secret": "", "typed": {}} | context
    now, zone = visit.now, contest.settings.zone
    context["wrong"] = dict.fromkeys(_ACTS, "") | context.get("wrong", {})
    fields = []
    for phase in contest.phases:
        times = _local_times(phase, zone)
        fields.append((phase, {name: context["typed"].get(f"{name}-{phase.id}", times[name]) for name in times}))
    teams = []
    for team in contest.teams.values():
        kinds = Counter(file.kind for file in contest.of_team(team.id))
        refunded = sum(file.refunded is not None for file in contest.of_team(team.id))
        teams.append({"team": team, "releases": kinds["release"], "guesses": kinds["guess"], "refunded": refunded})
    counts = {"teams": len(teams), "files": len(contest.submissions), "active": len(active), "stuck": len(stuck)}
    title = _("Teams: {teams}, submissions: {files}, waiting: {active}, stuck: {stuck}")
    title = title.format(**{name: count(number) for name, number in counts.items()})
    if contest.paused is not None:
        title = f"{current_phase(contest, now)}; {title}"
    return page(
        request,
        "organise.html.jinja",
        title=title,
        place="organise",
        visit=visit,
        status=status,
        jobs=[*stuck, *[job for job in active if job not in stuck], *noticed[::-1]][:_MOST_JOBS],
        stuck={job.id for job in stuck},
        flags=[(flag["share"], [contest.submissions[name] for name in flag["submissions"]]) for flag in contest.flags],
        fields=fields,
        installed=SCORER,
        teams=teams,
        hooks=[hook for hook in store.hooks.of(contest.id) if hook.disabled is None],
        coming=next((phase for phase in contest.phases if phase.opens > now), None),
        clock=local_time(now, zone),
        **context,
    )


_WHOLE = 2 * 2**30
_ROUNDS = {"one": ("final",), "two": ("preliminary", "final")}
_NEW = table_of(__name__)
_USUAL: Mapping[str, str] = _NEW["usual"]
"""Default values of the form of a new contest."""
_BOOKS: Mapping[str, str] = _NEW["books"]
_LASTING = (
    PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK, PhaseKind.BREAK, PhaseKind.EVALUATION
)  # fmt: skip
"""The kinds of phases for which the form asks how many days they take."""


@dataclass(frozen=True)
class FormInput:
    """The fields of the form of a new contest, with defaults for empty ones."""

    texts: Mapping[str, str]
    files: Mapping[str, UploadFile] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.texts.get(name, _USUAL.get(name, "")).strip()

    @property
    def rounds(self) -> tuple[str, ...]:
        """The rounds that are played."""
        return (*_ROUNDS.get(self["rounds"], _ROUNDS["two"]), *([PRACTICE] if self["practice"] else []))

    def number(self, name: str, label: str) -> float:
        """Return a number that was typed."""
        try:
            return float(self[name])
        except ValueError:
            raise ParameterError(say("no_number", label=label, text=self[name][:20])) from None

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
        has_times = any(name.startswith("opens-") for name in self.texts)
        return {name: self[f"{name}-{phase.id}"] for name in _TIMES} if has_times else {}

    def planned(self) -> list[Phase]:
        """Return the phases that a beginning and lengths make."""
        zone = get_time_zone(self["zone"])
        start = self["start"] or f"{dt.datetime.now(zone) + dt.timedelta(hours=1):%Y-%m-%dT%H:00}"
        days = [max(0.0, min(self.number(f"days_{kind}", kind.label), 3650.0)) for kind in _LASTING]
        return planned_phases(moment(start, self["zone"]), days, self.rounds)

    def contest(self) -> NewContest:
        """Return the contest that is asked for, with the phases of the form, or as planned where it has none."""
        rulebook, changes = self.book()
        with explain_invalid_input():
            settings = ContestSettings(
                zone=self["zone"],
                team_size=int(self.number("team_size", _("Largest team"))),
                most_teams=int(self.number("most_teams", _("Most teams"))) if self["most_teams"] else None,
                registration=self["registration"],
                visibility=self["visibility"],
                counting=self["counting"],
                largest_file=int(self.number("largest", _("Largest file (MiB)")) * 2**20),
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
    """Show the form of a new contest with its defaults."""
    return _new_page(request, who, FormInput({}))


@router.post("/new")
def plan(request: Request, who: PageIdentity, form: Fields) -> Response:
    """Update the schedule from the start and the lengths; keep the other input."""
    times = tuple(f"{name}-" for name in _TIMES)
    return _new_page(request, who, FormInput({name: text for name, text in form.items() if not name.startswith(times)}))


@router.post("/contests")
async def create(request: Request, who: Person, service: ArenaService) -> Response:
    """Create a contest; show an error above the form, which keeps its input."""
    await run_in_threadpool(service.may_create, who)  # before anything is read
    is_files = request.headers.get("content-type", "").startswith("multipart/")
    if is_files and not 0 < declared_length(request) <= _WHOLE:
        raise RefusedError(actions.too_large(_WHOLE), status=413)
    async with request.form(max_fields=300, max_part_size=2**20) as form:
        texts = {name: value for name, value in form.items() if isinstance(value, str)}
        files = {
            name.removeprefix("file-"): value
            for name, value in form.items()
            if isinstance(value, UploadFile) and value.filename
        }
        return await run_in_threadpool(_created, request, who, service, FormInput(texts, files))


def _created(request: Request, who: ArenaIdentity, service: ContestService, typed: FormInput) -> Response:
    try:
        new = typed.contest()
        with _data(typed, new.book()) as data:
            made = service.create(who, new, data)
    except NorenError as error:
        return _new_page(request, who, typed, str(error), status_of(error))
    return to_page(made, "organise")


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
                    raise ParameterError(say("no_data", round=round_label(name)))
                data[name] = display_name(sent.filename or name), sent.file
                continue
            seed = int(typed.number("seed", _("Seed"))) + place  # each round has other made-up data
            rows, customers = int(typed.number("rows", _("Rows"))), int(typed.number("customers", _("Customers")))
            if not (1 <= rows <= 1_000_000 and 2 <= customers <= 100_000 and 0 <= seed < 2**31):
                raise ParameterError(say("synthetic_sizes"))
            path = folder / f"{name}.csv"
            if book.kind == Kind.TABLE:
                write(sample_people(rows=rows, seed=seed), path)
            else:
                items = max(20, min(2_800, rows // 10))
                schema = book.data_schema if book.data_schema and "\n" not in book.data_schema else "sample"
                write(sample(customers=customers, rows=rows, items=items, seed=seed, schema=schema), path)
            data[name] = path.name, stack.enter_context(path.open("rb"))
        yield data


def _new_page(request: Request, who: ArenaIdentity, typed: FormInput, wrong: str = "", status: int = 200) -> Response:
    if who.account is None or not who.account.is_organiser:
        raise organisers_only()
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
        title=_("New contest"),
        place="contests",
        status=status,
        typed={name: typed[name] for name in _USUAL},
        wrong=wrong,
        books=[(name, _(_BOOKS[name])) for name in PRESETS],
        zones=sorted(zoneinfo.available_timezones()),
        times=times,
        played=typed.rounds,
        lengths=[(f"days_{kind}", kind.label, typed[f"days_{kind}"]) for kind in _LASTING],
        example=example,
    )
