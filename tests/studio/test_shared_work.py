"""The studio and ``noren explore`` share what they compute: either goes on with what the other did."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Command

from noren import api
from noren.measures.safety import classes
from noren.progress import silent
from noren.studio.folders import Folders, read_json
from noren.studio.work import running
from noren.sweeps.cached_point import CachedPoint
from noren.sweeps.sweep import build_request, run

ATTACKS, MEASURES = ["unique-rows", "jaccard"], ["cell-error", "reid-rate", "effective"]
PIECES = 1 + len(ATTACKS) + len(MEASURES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of the studio whose data were read."""
    history = api.sample(customers=20, rows=300, items=50, seed=1)
    folders = Folders(tmp_path)
    folders.project("p" * 12).mkdir(parents=True)
    history.frame.select(history.schema.names).write_parquet(folders.data("p" * 12))
    folders.schema("p" * 12).write_text(history.schema.to_toml(), encoding="utf-8")
    return folders.project("p" * 12)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was protected, attacked and measured, in order."""
    done: list[str] = []

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(original: Any, what: Any, *more: Any, **named: Any) -> Any:
            one = more[0] if more else what
            done.append(one if isinstance(one, str) else one.name)
            return real(original, what, *more, **named)

        return call

    for name in ("protect_unaudited", "attack", "measure"):
        monkeypatch.setattr(api, name, counting(getattr(api, name)))
    return done


def order(project: Path, k: int, seed: int = 5, **more: Any) -> dict[str, Any]:
    steps = [{"method": "generalize-by-count", "parameters": {"k": k}}]
    root, judges = project.parent.parent, {"attacks": ATTACKS, "measures": MEASURES}
    return {"project": project.name, "root": str(root), "seed": seed, "steps": steps} | judges | more


def do(
    project: Path, asked: dict[str, Any], job: str = "j" * 12, progress: Any = silent
) -> tuple[dict[str, Any], Path]:
    folder = project / "jobs" / job
    folder.mkdir(parents=True, exist_ok=True)
    return running.do(asked, folder, progress), folder


def swept(project: Path, k: Any, **more: Any) -> Any:
    original = running.original_of(order(project, 0))
    judges: dict[str, Any] = {"attacks": ATTACKS[::-1], "measures": MEASURES, "seeds": [5]}
    asked, _left = build_request(original, "generalize-by-count", {"k": k}, **judges | more)
    return run(original, asked, cache=project, workers=1)


def test_a_sweep_finds_what_a_run_did(project: Path, worked: list[str]) -> None:
    summary, _folder = do(project, order(project, 3))
    assert worked == ["generalize-by-count", *ATTACKS, *MEASURES]
    worked.clear()
    study = swept(project, [3, 4])
    assert (study.cached, study.computed) == (PIECES, PIECES)
    place = summary["judged"]["place"]
    first = study.settings[0].place.model_dump(mode="json")
    assert first == place
    assert swept(project, [3, 4], seeds=[6]).cached == 0


def test_a_run_finds_what_a_sweep_did(project: Path, worked: list[str]) -> None:
    alone, alone_folder = do(project, order(project, 3, seed=6), "a" * 12)
    study = swept(project, [3], seeds=[5, 6])
    assert (study.cached, study.computed) == (PIECES, PIECES)
    worked.clear()
    summary, folder = do(project, order(project, 3), "b" * 12)
    assert worked == []
    assert summary["audited"] is True
    assert summary.keys() == alone.keys()
    kept = read_json(folder / "outcome.json")
    assert list(kept["notes"]) == list(read_json(alone_folder / "outcome.json")["notes"]) == ATTACKS
    fresh, fresh_folder = do(project, order(project, 3), "c" * 12)
    assert fresh == summary
    for name in ("public.parquet", "secret/pseudonyms.parquet", "statement.json"):
        assert (folder / "release" / name).read_bytes() == (fresh_folder / "release" / name).read_bytes()


@pytest.mark.parametrize(("k", "label"), [(5, "◆ proved"), (3, "▲ broken")])
def test_what_classes_tell_is_said_while_attacks_go_on(project: Path, k: int, label: str) -> None:
    words: list[str] = []
    asked = order(project, k, rule="partner")
    do(project, asked, progress=lambda done, text="", best=None: words.append(text))
    attacked = [text for text in words if any(name in text for name in ATTACKS)]
    assert attacked
    assert {text.partition(": ")[0] for text in attacked} == {label}


def test_explore_goes_on_with_a_stopped_sweep(project: Path, noren: Command, worked: list[str]) -> None:
    do(project, order(project, 3))
    words = ("--methods", "generalize-by-count", "--k", "3..4", "--attacks", ",".join(ATTACKS), "--seeds", 5)
    more = ("--measures", ",".join(MEASURES), "--cache", project, "--workers", 1, "--json")
    answer = noren("explore", project / "data.parquet", "--schema", project / "schema.toml", *words, *more)
    assert answer.code == 0, answer.err
    assert (answer.json["cached"], answer.json["computed"]) == (PIECES, PIECES)
    worked.clear()
    do(project, order(project, 4), "k" * 12)  # and the studio with what explore did
    assert worked == []


def test_what_failed_is_shared_by_nobody(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = api.attack

    def failing(original: Any, release: Any, attack: Any, **how: Any) -> Any:
        if attack.name == "jaccard":
            raise KeyError("a bug")
        return real(original, release, attack, **how)

    with monkeypatch.context() as patched:
        patched.setattr(api, "attack", failing)
        summary, _folder = do(project, order(project, 3))
    assert [one["component"] for one in summary["failed"]] == ["jaccard"]
    study = swept(project, [3])
    assert (study.cached, study.computed) == (3, 3)  # neither the attack nor what judges all attacks


def test_a_release_that_was_not_audited_is_not_shared(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(classes, "audit", broken)
        summary, folder = do(project, order(project, 3))
    assert summary["audited"] is False
    assert (folder / "release").is_dir()
    assert not (project / "explore" / "releases").exists()
    assert swept(project, [3]).computed == PIECES


def test_a_search_that_was_stopped_is_not_shared(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = api.protect_unaudited

    def stopped(*given: Any, **named: Any) -> Any:
        from dataclasses import replace

        release, audit = real(*given, **named)
        return replace(release, statement=replace(release.statement, notes={"stopped": True})), audit

    with monkeypatch.context() as patched:
        patched.setattr(api, "protect_unaudited", stopped)
        do(project, order(project, 3))
    assert swept(project, [3]).computed == PIECES


def test_what_a_removed_run_shared_is_gone(project: Path) -> None:
    _summary, first = do(project, order(project, 3))
    _summary, second = do(project, order(project, 3), "k" * 12)
    releases = project / "explore" / "releases"
    running.forget_shared(project, first, [second])
    assert len(list(releases.rglob("public.parquet"))) == 1  # the other run needs it
    running.forget_shared(project, second, [])
    assert list(releases.rglob("public.parquet")) == []
    assert json.loads((first / "shared.json").read_text())
    assert swept(project, [3]).frame["state"].to_list() == ["done"]


def test_a_cache_that_cannot_be_written_fails_no_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: Any) -> None:
        raise PermissionError

    for name in ("add_release", "add_guess", "add_score"):
        monkeypatch.setattr(CachedPoint, name, refused)
    summary, folder = do(project, order(project, 3))
    assert summary["failed"] == []
    assert list(read_json(folder / "outcome.json")["scores"]) == MEASURES


def test_a_full_disk_ends_a_run_and_loses_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(CachedPoint, "add_guess", full)
        with pytest.raises(OSError, match="No space"):
            do(project, order(project, 3))
    kept = read_json(project / "jobs" / ("j" * 12) / "outcome.json")
    assert (list(kept["notes"]), kept["failed"]) == (ATTACKS[:1], [])
    assert do(project, order(project, 3))[0]["failed"] == []
