"""Approvals and publications: who released what to whom, until when, and its verdict on that day.

Approvals, refusals and publications are entries of the trail and nothing else, so none can be changed unseen. An
approval is of one release as it is: its digest, its rule and its verdict. Where the run was taken up again or removed,
its rows differ or its verdict is a different one now, the approval is void.

With four-eyes approval, a public part can be downloaded only after someone other than its makers approved it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.periods import in_order, period_key, periods_of
from noren.data.release import public_digest
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import _, active_language, in_every_language
from noren.judgement.verdict import Verdict
from noren.ledger import Ledger
from noren.studio.audit_trail import RESERVED
from noren.studio.service import Studio
from noren.studio.users import StudioIdentity, UserRole, role_missing
from noren.studio.work.running import curve_of
from noren.tables import Texts
from noren.web.errors import ConflictError, ForbiddenError, NotFoundError
from noren.work.hash_chain import LogEntry

say = Texts(__name__)
_LONGEST = 500
_MOST_YEARS = 100
_DECISIONS = ("approved", "refused")
_CHANGES = ("resumed", "removed")


@dataclass(frozen=True)
class ApprovableRelease:
    """A release that can be approved and shared: of a run, or of the ledger.

    Attributes
    ----------
    what
        What the trail calls it: the run's identifier, or ``ledger-3``.
    folder
        Where its public part lies.
    verdict
        How safe it is by the rule in force.
    """

    project: str
    what: str
    label: str
    folder: Path
    verdict: Verdict
    audited: bool = True


class _Judged:
    judged: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        """How the release was judged on that day, in the language now spoken."""
        return str(self.judged["sentence"][active_language()])

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return self.__dict__ | {"judged": dict(self.judged) | {"sentence": self.sentence}}


@dataclass(frozen=True)
class ReviewDecision(_Judged):
    """The latest decision of a reviewer on a release; ``void`` says why an approval no longer counts."""

    decision: str
    who: str
    when: str
    reason: str
    digest: str
    judged: Mapping[str, Any]
    void: str = ""

    @property
    def stands(self) -> bool:
        """Whether it is an approval of the release as it is."""
        return self.decision == "approved" and not self.void


@dataclass(frozen=True)
class Publication(_Judged):
    """The record that a release was shared."""

    what: str
    label: str
    who: str
    when: str
    to: str
    until: str | None
    digest: str
    rows: int
    approved_by: str | None
    despite: bool
    judged: Mapping[str, Any]
    entry: str
    """The digest of its entry of the trail, to write down."""

    @property
    def rule(self) -> str:
        """The name of the rule in force on that day."""
        return str(self.judged["rule"]["name"])

    @property
    def is_over(self) -> bool:
        """Whether its last day has passed."""
        return self.until is not None and self.until < dt.datetime.now(dt.UTC).date().isoformat()

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return super().as_dict() | {"over": self.is_over}


# --- releases that can be shared -------------------------------------------------------------------------------


def release_of_run(studio: Studio, job: str) -> ApprovableRelease:
    """Return the release of a finished run."""
    run = studio.finished(job)
    folder = studio.job_folder(run) / "release"
    audited = run.summary.get("audited") is not False
    return ApprovableRelease(run.project, run.id, run.label, folder, studio.verdict(run.id), audited)


def ledger_of(studio: Studio, project: str) -> Ledger:
    """Return the ledger of a project."""
    studio.ready_project(project)
    folder = studio.folders.ledger(project)
    if not folder.exists():
        raise NotFoundError(_("this project has no ledger yet"))
    return Ledger.open(folder)


def ledger_release(studio: Studio, project: str, number: int) -> ApprovableRelease:
    """Return a release of a project's ledger."""
    book = ledger_of(studio, project)
    entry = next((entry for entry in book.entries if entry.number == number), None)
    if entry is None:
        raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
    verdict = book.verdicts()[entry.period]
    return ApprovableRelease(project, f"ledger-{number}", entry.period, book.release_folder(entry.period), verdict)


