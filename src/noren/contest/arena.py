"""Where contests are kept and changed: one transaction for each act.

An act locks the head of its contest's log, folds what is new, is decided, and appends what it says together with the
jobs that it causes. Two acts at once happen one after the other, and one that is cut off did not happen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noren.contest.acts import RefusedError
from noren.contest.phases import moment
from noren.contest.receipts import Receipt, SigningKey
from noren.contest.state import Contest, Submission, fold, fold_until
from noren.contest.store.database import Change, ContestStore, UnknownContestError
from noren.contest.store.files import Files
from noren.contest.store.sealing import derived, kept_key
from noren.i18n import _
from noren.work.chain import Entry, Said, chained

__all__ = ["JUDGE", "POST", "Arena", "Order"]

JUDGE, POST = "judge", "post"
"""The queue of what is scored, and that of what is sent to other servers."""


@dataclass(frozen=True)
class Order:
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
        return self._folded(contest, known, new)

    def state_at(self, contest: str, until: str) -> Contest:
        """Return how a contest stood before a moment; kept, because it never changes once the moment is past."""
        head = self.state(contest)
        position = -1 if head is None else head.position
        found = self._frozen.get((contest, until, position))
        if found is None:
            found = fold_until(self.store.entries(contest), until)
            with self._lock:
                if len(self._frozen) > 20:
                    self._frozen.clear()
                self._frozen[contest, until, position] = found
        return found

    def _folded(self, contest: str, known: Contest | None, new: Sequence[Entry]) -> Contest | None:
        if not new:
            return known
        state = fold(new, known)
        with self._lock:
            there = self._states.get(contest)
            if there is None or there.position < state.position:
                self._states[contest] = state
        return state

    def receipt(self, contest: Contest, submission: Submission) -> Receipt:
        """Return the receipt of a file; it is the same whenever it is asked for."""
        if self.signing.public != contest.public_key:
            raise RefusedError(
                _("this contest was played on another server, which signed its receipts"),
                _("look for it in the contest's archive"),
            )
        return self.signing.receipt(contest.id, submission)

    # --- changing ----------------------------------------------------------------------------------------------------

    def change(
        self,
        contest: str,
        decide: Callable[[Contest, str], Iterable[Said]],
        orders: Callable[[Contest, Sequence[Entry]], Iterable[Order]] | None = None,
    ) -> Contest:
        """Decide an act at the head of the log, and append what it says with the jobs that it causes."""
        try:
            with self.store.changing(contest) as change:
                state = self._change(change, decide, orders)
        except UnknownContestError:
            raise RefusedError(_("there is no such contest"), status=404) from None
        with self._lock:
            there = self._states.get(contest)
            if there is None or there.position < state.position:
                self._states[contest] = state
        return state

    def _change(
        self,
        change: Change,
        decide: Callable[[Contest, str], Iterable[Said]],
        orders: Callable[[Contest, Sequence[Entry]], Iterable[Order]] | None,
    ) -> Contest:
        known = self._states.get(change.contest)
        new = change.entries(0 if known is None else known.position + 1)
        state = known if known is not None and not new else fold(new, known)
        now = moment(change.now())
        said = list(decide(state, now))
        if not said:
            return state
        made = chained(change.head, now, said)
        change.append(made)
        state = fold(made, state)
        for order in orders(state, made) if orders is not None else ():
            change.enqueue(order.kind, queue=order.queue, submission=order.submission, order=order.order)
        return state
