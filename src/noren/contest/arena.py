"""Where contests are kept and changed: one transaction for each act.

An act locks the head of its contest's log, folds what is new, is decided, and appends what it says together with the
jobs that it causes. Two acts at once happen one after the other, and one that is cut off did not happen.

Judges and the clock act through :class:`ScoringService`: orders for workers, their results, and what is due now.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.judging.prepared import similar
from noren.contest.kinds import PhaseKind
from noren.contest.phases import moment
from noren.contest.receipts import Receipt, SigningKey
from noren.contest.receipts import order as by_lot
from noren.contest.results import results_of
from noren.contest.state import Contest, Submission, fold
from noren.contest.store.database import ContestStore, ScoringJob
from noren.contest.store.encryption import Hook, derived, kept_key
from noren.contest.store.files import Files
from noren.i18n import _
from noren.work.hash_chain import EntryContent, LogEntry, chained

JUDGE, POST = "judge", "post"
"""The queue of what is scored, and that of what is sent to other servers."""
_TOLD = ("release-judged", "targets-published", "results")
"""The entries of a log that others are told of."""
_SILENT = ("results", "paused", "resumed", "code-changed", "rescheduled")
"""Entries that results are not made of."""


@dataclass(frozen=True)
class JobRequest:
    """A job that an act causes."""

    kind: str
    submission: str | None = None
    queue: str = JUDGE
    order: dict[str, Any] = field(default_factory=dict)


class Arena:
    """The contests of one server, with all that they are kept in.

    Parameters
    ----------
    folder
        The keys of the server and, unless told otherwise, its database and files.
    database, files
        The address of a PostgreSQL, and any address that fsspec knows.
    rehearsal
        Whether the clock may be moved.
    lease
        Seconds after which a job whose worker is not heard of is anybody's.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database: str | None = None,
        files: str | None = None,
        rehearsal: bool = False,
        lease: float | None = None,
    ) -> None:
        self.folder, self.rehearsal = folder, rehearsal
        key = kept_key(folder)
        url = database or f"sqlite:///{(folder / 'arena.sqlite').resolve()}"
        self.store = ContestStore(url, key, is_rehearsal=rehearsal, lease=lease)
        self.files = Files(files or folder / "files", key)
        self.signing = SigningKey(derived(key, "receipts"))
        self._states: dict[str, Contest] = {}
        self._frozen: dict[tuple[str, str, int], Contest] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the database."""
        self.store.close()

    def now(self) -> str:
        """Return the moment; in a rehearsal that of the moved clock."""
        return moment(self.store.clock.now())

    # --- reading -----------------------------------------------------------------------------------------------------

    def state(self, contest: str) -> Contest | None:
        """Return how a contest stands now."""
        known = self._states.get(contest)
        new = self.store.entries(contest, 0 if known is None else known.position + 1)
        return self._keep(contest, fold(new, known)) if new else known

    def state_at(self, contest: str, until: str) -> Contest:
        """Return how a contest stood before a moment; kept, because it never changes once the moment is past."""
        head = self.state(contest)
        position = -1 if head is None else head.position
        found = self._frozen.get((contest, until, position))
        if found is None:
            entries = self.store.entries(contest)  # its creation always counts
            found = fold(entry for entry in entries if entry.time < until or entry.position == 0)
            with self._lock:
                if len(self._frozen) > 20:
                    self._frozen.clear()
                self._frozen[contest, until, position] = found
        return found

    def _keep(self, contest: str, state: Contest) -> Contest:
        """Keep the newest state of a contest, for the next who asks; return the one that is given."""
        with self._lock:
            there = self._states.get(contest)
            if there is None or there.position < state.position:
                self._states[contest] = state
        return state

    def receipt(self, contest: Contest, submission: Submission) -> Receipt:
        """Return the receipt of a file; it is the same whenever it is asked for."""
        if self.signing.public != contest.public_key:
            raise RefusedError(
                _(
                    "this contest was played on another server, which signed its receipts; look for it in "
                    "the contest's archive"
                ),
            )
        return self.signing.receipt(contest.id, submission)

    # --- changing ----------------------------------------------------------------------------------------------------

    def change(
        self,
        contest: str,
        decide: Callable[[Contest, str], Iterable[EntryContent]],
        orders: Callable[[Contest, Sequence[LogEntry]], Iterable[JobRequest]] | None = None,
    ) -> Contest:
        """Decide an act at the head of the log, and append what it says with the jobs that it causes."""
        with self.store.changing(contest) as change:
            known = self._states.get(contest)
            new = change.entries(0 if known is None else known.position + 1)
            state = known if known is not None and not new else fold(new, known)
            now = moment(self.store.clock.now(change.connection))
            said = list(decide(state, now))
            if said:
                made = chained(change.head, now, said)
                change.append(made)
                state = fold(made, state)
                for order in orders(state, made) if orders is not None else ():
                    change.enqueue(order.kind, queue=order.queue, submission=order.submission, order=order.order)
        return self._keep(contest, state)


@dataclass(frozen=True)
class ScoringOrder:
    """All that is needed to judge one file, or to make the targets of a round; files are told by their digests.

    Attributes
    ----------
    kind
        ``release``, ``guess`` or ``targets``.
    submitted
        For a release, itself; for a guess, the release that it is against.
    targets
        For ``targets``: number, submission and digest of each release.
    rows
        How many rows the data of the round have.
    """

    kind: str
    contest: str
    scorer: str
    rulebook: str
    original: str
    round: str
    submission: str = ""
    submitted: str = ""
    guess: str = ""
    label: str = ""
    salt: str = ""
    targets: tuple[tuple[str, str, str], ...] = ()
    rows: int = 0
    seconds: int = 900
    megabytes: int = 4096


class ScoringService:
    """What workers ask of the arena and tell it; nobody else does."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    # --- orders ------------------------------------------------------------------------------------------------------

    def order_of(self, job: ScoringJob) -> ScoringOrder | None:
        """Return what a job is to do; None where nothing is left to do."""
        contest = self.arena.state(job.contest)
        if contest is None:
            return None
        given: dict[str, Any] = {"salt": self.salt(contest)}
        if job.kind == "targets":
            round_ = contest.rounds[str(job.order["round"])]
            if round_.id in contest.targets:
                return None
            found = numbered(contest, round_.id, bytes.fromhex(given["salt"]))
            given |= {"kind": "targets", "targets": tuple((n, one.id, one.digest) for n, one in found.items())}
        else:
            known = contest.submissions.get(job.submission or "")
            if known is None or known not in contest.unjudged():
                return None
            round_, release = contest.rounds[known.round], known
            if known.kind == "guess":
                release = contest.submissions[contest.targets[known.round][known.target or ""].submission]
                given["guess"] = known.digest
            given |= {"submitted": release.digest, "label": target_label(contest, release)}
            given |= {"kind": known.kind, "submission": known.id}
        return ScoringOrder(
            **given,
            contest=contest.id,
            scorer=contest.scorer,
            rulebook=contest.rulebook.to_toml(),
            original=round_.data,
            round=round_.id,
            rows=round_.rows,
            seconds=contest.settings.seconds,
            megabytes=contest.settings.megabytes,
        )

    def salt(self, contest: Contest) -> str:
        """Return the salt of a contest's lots, as hexadecimal digits; for judges alone."""
        return (self.arena.store.secret(contest.id, "salt") or b"").hex()

    # --- what came of them -------------------------------------------------------------------------------------------

    def judged(self, order: ScoringOrder, result: Mapping[str, Any]) -> None:
        """Write down what a judge found; said twice it counts once."""
        self.arena.change(order.contest, partial(_found, order, result), self._hooks)

    def targets_made(self, order: ScoringOrder, contents: Sequence[bytes]) -> None:
        """Keep the public parts and let them be known; they are in the order of ``order.targets``."""
        made = [
            {"target": number, "submission": submission, "digest": self.arena.files.put(content, sealed=False).digest}
            for (number, submission, _digest), content in zip(order.targets, contents, strict=True)
        ]
        self.arena.change(
            order.contest,
            lambda state, _now: actions.publish_targets(state, round_=order.round, targets=made),
            self._hooks,
        )

    def given_up(self, job: ScoringJob, reason: str) -> None:
        """Give a try back that failed by our fault for good; the reason stands on the page."""
        if job.submission is not None:
            self.arena.change(job.contest, partial(actions.refund, submission=job.submission, reason=reason))

    # --- what is due -------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is due by now in every contest: targets after protecting, the reveal and the results at the end."""
        for name in self.arena.store.contests():
            contest = self.arena.state(name)
            if contest is None:
                continue
            now = self.arena.now()
            for round_ in contest.rounds:
                attacked = any(one.kind == PhaseKind.ATTACK and one.round == round_ for one in contest.phases)
                due = attacked and round_ not in contest.targets and contest.protecting_over(round_, now)
                if due and not contest.unjudged(round_) and numbered_entries(contest, round_):
                    order = {"round": round_}
                    with self.arena.store.changing(name) as change:  # of several who want it one orders it
                        if not self.arena.store.jobs.has(change.connection, name, "targets", order):
                            change.enqueue("targets", queue=JUDGE, order=order)
            if actions.reveal(contest, now, salt=""):
                contest = self.arena.change(name, partial(actions.reveal, salt=self.salt(contest)), self._hooks)
            if contest.salt is not None:
                self._publish_results(contest)

    def _publish_results(self, contest: Contest) -> None:
        """Write the digest of the results into the log: again whenever they changed."""
        if contest.results is not None:
            entries = self.arena.store.entries(contest.id)
            last = max((entry.position for entry in entries if entry.kind == "results"), default=-1)
            if all(entry.position <= last or entry.kind in _SILENT for entry in entries):
                return  # nothing that results are made of came after the last ones
        digest = results_of(contest).digest
        self.arena.change(
            contest.id,  # what came meanwhile is for the next look
            lambda state, _now: actions.publish_results(state, digest=digest) if state.digest == contest.digest else [],
            self._hooks,
        )

    def _hooks(self, contest: Contest, made: Sequence[LogEntry]) -> Iterable[JobRequest]:
        """Return what is to be sent to those who asked to hear of results."""
        return orders_for(self.arena.store.hooks.of(contest.id), made)


