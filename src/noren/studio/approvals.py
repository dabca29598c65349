"""Records of releases: who released what to whom, for what and until when, and its verdict on that day.

One act releases data: a record, which names the recipient and the purpose. With four-eyes approval the record is a
request, and counts once someone other than those who made and requested the release approved it. The public part can be
downloaded only under a record that counts, and every download names its record.

Records, decisions and downloads are entries of the trail and nothing else, so none can be changed unseen. A record is
of one release as it is: its digest, its rule and its verdict. Where the run was taken up again or removed, its rows
differ or its verdict is a different one now, the record is void.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer

from noren.data.periods import in_order, period_key, periods_of
from noren.data.release import public_digest
from noren.data.schema import Role
from noren.errors import NorenError, ParameterError
from noren.i18n import _, active_language, in_every_language
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import Verdict
from noren.ledger import Ledger
from noren.studio.audit_trail import RESERVED
from noren.studio.service import Studio
from noren.studio.users import StudioIdentity, UserRole, role_missing
from noren.studio.work.running import curve_of
from noren.tables import Texts
from noren.web.errors import ConflictError, ForbiddenError, NotFoundError
from noren.work.hash_chain import LogEntry, canonical

say = Texts(__name__)
_LONGEST = 500
_SHORTEST_REASON = 10
"""A reason of fewer characters says nothing; three words of English, five of Japanese."""
_MOST_YEARS = 100
_RECORDS = ("published", "requested")
_DECISIONS = ("approved", "refused")
_CHANGES = ("resumed", "removed")


@dataclass(frozen=True)
class ApprovableRelease:
    """A release that can be approved and shared: of a run, or of the ledger.

    ``what`` is what the trail calls it: the run's identifier, or ``ledger-3``. ``folder`` is where its public part
    lies, ``verdict`` how safe it is by the rule in force.
    """

    project: str
    what: str
    label: str
    folder: Path
    verdict: Verdict
    audited: bool = True


class PublicationOut(BaseModel):
    """The record of a release, with its verdict on that day."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    project: str
    what: str = Field(description="the run, or ledger-N for a release of the ledger")
    label: str
    who: str
    when: str
    to: str
    purpose: str = ""
    until: str | None
    reason: str = Field(default="", description="why it was released although it did not meet the rule")
    digest: str = Field(description="of the public rows, as noren digest prints it")
    rows: int
    judged: dict[str, Any]
    entry: str = Field(description="the digest of its entry of the trail, which names the record")
    state: Literal["waiting", "released", "refused"]
    decided_by: str | None = None
    decided: str = ""
    refusal: str = ""

    @computed_field(alias="over")  # type: ignore[prop-decorator]
    @property
    def is_over(self) -> bool:
        """Whether its last day has passed."""
        return self.until is not None and self.until < dt.datetime.now(dt.UTC).date().isoformat()

    @field_serializer("judged")
    def _in_language_of_reader(self, judged: dict[str, Any]) -> dict[str, Any]:
        return judged | {"sentence": judged["sentence"][active_language()]}


class Publication(PublicationOut):
    """A record with its place in the trail, and the digest of the entry of the last decision."""

    position: int
    decision: str = ""

    @property
    def sentence(self) -> str:
        """How the release was judged on that day, in the language now spoken."""
        return str(self.judged["sentence"][active_language()])

    @property
    def rule(self) -> str:
        """The name of the rule in force on that day."""
        return str(self.judged["rule"]["name"])

    @property
    def address(self) -> str:
        """Where the page of its release is."""
        number = self.what.removeprefix("ledger-")
        place = f"results/{self.what}/publish" if number == self.what else f"ledger/releases/{number}"
        return f"/projects/{self.project}/{place}"


# --- releases that can be shared -------------------------------------------------------------------------------


def release_of_run(studio: Studio, job: str) -> ApprovableRelease:
    """Return the release of a finished run."""
    run = studio.finished(job)
    folder = studio.job_folder(run) / "release"
    audited = run.summary.get("audited") is not False
    return ApprovableRelease(run.project, run.id, run.label, folder, studio.verdict(run.id), audited)


