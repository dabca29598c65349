"""Contests of a server, changed in one transaction per action.

An action locks the head of its contest's log, folds new entries, is decided, and appends its entries together with the
jobs that it causes. Concurrent actions run one after the other, and an interrupted action has no effect.

Workers and the clock use :class:`ScoringService`: orders for workers, their results, and what is due now.
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
from noren.contest.judging.prepared import similarity
from noren.contest.kinds import PhaseKind
from noren.contest.phases import moment
from noren.contest.receipts import Receipt, SigningKey, permutation
from noren.contest.results import results_of
from noren.contest.state import Contest, Round, Submission, fold
from noren.contest.store.database import ContestStore, ScoringJob
from noren.contest.store.encryption import Hook, derive_key, server_key
from noren.contest.store.files import Files
from noren.i18n import _
from noren.work.hash_chain import EntryContent, LogEntry, chained

JUDGE, POST = "judge", "post"
"""The queues of scoring jobs and of webhook messages."""
_ANNOUNCED = ("release-judged", "targets-published", "results")
"""Kinds of entries that are announced by webhooks."""
_WITHOUT_EFFECT = (
    "results",
    "paused",
    "resumed",
    "code-changed",
    "rescheduled",
    "organiser-added",
    "announced",
    "password-reset",
)
"""Kinds of entries that do not affect the results."""


@dataclass(frozen=True)
class JobRequest:
    """A job that an action causes."""

    kind: str
    submission: str | None = None
    queue: str = JUDGE
    order: dict[str, Any] = field(default_factory=dict)


class Arena:
    """The contests of one server: database, files and keys.

    Parameters
    ----------
    folder
        The folder of the server's keys and, by default, its database and files.
    database, files
        The address of a PostgreSQL, and any address that fsspec knows.
    rehearsal
        Whether the clock may be moved.
    lease
        Seconds after which a job is released if its worker does not respond.
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
        key = server_key(folder)
        url = database or f"sqlite:///{(folder / 'arena.sqlite').resolve()}"
        self.store = ContestStore(url, key, is_rehearsal=rehearsal, lease=lease)
        self.files = Files(files or folder / "files", key)
        self.signing = SigningKey(derive_key(key, "receipts"))
        self._states: dict[str, Contest] = {}
        self._frozen: dict[tuple[str, str, int], Contest] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def now(self) -> str:
        """Return the current time; in a rehearsal that of the moved clock."""
        return moment(self.store.clock.now())

    def state(self, contest: str) -> Contest | None:
        """Return the current state of a contest."""
        known = self._states.get(contest)
        new = self.store.entries(contest, 0 if known is None else known.position + 1)
        return self._keep(contest, fold(new, known)) if new else known

    def state_at(self, contest: str, until: str) -> Contest:
        """Return the state of a contest before a moment; cached, because the past does not change."""
        head = self.state(contest)
        position = -1 if head is None else head.position
        state = self._frozen.get((contest, until, position))
        if state is None:
            entries = self.store.entries(contest)  # its creation always counts
            state = fold(entry for entry in entries if entry.time < until or entry.position == 0)
            with self._lock:
                if len(self._frozen) > 20:
                    self._frozen.clear()
                self._frozen[contest, until, position] = state
        return state

    def _keep(self, contest: str, state: Contest) -> Contest:
        """Cache the newest state of a contest; return ``state``."""
        with self._lock:
            there = self._states.get(contest)
            if there is None or there.position < state.position:
                self._states[contest] = state
        return state

    def receipt(self, contest: Contest, submission: Submission) -> Receipt:
        """Return the receipt of a file; it is always the same."""
        if self.signing.public != contest.public_key:
            raise RefusedError(
                _("another server signed the receipts of this contest; look for the receipt in the contest's archive")
            )
        return self.signing.receipt(contest.id, submission)

    def change(
        self,
        contest: str,
        decide: Callable[[Contest, str], Iterable[EntryContent]],
        orders: Callable[[Contest, Sequence[LogEntry]], Iterable[JobRequest]] | None = None,
    ) -> Contest:
        """Decide an action at the head of the log, and append its entries with the jobs that it causes."""
        with self.store.changing(contest) as change:
            known = self._states.get(contest)
            new = change.entries(0 if known is None else known.position + 1)
            state = known if known is not None and not new else fold(new, known)
            now = moment(self.store.clock.now(change.connection))
            content = list(decide(state, now))
            if content:
                made = chained(change.head, now, content)
                change.append(made)
                state = fold(made, state)
                for order in orders(state, made) if orders is not None else ():
                    change.enqueue(order.kind, queue=order.queue, submission=order.submission, order=order.order)
        return self._keep(contest, state)


