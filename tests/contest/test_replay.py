"""Replay: what was played fits; whatever anybody changes is named, with the entry and the value."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contest.played import Played, once_played

from noren.contest import replay as room
from noren.contest.archive import read_log
from noren.contest.judging import SCORER
from noren.contest.receipts import SigningKey
from noren.contest.replay import audit, replay
from noren.contest.results import results_of
from noren.contest.state import fold
from noren.errors import ParameterError
from noren.work.hash_chain import EntryContent, LogEntry, canonical, next_entry

Bodies = list[tuple[LogEntry, dict[str, Any]]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return once_played(tmp_path_factory)


@pytest.fixture(scope="module")
def cup(played: Played) -> Path:
    return played.folder / "cup.zip"


def _parts(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as source:
        return {name: source.read(name) for name in source.namelist()}


def _written(parts: dict[str, bytes], target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)
    return target


def _told_otherwise(cup: Path, target: Path, change: Callable[[Bodies], None], *, results: bool = True) -> Path:
    """Write an archive as a lying organiser would: a changed log that is a whole chain, without receipts.

    ``results`` makes the digest of the results fit again.
    """
    told: Bodies = [(one, json.loads(canonical(dict(one.body)))) for one in read_log(cup)]
    change(told)
    log: list[LogEntry] = []
    for entry, body in told:
        if entry.kind == "results" and results:
            body = {"digest": results_of(fold(log)).digest}
        log.append(next_entry(log[-1] if log else None, entry.time, EntryContent(entry.kind, entry.actor, body)))
    parts = {name: content for name, content in _parts(cup).items() if not name.startswith(("receipts/", "results/"))}
    parts["log.jsonl"] = b"".join(canonical(one.as_dict()) + b"\n" for one in log)
    manifest = json.loads(parts["manifest.json"]) | {"entries": len(log), "head": log[-1].digest}
    parts["manifest.json"] = canonical(manifest)
    return _written(parts, target)


def _first(told: Bodies, kind: str, **where: Any) -> dict[str, Any]:
    return next(body for entry, body in told if entry.kind == kind and where.items() <= body.items())


def _position(cup: Path, kind: str, **where: Any) -> int:
    return next(one.position for one in read_log(cup) if one.kind == kind and where.items() <= one.body.items())


def test_what_was_played_fits(cup: Path) -> None:
    found = replay(cup, workers=1)
    assert found.as_dict() == {
        "ok": True,
        "contest": "small-cup",
        "entries": 19,
        "scores": 6,
        "targets": 3,
        "results": 1,
        "receipts": 6,
        "skipped": 0,
        "first_misfit": None,
    }


def test_work_can_be_handed_to_other_processes(cup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def look(again: Any, *_rest: Any) -> int:
        seen.extend(again.units)
        return 0

    monkeypatch.setattr(room._Replay, "judge_again", look)
    replay(cup)
    units = [unit for _entry, _value, unit in seen]
    assert len(units) == 9
    assert pickle.loads(pickle.dumps(units)) == units


def test_an_honest_log_told_again_fits(cup: Path, tmp_path: Path) -> None:
    """Or the tests below would find what they changed by accident."""
    assert replay(_told_otherwise(cup, tmp_path / "same.zip", lambda told: None), workers=1).ok


def test_a_changed_score_is_named_with_both_values(cup: Path, tmp_path: Path) -> None:
    before = 0.0

    def better(told: Bodies) -> None:
        nonlocal before
        body = _first(told, "release-judged", valid=True)
        before = body["values"]["cell-error"]
        body["values"]["cell-error"] = 0.1

    found = replay(_told_otherwise(cup, tmp_path / "wrong.zip", better), workers=1).first_misfit
    assert found is not None
    assert (found.position, found.kind) == (_position(cup, "release-judged", valid=True), "release-judged")
    assert (found.value, found.ours, found.theirs) == ("values.cell-error", str(before), "0.1")
    assert f"values.cell-error is {before} in the replay and 0.1 in the log" in found.sentence


def _effective(told: Bodies) -> None:
    _first(told, "guess-judged")["values"]["effective"] = 0.0


def _fewer(told: Bodies) -> None:
    _first(told, "guess-judged")["tried"]["right"] = 3


def _invalid(told: Bodies) -> None:
    _first(told, "release-judged", valid=False)["report"]["en"]["problems"] = []


def _renumbered(told: Bodies) -> None:
    targets = _first(told, "targets-published")["targets"]
    targets[0]["target"], targets[1]["target"] = targets[1]["target"], targets[0]["target"]


def _other_target(told: Bodies) -> None:
    targets = _first(told, "targets-published")["targets"]
    targets[0]["digest"] = targets[1]["digest"]


def _other_rules(told: Bodies) -> None:
    told[0][1]["rulebook"] = told[0][1]["rulebook"].replace("1/2000", "1/2001")


def _stranger(told: Bodies) -> None:
    _first(told, "guess-received")["account"] = "somebody"


def _foreign_kind(told: Bodies) -> None:
    told[3] = (LogEntry(**{**told[3][0].__dict__, "kind": "miracle"}), told[3][1])


def _added(kind: str, after: str, **body: Any) -> Callable[[Bodies], None]:
    """Put an entry behind the first of a kind."""

    def change(told: Bodies) -> None:
        at = next(at for at, (entry, _body) in enumerate(told) if entry.kind == after)
        told.insert(at + 1, (LogEntry(**{**told[at][0].__dict__, "kind": kind, "actor": "organiser:o"}), body))

    return change


def _reopened(told: Bodies) -> None:
    phases = json.loads(canonical(told[0][1]["phases"]))
    phases[1]["closes"] = phases[2]["opens"] = phases[2]["closes"]
    phases[2]["closes"] = phases[3]["closes"]
    phases[3]["opens"] = phases[4]["opens"] = phases[3]["closes"]
    del phases[3]
    _added("rescheduled", "targets-published", phases=phases, reason="a friend was late")(told)


def _in_two_teams(told: Bodies) -> None:
    (one, other) = [body for entry, body in told if entry.kind == "registered"][:2]
    other["account"] = one["account"]


def _judged_twice(told: Bodies) -> None:
    judged = next(body for entry, body in told if entry.kind == "release-judged" and body["valid"])
    _added("release-judged", "targets-published", **judged)(told)


@pytest.mark.parametrize(
    ("change", "kind", "value"),
    [
        (_effective, "guess-judged", "values.effective"),
        (_fewer, "guess-judged", "tried.right"),
        (_invalid, "release-judged", "report.en.problems"),
        (_renumbered, "targets-published", "01"),
        (_other_target, "targets-published", "targets.0.digest"),
        (_other_rules, "created", "rulebook_digest"),
        (_stranger, "guess-received", ""),
        (_foreign_kind, "miracle", ""),
        (_reopened, "rescheduled", ""),
        (_in_two_teams, "registered", "team"),
        (_judged_twice, "release-judged", "scorer"),
        (_added("resumed", "targets-published"), "resumed", ""),
        (_added("paused", "guess-received", reason="x"), "guess-received", ""),
    ],
)
def test_whatever_is_told_otherwise_is_found(
    cup: Path, tmp_path: Path, change: Callable[[Bodies], None], kind: str, value: str
) -> None:
    wrong = _told_otherwise(cup, tmp_path / "wrong.zip", change, results=kind != "miracle")
    found = replay(wrong, workers=1).first_misfit
    assert found is not None
    assert (found.kind, found.value) == (kind, value)


def test_another_salt_is_not_the_committed_one(cup: Path, tmp_path: Path) -> None:
    def other(told: Bodies) -> None:
        _first(told, "revealed")["salt"] = "00" * 32

    wrong = _told_otherwise(cup, tmp_path / "wrong.zip", other)
    assert "the salt does not match the commitment" in audit(wrong).problems
    found = replay(wrong, workers=1)
    assert found.first_misfit is not None
    assert found.first_misfit.kind == "targets-published"  # the first that rests on it


def test_a_file_that_came_late_was_not_to_be_taken(cup: Path, tmp_path: Path) -> None:
    """The release of ann is told to have come after protecting was over."""

    def late(told: Bodies) -> None:
        closes = told[0][1]["phases"][1]["closes"]
        for at, (entry, body) in enumerate(told):
            if at >= 5 and entry.time < closes:
                told[at] = (LogEntry(**{**entry.__dict__, "time": closes}), body)

    found = replay(_told_otherwise(cup, tmp_path / "wrong.zip", late), workers=1).first_misfit
    assert found is not None
    assert (found.position, found.kind) == (5, "release-received")
    assert "closed" in found.why


def test_results_that_are_not_those_of_the_log(cup: Path, tmp_path: Path) -> None:
    def other(told: Bodies) -> None:
        _first(told, "results")["digest"] = "0" * 64

    found = replay(_told_otherwise(cup, tmp_path / "wrong.zip", other, results=False), workers=1).first_misfit
    assert found is not None
    assert (found.kind, found.value, found.theirs) == ("results", "digest", "0" * 64)


def test_a_disqualification_after_the_results_needs_new_ones(cup: Path, tmp_path: Path) -> None:
    """The tables of the archive are compared with the log at its end."""
    parts = _parts(cup)
    parts["results/standings.csv"] = parts["results/standings.csv"].replace(b"Team ann", b"Team eve")
    found = replay(_written(parts, tmp_path / "wrong.zip"), workers=1).first_misfit
    assert found is not None
    assert "results/standings.csv does not match the log" in found.why


def test_a_broken_chain_stops_at_once(cup: Path, tmp_path: Path) -> None:
    parts = _parts(cup)
    lines = parts["log.jsonl"].split(b"\n")
    lines[7] = lines[7].replace(b"release-received", b"release-receiver")
    parts["log.jsonl"] = b"\n".join(lines)
    wrong = _written(parts, tmp_path / "wrong.zip")
    found = replay(wrong, workers=1)
    assert (found.ok, found.scores) == (False, 0)
    assert found.first_misfit is not None
    assert found.first_misfit.position == 7
    assert audit(wrong).problems[0].startswith("entry 7 of the log does not fit: its content was changed")


def test_a_log_that_was_cut_short_is_seen(cup: Path, tmp_path: Path) -> None:
    parts = _parts(cup)
    parts["log.jsonl"] = b"\n".join(parts["log.jsonl"].split(b"\n")[:15]) + b"\n"
    wrong = _written(parts, tmp_path / "wrong.zip")
    assert "manifest.json does not match the log" in audit(wrong).problems
    found = replay(wrong, workers=1).first_misfit
    assert found is not None
    assert found.position == 14


def test_a_file_that_is_missing_or_another_is_named_with_its_entry(cup: Path, tmp_path: Path) -> None:
    entries = read_log(cup)
    guess = next(one for one in entries if one.kind == "guess-received")
    parts = _parts(cup)
    del parts[f"files/{guess.body['digest']}"]
    missing = replay(_written(parts, tmp_path / "missing.zip"), workers=1).first_misfit
    assert missing is not None
    assert (missing.kind, missing.position) == ("guess-judged", _position(cup, "guess-judged"))
    assert "is missing" in missing.why
    parts[f"files/{guess.body['digest']}"] = b"x" * guess.body["bytes"]
    other = replay(_written(parts, tmp_path / "other.zip"), workers=1).first_misfit
    assert other is not None
    assert "does not match the log" in other.why


def _by_an_older_scorer(told: Bodies) -> None:
    told[0][1]["scorer"] = "noren-0.0-1"
    for entry, body in told:
        if entry.kind.endswith("-judged"):
            body["scorer"] = "noren-0.0-1"


def test_scores_of_another_scorer_are_made_again_by_ours(cup: Path, tmp_path: Path) -> None:
    """Where ours finds the same, they hold; where it does not, the misfit names both."""
    found = replay(_told_otherwise(cup, tmp_path / "other.zip", _by_an_older_scorer), workers=1)
    assert (found.ok, found.scores, found.skipped) == (True, 6, 0)

    def wrong(told: Bodies) -> None:
        _by_an_older_scorer(told)
        body = next(body for entry, body in told if entry.kind == "release-judged" and body["valid"])
        body["values"] = {"cell-error": 0.5}

    misfit = replay(_told_otherwise(cup, tmp_path / "wrong.zip", wrong), workers=1).first_misfit
    assert misfit is not None
    assert misfit.value == "values.cell-error"
    assert "noren-0.0-1" in misfit.why
    assert SCORER in misfit.why


def test_what_was_judged_again_by_this_scorer_fits(cup: Path, tmp_path: Path) -> None:
    """An older scorer was wrong about everything; the scores that stand are of the one installed."""

    def judged_again(told: Bodies) -> None:
        again = [(entry, dict(body)) for entry, body in told if entry.kind.endswith("-judged")]
        _by_an_older_scorer(told)
        for entry, body in told:
            if entry.kind == "release-judged" and body["valid"]:
                body["values"] = {"cell-error": 0.5}
        at = next(at for at, (entry, _body) in enumerate(told) if entry.kind == "revealed")
        rescored = LogEntry(**{**told[at][0].__dict__, "kind": "rescored", "actor": "organiser:o"})
        moved = [(LogEntry(**{**entry.__dict__, "time": rescored.time}), body) for entry, body in again]
        told[at:at] = [(rescored, {"scorer": SCORER, "reason": "it rounded wrongly"}), *moved]

    found = replay(_told_otherwise(cup, tmp_path / "again.zip", judged_again), workers=1)
    assert (found.ok, found.scores, found.skipped) == (True, 6, 6)


def test_a_sealed_backup_cannot_be_replayed_but_audited(played: Played) -> None:
    with pytest.raises(ParameterError, match="sealed backup"):
        replay(played.folder / "backup.zip")
    found = audit(played.folder / "backup.zip")
    assert (found.ok, found.lots, found.receipts) == (True, "committed", 5)


# --- receipts --------------------------------------------------------------------------------------------------------


def test_receipts_that_teams_kept_hold(cup: Path, played: Played, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    state = fold(read_log(cup))
    for one in state.submissions.values():
        (kept / f"{one.id}.json").write_text(played.arena.receipt(state, one).to_text(), encoding="utf-8")
    found = audit(cup, kept)
    assert (found.ok, found.receipts, found.lots, found.head) == (True, 12, "revealed", state.digest)
    assert audit(cup, next(kept.iterdir())).receipts == 7


def test_a_kept_receipt_finds_a_log_that_was_written_anew(cup: Path, played: Played, tmp_path: Path) -> None:
    """The organiser exchanges a file and signs again; the team's own receipt says otherwise."""

    def exchanged(told: Bodies) -> None:
        _first(told, "release-received", bytes=18)["digest"] = "0" * 64

    wrong = _told_otherwise(cup, tmp_path / "wrong.zip", exchanged)
    state = fold(read_log(cup))
    one = next(iter(state.submissions.values()))
    kept = tmp_path / "receipt.json"
    kept.write_text(played.arena.receipt(state, one).to_text(), encoding="utf-8")
    found = audit(wrong, kept)
    assert not found.ok
    assert found.problems[0].startswith(f"receipt.json: digest is '{one.digest}' in the receipt and '{'0' * 64}")