def target_label(contest: Contest, release: Submission) -> str:
    """Return by what the lots of a release are drawn."""
    return f"{contest.id}/{release.round}/{release.id}"


def numbered_entries(contest: Contest, round_: str) -> list[Submission]:
    """Return the releases of a round that are attacked, by the teams' order of registration."""
    playing = (team.id for team in contest.teams.values() if team.out is None)
    return [found for team in playing if (found := contest.counting_release(team, round_)) is not None]


def numbered(contest: Contest, round_: str, salt: bytes) -> dict[str, Submission]:
    """Return the releases of a round under the numbers that the lot gives them."""
    entries = numbered_entries(contest, round_)
    places = by_lot(salt, f"{contest.id}/{round_}/targets", len(entries))
    width = max(2, len(str(len(entries))))
    return {f"{number:0{width}d}": entries[int(place)] for number, place in enumerate(places, start=1)}


def _found(order: ScoringOrder, result: Mapping[str, Any], contest: Contest, _now: str) -> list[EntryContent]:
    """Return what a judge found, and what the organiser should look at: files of other teams that are nearly the same.

    Two teams are told once of each round and target, so that the log grows with the teams and not with the tries.
    """
    said = actions.judge(contest, submission=order.submission, scorer=order.scorer, result=result)
    sketch = result.get("sketch")
    if not said or not result.get("valid") or not sketch:
        return said
    own = contest.submissions[order.submission]
    if own.kind == "release":
        of_round = (one for one in contest.submissions.values() if one.kind == "release" and one.round == own.round)
        counting = {one.team: one for one in of_round if one.counts}  # one pass: there may be thousands
        if contest.settings.counting == "chosen":
            counting = {team: contest.counting_release(team, own.round) or one for team, one in counting.items()}
    else:
        counting = {one.team: one for one in contest.guesses(own.round, target=own.target) if one.counts}
    told = {_pair(*(contest.submissions[one] for one in flag["submissions"])) for flag in contest.flags}
    for other in counting.values():
        if other.team == own.team or _pair(other, own) in told:
            continue
        share = similar(sketch, (other.judged or {}).get("sketch"))
        if share >= contest.rulebook.duplicates:
            said.append(EntryContent("flagged", "judge", {"submissions": [other.id, own.id], "share": round(share, 4)}))
    return said


def _pair(one: Submission, other: Submission) -> tuple[frozenset[str], str, str | None]:
    """Return what a flag is about: two teams, in a round, of a guess against a target."""
    return frozenset({one.team, other.team}), one.round, one.target


def orders_for(hooks: Iterable[Hook], entries: Sequence[LogEntry]) -> list[JobRequest]:
    """Return the messages that entries cause, one for each address and kind."""
    kinds = Counter(entry.kind for entry in entries if entry.kind in _TOLD)
    if not kinds:
        return []
    last = entries[-1]
    head = {"position": last.position, "digest": last.digest}
    told = [{"event": kind, "count": count, "time": last.time, "head": head} for kind, count in kinds.items()]
    return [
        JobRequest("hook", queue=POST, order={"hook": hook.id, "message": {"contest": hook.contest} | message})
        for hook in hooks
        if hook.disabled is None
        for message in told
    ]
