"""Replay: every score, target, table and rank of a contest again, from its log and files, on any machine.

Whoever has the archive needs nobody's word: the log is a chain of digests, files are called by theirs, scores are
functions of files, lots of the revealed salt, tables and ranks of the log. :func:`replay` does all of it again and
names the first entry that does not fit; :func:`audit` verifies log, commitment and receipts alone, which takes a moment
and works on a log without files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import is_zipfile

from noren.contest import actions
from noren.contest.archive import Archive, open_archive, read_log
from noren.contest.arena import numbered, target_label
from noren.contest.judging import SCORER
from noren.contest.judging.prepared import make_target, similar
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.receipts import BadReceiptError, Receipt, holds, misfits, read_receipt
from noren.contest.receipts import verify as verify_receipt
from noren.contest.results import RESULTS_FILES, results_of
from noren.contest.rulebook import read_rulebook
from noren.contest.state import Contest, fold
from noren.engines.blocks import cores
from noren.errors import NorenError, reason_of
from noren.i18n import _
from noren.progress import Progress, part_of, silent
from noren.work.hash_chain import BrokenChainError, LogEntry, canonical, digest_of, verify
from noren.work.store import PieceStore, WorkUnit
from noren.work.workers import run_units

_LONGEST = 200


@dataclass(frozen=True)
class ReplayMismatch:
    """An entry that does not follow from what is before it.

    Attributes
    ----------
    position, kind
        Which entry, and what it says.
    value
        Which of its values: ``values.cell-error``.
    ours, theirs
        What the replay makes of it, and what the log says.
    """

    position: int
    kind: str
    value: str
    ours: str
    theirs: str
    why: str

    @property
    def sentence(self) -> str:
        """What does not fit, in one line."""
        said = _("entry {position:,} ({kind}) does not fit: {why}").format(
            position=self.position, kind=self.kind, why=self.why
        )
        if not self.value:
            return said
        return _("{said}; {value} is {ours} here and {theirs} in the log").format(
            said=said, value=self.value, ours=self.ours, theirs=self.theirs
        )


@dataclass(frozen=True)
class Replayed:
    """What came of a replay.

    Attributes
    ----------
    scores
        How many files were judged again.
    targets, results, receipts
        How many targets were made again, results computed again, and receipts verified.
    skipped
        How many scores of another scorer than the one installed a later one replaced; they are not made again.
    """

    contest: str
    entries: int
    scores: int
    targets: int
    results: int
    receipts: int
    skipped: int
    first_misfit: ReplayMismatch | None

    @property
    def ok(self) -> bool:
        """Whether everything fits, and was made again."""
        return self.first_misfit is None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        misfit = self.first_misfit
        said = {"ok": self.ok} | asdict(self)
        said["first_misfit"] = None if misfit is None else asdict(misfit) | {"sentence": misfit.sentence}
        return said


@dataclass(frozen=True)
class Audited:
    """What came of an audit: ``problems`` are what does not fit, none where all does."""

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


# --- audit -----------------------------------------------------------------------------------------------------------


def audit(path: Path, receipts: Path | None = None) -> Audited:
    """Verify the chain of a log, the lots and receipts: of an archive, or of a log with an entry on each line.

    Parameters
    ----------
    receipts
        A receipt that a team kept, or a folder of them; of an archive its own are verified as well.
    """
    entries = read_log(path)
    problems: list[str] = []
    try:
        verify(entries)
    except BrokenChainError as error:
        problems.append(reason_of(error))
    created: Mapping[str, Any] = entries[0].body if entries else {}
    contest, key = str(created.get("contest", "")), str(created.get("public_key", ""))
    revealed = [one for one in entries if one.kind == "revealed"]
    lots = "committed" if created.get("commitment") else "none"
    if revealed:
        lots = "revealed" if _salt_fits(str(created.get("commitment", "")), revealed[-1]) else "broken"
    if lots == "broken":
        problems.append(_("the revealed salt is not the one that was committed to"))
    count = 0
    for place, receipt in _receipts(path, receipts, problems):
        count += 1
        problems += [f"{place}: {one}" for one in _wrong_receipt(receipt, key, contest, entries)]
    head = entries[-1].digest if entries else ""
    return Audited(contest, len(entries), head, count, lots, tuple(problems))


def _salt_fits(committed: str, revealed: LogEntry) -> bool:
    try:
        return holds(committed, bytes.fromhex(str(revealed.body.get("salt", ""))))
    except ValueError:
        return False


def _receipts(path: Path, kept: Path | None, problems: list[str]) -> Iterator[tuple[str, Receipt]]:
    """Yield receipts with where they come from; what is none is a problem."""
    if is_zipfile(path):
        with open_archive(path) as archive:
            problems += [why for why in (archive.wrong_end(),) if why is not None]
            try:
                yield from ((one.submission, one) for one in archive.receipts())
            except NorenError as error:
                problems.append(reason_of(error))
    if kept is None:
        return
    for file in sorted(kept.glob("*.json")) if kept.is_dir() else [kept]:
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


# --- replay ----------------------------------------------------------------------------------------------------------


def replay(path: Path, *, workers: int | None = None, progress: Progress = silent) -> Replayed:
    """Make every score, target, table and rank of an archive again, and name the first entry that does not fit.

    Parameters
    ----------
    workers
        How many processes judge at once; all cores if not said.
    """
    with open_archive(path, to_replay=True) as archive, TemporaryDirectory(prefix="noren-replay-") as folder:
        again = _Replay(archive, Path(folder))
        try:
            verify(archive.entries)
            if (why := archive.wrong_end()) is not None:
                again.misfit(archive.entries[-1], why)
        except BrokenChainError as error:
            kind = archive.entries[error.place].kind
            again.found.append(ReplayMismatch(error.place, kind, "", "", "", reason_of(error)))
        if not again.found:
            again.walk(part_of(progress, 0.0, 0.1))
            again.check_other_files()
            again.judge_again(workers or cores(), part_of(progress, 0.1, 1.0))
        first = min(again.found, key=lambda one: one.position, default=None)
        return Replayed(archive.contest, len(archive.entries), **again.counts, first_misfit=first)


class _Replay:
    """What is to be done again of an archive, and what was found on the way."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.archive, self._folder, self._paths = archive, folder, dict[str, str]()
        (folder / "files").mkdir()
        self._salt = next((str(one.body.get("salt", "")) for one in archive.entries if one.kind == "revealed"), "")
        self.units: list[tuple[LogEntry, str, WorkUnit]] = []
        self.found: list[ReplayMismatch] = []
        self.counts = dict.fromkeys(("scores", "targets", "results", "receipts", "skipped"), 0)

    def misfit(self, entry: LogEntry, why: str, value: str = "", ours: Any = "", theirs: Any = "") -> None:
        """Write down that an entry does not fit."""
        texts = [one if isinstance(one, str) else canonical(one).decode() for one in (ours, theirs)]
        here, there = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in texts)
        self.found.append(ReplayMismatch(entry.position, entry.kind, value, here, there, why))

    def _compare(self, entry: LogEntry, ours: Any, theirs: Any, why: str, within: str = "") -> None:
        """Write down where plain data first differ."""
        different = _difference(ours, theirs)
        if different is not None:
            path, here, there = different
            self.misfit(entry, why, ".".join(part for part in (within, path) if part), here, there)

    def _path(self, digest: str) -> str:
        """Return where a file is, written there once; stop where the archive has it not, or another under its name."""
        if digest not in self._paths:
            self._paths[digest] = str(self.archive.extract(digest, self._folder / "files"))
        return self._paths[digest]

    # --- going through the log -------------------------------------------------------------------------------------

    def walk(self, progress: Progress) -> None:
        """Go through the log: check at once what follows from the log alone, and plan what needs files."""
        state = Contest()
        for entry in self.archive.entries:
            progress(entry.position / len(self.archive.entries))
            try:
                before, state = state, fold([entry], state)  # a kind that there is not stops here
                self._check(before, entry)
            except NorenError as error:
                self.misfit(entry, reason_of(error))
                return
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                self.misfit(entry, _("it cannot be read: {why}").format(why=reason_of(error)))
                return
        # scores of another scorer that a later one replaced are left out; those that stand are made again by ours
        standing = {one.judged_at for one in state.submissions.values()}
        replaced = {
            entry.position
            for entry, _value, _unit in self.units
            if entry.body.get("scorer", SCORER) != SCORER and entry.position not in standing
        }
        self.units = [one for one in self.units if one[0].position not in replaced]
        self.counts["skipped"] += len(replaced)

    def _check(self, contest: Contest, entry: LogEntry) -> None:
        """Check what follows from the contest before an entry alone, and plan what needs files."""
        said = entry.body
        match entry.kind:
            case "created":
                ours = read_rulebook(said["rulebook"]).digest
                if ours != said["rulebook_digest"]:
                    theirs = said["rulebook_digest"]
                    self.misfit(entry, _("the rulebook is another"), "rulebook_digest", ours, theirs)
            case kind if kind in actions.DECIDED:  # phase, quota, team, what may be changed when
                again = actions.decided_again(contest, entry)
                if not again:
                    self.misfit(entry, _("by the rules there was nothing to say"))
                else:
                    self._compare(entry, dict(again[0].body), dict(said), _("by the rules it says something else"))
            case "registered" | "joined":
                own = contest.team_of.get(said["account"])
                if own is not None:
                    self.misfit(entry, _("one person is in two teams"), "team", own, said["team"])
            case "release-judged" | "guess-judged":
                result = {name: one for name, one in said.items() if name not in ("submission", "scorer")}
                if not actions.judge(contest, submission=said["submission"], scorer=said["scorer"], result=result):
                    why = _("it was judged already, or by another scorer")
                    self.misfit(entry, why, "scorer", contest.scorer, said["scorer"])
                    return
                known = contest.submissions[said["submission"]]
                if known.kind == "release":
                    self._plan(contest, entry, known.round, known.digest)
                else:
                    attacked = contest.submissions[contest.targets[known.round][known.target or ""].submission]
                    label = target_label(contest, attacked)
                    self._plan(contest, entry, known.round, attacked.digest, label, guess=known.digest)
            case "targets-published":
                self._targets(contest, entry)
            case "flagged":
                one, other = (contest.submissions[name].judged or {} for name in said["submissions"])
                share = round(similar(one["sketch"], other["sketch"]), 4)
                if share != said["share"]:
                    self.misfit(entry, _("the files have another share in common"), "share", share, said["share"])
            case "revealed":
                if not _salt_fits(contest.commitment, entry):
                    why = _("the salt is not the committed one")
                    self.misfit(entry, why, "salt", contest.commitment, said.get("salt"))
                elif not actions.reveal(contest, entry.time, salt=self._salt):
                    self.misfit(entry, _("it was revealed too early, or twice"))
            case "results":
                self.counts["results"] += 1
                ours = results_of(contest).digest
                if ours != said["digest"]:
                    self.misfit(entry, _("the results are others"), "digest", ours, said["digest"])

    def _targets(self, contest: Contest, entry: LogEntry) -> None:
        said, round_ = entry.body, entry.body["round"]
        if not contest.protecting_over(round_, entry.time):
            self.misfit(entry, _("protecting was not over"))
            return
        theirs = {one["target"]: one["submission"] for one in said["targets"]}
        then = contest.copy()
        for name in theirs.values():  # with the teams that were disqualified while their targets were being made
            team = then.teams[then.submissions[name].team]
            then.teams[team.id] = replace(team, out=None)
        expected = {number: one.id for number, one in numbered(then, round_, bytes.fromhex(self._salt)).items()}
        if expected != theirs:
            self._compare(entry, expected, theirs, _("the lots give the targets other numbers"))
            return
        for at, one in enumerate(said["targets"]):
            release = contest.submissions[one["submission"]]
            self.counts["targets"] += 1
            self._path(one["digest"])
            label = target_label(contest, release)
            self._plan(contest, entry, round_, release.digest, label, value=f"targets.{at}.digest")

    def _plan(
        self, contest: Contest, entry: LogEntry, round_: str, submitted: str, label: str = "", *,
        guess: str = "", value: str = "",
    ) -> None:  # fmt: skip
        """Plan to score a release, to score a guess on it, or to make its target: what the entry says of it."""
        about = contest.rounds[round_]
        what = "guess" if guess else "target" if label else "release"
        given = [what, contest.rulebook.to_toml(), self._path(about.data), self._path(submitted)]
        if label:
            given += [self._salt, label, *([self._path(guess)] if guess else [])]
        self.units.append((entry, value, WorkUnit(_again, tuple(given), code="replay")))

    def check_other_files(self) -> None:
        """Compare tables and receipts in the archive with those that the log gives."""
        archive = self.archive
        if not self.found:
            made = results_of(fold(archive.entries))
            for name, write in RESULTS_FILES.items():
                if name in archive.names("results/") and archive.text(f"results/{name}") != write(made).encode():
                    why = _("{name} in the archive is not what the log gives").format(name=f"results/{name}")
                    self.misfit(archive.entries[-1], why)
        key = str(archive.entries[0].body.get("public_key", ""))
        for receipt in archive.receipts():
            self.counts["receipts"] += 1
            for why in _wrong_receipt(receipt, key, archive.contest, archive.entries)[:1]:
                at = min(max(receipt.position, 0), len(archive.entries) - 1)
                self.misfit(archive.entries[at], _("its receipt does not fit: {why}").format(why=why))

    def judge_again(self, workers: int, progress: Progress) -> None:
        """Do the planned work on all cores, each once, and compare."""
        units = list(dict.fromkeys(unit for _entry, _value, unit in self.units))
        units.sort(key=lambda one: one.arguments[2:4])  # who reads one release reads it once for all guesses against it
        done: dict[WorkUnit, Any] = {}
        for unit in run_units(units, done, PieceStore(self._folder / "pieces"), workers):
            progress(len(done) / len(units), f"{unit.arguments[0]} again")
        for entry, value, unit in self.units:
            self.counts["scores"] += unit.arguments[0] != "target"
            ours, scorer = done[unit], entry.body.get("scorer", SCORER)
            if value:
                theirs: Any = entry.body["targets"][int(value.split(".")[1])]["digest"]
                why = _("the target made again is another file")
            else:
                theirs = {name: one for name, one in entry.body.items() if name not in ("submission", "scorer")}
                why = _("the file judged again gives another result")
                if scorer != SCORER:
                    said = _("it was judged by {scorer}, and this is {installed}; replay it with that version")
                    why = said.format(scorer=scorer, installed=SCORER)
            if isinstance(ours, dict) and set(ours) == {"fault"}:
                self.misfit(entry, ours["fault"])
            else:
                self._compare(entry, ours, theirs, why, value)


