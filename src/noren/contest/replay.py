"""Replay: every score, target, table and rank of a contest again, from its log and files, on any machine.

The archive is enough: the log is a chain of digests, files are named by their digests, scores are functions of files,
random draws of the revealed salt, tables and ranks of the log. :func:`replay` computes everything again and names the
first entry that differs; :func:`audit` verifies only log, commitment and receipts, which is fast and needs no files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import is_zipfile

from noren.contest import actions
from noren.contest.archive import Archive, open_archive, read_log
from noren.contest.arena import numbered_releases, release_of, target_label
from noren.contest.judging import SCORER
from noren.contest.judging.prepared import similarity
from noren.contest.judging.scorer import do
from noren.contest.receipts import BadReceiptError, Receipt, matches_commitment, misfits, read_receipt
from noren.contest.receipts import verify as verify_receipt
from noren.contest.results import RESULTS_FILES, results_of
from noren.contest.rulebook import read_rulebook
from noren.contest.state import Contest, Submission, fold
from noren.engines.blocks import cores
from noren.errors import NorenError, reason_of
from noren.i18n import _
from noren.progress import Progress, part_of, silent
from noren.work.hash_chain import BrokenChainError, LogEntry, canonical, verify
from noren.work.store import PieceStore, WorkUnit
from noren.work.workers import run_units

_LONGEST = 200


@dataclass(frozen=True)
class ReplayMismatch:
    """An entry that differs from the replay."""

    position: int
    kind: str
    """``position``, ``kind``: those of the entry."""
    value: str
    """Which of its values: ``values.cell-error``."""
    ours: str
    theirs: str
    """``ours``, ``theirs``: the value in the replay and in the log."""
    why: str

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        message = _("entry {position:,} of the log ({kind}): {why}").format(
            position=self.position, kind=self.kind, why=self.why
        )
        if not self.value:
            return message
        values = _("{value} is {ours} in the replay and {theirs} in the log")
        return f"{message}; {values.format(value=self.value, ours=self.ours, theirs=self.theirs)}"


@dataclass(frozen=True)
class Replayed:
    """The result of a replay."""

    contest: str
    entries: int
    scores: int
    """How many files were judged again."""
    targets: int
    results: int
    receipts: int
    """``targets``, ``results``, ``receipts``: how many were made again, computed again, and verified."""
    skipped: int
    """How many scores of another scorer than the one installed a later one replaced; they are not made again."""
    first_misfit: ReplayMismatch | None

    @property
    def ok(self) -> bool:
        """Whether the replay agrees with the log."""
        return self.first_misfit is None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        misfit = self.first_misfit
        data = {"ok": self.ok} | asdict(self)
        data["first_misfit"] = None if misfit is None else asdict(misfit) | {"sentence": misfit.sentence}
        return data


@dataclass(frozen=True)
class Audited:
    """The result of an audit; ``problems`` are the differences."""

    contest: str
    entries: int
    head: str
    receipts: int
    lots: str
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"ok": self.ok} | asdict(self) | {"problems": list(self.problems)}


def audit(path: Path, receipts: Path | None = None) -> Audited:
    """Verify the chain, the commitment and the receipts of an archive, or of a log with one entry per line.

    ``receipts`` are a receipt, or a folder of receipts; those in an archive are verified as well.
    """
    entries = read_log(path)
    problems: list[str] = []
    try:
        verify(entries)
    except BrokenChainError as error:
        problems.append(reason_of(error))
    created: Mapping[str, Any] = entries[0].body if entries else {}
    contest, key = str(created.get("contest", "")), str(created.get("public_key", ""))
    revealed = [entry for entry in entries if entry.kind == "revealed"]
    lots = "committed" if created.get("commitment") else "none"
    if revealed:
        lots = "revealed" if _salt_fits(str(created.get("commitment", "")), revealed[-1]) else "broken"
    if lots == "broken":
        problems.append(_("the salt does not match the commitment"))
    count = 0
    for place, receipt in _receipts(path, receipts, problems):
        count += 1
        problems += [f"{place}: {problem}" for problem in _wrong_receipt(receipt, key, contest, entries)]
    head = entries[-1].digest if entries else ""
    return Audited(contest, len(entries), head, count, lots, tuple(problems))


def _salt_fits(committed: str, revealed: LogEntry) -> bool:
    try:
        return matches_commitment(committed, bytes.fromhex(str(revealed.body.get("salt", ""))))
    except ValueError:
        return False


def _receipts(path: Path, saved: Path | None, problems: list[str]) -> Iterator[tuple[str, Receipt]]:
    """Yield receipts with their origin; invalid ones become problems."""
    if is_zipfile(path):
        with open_archive(path) as archive:
            problems += [why for why in (archive.end_mismatch(),) if why is not None]
            try:
                yield from ((receipt.submission, receipt) for receipt in archive.receipts())
            except NorenError as error:
                problems.append(reason_of(error))
    if saved is None:
        return
    for file in sorted(saved.glob("*.json")) if saved.is_dir() else [saved]:
        try:
            yield file.name, read_receipt(file)
        except NorenError as error:
            problems.append(f"{file.name}: {reason_of(error)}")


def _wrong_receipt(receipt: Receipt, key: str, contest: str, entries: Sequence[LogEntry]) -> list[str]:
    try:
        verify_receipt(receipt, key)
    except BadReceiptError as error:
        return [reason_of(error), *misfits(receipt, contest, entries)]
    return misfits(receipt, contest, entries)


def replay(path: Path, *, workers: int | None = None, progress: Progress = silent) -> Replayed:
    """Compute every score, target, table and rank of an archive again, and name the first entry that differs.

    So many ``workers`` score at once (default: number of cores).
    """
    with open_archive(path, to_replay=True) as archive, TemporaryDirectory(prefix="noren-replay-") as folder:
        again = _Replay(archive, Path(folder))
        try:
            verify(archive.entries)
            if (why := archive.end_mismatch()) is not None:
                again.misfit(archive.entries[-1], why)
        except BrokenChainError as error:
            kind = archive.entries[error.place].kind
            again.misfits.append(ReplayMismatch(error.place, kind, "", "", "", reason_of(error)))
        if not again.misfits:
            again.walk(part_of(progress, 0.0, 0.1))
            again.check_other_files()
            again.judge_again(workers or cores(), part_of(progress, 0.1, 1.0))
        first = min(again.misfits, key=lambda misfit: misfit.position, default=None)
        return Replayed(archive.contest, len(archive.entries), **again.counts, first_misfit=first)


class _Replay:
    """The work of a replay, and the differences so far."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.archive, self._folder, self._paths = archive, folder, dict[str, str]()
        (folder / "files").mkdir()
        revealed = (entry.body for entry in archive.entries if entry.kind == "revealed")
        self._salt = str(next(revealed, {}).get("salt", ""))
        self.units: list[tuple[LogEntry, str, WorkUnit]] = []
        self.misfits: list[ReplayMismatch] = []
        self.counts = dict.fromkeys(("scores", "targets", "results", "receipts", "skipped"), 0)

    def misfit(self, entry: LogEntry, why: str, value: str = "", ours: Any = "", theirs: Any = "") -> None:
        """Record an entry that differs."""
        texts = [value_ if isinstance(value_, str) else canonical(value_).decode() for value_ in (ours, theirs)]
        here, there = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in texts)
        self.misfits.append(ReplayMismatch(entry.position, entry.kind, value, here, there, why))

    def _compare(self, entry: LogEntry, ours: Any, theirs: Any, within: str = "", why: str = "") -> None:
        """Record the first difference of plain data."""
        different = _difference(ours, theirs, within)
        if different is not None:
            self.misfit(entry, why or _("the replay gives a different result"), *different)

    def _path(self, digest: str) -> str:
        """Return the path of an extracted file; reject one that is missing or has another digest."""
        if digest not in self._paths:
            self._paths[digest] = str(self.archive.extract(digest, self._folder / "files"))
        return self._paths[digest]

    # --- going through the log -------------------------------------------------------------------------------------

    def walk(self, progress: Progress) -> None:
        """Check all entries that follow from the log alone, and plan the work that needs files."""
        state = Contest()
        for entry in self.archive.entries:
            progress(entry.position / len(self.archive.entries))
            try:
                before, state = state, fold([entry], state)  # a kind that there is not stops here
                self._check(before, entry)
            except (NorenError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                self.misfit(entry, reason_of(error))
                return
        # scores of another scorer that a later one replaced are left out; those that stand are made again by ours
        standing = {submission.judged_at for submission in state.submissions.values()}
        replaced = {
            entry.position
            for entry, _value, _unit in self.units
            if entry.body.get("scorer", SCORER) != SCORER and entry.position not in standing
        }
        self.units = [unit for unit in self.units if unit[0].position not in replaced]
        self.counts["skipped"] += len(replaced)

    def _check(self, contest: Contest, entry: LogEntry) -> None:
        """Check an entry against the contest before it, and plan the work that needs files."""
        body = entry.body
        match entry.kind:
            case "created":
                ours = read_rulebook(body["rulebook"]).digest
                self._compare(entry, ours, body["rulebook_digest"], "rulebook_digest")
            case kind if kind in actions.DECIDED:  # phase, quota, team, what may be changed when
                again = actions.repeat_decision(contest, entry)
                if not again:
                    self.misfit(entry, _("the rules did not allow this"))
                else:
                    self._compare(entry, dict(again[0].body), dict(body))
            case "registered" | "joined":
                own = contest.team_of.get(body["account"])
                if own is not None:
                    self.misfit(entry, _("the rules did not allow this"), "team", own, body["team"])
            case "release-judged" | "guess-judged":
                result = {name: value for name, value in body.items() if name not in ("submission", "scorer")}
                if not actions.judge(contest, submission=body["submission"], scorer=body["scorer"], result=result):
                    why = _("the rules did not allow this")
                    self.misfit(entry, why, "scorer", contest.scorer, body["scorer"])
                    return
                known = contest.submissions[body["submission"]]
                self._plan(contest, entry, known.kind, release_of(contest, known), guess=known.digest)
            case "targets-published":
                self._targets(contest, entry)
            case "flagged":
                first, second = (contest.submissions[name].judged or {} for name in body["submissions"])
                self._compare(entry, round(similarity(first["sketch"], second["sketch"]), 4), body["share"], "share")
            case "revealed":
                if not _salt_fits(contest.commitment, entry):
                    why = _("the salt does not match the commitment")
                    self.misfit(entry, why, "salt", contest.commitment, body.get("salt"))
                elif not actions.reveal(contest, entry.time, salt=self._salt):
                    self.misfit(entry, _("the rules did not allow this"))
            case "results":
                self.counts["results"] += 1
                self._compare(entry, results_of(contest).digest, body["digest"], "digest")

    def _targets(self, contest: Contest, entry: LogEntry) -> None:
        body, round_ = entry.body, entry.body["round"]
        if not contest.protecting_over(round_, entry.time):
            self.misfit(entry, _("the rules did not allow this"))
            return
        theirs = {target["target"]: target["submission"] for target in body["targets"]}
        then = contest.copy()
        for name in theirs.values():  # with the teams that were disqualified while their targets were being made
            team = then.teams[then.submissions[name].team]
            then.teams[team.id] = replace(team, out=None)
        expected = {
            number: release.id for number, release in numbered_releases(then, round_, bytes.fromhex(self._salt)).items()
        }
        if expected != theirs:
            self._compare(entry, expected, theirs)
            return
        for at, target in enumerate(body["targets"]):
            self.counts["targets"] += 1
            self._path(target["digest"])
            self._plan(contest, entry, "target", contest.submissions[target["submission"]], value=f"targets.{at}")

    def _plan(
        self, contest: Contest, entry: LogEntry, kind: str, release: Submission, *, guess: str = "", value: str = ""
    ) -> None:
        """Plan to score a release or a guess, or to make a target."""
        digests = [contest.rounds[release.round].data, release.digest, *([guess] if kind == "guess" else [])]
        original, submitted, *answers = map(self._path, digests)
        draws = [] if kind == "release" else [self._salt, target_label(contest, release)]
        arguments = (kind, contest.rulebook.to_toml(), original, submitted, *draws, *answers)
        self.units.append((entry, value, WorkUnit(_again, arguments, code="replay")))

    def check_other_files(self) -> None:
        """Compare tables and receipts in the archive with the log."""
        archive = self.archive
        if not self.misfits:
            made = results_of(fold(archive.entries))
            for name, write in RESULTS_FILES.items():
                if name in archive.names("results/") and archive.text(f"results/{name}") != write(made).encode():
                    why = _("{name} does not match the log").format(name=f"results/{name}")
                    self.misfit(archive.entries[-1], why)
        key = str(archive.entries[0].body.get("public_key", ""))
        for receipt in archive.receipts():
            self.counts["receipts"] += 1
            for why in _wrong_receipt(receipt, key, archive.contest, archive.entries)[:1]:
                at = min(max(receipt.position, 0), len(archive.entries) - 1)
                self.misfit(archive.entries[at], why)

    def judge_again(self, workers: int, progress: Progress) -> None:
        """Do the planned work on all cores and compare the results."""
        units = list(dict.fromkeys(unit for _entry, _value, unit in self.units))
        # who reads one release reads it once for all guesses against it
        units.sort(key=lambda unit: unit.arguments[2:4])
        done: dict[WorkUnit, Any] = {}
        for unit in run_units(units, done, PieceStore(self._folder / "pieces"), workers):
            progress(len(done) / len(units), f"{unit.arguments[0]} again")
        for entry, value, unit in self.units:
            self.counts["scores"] += unit.arguments[0] != "target"
            ours, scorer, why = done[unit], entry.body.get("scorer", SCORER), ""
            if value:
                theirs: Any = {"digest": entry.body["targets"][int(value.split(".")[1])]["digest"]}
            else:
                theirs = {name: value_ for name, value_ in entry.body.items() if name not in ("submission", "scorer")}
                if scorer != SCORER:
                    why = _("it was scored with {scorer}, and {installed} is installed; replay it with that version")
                    why = why.format(scorer=scorer, installed=SCORER)
            if isinstance(ours, dict) and set(ours) == {"fault"}:
                self.misfit(entry, ours["fault"])
            else:
                self._compare(entry, ours, theirs, value, why)


_ORDER = ("kind", "rulebook", "original", "submitted", "salt", "label", "guess")


def _again(*values: str) -> Any:
    """Carry out an order of a worker again; ``fault`` is the reason of a failure."""
    try:
        return do(dict(zip(_ORDER, values, strict=False)) | {"out": os.devnull})
    except MemoryError:
        raise
    except Exception as error:
        return {"fault": reason_of(error)}


def _difference(ours: Any, theirs: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Return the first difference of plain data: path and both values; None if they are equal.

    >>> _difference({"values": {"u": 0.2}, "valid": True}, {"values": {"u": 0.3}, "valid": True})
    ('values.u', 0.2, 0.3)
    """
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for name in sorted({*ours, *theirs}):
            below = f"{path}.{name}" if path else str(name)
            if name not in ours or name not in theirs:
                return below, ours.get(name), theirs.get(name)
            difference = _difference(ours[name], theirs[name], below)
            if difference is not None:
                return difference
        return None
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        differences = (_difference(left, right, f"{path}.{at}" if path else str(at)) for at, (left, right) in pairs)
        return next((difference for difference in differences if difference is not None), None)
    return None if canonical(ours) == canonical(theirs) else (path, ours, theirs)
