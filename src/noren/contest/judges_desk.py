"""What the judges and the clock do at the arena: orders for workers, what came of them, and what is due by now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noren.contest import acts
from noren.contest.arena import Arena, Order
from noren.contest.judging.near_duplicates import similar
from noren.contest.lots import order as by_lot
from noren.contest.phases import PhaseKind
from noren.contest.state import Contest, Round, Submission
from noren.contest.store.jobs import Job
from noren.work.chain import Entry, Said

__all__ = ["JudgesDesk", "JudgesOrder", "numbered", "target_label"]


@dataclass(frozen=True)
class JudgesOrder:
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
    master: str | None = None
    submission: str = ""
    submitted: str = ""
    guess: str = ""
    target_file: str = ""
    label: str = ""
    salt: str = ""
    targets: tuple[tuple[str, str, str], ...] = ()
    rows: int = 0
    seconds: int = 900
    megabytes: int = 4096


class JudgesDesk:
    """What workers ask of the arena and tell it; nobody else does."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    # --- orders ------------------------------------------------------------------------------------------------------

    def order_of(self, job: Job) -> JudgesOrder | None:
        """Return what a job is to do; None where nothing is left to do."""
        contest = self.arena.state(job.contest)
        if contest is None:
            return None
        if job.kind == "targets":
            return self._order_of_targets(contest, str(job.order["round"]))
        known = contest.submissions.get(job.submission or "")
        if known is None or known not in contest.unjudged():
            return None
        salt = self.salt(contest)
        plain = self._plain(contest, contest.rounds[known.round], known.kind)
        if known.kind == "release":
            return JudgesOrder(
                **plain, submission=known.id, submitted=known.digest, label=target_label(contest, known), salt=salt
            )
        target = contest.targets[known.round][known.target or ""]
        attacked = contest.submissions[target.submission]
        return JudgesOrder(
            **plain,
            submission=known.id,
            submitted=attacked.digest,
            guess=known.digest,
            target_file=target.digest,
            label=target_label(contest, attacked),
            salt=salt,
        )

    def _plain(self, contest: Contest, round_: Round, kind: str) -> dict[str, Any]:
        return {
            "kind": kind,
            "contest": contest.id,
            "scorer": contest.scorer,
            "rulebook": contest.rulebook.to_toml(),
            "original": round_.data,
            "master": round_.master,
            "round": round_.id,
            "rows": round_.rows,
            "seconds": contest.settings.seconds,
            "megabytes": contest.settings.megabytes,
        }

    def _order_of_targets(self, contest: Contest, round_: str) -> JudgesOrder | None:
        if round_ in contest.targets:
            return None
        salt = self.salt(contest)
        found = numbered(contest, round_, bytes.fromhex(salt))
        targets = tuple((number, one.id, one.digest) for number, one in found.items())
        plain = self._plain(contest, contest.rounds[round_], "targets")
        return JudgesOrder(**plain, salt=salt, targets=targets)

    def salt(self, contest: Contest) -> str:
        """Return the salt of a contest's lots, as hexadecimal digits; for judges alone."""
        return (self.arena.store.secrets.get(contest.id, "salt") or b"").hex()

    # --- what came of them -------------------------------------------------------------------------------------------

    def judged(self, order: JudgesOrder, result: Mapping[str, Any]) -> None:
        """Write down what a judge found; said twice it counts once."""

        def decide(state: Contest, _now: str) -> Iterable[Said]:
            said = acts.judge(state, submission=order.submission, scorer=order.scorer, result=result)
            return [*said, *self._flags(state, order, result)] if said else []

        self.arena.change(order.contest, decide, self._hooks)

    def targets_made(self, order: JudgesOrder, contents: Sequence[bytes]) -> None:
        """Keep the public parts and let them be known; they are in the order of ``order.targets``."""
        made = [
            {"target": number, "submission": submission, "digest": self.arena.files.put(content, sealed=False).digest}
            for (number, submission, _digest), content in zip(order.targets, contents, strict=True)
        ]
        self.arena.change(
            order.contest,
            lambda state, _now: acts.publish_targets(state, round_=order.round, targets=made),
            self._hooks,
        )

    def given_up(self, job: Job, reason: str) -> None:
        """Give a try back that failed by our fault for good; the reason stands on the page."""
        if job.submission is not None:
            submission = job.submission
            self.arena.change(
                job.contest, lambda state, now: acts.refund(state, now, submission=submission, reason=reason)
            )

    def _flags(self, contest: Contest, order: JudgesOrder, result: Mapping[str, Any]) -> list[Said]:
        """Return what the organiser should look at: files of other teams that are nearly the same.

        Two teams are told once of each round and target, so that the log grows with the teams and not with the tries.
        """
        own = contest.submissions[order.submission]
        sketch = result.get("sketch")
        if not result.get("valid") or not sketch:
            return []
        told = {_pair(*(contest.submissions[one] for one in flag["submissions"])) for flag in contest.flags}
        flags = []
        for other in _compared_with(contest, own):
            if _pair(other, own) in told:
                continue
            share = similar(sketch, (other.judged or {}).get("sketch"))
            if share >= contest.rulebook.duplicates:
                body = {"submissions": [other.id, own.id], "share": round(share, 4)}
                flags.append(Said("flagged", "judge", body))
        return flags

    # --- what is due -------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is due by now in every contest: targets after protecting, the reveal and the results at the end."""
        for name in self.arena.store.contests():
            contest = self.arena.state(name)
            if contest is not None:
                self._tick(contest)

    def _tick(self, contest: Contest) -> None:
        now = self.arena.now()
        for round_ in contest.rounds:
            attacked = any(one.kind == PhaseKind.ATTACK and one.round == round_ for one in contest.phases)
            due = attacked and round_ not in contest.targets and contest.protecting_over(round_, now)
            if due and not contest.unjudged(round_) and numbered_entries(contest, round_):
                self._order_once(contest.id, Order("targets", order={"round": round_}))
        if acts.reveal(contest, now, salt=""):
            salt = self.salt(contest)
            contest = self.arena.change(contest.id, lambda state, at: acts.reveal(state, at, salt=salt), self._hooks)
        if contest.salt is not None:
            self._publish_results(contest)

    def _order_once(self, contest: str, order: Order) -> None:
        """Put a job into the queue unless there is one for the same; of several who want it one does."""
        with self.arena.store.changing(contest) as change:
            if not self.arena.store.jobs.has(change.connection, contest, order.kind, order.order):
                change.enqueue(order.kind, queue=order.queue, order=order.order)

    def _publish_results(self, contest: Contest) -> None:
        """Write the digest of the results into the log: again whenever they changed."""
        if contest.results is not None and not _changed_since(self.arena.store.entries(contest.id)):
            return
        from noren.contest.results import results_of

        digest = results_of(contest).digest

        def decide(state: Contest, _now: str) -> Iterable[Said]:  # what came meanwhile is for the next look
            return acts.publish_results(state, digest=digest) if state.digest == contest.digest else []

        self.arena.change(contest.id, decide, self._hooks)

    def _hooks(self, contest: Contest, made: Sequence[Entry]) -> Iterable[Order]:
        """Return what is to be sent to those who asked to hear of results."""
        from noren.contest.webhooks import orders_for

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


def _pair(one: Submission, other: Submission) -> tuple[frozenset[str], str, str | None]:
    """Return what a flag is about: two teams, in a round, of a guess against a target."""
    return frozenset({one.team, other.team}), one.round, one.target


def _compared_with(contest: Contest, own: Submission) -> list[Submission]:
    """Return the files of other teams that a file is compared with: those that count."""
    if own.kind == "release":
        of_round = (one for one in contest.submissions.values() if one.kind == "release" and one.round == own.round)
        latest = {one.team: one for one in of_round if one.counts}  # one pass: there may be thousands
        if contest.settings.counting == "chosen":
            latest = {team: contest.counting_release(team, own.round) or one for team, one in latest.items()}
    else:
        latest = {one.team: one for one in contest.guesses(own.round, target=own.target) if one.counts}
    return [one for team, one in latest.items() if team != own.team]


def _changed_since(entries: Sequence[Entry]) -> bool:
    """Tell whether something that results are made of came after the last ones."""
    silent = ("results", "paused", "resumed", "code-changed", "rescheduled")
    last = max((entry.position for entry in entries if entry.kind == "results"), default=-1)
    return any(entry.position > last and entry.kind not in silent for entry in entries)
