"""The contest service, with access control for visitors, members of teams and organisers.

Every method knows who asks: files of another team are not found (404), actions of organisers are forbidden to others
(403). So pages, the REST interface and commands cannot forget a check.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Self

from pydantic import Field

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.archive import export
from noren.contest.arena import Arena, JobRequest
from noren.contest.background import check_address
from noren.contest.judging import SCORER, VERSIONS
from noren.contest.judging.prepared import original_of
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.phases import PRACTICE, Phase, check_phases, get_time_zone, moment
from noren.contest.receipts import SALT_BYTES, Receipt, commitment
from noren.contest.results import Results, results_of
from noren.contest.rulebook import Rulebook, read_rulebook
from noren.contest.schemas import StrictModel, SubmissionOut
from noren.contest.standings import Board, board
from noren.contest.state import Contest, ContestSettings, Submission, Target, Team
from noren.contest.store.database import ArenaAccount
from noren.contest.store.encryption import Hook
from noren.contest.store.files import FRAME
from noren.data.frames import History
from noren.errors import InputError, ParameterError, ValueInCellError
from noren.i18n import _
from noren.tables import Texts
from noren.web.actions import Action
from noren.work.hash_chain import EntryContent, LogEntry, digest_of, next_entry
from noren.work.queue import new_id

say = Texts(__name__)
FARTHEST = 50 * 366 * 86_400
"""Largest move of the clock of a rehearsal, in seconds."""
_MOST_HOOKS = 10
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,38}[a-z0-9]")


@dataclass(frozen=True)
class ArenaIdentity:
    """Who asks: an account or a visitor; a token can have fewer scopes than its account."""

    account: ArenaAccount | None = None
    scopes: frozenset[str] = frozenset({"team", "organiser"})

    @property
    def id(self) -> str:
        """The account; empty for a visitor."""
        return "" if self.account is None else self.account.id

    def require_account(self) -> ArenaAccount:
        """Return the account that is logged in."""
        if self.account is None:
            raise RefusedError(_("you are not logged in; log in first"), status=401)
        return self.account

    def require_player(self) -> str:
        """Return the account if it may act for a team."""
        account = self.require_account()
        if "team" not in self.scopes:
            raise missing_scope("team")
        return account.id


NOBODY = ArenaIdentity()


def missing_scope(*scopes: str) -> RefusedError:
    """Return the refusal of a token that allows less than a request needs."""
    return RefusedError(say("scope", scopes=", ".join(scopes)), status=403)


def organisers_only() -> RefusedError:
    """Return the refusal of something that only organisers can do."""
    return RefusedError(_("only organisers can do this; ask them"), status=403)


class NewContest(StrictModel):
    """The description of a new contest, without the data of its rounds."""

    id: str
    title: str = Field(min_length=1, max_length=200)
    rulebook: str = Field(max_length=2**18)
    """The name of a preset, or the text of a rulebook."""
    changes: dict[str, Any] = Field(default={})
    """Changes to a preset: bound, p, alpha, risk, or any field."""
    settings: ContestSettings = ContestSettings()
    phases: list[Phase]

    def book(self) -> Rulebook:
        """Return the rulebook; new contests by the rules of 2018 have the sharp bound unless ``changes`` name another.

        Under the paper's bound, teams that release pairs win largely by chance. A rulebook as text stays as it is.
        """
        usual = {"bound": "sharp"} if self.rulebook == "pwscup2018" else {}
        return read_rulebook(self.rulebook, **usual | self.changes)


class ContestService:
    """The service behind pages, the REST interface and commands."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.making, self.writing = threading.Lock(), threading.Lock()

    def visits(self, who: ArenaIdentity) -> list[ContestAccess]:
        """Return the visible contests."""
        states = (self.arena.state(name) for name in self.arena.store.contests())
        return [visit for state in states if state is not None and (visit := ContestAccess(self, who, state)).may_see]

    def visit(self, who: ArenaIdentity, contest: str) -> ContestAccess:
        """Return a visible contest."""
        state = self.arena.state(contest) if _SLUG.fullmatch(contest) else None
        if state is None or not (visit := ContestAccess(self, who, state)).may_see:
            raise actions.not_found(contest)
        return visit

    def may_create(self, who: ArenaIdentity) -> str:
        """Return the account if it may create contests."""
        account = who.require_account()
        if not account.is_organiser or "organiser" not in who.scopes:
            raise organisers_only()
        return account.id

    def create(self, who: ArenaIdentity, new: NewContest, data: Mapping[str, tuple[str, BinaryIO]]) -> Contest:
        """Create a contest; ``data`` are a name and a file for each round."""
        account = self.may_create(who)
        if not _SLUG.fullmatch(new.id):
            raise RefusedError(say("no_address", name=new.id[:40]), status=422)
        if self.arena.state(new.id) is not None:
            raise RefusedError(_("the name {name} is taken; choose another name").format(name=new.id))
        get_time_zone(new.settings.zone)
        if not data:
            raise ParameterError(_("a contest needs data; give a file per round"))
        check_phases(new.phases, list(data))
        book = new.book()
        rounds: dict[str, dict[str, Any]] = {}
        for name, (file_name, content) in data.items():
            stored = self.arena.files.put(iter(partial(content.read, FRAME), b""), sealed=False)
            with self.arena.files.path(stored.digest, suffix="".join(Path(file_name).suffixes[-2:])) as path:
                try:
                    records = original_of(book, path)
                except InputError as error:
                    if error.file is None:
                        raise
                    raise ValueInCellError.of(error.problems, file_name) from None  # a person's file, not ours
            if not book.data_schema:  # where the rulebook names no format, that of the first is guessed for all
                book = book.model_copy(update={"data_schema": records.schema.to_toml()})
            people = len(records.customers) if isinstance(records, History) else len(records)
            known = {"data": stored.digest, "name": Path(file_name).name[:100]}
            rounds[name] = known | {"rows": len(records), "people": people}
        salt = secrets.token_bytes(SALT_BYTES)
        body = {
            "contest": new.id,
            "organiser": who.require_account().name,
            "title": " ".join(new.title.split()),
            "rulebook": book.to_toml(),
            "rulebook_digest": book.digest,
            "settings": new.settings.model_dump(mode="json"),
            "rounds": rounds,
            "phases": [phase.as_dict() for phase in new.phases],
            "commitment": commitment(salt),
            "public_key": self.arena.signing.public,
            "scorer": SCORER,
            "versions": dict(VERSIONS),
            "rehearsal": self.arena.rehearsal,
        }
        entry = next_entry(None, self.arena.now(), EntryContent("created", f"organiser:{account}", body))
        self.arena.store.create(new.id, [entry], secrets={"salt": salt})
        made = self.arena.state(new.id)
        if made is None:
            raise actions.not_found(new.id)
        return made

    def do(
        self, who: ArenaIdentity, contest: str, act: Action[..., list[EntryContent]], **inputs: Any
    ) -> tuple[ContestAccess, Mapping[str, str]]:
        """Do an action (:mod:`noren.contest.actions`) if the role of the account allows it.

        Further parameters of its signature (account, new codes and identifiers) are generated here and returned beside
        the contest after the action.
        """
        if act.role == "newcomer":
            who.require_account()
            state_ = self.arena.state(contest) if _SLUG.fullmatch(contest) else None
            code = actions.code_digest(inputs.get("code") or inputs.get("invitation") or "")
            codes = {team.code for team in state_.teams.values()} | state_.invitations if state_ else set[str]()
            if state_ is None or not actions.is_among(code, codes):  # a code lets its holder see the contest
                state_ = self.visit(who, contest).contest
            who.require_player()
        else:
            visit = self.visit(who, contest)
            if act.role == "organiser":
                visit.require_organiser()
            elif act.role == "member":
                visit.team()
            else:
                who.require_player()
            state_ = visit.contest
        known = {"account": who.id, "member": who.account.name if who.account else "", "installed": SCORER}
        known |= {"code": new_id(), "team": new_id()}
        person = None
        if "person" in act.parameters:
            if (person := self.arena.store.accounts.by_login(inputs["login"])) is None:
                raise actions.not_found(inputs["login"])
            known |= {"person": person.id, "name": person.name}
        generated = {name: text for name, text in known.items() if name in act.parameters and name not in act.inputs}
        if act is actions.reset_password and person:  # not of an account that other organisers rely on
            states = [self.arena.state(name) for name in self.arena.store.contests()]
            involved = [state for state in states if state and person.id in {*state.team_of, *state.organisers}]
            if person.is_organiser or any(who.id not in state.organisers for state in involved):
                raise RefusedError(say("plays_elsewhere"), status=403)

        state = self.arena.change(
            state_.id,
            lambda state, now: act(state, now, **generated, **inputs),
            lambda state, _made: (
                [JobRequest(file.kind, file.id) for file in state.unjudged()] if act is actions.rescore else []
            ),
        )
        if act is actions.reset_password and person:
            self.arena.store.accounts.change_password(person, generated["code"], once=True)
        return ContestAccess(self, who, state), generated

    def move_clock(self, who: ArenaIdentity, to: str | None, forward: float | None = None) -> str:
        """Move the clock of a rehearsal to a moment or by seconds, for all contests of the server; return the time."""
        self.may_create(who)
        clock = self.arena.store.clock
        if not clock.is_rehearsal:
            raise RefusedError(_("the clock can be moved only in a rehearsal; start the server with --rehearsal"))
        if (to is None) == (forward is None):
            raise ParameterError(say("clock"))
        now = clock.now()
        until = now + dt.timedelta(seconds=forward or 0.0) if to is None else dt.datetime.fromisoformat(moment(to))
        if not now <= until <= now + dt.timedelta(seconds=FARTHEST):
            raise ParameterError(say("clock"))
        clock.move_to(until)
        return self.arena.now()