def release_of(studio: Studio, record: Publication) -> ApprovableRelease:
    """Return the release that a record is about, as it is now."""
    if record.what.startswith("ledger-"):
        return ledger_release(studio, record.project, int(record.what.removeprefix("ledger-")))
    return release_of_run(studio, record.what)


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
    records = [record.model_dump(by_alias=True) for record in publications(studio, project)]
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


# --- records -------------------------------------------------------------------------------------------------


def publish(
    studio: Studio,
    release: ApprovableRelease,
    who: StudioIdentity,
    *,
    to: str,
    purpose: str,
    until: str | None = None,
    reason: str = "",
    key: str = "",
) -> Publication:
    """Record that a release is shared; with four-eyes approval, request it.

    ``to`` and ``purpose`` stand in the record as they are, ``until`` is the last day on which the recipient may use it,
    ``reason`` tells why it is shared although it does not meet the rule. Posts with the same ``key`` are one act,
    however often they come; without one, posts with the same terms are.
    """
    if not who.may(UserRole.STEWARD):
        raise ForbiddenError(role_missing(who, UserRole.STEWARD))
    four_eyes, verdict = studio.settings.four_eyes, release.verdict
    if four_eyes and not who.is_user:
        raise ConflictError(say("no_users"))
    to, purpose, until = _text(to), _text(purpose), (until or "").strip() or None
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
    reason = "" if verdict.status.is_safe else " ".join(reason.split())
    if not verdict.status.is_safe and (len(reason) < _SHORTEST_REASON or len(set(reason)) < _SHORTEST_REASON // 2):
        raise ConflictError(say("unsafe", verdict=verdict_label(verdict.status)[2:], least=_SHORTEST_REASON))
    terms = {"to": to, "purpose": purpose, "until": until, "reason": reason and _text(reason)}
    kind, (digest, rows), judged = _RECORDS[four_eyes], public_digest(release.folder), _judged(release)
    about = {"what": release.what, "label": release.label, "digest": digest, "rows": rows, "judged": judged}
    # after a refusal or another run, the same terms are another request
    since = [entry.digest for entry in _about(studio, release, ("refused", *_CHANGES))][-1:]
    act = [key] if key else [kind, terms, digest, judged["verdict"], judged["rule"], since]
    entry = studio.store.trail.add(
        kind, project=release.project, key=_key(release.project, release.what, *act), **about, **terms
    )
    if any(entry.body[name] != value for name, value in terms.items()):
        raise ConflictError(say("key"))
    return record_of(studio, entry.digest)


def records(studio: Studio, project: str | None = None) -> list[Publication]:
    """Return the records of a project, or of all, the newest first, each with the last decision on it."""
    entries = studio.store.trail.entries(project=project, kinds=(*_RECORDS, *_DECISIONS))
    decisions = {entry.body.get("record"): entry for entry in entries if entry.kind in _DECISIONS}
    made = []
    for entry in reversed([entry for entry in entries if entry.kind in _RECORDS]):
        last = decisions.get(entry.digest)
        more: dict[str, Any] = {"state": "waiting" if entry.kind == "requested" else "released"}
        if last is not None:
            more = {
                "state": "released" if last.kind == "approved" else "refused",
                "decided_by": last.actor,
                "decided": last.time,
                "refusal": last.body.get("reason", ""),
                "decision": last.digest,
            }
        place = {"who": entry.actor, "when": entry.time, "entry": entry.digest, "position": entry.position}
        made.append(Publication.model_validate({**entry.body, **place, **more}))
    return made


def publications(studio: Studio, project: str) -> list[Publication]:
    """Return the records of a project that count, or did once, the newest first."""
    return [record for record in records(studio, project) if record.state == "released"]


def record_of(studio: Studio, entry: str) -> Publication:
    """Return the record whose entry has this digest, or say that there is none."""
    for record in records(studio):
        if record.entry == entry:
            return record
    raise NotFoundError(_("there is no such project, run or file; it may have been removed"))


def standing_record(studio: Studio, release: ApprovableRelease, digest: str) -> tuple[Publication | None, str]:
    """Return the newest record that counts for a release whose rows have this digest, or else why there is none."""
    problem = ""
    for record in records(studio, release.project):
        if record.what != release.what:
            continue
        if record.state == "refused":
            wrong = say("refused", who=record.decided_by, reason=record.refusal)
        elif record.decided_by is None and (record.state == "waiting" or studio.settings.four_eyes):
            wrong = say("unapproved")
        else:
            wrong = void_reason(studio, record, release, digest)
        if not wrong:
            return record, ""
        problem = problem or wrong
    return None, problem or say("unreleased")


def void_reason(studio: Studio, record: Publication, release: ApprovableRelease, digest: str) -> str:
    """Return why a record is not of a release as it is now; nothing where it is."""
    changed = any(entry.position > record.position for entry in _about(studio, release, _CHANGES))
    if changed or record.digest != digest:
        return say("void", to=record.to, why=_("the release has changed since"))
    if any(record.judged[name] != _judged(release)[name] for name in ("verdict", "rule")):
        return say("void", to=record.to, why=_("its verdict has changed since"))
    return ""


def note_download(studio: Studio, release: ApprovableRelease, part: str) -> None:
    """Add to the trail that somebody downloads a release, under the record that counts; raise an error without one."""
    require_audit(audited=release.audited)
    record, problem = standing_record(studio, release, public_digest(release.folder)[0])
    if record is None:
        raise ConflictError(problem)
    about = {"what": record.what, "label": record.label, "to": record.to, "digest": record.digest, "part": part}
    studio.store.trail.add("downloaded", project=record.project, record=record.entry, **about)


def require_audit(*, audited: bool) -> None:
    """Stop where the audit of a release failed."""
    if not audited:
        raise ConflictError(say("unaudited"))


# --- decisions -----------------------------------------------------------------------------------------------


def decide(studio: Studio, entry: str, who: StudioIdentity, refusal: str | None = None) -> Publication:
    """Approve a record of a release as it is, or refuse it for the reason of ``refusal``."""
    if not who.is_user:
        raise ConflictError(say("no_users"))
    if not who.may(UserRole.REVIEWER):
        raise ForbiddenError(role_missing(who, UserRole.REVIEWER))
    record = record_of(studio, entry)
    kind, more = "approved", {}
    if refusal is not None:
        kind, more = "refused", {"reason": _text(refusal)}
    else:
        release = release_of(studio, record)
        if bar := bar_to_approval(studio, record, release, who):
            raise ForbiddenError(bar)
        require_audit(audited=release.audited)
        wrong = void_reason(studio, record, release, public_digest(release.folder)[0])
        if wrong:
            raise ConflictError(wrong)
        if record.state == "released":
            return record
    about = {"what": record.what, "label": record.label, "to": record.to, "digest": record.digest}
    key = _key(entry, kind, record.decision)  # pressed twice, it is one decision
    studio.store.trail.add(kind, project=record.project, key=key, record=entry, **about, **more)
    return record_of(studio, entry)


def bar_to_approval(studio: Studio, record: Publication, release: ApprovableRelease, who: StudioIdentity) -> str:
    """Return why somebody cannot approve a record; nothing where she can.

    Who made, ran or requested a release does not approve it, nor does somebody whose account one of them added.
    """
    if not who.is_user or not who.may(UserRole.REVIEWER):
        return role_missing(who, UserRole.REVIEWER)
    makers = makers_of(studio, release) | {record.who}
    if who.login in makers:
        return say("unapproved")
    account = studio.store.users.by_login(who.login)
    return say("own_account", who=account.created_by) if account and account.created_by in makers else ""


def inbox(studio: Studio, who: StudioIdentity) -> list[Publication]:
    """Return the records that wait for somebody's decision, the oldest first."""
    if not studio.settings.four_eyes or not who.is_user or not who.may(UserRole.REVIEWER):
        return []
    mine = []
    for record in reversed(records(studio)):
        if record.state == "waiting":
            with contextlib.suppress(NorenError):  # its run is gone
                there = release_of(studio, record)
                void = void_reason(studio, record, there, digest_of_files(there))
                mine += [] if void or bar_to_approval(studio, record, there, who) else [record]
    return mine


def _about(studio: Studio, release: ApprovableRelease, kinds: Sequence[str]) -> list[LogEntry]:
    entries = studio.store.trail.entries(project=release.project, kinds=kinds)
    return [entry for entry in entries if entry.body.get("what", entry.body.get("job")) == release.what]


def _key(*parts: Any) -> str:
    return hashlib.sha256(canonical(list(parts))).hexdigest()


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