@dataclass(frozen=True)
class ScoringOrder:
    """The input for scoring one file, or for making the targets of a round.

    Attributes
    ----------
    contest
        The contest when the order was made.
    salt
        The salt of its random draws, as hexadecimal digits.
    file
        The file to score; None for an order of targets.
    targets
        The releases whose targets are wanted, by number.
    """

    contest: Contest
    round: Round
    salt: str
    file: Submission | None = None
    targets: Mapping[str, Submission] = field(default_factory=dict)


class ScoringService:
    """The interface of workers to the arena: orders, results and scheduled actions."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def order_of(self, job: ScoringJob) -> ScoringOrder | None:
        """Return the order of a job; None if nothing is left to do."""
        contest = self.arena.state(job.contest)
        if contest is None:
            return None
        salt = self.salt(contest)
        if job.kind == "targets":
            round_ = contest.rounds[str(job.order["round"])]
            if round_.id in contest.targets:
                return None
            releases = numbered_releases(contest, round_.id, bytes.fromhex(salt))
            return ScoringOrder(contest, round_, salt, targets=releases)
        known = contest.submissions.get(job.submission or "")
        if known is None or known not in contest.unjudged():
            return None
        return ScoringOrder(contest, contest.rounds[known.round], salt, known)

    def salt(self, contest: Contest) -> str:
        """Return the salt of a contest's random draws as hexadecimal digits; only for workers."""
        return (self.arena.store.secret(contest.id, "salt") or b"").hex()

    # --- what came of them -------------------------------------------------------------------------------------------

    def judged(self, order: ScoringOrder, result: Mapping[str, Any]) -> None:
        """Record the result of a worker; a repeated result counts once."""
        self.arena.change(order.contest.id, partial(_scored, order, result), self._hooks)

    def targets_made(self, order: ScoringOrder, contents: Sequence[bytes]) -> None:
        """Store and publish the targets, in the order of ``order.targets``."""
        made = [
            {"target": number, "submission": release.id, "digest": self.arena.files.put(content, sealed=False).digest}
            for (number, release), content in zip(order.targets.items(), contents, strict=True)
        ]
        self.arena.change(
            order.contest.id,
            lambda state, _now: actions.publish_targets(state, round_=order.round.id, targets=made),
            self._hooks,
        )

    def refund(self, job: ScoringJob, reason: str) -> None:
        """Refund an attempt after repeated internal errors; the page shows the reason."""
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
                attacked = any(phase.kind == PhaseKind.ATTACK and phase.round == round_ for phase in contest.phases)
                due = attacked and round_ not in contest.targets and contest.protecting_over(round_, now)
                if due and not contest.unjudged(round_) and attacked_releases(contest, round_):
                    order = {"round": round_}
                    with self.arena.store.changing(name) as change:  # of several who want it one orders it
                        if not self.arena.store.jobs.has(change.connection, name, "targets", order):
                            change.enqueue("targets", queue=JUDGE, order=order)
            if actions.reveal(contest, now, salt=""):
                contest = self.arena.change(name, partial(actions.reveal, salt=self.salt(contest)), self._hooks)
            if contest.salt is not None:
                self._publish_results(contest)

    def _publish_results(self, contest: Contest) -> None:
        """Write the digest of the results into the log whenever they changed."""
        if contest.results is not None:
            entries = self.arena.store.entries(contest.id)
            last = max((entry.position for entry in entries if entry.kind == "results"), default=-1)
            if all(entry.position <= last or entry.kind in _WITHOUT_EFFECT for entry in entries):
                return  # nothing that results are made of came after the last ones
        digest = results_of(contest).digest
        self.arena.change(
            contest.id,  # what came meanwhile is for the next look
            lambda state, _now: actions.publish_results(state, digest=digest) if state.digest == contest.digest else [],
            self._hooks,
        )

    def _hooks(self, contest: Contest, made: Sequence[LogEntry]) -> Iterable[JobRequest]:
        """Return the webhook messages about new entries."""
        return webhook_jobs(self.arena.store.hooks.of(contest.id), made)