@dataclass(frozen=True)
class ContestAccess:
    """A contest as one account may see and change it."""

    service: ContestService
    who: ArenaIdentity
    contest: Contest

    @property
    def arena(self) -> Arena:
        """The arena of the contest."""
        return self.service.arena

    @cached_property
    def role(self) -> ContestRole:
        """The role of the account in the contest."""
        if self.who.account is None:
            return ContestRole.VISITOR
        if "organiser" in self.who.scopes and self.who.id in self.contest.organisers:
            return ContestRole.ORGANISER
        return ContestRole.MEMBER if self.who.id in self.contest.team_of else ContestRole.VISITOR

    @property
    def may_see(self) -> bool:
        """Whether the contest is visible: with open registration, to all accounts."""
        settings, has_account = self.contest.settings, self.who.account is not None
        is_open = settings.visibility == "public" or (has_account and settings.registration == "open")
        return is_open or self.role != ContestRole.VISITOR

    @cached_property
    def now(self) -> str:
        """The time of the request."""
        return self.arena.now()

    @cached_property
    def has_all(self) -> bool:
        """Whether everything is visible: to organisers, and to all once the results are published."""
        return self.role == ContestRole.ORGANISER or self.contest.has_results(self.now)

    @property
    def own(self) -> Team | None:
        """The team of the account, if it has one."""
        return self.contest.teams.get(self.contest.team_of.get(self.who.id, ""))

    def own_team(self) -> Team:
        """Return the team of the account, for reading."""
        if self.who.account is not None and not self.who.scopes & {"read", "team"}:
            raise missing_scope("team")
        return actions.team_of(self.contest, self.who.require_account().id)

    def team(self) -> Team:
        """Return the team of the account, for changes."""
        return actions.team_of(self.contest, self.who.require_player())

    # --- what organisers do --------------------------------------------------------------------------------------

    def require_organiser(self) -> Self:
        """Return this access if it is an organiser's; refuse others."""
        if self.role != ContestRole.ORGANISER:
            raise organisers_only()
        return self

    def retry(self, job: str) -> None:
        """Queue a failed job again."""
        if not self.arena.store.jobs.retry(self.require_organiser().contest.id, job):
            raise actions.not_found(job)

    def add_hook(self, url: str) -> tuple[Hook, str]:
        """Add a webhook; return it with its signing secret, which is shown only once."""
        hooks = self.require_organiser().arena.store.hooks
        check_address(url)
        if sum(hook.disabled is None for hook in hooks.of(self.contest.id)) >= _MOST_HOOKS:
            raise RefusedError(_("a contest can have {most} webhooks; remove one").format(most=_MOST_HOOKS))
        secret = secrets.token_hex(32)
        return hooks.add(self.contest.id, url, secret.encode()), secret

    def remove_hook(self, hook: str) -> None:
        """Remove a webhook."""
        if not self.arena.store.hooks.disable(self.require_organiser().contest.id, hook):
            raise actions.not_found(hook)

    # --- what teams do -------------------------------------------------------------------------------------------

    def data(self, round_: str) -> tuple[str, AbstractContextManager[Path]]:
        """Return the name and the file of a round's data; teams get it from the first phase of the round on."""
        known = self.contest.rounds.get(round_)
        if known is None:
            raise actions.not_found(round_)
        if self.role != ContestRole.ORGANISER:
            self.own_team()
            phases = [phase for phase in self.contest.phases if phase.round == round_]
            if phases and self.now < phases[0].opens:
                raise actions.opens_later(phases[0])
        return known.name, self.arena.files.path(known.data)

    def submit(
        self, content: bytes | Iterator[bytes], *, target: str | None = None, phase: str | None = None, key: str = ""
    ) -> tuple[Submission, Receipt]:
        """Accept a release, or a guess about a target, and return its receipt; under a known key, that of then."""
        team, key = self.team().id, digest_of(key.encode()) if key else ""
        submission, kind = new_id(), "release" if target is None else "guess"
        receive = partial(
            actions.receive, kind=kind, account=self.who.id, submission=submission, target=target or "", phase=phase
        )
        if self.contest.by_key(team, key) is None:
            receive(self.contest, self.now, digest="", size=0)  # refuse it before its bytes are stored
        stored = self.arena.files.put(content, sealed=True, largest=self.contest.settings.largest_file)
        state = self.arena.change(
            self.contest.id,
            partial(receive, digest=stored.digest, size=stored.size, key=key),
            lambda _state, _made: [JobRequest(kind, submission)],
        )
        made = state.by_key(team, key) or state.submissions[submission]
        return made, self.arena.receipt(state, made)

    # --- what teams see ------------------------------------------------------------------------------------------

    def submissions(self) -> list[Submission]:
        """Return the submissions of the team, the newest first; for organisers, all."""
        if self.role == ContestRole.ORGANISER:
            return list(self.contest.submissions.values())[::-1]
        return self.contest.of_team(self.own_team().id)[::-1]

    def submission(self, submission: str) -> Submission:
        """Return a file of the own team; other teams' files are not found."""
        known = self.contest.submissions.get(submission)
        # an account without a team gets the same answer for any file
        team = None if self.role == ContestRole.ORGANISER else self.own_team().id
        if known is None or team not in (None, known.team):
            raise actions.not_found(submission)
        return known

    def described(self, known: Submission, *, whole: bool = True) -> SubmissionOut:
        """Describe a visible file; unless ``whole``, from the log alone and without results."""
        self.submission(known.id)  # other teams' files are not found
        counting = self.contest.counting_release(known.team, known.round) if known.kind == "release" else None
        fields = {
            "valid": known.valid,
            "counts": (known.counts if counting is None else counting.id == known.id) and known.round != PRACTICE,
            "chosen": [*self.contest.choices.get((known.team, known.round), {}).values()][-1:] == [known.id],
            "judgement": self._judgement(known) if whole else {},
        }
        jobs = self.arena.store.jobs
        place: dict[str, Any] = {"state": "waiting", "done": 1.0 if whole else 0.0}
        if known.refunded is not None:
            place = {"state": "refunded", "trouble": _(known.refunded)}
        elif known.judged is not None:
            place = {"state": "done", "done": 1.0}
        elif whole and (waiting := jobs.of(self.contest.id, known.id)):  # estimated from the last jobs
            job = waiting[-1]
            before = jobs.place(job.id) or 0
            seconds = estimated(jobs.durations(job.kind), before, jobs.running_count())
            place = {"before": before, "done": job.done, "words": job.words, "seconds": seconds}
            place |= {"state": str(job.state), "trouble": _(job.error)}
        return SubmissionOut(**vars(known) | place | fields)

    def _judgement(self, known: Submission) -> dict[str, Any]:
        """Return the visible part of a result."""
        if known.judged is None:
            return {}
        seen = {name: known.judged[name] for name in ("valid", "report", "scorer") if name in known.judged}
        if known.kind == "release":
            seen["values"] = dict(known.values)
            if self.has_all or self.contest.rulebook.baseline.visible or known.round == PRACTICE:
                seen["baseline"] = known.judged.get("baseline", {})
            return seen
        book = self.contest.rulebook
        level = "counts" if self.has_all or known.round == PRACTICE else book.outcome
        if level == "effect":  # only whether conditions are met
            keys = {condition.key for condition in book.conditions}
            tested = [item for item in known.values.items() if item[0] in keys]
            seen["values"] = {key: float(bool(book.broken({key: value}))) for key, value in tested}
        if level == "counts":
            seen["values"] = dict(known.values)
            tried = known.judged.get("tried")
            if tried is not None and not self.has_all:  # positions would disclose which guesses are correct
                tried = {name: value for name, value in tried.items() if name != "right_at"}
            seen["tried"] = tried
        return seen

    # --- attacking -----------------------------------------------------------------------------------------------

    def targets(self, round_: str) -> list[Target]:
        """Return the targets of a round except the own one, from the attack phase on."""
        self._may_attack(round_)
        own = self.contest.team_of.get(self.who.id)
        return [target for target in self.contest.targets.get(round_, {}).values() if target.team != own]

    def target_file(self, round_: str, target: str) -> AbstractContextManager[Path]:
        """Return the public part of a target."""
        self._may_attack(round_)
        known = self.contest.targets.get(round_, {}).get(target)
        if known is None:
            raise actions.not_found(target)
        return self.arena.files.path(known.digest)

    def _may_attack(self, round_: str) -> None:
        if self.has_all:
            return
        self.own_team()
        attacks = [phase for phase in self.contest.phases if phase.kind == PhaseKind.ATTACK and phase.round == round_]
        if not attacks:
            raise RefusedError(_("this contest has no phase for that"))
        if self.now < attacks[0].opens:
            raise actions.opens_later(attacks[0])

    def board(self, round_: str) -> tuple[Board, str | None]:
        """Return the visible leaderboard of a round, and since when it is frozen."""
        if round_ not in self.contest.rounds:
            raise actions.not_found(round_)
        everything = self.role == ContestRole.ORGANISER
        if self.contest.has_results(self.now):
            return board(self.contest, round_, self.now, kind="final"), None
        frozen = [phase.frozen_from for phase in self.contest.phases if phase.round == round_ and phase.frozen_from]
        since = min((moment_ for moment_ in frozen if moment_ <= self.now and not everything), default=None)
        if since is None:
            return board(self.contest, round_, self.now, everything=everything), None
        return board(self.arena.state_at(self.contest.id, since), round_, since, kind="frozen"), since

    # --- what everybody may have once it is over: made once, and kept under the digest of the log's head ------------

    def log(self, start: int = 0) -> Sequence[LogEntry]:
        """Return the log: for organisers at any time, for all once the results are published."""
        return self.require_results().arena.store.entries(self.contest.id, start)

    def require_results(self) -> Self:
        """Return this access if it may see the results; before they are published, only organisers may."""
        if not self.has_all:
            raise RefusedError(say("results_later"), status=403)
        return self

    def results(self) -> Results:
        """Return the results of the contest."""
        self.require_results()
        with self.service.making:  # computed once, while others wait
            return results_of(self.contest)

    def archive(self) -> Path:
        """Return the open archive of the contest; there is none before the results, because it contains all secrets."""
        self.require_results()
        folder = self.arena.folder / "archives"
        path = folder / f"{self.contest.id}-{self.contest.digest[:16]}.zip"
        with self.service.writing:
            if not path.exists():
                folder.mkdir(exist_ok=True, mode=0o700)
                export(self.arena, self.contest.id, path, sealed=False)
                for old in folder.glob(f"{self.contest.id}-{'?' * 16}.zip"):
                    if old != path:
                        with contextlib.suppress(OSError):
                            old.unlink()
        return path


def estimated(took: Sequence[float], before: int, workers: int) -> tuple[float, float] | None:
    """Return the estimated least and most seconds until a job is done; None if too few jobs were measured.

    Three quarters of the last ones took longer than the least, and one in twenty longer than the most.

    >>> estimated([2.0, 4.0, 6.0, 8.0], before=3, workers=2), estimated([2.0], 0, 2)
    ((8.0, 16.0), None)
    """
    if len(took) < 3:
        return None
    ordered, turns = sorted(took), before // max(workers, 1) + 1
    return ordered[len(ordered) // 4] * turns, ordered[-1 - len(ordered) // 20] * turns