def ledger_as_dict(studio: Studio, project: str) -> dict[str, Any]:
    """Return the ledger of a project as plain data."""
    book = ledger_of(studio, project)
    records = [record.as_dict() for record in publications(studio, project)]
    more = {"curve": curve_of(book), "to_come": periods_to_come(studio, project), "publications": records}
    return book.as_dict() | more


def periods_to_come(studio: Studio, project: str) -> list[str]:
    """Return the periods of the data that were not released yet, in order."""
    book = ledger_of(studio, project)
    dates = studio.schema(project).role(Role.DATE).name
    held = pl.scan_parquet(studio.folders.data(project)).select(pl.col(dates).unique()).collect()[dates]
    last = max((entry.period for entry in book.entries), key=period_key, default=None)
    periods = in_order(periods_of(held.drop_nulls(), book.settings.period))
    return [name for name in periods if last is None or period_key(name) > period_key(last)]


def makers_of(studio: Studio, release: ApprovableRelease) -> frozenset[str]:
    """Return the users who ordered a release or took it up again; none where it was made before there were users."""
    ordered = studio.store.trail.entries(project=release.project, kinds=("ordered", "resumed"))
    about = {"work": "ledger", "label": release.label} if release.what.startswith("ledger-") else {"job": release.what}
    mine = (entry.actor for entry in ordered if all(entry.body.get(name) == value for name, value in about.items()))
    return frozenset(mine) - RESERVED


def digest_of_files(release: ApprovableRelease) -> str:
    """Return the digest of the public rows; it is computed again when the files change."""
    path = release.folder / "public.parquet"
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return _cached_digest(release.folder, tuple((f.name, (s := f.stat()).st_mtime_ns, s.st_size) for f in files))


@lru_cache(maxsize=256)
def _cached_digest(folder: Path, _files: tuple[tuple[str, int, int], ...]) -> str:
    return public_digest(folder)[0]


# --- decisions -----------------------------------------------------------------------------------------------


def decision_on(studio: Studio, release: ApprovableRelease, digest: str | None = None) -> ReviewDecision | None:
    """Return the last approval or refusal of a release; ``digest`` is that of its rows, where it is known already."""
    entries = studio.store.trail.entries(project=release.project, kinds=(*_DECISIONS, *_CHANGES))
    about = [entry for entry in entries if entry.body.get("what", entry.body.get("job")) == release.what]
    last = next((entry for entry in reversed(about) if entry.kind in _DECISIONS), None)
    if last is None:
        return None
    void = ""
    changed = any(entry.position > last.position for entry in about)
    if changed or last.body["digest"] != (digest or digest_of_files(release)):
        void = _("the release has changed since")
    elif any(last.body["judged"][name] != _judged(release)[name] for name in ("verdict", "rule")):
        void = _("its verdict has changed since")
    return _decision(last, void)


def _decision(entry: LogEntry, void: str = "") -> ReviewDecision:
    body = entry.body
    return ReviewDecision(
        entry.kind, entry.actor, entry.time, body.get("reason", ""), body["digest"], body["judged"], void
    )


def decide(
    studio: Studio, release: ApprovableRelease, who: StudioIdentity, refusal: str | None = None
) -> ReviewDecision:
    """Approve a release as it is, or refuse it for the reason of ``refusal``; nobody approves what she made."""
    if not who.is_user:
        raise ConflictError(_("approval needs users; add them with noren studio user add"))
    if not who.may(UserRole.REVIEWER):
        raise ForbiddenError(role_missing(who, UserRole.REVIEWER))
    more: dict[str, Any] = {}
    if refusal is not None:
        more["reason"] = _text(refusal)
    elif who.login in makers_of(studio, release):
        raise ForbiddenError(say("unapproved"))
    else:
        require_audit(audited=release.audited)
    return _decision(_noted(studio, release, "approved" if refusal is None else "refused", **more))