def release_of(contest: Contest, file: Submission) -> Submission:
    """Return the release that a file is, or that a guess is about."""
    if file.kind == "release":
        return file
    return contest.submissions[contest.targets[file.round][file.target or ""].submission]


def target_label(contest: Contest, release: Submission) -> str:
    """Return the label of the random draws of a release."""
    return f"{contest.id}/{release.round}/{release.id}"


def attacked_releases(contest: Contest, round_: str) -> list[Submission]:
    """Return the releases of a round that are attacked, by the teams' order of registration."""
    playing = (team.id for team in contest.teams.values() if team.out is None)
    return [release for team in playing if (release := contest.counting_release(team, round_)) is not None]


def numbered_releases(contest: Contest, round_: str, salt: bytes) -> dict[str, Submission]:
    """Return the releases of a round by their random target numbers."""
    entries = attacked_releases(contest, round_)
    order = permutation(salt, f"{contest.id}/{round_}/targets", len(entries))
    width = max(2, len(str(len(entries))))
    return {f"{number:0{width}d}": entries[int(place)] for number, place in enumerate(order, start=1)}


def _scored(order: ScoringOrder, result: Mapping[str, Any], contest: Contest, _now: str) -> list[EntryContent]:
    """Return the log entries of a result, and flags of nearly identical files of other teams.

    Two teams are flagged once per round and target, so that the log grows with the teams and not with the attempts.
    """
    if (own := order.file) is None:
        return []
    content = actions.judge(contest, submission=own.id, scorer=order.contest.scorer, result=result)
    sketch = result.get("sketch")
    if not content or not result.get("valid") or not sketch:
        return content
    if own.kind == "release":
        files = contest.submissions.values()  # one pass: there may be thousands
        releases = (file for file in files if file.kind == "release" and file.round == own.round)
        counting = {release.team: release for release in releases if release.counts}
        if contest.settings.counting == "chosen":
            counting = {team: contest.counting_release(team, own.round) or file for team, file in counting.items()}
    else:
        counting = {guess.team: guess for guess in contest.guesses(own.round, target=own.target) if guess.counts}
    flagged = {_pair(*(contest.submissions[name] for name in flag["submissions"])) for flag in contest.flags}
    for other in counting.values():
        if other.team == own.team or _pair(other, own) in flagged:
            continue
        share = similarity(sketch, (other.judged or {}).get("sketch"))
        if share >= contest.rulebook.duplicates:
            body = {"submissions": [other.id, own.id], "share": round(share, 4)}
            content.append(EntryContent("flagged", "judge", body))
    return content


def _pair(first: Submission, second: Submission) -> tuple[frozenset[str], str, str | None]:
    """Return the key of a flag: two teams, the round and the target."""
    return frozenset({first.team, second.team}), first.round, first.target


def webhook_jobs(hooks: Iterable[Hook], entries: Sequence[LogEntry]) -> list[JobRequest]:
    """Return the messages about entries, one per webhook and kind."""
    kinds = Counter(entry.kind for entry in entries if entry.kind in _ANNOUNCED)
    if not kinds:
        return []
    last = entries[-1]
    head = {"position": last.position, "digest": last.digest}
    messages = [{"event": kind, "count": count, "time": last.time, "head": head} for kind, count in kinds.items()]
    return [
        JobRequest("hook", queue=POST, order={"hook": hook.id, "message": {"contest": hook.contest} | message})
        for hook in hooks
        if hook.disabled is None
        for message in messages
    ]