def test_a_receipt_by_another_hand_is_none(cup: Path, tmp_path: Path) -> None:
    state = fold(read_log(cup))
    one = next(iter(state.submissions.values()))
    kept = tmp_path / "receipt.json"
    kept.write_text(SigningKey(bytes(32)).receipt(state.id, one).to_text(), encoding="utf-8")
    found = audit(cup, kept)
    assert len(found.problems) == 1
    assert "is not valid: the receipt was changed" in found.problems[0]
    kept.write_text("{}", encoding="utf-8")
    assert "this is not a receipt (form is missing or wrong)" in audit(cup, kept).problems[0]


def test_a_changed_receipt_in_the_archive_is_found(cup: Path, tmp_path: Path) -> None:
    parts = _parts(cup)
    name = next(name for name in parts if name.startswith("receipts/"))
    parts[name] = parts[name].replace(b'"bytes": ', b'"bytes": 1')
    wrong = _written(parts, tmp_path / "wrong.zip")
    found = replay(wrong, workers=1).first_misfit
    assert found is not None
    assert "the signature of the receipt of" in found.why
    assert not audit(wrong).ok


def test_a_log_without_files_can_be_audited(cup: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(_parts(cup)["log.jsonl"])
    found = audit(log)
    assert found.as_dict() == {
        "ok": True,
        "contest": "small-cup",
        "entries": 19,
        "head": read_log(cup)[-1].digest,
        "receipts": 0,
        "lots": "revealed",
        "problems": [],
    }


def test_a_team_that_was_disqualified_while_targets_were_made_keeps_its_target(cup: Path, tmp_path: Path) -> None:
    def meanwhile(told: Bodies) -> None:
        at = next(at for at, (entry, _body) in enumerate(told) if entry.kind == "targets-published")
        entry = told[at][0]
        body = {"team": _first(told, "registered")["team"], "reason": "two accounts"}
        told.insert(at, (LogEntry(**{**entry.__dict__, "kind": "disqualified", "actor": "organiser:o"}), body))
        told[:] = [one for one in told if not one[0].kind.startswith("guess-")]  # who is out plays no more

    found = replay(_told_otherwise(cup, tmp_path / "out.zip", meanwhile), workers=1)
    assert (found.ok, found.scores, found.targets) == (True, 4, 3)