def _noted(studio: Studio, release: ApprovableRelease, kind: str, **more: Any) -> LogEntry:
    """Add what is decided of a release, or done with it, to the trail, with its digest and its verdict of this day."""
    digest, rows = public_digest(release.folder)
    about = {"what": release.what, "label": release.label, "digest": digest, "rows": rows, "judged": _judged(release)}
    return studio.store.trail.add(kind, project=release.project, **about, **more)


def require_approval(studio: Studio, release: ApprovableRelease, by: StudioIdentity | None = None) -> str | None:
    """Return who approved a release if four-eyes approval is required; raise an error if nobody did.

    If its makers are unknown, the person who shares it (``by``) cannot be the one who approved it.
    """
    if not studio.settings.four_eyes:
        return None
    decision = decision_on(studio, release, public_digest(release.folder)[0])
    if decision is None:
        raise ConflictError(say("unapproved"))
    if decision.decision == "refused":
        raise ConflictError(say("refused", who=decision.who, reason=decision.reason))
    if decision.void:
        raise ConflictError(say("void", who=decision.who, why=decision.void))
    makers = makers_of(studio, release)
    if decision.who in makers:  # she took the run up after she approved it, or was let by another rule
        raise ForbiddenError(say("unapproved"))
    if not makers and by is not None and by.login == decision.who:
        raise ForbiddenError(say("own_approval"))
    return decision.who


# --- publication ---------------------------------------------------------------------------------------------


def publish(
    studio: Studio,
    release: ApprovableRelease,
    who: StudioIdentity,
    *,
    to: str,
    until: str | None = None,
    despite: bool = False,
) -> Publication:
    """Record that a release is shared.

    Parameters
    ----------
    to
        The recipient, as the record names it.
    until
        The last day on which the recipient may use it (``2027-03-31``).
    despite
        Share it although it does not meet the rule.
    """
    if not who.may(UserRole.STEWARD):
        raise ForbiddenError(role_missing(who, UserRole.STEWARD))
    to, until = _text(to), (until or "").strip() or None
    if until is not None:
        today = dt.datetime.now(dt.UTC).date()
        try:
            day = dt.date.fromisoformat(until)
        except ValueError:
            raise ParameterError(say("date"), value=until[:40]) from None
        if day < today - dt.timedelta(days=1) or day.year > today.year + _MOST_YEARS:  # yesterday is today somewhere
            raise ParameterError(say("date"), value=until)
        until = day.isoformat()
    require_audit(audited=release.audited)
    is_safe = release.verdict.status.is_safe
    if not is_safe and not despite:
        raise ConflictError(say("unsafe"))
    approver = require_approval(studio, release, who)
    terms = {"to": to, "until": until, "approved_by": approver, "despite": despite and not is_safe}
    return _publication(_noted(studio, release, "published", **terms))


def publications(studio: Studio, project: str) -> list[Publication]:
    """Return the publications of a project, the newest first."""
    entries: Sequence[LogEntry] = studio.store.trail.entries(project=project, kinds=("published",))
    return [_publication(entry) for entry in reversed(entries)]


def _publication(entry: LogEntry) -> Publication:
    body = {name: value for name, value in entry.body.items() if name != "project"}
    return Publication(who=entry.actor, when=entry.time, entry=entry.digest, **body)


def require_audit(*, audited: bool) -> None:
    """Stop where the audit of a release failed."""
    if not audited:
        raise ConflictError(say("unaudited"))


# --- the stored verdict --------------------------------------------------------------------------------------


def _judged(release: ApprovableRelease) -> dict[str, Any]:
    """Return the verdict of this day: its words in every language and the numbers it was made of.

    Which of an attack's answers are right is left out: it would help an attacker.
    """
    facts = release.verdict.facts.model_dump(mode="json", exclude={"tried", "inferred"})
    sentences = in_every_language(lambda: release.verdict.sentence)
    return release.verdict.as_dict() | {"sentence": sentences, "facts": facts}


def _text(typed: str) -> str:
    text = " ".join(typed.split())
    if not text or not text.isprintable() or len(text) > _LONGEST:
        raise ParameterError(say("text", most=_LONGEST))
    return text