_book = cache(read_rulebook)


def _again(
    what: str, book: str, original: str, submitted: str, salt: str = "", label: str = "", guess: str = ""
) -> Any:
    """Score a release or a guess again, or return the digest of the target made again; a fault says why it failed."""
    try:
        given = _book(book), Path(original), Path(submitted)
        if what == "release":
            return score_release(*given)
        if what == "guess":
            return score_guess(*given, bytes.fromhex(salt), label, Path(guess))
        return digest_of(make_target(*given, bytes.fromhex(salt), label))
    except MemoryError:
        raise
    except Exception as error:
        return {"fault": reason_of(error)}


# --- comparing -------------------------------------------------------------------------------------------------------


def _difference(ours: Any, theirs: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Return where two plain data first differ, and both values there; None where they are the same.

    >>> _difference({"values": {"u": 0.2}, "valid": True}, {"values": {"u": 0.3}, "valid": True})
    ('values.u', 0.2, 0.3)
    """
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for name in sorted({*ours, *theirs}):
            below = f"{path}.{name}" if path else str(name)
            if name not in ours or name not in theirs:
                return below, ours.get(name), theirs.get(name)
            found = _difference(ours[name], theirs[name], below)
            if found is not None:
                return found
        return None
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        found_in = (_difference(one, other, f"{path}.{at}" if path else str(at)) for at, (one, other) in pairs)
        return next((found for found in found_in if found is not None), None)
    return None if canonical(ours) == canonical(theirs) else (path, ours, theirs)
